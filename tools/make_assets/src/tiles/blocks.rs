//! Solid blocks: cliffs, roofs, and the wall that players build.
//!
//! In: a mask of sides where the block ends. Out: one tile.

use super::SIZE;
use crate::{canvas::Canvas, noise::hash, palette::*};

/// Height of the south face of a cliff.
const CLIFF: i32 = 6;
/// Height of the south wall of a house.
const FACADE: i32 = 7;

/// Rock seen from above; open sides get a lit rim or a dark face.
pub fn rock(mask: u32) -> Canvas {
    let mut tile = Canvas::painted(SIZE, SIZE, rock_top);
    if mask & 2 != 0 {
        tile.rect(13, 0, 2, SIZE, ROCK[1]);
        tile.rect(15, 0, 1, SIZE, ROCK[0]);
        (0..SIZE).filter(|y| y % 5 < 2).for_each(|y| tile.set(12, y, ROCK[1]));
    }
    if mask & 8 != 0 {
        tile.rect(0, 0, 1, SIZE, ROCK[1]);
        tile.rect(1, 0, 1, SIZE, ROCK[4]);
        (0..SIZE).filter(|y| y % 6 < 3).for_each(|y| tile.set(2, y, ROCK[4]));
    }
    if mask & 1 != 0 {
        tile.rect(0, 0, SIZE, 1, ROCK[1]);
        tile.rect(0, 1, SIZE, 1, ROCK[4]);
        (0..SIZE).filter(|x| x % 7 < 4).for_each(|x| tile.set(x, 2, ROCK[4]));
    }
    if mask & 4 != 0 {
        cliff_face(&mut tile);
    }
    corners(&mut tile, mask);
    tile
}

/// Even rock with faint cracks; the pattern joins at the borders.
fn rock_top(x: i32, y: i32) -> Color {
    let cracks = [(3, 4, 3), (5, 5, 2), (11, 12, 3)];
    let crack =
        |&(left, top, length): &(i32, i32, i32)| y == top && (left..left + length).contains(&x);
    if cracks.iter().any(crack) || hash(1000, x, y).is_multiple_of(17) { ROCK[2] } else { ROCK[3] }
}

fn cliff_face(tile: &mut Canvas) {
    let top = SIZE - CLIFF;
    for x in 0..SIZE {
        let crack = hash(1010, x, 0).is_multiple_of(4);
        tile.rect(x, top, 1, CLIFF, if crack { ROCK[0] } else { ROCK[1] });
        if hash(1011, x, 1).is_multiple_of(3) {
            tile.rect(x, top + 1, 1, 2, ROCK[2]);
        }
    }
    tile.rect(0, top - 1, SIZE, 1, ROCK[4]);
    tile.rect(0, SIZE - 1, SIZE, 1, ROCK[0]);
}

/// Cuts outer corners so that plateaus look less square.
fn corners(tile: &mut Canvas, mask: u32) {
    let cut = [(0, 0), (1, 0), (0, 1)];
    for (sides, flip_x, flip_y) in [(9, 0, 0), (3, 1, 0), (12, 0, 1), (6, 1, 1)] {
        if mask & sides == sides {
            for (x, y) in cut {
                let x = if flip_x == 1 { SIZE - 1 - x } else { x };
                let y = if flip_y == 1 { SIZE - 1 - y } else { y };
                tile.set(x, y, GRASS[2]);
            }
        }
    }
}

/// A flat tiled roof; open sides get a parapet, the south side a facade.
pub fn roof(mask: u32) -> Canvas {
    let mut tile = Canvas::painted(SIZE, SIZE, |x, y| {
        let joint = y % 4 == 3;
        let seam = (x + y / 4 % 2 * 4) % 8 == 7;
        match (joint, seam) {
            (true, _) => ROOF[2],
            (_, true) => ROOF[2],
            _ => ROOF[3],
        }
    });
    if mask & 2 != 0 {
        tile.rect(13, 0, 1, SIZE, ROOF[1]);
        tile.rect(14, 0, 1, SIZE, ROOF[3]);
        tile.rect(15, 0, 1, SIZE, ROOF[0]);
    }
    if mask & 8 != 0 {
        tile.rect(0, 0, 1, SIZE, ROOF[0]);
        tile.rect(1, 0, 2, SIZE, ROOF[4]);
        tile.rect(3, 0, 1, SIZE, ROOF[1]);
    }
    if mask & 1 != 0 {
        tile.rect(0, 0, SIZE, 1, ROOF[0]);
        tile.rect(0, 1, SIZE, 2, ROOF[4]);
        tile.rect(0, 3, SIZE, 1, ROOF[1]);
    }
    if mask & 4 != 0 {
        facade(&mut tile);
    }
    outline_sides(&mut tile, mask);
    tile
}

fn facade(tile: &mut Canvas) {
    let top = SIZE - FACADE;
    tile.rect(0, top - 2, SIZE, 2, ROOF[4]);
    tile.rect(0, top, SIZE, FACADE, ROOF[1]);
    tile.rect(0, top, SIZE, 1, ROOF[0]);
    for x in [2, 10] {
        tile.rect(x, top + 2, 4, 3, STONE[0]);
        tile.rect(x, top + 2, 3, 2, WATER[3]);
        tile.rect(x, top + 5, 4, 1, ROOF[3]);
    }
    tile.rect(0, SIZE - 1, SIZE, 1, INK);
}

fn outline_sides(tile: &mut Canvas, mask: u32) {
    if mask & 8 != 0 {
        tile.rect(0, 0, 1, SIZE, ROOF[0]);
    }
    if mask & 2 != 0 {
        tile.rect(SIZE - 1, 0, 1, SIZE, ROOF[0]);
    }
}

/// Two courses of dressed stone with an ink outline.
pub fn wall() -> Canvas {
    let mut tile = Canvas::painted(SIZE, SIZE, |_, _| INK);
    for (y, height, shift) in [(1, 5, 0), (6, 5, 4), (11, 4, 0)] {
        for x in [1 - shift, 8 - shift, 15 - shift] {
            let left = x.max(1);
            let right = (x + 6).min(SIZE - 1);
            tile.rect(left, y, right - left, height - 1, STONE[3]);
            tile.rect(left, y, right - left, 1, STONE[4]);
            tile.rect(left, y + height - 2, right - left, 1, STONE[1]);
        }
    }
    tile
}
