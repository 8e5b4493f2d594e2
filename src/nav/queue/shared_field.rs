//! Many jobs with one destination, and the distance field around it.
//!
//! Input: jobs with one goal, or with goals of their own around one rally. They wait together until the field is started.
//! Output: their paths, lowest ticket first, as soon as the field has reached all their starts. Paths to the destination itself are
//! read off the field. The others follow the field most of the path, and then a search (see `last_leg`),
//! one after the other. Jobs that a field cannot answer are rejected: each gets a search of its own.

use std::collections::{BTreeMap, VecDeque};

use super::{
    GridSource, JOB_COST, Ticket,
    job::{FinishedJob, FoundBy, Job},
    last_leg::LastLeg,
    sharing_policy::GroupKey,
    single_search::MAX_BACKLOG,
};
use crate::nav::{
    Cell, DistanceField, NavGrid, Path, PathFailure, Reach, node_pool::NodePool,
    search::SearchCounters,
};

/// Steps of a field (about 20 ns each, measured) for one unit of the budget.
const FIELD_STEPS: u32 = 2;
/// Jobs whose cells the field is given again for one unit of the budget, after cancellations (estimated: 10 ns each).
const JOBS_NAMED_PER_UNIT: usize = 4;
/// The cost of reading a path off a field, and how many steps of the path add one unit (measured: a path of
/// 300 steps takes 3 µs).
const PATH_WORK: u32 = 8;
const STEPS_PER_UNIT: u32 = 4;

/// Jobs that share a field.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SharedField {
    pub(super) key: GroupKey,
    /// By ticket: whole crowds are canceled when they get another order.
    jobs: BTreeMap<Ticket, Job>,
    /// How many columns or rows away distant jobs may be that join: the field would have to wait for them.
    reach: u32,
    field: DistanceField,
    /// The lane of the thread that ran it last.
    pub(super) lane: usize,
    /// Finds the last leg for jobs whose goal is only near the field's.
    last_leg: LastLeg,
    pub(super) finished: Vec<FinishedJob>,
    /// Jobs whose paths cost more than a field can count, or that cannot follow the field.
    pub(super) rejected: VecDeque<Job>,
    /// Work done since the last answer; reported with the next.
    counters: SearchCounters,
    /// Whether jobs were canceled: the field may wait for their cells.
    has_canceled: bool,
}

impl SharedField {
    /// Returns a task for these jobs, whose field is not started yet. Distant jobs that join are at most `reach` columns or rows
    /// away.
    pub(super) fn new(key: GroupKey, jobs: impl Iterator<Item = Job>, reach: u32) -> Self {
        let jobs = jobs.map(|job| (job.ticket, job)).collect();
        Self { key, jobs, reach, ..Self::default() }
    }

    /// Whether a job of its group may join.
    pub(super) fn admits(&self, job: &Job) -> bool {
        is_within(job, &self.key, self.reach)
    }

    /// Starts the field, in the memory of another one.
    ///
    /// # Errors
    /// Those of [`DistanceField::start`].
    pub(super) fn start(
        &mut self,
        field: DistanceField,
        grid: &NavGrid,
    ) -> Result<(), PathFailure> {
        self.field = field;
        self.field.start_around(grid, self.key.profile, &self.key.goal)?;
        self.field.await_cells(grid, awaited(&self.key, self.jobs.values()));
        Ok(())
    }

    /// Takes the jobs for which something holds.
    pub(super) fn take_jobs(&mut self, holds: impl Fn(&Job) -> bool) -> Vec<Job> {
        self.jobs.extract_if(.., |_, job| holds(job)).map(|(_, job)| job).collect()
    }

    /// How many slices of a round it gets: one for each of its jobs, up to as many jobs as a single search may have.
    pub(super) fn slices(&self) -> u32 {
        self.jobs.len().clamp(1, MAX_BACKLOG + 1) as u32
    }

    /// Adds another job.
    pub(super) fn join(&mut self, job: Job, grid: &NavGrid) {
        self.field.await_cells(grid, awaited(&self.key, [&job].into_iter()));
        self.jobs.insert(job.ticket, job);
    }

    /// Works for its quantum; returns what was spent: nothing where the grid is gone.
    pub(super) fn run(&mut self, grids: &impl GridSource, pool: &NodePool, quantum: u32) -> u32 {
        let Some(grid) = grids.grid(self.key.grid) else {
            return 0;
        };
        let mut spent = self.forget_canceled(grid);
        if !self.field.is_finished() {
            let before = self.field.counters().expansions;
            let steps = self.field.step(grid, quantum.saturating_mul(FIELD_STEPS));
            spent += steps.div_ceil(FIELD_STEPS);
            self.counters.expansions += self.field.counters().expansions - before;
        }
        while self.field.is_finished() && spent < quantum {
            if self.last_leg.job().is_some() {
                spent += self.step_last_leg(grid, pool, quantum - spent);
            } else if let Some((_, job)) = self.jobs.pop_first() {
                spent += self.read_path(job, grid, pool);
            } else {
                break;
            }
        }
        spent.max(1)
    }

    /// If jobs were canceled, makes the field await only the cells of those left; returns the cost.
    fn forget_canceled(&mut self, grid: &NavGrid) -> u32 {
        if !core::mem::take(&mut self.has_canceled) || self.field.is_finished() {
            return 0;
        }
        self.field.await_only(grid, awaited(&self.key, self.jobs.values()));
        self.jobs.len().div_ceil(JOBS_NAMED_PER_UNIT) as u32
    }

    /// Reads the path of a job off the field; returns what that cost.
    fn read_path(&mut self, job: Job, grid: &NavGrid, pool: &NodePool) -> u32 {
        let (start, goal) = (job.query.start, job.query.goal);
        let path = self.field.path(grid, start);
        let work = PATH_WORK + path.as_ref().map_or(0, Path::steps) / STEPS_PER_UNIT;
        if goal != self.key.goal {
            let rejected = match path {
                Some(path) => self.last_leg.start(job, path, &self.field, grid, pool),
                None => Some(job),
            };
            if let Some(job) = rejected {
                self.reject(job);
            }
            return work + JOB_COST;
        }
        if path.is_none() && (self.field.overflow() || job.query.reach == Reach::Nearest) {
            self.reject(job);
        } else {
            self.answer(job, path.ok_or(PathFailure::NoPath { start, goal: goal.cell() }));
        }
        work
    }

    /// Continues the search for a last leg; returns what that cost.
    fn step_last_leg(&mut self, grid: &NavGrid, pool: &NodePool, budget: u32) -> u32 {
        let (spent, end) = self.last_leg.step(grid, pool, budget, &mut self.counters);
        match end {
            Some((job, Some(path))) => self.answer(job, Ok(path)),
            Some((job, None)) => self.reject(job),
            None => {}
        }
        spent.max(1)
    }

    fn answer(&mut self, job: Job, result: Result<Path, PathFailure>) {
        let (found_by, counters) = (FoundBy::Field, core::mem::take(&mut self.counters));
        self.finished.push(FinishedJob { job, result, found_by, counters, spent: 0 });
    }

    /// Leaves a job to a search of its own.
    fn reject(&mut self, job: Job) {
        self.rejected.push_back(Job { is_single: true, ..job });
    }

    pub(super) fn is_stale(&self, grids: &impl GridSource) -> bool {
        grids.grid(self.key.grid).is_none_or(|grid| self.field.is_stale(grid))
    }

    /// Returns all jobs that are not answered, the one with a last leg under way first.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.last_leg.job().into_iter().chain(self.jobs.values())
    }

    /// Removes a job; returns whether it was there.
    pub(super) fn cancel(&mut self, ticket: Ticket, pool: &NodePool) -> bool {
        if self.last_leg.job().is_some_and(|job| job.ticket == ticket) {
            self.last_leg.stop(pool);
            return true;
        }
        let was_there = self.jobs.remove(&ticket).is_some();
        self.has_canceled |= was_there;
        was_there
    }

    /// Ends the task: returns the jobs that are not answered, and the field.
    pub(super) fn retire(mut self, pool: &NodePool) -> (Vec<Job>, DistanceField) {
        let started = self.last_leg.stop(pool);
        (started.into_iter().chain(self.jobs.into_values()).collect(), self.field)
    }

    /// Returns the memory held, in bytes; that of the map of jobs is estimated from its length.
    pub(super) fn bytes(&self) -> usize {
        let jobs = self.jobs.len() * size_of::<(Ticket, Job)>() * 3 / 2;
        let rejected = self.rejected.capacity() * size_of::<Job>();
        let finished = self.finished.capacity() * size_of::<FinishedJob>();
        self.field.bytes() + jobs + rejected + finished + self.last_leg.bytes()
    }
}

/// Whether a job is a reason to start a field, or at most `reach` columns or rows away from its goal.
pub(super) fn is_within(job: &Job, key: &GroupKey, reach: u32) -> bool {
    GroupKey::of_counted(job).is_some() || job.query.start.chebyshev(key.goal.cell()) <= reach
}

/// Returns the cells that a field has to reach for its jobs: their starts, and their goals where these are others than its own.
fn awaited<'a>(key: &GroupKey, jobs: impl Iterator<Item = &'a Job>) -> impl Iterator<Item = Cell> {
    jobs.flat_map(|job| {
        let goal = (job.query.goal != key.goal).then(|| job.query.goal.cell());
        core::iter::once(job.query.start).chain(goal)
    })
}
