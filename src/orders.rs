//! Order queues: units carry out orders one after another.
//!
//! Input: [`OrderQueue`] components, filled by the game. Output: [`PathRequest`]s on
//! the same entities, one at a time, and [`OrderBegun`] and [`OrderEnded`] events.
//!
//! - The end of an order is detected at the start of the next tick, and the next order begins in that tick. A
//!   unit gets at most one request per tick.
//! - Only units with a change are processed: the queue was changed, the request or its status was changed, or
//!   a wait is over. They are processed in the order in which their queues were inserted, so that nothing
//!   observable depends on entity ids.
//! - Requests that the game itself inserts on a unit take precedence: the current order ends, and the queue
//!   waits until that request has ended.
//!
//! Requests are identified by number: every request inserted anywhere increments a counter
//! ([`RequestState`](crate::prelude::RequestState)), and the queue stores the number of its own request. The
//! status is valid once that number has been read from the inbox.

mod advance;
mod decide;
mod entry;
mod order;
mod stop;

pub(crate) use advance::advance_orders;
pub use order::{OnFailure, Order, OrderBegun, OrderEnded, OrderId, OrderOutcome, PatrolMode};
pub use stop::stop_unit;

use std::{collections::VecDeque, ops::RangeBounds};

use bevy::{
    ecs::{
        entity::MapEntities, entity_disabling::Disabled, lifecycle::HookContext,
        world::DeferredWorld,
    },
    prelude::*,
};

use self::{advance::clear_up, entry::QueuedOrder};
use crate::request::PathRequest;

/// Orders for a unit, carried out one after another as [`PathRequest`]s.
///
/// The last request stays on the unit when the queue is empty. A `PathRequest` that the game itself inserts on the
/// unit ends the current order ([`OrderOutcome::Replaced`]; removing the queue's request cancels the
/// order), and the queue continues when that request has arrived, failed or been removed. Removing the queue
/// cancels all its orders and halts the unit; inserting another queue supersedes them.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let (gate, well, yard) = (Cell::new(3, 9), Cell::new(20, 4), Cell::new(8, 8));
/// let mut orders = OrderQueue::new()
///     .then(PathRequest::to(gate))
///     .then(Order::Wait { ticks: 128 })
///     .then(Order::patrol([gate, well], PatrolMode::ThereAndBack));
/// let first = orders.insert_first(PathRequest::to(yard));
/// assert_eq!(orders.len(), 4);
/// assert!(orders.cancel(first));
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_insert = on_inserted, on_discard = on_discarded)]
#[require(RequestOwner)]
#[must_use]
pub struct OrderQueue {
    #[entities]
    current: Option<QueuedOrder>,
    #[entities]
    waiting: VecDeque<QueuedOrder>,
    /// Begin and end events since the last processing, triggered in the next one.
    #[reflect(ignore)]
    events: Vec<QueueEvent>,
    /// Number of orders given so far.
    given: u64,
    on_failure: OnFailure,
    /// The game has reported that the unit reached the end of its path.
    reached: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
enum QueueEvent {
    Begun { order: OrderId, resumed: bool },
    Ended { order: OrderId, outcome: OrderOutcome },
}

impl OrderQueue {
    /// Creates a queue without orders.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an order at the end.
    pub fn then(mut self, order: impl Into<Order>) -> Self {
        self.append(order);
        self
    }

    /// Sets what happens after a failure.
    pub fn on_failure(self, on_failure: OnFailure) -> Self {
        Self { on_failure, ..self }
    }

    /// Adds an order after all others and returns its id.
    pub fn append(&mut self, order: impl Into<Order>) -> OrderId {
        self.add(self.waiting.len(), order)
    }

    /// Replaces all orders, including the current one, by this one.
    pub fn replace(&mut self, order: impl Into<Order>) -> OrderId {
        self.end_all(OrderOutcome::Replaced);
        self.append(order)
    }

    /// Puts an order before all others. The current order goes back behind it and is resumed afterwards, from
    /// the unit's position at that time: a patrol continues to the stop it was heading for, a `Wait` lasts for
    /// its remaining ticks. If the unit has come to another grid over links, the goal stays on its grid.
    pub fn insert_first(&mut self, order: impl Into<Order>) -> OrderId {
        self.put_back();
        self.add(0, order)
    }

    /// Cancels all orders; the unit halts on the next cell. A request that the game itself inserted on
    /// the unit is not affected.
    pub fn stop(&mut self) {
        self.end_all(OrderOutcome::Canceled);
    }

    /// Cancels one order. If it was the current one, the next order begins; without a next order the unit
    /// halts on the next cell. Returns false if there is no such order (any more).
    pub fn cancel(&mut self, order: OrderId) -> bool {
        let before = self.len();
        if self.current.as_ref().is_some_and(|entry| entry.id == order) {
            self.end_current(OrderOutcome::Canceled);
        } else if let Some(index) = self.waiting.iter().position(|entry| entry.id == order) {
            self.end_waiting(index..=index, OrderOutcome::Canceled);
        }
        self.len() < before
    }

    /// For units that are not [`Critter`](crate::prelude::Critter)s and are moved by the game: reports that
    /// the unit has reached the end of its path. Returns whether an order is under way that waits for that.
    ///
    /// The call counts only if the path leads all the way: the status is [`Found`](crate::prelude::PathStatus::Found), with the
    /// kind `Complete` or `Partial`. While the queue waits for a request that the game or a [`Group`](crate::prelude::Group) has
    /// inserted, the call ends the wait, though it returns false.
    pub fn reached(&mut self) -> bool {
        let is_on_its_way = self.current.as_ref().is_some_and(QueuedOrder::is_on_its_way);
        self.reached = is_on_its_way || self.current.is_none();
        is_on_its_way
    }

    /// Returns the current order.
    #[must_use]
    pub fn current(&self) -> Option<(OrderId, &Order)> {
        self.current.as_ref().map(|entry| (entry.id, &entry.order))
    }

    /// Returns the orders that have not begun or were put back, the next one first.
    pub fn waiting(&self) -> impl Iterator<Item = (OrderId, &Order)> {
        self.waiting.iter().map(|entry| (entry.id, &entry.order))
    }

    /// Returns the number of orders, including the current one.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.current.is_some()) + self.waiting.len()
    }

    /// Returns whether there are no orders.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn add(&mut self, index: usize, order: impl Into<Order>) -> OrderId {
        self.given += 1;
        let id = OrderId(self.given);
        self.waiting.insert(index, QueuedOrder::new(id, order.into()));
        id
    }

    /// Puts the current order back to the front of the queue.
    fn put_back(&mut self) {
        if let Some(mut entry) = self.current.take() {
            entry.interrupted = true;
            self.waiting.push_front(entry);
        }
    }

    fn end_current(&mut self, outcome: OrderOutcome) {
        if let Some(entry) = self.current.take() {
            self.events.push(QueueEvent::Ended { order: entry.id, outcome });
        }
    }

    fn end_waiting(&mut self, which: impl RangeBounds<usize>, outcome: OrderOutcome) {
        let ended = self.waiting.drain(which).map(|entry| entry.id);
        self.events.extend(ended.map(|order| QueueEvent::Ended { order, outcome }));
    }

    fn end_all(&mut self, outcome: OrderOutcome) {
        self.end_current(outcome);
        self.end_waiting(.., outcome);
    }
}

/// Identifies the request on a unit with an [`OrderQueue`], and its owner.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, Clone)]
#[component(clone_behavior = Ignore)]
pub(crate) struct RequestOwner {
    /// Sequence number of the queue; units are processed in this order.
    number: u64,
    /// Number of the request last seen on the unit; 0 before the first.
    issued: u64,
    /// Owner of that request, until it ends.
    owner: Owner,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
enum Owner {
    /// No owner: the request has ended.
    #[default]
    None,
    /// The queue inserted the request for this order; for number 0, another queue did before.
    Queue(OrderId),
    /// The game inserted the request, and the queue waits.
    Game,
}

/// All queues.
#[derive(Resource, Clone, Debug, Default, MapEntities)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct OrderQueues {
    /// Number of queues inserted so far.
    inserted: u64,
    /// Units whose order rests.
    #[entities]
    resting: Vec<Entity>,
    /// Units whose request was removed since the last tick.
    #[entities]
    noted: Vec<Entity>,
}

/// Registers the observers.
pub(crate) fn build(app: &mut App) {
    type WithQueue = (With<OrderQueue>, Allow<Disabled>);
    app.add_observer(
        |removed: On<Remove, PathRequest>,
         units: Query<(), WithQueue>,
         mut queues: ResMut<OrderQueues>| {
            if units.contains(removed.entity) {
                queues.noted.push(removed.entity);
            }
        },
    );
}

fn on_inserted(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let number = world.get_resource_mut::<OrderQueues>().map_or(0, |mut queues| {
        queues.inserted += 1;
        queues.inserted
    });
    if let Some(mut slot) = world.get_mut::<RequestOwner>(entity) {
        slot.number = number;
        if matches!(slot.owner, Owner::Queue(_)) {
            slot.owner = Owner::Queue(OrderId(0));
        }
    }
    // A queue that was cloned in the middle of an order resumes the order.
    if let Some(mut queue) = world.get_mut::<OrderQueue>(entity) {
        queue.put_back();
    }
}

fn on_discarded(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let Some(queue) = world.get::<OrderQueue>(entity) else {
        return;
    };
    let events = queue.events.clone();
    let all = queue.current.iter().chain(&queue.waiting);
    let remaining: Vec<OrderId> = all.map(|entry| entry.id).collect();
    // Deferred until it is known whether another queue replaces this one.
    world.commands().queue(move |world: &mut World| clear_up(world, entity, events, remaining));
}
