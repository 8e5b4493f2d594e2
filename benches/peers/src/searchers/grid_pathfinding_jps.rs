//! `grid_pathfinding`: jump point search over precomputed neighbors and forced neighbors.
//!
//! Input: blocked cells. Output: waypoints. It treats a step to any passable neighbor as legal,
//! including diagonals past blocked cells, and has no setting to change that: it **cuts corners**,
//! so its paths may be shorter than the optimum, and its connectivity test joins cells that touch at
//! a corner only. It does not support costs.

use bevy_tilepath::prelude::Cell;
use grid_pathfinding::{PathingGrid, waypoints_to_path};
use grid_util::{grid::ValueGrid, point::Point};

use super::Searcher;
use crate::board::Board;

/// `PathingGrid` with its default settings; see the [module](self).
#[derive(Default)]
pub struct GridPathfinding {
    grid: Option<PathingGrid>,
    waypoints: Option<Vec<Point>>,
}

impl Searcher for GridPathfinding {
    fn name(&self) -> &'static str {
        "grid_pathfinding 0.3 JPS"
    }

    fn knows_costs(&self) -> bool {
        false
    }

    fn prepare(&mut self, board: &Board) {
        let (width, height) = (board.width as usize, board.height as usize);
        let mut grid: PathingGrid = PathingGrid::new(width, height, false);
        for (cell, _) in board.cells().filter(|&(_, cost)| cost == 0) {
            grid.grid.set(cell.x, cell.y, true);
        }
        grid.allow_diagonal_move = true;
        grid.initialize();
        grid.generate_components();
        *self = Self { grid: Some(grid), waypoints: None };
    }

    fn solve(&mut self, start: Cell, goal: Cell) {
        let (start, goal) = (Point::new(start.x, start.y), Point::new(goal.x, goal.y));
        self.waypoints = match &self.grid {
            Some(grid) => grid.get_waypoints_single_goal(start, goal, false),
            None => None,
        };
    }

    fn cells(&self) -> Vec<Cell> {
        let points = self.waypoints.clone().map(waypoints_to_path).unwrap_or_default();
        points.into_iter().map(|point| Cell::new(point.x, point.y)).collect()
    }

    fn forget(&mut self) {
        self.waypoints = None;
    }
}
