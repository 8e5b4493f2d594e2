//! Flow fields as routes of crowds.
//!
//! Input: the fields of a tick, and the route numbers by which crowds refer to them. Output: the costs along
//! the fields. Numbers are never reused: for the number of a field that no longer exists a crowd gets no
//! cost.

use std::collections::BTreeMap;

use super::{FlowField, FlowFields, Key, entry::Entry};
use crate::{
    grids::NavGrids,
    nav::{
        cell::Cell,
        crowd::{Guidance, NO_COST, RouteId},
        field::DistanceField,
        grid::NavGrid,
        path::PathCost,
        query::GridId,
    },
};

/// Maps route numbers to fields.
#[derive(Debug, Default)]
pub(super) struct RouteNumbers {
    last: u32,
    keys: BTreeMap<RouteId, Key>,
}

impl RouteNumbers {
    /// Assigns a number to a new field.
    pub(super) fn open(&mut self, key: Key) -> RouteId {
        self.last += 1;
        self.keys.insert(RouteId(self.last), key);
        RouteId(self.last)
    }

    /// Removes the numbers of fields that are not kept.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&Key) -> bool) {
        self.keys.retain(|_, key| is_kept(key));
    }
}

/// The fields on one grid, as guidance for its crowd.
#[derive(Debug)]
pub(crate) struct FlowRoutes<'a> {
    fields: &'a FlowFields,
    generation: u64,
}

impl FlowFields {
    /// Returns the route number of a field.
    pub(crate) fn route(&self, field: &FlowField) -> Option<RouteId> {
        self.fields.get(&*field.0).map(Entry::route)
    }

    /// Returns all fields on a grid, as guidance for its crowd.
    pub(crate) fn guides(&self, grids: &NavGrids, id: GridId) -> FlowRoutes<'_> {
        FlowRoutes { fields: self, generation: grids.generation(id) }
    }
}

impl FlowRoutes<'_> {
    fn field(&self, route: RouteId) -> Option<&DistanceField> {
        let key = self.fields.routes.keys.get(&route)?;
        self.fields.fields.get(key)?.field(self.generation)
    }
}

impl Guidance for FlowRoutes<'_> {
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost> {
        self.field(route)?.cost(grid, cell)
    }

    fn costs_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> [u64; 9] {
        self.field(route).map_or([NO_COST; 9], |field| field.costs_around(grid, cell))
    }
}
