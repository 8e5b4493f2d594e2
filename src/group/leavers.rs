//! Which members have left their group.
//!
//! Input: requests and slots that were inserted or removed, as it happens. Output: groups that may have lost members; the members
//! of these are looked at one by one.

use bevy::{
    ecs::{
        entity::EntityHashSet,
        lifecycle::{Discard, HookContext, Insert},
        world::DeferredWorld,
    },
    prelude::*,
};

use super::{Group, GroupSlot, GroupState, assign_slots::SlotAssignment};
use crate::request::{PathRequest, Target};

pub(crate) fn build(app: &mut App) {
    app.add_observer(suspect_requester::<Insert>).add_observer(suspect_requester::<Discard>);
}

/// A unit gets another request, or has one no more: it may have left its group.
fn suspect_requester<E: EntityEvent>(event: On<E, PathRequest>, world: DeferredWorld) {
    suspect_unit(world, event.event_target());
}

/// A unit has another slot, or is about to have none.
pub(super) fn suspect(world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    suspect_unit(world, entity);
}

fn suspect_unit(mut world: DeferredWorld, entity: Entity) {
    if let Some(&GroupSlot { group, .. }) = world.get(entity)
        && let Some(mut state) = world.get_mut::<GroupState>(group)
    {
        state.has_suspects = true;
    }
}

impl SlotAssignment<'_, '_> {
    /// Removes members that are gone or have left, and those that are named twice; returns
    /// whether there were any.
    pub(super) fn drop_leavers(
        &self,
        group: Entity,
        order: &mut Group,
        state: &mut GroupState,
    ) -> bool {
        let has_suspects = core::mem::take(&mut state.has_suspects);
        if !(state.was_changed || has_suspects || state.has_refused) {
            return false;
        }
        let before = order.members.len();
        if state.was_changed {
            let mut seen = EntityHashSet::default();
            order.members.retain(|member| seen.insert(member.entity));
        }
        order.members.retain(|member| !self.has_left(group, member.entity, state));
        let are_fewer = order.members.len() < before;
        if let Some(known) = state.order.as_mut().filter(|_| are_fewer && !state.was_changed) {
            known.members.clone_from(&order.members); // not a change by the game
        }
        are_fewer
    }

    fn has_left(&self, group: Entity, member: Entity, state: &GroupState) -> bool {
        let Ok(unit) = self.places.units.get(member) else {
            return true; // despawned
        };
        let Some(&index) = state.index.get(&member) else {
            return false; // it has yet to be sent
        };
        let Some(cell) = state.slots[index].1 else {
            return self.issued(member) != state.issued[index];
        };
        let sent = state.sent[index].unwrap_or(cell);
        unit.slot.is_none_or(|slot| (slot.group, slot.cell) != (group, cell))
            || unit.request.is_none_or(|request| request.target != Target::Cell(sent))
    }
}
