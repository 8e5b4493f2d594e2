//! What a crowd reports: the events of a tick, why a unit does not move, why a call failed, and counters of what the
//! crowd has done so far.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::UnitId;
use crate::nav::Cell;

/// Something that happened to a unit in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum CrowdEvent {
    /// It stands on its goal for the first time since its last order, or since it got another slot.
    Arrived {
        /// The unit.
        unit: UnitId,
        /// Its goal.
        cell: Cell,
    },
    /// A member of a group goes to another slot: it has exchanged slots with a member that stood the other way round and
    /// may be far away; it could not reach its own slot for long, and takes the cell where it stands; or a wall stands on
    /// its slot, and it gets the nearest cell that is no unit's goal.
    SlotChanged {
        /// The unit.
        unit: UnitId,
        /// Its slot from now on.
        cell: Cell,
        /// Whether it had stood on its slot before: it goes to the new one without pushing other units, and does not
        /// arrive again.
        has_arrived: bool,
    },
    /// It has not been able to move for long, or has moved for long and come no nearer to its goal
    /// ([`Hindrance::Circling`]). Reported once until it moves again, gets another path, or is put
    /// elsewhere.
    Stuck {
        /// The unit.
        unit: UnitId,
        /// Why it is stuck.
        why: Hindrance,
    },
    /// It has found no path for a while ([`Hindrance::NoPath`]). Reported again as long as that is so.
    Lost {
        /// The unit.
        unit: UnitId,
    },
}

/// What the crowd has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct CrowdCounters {
    /// Steps begun.
    pub steps: u64,
    /// Decisions made, one for each unit planned or pushed in a plan.
    pub decisions: u64,
    /// Decisions that ended in waiting.
    pub waits: u64,
    /// Steps made to let another unit pass.
    pub pushes: u64,
    /// Long chains of pushes and rings, searched for on behalf of units that could not move for long.
    pub chains: u64,
    /// Times that a unit stood back for units that it shut in.
    pub dead_ends: u64,
    /// Times that a unit stood back because it had come no nearer to its goal for many steps.
    pub pauses: u64,
    /// Exchanges of slots between members of a group.
    pub exchanges: u64,
    /// Members of groups that took the cell where they stood as their slot, see [`CrowdEvent::SlotChanged`].
    pub settled: u64,
    /// Pushes that were undone because the pushed unit had nowhere to go.
    pub undone: u64,
    /// Longest time that a unit waited, in ticks.
    pub longest_wait: u64,
}

impl core::iter::Sum for CrowdCounters {
    fn sum<I: Iterator<Item = Self>>(counters: I) -> Self {
        counters.fold(Self::default(), |a, b| Self {
            steps: a.steps + b.steps,
            decisions: a.decisions + b.decisions,
            waits: a.waits + b.waits,
            pushes: a.pushes + b.pushes,
            chains: a.chains + b.chains,
            dead_ends: a.dead_ends + b.dead_ends,
            pauses: a.pauses + b.pauses,
            exchanges: a.exchanges + b.exchanges,
            settled: a.settled + b.settled,
            undone: a.undone + b.undone,
            longest_wait: a.longest_wait.max(b.longest_wait),
        })
    }
}

/// Why a unit does not move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub enum Hindrance {
    /// Nothing: the unit moves, or it has nowhere to go.
    #[default]
    None,
    /// It waits in a queue: the unit ahead has not made room yet.
    Queue,
    /// The units in its way have nowhere to go.
    Jam,
    /// A unit that it may not push is in its way, for example one of another team. A unit with
    /// `PathSteering`: something is in its way.
    Obstacle,
    /// Other units come towards it through a passage one cell wide.
    Oncoming,
    /// No path leads from here to its goal.
    NoPath,
    /// Its speed is 0.
    NoSpeed,
    /// It walks, but comes no nearer to its goal, although it has stood back many times.
    Circling,
    /// There is no free cell near the position where it was put, so it is not on the grid; or it has grown, has
    /// no room for its new size, and cannot move.
    NoRoom,
    /// It waits on a link: the link is full, or units on its landing cells do not make room.
    Link,
}

impl core::fmt::Display for Hindrance {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::None => "nothing is in the way",
            Self::Queue => "the unit ahead has not made room yet",
            Self::Jam => "the units in the way have nowhere to go",
            Self::Obstacle => "a unit that cannot be pushed is in the way",
            Self::Oncoming => "others come out of the passage first",
            Self::NoPath => "no path leads to its goal from here",
            Self::NoSpeed => "its speed is 0",
            Self::Circling => "it walks but comes no nearer to its goal",
            Self::NoRoom => "there is no free cell near its position",
            Self::Link => "it cannot cross the link yet",
        })
    }
}

/// Why a call on a crowd failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrowdError {
    /// The unit does not exist, or was removed.
    NoSuchUnit,
    /// The grid does not know the unit's profile, or its units are too large.
    Profile,
    /// The crowd was made for a grid of another size, or of another [shape](crate::nav::topology::Topology) of cells.
    OtherGrid,
    /// The unit cannot stand there: the cell is off the grid or impassable to it.
    Impassable(Cell),
    /// Another unit holds this cell.
    Held(Cell),
}

impl core::fmt::Display for CrowdError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchUnit => write!(f, "no such unit"),
            Self::Profile => write!(f, "the profile is not known, or its units are too large"),
            Self::OtherGrid => {
                write!(f, "the grid and the crowd differ in size or in the shape of cells")
            }
            Self::Impassable(cell) => write!(f, "a unit cannot stand on {cell}"),
            Self::Held(cell) => write!(f, "{cell} is held by another unit"),
        }
    }
}

impl core::error::Error for CrowdError {}
