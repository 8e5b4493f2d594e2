//! The palette: dark slate ground, four hues for four courses.
//!
//! Input: what something is. Output: its color.

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
/// What was built while the scene was under way.
pub const BUILT: Color = rgb(0x4b_2e_24);
pub const BUILT_EDGE: Color = rgb(0xc9_83_5a);
pub const SHADOW: Color = Color::srgba(0.0, 0.0, 0.0, 0.3);
pub const MEETING: Color = rgb(0x7a_86_9c);

/// Those who have not been able to move for long.
pub const STUCK: Color = rgb(0xff_3b_3b);
/// The cells that somebody stands on or leaves, and those they enter.
pub const TAIL: Color = Color::Srgba(css::GRAY);
pub const HEAD: Color = Color::Srgba(css::AQUAMARINE);
/// Whom they wait for, in a line and otherwise; and whom they push.
pub const IN_LINE: Color = Color::Srgba(css::KHAKI);
pub const HINDERED: Color = Color::Srgba(css::ORANGE_RED);
pub const PUSHES: Color = Color::Srgba(css::HOT_PINK);

/// What those who have arrived fade to, and how far.
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
    /// The color of those who go there.
    pub const fn color(self) -> Color {
        match self {
            Self::East => rgb(0xff_b8_4d),
            Self::West => rgb(0x4f_c3_ff),
            Self::North => rgb(0xa8_dc_5f),
            Self::South => rgb(0xf4_7f_b5),
        }
    }
}

/// The paler color of those who have arrived.
pub fn at_rest(color: Color) -> Color {
    color.mix(&REST, FADED)
}
