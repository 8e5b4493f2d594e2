//! When jobs with one goal are answered by one search.
//!
//! A search from the goal outward (a [`DistanceField`](crate::nav::field::DistanceField)) answers everybody who wants to go there. It
//! looks at all cells as near to the goal as the farthest of them, which is more than a search looks at
//! that runs from one place to another; so it pays from some number of jobs on. Whether it does is
//! reckoned from what searches on the same grid and profile have taken so far, per step of distance:
//! the same jobs and budgets lead to the same choice.

use std::collections::BTreeMap;

use super::{MOST_RESTARTS, job::Job};
use crate::nav::{
    cell::Cell,
    grid::NavGrid,
    jump_map::JumpMap,
    layer::Layer,
    query::{Algorithm, GridId, Reach},
    search::LONG_WAY,
    terrain::ProfileId,
};

/// Fields that may be under way at once: each takes 4 bytes a cell of its grid.
pub(super) const MOST_FIELDS: usize = 2;
/// A field takes a unit of the budget for so many cells: where it casts rays over uniform ground, and
/// elsewhere (measured: 3 to 6 and 20 to 45 ns a cell, 40 to the unit).
const CELLS_PER_UNIT: [u64; 2] = [8, 1];
/// Clearing the field takes a unit for so many cells of the grid (0.2 ns each).
const CLEARED_PER_UNIT: u64 = 200;
/// What a search takes per step of distance before anything is known, in units: where it jumps and
/// where it does not. Little, so that nothing is shared on a guess.
const FIRST_GUESS: [u64; 2] = [1, 8];
/// What has been learned is halved at so many steps of distance, so that it follows the map.
const MEMORY: u64 = 1 << 16;

/// Jobs that could be answered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    pub(super) grid: GridId,
    pub(super) profile: ProfileId,
    pub(super) goal: Cell,
}

/// Waiting jobs with one goal.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    count: u32,
    /// Distances from their starts, added up and at most, in cells (the longer of columns and rows).
    distance: u64,
    farthest: u32,
}

/// What is known of jobs that wait and of searches that are done.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    groups: BTreeMap<GroupKey, Group>,
    rates: BTreeMap<(GridId, ProfileId), Rate>,
}

/// Budget spent by searches, and how far they went.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    spent: u64,
    distance: u64,
}

impl GroupKey {
    /// Where a job belongs, if it may be answered together with others.
    pub(super) fn of(job: &Job) -> Option<Self> {
        let query = &job.query;
        // Long ways are near-optimal where `Auto` answers alone: they keep to that.
        let (start, goal) = (query.start, query.goal);
        let most = u64::from(start.x.abs_diff(goal.x)) + u64::from(start.y.abs_diff(goal.y));
        let may = query.algorithm == Algorithm::Auto
            && query.reach == Reach::Exact
            && most < u64::from(LONG_WAY)
            && job.restarts < MOST_RESTARTS
            && !job.is_single
            && job.begun.is_none();
        may.then_some(Self { grid: job.grid, profile: query.profile, goal: query.goal })
    }
}

impl Sharing {
    /// A job has come into the queue.
    pub(super) fn note_waiting(&mut self, job: &Job) {
        if let Some(key) = GroupKey::of(job) {
            let group = self.groups.entry(key).or_default();
            let distance = distance(job);
            group.count += 1;
            group.distance += u64::from(distance);
            group.farthest = group.farthest.max(distance);
        }
    }

    /// A job waits no more.
    pub(super) fn note_gone(&mut self, job: &Job) {
        let Some(key) = GroupKey::of(job) else {
            return;
        };
        if let Some(group) = self.groups.get_mut(&key) {
            group.count -= 1;
            group.distance -= u64::from(distance(job));
            if group.count == 0 {
                self.groups.remove(&key);
            }
        }
    }

    /// A search has answered a job alone.
    pub(super) fn learn(&mut self, job: &Job, spent: u64) {
        let rate = self.rates.entry((job.grid, job.query.profile)).or_default();
        rate.spent += spent;
        rate.distance += u64::from(distance(job));
        if rate.distance > MEMORY {
            rate.spent /= 2;
            rate.distance /= 2;
        }
    }

    /// Whether others wait that have the same goal.
    pub(super) fn has_others(&self, key: &GroupKey) -> bool {
        self.groups.contains_key(key)
    }

    /// Whether one field is cheaper for the waiting jobs of this goal than a search for each.
    pub(super) fn pays(&self, key: &GroupKey, grid: &NavGrid, layer: &Layer) -> bool {
        let Some(group) = self.groups.get(key) else {
            return false;
        };
        let jumps = layer.jumps().is_some_and(JumpMap::pays);
        let rate = self.rates.get(&(key.grid, key.profile)).copied().unwrap_or_default();
        let guess = FIRST_GUESS[usize::from(!jumps)];
        let learned = group.distance.saturating_mul(rate.spent).checked_div(rate.distance);
        let alone = learned.unwrap_or(group.distance * guess);
        let cells = u64::from(grid.width()) * u64::from(grid.height());
        let around = 4 * u64::from(group.farthest) * u64::from(group.farthest);
        let casts_rays = jumps && layer.is_uniform();
        let together =
            around.min(cells) / CELLS_PER_UNIT[usize::from(!casts_rays)] + cells / CLEARED_PER_UNIT;
        alone > together
    }
}

/// How far a job has to go, in cells along the longer axis.
fn distance(job: &Job) -> u32 {
    let (start, goal) = (job.query.start, job.query.goal);
    start.x.abs_diff(goal.x).max(start.y.abs_diff(goal.y))
}
