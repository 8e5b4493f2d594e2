//! Whether a pushed unit makes room, and how soon.
//!
//! Input: the unit on top of the stack of a plan, and a direction in which it could go. Output: whether its
//! pusher can follow immediately, later, or not at all.

use super::Planner;
use crate::nav::crowd::board::{Board, GridPos, turn_angle};

impl Planner {
    /// Returns whether the pusher of the unit on top of the stack could not follow immediately if that unit
    /// went in this direction; `None` if the step would make no room at all. Large units may need several
    /// steps to the side.
    pub fn delays_pusher(&self, board: &Board, top: usize, direction: u8) -> Option<bool> {
        let (frame, pusher) = (&self.stack[top], &self.stack[top.checked_sub(1)?]);
        let angle = turn_angle(frame.push, direction);
        let (unit, pusher) = (&board.units[frame.unit], &board.units[pusher.unit]);
        if angle == 4 {
            return None;
        }
        if unit.size == 1 && pusher.size == 1 {
            return Some(angle > 2);
        }
        let needed = board.reservations.entered(pusher.tail, pusher.size, pusher.direction);
        let covered = |at: GridPos| {
            let is_covered = |&&cell: &&u32| board.reservations.covers(at, unit.size, cell);
            needed.as_slice().iter().filter(is_covered).count()
        };
        match covered(unit.tail.step(direction)) {
            0 => Some(angle > 2),
            after => (after < covered(unit.tail)).then_some(true),
        }
    }
}
