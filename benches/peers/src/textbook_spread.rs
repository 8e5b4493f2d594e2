//! A textbook Dijkstra to compare with: std's `BinaryHeap`, lazy deletion, flat arrays stamped with the number of the search
//! instead of cleared.
//!
//! Input: a board, a goal, and the highest cost. Output: the costs of paths to the goal.
//!
//! Source: E. Dijkstra, "A Note on Two Problems in Connexion with Graphs" (1959).

use std::{cmp::Reverse, collections::BinaryHeap};

use bevy_tilepath::prelude::*;

use crate::board::{Board, DIAGONAL, Rule, STRAIGHT, WAYS};

/// Textbook Dijkstra; see the [module](self).
#[derive(Default)]
pub struct Textbook {
    width: i32,
    height: i32,
    free: Vec<bool>,
    costs: Vec<u8>,
    /// Whether the weighted rule applies.
    weighted: bool,
    g: Vec<u32>,
    /// Number of the search that last reached each cell.
    reached: Vec<u32>,
    /// Number of the search that last closed each cell.
    closed: Vec<u32>,
    search: u32,
    /// Lowest g first; then the cell.
    open: BinaryHeap<(Reverse<u32>, u32)>,
}

impl Textbook {
    /// Prepares for a board.
    pub fn new(board: &Board) -> Self {
        let cells = board.costs.len();
        Self {
            width: board.width,
            height: board.height,
            free: board.costs.iter().map(|&cost| cost > 0).collect(),
            costs: board.costs.clone(),
            weighted: board.rule == Rule::Weighted,
            g: vec![0; cells],
            reached: vec![0; cells],
            closed: vec![0; cells],
            ..Self::default()
        }
    }

    /// Finds the costs of all cells from which paths to the goal cost `most` or less.
    pub fn solve(&mut self, goal: Cell, most: u32) {
        if self.weighted {
            self.spread::<true>(goal, most);
        } else {
            self.spread::<false>(goal, most);
        }
    }

    /// Returns the cost of the path from the cell to the last goal.
    pub fn cost(&self, cell: Cell) -> Option<u32> {
        let at = self.index(cell);
        (self.closed[at] == self.search).then(|| self.g[at])
    }

    fn spread<const WEIGHTED: bool>(&mut self, goal: Cell, most: u32) {
        self.search += 1;
        self.open.clear();
        self.reach(goal, 0);
        while let Some((_, index)) = self.open.pop() {
            let at = index as usize;
            if self.closed[at] == self.search {
                continue; // a cheaper path was popped before
            }
            self.closed[at] = self.search;
            let g = self.g[at];
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
                if g + cost <= most {
                    self.reach(to, g + cost);
                }
            }
        }
    }

    /// Pushes the cell onto the open list, unless it was reached at the same or a lower cost before.
    fn reach(&mut self, cell: Cell, g: u32) {
        let at = self.index(cell);
        if self.reached[at] == self.search && self.g[at] <= g {
            return;
        }
        self.reached[at] = self.search;
        self.g[at] = g;
        self.open.push((Reverse(g), at as u32));
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
}
