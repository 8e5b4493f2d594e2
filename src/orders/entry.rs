//! An order in the queue, and its progress.
//!
//! Input: the end of its request, and elapsed ticks. Output: the next action. Independent of the unit, its
//! components and the clock: a rest counts down, so that it can be saved and copied.

use bevy::{ecs::entity::MapEntities, prelude::*};

use super::order::{Order, OrderId, OrderOutcome, PatrolMode};
use crate::{
    nav::{GridId, PathFailure},
    request::{PathRequest, Target},
};

/// Rest of a patrol after a round without any step, in ticks: half a second at Bevy's 64 ticks per second.
/// Short enough to look responsive, long enough to cost nothing.
const PATROL_REST: u32 = 32;

/// An order and its state.
#[derive(Clone, Debug, MapEntities, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Clone)]
pub(super) struct QueuedOrder {
    pub(super) id: OrderId,
    #[entities]
    pub(super) order: Order,
    /// Whether it has been begun, even if it is not the current order now.
    pub(super) begun: bool,
    /// Whether another order was put before it while it was the current one, and it has not been processed
    /// since.
    pub(super) interrupted: bool,
    /// Whether it rests for the remaining ticks.
    pub(super) is_resting: bool,
    /// Remaining ticks of a `Wait` or of a patrol's rest.
    left: u32,
    patrol: PatrolProgress,
    /// The grid of a goal that names none, if the order was interrupted after its unit had come to another grid.
    #[reflect(ignore)]
    goal_grid: Option<GridId>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// Arrived. `moved`: its path had steps. `follows`: it continues when its target moves.
    Arrived { moved: bool, follows: bool },
    /// Failed without a path.
    Failed(PathFailure),
}

/// Next action for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// None: it continues.
    Unchanged,
    /// Insert its (next) request.
    Request,
    /// Rest for a while.
    Rest,
    /// It is completed, or has failed.
    Ended(OrderOutcome),
}

/// It is completed.
const DONE: Progress = Progress::Ended(OrderOutcome::Done);

impl QueuedOrder {
    /// Creates an order that has not begun.
    pub(super) fn new(id: OrderId, order: Order) -> Self {
        let left = if let Order::Wait { ticks } = order { ticks } else { 0 };
        let patrol = PatrolProgress::default();
        let (begun, interrupted, is_resting, goal_grid) = (false, false, false, None);
        Self { id, order, begun, interrupted, is_resting, left, patrol, goal_grid }
    }

    /// Returns whether it is carried out by requests.
    pub(super) const fn uses_requests(&self) -> bool {
        matches!(self.order, Order::Go(_) | Order::Patrol { .. })
    }

    /// Returns whether it waits for the end of a request, provided it is the current order.
    pub(super) const fn is_on_its_way(&self) -> bool {
        self.uses_requests() && !self.is_resting
    }

    /// Returns the request to insert now.
    pub(super) fn request(&self) -> Option<PathRequest> {
        let request = match &self.order {
            Order::Go(request) => request,
            Order::Patrol { stops, mode } => stops.get(self.patrol.stop(stops.len(), *mode))?,
            Order::Wait { .. } | Order::Stay => return None,
        };
        // An entity is on a grid of its own.
        let is_entity = |target: &Target| matches!(target, Target::Entity(_) | Target::Nearest(_));
        let is_anywhere = is_entity(&request.target) || request.alternatives.iter().any(is_entity);
        let goal_grid = request.goal_grid.or(self.goal_grid.filter(|_| !is_anywhere));
        Some(PathRequest { goal_grid, ..request.clone() })
    }

    /// Begins or resumes the order.
    pub(super) fn begin(&mut self, another_waits: bool) -> Progress {
        self.begun = true;
        match &self.order {
            Order::Patrol { stops, .. } if stops.is_empty() => DONE,
            Order::Wait { .. } if self.left == 0 => DONE,
            Order::Stay if another_waits => DONE,
            Order::Go(_) | Order::Patrol { .. } => Progress::Request,
            Order::Wait { .. } => self.rest(self.left),
            Order::Stay => Progress::Unchanged,
        }
    }

    /// Returns the next action; `end` is the end of the request that the order inserted, once there is one.
    pub(super) fn progress(&mut self, end: Option<End>, another_waits: bool) -> Progress {
        if self.is_resting {
            if self.left > 0 {
                return Progress::Unchanged;
            }
            self.is_resting = false;
            return if self.uses_requests() { Progress::Request } else { DONE };
        }
        let progress = match (&self.order, end) {
            (Order::Stay, _) if another_waits => DONE,
            (Order::Go(_), Some(End::Arrived { follows, .. })) if another_waits || !follows => DONE,
            (Order::Go(_), Some(End::Failed(reason))) => {
                Progress::Ended(OrderOutcome::Failed(reason))
            }
            (Order::Patrol { stops, mode }, Some(end)) => {
                self.goal_grid = None;
                self.patrol.advance(end, stops.len(), *mode)
            }
            _ => Progress::Unchanged,
        };
        if progress == Progress::Rest { self.rest(PATROL_REST) } else { progress }
    }

    /// Resets the flags of an order that went back to the queue. Its unit has `left` the grid on which it got the request.
    pub(super) fn suspend(&mut self, left: Option<GridId>) {
        (self.interrupted, self.is_resting) = (false, false);
        self.goal_grid = self.goal_grid.or(left);
    }

    const fn rest(&mut self, ticks: u32) -> Progress {
        self.is_resting = true;
        self.left = ticks;
        Progress::Rest
    }

    /// Counts down its rest by a tick; returns `None` if it does not rest, otherwise whether the rest is
    /// over.
    pub(super) const fn tick_rest(&mut self) -> Option<bool> {
        if !self.is_resting {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        Some(self.left == 0)
    }
}

/// State of a patrol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
struct PatrolProgress {
    /// Position in its round; see [`round`].
    at: usize,
    /// Number of stops in a row that failed.
    missed: usize,
    /// Number of stops in a row without a step: the stop failed, or the unit was already there.
    still: usize,
}

/// Number of stops that a patrol heads for until it repeats itself.
fn round(stops: usize, mode: PatrolMode) -> usize {
    let round = match mode {
        PatrolMode::Round => stops,
        PatrolMode::ThereAndBack => (2 * stops).saturating_sub(2),
    };
    round.max(1)
}

impl PatrolProgress {
    /// Returns the index of the stop it is heading for; the second half of a round there and back leads back.
    fn stop(&self, stops: usize, mode: PatrolMode) -> usize {
        if self.at < stops { self.at } else { round(stops, mode).saturating_sub(self.at) }
    }

    /// Records the end of the current stop and advances to the next one; `stops` is the number of stops.
    fn advance(&mut self, end: End, stops: usize, mode: PatrolMode) -> Progress {
        self.missed = if matches!(end, End::Failed(_)) { self.missed + 1 } else { 0 };
        self.still =
            if matches!(end, End::Arrived { moved: true, .. }) { 0 } else { self.still + 1 };
        let round = round(stops, mode);
        self.at = (self.at + 1) % round;
        match end {
            End::Failed(reason) if self.missed >= round => {
                Progress::Ended(OrderOutcome::Failed(reason))
            }
            _ if self.still >= round => {
                self.still = 0;
                Progress::Rest
            }
            _ => Progress::Request,
        }
    }
}
