//! Groups that follow an entity.
//!
//! Input: where the entity was when slots were assigned, and where it is now. Output: whether slots are to be assigned again.

use bevy::prelude::*;

use super::{Group, GroupState, assign_slots::SlotAssignment};
use crate::{
    nav::{Cell, FormationSpec, GridId, NavGrid},
    request::Target,
};

/// Slots are assigned again when the goal has moved by at least the distance to it divided by this.
const SHARE_OF_DISTANCE: u32 = 4;
/// That distance is the one of the last of the nearest members, one in so many.
const NEARER: usize = 4;

impl GroupState {
    /// Whether a group follows an entity, as long as that exists.
    pub(super) const fn follows(&self, group: &Group) -> bool {
        group.is_following() && !self.is_leader_gone
    }
}

impl Group {
    /// Whether it is to follow an entity.
    pub(super) const fn is_following(&self) -> bool {
        self.request.follows && matches!(self.goal, Target::Entity(_))
    }
}

impl SlotAssignment<'_, '_> {
    /// Looks where the entity is that a group follows. If the entity is gone, the group ends when all its members have come to
    /// rest.
    pub(super) fn follow_goal(&self, group: &Group, state: &mut GroupState) {
        if !group.is_following() || state.order.is_none() {
            state.is_leader_gone = false;
            return;
        }
        let is_gone = self.places.is_despawned(&group.goal);
        state.is_announced &= is_gone == state.is_leader_gone;
        state.is_leader_gone = is_gone;
        if is_gone {
            return;
        }
        let id = self.places.grid_of_group(group, state);
        let Some(grid) = self.places.grids.get(id) else {
            return;
        };
        // Off the grid it cannot be followed.
        if let Ok(goal) = self.places.cell_of_target(&group.goal, id)
            && grid.contains(goal)
        {
            state.was_changed |= self.has_moved(group, state, (id, grid, goal))
                || self.rests_on_slot(group, state, (id, grid));
        }
    }

    /// Whether the goal of a group has moved to another grid, or by at least a part of the way of the nearer members and at
    /// least half of the side of a square that the members would fill.
    fn has_moved(
        &self,
        group: &Group,
        state: &GroupState,
        (id, grid, goal): (GridId, &NavGrid, Cell),
    ) -> bool {
        let is_known = |spec: &FormationSpec| state.grid == Some(id) && grid.contains(spec.goal);
        let Some(before) = state.assigned.filter(is_known) else {
            return true;
        };
        let topology = grid.topology();
        let moved = topology.distance(goal, before.goal);
        let side = group.members.len().isqrt() as u32;
        if moved < (side / 2).max(1) {
            return false;
        }
        let distances = group.members.iter().filter_map(|member| {
            let here = self.places.cell_of_target(&member.entity.into(), id).ok()?;
            Some(topology.distance(here, before.goal))
        });
        let mut distances: Vec<u32> = distances.collect();
        if distances.is_empty() {
            return true;
        }
        // Neither those that are left behind hold up the others, nor does one that stands near send them on all the time.
        let last = distances.len() / NEARER;
        moved >= *distances.select_nth_unstable(last).1 / SHARE_OF_DISTANCE
    }

    /// Whether the entity has arrived on the slot of a member: it has moved too little since slots were assigned.
    fn rests_on_slot(
        &self,
        group: &Group,
        state: &GroupState,
        (id, grid): (GridId, &NavGrid),
    ) -> bool {
        if !self.places.has_arrived(&group.goal) {
            return false;
        }
        let cells = self.places.cells_of_leader(group, id);
        if cells.is_empty() || state.assigned.is_some_and(|before| before.kept_free == cells) {
            return false;
        }
        let profile = |unit: Entity| {
            let unit = self.places.units.get(unit).ok();
            unit.and_then(|unit| unit.state).map(|state| state.query().profile).unwrap_or_default()
        };
        let is_on_it = |&(unit, slot): &(Entity, Option<Cell>)| {
            slot.is_some_and(|at| grid.anchors_over(profile(unit), cells).contains(at))
        };
        state.slots.iter().any(is_on_it)
    }
}
