//! Fields for everyone: the way to one goal from everywhere, shared by all who hold a handle, and
//! kept up to date under edits.
//!
//! Input: grids, and goals by [`FlowFields::request`]. Output: for any cell the next step, the cost
//! and the whole way. Each tick the fields are looked through once and worked on under a budget of
//! their own, in turns of 1,024 units: first those that edits have touched, which redo only that,
//! then those that must be filled. Crowds that follow a field need no requests and no paths.
//!
//! Invariants: one field per grid, profile and goal, as long as anyone holds a handle. What is
//! done in which tick depends on the requests, the edits and the budget alone: fields take turns in
//! the order of their keys, going on after the one that was served last.
//!
//! Memory: 4 bytes a cell for each field, and 66 KiB. How a field is filled and repaired:
//! [`nav::field`](crate::nav::field).

mod entry;
mod routes;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use self::{
    entry::{Entry, Work},
    routes::RouteNumbers,
};
use crate::{
    grids::NavGrids,
    nav::{
        cell::Cell,
        direction::Direction,
        field::DistanceField,
        grid::NavGrid,
        path::{Path, PathCost},
        query::{GridId, PathFailure},
        terrain::ProfileId,
    },
};

/// Units a field may take before it is another one's turn.
const SLICE: u32 = 1_024;
/// While fields wait to be filled, repairs leave them this part of the budget.
const SHARE_OF_NEW: u32 = 4;

/// Where a field leads, on which grid and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    grid: GridId,
    profile: ProfileId,
    goal: Cell,
}

/// A share in a field: it is kept as long as there are any. Cheap to clone. Two are equal if they
/// lead to the same goal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(opaque)]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub struct FlowField(Arc<Key>);

impl FlowField {
    /// The grid it lies on.
    #[must_use]
    pub fn grid(&self) -> GridId {
        self.0.grid
    }

    /// Who goes there.
    #[must_use]
    pub fn profile(&self) -> ProfileId {
        self.0.profile
    }

    /// Where all ways lead.
    #[must_use]
    pub fn goal(&self) -> Cell {
        self.0.goal
    }
}

/// How far a field is, as of the last tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum FlowStatus {
    /// It is being filled or repaired. It answers for the cells it is already certain of: those
    /// near the goal first.
    #[default]
    Pending,
    /// It answers for every cell from which a way leads to the goal.
    Ready,
    /// It answers for none: there is no such grid or profile, or a unit cannot stand on the goal.
    /// As soon as that changes it is filled again.
    Failed(PathFailure),
}

/// What was done for fields. Counts since the app began, unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct FlowCounters {
    /// Fields held at the last tick.
    pub alive: usize,
    /// Times that a field was filled to its end.
    pub integrations: u64,
    /// Times that a field was brought up to date by redoing only what edits touched.
    pub repairs: u64,
    /// Times that a field was given up and begun anew: an edit came while it was being filled or
    /// touched so much that a repair would have taken longer, profiles were replaced, or there
    /// were too many edits to remember.
    pub restarts: u64,
    /// Units spent in the last tick.
    pub spent_last_tick: u32,
}

/// All fields that anyone holds a handle to; see the [module](self).
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
/// /// Goes a step a tick.
/// fn march(fields: Res<FlowFields>, grids: Res<NavGrids>, mut marchers: Query<&mut Marcher>) {
///     for mut marcher in &mut marchers {
///         if let Some(direction) = fields.direction(&grids, &marcher.flow, marcher.at) {
///             let (dx, dy) = direction.offset();
///             marcher.at = marcher.at.offset(dx, dy);
///         }
///     }
/// }
/// # bevy::ecs::system::assert_is_system(march);
/// ```
#[derive(Resource, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct FlowFields {
    /// Units that fields may take per tick, beside the budget for requests; 0 pauses them. What a
    /// unit is, see [`DistanceField::step`]: about as much time as an expansion. The default of
    /// 10,000 is a fifth of the default budget for requests, about 0.4 ms on the machine
    /// the figures in `benches/RESULTS.md` come from, and fills a map of 256 × 256 cells of uniform
    /// ground in one tick.
    pub budget: u32,
    #[reflect(ignore)]
    fields: BTreeMap<Key, Entry>,
    /// Whose turn it was last, by kind of work.
    #[reflect(ignore)]
    served: [Option<Key>; 2],
    #[reflect(ignore)]
    routes: RouteNumbers,
    counters: FlowCounters,
}

impl Default for FlowFields {
    /// No field, and the default budget.
    fn default() -> Self {
        Self {
            budget: 10_000,
            fields: BTreeMap::new(),
            served: [None; 2],
            routes: RouteNumbers::default(),
            counters: FlowCounters::default(),
        }
    }
}

impl FlowFields {
    /// A share in the field that leads to `goal`: the one there is, or a new one, which is filled
    /// from the next tick on. The field is dropped in the first tick in which no handle to it is
    /// left.
    pub fn request(&mut self, grid: GridId, profile: ProfileId, goal: Cell) -> FlowField {
        let key = Key { grid, profile, goal };
        if let Some(entry) = self.fields.get(&key) {
            return entry.handle().clone();
        }
        let handle = FlowField(Arc::new(key));
        let route = self.routes.open(key);
        self.fields.insert(key, Entry::new(handle.clone(), route));
        handle
    }

    /// The step to take from `cell`; `None` at the goal, where no way leads there, and where the
    /// field is not certain yet. On a grid edited since the last tick it is a step that is legal
    /// now, if not the best.
    #[must_use]
    pub fn direction(&self, grids: &NavGrids, field: &FlowField, cell: Cell) -> Option<Direction> {
        let (field, grid) = self.find(grids, field)?;
        field.direction(grid, cell)
    }

    /// What the way from `cell` costs; `None` where none leads to the goal, and where the field is
    /// not certain yet.
    #[must_use]
    pub fn cost(&self, grids: &NavGrids, field: &FlowField, cell: Cell) -> Option<PathCost> {
        let (field, grid) = self.find(grids, field)?;
        field.cost(grid, cell)
    }

    /// The whole way from `start`, step by step as [`direction`](Self::direction) says; `None`
    /// where none leads to the goal, where the field is not certain yet, and where the way was cut
    /// off since the last tick.
    #[must_use]
    pub fn path(&self, grids: &NavGrids, field: &FlowField, start: Cell) -> Option<Path> {
        let (field, grid) = self.find(grids, field)?;
        field.path(grid, start)
    }

    /// How far the field is, as of the last tick.
    #[must_use]
    pub fn status(&self, field: &FlowField) -> FlowStatus {
        self.fields.get(&*field.0).map_or(FlowStatus::Pending, Entry::status)
    }

    /// Whether it answers for every cell, as of the last tick.
    #[must_use]
    pub fn is_ready(&self, field: &FlowField) -> bool {
        self.status(field) == FlowStatus::Ready
    }

    /// What was done so far.
    #[must_use]
    pub const fn counters(&self) -> FlowCounters {
        self.counters
    }

    /// Memory of all fields, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.fields.values().map(Entry::bytes).sum()
    }

    /// The field of a handle and the grid it was made for.
    fn find<'a>(
        &'a self,
        grids: &'a NavGrids,
        handle: &FlowField,
    ) -> Option<(&'a DistanceField, &'a NavGrid)> {
        let entry = self.fields.get(&*handle.0)?;
        let grid = grids.get(handle.grid())?;
        Some((entry.field(grids.generation(handle.grid()))?, grid))
    }

    /// Drops fields that nobody holds, and works on the others.
    fn update(&mut self, grids: &NavGrids) {
        self.fields.retain(|_, entry| entry.is_held());
        self.routes.retain(|key| self.fields.contains_key(key));
        for entry in self.fields.values_mut() {
            entry.look_after(grids, &mut self.counters);
        }
        let is_any_new = self.fields.values().any(|entry| entry.work() == Some(Work::Fill));
        let kept = if is_any_new { self.budget / SHARE_OF_NEW } else { 0 };
        let mut left = self.budget - kept;
        left = kept + self.spend(grids, Work::Repair, left);
        left = self.spend(grids, Work::Fill, left);
        left = self.spend(grids, Work::Repair, left);
        self.counters.spent_last_tick = self.budget - left;
        self.counters.alive = self.fields.len();
    }

    /// Spends what is left of the budget on one kind of work, in turns; returns what is left then.
    fn spend(&mut self, grids: &NavGrids, work: Work, mut left: u32) -> u32 {
        let mut line = self.line(work);
        while left > 0
            && let Some(key) = line.pop_front()
        {
            let found = (self.fields.get_mut(&key), grids.get(key.grid));
            let (Some(entry), Some(grid)) = found else {
                continue;
            };
            let taken = entry.step(grid, left.min(SLICE), &mut self.counters);
            left = left.saturating_sub(taken);
            self.served[work as usize] = Some(key);
            if taken > 0 && entry.work() == Some(work) {
                line.push_back(key);
            }
        }
        left
    }

    /// The fields with such work in order of their turns.
    fn line(&self, work: Work) -> VecDeque<Key> {
        let waits = |(&key, entry): (&Key, &Entry)| (entry.work() == Some(work)).then_some(key);
        let mut line: VecDeque<Key> = self.fields.iter().filter_map(waits).collect();
        if let Some(last) = self.served[work as usize] {
            let next = line.partition_point(|&key| key <= last);
            line.rotate_left(next);
        }
        line
    }
}

/// Keeps all fields up to date, as far as the budget goes.
pub(crate) fn update_flow_fields(mut fields: ResMut<FlowFields>, grids: Res<NavGrids>) {
    fields.update(&grids);
}
