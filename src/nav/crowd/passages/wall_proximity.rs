//! Whether a wall is near a cell.
//!
//! Input: the layer of one profile. Output: for every cell, whether something impassable lies near it. The
//! edge of the grid is no wall. Computed per block of cells on the first query, and forgotten around edits:
//! one byte for sixteen cells, so all of it stays in the cache.
//!
//! Around the corners of walls all units that go in the same direction would walk in single file, although a
//! second file beside it would be no longer for the units behind. So near walls waiting costs more, units
//! that go straight on come before units that cut in, and of directions of equal cost the rightmost one is
//! taken: units that have come around a corner spread out behind it.

use super::TerrainShape;
use crate::nav::crowd::board::{Board, GridPos, Task};
use crate::nav::{Layer, NavGrid, ProfileId};

/// Cells along a side of a block.
const BLOCK: u32 = 4;
/// Distance in cells around a block within which a wall counts as near.
const REACH: u32 = 8;

const UNKNOWN: u8 = 0;
const FREE: u8 = 1;
const NEAR: u8 = 2;

/// What has been computed so far, by block, row-major.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct WallProximity {
    width: u32,
    blocks: Vec<u8>,
}

impl WallProximity {
    /// Returns whether a wall is near a cell.
    #[inline]
    fn is_near(&mut self, layer: &Layer, pos: GridPos) -> bool {
        let (width, height) = layer.size();
        if self.blocks.is_empty() {
            self.width = width.div_ceil(BLOCK);
            self.blocks.resize((self.width * height.div_ceil(BLOCK)) as usize, UNKNOWN);
        }
        let (x, y) = (u32::from(pos.x) / BLOCK, u32::from(pos.y) / BLOCK);
        let block = &mut self.blocks[(y * self.width + x) as usize];
        if *block == UNKNOWN {
            let around = |at: u32, size: u32| {
                (at * BLOCK).saturating_sub(REACH)..(at * BLOCK + BLOCK + REACH).min(size)
            };
            let is_near = layer.has_wall(around(x, width), around(y, height));
            *block = if is_near { NEAR } else { FREE };
        }
        *block == NEAR
    }

    /// Forgets what is known around a rectangle (lowest and highest cell) in which the terrain has changed.
    pub fn forget(&mut self, low: GridPos, high: GridPos) {
        let around = |low: u16, high: u16| {
            u32::from(low).saturating_sub(REACH) / BLOCK..=(u32::from(high) + REACH) / BLOCK
        };
        for y in around(low.y, high.y) {
            for x in around(low.x, high.x).filter(|&x| x < self.width) {
                if let Some(block) = self.blocks.get_mut((y * self.width + x) as usize) {
                    *block = UNKNOWN;
                }
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.blocks.capacity()
    }
}

impl TerrainShape {
    /// Updates whether a unit that follows a shared field or its own path is near a wall. Before passages, where
    /// units do not form lanes, it never is.
    #[inline]
    pub fn update_wall_proximity(&mut self, board: &mut Board, grid: &NavGrid, index: u32) {
        let unit = &mut board.units[index];
        let (profile, pos) = (unit.profile, unit.tail);
        let follows = matches!(unit.task, Task::Route(_) | Task::Path) && !unit.is_trapped();
        let forms_lanes = follows && unit.size == 1 && self.is_wall_near(grid, profile, pos);
        unit.is_near_wall = forms_lanes && !self.is_passage_near(profile, pos);
    }

    #[inline]
    fn is_wall_near(&mut self, grid: &NavGrid, profile: ProfileId, pos: GridPos) -> bool {
        let at = usize::from(profile.0);
        if self.walls.len() <= at {
            self.walls.resize_with(at + 1, WallProximity::default);
        }
        grid.layer(profile).is_some_and(|layer| self.walls[at].is_near(layer, pos))
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, GridPos, REACH, WallProximity};
    use crate::nav::{
        cell::{Cell, CellRect},
        grid::NavGrid,
        terrain::{ProfileId, TerrainId},
    };

    /// Computes the same cell by cell.
    fn is_near_by_cell(grid: &NavGrid, pos: GridPos) -> bool {
        let low = |at: u16| (u32::from(at) / BLOCK * BLOCK) as i32 - REACH as i32;
        let corner = Cell::new(low(pos.x), low(pos.y));
        let side = BLOCK + 2 * REACH;
        let around = CellRect::new(corner, side, side).intersection(grid.rect());
        around.cells().any(|cell| grid.cost(ProfileId::default(), cell) == 0)
    }

    fn compare(walls: &mut WallProximity, grid: &NavGrid) {
        let layer = grid.layer(ProfileId::default()).expect("the default profile has a layer");
        for (x, y) in (0..grid.height()).flat_map(|y| (0..grid.width()).map(move |x| (x, y))) {
            let pos = GridPos { x: x as u16, y: y as u16 };
            assert_eq!(walls.is_near(layer, pos), is_near_by_cell(grid, pos), "{pos:?}");
        }
    }

    #[test]
    fn blocks_agree_with_a_search_by_cell_before_and_after_edits() {
        let mut grid = NavGrid::new(150, 70, TerrainId::GROUND).expect("the size is valid");
        let mut walls = WallProximity::default();
        compare(&mut walls, &grid);
        assert!(!is_near_by_cell(&grid, GridPos { x: 0, y: 0 }), "the edge is no wall");
        for (x, y, width, height) in [(60, 30, 3, 9), (147, 0, 3, 3), (0, 69, 1, 1), (62, 3, 4, 4)]
        {
            for blocks in [true, false, true] {
                let rect = CellRect::new(Cell::new(x, y), width, height);
                let edited = if blocks { grid.block(rect) } else { grid.unblock(rect) };
                edited.expect("the rectangle lies on the grid");
                let pos = |x: i32, y: i32| GridPos { x: x as u16, y: y as u16 };
                let (right, top) = (x + width as i32 - 1, y + height as i32 - 1);
                walls.forget(pos(x, y), pos(right, top));
                compare(&mut walls, &grid);
            }
        }
    }
}
