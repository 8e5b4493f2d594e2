//! Where the members of a group gather: a cell to gather around, and a flow field that leads there.
//!
//! Input: slots that were assigned. Output: for each profile among the members a cell that all of them
//! can reach, and a shared field to it where that takes less than a search each.

use std::collections::BTreeSet;

use super::{GroupState, Member, RallyPoint};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    nav::{Cell, GridId, NavGrid, ProfileId},
};

/// Fewest members that share a field.
const LEAST_MEMBERS: usize = 8;
/// Filling a field of this many cells takes no longer than one search (35 ns per cell against 100 µs or
/// more on maps of this size).
const CELLS_PER_MEMBER: usize = 4_096;

impl GroupState {
    /// Chooses where the members of each profile gather.
    pub(super) fn choose_rally_points(
        &mut self,
        (members, id): (&[Member], GridId),
        grids: &NavGrids,
        fields: &mut FlowFields,
        before: &Self,
    ) {
        let Some(grid) = grids.get(id) else {
            return;
        };
        // On another grid, the same cell is another place.
        let is_same_grid = before.grid == Some(id);
        let cells = grid.width() as usize * grid.height() as usize;
        let profiles: BTreeSet<ProfileId> = members.iter().map(|member| member.profile).collect();
        for profile in profiles {
            // The slot of each member that has one, and whether it is another than before.
            let slot_of = |member: &Member| {
                let slot = self.slot_of(member.entity)?;
                Some((slot, !is_same_grid || before.slot_of(member.entity) != Some(slot)))
            };
            let its = members.iter().filter(|member| member.profile == profile);
            let slots: Vec<(Cell, bool)> = its.filter_map(slot_of).collect();
            let under_way = slots.iter().filter(|(_, is_new)| *is_new).count();
            let Some(goal) = self.middle(&slots, grid, profile) else {
                continue;
            };
            let known = before.rally_point(profile).filter(|it| is_same_grid && it.goal == goal);
            let is_worth_it = under_way >= LEAST_MEMBERS && under_way * CELLS_PER_MEMBER >= cells;
            let wanted = || is_worth_it.then(|| fields.request(id, profile, goal));
            let field = known.and_then(|known| known.field.clone()).or_else(wanted);
            self.rally_points.push(RallyPoint { profile, goal, field });
        }
    }

    /// The goal of the group or, if members of this profile cannot come there, the nearest of their slots. `None`
    /// if they have no slots.
    fn middle(&self, slots: &[(Cell, bool)], grid: &NavGrid, profile: ProfileId) -> Option<Cell> {
        let goal = self.assigned?.goal;
        let &(nearest, _) = slots.iter().min_by_key(|(slot, _)| {
            let (x, y) = (i64::from(slot.x - goal.x), i64::from(slot.y - goal.y));
            (grid.topology().squared_length(x, y), *slot)
        })?;
        // A goal that members cannot reach, inside a building or on an island, is no use as a rally point.
        let region = |cell| grid.region(profile, cell);
        let can_reach = region(goal).is_some() && region(goal) == region(nearest);
        Some(if can_reach { goal } else { nearest })
    }
}
