//! A question in the queue, and the answer to it.

use super::{Answer, Begun, FoundBy, Ticket};
use crate::nav::{
    path::{Path, PathCost, PathKind},
    query::{Algorithm, GridId, PathFailure, PathQuery},
    search::SearchCounters,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) ticket: Ticket,
    pub(super) grid: GridId,
    pub(super) query: PathQuery,
    pub(super) asked_at: u64,
    pub(super) restarts: u32,
    pub(super) is_long: bool,
    /// It must not share a field.
    pub(super) is_single: bool,
    /// The beginning of the way, if that was delivered: what is looked for is the rest.
    pub(super) begun: Option<Begun>,
}

impl Job {
    pub(super) fn new(ticket: Ticket, grid: GridId, query: PathQuery, now: u64) -> Self {
        Self {
            ticket,
            grid,
            query,
            asked_at: now,
            restarts: 0,
            is_long: false,
            is_single: false,
            begun: None,
        }
    }

    /// Answers it for good.
    pub(super) fn answer(
        self,
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
