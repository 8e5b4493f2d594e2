//! Fields as routes of crowds.
//!
//! Input: the fields of a tick, and the numbers by which crowds call them. Output: what the ways along them cost.
//! Numbers are never given twice: a crowd that still knows the number of a field that is gone learns of no
//! way.

use std::collections::BTreeMap;

use super::{FlowField, FlowFields, Key};
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

/// The numbers of all fields.
#[derive(Debug, Default)]
pub(super) struct RouteNumbers {
    last: u32,
    numbers: BTreeMap<Key, RouteId>,
    keys: BTreeMap<RouteId, Key>,
}

impl RouteNumbers {
    /// Gives a new field its number.
    pub(super) fn open(&mut self, key: Key) {
        self.last += 1;
        self.numbers.insert(key, RouteId(self.last));
        self.keys.insert(RouteId(self.last), key);
    }

    /// A field is gone; `false`, as it is not to be kept.
    pub(super) fn close(&mut self, key: &Key) -> bool {
        if let Some(number) = self.numbers.remove(key) {
            self.keys.remove(&number);
        }
        false
    }
}

/// The fields on one grid, as guides of its crowd.
#[derive(Debug)]
pub(crate) struct FlowRoutes<'a> {
    fields: &'a FlowFields,
    incarnation: u64,
}

impl FlowFields {
    /// The number of a field for crowds.
    pub(crate) fn route(&self, field: &FlowField) -> Option<RouteId> {
        self.routes.numbers.get(&*field.0).copied()
    }

    /// All fields on a grid, as guides of its crowd.
    pub(crate) fn guides(&self, grids: &NavGrids, id: GridId) -> FlowRoutes<'_> {
        FlowRoutes { fields: self, incarnation: grids.incarnation(id) }
    }
}

impl FlowRoutes<'_> {
    fn field(&self, route: RouteId) -> Option<&DistanceField> {
        let key = self.fields.routes.keys.get(&route)?;
        self.fields.fields.get(key)?.field(self.incarnation)
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
