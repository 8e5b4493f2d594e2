//! Trees standing on grass.
//!
//! In: a variant number. Out: one tile with a readable canopy and its shadow.

use super::{SIZE, ground::grass};
use crate::{canvas::Canvas, noise::hash, palette::*};

/// One tree seen from above: round crowns, then conifers, then young trees.
pub fn tree(variant: u32) -> Canvas {
    let mut tile = undergrowth(variant);
    match variant {
        0 => crown(&mut tile, (7.5, 7.2), 6.6, variant),
        1 => crown(&mut tile, (7.0, 7.8), 6.2, variant),
        2 => crown(&mut tile, (8.2, 7.0), 6.4, variant),
        3 => {
            crown(&mut tile, (10.4, 5.0), 4.4, variant);
            crown(&mut tile, (5.2, 9.2), 4.8, variant + 9);
        }
        4 => {
            crown(&mut tile, (4.8, 5.0), 4.4, variant);
            crown(&mut tile, (10.0, 9.6), 4.8, variant + 9);
        }
        5 => conifer(&mut tile, 7),
        6 => conifer(&mut tile, 8),
        _ => crown(&mut tile, (7.6, 7.4), 6.8, variant),
    }
    tile
}

/// Grass, darker and rougher toward the middle.
fn undergrowth(variant: u32) -> Canvas {
    let grass = grass(variant % 5);
    Canvas::painted(SIZE, SIZE, |x, y| {
        let (dx, dy) = (2 * x - 15, 2 * y - 15);
        let rough = (hash(900 + variant, x, y) % 130) as i32;
        if dx * dx + dy * dy + rough < 300 { GRASS[2] } else { grass.get(x, y) }
    })
}

/// A round crown, lit from the north-west, with a lumpy rim.
fn crown(tile: &mut Canvas, center: (f32, f32), radius: f32, seed: u32) {
    let lumps = |x: i32, y: i32| (hash(910 + seed, x / 2, y / 2) % 10) as f32 / 10.0;
    for y in 0..SIZE {
        for x in 0..SIZE {
            let (dx, dy) = (x as f32 + 0.5 - center.0, y as f32 + 0.5 - center.1);
            let far = (dx * dx + dy * dy).sqrt() + lumps(x, y) * 0.9;
            let (sx, sy) = (dx - 1.4, dy - 1.6);
            let light = (dx + dy) / radius + lumps(x, y) * 0.7 - 0.35;
            if far < radius {
                tile.set(x, y, leaf(light, radius - far));
            } else if (sx * sx + sy * sy).sqrt() < radius {
                tile.set(x, y, GRASS[0]);
            }
        }
    }
}

fn leaf(light: f32, to_rim: f32) -> Color {
    match light {
        l if to_rim < 0.8 && l > 0.0 => GRASS[0],
        l if l < -0.75 && to_rim > 0.9 => GRASS[5],
        l if l < -0.3 => GRASS[3],
        l if l < 0.45 => GRASS[2],
        _ => GRASS[1],
    }
}

/// A conifer drawn as stacked tiers.
fn conifer(tile: &mut Canvas, middle: i32) {
    for y in 4..15 {
        tile.rect(middle - 1 + y / 3, y, 4, 1, GRASS[0]);
    }
    tile.rect(middle, 13, 2, 2, WOOD[0]);
    for (top, rows) in [(8, 6), (4, 5), (0, 5)] {
        for row in 0..rows {
            let half = row + 1;
            let y = top + row;
            tile.rect(middle - half, y, half + 1, 1, GRASS[2]);
            tile.rect(middle + 1, y, half, 1, GRASS[1]);
            tile.set(middle - half, y, GRASS[4]);
            tile.set(middle + half, y, GRASS[0]);
        }
        tile.rect(middle - rows + 1, top + rows - 1, 2 * rows, 1, GRASS[0]);
    }
    tile.set(middle, 0, GRASS[5]);
}
