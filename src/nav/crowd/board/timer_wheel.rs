//! Time in whole numbers, and a timer wheel for units.
//!
//! Input: units and the ticks in which they are due. Output: the units that are due in a tick, the last one
//! scheduled first. A unit is due at most once: an entry that does not agree with the unit's own slot is outdated,
//! and skipped when its slot comes around. So nothing is searched for, and one list is read from end to end.

/// Subticks in a tick: steps also begin and end between ticks.
/// [`Crowd::progress`](crate::nav::crowd::Crowd::progress) counts in subticks.
pub const SUBTICKS_PER_TICK: u64 = 1 << 16;
/// Longest step, in subticks: slower units practically stand still.
pub const LONGEST_STEP: u64 = SUBTICKS_PER_TICK << 24;

const SLOTS: usize = 256;
const NOT_SCHEDULED: u16 = u16::MAX;

/// Which units are due in which of the next ticks. A unit that is due later than the wheel reaches comes
/// out early and has to be put in again.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct TimerWheel {
    entries: Vec<Vec<u32>>,
    /// By unit.
    slots: Vec<u16>,
}

impl Default for TimerWheel {
    fn default() -> Self {
        Self { entries: vec![Vec::new(); SLOTS], slots: Vec::new() }
    }
}

impl TimerWheel {
    /// Makes room for `units` units.
    pub fn resize(&mut self, units: usize) {
        self.slots.resize(units, NOT_SCHEDULED);
    }

    /// Schedules `unit` for the tick `due`, which is after `now`; for the last slot if that is too far off.
    pub fn put(&mut self, unit: u32, now: u64, due: u64) {
        let slot = due.clamp(now + 1, now + SLOTS as u64 - 1) as usize % SLOTS;
        self.slots[unit as usize] = slot as u16;
        self.entries[slot].push(unit);
    }

    /// Removes `unit`, if it is scheduled.
    pub fn remove(&mut self, unit: u32) {
        self.slots[unit as usize] = NOT_SCHEDULED;
    }

    /// Removes all units in the slot of `now` and appends them to `due`.
    pub fn take_due(&mut self, now: u64, due: &mut Vec<u32>) {
        let slot = now as usize % SLOTS;
        while let Some(unit) = self.entries[slot].pop() {
            let known = &mut self.slots[unit as usize];
            if usize::from(*known) == slot {
                *known = NOT_SCHEDULED;
                due.push(unit);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        let entries: usize = self.entries.iter().map(Vec::capacity).sum();
        entries * size_of::<u32>() + self.slots.capacity() * size_of::<u16>()
    }
}
