//! Passages one cell wide: where they are, and who may enter.
//!
//! Input: the terrain around units, and the units in passages. Output: steps that are forbidden for now.

pub(super) mod direction_lock;
pub(super) mod passage;
pub(super) mod passage_control;
pub(super) mod passage_trace;
