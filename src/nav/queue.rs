//! Many searches under one budget.
//!
//! Input: jobs (a grid and a query, with options) and, each tick, a budget of expansions. Output: one
//! answer per job, in the order in which they become ready. Nothing depends on a clock: the same jobs
//! and budgets give the same answers in the same ticks.
//!
//! - **Waiting.** Jobs wait in order of *rank*: the tick they were pushed in, minus a head start for
//!   their priority. Urgent jobs pass others, but a job that has waited longer than a head start is not
//!   passed any more, so no job starves.
//! - **Classes.** In each tick at most [`QueueSettings::class_limits`] jobs of a [`RequestClass`] are
//!   admitted, so that a flood of one kind leaves capacity for others. A job held back by its class does
//!   not block jobs of other classes. Within a class, jobs are admitted by rank; between classes, by rank
//!   among those with allowance left. So the rule above holds within the limits, and the backlog of a
//!   class whose jobs arrive faster than its limit grows.
//! - **In flight.** Up to [`QueueSettings::in_flight`] searches hold memory. They run round robin,
//!   [`QueueSettings::slice`] expansions each, so that short ones finish in the same tick while a huge one
//!   runs. Three quarters of the slots are for long searches. A search that reaches
//!   [`LONG_SEARCH_EXPANSIONS`] while those are taken goes back to waiting with its rank, so that short
//!   requests always find a slot.
//! - **Rounds.** Each task in flight gets a share of the remaining budget and works on it (on several
//!   threads, if there are [`Workers`]); then the results are applied in order. The shares are assigned
//!   beforehand, so the answers are the same for any number of threads.
//! - **Sharing.** If many jobs wait for paths to one goal, and a single search outward from the goal (a field) costs less
//!   than a search for each, the single search answers them all (see `sharing_policy` for the rule). Two fields are in
//!   flight at a time, each with a share for every one of its jobs, up to sixteen; the jobs of other goals for which a field
//!   pays wait for theirs, by rank. Jobs whose goals lie around one [rally](JobOptions::rally) follow the field from there
//!   most of the path, and then a short search of their own.
//! - **Long paths.** A hierarchical search delivers the first segment of its path as soon as it is found;
//!   the rest follows as another answer.
//! - **Work.** An expansion on weighted terrain counts three: it looks at all eight neighbors and takes
//!   about that much longer. One of a jumping search counts four or five, and more where its scans are
//!   long. So a budget means about the same time for all.
//! - **Edits.** A search is restarted if the part of the grid it has explored is edited. A search that jumps, is hierarchical,
//!   may end on several cells or has lost its landmarks is restarted after any edit. After [`MAX_RESTARTS`] restarts a search is
//!   run to completion in one go, and what it takes beyond the budget is subtracted from the next ticks.

// This file holds what the files below share; `search_queue` has the queue itself.

mod admission;
mod in_flight;
mod job;
mod last_leg;
mod round_robin;
mod search_queue;
mod shared_field;
mod sharing_policy;
mod single_search;
mod waiting;
mod workers;

pub use job::{Answer, DeliveredPart, FoundBy, JobOptions};
pub use search_queue::SearchQueue;
pub use workers::{OneWorker, Workers};

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{grid::NavGrid, query::GridId};

/// Expansions after which a search counts as long.
pub const LONG_SEARCH_EXPANSIONS: u64 = 2_048;
/// How often edits may restart a search before it is run to completion in one go.
pub const MAX_RESTARTS: u32 = 3;
/// Number of request classes.
pub const CLASSES: usize = 8;
/// What admitting a job costs of the budget, in expansions: about the time it takes.
const JOB_COST: u32 = 8;

/// How urgent a request is; 0 is normal, higher is sooner. One step is worth 30 ticks of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct Priority(pub i8);

/// The kind of request, 0 (default) to 7; higher values count as 7. What the classes mean is up to the
/// game: each can be [limited](QueueSettings::class_limits) separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct RequestClass(pub u8);

impl RequestClass {
    /// Its index among the [`CLASSES`].
    #[must_use]
    pub const fn index(self) -> usize {
        if (self.0 as usize) < CLASSES { self.0 as usize } else { CLASSES - 1 }
    }
}

/// Identifies a job in the queue, to cancel it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct Ticket {
    rank: i64,
    number: u64,
}

impl Ticket {
    /// Sequence number: jobs count up from 1 in the order in which they were pushed.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }
}

/// How the queue schedules its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct QueueSettings {
    /// Searches that hold memory at the same time, at least 1. Default 32: enough that short ones
    /// seldom wait for a slot, few enough to stay in the processor's caches. Three quarters of the slots
    /// (at least 1) are for searches that have turned out to be long, and for shared fields; the others
    /// are kept for short requests.
    pub in_flight: usize,
    /// Expansions a search may do in a round, at least 1. Default 512: enough to answer a short request
    /// in one round, and long enough that switching between searches costs nothing measurable.
    pub slice: u32,
    /// Most jobs of each class that are admitted for the first time in a tick. Default [`u32::MAX`] each:
    /// no limit, as most games need none. 0 pauses a class: jobs not yet admitted wait until the limit is
    /// raised. Jobs that continue after they were admitted (restarted by an edit, or moved back to make
    /// room) do not count again.
    pub class_limits: [u32; CLASSES],
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self { in_flight: 32, slice: 512, class_limits: [u32::MAX; CLASSES] }
    }
}

/// Gives the queue access to grids.
pub trait GridSource: Sync {
    /// Returns the grid with this number, if there is one.
    fn grid(&self, id: GridId) -> Option<&NavGrid>;
}
