//! Whether a pushed unit makes room, and how much.
//!
//! Input: the unit on top of the stack of a plan, and a way that it could go. Output: whether whoever
//! pushes it can follow at once, later, or not at all.

use super::{
    Crowd,
    board::{Place, turn},
};

impl Crowd {
    /// Whether whoever pushes the unit on top of the stack could not follow at once if that went this
    /// way; `None` where it would make no room at all. Large units may need several steps to the side.
    pub(super) fn room_made(&self, top: usize, way: u8) -> Option<bool> {
        let (frame, pusher) = (&self.stack[top], &self.stack[top.checked_sub(1)?]);
        let turned = turn(frame.push, way);
        let (unit, pusher) = (&self.units[frame.unit as usize], &self.units[pusher.unit as usize]);
        if turned == 4 {
            return None;
        }
        if unit.size == 1 && pusher.size == 1 {
            return Some(turned > 2);
        }
        let wanted = self.board.entered(pusher.tail, pusher.size, pusher.direction);
        let covered = |at: Place| {
            let is_covered = |&&cell: &&u32| self.board.covers(at, unit.size, cell);
            wanted.as_slice().iter().filter(is_covered).count()
        };
        match covered(unit.tail.step(way)) {
            0 => Some(turned > 2),
            after => (after < covered(unit.tail)).then_some(true),
        }
    }
}
