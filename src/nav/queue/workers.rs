//! Who does the work of a tick: one thread, or several.
//!
//! The pure layer knows no threads of its own. What it gives away is work that anybody may do in any
//! order: the flights of a round touch nothing of each other, and what they find is applied in order
//! afterwards. So the answers are the same for any number of workers.
//!
//! Waking a thread takes some 50 µs, a round some 100. So helpers are called once a tick and wait
//! between rounds without going to sleep.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{GridSource, flight::Flight};
use crate::nav::{node_pool::NodePool, open_list::OpenList};

/// How often somebody looks for work, or for the end of it, before letting other threads pass: some
/// 50 µs, about as long as the leader takes between two rounds.
const LOOKS: u32 = 2_000;

/// Threads that can be put to work.
pub trait Workers {
    /// How many may work at once, the calling one included: at least 1.
    fn count(&self) -> usize;

    /// Calls `lead` on this thread, and `help` on up to [`count`](Self::count) less one others
    /// meanwhile; returns when all have returned. `help` returns soon after `lead` has.
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

/// Where the flights of a round lie open for everybody to take.
#[derive(Debug, Default)]
pub(super) struct Board<L: OpenList> {
    /// Flights to be worked on and those that were, with their places.
    open: Mutex<Vec<(usize, Flight<L>)>>,
    done: Mutex<Vec<(usize, Flight<L>)>>,
    /// How many are open, and how many are done: told apart, so that nobody need lock to see it.
    left: AtomicUsize,
    worked_on: AtomicUsize,
    is_over: AtomicBool,
    is_broken: AtomicBool,
}

impl<L: OpenList> Board<L> {
    pub(super) fn new() -> Self {
        Self {
            open: Mutex::default(),
            done: Mutex::default(),
            left: AtomicUsize::new(0),
            worked_on: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
        }
    }

    /// Works on whatever is there until it is said to be over.
    pub(super) fn help(&self, grids: &impl GridSource, pool: &NodePool) {
        let _alarm = Alarm(&self.is_broken);
        let mut patience = Patience::default();
        while !self.is_over.load(Ordering::Acquire) {
            if self.work_on_one(grids, pool) {
                patience = Patience::default();
            } else {
                patience.wait();
            }
        }
    }

    /// Has all flights with a share worked on, by this thread and those that help, and puts them back
    /// in their places.
    pub(super) fn play(
        &self,
        flights: &mut Vec<Flight<L>>,
        grids: &impl GridSource,
        pool: &NodePool,
    ) {
        let count = flights.len();
        {
            let mut open = lock(&self.open);
            // Taken from the end: the first ones first.
            open.extend(flights.drain(..).enumerate().rev());
            self.worked_on.store(0, Ordering::Release);
            self.left.store(count, Ordering::Release);
        }
        while self.work_on_one(grids, pool) {}
        let mut patience = Patience::default();
        while self.worked_on.load(Ordering::Acquire) < count {
            // Whoever failed takes the others along when the helpers are joined.
            if self.is_broken.load(Ordering::Acquire) {
                return;
            }
            patience.wait();
        }
        let mut done = lock(&self.done);
        done.sort_unstable_by_key(|&(place, _)| place);
        flights.extend(done.drain(..).map(|(_, flight)| flight));
    }

    /// Lets the helpers go when it is dropped, whatever happens before.
    pub(super) const fn closing(&self) -> impl Drop + '_ {
        Closing(&self.is_over)
    }

    fn work_on_one(&self, grids: &impl GridSource, pool: &NodePool) -> bool {
        if self.left.load(Ordering::Acquire) == 0 {
            return false;
        }
        let taken = {
            let mut open = lock(&self.open);
            let taken = open.pop();
            self.left.store(open.len(), Ordering::Release);
            taken
        };
        let Some((place, mut flight)) = taken else {
            return false;
        };
        if flight.deal > 0 {
            flight.work(grids, pool);
        }
        lock(&self.done).push((place, flight));
        self.worked_on.fetch_add(1, Ordering::AcqRel);
        true
    }
}

/// Waits a little: at first without letting go of the processor, later letting others pass.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        if self.0 < LOOKS {
            self.0 += 1;
            core::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in here is ever left half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Closing<'a>(&'a AtomicBool);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Says so when its thread panics.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}
