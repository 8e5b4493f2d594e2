//! Queries of a field: the path cost of a cell, its next step, its whole path.
//!
//! Input: a cell. Output: an answer, or `None` where the cell is not settled. Steps are not stored: the next
//! step is the one that lowers the path cost by exactly its own cost. Costs fall along every such step, so
//! paths end, at the goal. Such a step is legal even on a grid edited since the start, as legal steps are
//! looked up in the current grid.

use core::array;

use Direction::{East, North, NorthEast, NorthWest, South, SouthEast, SouthWest, West};

use super::{DistanceField, expand::OPEN};
use crate::nav::{
    Cell, Direction, NO_DIRECTION, NavGrid, OFFSETS, Path, PathCost, PathKind, StepModel, Topology,
    WeightedSteps, legs_from_back,
};

/// Order of preference among equally good steps: diagonals first, as in searches, so that paths have few turns; on
/// hexagons, the directions that branch.
const PREFERENCE: [Direction; 8] =
    [NorthEast, NorthWest, SouthWest, SouthEast, East, North, West, South];
const PREFERENCE_ON_HEXAGONS: [Direction; 8] =
    [North, West, SouthEast, East, NorthWest, South, NorthEast, SouthWest];

impl DistanceField {
    /// Returns the cost of the cheapest path from `cell` to the goal; `None` unless the cell is settled. On a
    /// grid edited since the start, returns the cost at that time.
    #[must_use]
    pub fn cost(&self, grid: &NavGrid, cell: Cell) -> Option<PathCost> {
        if (grid.width(), grid.height()) != self.size {
            return None;
        }
        let (x, y) = grid.local(cell)?;
        let cost = self.settled(self.layout.index(x, y))?;
        Some(PathCost(u64::from(cost) * u64::from(self.cost_unit)))
    }

    /// Returns the cost of the path found last; `None` if there was none. While the field is filled or in
    /// [repair](Self::repair), there may now be a cheaper path, or no path.
    pub(crate) fn last_known_cost(&self, grid: &NavGrid, cell: Cell) -> Option<PathCost> {
        let (x, y) = grid.local(cell).filter(|_| (grid.width(), grid.height()) == self.size)?;
        let cost = self.recorded(self.layout.index(x, y));
        (cost < OPEN).then(|| PathCost(u64::from(cost) * u64::from(self.cost_unit)))
    }

    /// Returns the [costs](Self::cost) of the eight cells around `cell`, by direction, and last that of the
    /// cell itself; [`u64::MAX`] where there is none. Reads three rows instead of nine cells.
    #[must_use]
    pub fn costs_around(&self, grid: &NavGrid, cell: Cell) -> [u64; 9] {
        self.three_rows(grid, cell).map_or_else(
            || self.costs_at_edge(grid, cell),
            |[low, own, high]| {
                let [west, here, east] = *own;
                let costs = [east, high[2], high[1], high[0], west, low[0], low[1], low[2], here];
                costs.map(|cost| match cost <= self.front {
                    true => u64::from(cost) * u64::from(self.cost_unit),
                    false => u64::MAX,
                })
            },
        )
    }

    /// Returns the costs below, beside and above an inner cell, three each.
    #[inline(always)]
    fn three_rows(&self, grid: &NavGrid, cell: Cell) -> Option<[&[u32; 3]; 3]> {
        let origin = grid.origin();
        let x = cell.x.wrapping_sub(origin.x).wrapping_sub(1) as u32;
        let y = cell.y.wrapping_sub(origin.y).wrapping_sub(1) as u32;
        let size = (grid.width(), grid.height());
        let rows = &self.cleared.rows;
        let is_inner = x < size.0.saturating_sub(2)
            && y.wrapping_sub(rows.start) < (rows.end - rows.start).saturating_sub(2);
        if !is_inner || size != self.size {
            return None;
        }
        let row = |y| self.costs.get(self.layout.index(x, y)..)?.first_chunk::<3>();
        Some([row(y)?, row(y + 1)?, row(y + 2)?])
    }

    #[cold]
    fn costs_at_edge(&self, grid: &NavGrid, cell: Cell) -> [u64; 9] {
        array::from_fn(|direction| {
            let (dx, dy) = OFFSETS.get(direction).copied().unwrap_or_default();
            self.cost(grid, cell.offset(dx, dy)).map_or(u64::MAX, |cost| cost.0)
        })
    }

    /// Returns the first step of the cheapest path from `cell` to the goal; `None` at the goal and unless the
    /// cell is settled. On a grid edited since the start the step is one that is legal now, or `None`.
    #[must_use]
    pub fn direction(&self, grid: &NavGrid, cell: Cell) -> Option<Direction> {
        let layer = self.layer(grid)?;
        let (x, y) = grid.local(cell).filter(|&(x, y)| layer.is_passable(x, y))?;
        self.next_step(&WeightedSteps::new(layer, grid), x, y)
    }

    /// Returns the cheapest path from `start` to the goal, step by step as returned by
    /// [`direction`](Self::direction); `None` unless the cell is settled. On a grid edited since the start
    /// also `None` where the path is cut off.
    #[must_use]
    pub fn path(&self, grid: &NavGrid, start: Cell) -> Option<Path> {
        let (cost, layer) = (self.cost(grid, start)?, self.layer(grid)?);
        let model = WeightedSteps::new(layer, grid);
        let (mut x, mut y) = grid.local(start).filter(|&(x, y)| layer.is_passable(x, y))?;
        let steps = std::iter::from_fn(|| {
            let direction = self.next_step(&model, x, y)?;
            (x, y) = direction.cell_at(x, y, 1);
            Some(direction)
        });
        // Steps come from first to last here.
        let mut legs = legs_from_back(steps.map(|direction| (direction, 1)));
        legs.reverse();
        let (end, kind, revision) = (grid.global(x, y), PathKind::Complete, self.revision);
        // Only the goal costs nothing.
        (self.units_at(x, y) == Some(0)).then_some(Path { start, end, legs, cost, kind, revision })
    }

    fn next_step(&self, model: &WeightedSteps<'_, true>, x: u32, y: u32) -> Option<Direction> {
        let index = self.layout.index(x, y);
        let cost = self.settled(index)?;
        let steps = model.steps_from(x, y, NO_DIRECTION);
        let preference = match model.topology() {
            Topology::Square => PREFERENCE,
            Topology::Hexagonal => PREFERENCE_ON_HEXAGONS,
        };
        preference.into_iter().find(|&direction| {
            let number = direction as usize;
            steps.directions & 1 << number != 0
                && self
                    .settled(self.layout.index_of_neighbor(index, number))
                    .is_some_and(|remaining| remaining + model.step_cost(&steps, number) == cost)
        })
    }

    /// Returns the cost of the path from the cell in column `x` and row `y`, in units.
    pub(in crate::nav) fn units_at(&self, x: u32, y: u32) -> Option<u32> {
        self.settled(self.layout.index(x, y))
    }

    /// Returns the cost of a settled cell, in units.
    fn settled(&self, index: usize) -> Option<u32> {
        let cost = self.recorded(index);
        (cost <= self.front).then_some(cost)
    }
}
