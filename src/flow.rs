//! Shared flow fields: the shortest paths to one goal from every cell, shared by all holders of a handle and
//! kept up to date under edits.
//!
//! Input: grids, and goals by [`FlowFields::request`]. Output: for any cell the next step, the cost and the
//! whole path. Each tick all fields are checked once and then worked on within a separate budget, round-robin
//! in slices of 1,024 work units: first the fields affected by edits, which recompute only what the edits
//! touched, then the fields that have to be filled. Crowds that follow a field need no requests and no paths.
//!
//! Invariants: there is one field per grid, profile and goal as long as a handle to it exists. What is done
//! in which tick depends only on the requests, the edits and the budget: fields are served in the order of
//! their keys, starting after the field served last.
//!
//! Memory: 4 bytes per cell for each field, plus 66 KiB. How a field is filled and repaired:
//! [`nav::field`](crate::nav::field).

mod entry;
mod routes;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bevy::prelude::*;

use self::entry::{FlowEntry, Work};
pub(crate) use self::routes::LastRoute;
use crate::{
    grids::NavGrids,
    nav::{
        Cell, CellRect, Direction, DistanceField, GridId, NavGrid, Path, PathCost, PathFailure,
        ProfileId, RouteId,
    },
};

/// Work units a field may spend before the next field is served.
const SLICE: u32 = 1_024;
/// While fields wait to be filled, this fraction (1 / n) of the budget is reserved for them before repairs.
const FILL_SHARE_DIVISOR: u32 = 4;

/// Grid, profile and goal of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct FieldKey {
    grid: GridId,
    profile: ProfileId,
    goal: CellRect,
}

/// A handle to a field. The field is kept as long as a handle to it exists. Cheap to clone. Two handles are equal
/// if they belong to the same field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(opaque)]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub struct FlowField(Arc<FieldKey>);

impl FlowField {
    /// Returns the grid of the field.
    #[must_use]
    pub fn grid(&self) -> GridId {
        self.0.grid
    }

    /// Returns the movement profile of the field.
    #[must_use]
    pub fn profile(&self) -> ProfileId {
        self.0.profile
    }

    /// Returns the goal of the field: one cell, or a rectangle.
    #[must_use]
    pub fn goal(&self) -> CellRect {
        self.0.goal
    }
}

/// State of a field as of the last tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum FlowStatus {
    /// The field is being filled or repaired. It gives answers for the cells that are already final, those
    /// near the goal first.
    #[default]
    Pending,
    /// The field gives answers for every cell from which the goal can be reached, but for cells so far away that the cost does
    /// not fit into 31 bits (see [`DistanceField::overflow`]).
    Ready,
    /// The field gives no answers: the grid or profile does not exist, or a unit cannot stand on the goal. As
    /// soon as that changes it is filled again.
    Failed(PathFailure),
}

/// Counters of the work on fields. They count since the app started, unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct FlowCounters {
    /// Fields in use at the last tick.
    pub alive: usize,
    /// Number of times a field was filled completely.
    pub integrations: u64,
    /// Number of times a field was repaired by recomputing only what edits touched.
    pub repairs: u64,
    /// Number of times a field was discarded and started from scratch: an edit came while it was being filled
    /// or touched so much that a repair would have taken longer, profiles were replaced, or there were too
    /// many edits to remember.
    pub restarts: u64,
    /// Work units spent in the last tick.
    pub spent_last_tick: u32,
}

/// All fields that have a handle; see the [module](self).
///
/// ```
/// use bevy::prelude::*;
/// use bevy_tilepath::{
///     flow::{FlowField, FlowFields},
///     prelude::{Cell, NavGrids},
/// };
///
/// #[derive(Component)]
/// struct Marcher {
///     at: Cell,
///     flow: FlowField,
/// }
///
/// /// Moves each marcher by one step per tick.
/// fn march(fields: Res<FlowFields>, grids: Res<NavGrids>, mut marchers: Query<&mut Marcher>) {
///     for mut marcher in &mut marchers {
///         if let Some(direction) = fields.direction(&grids, &marcher.flow, marcher.at) {
///             marcher.at = marcher.at.step(direction);
///         }
///     }
/// }
/// # bevy::ecs::system::assert_is_system(march);
/// ```
#[derive(Resource, Debug, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Resource, Debug, Default)]
pub struct FlowFields {
    /// Work units that fields may spend per tick, separate from the budget for requests; 0 pauses them. For
    /// the definition of a work unit see [`DistanceField::step`]: it takes about as much time as an
    /// expansion. The default of 10,000 is a fifth of the default budget for requests, about 0.4 ms on the
    /// machine that the figures in `benches/RESULTS.md` come from, and fills a map of 256 × 256 cells of
    /// uniform terrain in one tick.
    pub budget: u32,
    #[reflect(ignore)]
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    fields: BTreeMap<FieldKey, FlowEntry>,
    /// Key of the field served last, by kind of work.
    #[reflect(ignore)]
    last_served: [Option<FieldKey>; 2],
    /// Keys of the fields by their numbers as routes of crowds, and the number assigned last.
    #[reflect(ignore)]
    route_keys: BTreeMap<RouteId, FieldKey>,
    #[reflect(ignore)]
    last_route: u32,
    /// Its numbers of routes continue those of the resource that it has replaced.
    #[reflect(ignore)]
    continues: bool,
    counters: FlowCounters,
}

impl Default for FlowFields {
    /// Contains no field; sets the default budget.
    fn default() -> Self {
        Self {
            budget: 10_000,
            fields: BTreeMap::new(),
            last_served: [None; 2],
            route_keys: BTreeMap::new(),
            last_route: 0,
            continues: false,
            counters: FlowCounters::default(),
        }
    }
}

impl FlowFields {
    /// Returns a handle to the field that leads to `goal`: to a [`Cell`], or to the nearest cell of a [`CellRect`]. If there is
    /// no such field yet, makes one, which is filled from the next tick on. A field is dropped in the first tick in which no
    /// handle to it is left.
    pub fn request(
        &mut self,
        grid: GridId,
        profile: ProfileId,
        goal: impl Into<CellRect>,
    ) -> FlowField {
        let key = FieldKey { grid, profile, goal: goal.into() };
        if let Some(entry) = self.fields.get(&key) {
            return entry.handle.clone();
        }
        let handle = FlowField(Arc::new(key));
        self.last_route += 1;
        let route = RouteId(self.last_route);
        self.route_keys.insert(route, key);
        self.fields.insert(key, FlowEntry::new(handle.clone(), route));
        handle
    }

    /// Returns a copy with handles of its own: holders have to [adopt](Self::adopt) them.
    pub(crate) fn replica(&self) -> Self {
        let fields = self.fields.iter().map(|(&key, entry)| (key, entry.replica())).collect();
        let route_keys = self.route_keys.clone();
        Self { fields, route_keys, ..*self }
    }

    /// Replaces a handle by the one that counts here; one of a field that does not exist stays as it is.
    pub(crate) fn adopt(&self, handle: &mut FlowField) {
        if let Some(entry) = self.fields.get(&*handle.0) {
            *handle = entry.handle.clone();
        }
    }

    /// Keeps the handles of fields that exist in `others`, which these fields replace: the game may hold some.
    pub(crate) fn keep_handles(&mut self, others: &Self) {
        for (key, entry) in &mut self.fields {
            if let Some(other) = others.fields.get(key) {
                entry.handle = other.handle.clone();
            }
        }
    }

    /// Returns the step to take from `cell`; `None` at the goal, if no path leads to the goal, and where the
    /// field is not final yet. On a grid edited since the last tick the step is legal, but may not be
    /// optimal.
    #[must_use]
    pub fn direction(&self, grids: &NavGrids, field: &FlowField, cell: Cell) -> Option<Direction> {
        let (field, grid) = self.find(grids, field)?;
        field.direction(grid, cell)
    }

    /// Returns the cost of the path from `cell`; `None` if no path leads to the goal, and where the field is
    /// not final yet.
    #[must_use]
    pub fn cost(&self, grids: &NavGrids, field: &FlowField, cell: Cell) -> Option<PathCost> {
        let (field, grid) = self.find(grids, field)?;
        field.cost(grid, cell)
    }

    /// Returns the cost of the path from `cell` as far as it is known, also where edits may have changed it since.
    pub(crate) fn last_known_cost(
        &self,
        grids: &NavGrids,
        field: &FlowField,
        cell: Cell,
    ) -> Option<PathCost> {
        let (field, grid) = self.find(grids, field)?;
        field.last_known_cost(grid, cell)
    }

    /// Returns the whole path from `start`, following [`direction`](Self::direction) step by step; `None` if
    /// no path leads to the goal, where the field is not final yet, and if the path was cut off since the
    /// last tick.
    #[must_use]
    pub fn path(&self, grids: &NavGrids, field: &FlowField, start: Cell) -> Option<Path> {
        let (field, grid) = self.find(grids, field)?;
        field.path(grid, start)
    }

    /// Returns the state of the field as of the last tick.
    #[must_use]
    pub fn status(&self, field: &FlowField) -> FlowStatus {
        self.fields.get(&*field.0).map_or(FlowStatus::Pending, |entry| entry.status)
    }

    /// Returns whether the field gives answers for every cell, as of the last tick.
    #[must_use]
    pub fn is_ready(&self, field: &FlowField) -> bool {
        self.status(field) == FlowStatus::Ready
    }

    /// Returns whether a handle is of these fields, not of others that they have replaced.
    pub(crate) fn is_known(&self, field: &FlowField) -> bool {
        self.fields.contains_key(&*field.0)
    }

    /// Returns whether the field has all its answers: it is complete, for the grid as it was in the last tick, or there are none.
    pub(crate) fn is_settled(&self, grids: &NavGrids, field: &FlowField) -> bool {
        let generation = grids.generation(field.grid());
        let entry = self.fields.get(&*field.0);
        entry.is_some_and(|entry| {
            entry.status != FlowStatus::Pending && entry.field(generation).is_some()
        })
    }

    /// Returns whether the field is settled, and its grid was not edited since.
    pub(crate) fn is_up_to_date(&self, grids: &NavGrids, field: &FlowField) -> bool {
        let entry = self.fields.get(&*field.0);
        let is_checked = entry
            .zip(grids.get(field.grid()))
            .is_some_and(|(entry, grid)| entry.is_checked_for(grid));
        is_checked && self.is_settled(grids, field)
    }

    /// Returns whether the field has been complete for this grid, or would be if there had been no edits.
    pub(crate) fn is_held_up(&self, grids: &NavGrids, field: &FlowField) -> bool {
        let generation = grids.generation(field.grid());
        let entry = self.fields.get(&*field.0);
        entry.is_some_and(|entry| entry.is_held_up && entry.field(generation).is_some())
    }

    /// Returns the counters.
    #[must_use]
    pub const fn counters(&self) -> FlowCounters {
        self.counters
    }

    /// Returns the memory of all fields, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.fields.values().map(FlowEntry::bytes).sum()
    }

    /// Returns the field of a handle and the grid it was computed for.
    fn find<'a>(
        &'a self,
        grids: &'a NavGrids,
        handle: &FlowField,
    ) -> Option<(&'a DistanceField, &'a NavGrid)> {
        let entry = self.fields.get(&*handle.0)?;
        let grid = grids.get(handle.grid())?;
        Some((entry.field(grids.generation(handle.grid()))?, grid))
    }

    /// Spends up to `left` work units on one kind of work, round-robin; returns the rest of the budget.
    fn spend(&mut self, grids: &NavGrids, work: Work, mut left: u32) -> u32 {
        let mut queue = self.round_robin(work);
        while left > 0
            && let Some(key) = queue.pop_front()
        {
            let found = (self.fields.get_mut(&key), grids.get(key.grid));
            let (Some(entry), Some(grid)) = found else {
                continue;
            };
            let taken = entry.step(grid, left.min(SLICE), &mut self.counters);
            left = left.saturating_sub(taken);
            self.last_served[work as usize] = Some(key);
            if taken > 0 && entry.work == Some(work) {
                queue.push_back(key);
            }
        }
        left
    }

    /// Returns the fields that need this kind of work, in the order in which they are served.
    fn round_robin(&self, work: Work) -> VecDeque<FieldKey> {
        let waiting = self.fields.iter().filter(|(_, entry)| entry.work == Some(work));
        let mut queue: VecDeque<FieldKey> = waiting.map(|(&key, _)| key).collect();
        if let Some(last) = self.last_served[work as usize] {
            let next = queue.partition_point(|&key| key <= last);
            queue.rotate_left(next);
        }
        queue
    }
}

/// Drops fields without handles and works on the others, within the budget.
pub(crate) fn update_flow_fields(
    mut all: ResMut<FlowFields>,
    mut last_route: ResMut<LastRoute>,
    grids: Res<NavGrids>,
) {
    all.number_routes(&mut last_route);
    let FlowFields { fields, route_keys, counters, budget, .. } = &mut *all;
    fields.retain(|_, entry| entry.is_held());
    route_keys.retain(|_, key| fields.contains_key(key));
    fields.values_mut().for_each(|entry| entry.plan_work(&grids, counters));
    let is_any_unfilled = fields.values().any(|entry| entry.work == Some(Work::Fill));
    let budget = *budget;
    let reserved = if is_any_unfilled { budget / FILL_SHARE_DIVISOR } else { 0 };
    let mut left = budget - reserved;
    left = reserved + all.spend(&grids, Work::Repair, left);
    left = all.spend(&grids, Work::Fill, left);
    left = all.spend(&grids, Work::Repair, left);
    all.counters.spent_last_tick = budget - left;
    all.counters.alive = all.fields.len();
}
