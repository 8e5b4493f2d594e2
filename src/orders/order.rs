//! What a unit can be ordered to do, and what is said about it.

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use crate::{
    nav::query::PathFailure,
    request::{PathRequest, Target},
};

/// One order of an [`OrderQueue`](super::OrderQueue).
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Debug, PartialEq, Clone)]
pub enum Order {
    /// Go where the request leads. Done on arrival. A request that follows its target is done when it
    /// has caught up and another order waits; until then it goes on following.
    Go(PathRequest),
    /// Go from stop to stop, again and again. Does not end by itself, but fails when every stop in a
    /// row failed for a whole round; single stops that fail are skipped. Without stops it is done at
    /// once. Where a whole round takes no step (one stop only, or the way to the others is closed)
    /// the unit rests for half a second (32 ticks) before it tries again.
    Patrol {
        /// Where to, one after another.
        stops: Vec<PathRequest>,
        /// What comes after the last stop.
        mode: PatrolMode,
    },
    /// Stand for so many ticks, counted from the one in which the order is begun (a step under way
    /// is finished meanwhile). With 0 it is done at once.
    Hold {
        /// How long, in ticks.
        ticks: u32,
    },
    /// Stand until another order waits; at once done where one does already.
    HoldGround,
}

impl Order {
    /// Goes from stop to stop: cells, world positions or entities, each asked for with
    /// [`PathRequest::to`]. For other requests fill in [`Order::Patrol`].
    #[must_use]
    pub fn patrol(stops: impl IntoIterator<Item = impl Into<Target>>, mode: PatrolMode) -> Self {
        Self::Patrol { stops: stops.into_iter().map(PathRequest::to).collect(), mode }
    }
}

impl From<PathRequest> for Order {
    fn from(request: PathRequest) -> Self {
        Self::Go(request)
    }
}

/// In what order a patrol comes by its stops A, B, C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum PatrolMode {
    /// A B C B A B C ... (default)
    #[default]
    ThereAndBack,
    /// A B C A B C ...
    Round,
}

/// What becomes of the orders behind one that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum OnFailure {
    /// The next one is begun (default).
    #[default]
    Next,
    /// They are all dropped, as canceled.
    Stop,
}

/// Tells the orders of one queue apart; two queues may use the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct OrderId(pub(super) u64);

impl OrderId {
    /// The orders of a queue count up from 1 as they are given to it.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// How an order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub enum OrderOutcome {
    /// It was carried out.
    Done,
    /// There was no way; a patrol names what was wrong with the last stop it tried.
    Failed(PathFailure),
    /// It was taken back: by [`cancel`](super::OrderQueue::cancel),
    /// [`stop`](super::OrderQueue::stop), the failure of an order before it
    /// ([`OnFailure::Stop`]), removing the queue, or removing its request from the unit.
    Canceled,
    /// Others took its place: by [`replace`](super::OrderQueue::replace), another queue, or a
    /// request that the game put on the unit itself.
    Superseded,
}

/// A unit has begun an order of its queue.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct OrderBegun {
    /// Who.
    pub entity: Entity,
    /// Which.
    pub order: OrderId,
    /// It had been begun before, and another one came between.
    pub resumed: bool,
}

/// An order has come to its end, begun or not. Said once of every order, unless the unit is
/// despawned before.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct OrderEnded {
    /// Owner.
    pub entity: Entity,
    /// Which.
    pub order: OrderId,
    /// How.
    pub outcome: OrderOutcome,
}
