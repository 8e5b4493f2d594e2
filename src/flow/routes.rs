//! Flow fields as routes of crowds.
//!
//! Input: the fields of a tick, and the route numbers by which crowds refer to them. Output: the costs along
//! the fields. Numbers are never reused: for the number of a field that no longer exists a crowd gets no
//! cost.

use super::{FlowField, FlowFields};
use crate::{
    grids::NavGrids,
    nav::{Cell, DistanceField, GridId, Guidance, NavGrid, PathCost, RouteId, crowd::NO_COST},
};

/// The fields on one grid, as guidance for its crowd.
#[derive(Debug)]
pub(crate) struct FlowRoutes<'a> {
    fields: &'a FlowFields,
    generation: u64,
}

impl FlowFields {
    /// Returns the route number of a field.
    pub(crate) fn route(&self, field: &FlowField) -> Option<RouteId> {
        self.fields.get(&*field.0).map(|entry| entry.route)
    }

    /// Returns all fields on a grid, as guidance for its crowd.
    pub(crate) fn guides(&self, grids: &NavGrids, id: GridId) -> FlowRoutes<'_> {
        FlowRoutes { fields: self, generation: grids.generation(id) }
    }
}

impl FlowRoutes<'_> {
    fn field(&self, route: RouteId) -> Option<&DistanceField> {
        let key = self.fields.route_keys.get(&route)?;
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
