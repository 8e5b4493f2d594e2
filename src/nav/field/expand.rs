//! The loop that fills a field cell by cell: take the cheapest open cell, settle it, relax its neighbors.
//!
//! Input: the open nodes and the costs of cells reached so far. Output: final costs. An open cost carries a
//! bit that makes it higher than any settled cost. So one comparison decides whether a path is worth
//! recording, and the cost is all that is stored per cell.

use super::{DistanceField, Phase, cell_layout::CellLayout};
use crate::nav::{Key, NO_DIRECTION, NodeId, OpenList, SearchCounters, StepModel, directions};

/// Set in the cost of a cell that is not settled yet.
pub(super) const OPEN: u32 = 1 << 31;
/// Stands for the cost of a cell to which no path is known.
pub(super) const UNREACHED: u32 = u32::MAX;

/// A cell that was just settled.
struct SettledCell {
    x: u32,
    y: u32,
    index: usize,
    node: NodeId,
    arrival: u8,
    cost: u32,
}

impl DistanceField {
    /// Settles the goal, from which every step is worth trying.
    pub(super) fn settle_goal<G: StepModel>(
        &mut self,
        model: &G,
        cells: impl Iterator<Item = (u32, u32)> + Clone,
    ) {
        self.clear_costs_of_goal(cells.clone());
        self.counters = SearchCounters { peak_open: 1, ..self.counters };
        for (x, y) in cells {
            let (index, node) = (self.layout.index(x, y), self.layout.node(x, y));
            self.counters.expansions += 1;
            self.counters.generated += 1;
            let goal = SettledCell { x, y, index, node, arrival: NO_DIRECTION, cost: 0 };
            self.relax_neighbors(model, &goal);
        }
    }

    /// Sets the cost of the cells of the goal.
    pub(super) fn clear_costs_of_goal(&mut self, cells: impl Iterator<Item = (u32, u32)>) {
        for (x, y) in cells {
            self.clear_around(y);
            let index = self.layout.index(x, y);
            self.costs[index] = 0;
        }
    }

    /// Settles up to `budget` cells; returns how many.
    pub(super) fn settle<G: StepModel>(&mut self, model: &G, budget: u32) -> u32 {
        let mut settled = 0;
        while settled < budget {
            let Some(node) = self.open.pop() else {
                self.phase = Phase::Exhausted;
                break;
            };
            let (x, y) = self.layout.cell_of(node);
            let index = self.layout.index(x, y);
            let Some(cost) = self.costs[index].checked_sub(OPEN) else {
                continue; // already settled at a lower cost
            };
            self.costs[index] = cost;
            settled += 1;
            self.clear_around(y);
            let arrival = CellLayout::arrival(node);
            self.relax_neighbors(model, &SettledCell { x, y, index, node, arrival, cost });
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

    /// Drops settled cells from the awaited ones until it finds one to watch.
    pub(super) fn await_next(&mut self) {
        while let Some(&index) = self.awaited.last() {
            let cost = self.costs[index as usize];
            if cost > self.front {
                self.watched = index as usize;
                return;
            }
            self.farthest_awaited = self.farthest_awaited.max(cost);
            self.awaited.pop();
        }
        self.watched = self.costs.len() - 1;
        self.phase = Phase::Arrived;
    }

    /// Records the paths that continue from a cell to its neighbors.
    #[inline(always)]
    fn relax_neighbors<G: StepModel>(&mut self, model: &G, from: &SettledCell) {
        if from.cost > self.expand_limit {
            self.overflow = true;
            return;
        }
        let steps = model.steps_from(from.x, from.y, from.arrival);
        for direction in directions(steps.directions) {
            let cost = from.cost + model.step_cost(&steps, direction);
            let index = self.layout.index_of_neighbor(from.index, direction);
            let known = self.costs[index];
            if cost | OPEN >= known {
                continue;
            }
            self.costs[index] = cost | OPEN;
            self.counters.generated += u64::from(known == UNREACHED);
            self.counters.improved += u64::from(known != UNREACHED);
            let node = self.layout.node_of_neighbor(from.node, direction);
            // Inserted, not improved in the list: another arrival makes another node.
            self.open.insert(node, Key { f: cost, h: 0 });
        }
        self.counters.peak_open = self.counters.peak_open.max(self.open.len());
    }
}
