//! Runs every integration without a window, on the real crates.

mod app;
mod inspector;
mod ldtk;
mod lockstep;
mod physics;
mod saves;
mod tiled;
