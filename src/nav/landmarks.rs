//! Filling of landmark tables, a slice at a time.
//!
//! ```
//! use bevy_tilepath::{nav::landmarks::LandmarkFiller, prelude::*};
//! let mut grid = NavGrid::new(64, 64, TerrainId::GROUND)?;
//! grid.want_landmarks(ProfileId::default());
//! let mut filler = LandmarkFiller::new();
//! while filler.fill((GridId::default(), &mut grid), 1 << 20, 50_000) > 0 {}
//! assert!(grid.landmark_bytes() > 0);
//! # Ok::<(), GridError>(())
//! ```
//!
//! The plugin does this for all grids, with what searches leave of the budget.
//!
//! Input: a [`NavGrid`] and a budget. Output: a table of distances for each profile with searches; these use it from then on.
//! When a table is ready depends only on the budget spent and the jobs of the queue, so that the same orders in the same
//! ticks get the same answers.
//!
//! Landmarks lie in the largest connected region (for the choice see `candidates`). Distance fields are filled over a copy of
//! the terrain without blockers. Each profile first gets a quick table of up to eight landmarks, one field for each. Better
//! tables replace those: fields are filled from all candidates, then from those that are chosen, six times as much work. Terrain that becomes cheaper in the meantime makes the work begin anew, after a pause:
//! games that dig or tear down walls all the time would never get a table, only pay for it.

mod candidates;
mod work;

use std::collections::BTreeMap;

use self::work::Work;
use super::{GridId, NavGrid, ProfileId, grid::TableGrade};

/// Most memory of a table, in bytes for each cell of the grid: 5.75 MiB at 512 × 512. Enough for 8 landmarks on an open grid,
/// where they gain nothing, for 12 with a tenth of walls, and for 16 with a third.
const BYTES_PER_CELL: usize = 23;
/// Cells of a grid for which a unit of the budget is spent to begin a table (measured: 5 to 8 ns a cell).
const CELLS_BEGUN_PER_UNIT: u32 = 6;
/// Steps for which terrain must not have become cheaper before a table is filled again.
const PAUSE: u64 = 128;

/// Which table is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
enum Kind {
    /// A first one, soon: every candidate becomes a landmark.
    Quick,
    /// One that replaces another one.
    Better,
}

/// Fills landmark tables: a quick one at a time, and a better one at a time.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct LandmarkFiller {
    /// By kind.
    works: [Option<Box<Work>>; 2],
    now: u64,
    /// By grid and profile: the number of its relief, and since which step it has had it.
    reliefs: BTreeMap<(GridId, ProfileId), (u64, u64)>,
}

impl LandmarkFiller {
    /// Creates a filler without work.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a step: call it once per tick.
    pub const fn begin_step(&mut self) {
        self.now += 1;
    }

    /// Drops the tables that are being filled.
    pub fn stop(&mut self) {
        self.works = [None, None];
    }

    /// Works on the tables of a grid for up to `budget` units (expansions) and returns how many it spent: 0 if there is
    /// nothing to do; the beginning of a table may take more than the budget. All tables may take `most_bytes` more than they
    /// do, and a table at most 23 bytes for each cell of the grid: it has 16 landmarks, or 12, 8 or 4 where they do not fit.
    /// Before that, a quick table has 8 or 4.
    pub fn fill(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        most_bytes: usize,
        budget: u32,
    ) -> u32 {
        let all_bytes = most_bytes.saturating_add(grid.landmark_bytes());
        let spent = self.fill_missing((id, grid), most_bytes, budget);
        let room = all_bytes.saturating_sub(grid.landmark_bytes());
        spent + self.fill_better((id, grid), room, budget.saturating_sub(spent))
    }

    /// As [`fill`](Self::fill), but fills only quick tables where there are none. With several grids, call this for all of
    /// them, and then [`fill_better`](Self::fill_better).
    pub fn fill_missing(
        &mut self,
        grid: (GridId, &mut NavGrid),
        most_bytes: usize,
        budget: u32,
    ) -> u32 {
        self.work_on(grid, Kind::Quick, most_bytes, budget)
    }

    /// As [`fill`](Self::fill), but fills only tables that replace others.
    pub fn fill_better(
        &mut self,
        grid: (GridId, &mut NavGrid),
        most_bytes: usize,
        budget: u32,
    ) -> u32 {
        self.work_on(grid, Kind::Better, most_bytes, budget)
    }

    fn work_on(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        kind: Kind,
        most_bytes: usize,
        budget: u32,
    ) -> u32 {
        let (mut spent, slot) = (0, kind as usize);
        let all_bytes = most_bytes.saturating_add(grid.landmark_bytes());
        while spent < budget {
            let room = all_bytes.saturating_sub(grid.landmark_bytes());
            let Some(work) = &mut self.works[slot] else {
                let Some(cost) = self.begin((id, grid), kind, room) else {
                    break;
                };
                spent += cost;
                continue;
            };
            if work.grid != id {
                break;
            }
            // Another number: terrain has become cheaper, the profile is another one, or the grid is.
            if work.relief != grid.relief_number(work.profile) {
                self.works[slot] = None;
                continue;
            }
            spent += work.advance(budget - spent);
            let (profile, landmarks) = (work.profile, work.table.landmark_count());
            if work.overflow() {
                grid.set_no_landmarks(profile, (TableGrade::Best, work.dearer));
                self.works[slot] = None;
            } else if work.table.bytes() > most_bytes_of((grid, profile), room) {
                // More distances than expected take 32 bits.
                spent += self.start((id, grid), (profile, kind), (room, Some(landmarks)));
            } else if work.is_finished() {
                let (table, state) = (core::mem::take(&mut work.table), (work.grade, work.dearer));
                self.works[slot] = None;
                grid.set_landmarks(profile, table.shrunk(), state);
            }
        }
        spent
    }

    /// Notes that there is more memory: what would have been filled with fewer landmarks is filled again after that.
    pub(crate) fn note_free_memory(&mut self) {
        for work in self.works.iter_mut().flatten() {
            if work.grade == TableGrade::Cramped {
                work.grade = TableGrade::Quick;
            }
        }
    }

    /// Drops the work on grids that no longer exist.
    pub fn retain(&mut self, exists: impl Fn(GridId) -> bool) {
        for work in &mut self.works {
            work.take_if(|work| !exists(work.grid));
        }
        self.reliefs.retain(|&(grid, _), _| exists(grid));
    }

    /// Begins the next table of a grid; returns what it took of the budget, or `None` if there is none to begin.
    fn begin(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        kind: Kind,
        most_bytes: usize,
    ) -> Option<u32> {
        let mut all = (0..=u8::MAX).map(ProfileId).take(grid.profiles().len());
        let profile = all.find(|&profile| {
            let is_missing = grid.landmarks(profile).is_none();
            is_missing == (kind == Kind::Quick)
                && grid.lacks_landmarks(profile)
                && self.is_quiet((id, profile), grid.relief_number(profile))
        })?;
        Some(self.start((id, grid), (profile, kind), (most_bytes, None)))
    }

    /// Starts a table with as many landmarks as fit, but fewer than `below`; where none do, or fewer than there are, it leaves
    /// all as it is. Returns what it took of the budget.
    fn start(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        (profile, kind): (ProfileId, Kind),
        (most_bytes, below): (usize, Option<usize>),
    ) -> u32 {
        let most = (most_bytes_of((grid, profile), most_bytes), below);
        let fewest = grid.fewest_landmarks(profile);
        let work = Work::begin((id, grid), (profile, kind), most);
        let work = work.filter(|work| work.table.landmark_count() >= fewest);
        grid.free_dropped_landmarks();
        if work.is_none() {
            let state = (TableGrade::Cramped, grid.dearer_cells(profile));
            grid.set_no_landmarks(profile, state);
        }
        self.works[kind as usize] = work.map(Box::new);
        1 + grid.width() * grid.height() / CELLS_BEGUN_PER_UNIT
    }

    /// Whether the terrain has not become cheaper for some time.
    fn is_quiet(&mut self, key: (GridId, ProfileId), relief: u64) -> bool {
        let (now, long_ago) = (self.now, self.now.wrapping_sub(PAUSE));
        let known = self.reliefs.entry(key).or_insert((relief, long_ago));
        if known.0 != relief {
            *known = (relief, now);
        }
        now.wrapping_sub(known.1) >= PAUSE
    }
}

/// The most memory that a table may take, in bytes, where all tables may take `most_bytes` more: it may replace an older
/// one.
fn most_bytes_of((grid, profile): (&NavGrid, ProfileId), most_bytes: usize) -> usize {
    let replaced = grid.landmarks(profile).map_or(0, |table| table.bytes());
    most_bytes_per_table(grid).min(most_bytes.saturating_add(replaced))
}

/// The most memory that a table may take, in bytes.
pub(crate) fn most_bytes_per_table(grid: &NavGrid) -> usize {
    grid.width() as usize * grid.height() as usize * BYTES_PER_CELL
}
