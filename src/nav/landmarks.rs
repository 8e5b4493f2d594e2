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
//! the terrain without blockers. Each profile first gets a quick table of up to eight landmarks, one field for each. When all
//! profiles have one, better tables replace them: fields are filled from all candidates, then from those that are
//! chosen, six times as much work. Terrain that becomes cheaper in the meantime makes the work begin anew, after a pause:
//! games that dig or tear down walls all the time would never get a table, only pay for it.

mod candidates;

use core::cmp::Reverse;
use std::collections::BTreeMap;

use self::candidates::Candidates;
use super::map::landmarks::{LANDMARK_COUNTS, LandmarkTable};
use super::{DistanceField, GridId, Layer, NavGrid, ProfileId, grid::TableGrade};

/// Columns and rows of the blocks of which one cell each can become a landmark.
const SAMPLE: u32 = 4;
/// Fewest samples of a region with landmarks: searches in smaller ones are short.
const FEWEST_SAMPLES: usize = 64;
/// Most memory of a table, in bytes for each cell of the grid: 5.75 MiB at 512 × 512. Enough for 8 landmarks on an open grid,
/// where they gain nothing, for 12 with a tenth of walls, and for 16 with a third.
const BYTES_PER_CELL: usize = 23;
/// Most landmarks of a quick table: all tables are soon there, and searches expand half as much again as with twice as many.
const QUICK_LANDMARKS: usize = 8;
/// Candidates for each landmark of a better table. With three, games on weighted terrain gain another 5 %, and nothing else
/// does.
const PER_LANDMARK: usize = 2;
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
    /// Whether every candidate becomes a landmark.
    is_quick: bool,
    /// Whether more landmarks would fit if other tables took less memory.
    is_cramped: bool,
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
    /// Before that, a quick table has 8 or 4.
    pub fn fill(&mut self, grid: (GridId, &mut NavGrid), most_bytes: usize, budget: u32) -> u32 {
        self.work_on(grid, (most_bytes, true), budget)
    }

    /// As [`fill`](Self::fill), but begins no table that replaces another one: with several grids, call this for all of them
    /// first.
    pub fn fill_missing(
        &mut self,
        grid: (GridId, &mut NavGrid),
        most_bytes: usize,
        budget: u32,
    ) -> u32 {
        self.work_on(grid, (most_bytes, false), budget)
    }

    fn work_on(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        (most_bytes, may_replace): (usize, bool),
        budget: u32,
    ) -> u32 {
        let mut spent = 0;
        while spent < budget {
            if self.work.as_ref().is_some_and(|work| work.grid != id) {
                break;
            }
            let Some(work) = &mut self.work else {
                let Some(cost) = self.begin((id, grid), (most_bytes, may_replace)) else {
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
                let (is_quick, most) = (work.is_quick, (most_bytes, landmarks - 1));
                spent += self.start((id, grid), (profile, is_quick), most);
            } else if work.is_finished() {
                let (table, grade) = (core::mem::take(&mut work.table), work.grade());
                self.work = None;
                grid.set_landmarks(profile, table.shrunk(), grade);
            }
        }
        spent
    }

    /// Drops the work on a grid that no longer exists.
    pub fn retain(&mut self, exists: impl Fn(GridId) -> bool) {
        self.work.take_if(|work| !exists(work.grid));
        self.reliefs.retain(|&(grid, _), _| exists(grid));
    }

    /// Begins the next table of a grid, missing ones before those that can be better; returns what it took of the budget, or
    /// `None` if there is none to begin.
    fn begin(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        (most_bytes, may_replace): (usize, bool),
    ) -> Option<u32> {
        let all = || (0..=u8::MAX).map(ProfileId).take(grid.profiles().len());
        let mut is_due = |profile: &ProfileId| {
            grid.lacks_landmarks(*profile)
                && self.is_quiet((id, *profile), grid.relief_number(*profile))
        };
        let missing = all().filter(|&profile| grid.landmarks(profile).is_none()).find(&mut is_due);
        let profile = missing.or_else(|| all().filter(|_| may_replace).find(is_due))?;
        let most_landmarks = if missing.is_some() { QUICK_LANDMARKS } else { usize::MAX };
        let most = (most_bytes, most_landmarks);
        Some(self.start((id, grid), (profile, missing.is_some()), most))
    }

    /// Starts a table with as many landmarks as fit; where none do, there is none. Returns what it took of the budget.
    fn start(
        &mut self,
        (id, grid): (GridId, &mut NavGrid),
        (profile, is_quick): (ProfileId, bool),
        (most_bytes, most_landmarks): (usize, usize),
    ) -> u32 {
        let most = (most_bytes_of((grid, profile), most_bytes), most_landmarks);
        self.work = Work::begin((id, grid), (profile, is_quick), most).map(Box::new);
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
        grid.set_landmarks(profile, LandmarkTable::default(), TableGrade::Cramped);
    }
}

/// The most memory that a table may take, in bytes, where all tables may take `most_bytes` more: it may replace an older
/// one.
fn most_bytes_of((grid, profile): (&NavGrid, ProfileId), most_bytes: usize) -> usize {
    let replaced = grid.landmarks(profile).map_or(0, |table| table.bytes());
    most_bytes_per_table(grid).min(most_bytes.saturating_add(replaced))
}

fn most_bytes_per_table(grid: &NavGrid) -> usize {
    grid.width() as usize * grid.height() as usize * BYTES_PER_CELL
}

impl Work {
    fn begin(
        (id, grid): (GridId, &NavGrid),
        (profile, is_quick): (ProfileId, bool),
        (most_bytes, most_landmarks): (usize, usize),
    ) -> Option<Self> {
        let bare = grid.without_blockers(profile)?;
        let layer = bare.layer(ProfileId::default())?;
        let samples = samples_of(layer);
        if samples.len() < FEWEST_SAMPLES {
            return None;
        }
        let (size, cells) = (layer.size(), samples.len() * (SAMPLE * SAMPLE) as usize);
        let fitting = |most_bytes: usize| {
            let bytes = |landmarks| LandmarkTable::least_bytes(size, (landmarks, cells));
            let mut counts = LANDMARK_COUNTS.into_iter();
            counts.rfind(|&count| count <= most_landmarks && bytes(count) <= most_bytes)
        };
        let landmarks = fitting(most_bytes)?;
        let is_cramped = fitting(most_bytes_per_table(grid)) > Some(landmarks);
        let scale = if layer.is_uniform() { layer.cost_sum_range().0 } else { 1 };
        let table = LandmarkTable::new(size, (landmarks, cells), scale);
        let wanted = if is_quick { landmarks } else { PER_LANDMARK * landmarks };
        let candidates = Candidates::new(samples, wanted, layer);
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
            is_quick,
            is_cramped,
            place,
            landmark,
            chunk,
        };
        work.start_next_field();
        Some(work)
    }

    /// Starts the field of the next candidate, or else of the next landmark.
    fn start_next_field(&mut self) {
        let tries = self.is_quick || self.landmark.is_none();
        let candidate = self.candidates.next().filter(|_| tries);
        if self.is_quick || candidate.is_none() {
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

    fn grade(&self) -> TableGrade {
        match (self.is_quick, self.is_cramped) {
            (true, _) => TableGrade::Quick,
            (_, true) => TableGrade::Cramped,
            _ => TableGrade::Best,
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
            return self.end_field();
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
            spent += self.end_field();
        }
        spent.max(1)
    }

    /// Goes on to the next field; returns what that took of the budget.
    fn end_field(&mut self) -> u32 {
        let is_candidate = self.is_quick || self.landmark.is_none();
        if is_candidate {
            self.candidates.add(self.place, &self.field);
        }
        self.start_next_field();
        1 + u32::from(is_candidate) * self.candidates.sample_count() as u32 / SAMPLES_PER_UNIT
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
    // The first of several large ones, whatever their numbers: those depend on past edits.
    let mut regions: BTreeMap<u32, (usize, Reverse<usize>)> = BTreeMap::new();
    for (i, &(region, _)) in found.iter().enumerate() {
        regions.entry(region).or_insert((0, Reverse(i))).0 += 1;
    }
    let largest = regions.into_iter().max_by_key(|&(_, size_and_first)| size_and_first);
    let is_largest = |region: u32| largest.is_some_and(|(largest, _)| region == largest);
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
