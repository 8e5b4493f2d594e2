//! Jobs of the queue, and their answers.

use std::sync::Arc;

use super::{Priority, RequestClass, Ticket};
use crate::nav::{
    Algorithm, Cell, Goal, GridId, Path, PathCost, PathFailure, PathKind, PathQuery,
    search::SearchCounters,
};

/// Options of a job beside its query. Default: normal priority, class 0, one goal, no rally.
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    /// How urgent it is.
    pub priority: Priority,
    /// The class whose limit it counts towards.
    pub class: RequestClass,
    /// Alternatives to the query's own goal: the answer leads to whichever is the cheapest to reach.
    /// `None` (default) and an empty list mean the same.
    pub goals: Option<Arc<[Goal]>>,
    /// A cell near the goal. Jobs with the same one (on one grid, for one profile) have their paths found
    /// together where that pays, though each has its own goal: for crowds that spread out around a
    /// position. Such a path costs at most 1.15 times the cheapest, and rarely that much. Where sharing
    /// does not pay, the answer is that of an ordinary job.
    pub rally: Option<Cell>,
    /// Whether it continues something admitted before (a path that was cut off, say). Then it does not
    /// count towards the limit of its class.
    pub is_continuation: bool,
}

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum FoundBy {
    /// Without a search: start, goal and their connected regions were enough.
    Check,
    /// A search for this job alone, by this algorithm.
    Search(Algorithm),
    /// One search outward from the goal (or the rally), for many jobs.
    Field,
}

/// The answer to one job.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The job that it answers.
    pub ticket: Ticket,
    /// The grid of the job.
    pub grid: GridId,
    /// The path, or why there is none. A path of kind [`FirstSegment`](PathKind::FirstSegment) is followed by
    /// another answer with the rest.
    pub result: Result<Path, PathFailure>,
    /// How it was found.
    pub found_by: FoundBy,
    /// The part of the path that earlier answers to the same job delivered: this path starts where that
    /// part ends. `None` in the first answer.
    pub delivered: Option<DeliveredPart>,
    /// What the search did, without runs that were restarted. The work of a shared field is reported with
    /// its first answer, and that of the searches that follow with the next answer after each.
    pub counters: SearchCounters,
    /// Ticks between push and answer; 0 = within the same tick.
    pub waited: u64,
}

/// The first segment of a path, which was delivered already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct DeliveredPart {
    /// Where it starts.
    pub start: Cell,
    /// What it costs.
    pub cost: PathCost,
}

/// A query in the queue.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Job {
    pub(super) ticket: Ticket,
    pub(super) grid: GridId,
    pub(super) query: PathQuery,
    pub(super) goals: Option<Arc<[Goal]>>,
    pub(super) rally: Option<Cell>,
    /// Below [`CLASSES`](super::CLASSES).
    pub(super) class: u8,
    /// It has not been admitted yet.
    pub(super) is_new: bool,
    pub(super) is_long: bool,
    /// It must not share a field.
    pub(super) is_single: bool,
    pub(super) restarts: u32,
    /// The tick in which it was pushed.
    pub(super) queued_at: u64,
    /// The part of the path that was delivered, if any: the query asks for the rest.
    pub(super) delivered: Option<DeliveredPart>,
}

/// A job with its result, not yet delivered.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct FinishedJob {
    pub(super) job: Job,
    pub(super) result: Result<Path, PathFailure>,
    pub(super) found_by: FoundBy,
    pub(super) counters: SearchCounters,
    /// What the search cost.
    pub(super) spent: u64,
}

impl Job {
    pub(super) fn new(
        ticket: Ticket,
        grid: GridId,
        query: PathQuery,
        options: JobOptions,
        queued_at: u64,
    ) -> Self {
        let JobOptions { class, goals, rally, is_continuation, .. } = options;
        let (class, is_new) = (class.index() as u8, !is_continuation);
        let goals = goals.filter(|goals| !goals.is_empty());
        Self { ticket, grid, query, goals, rally, class, is_new, queued_at, ..Self::default() }
    }

    /// Whether it has one goal, and its cells lie near one another.
    pub(super) fn has_small_goal(&self) -> bool {
        self.goals.is_none() && self.query.goal.is_small()
    }

    /// Returns an answer to the job.
    pub(super) fn answer(
        &self,
        result: Result<Path, PathFailure>,
        found_by: FoundBy,
        counters: SearchCounters,
        now: u64,
    ) -> Answer {
        let &Self { ticket, grid, delivered, queued_at, .. } = self;
        let result = result.map_err(|failure| match delivered {
            Some(part) => failure.with_start(part.start),
            None => failure,
        });
        Answer { ticket, grid, result, found_by, delivered, counters, waited: now - queued_at }
    }

    /// Answers with the first segment of the path. From then on the job asks for the rest, from the end
    /// of that segment.
    pub(super) fn deliver_first_segment(&mut self, mut segment: Path, now: u64) -> Answer {
        segment.kind = PathKind::FirstSegment;
        let part = DeliveredPart { start: self.query.start, cost: segment.cost() };
        let (end, found_by) = (segment.end(), FoundBy::Search(Algorithm::Hierarchical));
        let answer = self.answer(Ok(segment), found_by, SearchCounters::default(), now);
        (self.delivered, self.query.start) = (Some(part), end);
        answer
    }
}
