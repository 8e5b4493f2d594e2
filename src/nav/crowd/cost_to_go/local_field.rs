//! A small field that guides a unit back to its path, or around units that block it permanently.
//!
//! Input: a path, the terrain, and the cells that are blocked. Output: for the cells around the unit, the cost-to-go
//! through the next cells of the path: a local search, not a new path search.

use core::cell::Cell;

use super::{CellAhead, Flood, OpenCells, PathFollower, Sources, UNREACHABLE};
use crate::nav::crowd::board::{Board, GridPos, StepCosts};
use crate::nav::{CellRect, NavGrid, STRAIGHT};

/// Cells from the center of the field to its edge.
const RADIUS: u16 = 12;
/// Cells of the path ahead that may lie in the field.
pub const FIELD_LOOKAHEAD: usize = 64;
/// Cells beyond the center, seen from the path, that the field covers.
const MARGIN: u64 = 4;
/// Most fields filled in a tick (about 20 µs each); other units wait for the next tick.
pub const MAX_FIELDS_PER_TICK: u32 = 16;

/// The field around a unit.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct LocalField {
    flood: Flood,
    /// The position around which it was filled.
    pub center: GridPos,
    /// Where the unit went when it was filled.
    pub goal: GridPos,
    /// It leads around units that stand in the way.
    pub is_detour: bool,
    /// The unit has got another path since it was filled.
    pub is_stale: bool,
}

impl LocalField {
    /// Returns the cost-to-go at a position.
    pub fn cost(&self, pos: GridPos) -> u64 {
        self.flood.cost(pos)
    }

    /// Returns whether a field around a position shares a cell with a rectangle.
    pub fn meets(grid: &NavGrid, center: GridPos, rect: CellRect) -> bool {
        let corner = |add: i32| center.cell(grid).offset(add, add);
        let radius = i32::from(RADIUS);
        rect.meets_span(corner(-radius), corner(radius))
    }

    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.flood.bytes()
    }

    /// Fills the field around a position with the costs of paths to the cells of the unit's own path that avoid
    /// all positions for which `is_blocked` holds.
    fn fill(
        &mut self,
        center: GridPos,
        follower: &PathFollower,
        costs: &StepCosts,
        open: &mut OpenCells,
        is_blocked: impl Fn(GridPos) -> bool,
    ) {
        let low = |at: u16| at.saturating_sub(RADIUS);
        (self.center, self.is_stale) = (center, false);
        let origin = GridPos { x: low(center.x), y: low(center.y) };
        self.flood.lay_out(origin, (2 * RADIUS + 1, 2 * RADIUS + 1));
        self.flood.begin(open);
        let layer = costs.layer;
        let (cells, len) = follower.lookahead::<FIELD_LOOKAHEAD>(costs);
        // If a unit stands on the path, the detour leads to the cells beyond that unit.
        let first_blocked = cells[..len].iter().position(|&(cell, _)| is_blocked(cell));
        // Cells before a cut of the path lead nowhere.
        let is_cut = |pair: &[CellAhead]| !costs.is_line_free(pair[0].0, pair[1].0);
        let behind_cut = cells[..len].windows(2).rposition(is_cut).map_or(0, |cut| cut + 1);
        for &(cell, cost_to_go) in &cells[first_blocked.unwrap_or(0).max(behind_cut)..len] {
            if layer.is_passable(u32::from(cell.x), u32::from(cell.y)) && !is_blocked(cell) {
                self.flood.improve(open, cell, cost_to_go + 1);
            }
        }
        // A unit that strays farther than a few steps gets another field.
        let slack = MARGIN * u64::from(STRAIGHT) * costs.cheapest.max(costs.scale(center));
        let mut limit = UNREACHABLE;
        let may_enter = |pos| pos == center || !is_blocked(pos);
        self.flood.spread(open, costs, may_enter, |pos, cost_to_go| {
            if pos == center {
                limit = cost_to_go + slack;
            }
            cost_to_go > limit
        });
    }
}

impl Sources {
    /// Fills the field of a unit around its position; a detour avoids the units that block it permanently.
    pub fn fill_field(&mut self, board: &Board, grid: &NavGrid, index: u32, needs_detour: bool) {
        let unit = &board.units[index];
        let (pos, profile) = (unit.tail, unit.profile);
        let Some(costs) = StepCosts::of(grid, profile) else {
            return;
        };
        let Self { followers, open_cells: open, spare_fields, .. } = self;
        let follower = &mut followers[index as usize];
        let had_field = follower.field.is_some();
        if follower.field.as_ref().is_some_and(|field| !field.flood.contains(pos)) {
            follower.relocate(pos);
        }
        follower.field_made_at = board.now as u32;
        let known = follower.field.take();
        let mut field = known.or_else(|| spare_fields.pop()).unwrap_or_default();
        (field.is_detour, field.goal) = (needs_detour, unit.goal);
        if needs_detour {
            let (reservations, units) = (&board.reservations, &board.units);
            // Units that move or make room do not block cells.
            let from_afar = unit.returns_from_afar();
            let is_anyone_there = Cell::new(false);
            let is_blocked = |at: GridPos| {
                if !board.is_on_grid(at, unit.size) {
                    return true;
                }
                let is_taken = reservations.block(at, unit.size).any(|cell| {
                    let owner = reservations.get(cell).owner;
                    let other = units.get(owner).filter(|_| owner != index);
                    other.is_some_and(|other| {
                        !other.is_moving()
                            && (!other.is_pushable_by(unit.team)
                                || from_afar && other.rests_on_goal())
                    })
                });
                is_anyone_there.set(is_anyone_there.get() || is_taken);
                is_taken
            };
            field.fill(pos, follower, &costs, open, is_blocked);
            // Without units in the way it is a field like any other.
            field.is_detour = is_anyone_there.get() && field.cost(pos) != UNREACHABLE;
        }
        if !needs_detour || field.cost(pos) == UNREACHABLE {
            field.fill(pos, follower, &costs, open, |_| false);
            if had_field && field.cost(pos) == UNREACHABLE {
                follower.relocate(pos);
                field.fill(pos, follower, &costs, open, |_| false);
            }
        }
        follower.field = Some(field);
    }
}
