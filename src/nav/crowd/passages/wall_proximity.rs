//! Whether a wall, or a gate between walls, is near a cell.
//!
//! Input: the layer of one profile. Output: for every cell, whether something impassable lies near it, and whether cells
//! near it form a gate: two to six cells in a row or column, with something impassable at both ends. The
//! edge of the grid is no wall, but it may be one end of a gate. Computed per block of cells on the first query, and forgotten
//! around edits: one byte for sixteen cells, so all of it stays in the cache.
//!
//! Around the corners of walls, all units that go in the same direction would walk in single file, although a second file
//! beside the first would be no longer for the units at the back. So near walls waiting costs more, units
//! that go straight on come before units that cut in, and of directions of equal cost the rightmost one is
//! taken: units that have come around a corner spread out behind it. Gates are another matter: a gate has one lane for each of
//! its cells, and a diagonal step holds up all units behind it in its lane.

use super::TerrainShape;
use crate::nav::crowd::board::{Board, GridPos, Task, entry_at};
use crate::nav::{Layer, NavGrid};

/// Cells along a side of a block.
const BLOCK: u32 = 4;
/// Distance in cells around a block within which a wall counts as near.
const REACH: u32 = 8;

/// Most cells of a gate. Treated as gates, doors of two to six cells let more units through per tick, but a door of eight
/// lets fewer through in one direction if units have their own paths.
const MAX_GATE: u32 = 6;

const UNKNOWN: u8 = 0;
const FREE: u8 = 1;
const WALL: u8 = 2;
const GATE: u8 = 3;

/// What has been computed so far, by block, row-major.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct WallProximity {
    width: u32,
    blocks: Vec<u8>,
}

impl WallProximity {
    /// Returns what is near a cell: [`FREE`], [`WALL`] or [`GATE`].
    #[inline]
    fn near(&mut self, layer: &Layer, pos: GridPos) -> u8 {
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
            let (columns, rows) = (around(x, width), around(y, height));
            *block = match layer.has_wall(columns.clone(), rows.clone()) {
                true if layer.has_gate(columns, rows, MAX_GATE) => GATE,
                true => WALL,
                false => FREE,
            };
        }
        *block
    }

    /// Forgets what is known around a rectangle (lowest and highest cell) in which the terrain has changed.
    pub fn forget(&mut self, low: GridPos, high: GridPos) {
        // A gate that begins near a cell may end farther away.
        let reach = REACH + MAX_GATE;
        let around = |low: u16, high: u16| {
            u32::from(low).saturating_sub(reach) / BLOCK..=(u32::from(high) + reach) / BLOCK
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
    /// Updates whether a unit is near a wall or a gate. Before passages, where units do not form lanes, it never is. Members of
    /// groups walk in parallel lines anyway: for them only gates count.
    #[inline]
    pub fn update_wall_proximity(&mut self, board: &mut Board, grid: &NavGrid, index: u32) {
        let unit = &mut board.units[index];
        let (profile, pos) = (unit.profile, unit.tail);
        let forms_lanes = unit.size == 1 && unit.task != Task::Idle && !unit.is_trapped();
        let layer = grid.layer(profile).filter(|_| forms_lanes);
        let walls = entry_at(&mut self.walls, profile.0.into());
        let near = layer.map_or(FREE, |layer| walls.near(layer, pos));
        let is_relevant = near != FREE && !self.is_passage_near(profile, pos);
        unit.is_near_wall = is_relevant && unit.task.group().is_none();
        unit.is_near_gate = is_relevant && near == GATE;
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, FREE, GATE, GridPos, MAX_GATE, REACH, WALL, WallProximity};
    use crate::nav::{
        cell::{Cell, CellRect},
        grid::NavGrid,
        terrain::{ProfileId, TerrainId},
    };

    fn is_open(grid: &NavGrid, cell: Cell) -> bool {
        grid.cost(ProfileId::default(), cell) > 0
    }

    /// Returns whether a gate begins on a cell and leads on in a direction.
    fn is_gate(grid: &NavGrid, first: Cell, (dx, dy): (i32, i32)) -> bool {
        let at = |steps: i32| first.offset(dx * steps, dy * steps);
        let len = (0..).take_while(|&steps| is_open(grid, at(steps))).count();
        !is_open(grid, at(-1)) && (2..=MAX_GATE as usize).contains(&len)
    }

    /// Computes the same cell by cell.
    fn near_by_cell(grid: &NavGrid, pos: GridPos) -> u8 {
        let low = |at: u16| (u32::from(at) / BLOCK * BLOCK) as i32 - REACH as i32;
        let corner = Cell::new(low(pos.x), low(pos.y));
        let side = BLOCK + 2 * REACH;
        let around = CellRect::new(corner, side, side).intersection(grid.rect());
        let gates = |cell| is_gate(grid, cell, (1, 0)) || is_gate(grid, cell, (0, 1));
        match around.cells().any(|cell| !is_open(grid, cell)) {
            true if around.cells().any(gates) => GATE,
            true => WALL,
            false => FREE,
        }
    }

    fn compare(walls: &mut WallProximity, grid: &NavGrid) {
        let layer = grid.layer(ProfileId::default()).expect("the default profile has a layer");
        for (x, y) in (0..grid.height()).flat_map(|y| (0..grid.width()).map(move |x| (x, y))) {
            let pos = GridPos { x: x as u16, y: y as u16 };
            assert_eq!(walls.near(layer, pos), near_by_cell(grid, pos), "{pos:?}");
        }
    }

    #[test]
    fn blocks_agree_with_a_search_by_cell_before_and_after_edits() {
        let mut grid = NavGrid::new(150, 70, TerrainId::GROUND).expect("the size is valid");
        let mut walls = WallProximity::default();
        compare(&mut walls, &grid);
        assert_eq!(near_by_cell(&grid, GridPos { x: 0, y: 0 }), FREE, "the edge is no wall");
        for (x, y, width, height) in [
            (60, 30, 3, 9),
            (147, 0, 3, 3),
            (0, 69, 1, 1),
            (62, 3, 4, 4),
            (66, 35, 9, 1),
            (61, 42, 1, 28),
            (100, 5, 1, 65),
            (5, 8, 40, 3),
            (48, 8, 20, 3),
        ] {
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
        assert_eq!(near_by_cell(&grid, GridPos { x: 46, y: 9 }), GATE);
        assert_eq!(near_by_cell(&grid, GridPos { x: 100, y: 40 }), WALL);
    }
}
