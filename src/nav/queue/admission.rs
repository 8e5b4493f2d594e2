//! Admission: which job runs next, and what happens to jobs that cannot continue.
//!
//! Input: jobs that wait. Output: tasks in flight; jobs of tasks that end early wait again.

use super::{
    GridSource, JOB_COST, Ticket,
    in_flight::{Task, TaskKind},
    job::{FoundBy, Job},
    search_queue::SearchQueue,
    shared_field::{SharedField, is_within},
    sharing_policy::{GroupKey, MAX_FIELDS},
    single_search::{MAX_BACKLOG, SingleSearch},
    workers::Tick,
};
use crate::nav::{
    Goal, field::CELLS_CLEARED_PER_UNIT, goal::GoalZone, grid::NavGrid, layer::Layer,
    query::PathFailure, search::SearchCounters,
};

/// Jobs are gathered for a field for at least so many units (a third of a millisecond), even if less of the budget is left.
const MIN_GATHERING: u32 = 8_192;
/// Distant jobs share a field if they are at most so many times as far away as the farthest of those for which it is started.
const REACH_FACTOR: u32 = 2;

impl SearchQueue {
    /// Admits the next job, if one waits and there is a slot for it; returns whether it did.
    pub(super) fn admit_one(&mut self, tick: &mut Tick<'_, impl GridSource>) -> bool {
        let Some((mut job, host)) = self.next_job() else {
            return false;
        };
        self.sharing.remove_waiting(&job);
        job.is_new = false;
        tick.left = tick.left.saturating_sub(JOB_COST);
        let Some(grid) = tick.grids.grid(job.grid) else {
            let gone = Err(PathFailure::GridGone(job.grid));
            (tick.answer)(job.answer(gone, FoundBy::Check, SearchCounters::default(), self.tick));
            return true;
        };
        grid.want_landmarks(job.query.profile);
        let Some(job) = self.share_field(job, grid, &mut tick.left) else {
            self.start_field(tick);
            return true;
        };
        if let Some(index) = host {
            if let TaskKind::Single(single) = &mut self.tasks[index].kind {
                single.backlog.push_back(job);
            }
            self.backlog_cursor = index + 1;
        } else {
            let mut single = self.idle_searches.0.pop().unwrap_or_default();
            single.backlog.push_back(job);
            self.tasks.push(Task::new(TaskKind::Single(single)));
        }
        true
    }

    /// Lets a job share a field with others that have its goal, if there is such a field or one pays: then it waits for that,
    /// even if none can be started yet. Otherwise returns the job.
    fn share_field(&mut self, job: Job, grid: &NavGrid, left: &mut u32) -> Option<Job> {
        let Some(key) = GroupKey::of(&job) else {
            return Some(job);
        };
        let is_any_shared = self.field_count > 0 || !self.waiting_fields.is_empty();
        if !is_any_shared && !self.sharing.has_waiting(key, job.class) {
            return Some(job);
        }
        // If there is no path, a search finds the reason without expanding a node.
        let layer = grid.layer(key.profile);
        let Some(layer) = layer.filter(|layer| is_reachable(&job, &key, grid, layer)) else {
            return Some(job);
        };
        if let Some(shared) = self.field_of(key) {
            if !shared.admits(&job) {
                return Some(job);
            }
            shared.join(job, grid);
            return None;
        }
        let allowance = self.waiting.allowance(job.class);
        if GroupKey::of_counted(&job).is_some()
            && self.sharing.pays((key, job.class), allowance, grid, layer)
        {
            self.gather(key, job, (grid, layer), left);
            None
        } else {
            Some(job)
        }
    }

    /// Returns the field of a group, whether it is in flight or waits.
    fn field_of(&mut self, key: GroupKey) -> Option<&mut SharedField> {
        let in_flight = self.tasks.iter_mut().find_map(|task| match &mut task.kind {
            TaskKind::Shared(shared) if shared.key == key => Some(&mut **shared),
            _ => None,
        });
        in_flight.or_else(|| self.waiting_fields.get_mut(&key))
    }

    /// Lets a job wait for a field, and with it as many of its group as may be admitted and the budget pays for: the others join
    /// when they are admitted. (These are passed over, which costs little.)
    fn gather(
        &mut self,
        key: GroupKey,
        job: Job,
        (grid, layer): (&NavGrid, &Layer),
        left: &mut u32,
    ) {
        let own = job.query.start.chebyshev(key.goal.cell());
        let reach = self.sharing.farthest((key, job.class)).max(own).saturating_mul(REACH_FACTOR);
        let given = (*left).max(MIN_GATHERING);
        let mut units = given;
        let mut jobs = self.waiting.pop_matching(|job| {
            if units == 0 {
                return None;
            }
            let is_member = key.is_of(job)
                && is_within(job, &key, reach)
                && is_reachable(job, &key, grid, layer);
            // Looking at one of 100,000 jobs takes 40 ns, taking one 0.2 to 0.4 µs (measured).
            units = units.saturating_sub(if is_member { JOB_COST / 2 } else { 1 });
            Some(is_member)
        });
        *left = left.saturating_sub(given - units);
        for same_class in jobs.chunk_by(|a, b| a.class == b.class) {
            self.sharing.remove_members((key, same_class[0].class), same_class);
        }
        jobs.iter_mut().for_each(|job| job.is_new = false);
        let all = core::iter::once(job).chain(jobs);
        self.waiting_fields.insert(key, SharedField::new(key, all, reach));
    }

    /// Starts the next field, if there is a slot; returns whether one was taken. Jobs that the field cannot answer wait again.
    pub(super) fn start_field(&mut self, tick: &mut Tick<'_, impl GridSource>) -> bool {
        let Some(mut shared) = self.next_field().and_then(|key| self.waiting_fields.remove(&key))
        else {
            return false;
        };
        let key = shared.key;
        let grid = tick.grids.grid(key.grid);
        let found = grid.and_then(|grid| Some((grid, grid.layer(key.profile)?)));
        // The grid may have been edited since they began to wait.
        let lost =
            |job: &Job| found.is_none_or(|(grid, layer)| !is_reachable(job, &key, grid, layer));
        shared.take_jobs(lost).into_iter().for_each(|job| self.wait_again(job));
        let Some((grid, _)) = found.filter(|_| shared.jobs().next().is_some()) else {
            return true;
        };
        let field = self.idle_fields.0.pop().unwrap_or_default();
        let started = shared.start(field, grid);
        debug_assert!(started.is_ok(), "{started:?}: its jobs can reach the goal");
        let cells = u64::from(grid.width()) * u64::from(grid.height());
        tick.left = tick.left.saturating_sub((cells / CELLS_CLEARED_PER_UNIT) as u32);
        self.tasks.push(Task::new(TaskKind::Shared(Box::new(shared))));
        self.field_count += 1;
        true
    }

    /// Returns the group whose field is started next, if there is a slot: the one whose first job comes before those of the
    /// others that wait for a field. Older searches that need the same slot come first.
    fn next_field(&self) -> Option<GroupKey> {
        if self.waiting_fields.is_empty()
            || self.field_count >= MAX_FIELDS
            || self.tasks.len() >= self.settings.in_flight.max(1)
            || !self.has_long_slot()
        {
            return None;
        }
        let first = |shared: &SharedField| shared.jobs().next().map(|job| job.ticket);
        let waiting =
            self.waiting_fields.iter().filter_map(|(&key, shared)| Some((first(shared)?, key)));
        let (ticket, key) = waiting.min()?;
        let short = self.waiting.next_short().filter(|_| self.settings.in_flight <= 1);
        let mut searches = self.waiting.next_long().into_iter().chain(short);
        searches.all(|(other, _)| ticket < other).then_some(key)
    }

    /// Takes the next job that may run now. If all slots are taken and short jobs finished fast in the last
    /// round, the job joins the backlog of a task, whose index is returned, too.
    fn next_job(&mut self) -> Option<(Job, Option<usize>)> {
        let short = self.waiting.next_short();
        if self.tasks.len() >= self.settings.in_flight.max(1) {
            let (_, lane) = short?;
            let index = self.task_with_free_backlog()?;
            return Some((self.waiting.pop(lane)?, Some(index)));
        }
        let long = self.waiting.next_long().filter(|_| self.has_long_slot());
        let (_, lane) = short.into_iter().chain(long).min()?;
        Some((self.waiting.pop(lane)?, None))
    }

    /// Returns the next task, round robin, that can start another job after its own.
    fn task_with_free_backlog(&self) -> Option<usize> {
        let (start, count, limit) = (self.backlog_cursor, self.tasks.len(), self.backlog_limit());
        (start..start + count).map(|index| index % count).find(|&index| {
            let task = &self.tasks[index];
            let has_room = |single: &SingleSearch| single.backlog.len() < limit;
            matches!(&task.kind, TaskKind::Single(single) if has_room(single)) && !task.is_long()
        })
    }

    /// Records what a round spent, and on how many answers. Rounds differ, so an average is kept: each round
    /// weighs three quarters of the next.
    pub(super) fn record_cost(&mut self, spent: u32, answers: usize) {
        const SCALE: u64 = 64;
        let (old_spent, old_answers) = self.recent;
        let add = |old: u64, new: u64| old * 3 / 4 + new * SCALE;
        self.recent = (add(old_spent, spent.into()), add(old_answers, answers as u64));
    }

    /// Returns how many jobs a task may hold in its backlog: as many as one slice can answer, so that no thread runs out
    /// of work before its slice is spent.
    fn backlog_limit(&self) -> usize {
        let (spent, answers) = self.recent;
        let fit = (u64::from(self.settings.slice) * answers).checked_div(spent).unwrap_or(0);
        fit.min(MAX_BACKLOG as u64) as usize
    }

    /// Whether there is a slot for another long search: these may take three quarters of the slots.
    pub(super) fn has_long_slot(&self) -> bool {
        let slots = self.settings.in_flight.max(1);
        self.tasks.iter().filter(|task| task.is_long()).count() < (slots - slots.div_ceil(4)).max(1)
    }

    /// Restarts the tasks that edits have made stale, and those whose grid is gone.
    pub(super) fn restart_stale(&mut self, grids: &impl GridSource) {
        while let Some(index) = self.tasks.iter_mut().position(|task| task.is_stale(grids)) {
            self.restart(index);
        }
    }

    /// Ends a task; its jobs wait again, to start from scratch.
    pub(super) fn restart(&mut self, index: usize) {
        // Jobs in a backlog have not started.
        let started = match &self.tasks[index].kind {
            TaskKind::Single(single) => usize::from(single.job.is_some()),
            TaskKind::Shared(_) => usize::MAX,
        };
        for (position, mut job) in self.retire(index).into_iter().enumerate() {
            if position < started {
                self.restarts += 1;
                job.restarts += 1;
            }
            self.wait_again(job);
        }
    }

    /// Puts a job back into its lane.
    pub(super) fn wait_again(&mut self, job: Job) {
        self.sharing.add_waiting(&job);
        self.waiting.push(job);
    }

    /// Removes a task and returns the jobs that it has not answered; the order of the others stays.
    pub(super) fn retire(&mut self, index: usize) -> Vec<Job> {
        if index < self.cursor {
            self.cursor -= 1;
        }
        match self.tasks.remove(index).kind {
            TaskKind::Single(mut single) => {
                let jobs = single.retire(&self.pool);
                self.idle_searches.0.push(single);
                jobs
            }
            TaskKind::Shared(shared) => {
                let (jobs, field) = shared.retire(&self.pool);
                self.idle_fields.0.push(field);
                self.field_count -= 1;
                jobs
            }
        }
    }

    /// Removes a job from its task, or from the jobs that wait for a field; returns whether it was there.
    pub(super) fn cancel_in_flight(&mut self, ticket: Ticket) -> bool {
        let pool = &self.pool;
        if let Some(index) = self.tasks.iter_mut().position(|task| task.cancel(ticket, pool)) {
            if self.tasks[index].jobs().next().is_none() {
                self.retire(index);
            }
            return true;
        }
        let mut waiting = self.waiting_fields.iter_mut();
        let Some((&key, shared)) = waiting.find_map(|(key, shared)| {
            let is_canceled = shared.cancel(ticket, pool);
            is_canceled.then_some((key, shared))
        }) else {
            return false;
        };
        if shared.jobs().next().is_none() {
            self.waiting_fields.remove(&key);
        }
        true
    }
}

/// Whether start, goal and, if there is one, rally lie in one connected region.
fn is_reachable(job: &Job, key: &GroupKey, grid: &NavGrid, layer: &Layer) -> bool {
    let region = |cell| grid.local(cell).and_then(|(x, y)| layer.region(x, y));
    let Some(start) = region(job.query.start) else {
        return false;
    };
    let leads_to = |goal: &Goal| {
        if goal.is_single_cell() {
            return region(goal.cell()) == Some(start);
        }
        let zone = GoalZone::of(grid, key.profile, goal);
        let mut cells = zone.into_iter().flat_map(|zone| zone.cells(layer.size()));
        cells.any(|(x, y)| layer.region(x, y) == Some(start))
    };
    leads_to(&key.goal) && (job.query.goal == key.goal || leads_to(&job.query.goal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::{Cell, GridId, PathQuery, TerrainId, queue::Priority};

    /// The grid that every job names.
    struct World(NavGrid);

    impl GridSource for World {
        fn grid(&self, _id: GridId) -> Option<&NavGrid> {
            Some(&self.0)
        }
    }

    /// A whole army gets an order: a tick takes as many jobs out of the waiting ones as it can pay for.
    #[test]
    fn a_field_gathers_as_many_jobs_as_the_tick_pays_for() {
        const JOBS: usize = 12_000;
        let world = World(NavGrid::new(64, 64, TerrainId::GROUND).unwrap());
        for (budget, most) in [(1, MIN_GATHERING), (24_000, 24_000), (1 << 20, 1 << 20)] {
            let mut queue = SearchQueue::default();
            let starts = world.0.rect().cells().cycle().take(JOBS);
            let goal = Cell::new(32, 32);
            starts.for_each(|start| {
                queue.push(GridId(0), PathQuery::new(start, goal), Priority::default());
            });
            queue.waiting.begin_tick(queue.settings.class_limits);
            let job = queue.waiting.pop(0).unwrap();
            queue.sharing.remove_waiting(&job);
            let (grid, mut left, mut answers) = (&world.0, budget, 0);
            assert!(queue.share_field(job, grid, &mut left).is_none(), "a field pays");
            let gathered: usize =
                queue.waiting_fields.values().map(|field| field.jobs().count()).sum();
            let expected = (1 + most.div_ceil(JOB_COST / 2) as usize).min(JOBS);
            assert_eq!(
                (gathered, left),
                (expected, budget.saturating_sub((gathered as u32 - 1) * JOB_COST / 2))
            );
            while !queue.is_empty() {
                queue.step(
                    &world,
                    50_000,
                    || true,
                    |answer| {
                        assert!(answer.result.is_ok());
                        answers += 1;
                    },
                );
            }
            assert_eq!(answers, JOBS);
        }
    }
}
