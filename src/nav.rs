//! The engine layer: grid, heap, search, path, walk.
//!
//! Nothing in this module depends on an ECS, a clock, a log, randomness or the order of a hash table, and no
//! float takes part in a decision: the same grid and the same queries give the same paths, costs and counters
//! on every machine, however the work is sliced. Everything can be used without an `App`.
//!
//! In the order of data flow: [`cell`], [`direction`] → [`terrain`] → `moves`, `bit_rows` → `clearance`,
//! `region`, `cost_borders`, `dominated_steps`, `jump_map` → [`layer`] → [`grid`] → [`goal`], [`query`] →
//! [`open_list`], [`node_pool`], `jump_terrain`, `coarse` → [`search`], [`field`] → [`path`] → [`queue`] →
//! [`walk`]. [`formation`] finds slots for groups, [`crowd`] moves many units without overlaps,
//! [`line_of_sight`] and [`string_pulling`] handle straight lines, [`moving_ai`] reads benchmark files,
//! [`checksum`] computes checksums of results.

pub(crate) mod bit_rows;
pub mod cell;
pub mod checksum;
pub(crate) mod clearance;
pub(crate) mod coarse;
pub(crate) mod cost_borders;
pub mod crowd;
pub mod direction;
pub(crate) mod dominated_steps;
pub mod field;
pub mod formation;
pub mod goal;
pub mod grid;
pub(crate) mod jump_map;
pub(crate) mod jump_terrain;
pub mod layer;
pub mod line_of_sight;
pub(crate) mod moves;
pub mod moving_ai;
pub mod node_pool;
pub mod open_list;
pub mod path;
pub mod query;
pub mod queue;
pub(crate) mod region;
pub mod search;
pub mod string_pulling;
pub mod terrain;
pub mod walk;
