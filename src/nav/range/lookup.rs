//! Queries of a range: what is left on a cell, the path there, and where turns end on it.
//!
//! Input: a cell. Output: an answer, or `None` where the cell is out of range.

use bevy::reflect::Reflect;

use super::{Movement, MovementRange, UNREACHED};
use crate::nav::{
    Cell, Direction, NO_DIRECTION, NavGrid, Path, PathCost, PathKind, StepModel, WeightedSteps,
    legs_from_back,
};

/// A cell in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub struct InRange {
    /// The cell; that of the anchor for large units.
    pub cell: Cell,
    /// In which turn the unit arrives: 0 is this one. Always 0 without turns.
    pub turn: u32,
    /// What is left there: sixteenths of a point in that turn, or, without turns, a cost as the number in a [`PathCost`].
    pub left: u64,
}

impl MovementRange {
    /// Returns what is left on a cell; `None` if it is out of range. In a range that is not [finished](Self::is_finished),
    /// cells may be missing, and better paths may be found.
    #[must_use]
    pub fn get(&self, cell: Cell) -> Option<InRange> {
        let (x, y) = self.local(cell);
        let sum = self.sums[self.window.find(x, y)?];
        (sum != UNREACHED).then(|| self.in_range(cell, sum))
    }

    /// Iterates over all cells in range, row by row from the lowest; the start is one of them.
    pub fn cells(&self) -> impl Iterator<Item = InRange> + '_ {
        let all = self.window.iter().zip(&self.sums).filter(|&(_, &sum)| sum != UNREACHED);
        all.map(|((x, y), &sum)| self.in_range(self.global(x, y), sum))
    }

    /// Returns the cells on the path to a cell, from the start to the cell itself; `None` if it is out of range.
    #[must_use]
    pub fn cells_to(&self, cell: Cell) -> Option<Vec<InRange>> {
        let mut path = vec![self.get(cell)?];
        for direction in self.directions_back(cell) {
            let before = self.get(path[path.len() - 1].cell.step(direction.opposite()))?;
            path.push(before);
        }
        path.reverse();
        Some(path)
    }

    /// Returns the cells on which the unit stands at the end of each turn on its path to a cell; the last one is the cell
    /// itself. `None` if it is out of range.
    #[must_use]
    pub fn turn_ends(&self, cell: Cell) -> Option<Vec<InRange>> {
        let path = self.cells_to(cell)?;
        let last = path.last().copied();
        let ends = path.windows(2).filter(|pair| pair[0].turn < pair[1].turn).map(|pair| pair[0]);
        Some(ends.chain(last).collect())
    }

    /// Returns the path to a cell, as searches do; `None` if it is out of range, or the grid was edited since.
    #[must_use]
    pub fn path_to(&self, grid: &NavGrid, cell: Cell) -> Option<Path> {
        let layer = grid.layer(self.query.profile).filter(|_| !self.is_stale(grid))?;
        self.get(cell)?;
        let legs = legs_from_back(self.directions_back(cell).map(|direction| (direction, 1)));
        let model = WeightedSteps::<false>::new(layer, grid);
        let (mut x, mut y) = self.local(self.query.start);
        let mut units = 0_u64;
        for leg in &legs {
            for _ in 0..leg.steps {
                let steps = model.steps_from(x, y, NO_DIRECTION);
                units += u64::from(model.step_cost(&steps, leg.direction as usize));
                (x, y) = leg.direction.cell_at(x, y, 1);
            }
        }
        let cost = PathCost(units * u64::from(layer.unit()));
        let (start, kind, revision) = (self.query.start, PathKind::Complete, self.revision);
        Some(Path { start, end: cell, legs, cost, kind, revision })
    }

    /// Iterates over the directions of the steps to a cell in range, from last to first.
    fn directions_back(&self, cell: Cell) -> impl Iterator<Item = Direction> + '_ {
        let (mut x, mut y) = self.local(cell);
        core::iter::from_fn(move || {
            let arrival = self.arrivals[self.window.find(x, y)?];
            (arrival != NO_DIRECTION).then(|| {
                let direction = Direction::from_bits(arrival);
                (x, y) = direction.opposite().cell_at(x, y, 1);
                direction
            })
        })
    }

    fn in_range(&self, cell: Cell, sum: u32) -> InRange {
        let sum_here = u64::from(sum);
        match self.query.movement {
            Movement::Cost(PathCost(most)) => {
                InRange { cell, turn: 0, left: most - sum_here * u64::from(self.unit) }
            }
            Movement::Turns(_) => {
                // A turn is over when all of it is spent, and the next one begins with the next step.
                let per_turn = self.per_turn();
                let turn = sum.saturating_sub(1).checked_div(per_turn).unwrap_or(0);
                InRange { cell, turn, left: u64::from((turn + 1) * per_turn - sum) }
            }
        }
    }

    /// Returns column and row of a cell; far outside of the window for cells that are not on the grid.
    const fn local(&self, cell: Cell) -> (u32, u32) {
        (cell.x.wrapping_sub(self.origin.x) as u32, cell.y.wrapping_sub(self.origin.y) as u32)
    }

    fn global(&self, x: u32, y: u32) -> Cell {
        self.origin.offset(x as i32, y as i32)
    }
}
