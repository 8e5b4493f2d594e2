//! Islands in a connected sea, tied together by bridges.
//!
//! In: the places below and fixed seeds. Out: a map of 256 by 256 cells.

use super::{
    crossing::{self, Crossing},
    islands_roads,
    roads::Cell,
    shaping::{drop_slivers, fill_pockets},
};
use crate::{
    grid::{Grid, Parts},
    noise::layered,
};

/// Cells along a side.
pub const SIDE: i32 = 256;
/// Middle and radius of each island; the last ones are islets.
const PLACES: [(i32, i32, i32); 18] = [
    (54, 54, 56),
    (138, 42, 48),
    (212, 52, 48),
    (40, 132, 46),
    (118, 120, 56),
    (206, 136, 50),
    (62, 210, 54),
    (142, 206, 52),
    (214, 212, 46),
    (14, 92, 16),
    (90, 84, 14),
    (176, 90, 17),
    (166, 164, 15),
    (16, 178, 15),
    (104, 236, 16),
    (244, 94, 15),
    (244, 174, 16),
    (96, 166, 14),
];
/// Parts of land with at least this many cells get bridges.
const MAIN: usize = 900;
/// Smaller parts of land sink.
const ISLET: usize = 90;
const LONGEST_BRIDGE: i32 = 48;

/// The finished map.
pub fn generate() -> Grid {
    let mut grid = Grid::new(SIDE, SIDE, b'W');
    grid.change(|x, y, _| if is_land(x, y) { b'G' } else { b'W' });
    drop_slivers(&mut grid, 3, |c| c == b'G', b'W');
    drain_ponds(&mut grid);
    let lands = grid.parts(|c| c == b'G');
    let bridges = choose_bridges(&grid, &lands);
    dress(&mut grid);
    for bridge in &bridges {
        crossing::build(&mut grid, bridge);
    }
    let villages: Vec<Cell> =
        PLACES.iter().map(|(x, y, _)| (*x, *y)).filter(|place| is_main(&lands, *place)).collect();
    islands_roads::connect(&mut grid, &lands, &villages, &bridges);
    fill_pockets(&mut grid, 40, b'T');
    grid
}

/// Land lies near a place, away from the map's rim and from the middle line
/// between two places, all bent by noise.
fn is_land(x: i32, y: i32) -> bool {
    let rim = x.min(y).min(SIDE - 1 - x).min(SIDE - 1 - y) as f32;
    let bend = |seed: u32| (layered(seed, x, y, 36.0, 3) - 0.5) * 34.0;
    let (px, py) = (x as f32 + bend(12), y as f32 + bend(13));
    let (mut best, mut second) = (-9.0f32, -9.0f32);
    for (cx, cy, radius) in PLACES {
        let (dx, dy) = (px - cx as f32, py - cy as f32);
        let near = 1.0 - (dx * dx + dy * dy).sqrt() / radius as f32;
        second = second.max(near.min(best));
        best = best.max(near);
    }
    let coast = best + (layered(11, x, y, 22.0, 4) - 0.5) * 0.9 - (12.0 - rim).max(0.0) * 0.06;
    rim > 3.0 && coast > 0.12 && best - second > 0.2
}

/// Removes ponds and specks of land.
fn drain_ponds(grid: &mut Grid) {
    let seas = grid.parts(|c| c == b'W');
    let sea = seas.at(0, 0);
    let lands = grid.parts(|c| c == b'G');
    grid.change(|x, y, letter| match lands.at(x, y) {
        None if seas.at(x, y) != sea => b'G',
        Some(part) if lands.sizes[part] < ISLET => b'W',
        _ => letter,
    });
}

/// The shortest bridges that tie all main islands together without a loop,
/// so that the sea stays in one piece.
fn choose_bridges(grid: &Grid, lands: &Parts) -> Vec<Crossing> {
    let mut offers: Vec<Crossing> = grid
        .cells()
        .filter(|(x, y)| is_main(lands, (*x, *y)))
        .flat_map(|cell| crossing::starting_at(grid, cell, LONGEST_BRIDGE))
        .filter(|c| is_main(lands, c.to))
        .collect();
    offers.sort_by_key(|c| (c.length(), c.from));
    let mut group: Vec<usize> = (0..lands.sizes.len()).collect();
    let mut chosen = Vec::new();
    for offer in offers {
        let ends = [offer.from, offer.to].map(|(x, y)| lands.at(x, y).map(|part| group[part]));
        if let [Some(a), Some(b)] = ends
            && a != b
        {
            group.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
            chosen.push(offer);
        }
    }
    chosen
}

fn is_main(lands: &Parts, (x, y): Cell) -> bool {
    lands.at(x, y).is_some_and(|part| lands.sizes[part] >= MAIN)
}

/// Beaches, woods, rocks and swamps.
fn dress(grid: &mut Grid) {
    let from_sea = grid.distances(|c| c == b'W');
    let inland = |x: i32, y: i32| from_sea[(y * SIDE + x) as usize];
    grid.change(|x, y, letter| {
        let beach = 2 + (layered(21, x, y, 14.0, 2) * 3.0) as i32;
        let near = inland(x, y);
        match letter {
            b'G' if near <= beach => b'.',
            b'G' if near > 7 && layered(22, x, y, 20.0, 3) > 0.66 => b'@',
            b'G' if near > 4 && layered(23, x, y, 17.0, 3) > 0.575 => b'T',
            b'G' if near > 3 && layered(24, x, y, 24.0, 3) > 0.68 => b'S',
            _ => letter,
        }
    });
    drop_slivers(grid, 1, |c| c == b'@', b'G');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::walkable;

    #[test]
    fn bridges_tie_the_main_islands_and_the_sea_stays_whole() {
        let grid = generate();
        assert_eq!(grid.parts(|c| c == b'W').sizes.len(), 1);
        let parts = grid.parts(walkable);
        let main = parts.sizes.iter().filter(|size| **size >= MAIN / 2).count();
        assert_eq!(main, 1, "land parts: {:?}", parts.sizes);
        assert!(parts.sizes.len() > 4, "some islets stay alone");
        assert!(parts.largest_percent() > 90);
    }
}
