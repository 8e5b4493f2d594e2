//! When jobs with one goal are answered by one search.
//!
//! Input: the jobs that wait, and what searches have cost so far. Output: the group of each job, and whether a
//! field pays for a group.
//!
//! A goal is a cell, or a few cells near one another: a rectangle, a range, what lies beside a building.
//!
//! A search outward from the goal (a [`DistanceField`](crate::nav::field::DistanceField)) answers every
//! job that leads there. It visits all cells as near to the goal as the farthest start, which is more than
//! a search from one cell to another visits, so it pays from some number of jobs on. That number is
//! estimated from what searches on the same grid and profile have cost so far per step of distance, so the
//! same jobs and budgets lead to the same choice.
//!
//! Jobs with a rally are grouped by their rally instead of their goal (see `last_leg` for the rest). The
//! extra cost of their last legs is not counted here: it is little compared with a search for each job.

use std::collections::{BTreeMap, btree_map::Entry};

use super::{MAX_RESTARTS, job::Job};
use crate::nav::{
    Algorithm, Cell, Goal, GridId, Layer, NavGrid, ProfileId, field::CELLS_CLEARED_PER_UNIT,
    jump_map::JumpMap, search::HIERARCHY_MIN_DISTANCE,
};

/// Most shared fields in flight at the same time: each takes 4 bytes a cell of its grid.
pub(super) const MAX_FIELDS: usize = 2;
/// Cells of a field that cost one unit of the budget: if rays fill it over uniform terrain, and otherwise
/// (measured: 3 to 6 and 20 to 45 ns per cell, 40 ns per unit).
const CELLS_PER_UNIT: [u64; 2] = [8, 1];
/// Assumed cost of a search per step of distance before any was measured, in units: with jumps and without.
/// Low, so that nothing is shared on a guess.
const FIRST_GUESS: [u64; 2] = [1, 8];
/// After so many steps of distance the measured sums are halved, so that they follow changes of the map.
const RATE_WINDOW: u64 = 1 << 16;

/// What jobs must have in common to be answered together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct GroupKey {
    pub(super) grid: GridId,
    pub(super) profile: ProfileId,
    /// Their goal, or their rally.
    pub(super) goal: Goal,
}

impl GroupKey {
    /// Returns the group of a job, if it may be answered together with others.
    pub(super) fn of(job: &Job) -> Option<Self> {
        let query = &job.query;
        let may_share = query.algorithm == Algorithm::Auto
            && job.has_small_goal()
            && (job.rally.is_none() || query.goal.is_single_cell())
            && job.restarts < MAX_RESTARTS
            && !job.is_single
            && job.delivered.is_none();
        may_share.then_some(Self { grid: job.grid, profile: query.profile, goal: goal_of(job) })
    }

    /// Whether it is the group of a job.
    pub(super) fn is_of(&self, job: &Job) -> bool {
        // Most jobs have other goals.
        goal_of(job) == self.goal && Self::of(job) == Some(*self)
    }

    /// Returns the group of a job if the job is a reason to start a field. `Auto` answers long queries with the hierarchy, even if
    /// many of them wait; but where there is a field, they join it.
    pub(super) fn of_counted(job: &Job) -> Option<Self> {
        let start = job.query.start;
        let is_near = |goal: Cell| {
            let (columns, rows) = (start.x.abs_diff(goal.x), start.y.abs_diff(goal.y));
            u64::from(columns) + u64::from(rows) <= u64::from(HIERARCHY_MIN_DISTANCE)
        };
        Self::of(job).filter(|key| is_near(key.goal.cell()) && is_near(job.query.goal.cell()))
    }
}

/// Returns what the field of a job leads to.
fn goal_of(job: &Job) -> Goal {
    job.rally.map_or(job.query.goal, Goal::from)
}

/// Statistics about the jobs that wait and the searches that are done.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SharingPolicy {
    /// The groups that have jobs, separated by class: in a limited class, not all jobs can be admitted together.
    groups: BTreeMap<(GroupKey, u8), SharedJobs>,
    rates: BTreeMap<(GridId, ProfileId), Rate>,
}

/// The waiting jobs of one group and class.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct SharedJobs {
    count: u32,
    /// How many of them were never admitted.
    new: u32,
    /// Sum and maximum of the distances from their starts, in cells (the longer of columns and rows).
    /// The farthest job may have left the group.
    distance_sum: u64,
    farthest: u32,
}

/// Budget spent by searches, and how far they went.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Rate {
    spent: u64,
    distance: u64,
}

impl SharingPolicy {
    /// Counts a job that begins to wait.
    pub(super) fn add_waiting(&mut self, job: &Job) {
        if let Some(key) = GroupKey::of_counted(job) {
            let group = self.groups.entry((key, job.class)).or_default();
            let distance = job.query.start.chebyshev(key.goal.cell());
            group.count += 1;
            group.new += u32::from(job.is_new);
            group.distance_sum += u64::from(distance);
            group.farthest = group.farthest.max(distance);
        }
    }

    /// Removes a job that does not wait any more.
    pub(super) fn remove_waiting(&mut self, job: &Job) {
        if let Some(key) = GroupKey::of_counted(job) {
            self.remove_members((key, job.class), core::slice::from_ref(job));
        }
    }

    /// Removes jobs that do not wait any more, all of one group (counted or not) and class.
    pub(super) fn remove_members(&mut self, (key, class): (GroupKey, u8), jobs: &[Job]) {
        let Entry::Occupied(mut entry) = self.groups.entry((key, class)) else {
            return;
        };
        let group = entry.get_mut();
        for job in jobs.iter().filter(|job| GroupKey::of_counted(job).is_some()) {
            group.count -= 1;
            group.new -= u32::from(job.is_new);
            group.distance_sum -= u64::from(job.query.start.chebyshev(key.goal.cell()));
        }
        if group.count == 0 {
            entry.remove();
        }
    }

    /// Records what a search for a single job has cost.
    pub(super) fn record_search(&mut self, job: &Job, spent: u64) {
        if !job.has_small_goal() {
            return; // Its goal does not say how far the search went.
        }
        let rate = self.rates.entry((job.grid, job.query.profile)).or_default();
        rate.spent += spent;
        rate.distance += u64::from(job.query.start.chebyshev(job.query.goal.cell()));
        if rate.distance > RATE_WINDOW {
            rate.spent /= 2;
            rate.distance /= 2;
        }
    }

    /// Forgets the costs of searches on grids that no longer exist.
    pub(super) fn retain_grids(&mut self, exists: impl Fn(GridId) -> bool) {
        self.rates.retain(|&(grid, _), _| exists(grid));
    }

    /// Whether jobs of this group and class wait.
    pub(super) fn has_waiting(&self, key: GroupKey, class: u8) -> bool {
        self.groups.contains_key(&(key, class))
    }

    /// Returns how far away the starts of a group and class are, in columns or rows, as far as they are a reason to start a field.
    pub(super) fn farthest(&self, group: (GroupKey, u8)) -> u32 {
        self.groups.get(&group).map_or(0, |group| group.farthest)
    }

    /// Whether one field is cheaper for the waiting jobs of this group and class than a search for each,
    /// if `allowance` new ones may still be admitted.
    pub(super) fn pays(
        &self,
        (key, class): (GroupKey, u8),
        allowance: u32,
        grid: &NavGrid,
        layer: &Layer,
    ) -> bool {
        let Some(group) = self.groups.get(&(key, class)) else {
            return false;
        };
        let distance = allowed_distance(group, allowance);
        let jumps = layer.jumps().is_some_and(JumpMap::is_worthwhile);
        let rate = self.rates.get(&(key.grid, key.profile)).copied().unwrap_or_default();
        let guess = FIRST_GUESS[usize::from(!jumps)];
        let measured = distance.saturating_mul(rate.spent).checked_div(rate.distance);
        let searches = measured.unwrap_or(distance * guess);
        let cells = u64::from(grid.width()) * u64::from(grid.height());
        let around = 4 * u64::from(group.farthest) * u64::from(group.farthest);
        let casts_rays = jumps && layer.has_uniform_steps();
        let field = around.min(cells) / CELLS_PER_UNIT[usize::from(!casts_rays)]
            + cells / CELLS_CLEARED_PER_UNIT;
        searches > field
    }

    /// Returns the memory of the statistics about waiting jobs, in bytes: estimated at two thirds of full
    /// nodes, which is what keys in random order leave.
    pub(super) fn bytes(&self) -> usize {
        self.groups.len() * size_of::<((GroupKey, u8), SharedJobs)>() * 3 / 2
    }
}

/// Returns the sum of the distances of those jobs of a group that may be admitted, if `allowance` new
/// ones may.
fn allowed_distance(group: &SharedJobs, allowance: u32) -> u64 {
    let allowed = group.count - group.new.saturating_sub(allowance);
    // Any of them, so the mean counts.
    group.distance_sum.saturating_mul(u64::from(allowed)) / u64::from(group.count.max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nav::{
        query::PathQuery,
        queue::{JobOptions, RequestClass, Ticket},
    };

    /// A job of a group, that has to go so far.
    fn job(group: u32, (distance, is_new): (u32, bool)) -> Job {
        let goal = Cell::new((group % 37) as i32 - 18, (group / 37) as i32);
        let class = RequestClass((group % 3) as u8);
        let options = JobOptions { class, is_continuation: !is_new, ..JobOptions::default() };
        let query = PathQuery::new(goal.offset(distance as i32, 0), goal);
        Job::new(Ticket::default(), GridId(group % 2), query, options, 0)
    }

    fn check(policy: &SharingPolicy, model: &BTreeMap<u32, Vec<(u32, bool)>>) {
        assert_eq!(policy.groups.len(), model.values().filter(|jobs| !jobs.is_empty()).count());
        for (&number, jobs) in model {
            let any = job(number, (0, true));
            let group = policy.groups.get(&(GroupKey::of(&any).unwrap(), any.class));
            let found = group.map(|group| (group.count, group.new, group.distance_sum));
            let new = jobs.iter().filter(|(_, is_new)| *is_new).count() as u32;
            let distance: u64 = jobs.iter().map(|&(distance, _)| u64::from(distance)).sum();
            let expected = (!jobs.is_empty()).then_some((jobs.len() as u32, new, distance));
            assert_eq!(found, expected, "group {number}");
            let farthest = jobs.iter().map(|&(distance, _)| distance).max();
            assert!(group.map(|group| group.farthest) >= farthest, "group {number}");
        }
    }

    proptest! {
        #[test]
        fn groups_count_what_lists_of_jobs_hold(
            operations in prop::collection::vec(
                (any::<bool>(), 0u32..200, (0u32..90, any::<bool>())),
                1..600,
            ),
        ) {
            let (mut policy, mut model) = (SharingPolicy::default(), BTreeMap::<u32, Vec<_>>::new());
            for (adds, group, added) in operations {
                let jobs = model.entry(group).or_default();
                if adds {
                    jobs.push(added);
                    policy.add_waiting(&job(group, added));
                } else {
                    // There may be none.
                    policy.remove_waiting(&job(group, jobs.pop().unwrap_or(added)));
                }
            }
            check(&policy, &model);
        }
    }
}
