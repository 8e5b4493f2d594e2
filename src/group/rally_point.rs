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
/// A field of so many cells takes as long as one search, or less (35 ns a cell against 100 µs
/// and more on maps of this size).
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
        let cells = grid.width() as usize * grid.height() as usize;
        let profiles: BTreeSet<ProfileId> = members.iter().map(|member| member.profile).collect();
        for profile in profiles {
            let (count, under_way) = self.count(members, profile, before);
            let Some(goal) = self.middle(members, grid, profile).filter(|_| count > 0) else {
                continue;
            };
            let known = before.rally_point(profile).filter(|known| known.goal == goal);
            let is_worth_it = under_way >= LEAST_MEMBERS && under_way * CELLS_PER_MEMBER >= cells;
            let wanted = || is_worth_it.then(|| fields.request(id, profile, goal));
            let field = known.and_then(|known| known.field.clone()).or_else(wanted);
            self.rally_points.push(RallyPoint { profile, goal, field });
        }
    }

    /// How many members of a profile have a slot, and how many of those another than before.
    fn count(&self, members: &[Member], profile: ProfileId, before: &Self) -> (usize, usize) {
        let (mut count, mut under_way) = (0, 0);
        for member in members.iter().filter(|member| member.profile == profile) {
            let slot = self.slot_of(member.entity);
            count += usize::from(slot.is_some());
            under_way += usize::from(slot.is_some() && slot != before.slot_of(member.entity));
        }
        (count, under_way)
    }

    /// The goal of the group, or where members of this profile cannot stand there their slot nearest to it.
    fn middle(&self, members: &[Member], grid: &NavGrid, profile: ProfileId) -> Option<Cell> {
        let goal = self.assigned.goal;
        if grid.cost(profile, goal) > 0 {
            return Some(goal);
        }
        let its = members.iter().filter(|member| member.profile == profile);
        let slots = its.filter_map(|member| self.slot_of(member.entity));
        slots.min_by_key(|slot| {
            let (x, y) = (i64::from(slot.x - goal.x), i64::from(slot.y - goal.y));
            (x * x + y * y, *slot)
        })
    }
}
