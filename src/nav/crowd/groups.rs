//! Groups and goals: slots of members, and when a unit has done enough to get to its goal.
//!
//! Input: members, goals and arrivals. Output: a slot for each member; units that stand back or settle.

pub(super) mod circling;
pub(super) mod group;
pub(super) mod membership;
pub(super) mod return_delay;
pub(super) mod slot_assignment;
pub(super) mod slots;
