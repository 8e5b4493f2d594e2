//! Stage 2: path requests and their outcomes.
//!
//! Input: [`PathRequest`] components, inserted, replaced and removed. Output: queries in the queue of the
//! [`Pathfinder`](crate::scheduler::Pathfinder), and a [`PathStatus`] on every unit that gives the state of
//! its request and the reason for it.

mod deliver;
mod follow;
mod intake;
mod outcome;
mod replaced;
mod requester;
mod resolve;
mod start;
mod target;

pub use self::target::{Retry, Target};
pub(crate) use self::{
    deliver::deliver_answers,
    follow::follow_targets,
    intake::{accept_requests, follow_agents},
    outcome::{Outcomes, clear_stuck, has_unread, is_latest, note_all},
    replaced::ask_again,
    requester::{
        Requester, RequesterItem, anchor_of, grid_of, grid_of_unit, leaves_walls, profile_of,
    },
    start::{fitting_anchor, start_near},
};

use std::{collections::BTreeMap, sync::Arc};

use bevy::{
    ecs::entity::{EntityHashMap, MapEntities},
    prelude::*,
};

use crate::{
    entity_keys::map_keys,
    links::{Destination, NextLink},
    nav::{
        Algorithm, Approach, Cell, Goal, GridId, PathQuery, Priority, ProfileId, Reach,
        RequestClass,
    },
    unit::{NavAgent, NavPath, PathStatus, RequestState},
};

/// Requests a path from the entity's current position; a [`Critter`](crate::prelude::Critter) then follows
/// it.
///
/// A request is immutable. Inserting a new one supersedes the old one; removing it or despawning the entity
/// cancels it. A request stays on the entity after it has been carried out. [`PathStatus`] and the events
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
#[derive(Component, Clone, Debug, Default, MapEntities, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(immutable, on_insert = outcome::note_issued, on_discard = outcome::note_dropped, on_remove = outcome::note_removed)]
#[require(NavAgent, PathStatus, NavPath, RequestState)]
#[must_use]
pub struct PathRequest {
    /// Destination.
    #[entities]
    pub target: Target,
    /// How close to the target the path must end.
    pub approach: Approach,
    /// Whether the unit follows its target, an entity, when the target moves. It stops following when it gets
    /// another request, or the target is despawned.
    pub follows: bool,
    /// Whether the unit gives its target up when that, an entity, is despawned before the unit has arrived, see
    /// [`needs_target`](Self::needs_target). By default it goes on to where the target was.
    pub needs_target: bool,
    /// Grid on which the unit is. `None` (default): the unit's own grid, see [`NavAgent`].
    pub start_grid: Option<GridId>,
    /// Grid of the targets, if it is not that of the unit, which gets there over links ([`NavLink`](crate::prelude::NavLink)).
    /// `None` (default): the unit's grid; for an entity on another grid that links lead to, the grid of that entity.
    pub goal_grid: Option<GridId>,
    /// Movement profile for the search. `None` (default): the unit's own profile, see [`NavAgent`].
    pub profile: Option<ProfileId>,
    /// What to do if there is no path.
    pub reach: Reach,
    /// Alternative targets, tried in this order if there is no path to the target. Only if there is no path
    /// to any of them either, [`Reach::Nearest`] leads as close to the target as possible.
    #[entities]
    pub alternatives: Vec<Target>,
    /// Whether and how to retry later if there is no path to any target.
    pub retry: Option<Retry>,
    /// Priority in the queue.
    pub priority: Priority,
    /// Class whose limit the request counts towards, see
    /// [`QueueSettings::class_limits`](crate::prelude::QueueSettings).
    pub class: RequestClass,
    /// Rally cell of the group order that the request belongs to. Where it pays, the members of the group
    /// share one search that expands outward from this cell. A member follows the shared search most of
    /// the way, so its path may cost slightly more than the optimal one (by 15 % at most).
    pub rally: Option<Cell>,
    /// Search algorithm.
    pub algorithm: Algorithm,
}

impl PathRequest {
    /// Requests a path to a [`Cell`], a world position ([`Vec2`]), an [`Entity`] or any cell of a
    /// [`CellRect`](crate::prelude::CellRect): onto the target (beside it, if unit and target are critters that collide), on the
    /// grid and with the profile of the unit's [`NavAgent`], at normal priority.
    pub fn to(target: impl Into<Target>) -> Self {
        Self { target: target.into(), ..Self::default() }
    }

    /// Requests a path to the target that is cheapest to reach. Without any target the request fails with
    /// [`TargetGone`](crate::prelude::PathFailure).
    pub fn to_nearest(targets: impl IntoIterator<Item = impl Into<Target>>) -> Self {
        Self::to(Target::Nearest(targets.into_iter().map(Into::into).collect()))
    }

    /// Requests a path to an entity and follows the entity when it moves. The path is planned again when the
    /// target has moved by at least a quarter of the distance that is left: often when it is near, rarely when it is
    /// far away. [`Arrived`](crate::prelude::Arrived) is triggered each time the unit has caught up. The
    /// request ends with [`TargetGone`](crate::prelude::PathFailure) when the target is despawned.
    pub fn follow(target: Entity) -> Self {
        Self { follows: true, ..Self::to(target) }
    }

    /// Gives the target up if it is despawned, or loses its position, before the unit has arrived: a tree that someone else
    /// has felled. The unit goes to the next target then: of several ([`to_nearest`](Self::to_nearest)) to the nearest that is
    /// left, or to an alternative. If there is none, the request fails with [`TargetGone`](crate::prelude::PathFailure).
    pub fn needs_target(self) -> Self {
        Self { needs_target: true, ..self }
    }

    /// Stops next to the target instead of on it.
    pub fn beside(self) -> Self {
        Self { approach: Approach::Beside, ..self }
    }

    /// Stops within `cells` cells of the target.
    pub fn within(self, cells: u16) -> Self {
        Self { approach: Approach::Within { cells }, ..self }
    }

    /// Stops within `cells` cells (at most 64) of the target and in sight of it, see [`Approach::InSight`].
    pub fn in_sight(self, cells: u16, through: ProfileId) -> Self {
        Self { approach: Approach::InSight { cells, through }, ..self }
    }

    /// Sets the grid on which the unit is, overriding its own. For a goal on another grid see [`goal_on`](Self::goal_on).
    pub fn start_on(self, grid: GridId) -> Self {
        Self { start_grid: Some(grid), ..self }
    }

    /// Sets the grid of the targets, which links join to the unit's own.
    pub fn goal_on(self, grid: GridId) -> Self {
        Self { goal_grid: Some(grid), ..self }
    }

    /// Sets the movement profile, overriding the unit's own.
    pub fn profile(self, profile: ProfileId) -> Self {
        Self { profile: Some(profile), ..self }
    }

    /// Sets what to do if there is no path.
    pub fn reach(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// Adds an alternative target, tried if there is no path to the targets given before.
    pub fn or(mut self, target: impl Into<Target>) -> Self {
        self.alternatives.push(target.into());
        self
    }

    /// Sets how to retry if there is no path.
    pub fn retry(self, retry: Retry) -> Self {
        Self { retry: Some(retry), ..self }
    }

    /// Sets the priority.
    pub fn priority(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }

    /// Sets the request class.
    pub fn class(self, class: RequestClass) -> Self {
        Self { class, ..self }
    }

    /// Makes the request part of a group order with `cell` as rally cell.
    pub fn rally(self, cell: Cell) -> Self {
        Self { rally: Some(cell), ..self }
    }

    /// Sets the search algorithm.
    pub fn algorithm(self, algorithm: Algorithm) -> Self {
        Self { algorithm, ..self }
    }

    /// Returns the target of the present attempt, if this is the unit's latest request and was read: the target, or the alternative
    /// that is tried now. Of several targets ([`to_nearest`](Self::to_nearest)) it is the one to which the path leads that was found;
    /// `None` before, while the path leads to a link, and if it ends short of them all. If it ends where it reaches two of them, it
    /// is the first one.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_tilepath::prelude::*;
    /// /// Each worker gets a tree of its own.
    /// fn claim(found: On<PathFound>, workers: Query<(&PathRequest, &RequestState)>) {
    ///     let Ok((request, state)) = workers.get(found.entity) else {
    ///         return;
    ///     };
    ///     if let Some(Target::Entity(tree)) = request.present_target(state) {
    ///         info!("{} goes to {tree}", found.entity);
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn present_target(&self, state: &RequestState) -> Option<&Target> {
        match self.target_of(state.attempt) {
            _ if !is_latest(Some(self), state) => None,
            Target::Nearest(targets) => targets.get(state.nearest? as usize),
            target => Some(target),
        }
    }

    /// Returns the grid on which the unit is by now, and the profile of the request.
    pub(crate) fn grid_and_profile(
        &self,
        agent: Option<&NavAgent>,
        state: &RequestState,
    ) -> (GridId, ProfileId) {
        let own = agent.copied().unwrap_or_default();
        let grid = state.journey.grid.or(self.start_grid).unwrap_or(own.grid);
        (grid, self.profile.unwrap_or(own.profile))
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
        let index = usize::from(attempt).checked_sub(1);
        index.and_then(|index| self.alternatives.get(index)).unwrap_or(&self.target)
    }
}

/// A request in cells, or a leg of it.
#[derive(Clone, Debug)]
struct Resolved {
    grid: GridId,
    query: PathQuery,
    /// All goals, where there are several.
    goals: Option<Arc<[Goal]>>,
    /// Where links lead from the grid: the crossing at the end of this leg, and the goals of the request.
    next: Option<NextLink>,
    destinations: Option<Arc<[Destination]>>,
}

/// A unit that follows an entity, or gives it up when it is gone.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Follower {
    unit: Entity,
    target: Entity,
    /// It is a critter that collides, and follows.
    takes_room: bool,
}

/// Requests that wait for something other than an answer.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct OpenRequests {
    /// To be tried again, by tick and number; those canceled in the meantime stay until they are due.
    retries: BTreeMap<(u64, u64), Entity>,
    /// Those whose target is watched, by number.
    followers: BTreeMap<u64, Follower>,
    /// How many critters that collide follow each target: they need room around it.
    followed: BTreeMap<Entity, u32>,
    /// The one whose target was looked at last.
    last_followed: u64,
    /// The last tick of the pathfinder.
    tick: u64,
}

impl MapEntities for OpenRequests {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.retries.values_mut().for_each(|entity| *entity = mapper.get_mapped(*entity));
        self.followed.clear();
        for follower in self.followers.values_mut() {
            follower.unit = mapper.get_mapped(follower.unit);
            follower.target = mapper.get_mapped(follower.target);
            if follower.takes_room {
                *self.followed.entry(follower.target).or_default() += 1;
            }
        }
    }
}

impl OpenRequests {
    /// A unit follows an entity from now on.
    fn add_follower(&mut self, number: u64, follower: Follower) {
        self.remove_follower(number);
        self.followers.insert(number, follower);
        if follower.takes_room {
            *self.followed.entry(follower.target).or_default() += 1;
        }
    }

    fn remove_follower(&mut self, number: u64) {
        let follower = self.followers.remove(&number).filter(|follower| follower.takes_room);
        if let Some(Follower { target, .. }) = follower
            && let Some(count) = self.followed.get_mut(&target)
        {
            *count -= 1;
            if *count == 0 {
                self.followed.remove(&target);
            }
        }
    }

    /// Takes the next request that is due at `tick`: its unit and number.
    fn take_due(&mut self, tick: u64) -> Option<(Entity, u64)> {
        let first = self.retries.first_entry()?;
        let (due, number) = *first.key();
        (due <= tick).then(|| (first.remove(), number))
    }
}

/// Requests inserted and removed since the last tick, in chronological order.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RequestInbox {
    /// Urgent requests, read before all others.
    urgent: Vec<InboxEntry>,
    entries: Vec<InboxEntry>,
    /// The units of which an entry waits to be read, and whether that is among the urgent ones.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    waiting: EntityHashMap<bool>,
    /// Number of requests inserted so far.
    issued: u64,
}

impl MapEntities for RequestInbox {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for entry in self.urgent.iter_mut().chain(&mut self.entries) {
            use InboxEntry::{Dropped, Issued};
            let (Issued { entity, .. } | Dropped { entity, .. }) = entry;
            *entity = mapper.get_mapped(*entity);
        }
        map_keys(&mut self.waiting, mapper);
    }
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
enum InboxEntry {
    /// A request was inserted. The unit's latest is read then: one that is ordered anew in every tick has one entry at a time.
    Issued { entity: Entity },
    /// A request that was read was removed or is about to be replaced.
    Dropped { entity: Entity, number: u64 },
}
