//! Brings a complete field up to date after edits of the grid, recomputing only the cells that they affect.
//!
//! Input: a complete field, and the rectangles edited since it was up to date. Output: exactly the costs that
//! a new start on the edited grid would lead to, however the work is sliced and whatever is edited in the meantime.
//!
//! Edits are recorded as blocks of cells to check; what follows from them is done cell by cell (see
//! `repair_loop`). All remaining work is in [`Repair`], so a repair can be interrupted at any cell, and
//! resumed on a grid that was edited again.
//!
//! A field that is repaired before it was ever complete (`start_repairable`) is the same with every cell
//! unreached: the final costs grow from the goal outward, and no edit discards them.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{DistanceField, Phase, expand::OPEN};
use crate::nav::{CellRect, NavGrid, NodeId, UniformSteps, WeightedSteps};

/// Most separate blocks of cells to check: if edits come faster than they are checked, blocks are joined.
const MOST_BLOCKS: usize = 128;
/// Most queue entries per cell before a fill that edits keep interrupting is started again: every edit queues the cells near
/// it again.
const MOST_QUEUED_PER_CELL: usize = 4;

/// Work done in the current repair, or in the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct RepairCounters {
    /// Times that a cell was compared with its neighbors.
    pub checked: u64,
    /// Cells that lost their path.
    pub raised: u64,
    /// Cells that got a path, or a cheaper one.
    pub settled: u64,
    /// Budget units spent.
    pub units: u64,
}

/// What is left of a repair.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Repair {
    /// Cells to check, which edits may have changed; the last block is in progress.
    unchecked: Vec<CellBlock>,
    /// Cells that may be inconsistent with their neighbors, as nodes with any arrival, by cost.
    pub(super) queue: BinaryHeap<Reverse<(u32, NodeId)>>,
    pub(super) counters: RepairCounters,
}

/// Columns and rows not checked yet, never empty: `x..right` of row `y`, and `left..right` of the rows above
/// it up to `high`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct CellBlock {
    left: u32,
    right: u32,
    high: u32,
    x: u32,
    y: u32,
}

impl Repair {
    pub(super) fn clear(&mut self) {
        self.unchecked.clear();
        self.queue.clear();
        self.counters = RepairCounters::default();
    }

    pub(super) fn bytes(&self) -> usize {
        self.unchecked.capacity() * size_of::<CellBlock>() + self.queue.capacity() * 8
    }

    fn is_done(&self) -> bool {
        self.unchecked.is_empty() && self.queue.is_empty()
    }

    /// Returns about how many cells are not checked yet.
    fn unchecked(&self) -> u64 {
        let cells = |block: &CellBlock| {
            u64::from(block.right - block.left) * u64::from(block.high - block.y)
        };
        self.unchecked.iter().map(cells).sum()
    }

    /// Adds cells to check.
    fn add(&mut self, mut block: CellBlock) {
        if self.unchecked.len() >= MOST_BLOCKS {
            for other in self.unchecked.drain(..) {
                (block.left, block.right) =
                    (block.left.min(other.left), block.right.max(other.right));
                (block.y, block.high) = (block.y.min(other.y), block.high.max(other.high));
            }
            block.x = block.left;
        }
        self.unchecked.push(block);
    }

    /// Returns the next cell to check.
    pub(super) fn next_unchecked(&mut self) -> Option<(u32, u32)> {
        let block = self.unchecked.last_mut()?;
        let cell = (block.x, block.y);
        block.x += 1;
        if block.x == block.right {
            (block.x, block.y) = (block.left, block.y + 1);
        }
        if block.y == block.high {
            self.unchecked.pop();
        }
        Some(cell)
    }
}

impl DistanceField {
    /// Brings a complete field up to date after edits of the grid, for up to `budget` units, and returns how
    /// many it spent: one for a cell checked, two for a cell that may have to change. Afterwards the field is
    /// as if it had been started now; only its [`counters`](Self::counters) are not.
    ///
    /// During a repair the field is not [finished](Self::is_finished), and only final costs are returned: all
    /// of them near the goal, none beyond what is repaired. The grid may be edited in the meantime: the edits are
    /// taken into account at the next call.
    ///
    /// 0 from a field that had a budget and is still [stale](Self::is_stale) means that it cannot be
    /// repaired: it must be started again. Either [`failure`](Self::failure) returns why no path leads to the
    /// goal any more (the field is empty then), or it [cannot be repaired](Self::can_repair) for another
    /// reason.
    pub fn repair(&mut self, grid: &NavGrid, budget: u32) -> u32 {
        if budget == 0 || !self.can_repair(grid) {
            return 0;
        }
        let layer = match self.goal.layer(grid, self.profile) {
            Ok(layer) => layer,
            Err(failure) => {
                self.clear();
                self.failure = Some(failure);
                return 0;
            }
        };
        self.collect_edits(grid);
        if self.phase != Phase::Repairing {
            return 0;
        }
        let taken = if layer.has_uniform_steps() {
            self.run_repair(layer, &UniformSteps::new(layer), budget)
        } else {
            self.run_repair(layer, &WeightedSteps::<true>::new(layer, grid), budget)
        };
        self.repair.counters.units += u64::from(taken);
        if self.repair.is_done() {
            self.phase = Phase::Exhausted;
            self.front = OPEN - 1;
            if self.fill_units == 0 {
                self.fill_units = self.repair.counters.units;
            }
        }
        taken
    }

    /// Whether [`repair`](Self::repair) can bring the field up to date (or has nothing to do). False where
    /// - it is not complete: it was never started, is still being filled, or ended early at [awaited
    ///   cells](Self::await_cells);
    /// - the grid has replaced another one since (see [`NavGrid::edits_since`]);
    /// - the grid has another size or origin, or the profile was changed;
    /// - rays filled it and costs [overflowed](Self::overflow);
    /// - it was started around a goal of another shape than a rectangle, by a [queue](crate::nav::queue).
    #[must_use]
    pub fn can_repair(&self, grid: &NavGrid) -> bool {
        let profile = grid.profiles().get(usize::from(self.profile.0));
        matches!(self.phase, Phase::Exhausted | Phase::Repairing)
            && self.goal.zone.is_none()
            && !(self.phase == Phase::Exhausted && self.casts_rays && self.overflow)
            && (grid.width(), grid.height()) == self.size
            && grid.origin() == self.origin
            && grid.revision() >= self.revision
            && grid.edits_since(self.revision).is_some()
            && profile == Some(&self.profile_rules)
    }

    /// Whether it is worth continuing a repair: what it has spent, and the cells it still has to check, add
    /// up to no more than what filling the field cost. Beyond that a new start is likely to be cheaper, most
    /// of all where rays fill the field, which takes a fraction of the time per cell. Of a field that was started as
    /// [repairable](Self::start_repairable) and is not yet complete: whether edits have queued each cell no more than four times.
    #[must_use]
    pub fn is_repair_cheaper(&self) -> bool {
        if self.fill_units == 0 {
            return self.repair.queue.len() <= MOST_QUEUED_PER_CELL * self.costs.len();
        }
        self.repair.counters.units + self.repair.unchecked() <= self.fill_units
    }

    /// Counts the work of the current repair, or of the last one since the start.
    #[must_use]
    pub const fn repair_counters(&self) -> RepairCounters {
        self.repair.counters
    }

    /// Notes recent edits for the next step, where the field is in repair.
    pub(crate) fn note_edits(&mut self, grid: &NavGrid) {
        if self.phase == Phase::Repairing && self.can_repair(grid) {
            self.collect_edits(grid);
        }
    }

    /// Records which cells recent edits may have changed.
    fn collect_edits(&mut self, grid: &NavGrid) {
        let edits = grid.edits_since(self.revision).filter(|_| self.revision < grid.revision());
        let Some(edits) = edits else {
            return;
        };
        if self.phase != Phase::Repairing {
            self.phase = Phase::Repairing;
            self.repair.counters = RepairCounters::default();
        }
        for edit in edits {
            self.check_around(grid, edit);
        }
        self.revision = grid.revision();
    }

    /// Queues checks of all cells from which a step leads to, or past, a position where a unit covers a
    /// cell of `rect`. Until they are done only the goal is final.
    pub(super) fn check_around(&mut self, grid: &NavGrid, rect: CellRect) {
        let around = grid.anchors_over(self.profile, rect).grown().intersection(grid.rect());
        let Some((left, low)) = grid.local(around.min).filter(|_| !around.is_empty()) else {
            return;
        };
        let (right, high) = (left + around.width, low + around.height);
        self.repair.add(CellBlock { left, right, high, x: left, y: low });
        self.front = 0;
    }
}
