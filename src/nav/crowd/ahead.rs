//! Who is on the cell where the shortest way of a unit leads, and what that makes waiting for it worth.
//!
//! Input: the unit, on open ground, and that way. Output: what [`rank`](super::rank) counts for waiting there and for
//! going on against others.

use super::{
    Crowd,
    board::{Hold, turn},
    unit::{NONE, STAY, Unit},
};

/// Sixteenths of a straight step that waiting counts for, at first.
const WAIT: u64 = 13;
/// The same behind somebody who stands, and wants to go on the same way; from 14 on a step to the side and
/// back is worth more than waiting.
const WAIT_IN_QUEUE: u64 = 16;
/// The same for a cell that is being left, and which somebody else has next.
const WAIT_FOR_TAKEN: u64 = 15;
/// The same near a [wall](super::walls) for a cell that somebody is entering who goes the same way.
const WAIT_FOR_ENTERED: u64 = 17;
/// Sixteenths by which waiting behind others who go the same way counts for more near a wall.
const MORE_BY_WALL: u64 = 5;
/// Sixteenths that a cell counts for in addition where somebody stands who comes the other way: it is
/// better to pass him than to drive him back in front of one.
pub(super) const ONCOMING: u64 = 6;

/// Who is on the cell where the shortest way leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// Somebody who stands and wants to go on the same way, but not to the same place.
    Queue,
    /// Somebody who leaves it to another.
    Taken,
    /// Somebody who is just entering it, on the same way, but not to the same place.
    Entered,
    /// Somebody who stands and wants to go the other way.
    Oncoming,
    /// Nobody, or whoever else.
    Other,
}

impl Ahead {
    /// Sixteenths of a straight step that waiting counts for, at first.
    pub(super) const fn wait(self, is_by_wall: bool) -> u64 {
        match self {
            Self::Queue if is_by_wall => WAIT_IN_QUEUE + MORE_BY_WALL,
            Self::Queue => WAIT_IN_QUEUE,
            Self::Taken if is_by_wall => WAIT_FOR_TAKEN + MORE_BY_WALL,
            Self::Taken => WAIT_FOR_TAKEN,
            Self::Entered => WAIT_FOR_ENTERED,
            Self::Oncoming | Self::Other => WAIT,
        }
    }
}

impl Crowd {
    /// Who holds the cell where the shortest way of a unit leads, and what he is about to do; `crowded` are the
    /// ways on which somebody stands.
    #[inline]
    pub(super) fn ahead(&self, unit: &Unit, best: u8, crowded: u8) -> Ahead {
        if best == STAY || unit.size > 1 || unit.is_ghost {
            return Ahead::Other;
        }
        let cell = self.board.beside(self.board.index(unit.tail), best);
        let Hold { owner, heir } = self.board.hold(cell);
        let is_standing = crowded >> best & 1 == 1;
        let is_asked = is_standing || heir != NONE || unit.is_by_wall;
        let Some(other) = self.units.get(owner as usize).filter(|_| is_asked) else {
            return Ahead::Other;
        };
        if !is_standing {
            let enters = self.board.covers(other.head, other.size, cell);
            let goes_along = !other.has_arrived && turn(other.direction, best) <= 1;
            return match (enters, heir) {
                _ if other.errand == unit.errand => Ahead::Other,
                (true, NONE) if goes_along => Ahead::Entered,
                (false, heir) if heir != NONE => Ahead::Taken,
                _ => Ahead::Other,
            };
        }
        match turn(other.wish, best) {
            _ if other.wish == STAY || unit.lines_up => Ahead::Other,
            3.. if !other.has_arrived => Ahead::Oncoming,
            0..=1 if other.errand != unit.errand && !other.lines_up => Ahead::Queue,
            _ => Ahead::Other,
        }
    }

    /// Whether somebody stands who would go straight on into the cell where a diagonal way leads; `crowded` are
    /// the ways on which somebody stands.
    #[inline]
    pub(super) fn cuts_in(&self, unit: &Unit, way: u8, crowded: u8) -> bool {
        [(1, 7), (7, 1)].into_iter().any(|(side, on)| {
            let (side, on) = ((way + side) & 7, (way + on) & 7);
            crowded >> side & 1 == 1 && {
                let cell = self.board.beside(self.board.index(unit.tail), side);
                let other = self.units.get(self.board.hold(cell).owner as usize);
                other.is_some_and(|other| {
                    other.wish == on && !other.is_moving() && !other.has_arrived && !other.is_idle()
                })
            }
        })
    }
}
