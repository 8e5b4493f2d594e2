//! Who flies next, whose turn it is, and how a search takes off and lands.

use super::{Answer, EXPRESS_LIMIT, Flight, GridSource, JOB_COST, Job, MOST_RESTARTS, SearchQueue};
use crate::nav::{open_list::OpenList, query::PathFailure, search::SearchCounters};

impl<L: OpenList> SearchQueue<L> {
    /// Starts the next job in line, if there is one and a place for it. A job that can be
    /// answered without a search is answered here.
    pub(super) fn admit_one(
        &mut self,
        grids: &impl GridSource,
        left: &mut u32,
        answer: &mut impl FnMut(Answer),
    ) -> bool {
        let Some(job) = self.next_job() else {
            return false;
        };
        *left = left.saturating_sub(JOB_COST);
        let mut search = self.idle.pop().unwrap_or_default();
        let started = match grids.grid(job.grid) {
            Some(grid) => search.start(grid, &mut self.pool, job.query),
            None => Err(PathFailure::GridGone(job.grid)),
        };
        match started {
            Ok(()) => {
                *left = left.saturating_sub(search.start_price());
                self.flights.push(Flight { job, search });
                if job.restarts > MOST_RESTARTS {
                    self.run_to_its_end(self.flights.len() - 1, grids, left, answer);
                }
            }
            Err(failure) => {
                self.idle.push(search);
                answer(job.answer(Err(failure), SearchCounters::default(), self.tick));
            }
        }
        true
    }

    /// Answers a job that was thrown back too often, whatever it takes; what goes beyond the
    /// budget is taken off the next ticks.
    fn run_to_its_end(
        &mut self,
        index: usize,
        grids: &impl GridSource,
        left: &mut u32,
        answer: &mut impl FnMut(Answer),
    ) {
        let flight = &mut self.flights[index];
        if let Some(grid) = grids.grid(flight.job.grid) {
            let price = flight.search.price(grid);
            let spent = flight.search.step(grid, &mut self.pool, u32::MAX).saturating_mul(price);
            self.debt = self.debt.saturating_add(spent.saturating_sub(*left));
            *left = left.saturating_sub(spent);
        }
        self.deliver(index, grids, answer);
    }

    /// The next job that may fly now.
    fn next_job(&mut self) -> Option<Job> {
        if self.flights.len() >= self.settings.in_flight.max(1) {
            return None;
        }
        let may_fly_long = self.has_long_place();
        let long = self.long.first_key_value().map(|(ticket, _)| *ticket);
        let express = self.express.first_key_value().map(|(ticket, _)| *ticket);
        match (express, long.filter(|_| may_fly_long)) {
            (Some(express), Some(long)) if long < express => self.long.remove(&long),
            (Some(express), _) => self.express.remove(&express),
            (None, Some(long)) => self.long.remove(&long),
            (None, None) => None,
        }
    }

    /// Whether one more long search may fly: three quarters of the places are for them.
    fn has_long_place(&self) -> bool {
        let places = self.settings.in_flight.max(1);
        let flying = self.flights.iter().filter(|flight| flight.job.is_long).count();
        flying < (places * 3 / 4).max(1)
    }

    /// Lets the search whose turn it is work for a slice.
    pub(super) fn take_turn(
        &mut self,
        grids: &impl GridSource,
        left: &mut u32,
        answer: &mut impl FnMut(Answer),
    ) {
        self.turn = if self.turn < self.flights.len() { self.turn } else { 0 };
        let index = self.turn;
        let flight = &mut self.flights[index];
        let slice = self.settings.slice.max(1).min(*left);
        let mut spent = 0;
        if let Some(grid) = grids.grid(flight.job.grid) {
            let price = flight.search.price(grid);
            spent = flight.search.step(grid, &mut self.pool, slice.div_ceil(price)) * price;
        }
        *left = left.saturating_sub(spent);
        if spent == 0 && !flight.search.is_finished() {
            self.throw_back(index); // it does not fit the grid any more
            return;
        }
        if flight.search.is_finished() {
            self.deliver(index, grids, answer);
        } else if !flight.job.is_long && flight.search.counters().expansions >= EXPRESS_LIMIT {
            self.become_long(index);
        } else {
            self.turn += 1;
        }
    }

    /// A search has turned out to be long: it keeps flying if there is a place for long ones,
    /// and goes back to the line otherwise.
    fn become_long(&mut self, index: usize) {
        let stays = self.has_long_place();
        self.flights[index].job.is_long = true;
        if stays {
            self.turn += 1;
            return;
        }
        let job = self.land(index);
        self.long.insert(job.ticket, job);
    }

    /// Throws back the searches that edits have made stale, and ends those whose grid is gone.
    pub(super) fn drop_stale(&mut self, grids: &impl GridSource) {
        let mut index = 0;
        while index < self.flights.len() {
            let flight = &mut self.flights[index];
            let is_stale =
                grids.grid(flight.job.grid).is_none_or(|grid| flight.search.is_stale(grid));
            if !is_stale {
                index += 1;
                continue;
            }
            self.throw_back(index);
        }
    }

    /// Sends a job back to the line, to start anew.
    fn throw_back(&mut self, index: usize) {
        self.restarts += 1;
        let mut job = self.land(index);
        job.restarts += 1;
        let line = if job.is_long { &mut self.long } else { &mut self.express };
        line.insert(job.ticket, job);
    }

    /// Takes a flight out; the order of the others stays.
    pub(super) fn land(&mut self, index: usize) -> Job {
        let Flight { job, mut search } = self.flights.remove(index);
        if index < self.turn {
            self.turn -= 1;
        }
        search.stop(&mut self.pool);
        self.idle.push(search);
        job
    }

    fn deliver(&mut self, index: usize, grids: &impl GridSource, answer: &mut impl FnMut(Answer)) {
        let flight = &mut self.flights[index];
        let counters = flight.search.counters();
        let result = match grids.grid(flight.job.grid) {
            Some(grid) => flight.search.finish(grid, &mut self.pool),
            None => Err(PathFailure::GridGone(flight.job.grid)),
        };
        let job = self.land(index);
        answer(job.answer(result, counters, self.tick));
    }
}
