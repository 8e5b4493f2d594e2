//! A map for hexagons: a piece of the wilderness. Every other row is shifted by half a cell when it is read.
//!
//! In: the wilderness. Out: a map of 128 by 112 cells.

use crate::grid::Grid;

/// The piece: its left column and top row, and its size.
const PIECE: (i32, i32, i32, i32) = (40, 300, 128, 112);

/// The finished map.
pub fn generate(wilderness: &Grid) -> Grid {
    let (left, top, width, height) = PIECE;
    let mut grid = Grid::new(width, height, b'G');
    grid.change(|x, y, _| wilderness.get(left + x, top + y));
    grid
}
