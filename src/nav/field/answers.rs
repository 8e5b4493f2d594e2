//! What a field tells of a cell: the cost of the way, the next step, the whole way.
//!
//! Input: a cell. Output: an answer, or `None` where the cell is not settled. Steps are not kept:
//! the next one is that which lowers the cost by just what it costs itself. Costs fall along
//! every such step, so ways end, at the goal. On a grid edited since the start such a step is
//! legal all the same, as the grid is asked for the steps there are.

use core::{array, hint::black_box};

use super::{
    DistanceField,
    ground::{Ground, Mixed},
};
use crate::nav::{
    cell::Cell,
    direction::{Direction, OFFSETS},
    grid::NavGrid,
    moves::NO_DIRECTION,
    open_list::OpenList,
    path::{Path, PathCost, PathKind, legs_from_back},
};

/// Which step to take where several are as good: diagonals first, as searches do it, so that ways
/// have few turns.
const PREFERENCE: [Direction; 8] = [
    Direction::NorthEast,
    Direction::NorthWest,
    Direction::SouthWest,
    Direction::SouthEast,
    Direction::East,
    Direction::North,
    Direction::West,
    Direction::South,
];

impl<L: OpenList> DistanceField<L> {
    /// Cost of the cheapest way from `cell` to the goal; `None` unless the cell is settled. On a
    /// grid edited since the start, what it was then.
    #[must_use]
    pub fn cost(&self, grid: &NavGrid, cell: Cell) -> Option<PathCost> {
        if (grid.width(), grid.height()) != self.size {
            return None;
        }
        let (x, y) = grid.local(cell)?;
        let cost = self.settled(self.frame.index(x, y))?;
        Some(PathCost(u64::from(cost) * u64::from(self.unit)))
    }

    /// The [costs](Self::cost) from the eight cells around `cell`, by direction, and last from itself;
    /// [`u64::MAX`] where there is none. Reads three rows instead of nine cells.
    #[must_use]
    pub fn costs_around(&self, grid: &NavGrid, cell: Cell) -> [u64; 9] {
        self.three_rows(grid, cell).map_or_else(
            || self.costs_at_edge(grid, cell),
            |[low, own, high]| {
                let [west, here, east] = *own;
                let costs = [east, high[2], high[1], high[0], west, low[0], low[1], low[2], here];
                costs.map(|cost| match cost <= self.front {
                    true => u64::from(cost) * u64::from(self.unit),
                    false => u64::MAX,
                })
            },
        )
    }

    /// The costs below, beside and above an inner cell.
    #[inline(always)]
    fn three_rows(&self, grid: &NavGrid, cell: Cell) -> Option<[&[u32; 3]; 3]> {
        let origin = grid.origin();
        let x = cell.x.wrapping_sub(origin.x).wrapping_sub(1) as u32;
        let y = cell.y.wrapping_sub(origin.y).wrapping_sub(1) as u32;
        let size = (grid.width(), grid.height());
        let is_inner = x < size.0.saturating_sub(2) && y < size.1.saturating_sub(2);
        if !is_inner || size != self.size {
            return None;
        }
        let row = |y| self.costs.get(self.frame.index(x, y)..)?.first_chunk::<3>();
        Some([row(y)?, row(y + 1)?, row(y + 2)?])
    }

    #[cold]
    fn costs_at_edge(&self, grid: &NavGrid, cell: Cell) -> [u64; 9] {
        array::from_fn(|way| {
            let (dx, dy) = OFFSETS.get(way).copied().unwrap_or_default();
            self.cost(grid, cell.offset(dx, dy)).map_or(u64::MAX, |cost| cost.0)
        })
    }

    /// Reads what [`costs_around`](Self::costs_around) will read and does nothing with it: done for many
    /// cells in a row, the processor waits for their memory at the same time.
    #[inline]
    pub fn touch_around(&self, grid: &NavGrid, cell: Cell) {
        let Some((x, y)) = grid.local(cell) else {
            return;
        };
        for y in [y.saturating_sub(1), y, y + 1] {
            black_box(self.costs.get(self.frame.index(x, y)).copied());
        }
    }

    /// The first step of the cheapest way from `cell` to the goal; `None` at the goal and unless
    /// the cell is settled. On a grid edited since the start the step is one that is legal now, or
    /// `None`.
    #[must_use]
    pub fn direction(&self, grid: &NavGrid, cell: Cell) -> Option<Direction> {
        let layer = self.layer(grid)?;
        let (x, y) = grid.local(cell)?;
        self.next_step(&Mixed::new(layer, grid), x, y)
    }

    /// The cheapest way from `start` to the goal, step by step as
    /// [`direction`](Self::direction) says; `None` unless the cell is settled. On a grid edited
    /// since the start also where the way is cut off.
    #[must_use]
    pub fn path(&self, grid: &NavGrid, start: Cell) -> Option<Path> {
        let cost = self.cost(grid, start)?;
        let ground = Mixed::new(self.layer(grid)?, grid);
        let (mut x, mut y) = grid.local(start)?;
        let steps = std::iter::from_fn(|| {
            let direction = self.next_step(&ground, x, y)?;
            let (dx, dy) = direction.offset();
            (x, y) = (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
            Some(direction)
        });
        // Steps come in their order here, from the first one on.
        let mut legs = legs_from_back(steps.map(|direction| (direction, 1)));
        legs.reverse();
        let (end, kind, revision) = (grid.global(x, y), PathKind::Complete, self.revision);
        (end == self.goal).then_some(Path { start, end, legs, cost, kind, revision })
    }

    fn next_step(&self, ground: &Mixed<'_>, x: u32, y: u32) -> Option<Direction> {
        let index = self.frame.index(x, y);
        let cost = self.settled(index)?;
        let view = ground.view(x, y, NO_DIRECTION);
        PREFERENCE.into_iter().find(|&direction| {
            let way = direction as usize;
            view.ways & 1 << way != 0
                && self
                    .settled(self.frame.index_of_neighbor(index, way))
                    .is_some_and(|rest| rest + ground.step(&view, way) == cost)
        })
    }

    /// Cost of a settled cell, in units.
    fn settled(&self, index: usize) -> Option<u32> {
        let cost = self.costs[index];
        (cost <= self.front).then_some(cost)
    }
}
