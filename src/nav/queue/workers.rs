//! Runs the tasks of a round on one thread or several.
//!
//! Input: the tasks of a round. Output: the same tasks in the same order, each having worked for its
//! quantum. The pure layer starts no threads of its own. Tasks share nothing with each other, so they may
//! run in any order, and their results are applied in order afterwards: the answers are the same for any
//! number of workers.
//!
//! Waking a thread takes some 50 µs, a round some 100. So helpers are called once a tick and spin between
//! rounds instead of sleeping. A search fills a hundred KiB, which should stay in the cache of one processor: so each thread
//! has its own lane with the tasks that it ran last, and takes tasks from other lanes only when its own is empty.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Answer, GridSource, in_flight::Task};
use crate::nav::node_pool::NodePool;

/// How often a thread polls for work, or for its end, before it yields to other threads: for some 50 µs,
/// about as long as the leading thread takes between two rounds.
const MAX_SPINS: u32 = 2_000;

/// Threads that can be put to work.
pub trait Workers {
    /// How many may work at the same time, the calling one included: at least 1.
    fn count(&self) -> usize;

    /// Calls `lead` on this thread and, at the same time, `help` on up to [`count`](Self::count) − 1 others;
    /// returns when all have returned. `help` returns soon after `lead` has.
    fn assist(&self, help: &(dyn Fn() + Sync), lead: &mut dyn FnMut());
}

/// The calling thread alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OneWorker;

impl Workers for OneWorker {
    fn count(&self) -> usize {
        1
    }

    fn assist(&self, _help: &(dyn Fn() + Sync), lead: &mut dyn FnMut()) {
        lead();
    }
}

/// What the rounds of a tick have in common.
pub(super) struct Tick<'a, G> {
    pub(super) grids: &'a G,
    /// What is left of the budget.
    pub(super) left: u32,
    pub(super) answer: &'a mut dyn FnMut(Answer),
    /// Where there are helpers.
    pub(super) round: Option<&'a Round>,
}

/// The tasks of a round, for all threads to take from; used again for every round of a tick.
#[derive(Debug)]
pub(super) struct Round {
    /// Tasks to run with their indices, in a lane for each thread; that of the calling thread comes first.
    open: Vec<Mutex<Vec<(usize, Task)>>>,
    /// Tasks that were run.
    done: Mutex<Vec<(usize, Task)>>,
    /// Lane of the next helper.
    next_lane: AtomicUsize,
    /// The numbers of open and done tasks, stored apart from the lists so that they can be read without a lock.
    open_count: AtomicUsize,
    done_count: AtomicUsize,
    /// The tick has ended.
    is_over: AtomicBool,
    /// A helper has returned: during a round, only by a panic.
    has_lost_helper: AtomicBool,
}

impl Round {
    /// Returns a round for this many threads.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            open: (0..workers.max(1)).map(|_| Mutex::default()).collect(),
            done: Mutex::default(),
            next_lane: AtomicUsize::new(1),
            open_count: AtomicUsize::new(0),
            done_count: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            has_lost_helper: AtomicBool::new(false),
        }
    }

    /// Runs open tasks until the tick has ended: what helpers do.
    pub(super) fn help(&self, grids: &impl GridSource, pool: &NodePool) {
        let _flag = SetOnDrop(&self.has_lost_helper);
        let lane = self.next_lane.fetch_add(1, Ordering::Relaxed) % self.open.len();
        let mut spins = 0;
        while !self.is_over.load(Ordering::Acquire) {
            if self.run_one(lane, grids, pool) {
                spins = 0;
            } else {
                wait(&mut spins);
            }
        }
    }

    /// Runs all tasks with a quantum, on this thread and the helpers, and puts them back in order.
    pub(super) fn run(&self, tasks: &mut Vec<Task>, grids: &impl GridSource, pool: &NodePool) {
        let count = tasks.len();
        self.done_count.store(0, Ordering::Release);
        // Set before the tasks are added: helpers count down as they take tasks.
        self.open_count.store(count, Ordering::Release);
        // Tasks are taken from the end of a lane, so the first ones go in last.
        for (index, mut task) in tasks.drain(..).enumerate().rev() {
            let lane = *task.lane() % self.open.len();
            lock(&self.open[lane]).push((index, task));
        }
        while self.run_one(0, grids, pool) {}
        let mut spins = 0;
        while self.done_count.load(Ordering::Acquire) < count {
            // The panic of a helper is passed on when the helpers are joined.
            if self.has_lost_helper.load(Ordering::Acquire) {
                return;
            }
            wait(&mut spins);
        }
        let mut done = lock(&self.done);
        done.sort_unstable_by_key(|&(index, _)| index);
        tasks.extend(done.drain(..).map(|(_, task)| task));
    }

    /// Returns a guard that releases the helpers when it is dropped, even by a panic.
    pub(super) const fn end_on_drop(&self) -> impl Drop + '_ {
        SetOnDrop(&self.is_over)
    }

    /// Runs an open task, if possible one of this lane; returns whether there was one.
    fn run_one(&self, lane: usize, grids: &impl GridSource, pool: &NodePool) -> bool {
        if self.open_count.load(Ordering::Acquire) == 0 {
            return false;
        }
        let (before, from) = self.open.split_at(lane);
        let Some((index, mut task)) = from.iter().chain(before).find_map(|tasks| lock(tasks).pop())
        else {
            return false;
        };
        self.open_count.fetch_sub(1, Ordering::AcqRel);
        if task.quantum > 0 {
            task.run(grids, pool);
            *task.lane() = lane;
        }
        lock(&self.done).push((index, task));
        self.done_count.fetch_add(1, Ordering::AcqRel);
        true
    }
}

/// Waits between two polls: spins at first, and yields to other threads later.
fn wait(spins: &mut u32) {
    if *spins < MAX_SPINS {
        *spins += 1;
        core::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No critical section leaves anything half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets a flag when it is dropped, even by a panic.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
