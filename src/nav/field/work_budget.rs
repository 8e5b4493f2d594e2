//! The remaining budget of a slice of work.
//!
//! Input: a budget in units, and expenses in eighths of a unit, so that work can be counted by the cell.
//! Output: the number of units spent, at most the budget, although the last piece of work may cost more than
//! is left.

/// What is left of a budget, in eighths of a unit; an eighth is about what it takes to write a cell.
pub(super) struct WorkBudget {
    left: u64,
}

impl WorkBudget {
    pub(super) fn of(budget: u32) -> Self {
        Self { left: 8 * u64::from(budget) }
    }

    #[inline]
    pub(super) fn spend(&mut self, eighths: u32) {
        self.left = self.left.saturating_sub(u64::from(eighths));
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Returns what was spent of a budget, in whole units.
    pub(super) const fn spent_of(&self, budget: u32) -> u32 {
        budget - (self.left / 8) as u32
    }
}
