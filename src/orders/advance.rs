//! Processes units with a change, once per tick: triggers events for orders that begin and end, inserts and
//! removes requests.
//!
//! Requests are inserted and removed by commands, which check again whether anything has intervened: a
//! request by the game, or a change of the queue by an observer of those events.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::{
    OrderBegun, OrderEnded, OrderId, OrderOutcome, OrderQueue, OrderQueues, Owner, QueueEvent,
    RequestOwner, decide::UnitRequest,
};
use crate::{
    request::PathRequest,
    unit::{PathStatus, RequestState},
};

/// The components of a unit that orders read and write.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct OrderedUnit {
    queue: &'static mut OrderQueue,
    owner: &'static mut RequestOwner,
    request: UnitRequest,
}

/// Filter for units with a change.
type Modified =
    (With<OrderQueue>, Or<(Changed<OrderQueue>, Changed<PathRequest>, Changed<PathStatus>)>);

/// Advances the orders of all units by a tick. Runs before requests are accepted.
pub(crate) fn advance_orders(
    mut queues: ResMut<OrderQueues>,
    // Numbers of the queues to process in this tick, and their units.
    mut due: Local<Vec<(u64, Entity)>>,
    mut units: ParamSet<(
        Query<(Entity, &'static RequestOwner), (Modified, Allow<Disabled>)>,
        Query<OrderedUnit, Allow<Disabled>>,
    )>,
    mut commands: Commands,
) {
    let OrderQueues { resting, noted, .. } = &mut *queues;
    due.extend(units.p0().iter().map(|(entity, slot)| (slot.number, entity)));
    let mut units = units.p1();
    let noted = noted.drain(..);
    due.extend(noted.filter_map(|entity| Some((units.get(entity).ok()?.owner.number, entity))));
    resting.retain(|&entity| {
        let Ok(OrderedUnitItem { mut queue, owner, .. }) = units.get_mut(entity) else {
            return false;
        };
        let rest = queue.bypass_change_detection().tick_rest();
        due.extend((rest == Some(true)).then_some((owner.number, entity)));
        rest == Some(false)
    });
    due.sort_unstable();
    due.dedup(); // processing twice would miss the deferred commands of the first time
    let known = resting.len();
    for (number, entity) in due.drain(..) {
        let Ok(mut unit) = units.get_mut(entity) else {
            continue;
        };
        let queue = &mut unit.queue;
        let todo = queue.decide(&mut unit.owner, &unit.request);
        queue.events.drain(..).for_each(|event| trigger(entity, event, &mut commands));
        resting.extend(todo.rests.then_some(entity));
        if let Some((order, request)) = todo.insert {
            commands.queue(move |world: &mut World| insert(world, entity, number, order, request));
        }
        if todo.remove {
            let issued = unit.request.issued();
            commands.queue(move |world: &mut World| remove(world, entity, issued));
        }
    }
    if resting.len() > known {
        resting.sort_unstable();
        resting.dedup(); // an order put back while resting may rest again
    }
}

fn trigger(entity: Entity, event: QueueEvent, commands: &mut Commands) {
    match event {
        QueueEvent::Begun { order, resumed } => {
            commands.trigger(OrderBegun { entity, order, resumed });
        }
        QueueEvent::Ended { order, outcome } => {
            commands.trigger(OrderEnded { entity, order, outcome });
        }
    }
}

/// Returns the number of the request last inserted on a unit.
fn issued_of(world: &World, entity: Entity) -> u64 {
    world.get::<RequestState>(entity).map_or(0, |state| state.issued)
}

/// Inserts an order's request on its unit, unless something has intervened: then the next processing handles
/// it.
fn insert(world: &mut World, entity: Entity, number: u64, order: OrderId, request: PathRequest) {
    let queue = world.get::<OrderQueue>(entity);
    let is_current = queue.and_then(OrderQueue::current).is_some_and(|(id, _)| id == order);
    let issued = issued_of(world, entity);
    let slot = world.get::<RequestOwner>(entity);
    let is_known = slot.is_some_and(|slot| slot.number == number && slot.issued == issued);
    if !is_current || !is_known {
        return;
    }
    world.entity_mut(entity).insert(request);
    let issued = issued_of(world, entity);
    if let Some(mut slot) = world.get_mut::<RequestOwner>(entity) {
        slot.issued = issued;
        slot.owner = Owner::Queue(order);
    }
}

/// Removes the request with this number from a unit.
fn remove(world: &mut World, entity: Entity, issued: u64) {
    if issued_of(world, entity) == issued
        && let Ok(mut unit) = world.get_entity_mut(entity)
    {
        unit.remove::<PathRequest>();
    }
}

/// Handles a queue that was removed from its unit or replaced by another one: triggers its pending events and
/// ends its remaining orders.
pub(super) fn clear_up(
    world: &mut World,
    entity: Entity,
    events: Vec<QueueEvent>,
    remaining: Vec<OrderId>,
) {
    if world.get_entity(entity).is_err() {
        return; // despawned
    }
    let is_replaced = world.get::<OrderQueue>(entity).is_some();
    if !is_replaced
        && let Some(mut slot) = world.get_mut::<RequestOwner>(entity)
        && matches!(slot.owner, Owner::Queue(_))
    {
        slot.owner = Owner::None;
        let issued = slot.issued;
        remove(world, entity, issued);
    }
    let outcome = if is_replaced { OrderOutcome::Replaced } else { OrderOutcome::Canceled };
    let ended = remaining.into_iter().map(|order| QueueEvent::Ended { order, outcome });
    let mut commands = world.commands();
    events.into_iter().chain(ended).for_each(|event| trigger(entity, event, &mut commands));
}
