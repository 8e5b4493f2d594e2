//! The direction of a passage: which side may enter it at present.
//!
//! Input: the number of units inside by the side they head for, and the side at which a unit asks to enter.
//! Output: whether it may. Units inside leave first. Where units wait at both ends they enter alternately, in
//! batches that are large compared with the length of the passage. If the units inside have not moved for
//! long, the lock is off: pushing then has to resolve the situation.

use crate::nav::crowd::board::{RETRY_AFTER, STAY};

/// Ticks for which a unit that has asked to enter counts as waiting. It asks again before this time is over.
const WAIT_MEMORY: u64 = RETRY_AFTER + 8;
/// Largest gap between two units of one batch, in steps.
const BATCH_GAP: u64 = 4;
/// Steps within which the side that has just been given the flow must begin to enter.
const GRACE_STEPS: u64 = 6;
/// Steps without any movement inside after which the lock is off, plus one for every eight cells.
const STALL_STEPS: u64 = 4;
/// Steps after the last movement inside during which units nearby keep to straight steps, which are shorter.
const BUSY_STEPS: u64 = 3;
/// Most units in a batch while units wait on the other side, plus two for every cell of the passage.
const BATCH_BASE: u32 = 16;
/// Assumed ticks per step until the first unit has entered.
const FIRST_STEP_TICKS: u64 = 10;

/// The direction of a passage.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct DirectionLock {
    /// The passage is not controlled.
    pub is_uncontrolled: bool,
    /// The side whose units enter at present.
    pub flow: usize,
    /// When this side was given the flow, and how many units have entered since.
    pub flow_since: u64,
    pub batch: u32,
    /// It was given the flow because the other side had had its turn. The passage waits for its units even if none has
    /// asked lately.
    pub is_its_turn: bool,
    pub last_entry: u64,
    /// The last tick in which a unit inside moved.
    pub last_moved: u64,
    /// By side, the last tick in which a unit was kept waiting there, plus one.
    pub last_waiting: [u64; 2],
    /// Ticks that the last step into the passage took.
    pub step_ticks: u64,
    /// The last tick in which the units inside were counted, plus one; and their number by the side they head
    /// for.
    pub counted_at: u64,
    pub inside: [u32; 2],
}

impl DirectionLock {
    /// Returns a lock of a passage into which no unit has come yet.
    pub fn new(is_uncontrolled: bool) -> Self {
        Self { is_uncontrolled, step_ticks: FIRST_STEP_TICKS, ..Self::default() }
    }

    /// Returns whether a unit may enter from a side.
    pub fn admits(&mut self, side: usize, length: usize, now: u64) -> bool {
        let is_empty = self.inside == [0, 0];
        if !is_empty && now > self.last_moved + (STALL_STEPS + length as u64 / 8) * self.step_ticks
        {
            return true;
        }
        self.inside[side] == 0 && self.may_flow_from(side, length, now)
    }

    fn may_flow_from(&mut self, side: usize, length: usize, now: u64) -> bool {
        let other = 1 - side;
        let other_waits = self.is_waiting_at(other, now);
        if self.flow != side {
            let deadline = self.flow_since.max(self.last_moved) + GRACE_STEPS * self.step_ticks;
            if (other_waits || self.is_its_turn) && now <= deadline {
                return false;
            }
            self.set_flow(side, now);
        }
        let batch_limit = BATCH_BASE + 2 * length as u32;
        let has_gap = self.batch > 0 && now > self.last_entry + BATCH_GAP * self.step_ticks;
        if other_waits && (self.batch >= batch_limit || has_gap) {
            self.set_flow(other, now);
            self.is_its_turn = true;
            return false;
        }
        true
    }

    /// Returns whether a unit has just entered or moved inside. For a pushed unit that counts only while no unit waits at
    /// either side.
    pub fn is_busy(&self, now: u64, push: u8) -> bool {
        let last = self.last_entry.max(self.last_moved);
        self.batch > 0
            && last + BUSY_STEPS * self.step_ticks > now
            && (push == STAY || !self.is_anyone_waiting(now))
    }

    /// Returns whether a unit waits at either side.
    pub const fn is_anyone_waiting(&self, now: u64) -> bool {
        self.is_waiting_at(0, now) || self.is_waiting_at(1, now)
    }

    /// Returns whether a unit waits at a side.
    const fn is_waiting_at(&self, side: usize, now: u64) -> bool {
        self.last_waiting[side] > 0 && self.last_waiting[side] + WAIT_MEMORY > now
    }

    pub fn set_flow(&mut self, side: usize, now: u64) {
        (self.flow, self.flow_since, self.batch, self.is_its_turn) = (side, now, 0, false);
    }
}
