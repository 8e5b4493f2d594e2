//! Which of two units goes first.
//!
//! Input: the order of a unit, and what it is doing. Output: a number; of two units the one with the lower number goes first,
//! and may push the other. The older an order, the lower the number, so that every unit is first at some point.

use super::{Mode, Task, Unit};

/// Priorities of orders come after this one; lower numbers go to units that others have shut in.
pub const FIRST_PRIORITY: u32 = 1 << 28;
/// The most by which a long way raises the priority, in ticks. Orders that are older by more than that come first in any
/// case, so that every unit is first at some point.
pub const MAX_WAY_LEFT: u16 = 4_095;
/// Ticks after which the priorities of orders begin anew: they must fit into 30 bits. 145 days at 64 Hz.
const PRIORITY_PERIOD: u64 = (3 << 28) - 2 - MAX_WAY_LEFT as u64;
/// Priority of units that clear a passage: before all others except those that were shut in.
pub const CLEARING_PRIORITY: u32 = FIRST_PRIORITY - 1;

impl Unit {
    /// Returns its priority; lower numbers go first.
    pub fn priority(&self, index: u32) -> u64 {
        let class = match (self.task, self.has_arrived) {
            _ if self.mode != Mode::Normal => 0,
            (Task::Idle, _) => 2,
            (_, true) => 1,
            (_, false) => 0,
        };
        let is_clearing = self.clearing_steps > 0;
        let since = self.seniority();
        let since = if is_clearing { since.min(CLEARING_PRIORITY) } else { since };
        class << 62 | u64::from(since) << 32 | u64::from(index)
    }

    /// Returns its rank among units under way, by the age of its order and the length of its way; lower numbers go first.
    fn seniority(&self) -> u32 {
        let since = self.priority_since;
        let way_done = u32::from(MAX_WAY_LEFT - self.way_left);
        if since <= FIRST_PRIORITY { since } else { since + way_done }
    }

    /// Begins a new order: its priority is that of this tick.
    pub fn begin_priority(&mut self, now: u64) {
        self.priority_since = FIRST_PRIORITY + 1 + (now % PRIORITY_PERIOD) as u32;
        self.way_left = 0;
    }

    /// Takes the priority right behind another unit's, if that is higher than its own.
    pub fn inherit_priority(&mut self, other: &Self) {
        if other.seniority() < self.seniority() {
            (self.priority_since, self.way_left) = (other.priority_since + 1, other.way_left);
        }
    }
}
