//! A question in the queue, and the answer to it.

use std::sync::Arc;

use super::{Priority, RequestClass, Ticket};
use crate::nav::{
    cell::Cell,
    goal::Goal,
    path::{Path, PathCost, PathKind},
    query::{Algorithm, GridId, PathFailure, PathQuery},
    search::SearchCounters,
};

/// What can be said of a job beside its query. By default: normal priority, class 0, one goal, alone.
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    /// How urgent it is.
    pub priority: Priority,
    /// On whose allowance it is taken up.
    pub class: RequestClass,
    /// Goals that will do as well as the query's own: the answer leads to whichever is the cheapest
    /// to get to. `None` (default) and an empty list are the same.
    pub goals: Option<Arc<[Goal]>>,
    /// A cell near the goal. Jobs with the same one (on one grid, for one profile) have their ways
    /// found together where that pays, though each has its own goal: for crowds that are spread out
    /// around a place. Such a way costs at most 1.15 times what the cheapest does, and hardly ever
    /// that much. Where it does not pay, the answer is that of an ordinary job.
    pub rally: Option<Cell>,
    /// Whether it goes on with what was taken up before (a way that was cut off, say): then it does not
    /// count towards the limit of its class.
    pub goes_on: bool,
}

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoundBy {
    /// Without a search: the ends and their islands told.
    Check,
    /// A search for this job alone, by this algorithm.
    Search(Algorithm),
    /// One search from the goal (or the rally) outward, for many jobs.
    Field,
}

/// The answer to one job.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whose.
    pub ticket: Ticket,
    /// On which grid.
    pub grid: GridId,
    /// The way, or why there is none. A way of kind [`Beginning`](PathKind::Beginning)
    /// is followed by another answer, with the rest.
    pub result: Result<Path, PathFailure>,
    /// How it was found.
    pub found_by: FoundBy,
    /// What was answered to the same job before: the way begins where that ends. `None` where this
    /// is the first answer.
    pub begun: Option<Begun>,
    /// What the search did, thrown-back runs left aside; of a field, told with its first answer, and
    /// of what leads on from it, with the next.
    pub counters: SearchCounters,
    /// Ticks between question and answer; 0 = within the same tick.
    pub waited: u64,
}

/// The beginning of a way that was answered already, in one answer or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Begun {
    /// Where it starts.
    pub start: Cell,
    /// What it costs.
    pub cost: PathCost,
}

/// A question on its way through the queue. Cloned only where that copies a few words: jobs with
/// goals in a list are moved.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) ticket: Ticket,
    pub(super) grid: GridId,
    pub(super) query: PathQuery,
    pub(super) goals: Option<Arc<[Goal]>>,
    pub(super) rally: Option<Cell>,
    /// Below [`CLASSES`](super::CLASSES).
    pub(super) class: u8,
    /// It was never taken up.
    pub(super) is_new: bool,
    pub(super) is_long: bool,
    /// It must not share a field.
    pub(super) is_single: bool,
    pub(super) restarts: u32,
    pub(super) asked_at: u64,
    /// The beginning of the way, if that was delivered: what is looked for is the rest.
    pub(super) begun: Option<Begun>,
}

impl Job {
    pub(super) fn new(
        ticket: Ticket,
        grid: GridId,
        query: PathQuery,
        options: JobOptions,
        now: u64,
    ) -> Self {
        Self {
            ticket,
            grid,
            query,
            goals: options.goals.filter(|goals| !goals.is_empty()),
            rally: options.rally,
            class: options.class.index() as u8,
            is_new: !options.goes_on,
            is_long: false,
            is_single: false,
            restarts: 0,
            asked_at: now,
            begun: None,
        }
    }

    /// An answer to it.
    pub(super) fn answer(
        &self,
        result: Result<Path, PathFailure>,
        found_by: FoundBy,
        counters: SearchCounters,
        now: u64,
    ) -> Answer {
        Answer {
            ticket: self.ticket,
            grid: self.grid,
            result,
            found_by,
            begun: self.begun,
            counters,
            waited: now - self.asked_at,
        }
    }

    /// Answers with the beginning of the way; what is still to be found begins at its end.
    pub(super) fn begin(&mut self, mut beginning: Path, now: u64) -> Answer {
        beginning.kind = PathKind::Beginning;
        let answer = self.answer(
            Ok(beginning),
            FoundBy::Search(Algorithm::Hierarchical),
            SearchCounters::default(),
            now,
        );
        if let Ok(path) = &answer.result {
            let start = self.begun.map_or(self.query.start, |begun| begun.start);
            let before = self.begun.map_or(0, |begun| begun.cost.0);
            self.begun = Some(Begun { start, cost: PathCost(before + path.cost().0) });
            self.query.start = path.end();
        }
        answer
    }
}
