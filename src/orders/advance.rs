//! Looks at units with news, once a tick, and acts: announces orders that begin and end, inserts requests and
//! removes them.
//!
//! The latter by commands, which check again whether anything has come between: a request by the game,
//! or a change of the queue by an observer of those events.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::{
    News, OrderBegun, OrderEnded, OrderId, OrderOutcome, OrderQueue, Owner, RequestOwner,
    decide::{Outcome, View},
};
use crate::{
    request::PathRequest,
    unit::{PathStatus, RequestState},
};

/// What orders read and write of a unit.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Orderly {
    queue: &'static mut OrderQueue,
    owner: &'static mut RequestOwner,
    request: Option<&'static PathRequest>,
    outcome: Option<Outcome>,
}

/// Units that something has happened to.
type WithNews =
    (With<OrderQueue>, Or<(Changed<OrderQueue>, Changed<PathRequest>, Changed<PathStatus>)>);

/// Units to look at.
#[derive(Default)]
pub(crate) struct Turns {
    /// Units that stand for a while.
    resting: Vec<Entity>,
    /// Numbers of queues to be looked at in this tick, and their units.
    due: Vec<(u64, Entity)>,
}

/// Carries the orders of all units on by a tick. Runs before requests are accepted.
pub(crate) fn advance_orders(
    mut turns: Local<Turns>,
    mut units: ParamSet<(
        Query<(Entity, &'static RequestOwner), (WithNews, Allow<Disabled>)>,
        Query<Orderly, Allow<Disabled>>,
    )>,
    mut commands: Commands,
) {
    let Turns { resting, due } = &mut *turns;
    due.extend(units.p0().iter().map(|(entity, slot)| (slot.number, entity)));
    let mut units = units.p1();
    resting.retain(|&entity| {
        let Ok(OrderlyItem { mut queue, owner, .. }) = units.get_mut(entity) else {
            return false;
        };
        let rest = queue.bypass_change_detection().rest_a_tick();
        due.extend((rest == Some(true)).then_some((owner.number, entity)));
        rest == Some(false)
    });
    due.sort_unstable();
    due.dedup(); // a second look would not see yet what the first one did
    let known = resting.len();
    for (number, entity) in due.drain(..) {
        let Ok(mut unit) = units.get_mut(entity) else {
            continue;
        };
        let view = View::new(unit.request, unit.outcome);
        let queue = &mut unit.queue;
        let todo = queue.decide(&mut unit.owner, &view);
        for news in queue.news.drain(..) {
            tell(entity, news, &mut commands);
        }
        resting.extend(todo.rests.then_some(entity));
        if let Some((order, request)) = todo.put_on {
            commands.queue(move |world: &mut World| put_on(world, entity, number, order, request));
        }
        if todo.take_off {
            let issued = view.issued;
            commands.queue(move |world: &mut World| take_off(world, entity, issued));
        }
    }
    if resting.len() > known {
        resting.sort_unstable();
        resting.dedup(); // one may rest again that was put back while it did
    }
}

fn tell(entity: Entity, news: News, commands: &mut Commands) {
    match news {
        News::Begun { order, resumed } => commands.trigger(OrderBegun { entity, order, resumed }),
        News::Ended { order, outcome } => commands.trigger(OrderEnded { entity, order, outcome }),
    }
}

/// Number of the request last put on a unit.
fn issued_of(world: &World, entity: Entity) -> u64 {
    world.get::<RequestState>(entity).map_or(0, |state| state.issued)
}

/// Puts an order's request on its unit, unless something has come between: then the next look sees
/// to it.
fn put_on(world: &mut World, entity: Entity, number: u64, order: OrderId, request: PathRequest) {
    let queue = world.get::<OrderQueue>(entity);
    let is_current = queue.and_then(OrderQueue::current).is_some_and(|(id, _)| id == order);
    let issued = issued_of(world, entity);
    let slot = world.get::<RequestOwner>(entity);
    let is_known = slot.is_some_and(|slot| slot.number == number && slot.issued == issued);
    if !is_current || !is_known {
        return;
    }
    if let Ok(mut unit) = world.get_entity_mut(entity) {
        unit.insert(request);
    }
    let issued = issued_of(world, entity);
    if let Some(mut slot) = world.get_mut::<RequestOwner>(entity) {
        slot.issued = issued;
        slot.owner = Owner::Queue;
    }
}

/// Takes the request with this number off a unit.
fn take_off(world: &mut World, entity: Entity, issued: u64) {
    if issued_of(world, entity) == issued
        && let Ok(mut unit) = world.get_entity_mut(entity)
    {
        unit.remove::<PathRequest>();
    }
}

/// A queue was taken off its unit, or another one has taken its place: tells what there was to tell and
/// ends the orders left.
pub(super) fn clear_up(world: &mut World, entity: Entity, news: Vec<News>, left: Vec<OrderId>) {
    if world.get_entity(entity).is_err() {
        return; // despawned
    }
    let is_replaced = world.get::<OrderQueue>(entity).is_some();
    if !is_replaced
        && let Some(mut slot) = world.get_mut::<RequestOwner>(entity)
        && slot.owner == Owner::Queue
    {
        slot.owner = Owner::None;
        let issued = slot.issued;
        take_off(world, entity, issued);
    }
    let outcome = if is_replaced { OrderOutcome::Superseded } else { OrderOutcome::Canceled };
    let ended = left.into_iter().map(|order| News::Ended { order, outcome });
    let mut commands = world.commands();
    for news in news.into_iter().chain(ended) {
        tell(entity, news, &mut commands);
    }
}
