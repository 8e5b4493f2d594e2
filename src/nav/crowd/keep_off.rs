//! Whoever was pushed off its goal keeps off while others are still on their way there.
//!
//! Input: a unit that has arrived, and was just pushed aside. Output: whether it stays where it is for now. If it
//! went back at once, those for whom it made room would find it in their way again, and where many
//! have their goals beside each other they would push one another about for long.

use super::{
    Crowd,
    board::Place,
    unit::{Errand, NONE, Unit},
};

/// Ticks after which it goes back in any case.
const MOST: u64 = 200;
/// Cells around it in which others count.
const REACH: u16 = 5;
/// Ticks after which those who do not get on count no longer.
const HOPELESS: u64 = 96;

impl Crowd {
    /// Whether a unit leaves it for now to go back to its goal.
    pub(super) fn keeps_off(&self, index: u32) -> bool {
        let unit = &self.units[index as usize];
        let goes_back = unit.has_arrived
            && matches!(unit.errand, Errand::Route(_) | Errand::Way)
            && unit.size == 1
            && unit.is_pushable
            && unit.is_pushed
            && unit.flees == NONE
            && !unit.is_trapped;
        goes_back && unit.stood(self.now) < MOST && self.is_somebody_coming(unit)
    }

    fn is_somebody_coming(&self, unit: &Unit) -> bool {
        let at = unit.tail;
        let reach = |at: u16, size: u32| {
            at.saturating_sub(REACH)..=at.saturating_add(REACH).min(size as u16 - 1)
        };
        let mut rows = reach(at.y, self.size.1);
        rows.any(|y| {
            reach(at.x, self.size.0).any(|x| {
                let hold = self.board.hold(self.board.index(Place { x, y }));
                let comes = |index: u32| {
                    self.units
                        .get(index as usize)
                        .is_some_and(|other| other.team == unit.team && self.is_coming(other))
                };
                comes(hold.owner) || comes(hold.heir)
            })
        })
    }

    fn is_coming(&self, unit: &Unit) -> bool {
        let is_on_way = !unit.has_arrived && unit.errand != Errand::Idle;
        is_on_way && (unit.is_moving() || unit.stood(self.now) < HOPELESS)
    }
}
