//! Open water and water with shores.
//!
//! In: a variant number or a mask of land sides. Out: one tile.

use super::{SIZE, edges::depth};
use crate::{
    canvas::Canvas,
    noise::{Rng, hash},
    palette::*,
};

/// Open water with up to two short waves.
pub fn open(variant: u32) -> Canvas {
    let mut tile = Canvas::painted(SIZE, SIZE, |_, _| WATER[1]);
    let mut rng = Rng::new(700 + variant);
    for wave in 0..[1, 0, 1, 1, 2, 1, 0, 2][variant as usize % 8] {
        let (x, y) = (rng.range(0, SIZE), rng.range(1, 7) + wave * 8);
        for step in 0..rng.range(3, 6) {
            tile.set((x + step) % SIZE, y, WATER[2]);
            tile.set((x + step + 1) % SIZE, y + 1, WATER[0]);
        }
    }
    tile
}

/// Water with land beyond the masked sides: sand, foam, shallows.
pub fn shore(mask: u32) -> Canvas {
    let water = open(0);
    Canvas::painted(SIZE, SIZE, |x, y| {
        let broken = hash(710, x, y).is_multiple_of(7);
        match depth(mask, x, y, 6.0) {
            d if d < 1.6 => SAND[2],
            d if d < 2.6 => SAND[0],
            d if d < 3.6 && !broken => WATER[4],
            d if d < 5.2 => WATER[3],
            d if d < 6.4 => WATER[2],
            _ => water.get(x, y),
        }
    })
}
