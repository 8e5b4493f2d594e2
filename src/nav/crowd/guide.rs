//! Where units want to go: what every cell around them has yet to cost.
//!
//! Input: shared fields from outside, groups and own ways from inside. Output: for a unit the rest of
//! its way from its own cell and from each of the cells beside it.

use core::hint::black_box;

use super::{
    Crowd,
    board::Place,
    chain::legal_ways,
    near::straight,
    rank::Ground,
    unit::{Errand, NONE, STAY, Unit},
};
use crate::nav::{
    cell::Cell, direction::OFFSETS, field::DistanceField, grid::NavGrid, layer::Layer,
    open_list::OpenList, path::PathCost, terrain::ProfileId,
};

/// Number of a shared field, as whoever owns the fields counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteId(pub u32);

/// The fields that lead units to shared goals.
pub trait Guidance {
    /// What the cheapest way from `cell` to the goal of `route` costs; 0 at the goal. `None` where there
    /// is no way, or none is known yet.
    fn cost(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> Option<PathCost>;

    /// The same for the eight cells around `cell`, by direction, and for itself, last: units ask for all
    /// of them at once, and most fields answer faster than cell by cell. [`NO_COST`] where there is no
    /// way.
    fn costs_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) -> [u64; 9] {
        core::array::from_fn(|way| {
            let (dx, dy) = OFFSETS.get(way).copied().unwrap_or_default();
            self.cost(grid, route, cell.offset(dx, dy)).map_or(NO_COST, |cost| cost.0)
        })
    }

    /// Told of all cells whose surroundings are about to be asked for, so that their memory can be fetched
    /// at the same time. Does nothing unless a field does better.
    fn touch_around(&self, _grid: &NavGrid, _route: RouteId, _cell: Cell) {}
}

/// What [`Guidance::costs_around`] tells of cells from which there is no way.
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
    fn touch_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) {
        if let Some(field) = self.get(route.0 as usize) {
            field.touch_around(grid, cell);
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
    fn touch_around(&self, grid: &NavGrid, route: RouteId, cell: Cell) {
        self.as_slice().touch_around(grid, route, cell);
    }
}

/// No shared fields at all: for crowds whose units have ways of their own.
impl Guidance for () {
    fn cost(&self, _: &NavGrid, _: RouteId, _: Cell) -> Option<PathCost> {
        None
    }
}

/// What uphill ways are counted from; far below what [`Scores`](super::scores::Scores) can hold.
const UPHILL: u64 = 1 << 55;
/// No way.
pub(super) const FAR: u64 = NO_COST;

/// The grid and who guides through it, for the length of a tick.
#[derive(Debug)]
pub(super) struct World<'a, G: ?Sized> {
    pub(super) grid: &'a NavGrid,
    pub(super) guide: &'a G,
}

/// The rest of the way from the cells around a unit by direction, and from its own ([`STAY`]).
pub(super) type Rest = [u64; 9];

/// What a unit sees that is to be decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) rest: Rest,
    /// The steps that the ground allows it.
    pub(super) ways: u8,
    /// What cells cost it, if that is the same for all; 0 otherwise.
    pub(super) cost: u64,
}

impl Crowd {
    /// Looks up where the fields of all who are to be decided lead: one after the other, so that the
    /// processor waits for many places of memory at the same time.
    pub(super) fn look_ahead<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>) {
        self.touch_surroundings(world);
        self.views.clear();
        let now = self.stamp();
        let mut last: Option<(u8, &Layer, u64)> = None;
        for at in 0..self.ready.len() {
            let index = self.ready[at];
            let route = self.field_of(&self.units[index as usize]);
            let unit = &mut self.units[index as usize];
            if let Some(route) = route {
                let known = last.filter(|&(profile, ..)| profile == unit.profile);
                last = known.or_else(|| ground_of(world, unit.profile));
                let Some((_, layer, cost)) = last else {
                    continue;
                };
                let rest = field_around(world, route, unit.tail);
                if matches!(unit.errand, Errand::Place(_)) && is_end(rest[usize::from(STAY)]) {
                    continue; // it needs its own way, or knows none
                }
                (unit.viewed_in, unit.view) = (now, self.views.len() as u32);
                self.views.push(View { rest, ways: legal_ways(layer, unit.tail), cost });
            }
        }
    }

    /// Reads what will be asked for around all who are to be decided, so that the processor waits for
    /// many places of memory at the same time.
    fn touch_surroundings<G: Guidance + ?Sized>(&self, world: &World<'_, G>) {
        for &index in &self.ready {
            let unit = &self.units[index as usize];
            if let Some(route) = self.field_of(unit) {
                world.guide.touch_around(world.grid, route, unit.tail.cell(world.grid));
            } else if unit.errand == Errand::Way {
                self.ways[index as usize].touch();
            }
            let cell = self.board.index(unit.tail);
            for way in [0, 1, 3, 4, 5, 7] {
                black_box(self.board.hold(self.board.beside(cell, way)));
            }
        }
    }

    /// The shared field that leads a unit, unless it goes to a slot of its group already or near one.
    pub(super) fn field_of(&self, unit: &Unit) -> Option<RouteId> {
        match unit.errand {
            Errand::Route(route) => Some(route),
            Errand::Group(id) | Errand::Place(id) if unit.slot == NONE => {
                let group = &self.groups[id.0 as usize];
                group.route.filter(|_| group.rest(unit.tail) == FAR)
            }
            _ => None,
        }
    }

    /// Where the field of a unit leads, if that was looked up in this tick.
    #[inline]
    pub(super) fn view(&self, index: u32) -> Option<&View> {
        let unit = &self.units[index as usize];
        let is_seen = unit.viewed_in == self.stamp()
            && (unit.flees, unit.slot) == (NONE, NONE)
            && !unit.is_trapped;
        is_seen.then(|| self.views.get(unit.view as usize))?
    }

    /// The rest of the way from the cells beside a unit that `ways` names, and from its own.
    pub(super) fn rest_around<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        (index, unit): (u32, &Unit),
        ways: u8,
    ) -> Rest {
        let around = |cost: &dyn Fn(Place) -> u64| around(unit.tail, ways, cost);
        if unit.is_trapped {
            return around(&|place| self.escape_rest(world.grid, unit, place));
        }
        if let Some(other) = self.units.get(unit.flees as usize) {
            let other = Unit { tail: unit.tail, flees: NONE, ..*other };
            let rest = self.rest_around(world, (unit.flees, &other), ways);
            return rest.map(|rest| if rest == FAR { FAR } else { UPHILL.saturating_sub(rest) });
        }
        match unit.errand {
            Errand::Idle => [FAR; 9],
            Errand::Route(route) => field_around(world, route, unit.tail),
            Errand::Group(id) | Errand::Place(id) => {
                let group = &self.groups[id.0 as usize];
                if let Some(&slot) = group.slots.get(unit.slot as usize) {
                    let layer = world.grid.layer(ProfileId(unit.profile));
                    let cost = layer.map_or(1, |layer| {
                        u64::from(layer.cost_sum_range().1) * u64::from(layer.unit())
                    });
                    around(&|place| straight(place, slot) * cost)
                } else if group.rest(unit.tail) != FAR {
                    around(&|place| group.rest(place))
                } else {
                    self.rest_from_afar(world, (index, unit), ways)
                }
            }
            Errand::Way => around(&self.way_rest(world.grid, index)),
        }
    }
}

/// Whether a field says no more than that its goal is here, or not to be reached.
const fn is_end(rest: u64) -> bool {
    matches!(rest, 0 | FAR)
}

/// A profile, its layer, and what its cells cost, if that is the same for all of them.
fn ground_of<'a, G: ?Sized>(world: &World<'a, G>, profile: u8) -> Option<(u8, &'a Layer, u64)> {
    let layer = world.grid.layer(ProfileId(profile))?;
    Some((profile, layer, Ground::new(layer, world.grid.terrain_bytes()).uniform()))
}

/// The rest of the way from a place and from those beside it that `ways` names.
pub(super) fn around(place: Place, ways: u8, cost: &dyn Fn(Place) -> u64) -> Rest {
    let mut rest = [FAR; 9];
    rest[usize::from(STAY)] = cost(place);
    for way in (0..8).filter(|way| ways & 1 << way != 0) {
        rest[usize::from(way)] = cost(place.step(way));
    }
    rest
}

/// What a shared field says of the places around one, and of itself.
#[inline]
pub(super) fn field_around<G: Guidance + ?Sized>(
    world: &World<'_, G>,
    route: RouteId,
    place: Place,
) -> Rest {
    world.guide.costs_around(world.grid, route, place.cell(world.grid))
}

/// What a shared field says of a place.
pub(super) fn field_cost<G: Guidance + ?Sized>(
    world: &World<'_, G>,
    route: RouteId,
    place: Place,
) -> u64 {
    world.guide.cost(world.grid, route, place.cell(world.grid)).map_or(FAR, |cost| cost.0)
}
