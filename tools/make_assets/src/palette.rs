//! The colors of all art: one limited palette.
//!
//! In: nothing. Out: color ramps, dark to light.

/// Red, green, blue, alpha.
pub type Color = [u8; 4];

const fn rgb(hex: u32) -> Color {
    [(hex >> 16) as u8, (hex >> 8) as u8, hex as u8, 255]
}

/// No color at all.
pub const CLEAR: Color = [0; 4];
/// Outlines and legs.
pub const INK: Color = rgb(0x17161f);
/// Light paint, flowers.
pub const WHITE: Color = rgb(0xffffff);
/// Grass and leaves.
pub const GRASS: [Color; 6] =
    [rgb(0x24402f), rgb(0x345c36), rgb(0x47783f), rgb(0x548a45), rgb(0x63994c), rgb(0x86b45c)];
/// Sand, earth and roads.
pub const SAND: [Color; 4] = [rgb(0x9c7a50), rgb(0xb8955f), rgb(0xc6a56c), rgb(0xdcc28c)];
/// Water, from deep to foam.
pub const WATER: [Color; 5] =
    [rgb(0x25507f), rgb(0x2d5f90), rgb(0x376fa0), rgb(0x5b96bd), rgb(0xc4e2e6)];
/// Swamp mud.
pub const SWAMP: [Color; 4] = [rgb(0x343f2c), rgb(0x475233), rgb(0x566340), rgb(0x7d8850)];
/// Paving, walls, metal.
pub const STONE: [Color; 5] =
    [rgb(0x3a3d49), rgb(0x5f636e), rgb(0x83868c), rgb(0x93969a), rgb(0xb9bbb8)];
/// Cliffs.
pub const ROCK: [Color; 5] =
    [rgb(0x3b322f), rgb(0x5c4f47), rgb(0x7f7062), rgb(0x8f8070), rgb(0xb8a78e)];
/// Roofs.
pub const ROOF: [Color; 5] =
    [rgb(0x4d2a2a), rgb(0x7c4038), rgb(0xa55745), rgb(0xb26350), rgb(0xd89a74)];
/// Planks and hulls.
pub const WOOD: [Color; 4] = [rgb(0x4b3426), rgb(0x76522f), rgb(0x9a7042), rgb(0xb98d57)];
/// The abyss.
pub const VOID: [Color; 2] = [rgb(0x14121b), rgb(0x211e2c)];
/// The team accent.
pub const TEAM: [Color; 3] = [rgb(0x2277c9), rgb(0x52b9ff), rgb(0xb4ecff)];
/// Order markers: green, yellow, red.
pub const SIGNAL: [Color; 3] = [rgb(0x5cff6a), rgb(0xffe14d), rgb(0xff4538)];
