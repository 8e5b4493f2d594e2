//! The terrain near a path: the cost of steps, and a small field that leads back to the path.
//!
//! Input: a path, the layer of the unit that follows it, and the cells that are blocked. Output: for the
//! cells around the unit, the cost to go by way of the next cells of the path.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    guidance::UNREACHABLE,
    path_follower::PathFollower,
    reservations::{GridPos, is_diagonal},
    unit::Unit,
};
use crate::nav::{
    layer::Layer,
    moves::MoveTable,
    terrain::{DIAGONAL, STRAIGHT},
};

/// Cells from the center of the field to its edge.
const RADIUS: u16 = 12;
/// Cells of the path ahead that may lie in the field.
pub(super) const FIELD_LOOKAHEAD: usize = 64;

/// Cells beyond the center, seen from the path, that the field covers.
const MARGIN: u64 = 4;

/// Most columns and rows that are checked for walls in one call. A unit farther off its path uses a field.
const MAX_CLEAR_EXTENT: usize = 48;

/// The cost of steps for a unit.
pub(super) struct StepCosts<'a> {
    pub(super) layer: &'a Layer,
    terrain: &'a [u8],
    /// The lowest possible sum of the costs of the cell left and the cell entered.
    pub(super) cheapest: u64,
}

impl<'a> StepCosts<'a> {
    pub(super) fn new(layer: &'a Layer, terrain: &'a [u8]) -> Self {
        let cheapest = u64::from(layer.cost_sum_range().0) * u64::from(layer.unit());
        Self { layer, terrain, cheapest }
    }

    fn cost(&self, pos: GridPos) -> u64 {
        u64::from(self.layer.cost(u32::from(pos.x), u32::from(pos.y), self.terrain))
    }

    pub(super) fn step(&self, from: GridPos, direction: u8) -> u64 {
        let weight = u64::from(if is_diagonal(direction) { DIAGONAL } else { STRAIGHT });
        weight * (self.cost(from) + self.cost(from.step(direction)))
    }

    /// Returns the cost of a step between two positions beside each other.
    pub(super) fn between(&self, from: GridPos, to: GridPos) -> u64 {
        if self.layer.is_uniform() {
            return octile_distance(from, to) * self.cheapest;
        }
        let is_straight = from.x == to.x || from.y == to.y;
        u64::from(if is_straight { STRAIGHT } else { DIAGONAL }) * (self.cost(from) + self.cost(to))
    }

    /// Returns whether terrain is uniform and without walls in the rectangle around a position, those beside
    /// it, and some others.
    pub(super) fn is_clear(&self, here: GridPos, others: impl Iterator<Item = GridPos>) -> bool {
        let (mut low, mut high) = (here, here);
        for GridPos { x, y } in others {
            low = GridPos { x: low.x.min(x), y: low.y.min(y) };
            high = GridPos { x: high.x.max(x), y: high.y.max(y) };
        }
        let (width, height) = self.layer.size();
        let around = |here: u16, low: u16, high: u16, side: u32| {
            let end = u32::from(high.max(here + 1) + 1).min(side);
            u32::from(low.min(here.saturating_sub(1)))..end
        };
        let columns = around(here.x, low.x, high.x, width);
        let rows = around(here.y, low.y, high.y, height);
        let is_near = columns.len() <= MAX_CLEAR_EXTENT && rows.len() <= MAX_CLEAR_EXTENT;
        is_near && self.layer.is_uniform() && !self.layer.has_wall(columns, rows)
    }

    /// Returns the cost of a direct path between two positions: straight steps first, then diagonal ones, or
    /// in the reverse order. `None` where walls block both.
    pub(super) fn line_cost(&self, table: &MoveTable, from: GridPos, to: GridPos) -> Option<u64> {
        let is_clear = |&(from, to): &_| is_line_open(self.layer, table, from, to);
        let (dx, dy) = (from.x.abs_diff(to.x), from.y.abs_diff(to.y));
        let is_bent = dx != 0 && dy != 0 && dx != dy;
        let lines = [(from, to), (to, from)].into_iter().take(1 + usize::from(is_bent));
        let mut lines = lines.filter(is_clear);
        if self.layer.is_uniform() {
            return lines.next().map(|_| octile_distance(from, to) * self.cheapest);
        }
        let cost =
            |(from, to)| line_steps(from, to).map(|(at, direction)| self.step(at, direction)).sum();
        lines.map(cost).min()
    }
}

/// Returns the weight of the path between two positions on open terrain (octile distance).
pub(super) fn octile_distance(a: GridPos, b: GridPos) -> u64 {
    let (dx, dy) = (u64::from(a.x.abs_diff(b.x)), u64::from(a.y.abs_diff(b.y)));
    u64::from(STRAIGHT) * dx.max(dy) + u64::from(DIAGONAL - STRAIGHT) * dx.min(dy)
}

/// Returns whether the direct path between two positions is open: straight along the longer side first, then
/// diagonal.
pub(super) fn is_line_open(layer: &Layer, table: &MoveTable, from: GridPos, to: GridPos) -> bool {
    let legal = |at: GridPos| table.legal(layer.pattern(u32::from(at.x), u32::from(at.y)));
    line_steps(from, to).all(|(at, direction)| legal(at) >> direction & 1 == 1)
}

/// Iterates over the steps of that path: position and direction.
fn line_steps(from: GridPos, to: GridPos) -> impl Iterator<Item = (GridPos, u8)> {
    let mut at = from;
    core::iter::from_fn(move || {
        let step = (at, line_direction(at, to)?);
        at = at.step(step.1);
        Some(step)
    })
}

/// Returns the direction of the first step of that path.
fn line_direction(from: GridPos, to: GridPos) -> Option<u8> {
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

/// Returns whether a unit has to go around another: one that stands and cannot be pushed by it.
pub(super) fn is_obstacle_to(unit: &Unit, other: &Unit) -> bool {
    !other.is_moving() && !other.is_pushable_by(unit.team)
}

/// Fills the field around a position with the costs of paths to the cells of the unit's own path that avoid
/// all positions for which `is_blocked` holds.
pub(super) fn fill_field(
    follower: &mut PathFollower,
    center: GridPos,
    (costs, table): (&StepCosts, &MoveTable),
    open: &mut BinaryHeap<Reverse<(u64, u16, u16)>>,
    is_blocked: impl Fn(GridPos) -> bool,
) {
    follower.origin =
        GridPos { x: center.x.saturating_sub(RADIUS), y: center.y.saturating_sub(RADIUS) };
    (follower.side, follower.center) = (2 * RADIUS + 1, center);
    follower.has_field = true;
    follower.field.clear();
    follower.field.resize(usize::from(follower.side) * usize::from(follower.side), UNREACHABLE);
    open.clear();
    let layer = costs.layer;
    let (cells, len) = follower.lookahead::<FIELD_LOOKAHEAD>(costs);
    // Where a unit stands on the path, the detour leads to the cells behind it.
    let first_free = cells[..len].iter().position(|&(cell, _)| is_blocked(cell)).unwrap_or(0);
    for &(cell, cost_to_go) in &cells[first_free..len] {
        if let Some(at) = follower.field_index(cell)
            && layer.is_passable(u32::from(cell.x), u32::from(cell.y))
            && !is_blocked(cell)
        {
            follower.field[at] = cost_to_go + 1;
            open.push(Reverse((cost_to_go + 1, cell.x, cell.y)));
        }
    }
    // A unit that strays farther than a few steps gets another field.
    let slack = MARGIN * u64::from(STRAIGHT) * costs.cheapest.max(2 * costs.cost(center));
    let mut limit = UNREACHABLE;
    while let Some(Reverse((cost_to_go, x, y))) = open.pop() {
        let pos = GridPos { x, y };
        if pos == center {
            limit = limit.min(cost_to_go + slack);
        } else if cost_to_go > limit {
            break;
        }
        if follower.field_index(pos).is_none_or(|at| follower.field[at] < cost_to_go) {
            continue;
        }
        let directions = table.legal(layer.pattern(u32::from(x), u32::from(y)));
        for direction in (0..8).filter(|direction| directions & 1 << direction != 0) {
            let next = pos.step(direction);
            let Some(at) = follower.field_index(next) else {
                continue;
            };
            let total = cost_to_go + costs.step(pos, direction);
            if total < follower.field[at] && (next == center || !is_blocked(next)) {
                follower.field[at] = total;
                open.push(Reverse((total, next.x, next.y)));
            }
        }
    }
}
