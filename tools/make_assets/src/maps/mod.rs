//! The four maps.
//!
//! In: fixed seeds. Out: one [`Grid`](crate::grid::Grid) per map.

pub mod city;
mod city_blocks;
mod crossing;
pub mod hexes;
pub mod islands;
mod islands_roads;
mod roads;
mod shaping;
pub mod wilderness;
mod wilderness_water;
