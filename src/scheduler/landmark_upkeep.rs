//! Landmarks of all grids: filled with what searches leave of the budget, within one limit of memory.
//!
//! Input: the grids, the limit, and the rest of a tick's budget. Output: landmark tables on the grids. Each profile first gets
//! a quick table. Better ones take a part of the budget only, and leave memory for quick ones that are missing.

use crate::{
    grids::NavGrids,
    nav::{
        GridId, NavGrid,
        landmarks::{LandmarkFiller, most_bytes_per_table},
    },
};

/// Units spent between two looks at the clock.
const SLICE: u32 = 8_192;
/// Better tables take one part in this many of a tick's budget: nothing waits for them, and ticks without searches should
/// stay short.
const BETTER_SHARE: u32 = 4;

/// Works on the tables of one kind of a grid.
type Fill = fn(&mut LandmarkFiller, (GridId, &mut NavGrid), usize, u32) -> u32;

/// The landmarks of all grids.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LandmarkUpkeep {
    filler: LandmarkFiller,
    /// The limit in the last tick, in bytes, and the most memory that was in use in it, without and with what is kept for quick
    /// tables.
    limit: usize,
    in_use: usize,
    taken: usize,
    /// Units that quick tables and better ones have taken of later ticks: to begin one may take more than a tick's share.
    quick_debt: u32,
    better_debt: u32,
}

impl LandmarkUpkeep {
    /// Spends up to `left` units of a tick's `budget`. Where the limit has changed, all tables begin anew; where memory has
    /// become free, those that did not fit.
    pub(super) fn fill(
        &mut self,
        grids: &mut NavGrids,
        limit: usize,
        (left, budget): (u32, u32),
        mut keep_going: impl FnMut() -> bool,
    ) {
        self.begin_tick(grids, limit);
        if limit == 0 {
            return;
        }
        let allowed = left.saturating_sub(self.quick_debt);
        let spent = self.spend(LandmarkFiller::fill_missing, grids, (0, allowed), &mut keep_going);
        self.quick_debt = self.quick_debt.saturating_add(spent).saturating_sub(left);
        let share = allowed.saturating_sub(spent).min(budget.div_ceil(BETTER_SHARE));
        let allowed = share.saturating_sub(self.better_debt);
        let (better, most) = (LandmarkFiller::fill_better, (reserved_in(grids), allowed));
        let spent = self.spend(better, grids, most, &mut keep_going);
        self.better_debt = self.better_debt.saturating_add(spent).saturating_sub(share);
        self.in_use = self.in_use.max(bytes_of(grids));
        self.taken = self.taken.max(bytes_of(grids) + reserved_in(grids));
    }

    fn begin_tick(&mut self, grids: &mut NavGrids, limit: usize) {
        self.filler.begin_step();
        self.filler.retain(|id| grids.get(id).is_some());
        grids.iter_mut().for_each(|(_, grid)| grid.free_dropped_landmarks());
        if self.limit != limit {
            self.filler.stop();
            grids.iter_mut().for_each(|(_, grid)| grid.drop_landmarks());
        }
        // Room that was kept for a missing table is free also where that table could not be made: it is not tried again.
        let (in_use, taken) = (bytes_of(grids), bytes_of(grids) + reserved_in(grids));
        let has_more = in_use < self.in_use;
        if has_more || taken < self.taken {
            self.filler.note_free_memory();
            grids.iter_mut().for_each(|(_, grid)| grid.note_free_memory(has_more));
        }
        (self.limit, self.in_use) = (limit, in_use);
        self.taken = in_use + reserved_in(grids);
    }

    /// Spends up to `left` units on tables of one kind, which leave `reserved` bytes; returns how many it spent.
    fn spend(
        &mut self,
        fill: Fill,
        grids: &mut NavGrids,
        (reserved, most): (usize, u32),
        keep_going: &mut impl FnMut() -> bool,
    ) -> u32 {
        let (mut bytes, mut spent) = (bytes_of(grids), 0_u32);
        for (id, grid) in grids.iter_mut() {
            while spent < most && keep_going() {
                let others = bytes - grid.landmark_bytes();
                let room = self.limit.saturating_sub(bytes + reserved);
                let work = fill(&mut self.filler, (id, grid), room, (most - spent).min(SLICE));
                bytes = others + grid.landmark_bytes();
                spent = spent.saturating_add(work);
                if work == 0 {
                    break;
                }
            }
        }
        spent
    }
}

fn bytes_of(grids: &NavGrids) -> usize {
    grids.iter().map(|(_, grid)| grid.landmark_bytes()).sum()
}

/// What better tables leave for quick ones that are missing.
fn reserved_in(grids: &NavGrids) -> usize {
    let missing = |grid: &NavGrid| grid.missing_landmarks() * most_bytes_per_table(grid);
    grids.iter().map(|(_, grid)| missing(grid)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coordinates::GridFrame,
        nav::{ProfileId, TerrainId},
    };

    #[test]
    fn what_it_takes_to_begin_a_table_is_paid_for() {
        let mut grids = NavGrids::default();
        let grid = NavGrid::new(256, 256, TerrainId::GROUND).unwrap();
        grids.insert(GridId::default(), grid, GridFrame::default());
        let (_, grid) = grids.iter().next().unwrap();
        grid.want_landmarks(ProfileId::default());
        let mut upkeep = LandmarkUpkeep::default();
        let mut tick = || {
            upkeep.fill(&mut grids, usize::MAX, (100, 100), || true);
            upkeep.quick_debt
        };
        let debt = tick();
        assert!(debt > 300, "{debt}: 65,536 cells are copied");
        assert_eq!([tick(), tick()], [debt - 100, debt - 200], "nothing else is done");
    }
}
