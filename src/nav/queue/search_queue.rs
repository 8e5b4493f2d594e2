//! The queue: its state, and how jobs enter and leave it.
//!
//! Input: jobs, cancellations, and a budget each tick. Output: answers. What happens within a tick is
//! in `admission` (which job is next) and `round_robin` (how the budget is spent).

#![allow(clippy::vec_box, reason = "searches move to tasks and back without being copied")]

use std::{collections::BTreeMap, sync::Arc};

use super::{
    GridSource, Priority, QueueSettings, Ticket,
    in_flight::{Task, TaskKind},
    job::{Answer, Job, JobOptions},
    shared_field::SharedField,
    sharing_policy::{GroupKey, SharingPolicy},
    single_search::SingleSearch,
    waiting::WaitingJobs,
    workers::{OneWorker, Round, Tick, Workers},
};
use crate::nav::{DistanceField, GridId, PathQuery, Search, node_pool::NodePool};

/// Ticks of head start for one step of [`Priority`].
const HEAD_START: i64 = 30;
/// Node pages kept while nothing runs, 8 KiB each.
const PAGES_KEPT: usize = 1_024;

/// Jobs waiting and in flight; see the [module](super).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct SearchQueue {
    /// How it schedules its jobs. May be changed at any time.
    pub settings: QueueSettings,
    pub(super) waiting: WaitingJobs,
    pub(super) tasks: Vec<Task>,
    /// How many of the tasks are shared fields.
    pub(super) field_count: usize,
    /// Groups of jobs that wait for a field of their own.
    pub(super) waiting_fields: BTreeMap<GroupKey, SharedField>,
    /// Index of the task that gets the next quantum.
    pub(super) cursor: usize,
    /// What the last rounds have spent, and their answers; older rounds count less.
    pub(super) recent: (u64, u64),
    /// Index of the task whose backlog gets the next job.
    pub(super) backlog_cursor: usize,
    /// Searches and fields not in use, kept for their memory.
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub(super) idle_searches: Idle<Box<SingleSearch>>,
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub(super) idle_fields: Idle<DistanceField>,
    pub(super) sharing: SharingPolicy,
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub(super) pool: Arc<NodePool>,
    pub(super) tick: u64,
    /// Number of the last job that was pushed.
    last_number: u64,
    /// Expansions overdrawn so far.
    pub(super) debt: u32,
    pub(super) restarts: u64,
    /// The most pages that the game has reserved.
    reserved_pages: usize,
}

/// Things kept only to reuse their memory: a copy starts without them.
#[derive(Debug)]
pub(super) struct Idle<T>(pub(super) Vec<T>);

impl<T> Default for Idle<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Clone for Idle<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl SearchQueue {
    /// Adds a job. It is considered in the next [`step`](Self::step).
    pub fn push(&mut self, grid: GridId, query: PathQuery, priority: Priority) -> Ticket {
        self.push_job(grid, query, JobOptions { priority, ..JobOptions::default() })
    }

    /// Adds a job with more options than its priority.
    pub fn push_job(&mut self, grid: GridId, query: PathQuery, options: JobOptions) -> Ticket {
        self.last_number += 1;
        let rank = self.tick as i64 - i64::from(options.priority.0) * HEAD_START;
        let ticket = Ticket { rank, number: self.last_number };
        let job = Job::new(ticket, grid, query, options, self.tick);
        self.sharing.add_waiting(&job);
        self.waiting.push(job);
        ticket
    }

    /// Cancels a job; it gets no answer. Returns false if it is not in the queue (any more).
    pub fn cancel(&mut self, ticket: Ticket) -> bool {
        if let Some(job) = self.waiting.remove(ticket) {
            self.sharing.remove_waiting(&job);
            return true;
        }
        self.cancel_in_flight(ticket)
    }

    /// Runs one tick: spends up to `budget` expansions, passes answers to `answer`, and returns what was
    /// spent. Stops early, between rounds, when `keep_going` returns false.
    pub fn step(
        &mut self,
        grids: &impl GridSource,
        budget: u32,
        keep_going: impl FnMut() -> bool,
        answer: impl FnMut(Answer),
    ) -> u32 {
        self.step_on(&OneWorker, grids, budget, keep_going, answer)
    }

    /// Like [`step`](Self::step), on several threads: the same answers in the same ticks.
    pub fn step_on(
        &mut self,
        workers: &impl Workers,
        grids: &impl GridSource,
        budget: u32,
        mut keep_going: impl FnMut() -> bool,
        mut answer: impl FnMut(Answer),
    ) -> u32 {
        self.waiting.begin_tick(self.settings.class_limits);
        self.restart_stale(grids);
        self.sharing.retain_grids(|grid| grids.grid(grid).is_some());
        let paid = self.debt.min(budget);
        self.debt -= paid;
        let round = Round::new(workers.count());
        let mut tick = Tick { grids, left: budget - paid, answer: &mut answer, round: None };
        if workers.count() > 1 && tick.left > 0 && self.is_worth_helpers() {
            tick.round = Some(&round);
            let pool = Arc::clone(&self.pool);
            let mut lead = || {
                let _end = round.end_on_drop();
                self.run_rounds(&mut tick, &mut keep_going);
            };
            workers.assist(&|| round.help(grids, &pool), &mut lead);
        } else {
            self.run_rounds(&mut tick, &mut keep_going);
        }
        let left = tick.left;
        self.tick += 1;
        if self.tasks.is_empty() {
            self.pool.trim(self.reserved_pages.max(PAGES_KEPT));
        }
        if self.field_count == 0 {
            self.idle_fields.0.clear(); // 4 bytes a cell each
        }
        budget - left
    }

    /// Returns how many jobs wait to be admitted, for the first time or again; those of paused classes
    /// included.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len() + self.jobs_without_field().count()
    }

    /// Returns the jobs that wait for a field to be started.
    fn jobs_without_field(&self) -> impl Iterator<Item = &Job> {
        self.waiting_fields.values().flat_map(SharedField::jobs)
    }

    /// Returns how many searches are in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting() == 0 && self.tasks.is_empty()
    }

    /// Returns how many ticks the oldest job in flight, waiting for a field or at the head of a lane has waited; 0 where there
    /// is none. Each class has a lane, and so have jobs that were admitted before.
    #[must_use]
    pub fn longest_wait(&self) -> u64 {
        let in_flight = self.tasks.iter().flat_map(Task::jobs);
        let jobs = self.waiting.heads().chain(self.jobs_without_field()).chain(in_flight);
        jobs.map(|job| self.tick - job.queued_at).max().unwrap_or(0)
    }

    /// Returns how often edits have restarted a search.
    #[must_use]
    pub const fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Returns how many ticks have been run.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns the search that works on a job, while it is in flight.
    #[must_use]
    pub fn search(&self, ticket: Ticket) -> Option<&Search> {
        self.tasks.iter().find_map(|task| match &task.kind {
            TaskKind::Single(single) if single.job.as_ref()?.ticket == ticket => {
                Some(&single.search)
            }
            _ => None,
        })
    }

    /// Returns the memory of all searches and fields, of free node pages, and of all jobs, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let in_use = self.tasks.iter().map(Task::bytes).sum::<usize>();
        let tasks = self.tasks.capacity() * size_of::<Task>();
        let searches = self.idle_searches.0.iter().map(|single| single.bytes()).sum::<usize>();
        let fields = self.idle_fields.0.iter().map(DistanceField::bytes).sum::<usize>();
        let waiting = self.waiting.bytes() + self.sharing.bytes();
        let waiting = waiting + self.waiting_fields.values().map(SharedField::bytes).sum::<usize>();
        in_use + tasks + searches + fields + waiting + self.pool.free_pages() * 8_192
    }

    /// Allocates searches for all slots (1,024 at most) and `pages` node pages (8 KiB each) in advance, so that the
    /// first tick under load need not. The queue keeps that many pages from then on.
    pub fn reserve(&mut self, pages: usize) {
        let slots = self.settings.in_flight.min(1_024);
        self.tasks.reserve(slots.saturating_sub(self.tasks.len()));
        while self.idle_searches.0.len() + self.tasks.len() < slots {
            self.idle_searches.0.push(Box::default());
        }
        self.reserved_pages = self.reserved_pages.max(pages);
        self.pool.reserve(pages);
    }
}
