//! Where to go on from a settled cell, and for how much.
//!
//! Input: a layer, and where costs differ the grid's terrain. Output: for a cell and the way it
//! was reached a [`View`]: the directions worth trying; and what a step costs, in the layer's
//! units.
//!
//! Canonical order (Sturtevant & Rabin, IJCAI 2016) leaves a step out where the 3 × 3 block around
//! the cell holds a way that is as good. All it asks for is that the passable cells of that block
//! cost the same, so it serves cell by cell on mixed ground, too, where terrain lies in patches.
//! No cell is missed by that. Say the best way to `w` ends in `p → v → w`, and `w` is left out
//! at `v`. Then there is a way `p → u → w` for the same, diagonal first, and so `w` is a
//! straight step from `u`. There it can only be left out for a way that is cheaper, which there is
//! not: none of equal cost that comes first replaces a straight step. With four neighbors the same
//! holds of vertical and horizontal.

use crate::nav::{
    direction::{OFFSETS, Pattern},
    grid::NavGrid,
    layer::Layer,
    moves::{MoveTable, NO_DIRECTION},
    terrain::{DIAGONAL, STRAIGHT},
};

/// The three cells of a row of a [`Pattern`] as bytes, the left one lowest.
const ROW_MASKS: [u32; 8] = [0, 0xff, 0xff00, 0xffff, 0xff_0000, 0xff_00ff, 0xff_ff00, 0xff_ffff];
/// The direction back as a set, by arrival.
const BACK: [u8; 9] = [1 << 4, 1 << 5, 1 << 6, 1 << 7, 1, 1 << 1, 1 << 2, 1 << 3, 0];

/// What is seen from a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// Directions worth trying, as a set.
    pub(super) ways: u8,
    /// Place of the cell in the grid's terrain.
    spot: usize,
    /// By how many units the cell costs more than the cheapest.
    excess: u32,
}

/// The rule by which a field goes on; it is compiled once for each.
pub(super) trait Ground {
    /// What is seen from the cell after arriving by `arrival` (0 to 7, or [`NO_DIRECTION`] to see
    /// every legal step).
    fn view(&self, x: u32, y: u32, arrival: u8) -> View;

    /// Cost of the step in a direction (0 to 7) out of what is seen.
    fn step(&self, view: &View, direction: usize) -> u32;
}

/// Everything passable costs the same: canonical order, two step costs.
pub(super) struct Uniform<'a> {
    layer: &'a Layer,
    moves: &'static MoveTable,
    steps: [u32; 2],
}

impl<'a> Uniform<'a> {
    pub(super) fn new(layer: &'a Layer) -> Self {
        let (sum, _) = layer.cost_sum_range();
        Self { layer, moves: layer.moves(), steps: [STRAIGHT * sum, DIAGONAL * sum] }
    }
}

impl Ground for Uniform<'_> {
    #[inline(always)]
    fn view(&self, x: u32, y: u32, arrival: u8) -> View {
        let ways = self.moves.get(arrival, self.layer.pattern(x, y));
        View { ways, spot: 0, excess: 0 }
    }

    #[inline(always)]
    fn step(&self, _view: &View, direction: usize) -> u32 {
        self.steps[direction & 1]
    }
}

/// Costs may differ from cell to cell: canonical order where they do not, else every legal step
/// but the one back. Right on uniform ground, too.
pub(super) struct Mixed<'a> {
    layer: &'a Layer,
    moves: &'static MoveTable,
    /// What counts for cost, row-major.
    terrain: &'a [u8],
    width: usize,
    /// Cost sum of the cheapest step, in units.
    lowest: u32,
    /// From a cell's place in the terrain to its neighbors'.
    offsets: [isize; 8],
}

impl<'a> Mixed<'a> {
    pub(super) fn new(layer: &'a Layer, grid: &'a NavGrid) -> Self {
        let width = grid.width() as usize;
        let (lowest, _) = layer.cost_sum_range();
        let offsets = OFFSETS.map(|(dx, dy)| dx as isize + dy as isize * width as isize);
        let terrain = layer.ground(grid.terrain_bytes());
        Self { layer, moves: layer.moves(), terrain, width, lowest, offsets }
    }

    /// Whether all passable cells of the 3 × 3 block are of one terrain.
    #[inline(always)]
    fn is_flat(&self, spot: usize, pattern: Pattern) -> bool {
        let same = u32::from(self.terrain[spot]) * 0x01_0101;
        let differs = |first: usize, row: Pattern| {
            // Where the terrain ends, passable cells that cannot be read count as different.
            let found = self.four(first).unwrap_or(!same);
            (found ^ same) & ROW_MASKS[usize::from(row & 7)]
        };
        let left = spot.wrapping_sub(1);
        let below = differs(left.wrapping_sub(self.width), pattern);
        let beside = differs(left, pattern >> 3);
        let above = differs(left.wrapping_add(self.width), pattern >> 6);
        below | beside | above == 0
    }

    /// Four cells in a row, the first one lowest.
    #[inline(always)]
    fn four(&self, first: usize) -> Option<u32> {
        let cells = self.terrain.get(first..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*cells))
    }
}

impl Ground for Mixed<'_> {
    #[inline(always)]
    fn view(&self, x: u32, y: u32, arrival: u8) -> View {
        let spot = y as usize * self.width + x as usize;
        let pattern = self.layer.pattern(x, y);
        let row = if self.is_flat(spot, pattern) { arrival } else { NO_DIRECTION };
        let ways = self.moves.get(row, pattern) & !BACK[usize::from(arrival)];
        View { ways, spot, excess: self.layer.excess(self.terrain[spot]) }
    }

    #[inline(always)]
    fn step(&self, view: &View, direction: usize) -> u32 {
        let to = view.spot.wrapping_add_signed(self.offsets[direction & 7]);
        let weight = [STRAIGHT, DIAGONAL][direction & 1];
        weight * (self.lowest + view.excess + self.layer.excess(self.terrain[to]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::{
        cell::{Cell, CellRect},
        direction::Direction,
        terrain::{Profile, ProfileId, TerrainId},
    };

    const EAST: u8 = Direction::East as u8;

    fn meadow() -> NavGrid {
        let profile = Profile::new().with(TerrainId(1), 16).with(TerrainId(2), 32);
        NavGrid::new(5, 5, TerrainId(1)).unwrap().with_profiles(vec![profile])
    }

    fn ways_from_the_middle(grid: &NavGrid) -> u8 {
        let layer = grid.layer(ProfileId(0)).unwrap();
        Mixed::new(layer, grid).view(2, 2, EAST).ways
    }

    #[test]
    fn ground_of_one_cost_is_crossed_in_canonical_order() {
        assert_eq!(ways_from_the_middle(&meadow()), 1 << EAST);
    }

    #[test]
    fn another_cost_on_any_side_leaves_every_way_but_the_one_back() {
        for (dx, dy) in OFFSETS {
            let mut grid = meadow();
            grid.set_terrain(Cell::new(2 + dx, 2 + dy), TerrainId(2)).unwrap();
            assert_eq!(ways_from_the_middle(&grid), !(1 << Direction::West as u8));
        }
    }

    #[test]
    fn the_cost_of_what_is_blocked_does_not_count() {
        let mut grid = meadow();
        let ahead = Cell::new(3, 3);
        grid.set_terrain(ahead, TerrainId(2)).unwrap();
        grid.block(CellRect::single(ahead)).unwrap();
        assert_eq!(ways_from_the_middle(&grid), 1 << EAST);
    }

    #[test]
    fn a_step_costs_its_weight_times_the_costs_of_both_cells() {
        let mut grid = meadow();
        grid.set_terrain(Cell::new(3, 3), TerrainId(2)).unwrap();
        let layer = grid.layer(ProfileId(0)).unwrap();
        let ground = Mixed::new(layer, &grid);
        let view = ground.view(2, 2, NO_DIRECTION);
        let sixteenths =
            |direction: Direction| ground.step(&view, direction as usize) * layer.unit();
        assert_eq!(sixteenths(Direction::East), STRAIGHT * (16 + 16));
        assert_eq!(sixteenths(Direction::NorthEast), DIAGONAL * (16 + 32));
    }
}
