//! When jobs with one goal are answered by one search.
//!
//! A search from the goal outward (a [`DistanceField`](crate::nav::field::DistanceField)) answers everybody who wants to go there. It
//! looks at all cells as near to the goal as the farthest of them, which is more than a search looks at
//! that runs from one place to another; so it pays from some number of jobs on. Whether it does is
//! reckoned from what searches on the same grid and profile have taken so far, per step of distance:
//! the same jobs and budgets lead to the same choice.
//!
//! Jobs with a rally are counted by that instead of their goals (`tail` has what follows). What they
//! take beyond the field is not reckoned in: it is little next to a search for each.

use std::collections::BTreeMap;

use super::{
    MOST_RESTARTS,
    groups::{Group, Groups},
    job::Job,
};
use crate::nav::{
    cell::Cell,
    goal::Approach,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupKey {
    pub(super) grid: GridId,
    pub(super) profile: ProfileId,
    /// Their goal, or their rally.
    pub(super) goal: Cell,
}

/// What is known of jobs that wait and of searches that are done.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// By class as well: of one that is limited, not all can come along.
    groups: Groups,
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
        let goal = job.rally.unwrap_or(query.goal);
        // Long ways are near-optimal where `Auto` answers alone: they keep to that.
        let is_near = |goal: Cell| {
            let (columns, rows) = (query.start.x.abs_diff(goal.x), query.start.y.abs_diff(goal.y));
            u64::from(columns) + u64::from(rows) < u64::from(LONG_WAY)
        };
        let may = query.algorithm == Algorithm::Auto
            && query.reach == Reach::Exact
            && has_one_cell(job)
            && is_near(goal)
            && is_near(query.goal)
            && job.restarts < MOST_RESTARTS
            && !job.is_single
            && job.begun.is_none();
        may.then_some(Self { grid: job.grid, profile: query.profile, goal })
    }
}

impl Sharing {
    /// A job has come into the queue.
    pub(super) fn note_waiting(&mut self, job: &Job) {
        if let Some(key) = GroupKey::of(job) {
            let distance = distance(job.query.start, key.goal);
            self.groups.add((key, job.class), distance, job.is_new);
        }
    }

    /// A job waits no more.
    pub(super) fn note_gone(&mut self, job: &Job) {
        if let Some(key) = GroupKey::of(job) {
            let distance = distance(job.query.start, key.goal);
            self.groups.remove(&(key, job.class), distance, job.is_new);
        }
    }

    /// A search has answered a job alone.
    pub(super) fn learn(&mut self, job: &Job, spent: u64) {
        if !has_one_cell(job) {
            return; // How far it went is not told by its goal.
        }
        let rate = self.rates.entry((job.grid, job.query.profile)).or_default();
        rate.spent += spent;
        rate.distance += u64::from(distance(job.query.start, job.query.goal));
        if rate.distance > MEMORY {
            rate.spent /= 2;
            rate.distance /= 2;
        }
    }

    /// Whether others of a class wait that have the same goal.
    pub(super) fn has_others(&self, key: &GroupKey, class: u8) -> bool {
        self.groups.get(&(*key, class)).is_some()
    }

    /// Whether one field is cheaper for the waiting jobs of this goal and class than a search for each,
    /// where so many new ones may still be taken up.
    pub(super) fn pays(
        &self,
        (key, class): (&GroupKey, u8),
        allowance: u32,
        grid: &NavGrid,
        layer: &Layer,
    ) -> bool {
        let Some(group) = self.groups.get(&(*key, class)) else {
            return false;
        };
        let distance = distance_of_allowed(group, allowance);
        let jumps = layer.jumps().is_some_and(JumpMap::pays);
        let rate = self.rates.get(&(key.grid, key.profile)).copied().unwrap_or_default();
        let guess = FIRST_GUESS[usize::from(!jumps)];
        let learned = distance.saturating_mul(rate.spent).checked_div(rate.distance);
        let alone = learned.unwrap_or(distance * guess);
        let cells = u64::from(grid.width()) * u64::from(grid.height());
        let around = 4 * u64::from(group.farthest) * u64::from(group.farthest);
        let casts_rays = jumps && layer.is_uniform();
        let together =
            around.min(cells) / CELLS_PER_UNIT[usize::from(!casts_rays)] + cells / CLEARED_PER_UNIT;
        alone > together
    }

    /// Memory of what is known of waiting jobs, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.groups.bytes()
    }
}

/// How far those of a group have to go in all that may be taken up, if `allowance` new ones may.
fn distance_of_allowed(group: &Group, allowance: u32) -> u64 {
    let allowed = group.count - group.new.saturating_sub(allowance);
    if allowed == group.count {
        return group.distance;
    }
    // Any of them: on average.
    group.distance.saturating_mul(u64::from(allowed)) / u64::from(group.count.max(1))
}

/// Whether a job leads to a cell and no other.
fn has_one_cell(job: &Job) -> bool {
    job.query.approach == Approach::Onto && job.goals.is_none()
}

/// How far one cell is from another, in cells along the longer axis.
fn distance(from: Cell, to: Cell) -> u32 {
    from.x.abs_diff(to.x).max(from.y.abs_diff(to.y))
}
