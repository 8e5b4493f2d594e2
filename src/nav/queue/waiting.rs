//! Jobs that wait to be admitted, in lanes: new ones by class, those admitted before, and long ones.
//!
//! Input: jobs, and how many new ones of each class may be admitted in a tick. Output: the job with the
//! lowest ticket among those that may be admitted.
//!
//! Each lane is a map ordered by ticket, so every operation on one job takes logarithmic time, and memory
//! follows the number of jobs.

use std::collections::BTreeMap;

use super::{CLASSES, Ticket, job::Job};

/// Slots that a map allocates per entry, as a fraction. A node has 11 slots; if entries are added in
/// ascending order, as new jobs are, 6 of them are used. After random removals 5 to 11 are used.
const SLOTS_PER_ENTRY: (usize, usize) = (11, 6);

/// The lane of the short jobs that were admitted before; those before it hold the new jobs of each class.
const AGAIN: usize = CLASSES;
/// The lane of the long jobs.
const LONG: usize = CLASSES + 1;
const LANES: usize = CLASSES + 2;

/// All jobs that wait.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct WaitingJobs {
    lanes: [BTreeMap<Ticket, Job>; LANES],
    /// How many jobs of each lane may still be admitted in this tick. Only lanes of new jobs have limits. 0
    /// before the first tick.
    allowance: [u32; LANES],
}

impl WaitingJobs {
    /// Adds a job: a new one, or one that was admitted before.
    pub(super) fn push(&mut self, job: Job) {
        let lane = match job {
            Job { is_new: true, class, .. } => usize::from(class),
            Job { is_long: true, .. } => LONG,
            _ => AGAIN,
        };
        self.lanes[lane].insert(job.ticket, job);
    }

    /// Removes a job.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Job> {
        self.lanes.iter_mut().find_map(|lane| lane.remove(&ticket))
    }

    /// Begins a tick: sets how many new jobs of each class may be admitted.
    pub(super) fn begin_tick(&mut self, limits: [u32; CLASSES]) {
        self.allowance = [u32::MAX; LANES];
        self.allowance[..CLASSES].copy_from_slice(&limits);
    }

    /// Returns how many new jobs of a class may still be admitted in this tick.
    pub(super) fn allowance(&self, class: u8) -> u32 {
        self.allowance[usize::from(class)]
    }

    /// Returns the next short job to admit, and its lane.
    pub(super) fn next_short(&self) -> Option<(Ticket, usize)> {
        let allowed = (0..LONG).filter(|&lane| self.allowance[lane] > 0);
        allowed.filter_map(|lane| self.first(lane)).min()
    }

    /// Returns the next long job to admit, and its lane.
    pub(super) fn next_long(&self) -> Option<(Ticket, usize)> {
        self.first(LONG)
    }

    /// Returns the first job of a lane, and the lane.
    fn first(&self, lane: usize) -> Option<(Ticket, usize)> {
        self.lanes[lane].first_key_value().map(|(&ticket, _)| (ticket, lane))
    }

    /// Takes the first job of a lane.
    pub(super) fn pop(&mut self, lane: usize) -> Option<Job> {
        let (_, job) = self.lanes[lane].pop_first()?;
        self.allowance[lane] = self.allowance[lane].saturating_sub(1);
        Some(job)
    }

    /// Takes all matching jobs, lane by lane; of new ones as many as their classes are allowed, lowest tickets first. Ends when
    /// `matches` returns `None`: no job is looked at after that.
    pub(super) fn pop_matching(
        &mut self,
        mut matches: impl FnMut(&Job) -> Option<bool>,
    ) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (lane, allowance) in self.lanes.iter_mut().zip(&mut self.allowance) {
            let looked_at = lane.values().map_while(|job| Some((job.ticket, matches(job)?)));
            let matching = looked_at.filter(|&(_, is_match)| is_match).map(|(ticket, _)| ticket);
            let tickets: Vec<Ticket> = matching.take(*allowance as usize).collect();
            *allowance -= tickets.len() as u32;
            jobs.extend(tickets.iter().filter_map(|ticket| lane.remove(ticket)));
        }
        jobs
    }

    /// Returns the number of jobs.
    pub(super) fn len(&self) -> usize {
        self.lanes.iter().map(BTreeMap::len).sum()
    }

    /// Returns how many jobs may be admitted in this tick, if there are slots.
    pub(super) fn allowed_len(&self) -> usize {
        let lanes = self.lanes.iter().zip(self.allowance);
        lanes.map(|(lane, allowance)| lane.len().min(allowance as usize)).sum()
    }

    /// Returns the first job of each lane.
    pub(super) fn heads(&self) -> impl Iterator<Item = &Job> {
        self.lanes.iter().filter_map(BTreeMap::first_key_value).map(|(_, job)| job)
    }

    /// Returns the memory held, in bytes: an estimate from the number of jobs.
    pub(super) fn bytes(&self) -> usize {
        self.len() * size_of::<(Ticket, Job)>() * SLOTS_PER_ENTRY.0 / SLOTS_PER_ENTRY.1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nav::{
        cell::Cell,
        query::{GridId, PathQuery},
        queue::{JobOptions, RequestClass},
    };

    fn job(rank: i64, number: u64, class: u8) -> Job {
        let options = JobOptions { class: RequestClass(class), ..JobOptions::default() };
        // Every third job has the same goal.
        let goal = Cell::new((number % 3) as i32, 0);
        let query = PathQuery::new(Cell::default(), goal);
        Job::new(Ticket { rank, number }, GridId(0), query, options, 0)
    }

    /// An operation on the lanes.
    #[derive(Clone, Debug)]
    enum Operation {
        Push { rank: i64, class: u8 },
        Pop { returns: bool, is_long: bool },
        Remove { pick: usize },
        PopMatching,
        Tick { limits: [u32; CLASSES] },
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            6 => (-2i64..3, 0u8..8).prop_map(|(rank, class)| Operation::Push { rank, class }),
            3 => any::<(bool, bool)>()
                .prop_map(|(returns, is_long)| Operation::Pop { returns, is_long }),
            3 => any::<usize>().prop_map(|pick| Operation::Remove { pick }),
            1 => Just(Operation::PopMatching),
            1 => prop::array::uniform8(0u32..6).prop_map(|limits| Operation::Tick { limits }),
        ]
    }

    /// The model: all jobs by ticket, each of them new or long or neither.
    #[derive(Default)]
    struct Model {
        jobs: BTreeMap<Ticket, Job>,
        allowance: [u32; CLASSES],
    }

    impl Model {
        fn is_allowed(&self, job: &Job) -> bool {
            !job.is_new || self.allowance[job.class as usize] > 0
        }

        fn next(&self, is_long: bool) -> Option<Ticket> {
            let mut jobs = self.jobs.values();
            let next = jobs.find(|job| job.is_long == is_long && self.is_allowed(job));
            next.map(|job| job.ticket)
        }

        fn pop(&mut self, ticket: Ticket) {
            let job = self.jobs.remove(&ticket).unwrap();
            if job.is_new {
                self.allowance[job.class as usize] -= 1;
            }
        }

        fn pop_matching(&mut self) -> Vec<Ticket> {
            let matching = self.jobs.values().filter(|job| job.query.goal.cell().x == 0);
            let mut tickets: Vec<Ticket> = matching.map(|job| job.ticket).collect();
            tickets.retain(|ticket| {
                let is_allowed = self.is_allowed(&self.jobs[ticket]);
                if is_allowed {
                    self.pop(*ticket);
                }
                is_allowed
            });
            tickets
        }
    }

    /// Applies the operations to both and compares the results.
    fn compare(operations: &[Operation]) -> Result<(), TestCaseError> {
        let (mut waiting, mut model, mut number) = (WaitingJobs::default(), Model::default(), 0);
        for operation in operations {
            match operation {
                Operation::Push { rank, class } => {
                    number += 1;
                    let job = job(*rank, number, *class);
                    model.jobs.insert(job.ticket, job.clone());
                    waiting.push(job);
                }
                Operation::Pop { returns, is_long } => {
                    let next = [waiting.next_short(), waiting.next_long()];
                    let next = next.into_iter().flatten().min_by_key(|&(ticket, _)| ticket);
                    let Some((ticket, lane)) = next else {
                        continue;
                    };
                    let mut job = waiting.pop(lane).unwrap();
                    prop_assert_eq!(job.ticket, ticket);
                    model.pop(ticket);
                    if *returns {
                        job.is_new = false;
                        job.is_long |= *is_long;
                        model.jobs.insert(ticket, job.clone());
                        waiting.push(job);
                    }
                }
                Operation::Remove { pick } => {
                    let count = model.jobs.len().max(1);
                    let Some(&ticket) = model.jobs.keys().nth(pick % count) else {
                        continue;
                    };
                    model.jobs.remove(&ticket);
                    prop_assert_eq!(waiting.remove(ticket).map(|job| job.ticket), Some(ticket));
                    prop_assert!(waiting.remove(ticket).is_none(), "it was removed");
                }
                Operation::PopMatching => {
                    let jobs = waiting.pop_matching(|job: &Job| Some(job.query.goal.cell().x == 0));
                    let mut tickets: Vec<Ticket> = jobs.iter().map(|job| job.ticket).collect();
                    tickets.sort_unstable();
                    prop_assert_eq!(tickets, model.pop_matching());
                }
                Operation::Tick { limits } => {
                    waiting.begin_tick(*limits);
                    model.allowance = *limits;
                }
            }
            prop_assert_eq!(waiting.next_short().map(|(ticket, _)| ticket), model.next(false));
            prop_assert_eq!(waiting.next_long().map(|(ticket, _)| ticket), model.next(true));
            prop_assert_eq!(waiting.len(), model.jobs.len());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn lanes_behave_like_one_list_of_all_jobs(
            operations in prop::collection::vec(operation(), 1..300),
        ) {
            compare(&operations)?;
        }
    }

    #[test]
    fn memory_follows_the_number_of_jobs() {
        let mut waiting = WaitingJobs::default();
        for number in 0..50_000 {
            waiting.push(job(0, number, 3));
        }
        let most = waiting.bytes();
        assert!(most >= 50_000 * size_of::<Job>());
        // From both ends and the middle.
        for number in (0..50_000).filter(|number| number % 50 != 7) {
            assert!(waiting.remove(Ticket { rank: 0, number }).is_some());
        }
        assert_eq!(waiting.len(), 1_000);
        assert!(waiting.bytes() < most / 4, "{} of {most} bytes", waiting.bytes());
        waiting.begin_tick([u32::MAX; CLASSES]);
        let rest: Vec<u64> =
            std::iter::from_fn(|| waiting.pop(3)).map(|job| job.ticket.number).collect();
        assert!(rest.iter().copied().eq((0..1_000).map(|number| 50 * number + 7)));
        assert_eq!((waiting.len(), waiting.bytes()), (0, 0));
    }
}
