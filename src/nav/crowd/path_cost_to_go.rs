//! The cost-to-go of a unit along its own path.
//!
//! Input: the next corners of the path, and the cells from which they are visible. Output: the cost-to-go from
//! a position and from its neighbors: the distance to a visible corner plus the cost from that corner on, for
//! the best such corner. So all equally short ways count the same, as in a field, and a unit is free to take
//! the one that no other unit uses.

use core::ops::Range;

use super::{
    Crowd,
    corner_view::{CornerView, REACH},
    guidance::{CostToGo, UNREACHABLE, around},
    local_field::{MAX_CLEAR_DISTANCE, StepCosts},
    path_corners::Corner,
    path_follower::PathFollower,
    reservations::GridPos,
    unit::{Order, STAY, Unit},
};
use crate::nav::{
    grid::NavGrid,
    terrain::{DIAGONAL, ProfileId},
};

/// Most corners that are considered: one behind, and nine ahead. Among scattered obstacles there is a corner
/// every few cells.
const MAX_CORNERS: usize = 10;

/// A corner, and from where it is visible; `None`: from everywhere around the unit.
type SeenCorner<'a> = (&'a Corner, Option<&'a CornerView>);

/// The corners that a unit may see, nearest first.
struct Sight<'a> {
    costs: StepCosts<'a>,
    corners: [Option<SeenCorner<'a>>; MAX_CORNERS],
}

impl Sight<'_> {
    /// Returns the cost-to-go from a position over its best visible corner, and the number of that corner.
    #[inline]
    fn best(&self, pos: GridPos) -> Option<(u64, usize)> {
        let mut best: Option<(u64, usize)> = None;
        for (number, seen) in self.corners.iter().enumerate() {
            if let Some((corner, view)) = seen
                && view.is_none_or(|view| view.sees(pos))
            {
                let cost = corner.cost_to_go + self.costs.distance(pos, corner.pos) * corner.scale;
                if best.is_none_or(|(least, _)| cost <= least) {
                    best = Some((cost, number));
                }
            }
        }
        best
    }

    fn cost(&self, pos: GridPos) -> u64 {
        self.best(pos).map_or(UNREACHABLE, |(cost, _)| cost)
    }
}

impl Crowd {
    /// Returns the cost-to-go along a unit's own path from a position and from the positions beside it in the
    /// given directions (bit mask).
    pub(super) fn path_costs_around(
        &self,
        grid: &NavGrid,
        index: u32,
        pos: GridPos,
        directions: u8,
    ) -> CostToGo {
        let mut cost_to_go = [UNREACHABLE; 9];
        let follower = &self.followers[index as usize];
        let Some(sight) = self.sight(grid, index, pos) else {
            return cost_to_go;
        };
        let legal = |direction: &u8| directions & 1 << direction != 0;
        let stay = usize::from(STAY);
        let cost = |pos: GridPos| match follower.has_field {
            true => follower.field_cost(pos),
            false => sight.cost(pos),
        };
        cost_to_go[stay] = cost(pos);
        for direction in (0..8).filter(legal) {
            cost_to_go[usize::from(direction)] = cost(pos.step(direction));
        }
        if follower.has_field {
            return cost_to_go;
        }
        if cost_to_go[stay] == UNREACHABLE {
            let over = (0..8).filter(legal).map(|direction| {
                cost_to_go[usize::from(direction)].saturating_add(sight.costs.step(pos, direction))
            });
            cost_to_go[stay] = over.min().unwrap_or(UNREACHABLE);
        }
        if cost_to_go[stay] == UNREACHABLE {
            cost_to_go[stay] = follower.blind_estimate(&sight.costs, pos);
        }
        fill_hidden(&mut cost_to_go, &sight.costs, pos, directions);
        cost_to_go
    }

    /// Returns the same for a unit at its own position, if nothing is in the way to a corner.
    pub(super) fn clear_costs_around(
        &self,
        grid: &NavGrid,
        index: u32,
        directions: u8,
    ) -> Option<CostToGo> {
        let (follower, unit) = (self.followers.get(index as usize)?, &self.units[index as usize]);
        let layer = grid.layer(ProfileId(unit.profile)).filter(|_| !follower.has_field)?;
        let costs = StepCosts::new(layer, grid.terrain_bytes());
        let (_, corner) = follower.clear_corner(&costs, unit.tail)?;
        let cost =
            |pos: GridPos| corner.cost_to_go + costs.distance(pos, corner.pos) * corner.scale;
        Some(around(unit.tail, directions, &cost))
    }

    /// Returns the corners that a unit may see from a position.
    fn sight<'a>(&'a self, grid: &'a NavGrid, index: u32, pos: GridPos) -> Option<Sight<'a>> {
        let (follower, profile) =
            (&self.followers[index as usize], self.units[index as usize].profile);
        let layer = grid.layer(ProfileId(profile))?;
        let costs = StepCosts::new(layer, grid.terrain_bytes());
        let mut corners = [None; MAX_CORNERS];
        if let Some((number, corner)) = follower.clear_corner(&costs, pos) {
            corners[number] = Some((corner, None));
            return Some(Sight { costs, corners });
        }
        for (slot, corner) in corners.iter_mut().zip(follower.corners_near()) {
            *slot = self
                .corner_views
                .get(corner.view, profile, corner.pos)
                .map(|view| (corner, Some(view)));
        }
        // Where an edit has cut the path, what lies before the cut leads nowhere.
        let is_cut = |pair: &[Option<SeenCorner>]| match pair {
            [Some((before, _)), Some((after, Some(view)))] => {
                !view.is_reached_from(before.pos, after.scale != before.scale)
            }
            _ => false,
        };
        if let Some(cut) = corners.windows(2).rposition(is_cut) {
            corners[..=cut].fill(None);
        }
        Some(Sight { costs, corners })
    }

    /// Adds the views of the corners that a unit may see, unless nothing is in the way to one of them.
    pub(super) fn add_corner_views(&mut self, grid: &NavGrid, index: u32) {
        let Some(&Unit { order, profile, tail, .. }) = self.units.get(index as usize) else {
            return;
        };
        let is_used = matches!(order, Order::Path(_) | Order::Preassigned(_));
        let follower = self.followers.get_mut(index as usize).filter(|_| is_used);
        let (Some(follower), Some(layer)) = (follower, grid.layer(ProfileId(profile))) else {
            return;
        };
        let costs = StepCosts::new(layer, grid.terrain_bytes());
        if follower.clear_corner(&costs, tail).is_some() {
            return;
        }
        let near = follower.range_near();
        for corner in &mut follower.corners[near] {
            if self.corner_views.get(corner.view, profile, corner.pos).is_none() {
                corner.view = self.corner_views.add(grid, profile, corner.pos);
            }
        }
    }

    /// Notes how far a unit has come along its path from the corners it sees. Returns whether a corner is
    /// visible from its position or from one beside it.
    pub(super) fn note_visible_corner(&mut self, grid: &NavGrid, index: u32) -> bool {
        self.add_corner_views(grid, index);
        let pos = self.units[index as usize].tail;
        let Some(sight) = self.sight(grid, index, pos) else {
            return false;
        };
        let Some((_, number)) = sight.best(pos) else {
            let layer = sight.costs.layer;
            let legal = super::chain::legal_directions(layer, pos);
            let mut beside = (0..8).filter(|direction| legal & 1 << direction != 0);
            return beside.any(|direction| sight.best(pos.step(direction)).is_some());
        };
        let corner = sight.corners[number].map_or(pos, |(corner, _)| corner.pos);
        let away = sight.costs.steps_between(pos, corner);
        self.followers[index as usize].note_corner(number, away);
        true
    }
}

impl PathFollower {
    /// Returns the range of the corners near the cell reached: one behind, and those ahead.
    fn range_near(&self) -> Range<usize> {
        let first = self.corner.saturating_sub(1);
        first..(first + MAX_CORNERS).min(self.corners.len())
    }

    /// Iterates over these corners.
    fn corners_near(&self) -> impl Iterator<Item = &Corner> {
        self.corners[self.range_near()].iter()
    }

    /// Returns a corner to which nothing is in the way from a position, and its number among the [corners
    /// near](Self::corners_near): the last of them, if it is the end of the path or farther than a
    /// [view](super::corner_view) reaches. Nearer ones may lie before a cut of the path.
    fn clear_corner(&self, costs: &StepCosts, pos: GridPos) -> Option<(usize, &Corner)> {
        let is_near = |corner: &&Corner| corner.pos.chebyshev(pos) <= MAX_CLEAR_DISTANCE;
        let (number, corner) = self.corners_near().take_while(is_near).enumerate().last()?;
        let is_useful = corner.pos == self.end || corner.pos.chebyshev(pos) > REACH;
        (is_useful && costs.is_clear(pos, corner.pos)).then_some((number, corner))
    }

    /// Notes that a unit stands `away` steps before one of the [corners near it](Self::corners_near).
    fn note_corner(&mut self, number: usize, away: u32) {
        let corner = &self.corners[self.corner.saturating_sub(1) + number];
        let steps = corner.steps.saturating_sub(away);
        self.advance(steps.saturating_sub(self.steps_done()) as usize);
    }

    /// Estimates the cost-to-go where no corner is visible: around whatever is between.
    fn blind_estimate(&self, costs: &StepCosts, pos: GridPos) -> u64 {
        let detour = 2 * u64::from(DIAGONAL);
        let Some(corner) = self.corners.get(self.corner) else {
            return UNREACHABLE;
        };
        let ahead = corner.cost_to_go + costs.distance(self.reached, corner.pos) * corner.scale;
        ahead + (costs.distance(pos, self.reached) + detour) * costs.cheapest
    }
}

/// Fills in the costs of the cells beside a position from which no corner is visible: over a cell beside them,
/// or back over the position.
fn fill_hidden(cost_to_go: &mut CostToGo, costs: &StepCosts, pos: GridPos, directions: u8) {
    let known = *cost_to_go;
    let is_hidden = |direction: &u8| {
        directions & 1 << direction != 0 && known[usize::from(*direction)] == UNREACHABLE
    };
    for direction in (0..8).filter(is_hidden) {
        let at = pos.step(direction);
        let turn = direction & 1; // from a diagonal neighbor the next one is farther around
        let sides = [(direction + 1, direction + 2 + turn), (direction + 7, direction + 6 - turn)];
        let beside = sides.map(|(side, way)| match known[usize::from(side & 7)] {
            UNREACHABLE => UNREACHABLE,
            known => known + costs.step(at, way & 7),
        });
        let back = known[usize::from(STAY)].saturating_add(costs.step(pos, direction));
        cost_to_go[usize::from(direction)] = back.min(beside[0]).min(beside[1]);
    }
}
