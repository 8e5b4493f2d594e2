//! Targets of requests, how close to the target a path must end, and how often a request is retried.

use bevy::{ecs::entity::MapEntities, prelude::*};

use crate::nav::{Cell, CellRect, Goal, GridId};

/// Destination of a unit.
///
/// Positions are compared bit by bit, so that two targets at the position (NaN, NaN) are equal, too.
#[derive(Clone, Debug, MapEntities, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Clone)]
#[reflect(no_field_bounds)]
pub enum Target {
    /// A cell.
    Cell(Cell),
    /// The cell at a world position.
    Position(Vec2),
    /// An entity: the cell where it is when the request is accepted (and, with
    /// [`follow`](super::PathRequest::follow), wherever it moves afterwards). Its footprint is that of its
    /// [`NavBlocker`](crate::prelude::NavBlocker), otherwise the cells that it covers if it is a critter,
    /// otherwise one cell.
    Entity(#[entities] Entity),
    /// Any cell of a rectangle.
    Rect(CellRect),
    /// The one of these targets that is cheapest to reach, found by one search instead of one each. Entities
    /// that no longer exist are ignored.
    Nearest(#[entities] Vec<Self>),
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cell(a), Self::Cell(b)) => a == b,
            (Self::Position(a), Self::Position(b)) => {
                a.to_array().map(f32::to_bits) == b.to_array().map(f32::to_bits)
            }
            (Self::Entity(a), Self::Entity(b)) => a == b,
            (Self::Rect(a), Self::Rect(b)) => a == b,
            (Self::Nearest(a), Self::Nearest(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Target {}

impl Default for Target {
    /// Cell (0, 0).
    fn default() -> Self {
        Self::Cell(Cell::default())
    }
}

macro_rules! target_from {
    ($($type:ty => $kind:ident),*) => {
        $(impl From<$type> for Target {
            fn from(target: $type) -> Self {
                Self::$kind(target)
            }
        })*
    };
}

target_from!(Cell => Cell, Vec2 => Position, Entity => Entity, CellRect => Rect);

impl Target {
    /// Returns the number of targets.
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Nearest(targets) => targets.len().min(u32::MAX as usize) as u32,
            _ => 1,
        }
    }
}

/// How often, and when, a request that found no path is retried.
///
/// When the grid of the unit is edited (where there are links, any grid or link), a way may have been opened: the request is tried at
/// once, in addition to the retries counted here, but no earlier than [`after`](Self::after) ticks after its last try.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// // A worker waits at a locked door for as long as it takes.
/// let order = PathRequest::to(Cell::new(40, 12)).retry(Retry::forever());
/// # assert!(order.retry.is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Retry {
    /// Ticks before the first retry, at least 1. The delay doubles with each retry.
    pub after: u32,
    /// Maximum delay, in ticks.
    pub longest: u32,
    /// Maximum number of retries before the request fails; with [`u16::MAX`] it never fails.
    pub most: u16,
}

impl Default for Retry {
    /// The first retry after 32 ticks (half a second at 64 Hz), then twice the delay each time up to 512
    /// ticks, 8 retries: about 40 seconds in total.
    fn default() -> Self {
        Self { after: 32, longest: 512, most: 8 }
    }
}

impl Retry {
    /// The default delays, without end: the request waits until there is a path.
    #[must_use]
    pub fn forever() -> Self {
        Self { most: u16::MAX, ..Self::default() }
    }

    /// Whether a request that was retried `tries` times may be retried again.
    pub(crate) const fn allows_more(&self, tries: u16) -> bool {
        tries < self.most || self.most == u16::MAX
    }

    /// Returns the delay before retry number `tries` (counted from 1).
    pub(crate) fn pause(&self, tries: u16) -> u64 {
        let doublings = u32::from(tries.saturating_sub(1)).min(32);
        let pause = u64::from(self.after.max(1)) << doublings;
        pause.min(u64::from(self.longest.max(self.after).max(1)))
    }
}

/// What a follower sees of its target.
pub(super) struct SeenTarget {
    pub grid: GridId,
    pub goal: Goal,
    /// The cell on which the follower is, and whether it is near enough there.
    pub here: Cell,
    pub is_near: bool,
}
