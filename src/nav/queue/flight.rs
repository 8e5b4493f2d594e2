//! What is in flight: a search and the jobs it works on, or many jobs with one field.
//!
//! Input: a share of the budget. Output: what was spent of it and the answers that have become ready.
//! Flights know nothing of each other, so that those of a round may be worked on by several threads.

use std::collections::{BTreeMap, VecDeque};

use super::{FoundBy, GridSource, MOST_RESTARTS, Ticket, job::Job, share::GroupKey};
use crate::nav::{
    field::DistanceField,
    node_pool::NodePool,
    open_list::OpenList,
    path::Path,
    query::PathFailure,
    search::{Search, SearchCounters},
};

/// Steps of a field (about 20 ns each, measured) to a unit of the budget.
const FIELD_STEPS: u32 = 2;
/// What reading a path off a field takes of the budget, and one more for so many of its steps
/// (measured: a path of 300 steps takes 3 µs).
const PATH_PRICE: u32 = 8;
const STEPS_PER_UNIT: u32 = 4;

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
#[allow(clippy::large_enum_variant, reason = "searches are many and fields are few")]
pub(super) enum Work<L: OpenList> {
    Alone(Alone<L>),
    Together(Box<Together>),
}

/// A search, the job it works on, and those it may begin in the same round when that is done.
#[derive(Debug)]
pub(super) struct Alone<L: OpenList> {
    pub(super) search: Box<Search<L>>,
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

/// Many jobs with one goal, and the field around it.
#[derive(Debug)]
pub(super) struct Together {
    pub(super) key: GroupKey,
    /// By ticket: whole crowds are canceled when they get another order.
    pub(super) jobs: BTreeMap<Ticket, Job>,
    pub(super) field: DistanceField,
    pub(super) ready: Vec<Ready>,
    /// Jobs whose ways cost more than a field can count.
    pub(super) refused: VecDeque<Job>,
    /// What the field did, until it is told with an answer.
    counters: SearchCounters,
}

impl<L: OpenList> Flight<L> {
    pub(super) fn new(work: Work<L>) -> Self {
        Self { work, deal: 0, spent: 0 }
    }

    /// Works for its share. Nothing is spent where it does not fit the grid any more.
    pub(super) fn work(&mut self, grids: &impl GridSource, pool: &NodePool) {
        self.spent = match &mut self.work {
            Work::Alone(alone) => alone.work(grids, pool, self.deal),
            Work::Together(together) => together.work(grids, self.deal),
        };
    }

    pub(super) fn is_stale(&mut self, grids: &impl GridSource) -> bool {
        match &mut self.work {
            Work::Alone(Alone { job: Some(job), search, .. }) => {
                grids.grid(job.grid).is_none_or(|grid| search.is_stale(grid))
            }
            Work::Alone(_) => false,
            Work::Together(together) => {
                grids.grid(together.key.grid).is_none_or(|grid| together.field.is_stale(grid))
            }
        }
    }

    /// All jobs that are not answered.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        let (alone, together) = match &self.work {
            Work::Alone(alone) => (Some(alone), None),
            Work::Together(together) => (None, Some(together)),
        };
        let alone = alone.into_iter().flat_map(|alone| alone.job.iter().chain(&alone.next));
        alone.chain(together.into_iter().flat_map(|together| together.jobs.values()))
    }

    /// Takes a job out; says whether it was there.
    pub(super) fn cancel(&mut self, ticket: Ticket, pool: &NodePool) -> bool {
        let alone = match &mut self.work {
            Work::Alone(alone) => alone,
            Work::Together(together) => return together.jobs.remove(&ticket).is_some(),
        };
        if alone.job.is_some_and(|job| job.ticket == ticket) {
            alone.job = None;
            alone.search.stop(pool);
            return true;
        }
        let before = alone.next.len();
        alone.next.retain(|job| job.ticket != ticket);
        alone.next.len() < before
    }

    pub(super) fn bytes(&self) -> usize {
        match &self.work {
            Work::Alone(alone) => alone.search.bytes(),
            Work::Together(together) => together.field.bytes(),
        }
    }
}

impl<L: OpenList> Alone<L> {
    pub(super) fn new(search: Box<Search<L>>, job: Job) -> Self {
        Self {
            search,
            job: None,
            next: VecDeque::from([job]),
            ready: Vec::new(),
            beginning: None,
            spent: 0,
            is_stuck: false,
        }
    }

    fn work(&mut self, grids: &impl GridSource, pool: &NodePool, deal: u32) -> u32 {
        let mut spent = 0;
        while spent < deal && !self.is_stuck {
            if self.job.is_none() {
                match self.next.pop_front() {
                    Some(job) => spent += self.take_off(job, grids, pool),
                    None => break,
                }
            }
            if let Some(job) = self.job {
                // Thrown back too often, it is run to its end at once, whatever that takes.
                let is_due = job.restarts > MOST_RESTARTS;
                let budget = if is_due { u32::MAX } else { deal.saturating_sub(spent).max(1) };
                spent = spent.saturating_add(self.step(job, grids, pool, budget));
            }
        }
        spent
    }

    /// Begins a job, or answers it where that needs no search; returns what that took.
    fn take_off(&mut self, job: Job, grids: &impl GridSource, pool: &NodePool) -> u32 {
        self.spent = 0;
        let started = match grids.grid(job.grid) {
            Some(grid) if job.begun.is_some() => self.search.start_rest(grid, pool, job.query),
            Some(grid) => self.search.start(grid, pool, job.query),
            None => Err(PathFailure::GridGone(job.grid)),
        };
        match started {
            Ok(()) => {
                self.job = Some(job);
                self.search.start_price()
            }
            Err(failure) => {
                self.ready.push(Ready {
                    job,
                    result: Err(failure),
                    found_by: FoundBy::Check,
                    counters: SearchCounters::default(),
                    spent: 0,
                });
                0
            }
        }
    }

    fn step(&mut self, job: Job, grids: &impl GridSource, pool: &NodePool, budget: u32) -> u32 {
        let mut spent = 0;
        let grid = grids.grid(job.grid);
        if let Some(grid) = grid {
            let price = self.search.price(grid);
            spent = self.search.step(grid, pool, budget.div_ceil(price)).saturating_mul(price);
            self.spent += u64::from(spent);
            if self.beginning.is_none() && job.restarts <= MOST_RESTARTS {
                self.beginning = self.search.take_stretch();
            }
        }
        match grid {
            Some(grid) if self.search.is_finished() => {
                self.job = None;
                let (algorithm, counters) = (self.search.algorithm(), self.search.counters());
                let mut result = self.search.finish(grid, pool);
                if let Some(beginning) = self.beginning.take() {
                    // Nobody has seen it yet.
                    result = result.map(|rest| beginning.joined(rest));
                }
                let (found_by, spent) = (FoundBy::Search(algorithm), self.spent);
                self.ready.push(Ready { job, result, found_by, counters, spent });
            }
            _ => self.is_stuck = spent == 0 && budget > 0,
        }
        spent
    }
}

impl Together {
    pub(super) fn new(key: GroupKey, field: DistanceField) -> Self {
        let (jobs, ready, refused) = (BTreeMap::new(), Vec::new(), VecDeque::new());
        Self { key, jobs, field, ready, refused, counters: SearchCounters::default() }
    }

    fn work(&mut self, grids: &impl GridSource, deal: u32) -> u32 {
        let Some(grid) = grids.grid(self.key.grid) else {
            return 0;
        };
        let mut spent = 0;
        if !self.field.is_finished() {
            let before = self.field.counters().expansions;
            let steps = self.field.step(grid, deal.saturating_mul(FIELD_STEPS));
            spent = steps.div_ceil(FIELD_STEPS);
            self.counters.expansions += self.field.counters().expansions - before;
        }
        while self.field.is_finished() && spent < deal {
            let Some((_, job)) = self.jobs.pop_first() else {
                break;
            };
            let (start, goal) = (job.query.start, job.query.goal);
            let found = self.field.path(grid, start);
            let steps = found.as_ref().map_or(0, Path::steps);
            spent += PATH_PRICE + steps / STEPS_PER_UNIT;
            if found.is_none() && self.field.overflow() {
                self.refused.push_back(Job { is_single: true, ..job });
                continue;
            }
            self.ready.push(Ready {
                job,
                result: found.ok_or(PathFailure::NoWay { start, goal }),
                found_by: FoundBy::Field,
                counters: core::mem::take(&mut self.counters),
                spent: 0,
            });
        }
        spent.max(1)
    }
}
