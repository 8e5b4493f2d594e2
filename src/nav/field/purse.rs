//! What a slice of work may still take.
//!
//! Input: a budget in units, and payments in eighths of one, so that whatever is done can be counted
//! by the cell. Output: how many units were taken, never more than there were: the last piece of work
//! may cost more than is left.

/// What is left of a budget, in eighths of a unit: about what it takes to write a cell.
pub(super) struct Purse {
    left: u64,
}

impl Purse {
    pub(super) fn of(budget: u32) -> Self {
        Self { left: 8 * u64::from(budget) }
    }

    #[inline]
    pub(super) fn pay(&mut self, eighths: u32) {
        self.left = self.left.saturating_sub(u64::from(eighths));
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// What was paid out of a budget, in whole units.
    pub(super) const fn spent_of(&self, budget: u32) -> u32 {
        budget - (self.left / 8) as u32
    }
}
