//! Bends a path along a field to a goal near that of the field.
//!
//! Input: the path of a job along the field around its rally, and the job's own goal. Output: a path to
//! that goal: the first part of the input, and then the cheapest path from where it branches off. Or
//! nothing, where that might be bad: the job gets a search of its own then.
//!
//! **Where to branch off.** Let `e` be the cost of the path from the rally to the goal, and `b`, at any
//! cell, how much more the path from there to the rally costs than the cheapest path to the goal: `b`
//! always lies in `-e..=e`. The path found costs more than the cheapest by as much as `b` grows from the
//! branch point back to the start. Far from rally and goal, `b` depends on little but the direction in
//! which they lie, so the path branches off early: where the rally is still `2 e` away ([`BRANCH_FACTOR`]).
//! Tried on eleven thousand paths over maps with boxes, walls, scattered stones and
//! gates, with goals up to 12 cells from the rally: branching off at 2, 3 and 4 times `e`, paths cost up
//! to 2.2, 1.3 and 0.9 % more than the best on average (without what follows), and at worst 1.47, 1.34
//! and 1.34 times as much. The earlier a path branches off, the longer the search: 2 costs least overall.
//!
//! **How bad it may be.** No path to the goal is cheaper than one over open terrain, nor than the
//! difference between the cost of the path to the rally and `e` (triangle inequality). Where the path
//! found costs more than 1.15 times the greater of both ([`MAX_COST_RATIO`]), the job gets a search of its
//! own: between one in twenty and one in four jobs, depending on the distance. So no answer ever costs more than
//! 1.15 times the cheapest; on average it was 0.5 to 1.3 % more. A path that turns back on itself where
//! the parts join is rejected as well.
//!
//! A job that starts nearer than `2 e` gets a search of its own too, and so does one whose last leg turns
//! out to be long. All of this depends on the grid and the job alone.

use super::{LONG_SEARCH_EXPANSIONS, job::Job};
use crate::nav::{
    Algorithm, DistanceField, NavGrid, Path, PathCost, PathQuery, Search, node_pool::NodePool,
    search::SearchCounters,
};

/// The path branches off where its rest costs this many times as much as the path from the rally to the goal.
const BRANCH_FACTOR: u64 = 2;
/// Most that a path may cost, as a multiple of the least that any path must cost: 1.15.
const MAX_COST_RATIO: (u64, u64) = (23, 20);

/// Searches for the last legs of jobs, one after the other.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LastLeg {
    search: Search,
    current: Option<LegJob>,
}

/// A job that follows the field.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct LegJob {
    job: Job,
    /// The path up to where the search starts.
    first_part: Path,
    /// No path costs less.
    lower_bound: PathCost,
}

impl LastLeg {
    /// Starts the search from a cell of the path along the field to the goal of the job. Returns the job if
    /// it needs a search of its own.
    pub(super) fn start(
        &mut self,
        job: Job,
        path: Path,
        field: &DistanceField,
        grid: &NavGrid,
        pool: &NodePool,
    ) -> Option<Job> {
        let Some((first_part, lower_bound)) = branch_off(&job.query, path, field, grid) else {
            return Some(job);
        };
        let query = PathQuery { start: first_part.end(), algorithm: Algorithm::Exact, ..job.query };
        if self.search.start(grid, pool, query).is_err() {
            return Some(job);
        }
        self.current = Some(LegJob { job, first_part, lower_bound });
        None
    }

    /// Continues the search, and counts its expansions; returns what that cost, and at the end the job. The job
    /// comes with its path if that is good; otherwise it needs a search of its own.
    pub(super) fn step(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        budget: u32,
        counters: &mut SearchCounters,
    ) -> (u32, Option<(Job, Option<Path>)>) {
        let (work, before) =
            (self.search.work_per_expansion(grid), self.search.counters().expansions);
        let spent = self.search.step(grid, pool, budget.div_ceil(work)).saturating_mul(work);
        let expansions = self.search.counters().expansions;
        counters.expansions += expansions - before;
        // A search that was long and has finished counts as long, too: results must not depend on slices.
        let is_long = expansions > LONG_SEARCH_EXPANSIONS;
        // A search that no longer fits the grid spends nothing.
        if !self.search.is_finished() && !is_long && spent > 0 {
            return (spent, None);
        }
        let rest = self.search.finish(grid, pool).ok().filter(|_| !is_long);
        let end = self.current.take().map(|LegJob { job, first_part, lower_bound }| {
            (job, rest.and_then(|rest| join(first_part, rest, lower_bound)))
        });
        (spent, end)
    }

    /// Returns the job that is searched for.
    pub(super) fn job(&self) -> Option<&Job> {
        self.current.as_ref().map(|current| &current.job)
    }

    /// Cancels the search under way; returns its job as it was.
    pub(super) fn stop(&mut self, pool: &NodePool) -> Option<Job> {
        self.search.stop(pool);
        self.current.take().map(|current| current.job)
    }

    pub(super) fn bytes(&self) -> usize {
        self.search.bytes()
    }
}

/// Returns the part of a path to the rally up to where it branches off to the goal, and what every path to
/// the goal costs at least. `None` where nothing would be left, or the field has not settled the goal.
fn branch_off(
    query: &PathQuery,
    mut path: Path,
    field: &DistanceField,
    grid: &NavGrid,
) -> Option<(Path, PathCost)> {
    let (to_rally, apart) = (path.cost(), field.cost(grid, query.goal.cell())?);
    let most = PathCost(BRANCH_FACTOR.saturating_mul(apart.0));
    // Costs fall along the path.
    let (steps, rest) = (0..)
        .zip(path.cells().filter_map(|cell| field.cost(grid, cell)))
        .find(|&(_, rest)| rest <= most)
        .filter(|&(steps, _)| steps > 0)?;
    // Bounds: the cost over open terrain of the lowest cost, and the triangle inequality.
    let open_cost = grid.least_cost(query.profile, query.start, query.goal.cell());
    let lower_bound = open_cost.unwrap_or_default().max(PathCost(to_rally.0.abs_diff(apart.0)));
    path.truncate(steps);
    path.cost.0 -= rest.0;
    Some((path, lower_bound))
}

/// Returns the whole path; `None` where it turns back at the joint, or costs too much.
fn join(mut path: Path, mut rest: Path, lower_bound: PathCost) -> Option<Path> {
    let cost = path.cost().0 + rest.cost().0;
    if cost.saturating_mul(MAX_COST_RATIO.1) > lower_bound.0.saturating_mul(MAX_COST_RATIO.0) {
        return None;
    }
    if let (Some(last), Some(first)) = (path.legs.last().copied(), rest.legs.first_mut()) {
        if last.direction == first.direction.opposite() {
            return None;
        }
        let steps = last.steps.checked_add(first.steps);
        if let Some(steps) = steps.filter(|_| last.direction == first.direction) {
            // One leg, not two.
            first.steps = steps;
            path.legs.pop();
        }
    }
    Some(path.joined(rest))
}
