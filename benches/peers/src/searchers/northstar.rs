//! `bevy_northstar`: HPA* for Bevy, used without an `App`.
//!
//! Input: a cost for each cell. Output: a path in cells, in one of its modes: `Coarse` (cached
//! paths unchanged), `Refined` (the same with shortcuts in straight lines) and `AStar`. Its grid has
//! eight neighbors, chunks of 16 (its default) and the filter against cut corners; a diagonal step
//! costs the same as a straight one. Prepared on one thread.

use bevy::math::UVec3;
use bevy_northstar::{
    OrdinalGrid, components::PathfindMode, filter::NoCornerCutting, grid::GridSettingsBuilder,
    nav::Nav, path::Path, pathfind::PathfindArgs,
};
use bevy_tilepath::prelude::Cell;

use super::Searcher;
use crate::board::Board;

/// Cells along one side of a chunk.
const CHUNK_SIZE: u32 = 16;
/// Shortest side of a map that it accepts.
const SHORTEST_SIDE: u32 = 3;

/// `OrdinalGrid` in one mode; see the [module](self).
pub struct Northstar {
    name: &'static str,
    mode: PathfindMode,
    grid: Option<OrdinalGrid>,
    /// The last start, which its paths omit, and the path.
    path: Option<(Cell, Path)>,
}

impl Northstar {
    /// Cached paths unchanged.
    pub fn coarse() -> Self {
        Self::new("northstar 0.7 Coarse", PathfindMode::Coarse)
    }

    /// Cached paths with shortcuts: its default.
    pub fn refined() -> Self {
        Self::new("northstar 0.7 Refined", PathfindMode::Refined)
    }

    /// A* over the whole grid.
    pub fn astar() -> Self {
        Self::new("northstar 0.7 A*", PathfindMode::AStar)
    }

    fn new(name: &'static str, mode: PathfindMode) -> Self {
        Self { name, mode, grid: None, path: None }
    }
}

impl Searcher for Northstar {
    fn name(&self) -> &'static str {
        self.name
    }

    fn knows_costs(&self) -> bool {
        true
    }

    fn prepare(&mut self, board: &Board) {
        let (width, height) = (board.width as u32, board.height as u32);
        // Its builder panics below that; additional impassable cells change nothing.
        let settings =
            GridSettingsBuilder::new_2d(width.max(SHORTEST_SIDE), height.max(SHORTEST_SIDE))
                .chunk_size(CHUNK_SIZE)
                .default_impassable()
                .add_neighbor_filter(NoCornerCutting)
                .build();
        let mut grid = OrdinalGrid::new(&settings);
        for (cell, cost) in board.cells().filter(|&(_, cost)| cost > 0) {
            grid.set_nav(position(cell), Nav::Passable(u32::from(cost)));
        }
        grid.build();
        *self = Self { grid: Some(grid), ..Self::new(self.name, self.mode) };
    }

    fn solve(&mut self, start: Cell, goal: Cell) {
        self.path = None;
        let Some(grid) = &self.grid else {
            return;
        };
        let mut request = PathfindArgs::new(position(start), position(goal)).mode(self.mode);
        self.path = grid.pathfind(&mut request).map(|path| (start, path));
    }

    fn cells(&self) -> Vec<Cell> {
        let Some((start, path)) = &self.path else {
            return Vec::new();
        };
        let rest = path.clone().into_iter().map(|at| Cell::new(at.x as i32, at.y as i32));
        std::iter::once(*start).chain(rest).collect()
    }

    fn forget(&mut self) {
        self.path = None;
    }
}

/// Cells of a board are never negative.
fn position(cell: Cell) -> UVec3 {
    UVec3::new(cell.x as u32, cell.y as u32, 0)
}
