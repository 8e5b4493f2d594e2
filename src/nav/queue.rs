//! Many searches under one budget.
//!
//! Input: jobs (who asks, on which grid, what) and, tick by tick, a budget of expansions. Output:
//! one answer per job, in the order in which they are ready. Nothing depends on a clock: the same
//! jobs and budgets give the same answers in the same ticks.
//!
//! - **Line.** Jobs wait in order of *rank*: the tick they came in, less a head start for their
//!   priority. So urgent ones pass others, and whoever has waited longer than a head start is
//!   passed no more: nobody starves.
//! - **In flight.** Up to [`QueueSettings::in_flight`] searches hold memory. They take turns,
//!   [`QueueSettings::slice`] expansions each, so that short ones are through in the same tick
//!   while a huge one runs. Three quarters of the places are for long searches; whoever has
//!   used up [`EXPRESS_LIMIT`] expansions while those are taken goes back to the line with its
//!   rank, so that short requests always find a place.
//! - **Price.** An expansion on mixed terrain counts three: it looks at all eight neighbors and
//!   takes about that much longer. One of a jumping search counts five, and more where it sees
//!   much. So a budget means about the same time for all.
//! - **Edits.** A search whose explored part was edited (a jumping one: by any edit, as its scans
//!   look far) starts anew, at most
//!   [`MOST_RESTARTS`] times; after that it is run to its end at once, and what it takes beyond
//!   the budget is taken off the next ticks.

mod turns;

use std::collections::BTreeMap;

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{
    grid::NavGrid,
    node_pool::NodePool,
    open_list::{BucketHeap, OpenList},
    path::Path,
    query::{GridId, PathFailure, PathQuery},
    search::{Search, SearchCounters},
};

/// Expansions after which a search counts as long.
pub const EXPRESS_LIMIT: u64 = 2_048;
/// How often edits may throw a search back before it is run to its end at once.
pub const MOST_RESTARTS: u32 = 3;
/// What taking up a job costs of the budget, in expansions: about the time it takes.
const JOB_COST: u32 = 8;
/// Ticks of head start for one step of [`Priority`].
const HEAD_START: i64 = 30;
/// Node pages kept while nothing runs, 8 KiB each.
const PAGES_KEPT: usize = 1_024;

/// How urgent a request is; 0 is normal, higher is sooner. One step is worth 30 ticks of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct Priority(pub i8);

/// Place of a job in the queue, to cancel it by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct Ticket {
    rank: i64,
    number: u64,
}

impl Ticket {
    /// Sequence number: jobs count up from 1 in the order they were pushed.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }
}

/// How the queue deals with its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct QueueSettings {
    /// Searches that hold memory at the same time, at least 1. Default 32: enough that short
    /// ones seldom wait for a place, few enough to stay in the processor's caches.
    pub in_flight: usize,
    /// Expansions a search may do in its turn, at least 1. Default 512: the answer to a short
    /// request in one turn, and long enough that changing over costs nothing measurable.
    pub slice: u32,
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self { in_flight: 32, slice: 512 }
    }
}

/// The answer to one job.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whose.
    pub ticket: Ticket,
    /// On which grid.
    pub grid: GridId,
    /// The way, or why there is none.
    pub result: Result<Path, PathFailure>,
    /// What the search did, thrown-back runs left aside.
    pub counters: SearchCounters,
    /// Ticks between question and answer; 0 = within the same tick.
    pub waited: u64,
}

/// Where the queue finds grids.
pub trait GridSource {
    /// The grid with this number, if there is one.
    fn grid(&self, id: GridId) -> Option<&NavGrid>;
}

#[derive(Clone, Copy, Debug)]
struct Job {
    ticket: Ticket,
    grid: GridId,
    query: PathQuery,
    asked_at: u64,
    restarts: u32,
    is_long: bool,
}

/// A job and the search that works on it.
#[derive(Debug)]
struct Flight<L: OpenList> {
    job: Job,
    search: Search<L>,
}

/// Jobs waiting and in flight; see the [module](self).
#[derive(Debug, Default)]
pub struct SearchQueue<L: OpenList = BucketHeap> {
    /// How it deals with its jobs. May be changed at any time.
    pub settings: QueueSettings,
    /// New jobs by ticket, and those that have turned out to be long.
    express: BTreeMap<Ticket, Job>,
    long: BTreeMap<Ticket, Job>,
    flights: Vec<Flight<L>>,
    /// Whose turn it is.
    turn: usize,
    idle: Vec<Search<L>>,
    pool: NodePool,
    tick: u64,
    numbers: u64,
    /// Expansions overdrawn so far.
    debt: u32,
    restarts: u64,
}

impl<L: OpenList> SearchQueue<L> {
    /// Adds a job. It is looked at in the next [`step`](Self::step).
    pub fn push(&mut self, grid: GridId, query: PathQuery, priority: Priority) -> Ticket {
        self.numbers += 1;
        let rank = self.tick as i64 - i64::from(priority.0) * HEAD_START;
        let ticket = Ticket { rank, number: self.numbers };
        let job = Job { ticket, grid, query, asked_at: self.tick, restarts: 0, is_long: false };
        self.express.insert(ticket, job);
        ticket
    }

    /// Takes a job back; it gets no answer. False if it is not in the queue (any more).
    pub fn cancel(&mut self, ticket: Ticket) -> bool {
        if self.express.remove(&ticket).or_else(|| self.long.remove(&ticket)).is_some() {
            return true;
        }
        match self.flights.iter().position(|flight| flight.job.ticket == ticket) {
            Some(index) => {
                self.land(index);
                true
            }
            None => false,
        }
    }

    /// One tick: spends up to `budget` expansions, passes answers to `answer`, and returns what
    /// was spent. Stops early, between turns, when `may_go_on` says no.
    pub fn step(
        &mut self,
        grids: &impl GridSource,
        budget: u32,
        mut may_go_on: impl FnMut() -> bool,
        mut answer: impl FnMut(Answer),
    ) -> u32 {
        self.drop_stale(grids);
        let paid = self.debt.min(budget);
        self.debt -= paid;
        let mut left = budget - paid;
        while left > 0 && may_go_on() {
            while left > 0 && may_go_on() && self.admit_one(grids, &mut left, &mut answer) {}
            if self.flights.is_empty() || left == 0 {
                break;
            }
            self.take_turn(grids, &mut left, &mut answer);
        }
        self.tick += 1;
        if self.flights.is_empty() {
            self.pool.trim(PAGES_KEPT);
        }
        budget - left
    }

    /// Jobs that wait for their first or next turn in flight.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.express.len() + self.long.len()
    }

    /// Searches in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting() == 0 && self.flights.is_empty()
    }

    /// Ticks that the oldest job in flight or at the head of a line has waited; 0 where there is
    /// none.
    #[must_use]
    pub fn longest_wait(&self) -> u64 {
        let heads = [self.express.first_key_value(), self.long.first_key_value()];
        let heads = heads.into_iter().flatten().map(|(_, job)| job);
        let jobs = heads.chain(self.flights.iter().map(|flight| &flight.job));
        jobs.map(|job| self.tick - job.asked_at).max().unwrap_or(0)
    }

    /// How often edits have thrown a search back.
    #[must_use]
    pub const fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Ticks so far.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// The search that works on a job, while it is in flight.
    #[must_use]
    pub fn search(&self, ticket: Ticket) -> Option<&Search<L>> {
        let flight = self.flights.iter().find(|flight| flight.job.ticket == ticket)?;
        Some(&flight.search)
    }

    /// Memory of all searches and of the pages in waiting, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let searches = self.flights.iter().map(|flight| &flight.search).chain(&self.idle);
        searches.map(Search::bytes).sum::<usize>() + self.pool.free_pages() * 8_192
    }

    /// Makes searches for all places and `pages` node pages (8 KiB each) ahead, so that the first
    /// tick under load need not.
    pub fn reserve(&mut self, pages: usize) {
        while self.idle.len() + self.flights.len() < self.settings.in_flight {
            self.idle.push(Search::new());
        }
        self.pool.reserve(pages);
    }
}

impl Job {
    fn answer(
        self,
        result: Result<Path, PathFailure>,
        counters: SearchCounters,
        now: u64,
    ) -> Answer {
        Answer {
            ticket: self.ticket,
            grid: self.grid,
            result,
            counters,
            waited: now - self.asked_at,
        }
    }
}
