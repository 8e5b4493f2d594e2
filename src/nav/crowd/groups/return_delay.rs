//! Units that were pushed off their goals delay their return while others are still under way nearby.
//!
//! Input: a unit that has arrived and was just pushed aside. Output: whether it stays where it is for now. If
//! it returned immediately, the units for which it made room would find it in their way again; where many
//! units have their goals next to each other, they would push one another about for long.

use crate::nav::crowd::board::{Board, Mode, Rung, Task, Unit};

/// Distance in cells within which other units count.
const REACH: u16 = 5;
/// Ticks without a step after which other units no longer count.
const STALLED_AFTER: u64 = 96;

/// Returns whether a unit does not return to its goal for now.
pub fn delays_return(board: &Board, index: u32) -> bool {
    let unit = &board.units[index];
    let would_return = unit.has_arrived
        && matches!(unit.task, Task::Route(_) | Task::Path)
        && unit.size == 1
        && !unit.is_unpushable
        && !unit.keeps_goal
        && unit.is_pushed()
        && unit.mode == Mode::Normal;
    would_return
        && unit.ticks_stood(board.now) < unit.ticks_until(Rung::Return)
        && board.is_any_near(unit.tail, REACH, |other| {
            other.team == unit.team && is_under_way(board, other)
        })
}

fn is_under_way(board: &Board, unit: &Unit) -> bool {
    let has_goal = !unit.has_arrived && unit.task != Task::Idle;
    has_goal && (unit.is_moving() || unit.ticks_stood(board.now) < STALLED_AFTER)
}
