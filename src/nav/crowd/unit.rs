//! What is known of a unit: where it is, what it wants, why it does not get it.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{Hindrance, board::Place, clock::PARTS, group::GroupSlot, guide::RouteId};
use crate::nav::{path::PathCost, terrain::ProfileId, walk::PROGRESS_PER_COST};

/// No unit, no cell.
pub(super) const NONE: u32 = u32::MAX;
/// The turn of those who are to clear a passage: before all others, but for those who were shut in.
const AHEAD: u64 = super::FIRST_TURN - 1;
/// Steps after which a unit that only goes back to its goal makes no more that lead away from it: else two
/// with the same goal would walk about for ever.
const MOST_ASTRAY: u8 = 4;
/// The same for a member of a group that has come near its place and was not there yet.
const MOST_BEFORE: u8 = 64;
/// No direction: the unit stays, or nobody pushes it.
pub(super) const STAY: u8 = 8;

/// A unit of a [`Crowd`](super::Crowd). Never given to another unit, even after this one is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl UnitId {
    /// The unit as a number, different for every unit that ever was in a crowd.
    #[must_use]
    pub const fn bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// Its slot in the crowd, for lists beside it: below the greatest number of units there ever were at
    /// the same time.
    #[must_use]
    pub const fn slot(self) -> usize {
        self.index as usize
    }
}

/// How a unit moves and what others may do to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct UnitSettings {
    /// Where it can stand, what ground costs it, and its size.
    pub profile: ProfileId,
    /// Work done in a tick, in cost × [`PROGRESS_PER_COST`]; see [`speed`](Self::ticks_per_cell). 0
    /// stands still.
    pub speed: u64,
    /// Units of other teams are obstacles to each other: nobody pushes them. Default 0.
    pub team: u8,
    /// Whether units of its team may push it aside. Default true.
    pub is_pushable: bool,
    /// Whether it walks through everybody and everybody through it. Default false.
    pub is_ghost: bool,
}

impl Default for UnitSettings {
    /// Ten ticks for a straight step over plain ground.
    fn default() -> Self {
        Self {
            profile: ProfileId::default(),
            speed: 0,
            team: 0,
            is_pushable: true,
            is_ghost: false,
        }
        .ticks_per_cell(10)
    }
}

impl UnitSettings {
    /// The same at a speed of so many ticks for a straight step over plain ground (at least one).
    #[must_use]
    pub const fn ticks_per_cell(mut self, ticks: u32) -> Self {
        let ticks = if ticks == 0 { 1 } else { ticks as u64 };
        self.speed = (PathCost::PLAIN_STEP.0 * PROGRESS_PER_COST).div_ceil(ticks);
        self
    }
}

/// What a unit has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Errand {
    /// Nothing.
    #[default]
    Idle,
    /// Go where a field leads.
    Route(RouteId),
    /// Find a place of its own near the goal of its group.
    Group(GroupSlot),
    /// Go to its own place, or another of the same group.
    Place(GroupSlot),
    /// Follow its own path.
    Way,
}

impl Errand {
    /// The group whose slots it goes to.
    pub(super) const fn group(self) -> Option<GroupSlot> {
        match self {
            Self::Group(id) | Self::Place(id) => Some(id),
            Self::Idle | Self::Route(_) | Self::Way => None,
        }
    }
}

/// What a unit does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// The slot is free.
    #[default]
    Absent,
    /// Stands and wants nothing.
    Standing,
    /// Stands, wants to move, and is in the wheel for another try.
    Waiting,
    /// Planned to move, in the tick under way; may be undone.
    Planned,
    /// Between two cells.
    Moving,
}

/// Two lines of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
pub(super) struct Unit {
    pub(super) tail: Place,
    pub(super) head: Place,
    pub(super) state: State,
    pub(super) size: u8,
    pub(super) profile: u8,
    pub(super) team: u8,
    /// Direction of the step under way, or of the last one.
    pub(super) direction: u8,
    pub(super) is_pushable: bool,
    pub(super) is_ghost: bool,
    /// It has reached its goal since the last order.
    pub(super) has_arrived: bool,
    /// It needs other room than it has: it cannot move until it is given some.
    pub(super) is_misfit: bool,
    /// The ground under it was built over.
    pub(super) is_trapped: bool,
    /// The side on which it leaves that ground.
    pub(super) exit: u8,
    /// It stands back for others on purpose; anybody may push it.
    pub(super) yields: bool,
    /// It leaves it to those whom it shuts in to move.
    pub(super) stands_back: bool,
    /// How often it has stood back since its last order; whenever that is odd it makes room the other
    /// way round.
    pub(super) tries: u8,
    pub(super) is_reported_stuck: bool,
    /// Steps that did not help it: made for others that only go back to their goals, on its own way back, or
    /// near its place in a group. Since its last order, or since it arrived.
    pub(super) led_astray: u8,
    /// Its step under way was made for somebody behind it.
    pub(super) is_pushed: bool,
    /// A wall is near the cell where it was last decided, and no passage.
    pub(super) is_by_wall: bool,
    /// It waits for a passage, or behind somebody who does.
    pub(super) lines_up: bool,
    pub(super) hindrance: Hindrance,
    /// Whoever failed because of this unit, and wants to know when something changes.
    pub(super) wakes: u32,
    /// Whom it lets pass: it goes up that one's way, until that one is past it.
    pub(super) flees: u32,
    /// Where the shortest way led when it was last decided, whoever stood there.
    pub(super) wish: u8,
    /// Steps on which it goes before others: it is in a passage, or just came out.
    pub(super) clears: u8,
    /// A cell that is kept for it until whoever leaves it is gone.
    pub(super) reserves: u32,
    /// The last tick in which it was settled that it stays.
    pub(super) settled_in: u32,
    /// The last search for a chain that looked at it, and from which sides.
    pub(super) searched: u32,
    pub(super) sides: u8,
    /// The last tick in which it was listed to be decided.
    pub(super) listed_in: u32,
    /// The last tick in which it was looked where its field leads, and the number of that view.
    pub(super) viewed_in: u32,
    pub(super) view: u32,
    /// Begin and end of the step under way, in parts of a tick.
    pub(super) start: u64,
    pub(super) end: u64,
    /// Parts of a tick left over from the last step, and the tick they belong to.
    pub(super) spare: u32,
    pub(super) spare_in: u32,
    pub(super) speed: u64,
    /// Tick of the last order: the older, the sooner its turn.
    pub(super) since: u64,
    /// Tick since which it has not moved though it wants to, or was last given hope to.
    pub(super) waits_since: u32,
    /// Tick of its last step or order.
    pub(super) stands_since: u32,
    pub(super) errand: Errand,
    /// The slot of its group that it goes to, by number; [`NONE`] while it has none.
    pub(super) slot: u32,
    pub(super) generation: u32,
}

const _: () = assert!(size_of::<Unit>() == 128);

impl Unit {
    /// A free slot, for the unit that is to have it next.
    pub(super) fn vacant(generation: u32) -> Self {
        let none = Self { wakes: NONE, flees: NONE, reserves: NONE, slot: NONE, ..Self::default() };
        Self { generation, wish: STAY, ..none }
    }

    pub(super) fn is_moving(&self) -> bool {
        matches!(self.state, State::Moving | State::Planned)
    }

    pub(super) fn is_there(&self) -> bool {
        self.state != State::Absent
    }

    /// For how many ticks it has not moved though it wants to, or since it was given new hope.
    pub(super) fn waited(&self, now: u64) -> u64 {
        u64::from((now as u32).wrapping_sub(self.waits_since))
    }

    /// Ticks since its last step or order.
    pub(super) fn stood(&self, now: u64) -> u64 {
        u64::from((now as u32).wrapping_sub(self.stands_since))
    }

    /// Whether one of this team may push it.
    pub(super) fn gives_way_to(&self, team: u8) -> bool {
        self.is_pushable && self.speed > 0 && !self.is_misfit && self.team == team
    }

    /// Whether it has nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        self.errand == Errand::Idle && self.flees == NONE && !self.is_trapped
    }

    /// Whether it only goes back to where it was sent, after it was pushed aside: it pushes nobody for
    /// that, so those who were sent to the same place do not fight for it.
    pub(super) fn is_back_only(&self) -> bool {
        self.has_arrived
            && matches!(self.errand, Errand::Way | Errand::Place(_))
            && self.flees == NONE
            && !self.is_trapped
    }

    /// Whether it has tried often enough to get to its place, or back to it.
    pub(super) fn has_given_up(&self) -> bool {
        self.led_astray >= if self.has_arrived { MOST_ASTRAY } else { MOST_BEFORE }
    }

    /// Its turn: lower goes first.
    pub(super) fn turn(&self, index: u32) -> u64 {
        let class = match (self.errand, self.has_arrived) {
            _ if self.flees != NONE || self.is_trapped => 0,
            (Errand::Idle, _) => 2,
            (_, true) => 1,
            (_, false) => 0,
        };
        let since = if self.clears > 0 { self.since.min(AHEAD) } else { self.since };
        class << 62 | (since & 0x3fff_ffff) << 32 | u64::from(index)
    }

    /// Share of the step under way that is done at the end of tick `now`: numerator and denominator.
    pub(super) fn progress(&self, now: u64) -> (u64, u64) {
        if self.state != State::Moving {
            return (0, 1);
        }
        let needed = (self.end - self.start).max(1);
        ((now * PARTS).saturating_sub(self.start).min(needed), needed)
    }
}
