//! A round: each task gets a quantum and works on it; then the results are applied in order.
//!
//! Input: the tasks in flight and what is left of the budget. Output: answers, and tasks that stay, wait
//! again or end.

use super::{
    GridSource, LONG_SEARCH_EXPANSIONS,
    in_flight::{Task, TaskKind},
    job::{Answer, FoundBy},
    search_queue::SearchQueue,
    workers::Tick,
};

/// Least budget of a round that is shared with other threads: a few microseconds of work.
const MIN_PARALLEL_BUDGET: u32 = 500;
/// The rest of a tick's budget is divided into quanta of at least this size, unless the settings ask for smaller slices.
const MIN_QUANTUM: u32 = 128;
/// From this number of jobs on, calling helpers pays; two jobs known to be long are also enough. A call
/// takes about as long as one short job.
const MIN_JOBS_FOR_HELPERS: usize = 16;

/// What happens to a task after a round.
enum Next {
    Stay,
    /// It has turned out to be long.
    BecomeLong,
    /// It does not fit the grid any more.
    Restart,
    /// It has nothing left to do.
    Retire,
}

impl SearchQueue {
    /// Runs rounds until the budget is spent, or nothing is left to do.
    pub(super) fn run_rounds(
        &mut self,
        tick: &mut Tick<'_, impl GridSource>,
        keep_going: &mut impl FnMut() -> bool,
    ) {
        while tick.left > 0 && keep_going() {
            while tick.left > 0 && keep_going() && (self.start_field(tick) || self.admit_one(tick))
            {
            }
            if self.tasks.is_empty() || tick.left == 0 {
                break;
            }
            self.run_round(tick);
        }
    }

    /// Spends up to `left` on the tasks in flight.
    fn run_round(&mut self, tick: &mut Tick<'_, impl GridSource>) {
        self.choose_overdraft();
        let (assigned, running) = self.assign_quanta(tick.left);
        match tick.round.filter(|_| running > 1 && assigned >= MIN_PARALLEL_BUDGET) {
            Some(round) => round.run(&mut self.tasks, tick.grids, &self.pool),
            None => {
                let tasks = self.tasks.iter_mut().filter(|task| task.quantum > 0);
                tasks.for_each(|task| task.run(tick.grids, &self.pool));
            }
        }
        let (mut index, mut answers, mut spent) = (0, 0, 0u32);
        while index < self.tasks.len() {
            let task = &mut self.tasks[index];
            if task.quantum == 0 {
                index += 1;
                continue;
            }
            task.quantum = 0;
            spent = spent.saturating_add(task.spent);
            // Only a job that was restarted too often spends much more than is left.
            self.debt = self.debt.saturating_add(task.spent.saturating_sub(tick.left));
            tick.left = tick.left.saturating_sub(task.spent);
            match self.apply(index, &mut answers, tick.answer) {
                Next::Stay => index += 1,
                Next::BecomeLong => index += usize::from(self.become_long(index)),
                Next::Restart => self.restart(index),
                Next::Retire => drop(self.retire(index)),
            }
        }
        self.record_cost(spent, answers);
    }

    /// Lets the oldest job that was restarted too often run to completion: only one, as the tick is over then. The others
    /// continue within their quanta and get their turn later.
    fn choose_overdraft(&mut self) {
        let tickets = self.tasks.iter_mut().filter_map(|task| task.single()?.due_ticket());
        let oldest = tickets.min();
        for single in self.tasks.iter_mut().filter_map(Task::single) {
            single.may_overdraw = oldest.is_some() && single.due_ticket() == oldest;
        }
    }

    /// Assigns a quantum to each task, beginning at the cursor, until nothing is left; returns how much
    /// was assigned, and to how many tasks.
    fn assign_quanta(&mut self, left: u32) -> (u32, usize) {
        // All get the same, but not less than a quantum that is worth it: then no task waits for others at the end.
        let fair = left.div_ceil(self.tasks.len().max(1) as u32).max(MIN_QUANTUM);
        let slice = self.settings.slice.max(1).min(fair);
        let (mut rest, mut running) = (left, 0);
        self.cursor = if self.cursor < self.tasks.len() { self.cursor } else { 0 };
        while rest > 0 && running < self.tasks.len() {
            let task = &mut self.tasks[self.cursor];
            task.quantum = slice.saturating_mul(task.slices()).min(rest);
            rest -= task.quantum;
            running += 1;
            self.cursor = (self.cursor + 1) % self.tasks.len();
        }
        (left - rest, running)
    }

    /// Whether there is work for more than one thread.
    pub(super) fn is_worth_helpers(&self) -> bool {
        let is_long = |task: &&Task| task.is_long();
        self.waiting.allowed_len() + self.tasks.len() >= MIN_JOBS_FOR_HELPERS
            || self.tasks.iter().filter(is_long).count() + self.waiting_fields.len() > 1
    }

    /// Delivers the results of a task.
    fn apply(&mut self, index: usize, answers: &mut usize, answer: &mut dyn FnMut(Answer)) -> Next {
        let now = self.tick;
        let task = &mut self.tasks[index];
        *answers += task.finished().len();
        for done in task.finished().drain(..) {
            if matches!(done.found_by, FoundBy::Search(_)) && done.job.restarts == 0 {
                self.sharing.record_search(&done.job, done.spent);
            }
            answer(done.job.answer(done.result, done.found_by, done.counters, now));
        }
        let next = what_next(task, now, answer);
        // Jobs that were not started, or were rejected, are admitted by rank again.
        while let Some(job) = self.tasks[index].leaving().pop_front() {
            self.wait_again(job);
        }
        next
    }

    /// Marks the job of a task as long. The task stays if there is a slot for long searches, and its jobs
    /// wait again otherwise. Returns whether it stays.
    fn become_long(&mut self, index: usize) -> bool {
        let stays = self.has_long_slot();
        if let TaskKind::Single(single) = &mut self.tasks[index].kind
            && let Some(job) = &mut single.job
        {
            job.is_long = true;
        }
        if !stays {
            self.retire(index).into_iter().for_each(|job| self.wait_again(job));
        }
        stays
    }
}

/// Returns what happens to a task; delivers the first segment of a long path.
fn what_next(task: &mut Task, now: u64, answer: &mut dyn FnMut(Answer)) -> Next {
    let single = match &mut task.kind {
        TaskKind::Single(single) => &mut **single,
        TaskKind::Shared(shared) if shared.jobs().next().is_none() => return Next::Retire,
        TaskKind::Shared(_) if task.spent == 0 => return Next::Restart,
        TaskKind::Shared(_) => return Next::Stay,
    };
    match (&mut single.job, single.must_restart) {
        (None, _) => Next::Retire,
        (Some(_), true) => Next::Restart,
        (Some(job), false) => {
            if let Some(segment) = single.first_segment.take() {
                answer(job.deliver_first_segment(segment, now));
            }
            let counters = single.search.counters();
            let is_long = counters.expansions + counters.portals >= LONG_SEARCH_EXPANSIONS;
            if is_long && !job.is_long { Next::BecomeLong } else { Next::Stay }
        }
    }
}
