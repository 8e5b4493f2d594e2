//! A textbook A* on hexagons to compare with: std's `BinaryHeap`, lazy deletion, flat arrays stamped with the number of the
//! search instead of cleared, ties broken to the larger g. With the range as limit and no heuristic it is a bounded Dijkstra.
//!
//! Input: a grid of hexagons, two cells. Output: the cost of the cheapest path.
//!
//! Source: P. Hart, N. Nilsson, B. Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths" (IEEE TSSC
//! 4(2), 1968).

use std::{cmp::Reverse, collections::BinaryHeap};

use bevy_tilepath::prelude::*;

/// Column and row of the six neighbors.
pub const WAYS: [(i32, i32); 6] = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)];

/// Returns the fewest steps between two cells.
pub fn steps_between(a: Cell, b: Cell) -> u32 {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    dx.abs().max(dy.abs()).max((dx + dy).abs()) as u32
}

/// Textbook A*; see the [module](self).
#[derive(Default)]
pub struct Textbook {
    rect: CellRect,
    /// Sixteenths, 0 = impassable.
    pub costs: Vec<u16>,
    lowest: u32,
    g: Vec<u32>,
    parent: Vec<u32>,
    reached: Vec<u32>,
    closed: Vec<u32>,
    search: u32,
    /// Lowest f first, then largest g; then the cell.
    open: BinaryHeap<(Reverse<u32>, u32, u32)>,
}

impl Textbook {
    /// Prepares for a grid and its first profile.
    pub fn new(grid: &NavGrid) -> Self {
        let (rect, profile) = (grid.rect(), &grid.profiles()[0]);
        let cost = |cell| grid.terrain(cell).map_or(0, |terrain| profile.cost(terrain));
        let costs: Vec<u16> = rect.cells().map(cost).collect();
        let lowest = costs.iter().filter(|&&cost| cost > 0).min();
        let (lowest, cells) = (lowest.map_or(0, |&cost| 2 * u32::from(cost)), costs.len());
        Self {
            rect,
            costs,
            lowest,
            g: vec![0; cells],
            parent: vec![0; cells],
            reached: vec![0; cells],
            closed: vec![0; cells],
            ..Self::default()
        }
    }

    /// Returns the index of a cell that is passable.
    pub fn free_index(&self, cell: Cell) -> Option<usize> {
        let index = self.rect.contains(cell).then(|| self.index(cell))?;
        (self.costs[index] > 0).then_some(index)
    }

    fn index(&self, cell: Cell) -> usize {
        let (x, y) = (cell.x - self.rect.min.x, cell.y - self.rect.min.y);
        y as usize * self.rect.width as usize + x as usize
    }

    fn cell(&self, index: usize) -> Cell {
        let width = self.rect.width as usize;
        self.rect.min.offset((index % width) as i32, (index / width) as i32)
    }

    /// Returns the cost of the cheapest path: a step costs the sum of both cells' costs.
    pub fn solve(&mut self, start: Cell, goal: Cell) -> Option<u32> {
        let lowest = self.lowest;
        self.run(start, u32::MAX, |cell| steps_between(cell, goal) * lowest, Some(goal));
        let at = self.free_index(goal)?;
        (self.closed[at] == self.search).then(|| self.g[at])
    }

    /// Finds the costs of all cells up to `most`; returns how many there are.
    pub fn spread(&mut self, start: Cell, most: u32) -> usize {
        self.run(start, most, |_| 0, None)
    }

    fn run(
        &mut self,
        start: Cell,
        most: u32,
        heuristic: impl Fn(Cell) -> u32,
        goal: Option<Cell>,
    ) -> usize {
        self.search += 1;
        self.open.clear();
        let mut closed = 0;
        let Some(first) = self.free_index(start) else {
            return 0;
        };
        (self.g[first], self.reached[first]) = (0, self.search);
        self.open.push((Reverse(heuristic(start)), 0, first as u32));
        while let Some((_, _, index)) = self.open.pop() {
            let at = index as usize;
            if self.closed[at] == self.search {
                continue; // a cheaper path was popped before
            }
            self.closed[at] = self.search;
            closed += 1;
            let from = self.cell(at);
            if Some(from) == goal {
                break;
            }
            for (dx, dy) in WAYS {
                let to = from.offset(dx, dy);
                let Some(next) = self.free_index(to) else {
                    continue;
                };
                let g = self.g[at] + u32::from(self.costs[at]) + u32::from(self.costs[next]);
                if g > most || (self.reached[next] == self.search && self.g[next] <= g) {
                    continue;
                }
                (self.g[next], self.reached[next], self.parent[next]) = (g, self.search, index);
                self.open.push((Reverse(g + heuristic(to)), g, next as u32));
            }
        }
        closed
    }
}
