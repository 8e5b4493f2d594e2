//! A round: shares are dealt, everybody works, what has become ready is applied in order.

use super::{
    Answer, EXPRESS_LIMIT, FoundBy, GridSource, SearchQueue,
    flight::{Flight, Work},
    workers::Board,
};
use crate::nav::open_list::OpenList;

/// Least budget of a round that is laid out for others: a few microseconds of work.
const WORTH_LAYING_OUT: u32 = 500;
/// What is left of a tick is dealt in slices no smaller than this, unless the settings say so.
const LEAST_SLICE: u32 = 128;
/// So many jobs are worth calling helpers for, or two that are known to be long: calling takes about
/// as long as one short job.
const WORTH_HELP: usize = 16;

/// What is to be done with a flight after a round.
enum Next {
    Stay,
    /// It has turned out to be long.
    BecomeLong,
    /// It does not fit the grid any more.
    ThrowBack,
    /// It has nothing left to do.
    Land,
}

impl<L: OpenList> SearchQueue<L> {
    /// Spends up to `left` on what is in flight.
    pub(super) fn play_round(
        &mut self,
        board: Option<&Board<L>>,
        grids: &impl GridSource,
        left: &mut u32,
        answer: &mut impl FnMut(Answer),
    ) {
        let (dealt, players) = self.deal(*left);
        match board.filter(|_| players > 1 && dealt >= WORTH_LAYING_OUT) {
            Some(board) => board.play(&mut self.flights, grids, &self.pool),
            None => {
                let flights = self.flights.iter_mut().filter(|flight| flight.deal > 0);
                flights.for_each(|flight| flight.work(grids, &self.pool));
            }
        }
        let (mut index, mut answers, mut spent) = (0, 0, 0u32);
        while index < self.flights.len() {
            let flight = &mut self.flights[index];
            if flight.deal == 0 {
                index += 1;
                continue;
            }
            flight.deal = 0;
            spent = spent.saturating_add(flight.spent);
            // Only a job that was thrown back too often takes more than there is.
            self.debt = self.debt.saturating_add(flight.spent.saturating_sub(*left));
            *left = left.saturating_sub(flight.spent);
            match self.apply(index, &mut answers, answer) {
                Next::Stay => index += 1,
                Next::BecomeLong => index += usize::from(self.become_long(index)),
                Next::ThrowBack => self.throw_back(index),
                Next::Land => drop(self.land(index)),
            }
        }
        self.keep_pace(spent, answers);
    }

    /// Deals a slice to each flight, beginning with the one whose turn it is, until nothing is left;
    /// returns how much was dealt, to how many.
    fn deal(&mut self, left: u32) -> (u32, usize) {
        // The same for all, as long as that is worth a turn: nobody waits for others at the end.
        let fair = left.div_ceil(self.flights.len().max(1) as u32).max(LEAST_SLICE);
        let slice = self.settings.slice.max(1).min(fair);
        let (mut rest, mut players) = (left, 0);
        self.turn = if self.turn < self.flights.len() { self.turn } else { 0 };
        for _ in 0..self.flights.len() {
            if rest == 0 {
                break;
            }
            let flight = &mut self.flights[self.turn];
            flight.deal = slice.min(rest);
            rest -= flight.deal;
            players += 1;
            self.turn = (self.turn + 1) % self.flights.len();
        }
        (left - rest, players)
    }

    /// Whether there is work for more than one.
    pub(super) fn is_worth_help(&self) -> bool {
        let long = |job: &&super::Job| job.is_long;
        self.lines.count_allowed() + self.flights.len() >= WORTH_HELP
            || self.flights.iter().flat_map(Flight::jobs).filter(long).count() > 1
    }

    /// Delivers what has become ready in a flight.
    fn apply(
        &mut self,
        index: usize,
        answers: &mut usize,
        answer: &mut impl FnMut(Answer),
    ) -> Next {
        let now = self.tick;
        let flight = &mut self.flights[index];
        *answers += flight.ready().len();
        for ready in flight.ready().drain(..) {
            if matches!(ready.found_by, FoundBy::Search(_)) && ready.job.restarts == 0 {
                self.sharing.learn(&ready.job, ready.spent);
            }
            answer(ready.job.answer(ready.result, ready.found_by, ready.counters, now));
        }
        let next = what_next(flight, now, answer);
        // Whoever was not begun, or refused, goes by rank again.
        let mut leaving = core::mem::take(flight.leaving());
        for job in leaving.drain(..) {
            self.wait_again(job);
        }
        *self.flights[index].leaving() = leaving; // keeps its room
        next
    }

    /// A search has turned out to be long: it keeps flying if there is a place for long ones,
    /// and goes back to the line otherwise. Says whether it stays.
    fn become_long(&mut self, index: usize) -> bool {
        let stays = self.has_long_place();
        if let Work::Alone(alone) = &mut self.flights[index].work
            && let Some(job) = &mut alone.job
        {
            job.is_long = true;
        }
        if !stays {
            for job in self.land(index) {
                self.wait_again(job);
            }
        }
        stays
    }
}

/// What is to be done with a flight; delivers the beginning of a long way.
fn what_next<L: OpenList>(
    flight: &mut Flight<L>,
    now: u64,
    answer: &mut impl FnMut(Answer),
) -> Next {
    let alone = match &mut flight.work {
        Work::Alone(alone) => &mut **alone,
        Work::Together(together) if together.jobs().next().is_none() => return Next::Land,
        Work::Together(_) if flight.spent == 0 => return Next::ThrowBack,
        Work::Together(_) => return Next::Stay,
    };
    match (&mut alone.job, alone.is_stuck) {
        (None, _) => Next::Land,
        (Some(_), true) => Next::ThrowBack,
        (Some(job), false) => {
            if let Some(beginning) = alone.beginning.take() {
                answer(job.begin(beginning, now));
            }
            let counters = alone.search.counters();
            let is_long = counters.expansions + counters.portals >= EXPRESS_LIMIT;
            if is_long && !job.is_long { Next::BecomeLong } else { Next::Stay }
        }
    }
}
