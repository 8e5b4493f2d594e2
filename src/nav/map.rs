//! The map: cells and their terrain, and what follows from it for each profile.
//!
//! Input: terrain bytes, profiles and edits. Output: the [`grid`](grid::NavGrid), which keeps a
//! [`layer`] per profile up to date: passable cells, room for large units, connected regions, jump points.
//!
//! In the order of data flow: [`cell`], [`direction`] → [`terrain`], [`topology`], [`footprint`] → [`moves`], [`bit_rows`] → [`edges`],
//! [`clearance`], [`region`], [`jump_map`] → [`layer`] → [`landmarks`] → [`grid`] → [`steps`]. [`moving_ai`] reads maps from files.

pub(crate) mod bit_rows;
pub mod cell;
pub(crate) mod clearance;
pub mod direction;
pub(crate) mod edges;
pub(crate) mod footprint;
pub mod grid;
pub(crate) mod jump_map;
pub(crate) mod landmarks;
pub mod layer;
pub(crate) mod moves;
pub mod moving_ai;
pub(crate) mod region;
pub(crate) mod steps;
pub mod terrain;
pub mod topology;
