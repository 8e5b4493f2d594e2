//! What jobs that could be answered together have in common.
//!
//! Input: a job. Output: its group.

use super::{MAX_RESTARTS, job::Job};
use crate::nav::{
    cell::Cell,
    query::{Algorithm, GridId, Reach},
    search::HIERARCHY_MIN_DISTANCE,
    terrain::ProfileId,
};

/// What jobs must have in common to be answered together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    pub(super) grid: GridId,
    pub(super) profile: ProfileId,
    /// Their goal, or their rally.
    pub(super) goal: Cell,
}

impl GroupKey {
    /// Returns the group of a job, if it may be answered together with others.
    pub(super) fn of(job: &Job) -> Option<Self> {
        let query = &job.query;
        let goal = job.rally.unwrap_or(query.goal.cell());
        // `Auto` answers a long query with the hierarchy; it does so where many wait, too.
        let is_near = |goal: Cell| {
            let (columns, rows) = (query.start.x.abs_diff(goal.x), query.start.y.abs_diff(goal.y));
            u64::from(columns) + u64::from(rows) < u64::from(HIERARCHY_MIN_DISTANCE)
        };
        let may_share = query.algorithm == Algorithm::Auto
            && query.reach == Reach::Exact
            && job.has_single_goal_cell()
            && is_near(goal)
            && is_near(query.goal.cell())
            && job.restarts < MAX_RESTARTS
            && !job.is_single
            && job.delivered.is_none();
        may_share.then_some(Self { grid: job.grid, profile: query.profile, goal })
    }
}
