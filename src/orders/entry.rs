//! An order in the queue, and how far it has been carried out.
//!
//! In: how its request ended, and ticks that go by. Out: what is to be done next. Knows nothing of the unit
//! and its components, and of no clock: a rest counts down, so that it can be saved and copied.

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use super::order::{Order, OrderId, PatrolMode};
use crate::{nav::query::PathFailure, request::PathRequest};

/// How long a patrol rests when a whole round took no step, in ticks: half a second at Bevy's 64 ticks
/// a second. Short enough to look alive, long enough to cost nothing.
const PATROL_REST: u32 = 32;

/// An order and what is known about it.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Debug, PartialEq, Clone)]
pub(super) struct Entry {
    pub(super) id: OrderId,
    pub(super) order: Order,
    /// It was begun once, whether it is under way now or not.
    pub(super) begun: bool,
    /// It was under way when another order was put before it, and nobody has looked since.
    pub(super) interrupted: bool,
    /// The game says that the unit has come to the end of its path.
    pub(super) reached: bool,
    /// It stands for the ticks that are left.
    is_resting: bool,
    /// Ticks still to stand: of a hold, and of a patrol that rests.
    left: u32,
    patrol: PatrolProgress,
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// Well. `moved`: its path had steps. `follows`: it goes on when its target does.
    Arrived { moved: bool, follows: bool },
    /// Without a way.
    Failed(PathFailure),
}

/// What is to be done about an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing: it goes on.
    Same,
    /// Its (next) request is to be put on.
    Ask,
    /// It stands for a while.
    Rest,
    /// It was carried out.
    Done,
    /// It cannot be.
    Failed(PathFailure),
}

impl Entry {
    /// An order not yet begun.
    pub(super) fn new(id: OrderId, order: Order) -> Self {
        let left = if let Order::Hold { ticks } = order { ticks } else { 0 };
        let patrol = PatrolProgress::default();
        Self {
            id,
            order,
            begun: false,
            interrupted: false,
            reached: false,
            is_resting: false,
            left,
            patrol,
        }
    }

    /// Whether it is carried out by requests.
    pub(super) const fn asks(&self) -> bool {
        matches!(self.order, Order::Go(_) | Order::Patrol { .. })
    }

    /// Whether it is waiting for the end of a request, provided it is under way.
    pub(super) const fn is_on_its_way(&self) -> bool {
        self.asks() && !self.is_resting
    }

    /// The request that is to be put on now.
    pub(super) fn request(&self) -> Option<PathRequest> {
        match &self.order {
            Order::Go(request) => Some(request.clone()),
            Order::Patrol { stops, .. } => stops.get(self.patrol.stop).cloned(),
            Order::Hold { .. } | Order::HoldGround => None,
        }
    }

    /// Begins it, or takes it up again.
    pub(super) fn begin(&mut self, another_waits: bool) -> Progress {
        self.begun = true;
        let is_over = match &self.order {
            Order::Go(_) => false,
            Order::Patrol { stops, .. } => stops.is_empty(),
            Order::Hold { .. } => self.left == 0,
            Order::HoldGround => another_waits,
        };
        if is_over {
            return Progress::Done;
        }
        match self.order {
            Order::Go(_) | Order::Patrol { .. } => Progress::Ask,
            Order::Hold { .. } => self.rest(self.left),
            Order::HoldGround => Progress::Same,
        }
    }

    /// What is to be done now; `end` is that of the request it put on, once it has come.
    pub(super) fn progress(&mut self, end: Option<End>, another_waits: bool) -> Progress {
        if self.is_resting {
            if self.left > 0 {
                return Progress::Same;
            }
            self.is_resting = false;
            return if self.asks() { Progress::Ask } else { Progress::Done };
        }
        let reached = End::Arrived { moved: true, follows: false };
        let end = std::mem::take(&mut self.reached).then_some(reached).or(end);
        let progress = match (&self.order, end) {
            (Order::HoldGround, _) if another_waits => Progress::Done,
            (Order::Go(_), Some(End::Arrived { follows, .. })) if another_waits || !follows => {
                Progress::Done
            }
            (Order::Go(_), Some(End::Failed(reason))) => Progress::Failed(reason),
            (Order::Patrol { stops, mode }, Some(end)) => self.patrol.turn(end, stops.len(), *mode),
            _ => Progress::Same,
        };
        if progress == Progress::Rest { self.rest(PATROL_REST) } else { progress }
    }

    /// It goes back into line.
    pub(super) const fn lay_by(&mut self) {
        self.interrupted = false;
        self.reached = false;
        self.is_resting = false;
    }

    const fn rest(&mut self, ticks: u32) -> Progress {
        self.is_resting = true;
        self.left = ticks;
        Progress::Rest
    }

    /// Lets a tick of its rest go by; `None` if it does not rest, else whether the rest is over.
    pub(super) const fn rest_a_tick(&mut self) -> Option<bool> {
        if !self.is_resting {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        Some(self.left == 0)
    }
}

/// Where a patrol is on its round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
struct PatrolProgress {
    /// The stop it is on the way to.
    stop: usize,
    /// It is on the way back.
    back: bool,
    /// Stops in a row that failed.
    missed: usize,
    /// Stops in a row that took no step: they failed, or it stood there already.
    still: usize,
}

impl PatrolProgress {
    /// A stop of so many is dealt with: turns to the next one.
    fn turn(&mut self, end: End, stops: usize, mode: PatrolMode) -> Progress {
        self.missed = if matches!(end, End::Failed(_)) { self.missed + 1 } else { 0 };
        self.still =
            if matches!(end, End::Arrived { moved: true, .. }) { 0 } else { self.still + 1 };
        let round = match mode {
            PatrolMode::Round => stops,
            PatrolMode::ThereAndBack => (2 * stops).saturating_sub(2).max(1),
        };
        self.next_stop(stops, mode);
        match end {
            End::Failed(reason) if self.missed >= round => Progress::Failed(reason),
            _ if self.still >= round => {
                self.still = 0;
                Progress::Rest
            }
            _ => Progress::Ask,
        }
    }

    const fn next_stop(&mut self, stops: usize, mode: PatrolMode) {
        let is_last = self.stop + 1 >= stops;
        match mode {
            PatrolMode::Round => self.stop = if is_last { 0 } else { self.stop + 1 },
            PatrolMode::ThereAndBack => {
                self.back = if self.back { self.stop > 0 } else { is_last };
                if !self.back && !is_last {
                    self.stop += 1;
                } else if self.back && self.stop > 0 {
                    self.stop -= 1;
                }
            }
        }
    }
}
