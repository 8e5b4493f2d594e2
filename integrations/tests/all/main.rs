//! Runs every integration without a window, on the real crates.

mod app;
mod inspector;
mod ldtk;
mod physics;
mod tiled;
