//! The tile sheet: which tile stands where.
//!
//! In: the tile painters of this module's parts. Out: one picture, 8 tiles
//! across, 16 by 16 pixels each, index = row * 8 + column.

mod blocks;
mod bridge;
mod edges;
mod ground;
pub mod hexes;
mod trees;
mod water;

use crate::{canvas::Canvas, palette::CLEAR};

/// Pixels along a tile's side.
pub const SIZE: i32 = 16;
/// Rows of the sheet.
pub const ROWS: i32 = 17;

/// The tile with a sheet index.
fn tile(index: i32) -> Canvas {
    let variant = index as u32 % 8;
    let mask = index as u32 % 16;
    match index {
        0..8 => ground::grass(variant),
        8..16 => ground::road(variant),
        16..20 => ground::swamp(variant),
        20..24 => ground::paving(variant),
        24..32 => water::open(variant),
        32..40 => trees::tree(variant),
        40..44 => ground::void(variant),
        44 => bridge::across(true, true),
        45 => bridge::across(true, true).turned(),
        46 => blocks::wall(),
        47 => crate::marks::target(),
        48..64 => water::shore(mask),
        64..80 => blocks::rock(mask),
        80..96 => blocks::roof(mask),
        96..112 => ground::verge(mask),
        112..115 => bridge::across(index == 112, index == 114),
        115..118 => bridge::across(index == 115, index == 117).turned(),
        120..136 => ground::marsh((index - 120) as u32),
        _ => Canvas::painted(SIZE, SIZE, |_, _| CLEAR),
    }
}

/// The whole sheet.
pub fn sheet() -> Canvas {
    let mut sheet = Canvas::new(8 * SIZE, ROWS * SIZE);
    for index in 0..8 * ROWS {
        sheet.draw(&tile(index), index % 8 * SIZE, index / 8 * SIZE);
    }
    sheet
}

impl Canvas {
    /// Mirrored at the diagonal: rows become columns.
    fn turned(&self) -> Canvas {
        Canvas::painted(self.height, self.width, |x, y| self.get(y, x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ground_tiles_are_opaque_and_the_target_is_not() {
        for index in (0..136).filter(|i| *i != 47 && !(118..120).contains(i)) {
            let tile = tile(index);
            let opaque = (0..256).all(|i| tile.get(i % 16, i / 16)[3] == 255);
            assert!(opaque, "tile {index} has holes");
        }
        assert_eq!(tile(47).get(0, 0), CLEAR);
    }

    #[test]
    fn the_sheet_repeats() {
        assert_eq!(sheet(), sheet());
    }
}
