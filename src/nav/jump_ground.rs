//! The ground as jumps see it: what a step costs, and which ways are worth trying where they stop.
//!
//! Input: a layer with its [`JumpMap`], and the grid's terrain. Output: cost sums of steps; for a
//! cell and the way it was reached the directions to try. Where all cells around cost the same a
//! table knows them, on a seam costs are compared ([`Detours`]). Shared by jump point search and
//! by distance fields.
//!
//! What lies between two seams has ground of one cost around it, so a jump costs the same all
//! along: only a single step from seam to seam can lead to another cost.

use super::{
    detours::{BlockCosts, Detours},
    grid::NavGrid,
    jump_map::JumpMap,
    layer::Layer,
    terrain::Neighborhood,
};

/// A layer's ground, to jump over; see the [module](self).
pub(crate) struct JumpGround<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) map: &'a JumpMap,
    /// What counts for cost, row-major.
    terrain: &'a [u8],
    width: u32,
    /// Cost sum of the cheapest step, in units.
    lowest: u32,
    detours: &'static Detours,
}

impl<'a> JumpGround<'a> {
    pub(crate) fn new(layer: &'a Layer, map: &'a JumpMap, grid: &'a NavGrid) -> Self {
        let (lowest, _) = layer.cost_sum_range();
        let neighborhood =
            if map.has_diagonals() { Neighborhood::Eight } else { Neighborhood::Four };
        let detours = Detours::of(neighborhood);
        let terrain = layer.ground(grid.terrain_bytes());
        Self { layer, map, terrain, width: grid.width(), lowest, detours }
    }

    #[inline]
    fn excess_of(&self, x: u32, y: u32) -> u32 {
        self.layer.excess(self.terrain[y as usize * self.width as usize + x as usize])
    }

    /// Cost sum of a step between two cells of the kind of `(x, y)`.
    #[inline]
    pub(crate) fn sum_at<const MIXED: bool>(&self, x: u32, y: u32) -> u32 {
        self.lowest + if MIXED { 2 * self.excess_of(x, y) } else { 0 }
    }

    /// Cost sum of a step onto `(x, y)` from a kind of ground where a step has the cost sum `sum`.
    #[inline]
    pub(crate) fn sum_onto(&self, sum: u32, x: u32, y: u32) -> u32 {
        (self.lowest + sum) / 2 + self.excess_of(x, y)
    }

    /// Directions worth trying from a cell that was reached by `arrival`.
    #[inline]
    pub(crate) fn successors<const MIXED: bool>(&self, x: u32, y: u32, arrival: u8) -> u8 {
        let pattern = self.layer.pattern(x, y);
        if !MIXED || !self.map.is_on_seam(x, y) {
            return self.layer.moves().get(arrival, pattern);
        }
        // Beside the grid this reads something else, for a cell that is not passable.
        let here = y as usize * self.width as usize + x as usize;
        let row = |below: usize| {
            let first = here.wrapping_add(below).wrapping_sub(1);
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
        self.detours.prune(legal, arrival, pattern, &costs)
    }
}
