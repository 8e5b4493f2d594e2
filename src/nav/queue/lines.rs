//! The lines in which jobs wait: new ones by class, those that were taken up before, and long ones.
//!
//! Input: jobs, and how many new ones of each class may be taken up in a tick. Output: the job with
//! the lowest ticket among those that may be taken up.
//!
//! Invariants: within a rank new jobs come with ascending numbers, so each goes to the end of a queue
//! and is found there by halving. A job taken out of the middle leaves a gap. Gaps never stand in
//! front, and never outnumber the jobs; a queue with much room to spare is cut down, and an empty one
//! is gone. So whatever is done with a job takes constant time on average or that of looking
//! something up, and memory follows the number of jobs. Those that wait again are few, and come in
//! any order: trees hold them.

use std::collections::{BTreeMap, VecDeque, btree_map::Entry};

use super::{CLASSES, Ticket, job::Job};

/// Places that a queue keeps at least when it is cut down.
const ROOM_KEPT: usize = 64;

/// Where a job waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Among the new ones of a class.
    New(usize),
    /// Among the short ones that were taken up before.
    Again,
    /// Among the long ones.
    Long,
}

/// Everybody who waits.
#[derive(Debug, Default)]
pub(super) struct Lines {
    new: [NewJobs; CLASSES],
    again: BTreeMap<Ticket, Job>,
    long: BTreeMap<Ticket, Job>,
    /// How many new jobs of each class may still be taken up in this tick.
    allowance: [u32; CLASSES],
}

impl Lines {
    /// Puts up a new job; its number is higher than any before.
    pub(super) fn push(&mut self, job: Job) {
        self.new[usize::from(job.class)].push(job);
    }

    /// Takes back a job that was taken up before.
    pub(super) fn push_again(&mut self, job: Job) {
        let line = if job.is_long { &mut self.long } else { &mut self.again };
        line.insert(job.ticket, job);
    }

    /// Takes a job out.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Job> {
        let again = self.again.remove(&ticket).or_else(|| self.long.remove(&ticket));
        again.or_else(|| self.new.iter_mut().find_map(|line| line.remove(ticket)))
    }

    /// Another tick: so many new jobs of each class may be taken up.
    pub(super) fn begin_tick(&mut self, limits: [u32; CLASSES]) {
        self.allowance = limits;
    }

    /// How many new jobs of a class may still be taken up in this tick.
    pub(super) fn allowance(&self, class: u8) -> u32 {
        self.allowance[usize::from(class)]
    }

    /// The short job that is the next to be taken up, and where it waits.
    pub(super) fn next_short(&self) -> Option<(Ticket, Line)> {
        let again = self.again.first_key_value().map(|(&ticket, _)| (ticket, Line::Again));
        let classes = self.new.iter().zip(self.allowance).enumerate();
        let new = classes
            .filter(|(_, (_, allowance))| *allowance > 0)
            .filter_map(|(class, (line, _))| Some((line.first()?.ticket, Line::New(class))));
        again.into_iter().chain(new).min_by_key(|&(ticket, _)| ticket)
    }

    /// The long job that is the next to be taken up.
    pub(super) fn next_long(&self) -> Option<(Ticket, Line)> {
        self.long.first_key_value().map(|(&ticket, _)| (ticket, Line::Long))
    }

    /// Takes up the first job of a line.
    pub(super) fn take_up(&mut self, line: Line) -> Option<Job> {
        match line {
            Line::New(class) => {
                let job = self.new[class].take_first()?;
                self.allowance[class] = self.allowance[class].saturating_sub(1);
                Some(job)
            }
            Line::Again => self.again.pop_first().map(|(_, job)| job),
            Line::Long => self.long.pop_first().map(|(_, job)| job),
        }
    }

    /// Takes up all jobs that belong together; of new ones, as many as their classes are allowed,
    /// lowest tickets first.
    pub(super) fn take_up_all(&mut self, belongs: &impl Fn(&Job) -> bool) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (line, allowance) in self.new.iter_mut().zip(&mut self.allowance) {
            *allowance -= line.take_all(*allowance, belongs, &mut jobs);
        }
        for line in [&mut self.again, &mut self.long] {
            line.retain(|_, job| {
                let goes = belongs(job);
                if goes {
                    jobs.push(job.clone());
                }
                !goes
            });
        }
        jobs
    }

    /// Everybody.
    pub(super) fn count(&self) -> usize {
        self.short_count() + self.long_count()
    }

    /// All that are not known to be long.
    pub(super) fn short_count(&self) -> usize {
        self.new.iter().map(|line| line.count).sum::<usize>() + self.again.len()
    }

    pub(super) fn long_count(&self) -> usize {
        self.long.len()
    }

    /// All that may be taken up in this tick, if there are places.
    pub(super) fn count_allowed(&self) -> usize {
        let new = self.new.iter().zip(self.allowance);
        let new = new.map(|(line, allowance)| line.count.min(allowance as usize)).sum::<usize>();
        new + self.again.len() + self.long.len()
    }

    /// The first of each line.
    pub(super) fn heads(&self) -> impl Iterator<Item = &Job> {
        let others = [self.again.first_key_value(), self.long.first_key_value()];
        let others = others.into_iter().flatten().map(|(_, job)| job);
        self.new.iter().filter_map(NewJobs::first).chain(others)
    }

    /// Memory held, in bytes. That of trees is reckoned from what they hold.
    pub(super) fn bytes(&self) -> usize {
        let others = self.again.len() + self.long.len();
        self.new.iter().map(NewJobs::bytes).sum::<usize>()
            + others * size_of::<(Ticket, Job)>() * 3 / 2
    }
}

/// New jobs of one class.
#[derive(Debug, Default)]
struct NewJobs {
    ranks: BTreeMap<i64, Rank>,
    /// Jobs, and places for them.
    count: usize,
    room: usize,
}

/// Jobs of one rank by their numbers, and gaps.
#[derive(Debug, Default)]
struct Rank {
    places: VecDeque<(u64, Option<Job>)>,
    gaps: usize,
}

impl NewJobs {
    fn push(&mut self, job: Job) {
        let Ticket { rank, number } = job.ticket;
        let places = &mut self.ranks.entry(rank).or_default().places;
        let room = places.capacity();
        places.push_back((number, Some(job)));
        self.room += places.capacity() - room;
        self.count += 1;
    }

    fn first(&self) -> Option<&Job> {
        let (_, rank) = self.ranks.first_key_value()?;
        rank.places.front()?.1.as_ref()
    }

    fn take_first(&mut self) -> Option<Job> {
        let (&rank, _) = self.ranks.first_key_value()?;
        self.take_from(rank, |rank| rank.places.pop_front()?.1)
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Job> {
        self.take_from(ticket.rank, |rank| rank.remove(ticket.number))
    }

    /// Takes a job out of a rank and tidies up there.
    fn take_from(&mut self, rank: i64, take: impl FnOnce(&mut Rank) -> Option<Job>) -> Option<Job> {
        let Entry::Occupied(mut entry) = self.ranks.entry(rank) else {
            return None;
        };
        let rank = entry.get_mut();
        self.room -= rank.places.capacity();
        let job = take(rank);
        rank.tidy();
        self.count -= usize::from(job.is_some());
        if rank.places.is_empty() {
            drop(entry.remove());
        } else {
            self.room += rank.places.capacity();
        }
        job
    }

    /// Moves up to `most` jobs that belong together to `jobs`; returns how many.
    fn take_all(&mut self, most: u32, belongs: &impl Fn(&Job) -> bool, jobs: &mut Vec<Job>) -> u32 {
        let mut left = most;
        let mut room = 0;
        self.ranks.retain(|_, rank| {
            left -= rank.take_all(left, belongs, jobs);
            rank.tidy();
            let stays = !rank.places.is_empty();
            room += if stays { rank.places.capacity() } else { 0 };
            stays
        });
        self.room = room;
        self.count -= (most - left) as usize;
        most - left
    }

    fn bytes(&self) -> usize {
        self.room * size_of::<(u64, Option<Job>)>()
            + self.ranks.len() * size_of::<(i64, Rank)>() * 3 / 2
    }
}

impl Rank {
    /// Takes out the job with a number and leaves a gap.
    fn remove(&mut self, number: u64) -> Option<Job> {
        let place = self.places.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        let job = self.places[place].1.take()?;
        self.gaps += 1;
        Some(job)
    }

    fn take_all(&mut self, most: u32, belongs: &impl Fn(&Job) -> bool, jobs: &mut Vec<Job>) -> u32 {
        let mut taken = 0;
        for (_, place) in &mut self.places {
            if taken == most {
                break;
            }
            if let Some(job) = place.take_if(|job| belongs(job)) {
                jobs.push(job);
                self.gaps += 1;
                taken += 1;
            }
        }
        taken
    }

    /// Closes gaps where they stand in front or are many, and gives back room where that is much.
    fn tidy(&mut self) {
        while let Some((_, None)) = self.places.front() {
            self.places.pop_front();
            self.gaps -= 1;
        }
        if 2 * self.gaps > self.places.len() {
            self.places.retain(|(_, job)| job.is_some());
            self.gaps = 0;
        }
        let room = self.places.len().max(ROOM_KEPT);
        if self.places.capacity() / 4 > room {
            self.places.shrink_to(2 * room);
        }
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
        // Every third one has the same goal.
        let goal = Cell::new((number % 3) as i32, 0);
        let query = PathQuery::new(Cell::default(), goal);
        Job::new(Ticket { rank, number }, GridId(0), query, options, 0)
    }

    /// What is done with the lines next.
    #[derive(Clone, Debug)]
    enum Deed {
        Push { rank: i64, class: u8 },
        TakeUp { stays: bool, is_long: bool },
        Remove { pick: usize },
        TakeUpAll,
        Tick { limits: [u32; CLASSES] },
    }

    fn deed() -> impl Strategy<Value = Deed> {
        prop_oneof![
            6 => (-2i64..3, 0u8..8).prop_map(|(rank, class)| Deed::Push { rank, class }),
            3 => any::<(bool, bool)>()
                .prop_map(|(stays, is_long)| Deed::TakeUp { stays, is_long }),
            3 => any::<usize>().prop_map(|pick| Deed::Remove { pick }),
            1 => Just(Deed::TakeUpAll),
            1 => prop::array::uniform8(0u32..6).prop_map(|limits| Deed::Tick { limits }),
        ]
    }

    /// The same, plain: all jobs by ticket, and whether each is new or long.
    #[derive(Default)]
    struct Plain {
        jobs: BTreeMap<Ticket, Job>,
        allowance: [u32; CLASSES],
    }

    impl Plain {
        fn next(&self, is_long: bool) -> Option<Ticket> {
            let may = |job: &&Job| {
                job.is_long == is_long && (!job.is_new || self.allowance[job.class as usize] > 0)
            };
            self.jobs.values().find(may).map(|job| job.ticket)
        }

        fn take_up(&mut self, ticket: Ticket) {
            let job = self.jobs.remove(&ticket).unwrap();
            if job.is_new {
                self.allowance[job.class as usize] -= 1;
            }
        }

        fn take_up_all(&mut self) -> Vec<Ticket> {
            let all = self.jobs.values().filter(|job| job.query.goal.x == 0);
            let all: Vec<Ticket> = all.map(|job| job.ticket).collect();
            let may = |plain: &Self, ticket: &Ticket| {
                let job = &plain.jobs[ticket];
                !job.is_new || plain.allowance[job.class as usize] > 0
            };
            all.into_iter()
                .filter(|ticket| {
                    let goes = may(self, ticket);
                    if goes {
                        self.take_up(*ticket);
                    }
                    goes
                })
                .collect()
        }
    }

    /// Does it to both, and compares what came out.
    fn play(deeds: &[Deed]) -> Result<(), TestCaseError> {
        let (mut lines, mut plain, mut number) = (Lines::default(), Plain::default(), 0);
        for deed in deeds {
            match deed {
                Deed::Push { rank, class } => {
                    number += 1;
                    lines.push(job(*rank, number, *class));
                    plain.jobs.insert(Ticket { rank: *rank, number }, job(*rank, number, *class));
                }
                Deed::TakeUp { stays, is_long } => {
                    let next = [lines.next_short(), lines.next_long()];
                    let next = next.into_iter().flatten().min_by_key(|&(ticket, _)| ticket);
                    let Some((ticket, line)) = next else {
                        continue;
                    };
                    let mut job = lines.take_up(line).unwrap();
                    prop_assert_eq!(job.ticket, ticket);
                    plain.take_up(ticket);
                    if *stays {
                        job.is_new = false;
                        job.is_long |= *is_long;
                        plain.jobs.insert(ticket, job.clone());
                        lines.push_again(job);
                    }
                }
                Deed::Remove { pick } => {
                    let count = plain.jobs.len().max(1);
                    let Some(&ticket) = plain.jobs.keys().nth(pick % count) else {
                        continue;
                    };
                    plain.jobs.remove(&ticket);
                    prop_assert_eq!(lines.remove(ticket).map(|job| job.ticket), Some(ticket));
                    prop_assert!(lines.remove(ticket).is_none(), "it was taken out");
                }
                Deed::TakeUpAll => {
                    let jobs = lines.take_up_all(&|job: &Job| job.query.goal.x == 0);
                    let mut tickets: Vec<Ticket> = jobs.iter().map(|job| job.ticket).collect();
                    tickets.sort_unstable();
                    prop_assert_eq!(tickets, plain.take_up_all());
                }
                Deed::Tick { limits } => {
                    lines.begin_tick(*limits);
                    plain.allowance = *limits;
                }
            }
            prop_assert_eq!(lines.next_short().map(|(ticket, _)| ticket), plain.next(false));
            prop_assert_eq!(lines.next_long().map(|(ticket, _)| ticket), plain.next(true));
            prop_assert_eq!(lines.count(), plain.jobs.len());
            check(&lines)?;
        }
        Ok(())
    }

    /// What must hold at any time.
    fn check(lines: &Lines) -> Result<(), TestCaseError> {
        for line in &lines.new {
            let ranks = || line.ranks.values();
            prop_assert_eq!(line.room, ranks().map(|rank| rank.places.capacity()).sum::<usize>());
            prop_assert_eq!(
                line.count,
                ranks().map(|rank| rank.places.len() - rank.gaps).sum::<usize>()
            );
            for rank in ranks() {
                prop_assert!(rank.places.front().is_some_and(|(_, job)| job.is_some()));
                prop_assert!(2 * rank.gaps <= rank.places.len());
                let gaps = rank.places.iter().filter(|(_, job)| job.is_none()).count();
                prop_assert_eq!(gaps, rank.gaps);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn lines_do_what_a_list_of_all_jobs_does(deeds in prop::collection::vec(deed(), 1..300)) {
            play(&deeds)?;
        }
    }

    #[test]
    fn memory_follows_the_number_of_jobs() {
        let mut lines = Lines::default();
        for number in 0..50_000 {
            lines.push(job(0, number, 3));
        }
        let most = lines.bytes();
        assert!(most >= 50_000 * size_of::<Job>());
        // From both ends and the middle.
        for number in (0..50_000).filter(|number| number % 50 != 7) {
            assert!(lines.remove(Ticket { rank: 0, number }).is_some());
        }
        assert_eq!(lines.count(), 1_000);
        assert!(lines.bytes() < most / 4, "{} of {most} bytes", lines.bytes());
        lines.begin_tick([u32::MAX; CLASSES]);
        let rest: Vec<u64> = std::iter::from_fn(|| lines.take_up(Line::New(3)))
            .map(|job| job.ticket.number)
            .collect();
        assert!(rest.iter().copied().eq((0..1_000).map(|number| 50 * number + 7)));
        assert_eq!((lines.count(), lines.bytes()), (0, 0));
    }
}
