//! The ground near a path: what steps cost there, and a small field that leads back to it.
//!
//! Input: a path, the layer of the unit that follows it, and who stands where. Output: for the cells
//! around the unit the rest of the way over the path's next cells.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    board::{Place, is_diagonal},
    guide::FAR,
    unit::Unit,
    way::Way,
};
use crate::nav::{
    layer::Layer,
    moves::MoveTable,
    terrain::{DIAGONAL, STRAIGHT},
};

/// Cells from the middle of the field to its edge.
const RADIUS: u16 = 12;
/// Cells of the path ahead that may lie in the field.
pub(super) const AHEAD_IN_FIELD: usize = 64;

/// Cells beyond the middle, seen from the path, that the field covers.
const MARGIN: u64 = 4;

/// Most columns and rows that are looked at for walls at once: who is farther off its path finds its way by a
/// field.
const WIDEST: usize = 48;

/// What steps cost a unit.
pub(super) struct Ground<'a> {
    pub(super) layer: &'a Layer,
    terrain: &'a [u8],
    /// The cheapest cost left and entered there is.
    pub(super) cheapest: u64,
}

impl<'a> Ground<'a> {
    pub(super) fn new(layer: &'a Layer, terrain: &'a [u8]) -> Self {
        let cheapest = u64::from(layer.cost_sum_range().0) * u64::from(layer.unit());
        Self { layer, terrain, cheapest }
    }

    fn cost(&self, place: Place) -> u64 {
        u64::from(self.layer.cost(u32::from(place.x), u32::from(place.y), self.terrain))
    }

    pub(super) fn step(&self, from: Place, way: u8) -> u64 {
        let weight = u64::from(if is_diagonal(way) { DIAGONAL } else { STRAIGHT });
        weight * (self.cost(from) + self.cost(from.step(way)))
    }

    /// Cost of a step between two places beside each other.
    pub(super) fn between(&self, from: Place, to: Place) -> u64 {
        if self.layer.is_uniform() {
            return straight(from, to) * self.cheapest;
        }
        let is_straight = from.x == to.x || from.y == to.y;
        u64::from(if is_straight { STRAIGHT } else { DIAGONAL }) * (self.cost(from) + self.cost(to))
    }

    /// Whether no wall stands, and all ground costs the same, in the rectangle around a place, those
    /// beside it, and some others.
    pub(super) fn is_clear(&self, here: Place, places: impl Iterator<Item = Place>) -> bool {
        let (mut low, mut high) = (here, here);
        for Place { x, y } in places {
            low = Place { x: low.x.min(x), y: low.y.min(y) };
            high = Place { x: high.x.max(x), y: high.y.max(y) };
        }
        let (width, height) = self.layer.size();
        let around = |here: u16, low: u16, high: u16, side: u32| {
            let end = u32::from(high.max(here + 1) + 1).min(side);
            u32::from(low.min(here.saturating_sub(1)))..end
        };
        let columns = around(here.x, low.x, high.x, width);
        let rows = around(here.y, low.y, high.y, height);
        let is_near = columns.len() <= WIDEST && rows.len() <= WIDEST;
        is_near && self.layer.is_uniform() && !self.layer.has_wall(columns, rows)
    }

    /// What a straight way between two places costs: straight steps first, diagonal ones then, or the other
    /// way round. `None` where walls are in the way of both.
    pub(super) fn across(&self, table: &MoveTable, from: Place, to: Place) -> Option<u64> {
        let is_open = |&(from, to): &_| is_straight_on(self.layer, table, from, to);
        let (dx, dy) = (from.x.abs_diff(to.x), from.y.abs_diff(to.y));
        let is_bent = dx != 0 && dy != 0 && dx != dy;
        let ways = [(from, to), (to, from)].into_iter().take(1 + usize::from(is_bent));
        let mut ways = ways.filter(is_open);
        if self.layer.is_uniform() {
            return ways.next().map(|_| straight(from, to) * self.cheapest);
        }
        let cost = |(from, to)| straight_steps(from, to).map(|(at, way)| self.step(at, way)).sum();
        ways.map(cost).min()
    }
}

/// Weight of the way between two places on open ground.
pub(super) fn straight(a: Place, b: Place) -> u64 {
    let (dx, dy) = (u64::from(a.x.abs_diff(b.x)), u64::from(a.y.abs_diff(b.y)));
    u64::from(STRAIGHT) * dx.max(dy) + u64::from(DIAGONAL - STRAIGHT) * dx.min(dy)
}

/// Whether the way from one place to another is open: straight along the longer side first, then diagonally.
pub(super) fn is_straight_on(layer: &Layer, table: &MoveTable, from: Place, to: Place) -> bool {
    let legal = |at: Place| table.legal(layer.pattern(u32::from(at.x), u32::from(at.y)));
    straight_steps(from, to).all(|(at, way)| legal(at) >> way & 1 == 1)
}

/// The steps of that way: from where, and in which direction.
fn straight_steps(from: Place, to: Place) -> impl Iterator<Item = (Place, u8)> {
    let mut at = from;
    core::iter::from_fn(move || {
        let step = (at, way_to(at, to)?);
        at = at.step(step.1);
        Some(step)
    })
}

/// The first step of a way over open ground.
fn way_to(from: Place, to: Place) -> Option<u8> {
    let (dx, dy) = (i32::from(to.x) - i32::from(from.x), i32::from(to.y) - i32::from(from.y));
    let (is_wide, is_tall) = (dx.abs() >= dy.abs(), dy.abs() >= dx.abs());
    match (is_wide, is_tall) {
        _ if (dx, dy) == (0, 0) => None,
        (true, true) => Some(match (dx > 0, dy > 0) {
            (true, true) => 1,
            (false, true) => 3,
            (false, false) => 5,
            (true, false) => 7,
        }),
        (true, false) => Some(if dx > 0 { 0 } else { 4 }),
        _ => Some(if dy > 0 { 2 } else { 6 }),
    }
}

/// Whether a unit has to go around another: one that stands and will not be pushed.
pub(super) fn in_way(unit: &Unit, other: &Unit) -> bool {
    !other.is_moving() && !other.gives_way_to(unit.team)
}

/// Fills the field around a place with the ways to the cells of the path that lead past no place that is
/// `held`.
pub(super) fn spread(
    way: &mut Way,
    middle: Place,
    (ground, table): (&Ground, &MoveTable),
    open: &mut BinaryHeap<Reverse<(u64, u16, u16)>>,
    held: impl Fn(Place) -> bool,
) {
    way.origin = Place { x: middle.x.saturating_sub(RADIUS), y: middle.y.saturating_sub(RADIUS) };
    (way.side, way.middle) = (2 * RADIUS + 1, middle);
    way.has_field = true;
    way.field.clear();
    way.field.resize(usize::from(way.side) * usize::from(way.side), FAR);
    open.clear();
    let layer = ground.layer;
    let (cells, len) = way.ahead::<AHEAD_IN_FIELD>(ground);
    // Where somebody stands on the path, the way around leads to what lies behind.
    let first = cells[..len].iter().position(|&(cell, _)| held(cell)).unwrap_or(0);
    for &(cell, rest) in &cells[first..len] {
        if let Some(at) = way.field_at(cell)
            && layer.is_passable(u32::from(cell.x), u32::from(cell.y))
            && !held(cell)
        {
            way.field[at] = rest + 1;
            open.push(Reverse((rest + 1, cell.x, cell.y)));
        }
    }
    // Whoever goes astray farther than a few steps gets another field.
    let slack = MARGIN * u64::from(STRAIGHT) * ground.cheapest.max(2 * ground.cost(middle));
    let mut most = FAR;
    while let Some(Reverse((rest, x, y))) = open.pop() {
        let place = Place { x, y };
        if place == middle {
            most = most.min(rest + slack);
        } else if rest > most {
            break;
        }
        if way.field_at(place).is_none_or(|at| way.field[at] < rest) {
            continue;
        }
        let ways = table.legal(layer.pattern(u32::from(x), u32::from(y)));
        for direction in (0..8).filter(|direction| ways & 1 << direction != 0) {
            let next = place.step(direction);
            let Some(at) = way.field_at(next) else {
                continue;
            };
            let total = rest + ground.step(place, direction);
            if total < way.field[at] && (next == middle || !held(next)) {
                way.field[at] = total;
                open.push(Reverse((total, next.x, next.y)));
            }
        }
    }
}
