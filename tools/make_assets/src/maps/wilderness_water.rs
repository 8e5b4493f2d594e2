//! Lakes and rivers of the wilderness, and the ways across them.
//!
//! In: the height of the land. Out: water, fords and bridges in the map.

use super::{
    crossing,
    roads::{self, Cell},
    shaping::drop_slivers,
    wilderness::{SIDE, height},
};
use crate::{
    grid::Grid,
    noise::{hash, layered},
};

/// Land below this height is lake.
const LAKE: f32 = 0.32;
/// Where rivers enter and leave the map.
const RIVERS: [(Cell, Cell); 5] = [
    ((0, 120), (511, 170)),
    ((150, 0), (90, 511)),
    ((400, 0), (330, 511)),
    ((0, 400), (220, 330)),
    ((511, 380), (320, 400)),
];
/// Steps along a river from one ford to the next.
const FORD_STEP: usize = 46;
/// Cells between two bridges.
const BRIDGE_GAP: i32 = 58;

/// Writes lakes and rivers.
pub fn flood(grid: &mut Grid) {
    grid.change(|x, y, letter| if height(x, y) < LAKE { b'W' } else { letter });
    drop_slivers(grid, 2, |c| c == b'W', b'G');
    for river in rivers(grid) {
        for (i, (x, y)) in river.into_iter().enumerate() {
            let wide = 2 + (layered(81, i as i32, 0, 30.0, 2) * 3.0) as i32;
            grid.fill((x - wide / 2, y - wide / 2, wide + 1, wide + 1), b'W');
        }
    }
    drop_slivers(grid, 3, |c| c != b'W', b'W');
}

/// The course of each river: downhill and winding.
fn rivers(grid: &Grid) -> Vec<Vec<Cell>> {
    let price = |x: i32, y: i32| {
        let bend = (layered(82, x, y, 38.0, 3) - 0.5).abs() * 220.0;
        Some(3 + bend as u32 + hash(84, x, y) % 5)
    };
    let course = |(from, to): &(Cell, Cell)| roads::route(grid, *from, *to, price);
    RIVERS.iter().filter_map(course).collect()
}

/// Puts a ford at intervals along each river and tells its cells.
pub fn fords(grid: &mut Grid) -> Vec<Cell> {
    let mut cells = Vec::new();
    let to_land = grid.distances(|c| c != b'W');
    for river in rivers(grid) {
        for &(x, y) in river.iter().skip(FORD_STEP / 2).step_by(FORD_STEP) {
            if to_land[(y * SIDE + x) as usize] > 4 || height(x, y) < LAKE + 0.03 {
                continue;
            }
            for (dx, dy) in (0..121).map(|i| (x + i % 11 - 5, y + i / 11 - 5)) {
                let far = (dx - x) * (dx - x) + (dy - y) * (dy - y);
                let ragged = 20 + (hash(83, dx, dy) % 6) as i32;
                if far < ragged && grid.get(dx, dy) == b'W' {
                    grid.set(dx, dy, b'S');
                    cells.push((dx, dy));
                }
            }
        }
    }
    drop_slivers(grid, 1, |c| c == b'W', b'S');
    cells
}

/// Builds short bridges far enough from each other.
pub fn bridges(grid: &mut Grid) {
    let firm = |c: u8| matches!(c, b'G' | b'T');
    let mut built: Vec<Cell> = Vec::new();
    for (x, y) in grid.cells() {
        let apart = |cell: &Cell| (cell.0 - x).abs().max((cell.1 - y).abs()) > BRIDGE_GAP;
        if !firm(grid.get(x, y)) || !built.iter().all(apart) {
            continue;
        }
        let offers = crossing::starting_at(grid, (x, y), 12);
        let good = |c: &&crossing::Crossing| c.length() > 4 && firm(grid.get(c.to.0, c.to.1));
        if let Some(bridge) = offers.iter().find(good).copied() {
            crossing::build(grid, &bridge);
            built.push((x, y));
        }
    }
}
