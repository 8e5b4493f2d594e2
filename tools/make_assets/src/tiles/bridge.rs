//! Wooden bridges.
//!
//! In: which rails to draw. Out: a tile for crossing from west to east.

use super::SIZE;
use crate::{canvas::Canvas, noise::hash, palette::*};

/// Planks with a rail at the north and at the south side, or without.
pub fn across(north_rail: bool, south_rail: bool) -> Canvas {
    let mut tile = Canvas::painted(SIZE, SIZE, |x, y| match (x % 4, hash(800, x / 4, y / 5)) {
        (3, _) => WOOD[1],
        (0, grain) if grain % 2 == 0 => WOOD[3],
        (_, grain) if grain % 9 == 0 => WOOD[3],
        _ => WOOD[2],
    });
    if north_rail {
        tile.rect(0, 0, SIZE, 1, WOOD[0]);
        tile.rect(0, 1, SIZE, 1, WOOD[3]);
        tile.rect(0, 2, SIZE, 1, WOOD[1]);
    }
    if south_rail {
        tile.rect(0, 13, SIZE, 1, WOOD[3]);
        tile.rect(0, 14, SIZE, 1, WOOD[1]);
        tile.rect(0, 15, SIZE, 1, WOOD[0]);
    }
    tile
}
