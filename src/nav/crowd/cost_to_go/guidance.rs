//! Guidance: the cost to go from every cell around a unit.
//!
//! Input: shared fields from outside; groups and the units' own paths from inside. Output: for a unit, the
//! cost of the rest of its path from its own cell and from each cell beside it.

use core::hint::black_box;

use crate::nav::crowd::{
    Crowd,
    chain::legal_directions,
    make_way::{MakesWay, costs_of_making_way},
    reservations::GridPos,
    step_costs::StepCosts,
    unit::{NONE, Order, STAY, Unit},
};
use crate::nav::{
    cell::Cell, direction::OFFSETS, field::DistanceField, grid::NavGrid, layer::Layer,
    open_list::OpenList, path::PathCost, terrain::ProfileId,
};

/// The number of a shared field, assigned by the owner of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteId(pub u32);

/// The fields that lead units to shared goals.
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

    /// Called for all cells whose surroundings are about to be looked up, so that their memory can be fetched
    /// at the same time. Does nothing by default.
    fn prefetch_around(&self, _grid: &NavGrid, _route: RouteId, _cell: Cell) {}
}

/// The value that [`Guidance::costs_around`] returns for cells without a path.
pub const NO_COST: u64 = u64::MAX;

impl<L: OpenList> Guidance for [DistanceField<L>] {
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost> {
        self.get(route.0 as usize)?.cost(grid, cell)
    }

    #[inline]
    fn costs_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> [u64; 9] {
        let field = self.get(route.0 as usize);
        field.map_or([NO_COST; 9], |field| field.costs_around(grid, cell))
    }

    #[inline]
    fn prefetch_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) {
        if let Some(field) = self.get(route.0 as usize) {
            field.prefetch_around(grid, cell);
        }
    }
}

impl<L: OpenList> Guidance for Vec<DistanceField<L>> {
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost> {
        self.as_slice().cost(grid, route, cell)
    }

    #[inline]
    fn costs_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> [u64; 9] {
        self.as_slice().costs_around(grid, route, cell)
    }

    #[inline]
    fn prefetch_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) {
        self.as_slice().prefetch_around(grid, route, cell);
    }
}

/// No shared fields: for crowds whose units follow their own paths.
impl Guidance for () {
    fn cost(&self, _: &NavGrid, _: RouteId, _: Cell) -> Option<PathCost> {
        None
    }
}

/// The value from which costs are subtracted to reverse a direction of travel; far below what
/// [`Scores`](crate::nav::crowd::scores::Scores) can hold.
const REVERSED_FROM: u64 = 1 << 55;
/// There is no path.
pub(in crate::nav::crowd) const UNREACHABLE: u64 = NO_COST;

/// The grid and the guidance for one tick.
#[derive(Debug)]
pub(in crate::nav::crowd) struct World<'a, G: ?Sized> {
    pub(in crate::nav::crowd) grid: &'a NavGrid,
    pub(in crate::nav::crowd) guidance: &'a G,
}

/// The cost of the rest of the path from the cells around a unit, by direction, and from its own cell
/// ([`STAY`]).
pub(in crate::nav::crowd) type CostToGo = [u64; 9];

/// The costs around a unit that is to be decided.
#[derive(Clone, Copy, Debug)]
pub(in crate::nav::crowd) struct NeighborCosts {
    pub(in crate::nav::crowd) cost_to_go: CostToGo,
    /// The steps that the terrain allows, as a bit mask of directions.
    pub(in crate::nav::crowd) directions: u8,
    /// The cost of a cell if it is the same for all cells; 0 otherwise.
    pub(in crate::nav::crowd) cell_cost: u64,
}

impl Crowd {
    /// Looks up the fields around all units that are to be decided, one unit after the other, so that the
    /// processor waits for many memory accesses at the same time.
    pub(in crate::nav::crowd) fn look_up_neighbor_costs<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
    ) {
        self.prefetch_surroundings(world);
        self.sources.neighbor_costs.clear();
        let now = self.tick_stamp();
        let mut last: Option<(u8, &Layer, u64)> = None;
        for at in 0..self.ready.len() {
            let index = self.ready[at];
            let route = self.route_of(&self.units[index as usize]);
            let unit = &mut self.units[index as usize];
            if let Some(route) = route {
                let known = last.filter(|&(profile, ..)| profile == unit.profile);
                last = known.or_else(|| layer_of(world, unit.profile));
                let Some((_, layer, cell_cost)) = last else {
                    continue;
                };
                let cost_to_go = route_costs_around(world, route, unit.tail);
                if matches!(unit.order, Order::Group(_))
                    && is_end_of_field(cost_to_go[usize::from(STAY)])
                {
                    continue; // it needs its own path, or there is none
                }
                (unit.costs_tick, unit.costs_index) =
                    (now, self.sources.neighbor_costs.len() as u32);
                self.sources.neighbor_costs.push(NeighborCosts {
                    cost_to_go,
                    directions: legal_directions(layer, unit.tail),
                    cell_cost,
                });
            }
        }
    }

    /// Reads the memory that will be needed around all units that are to be decided, so that the processor
    /// waits for many accesses at the same time.
    fn prefetch_surroundings<G: Guidance + ?Sized>(&self, world: &World<'_, G>) {
        // In rounds: what one round reads tells the next where to read.
        for &index in &self.ready {
            let unit = &self.units[index as usize];
            if let Some(route) = self.route_of(unit) {
                world.guidance.prefetch_around(world.grid, route, unit.tail.cell(world.grid));
            } else if matches!(unit.order, Order::Path(_)) {
                self.sources.followers[index as usize].prefetch();
                self.groups.prefetch_progress(index);
            }
        }
        for &index in &self.ready {
            let unit = &self.units[index as usize];
            let cell = self.reservations.index(unit.tail);
            for direction in [0, 1, 3, 4, 5, 7] {
                black_box(self.reservations.get(self.reservations.neighbor(cell, direction)));
            }
        }
        for &index in &self.ready {
            if matches!(self.units[index as usize].order, Order::Path(_)) {
                self.sources.followers[index as usize].prefetch_corners();
            }
        }
    }

    /// Returns the shared field that leads a unit, unless the unit has a slot of its group or is near one.
    pub(in crate::nav::crowd) fn route_of(&self, unit: &Unit) -> Option<RouteId> {
        match unit.order {
            Order::Route(route) => Some(route),
            Order::Group(id) if unit.slot == NONE => self.groups.route_at(id, unit.tail),
            _ => None,
        }
    }

    /// Returns the costs around a unit, if they were looked up in this tick.
    #[inline]
    pub(in crate::nav::crowd) fn neighbor_costs(&self, index: u32) -> Option<&NeighborCosts> {
        let unit = &self.units[index as usize];
        let is_current = unit.costs_tick == self.tick_stamp()
            && (unit.yields_to, unit.slot) == (NONE, NONE)
            && !unit.is_trapped;
        is_current.then(|| self.sources.neighbor_costs.get(unit.costs_index as usize))?
    }

    /// Returns the cost to go from the cells beside a unit in the given directions (bit mask), and from its
    /// own cell.
    pub(in crate::nav::crowd) fn cost_to_go_around<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        (index, unit): (u32, &Unit),
        directions: u8,
    ) -> CostToGo {
        let around = |cost: &dyn Fn(GridPos) -> u64| around(unit.tail, directions, cost);
        if unit.is_trapped {
            return around(&|pos| self.escape_cost(world.grid, unit, pos));
        }
        if unit.makes_way != MakesWay::No {
            let layer = world.grid.layer(ProfileId(unit.profile));
            return layer
                .map_or([UNREACHABLE; 9], |layer| costs_of_making_way(layer, unit.makes_way));
        }
        if let Some(other) = self.units.get(unit.yields_to as usize) {
            let other = Unit { tail: unit.tail, yields_to: NONE, ..*other };
            let cost_to_go = self.cost_to_go_around(world, (unit.yields_to, &other), directions);
            return cost_to_go.map(|cost| match cost {
                UNREACHABLE => UNREACHABLE,
                cost => REVERSED_FROM.saturating_sub(cost),
            });
        }
        match unit.order {
            Order::Idle => [UNREACHABLE; 9],
            Order::Route(route) => route_costs_around(world, route, unit.tail),
            Order::Group(id) => self.member_cost_to_go(world, id, (index, unit), directions),
            Order::Path(_) => self.path_costs_around(world.grid, index, unit.tail, directions),
        }
    }
}

/// Returns whether the cost only says that the goal is here or cannot be reached.
const fn is_end_of_field(cost: u64) -> bool {
    matches!(cost, 0 | UNREACHABLE)
}

/// Returns a profile, its layer, and the cost of its cells if it is the same for all of them (0 otherwise).
fn layer_of<'a, G: ?Sized>(world: &World<'a, G>, profile: u8) -> Option<(u8, &'a Layer, u64)> {
    let layer = world.grid.layer(ProfileId(profile))?;
    Some((profile, layer, StepCosts::new(layer, world.grid.terrain_bytes()).uniform()))
}

/// Returns the cost to go at a position and at the positions beside it in the given directions (bit mask).
pub(in crate::nav::crowd) fn around(
    pos: GridPos,
    directions: u8,
    cost: &dyn Fn(GridPos) -> u64,
) -> CostToGo {
    let mut cost_to_go = [UNREACHABLE; 9];
    cost_to_go[usize::from(STAY)] = cost(pos);
    for direction in (0..8).filter(|direction| directions & 1 << direction != 0) {
        cost_to_go[usize::from(direction)] = cost(pos.step(direction));
    }
    cost_to_go
}

/// Returns the costs in a shared field around a position and at the position itself.
#[inline]
pub(in crate::nav::crowd) fn route_costs_around<G: Guidance + ?Sized>(
    world: &World<'_, G>,
    route: RouteId,
    pos: GridPos,
) -> CostToGo {
    world.guidance.costs_around(world.grid, route, pos.cell(world.grid))
}

/// Returns the cost in a shared field at a position.
pub(in crate::nav::crowd) fn route_cost<G: Guidance + ?Sized>(
    world: &World<'_, G>,
    route: RouteId,
    pos: GridPos,
) -> u64 {
    world.guidance.cost(world.grid, route, pos.cell(world.grid)).map_or(UNREACHABLE, |cost| cost.0)
}
