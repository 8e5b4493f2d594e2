//! Which step a unit takes, and which units make room for it.
//!
//! Input: the cost-to-go around a unit, and who holds the cells. Output: steps that can all begin now, or none.

pub(super) mod chain;
pub(super) mod claim;
pub(super) mod dead_end;
pub(super) mod fast_step;
pub(super) mod leader;
pub(super) mod make_room;
pub(super) mod make_way;
pub(super) mod plan;
pub(super) mod rank;
pub(super) mod scores;
