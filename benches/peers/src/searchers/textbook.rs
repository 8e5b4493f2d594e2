//! The reference: a textbook A*.
//!
//! Input: a flat array of passable cells, and of costs where they matter. Output: an optimal path.
//! It uses std's `BinaryHeap` with lazy deletion, flat arrays stamped with the number of the search
//! instead of cleared, integer costs, octile distance, ties broken to the larger g. It has no other
//! optimizations.
//!
//! Source: P. Hart, N. Nilsson, B. Raphael, "A Formal Basis for the Heuristic Determination of
//! Minimum Cost Paths" (IEEE TSSC 4(2), 1968).

use std::{cmp::Reverse, collections::BinaryHeap};

use bevy_tilepath::prelude::Cell;

use super::Searcher;
use crate::board::{Board, DIAGONAL, Rule, STRAIGHT, WAYS, octile};

/// Parent of the start.
const NO_PARENT: u32 = u32::MAX;

/// The textbook's A*; see the [module](self).
#[derive(Default)]
pub struct Textbook {
    width: i32,
    height: i32,
    free: Vec<bool>,
    costs: Vec<u8>,
    /// Whether the weighted rule applies.
    weighted: bool,
    /// Lowest cost of a step in units of its weight.
    lowest: u32,
    g: Vec<u32>,
    parent: Vec<u32>,
    /// Number of the search that last reached each cell.
    reached: Vec<u32>,
    /// Number of the search that last closed each cell.
    closed: Vec<u32>,
    search: u32,
    /// Lowest f first, then largest g; then the cell.
    open: BinaryHeap<(Reverse<u32>, u32, u32)>,
    path: Vec<Cell>,
}

impl Searcher for Textbook {
    fn name(&self) -> &'static str {
        "textbook A*"
    }

    fn knows_costs(&self) -> bool {
        true
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn prepare(&mut self, board: &Board) {
        let weighted = board.rule == Rule::Weighted;
        *self = Self {
            width: board.width,
            height: board.height,
            free: board.costs.iter().map(|&cost| cost > 0).collect(),
            costs: board.costs.clone(),
            weighted,
            lowest: if weighted { board.lowest_sum() } else { 1 },
            g: vec![0; board.costs.len()],
            parent: vec![NO_PARENT; board.costs.len()],
            reached: vec![0; board.costs.len()],
            closed: vec![0; board.costs.len()],
            ..Self::default()
        };
    }

    fn solve(&mut self, start: Cell, goal: Cell) {
        self.path.clear();
        let found = if self.weighted {
            self.run::<true>(start, goal)
        } else {
            self.run::<false>(start, goal)
        };
        if found {
            self.trace(goal);
        }
    }

    fn cells(&self) -> Vec<Cell> {
        self.path.clone()
    }

    fn forget(&mut self) {
        self.path.clear();
    }
}

impl Textbook {
    fn run<const WEIGHTED: bool>(&mut self, start: Cell, goal: Cell) -> bool {
        self.search += 1;
        self.open.clear();
        self.reach(start, goal, 0, NO_PARENT);
        let goal_index = self.index(goal);
        while let Some((_, g, index)) = self.open.pop() {
            let at = index as usize;
            if self.closed[at] == self.search {
                continue; // a cheaper path was popped before
            }
            self.closed[at] = self.search;
            if at == goal_index {
                return true;
            }
            let from = Cell::new(index as i32 % self.width, index as i32 / self.width);
            for way in WAYS {
                if !self.can_step(from, way) {
                    continue;
                }
                let to = Cell::new(from.x + way.0, from.y + way.1);
                let mut cost = if way.0 != 0 && way.1 != 0 { DIAGONAL } else { STRAIGHT };
                if WEIGHTED {
                    cost *= u32::from(self.costs[at]) + u32::from(self.costs[self.index(to)]);
                }
                self.reach(to, goal, g + cost, index);
            }
        }
        false
    }

    /// Pushes the cell onto the open list, unless it was reached at the same or a lower cost before.
    fn reach(&mut self, cell: Cell, goal: Cell, g: u32, parent: u32) {
        let at = self.index(cell);
        if self.reached[at] == self.search && self.g[at] <= g {
            return;
        }
        self.reached[at] = self.search;
        self.g[at] = g;
        self.parent[at] = parent;
        let f = g + octile(cell, goal) * self.lowest;
        self.open.push((Reverse(f), g, at as u32));
    }

    fn can_step(&self, from: Cell, (dx, dy): (i32, i32)) -> bool {
        let diagonal = dx != 0 && dy != 0;
        self.is_free(from.x + dx, from.y + dy)
            && (!diagonal
                || (self.is_free(from.x + dx, from.y) && self.is_free(from.x, from.y + dy)))
    }

    fn is_free(&self, x: i32, y: i32) -> bool {
        x >= 0
            && y >= 0
            && x < self.width
            && y < self.height
            && self.free[(y * self.width + x) as usize]
    }

    fn index(&self, cell: Cell) -> usize {
        (cell.y * self.width + cell.x) as usize
    }

    /// Follows the parents from the goal to the start.
    fn trace(&mut self, goal: Cell) {
        let mut index = self.index(goal) as u32;
        while index != NO_PARENT {
            self.path.push(Cell::new(index as i32 % self.width, index as i32 / self.width));
            index = self.parent[index as usize];
        }
        self.path.reverse();
    }
}
