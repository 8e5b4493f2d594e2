//! How a unit gets back to the goal off which it was pushed, where others are at rest around it.
//!
//! Input: a unit that only returns to its goal, and the units around it. Output: whether it reclaims its goal, and whether
//! another unit makes room for it. Units that arrive in a crowd push others off their goals, so in the end many stand
//! on each other's goals, and each waits for another. When all is calm, such a unit may push any unit that has arrived, whatever
//! its priority. Units that were on their own goals walk back there, and so do those that stood on goals of others. This comes to
//! an end: each unit counts the steps that it wastes in this way, and after [`MAX_WASTED`] it takes no further part.

use crate::nav::crowd::board::{Board, Rung, Task, Unit};

/// Distance in cells within which nobody may move. Without this rule, units that reclaim goals push one another about: on
/// hexagons, a quarter of 500 units behind a doorway are still off their goals after 4,000 ticks; with it, none.
const CALM_REACH: u16 = 4;
/// Steps that a unit may waste, for units that reclaim their goals and on its own way back. After that it neither reclaims
/// its goal nor makes room for others that do, so that all units come to rest.
const MAX_WASTED: u8 = 32;

/// Returns whether a unit reclaims its goal: it has waited, nobody near moves, and the goal is free or held by units that
/// are off their own goals.
pub fn reclaims_goal(board: &Board, index: u32) -> bool {
    let unit = &board.units[index];
    unit.is_returning()
        && unit.task == Task::Path
        && unit.wasted_steps < MAX_WASTED
        && rung(board, index).is_some_and(|rung| board.has_waited_for(index, rung))
        && !board.is_any_near(unit.tail, CALM_REACH, Unit::is_moving)
}

/// Returns the rung from which on a unit reclaims its goal; `None` while a unit that is not off its own goal holds it.
fn rung(board: &Board, index: u32) -> Option<Rung> {
    let is_free = is_goal_open(board, index, |_| false);
    let is_open = is_free || is_goal_open(board, index, |other| other.goal != other.tail);
    let is_far = board.units[index].returns_from_afar();
    is_open.then_some(match (is_far, is_free) {
        (true, _) => Rung::LetOut,
        (false, true) => Rung::ReclaimFree,
        (false, false) => Rung::Reclaim,
    })
}

/// Returns whether a unit makes room for `root`, which only returns to its goal. A unit that has not yet arrived does not. If
/// `root` reclaims its goal, all others do, up to a number of steps. Otherwise a unit that has given up does not, and a unit
/// on its own way back does. A unit at rest does only while `root` has not given up and the goal of `root` is free.
pub fn yields_to_returning(board: &Board, (root, reclaims_goal): (u32, bool), other: u32) -> bool {
    let (root_unit, other_unit) = (&board.units[root], &board.units[other]);
    if !other_unit.is_returning() {
        return false;
    }
    if reclaims_goal {
        return other_unit.wasted_steps < MAX_WASTED;
    }
    let is_shut_out = || !root_unit.has_given_up() && is_goal_open(board, root, |_| false);
    !other_unit.has_given_up() && (other_unit.goal != other_unit.tail || is_shut_out())
}

/// Returns whether the goal of a unit is free, or held only by returning units for which `counts_as_free` holds.
fn is_goal_open(board: &Board, index: u32, counts_as_free: impl Fn(&Unit) -> bool) -> bool {
    let is_free = |other: &Unit| other.is_returning() && counts_as_free(other);
    board.goal_holders(index).is_some_and(|mut holders| holders.all(is_free))
}
