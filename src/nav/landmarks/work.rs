//! One landmark table while it is filled.
//!
//! Input: a grid and the room for the table. Output: the table, when it is complete. Landmarks lie in the largest connected
//! region. A distance field is filled from every candidate and then from every landmark that was chosen; in a quick table
//! every candidate is a landmark.

use core::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Kind, candidates::Candidates, most_bytes_per_table};
use crate::nav::{
    DistanceField, GridId, Layer, NavGrid, ProfileId,
    field::CELLS_CLEARED_PER_UNIT,
    grid::TableGrade,
    map::landmarks::{LANDMARK_COUNTS, LandmarkTable},
};

/// Columns and rows of the blocks of which one cell each can become a landmark.
const SAMPLE: u32 = 4;
/// Fewest samples of a region with landmarks: searches in smaller ones are short.
const FEWEST_SAMPLES: usize = 64;
/// Most landmarks of a quick table: all tables are soon there, and searches expand half as much again as with twice as many.
const QUICK_LANDMARKS: usize = 8;
/// Candidates for each landmark of a better table. With three, games on weighted terrain gain another 5 %, and nothing else
/// does.
const PER_LANDMARK: usize = 2;
/// Chunks stored for a unit of the budget (estimated).
const UNITS_PER_CHUNK: u32 = 24;
/// Cells looked at for a candidate, for a unit of the budget (measured: 5 ns a cell).
const SAMPLES_PER_UNIT: u32 = 8;

/// A table that is being filled.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Work {
    pub(super) grid: GridId,
    pub(super) profile: ProfileId,
    /// The number of the grid's relief when it began.
    pub(super) relief: u64,
    /// The terrain without blockers, with one profile.
    bare: NavGrid,
    field: DistanceField,
    pub(super) table: LandmarkTable,
    candidates: Candidates,
    kind: Kind,
    /// Whether there can be a better table afterwards.
    pub(super) grade: TableGrade,
    /// How many cells had become dearer when it began.
    pub(super) dearer: u32,
    /// The cell of the field: a candidate, and later a landmark.
    place: (u32, u32),
    /// The landmark that is being stored; `None` while there are more candidates.
    landmark: Option<usize>,
    /// The next chunk to store, once the field is filled.
    chunk: usize,
}

impl Work {
    /// Begins the table of a profile with as many landmarks as fit, but fewer than `below`; `None` if none do.
    pub(super) fn begin(
        (id, grid): (GridId, &NavGrid),
        (profile, kind): (ProfileId, Kind),
        (most_bytes, below): (usize, Option<usize>),
    ) -> Option<Self> {
        let size = grid.layer(profile)?.size();
        let most_landmarks = if kind == Kind::Quick { QUICK_LANDMARKS } else { usize::MAX };
        let fitting = |samples: usize, most_bytes: usize| {
            let cells = samples * (SAMPLE * SAMPLE) as usize;
            let bytes = |landmarks| LandmarkTable::least_bytes(size, (landmarks, cells));
            let is_allowed =
                |&count: &usize| count <= most_landmarks && below.is_none_or(|below| count < below);
            let mut counts = LANDMARK_COUNTS.into_iter().filter(is_allowed);
            counts.rfind(|&count| bytes(count) <= most_bytes)
        };
        // Without its blockers a grid has as many samples or more: if no table fits now, none fits then, and there is no need for a
        // copy.
        fitting(sample_count(grid.layer(profile)?), most_bytes)?;
        let bare = grid.without_blockers(profile)?;
        let layer = bare.layer(ProfileId::default())?;
        let samples = samples_of(layer);
        if samples.len() < FEWEST_SAMPLES {
            return None;
        }
        let landmarks = fitting(samples.len(), most_bytes)?;
        let is_cramped = most_bytes < most_bytes_per_table(grid)
            && (below.is_some()
                || fitting(samples.len(), most_bytes_per_table(grid)) > Some(landmarks));
        let grade = match kind {
            Kind::Quick => TableGrade::Quick,
            Kind::Better if is_cramped => TableGrade::Cramped,
            Kind::Better => TableGrade::Best,
        };
        // Where all steps cost multiples of the lowest cost sum, distances can be stored in these without a loss.
        let scale = if layer.has_uniform_step_costs() { layer.cost_sum_range().0 } else { 1 };
        let table = LandmarkTable::new(size, (landmarks, most_bytes), scale);
        let wanted = if kind == Kind::Quick { landmarks } else { PER_LANDMARK * landmarks };
        let candidates = Candidates::new(samples, wanted, layer);
        let mut work = Self {
            grid: id,
            profile,
            relief: grid.relief_number(profile),
            bare,
            field: DistanceField::new(),
            table,
            candidates,
            kind,
            grade,
            dearer: grid.dearer_cells(profile),
            place: (0, 0),
            landmark: None,
            chunk: 0,
        };
        work.start_next_field();
        Some(work)
    }

    /// Starts the field of the next candidate, or else of the next landmark.
    fn start_next_field(&mut self) {
        let is_quick = self.kind == Kind::Quick;
        let tries = is_quick || self.landmark.is_none();
        let candidate = self.candidates.next().filter(|_| tries);
        if is_quick || candidate.is_none() {
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

    /// Whether some cells have no distance: their costs do not fit.
    pub(super) const fn overflow(&self) -> bool {
        self.field.overflow()
    }

    /// Whether the table is complete.
    pub(super) fn is_finished(&self) -> bool {
        self.landmark == Some(self.table.landmark_count())
    }

    /// Works for up to `budget` units; returns how many it spent, at least one.
    pub(super) fn advance(&mut self, budget: u32) -> u32 {
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
        let is_candidate = self.kind == Kind::Quick || self.landmark.is_none();
        if is_candidate {
            self.candidates.add(self.place, &self.field);
        }
        self.start_next_field();
        let cells = u64::from(self.bare.width()) * u64::from(self.bare.height());
        let looked_at = u32::from(is_candidate) * self.candidates.sample_count() as u32;
        1 + looked_at / SAMPLES_PER_UNIT + (cells / CELLS_CLEARED_PER_UNIT) as u32
    }
}

/// Returns a cell for each block in which there is one in the right place, with its region.
fn places(layer: &Layer) -> impl Iterator<Item = (u32, (u32, u32))> {
    let (width, height) = layer.size();
    // In every block elsewhere, so that no pattern of walls hides all of them.
    let place = |x: u32, y: u32| {
        let (dx, dy) = ((x * 3 + y) % SAMPLE, (x + y * 3 + x / SAMPLE) % SAMPLE);
        (x * SAMPLE + dx, y * SAMPLE + dy)
    };
    let blocks = (0..height.div_ceil(SAMPLE))
        .flat_map(move |y| (0..width.div_ceil(SAMPLE)).map(move |x| place(x, y)));
    blocks.filter_map(|(x, y)| Some((layer.region(x, y)?, (x, y))))
}

/// Returns the region that is found most often, and how often that is.
fn largest_region(found: impl Iterator<Item = u32>) -> Option<(u32, usize)> {
    // The first of several large ones, whatever their numbers: those depend on past edits.
    let mut regions: BTreeMap<u32, (usize, Reverse<usize>)> = BTreeMap::new();
    // Neighbors mostly lie in one region: they are counted together.
    let (mut run, mut length) = (None, 0);
    for (i, region) in found.map(Some).chain([None]).enumerate() {
        if region != run {
            if let Some(region) = run {
                regions.entry(region).or_insert((0, Reverse(i))).0 += length;
            }
            (run, length) = (region, 0);
        }
        length += 1;
    }
    let largest = regions.into_iter().max_by_key(|&(_, size_and_first)| size_and_first);
    largest.map(|(region, (size, _))| (region, size))
}

/// Returns how many [samples](samples_of) there are.
fn sample_count(layer: &Layer) -> usize {
    largest_region(places(layer).map(|(region, _)| region)).map_or(0, |(_, size)| size)
}

/// Returns the places in the largest region. Their distances are those from the middle, so that the first landmark lies at
/// the edge.
fn samples_of(layer: &Layer) -> Vec<((u32, u32), u32)> {
    let mut found: Vec<(u32, (u32, u32))> = places(layer).collect();
    let largest = largest_region(found.iter().map(|&(region, _)| region));
    found.retain(|&(region, _)| largest.is_some_and(|(largest, _)| region == largest));
    let middle = |coordinate: fn(&(u32, u32)) -> u32| {
        let sum: u64 = found.iter().map(|(_, cell)| u64::from(coordinate(cell))).sum();
        (sum / found.len().max(1) as u64) as u32
    };
    let (x, y) = (middle(|cell| cell.0), middle(|cell| cell.1));
    found.into_iter().map(|(_, cell)| (cell, layer.distance_between(cell, (x, y)))).collect()
}
