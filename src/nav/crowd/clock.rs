//! Time in whole numbers, and what falls due when.
//!
//! Input: units and the ticks in which they want to be called. Output: who is due in a tick, in an
//! order that depends on the calls alone. A unit stands in the wheel at most once. The wheel is a ring of
//! doubly linked lists through one array, so that nothing is allocated while units come and go.

use super::unit::NONE;

/// Parts of a tick: steps begin and end between ticks, too. [`Crowd::progress`](super::Crowd::progress)
/// counts in them.
pub const PARTS: u64 = 1 << 16;
/// Longest step, in parts: slower units stand still to all intents and purposes.
pub(super) const LONGEST_STEP: u64 = PARTS << 24;

const SLOTS: usize = 256;
const NOWHERE: u16 = u16::MAX;

/// A unit's place in the wheel.
#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
    slot: u16,
}

impl Default for Link {
    fn default() -> Self {
        Self { before: NONE, after: NONE, slot: NOWHERE }
    }
}

/// Who is to be called in which of the next ticks; those farther off are called early, and again.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    first: Box<[u32; SLOTS]>,
    links: Vec<Link>,
}

impl Default for Wheel {
    fn default() -> Self {
        Self { first: Box::new([NONE; SLOTS]), links: Vec::new() }
    }
}

impl Wheel {
    /// Makes room for so many units.
    pub(super) fn resize(&mut self, units: usize) {
        self.links.resize(units, Link::default());
    }

    /// Calls `unit` in the tick `due`, which is after `now`; at the last slot where that is too far off.
    pub(super) fn put(&mut self, unit: u32, now: u64, due: u64) {
        self.take_out(unit);
        let slot = due.clamp(now + 1, now + SLOTS as u64 - 1) as usize % SLOTS;
        let after = self.first[slot];
        if after != NONE {
            self.links[after as usize].before = unit;
        }
        self.first[slot] = unit;
        self.links[unit as usize] = Link { before: NONE, after, slot: slot as u16 };
    }

    /// Forgets about `unit`.
    pub(super) fn take_out(&mut self, unit: u32) {
        let link = core::mem::take(&mut self.links[unit as usize]);
        if link.slot == NOWHERE {
            return;
        }
        match link.before {
            NONE => self.first[usize::from(link.slot)] = link.after,
            before => self.links[before as usize].after = link.after,
        }
        if link.after != NONE {
            self.links[link.after as usize].before = link.before;
        }
    }

    /// Takes out everybody in the slot of `now` and lists them.
    pub(super) fn take_due(&mut self, now: u64, due: &mut Vec<u32>) {
        let slot = now as usize % SLOTS;
        let mut unit = core::mem::replace(&mut self.first[slot], NONE);
        while unit != NONE {
            due.push(unit);
            unit = core::mem::take(&mut self.links[unit as usize]).after;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        SLOTS * 4 + self.links.capacity() * size_of::<Link>()
    }
}
