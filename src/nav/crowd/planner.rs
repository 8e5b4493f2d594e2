//! Which step a unit takes, and which units make room for it.
//!
//! Input: the cost-to-go around a unit, and who holds the cells. Output: steps that can all begin now, or none.

pub mod chain;
pub mod claim;
pub mod commit;
pub mod dead_end;
pub mod fast_step;
pub mod leader;
pub mod make_way;
pub mod passage_rules;
pub mod plan;
pub mod rank;
mod reclaim;
pub mod ring;
pub mod scores;

use self::{chain::Push, claim::Claim, plan::Frame};
use super::board::GridPos;
use super::cost_to_go::{Flood, OpenCells, bytes_of};

/// The working memory of the search for a step, kept from one search to the next. Only this room reads it.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Planner {
    /// The units being planned, each pushed by the one below it.
    stack: Vec<Frame>,
    /// What the plan has claimed so far.
    log: Vec<Claim>,
    /// Whether the unit that is planned reclaims its goal.
    reclaims_goal: bool,
    /// The pushes of the current search for chains, and its number.
    pushes: Vec<Push>,
    chain_search: u32,
    /// How many priorities before [`FIRST_PRIORITY`](super::board::FIRST_PRIORITY) were given to units that others had shut
    /// in.
    foremost_priorities: u32,
    /// The next positions of the unit that is let through, in order, and the costs around the unit that makes way.
    way: Vec<GridPos>,
    window: Flood,
    open_cells: OpenCells,
}

impl Planner {
    /// Returns the memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.stack.capacity() * size_of::<Frame>()
            + self.log.capacity() * size_of::<Claim>()
            + self.pushes.capacity() * size_of::<Push>()
            + self.way.capacity() * size_of::<GridPos>()
            + self.window.bytes()
            + bytes_of(&self.open_cells)
    }
}
