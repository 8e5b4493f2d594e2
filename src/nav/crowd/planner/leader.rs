//! The units right ahead of another one and right behind it, and how the one ahead changes the cost of waiting.
//!
//! Input: a unit on open terrain, and the direction of its shortest path. Output: what [`rank`](super::rank)
//! charges for waiting there, and for walking against oncoming units; and whether a unit holds up another.

use crate::nav::Topology;
use crate::nav::crowd::board::{Board, NONE, Reservation, STAY, Task, Unit};

/// Initial cost of waiting, in sixteenths of a straight step.
const WAIT: u64 = 13;

/// The initial cost of waiting behind each kind of [`Leader`], in their order: queued, taken, entering, oncoming, other. From 14
/// on, a step aside and back costs less than waiting.
type Waits = [u64; 5];

const IN_OPEN: Waits = [16, 15, WAIT, WAIT, WAIT];
/// Near a [wall](crate::nav::crowd::passages::wall_proximity), where lines turn into lanes side by side.
const NEAR_WALL: Waits = [21, 20, 17, WAIT, WAIT];
/// The same for units with their own paths, on squares: lanes form at the corner of a building (with 13 each, it takes 7 %
/// longer), but units do not push in from the side at a door (with `NEAR_WALL`, a door two cells wide takes 5 % longer).
const NEAR_WALL_ON_PATH: Waits = [19, 15, 15, WAIT, WAIT];

/// Sixteenths added to the cost of a cell on which an oncoming unit stands: passing that unit is better
/// than pushing it back.
pub const ONCOMING_PENALTY: u64 = 6;

/// The unit on the next cell of the shortest path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leader {
    /// A standing unit that goes in the same direction, but with another order.
    Queued,
    /// A unit that is leaving the cell, which has a next owner already.
    Taken,
    /// A unit that is entering the cell in the same direction, but with another order.
    Entering,
    /// A standing unit that goes in the opposite direction.
    Oncoming,
    /// None, or any other unit.
    Other,
}

impl Leader {
    /// Returns the initial cost of waiting of a unit, in sixteenths of a straight step.
    pub fn wait_cost(self, unit: &Unit, topology: Topology) -> u64 {
        let waits = match (unit.is_near_wall, unit.task, topology) {
            (false, ..) => IN_OPEN,
            (true, Task::Path, Topology::Square) => NEAR_WALL_ON_PATH,
            (true, ..) => NEAR_WALL,
        };
        waits[self as usize]
    }
}

/// Returns which kind of unit holds the next cell of a unit's shortest path. `occupied` has a bit for
/// each direction in which a unit stands on the neighboring cell.
#[inline]
pub fn leader(board: &Board, unit: &Unit, best: u8, occupied: u8) -> Leader {
    if best == STAY || unit.size > 1 {
        return Leader::Other;
    }
    let cell = board.reservations.beside(unit.tail, best);
    let Reservation { owner, next_owner } = board.reservations.get(cell);
    let is_standing = occupied >> best & 1 == 1;
    let is_relevant = is_standing || next_owner != NONE || unit.is_near_wall;
    let Some(other) = board.units.get(owner).filter(|_| is_relevant) else {
        return Leader::Other;
    };
    if !is_standing {
        let enters = board.reservations.covers(other.head, other.size, cell);
        let goes_along =
            !other.has_arrived && board.topology.turn_angle(other.direction, best) <= 1;
        return match (enters, next_owner) {
            _ if other.shares_goal_with(unit) => Leader::Other,
            (true, NONE) if goes_along => Leader::Entering,
            (false, next_owner) if next_owner != NONE => Leader::Taken,
            _ => Leader::Other,
        };
    }
    match board.topology.turn_angle(other.preferred_direction, best) {
        // The direction of a unit at rest is that of its last step.
        _ if other.preferred_direction == STAY || other.rests_on_goal() => Leader::Other,
        3.. if !other.has_arrived => Leader::Oncoming,
        0..=1 if !other.shares_goal_with(unit) => Leader::Queued,
        _ => Leader::Other,
    }
}

/// Returns the direction in which a unit moves or, while it stands, wants to move; [`STAY`] if there is none.
fn going_to(unit: &Unit) -> u8 {
    if unit.is_moving() { unit.direction } else { unit.preferred_direction }
}

/// Returns whether a unit of the same size on the next cell of a unit's shortest path goes on in about that direction.
pub fn goes_along_ahead(board: &Board, unit: &Unit, best: u8) -> bool {
    if best == STAY {
        return false;
    }
    let ahead = board.owner(board.reservations.beside(unit.tail, best));
    ahead.is_some_and(|ahead| {
        let direction = going_to(ahead);
        let goes_on =
            ahead.size == unit.size && !ahead.has_arrived && !ahead.is_idle() && ahead.speed > 0;
        goes_on && direction != STAY && board.topology.turn_angle(direction, best) <= 2
    })
}

/// Returns whether a unit is under way right behind another, and in about its direction.
pub fn is_followed(board: &Board, unit: &Unit) -> bool {
    let direction = unit.direction & 7;
    let behind = board.owner(board.reservations.beside(unit.tail, (direction + 4) & 7));
    behind.is_some_and(|behind| {
        let to = going_to(behind);
        behind.is_under_way() && to != STAY && board.topology.turn_angle(to, direction) <= 1
    })
}

/// Returns whether a diagonal step would cut in front of a standing unit that is about to go straight on
/// into the same cell. `occupied` as in [`leader`].
#[inline]
pub fn cuts_in(board: &Board, unit: &Unit, direction: u8, occupied: u8) -> bool {
    [(1, 7), (7, 1)].into_iter().any(|(side, on)| {
        let (side, on) = ((direction + side) & 7, (direction + on) & 7);
        occupied >> side & 1 == 1 && {
            let other = board.owner(board.reservations.beside(unit.tail, side));
            other.is_some_and(|other| {
                other.preferred_direction == on
                    && !other.is_moving()
                    && !other.has_arrived
                    && !other.is_idle()
            })
        }
    })
}
