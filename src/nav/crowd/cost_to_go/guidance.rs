//! Shared fields, and the form that the costs of all sources have.
//!
//! Input: fields from outside. Output: the cost of the rest of a path from a cell and from each cell beside it.

use crate::nav::crowd::board::{GridPos, RouteId, STAY};
use crate::nav::{Cell, DistanceField, NavGrid, PathCost, direction::OFFSETS};

/// The fields that guide units to shared goals.
pub trait Guidance {
    /// Returns the cost of the cheapest path from `cell` to the goal of `route`; 0 at the goal. `None` if
    /// there is no path, or none is known yet.
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost>;

    /// Returns the same for the eight cells around `cell`, by direction, and for `cell` itself, last. Units
    /// need all of them at the same time, and most fields can answer faster than cell by cell. [`NO_COST`]
    /// where there is no path.
    fn costs_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> [u64; 9] {
        core::array::from_fn(|direction| {
            let (dx, dy) = OFFSETS.get(direction).copied().unwrap_or_default();
            self.cost(grid, route, cell.offset(dx, dy)).map_or(NO_COST, |cost| cost.0)
        })
    }
}

/// The value that [`Guidance::costs_around`] returns for cells without a path.
pub const NO_COST: u64 = u64::MAX;

impl Guidance for Vec<DistanceField> {
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost> {
        self.get(route.0 as usize)?.cost(grid, cell)
    }

    fn costs_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> [u64; 9] {
        let field = self.get(route.0 as usize);
        field.map_or([NO_COST; 9], |field| field.costs_around(grid, cell))
    }
}

/// No shared fields: for crowds whose units follow their own paths.
impl Guidance for () {
    fn cost(&self, _: &NavGrid, _: RouteId, _: Cell) -> Option<PathCost> {
        None
    }
}

/// There is no path.
pub const UNREACHABLE: u64 = NO_COST;

/// The grid and the guidance for one tick.
#[derive(Clone, Copy)]
pub struct World<'a> {
    pub grid: &'a NavGrid,
    pub guidance: &'a dyn Guidance,
}

/// The cost of the rest of the path from the cells around a unit, by direction, and from its own cell
/// ([`STAY`]).
pub type CostToGo = [u64; 9];

/// The costs around a unit that is to be decided.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct NeighborCosts {
    pub cost_to_go: CostToGo,
    /// The steps that the terrain allows, as a bit mask of directions.
    pub directions: u8,
    /// The cost of a cell if it is the same for all cells; 0 otherwise.
    pub cell_cost: u64,
}

/// Returns the cost to go at a position and at the positions beside it in the given directions (bit mask).
pub fn around(pos: GridPos, directions: u8, cost: &dyn Fn(GridPos) -> u64) -> CostToGo {
    let mut cost_to_go = [UNREACHABLE; 9];
    cost_to_go[usize::from(STAY)] = cost(pos);
    for direction in (0..8).filter(|direction| directions & 1 << direction != 0) {
        cost_to_go[usize::from(direction)] = cost(pos.step(direction));
    }
    cost_to_go
}

/// Returns the costs in a shared field around a position and at the position itself.
#[inline]
pub fn route_costs_around(world: World<'_>, route: RouteId, pos: GridPos) -> CostToGo {
    world.guidance.costs_around(world.grid, route, pos.cell(world.grid))
}

/// Returns the cost in a shared field at a position.
pub fn route_cost(world: World<'_>, route: RouteId, pos: GridPos) -> u64 {
    world.guidance.cost(world.grid, route, pos.cell(world.grid)).map_or(UNREACHABLE, |cost| cost.0)
}
