//! The colors: a dark slate map, four hues for four directions.
//!
//! Input: nothing. Output: color constants, and the color of a unit.

use bevy::{color::palettes::css, prelude::*};

use crate::figures::Course;

pub const BACKGROUND: Color = rgb(0x0e_11_17);
pub const PANEL: Color = rgb(0x16_1a_23);
pub const RULE: Color = rgb(0x2c_33_42);
pub const TEXT: Color = rgb(0xec_ef_f5);
pub const QUIET: Color = rgb(0x9d_a6_ba);

pub const FLOOR: Color = rgb(0x25_2c_39);
pub const LINE: Color = rgb(0x2b_33_42);
pub const WALL: Color = rgb(0x15_19_22);
pub const WALL_EDGE: Color = rgb(0x4a_55_69);
/// Walls built during the scene.
pub const BUILT: Color = rgb(0x4b_2e_24);
pub const BUILT_EDGE: Color = rgb(0xc9_83_5a);
pub const SHADOW: Color = Color::srgba(0.0, 0.0, 0.0, 0.3);
pub const GOAL: Color = rgb(0x7a_86_9c);

/// Units that are stuck.
pub const STUCK: Color = rgb(0xff_3b_3b);
/// Cells that a unit stands on or leaves, and cells that it enters.
pub const TAIL: Color = Color::Srgba(css::GRAY);
pub const HEAD: Color = Color::Srgba(css::AQUAMARINE);
/// Lines to the unit that a unit waits for, in a queue or otherwise, and to the unit it pushes.
pub const IN_LINE: Color = Color::Srgba(css::KHAKI);
pub const HINDERED: Color = Color::Srgba(css::ORANGE_RED);
pub const PUSHES: Color = Color::Srgba(css::HOT_PINK);

/// Color that arrived units are mixed with, and its share.
const REST: Color = rgb(0x5c_68_7d);
const FADED: f32 = 0.62;

const fn rgb(hex: u32) -> Color {
    Color::srgb(
        (hex >> 16) as f32 / 255.0,
        (hex >> 8 & 255) as f32 / 255.0,
        (hex & 255) as f32 / 255.0,
    )
}

impl Course {
    /// Returns the color of units that move in this direction.
    pub const fn color(self) -> Color {
        match self {
            Self::East => rgb(0xff_b8_4d),
            Self::West => rgb(0x4f_c3_ff),
            Self::North => rgb(0xa8_dc_5f),
            Self::South => rgb(0xf4_7f_b5),
        }
    }
}

/// Returns the paler color of arrived units.
pub fn arrived(color: Color) -> Color {
    color.mix(&REST, FADED)
}
