//! Stage 2: path requests and their outcomes.
//!
//! Input: [`PathRequest`] components, inserted, replaced and removed. Output: queries in the queue of the
//! [`Pathfinder`](crate::scheduler::Pathfinder), and a [`PathStatus`] on every unit that gives the state of
//! its request and the reason for it.

mod deliver;
mod follow;
mod intake;
mod outcome;
mod resolve;
mod target;

pub use self::target::{Retry, Target};
pub(crate) use self::{
    deliver::deliver_answers,
    follow::follow_targets,
    intake::{accept_requests, follow_agents},
    outcome::{OpenRequests, Outcomes, Requester, RequesterItem, grid_of, is_latest, move_again},
    resolve::{cell_of_target, fitting_anchor, way_out},
};

use std::sync::Arc;

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use crate::{
    nav::{
        cell::Cell,
        goal::{Approach, Goal},
        query::{Algorithm, GridId, PathQuery, Reach},
        queue::{Priority, RequestClass},
        terrain::ProfileId,
    },
    unit::{NavAgent, NavPath, PathStatus, RequestState},
};

/// Requests a path from the entity's current position; a [`Critter`](crate::prelude::Critter) then follows
/// it.
///
/// A request is immutable. Inserting a new one supersedes the old one; removing it or despawning the entity
/// cancels it. It stays on the entity after it has been carried out. [`PathStatus`] and the events
/// [`PathFound`](crate::prelude::PathFound), [`PathFailed`](crate::prelude::PathFailed) and
/// [`Arrived`](crate::prelude::Arrived) report the outcome.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let order = PathRequest::to(Cell::new(40, 12)).reach(Reach::Nearest).priority(Priority(1));
/// # assert_eq!(order.target, Target::Cell(Cell::new(40, 12)));
/// // To the nearest of three wells; if none is reachable, to (1, 1); if that fails too, retry later.
/// let wells = [Cell::new(3, 4), Cell::new(18, 2), Cell::new(9, 30)];
/// let thirst = PathRequest::to_nearest(wells).beside().or(Cell::new(1, 1)).retry(Retry::default());
/// # assert_eq!(thirst.alternatives.len(), 1);
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(immutable, map_entities = map_targets, on_insert = outcome::note_issued, on_discard = outcome::note_dropped)]
#[require(NavAgent, PathStatus, NavPath, RequestState)]
pub struct PathRequest {
    /// Destination.
    pub target: Target,
    /// How close to the target the path must end.
    pub approach: Approach,
    /// Whether the unit follows its target, an entity, when the target moves. Ends when another order is
    /// given or the target is despawned.
    pub follows: bool,
    /// Grid to search on. `None` (default): the unit's own grid, see [`NavAgent`].
    pub grid: Option<GridId>,
    /// Movement profile to search for. `None` (default): the unit's own profile, see [`NavAgent`].
    pub profile: Option<ProfileId>,
    /// What to do if there is no path.
    pub reach: Reach,
    /// Alternative targets, tried in this order if there is no path to the target. Only if there is no path
    /// to any of them either, [`Reach::Nearest`] leads as close to the target as possible.
    pub alternatives: Vec<Target>,
    /// Whether and how to retry later if there is no path to any target.
    pub retry: Option<Retry>,
    /// Priority in the queue.
    pub priority: Priority,
    /// Class whose limit the request counts towards, see
    /// [`QueueSettings::class_limits`](crate::prelude::QueueSettings).
    pub class: RequestClass,
    /// Rally cell of the group order that the request belongs to. Where it pays, the members of the group
    /// share one search that expands outward from this cell. A member follows the shared search as far as
    /// that stays close to its own path, which may then be slightly longer than the optimal one (by 15 % at
    /// most).
    pub rally: Option<Cell>,
    /// Search algorithm.
    pub algorithm: Algorithm,
}

impl Default for PathRequest {
    /// Targets cell (0, 0). Required by reflection.
    fn default() -> Self {
        Self::to(Cell::default())
    }
}

impl PathRequest {
    /// Requests a path to a [`Cell`], a world position ([`Vec2`]), an [`Entity`] or any cell of a
    /// [`CellRect`](crate::prelude::CellRect): exactly onto the target, on the grid and with the profile of
    /// the unit's [`NavAgent`], at normal priority.
    #[must_use]
    pub fn to(target: impl Into<Target>) -> Self {
        Self {
            target: target.into(),
            approach: Approach::default(),
            follows: false,
            grid: None,
            profile: None,
            reach: Reach::default(),
            alternatives: Vec::new(),
            retry: None,
            priority: Priority::default(),
            class: RequestClass::default(),
            rally: None,
            algorithm: Algorithm::default(),
        }
    }

    /// Requests a path to the target that is cheapest to reach. Without any target the request fails with
    /// [`TargetGone`](crate::prelude::PathFailure).
    #[must_use]
    pub fn to_nearest(targets: impl IntoIterator<Item = impl Into<Target>>) -> Self {
        Self::to(Target::Nearest(targets.into_iter().map(Into::into).collect()))
    }

    /// Requests a path to an entity and follows the entity when it moves. The path is planned again when the
    /// target has moved by at least a quarter of the remaining path: often when it is near, rarely when it is
    /// far away. [`Arrived`](crate::prelude::Arrived) is triggered each time the unit has caught up. The
    /// request ends with [`TargetGone`](crate::prelude::PathFailure) when the target is despawned.
    #[must_use]
    pub fn follow(target: Entity) -> Self {
        Self { follows: true, ..Self::to(target) }
    }

    /// Stops next to the target instead of on it.
    #[must_use]
    pub fn beside(mut self) -> Self {
        self.approach = Approach::Beside;
        self
    }

    /// Stops within `cells` cells of the target.
    #[must_use]
    pub fn within(mut self, cells: u16) -> Self {
        self.approach = Approach::Within { cells };
        self
    }

    /// Stops within `cells` cells of the target and in sight of it, see [`Approach::InSight`].
    #[must_use]
    pub fn in_sight(mut self, cells: u16, through: ProfileId) -> Self {
        self.approach = Approach::InSight { cells, through };
        self
    }

    /// Sets the grid, overriding the unit's own.
    #[must_use]
    pub fn on(mut self, grid: GridId) -> Self {
        self.grid = Some(grid);
        self
    }

    /// Sets the movement profile, overriding the unit's own.
    #[must_use]
    pub fn profile(mut self, profile: ProfileId) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Sets what to do if there is no path.
    #[must_use]
    pub fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// Adds an alternative target, tried if there is no path to the targets given before.
    #[must_use]
    pub fn or(mut self, target: impl Into<Target>) -> Self {
        self.alternatives.push(target.into());
        self
    }

    /// Sets how to retry if there is no path.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Sets the priority.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the request class.
    #[must_use]
    pub fn class(mut self, class: RequestClass) -> Self {
        self.class = class;
        self
    }

    /// Makes the request part of a group order with `cell` as rally cell.
    #[must_use]
    pub fn rally(mut self, cell: Cell) -> Self {
        self.rally = Some(cell);
        self
    }

    /// Sets the search algorithm.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Returns the grid and the profile of the request.
    pub(crate) fn kind(&self, agent: Option<&NavAgent>) -> (GridId, ProfileId) {
        let own = agent.copied().unwrap_or_default();
        (self.grid.unwrap_or(own.grid), self.profile.unwrap_or(own.profile))
    }

    /// Returns the number of attempts after the first: one for each alternative and, with [`Reach::Nearest`],
    /// a last one that goes as close to the target as possible.
    pub(crate) fn more_attempts(&self) -> usize {
        let count = self.alternatives.len();
        let count = count + usize::from(count > 0 && self.reach == Reach::Nearest);
        count.min(usize::from(u16::MAX))
    }

    /// Returns the reach of attempt number `attempt`.
    pub(crate) fn reach_of(&self, attempt: u16) -> Reach {
        if usize::from(attempt) < self.more_attempts() { Reach::Exact } else { self.reach }
    }

    /// Returns the target of attempt number `attempt`: first the target, then the alternatives, then the
    /// target again for a path as close to it as possible.
    pub(crate) fn target_of(&self, attempt: u16) -> &Target {
        match attempt.checked_sub(1) {
            Some(index) => self.alternatives.get(usize::from(index)).unwrap_or(&self.target),
            None => &self.target,
        }
    }
}

fn map_targets<M: EntityMapper>(request: &mut PathRequest, mapper: &mut M) {
    request.target.map_entities(mapper);
    request.alternatives.iter_mut().for_each(|target| target.map_entities(mapper));
}

/// A request in cells.
#[derive(Clone, Debug)]
struct Resolved {
    grid: GridId,
    query: PathQuery,
    /// All goals, where there are several.
    goals: Option<Arc<[Goal]>>,
}

/// Requests inserted and removed since the last tick, in chronological order.
#[derive(Resource, Debug, Default)]
pub(crate) struct RequestInbox {
    /// Urgent requests, read before all others.
    urgent: Vec<InboxEntry>,
    entries: Vec<InboxEntry>,
    /// Number of requests inserted so far.
    issued: u64,
}

#[derive(Clone, Copy, Debug)]
enum InboxEntry {
    /// A request was inserted and received this number.
    Issued { entity: Entity, number: u64 },
    /// The request was removed or is about to be replaced.
    Dropped { entity: Entity, number: u64, was_under_way: bool },
}

impl RequestInbox {
    /// Adds a request and returns its number.
    fn add(&mut self, entity: Entity, is_urgent: bool) -> u64 {
        self.issued += 1;
        let number = self.issued;
        let entries = if is_urgent { &mut self.urgent } else { &mut self.entries };
        entries.push(InboxEntry::Issued { entity, number });
        number
    }
}
