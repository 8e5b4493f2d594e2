//! Looks at units with news, once a tick, and does what comes of it: tells what has begun and ended,
//! puts requests on and takes them off.
//!
//! The latter by commands, which look again whether anything has come between: a request by the game,
//! or a change of the queue by whoever heard an order begin or end.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{
    News, OrderBegun, OrderEnded, OrderId, OrderOutcome, OrderQueue, QueueSlot, Whose,
    look::{Known, View},
};
use crate::request::{ActiveOrder, PathRequest, PathStatus};

type Unit = (
    &'static mut OrderQueue,
    &'static mut QueueSlot,
    Option<&'static PathRequest>,
    Option<Known<'static>>,
);

/// Units that something has happened to.
type WithNews =
    (With<OrderQueue>, Or<(Changed<OrderQueue>, Changed<PathRequest>, Changed<PathStatus>)>);

/// Who is to be looked at.
#[derive(Default)]
pub(crate) struct Turns {
    /// Units whose orders let them stand for a while.
    resting: Vec<Entity>,
    /// Numbers of queues to be looked at in this tick, and their units.
    due: Vec<(u64, Entity)>,
}

/// Carries the orders of all units on by a tick. Runs before requests are accepted.
pub(crate) fn carry_on_orders(
    mut turns: Local<Turns>,
    mut units: ParamSet<(
        Query<(Entity, &'static QueueSlot), (WithNews, Allow<Disabled>)>,
        Query<Unit, Allow<Disabled>>,
    )>,
    mut commands: Commands,
) {
    let Turns { resting, due } = &mut *turns;
    due.extend(units.p0().iter().map(|(entity, slot)| (slot.number, entity)));
    let mut units = units.p1();
    resting.retain(|&entity| {
        let Ok((mut queue, slot, ..)) = units.get_mut(entity) else {
            return false;
        };
        let rest = queue.bypass_change_detection().rest_a_tick();
        due.extend((rest == Some(true)).then_some((slot.number, entity)));
        rest == Some(false)
    });
    due.sort_unstable();
    due.dedup(); // a second look would not see yet what the first one did
    let known = resting.len();
    for (number, entity) in due.drain(..) {
        let Ok((mut queue, mut slot, request, known)) = units.get_mut(entity) else {
            continue;
        };
        let view = View::new(request, known);
        let todo = queue.look(&mut slot, &view);
        for news in queue.news.drain(..) {
            tell(entity, news, &mut commands);
        }
        resting.extend(todo.rests.then_some(entity));
        if let Some((order, request)) = todo.put_on {
            commands.queue(move |world: &mut World| put_on(world, entity, number, order, request));
        }
        if todo.take_off {
            let asked = view.asked;
            commands.queue(move |world: &mut World| take_off(world, entity, asked));
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
fn asked_of(world: &World, entity: Entity) -> u64 {
    world.get::<ActiveOrder>(entity).map_or(0, |order| order.asked)
}

/// Puts an order's request on its unit, unless something has come between: then the next look sees
/// to it.
fn put_on(world: &mut World, entity: Entity, number: u64, order: OrderId, request: PathRequest) {
    let queue = world.get::<OrderQueue>(entity);
    let is_current = queue.and_then(OrderQueue::current).is_some_and(|(id, _)| id == order);
    let asked = asked_of(world, entity);
    let slot = world.get::<QueueSlot>(entity);
    let is_known = slot.is_some_and(|slot| slot.number == number && slot.asked == asked);
    if !is_current || !is_known {
        return;
    }
    if let Ok(mut unit) = world.get_entity_mut(entity) {
        unit.insert(request);
    }
    let asked = asked_of(world, entity);
    if let Some(mut slot) = world.get_mut::<QueueSlot>(entity) {
        slot.asked = asked;
        slot.whose = Whose::Queue;
    }
}

/// Takes the request with this number off a unit.
fn take_off(world: &mut World, entity: Entity, asked: u64) {
    if asked_of(world, entity) == asked
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
        && let Some(mut slot) = world.get_mut::<QueueSlot>(entity)
        && slot.whose == Whose::Queue
    {
        slot.whose = Whose::Nobody;
        let asked = slot.asked;
        take_off(world, entity, asked);
    }
    let outcome = if is_replaced { OrderOutcome::Superseded } else { OrderOutcome::Canceled };
    let ended = left.into_iter().map(|order| News::Ended { order, outcome });
    let mut commands = world.commands();
    for news in news.into_iter().chain(ended) {
        tell(entity, news, &mut commands);
    }
}
