//! How bevy_tilepath goes together with other crates: what a game needs in between, one file each.
//!
//! Every module is a plugin that fits on a page and is meant to be copied. `examples/` opens each in a window, `tests/` runs
//! each without one, on the real crates.

pub mod inspector;
pub mod ldtk_level;
pub mod lockstep;
pub mod physics;
pub mod saves;
pub mod tiled_level;
