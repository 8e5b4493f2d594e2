//! The loop that spreads a field cell by cell: take the nearest open one, settle it, look at its
//! neighbors.
//!
//! Input: the open nodes and the costs of cells reached so far. Output: final costs. An open cost
//! carries a bit that makes it higher than any settled one, so that one comparison tells whether
//! a way is worth taking note of, and nothing besides the cost is kept of a cell.

use super::{DistanceField, Phase, frame::Frame, ground::Ground};
use crate::nav::{
    moves::NO_DIRECTION,
    open_list::{Key, NodeId, OpenList},
};

/// Set in the cost of a cell that is not settled yet.
pub(super) const OPEN: u32 = 1 << 31;
/// In place of the cost of a cell that no way is known to.
pub(super) const UNREACHED: u32 = u32::MAX;

/// A cell that was just settled.
struct From {
    x: u32,
    y: u32,
    index: usize,
    node: NodeId,
    arrival: u8,
    cost: u32,
}

impl<L: OpenList> DistanceField<L> {
    /// Settles the goal, from which every step is worth trying.
    pub(super) fn settle_goal<G: Ground>(&mut self, ground: &G, (x, y): (u32, u32)) {
        let (index, node) = (self.frame.index(x, y), self.frame.node(x, y));
        self.costs[index] = 0;
        self.counters.expansions = 1;
        self.counters.generated = 1;
        self.counters.peak_open = 1;
        self.go_on(ground, &From { x, y, index, node, arrival: NO_DIRECTION, cost: 0 });
    }

    /// Settles up to `budget` cells; returns how many.
    pub(super) fn settle<G: Ground>(&mut self, ground: &G, budget: u32) -> u32 {
        let mut settled = 0;
        while settled < budget {
            let Some(node) = self.open.pop() else {
                self.phase = Phase::Exhausted;
                break;
            };
            let (x, y) = self.frame.place(node);
            let index = self.frame.index(x, y);
            let Some(cost) = self.costs[index].checked_sub(OPEN) else {
                continue; // settled before, by a cheaper way
            };
            self.costs[index] = cost;
            settled += 1;
            let arrival = Frame::arrival(node);
            self.go_on(ground, &From { x, y, index, node, arrival, cost });
            if self.costs[self.watched] < OPEN {
                self.await_next();
                if self.phase == Phase::Arrived {
                    break;
                }
            }
        }
        self.counters.expansions += u64::from(settled);
        settled
    }

    /// Drops awaited cells that are settled, up to one to watch.
    pub(super) fn await_next(&mut self) {
        while let Some(&index) = self.awaited.last() {
            let cost = self.costs[index as usize];
            if cost > self.front {
                self.watched = index as usize;
                return;
            }
            self.farthest = self.farthest.max(cost);
            self.awaited.pop();
        }
        self.watched = self.costs.len() - 1;
        self.phase = Phase::Arrived;
    }

    /// Takes note of the ways that lead on from a cell.
    #[inline(always)]
    fn go_on<G: Ground>(&mut self, ground: &G, from: &From) {
        if from.cost > self.limit {
            self.overflow = true;
            return;
        }
        let view = ground.view(from.x, from.y, from.arrival);
        let mut ways = view.ways;
        while ways != 0 {
            let direction = ways.trailing_zeros() as usize & 7;
            ways &= ways - 1;
            let cost = from.cost + ground.step(&view, direction);
            let index = self.frame.index_of_neighbor(from.index, direction);
            let known = self.costs[index];
            if cost | OPEN >= known {
                continue;
            }
            self.costs[index] = cost | OPEN;
            self.counters.generated += u64::from(known == UNREACHED);
            self.counters.improved += u64::from(known != UNREACHED);
            let node = self.frame.node_of_neighbor(from.node, direction);
            // Not as a cheaper way to a node in the list: by another arrival it is another node.
            self.open.insert(node, Key { f: cost, h: 0 });
        }
        self.counters.peak_open = self.counters.peak_open.max(self.open.len());
    }
}
