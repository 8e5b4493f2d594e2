//! A city: streets, blocks, parks, and a canal with bridges.
//!
//! In: a fixed seed. Out: a map of 192 by 192 cells.

use super::{
    city_blocks::{self, Area},
    shaping::{drop_slivers, fill_pockets},
};
use crate::{
    grid::Grid,
    noise::{Rng, hash, layered},
};

const SIDE: i32 = 192;
/// Width of the green belt around the city.
const BELT: i32 = 6;
/// Width of the canal.
const CANAL: i32 = 6;
/// Width of the street along the canal.
const QUAY: i32 = 3;
/// Straight pieces of the canal: left, top, width, height.
const CANALS: [Area; 6] = [
    (0, 58, 66, CANAL),
    (60, 58, CANAL, 76),
    (60, 128, 82, CANAL),
    (136, 40, CANAL, 94),
    (136, 40, 56, CANAL),
    (88, 134, CANAL, 58),
];
/// The harbor basin.
const BASIN: Area = (142, 92, 22, 18);
/// Middle cells of the bridges, and whether they run from west to east.
const BRIDGES: [(i32, i32, bool); 17] = [
    (14, 61, false),
    (36, 61, false),
    (54, 61, false),
    (63, 76, true),
    (63, 96, true),
    (63, 116, true),
    (76, 131, false),
    (104, 131, false),
    (126, 131, false),
    (139, 54, true),
    (139, 72, true),
    (139, 122, true),
    (156, 43, false),
    (176, 43, false),
    (91, 146, true),
    (91, 164, true),
    (91, 180, true),
];

/// The finished map.
pub fn generate() -> Grid {
    let mut grid = Grid::new(SIDE, SIDE, b'.');
    let mut rng = Rng::new(40);
    belt(&mut grid);
    let inner = SIDE - 2 * (BELT + 4);
    split(&mut grid, &mut rng, (BELT + 4, BELT + 4, inner, inner), 6);
    for (x, y, width, height) in CANALS.into_iter().chain([BASIN]) {
        let quay = (x - QUAY, y - QUAY, width + 2 * QUAY, height + 2 * QUAY);
        drain_around(&mut grid, quay);
        grid.fill(quay, b'.');
    }
    for water in CANALS.into_iter().chain([BASIN]) {
        grid.fill(water, b'W');
    }
    for (x, y, flat) in BRIDGES {
        let long = CANAL + 2;
        let (width, height) = if flat { (long, 3) } else { (3, long) };
        grid.fill((x - width / 2, y - height / 2, width, height), b'.');
    }
    drop_slivers(&mut grid, 1, |c| c == b'@', b'.');
    fill_pockets(&mut grid, usize::MAX, b'T');
    grid
}

/// Turns ponds near an area into lawn.
fn drain_around(grid: &mut Grid, (x, y, width, height): Area) {
    for cy in y - 9..y + height + 9 {
        for cx in x - 9..x + width + 9 {
            if grid.get(cx, cy) == b'W' {
                grid.set(cx, cy, b'G');
            }
        }
    }
}

fn belt(grid: &mut Grid) {
    grid.change(|x, y, letter| {
        let rim = x.min(y).min(SIDE - 1 - x).min(SIDE - 1 - y);
        let wood = layered(41, x, y, 9.0, 2) > 0.52 || hash(42, x, y).is_multiple_of(9);
        match rim {
            r if r < BELT - 1 && wood => b'T',
            r if r < BELT => b'G',
            _ => letter,
        }
    });
}

/// Cuts an area in two with a street until it has the size of a block.
fn split(grid: &mut Grid, rng: &mut Rng, area: Area, street: i32) {
    let (x, y, width, height) = area;
    let longer = width.max(height);
    let enough = rng.range(22, 34);
    if longer <= enough {
        city_blocks::fill(grid, rng, area);
        return;
    }
    let narrow = (street - rng.range(0, 2)).max(3);
    let room = longer - street;
    let first = room * rng.range(38, 63) / 100;
    let second = room - first;
    if width >= height {
        split(grid, rng, (x, y, first, height), narrow);
        split(grid, rng, (x + first + street, y, second, height), narrow);
    } else {
        split(grid, rng, (x, y, width, first), narrow);
        split(grid, rng, (x, y + first + street, width, second), narrow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::walkable;

    #[test]
    fn every_walkable_cell_can_be_reached() {
        let grid = generate();
        assert_eq!(grid.parts(walkable).sizes.len(), 1);
    }

    #[test]
    fn the_city_is_built_up_but_open() {
        let grid = generate();
        let share = |letter: u8| {
            let count = grid.cells().filter(|(x, y)| grid.get(*x, *y) == letter).count();
            count * 100 / (SIDE * SIDE) as usize
        };
        assert!((25..60).contains(&share(b'@')), "{} % houses", share(b'@'));
        assert!(share(b'G') >= 3 && share(b'W') >= 3 && share(b'.') >= 25);
    }
}
