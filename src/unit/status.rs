//! The outcome of a unit's request: its status, its path, and the events when something ends.
//!
//! Written by `request::outcome` alone.

use std::sync::Arc;

use bevy::prelude::*;

use super::NavAgent;
use crate::{
    links::{Destination, Hop, NextLink},
    nav::{
        Cell, Goal, GridId, Hindrance, Path, PathFailure, PathKind, PathQuery, Priority,
        RequestClass, Ticket,
    },
};

/// State of a unit's request, and its reason. Read-only: the plugin writes it.
///
/// It does not say whether the unit moves at this moment: units wait for each other on their way. See
/// [`CritterState::is_moving`](crate::prelude::CritterState::is_moving).
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
pub enum PathStatus {
    /// No request.
    #[default]
    Idle,
    /// Requested; the answer is awaited.
    Searching,
    /// There is a path in [`NavPath`], and the game moves the unit along it: it has no
    /// [`Critter`](crate::prelude::Critter) and no [`PathSteering`](crate::prelude::PathSteering). At the end of a path
    /// of kind [`ToLink`](PathKind::ToLink) the game takes the unit across and, if the other end is on another grid, sets that
    /// grid in its [`NavAgent`](crate::prelude::NavAgent): then the next path is found.
    Found(PathKind),
    /// The critter, or the unit that is steered, is on its way.
    Walking(PathKind),
    /// The critter is on its way, but has not been able to move for long, for this reason; or a steered unit has come no nearer
    /// to the end of its path for long. It continues as soon as it can.
    Stuck(Hindrance),
    /// The critter is crossing a [`NavLink`](crate::prelude::NavLink); then it goes on.
    Crossing,
    /// An edit of the grid cut the path off; another is being searched for.
    Repairing,
    /// The critter stands at the end of its path, or the steered unit has come there.
    Arrived(PathKind),
    /// There is no path at present, for this reason; the request will be tried again
    /// ([`PathRequest::retry`](crate::prelude::PathRequest::retry)).
    Waiting(PathFailure),
    /// There is no path, for this reason.
    Failed(PathFailure),
}

impl PathStatus {
    /// Whether a critter or a steered unit is on its way.
    pub(crate) const fn is_walking(&self) -> bool {
        matches!(self, Self::Walking(_) | Self::Stuck(_))
    }

    /// Whether there is a path that the unit follows.
    pub(crate) const fn has_path(&self) -> bool {
        self.is_walking() || matches!(self, Self::Found(_))
    }

    /// Whether the request is still in progress: a path, the rest of one, a retry or an arrival is yet to come.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        use PathKind::{FirstSegment, ToLink};
        use PathStatus::{Crossing, Found, Repairing, Searching, Waiting};
        self.is_walking()
            || matches!(self, Searching | Waiting(_) | Repairing | Crossing)
            || matches!(self, Found(FirstSegment | ToLink))
    }
}

/// The path last found for a unit; no steps at first and after a failure. Read-only. How far a
/// critter has come on it is in [`CritterState`](crate::prelude::CritterState).
#[derive(Component, Clone, Debug, Default, Deref, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
pub struct NavPath(pub(crate) Path);

/// The unit's request as the plugin resolved it. A clone of the unit makes a request of its own.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
pub struct RequestState {
    /// Requests that were replaced and removed while under way, and whose cancellation is not announced yet; and whether the last
    /// one that was dropped is among the first.
    #[reflect(ignore)]
    pub(crate) replaced: u8,
    #[reflect(ignore)]
    pub(crate) removed: u8,
    #[reflect(ignore)]
    pub(crate) is_last_replaced: bool,
    /// Number of the request last inserted: each one inserted anywhere counts one up.
    #[reflect(ignore)]
    pub(crate) issued: u64,
    /// Number of the request last read from the inbox, which the other fields are about: the sort key
    /// wherever order is observable. 0 before the first.
    #[reflect(ignore)]
    pub(crate) accepted: u64,
    /// The unit's own agent when it was last looked at.
    #[reflect(ignore)]
    pub(crate) agent: NavAgent,
    /// If the request last read has failed or arrived and was then removed or replaced: its last status, and whether it followed
    /// an entity.
    #[reflect(ignore)]
    pub(crate) ended: Option<(PathStatus, bool)>,
    pub(crate) grid: GridId,
    pub(crate) query: PathQuery,
    /// Its request names a grid or a profile.
    #[reflect(ignore)]
    pub(crate) overrides_agent: bool,
    /// All goals of the query, where there are several.
    #[reflect(ignore)]
    pub(crate) goals: Option<Arc<[Goal]>>,
    pub(crate) priority: Priority,
    pub(crate) class: RequestClass,
    /// Number of retries, and index of the current target: 0 is the first.
    pub(crate) tries: u16,
    pub(crate) attempt: u16,
    /// The slot that it has got in exchange from another member of its group: its goal from then on.
    #[reflect(ignore)]
    pub(crate) slot: Option<Cell>,
    /// Where its target was when this attempt was read, unless the request follows it: an entity may move or be despawned afterwards.
    #[reflect(ignore)]
    pub(crate) places: Option<Arc<[Destination]>>,
    /// Of several targets the one to which its path leads, by its place in their list.
    pub(crate) nearest: Option<u32>,
    /// The tick for which its latest further attempt was set.
    pub(crate) due: Option<u64>,
    /// The tick in which it was last found that there is no path at present.
    pub(crate) last_tried: u64,
    /// Between two retries an edit has caused another try: for how many ticks the request waits after it if that fails, too.
    pub(crate) rest_of_pause: Option<u64>,
    /// It has got another path since its target moved.
    pub(crate) has_followed: bool,
    /// The unit had arrived, and was sent on to another slot of its group: its arrival was announced already.
    pub(crate) is_announced: bool,
    /// Its place in the queue while an answer is awaited.
    pub(crate) ticket: Option<Ticket>,
    #[reflect(ignore)]
    pub(crate) journey: Journey,
}

/// What a request over links is about, beyond its present leg.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Journey {
    /// The grid on which the unit has come since the request was accepted.
    pub(crate) grid: Option<GridId>,
    /// Where it was then, once it has left: goals without a grid of their own are there.
    pub(crate) left: Option<GridId>,
    /// The crossing to which the present leg leads.
    pub(crate) next: Option<NextLink>,
    /// The goals, where links lead from the unit's grid; any of them ends the request.
    pub(crate) goals: Option<Arc<[Destination]>>,
    /// The way back over the link that the unit crossed last, if it did not land on the best cell.
    pub(crate) back: Option<Hop>,
    /// How often a path was put off because the costs of links were not known.
    pub(crate) waits: u8,
    /// Since when there has been no path because the costs of links were not known, in ticks of the links.
    pub(crate) without_costs_since: Option<u64>,
}

/// After how many ticks old costs of links count: a second, at Bevy's 64 ticks per second.
const MOST_TICKS_WITHOUT_COSTS: u64 = 64;

impl Journey {
    /// Whether it was put off for so long that the costs of links may never be known: they are edited all the time.
    pub(crate) fn accepts_old_costs(&self, now: u64) -> bool {
        let since = self.without_costs_since.unwrap_or(now);
        now.saturating_sub(since) >= MOST_TICKS_WITHOUT_COSTS
    }
}

impl RequestState {
    /// The request in cells: start and goal, profile, reach.
    #[must_use]
    pub const fn query(&self) -> PathQuery {
        self.query
    }

    /// The grid it runs on.
    #[must_use]
    pub const fn grid(&self) -> GridId {
        self.grid
    }

    /// All goals, where there are several: the unit goes to the one that is cheapest to reach.
    #[must_use]
    pub fn goals(&self) -> &[Goal] {
        self.goals.as_deref().unwrap_or_default()
    }

    /// Number of retries, see [`PathRequest::retry`](crate::prelude::PathRequest::retry).
    #[must_use]
    pub const fn retries(&self) -> u16 {
        self.tries
    }

    /// Index of the current target: 0 is the first, then come the alternatives.
    #[must_use]
    pub const fn target_index(&self) -> u16 {
        self.attempt
    }

    /// Its place in the queue while an answer is awaited.
    #[must_use]
    pub const fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }
}

/// A path was found for the entity. One request may trigger it several times: for the first segment
/// ([`FirstSegment`](PathKind::FirstSegment)) and the rest of a long path, for each leg over links, for each new path after an edit,
/// and when a followed target has moved.
///
/// For a unit that the game moves, without a [`Critter`](crate::prelude::Critter) or steering, a whole path ends the request.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct PathFound {
    /// The unit.
    pub entity: Entity,
    /// Whether the path leads to the goal.
    pub kind: PathKind,
    /// Whether this is the rest of a long path, added to the [`NavPath`] that the unit has already: what was found before stays.
    pub is_rest: bool,
}

/// A request ended because there is no path, for this reason.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct PathFailed {
    /// The unit.
    pub entity: Entity,
    /// Why.
    pub reason: PathFailure,
}

/// A request was removed or replaced before it was carried out. It did not fail. Of requests that a unit got while the plugin did not
/// tick, at most 255 are reported.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct PathCanceled {
    /// The unit.
    pub entity: Entity,
    /// Whether another request took its place.
    pub reason: CancelReason,
}

/// Why a request was canceled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub enum CancelReason {
    /// Another request was inserted in its place.
    Replaced,
    /// It was removed from the unit.
    Removed,
}

/// The path of a unit without a [`Critter`](crate::prelude::Critter) is no longer valid: an edit has cut it off; its `Critter` was
/// removed, or its [`PathSteering`](crate::prelude::PathSteering) inserted or removed, on the way; a steered unit does not get back
/// to its path; the link ahead was shut or leads elsewhere; or the game has replaced
/// [`Pathfinder`](crate::prelude::Pathfinder). Stop following [`NavPath`]: another path is searched for from where the unit's
/// `Transform` is then, and [`PathFound`] or [`PathFailed`] follows.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct PathInvalidated {
    /// The unit.
    pub entity: Entity,
}

/// A critter, or a unit with [`PathSteering`](crate::prelude::PathSteering), has come to the end of its path.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Arrived {
    /// The unit.
    pub entity: Entity,
    /// Whether the end is the goal.
    pub kind: PathKind,
    /// The cell it stands on; of a steered unit the end of its path.
    pub cell: Cell,
}
