//! Flow fields as routes of crowds.
//!
//! Input: the fields of a tick, and the route numbers by which crowds refer to them. Output: the costs along
//! the fields. Numbers are never reused: for the number of a field that no longer exists a crowd gets no
//! cost.

use bevy::prelude::Resource;

use super::{FlowField, FlowFields};
use crate::{
    grids::NavGrids,
    nav::{Cell, DistanceField, GridId, Guidance, NavGrid, PathCost, RouteId, crowd::NO_COST},
};

/// The fields on one grid, as guidance for its crowd.
#[derive(Debug)]
pub(crate) struct FlowRoutes<'a> {
    fields: &'a FlowFields,
    id: GridId,
    generation: u64,
}

/// The route number assigned last. It is kept when the game replaces the fields: groups may still refer to earlier ones.
#[derive(Resource, Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct LastRoute(u32);

impl FlowFields {
    /// Returns the route number of a field.
    pub(crate) fn route(&self, field: &FlowField) -> Option<RouteId> {
        self.fields.get(&*field.0).map(|entry| entry.route)
    }

    /// Returns all fields on a grid, as guidance for its crowd.
    pub(crate) fn guides(&self, grids: &NavGrids, id: GridId) -> FlowRoutes<'_> {
        FlowRoutes { fields: self, id, generation: grids.generation(id) }
    }

    /// Numbers the routes of a new resource on from those of the one that it replaces.
    pub(super) fn number_routes(&mut self, last: &mut LastRoute) {
        if !self.continues {
            let before = last.0;
            self.fields.values_mut().for_each(|entry| entry.route.0 += before);
            let keys = core::mem::take(&mut self.route_keys).into_iter();
            self.route_keys = keys.map(|(route, key)| (RouteId(route.0 + before), key)).collect();
            (self.last_route, self.continues) = (self.last_route + before, true);
        }
        // The game may also have put older ones back.
        self.last_route = self.last_route.max(last.0);
        last.0 = self.last_route;
    }
}

impl FlowRoutes<'_> {
    fn field(&self, route: RouteId) -> Option<&DistanceField> {
        let key = self.fields.route_keys.get(&route).filter(|key| key.grid == self.id)?;
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
