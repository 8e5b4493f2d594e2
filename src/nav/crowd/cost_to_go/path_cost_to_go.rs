//! The cost-to-go of a unit along its own path.
//!
//! Input: the next corners of the path, and the cells from which they are visible. Output: the cost-to-go from
//! a position and from its neighbors: the distance to a visible corner plus the cost from that corner on, for
//! the best such corner. So all equally short paths count the same, as in a field, and a unit is free to take
//! the one that no other unit uses.

use core::ops::Range;

use super::{
    Corner, CornerSight, CostToGo, NeighborCosts, PathFollower, REACH, SEEN_HERE, Sources,
    UNREACHABLE, around, is_seen,
};
use crate::nav::crowd::board::{
    Board, GridPos, MAX_CLEAR_DISTANCE, STAY, StepCosts, Task, Unit, legal_directions,
};
use crate::nav::{DIAGONAL, NavGrid, direction::directions as iter_directions};

/// Most corners that are considered: one behind, and nine ahead. Among scattered obstacles there is a corner
/// every few cells.
const MAX_CORNERS: usize = 10;

/// The cost-to-go along a path from a position and from those beside it, as far as corners are visible.
struct PathCosts {
    cost_to_go: CostToGo,
    /// The number of the corner that is best from the position, among those near.
    best: Option<usize>,
    /// The number of the last corner that is visible from any of them.
    last: Option<usize>,
}

impl Sources {
    /// Returns the cost-to-go along a unit's own path from its position and from the positions beside it in the
    /// given directions (bit mask).
    pub fn path_costs_around(
        &self,
        grid: &NavGrid,
        (index, unit): (u32, &Unit),
        directions: u8,
    ) -> CostToGo {
        let (pos, profile) = (unit.tail, unit.profile);
        let follower = &self.followers[index as usize];
        if follower.is_cut {
            return [UNREACHABLE; 9];
        }
        if let Some(field) = &follower.field {
            return around(pos, directions, &|pos| field.cost(pos));
        }
        let Some(sight) = CornerSight::new(grid, profile) else {
            return [UNREACHABLE; 9];
        };
        let known = follower.visible_costs(&sight, (pos, false), directions);
        follower.complete(known.cost_to_go, &sight.costs, pos, directions)
    }

    /// Looks along the path of a unit from its own position: notes how far it has come, and what it costs to go
    /// on. Returns whether a corner is visible from its position or from one beside it.
    pub fn look_ahead(
        &mut self,
        board: &mut Board,
        grid: &NavGrid,
        (index, is_alone): (u32, bool),
    ) -> bool {
        let unit = &board.units[index];
        let (pos, profile) = (unit.tail, unit.profile);
        let follower = &mut self.followers[index as usize];
        if follower.is_cut {
            return false;
        }
        let Some(sight) = CornerSight::new(grid, profile) else {
            return false;
        };
        let costs = &sight.costs;
        let directions = legal_directions(costs.layer, pos);
        let known = follower.visible_costs(&sight, (pos, is_alone), directions);
        if let Some(last) = known.last {
            follower.aim = (follower.range_near().start + last) as u32;
        }
        match known.best {
            Some(best) => follower.note_corner(best, costs, pos),
            None => drop(follower.update_position(pos)),
        }
        if matches!(unit.task, Task::Path) {
            let cost_to_go = follower.complete(known.cost_to_go, costs, pos, directions);
            let cell_cost = costs.uniform();
            let costs = NeighborCosts { cost_to_go, directions, cell_cost };
            self.note_neighbor_costs(board, index, costs);
        }
        known.last.is_some()
    }
}

impl PathFollower {
    /// Returns the range of the corners near the cell reached: one behind, and those ahead.
    pub fn range_near(&self) -> Range<usize> {
        let first = (self.corner as usize).saturating_sub(1);
        first..(first + MAX_CORNERS).min(self.corners.len())
    }

    /// Returns the costs over the visible corners, the farthest ones first: where all terrain costs the same, the
    /// farthest visible corner is the best, and one that is visible from the position is enough for a unit that is
    /// alone.
    fn visible_costs(
        &self,
        sight: &CornerSight,
        (pos, is_alone): (GridPos, bool),
        directions: u8,
    ) -> PathCosts {
        let (costs, near) = (&sight.costs, &self.corners[self.range_near()]);
        // A field leads a unit around a cut of its path. The cut may lie just after the corner that the unit has left.
        let behind = self.corner as usize - self.range_near().start;
        let first = if self.field.is_some() { behind } else { 0 };
        let mut known = PathCosts { cost_to_go: [UNREACHABLE; 9], best: None, last: None };
        let mut open = u16::from(directions) | SEEN_HERE;
        if let Some(number) = self.clear_corner(costs, pos).filter(|&number| number >= first) {
            known.add(open, (number, &near[number]), costs, pos);
            return known;
        }
        // From one step to the next, seldom more than one corner comes into view.
        let aim = (self.aim as usize).saturating_sub(self.range_near().start).max(first);
        let is_one_enough = is_alone && costs.layer.is_uniform();
        let likely = if is_one_enough { aim..near.len().min(aim + 2) } else { 0..0 };
        for number in likely.rev().chain((first..near.len()).rev()) {
            if open == 0 || is_one_enough && known.best.is_some() {
                break;
            }
            let corner = &near[number];
            // Most corners are near, with nothing in between.
            let is_in_reach = corner.pos.chebyshev(pos) < REACH;
            let seen = if is_in_reach && costs.is_clear(pos, corner.pos) {
                open
            } else {
                sight.seen_around(corner.pos, pos) & open
            };
            if seen == 0 {
                continue;
            }
            if corner.pos == pos
                && known.best.is_none()
                && self.is_cut_behind(number, pos, directions)
            {
                break;
            }
            known.add(seen, (number, corner), costs, pos);
            if costs.layer.is_uniform() {
                open &= !seen;
            }
        }
        known
    }

    /// Returns whether an edit has cut the path behind a corner from which the next one is not visible.
    fn is_cut_behind(&self, number: usize, pos: GridPos, directions: u8) -> bool {
        let next = self.corners.get(self.range_near().start + number + 1);
        next.is_some_and(|next| {
            let leads_on =
                |direction: u8| directions >> direction & 1 == 1 && pos.step(direction) == next.pos;
            !(0..8).any(leads_on)
        })
    }

    /// Returns the number of a corner to which nothing is in the way from a position: the last of those near, if
    /// it is the end of the path or out of sight otherwise. Nearer ones may lie before a cut of the path.
    fn clear_corner(&self, costs: &StepCosts, pos: GridPos) -> Option<usize> {
        let is_near = |corner: &&Corner| corner.pos.chebyshev(pos) <= MAX_CLEAR_DISTANCE;
        let near = self.corners[self.range_near()].iter();
        let (number, corner) = near.take_while(is_near).enumerate().last()?;
        let is_useful = corner.pos == self.end || corner.pos.chebyshev(pos) > REACH;
        (is_useful && costs.is_clear(pos, corner.pos)).then_some(number)
    }

    /// Notes that a unit stands at a position from which a corner is visible.
    fn note_corner(&mut self, number: usize, costs: &StepCosts, pos: GridPos) {
        let corner = &self.corners[self.range_near().start + number];
        let steps = corner.steps.saturating_sub(costs.steps_between(pos, corner.pos));
        self.advance(steps.saturating_sub(self.steps_done()) as usize);
    }

    /// Fills in the costs of cells from which no corner is visible: over a cell beside them, or back over the
    /// position.
    fn complete(
        &self,
        mut cost_to_go: CostToGo,
        costs: &StepCosts,
        pos: GridPos,
        directions: u8,
    ) -> CostToGo {
        let stay = usize::from(STAY);
        if cost_to_go[stay] == UNREACHABLE {
            let over = iter_directions(directions)
                .map(|at| cost_to_go[at].saturating_add(costs.step(pos, at as u8)));
            let over = over.min().filter(|&cost| cost != UNREACHABLE);
            cost_to_go[stay] = over.unwrap_or_else(|| self.blind_estimate(costs, pos));
        }
        let known = cost_to_go;
        for direction in iter_directions(directions).filter(|&at| known[at] == UNREACHABLE) {
            let (number, at) = (direction as u8, pos.step(direction as u8));
            let beside = costs.layer.adjacency().around(number).map(|(side, way)| {
                match known[usize::from(side & 7)] {
                    UNREACHABLE => UNREACHABLE,
                    known => known + costs.step(at, way & 7),
                }
            });
            let back = known[stay].saturating_add(costs.step(pos, number));
            cost_to_go[direction] = back.min(beside[0]).min(beside[1]);
        }
        cost_to_go
    }

    /// Estimates the cost-to-go where no corner is visible: back to the path, around whatever is between.
    fn blind_estimate(&self, costs: &StepCosts, pos: GridPos) -> u64 {
        let back = costs.distance(pos, self.reached) + 2 * u64::from(DIAGONAL);
        self.cost_ahead(costs).map_or(UNREACHABLE, |ahead| ahead + back * costs.cheapest)
    }

    /// Returns the cost of the rest of the path from the last cell reached, if nothing is in the way.
    pub fn cost_ahead(&self, costs: &StepCosts) -> Option<u64> {
        let next = self.corners.get(self.corner as usize)?;
        Some(next.cost_to_go + costs.distance(self.reached, next.pos) * next.scale)
    }
}

impl PathCosts {
    /// Adds the costs over a corner for the cells that see it.
    fn add(
        &mut self,
        seen: u16,
        (number, corner): (usize, &Corner),
        costs: &StepCosts,
        pos: GridPos,
    ) {
        self.last = self.last.max(Some(number));
        for direction in (0..=STAY).filter(|&direction| is_seen(seen, direction)) {
            let cell = if direction == STAY { pos } else { pos.step(direction) };
            let cost = corner.cost_to_go + costs.distance(cell, corner.pos) * corner.scale;
            let known = &mut self.cost_to_go[usize::from(direction)];
            if cost < *known {
                *known = cost;
                if direction == STAY {
                    self.best = Some(number);
                }
            }
        }
    }
}
