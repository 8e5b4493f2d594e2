//! Many jobs with one place to go to, and the field around it.
//!
//! Input: jobs with one goal, or with goals of their own around one rally. Output: their ways, lowest
//! ticket first, as soon as the field has come to all their starts. Ways to the place itself are read
//! off the field. The others are led by it most of the way, and then by a search (see `tail`), one
//! after the other. Jobs that a field cannot answer are refused: they go alone.

use std::collections::{BTreeMap, VecDeque};

use super::{
    FoundBy, GridSource, JOB_COST, Ticket,
    flight::{Alone, Ready},
    job::Job,
    share::GroupKey,
    tail::Tail,
};
use crate::nav::{
    field::DistanceField, grid::NavGrid, node_pool::NodePool, open_list::OpenList, path::Path,
    query::PathFailure, search::SearchCounters,
};

/// Steps of a field (about 20 ns each, measured) to a unit of the budget.
const FIELD_STEPS: u32 = 2;
/// What reading a path off a field takes of the budget, and one more for so many of its steps
/// (measured: a path of 300 steps takes 3 µs).
const PATH_PRICE: u32 = 8;
const STEPS_PER_UNIT: u32 = 4;

/// Jobs that share a field.
#[derive(Debug)]
pub(super) struct Together<L: OpenList> {
    pub(super) key: GroupKey,
    /// By ticket: whole crowds are canceled when they get another order.
    jobs: BTreeMap<Ticket, Job>,
    field: DistanceField,
    /// Who leads on those whose goal is near the field's, if there are any.
    tail: Option<Tail<L>>,
    pub(super) ready: Vec<Ready>,
    /// Jobs whose ways cost more than a field can count, or are not to be found along it.
    pub(super) refused: VecDeque<Job>,
    /// What was done, until it is told with an answer.
    counters: SearchCounters,
}

impl<L: OpenList> Together<L> {
    /// These jobs, and a field that was started for them.
    pub(super) fn new(
        key: GroupKey,
        field: DistanceField,
        jobs: Vec<Job>,
        grid: &NavGrid,
        idle: &mut Vec<Box<Alone<L>>>,
    ) -> Self {
        let jobs: BTreeMap<Ticket, Job> = jobs.into_iter().map(|job| (job.ticket, job)).collect();
        let mut together = Self {
            key,
            jobs,
            field,
            tail: None,
            ready: Vec::new(),
            refused: VecDeque::new(),
            counters: SearchCounters::default(),
        };
        let ends = together.jobs.values().flat_map(|job| [job.query.start, job.query.goal]);
        together.field.await_cells(grid, ends);
        if together.jobs.values().any(|job| job.query.goal != key.goal) {
            together.tail = Some(Tail::new(idle.pop().unwrap_or_default()));
        }
        together
    }

    /// Another job joins them.
    pub(super) fn join(&mut self, job: Job, grid: &NavGrid, idle: &mut Vec<Box<Alone<L>>>) {
        // Where its goal is the field's, that holds nothing up.
        self.field.await_cells(grid, [job.query.start, job.query.goal]);
        if job.query.goal != self.key.goal && self.tail.is_none() {
            self.tail = Some(Tail::new(idle.pop().unwrap_or_default()));
        }
        self.jobs.insert(job.ticket, job);
    }

    /// Works for its share; returns what that took: nothing where the grid is gone.
    pub(super) fn work(&mut self, grids: &impl GridSource, pool: &NodePool, deal: u32) -> u32 {
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
            if self.tail.as_ref().is_some_and(Tail::is_busy) {
                spent += self.lead_on(grid, pool, deal - spent);
            } else if let Some((_, job)) = self.jobs.pop_first() {
                spent += self.read(job, grid, pool);
            } else {
                break;
            }
        }
        spent.max(1)
    }

    /// Reads the way of a job off the field; returns what that took.
    fn read(&mut self, job: Job, grid: &NavGrid, pool: &NodePool) -> u32 {
        let (start, goal) = (job.query.start, job.query.goal);
        let found = self.field.path(grid, start);
        let price = PATH_PRICE + found.as_ref().map_or(0, Path::steps) / STEPS_PER_UNIT;
        if goal != self.key.goal {
            let refused = match (found, &mut self.tail) {
                (Some(way), Some(tail)) => tail.begin(job, way, &self.field, grid, pool),
                _ => Some(job),
            };
            if let Some(job) = refused {
                self.refuse(job);
            }
            return price + JOB_COST;
        }
        if found.is_none() && self.field.overflow() {
            self.refuse(job);
        } else {
            self.answer(job, found.ok_or(PathFailure::NoWay { start, goal }));
        }
        price
    }

    /// Searches on for the last part of a way; returns what that took.
    fn lead_on(&mut self, grid: &NavGrid, pool: &NodePool, budget: u32) -> u32 {
        let Some(tail) = &mut self.tail else {
            return 0;
        };
        let before = tail.expansions();
        let spent = tail.step(grid, pool, budget);
        self.counters.expansions += tail.expansions() - before;
        if tail.is_over(spent) {
            match tail.end(grid, pool) {
                Some((job, Some(way))) => self.answer(job, Ok(way)),
                Some((job, None)) => self.refuse(job),
                None => {}
            }
        }
        spent.max(1)
    }

    fn answer(&mut self, job: Job, result: Result<Path, PathFailure>) {
        let (found_by, counters) = (FoundBy::Field, core::mem::take(&mut self.counters));
        self.ready.push(Ready { job, result, found_by, counters, spent: 0 });
    }

    /// Lets a job go alone.
    fn refuse(&mut self, job: Job) {
        self.refused.push_back(Job { is_single: true, ..job });
    }

    pub(super) fn is_stale(&self, grids: &impl GridSource) -> bool {
        grids.grid(self.key.grid).is_none_or(|grid| self.field.is_stale(grid))
    }

    /// All jobs that are not answered, the one that is led on first.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.tail.iter().filter_map(Tail::job).chain(self.jobs.values())
    }

    /// Takes a job out; says whether it was there.
    pub(super) fn cancel(&mut self, ticket: Ticket, pool: &NodePool) -> bool {
        let is_led = |tail: &Tail<L>| tail.job().is_some_and(|job| job.ticket == ticket);
        match &mut self.tail {
            Some(tail) if is_led(tail) => {
                tail.stop(pool);
                true
            }
            _ => self.jobs.remove(&ticket).is_some(),
        }
    }

    /// Comes to rest: the jobs that are not answered, and what can be used again.
    pub(super) fn land(
        self,
        pool: &NodePool,
        idle: &mut Vec<Box<Alone<L>>>,
    ) -> (Vec<Job>, DistanceField) {
        let mut jobs = Vec::new();
        if let Some(mut tail) = self.tail {
            jobs.extend(tail.stop(pool));
            idle.push(tail.into_seat());
        }
        jobs.extend(self.jobs.into_values());
        (jobs, self.field)
    }

    pub(super) fn bytes(&self) -> usize {
        let jobs = self.jobs.len() * size_of::<(Ticket, Job)>() * 3 / 2;
        let refused = self.refused.capacity() * size_of::<Job>();
        let ready = self.ready.capacity() * size_of::<Ready>();
        self.field.bytes() + jobs + refused + ready + self.tail.as_ref().map_or(0, Tail::bytes)
    }
}
