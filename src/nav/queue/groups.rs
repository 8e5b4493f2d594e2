//! Counts of the waiting jobs that could be answered together, by goal and class.
//!
//! Input: jobs that are added and removed. Output: for each goal, how many jobs of a class wait for a path
//! to it, and how far they have to go.

use std::collections::{BTreeMap, btree_map::Entry};

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

/// The waiting jobs of one group and class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) count: u32,
    /// How many of them were never admitted.
    pub(super) new: u32,
    /// Sum and maximum of the distances from their starts, in cells (the longer of columns and rows).
    /// The job that is farthest may be gone.
    pub(super) distance_sum: u64,
    pub(super) farthest: u32,
}

/// All groups that have jobs, by key and class.
#[derive(Debug, Default)]
pub(super) struct Groups(BTreeMap<(GroupKey, u8), Group>);

impl Groups {
    pub(super) fn get(&self, key: GroupKey, class: u8) -> Option<&Group> {
        self.0.get(&(key, class))
    }

    /// Counts a job that has to go `distance` cells.
    pub(super) fn add(&mut self, key: GroupKey, class: u8, distance: u32, is_new: bool) {
        let group = self.0.entry((key, class)).or_default();
        group.count += 1;
        group.new += u32::from(is_new);
        group.distance_sum += u64::from(distance);
        group.farthest = group.farthest.max(distance);
    }

    /// Undoes [`add`](Self::add).
    pub(super) fn remove(&mut self, key: GroupKey, class: u8, distance: u32, is_new: bool) {
        let Entry::Occupied(mut entry) = self.0.entry((key, class)) else {
            return;
        };
        let group = entry.get_mut();
        if group.count == 1 {
            entry.remove();
            return;
        }
        group.count -= 1;
        group.new -= u32::from(is_new);
        group.distance_sum -= u64::from(distance);
    }

    /// Returns the memory held, in bytes: estimated at two thirds of full nodes, which is what keys in
    /// random order leave.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<((GroupKey, u8), Group)>() * 3 / 2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(number: u32) -> (GroupKey, u8) {
        let goal = Cell::new((number % 37) as i32 - 18, (number / 37) as i32);
        let key = GroupKey { grid: GridId(number % 2), profile: ProfileId(0), goal };
        (key, (number % 3) as u8)
    }

    fn check(groups: &Groups, model: &BTreeMap<u32, Vec<(u32, bool)>>) {
        assert_eq!(groups.0.len(), model.values().filter(|jobs| !jobs.is_empty()).count());
        for (&number, jobs) in model {
            let (key, class) = key(number);
            let group = groups.get(key, class);
            let found = group.map(|group| (group.count, group.new, group.distance_sum));
            let new = jobs.iter().filter(|(_, is_new)| *is_new).count() as u32;
            let distance: u64 = jobs.iter().map(|&(distance, _)| u64::from(distance)).sum();
            let expected = (!jobs.is_empty()).then_some((jobs.len() as u32, new, distance));
            assert_eq!(found, expected, "group {number}");
            let farthest = jobs.iter().map(|&(distance, _)| distance).max();
            assert!(group.map(|group| group.farthest) >= farthest, "group {number}");
        }
    }

    proptest! {
        #[test]
        fn groups_count_what_lists_of_jobs_hold(
            operations in prop::collection::vec(
                (any::<bool>(), 0u32..200, 0u32..90, any::<bool>()),
                1..600,
            ),
        ) {
            let (mut groups, mut model) = (Groups::default(), BTreeMap::<u32, Vec<_>>::new());
            for (adds, number, distance, is_new) in operations {
                let jobs = model.entry(number).or_default();
                let (key, class) = key(number);
                if adds {
                    jobs.push((distance, is_new));
                    groups.add(key, class, distance, is_new);
                } else if let Some((distance, is_new)) = jobs.pop() {
                    groups.remove(key, class, distance, is_new);
                } else {
                    groups.remove(key, class, distance, is_new); // there is none
                }
            }
            check(&groups, &model);
        }
    }
}
