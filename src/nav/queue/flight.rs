//! What is in flight: a search and the jobs it works on, or many jobs with one field.
//!
//! Input: a share of the budget. Output: what was spent of it and the answers that have become ready.
//! Flights know nothing of each other, so that those of a round may be worked on by several threads.

use std::collections::VecDeque;

use super::{FoundBy, GridSource, MOST_RESTARTS, Ticket, job::Job, together::Together};
use crate::nav::{
    grid::NavGrid,
    node_pool::NodePool,
    open_list::OpenList,
    path::Path,
    query::PathFailure,
    search::{Search, SearchCounters},
};

/// Most jobs that a search may begin in a round beside its first.
pub(super) const MOST_NEXT: usize = 15;

/// Work under way.
#[derive(Debug)]
pub(super) struct Flight<L: OpenList> {
    pub(super) work: Work<L>,
    /// Its share of the round.
    pub(super) deal: u32,
    /// What it took of that.
    pub(super) spent: u32,
}

#[derive(Debug)]
pub(super) enum Work<L: OpenList> {
    Alone(Box<Alone<L>>),
    Together(Box<Together<L>>),
}

/// A search, the job it works on, and those it may begin in the same round when that is done.
#[derive(Debug)]
pub(super) struct Alone<L: OpenList> {
    pub(super) search: Search<L>,
    pub(super) job: Option<Job>,
    pub(super) next: VecDeque<Job>,
    pub(super) ready: Vec<Ready>,
    /// The beginning of a long way, not yet delivered.
    pub(super) beginning: Option<Path>,
    /// Spent on the job so far.
    spent: u64,
    /// The job does not fit the grid any more.
    pub(super) is_stuck: bool,
}

/// A job that is answered, and how: not yet delivered.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) job: Job,
    pub(super) result: Result<Path, PathFailure>,
    pub(super) found_by: FoundBy,
    pub(super) counters: SearchCounters,
    /// What the search took.
    pub(super) spent: u64,
}

impl<L: OpenList> Flight<L> {
    pub(super) fn new(work: Work<L>) -> Self {
        Self { work, deal: 0, spent: 0 }
    }

    /// Works for its share. Nothing is spent where it does not fit the grid any more.
    pub(super) fn work(&mut self, grids: &impl GridSource, pool: &NodePool) {
        self.spent = match &mut self.work {
            Work::Alone(alone) => alone.work(grids, pool, self.deal),
            Work::Together(together) => together.work(grids, pool, self.deal),
        };
    }

    pub(super) fn is_stale(&mut self, grids: &impl GridSource) -> bool {
        match &mut self.work {
            Work::Alone(alone) => alone.is_stale(grids),
            Work::Together(together) => together.is_stale(grids),
        }
    }

    /// All jobs that are not answered; those that are begun come first.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        let (alone, together) = match &self.work {
            Work::Alone(alone) => (Some(alone), None),
            Work::Together(together) => (None, Some(together)),
        };
        let alone = alone.into_iter().flat_map(|alone| alone.job.iter().chain(&alone.next));
        alone.chain(together.into_iter().flat_map(|together| together.jobs()))
    }

    /// What has become ready.
    pub(super) fn ready(&mut self) -> &mut Vec<Ready> {
        match &mut self.work {
            Work::Alone(alone) => &mut alone.ready,
            Work::Together(together) => &mut together.ready,
        }
    }

    /// Jobs that have to go elsewhere after the round: not begun, or refused.
    pub(super) fn leaving(&mut self) -> &mut VecDeque<Job> {
        match &mut self.work {
            Work::Alone(alone) => &mut alone.next,
            Work::Together(together) => &mut together.refused,
        }
    }

    /// Takes a job out; says whether it was there.
    pub(super) fn cancel(&mut self, ticket: Ticket, pool: &NodePool) -> bool {
        match &mut self.work {
            Work::Alone(alone) => alone.cancel(ticket, pool),
            Work::Together(together) => together.cancel(ticket, pool),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match &self.work {
            Work::Alone(alone) => alone.bytes(),
            Work::Together(together) => together.bytes(),
        }
    }
}

impl<L: OpenList> Default for Alone<L> {
    /// Nothing to do. There is room for all that a round can bring, so that no more is ever made.
    fn default() -> Self {
        Self {
            search: Search::default(),
            job: None,
            next: VecDeque::with_capacity(MOST_NEXT + 1),
            ready: Vec::with_capacity(MOST_NEXT + 1),
            beginning: None,
            spent: 0,
            is_stuck: false,
        }
    }
}

impl<L: OpenList> Alone<L> {
    fn work(&mut self, grids: &impl GridSource, pool: &NodePool, deal: u32) -> u32 {
        let mut spent = 0;
        while spent < deal && !self.is_stuck {
            if self.job.is_none() {
                match self.next.pop_front() {
                    Some(job) => spent += self.take_off(job, grids, pool),
                    None => break,
                }
            }
            if let Some(job) = &self.job {
                // Thrown back too often, it is run to its end at once, whatever that takes.
                let is_due = job.restarts > MOST_RESTARTS;
                let budget = if is_due { u32::MAX } else { deal.saturating_sub(spent).max(1) };
                let grid = grids.grid(job.grid);
                spent = spent.saturating_add(self.step(grid, pool, budget));
            }
        }
        spent
    }

    /// Begins a job, or answers it where that needs no search; returns what that took.
    fn take_off(&mut self, job: Job, grids: &impl GridSource, pool: &NodePool) -> u32 {
        self.spent = 0;
        let started = match (grids.grid(job.grid), &job.goals) {
            (None, _) => Err(PathFailure::GridGone(job.grid)),
            (Some(grid), _) if job.begun.is_some() => self.search.start_rest(grid, pool, job.query),
            (Some(grid), Some(goals)) => self.search.start_any(grid, pool, job.query, goals),
            (Some(grid), None) => self.search.start(grid, pool, job.query),
        };
        match started {
            Ok(()) => {
                self.job = Some(job);
                self.search.start_price()
            }
            Err(failure) => {
                // Each goal was looked at, and maybe each cell near it.
                let goals = job.goals.as_ref().map_or(0, |goals| goals.len() as u32);
                let price = self.search.start_price().max(goals);
                self.ready.push(Ready {
                    job,
                    result: Err(failure),
                    found_by: FoundBy::Check,
                    counters: SearchCounters::default(),
                    spent: 0,
                });
                price
            }
        }
    }

    fn step(&mut self, grid: Option<&NavGrid>, pool: &NodePool, budget: u32) -> u32 {
        let mut spent = 0;
        if let Some(grid) = grid {
            let price = self.search.price(grid);
            spent = self.search.step(grid, pool, budget.div_ceil(price)).saturating_mul(price);
            self.spent += u64::from(spent);
            let may_begin = self.job.as_ref().is_some_and(|job| job.restarts <= MOST_RESTARTS);
            if self.beginning.is_none() && may_begin {
                self.beginning = self.search.take_stretch();
            }
        }
        match grid {
            Some(grid) if self.search.is_finished() => self.finish(grid, pool),
            _ => self.is_stuck = spent == 0 && budget > 0,
        }
        spent
    }

    /// Answers the job by what was found.
    fn finish(&mut self, grid: &NavGrid, pool: &NodePool) {
        let (algorithm, counters) = (self.search.algorithm(), self.search.counters());
        let mut result = self.search.finish(grid, pool);
        if let Some(beginning) = self.beginning.take() {
            // Nobody has seen it yet.
            result = result.map(|rest| beginning.joined(rest));
        }
        if let Some(job) = self.job.take() {
            let (found_by, spent) = (FoundBy::Search(algorithm), self.spent);
            self.ready.push(Ready { job, result, found_by, counters, spent });
        }
    }

    fn is_stale(&mut self, grids: &impl GridSource) -> bool {
        let Some(grid) = self.job.as_ref().map(|job| grids.grid(job.grid)) else {
            return false;
        };
        grid.is_none_or(|grid| self.search.is_stale(grid))
    }

    fn cancel(&mut self, ticket: Ticket, pool: &NodePool) -> bool {
        if self.job.as_ref().is_some_and(|job| job.ticket == ticket) {
            self.job = None;
            self.beginning = None;
            self.search.stop(pool);
            return true;
        }
        let before = self.next.len();
        self.next.retain(|job| job.ticket != ticket);
        self.next.len() < before
    }

    /// Comes to rest; takes back the jobs that are not answered.
    pub(super) fn land(&mut self, pool: &NodePool) -> Vec<Job> {
        self.search.stop(pool);
        self.beginning = None;
        self.is_stuck = false;
        self.job.take().into_iter().chain(self.next.drain(..)).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        let jobs = self.next.capacity() * size_of::<Job>();
        let ready = self.ready.capacity() * size_of::<Ready>();
        self.search.bytes() + jobs + ready
    }
}
