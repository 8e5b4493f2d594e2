//! Notices when all members of a group have come to rest.
//!
//! Input: the statuses of the members. Output: [`GroupArrived`]; the group may despawn itself then.

use bevy::{ecs::change_detection::Tick, prelude::*};

use super::{Group, GroupArrived, GroupState, assign_slots::SlotAssignment};
use crate::{nav::PathKind, unit::PathStatus};

impl SlotAssignment<'_, '_> {
    /// Announces when all members have come to rest; the group may despawn itself then.
    pub(super) fn announce(&mut self, entity: Entity, group: &Mut<Group>, state: &mut GroupState) {
        let (mut arrived, mut failed) = (0, 0);
        for member in &group.members {
            use PathStatus::{Arrived, Failed, Found};
            let status = self.places.units.get(member.entity).ok().and_then(|unit| unit.status);
            match (state.slot_of(member.entity), status) {
                (None, _) | (_, Some(Failed(_))) => failed += 1,
                // If the game moves a unit itself, no arrival is reported: its path counts.
                (_, Some(Arrived(_) | Found(PathKind::Complete | PathKind::Partial))) => {
                    arrived += 1;
                }
                _ => return,
            }
        }
        state.is_announced = true;
        state.rally_points.iter_mut().for_each(|rally_point| rally_point.field = None);
        group.members.iter().for_each(|member| self.limit(entity, member.entity, None));
        self.commands.trigger(GroupArrived { entity, arrived, failed });
        // It ends only if no observer has given it another order.
        let follows = state.follows(group) && !group.members.is_empty();
        let ends = group.despawns && !follows;
        let known = ends.then(|| (Group::clone(group), group.last_changed()));
        self.commands.queue(move |world: &mut World| {
            let is_same = |group: Ref<Group>| {
                let is_known = |(order, tick): &(Group, Tick)| {
                    *group == *order || group.last_changed() == *tick
                };
                known.as_ref().is_some_and(is_known)
            };
            let group = world.get_entity(entity).ok().and_then(|group| group.get_ref::<Group>());
            if group.is_some_and(is_same) {
                world.despawn(entity);
            }
        });
    }
}
