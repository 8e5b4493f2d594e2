//! Where a unit wants to go: the cost of the rest of its way from the cells around it.
//!
//! Input: shared fields, paths, slots, and areas that units have to leave. Output: for each source the same nine
//! numbers, by direction (see [`guidance`]).

pub(super) mod corner_sight;
pub(super) mod escape;
pub(super) mod flood;
pub(super) mod guidance;
pub(super) mod local_field;
pub(super) mod path_corners;
pub(super) mod path_cost_to_go;
pub(super) mod path_follower;
pub(super) mod step_costs;
pub(super) mod straight_walk;
pub(super) mod wall_proximity;
