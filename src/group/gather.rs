//! Where the members of a group gather: around which cell, and along which field from afar.
//!
//! Input: places that were given. Output: for each kind of unit among the members a cell that all of them
//! can reach alike, and a shared field to it where that takes less than a look for a way each.

use super::{Gathering, Group, GroupState};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    nav::{cell::Cell, grid::NavGrid, terrain::ProfileId},
};

/// Fewest members that share a field.
const LEAST_MEMBERS: usize = 8;
/// A field of so many cells takes as long as the search for one way, or less (35 ns a cell against 100 µs
/// and more on maps of this size).
const CELLS_PER_MEMBER: usize = 4_096;

impl GroupState {
    /// Settles where everybody gathers.
    pub(super) fn gather(
        &mut self,
        group: &Group,
        grids: &NavGrids,
        fields: &mut FlowFields,
        before: &Self,
    ) {
        let Some(grid) = grids.get(group.request.grid) else {
            return;
        };
        let mut profiles: Vec<ProfileId> =
            group.members.iter().map(|member| member.profile).collect();
        profiles.sort_unstable();
        profiles.dedup();
        for profile in profiles {
            let (members, under_way) = self.count(group, profile, before);
            let known = before.gathering(profile);
            let goal = self.middle(group, grid, profile);
            let is_worth_it = |count: usize| {
                let cells = grid.width() as usize * grid.height() as usize;
                count >= LEAST_MEMBERS && count * CELLS_PER_MEMBER >= cells
            };
            let Some(goal) = goal.filter(|_| members > 0) else {
                continue;
            };
            let known =
                known.filter(|known| known.goal == goal).and_then(|known| known.field.clone());
            let wanted = || fields.request(group.request.grid, profile, goal);
            let field = known.or_else(|| is_worth_it(under_way).then(wanted));
            self.gatherings.push(Gathering { profile, goal, field });
        }
    }

    /// Fields are needed no longer.
    pub(super) fn drop_fields(&mut self) {
        self.gatherings.iter_mut().for_each(|gathering| gathering.field = None);
    }

    /// How many members of a kind have a place, and how many of those another than before.
    fn count(&self, group: &Group, profile: ProfileId, before: &Self) -> (usize, usize) {
        let (mut members, mut under_way) = (0, 0);
        for member in group.members.iter().filter(|member| member.profile == profile) {
            let place = self.place_of(member.entity);
            members += usize::from(place.is_some());
            under_way += usize::from(place.is_some() && place != before.place_of(member.entity));
        }
        (members, under_way)
    }

    /// The goal of the order, or where members of this kind cannot stand there their place nearest to it.
    fn middle(&self, group: &Group, grid: &NavGrid, profile: ProfileId) -> Option<Cell> {
        let goal = group.order.goal;
        if grid.cost(profile, goal) > 0 {
            return Some(goal);
        }
        let its = group.members.iter().filter(|member| member.profile == profile);
        let places = its.filter_map(|member| self.place_of(member.entity));
        places.min_by_key(|place| {
            let (x, y) = (i64::from(place.x - goal.x), i64::from(place.y - goal.y));
            (x * x + y * y, *place)
        })
    }
}
