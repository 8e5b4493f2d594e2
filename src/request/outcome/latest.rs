//! Which request of a unit is the latest.
//!
//! Input: insertions and removals of requests, as they happen. Output: entries of the inbox, and whether a request
//! is still the one that a unit's state is about.

use bevy::{
    ecs::{entity_disabling::Disabled, lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
};

use crate::{
    nav::{PathKind, Priority},
    request::{InboxEntry, PathRequest, RequestInbox, Target},
    unit::{PathStatus, RequestState},
};

/// Whether a request was inserted that has not been read from the inbox.
pub(crate) fn has_unread(state: &RequestState) -> bool {
    state.issued > state.accepted
}

/// Whether `request`, as found on a unit, is the one its state is about.
pub(crate) fn is_latest(request: Option<&PathRequest>, state: &RequestState) -> bool {
    request.is_some() && state.issued == state.accepted
}

/// A request was inserted: its unit waits for an answer from this moment on.
pub(in crate::request) fn note_issued(
    world: DeferredWorld,
    HookContext { entity, .. }: HookContext,
) {
    note_request(world, entity);
}

/// Notes the requests of units that were spawned before the plugin was added.
pub(crate) fn note_all(world: &mut World) {
    let mut requests = world.query_filtered::<Entity, (With<PathRequest>, Allow<Disabled>)>();
    let units: Vec<Entity> = requests.iter(world).collect();
    units.into_iter().for_each(|entity| note_request(world.into(), entity));
}

fn note_request(mut world: DeferredWorld, entity: Entity) {
    if let Some(mut status) = world.get_mut::<PathStatus>(entity) {
        status.set_if_neq(PathStatus::Searching);
    }
    let priority = world.get(entity).map(|request: &PathRequest| request.priority);
    let is_urgent = priority > Some(Priority::default());
    let Some(mut inbox) = world.get_resource_mut::<RequestInbox>() else {
        return;
    };
    let RequestInbox { urgent, entries, waiting, issued } = &mut *inbox;
    *issued += 1;
    let number = *issued;
    // If an entry of the unit waits already, it will be read for this request instead of the previous one.
    if waiting.get(&entity).is_none_or(|&before| is_urgent && !before) {
        waiting.insert(entity, is_urgent);
        let entries = if is_urgent { urgent } else { entries };
        entries.push(InboxEntry::Issued { entity });
    }
    if let Some(mut state) = world.get_mut::<RequestState>(entity) {
        state.issued = number;
    }
}

/// The request that was just dropped is removed, not replaced.
pub(in crate::request) fn note_removed(
    mut world: DeferredWorld,
    HookContext { entity, .. }: HookContext,
) {
    if let Some(mut state) = world.get_mut::<RequestState>(entity)
        && core::mem::take(&mut state.is_last_replaced)
    {
        state.replaced = state.replaced.saturating_sub(1);
        state.removed = state.removed.saturating_add(1);
    }
}

/// A request is about to be removed or replaced.
pub(in crate::request) fn note_dropped(
    mut world: DeferredWorld,
    HookContext { entity, .. }: HookContext,
) {
    let status = world.get(entity).copied().unwrap_or(PathStatus::Idle);
    let follows = || {
        let (request, state) = (world.get::<PathRequest>(entity)?, world.get(entity)?);
        let RequestState { attempt, .. } = *state;
        Some(request.follows && matches!(request.target_of(attempt), Target::Entity(_)))
    };
    // This is a member of a group that had arrived and was sent on to another slot.
    let is_announced = world.get(entity).is_some_and(|state: &RequestState| state.is_announced);
    use PathStatus::{Arrived, Found};
    let has_ended = is_announced
        || matches!(status, Arrived(_) | Found(PathKind::Complete | PathKind::Partial));
    let follows = follows().unwrap_or(false);
    let was_under_way = if has_ended { follows } else { status.is_under_way() };
    let Some(inbox) = world.get_resource::<RequestInbox>() else {
        return;
    };
    let waits = inbox.waiting.contains_key(&entity);
    let Some(mut state) = world.get_mut::<RequestState>(entity) else {
        return;
    };
    // One that was never read is canceled when the waiting entry is read.
    let is_unread = waits && has_unread(&state);
    state.is_last_replaced = is_unread || was_under_way;
    state.replaced = state.replaced.saturating_add(u8::from(state.is_last_replaced));
    if matches!(status, PathStatus::Failed(_) | Arrived(_)) && !has_unread(&state) {
        state.ended = Some((status, follows));
    }
    let number = state.issued;
    if !is_unread && let Some(mut inbox) = world.get_resource_mut::<RequestInbox>() {
        inbox.entries.push(InboxEntry::Dropped { entity, number });
    }
}
