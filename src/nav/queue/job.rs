//! A question in the queue, and the answer to it.

use super::{Answer, FoundBy, Ticket};
use crate::nav::{
    path::{Path, PathKind},
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
    /// The beginning of the way was delivered; what is looked for is the rest.
    pub(super) has_begun: bool,
}

impl Job {
    pub(super) fn new(ticket: Ticket, grid: GridId, query: PathQuery, now: u64) -> Self {
        let (restarts, is_long, has_begun) = (0, false, false);
        Self { ticket, grid, query, asked_at: now, restarts, is_long, has_begun }
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
            is_rest: self.has_begun,
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
            self.query.start = path.end();
        }
        self.has_begun = true;
        answer
    }
}
