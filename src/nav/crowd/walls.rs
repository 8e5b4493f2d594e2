//! Whether a wall is near.
//!
//! Input: the ground as one profile sees it. Output: for every cell whether something impassable lies within some
//! cells of it. The edge of the grid is no wall. Told for blocks of cells, found out when somebody first asks, and
//! forgotten around edits: a byte for sixteen cells, so all of it stays in the cache.
//!
//! Around the corners of walls everybody who goes the same way would go in one file, which is no shorter
//! for those behind than to go beside it. So near walls waiting counts for more, those who go straight on come before
//! those who cut in, and of ways that are worth the same the rightmost one is gone: those who have come around
//! a corner spread out behind it.

use super::{Crowd, board::Place, guide::World, unit::Errand};
use crate::nav::{layer::Layer, terrain::ProfileId};

/// Cells along a side of a block.
const BLOCK: u32 = 4;
/// Cells around a block in which a wall is near.
const REACH: u32 = 8;

const UNKNOWN: u8 = 0;
const FREE: u8 = 1;
const NEAR: u8 = 2;

/// What is known so far, by block, row-major.
#[derive(Clone, Debug, Default)]
pub(super) struct Walls {
    width: u32,
    blocks: Vec<u8>,
}

impl Walls {
    /// Whether a wall is near a cell.
    #[inline]
    fn look(&mut self, layer: &Layer, place: Place) -> bool {
        let (width, height) = layer.size();
        if self.blocks.is_empty() {
            self.width = width.div_ceil(BLOCK);
            self.blocks.resize((self.width * height.div_ceil(BLOCK)) as usize, UNKNOWN);
        }
        let (x, y) = (u32::from(place.x) / BLOCK, u32::from(place.y) / BLOCK);
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

    /// The ground in a rectangle (lowest and highest cell) has changed.
    pub(super) fn forget(&mut self, low: Place, high: Place) {
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

    pub(super) fn bytes(&self) -> usize {
        self.blocks.capacity()
    }
}

impl Crowd {
    /// Notes whether a unit that a shared field leads is near a wall. Before passages there are no lanes.
    #[inline]
    pub(super) fn look_for_walls<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let unit = &mut self.units[index as usize];
        unit.is_by_wall = false;
        if !matches!(unit.errand, Errand::Route(_)) || unit.size > 1 || unit.is_trapped {
            return;
        }
        let (tail, profile) = (unit.tail, usize::from(unit.profile));
        if self.is_wall_near(world, profile, tail) {
            let passages = self.passages.get(profile);
            let is_in_line = passages.is_some_and(|passages| passages.is_near(tail));
            self.units[index as usize].is_by_wall = !is_in_line;
        }
    }

    #[inline]
    fn is_wall_near<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        profile: usize,
        place: Place,
    ) -> bool {
        if self.walls.len() <= profile {
            self.walls.resize_with(profile + 1, Walls::default);
        }
        let layer = world.grid.layer(ProfileId(profile as u8));
        layer.is_some_and(|layer| self.walls[profile].look(layer, place))
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Place, REACH, Walls};
    use crate::nav::{
        cell::{Cell, CellRect},
        grid::NavGrid,
        terrain::{ProfileId, TerrainId},
    };

    /// What the module says of a place, told cell by cell.
    fn is_near(grid: &NavGrid, place: Place) -> bool {
        let low = |at: u16| (u32::from(at) / BLOCK * BLOCK) as i32 - REACH as i32;
        let corner = Cell::new(low(place.x), low(place.y));
        let side = BLOCK + 2 * REACH;
        let around = CellRect::new(corner, side, side).intersection(grid.rect());
        around.cells().any(|cell| grid.cost(ProfileId::default(), cell) == 0)
    }

    fn compare(walls: &mut Walls, grid: &NavGrid) {
        let layer = grid.layer(ProfileId::default()).expect("there is one");
        for (x, y) in (0..grid.height()).flat_map(|y| (0..grid.width()).map(move |x| (x, y))) {
            let place = Place { x: x as u16, y: y as u16 };
            assert_eq!(walls.look(layer, place), is_near(grid, place), "{place:?}");
        }
    }

    #[test]
    fn walls_are_found_cell_by_cell_as_well_also_after_edits() {
        let mut grid = NavGrid::new(150, 70, TerrainId::GROUND).expect("a small one");
        let mut walls = Walls::default();
        compare(&mut walls, &grid);
        assert!(!is_near(&grid, Place { x: 0, y: 0 }), "the edge is no wall");
        for (x, y, width, height) in [(60, 30, 3, 9), (147, 0, 3, 3), (0, 69, 1, 1), (62, 3, 4, 4)]
        {
            for blocks in [true, false, true] {
                let rect = CellRect::new(Cell::new(x, y), width, height);
                let edited = if blocks { grid.block(rect) } else { grid.unblock(rect) };
                edited.expect("on the grid");
                let place = |x: i32, y: i32| Place { x: x as u16, y: y as u16 };
                let (right, top) = (x + width as i32 - 1, y + height as i32 - 1);
                walls.forget(place(x, y), place(right, top));
                compare(&mut walls, &grid);
            }
        }
    }
}
