//! What steps and distances cost a unit.
//!
//! Input: the layer of the unit's profile. Output: the costs of cells, of steps and of the shortest paths on open
//! terrain, and whether direct paths are open.

use core::ops::Range;

use super::GridPos;
use crate::nav::{Adjacency, Direction, Layer, NavGrid, ProfileId, STRAIGHT};

/// Greatest distance, in columns and rows, over which terrain is checked in one call.
pub const MAX_CLEAR_DISTANCE: u16 = 60;

/// A cell or an edge that costs more than this many times as much as others is a barrier. With 1, two of 400 members on ground
/// that costs up to twice as much here and there do not find their slots.
const BARRIER_TIMES: u64 = 4;

/// The costs of cells and steps for the units of a profile.
pub struct StepCosts<'a> {
    pub layer: &'a Layer,
    terrain: &'a [u8],
    /// The cost of every cell, on uniform terrain without edges that cost something.
    uniform: Option<u64>,
    /// The lowest possible sum of the costs of the cell left and the cell entered.
    pub cheapest: u64,
}

impl<'a> StepCosts<'a> {
    /// Returns `None` if the grid does not know the profile.
    #[inline]
    pub fn of(grid: &'a NavGrid, profile: ProfileId) -> Option<Self> {
        let (layer, terrain) = (grid.layer(profile)?, grid.terrain_bytes());
        let lowest = u64::from(layer.lowest_cost());
        let is_uniform = layer.is_uniform() && !layer.has_costly_edges();
        let uniform = is_uniform.then_some(lowest);
        Some(Self { layer, terrain, uniform, cheapest: 2 * lowest })
    }

    /// Returns the cost of every cell on uniform terrain; 0 on weighted terrain, and where crossing edges costs something.
    pub fn uniform(&self) -> u64 {
        self.uniform.unwrap_or(0)
    }

    /// Returns the cost of a cell; at least 1, also where it is impassable.
    #[inline]
    pub fn cost(&self, pos: GridPos) -> u64 {
        let (x, y) = (u32::from(pos.x), u32::from(pos.y));
        self.uniform.unwrap_or_else(|| u64::from(self.layer.cost(x, y, self.terrain)).max(1))
    }

    pub fn step(&self, from: GridPos, direction: u8) -> u64 {
        let weight = self.layer.adjacency().weights()[usize::from(direction & 1)];
        let cells = self.cost(from) + self.cost(from.step(direction));
        u64::from(weight) * (cells + self.crossing(from, direction))
    }

    /// Returns what the edges that a step crosses add to the costs of its cells.
    pub fn crossing(&self, from: GridPos, direction: u8) -> u64 {
        if self.uniform.is_some() {
            return 0;
        }
        let (x, y) = (u32::from(from.x), u32::from(from.y));
        u64::from(self.layer.crossing_cost(x, y, usize::from(direction)) * self.layer.unit())
    }

    /// Returns the costs of the steps in `directions` (bit mask), by direction.
    #[inline]
    pub fn steps(&self, from: GridPos, directions: u8) -> [u64; 8] {
        if let Some(cost) = self.uniform {
            return uniform_step_costs(self.layer.adjacency(), cost);
        }
        let mut steps = [0; 8];
        for direction in (0..8).filter(|direction| directions >> direction & 1 == 1) {
            steps[usize::from(direction)] = self.step(from, direction);
        }
        steps
    }

    /// Returns the cost of a unit of distance on terrain that costs as much as this cell.
    pub fn scale(&self, pos: GridPos) -> u64 {
        2 * self.cost(pos)
    }

    /// Returns whether terrain is uniform and without walls and edges in the rectangle around a position, those beside
    /// it, and a position at most [`MAX_CLEAR_DISTANCE`] away.
    pub fn is_clear(&self, here: GridPos, there: GridPos) -> bool {
        let (columns, rows) = rect_around(self.layer, here, there);
        self.layer.is_uniform()
            && here.chebyshev(there) <= MAX_CLEAR_DISTANCE
            && !self.layer.has_wall(columns, rows)
    }

    /// Returns whether the direct path between two positions is open, and leads over no barrier, measured by the cell at its end:
    /// so the rest of a free path is free. A path to a neighbor need only be open.
    pub fn is_line_free(&self, mut at: GridPos, to: GridPos) -> bool {
        let counts_costs = self.uniform.is_none() && at.chebyshev(to) > 1;
        let usual = counts_costs.then(|| self.cost(to));
        while at != to {
            let direction = direct_step(self.layer, at, to);
            let next = at.step(direction);
            let cost = || self.cost(next).max(self.crossing(at, direction));
            let is_legal = legal_directions(self.layer, at) >> direction & 1 == 1;
            if !is_legal || usual.is_some_and(|usual| is_barrier(cost(), usual)) {
                return false;
            }
            at = next;
        }
        true
    }

    /// Returns the number of steps of the shortest path between two positions on open terrain.
    pub fn steps_between(&self, a: GridPos, b: GridPos) -> u32 {
        match self.layer.adjacency() {
            Adjacency::Eight => u32::from(a.chebyshev(b)),
            // All steps weigh the same.
            Adjacency::Four | Adjacency::Six => self.distance(a, b) as u32 / STRAIGHT,
        }
    }

    /// Returns the weight of the shortest path between two positions on open terrain.
    pub fn distance(&self, a: GridPos, b: GridPos) -> u64 {
        let (dx, dy) = a.offset_to(b);
        u64::from(self.layer.distance(dx, dy))
    }
}

/// Returns whether a cell or an edge costs so much more than a cell that a detour may well be better.
pub const fn is_barrier(cost: u64, usual: u64) -> bool {
    cost > BARRIER_TIMES * usual
}

/// Returns the columns and rows of the rectangle around a position, those beside it, and another position.
pub fn rect_around(layer: &Layer, here: GridPos, there: GridPos) -> (Range<u32>, Range<u32>) {
    let around = |here: u16, there: u16, side: u32| {
        let end = u32::from(there.max(here + 1) + 1).min(side);
        u32::from(there.min(here.saturating_sub(1)))..end
    };
    let (width, height) = layer.size();
    (around(here.x, there.x, width), around(here.y, there.y, height))
}

/// Returns the costs of steps, by direction, where every cell costs the same.
#[inline(always)]
pub fn uniform_step_costs(adjacency: Adjacency, cost: u64) -> [u64; 8] {
    let [even, odd] = adjacency.weights().map(|weight| 2 * u64::from(weight) * cost);
    [even, odd, even, odd, even, odd, even, odd]
}

/// Returns the direction of the next step of the direct path between two positions: straight along the longer side first, then
/// diagonal.
fn direct_step(layer: &Layer, at: GridPos, to: GridPos) -> u8 {
    let (dx, dy) = at.offset_to(to);
    let along = |side: i32, other: i32| side.signum() * i32::from(side.abs() >= other.abs());
    let (x, y) = match layer.adjacency() == Adjacency::Six && dx.signum() == dy.signum() {
        // No step leads along both axes.
        true => (dx.signum(), 0),
        false => (along(dx, dy), along(dy, dx)),
    };
    Direction::from_offset(x, y) as u8
}

/// Returns the directions in which terrain and edges allow a step from a position, one bit each.
#[inline]
pub fn legal_directions(layer: &Layer, GridPos { x, y }: GridPos) -> u8 {
    layer.legal_steps(u32::from(x), u32::from(y))
}
