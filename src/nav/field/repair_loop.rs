//! The loop of a repair: check cells that edits may have changed, and update the inconsistent ones in order
//! of cost.
//!
//! Input: cells to check, and the queue of a [`Repair`](super::repair::Repair). Output: costs, correct up to
//! the front, and everywhere once nothing is left to do.
//!
//! The *lookahead cost* of a passable cell is 0 if it is of the goal, and else the lowest sum of a neighbor's cost and
//! the step there. A cell is *consistent* if its cost equals its lookahead cost. Where all cells are consistent, all
//! costs are correct, as every step costs something. An edit changes only steps that have an end in it or
//! beside it (for corner rules, too), so the cells there are checked first. Inconsistent cells are queued by
//! the lower of their cost and their lookahead cost, and taken in this order:
//! - A cell that can be cheaper becomes so, and neighbors that it makes cheaper are queued.
//! - A cell that has lost its path is raised to unreached. Neighbors whose path may have led through it are
//!   queued, and so is the cell itself if it has another path.
//! - A cell that is consistent by now is skipped: it has another path of the same cost.
//!
//! Invariants: each inconsistent cell is queued by a cost that is not above either of its two. So all cells
//! below the first cost in the queue are consistent, along their paths down to the goal, and correct: this is
//! the *front* up to which a field answers while it is repaired. Each cell is raised and made cheaper at most
//! once, unless it is edited in between. An unreached cell that has a path carries that path's cost with
//! `OPEN` set, so that it is queued again only for cheaper paths.
//!
//! Cells whose cost leaves no room for another step are not expanded, as when cells are settled one by one.
//! They do not count as neighbors; all rules above hold of the rest.
//!
//! Source: G. Ramalingam & T. Reps, "An Incremental Algorithm for a Generalization of the Shortest-Path
//! Problem" (Journal of Algorithms 21, 1996), DynamicSWSF-FP; also S. Koenig, M. Likhachev & D. Furcy,
//! "Lifelong Planning A*" (Artificial Intelligence 155, 2004), which is the same with a heuristic (their
//! `rhs` is the lookahead cost). Here lookahead costs are not stored but computed when needed, which takes
//! eight reads and saves 4 bytes per cell.

use std::cmp::Reverse;

use super::{
    DistanceField,
    expand::{OPEN, UNREACHED},
    work_budget::WorkBudget,
};
use crate::nav::{Layer, NO_DIRECTION, NodeId, StepModel, directions, steps::CellSteps};

/// Work to check a cell against its neighbors, in eighths of a unit (estimated: 40 ns).
const CHECK_WORK: u32 = 8;
/// Work to take a cell from the queue, check it, and queue its neighbors.
const REPAIR_WORK: u32 = 16;

/// A cell that is checked or repaired: its numbers, and the steps from it.
struct CheckedCell {
    position: (u32, u32),
    index: usize,
    node: NodeId,
    steps: CellSteps,
}

impl DistanceField {
    /// Checks cells, and takes them from the queue, until the budget is spent.
    pub(super) fn run_repair(&mut self, layer: &Layer, model: &impl StepModel, budget: u32) -> u32 {
        let mut work = WorkBudget::of(budget);
        while !work.is_empty() {
            if let Some((x, y)) = self.repair.next_unchecked() {
                work.spend(CHECK_WORK);
                self.check_cell(layer, model, (x, y));
            } else if let Some(Reverse((cost, node))) = self.repair.queue.pop() {
                work.spend(REPAIR_WORK);
                self.front = cost.saturating_sub(1);
                self.repair_cell(layer, model, cost, node);
            } else {
                break;
            }
        }
        work.spent_of(budget)
    }

    /// Queues a cell if it is inconsistent. A cell that has become impassable loses its cost at once: no step leads to it any
    /// more, and all cells from which steps led there are checked, too.
    fn check_cell(&mut self, layer: &Layer, model: &impl StepModel, (x, y): (u32, u32)) {
        let cell = self.checked_cell(model, (x, y));
        let lookahead = self.lookahead_cost(layer, model, &cell);
        if !layer.is_passable(x, y) {
            self.repair.counters.raised += u64::from(self.current_cost(cell.index) != UNREACHED);
            self.costs[cell.index] = UNREACHED;
            return;
        }
        self.queue_if_inconsistent(&cell, lookahead);
    }

    #[inline]
    fn checked_cell(&mut self, model: &impl StepModel, (x, y): (u32, u32)) -> CheckedCell {
        self.clear_around(y);
        let (index, node) = (self.layout.index(x, y), self.layout.node(x, y));
        let steps = model.steps_from(x, y, NO_DIRECTION);
        CheckedCell { position: (x, y), index, node, steps }
    }

    /// Updates a cell that was queued by the cost `queued`.
    fn repair_cell(&mut self, layer: &Layer, model: &impl StepModel, queued: u32, node: NodeId) {
        let cell = self.checked_cell(model, self.layout.cell_of(node));
        let lookahead = self.lookahead_cost(layer, model, &cell);
        let known = self.current_cost(cell.index);
        if known == lookahead || known.min(lookahead) > queued {
            self.queue_if_inconsistent(&cell, lookahead);
        } else if lookahead < known {
            self.costs[cell.index] = lookahead;
            self.repair.counters.settled += 1;
            self.queue_cheaper_neighbors(model, &cell, lookahead);
        } else {
            self.costs[cell.index] = UNREACHED;
            self.repair.counters.raised += 1;
            self.queue_if_inconsistent(&cell, lookahead);
            self.queue_dependents(model, &cell, known);
        }
    }

    /// Returns the cost of a cell; `UNREACHED` also where a path is merely queued.
    fn current_cost(&self, index: usize) -> u32 {
        let cost = self.costs[index];
        if cost < OPEN { cost } else { UNREACHED }
    }

    /// Queues a cell whose lookahead cost is `lookahead`, if it is inconsistent.
    fn queue_if_inconsistent(&mut self, cell: &CheckedCell, lookahead: u32) {
        let known = self.current_cost(cell.index);
        if known != lookahead {
            self.repair.queue.push(Reverse((known.min(lookahead), cell.node)));
        }
        if known == UNREACHED {
            self.costs[cell.index] = lookahead | OPEN; // stays `UNREACHED` where `lookahead` is
        }
    }

    /// Returns the lookahead cost of a cell: 0 for one of the goal.
    fn lookahead_cost(&mut self, layer: &Layer, model: &impl StepModel, cell: &CheckedCell) -> u32 {
        let (x, y) = cell.position;
        let is_passable = layer.is_passable(x, y);
        if is_passable && self.goal.area.contains(self.origin.offset(x as i32, y as i32)) {
            return 0;
        }
        self.repair.counters.checked += 1;
        let mut lookahead = UNREACHED;
        if !is_passable {
            return lookahead;
        }
        for direction in directions(cell.steps.directions) {
            let cost = self.current_cost(self.layout.index_of_neighbor(cell.index, direction));
            if cost <= self.expand_limit {
                lookahead = lookahead.min(cost + model.step_cost(&cell.steps, direction));
            } else {
                self.overflow |= cost != UNREACHED;
            }
        }
        lookahead
    }

    /// Queues the neighbors that become cheaper through a cell that now costs `cost`.
    fn queue_cheaper_neighbors(&mut self, model: &impl StepModel, cell: &CheckedCell, cost: u32) {
        let CheckedCell { index, node, steps, .. } = cell;
        if cost > self.expand_limit {
            self.overflow = true;
            return;
        }
        for direction in directions(steps.directions) {
            let neighbor = self.layout.index_of_neighbor(*index, direction);
            let (offered, known) = (cost + model.step_cost(steps, direction), self.costs[neighbor]);
            // For an unreached cell the cost with which it is queued counts; if no path to it is known, that is the maximum.
            if offered >= known & !OPEN {
                continue;
            }
            if known >= OPEN {
                self.costs[neighbor] = offered | OPEN;
            }
            let node = self.layout.node_of_neighbor(*node, direction);
            self.repair.queue.push(Reverse((offered, node)));
        }
    }

    /// Queues the neighbors whose path may have led through a cell that cost `cost` so far.
    fn queue_dependents(&mut self, model: &impl StepModel, cell: &CheckedCell, cost: u32) {
        let CheckedCell { index, node, steps, .. } = cell;
        for direction in directions(steps.directions) {
            let known = self.costs[self.layout.index_of_neighbor(*index, direction)];
            if known == cost + model.step_cost(steps, direction) {
                let node = self.layout.node_of_neighbor(*node, direction);
                self.repair.queue.push(Reverse((known, node)));
            }
        }
    }
}
