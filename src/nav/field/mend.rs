//! The loop of a repair: look at cells that edits may have changed, and deal with those that do not
//! agree with their neighbors, in order of cost.
//!
//! Input: cells to look at, and the list of a [`Repair`](super::repair::Repair). Output: costs,
//! right up to the front, and everywhere once nothing is left to do.
//!
//! A cell *agrees* with its neighbors if it costs what they make of it: the least that one of them
//! and the step there cost together. Where all cells agree and the goal costs nothing, all costs
//! are right, as every step costs something. An edit changes only steps that have an end in it or
//! beside it (for corner rules, too), so the cells there are looked at first. Those that do not
//! agree are listed by the lower of what they cost and what their neighbors make of it, and taken
//! in this order:
//! - A cell that can be cheaper becomes so, and neighbors that it makes cheaper are listed.
//! - A cell that has lost its way is raised to unreached. Neighbors that may have gone by it are
//!   listed, and so is the cell itself if another way leads on.
//! - A cell that agrees by now is passed over: it has another way of the same cost.
//!
//! Invariants: each cell that does not agree is listed by a cost that is not above either of its
//! two. So all cells below the first cost on the list agree, along their ways down to the goal, and
//! are right: this is the *front* up to which a field answers while it is repaired. Each cell is
//! raised and made cheaper at most once, unless it is edited in between. An unreached cell with a
//! way on carries that way's cost with `OPEN` set, so that only cheaper ways are listed again.
//!
//! Cells whose cost leaves no room for another step lead nowhere, as when cells are settled one by
//! one: where they do not count, all rules above hold of the rest.
//!
//! Source: G. Ramalingam & T. Reps, "An Incremental Algorithm for a Generalization of the
//! Shortest-Path Problem" (Journal of Algorithms 21, 1996), DynamicSWSF-FP; also S. Koenig, M.
//! Likhachev & D. Furcy, "Lifelong Planning A*" (Artificial Intelligence 155, 2004), which is the
//! same with an estimate. Here what neighbors make of a cell is not stored but found when it is
//! needed, which takes eight reads and saves 4 bytes a cell.

use std::cmp::Reverse;

use super::{
    DistanceField,
    expand::{OPEN, UNREACHED},
    ground::{Ground, View},
    purse::Purse,
};
use crate::nav::{
    layer::Layer,
    moves::NO_DIRECTION,
    open_list::{NodeId, OpenList},
};

/// What it takes to look at a cell and its neighbors, in eighths of a unit (estimated: 40 ns).
const LOOK: u32 = 8;
/// What it takes to take a cell from the list, look at it, and list its neighbors.
const MEND: u32 = 16;

impl<L: OpenList> DistanceField<L> {
    /// Looks at cells, and takes them from the list, while there is something to spend.
    pub(super) fn mend<G: Ground>(&mut self, layer: &Layer, ground: &G, budget: u32) -> u32 {
        let mut purse = Purse::of(budget);
        while !purse.is_empty() {
            if let Some((x, y)) = self.repair.next_unseen() {
                purse.pay(LOOK);
                self.look_at(layer, ground, (x, y));
            } else if let Some(Reverse((cost, node))) = self.repair.list.pop() {
                purse.pay(MEND);
                self.front = cost.saturating_sub(1);
                self.mend_cell(layer, ground, cost, node);
            } else {
                break;
            }
        }
        purse.spent_of(budget)
    }

    /// Lists a cell if it does not agree with its neighbors.
    fn look_at<G: Ground>(&mut self, layer: &Layer, ground: &G, (x, y): (u32, u32)) {
        let (index, node) = (self.frame.index(x, y), self.frame.node(x, y));
        if self.costs[index] == 0 {
            return; // the goal: nothing else costs nothing
        }
        let view = ground.view(x, y, NO_DIRECTION);
        let best = self.best_way(layer, ground, &view, (x, y));
        self.list(index, node, best);
    }

    /// Deals with a cell that was listed by `listed`.
    fn mend_cell<G: Ground>(&mut self, layer: &Layer, ground: &G, listed: u32, node: NodeId) {
        let (x, y) = self.frame.place(node);
        let index = self.frame.index(x, y);
        let view = ground.view(x, y, NO_DIRECTION);
        let best = self.best_way(layer, ground, &view, (x, y));
        let known = self.known(index);
        if known == best || known.min(best) > listed {
            self.list(index, node, best);
        } else if best < known {
            self.costs[index] = best;
            self.repair.counters.settled += 1;
            self.offer(ground, &view, (index, node), best);
        } else {
            self.costs[index] = UNREACHED;
            self.repair.counters.raised += 1;
            self.list(index, node, best);
            self.warn(ground, &view, (index, node), known);
        }
    }

    /// What a cell costs; `UNREACHED` also where a way is merely listed.
    fn known(&self, index: usize) -> u32 {
        let cost = self.costs[index];
        if cost < OPEN { cost } else { UNREACHED }
    }

    /// Lists a cell other than the goal, whose neighbors make it cost `best`, if it does not agree.
    fn list(&mut self, index: usize, node: NodeId, best: u32) {
        let known = self.known(index);
        if known != best {
            self.repair.list.push(Reverse((known.min(best), node)));
        }
        if known == UNREACHED {
            self.costs[index] = best | OPEN; // stays `UNREACHED` where `best` is
        }
    }

    /// What its neighbors make of a cell other than the goal.
    fn best_way<G: Ground>(
        &mut self,
        layer: &Layer,
        ground: &G,
        view: &View,
        (x, y): (u32, u32),
    ) -> u32 {
        self.repair.counters.looked += 1;
        let mut best = UNREACHED;
        if !layer.is_passable(x, y) {
            return best;
        }
        let index = self.frame.index(x, y);
        for direction in directions(view.ways) {
            let cost = self.known(self.frame.index_of_neighbor(index, direction));
            if cost <= self.limit {
                best = best.min(cost + ground.step(view, direction));
            } else {
                self.overflow |= cost != UNREACHED;
            }
        }
        best
    }

    /// Lists the neighbors that a cell, which costs `cost` now, makes cheaper.
    fn offer<G: Ground>(
        &mut self,
        ground: &G,
        view: &View,
        (index, node): (usize, NodeId),
        cost: u32,
    ) {
        if cost > self.limit {
            self.overflow = true;
            return;
        }
        for direction in directions(view.ways) {
            let neighbor = self.frame.index_of_neighbor(index, direction);
            let (offered, known) = (cost + ground.step(view, direction), self.costs[neighbor]);
            // Of an unreached cell what is listed counts; of one without a way that is the most.
            if offered >= known & !OPEN {
                continue;
            }
            if known >= OPEN {
                self.costs[neighbor] = offered | OPEN;
            }
            let node = self.frame.node_of_neighbor(node, direction);
            self.repair.list.push(Reverse((offered, node)));
        }
    }

    /// Lists the neighbors whose way may have led over a cell that has cost `cost` so far.
    fn warn<G: Ground>(
        &mut self,
        ground: &G,
        view: &View,
        (index, node): (usize, NodeId),
        cost: u32,
    ) {
        for direction in directions(view.ways) {
            let known = self.costs[self.frame.index_of_neighbor(index, direction)];
            if known == cost + ground.step(view, direction) {
                let node = self.frame.node_of_neighbor(node, direction);
                self.repair.list.push(Reverse((known, node)));
            }
        }
    }
}

/// The directions (0 to 7) of a set.
fn directions(mut ways: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if ways == 0 {
            return None;
        }
        let direction = ways.trailing_zeros() as usize & 7;
        ways &= ways - 1;
        Some(direction)
    })
}
