//! Time in whole numbers, and a timer wheel for units.
//!
//! Input: units and the ticks in which they are due. Output: the units that are due in a tick, in an order
//! that depends only on the calls made. A unit is in the wheel at most once. The wheel is a ring of doubly
//! linked lists through one array, so that nothing is allocated while units are put in and taken out.

use super::unit::NONE;

/// Subticks in a tick: steps also begin and end between ticks.
/// [`Crowd::progress`](super::Crowd::progress) counts in subticks.
pub const SUBTICKS_PER_TICK: u64 = 1 << 16;
/// Longest step, in subticks: slower units practically stand still.
pub(super) const LONGEST_STEP: u64 = SUBTICKS_PER_TICK << 24;

const SLOTS: usize = 256;
const NOT_LINKED: u16 = u16::MAX;

/// A unit's links in the list of its slot in the wheel.
#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
    slot: u16,
}

impl Default for Link {
    fn default() -> Self {
        Self { prev: NONE, next: NONE, slot: NOT_LINKED }
    }
}

/// Which units are due in which of the next ticks. A unit that is due later than the wheel reaches comes
/// out early and has to be put in again.
#[derive(Clone, Debug)]
pub(super) struct TimerWheel {
    first: Box<[u32; SLOTS]>,
    links: Vec<Link>,
}

impl Default for TimerWheel {
    fn default() -> Self {
        Self { first: Box::new([NONE; SLOTS]), links: Vec::new() }
    }
}

impl TimerWheel {
    /// Makes room for `units` units.
    pub(super) fn resize(&mut self, units: usize) {
        self.links.resize(units, Link::default());
    }

    /// Schedules `unit` for the tick `due`, which is after `now`; for the last slot if that is too far off.
    pub(super) fn put(&mut self, unit: u32, now: u64, due: u64) {
        self.remove(unit);
        let slot = due.clamp(now + 1, now + SLOTS as u64 - 1) as usize % SLOTS;
        let next = self.first[slot];
        if next != NONE {
            self.links[next as usize].prev = unit;
        }
        self.first[slot] = unit;
        self.links[unit as usize] = Link { prev: NONE, next, slot: slot as u16 };
    }

    /// Removes `unit`, if it is scheduled.
    pub(super) fn remove(&mut self, unit: u32) {
        let link = core::mem::take(&mut self.links[unit as usize]);
        if link.slot == NOT_LINKED {
            return;
        }
        match link.prev {
            NONE => self.first[usize::from(link.slot)] = link.next,
            prev => self.links[prev as usize].next = link.next,
        }
        if link.next != NONE {
            self.links[link.next as usize].prev = link.prev;
        }
    }

    /// Removes all units in the slot of `now` and appends them to `due`.
    pub(super) fn take_due(&mut self, now: u64, due: &mut Vec<u32>) {
        let slot = now as usize % SLOTS;
        let mut unit = core::mem::replace(&mut self.first[slot], NONE);
        while unit != NONE {
            due.push(unit);
            unit = core::mem::take(&mut self.links[unit as usize]).next;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        SLOTS * 4 + self.links.capacity() * size_of::<Link>()
    }
}
