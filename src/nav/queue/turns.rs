//! Who takes off next, and what happens to those who cannot go on.

use super::{
    Answer, FoundBy, GridSource, JOB_COST, SearchQueue,
    flight::{Alone, Flight, Together, Work},
    job::Job,
    share::{GroupKey, MOST_FIELDS},
};
use crate::nav::{
    grid::NavGrid, layer::Layer, open_list::OpenList, query::PathFailure, search::SearchCounters,
};

/// Most jobs that a search may begin in a round beside its first.
const MOST_NEXT: usize = 15;
/// Jobs looked through for a group that take a unit of the budget.
const LOOKED_THROUGH: usize = 64;

impl<L: OpenList> SearchQueue<L> {
    /// Finds a place for the next job in line, if there is one and a place for it.
    pub(super) fn admit_one(
        &mut self,
        grids: &impl GridSource,
        left: &mut u32,
        answer: &mut impl FnMut(Answer),
    ) -> bool {
        let Some((job, place)) = self.next_job() else {
            return false;
        };
        self.sharing.note_gone(&job);
        *left = left.saturating_sub(JOB_COST);
        let Some(grid) = grids.grid(job.grid) else {
            let gone = Err(PathFailure::GridGone(job.grid));
            answer(job.answer(gone, FoundBy::Check, SearchCounters::default(), self.tick));
            return true;
        };
        let may_begin = matches!(place, Place::New);
        if self.join_others(job, grid, left, may_begin) {
            return true;
        }
        match place {
            Place::New => {
                let search = self.idle.pop().unwrap_or_default();
                self.flights.push(Flight::new(Work::Alone(Alone::new(search, job))));
            }
            Place::Behind(index) => {
                if let Work::Alone(alone) = &mut self.flights[index].work {
                    alone.next.push_back(job);
                }
                self.turn_of_next = index + 1;
            }
        }
        true
    }

    /// Lets a job share a field with others that have its goal, if there is one or it pays to begin
    /// one. Says whether it does.
    fn join_others(&mut self, job: Job, grid: &NavGrid, left: &mut u32, may_begin: bool) -> bool {
        let Some(key) = GroupKey::of(&job) else {
            return false;
        };
        let is_field = |flight: &Flight<L>| matches!(flight.work, Work::Together(_));
        if !self.sharing.has_others(&key) && !self.flights.iter().any(is_field) {
            return false;
        }
        let layer = grid.layer(key.profile);
        // Where there is no way, that has its reason, and it is found at once.
        let Some(layer) = layer.filter(|layer| has_way(&job, grid, layer)) else {
            return false;
        };
        let fields = self.flights.iter_mut().filter_map(|flight| match &mut flight.work {
            Work::Together(together) => Some(together),
            Work::Alone(_) => None,
        });
        let mut count = 0;
        for together in fields {
            count += 1;
            if together.key == key {
                together.field.await_cells(grid, [job.query.start]);
                together.jobs.insert(job.ticket, job);
                return true;
            }
        }
        may_begin
            && count < MOST_FIELDS
            && self.sharing.pays(&key, grid, layer)
            && self.begin_field(key, job, grid, layer, left)
    }

    /// Begins a field for a job and all that wait and have its goal.
    fn begin_field(
        &mut self,
        key: GroupKey,
        job: Job,
        grid: &NavGrid,
        layer: &Layer,
        left: &mut u32,
    ) -> bool {
        let mut field = self.idle_fields.pop().unwrap_or_default();
        if field.start(grid, key.profile, key.goal).is_err() {
            self.idle_fields.push(field);
            return false;
        }
        let mut together = Together::new(key, field);
        together.jobs.insert(job.ticket, job);
        for line in [&mut self.express, &mut self.long] {
            *left = left.saturating_sub((line.len() / LOOKED_THROUGH) as u32);
            line.retain(|_, job| {
                let belongs = GroupKey::of(job) == Some(key) && has_way(job, grid, layer);
                if belongs {
                    self.sharing.note_gone(job);
                    together.jobs.insert(job.ticket, *job);
                }
                !belongs
            });
        }
        *left = left.saturating_sub(together.jobs.len() as u32);
        let starts = together.jobs.values().map(|job| job.query.start);
        together.field.await_cells(grid, starts);
        self.flights.push(Flight::new(Work::Together(Box::new(together))));
        true
    }

    /// The next job that may fly now, and where: in a place of its own, or, where all are taken and
    /// short jobs were through fast in the last round, behind another.
    fn next_job(&mut self) -> Option<(Job, Place)> {
        let express = self.express.first_key_value().map(|(ticket, _)| *ticket);
        if self.flights.len() >= self.settings.in_flight.max(1) {
            let express = express?;
            let index = self.place_behind()?;
            return Some((self.express.remove(&express)?, Place::Behind(index)));
        }
        let may_fly_long = self.has_long_place();
        let long = self.long.first_key_value().map(|(ticket, _)| *ticket);
        let job = match (express, long.filter(|_| may_fly_long)) {
            (Some(express), Some(long)) if long < express => self.long.remove(&long),
            (Some(express), _) => self.express.remove(&express),
            (None, Some(long)) => self.long.remove(&long),
            (None, None) => None,
        };
        job.map(|job| (job, Place::New))
    }

    /// A flight that can begin another job after its own, in turn.
    fn place_behind(&self) -> Option<usize> {
        let count = self.flights.len();
        (self.turn_of_next..self.turn_of_next + count).map(|index| index % count).find(|&index| {
            let flight = &self.flights[index];
            match &flight.work {
                Work::Alone(alone) => {
                    flight.jobs().all(|job| !job.is_long) && alone.next.len() < self.pace
                }
                Work::Together(_) => false,
            }
        })
    }

    /// Reckons from a round that took so much for so many answers how many jobs fit into a slice.
    pub(super) fn keep_pace(&mut self, spent: u32, answers: usize) {
        let slice = u64::from(self.settings.slice);
        let fit = answers as u64 * slice / u64::from(spent.max(1));
        self.pace = (fit.saturating_sub(1) as usize).min(MOST_NEXT);
    }

    /// Whether one more long search may fly: three quarters of the places are for them.
    pub(super) fn has_long_place(&self) -> bool {
        let places = self.settings.in_flight.max(1);
        let is_long = |flight: &&Flight<L>| match &flight.work {
            Work::Alone(_) => flight.jobs().next().is_some_and(|job| job.is_long),
            Work::Together(_) => true,
        };
        self.flights.iter().filter(is_long).count() < (places * 3 / 4).max(1)
    }

    /// Throws back the searches that edits have made stale, and ends those whose grid is gone.
    pub(super) fn drop_stale(&mut self, grids: &impl GridSource) {
        let mut index = 0;
        while index < self.flights.len() {
            if self.flights[index].is_stale(grids) {
                self.throw_back(index);
            } else {
                index += 1;
            }
        }
    }

    /// Sends the jobs of a flight back to the line, to start anew.
    pub(super) fn throw_back(&mut self, index: usize) {
        // Those behind another have not begun.
        let begun = match &self.flights[index].work {
            Work::Alone(alone) => usize::from(alone.job.is_some()),
            Work::Together(together) => together.jobs.len(),
        };
        for (place, mut job) in self.land(index).into_iter().enumerate() {
            if place < begun {
                self.restarts += 1;
                job.restarts += 1;
            }
            self.wait_again(job);
        }
    }

    /// Puts a job back to its line.
    pub(super) fn wait_again(&mut self, job: Job) {
        self.sharing.note_waiting(&job);
        let line = if job.is_long { &mut self.long } else { &mut self.express };
        line.insert(job.ticket, job);
    }

    /// Takes a flight out, and back the jobs that it has not answered; the order of the others
    /// stays.
    pub(super) fn land(&mut self, index: usize) -> Vec<Job> {
        if index < self.turn {
            self.turn -= 1;
        }
        let flight = self.flights.remove(index);
        let jobs = flight.jobs().copied().collect();
        match flight.work {
            Work::Alone(Alone { mut search, .. }) => {
                search.stop(&self.pool);
                self.idle.push(search);
            }
            Work::Together(together) => self.idle_fields.push(together.field),
        }
        jobs
    }

    /// Takes a job out of its flight; says whether there was one.
    pub(super) fn cancel_flight(&mut self, ticket: super::Ticket) -> bool {
        let pool = &self.pool;
        let found = self.flights.iter_mut().position(|flight| flight.cancel(ticket, pool));
        if let Some(index) = found
            && self.flights[index].jobs().next().is_none()
        {
            self.land(index);
        }
        found.is_some()
    }
}

/// Where a job is to fly.
enum Place {
    New,
    /// After what is in the flight with this index.
    Behind(usize),
}

/// Whether start and goal are on one island.
fn has_way(job: &Job, grid: &NavGrid, layer: &Layer) -> bool {
    let island = |cell| grid.local(cell).and_then(|(x, y)| layer.island(x, y));
    let start = island(job.query.start);
    start.is_some() && start == island(job.query.goal)
}
