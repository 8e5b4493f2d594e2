//! Stage 2: what units ask for, and what became of it.
//!
//! Input: [`PathRequest`] components, put on, replaced, taken off. Output: queries in the
//! [`Pathfinder`](crate::scheduler::Pathfinder)'s queue, and a [`PathStatus`] on every unit that says what is going on and why.

mod deliver;
mod follow;
mod intake;
mod outcome;
mod resolve;
mod target;

pub use self::target::{Near, Retry, Target};
pub(crate) use self::{
    deliver::deliver_answers,
    follow::follow_targets,
    intake::{accept_requests, follow_agents},
    outcome::{OpenRequests, Outcomes, Requester, RequesterItem, grid_of, is_latest, move_again},
    resolve::{cell_of_target, fitting_anchor, way_out},
};

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use crate::{
    nav::{
        cell::Cell,
        query::{Algorithm, GridId, Reach},
        queue::{Priority, RequestClass},
        terrain::ProfileId,
    },
    unit::{NavAgent, NavPath, PathStatus, RequestState},
};

/// Asks for a path from where the entity stands; a [`Critter`](crate::prelude::Critter) then
/// walks it.
///
/// An order is not changed but replaced: insert a new request and it supersedes the old one.
/// Removing it, or despawning the entity, cancels it. It stays on the entity when it has been
/// carried out; [`PathStatus`] tells how it went, and so do [`PathFound`], [`PathFailed`] and
/// [`Arrived`].
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let order = PathRequest::to(Cell::new(40, 12)).reach(Reach::Nearest).priority(Priority(1));
/// # assert_eq!(order.target, Target::Cell(Cell::new(40, 12)));
/// // Up to the nearest of three wells; if none can be reached, home; if not there either, again later.
/// let wells = [Cell::new(3, 4), Cell::new(18, 2), Cell::new(9, 30)];
/// let thirst = PathRequest::to_nearest(wells).beside().or(Cell::new(1, 1)).retry(Retry::default());
/// # assert_eq!(thirst.alternatives.len(), 1);
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(immutable, map_entities = map_targets, on_insert = outcome::note_issued, on_discard = outcome::note_dropped)]
#[require(NavAgent, PathStatus, NavPath, RequestState)]
pub struct PathRequest {
    /// Where to.
    pub target: Target,
    /// How near it must come.
    pub near: Near,
    /// Whether it goes after its target, an entity, when that moves; until another order comes or the
    /// target is gone.
    pub follows: bool,
    /// On which grid. `None` (default): the unit's own, see [`NavAgent`].
    pub grid: Option<GridId>,
    /// For which movement profile. `None` (default): the unit's own, see [`NavAgent`].
    pub profile: Option<ProfileId>,
    /// What to do where there is no way.
    pub reach: Reach,
    /// Where to go instead, in this order, if there is no way to the target. Only if there is none to
    /// any of them either, [`Reach::Nearest`] leads as near to the target as can be.
    pub alternatives: Vec<Target>,
    /// Whether to try again later if there is no way anywhere.
    pub retry: Option<Retry>,
    /// How urgent it is.
    pub priority: Priority,
    /// Whose limit it counts towards, see
    /// [`QueueSettings::class_limits`](crate::prelude::QueueSettings).
    pub class: RequestClass,
    /// Where the group gathers whose order it is part of. Members share one search, from there outward,
    /// where that pays: each is led along it as far as that is near its own way (which may then be a
    /// little longer than the best one, 15 in a hundred at most).
    pub rally: Option<Cell>,
    /// How to search.
    pub algorithm: Algorithm,
}

impl Default for PathRequest {
    /// To cell (0, 0); there for reflection.
    fn default() -> Self {
        Self::to(Cell::default())
    }
}

impl PathRequest {
    /// To a [`Cell`], a world position ([`Vec2`]), an [`Entity`] or any cell of a
    /// [`CellRect`](crate::prelude::CellRect), for the kind of unit that its [`NavAgent`] says, exactly, at
    /// normal priority.
    #[must_use]
    pub fn to(target: impl Into<Target>) -> Self {
        Self {
            target: target.into(),
            near: Near::default(),
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

    /// To whichever target is cheapest to get to. None at all fails with
    /// [`TargetGone`](crate::prelude::PathFailure).
    #[must_use]
    pub fn to_nearest(targets: impl IntoIterator<Item = impl Into<Target>>) -> Self {
        Self::to(Target::Nearest(targets.into_iter().map(Into::into).collect()))
    }

    /// To an entity, and after it when it moves. The way is planned anew when the target has moved by a
    /// quarter of what is left of the way, or more: often near it, seldom far off. [`Arrived`] is told
    /// whenever the unit has caught up; the order ends with
    /// [`TargetGone`](crate::prelude::PathFailure) when the target is despawned.
    #[must_use]
    pub fn follow(target: Entity) -> Self {
        Self { follows: true, ..Self::to(target) }
    }

    /// The same, but up to its target instead of onto it.
    #[must_use]
    pub fn beside(mut self) -> Self {
        self.near = Near::Beside;
        self
    }

    /// The same, but only within so many cells of its target.
    #[must_use]
    pub fn within(mut self, cells: u16) -> Self {
        self.near = Near::Within(cells);
        self
    }

    /// The same, but only within so many cells of its target and in sight of it, see
    /// [`Near::InSight`].
    #[must_use]
    pub fn in_sight(mut self, cells: u16, through: ProfileId) -> Self {
        self.near = Near::InSight { cells, through };
        self
    }

    /// The same on another grid than the unit's own.
    #[must_use]
    pub fn on(mut self, grid: GridId) -> Self {
        self.grid = Some(grid);
        self
    }

    /// The same for another movement profile than the unit's own.
    #[must_use]
    pub fn profile(mut self, profile: ProfileId) -> Self {
        self.profile = Some(profile);
        self
    }

    /// The same with another reach.
    #[must_use]
    pub fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// The same, with one more place to go to if there is no way to those named before.
    #[must_use]
    pub fn or(mut self, target: impl Into<Target>) -> Self {
        self.alternatives.push(target.into());
        self
    }

    /// The same, tried again later where there is no way.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// The same with another priority.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// The same as one of another class.
    #[must_use]
    pub fn class(mut self, class: RequestClass) -> Self {
        self.class = class;
        self
    }

    /// The same as part of a group that gathers at `cell`.
    #[must_use]
    pub fn rally(mut self, cell: Cell) -> Self {
        self.rally = Some(cell);
        self
    }

    /// The same by another algorithm.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// The grid and the profile it is for.
    pub(crate) fn kind(&self, agent: Option<&NavAgent>) -> (GridId, ProfileId) {
        let own = agent.copied().unwrap_or_default();
        (self.grid.unwrap_or(own.grid), self.profile.unwrap_or(own.profile))
    }

    /// How many attempts there are beside the first: one for each alternative; and where it shall go as
    /// near as can be, that comes last.
    pub(crate) fn more_attempts(&self) -> usize {
        let count = self.alternatives.len();
        let count = count + usize::from(count > 0 && self.reach == Reach::Nearest);
        count.min(usize::from(u16::MAX))
    }

    /// What it does in attempt number `attempt` where there is no way.
    pub(crate) fn reach_of(&self, attempt: u16) -> Reach {
        if usize::from(attempt) < self.more_attempts() { Reach::Exact } else { self.reach }
    }

    /// Where it leads in its attempt number `attempt`: first the target, then the alternatives, then as
    /// near to the target as can be.
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

/// Requests inserted and removed since the last tick, in the order in which it happened.
#[derive(Resource, Debug, Default)]
pub(crate) struct RequestInbox {
    /// Urgent requests, which are read before all others.
    urgent: Vec<InboxEntry>,
    entries: Vec<InboxEntry>,
    /// Requests inserted so far.
    issued: u64,
}

#[derive(Clone, Copy, Debug)]
enum InboxEntry {
    /// A request was inserted, and got this number.
    Issued { entity: Entity, number: u64 },
    /// It was removed, or is about to be replaced.
    Dropped { entity: Entity, number: u64, was_under_way: bool },
}

impl RequestInbox {
    /// Adds a request; returns its number.
    fn add(&mut self, entity: Entity, is_urgent: bool) -> u64 {
        self.issued += 1;
        let number = self.issued;
        let entries = if is_urgent { &mut self.urgent } else { &mut self.entries };
        entries.push(InboxEntry::Issued { entity, number });
        number
    }
}
