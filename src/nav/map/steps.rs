//! The steps worth trying from a cell, and their costs, for searches and fields that go cell by cell.
//!
//! Input: a layer, and where costs differ the grid's terrain. Output: for a cell and the direction in which
//! it was reached a [`CellSteps`] with the directions worth trying; and the cost of a step, in the layer's
//! units.
//!
//! Canonical order (Sturtevant & Rabin, IJCAI 2016) leaves a step out where the 3 × 3 block around the cell
//! contains an equally good path. It only requires that the passable cells of that block have the same cost,
//! so it also applies cell by cell on weighted terrain that lies in patches. Fields make use of that; searches
//! try every legal step on weighted terrain. No cell is missed. Say the best path to `w` ends in `p → v → w`,
//! and `w` is left out at `v`. Then there is a path `p → u → w` of the same cost, diagonal first, and so `w` is
//! a straight step from `u`. There it can only be left out for a cheaper path, and there is none: no path of
//! equal cost that comes first replaces a straight step. With four neighbors the same holds of vertical and
//! horizontal steps, and on hexagons of the three directions that come first and the other three.

use crate::nav::{
    Adjacency, BitRows, Layer, MoveTable, NO_DIRECTION, NavGrid, OFFSETS, Pattern, Topology,
};

/// The three cells of a row of a [`Pattern`] as bytes, the left one lowest.
const ROW_MASKS: [u32; 8] = [0, 0xff, 0xff00, 0xffff, 0xff_0000, 0xff_00ff, 0xff_ff00, 0xff_ffff];

/// The steps from a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellSteps {
    /// Directions worth trying, as a set.
    pub(crate) directions: u8,
    /// Index of the cell in the grid's terrain.
    terrain_index: usize,
    /// Units by which the cell costs more than the cheapest cell.
    excess: u32,
    /// Whether all passable cells around are known to cost as much as the cell, with no edges between them.
    is_plain: bool,
    /// The cell, if steps out of it may cross edges.
    crosses_at: Option<(u32, u32)>,
}

/// How steps and their costs are found; the loops are compiled once for each implementation.
pub(crate) trait StepModel {
    /// Returns the steps from the cell after arriving in direction `arrival` (0 to 7, or [`NO_DIRECTION`] for
    /// every legal step).
    fn steps_from(&self, x: u32, y: u32, arrival: u8) -> CellSteps;

    /// Returns the cost of the step in a direction (0 to 7).
    fn step_cost(&self, steps: &CellSteps, direction: usize) -> u32;
}

/// All passable cells cost the same: canonical order, two step costs.
pub(crate) struct UniformSteps<'a> {
    layer: &'a Layer,
    moves: &'static MoveTable,
    step_costs: [u32; 2],
}

impl<'a> UniformSteps<'a> {
    pub(crate) fn new(layer: &'a Layer) -> Self {
        let (sum, _) = layer.cost_sum_range();
        Self {
            layer,
            moves: layer.moves(),
            step_costs: layer.adjacency().weights().map(|weight| weight * sum),
        }
    }
}

impl StepModel for UniformSteps<'_> {
    #[inline(always)]
    fn steps_from(&self, x: u32, y: u32, arrival: u8) -> CellSteps {
        let directions = self.moves.get(arrival, self.layer.pattern(x, y));
        CellSteps { directions, terrain_index: 0, excess: 0, is_plain: true, crosses_at: None }
    }

    #[inline(always)]
    fn step_cost(&self, _steps: &CellSteps, direction: usize) -> u32 {
        self.step_costs[direction & 1]
    }
}

/// Costs may differ from cell to cell: every legal step but the one back. With `CANONICAL`, canonical order where
/// the costs around a cell do not differ. Correct on uniform terrain, too.
pub(crate) struct WeightedSteps<'a, const CANONICAL: bool> {
    layer: &'a Layer,
    moves: &'static MoveTable,
    /// Terrain that determines the cost, row-major.
    terrain: &'a [u8],
    width: usize,
    /// Cells beside cells of another cost, if the layer has them.
    cost_borders: Option<&'a BitRows>,
    /// Cost sum of the cheapest step, in units.
    lowest: u32,
    /// Weights of steps with an even and an odd number of direction.
    weights: [u32; 2],
}

impl<'a, const CANONICAL: bool> WeightedSteps<'a, CANONICAL> {
    pub(crate) fn new(layer: &'a Layer, grid: &'a NavGrid) -> Self {
        let width = grid.width() as usize;
        let (lowest, _) = layer.cost_sum_range();
        let terrain = layer.ground(grid.terrain_bytes());
        let (cost_borders, weights) = (layer.cost_borders(), layer.adjacency().weights());
        Self { layer, moves: layer.moves(), terrain, width, cost_borders, lowest, weights }
    }

    /// The shape of the cells.
    pub(crate) const fn topology(&self) -> Topology {
        self.layer.topology()
    }

    /// Whether all passable cells around a cell cost what it does, and no edges lie between them.
    #[inline(always)]
    fn is_plain(&self, (x, y): (u32, u32), terrain_index: usize, pattern: Pattern) -> bool {
        match self.cost_borders {
            Some(cost_borders) => !cost_borders.get(x, y),
            None => {
                let has_one_cost =
                    self.layer.is_uniform() || self.is_uniform_around(terrain_index, pattern);
                has_one_cost && !self.layer.is_beside_edge(x, y)
            }
        }
    }

    /// What crossing edges adds to the cost sum of a step, in units.
    #[inline(always)]
    fn crossing_cost(&self, steps: &CellSteps, direction: usize) -> u32 {
        steps.crosses_at.map_or(0, |(x, y)| self.layer.crossing_cost(x, y, direction))
    }

    /// Returns the index of the cell to which a step leads.
    #[inline(always)]
    fn neighbor(&self, steps: &CellSteps, direction: usize) -> usize {
        let (dx, dy) = OFFSETS[direction & 7];
        let offset = dy as isize * self.width as isize + dx as isize;
        steps.terrain_index.wrapping_add_signed(offset)
    }

    /// Whether all passable cells of the 3 × 3 block have the same terrain.
    #[inline(always)]
    fn is_uniform_around(&self, terrain_index: usize, pattern: Pattern) -> bool {
        let same = u32::from(self.terrain[terrain_index]) * 0x01_0101;
        let differs = |first: usize, row: Pattern| {
            // Passable cells near the end of the terrain that cannot be read count as different.
            let found = self.four_cells(first).unwrap_or(!same);
            (found ^ same) & ROW_MASKS[usize::from(row & 7)]
        };
        let left = terrain_index.wrapping_sub(1);
        let below = differs(left.wrapping_sub(self.width), pattern);
        let beside = differs(left, pattern >> 3);
        let above = differs(left.wrapping_add(self.width), pattern >> 6);
        below | beside | above == 0
    }

    /// Returns four cells in a row, the first one in the lowest byte.
    #[inline(always)]
    fn four_cells(&self, first: usize) -> Option<u32> {
        let cells = self.terrain.get(first..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*cells))
    }
}

impl<const CANONICAL: bool> StepModel for WeightedSteps<'_, CANONICAL> {
    #[inline(always)]
    fn steps_from(&self, x: u32, y: u32, arrival: u8) -> CellSteps {
        let terrain_index = y as usize * self.width + x as usize;
        let pattern = self.layer.pattern(x, y);
        let is_plain = CANONICAL && self.is_plain((x, y), terrain_index, pattern);
        let table_row = if is_plain { arrival } else { NO_DIRECTION };
        let crossings = self.layer.crossings().filter(|_| !is_plain);
        let beside_edge = crossings.and_then(|crossings| crossings.legal_steps(x, y));
        let legal = beside_edge.unwrap_or_else(|| self.moves.get(table_row, pattern));
        let crosses_at = beside_edge.map(|_| (x, y));
        // A step straight back never pays.
        let back = if arrival == NO_DIRECTION { 0 } else { 1 << ((arrival + 4) & 7) };
        let directions = legal & !back;
        let excess = self.layer.excess(self.terrain[terrain_index]);
        CellSteps { directions, terrain_index, excess, is_plain, crosses_at }
    }

    #[inline(always)]
    fn step_cost(&self, steps: &CellSteps, direction: usize) -> u32 {
        let weight = self.weights[direction & 1];
        let excess = match steps.is_plain {
            true => steps.excess,
            false => self.layer.excess(self.terrain[self.neighbor(steps, direction)]),
        };
        weight * (self.lowest + steps.excess + excess + self.crossing_cost(steps, direction))
    }
}

/// Only the cell entered and the edge crossed count, as in turn-based games; costs are in sixteenths, without the weight of the
/// step. With `CANONICAL`, canonical order where the costs around a cell do not differ. That is correct if diagonal steps cost
/// as much as straight ones: otherwise, if points that do not suffice for a step are lost, the same steps in another order may
/// take more.
pub(crate) struct EnteredSteps<'a, const CANONICAL: bool> {
    steps: WeightedSteps<'a, CANONICAL>,
    /// The costs of steps with an even and an odd number of direction onto each terrain.
    costs: [[u32; 256]; 2],
    /// The unit of crossing costs, in sixteenths.
    unit: u32,
}

impl<'a, const CANONICAL: bool> EnteredSteps<'a, CANONICAL> {
    /// A diagonal step of squares costs `over / under` of a straight one, to the nearest sixteenth.
    pub(crate) fn new(layer: &'a Layer, grid: &'a NavGrid, (over, under): (u32, u32)) -> Self {
        let straight = *layer.costs();
        let odd = match layer.adjacency() {
            Adjacency::Six => straight,
            _ => straight.map(|cost| (cost * over + under / 2) / under),
        };
        let unit = layer.unit();
        Self { steps: WeightedSteps::new(layer, grid), costs: [straight, odd], unit }
    }
}

impl<const CANONICAL: bool> StepModel for EnteredSteps<'_, CANONICAL> {
    #[inline(always)]
    fn steps_from(&self, x: u32, y: u32, arrival: u8) -> CellSteps {
        self.steps.steps_from(x, y, arrival)
    }

    #[inline(always)]
    fn step_cost(&self, steps: &CellSteps, direction: usize) -> u32 {
        let to = match steps.is_plain {
            true => steps.terrain_index,
            false => self.steps.neighbor(steps, direction),
        };
        // In sixteenths; the cost sum of a step counts twice as much.
        let crossing = self.steps.crossing_cost(steps, direction) * self.unit / 2;
        self.costs[direction & 1][usize::from(self.steps.terrain[to])] + crossing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::{
        DIAGONAL, STRAIGHT,
        cell::{Cell, CellRect},
        direction::Direction,
        terrain::{Profile, ProfileId, TerrainId},
    };

    const EAST: u8 = Direction::East as u8;

    fn grassland() -> NavGrid {
        let profile = Profile::new().with(TerrainId(1), 16).with(TerrainId(2), 32);
        NavGrid::new(5, 5, TerrainId(1)).unwrap().with_profiles(vec![profile])
    }

    fn directions_from_the_middle(grid: &NavGrid) -> u8 {
        let layer = grid.layer(ProfileId(0)).unwrap();
        WeightedSteps::<true>::new(layer, grid).steps_from(2, 2, EAST).directions
    }

    #[test]
    fn terrain_of_one_cost_is_crossed_in_canonical_order() {
        assert_eq!(directions_from_the_middle(&grassland()), 1 << EAST);
    }

    #[test]
    fn a_different_cost_on_any_side_keeps_all_directions_but_the_one_back() {
        for (dx, dy) in OFFSETS {
            let mut grid = grassland();
            grid.set_terrain(Cell::new(2 + dx, 2 + dy), TerrainId(2)).unwrap();
            assert_eq!(directions_from_the_middle(&grid), !(1 << Direction::West as u8));
        }
    }

    #[test]
    fn costs_of_blocked_cells_do_not_count() {
        let mut grid = grassland();
        let corner = Cell::new(3, 3);
        grid.set_terrain(corner, TerrainId(2)).unwrap();
        grid.block(CellRect::single(corner)).unwrap();
        assert_eq!(directions_from_the_middle(&grid), 1 << EAST);
    }

    #[test]
    fn a_step_costs_its_weight_times_the_costs_of_both_cells() {
        let mut grid = grassland();
        grid.set_terrain(Cell::new(3, 3), TerrainId(2)).unwrap();
        let layer = grid.layer(ProfileId(0)).unwrap();
        let model = WeightedSteps::<true>::new(layer, &grid);
        let steps = model.steps_from(2, 2, NO_DIRECTION);
        let sixteenths =
            |direction: Direction| model.step_cost(&steps, direction as usize) * layer.unit();
        assert_eq!(sixteenths(Direction::East), STRAIGHT * (16 + 16));
        assert_eq!(sixteenths(Direction::NorthEast), DIAGONAL * (16 + 32));
    }
}
