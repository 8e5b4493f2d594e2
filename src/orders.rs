//! Order queues: units carry out one order after another.
//!
//! Input: [`OrderQueue`] components, filled by the game. Output: [`PathRequest`]s on the same
//! entities, one at a time, and [`OrderBegun`] and [`OrderEnded`] events.
//!
//! - The end of an order is noticed at the beginning of the next tick, and the next order begins in
//!   that tick. A unit gets one request per tick at most.
//! - Only units with news are looked at: the queue was changed, the request or its status was, or a
//!   hold is over. They are looked at in the order in which their queues were inserted, so that nothing
//!   shown depends on entities.
//! - Requests that the game inserts on a unit itself come first: the current order ends, and the queue
//!   waits until that request has ended.
//!
//! Requests are told apart by their numbers: every request inserted anywhere counts one up
//! ([`RequestState`](crate::prelude::RequestState)), and the queue remembers the number of its own.
//! The status counts once that number has been read from the inbox.

mod advance;
mod decide;
mod entry;
mod order;

pub(crate) use advance::advance_orders;
pub use order::{OnFailure, Order, OrderBegun, OrderEnded, OrderId, OrderOutcome, PatrolMode};

use std::collections::VecDeque;

use bevy::{
    ecs::{lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
    reflect::std_traits::ReflectDefault,
};

use self::{advance::clear_up, entry::Entry};
use crate::request::PathRequest;

/// Orders for a unit, carried out one after another by means of [`PathRequest`]s.
///
/// The last request stays on the unit when the queue is empty. A `PathRequest` that the game puts on
/// the unit itself ends the order under way ([`OrderOutcome::Superseded`]; taking the queue's request
/// off cancels it), and the queue goes on when that request has arrived or failed, or was taken
/// off. Removing the queue cancels all its orders and halts the unit; inserting another one
/// supersedes them.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let (gate, well, yard) = (Cell::new(3, 9), Cell::new(20, 4), Cell::new(8, 8));
/// let mut orders = OrderQueue::new()
///     .then(PathRequest::to(gate))
///     .then(Order::Hold { ticks: 128 })
///     .then(Order::patrol([gate, well], PatrolMode::ThereAndBack));
/// let first = orders.insert_first(PathRequest::to(yard));
/// assert_eq!(orders.len(), 4);
/// assert!(orders.cancel(first));
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(map_entities = map_targets, on_insert = note_put_on, on_discard = note_taken_off)]
#[require(RequestOwner)]
pub struct OrderQueue {
    current: Option<Entry>,
    waiting: VecDeque<Entry>,
    /// Begun and ended since the last look, to be told in the next.
    #[reflect(ignore)]
    news: Vec<News>,
    /// Orders given so far.
    given: u64,
    on_failure: OnFailure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Begun { order: OrderId, resumed: bool },
    Ended { order: OrderId, outcome: OrderOutcome },
}

impl OrderQueue {
    /// No orders.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more order at the end.
    #[must_use]
    pub fn then(mut self, order: impl Into<Order>) -> Self {
        self.append(order);
        self
    }

    /// The same with another answer to failures.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Adds an order behind all others.
    pub fn append(&mut self, order: impl Into<Order>) -> OrderId {
        let entry = self.entry(order);
        let id = entry.id;
        self.waiting.push_back(entry);
        id
    }

    /// Lets an order take the place of all others, the one under way included.
    pub fn replace(&mut self, order: impl Into<Order>) -> OrderId {
        self.end_all(OrderOutcome::Superseded);
        self.append(order)
    }

    /// Puts an order before all others. The one under way is put back behind it and taken up again
    /// afterwards, from where the unit is then: a patrol goes on to the stop it was on the way to, a
    /// hold stands for the ticks it had left.
    pub fn insert_first(&mut self, order: impl Into<Order>) -> OrderId {
        let entry = self.entry(order);
        let id = entry.id;
        self.put_back();
        self.waiting.push_front(entry);
        id
    }

    /// Cancels all orders; the unit halts on the next cell. A request that the game put on the unit
    /// itself is left alone.
    pub fn stop(&mut self) {
        self.end_all(OrderOutcome::Canceled);
    }

    /// Cancels one order. If it was under way the next one is begun; without one the unit halts on the
    /// next cell. False if there is no such order (any more).
    pub fn cancel(&mut self, order: OrderId) -> bool {
        if self.current.as_ref().is_some_and(|entry| entry.id == order) {
            self.end_current(OrderOutcome::Canceled);
            return true;
        }
        let Some(place) = self.waiting.iter().position(|entry| entry.id == order) else {
            return false;
        };
        self.end_waiting(place, OrderOutcome::Canceled);
        true
    }

    /// For units that are no [`Critter`](crate::prelude::Critter)s and are moved by the game: says
    /// that the unit has come to the end of its path. False if no order under way waits for that.
    pub fn reached(&mut self) -> bool {
        let Some(entry) = self.current.as_mut().filter(|entry| entry.is_on_its_way()) else {
            return false;
        };
        entry.reached = true;
        true
    }

    /// The order under way.
    #[must_use]
    pub fn current(&self) -> Option<(OrderId, &Order)> {
        self.current.as_ref().map(|entry| (entry.id, &entry.order))
    }

    /// The orders not yet begun or put back, the next one first.
    pub fn waiting(&self) -> impl Iterator<Item = (OrderId, &Order)> {
        self.waiting.iter().map(|entry| (entry.id, &entry.order))
    }

    /// How many orders there are, the one under way included.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.current.is_some()) + self.waiting.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn entry(&mut self, order: impl Into<Order>) -> Entry {
        self.given += 1;
        Entry::new(OrderId(self.given), order.into())
    }

    /// Puts the order under way back to the front of the line.
    fn put_back(&mut self) {
        if let Some(mut entry) = self.current.take() {
            entry.interrupted = true;
            self.waiting.push_front(entry);
        }
    }

    fn end_current(&mut self, outcome: OrderOutcome) {
        if let Some(entry) = self.current.take() {
            self.news.push(News::Ended { order: entry.id, outcome });
        }
    }

    fn end_waiting(&mut self, place: usize, outcome: OrderOutcome) {
        if let Some(entry) = self.waiting.remove(place) {
            self.news.push(News::Ended { order: entry.id, outcome });
        }
    }

    fn end_all(&mut self, outcome: OrderOutcome) {
        self.end_current(outcome);
        while !self.waiting.is_empty() {
            self.end_waiting(0, outcome);
        }
    }
}

/// Which request is on a unit with an [`OrderQueue`], and who inserted it.
#[derive(Component, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct RequestOwner {
    /// Sequence number of the queue: in this order units are looked at.
    number: u64,
    /// Number of the request last seen on the unit; 0 before the first.
    issued: u64,
    /// Who waits for the end of that request.
    owner: Owner,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
enum Owner {
    /// None: it has ended.
    #[default]
    None,
    /// The queue: it inserted it.
    Queue,
    /// The game: it inserted it, and the queue has to wait.
    Game,
}

/// Queues inserted so far.
#[derive(Resource, Debug, Default)]
pub(crate) struct QueuesSeen(u64);

fn note_put_on(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let number = world.get_resource_mut::<QueuesSeen>().map_or(0, |mut seen| {
        seen.0 += 1;
        seen.0
    });
    if let Some(mut slot) = world.get_mut::<RequestOwner>(entity) {
        slot.number = number;
    }
    // A queue that was cloned in the middle of an order takes it up again.
    if let Some(mut queue) = world.get_mut::<OrderQueue>(entity) {
        queue.put_back();
    }
}

fn note_taken_off(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let Some(queue) = world.get::<OrderQueue>(entity) else {
        return;
    };
    let news = queue.news.clone();
    let all = queue.current.iter().chain(&queue.waiting);
    let left: Vec<OrderId> = all.map(|entry| entry.id).collect();
    // Later, when it is known whether another queue takes its place.
    world.commands().queue(move |world: &mut World| clear_up(world, entity, news, left));
}

fn map_targets<M: EntityMapper>(queue: &mut OrderQueue, mapper: &mut M) {
    for entry in queue.current.iter_mut().chain(&mut queue.waiting) {
        let requests: &mut [PathRequest] = match &mut entry.order {
            Order::Go(request) => std::slice::from_mut(request),
            Order::Patrol { stops, .. } => stops,
            Order::Hold { .. } | Order::HoldGround => &mut [],
        };
        for request in requests {
            <PathRequest as Component>::map_entities(request, mapper);
        }
    }
}
