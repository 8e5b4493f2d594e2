//! A flood: a window of cells, filled with costs outward from the cells whose costs are known.
//!
//! Input: a rectangle, and the costs of some of its cells. Output: the cost of every cell from which a path in
//! the window leads to one of them (Dijkstra's algorithm).

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::UNREACHABLE;
use crate::nav::crowd::board::{GridPos, StepCosts, legal_directions};
use crate::nav::{CellRect, NavGrid};

/// Cells whose costs are known but not their neighbors': cost, column and row. One list serves all floods of a
/// room.
pub type OpenCells = BinaryHeap<Reverse<(u64, u16, u16)>>;

/// Returns the memory that such a list holds, in bytes.
pub fn bytes_of(open: &OpenCells) -> usize {
    open.capacity() * size_of::<Reverse<(u64, u16, u16)>>()
}

/// A rectangle of cells with a cost each, row-major. Its memory is reused when it is laid out again.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Flood {
    /// The lowest, leftmost cell.
    origin: GridPos,
    /// Columns and rows.
    span: (u16, u16),
    /// Empty where no costs are needed.
    costs: Vec<u64>,
}

impl Flood {
    /// Moves the window, without costs.
    pub fn lay_out(&mut self, origin: GridPos, span: (u16, u16)) {
        (self.origin, self.span) = (origin, span);
        self.costs.clear();
    }

    /// Begins a flood: no cell of the window can be reached yet.
    pub fn begin(&mut self, open: &mut OpenCells) {
        open.clear();
        self.costs.clear();
        let cells = usize::from(self.span.0) * usize::from(self.span.1);
        self.costs.resize(cells, UNREACHABLE);
    }

    pub fn index(&self, pos: GridPos) -> Option<usize> {
        let (x, y) = (pos.x.wrapping_sub(self.origin.x), pos.y.wrapping_sub(self.origin.y));
        let is_inside = x < self.span.0 && y < self.span.1;
        is_inside.then(|| usize::from(y) * usize::from(self.span.0) + usize::from(x))
    }

    /// Returns the cells of the window.
    pub fn rect(&self, grid: &NavGrid) -> CellRect {
        CellRect::new(self.origin.cell(grid), self.span.0.into(), self.span.1.into())
    }

    pub fn contains(&self, pos: GridPos) -> bool {
        self.index(pos).is_some()
    }

    /// Returns the cost at a position.
    pub fn cost(&self, pos: GridPos) -> u64 {
        self.index(pos).and_then(|at| self.costs.get(at).copied()).unwrap_or(UNREACHABLE)
    }

    /// Returns whether a position is inside and its cost is higher than this one.
    pub fn is_lower(&self, pos: GridPos, cost: u64) -> bool {
        self.index(pos).is_some_and(|at| cost < self.costs[at])
    }

    /// Lowers the cost at a position, if it is inside and was higher; returns its index then.
    pub fn improve(&mut self, open: &mut OpenCells, pos: GridPos, cost: u64) -> Option<usize> {
        let at = self.index(pos).filter(|&at| cost < self.costs[at])?;
        self.costs[at] = cost;
        open.push(Reverse((cost, pos.x, pos.y)));
        Some(at)
    }

    /// Takes the open cell of the lowest cost.
    pub fn pop(&self, open: &mut OpenCells) -> Option<(u64, GridPos)> {
        loop {
            let Reverse((cost, x, y)) = open.pop()?;
            let pos = GridPos { x, y };
            if self.cost(pos) == cost {
                return Some((cost, pos));
            }
        }
    }

    /// Spreads the costs of the open cells over the cells that may be entered, until `is_enough` holds for a
    /// cell and its cost.
    pub fn spread(
        &mut self,
        open: &mut OpenCells,
        costs: &StepCosts,
        may_enter: impl Fn(GridPos) -> bool,
        mut is_enough: impl FnMut(GridPos, u64) -> bool,
    ) {
        while let Some((cost, pos)) = self.pop(open) {
            if is_enough(pos, cost) {
                break;
            }
            let directions = legal_directions(costs.layer, pos);
            for direction in (0..8).filter(|direction| directions & 1 << direction != 0) {
                let (next, cost) = (pos.step(direction), cost + costs.step(pos, direction));
                // Whether large units may enter takes longer to see.
                if self.is_lower(next, cost) && may_enter(next) {
                    self.improve(open, next, cost);
                }
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.costs.capacity() * size_of::<u64>()
    }
}
