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
//! Input: a [`NavGrid`] and a budget. Output: a table of distances for each profile for which there are searches, which use
//! it from then on. Readiness follows the budget spent and the jobs of the queue, so that the same orders in the same
//! ticks get the same answers.
//!
//! Landmarks lie in the largest connected region (for the choice see `candidates`). Distance fields are filled over a copy of
//! the terrain without blockers, first from all candidates, then from those that are chosen. Terrain
//! that becomes cheaper in the meantime makes the work begin anew, after a pause: games that dig or tear down walls all
//! the time would never get a table, only pay for it.

mod candidates;

use core::cmp::Reverse;
use std::collections::BTreeMap;

use self::candidates::Candidates;
use super::map::landmarks::{LANDMARK_COUNTS, LandmarkTable};
use super::{DistanceField, GridId, Layer, NavGrid, ProfileId};

/// Columns and rows of the blocks of which one cell each can become a landmark.
const SAMPLE: u32 = 4;
/// Fewest samples of a region with landmarks: searches in smaller ones are short.
const FEWEST_SAMPLES: usize = 64;
/// Most memory of a table, in bytes for each cell of the grid: 5.75 MiB at 512 × 512. Enough for 8 landmarks on an open grid,
/// where they gain nothing, for 12 with a tenth of walls, and for 16 with a third.
const BYTES_PER_CELL: usize = 23;
/// Chunks stored for a unit of the budget (estimated).
const UNITS_PER_CHUNK: u32 = 24;
/// Cells looked at for a candidate, for a unit of the budget (measured: 5 ns a cell).
const SAMPLES_PER_UNIT: u32 = 8;
/// Cells of a grid for which a unit of the budget is spent to begin a table (measured: 5 to 8 ns a cell).
const CELLS_BEGUN_PER_UNIT: u32 = 6;
/// Steps for which terrain must not have become cheaper before a table is filled again.
const PAUSE: u64 = 128;

/// Fills landmark tables; one at a time.
#[derive(Debug, Default)]
pub struct LandmarkFiller {
    work: Option<Box<Work>>,
    now: u64,
    /// By grid and profile: the number of its relief, and since which step it has had it.
    reliefs: BTreeMap<(GridId, ProfileId), (u64, u64)>,
}

/// A table that is being filled.
#[derive(Debug)]
struct Work {
    grid: GridId,
    profile: ProfileId,
    /// The number of the grid's relief when it began.
    relief: u64,
    /// The terrain without blockers, with one profile.
    bare: NavGrid,
    field: DistanceField,
    table: LandmarkTable,
    candidates: Candidates,
    /// The cell of the field: a candidate, and later a landmark.
    place: (u32, u32),
    /// The landmark that is being stored; `None` while there are more candidates.
    landmark: Option<usize>,
    /// The next chunk to store, once the field is filled.
    chunk: usize,
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

    /// Drops the table that is being filled.
    pub fn stop(&mut self) {
        self.work = None;
    }

    /// Works on the tables of a grid for up to `budget` units (expansions) and returns how many it spent: 0 if there is
    /// nothing to do; the beginning of a table may take more than the budget. All tables may take `most_bytes` more than they
    /// do, and a table at most 23 bytes for each cell of the grid: it has 16 landmarks, or 12, 8 or 4 where they do not fit.
    pub fn fill(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        most_bytes: usize,
        budget: u32,
    ) -> u32 {
        let mut spent = 0;
        while spent < budget {
            if self.work.as_ref().is_some_and(|work| work.grid != id) {
                break;
            }
            let Some(work) = &mut self.work else {
                let Some(cost) = self.begin((id, grid), most_bytes) else {
                    break;
                };
                spent += cost;
                continue;
            };
            // Another number: terrain has become cheaper, the profile is another one, or the grid is.
            if work.relief != grid.relief_number(work.profile) {
                self.work = None;
                continue;
            }
            spent += work.advance(budget - spent);
            let (profile, landmarks) = (work.profile, work.table.landmark_count());
            if work.field.overflow() {
                // Some cells have no distance.
                self.work = None;
                set_none(grid, profile);
            } else if work.table.bytes() > most_bytes_of((grid, profile), most_bytes) {
                // More distances than expected take 32 bits.
                spent += self.start((id, grid), profile, (most_bytes, landmarks - 1));
            } else if work.is_finished() {
                let table = core::mem::take(&mut work.table);
                self.work = None;
                grid.set_landmarks(profile, table.shrunk());
            }
        }
        spent
    }

    /// Drops the work on a grid that no longer exists.
    pub fn retain(&mut self, exists: impl Fn(GridId) -> bool) {
        self.work.take_if(|work| !exists(work.grid));
        self.reliefs.retain(|&(grid, _), _| exists(grid));
    }

    /// Begins the next table of a grid, missing ones before weak ones; returns what it took of the budget, or `None` if
    /// there is none to begin.
    fn begin(&mut self, (id, grid): (GridId, &mut NavGrid), most_bytes: usize) -> Option<u32> {
        let all = || (0..=u8::MAX).map(ProfileId).take(grid.profiles().len());
        let mut is_due = |profile: &ProfileId| {
            grid.lacks_landmarks(*profile)
                && self.is_quiet((id, *profile), grid.relief_number(*profile))
        };
        let missing = all().filter(|&profile| grid.landmarks(profile).is_none()).find(&mut is_due);
        let profile = missing.or_else(|| all().find(is_due))?;
        Some(self.start((id, grid), profile, (most_bytes, usize::MAX)))
    }

    /// Starts a table with as many landmarks as fit; where none do, there is none. Returns what it took of the budget.
    fn start(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        profile: ProfileId,
        (most_bytes, most_landmarks): (usize, usize),
    ) -> u32 {
        let most = (most_bytes_of((grid, profile), most_bytes), most_landmarks);
        self.work = Work::begin((id, grid), profile, most).map(Box::new);
        grid.begin_landmarks(profile);
        if self.work.is_none() {
            set_none(grid, profile);
        }
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

/// Notes that there can be no table; a weak one stays in use.
fn set_none(grid: &mut NavGrid, profile: ProfileId) {
    if grid.landmarks(profile).is_none() {
        grid.set_landmarks(profile, LandmarkTable::default());
    }
}

/// The most memory that a table may take, in bytes, where all tables may take `most_bytes` more: it may replace an older
/// one.
fn most_bytes_of((grid, profile): (&NavGrid, ProfileId), most_bytes: usize) -> usize {
    let replaced = grid.landmarks(profile).map_or(0, |table| table.bytes());
    let cells = grid.width() as usize * grid.height() as usize;
    (cells * BYTES_PER_CELL).min(most_bytes.saturating_add(replaced))
}

impl Work {
    fn begin(
        (id, grid): (GridId, &NavGrid),
        profile: ProfileId,
        (most_bytes, most_landmarks): (usize, usize),
    ) -> Option<Self> {
        let bare = grid.without_blockers(profile)?;
        let layer = bare.layer(ProfileId::default())?;
        let samples = samples_of(layer);
        if samples.len() < FEWEST_SAMPLES {
            return None;
        }
        let (size, cells) = (layer.size(), samples.len() * (SAMPLE * SAMPLE) as usize);
        let fits = |&landmarks: &usize| {
            landmarks <= most_landmarks
                && LandmarkTable::least_bytes(size, (landmarks, cells)) <= most_bytes
        };
        let landmarks = LANDMARK_COUNTS.into_iter().rfind(fits)?;
        let scale = if layer.is_uniform() { layer.cost_sum_range().0 } else { 1 };
        let table = LandmarkTable::new(size, (landmarks, cells), scale);
        let candidates = Candidates::new(samples, landmarks, layer);
        let (field, relief) = (DistanceField::new(), grid.relief_number(profile));
        let (place, landmark, chunk) = ((0, 0), None, 0);
        let mut work = Self {
            grid: id,
            profile,
            relief,
            bare,
            field,
            table,
            candidates,
            place,
            landmark,
            chunk,
        };
        work.start_next_field();
        Some(work)
    }

    /// Starts the field of the next candidate, or else of the next landmark.
    fn start_next_field(&mut self) {
        let candidate = self.candidates.next().filter(|_| self.landmark.is_none());
        if candidate.is_none() {
            self.landmark = Some(self.landmark.map_or(0, |landmark| landmark + 1));
            self.chunk = 0;
        }
        if self.is_finished() {
            return;
        }
        if let Some((x, y)) = candidate.or_else(|| self.candidates.choose()) {
            self.place = (x, y);
            let cell = self.bare.global(x, y);
            // It was passable when it was chosen, and nobody edits this grid.
            let _is_passable = self.field.start(&self.bare, ProfileId::default(), cell);
        }
    }

    /// Whether the table is complete.
    fn is_finished(&self) -> bool {
        self.landmark == Some(self.table.landmark_count())
    }

    /// Works for up to `budget` units; returns how many it spent, at least one.
    fn advance(&mut self, budget: u32) -> u32 {
        if !self.field.is_finished() {
            return self.field.step(&self.bare, budget).max(1);
        }
        let Some(landmark) = self.landmark else {
            self.candidates.add(self.place, &self.field);
            self.start_next_field();
            return 1 + self.candidates.sample_count() as u32 / SAMPLES_PER_UNIT;
        };
        if self.chunk == 0 {
            self.table.add_place(self.place);
        }
        let size = (self.bare.width(), self.bare.height());
        let mut spent = 0;
        while spent < budget && self.chunk < self.table.chunk_count() {
            let distance = |x, y| self.field.units_at(x, y);
            self.table.store((self.chunk, landmark), size, distance);
            self.chunk += 1;
            spent += UNITS_PER_CHUNK;
        }
        if self.chunk == self.table.chunk_count() {
            self.start_next_field();
        }
        spent.max(1)
    }
}

/// Returns cells of the largest region, one for each block in which there is one in the right place. Their distances are
/// those from the middle, so that the first landmark lies at the edge.
fn samples_of(layer: &Layer) -> Vec<((u32, u32), u32)> {
    let (width, height) = layer.size();
    // In every block elsewhere, so that no pattern of walls hides all of them.
    let place = |x: u32, y: u32| {
        let (dx, dy) = ((x * 3 + y) % SAMPLE, (x + y * 3 + x / SAMPLE) % SAMPLE);
        (x * SAMPLE + dx, y * SAMPLE + dy)
    };
    let blocks = (0..height.div_ceil(SAMPLE))
        .flat_map(|y| (0..width.div_ceil(SAMPLE)).map(move |x| place(x, y)));
    let found: Vec<(u32, (u32, u32))> =
        blocks.filter_map(|(x, y)| Some((layer.region(x, y)?, (x, y)))).collect();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    found.iter().for_each(|&(region, _)| *counts.entry(region).or_default() += 1);
    let largest = counts.iter().max_by_key(|&(&region, &count)| (count, Reverse(region)));
    let is_largest = |region: u32| largest.is_some_and(|(&largest, _)| region == largest);
    let cells: Vec<(u32, u32)> =
        found.iter().filter(|&&(region, _)| is_largest(region)).map(|&(_, cell)| cell).collect();
    let middle = |coordinate: fn(&(u32, u32)) -> u32| {
        let sum: u64 = cells.iter().map(|cell| u64::from(coordinate(cell))).sum();
        (sum / cells.len().max(1) as u64) as u32
    };
    let (x, y) = (middle(|cell| cell.0), middle(|cell| cell.1));
    let away = |cell: (u32, u32)| layer.distance(cell.0.abs_diff(x), cell.1.abs_diff(y));
    cells.into_iter().map(|cell| (cell, away(cell))).collect()
}
