//! A search that answers one job after the other.
//!
//! Input: jobs, and a quantum of the budget each round. Output: what was spent of it, and finished jobs.
//! Searches share nothing with each other, so those of a round may run on several threads.

use std::collections::VecDeque;

use super::{
    GridSource, MAX_RESTARTS, Ticket,
    job::{FinishedJob, FoundBy, Job},
};
use crate::nav::{NavGrid, Path, PathFailure, Search, node_pool::NodePool, search::SearchCounters};

/// Most jobs that a search may start in a round beside its first.
pub(super) const MAX_BACKLOG: usize = 15;

/// A search, the job it works on, and the jobs it may start in the same round when that is done.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SingleSearch {
    pub(super) search: Search,
    /// The lane of the thread that ran it last.
    pub(super) lane: usize,
    pub(super) job: Option<Job>,
    pub(super) backlog: VecDeque<Job>,
    pub(super) finished: Vec<FinishedJob>,
    /// The first segment of a long path, not yet delivered.
    pub(super) first_segment: Option<Path>,
    /// Spent on the job so far.
    spent: u64,
    /// The search does not fit the grid any more: the job must be restarted.
    pub(super) must_restart: bool,
    /// A job that was restarted too often may be run to completion in this round, whatever that takes.
    pub(super) may_overdraw: bool,
}

impl Default for SingleSearch {
    /// Without jobs, but with room for all jobs of a round, so that nothing is allocated later.
    fn default() -> Self {
        Self {
            search: Search::default(),
            lane: 0,
            job: None,
            backlog: VecDeque::with_capacity(MAX_BACKLOG + 1),
            finished: Vec::with_capacity(MAX_BACKLOG + 1),
            first_segment: None,
            spent: 0,
            must_restart: false,
            may_overdraw: false,
        }
    }
}

/// Whether a job was restarted so often that it must now run to completion in one go.
fn is_due(job: &Job) -> bool {
    job.restarts > MAX_RESTARTS
}

impl SingleSearch {
    /// Works on its jobs until the quantum is spent; returns what was spent.
    pub(super) fn run(&mut self, grids: &impl GridSource, pool: &NodePool, quantum: u32) -> u32 {
        let mut spent = 0;
        while spent < quantum && !self.must_restart {
            if self.job.is_none() {
                match self.backlog.pop_front() {
                    Some(job) => spent += self.start_job(job, grids, pool),
                    None => break,
                }
            }
            if let Some(job) = &self.job {
                let is_unlimited = self.may_overdraw && is_due(job);
                let rest = quantum.saturating_sub(spent).max(1);
                let budget = if is_unlimited { u32::MAX } else { rest };
                let grid = grids.grid(job.grid);
                spent = spent.saturating_add(self.step(grid, pool, budget));
            }
        }
        spent
    }

    /// Returns the oldest of its jobs that were restarted too often.
    pub(super) fn due_ticket(&self) -> Option<Ticket> {
        let jobs = self.job.iter().chain(&self.backlog);
        jobs.filter(|job| is_due(job)).map(|job| job.ticket).min()
    }

    /// Starts a job, or answers it where that needs no search; returns what that cost.
    fn start_job(&mut self, job: Job, grids: &impl GridSource, pool: &NodePool) -> u32 {
        self.spent = 0;
        let search = &mut self.search;
        let started = match (grids.grid(job.grid), &job.goals) {
            (None, _) => Err(PathFailure::GridGone(job.grid)),
            (Some(grid), _) if job.delivered.is_some() => {
                search.start_remainder(grid, pool, job.query)
            }
            (Some(grid), Some(goals)) => search.start_any(grid, pool, job.query, goals),
            (Some(grid), None) if job.restarts > 0 => search.start_again(grid, pool, job.query),
            (Some(grid), None) => search.start(grid, pool, job.query),
        };
        match started {
            Ok(()) => {
                self.job = Some(job);
                self.search.setup_work()
            }
            Err(failure) => {
                // Each goal was examined, and perhaps each cell near it.
                let goals = job.goals.as_ref().map_or(0, |goals| goals.len() as u32);
                let work = self.search.setup_work().max(goals);
                let (found_by, counters) = (FoundBy::Check, SearchCounters::default());
                let result = Err(failure);
                self.finished.push(FinishedJob { job, result, found_by, counters, spent: 0 });
                work
            }
        }
    }

    fn step(&mut self, grid: Option<&NavGrid>, pool: &NodePool, budget: u32) -> u32 {
        let mut spent = 0;
        if let Some(grid) = grid {
            let work = self.search.work_per_expansion(grid);
            spent = self.search.step(grid, pool, budget.div_ceil(work)).saturating_mul(work);
            self.spent += u64::from(spent);
            let may_deliver = self.job.as_ref().is_some_and(|job| !is_due(job));
            if self.first_segment.is_none() && may_deliver {
                self.first_segment = self.search.take_first_segment();
            }
        }
        match grid {
            Some(grid) if self.search.is_finished() => self.finish_job(grid, pool),
            _ => self.must_restart = spent == 0 && budget > 0,
        }
        spent
    }

    /// Answers the job with what was found.
    fn finish_job(&mut self, grid: &NavGrid, pool: &NodePool) {
        let (algorithm, counters) = (self.search.algorithm(), self.search.counters());
        let mut result = self.search.finish(grid, pool);
        if let Some(first_segment) = self.first_segment.take() {
            // It was not delivered yet.
            result = result.map(|rest| first_segment.joined(rest));
        }
        if let Some(job) = self.job.take() {
            let (found_by, spent) = (FoundBy::Search(algorithm), self.spent);
            self.finished.push(FinishedJob { job, result, found_by, counters, spent });
        }
    }

    /// Whether the job must be restarted because of an edit.
    pub(super) fn is_stale(&mut self, grids: &impl GridSource) -> bool {
        let is_stale =
            |job: &Job| grids.grid(job.grid).is_none_or(|grid| self.search.is_stale(grid));
        self.job.as_ref().is_some_and(is_stale)
    }

    /// Removes a job; returns whether it was there.
    pub(super) fn cancel(&mut self, ticket: Ticket, pool: &NodePool) -> bool {
        if self.job.as_ref().is_some_and(|job| job.ticket == ticket) {
            self.job = None;
            self.first_segment = None;
            self.search.stop(pool);
            return true;
        }
        let before = self.backlog.len();
        self.backlog.retain(|job| job.ticket != ticket);
        self.backlog.len() < before
    }

    /// Stops the search; returns the jobs that are not answered.
    pub(super) fn retire(&mut self, pool: &NodePool) -> Vec<Job> {
        self.search.stop(pool);
        self.first_segment = None;
        self.must_restart = false;
        self.job.take().into_iter().chain(self.backlog.drain(..)).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        let jobs = self.backlog.capacity() * size_of::<Job>();
        let finished = self.finished.capacity() * size_of::<FinishedJob>();
        self.search.bytes() + jobs + finished
    }
}
