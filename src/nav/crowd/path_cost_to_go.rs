//! The cost-to-go of a unit along its own path, as far as the path is visible from the unit.
//!
//! Input: the next cells of the path, and the terrain around the unit. Output: the cost-to-go from the unit's
//! cell and from its neighbors: a straight line to a cell of the path plus the cost from that cell on, for
//! the best such cell. Walls block lines. Without that, two adjacent cells at a corner would each count as
//! nearer to the goal than the other, and a unit would walk back and forth between them.

use super::{
    Crowd,
    chain::move_table,
    guidance::UNREACHABLE,
    local_field::{StepCosts, octile_distance},
    path_follower::{CellAhead, LOOKAHEAD},
    reservations::GridPos,
    unit::Order,
};
use crate::nav::{
    grid::NavGrid,
    moves::MoveTable,
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
};

/// The terrain between a unit and its path.
struct PathView<'a> {
    costs: StepCosts<'a>,
    table: &'static MoveTable,
    /// There is no wall between the unit and the cells ahead, and all terrain there costs the same.
    is_clear: bool,
}

impl Crowd {
    /// Returns a function that computes the cost-to-go along a unit's own path from its position and from the
    /// neighboring positions.
    pub(super) fn path_cost_to_go<'a>(
        &'a self,
        grid: &'a NavGrid,
        index: u32,
    ) -> impl Fn(GridPos) -> u64 + 'a {
        let (follower, unit) = (&self.followers[index as usize], &self.units[index as usize]);
        let (profile, here) = (ProfileId(unit.profile), unit.tail);
        let mut ahead = ([(follower.reached, 0); LOOKAHEAD], 1);
        let view = grid.layer(profile).filter(|_| !follower.has_field).map(|layer| {
            let costs = StepCosts::new(layer, grid.terrain_bytes());
            ahead = follower.lookahead(&costs);
            let is_clear = costs.is_clear(here, ahead.0[..ahead.1].iter().map(|cell| cell.0));
            PathView { costs, table: move_table(grid, profile), is_clear }
        });
        let own = view.as_ref().map_or(UNREACHABLE, |view| {
            let visible = view.cost_to_go(here, &ahead.0[..ahead.1]);
            // If no cell is visible: around whatever is between.
            let hidden = || octile_distance(here, follower.reached) + 2 * u64::from(DIAGONAL);
            visible.unwrap_or_else(|| ahead.0[0].1 + hidden() * view.costs.cheapest)
        });
        let is_member = unit.order != Order::Path;
        move |pos| match &view {
            _ if pos == follower.end => 0,
            Some(view) if is_member => {
                view.member_cost_to_go(pos, here, (follower.reached, &ahead.0[..ahead.1]))
            }
            None if !follower.has_field => UNREACHABLE,
            None => follower.field_index(pos).map_or(UNREACHABLE, |at| follower.field[at]),
            Some(_) if pos == here => own,
            Some(view) => {
                // Units that let this one pass may be farther away than one step.
                let to_here = match pos.chebyshev(here) {
                    0..=1 => view.costs.between(pos, here),
                    _ => octile_distance(pos, here) * view.costs.cheapest,
                };
                let back = own.saturating_add(to_here);
                let visible = view.cost_to_go(pos, &ahead.0[..ahead.1]);
                visible.map_or(back, |cost| cost.min(back))
            }
        }
    }
}

impl PathView<'_> {
    /// Returns the cost-to-go of a member of a group, in which walls do not block lines: the slots of groups
    /// are exchanged, so the path of a member may lead where it cannot continue. While the member is on its
    /// path, the next cell of the path is the best.
    fn member_cost_to_go(
        &self,
        pos: GridPos,
        here: GridPos,
        (reached, ahead): (GridPos, &[CellAhead]),
    ) -> u64 {
        let is_on_path = reached == here;
        let next = ahead.iter().take(2).find(|cell| cell.0 == pos && is_on_path);
        if let Some(&(_, cost)) = next {
            return cost;
        }
        let via = |cell: &CellAhead| self.cost_via(pos, cell);
        let cost = ahead.iter().map(via).min().unwrap_or(UNREACHABLE);
        if !is_on_path {
            return cost;
        }
        let detour = u64::from(STRAIGHT) * self.costs.cheapest / 8;
        let step = self.costs.between(here, pos);
        cost.max(ahead[0].1.saturating_sub(step) + detour)
    }

    /// Returns the cost-to-go from a position over the best of these cells that is visible from it; `None` if
    /// none is.
    fn cost_to_go(&self, pos: GridPos, ahead: &[CellAhead]) -> Option<u64> {
        if self.is_clear {
            return ahead.iter().map(|cell| self.cost_via(pos, cell)).min();
        }
        let mut best: Option<u64> = None;
        for next in ahead {
            if best.is_none_or(|best| self.cost_via(pos, next) < best)
                && let Some(cost) = self.costs.line_cost(self.table, pos, next.0)
            {
                best = Some(best.map_or(next.1 + cost, |best| best.min(next.1 + cost)));
            }
        }
        best
    }

    /// Returns the cost-to-go from a position over a cell of the path, ignoring walls.
    fn cost_via(&self, pos: GridPos, &(cell, cost): &CellAhead) -> u64 {
        cost + octile_distance(pos, cell) * self.costs.cheapest
    }
}
