//! The direction of a passage: who may enter it at present.
//!
//! Input: how many units inside want to which side, and who asks to enter. Output: whether he may. Those
//! inside go out first; where units wait at both ends they enter in turns, a batch from each side that is
//! large against the length of the passage. Where those inside have not stirred for long the lock is
//! off: then pushing must sort things out.

use super::unit::STAY;

/// Ticks for which somebody who wants to enter counts as waiting: he asks again before they are over.
const FRESH: u64 = super::RETRY + 8;
/// Steps between two units that still belong to one batch.
const GAP: u64 = 4;
/// Steps within which those whose turn it is must have begun to enter.
const GRACE: u64 = 6;
/// Steps without any movement inside after which the lock is off, and one more for each eight cells.
const STALLED: u64 = 4;
/// Steps after somebody moved in it during which units near by keep to straight steps: they are shorter.
const BUSY: u64 = 3;
/// Units of a batch at least, and more for each two cells.
const BATCH: u32 = 16;

/// The direction of a passage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    /// Nobody regulates it.
    pub(super) is_open: bool,
    /// The side whose units enter at present.
    pub(super) flow: usize,
    /// Since when, and how many have.
    pub(super) turned: u64,
    pub(super) batch: u32,
    pub(super) last_entry: u64,
    /// The last tick in which somebody inside moved.
    pub(super) stirred: u64,
    /// By side, the last tick in which somebody there was kept waiting, plus one.
    pub(super) wanted: [u64; 2],
    /// Ticks that the last step into it took.
    pub(super) pace: u64,
    /// The last tick in which the units inside were counted, plus one, by the side they want to.
    pub(super) counted: u64,
    pub(super) inside: [u32; 2],
}

impl Default for Lock {
    fn default() -> Self {
        Self {
            is_open: false,
            flow: 0,
            turned: 0,
            batch: 0,
            last_entry: 0,
            stirred: 0,
            wanted: [0; 2],
            pace: 10,
            counted: 0,
            inside: [0; 2],
        }
    }
}

impl Lock {
    /// Whether somebody may enter from a side; `notes` that he waits otherwise.
    pub(super) fn admits(&mut self, side: usize, length: usize, now: u64, notes: bool) -> bool {
        let is_empty = self.inside == [0, 0];
        if !is_empty && now > self.stirred + (STALLED + length as u64 / 8) * self.pace {
            return true;
        }
        let admits = self.inside[side] == 0 && self.is_turn_of(side, length, now);
        if !admits && notes {
            self.wanted[side] = now + 1;
        }
        admits
    }

    fn is_turn_of(&mut self, side: usize, length: usize, now: u64) -> bool {
        let other = 1 - side;
        let other_waits = self.is_wanted(other, now);
        if self.flow != side {
            let begun = self.turned.max(self.stirred) + GRACE * self.pace;
            if other_waits && now <= begun {
                return false;
            }
            self.turn(side, now);
        }
        let most = BATCH + 2 * length as u32;
        let has_gap = self.batch > 0 && now > self.last_entry + GAP * self.pace;
        if other_waits && (self.batch >= most || has_gap) {
            self.turn(other, now);
            return false;
        }
        true
    }

    /// Whether somebody has entered or left just now.
    pub(super) fn is_busy(&self, now: u64, push: u8) -> bool {
        let last = self.last_entry.max(self.stirred);
        self.batch > 0
            && last + BUSY * self.pace > now
            && (push == STAY || !self.is_wanted(0, now) && !self.is_wanted(1, now))
    }

    /// Whether somebody waits at a side.
    pub(super) const fn is_wanted(&self, side: usize, now: u64) -> bool {
        self.wanted[side] > 0 && self.wanted[side] + FRESH > now
    }

    pub(super) fn turn(&mut self, side: usize, now: u64) {
        (self.flow, self.turned, self.batch) = (side, now, 0);
    }
}
