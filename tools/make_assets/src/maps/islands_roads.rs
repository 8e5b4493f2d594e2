//! Villages and the roads of the islands.
//!
//! In: the dressed islands, where the villages and the bridges are. Out: roads
//! written into the map.

use super::{
    crossing::Crossing,
    islands::SIDE,
    roads::{self, Cell},
};
use crate::{
    grid::{Grid, Parts, SIDES},
    noise::{hash, layered},
};

/// Roads from each village to the bridges of its island and to two beaches.
pub fn connect(grid: &mut Grid, lands: &Parts, villages: &[Cell], bridges: &[Crossing]) {
    let from_sea = grid.distances(|c| c == b'W');
    let ends: Vec<Cell> = bridges.iter().flat_map(|b| [b.from, b.to]).collect();
    for &(x, y) in villages {
        let landings = landings(&from_sea, (x, y));
        let here: Vec<Cell> = ends
            .iter()
            .copied()
            .filter(|end| lands.at(end.0, end.1) == lands.at(x, y))
            .chain(landings)
            .collect();
        village(grid, (x, y));
        for end in here {
            let cells = roads::route(grid, (x, y), end, |cx, cy| {
                let bumps = (layered(26, cx, cy, 9.0, 2) * 9.0) as u32;
                let near = *from_sea.get((cy * SIDE + cx) as usize)?;
                price(grid.get(cx, cy), near).map(|price| price + bumps)
            });
            roads::pave(grid, &cells.unwrap_or_default(), |c| c != b'W');
        }
    }
    smooth_crossroads(grid);
}

/// Two beaches of an island, straight away from its village.
fn landings(from_sea: &[i32], (x, y): Cell) -> Vec<Cell> {
    let ways = [(1, 1), (2, -1), (-1, -1), (-2, 1), (1, 0), (0, -1), (-1, 0), (0, 1)];
    let first = hash(25, x, y) as usize % 8;
    [ways[first], ways[(first + 3) % 8]]
        .into_iter()
        .filter_map(|(dx, dy)| {
            let mut walk = (0..SIDE).map(|i| (x + dx * i, y + dy * i));
            walk.find(|(cx, cy)| from_sea[(cy * SIDE + cx) as usize] < 3)
        })
        .filter(|(cx, cy)| from_sea[(cy * SIDE + cx) as usize] > 0)
        .collect()
}

/// What a step of road costs; shores are avoided.
fn price(letter: u8, from_sea: i32) -> Option<u32> {
    let shore = u32::from(from_sea < 7) * 12;
    match letter {
        b'.' => Some(2 + shore),
        b'G' => Some(5 + shore),
        b'T' | b'S' => Some(9 + shore),
        b'@' => Some(40),
        _ => None,
    }
}

/// A round green with a ring of road.
fn village(grid: &mut Grid, (x, y): Cell) {
    for (dx, dy) in (0..169).map(|i| (i % 13 - 6, i / 13 - 6)) {
        match dx * dx + dy * dy {
            0..7 => grid.set(x + dx, y + dy, b'G'),
            7..26 => grid.set(x + dx, y + dy, b'.'),
            26..42 => grid.set(x + dx, y + dy, b'G'),
            _ => {}
        }
    }
    grid.set(x, y, b'T');
}

/// Fills single grass cells that roads enclose.
fn smooth_crossroads(grid: &mut Grid) {
    let old = grid.clone();
    grid.change(|x, y, letter| {
        let road = |(dx, dy): &(i32, i32)| old.get(x + dx, y + dy) == b'.';
        if letter == b'G' && SIDES.iter().filter(|s| road(s)).count() > 2 { b'.' } else { letter }
    });
}
