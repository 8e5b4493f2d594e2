//! The colors: one for each meaning, the same in map, tree and array.
//!
//! Input: nothing. Output: color constants. Highlighted boxes have a bright fill and dark text.

use bevy::prelude::*;

use crate::event::Highlight;

pub const BACKGROUND: Color = rgb(0x14_16_1e);
pub const CARD: Color = rgb(0x1e_21_2d);
pub const CARD_EDGE: Color = rgb(0x34_39_4b);
pub const TEXT: Color = rgb(0xec_ef_f5);
pub const QUIET: Color = rgb(0x9d_a6_ba);
pub const DARK_TEXT: Color = rgb(0x12_14_1a);
pub const HOVER: Color = rgb(0xff_ff_ff);

pub const OPEN: Color = rgb(0x1f_68_47);
pub const OPEN_EDGE: Color = rgb(0x45_b8_7f);
pub const CLOSED: Color = rgb(0x28_48_80);
pub const CLOSED_EDGE: Color = rgb(0x4d_7c_cf);
pub const PATH: Color = rgb(0x8a_66_10);
pub const PATH_EDGE: Color = rgb(0xf5_c5_42);
pub const START: Color = rgb(0x5f_e3_e0);
pub const GOAL: Color = rgb(0xc3_9b_ff);
pub const PIN: Color = rgb(0xb9_c2_d4);
/// Mud in the legend: the color of its tiles.
pub const MUD: Color = rgb(0x7a_47_18);
/// Borders of cells that the search has not reached.
pub const UNSEEN_EDGE: Color = Color::srgba(1.0, 1.0, 1.0, 0.045);
/// Lines of the tree without highlight.
pub const EDGE: Color = rgb(0x5b_64_7c);

const COMPARED: Color = rgb(0xff_a0_3c);
const SWAPPED: Color = rgb(0xff_6b_95);
const PUT: Color = rgb(0xb9_ee_5a);
const TAKEN: Color = rgb(0x74_b9_ff);

const fn rgb(hex: u32) -> Color {
    Color::srgb(
        (hex >> 16) as f32 / 255.0,
        (hex >> 8 & 255) as f32 / 255.0,
        (hex & 255) as f32 / 255.0,
    )
}

impl Highlight {
    /// Returns the color of the highlight.
    pub const fn color(self) -> Color {
        match self {
            Self::Compared => COMPARED,
            Self::Swapped => SWAPPED,
            Self::Inserted => PUT,
            Self::Removed => TAKEN,
        }
    }
}
