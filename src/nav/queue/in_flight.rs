//! Tasks in flight: a search for single jobs, or a field that many jobs share.
//!
//! Input: a quantum of the budget. Output: what was spent of it, and finished jobs. Tasks share nothing
//! with each other, so those of a round may run on several threads.

use std::collections::VecDeque;

use super::{
    GridSource, Ticket,
    job::{FinishedJob, Job},
    shared_field::SharedField,
    single_search::SingleSearch,
};
use crate::nav::node_pool::NodePool;

/// Work in flight.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Task {
    pub(super) kind: TaskKind,
    /// Its share of the round's budget.
    pub(super) quantum: u32,
    /// What it spent of that.
    pub(super) spent: u32,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum TaskKind {
    Single(Box<SingleSearch>),
    Shared(Box<SharedField>),
}

/// The same call on a task of either kind.
macro_rules! on_either {
    ($kind:expr, $task:ident => $call:expr) => {
        match $kind {
            TaskKind::Single($task) => $call,
            TaskKind::Shared($task) => $call,
        }
    };
}

impl Task {
    pub(super) fn new(kind: TaskKind) -> Self {
        Self { kind, quantum: 0, spent: 0 }
    }

    /// Works for its quantum. Nothing is spent where the task does not fit the grid any more.
    pub(super) fn run(&mut self, grids: &impl GridSource, pool: &NodePool) {
        self.spent = on_either!(&mut self.kind, task => task.run(grids, pool, self.quantum));
    }

    /// Returns the search, if it is no shared field.
    pub(super) fn single(&mut self) -> Option<&mut SingleSearch> {
        match &mut self.kind {
            TaskKind::Single(single) => Some(single),
            TaskKind::Shared(_) => None,
        }
    }

    /// The lane of the thread that ran it last: its memory is in the cache of that processor.
    pub(super) fn lane(&mut self) -> &mut usize {
        on_either!(&mut self.kind, task => &mut task.lane)
    }

    /// How many slices it gets in a round: as many as it has jobs, if a field answers them all.
    pub(super) fn slices(&self) -> u32 {
        match &self.kind {
            TaskKind::Single(_) => 1,
            TaskKind::Shared(shared) => shared.slices(),
        }
    }

    /// Whether it must be restarted because of an edit.
    pub(super) fn is_stale(&mut self, grids: &impl GridSource) -> bool {
        on_either!(&mut self.kind, task => task.is_stale(grids))
    }

    /// Returns all jobs that are not answered, those that were started first.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        let (single, shared) = match &self.kind {
            TaskKind::Single(single) => (Some(single), None),
            TaskKind::Shared(shared) => (None, Some(shared)),
        };
        let single = single.into_iter().flat_map(|single| single.job.iter().chain(&single.backlog));
        single.chain(shared.into_iter().flat_map(|shared| shared.jobs()))
    }

    /// Whether it counts as long: a shared field, or a search whose first job is long. (No job that is known to
    /// be long joins a backlog.)
    pub(super) fn is_long(&self) -> bool {
        matches!(self.kind, TaskKind::Shared(_))
            || self.jobs().next().is_some_and(|job| job.is_long)
    }

    /// Returns the jobs that are finished and not delivered.
    pub(super) fn finished(&mut self) -> &mut Vec<FinishedJob> {
        on_either!(&mut self.kind, task => &mut task.finished)
    }

    /// Returns the jobs that have to wait again after the round: not started, or rejected.
    pub(super) fn leaving(&mut self) -> &mut VecDeque<Job> {
        match &mut self.kind {
            TaskKind::Single(single) => &mut single.backlog,
            TaskKind::Shared(shared) => &mut shared.rejected,
        }
    }

    /// Removes a job; returns whether it was there.
    pub(super) fn cancel(&mut self, ticket: Ticket, pool: &NodePool) -> bool {
        on_either!(&mut self.kind, task => task.cancel(ticket, pool))
    }

    pub(super) fn bytes(&self) -> usize {
        on_either!(&self.kind, task => task.bytes())
    }
}
