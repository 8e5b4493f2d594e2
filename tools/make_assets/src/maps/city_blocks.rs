//! What stands on a city block.
//!
//! In: the block's area. Out: houses with courtyards and alleys, a park or a
//! plaza, written into the map.

use crate::{
    grid::Grid,
    noise::{Rng, hash, layered},
};

/// Left, top, width, height.
pub type Area = (i32, i32, i32, i32);

/// Width of an alley.
const ALLEY: i32 = 2;

/// Fills one block.
pub fn fill(grid: &mut Grid, rng: &mut Rng, area: Area) {
    match rng.range(0, 100) {
        0..13 => park(grid, rng, area),
        13..19 => plaza(grid, area),
        19..60 => courtyard(grid, rng, area),
        60..85 => rows(grid, rng, area),
        _ => corners(grid, rng, area),
    }
}

fn inset((x, y, width, height): Area, by: i32) -> Area {
    (x + by, y + by, width - 2 * by, height - 2 * by)
}

/// Grass and groups of trees, two paths that cross, sometimes a pond.
fn park(grid: &mut Grid, rng: &mut Rng, area: Area) {
    let (x, y, width, height) = area;
    for cy in y..y + height {
        for cx in x..x + width {
            let rim = cx == x || cy == y || cx == x + width - 1 || cy == y + height - 1;
            let wood = layered(51, cx, cy, 7.0, 2) > 0.56 || hash(52, cx, cy).is_multiple_of(17);
            grid.set(cx, cy, if wood && !rim { b'T' } else { b'G' });
        }
    }
    let (middle_x, middle_y) = (x + width / 2 - 1, y + height / 2 - 1);
    grid.fill((middle_x, y, 2, height), b'.');
    grid.fill((x, middle_y, width, 2), b'.');
    if width.min(height) > 14 && rng.chance(70) {
        grid.fill((middle_x - 5, middle_y - 4, 12, 10), b'G');
        grid.fill((middle_x - 3, middle_y - 2, 8, 6), b'W');
    }
}

/// Open paving with a monument on a lawn.
fn plaza(grid: &mut Grid, area: Area) {
    let (x, y, width, height) = area;
    grid.fill(area, b'.');
    let (middle_x, middle_y) = (x + width / 2, y + height / 2);
    grid.fill((middle_x - 4, middle_y - 4, 8, 8), b'G');
    grid.fill((middle_x - 2, middle_y - 2, 4, 4), b'@');
    for (dx, dy) in [(2, 2), (width - 3, 2), (2, height - 3), (width - 3, height - 3)] {
        grid.set(x + dx, y + dy, b'T');
    }
}

/// A ring of houses around a yard with one or two gates.
fn courtyard(grid: &mut Grid, rng: &mut Rng, area: Area) {
    let (x, y, width, height) = area;
    grid.fill(area, b'@');
    let deep = rng.range(5, 8);
    let yard = inset(area, deep);
    if yard.2 < 4 || yard.3 < 4 {
        return rows(grid, rng, area);
    }
    grid.fill(yard, if rng.chance(60) { b'G' } else { b'.' });
    if yard.2 > 7 && yard.3 > 7 {
        let (cx, cy) = (x + width / 2, y + height / 2);
        for (dx, dy) in [(0, 0), (2, 1), (-2, -1)] {
            grid.set(cx + dx, cy + dy, b'T');
        }
    }
    let gate_x = x + deep + rng.range(0, yard.2 - ALLEY);
    let gate_y = y + deep + rng.range(0, yard.3 - ALLEY);
    if rng.chance(50) {
        grid.fill((gate_x, y, ALLEY, deep), b'.');
        grid.fill((x + width - deep, gate_y, deep, ALLEY), b'.');
    } else {
        grid.fill((gate_x, y + height - deep, ALLEY, deep), b'.');
        grid.fill((x, gate_y, deep, ALLEY), b'.');
    }
}

/// Long houses side by side with alleys between them.
fn rows(grid: &mut Grid, rng: &mut Rng, area: Area) {
    let (x, y, width, height) = area;
    let house = rng.range(5, 8);
    let (long, upright) = (width.max(height), width >= height);
    grid.fill(area, b'@');
    let mut at = house;
    while at + ALLEY + 4 <= long {
        let alley = if upright { (x + at, y, ALLEY, height) } else { (x, y + at, width, ALLEY) };
        grid.fill(alley, b'.');
        at += house + ALLEY;
    }
}

/// Four houses around a small square, each a little different.
fn corners(grid: &mut Grid, rng: &mut Rng, area: Area) {
    let (x, y, width, height) = area;
    grid.fill(area, b'@');
    let (middle_x, middle_y) = (x + width / 2 - 1, y + height / 2 - 1);
    grid.fill((middle_x, y, 3, height), b'.');
    grid.fill((x, middle_y, width, 3), b'.');
    let square = rng.range(1, 3);
    let side = 3 + 2 * square;
    grid.fill((middle_x - square, middle_y - square, side, side), b'.');
    grid.set(middle_x + 1, middle_y + 1, b'T');
    for (dx, dy) in [(0, 0), (width - 3, 0), (0, height - 3), (width - 3, height - 3)] {
        if rng.chance(40) {
            grid.fill((x + dx, y + dy, 3, 3), b'G');
        }
    }
}
