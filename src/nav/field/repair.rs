//! Bringing a whole field up to date after edits of the grid, by redoing only what they touch.
//!
//! Input: a whole field, and the rectangles edited since it was up to date. Output: the costs that
//! a new start on the edited grid would lead to, exactly, however the work is sliced and whatever
//! is edited in the midst of it.
//!
//! Edits are noted as blocks of cells to look at; what follows from them is done cell by cell (see
//! `mend`). All that is left to do stands in [`Repair`], so a repair can be left at any cell, and
//! taken up again on a grid that was edited once more.
//!
//! A field that is repaired before it ever was whole (`start_steady`) is the same with every cell
//! unreached: what is certain grows from the goal outward, and no edit throws it back.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    DistanceField, Phase,
    expand::OPEN,
    find_goal,
    ground::{Mixed, Uniform},
};
use crate::nav::{
    cell::CellRect,
    grid::NavGrid,
    open_list::{NodeId, OpenList},
};

/// What was done in the repair under way, or in the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairCounters {
    /// Times that a cell was compared with its neighbors.
    pub looked: u64,
    /// Cells that lost their way.
    pub raised: u64,
    /// Cells that got a way, or a cheaper one.
    pub settled: u64,
    /// Units of the budget taken.
    pub taken: u64,
}

/// What is left of a repair.
#[derive(Debug, Default)]
pub(super) struct Repair {
    /// Cells to look at, which edits may have changed; the last block is under way.
    unseen: Vec<Block>,
    /// Cells that may not agree with their neighbors, as nodes with any arrival, by cost.
    pub(super) list: BinaryHeap<Reverse<(u32, NodeId)>>,
    pub(super) counters: RepairCounters,
}

/// Columns and rows not looked at yet, never empty: `x..right` of row `y`, and `left..right` of the
/// rows above it up to `high`.
#[derive(Clone, Copy, Debug)]
struct Block {
    left: u32,
    right: u32,
    high: u32,
    x: u32,
    y: u32,
}

impl Repair {
    pub(super) fn clear(&mut self) {
        self.unseen.clear();
        self.list.clear();
        self.counters = RepairCounters::default();
    }

    pub(super) fn bytes(&self) -> usize {
        self.unseen.capacity() * size_of::<Block>() + self.list.capacity() * 8
    }

    fn is_done(&self) -> bool {
        self.unseen.is_empty() && self.list.is_empty()
    }

    /// Cells not looked at yet, about.
    fn unseen(&self) -> u64 {
        let cells =
            |block: &Block| u64::from(block.right - block.left) * u64::from(block.high - block.y);
        self.unseen.iter().map(cells).sum()
    }

    /// The next cell to look at.
    pub(super) fn next_unseen(&mut self) -> Option<(u32, u32)> {
        let block = self.unseen.last_mut()?;
        let place = (block.x, block.y);
        block.x += 1;
        if block.x == block.right {
            (block.x, block.y) = (block.left, block.y + 1);
        }
        if block.y == block.high {
            self.unseen.pop();
        }
        Some(place)
    }
}

impl<L: OpenList> DistanceField<L> {
    /// Brings a whole field up to date after edits of the grid, for up to `budget` units, and
    /// returns how many it took: one for a cell looked at, two for one that may have to change.
    /// Afterwards the field is as if it had been started now; only its
    /// [`counters`](Self::counters) are not.
    ///
    /// As long as it is under way the field is not [finished](Self::is_finished), and tells of
    /// cells only what is certain: near the goal all, beyond what is repaired nothing. Edits may go
    /// on meanwhile: they are taken in at the next call.
    ///
    /// 0 from a field that had a budget and is still [stale](Self::is_stale) means that it cannot
    /// be repaired: it must be started anew. Either [`failure`](Self::failure) tells why nothing
    /// leads to the goal any more (the field is empty then), or it [cannot](Self::can_repair) for
    /// another reason.
    pub fn repair(&mut self, grid: &NavGrid, budget: u32) -> u32 {
        if budget == 0 || !self.can_repair(grid) {
            return 0;
        }
        let layer = match find_goal(grid, self.profile, self.goal) {
            Ok((layer, _)) => layer,
            Err(failure) => {
                self.forget();
                self.failure = Some(failure);
                return 0;
            }
        };
        self.take_in_edits(grid);
        if self.phase != Phase::Repairing {
            return 0;
        }
        let taken = if layer.is_uniform() {
            self.mend(layer, &Uniform::new(layer), budget)
        } else {
            self.mend(layer, &Mixed::new(layer, grid), budget)
        };
        self.repair.counters.taken += u64::from(taken);
        if self.repair.is_done() {
            self.phase = Phase::Exhausted;
            self.front = OPEN - 1;
            if self.whole == 0 {
                self.whole = self.repair.counters.taken;
            }
        }
        taken
    }

    /// Whether [`repair`](Self::repair) can bring the field up to date (or has nothing to do). Not
    /// where
    /// - it is not whole: it was never started, is still being filled, or ended early at
    ///   [awaited cells](Self::await_cells);
    /// - the grid does not remember all edits since (it knows the last 64, see
    ///   [`NavGrid::edits_since`]);
    /// - the grid has another size or origin, or the profile was changed;
    /// - rays filled it and costs [overflowed](Self::overflow).
    #[must_use]
    pub fn can_repair(&self, grid: &NavGrid) -> bool {
        let profile = grid.profiles().get(usize::from(self.profile.0));
        matches!(self.phase, Phase::Exhausted | Phase::Repairing)
            && !(self.casts_rays && self.overflow)
            && (grid.width(), grid.height()) == self.size
            && grid.origin() == self.origin
            && grid.revision() >= self.revision
            && grid.edits_since(self.revision).is_some()
            && profile == Some(&self.rules)
    }

    /// Whether to go on with a repair: what it has taken, and the cells it still has to look at,
    /// come to no more than what the whole field took. Beyond that a new start is likely to be
    /// cheaper, most of all where rays fill the field, which takes a fraction of the time per cell.
    /// Always so of a field that was started [steadily](Self::start_steady) and is not yet whole.
    #[must_use]
    pub fn repair_pays(&self) -> bool {
        self.whole == 0 || self.repair.counters.taken + self.repair.unseen() <= self.whole
    }

    /// What was done in the repair under way, or in the last one since the start.
    #[must_use]
    pub const fn repair_counters(&self) -> RepairCounters {
        self.repair.counters
    }

    /// Notes which cells recent edits may have changed.
    fn take_in_edits(&mut self, grid: &NavGrid) {
        let edits = grid.edits_since(self.revision).filter(|_| self.revision < grid.revision());
        let Some(edits) = edits else {
            return;
        };
        if self.phase != Phase::Repairing {
            self.phase = Phase::Repairing;
            self.repair.counters = RepairCounters::default();
        }
        for edit in edits {
            self.look_around(grid, edit);
        }
        self.revision = grid.revision();
    }

    /// Has all cells looked at from which steps lead to where a unit covers a cell of `rect`, or
    /// past that. Until then only the goal is certain.
    pub(super) fn look_around(&mut self, grid: &NavGrid, rect: CellRect) {
        let anchors = grid.anchors_over(self.profile, rect);
        let (width, height) = (anchors.width.saturating_add(2), anchors.height.saturating_add(2));
        let around = CellRect::new(anchors.min.offset(-1, -1), width, height);
        let around = around.intersection(grid.rect());
        let Some((left, low)) = grid.local(around.min).filter(|_| !around.is_empty()) else {
            return;
        };
        let (right, high) = (left + around.width, low + around.height);
        self.repair.unseen.push(Block { left, right, high, x: left, y: low });
        self.front = 0;
    }
}
