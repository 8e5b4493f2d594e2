//! Stage 2: what units ask for, and what became of it.
//!
//! Input: [`PathRequest`] components, put on, replaced, taken off. Output: queries in the
//! [`Pathfinder`](crate::scheduler::Pathfinder)'s queue, and a [`PathStatus`] on every unit that says what is going on and why.

mod accept;

pub(crate) use accept::accept_requests;

use bevy::{
    ecs::{lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
    reflect::std_traits::ReflectDefault,
};

use crate::nav::{
    cell::Cell,
    path::{Path, PathKind},
    query::{Algorithm, GridId, PathFailure, PathQuery, Reach},
    queue::{Priority, Ticket},
    terrain::ProfileId,
};

/// Where a unit is to go.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Debug, PartialEq, Clone)]
pub enum Target {
    /// To a cell.
    Cell(Cell),
    /// To the cell at a world position.
    Position(Vec2),
    /// To the cell where an entity is when the request is taken up.
    Entity(Entity),
}

impl From<Cell> for Target {
    fn from(cell: Cell) -> Self {
        Self::Cell(cell)
    }
}

impl From<Vec2> for Target {
    fn from(position: Vec2) -> Self {
        Self::Position(position)
    }
}

impl From<Entity> for Target {
    fn from(entity: Entity) -> Self {
        Self::Entity(entity)
    }
}

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
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(immutable, map_entities = map_target, on_insert = note_asked, on_discard = note_dropped)]
#[require(PathStatus, NavPath, ActiveOrder)]
pub struct PathRequest {
    /// Where to.
    pub target: Target,
    /// On which grid.
    pub grid: GridId,
    /// As what kind of unit.
    pub profile: ProfileId,
    /// What to do where there is no way.
    pub reach: Reach,
    /// How urgent it is.
    pub priority: Priority,
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
    /// To a [`Cell`], a world position ([`Vec2`]) or an [`Entity`], on the default grid, for
    /// profile 0, exactly, at normal priority.
    #[must_use]
    pub fn to(target: impl Into<Target>) -> Self {
        Self {
            target: target.into(),
            grid: GridId::default(),
            profile: ProfileId::default(),
            reach: Reach::default(),
            priority: Priority::default(),
            algorithm: Algorithm::default(),
        }
    }

    /// The same on another grid.
    #[must_use]
    pub const fn on(mut self, grid: GridId) -> Self {
        self.grid = grid;
        self
    }

    /// The same for another kind of unit.
    #[must_use]
    pub const fn profile(mut self, profile: ProfileId) -> Self {
        self.profile = profile;
        self
    }

    /// The same with another reach.
    #[must_use]
    pub const fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// The same with another priority.
    #[must_use]
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// The same by another algorithm.
    #[must_use]
    pub const fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }
}

fn map_target<M: EntityMapper>(request: &mut PathRequest, mapper: &mut M) {
    if let Target::Entity(entity) = &mut request.target {
        *entity = mapper.get_mapped(*entity);
    }
}

/// What is going on with a unit's request, and why. Read-only: the plugin writes it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
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
    /// An edit of the grid cut the way off; another is being searched for.
    Repairing,
    /// The critter stands at the end of its path.
    Arrived(PathKind),
    /// There is no path, for this reason.
    Failed(PathFailure),
}

/// The path last found for a unit; no steps at first and after a failure. Read-only: a critter
/// keeps count of its steps along it.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct NavPath(pub(crate) Path);

impl core::ops::Deref for NavPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// What the plugin remembers of a unit's current request.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct ActiveOrder {
    /// Sequence number of the request: what order depends on where order shows.
    pub(crate) number: u64,
    pub(crate) grid: GridId,
    pub(crate) query: PathQuery,
    pub(crate) priority: Priority,
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

/// Requests put on and taken off since the last tick, in the order in which it happened.
#[derive(Resource, Debug, Default)]
pub(crate) struct RequestInbox(pub(crate) Vec<Letter>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Letter {
    Asked(Entity),
    Dropped(Entity),
}

fn note_asked(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut status) = world.get_mut::<PathStatus>(entity)
        && *status == PathStatus::Idle
    {
        *status = PathStatus::Searching; // from the moment it is asked
    }
    if let Some(mut inbox) = world.get_resource_mut::<RequestInbox>() {
        inbox.0.push(Letter::Asked(entity));
    }
}

fn note_dropped(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut inbox) = world.get_resource_mut::<RequestInbox>() {
        inbox.0.push(Letter::Dropped(entity));
    }
}
