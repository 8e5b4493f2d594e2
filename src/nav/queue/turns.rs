//! Who takes off next, and what happens to those who cannot go on.

use super::{
    Answer, FoundBy, GridSource, JOB_COST, SearchQueue,
    flight::{Flight, MOST_NEXT, Work},
    job::Job,
    share::{GroupKey, MOST_FIELDS},
    together::Together,
};
use crate::nav::{
    grid::NavGrid, layer::Layer, open_list::OpenList, query::PathFailure, search::SearchCounters,
};

/// Jobs looked through for a group that take a unit of the budget.
const LOOKED_THROUGH: usize = 8;
/// What each of those that belong to it takes.
const GROUPED_COST: u32 = 4;

impl<L: OpenList> SearchQueue<L> {
    /// Finds a place for the next job in line, if there is one and a place for it.
    pub(super) fn admit_one(
        &mut self,
        grids: &impl GridSource,
        left: &mut u32,
        answer: &mut impl FnMut(Answer),
    ) -> bool {
        let Some((mut job, place)) = self.next_job() else {
            return false;
        };
        self.sharing.note_gone(&job);
        job.is_new = false;
        *left = left.saturating_sub(JOB_COST);
        let Some(grid) = grids.grid(job.grid) else {
            let gone = Err(PathFailure::GridGone(job.grid));
            answer(job.answer(gone, FoundBy::Check, SearchCounters::default(), self.tick));
            return true;
        };
        let may_begin = matches!(place, Place::New);
        let Some(job) = self.join_others(job, grid, left, may_begin) else {
            return true;
        };
        match place {
            Place::New => {
                let mut alone = self.idle.pop().unwrap_or_default();
                alone.next.push_back(job);
                self.flights.push(Flight::new(Work::Alone(alone)));
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
    /// one. Gives it back if it does not.
    fn join_others(
        &mut self,
        job: Job,
        grid: &NavGrid,
        left: &mut u32,
        may_begin: bool,
    ) -> Option<Job> {
        let Some(key) = GroupKey::of(&job) else {
            return Some(job);
        };
        if self.fields == 0 && !self.sharing.has_others(&key, job.class) {
            return Some(job);
        }
        // Where there is no way, that has its reason, and it is found at once.
        let layer = grid.layer(key.profile);
        let Some(layer) = layer.filter(|layer| has_way(&job, &key, grid, layer)) else {
            return Some(job);
        };
        for flight in &mut self.flights {
            if let Work::Together(together) = &mut flight.work
                && together.key == key
            {
                together.join(job, grid, &mut self.idle);
                return None;
            }
        }
        let allowance = self.lines.allowance(job.class);
        if may_begin
            && self.fields < MOST_FIELDS
            && self.sharing.pays((&key, job.class), allowance, grid, layer)
        {
            self.begin_field(key, job, grid, layer, left)
        } else {
            Some(job)
        }
    }

    /// Begins a field for a job and all that wait, have its goal, and may be taken up. Gives it back
    /// where there can be none.
    fn begin_field(
        &mut self,
        key: GroupKey,
        job: Job,
        grid: &NavGrid,
        layer: &Layer,
        left: &mut u32,
    ) -> Option<Job> {
        let mut field = self.idle_fields.pop().unwrap_or_default();
        if field.start(grid, key.profile, key.goal).is_err() {
            self.idle_fields.push(field);
            return Some(job);
        }
        for count in [self.lines.short_count(), self.lines.long_count()] {
            *left = left.saturating_sub((count / LOOKED_THROUGH) as u32);
        }
        let belongs = |job: &Job| GroupKey::of(job) == Some(key) && has_way(job, &key, grid, layer);
        let mut jobs = self.lines.take_up_all(&belongs);
        for job in &mut jobs {
            self.sharing.note_gone(job);
            job.is_new = false;
        }
        jobs.push(job);
        *left = left.saturating_sub((jobs.len() as u32).saturating_mul(GROUPED_COST));
        let together = Together::new(key, field, jobs, grid, &mut self.idle);
        self.flights.push(Flight::new(Work::Together(Box::new(together))));
        self.fields += 1;
        None
    }

    /// The next job that may fly now, and where: in a place of its own, or, where all are taken and
    /// short jobs were through fast in the last round, behind another.
    fn next_job(&mut self) -> Option<(Job, Place)> {
        let short = self.lines.next_short();
        if self.flights.len() >= self.settings.in_flight.max(1) {
            let (_, line) = short?;
            let index = self.place_behind()?;
            return Some((self.lines.take_up(line)?, Place::Behind(index)));
        }
        let long = self.lines.next_long().filter(|_| self.has_long_place());
        let (_, line) = short.into_iter().chain(long).min_by_key(|&(ticket, _)| ticket)?;
        Some((self.lines.take_up(line)?, Place::New))
    }

    /// A flight that can begin another job after its own, in turn.
    fn place_behind(&self) -> Option<usize> {
        let count = self.flights.len();
        (self.turn_of_next..self.turn_of_next + count).map(|index| index % count).find(|&index| {
            let flight = &self.flights[index];
            match &flight.work {
                // Only the first can be long: behind it, none is put that is known to be.
                Work::Alone(alone) => {
                    alone.next.len() < self.pace
                        && flight.jobs().next().is_none_or(|job| !job.is_long)
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
            Work::Together(_) => usize::MAX,
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
        self.lines.push_again(job);
    }

    /// Takes a flight out, and back the jobs that it has not answered; the order of the others
    /// stays.
    pub(super) fn land(&mut self, index: usize) -> Vec<Job> {
        if index < self.turn {
            self.turn -= 1;
        }
        match self.flights.remove(index).work {
            Work::Alone(mut alone) => {
                let jobs = alone.land(&self.pool);
                self.idle.push(alone);
                jobs
            }
            Work::Together(together) => {
                let (jobs, field) = together.land(&self.pool, &mut self.idle);
                self.idle_fields.push(field);
                self.fields -= 1;
                jobs
            }
        }
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

/// Whether start, goal and, if it has one, rally are on one island.
fn has_way(job: &Job, key: &GroupKey, grid: &NavGrid, layer: &Layer) -> bool {
    let island = |cell| grid.local(cell).and_then(|(x, y)| layer.island(x, y));
    let (start, goal) = (island(job.query.start), job.query.goal);
    start.is_some() && start == island(key.goal) && (goal == key.goal || start == island(goal))
}
