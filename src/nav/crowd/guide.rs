//! Where units want to go: what every cell around them has yet to cost.
//!
//! Input: shared fields from outside, groups and own ways from inside. Output: for a unit the rest of
//! its way from its own cell and from each of the cells beside it.

use super::{
    Crowd,
    board::Place,
    unit::{Errand, NONE, STAY, Unit},
};
use crate::nav::{
    cell::Cell, field::DistanceField, grid::NavGrid, open_list::OpenList, path::PathCost,
};

/// Number of a shared field, as whoever owns the fields counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteId(pub u32);

/// The fields that lead units to shared goals.
pub trait Guidance {
    /// What the cheapest way from `cell` to the goal of `route` costs; 0 at the goal. `None` where there
    /// is no way, or none is known yet.
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost>;
}

impl<L: OpenList> Guidance for [DistanceField<L>] {
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost> {
        self.get(route.0 as usize)?.cost(grid, cell)
    }
}

impl<L: OpenList> Guidance for Vec<DistanceField<L>> {
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost> {
        self.as_slice().cost(grid, route, cell)
    }
}

/// No shared fields at all: for crowds whose units have ways of their own.
impl Guidance for () {
    fn cost(&self, _: &NavGrid, _: RouteId, _: Cell) -> Option<PathCost> {
        None
    }
}

/// What uphill ways are counted from.
const UPHILL: u64 = 1 << 60;
/// No way.
pub(super) const FAR: u64 = u64::MAX;

/// The grid and who guides through it, for the length of a tick.
#[derive(Debug)]
pub(super) struct World<'a, G: ?Sized> {
    pub(super) grid: &'a NavGrid,
    pub(super) guide: &'a G,
}

/// The rest of the way from the cells around a unit by direction, and from its own ([`STAY`]).
pub(super) type Rest = [u64; 9];

impl Crowd {
    /// The rest of the way from the cells beside a unit that `ways` names, and from its own.
    pub(super) fn rest_around<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        (index, unit): (u32, &Unit),
        ways: u8,
    ) -> Rest {
        let mut rest = [FAR; 9];
        let at = unit.tail;
        let mut fill = |cost: &dyn Fn(Place) -> u64| {
            rest[usize::from(STAY)] = cost(at);
            for way in 0..8 {
                if ways & 1 << way != 0 {
                    rest[usize::from(way)] = cost(at.step(way));
                }
            }
        };
        if unit.is_trapped {
            let mut rest = [FAR; 9];
            rest[usize::from(STAY)] = self.escape_rest(world.grid, unit, unit.tail);
            for way in (0..8).filter(|way| ways & 1 << way != 0) {
                rest[usize::from(way)] = self.escape_rest(world.grid, unit, unit.tail.step(way));
            }
            return rest;
        }
        if let Some(other) = self.units.get(unit.flees as usize) {
            let other = Unit { tail: unit.tail, flees: NONE, ..*other };
            let rest = self.rest_around(world, (unit.flees, &other), ways);
            return rest.map(|rest| if rest == FAR { FAR } else { UPHILL.saturating_sub(rest) });
        }
        match unit.errand {
            Errand::Idle => {}
            Errand::Route(route) => fill(&|place| field_cost(world, route, place)),
            Errand::Group(id) => {
                let group = &self.groups[id.0 as usize];
                if group.has(at) {
                    fill(&|place| group.rest(place));
                } else {
                    fill(&|place| field_cost(world, group.route(), place));
                }
            }
            Errand::Way => fill(&self.way_rest(world.grid, index)),
        }
        rest
    }
}

/// What a shared field says of a place.
pub(super) fn field_cost<G: Guidance + ?Sized>(
    world: &World<'_, G>,
    route: RouteId,
    place: Place,
) -> u64 {
    world.guide.cost(world.grid, route, place.cell(world.grid)).map_or(FAR, |cost| cost.0)
}
