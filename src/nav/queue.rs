//! Many searches under one budget.
//!
//! Input: jobs (who asks, on which grid, what) and, tick by tick, a budget of expansions. Output:
//! one answer per job, in the order in which they are ready. Nothing depends on a clock: the same
//! jobs and budgets give the same answers in the same ticks.
//!
//! - **Line.** Jobs wait in order of *rank*: the tick they came in, less a head start for their
//!   priority. So urgent ones pass others, and whoever has waited longer than a head start is
//!   passed no more: nobody starves.
//! - **Classes.** Of the jobs of one [`RequestClass`] only so many are taken up in a tick as
//!   [`QueueSettings::class_limits`] says, so that a flood of one sort leaves room for others. Who has
//!   to wait for that holds nobody up. Within a class jobs go by rank, and between classes by rank
//!   among those that have some of their allowance left: so the above holds within the limits, and a
//!   class whose jobs come faster than its limit grows.
//! - **In flight.** Up to [`QueueSettings::in_flight`] searches hold memory. They take turns,
//!   [`QueueSettings::slice`] expansions each, so that short ones are through in the same tick
//!   while a huge one runs. Three quarters of the places are for long searches; whoever has
//!   used up [`EXPRESS_LIMIT`] expansions while those are taken goes back to the line with its
//!   rank, so that short requests always find a place.
//! - **Rounds.** Everybody in flight gets a slice of what is left, works on it (on several threads, if
//!   there are [`Workers`]), and then what has become ready is applied in order. The shares are dealt
//!   before, so the answers are the same for any number of threads.
//! - **Sharing.** Where many wait for ways to one goal, and a search from there outward costs less than
//!   one for each, that is what answers them (`share` has the rule). Those whose goals lie around one
//!   [rally](JobOptions::rally) are led by the search from there, and then on by one of their own.
//! - **Long ways.** A hierarchical search delivers the beginning of its way as soon as it is found;
//!   the rest follows as an answer of its own.
//! - **Price.** An expansion on mixed terrain counts three: it looks at all eight neighbors and
//!   takes about that much longer. One of a jumping search counts four or five, and more where it
//!   sees much. So a budget means about the same time for all.
//! - **Edits.** A search whose explored part was edited (a jumping one: by any edit, as its scans
//!   look far) starts anew, at most
//!   [`MOST_RESTARTS`] times; after that it is run to its end at once, and what it takes beyond
//!   the budget is taken off the next ticks.

mod flight;
mod groups;
mod job;
mod lines;
mod rounds;
mod share;
mod tail;
mod together;
mod turns;
mod workers;

pub use job::{Answer, Begun, FoundBy, JobOptions};
pub use workers::{OneWorker, Workers};

use std::sync::Arc;

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use self::{
    flight::{Alone, Flight, Work},
    job::Job,
    lines::Lines,
    share::Sharing,
    workers::Board,
};
use super::{
    field::DistanceField,
    grid::NavGrid,
    node_pool::NodePool,
    open_list::{BucketHeap, OpenList},
    query::{GridId, PathQuery},
    search::Search,
};

/// Expansions after which a search counts as long.
pub const EXPRESS_LIMIT: u64 = 2_048;
/// How often edits may throw a search back before it is run to its end at once.
pub const MOST_RESTARTS: u32 = 3;
/// Classes of requests.
pub const CLASSES: usize = 8;
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

/// What sort of request it is, 0 (default) to 7; higher ones count as 7. What that means is up to the
/// game: each class can be [limited](QueueSettings::class_limits) by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct RequestClass(pub u8);

impl RequestClass {
    /// Its place among the [`CLASSES`].
    #[must_use]
    pub const fn index(self) -> usize {
        if (self.0 as usize) < CLASSES { self.0 as usize } else { CLASSES - 1 }
    }
}

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
    /// ones seldom wait for a place, few enough to stay in the processor's caches. Three quarters of
    /// them (at least 1) are for searches that have turned out to be long, and for fields; the others
    /// are kept for short requests.
    pub in_flight: usize,
    /// Expansions a search may do in its turn, at least 1. Default 512: the answer to a short
    /// request in one turn, and long enough that changing over costs nothing measurable.
    pub slice: u32,
    /// Jobs of each class that are taken up for the first time in a tick, at most. Default
    /// [`u32::MAX`] each: no limit, as most games need none. 0 pauses a class: what was not taken up
    /// waits until the limit is raised. Jobs that go on after that (thrown back by an edit, or to make
    /// room) count no more.
    pub class_limits: [u32; CLASSES],
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self { in_flight: 32, slice: 512, class_limits: [u32::MAX; CLASSES] }
    }
}

/// Where the queue finds grids.
pub trait GridSource: Sync {
    /// The grid with this number, if there is one.
    fn grid(&self, id: GridId) -> Option<&NavGrid>;
}

/// Jobs waiting and in flight; see the [module](self).
#[derive(Debug, Default)]
pub struct SearchQueue<L: OpenList = BucketHeap> {
    /// How it deals with its jobs. May be changed at any time.
    pub settings: QueueSettings,
    lines: Lines,
    flights: Vec<Flight<L>>,
    /// How many of those are fields.
    fields: usize,
    /// Whose turn it is.
    turn: usize,
    /// How many jobs a flight is given beside its first, and who is given the next.
    pace: usize,
    turn_of_next: usize,
    /// Searches and fields at rest, for their memory.
    idle: Vec<Box<Alone<L>>>,
    idle_fields: Vec<DistanceField>,
    sharing: Sharing,
    pool: Arc<NodePool>,
    tick: u64,
    numbers: u64,
    /// Expansions overdrawn so far.
    debt: u32,
    restarts: u64,
}

impl<L: OpenList> SearchQueue<L> {
    /// Adds a job. It is looked at in the next [`step`](Self::step).
    pub fn push(&mut self, grid: GridId, query: PathQuery, priority: Priority) -> Ticket {
        self.push_job(grid, query, JobOptions { priority, ..JobOptions::default() })
    }

    /// Adds a job of which more is to be said than its priority.
    pub fn push_job(&mut self, grid: GridId, query: PathQuery, options: JobOptions) -> Ticket {
        self.numbers += 1;
        let rank = self.tick as i64 - i64::from(options.priority.0) * HEAD_START;
        let ticket = Ticket { rank, number: self.numbers };
        let job = Job::new(ticket, grid, query, options, self.tick);
        self.sharing.note_waiting(&job);
        match job.is_new {
            true => self.lines.push(job),
            false => self.lines.push_again(job),
        }
        ticket
    }

    /// Takes a job back; it gets no answer. False if it is not in the queue (any more).
    pub fn cancel(&mut self, ticket: Ticket) -> bool {
        if let Some(job) = self.lines.remove(ticket) {
            self.sharing.note_gone(&job);
            return true;
        }
        self.cancel_flight(ticket)
    }

    /// One tick: spends up to `budget` expansions, passes answers to `answer`, and returns what
    /// was spent. Stops early, between rounds, when `may_go_on` says no.
    pub fn step(
        &mut self,
        grids: &impl GridSource,
        budget: u32,
        may_go_on: impl FnMut() -> bool,
        answer: impl FnMut(Answer),
    ) -> u32 {
        self.step_on(&OneWorker, grids, budget, may_go_on, answer)
    }

    /// The same on several threads: the same answers in the same ticks.
    pub fn step_on(
        &mut self,
        workers: &impl Workers,
        grids: &impl GridSource,
        budget: u32,
        mut may_go_on: impl FnMut() -> bool,
        mut answer: impl FnMut(Answer),
    ) -> u32 {
        self.lines.begin_tick(self.settings.class_limits);
        self.drop_stale(grids);
        let paid = self.debt.min(budget);
        self.debt -= paid;
        let mut left = budget - paid;
        if workers.count() > 1 && left > 0 && self.is_worth_help() {
            let (board, pool) = (Board::new(), Arc::clone(&self.pool));
            let mut lead = || {
                let _closing = board.closing();
                self.play(Some(&board), grids, &mut left, &mut may_go_on, &mut answer);
            };
            workers.assist(&|| board.help(grids, &pool), &mut lead);
        } else {
            self.play(None, grids, &mut left, &mut may_go_on, &mut answer);
        }
        self.tick += 1;
        if self.flights.is_empty() {
            self.pool.trim(PAGES_KEPT);
        }
        if self.fields == 0 {
            self.idle_fields.clear(); // 4 bytes a cell each
        }
        budget - left
    }

    /// Rounds, until nothing is left.
    fn play(
        &mut self,
        board: Option<&Board<L>>,
        grids: &impl GridSource,
        left: &mut u32,
        may_go_on: &mut impl FnMut() -> bool,
        answer: &mut impl FnMut(Answer),
    ) {
        while *left > 0 && may_go_on() {
            while *left > 0 && may_go_on() && self.admit_one(grids, left, answer) {}
            if self.flights.is_empty() || *left == 0 {
                break;
            }
            self.play_round(board, grids, left, answer);
        }
    }

    /// Jobs that wait for their first or next turn in flight, paused ones included.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lines.count()
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
    /// none. Each class has a line, and so have those that were taken up before.
    #[must_use]
    pub fn longest_wait(&self) -> u64 {
        let jobs = self.lines.heads().chain(self.flights.iter().flat_map(Flight::jobs));
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
        self.flights.iter().find_map(|flight| match &flight.work {
            Work::Alone(alone) if alone.job.as_ref()?.ticket == ticket => Some(&alone.search),
            _ => None,
        })
    }

    /// Memory of all searches and fields, of the pages in waiting, and of all jobs, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let flying = self.flights.iter().map(Flight::bytes).sum::<usize>();
        let flights = self.flights.capacity() * size_of::<Flight<L>>();
        let idle = self.idle.iter().map(|alone| alone.bytes()).sum::<usize>();
        let fields = self.idle_fields.iter().map(DistanceField::bytes).sum::<usize>();
        let waiting = self.lines.bytes() + self.sharing.bytes();
        flying + flights + idle + fields + waiting + self.pool.free_pages() * 8_192
    }

    /// Makes searches for all places and `pages` node pages (8 KiB each) ahead, so that the first
    /// tick under load need not.
    pub fn reserve(&mut self, pages: usize) {
        let places = self.settings.in_flight;
        self.flights.reserve(places.saturating_sub(self.flights.len()));
        while self.idle.len() + self.flights.len() < places {
            self.idle.push(Box::default());
        }
        self.pool.reserve(pages);
    }
}
