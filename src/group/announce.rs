//! Notices when all members of a group have come to rest.
//!
//! Input: the statuses of the members. Output: [`GroupArrived`]; the group may despawn itself then.

use bevy::{ecs::change_detection::Tick, prelude::*};

use super::{Group, GroupArrived, GroupMember, GroupState, assign_slots::SlotAssignment};
use crate::{nav::PathKind, unit::PathStatus};

impl SlotAssignment<'_, '_> {
    /// Announces when all members have come to rest; the group may despawn itself then.
    pub(super) fn announce(&mut self, entity: Entity, group: &Mut<Group>, state: &mut GroupState) {
        let Some((arrived, failed)) = self.at_rest(group, state) else {
            return;
        };
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
            let Ok(unit) = world.get_entity(entity) else {
                return;
            };
            let was_inserted = unit.get::<GroupState>().is_some_and(|state| state.order.is_none());
            if !was_inserted && unit.get_ref::<Group>().is_some_and(is_same) {
                world.despawn(entity);
            }
        });
    }

    /// How many members have arrived, and how many have failed, when all have come to rest.
    fn at_rest(&self, group: &Group, state: &mut GroupState) -> Option<(u32, u32)> {
        let end_of = |member: &GroupMember| {
            use PathStatus::{Arrived, Failed, Found};
            let unit = self.places.units.get(member.entity).ok();
            let status = unit.as_ref().and_then(|unit| unit.status);
            let is_moved =
                unit.as_ref().is_some_and(|unit| unit.critter.is_some() || unit.steering.is_some());
            match (state.slot_of(member.entity), status) {
                (None, _) | (_, Some(Failed(_))) => Some(false),
                (_, Some(Arrived(_))) => Some(true),
                // If the game moves a unit itself, no arrival is reported: its path counts.
                (_, Some(Found(PathKind::Complete | PathKind::Partial))) if !is_moved => Some(true),
                _ => None,
            }
        };
        let known = group.members.get(state.open_member);
        let is_there = |member: &GroupMember| self.places.units.contains(member.entity);
        if known.is_some_and(|member| is_there(member) && end_of(member).is_none()) {
            return None;
        }
        let (mut arrived, mut failed) = (0, 0);
        for (index, member) in group.members.iter().enumerate() {
            match end_of(member) {
                Some(true) => arrived += 1,
                Some(false) => failed += 1,
                None => {
                    state.open_member = index;
                    // One with a component that disables it in this game is gone as well.
                    state.has_suspects |= !self.places.units.contains(member.entity);
                    return None;
                }
            }
        }
        Some((arrived, failed))
    }
}
