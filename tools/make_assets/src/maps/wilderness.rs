//! A wide landscape: forests, swamps, lakes, rivers, cliffs and trails.
//!
//! In: fixed seeds. Out: a map of 512 by 512 cells.

use super::{
    roads::{self, Cell},
    shaping::{drop_slivers, fill_pockets},
    wilderness_water as water,
};
use crate::{
    grid::Grid,
    noise::{hash, layered},
};

/// Cells along a side.
pub const SIDE: i32 = 512;
/// Camps are spread over this many columns and rows.
const CAMPS: i32 = 5;

/// Height of the land in `0..1`.
pub fn height(x: i32, y: i32) -> f32 {
    layered(61, x, y, 96.0, 5)
}

/// The finished map.
pub fn generate() -> Grid {
    let mut grid = Grid::new(SIDE, SIDE, b'G');
    water::flood(&mut grid);
    let from_water = grid.distances(|c| c == b'W');
    grid.change(|x, y, letter| {
        let near = from_water[(y * SIDE + x) as usize];
        if letter == b'G' { cover(x, y, near) } else { letter }
    });
    drop_slivers(&mut grid, 1, |c| c == b'@', b'G');
    let fords = water::fords(&mut grid);
    water::bridges(&mut grid);
    trails(&mut grid, &fords);
    fill_pockets(&mut grid, 60, b'T');
    grid
}

/// What covers the land at a cell, `near` steps from water.
fn cover(x: i32, y: i32, near: i32) -> u8 {
    let high = height(x, y);
    let wet = layered(62, x, y, 70.0, 4);
    let gap = layered(63, x, y, 26.0, 2);
    let ledge = [0.56, 0.64, 0.72].iter().any(|level| high > *level && high < *level + 0.024);
    let chasm = layered(64, x, y, 30.0, 3) > 0.79;
    match near {
        n if n > 6 && ledge && gap > 0.42 => b'@',
        n if n > 6 && layered(65, x, y, 18.0, 3) > 0.77 => b'@',
        n if n > 8 && chasm => b'O',
        n if wet + high + n as f32 * 0.016 < 0.94 + ragged(x, y) => b'S',
        n if n > 1 && wet + layered(66, x, y, 22.0, 3) * 0.9 > 1.0 => b'T',
        n if n > 2 && hash(67, x, y).is_multiple_of(70) => b'T',
        _ => b'G',
    }
}

fn ragged(x: i32, y: i32) -> f32 {
    (layered(68, x, y, 12.0, 3) - 0.5) * 0.3
}

/// Camps on a loose grid, joined to their neighbors by trails that use fords
/// and bridges.
fn trails(grid: &mut Grid, fords: &[Cell]) {
    let camps: Vec<Cell> = (0..CAMPS * CAMPS).map(|i| camp(grid, i)).collect();
    let mut ford = vec![false; (SIDE * SIDE) as usize];
    for (x, y) in fords {
        ford[(y * SIDE + x) as usize] = true;
    }
    for i in 0..camps.len() {
        let (column, row) = (i as i32 % CAMPS, i as i32 / CAMPS);
        let east = (column + 1 < CAMPS).then_some(i + 1);
        let south = (row + 1 < CAMPS).then_some(i + CAMPS as usize);
        for other in [east, south].into_iter().flatten() {
            if hash(71, i as i32, other as i32).is_multiple_of(4) {
                continue;
            }
            let cells = roads::route(grid, camps[i], camps[other], |x, y| price(grid, x, y));
            let cells: Vec<Cell> = cells
                .unwrap_or_default()
                .into_iter()
                .filter(|(x, y)| !ford[(y * SIDE + x) as usize])
                .collect();
            roads::pave(grid, &cells, |c| matches!(c, b'G' | b'T' | b'S'));
        }
    }
}

fn price(grid: &Grid, x: i32, y: i32) -> Option<u32> {
    let bumps = (layered(72, x, y, 14.0, 2) * 14.0) as u32;
    match grid.get(x, y) {
        b'.' => Some(2),
        b'G' => Some(4 + bumps),
        b'T' => Some(8 + bumps),
        b'S' => Some(9),
        _ => None,
    }
}

/// A clearing near the middle of a square of the loose grid.
fn camp(grid: &mut Grid, index: i32) -> Cell {
    let step = SIDE / CAMPS;
    let (column, row) = (index % CAMPS, index / CAMPS);
    let shift = |seed: u32| (hash(seed, column, row) % 40) as i32 - 20;
    let (mut x, mut y) = (column * step + step / 2 + shift(73), row * step + step / 2 + shift(74));
    while !matches!(grid.get(x, y), b'G' | b'T') {
        x = (x + 3) % (SIDE - 12) + 6;
        y = (y + 1) % (SIDE - 12) + 6;
    }
    for (dx, dy) in (0..121).map(|i| (i % 11 - 5, i / 11 - 5)) {
        let clear = matches!(grid.get(x + dx, y + dy), b'G' | b'T');
        if clear && dx * dx + dy * dy < 27 {
            grid.set(x + dx, y + dy, if dx * dx + dy * dy < 9 { b'.' } else { b'G' });
        }
    }
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::walkable;

    #[test]
    fn most_of_the_land_hangs_together() {
        let grid = generate();
        let parts = grid.parts(walkable);
        assert!(parts.largest_percent() >= 85, "{} %", parts.largest_percent());
    }

    #[test]
    fn every_terrain_occurs() {
        let grid = generate();
        for letter in *b".GSWTO@" {
            let count = grid.cells().filter(|(x, y)| grid.get(*x, *y) == letter).count();
            assert!(count > 300, "{count} of {}", char::from(letter));
        }
    }
}
