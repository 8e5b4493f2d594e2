//! Flat ground: grass, roads, grass beside roads, swamp, paving, void.
//!
//! In: a variant number or a side mask. Out: one tile. All variants of a kind
//! share one base color at the border, so they join without seams.

use super::{SIZE, edges::depth};
use crate::{
    canvas::Canvas,
    noise::{Rng, hash},
    palette::*,
};

/// Small upright marks of two shades, spread over the tile.
fn blades(tile: &mut Canvas, rng: &mut Rng, count: i32, dark: Color, light: Color) {
    for _ in 0..count {
        let (x, y) = (rng.range(0, SIZE), rng.range(1, SIZE));
        tile.set(x, y, dark);
        tile.set(x, y - 1, light);
    }
}

/// Grass; variants 5 to 7 carry tufts, flowers and pebbles.
pub fn grass(variant: u32) -> Canvas {
    let mut rng = Rng::new(100 + variant);
    let mut tile = Canvas::painted(SIZE, SIZE, |_, _| GRASS[3]);
    blades(&mut tile, &mut rng, 5, GRASS[2], GRASS[4]);
    for _ in 0..5 {
        tile.set(rng.range(0, SIZE), rng.range(0, SIZE), GRASS[4]);
    }
    match variant {
        5 => [(4, 5), (10, 10), (11, 3)].map(|at| tuft(&mut tile, at)).len(),
        6 => flowers(&mut tile),
        7 => pebbles(&mut tile, &[(3, 4), (9, 8), (5, 12)]),
        _ => 0,
    };
    tile
}

fn tuft(tile: &mut Canvas, (x, y): (i32, i32)) {
    tile.rect(x - 1, y + 1, 3, 1, GRASS[2]);
    tile.set(x, y, GRASS[5]);
    tile.set(x - 1, y, GRASS[2]);
    tile.set(x + 1, y - 1, GRASS[5]);
    tile.set(x - 2, y - 1, GRASS[5]);
}

fn flowers(tile: &mut Canvas) -> usize {
    let spots = [(4, 4, SIGNAL[1]), (11, 6, WHITE), (6, 11, SIGNAL[1]), (12, 12, WHITE)];
    for (x, y, color) in spots {
        tile.set(x, y, color);
        tile.set(x, y + 1, GRASS[2]);
        tile.set(x - 1, y + 1, GRASS[5]);
    }
    spots.len()
}

fn pebbles(tile: &mut Canvas, spots: &[(i32, i32)]) -> usize {
    for &(x, y) in spots {
        tile.set(x, y, STONE[4]);
        tile.set(x + 1, y, STONE[3]);
        tile.rect(x, y + 1, 2, 1, STONE[1]);
    }
    spots.len()
}

fn earth(x: i32, y: i32, seed: u32) -> Color {
    match hash(seed, x, y) % 40 {
        0..3 => SAND[1],
        3..5 => SAND[3],
        _ => SAND[2],
    }
}

/// Packed earth and sand.
pub fn road(variant: u32) -> Canvas {
    let mut tile = Canvas::painted(SIZE, SIZE, |x, y| earth(x, y, 200 + variant));
    let mut rng = Rng::new(210 + variant);
    for _ in 0..variant % 3 {
        let (x, y) = (rng.range(2, 13), rng.range(2, 13));
        tile.rect(x, y, 2, 1, SAND[3]);
        tile.rect(x, y + 1, 2, 1, SAND[0]);
    }
    if variant == 7 {
        tile.line((3, 9), (6, 10), SAND[1]);
        tile.line((7, 10), (11, 8), SAND[1]);
    }
    tile
}

/// Grass with road beyond the masked sides.
pub fn verge(mask: u32) -> Canvas {
    let grass = grass(mask % 4);
    Canvas::painted(SIZE, SIZE, |x, y| {
        let grain = (hash(300, x, y) % 100) as f32 / 100.0;
        let deep = depth(mask, x, y, 5.0) + grain * 1.6;
        match deep {
            d if d < 1.9 => earth(x, y, 301),
            d if d < 2.7 => SAND[1],
            d if d < 3.7 => GRASS[2],
            _ => grass.get(x, y),
        }
    })
}

/// Murky ground with puddles and reeds.
pub fn swamp(variant: u32) -> Canvas {
    let mut tile = Canvas::painted(SIZE, SIZE, |x, y| match hash(400 + variant, x, y) % 12 {
        0 => SWAMP[1],
        _ => SWAMP[2],
    });
    let mut rng = Rng::new(410 + variant);
    for _ in 0..2 {
        let (x, y, length) = (rng.range(1, 9), rng.range(2, 14), rng.range(4, 7));
        tile.rect(x + 1, y - 1, length - 2, 1, SWAMP[1]);
        tile.rect(x, y, length, 1, SWAMP[0]);
        tile.rect(x + 1, y + 1, length - 1, 1, SWAMP[1]);
        tile.set(x + 2, y, WATER[2]);
    }
    for reed in 0..2 {
        let (x, y) = (rng.range(2, 14), rng.range(4, 14));
        tile.rect(x, y - 2, 1, 3, SWAMP[3]);
        tile.rect(x + 1, y - 1, 1, 2, SWAMP[1]);
        tile.set(x, y - 3, [WOOD[1], SWAMP[3]][reed]);
    }
    tile
}

/// Swamp with grass beyond the masked sides.
pub fn marsh(mask: u32) -> Canvas {
    let (swamp, grass) = (swamp(mask % 4), grass(mask % 4));
    Canvas::painted(SIZE, SIZE, |x, y| {
        let grain = (hash(430, x, y) % 100) as f32 / 100.0;
        match depth(mask, x, y, 5.0) + grain * 1.8 {
            d if d < 2.2 => grass.get(x, y),
            d if d < 3.2 => GRASS[2],
            d if d < 4.2 => SWAMP[1],
            _ => swamp.get(x, y),
        }
    })
}

/// City street slabs in a running bond.
pub fn paving(variant: u32) -> Canvas {
    Canvas::painted(SIZE, SIZE, |x, y| {
        let row = y / 4;
        let shifted = (x + row % 2 * 4) % SIZE;
        let slab = hash(500 + variant, shifted / 8, row) % 7;
        let joint = y % 4 == 3 || shifted % 8 == 7;
        match (joint, slab) {
            (true, _) => STONE[2],
            (_, 0) if hash(501, x, y).is_multiple_of(3) => STONE[2],
            (_, 1) if shifted % 8 == 0 && y % 4 == 0 => STONE[4],
            _ => STONE[3],
        }
    })
}

/// Nothing to stand on.
pub fn void(variant: u32) -> Canvas {
    Canvas::painted(SIZE, SIZE, |x, y| {
        VOID[usize::from(hash(600 + variant, x / 2, y).is_multiple_of(23))]
    })
}
