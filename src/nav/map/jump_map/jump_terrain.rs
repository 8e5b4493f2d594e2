//! The terrain in jump point search: what a step costs, and which directions are worth trying where a jump
//! ends.
//!
//! Input: a layer with its [`JumpMap`], and the grid's terrain. Output: cost sums of steps; for a cell and
//! the direction it was reached by, the directions to try. Where all cells around cost the same, they come
//! from a table; on a cost border, costs are compared ([`DominatedSteps`]);
//! beside an edge, the steps that edges leave open are looked up. There, scans continue as canonical order does: along a fence
//! no nodes are needed, only at its ends. Shared by jump point search and by distance fields.
//!
//! The cells between two cost borders have cells of the same cost around them, so a jump costs the same all
//! along: only a single step from border to border can lead to another cost, or cross an edge.

use crate::nav::{
    BitRows, Direction, JumpMap, Layer, NO_DIRECTION, NavGrid,
    dominated_steps::{BlockCosts, DominatedSteps},
    jump_map::Stop,
};

/// A layer with its jump map and terrain costs; see the [module](self).
pub(crate) struct JumpTerrain<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) map: &'a JumpMap,
    cost_borders: Option<&'a BitRows>,
    /// The terrain of each cell that determines its cost, row-major.
    terrain: &'a [u8],
    width: u32,
    /// Cost sum of the cheapest step, in units.
    lowest: u32,
    dominated_steps: &'static DominatedSteps,
}

impl<'a> JumpTerrain<'a> {
    /// `None` where searches may not jump.
    pub(crate) fn new(layer: &'a Layer, grid: &'a NavGrid) -> Option<Self> {
        let map = layer.jumps()?;
        let (lowest, _) = layer.cost_sum_range();
        let dominated_steps = DominatedSteps::of(layer.adjacency());
        let terrain = layer.ground(grid.terrain_bytes());
        let (cost_borders, width) = (layer.cost_borders(), grid.width());
        Some(Self { layer, map, cost_borders, terrain, width, lowest, dominated_steps })
    }

    #[inline]
    fn excess_of(&self, x: u32, y: u32) -> u32 {
        self.layer.excess(self.terrain[y as usize * self.width as usize + x as usize])
    }

    /// Cost sum of a step between two cells that cost what `(x, y)` does.
    #[inline]
    pub(crate) fn cost_sum_at<const WEIGHTED: bool>(&self, x: u32, y: u32) -> u32 {
        self.lowest + if WEIGHTED { 2 * self.excess_of(x, y) } else { 0 }
    }

    /// Cost sum of a step onto `(x, y)` from terrain on which a step has the cost sum `cost_sum`.
    #[inline]
    fn cost_sum_onto(&self, cost_sum: u32, x: u32, y: u32) -> u32 {
        (self.lowest + cost_sum) / 2 + self.excess_of(x, y)
    }

    /// Cost sum of a single step in a direction onto `to`, from a cell with terrain on which a step has the cost sum
    /// `cost_sum`.
    #[inline]
    pub(crate) fn single_step_sum(
        &self,
        cost_sum: u32,
        (from, to): ((u32, u32), (u32, u32)),
        direction: usize,
    ) -> u32 {
        let crossing = self.layer.crossing_cost(from.0, from.1, direction);
        self.cost_sum_onto(cost_sum, to.0, to.1) + crossing
    }

    /// Whether a cell is on a cost border.
    #[inline]
    pub(crate) fn is_on_cost_border(&self, x: u32, y: u32) -> bool {
        self.cost_borders.is_some_and(|cost_borders| cost_borders.get(x, y))
    }

    /// Directions worth trying from a cell that was reached by `arrival`.
    #[inline]
    pub(crate) fn successors<const WEIGHTED: bool>(&self, x: u32, y: u32, arrival: u8) -> u8 {
        let pattern = self.layer.pattern(x, y);
        if !WEIGHTED || !self.is_on_cost_border(x, y) {
            return self.layer.moves().get(arrival, pattern);
        }
        if self.layer.is_beside_edge(x, y) {
            return self.successors_beside_edge((x, y), arrival);
        }
        // Past the edge of the grid this reads the cost of another cell, but the neighbor there is impassable.
        let here = y as usize * self.width as usize + x as usize;
        let row = |offset: usize| {
            let first = here.wrapping_add(offset).wrapping_sub(1);
            [first, first.wrapping_add(1), first.wrapping_add(2)]
                .map(|index| self.layer.excess(self.terrain.get(index).copied().unwrap_or(0)))
        };
        let width = self.width as usize;
        let (below, beside, above) = (row(width.wrapping_neg()), row(0), row(width));
        let mut costs = BlockCosts { excess: [0; 9], lowest: self.lowest };
        costs.excess[..3].copy_from_slice(&below);
        costs.excess[3..6].copy_from_slice(&beside);
        costs.excess[6..].copy_from_slice(&above);
        let legal = self.layer.moves().legal(pattern);
        self.dominated_steps.prune(legal, arrival, pattern, &costs)
    }

    /// The same beside an edge: without the step back.
    fn successors_beside_edge(&self, (x, y): (u32, u32), arrival: u8) -> u8 {
        let legal = self.layer.legal_steps(x, y);
        if arrival == NO_DIRECTION {
            return legal;
        }
        let crossings = self.layer.crossings().filter(|_| self.layer.is_uniform());
        let worth = crossings.and_then(|crossings| crossings.steps_after(x, y, arrival));
        legal & worth.unwrap_or(u8::MAX) & !(1 << ((arrival + 4) & 7))
    }

    /// Directions worth trying from a jump point on a scan in direction `arrival` with `sides`, if there are no others and
    /// steps cost as much as those of the scan: then no node is needed, and the scan continues along the fence. `None` for
    /// other jump points.
    #[inline]
    pub(crate) fn steps_along_edges<const WEIGHTED: bool>(
        &self,
        (x, y): (u32, u32),
        arrival: Direction,
        sides: [Direction; 2],
    ) -> Option<u8> {
        let crossings = self.layer.crossings().filter(|_| WEIGHTED && self.layer.is_uniform())?;
        let worth = crossings.steps_after(x, y, arrival as u8)?;
        let natural = 1 << arrival as u8 | 1 << sides[0] as u8 | 1 << sides[1] as u8;
        (worth & !natural == 0).then_some(worth)
    }

    /// Returns the next stop of a straight scan at which a node is needed. A shut edge that ends the scan is no jump point.
    /// The stop then lies one step farther, as if the cell behind the edge were impassable.
    #[inline(always)]
    pub(crate) fn straight<const WEIGHTED: bool>(
        &self,
        x: u32,
        y: u32,
        direction: Direction,
    ) -> Stop {
        let mut stop = self.map.straight(x, y, direction);
        while WEIGHTED && stop.is_jump_point {
            let cell = direction.cell_at(x, y, stop.distance);
            match self.steps_along_edges::<WEIGHTED>(cell, direction, [direction; 2]) {
                None => break,
                Some(0) => return Stop { distance: stop.distance + 1, is_jump_point: false },
                Some(_) => {
                    let next = self.map.straight(cell.0, cell.1, direction);
                    stop.distance += next.distance;
                    stop.is_jump_point = next.is_jump_point;
                }
            }
        }
        stop
    }
}
