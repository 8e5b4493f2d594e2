//! What is said of a unit's request: its status, its path, and the events when something ends.

use std::sync::Arc;

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use crate::nav::{
    cell::Cell,
    crowd::Hindrance,
    goal::Goal,
    path::{Path, PathKind},
    query::{GridId, PathFailure, PathQuery},
    queue::{Priority, RequestClass, Ticket},
};

/// What is going on with a unit's request, and why. Read-only: the plugin writes it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
pub enum PathStatus {
    /// No request.
    #[default]
    Idle,
    /// Asked; the answer is waited for.
    Searching,
    /// There is a path in [`NavPath`], and no critter that walks it by itself.
    Found(PathKind),
    /// The critter walks.
    Walking(PathKind),
    /// The critter is on its way, but has not been able to move for long, for this reason; it goes on as
    /// soon as it can.
    Stuck(Hindrance),
    /// An edit of the grid cut the way off; another is being searched for.
    Repairing,
    /// The critter stands at the end of its path.
    Arrived(PathKind),
    /// There is no path at present, for this reason; it will be tried again
    /// ([`PathRequest::retry`](super::PathRequest::retry)).
    Waiting(PathFailure),
    /// There is no path, for this reason.
    Failed(PathFailure),
}

impl PathStatus {
    /// Whether a critter is under way.
    pub(crate) const fn is_walking(&self) -> bool {
        matches!(self, Self::Walking(_) | Self::Stuck(_))
    }

    /// Whether more is to come of the request: a path, the rest of one, another try, an arrival.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        matches!(
            self,
            Self::Searching
                | Self::Waiting(_)
                | Self::Walking(_)
                | Self::Stuck(_)
                | Self::Found(PathKind::Beginning)
                | Self::Repairing
        )
    }
}

/// The path last found for a unit; no steps at first and after a failure. Read-only: a critter
/// keeps count of its steps along it.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
pub struct NavPath(pub(crate) Path);

impl core::ops::Deref for NavPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// What the plugin remembers of a unit's current request. A clone of the unit makes a request of its own.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
pub struct ActiveOrder {
    /// Number of the request last put on: each that is put on anywhere counts one up.
    #[reflect(ignore)]
    pub(crate) asked: u64,
    /// Number of the request last read from the inbox, which is the one all this is about: what order
    /// depends on where order shows. 0 before the first.
    #[reflect(ignore)]
    pub(crate) number: u64,
    pub(crate) grid: GridId,
    pub(crate) query: PathQuery,
    /// All goals of the query, where there are several.
    #[reflect(ignore)]
    pub(crate) goals: Option<Arc<[Goal]>>,
    pub(crate) priority: Priority,
    pub(crate) class: RequestClass,
    /// How often it was tried again, and which of its targets it is under way to: 0 is the first.
    pub(crate) tries: u16,
    pub(crate) attempt: u16,
    /// Its place in the queue while an answer is awaited.
    pub(crate) ticket: Option<Ticket>,
}

impl ActiveOrder {
    /// The request as it was resolved: start and goal cells, profile, reach.
    #[must_use]
    pub const fn query(&self) -> PathQuery {
        self.query
    }

    /// The grid it runs on.
    #[must_use]
    pub const fn grid(&self) -> GridId {
        self.grid
    }

    /// All goals, where there are several: it goes to the one that is cheapest to get to.
    #[must_use]
    pub fn goals(&self) -> &[Goal] {
        self.goals.as_deref().unwrap_or_default()
    }

    /// How often it was tried again, see [`PathRequest::retry`](super::PathRequest::retry).
    #[must_use]
    pub const fn tries(&self) -> u16 {
        self.tries
    }

    /// Which of its targets it leads to: 0 is the first, then come the alternatives.
    #[must_use]
    pub const fn attempt(&self) -> u16 {
        self.attempt
    }

    /// Place in the queue while an answer is awaited.
    #[must_use]
    pub const fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }
}

/// A path was found for the entity. For a long way there may be several: first of kind
/// [`Beginning`](PathKind::Beginning), then with the rest.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct PathFound {
    /// Who asked.
    pub entity: Entity,
    /// Whether it leads to the goal.
    pub kind: PathKind,
}

/// A request ended without a path, or before it was carried out.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct PathFailed {
    /// Who asked.
    pub entity: Entity,
    /// Why.
    pub reason: PathFailure,
}

/// A critter has come to the end of its path.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct Arrived {
    /// Who.
    pub entity: Entity,
    /// Whether the end is the goal.
    pub kind: PathKind,
    /// Where it stands.
    pub cell: Cell,
}
