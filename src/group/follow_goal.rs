//! Groups that follow an entity.
//!
//! Input: where the entity was when slots were assigned, and where it is now. Output: whether slots are to be assigned again.

use bevy::prelude::*;

use super::{Group, GroupState, assign_slots::SlotAssignment};
use crate::{
    nav::{Cell, GridId, NavGrid, PathFailure},
    request::Target,
};

/// Slots are assigned again when the goal has moved by at least the distance to it divided by this.
const SHARE_OF_DISTANCE: u32 = 4;

impl Group {
    /// Whether it follows an entity.
    pub(super) const fn is_following(&self) -> bool {
        self.request.follows && matches!(self.goal, Target::Entity(_))
    }
}

impl SlotAssignment<'_, '_> {
    /// Looks where the entity is that a group follows. If the entity is gone, the group stops following: it ends when all its
    /// members have come to rest.
    pub(super) fn follow_goal(&self, group: &mut Group, state: &mut GroupState) {
        if !group.is_following() || state.order.is_none() {
            return;
        }
        let id = self.places.grid_of_group(group, state);
        match self.places.cell_of_target(&group.goal, id) {
            // Off the grid it cannot be followed.
            Ok(goal) => {
                let is_there = self.places.grids.get(id).is_some_and(|grid| grid.contains(goal));
                state.was_changed |= is_there && self.has_moved(group, state, (id, goal));
            }
            Err(PathFailure::TargetGone) if self.places.is_despawned(&group.goal) => {
                group.request.follows = false;
                state.is_announced = false;
                // This does not count as a change by the game.
                if let Some(order) = &mut state.order {
                    order.request.follows = false;
                }
            }
            Err(_) => {}
        }
    }

    /// Whether the goal of a group has moved to another grid, or by at least a part of the way of the first member and at
    /// least half of the side of a square that the members would fill.
    fn has_moved(&self, group: &Group, state: &GroupState, (id, goal): (GridId, Cell)) -> bool {
        let Some(before) = state.assigned.filter(|_| state.grid == Some(id)) else {
            return true;
        };
        let first = group.members.first();
        let cell = |unit: Entity| self.places.cell_of_target(&unit.into(), id).ok();
        let here = first.and_then(|first| cell(first.entity));
        let topology = self.places.grids.get(id).map(NavGrid::topology).unwrap_or_default();
        let left = here.map_or(0, |here| topology.distance(here, before.goal));
        let side = group.members.len().isqrt() as u32;
        let least = (left / SHARE_OF_DISTANCE).max(side / 2).max(1);
        topology.distance(goal, before.goal) >= least
    }
}
