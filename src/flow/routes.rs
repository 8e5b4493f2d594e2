//! Fields as routes of crowds.
//!
//! Input: the fields of a tick, and the numbers by which crowds call them. Output: what the ways along them cost.
//! Numbers are never given twice: a crowd that still knows the number of a field that is gone learns of no
//! way.

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

/// Which field has which number.
#[derive(Debug, Default)]
pub(super) struct RouteNumbers {
    last: u32,
    keys: BTreeMap<RouteId, Key>,
}

impl RouteNumbers {
    /// A number for a new field.
    pub(super) fn open(&mut self, key: Key) -> RouteId {
        self.last += 1;
        self.keys.insert(RouteId(self.last), key);
        RouteId(self.last)
    }

    /// Forgets the numbers of fields that are not kept.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&Key) -> bool) {
        self.keys.retain(|_, key| is_kept(key));
    }
}

/// The fields on one grid, as guides of its crowd.
#[derive(Debug)]
pub(crate) struct FlowRoutes<'a> {
    fields: &'a FlowFields,
    generation: u64,
}

impl FlowFields {
    /// The number of a field for crowds.
    pub(crate) fn route(&self, field: &FlowField) -> Option<RouteId> {
        self.fields.get(&*field.0).map(Entry::route)
    }

    /// All fields on a grid, as guides of its crowd.
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
