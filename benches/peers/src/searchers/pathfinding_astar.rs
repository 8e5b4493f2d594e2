//! `pathfinding`: the generic A* of the registry's most used pathfinding crate.
//!
//! Input: the board's steps as successors. Output: an optimal path in cells. It uses the same data as
//! the textbook: integer costs, octile distance, the same neighbors in the same order, passed without
//! an allocation.

use bevy_tilepath::prelude::Cell;
use pathfinding::prelude::astar;

use super::Searcher;
use crate::board::{Board, octile};

/// `pathfinding::prelude::astar`; see the [module](self).
#[derive(Default)]
pub struct PathfindingAstar {
    board: Option<Board>,
    lowest: u32,
    path: Vec<Cell>,
}

impl Searcher for PathfindingAstar {
    fn name(&self) -> &'static str {
        "pathfinding 4.16 A*"
    }

    fn knows_costs(&self) -> bool {
        true
    }

    fn prepare(&mut self, board: &Board) {
        self.lowest = board.lowest_sum();
        self.board = Some(board.clone());
    }

    fn solve(&mut self, start: Cell, goal: Cell) {
        self.path.clear();
        let Some(board) = &self.board else {
            return;
        };
        let answer = astar(
            &start,
            |&cell| board.steps(cell),
            |&cell| octile(cell, goal) * self.lowest,
            |&cell| cell == goal,
        );
        if let Some((path, _)) = answer {
            self.path = path;
        }
    }

    fn cells(&self) -> Vec<Cell> {
        self.path.clone()
    }

    fn forget(&mut self) {
        self.path.clear();
    }
}
