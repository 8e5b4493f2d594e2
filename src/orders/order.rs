//! Orders that a unit can be given, and the events about them.

use bevy::{ecs::entity::MapEntities, prelude::*};

use crate::{
    nav::PathFailure,
    request::{PathRequest, Target},
};

/// One order of an [`OrderQueue`](super::OrderQueue).
#[derive(Clone, Debug, MapEntities, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Clone)]
pub enum Order {
    /// Move to the target of the request. Done on arrival. A request that follows its target is done when it
    /// has caught up and another order waits; until then it keeps following.
    Go(#[entities] PathRequest),
    /// Move from stop to stop repeatedly, until it is canceled. Fails if all stops fail for a whole round;
    /// single stops that fail are skipped. Without stops it is done immediately. If a whole round
    /// takes no step (there is one stop only, or the others are unreachable), the unit rests for half a
    /// second (32 ticks) before it tries again.
    Patrol {
        /// The stops, in order.
        #[entities]
        stops: Vec<PathRequest>,
        /// What follows the last stop.
        mode: PatrolMode,
    },
    /// Wait for a number of ticks, counted from the tick in which the order begins (a step in progress is finished in that
    /// time). With 0 it is done immediately.
    Wait {
        /// Duration in ticks.
        ticks: u32,
    },
    /// Stay until another order is in the queue; done immediately if one is there already. Others may push the unit aside,
    /// unless it is [`Unpushable`](crate::unit::Unpushable).
    Stay,
}

impl Order {
    /// Creates a patrol over stops given as cells, world positions or entities, each requested with
    /// [`PathRequest::to`]. For other requests construct [`Order::Patrol`].
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

/// Order in which a patrol visits its stops A, B, C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum PatrolMode {
    /// A B C B A B C ... (default)
    #[default]
    ThereAndBack,
    /// A B C A B C ...
    Round,
}

/// What happens to the orders after one that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum OnFailure {
    /// The next order begins (default).
    #[default]
    Next,
    /// All orders after it are dropped with the outcome [`OrderOutcome::Canceled`].
    Stop,
}

/// Identifies an order within its queue; orders of different queues may have the same id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct OrderId(pub(super) u64);

impl OrderId {
    /// Returns the number of the order; the orders of a queue are numbered from 1 in the order in which they
    /// were given.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// How an order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub enum OrderOutcome {
    /// The order was carried out.
    Done,
    /// There was no path; a patrol gives the failure of the last stop it tried.
    Failed(PathFailure),
    /// The order was canceled: by [`cancel`](super::OrderQueue::cancel), [`stop`](super::OrderQueue::stop),
    /// the failure of an order before it ([`OnFailure::Stop`]), the removal of the queue, or the removal of
    /// its request from the unit.
    Canceled,
    /// The order was replaced: by [`replace`](super::OrderQueue::replace), another queue, or a request that
    /// the game itself inserted on the unit.
    Replaced,
}

/// A unit has begun an order of its queue.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct OrderBegun {
    /// The unit.
    pub entity: Entity,
    /// The order.
    pub order: OrderId,
    /// Whether the order had begun before and was interrupted by another one.
    pub resumed: bool,
}

/// An order has ended, whether it had begun or not. Triggered once for every order, unless the unit is
/// despawned before.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct OrderEnded {
    /// The unit.
    pub entity: Entity,
    /// The order.
    pub order: OrderId,
    /// How the order ended.
    pub outcome: OrderOutcome,
}
