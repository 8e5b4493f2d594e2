//! The speed of the members of a group that keeps together: that of the slowest member.
//!
//! Input: the speeds of members, as they are now. Output: a [`GroupSpeedLimit`] for each member with a slot.

use bevy::prelude::*;

use super::{GroupState, assign_slots::SlotAssignment};
use crate::unit::GroupSpeedLimit;

/// Ticks after which the slowest member of a group that keeps together is determined again.
const PACE_TICKS: u64 = 16;

impl SlotAssignment<'_, '_> {
    /// Sets new speed limits in a group that keeps together if its slowest member has become faster or slower.
    pub(super) fn keep_pace(&mut self, entity: Entity, state: &mut GroupState) {
        if !(self.pathfinder.now + state.number).is_multiple_of(PACE_TICKS) {
            return;
        }
        let with_slot = state.slots.iter().filter(|(_, cell)| cell.is_some());
        let members: Vec<Entity> = with_slot.map(|&(member, _)| member).collect();
        let slowest = self.slowest(&members);
        if slowest != state.pace {
            state.pace = slowest;
            members.into_iter().for_each(|member| self.limit(entity, member, slowest));
        }
    }

    /// Limits the speed of a unit that a group has sent, or removes the limit.
    pub(super) fn limit(&mut self, group: Entity, entity: Entity, limit: Option<f32>) {
        self.change(entity, group, move |unit| {
            match limit {
                Some(limit) => unit.insert(GroupSpeedLimit(limit)),
                None => unit.remove::<GroupSpeedLimit>(),
            };
        });
    }

    /// The speed of the slowest member that can move.
    pub(super) fn slowest(&self, members: &[Entity]) -> Option<f32> {
        let speeds = members.iter().filter_map(|&member| {
            let unit = self.places.units.get(member).ok()?;
            let own = unit.critter.map(|critter| critter.speed);
            let speed = own.or_else(|| unit.steering.map(|steering| steering.speed))?;
            Some(unit.speed_changes.own(speed))
        });
        speeds.filter(|&speed| speed > 0.0).min_by(f32::total_cmp)
    }
}
