//! What is to be done about a unit's orders, from what can be seen of it.
//!
//! Input: the queue, whose request is on the unit, and how that request ended. Output: the queue brought up to
//! date, and a [`Todo`].

use super::{
    News, OnFailure, OrderId, OrderOutcome, OrderQueue, Owner, RequestOwner,
    entry::{End, Entry, Progress},
};
use bevy::ecs::query::QueryData;

use crate::{
    request::{PathRequest, Target},
    unit::{NavPath, PathStatus, RequestState},
};

/// What became of the request of a unit that ever had one.
#[derive(QueryData)]
pub(super) struct Outcome {
    status: &'static PathStatus,
    state: &'static RequestState,
    path: &'static NavPath,
}

/// What a look at a unit shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    has_request: bool,
    /// Number of the request last put on; 0 before the first.
    pub(super) issued: u64,
    /// How it ended, once it has.
    end: Option<End>,
}

impl View {
    pub(super) fn new(request: Option<&PathRequest>, outcome: Option<OutcomeItem>) -> Self {
        let has_request = request.is_some();
        let issued = outcome.as_ref().map_or(0, |outcome| outcome.state.issued);
        let end = outcome.and_then(|outcome| end_of(request, &outcome));
        Self { has_request, issued, end }
    }

    /// How the request ended, if it is the queue's.
    fn own_end(&self, slot: &RequestOwner) -> Option<End> {
        self.end.filter(|_| slot.owner == Owner::Queue && slot.issued == self.issued)
    }

    /// Whether the request has come to an end for good.
    const fn is_over(&self) -> bool {
        match self.end {
            Some(End::Arrived { follows, .. }) => !follows,
            Some(End::Failed(_)) => true,
            None => false,
        }
    }
}

/// What is to be done after a look.
#[derive(Debug, Default)]
pub(super) struct Todo {
    /// For which order, and the request.
    pub(super) put_on: Option<(OrderId, PathRequest)>,
    /// The request on the unit.
    pub(super) take_off: bool,
    /// It stands for a while, and is to be looked at again after that.
    pub(super) rests: bool,
}

impl OrderQueue {
    /// Brings the queue up to date with its unit.
    pub(super) fn decide(&mut self, slot: &mut RequestOwner, view: &View) -> Todo {
        let end = view.own_end(slot);
        self.settle_interrupted(end);
        let mut progress = self.progress(slot, end);
        self.give_way(slot, view, end);
        if slot.owner == Owner::Game {
            return Todo::default();
        }
        if self.current.is_none() {
            progress = self.begin_next();
        }
        let current = self.current.as_ref();
        let take_off = slot.owner == Owner::Queue && !current.is_some_and(Entry::asks);
        if take_off {
            slot.owner = Owner::None;
        }
        let asks = current.filter(|_| progress == Progress::Ask);
        Todo {
            put_on: asks.and_then(|entry| Some((entry.id, entry.request()?))),
            take_off,
            rests: progress == Progress::Rest,
        }
    }

    /// An order that another one was put before may have been carried out already: nobody has looked
    /// since.
    fn settle_interrupted(&mut self, end: Option<End>) {
        let Some(place) = self.waiting.iter().position(|entry| entry.interrupted) else {
            return;
        };
        let outcome = outcome_of(self.waiting[place].progress(end, false));
        self.waiting[place].lay_by();
        if let Some(outcome) = outcome {
            self.end_waiting(place, outcome);
            self.heed(outcome, place);
        }
    }

    /// Takes the order under way further.
    fn progress(&mut self, slot: &mut RequestOwner, end: Option<End>) -> Progress {
        let another_waits = !self.waiting.is_empty();
        let current = self.current.as_mut();
        let progress = current.map_or(Progress::Same, |entry| entry.progress(end, another_waits));
        let outcome = outcome_of(progress);
        if let Some(outcome) = outcome {
            self.end_current(outcome);
            self.heed(outcome, 0);
        }
        let follows = matches!(end, Some(End::Arrived { follows: true, .. }));
        if self.current.is_none() && (outcome.is_some() || end.is_some()) && !follows {
            slot.owner = Owner::None; // else it would go on following: it is to be taken off
        }
        progress
    }

    /// After a failure the orders from this place on may be dropped.
    fn heed(&mut self, outcome: OrderOutcome, place: usize) {
        if matches!(outcome, OrderOutcome::Failed(_)) && self.on_failure == OnFailure::Stop {
            while self.waiting.len() > place {
                self.end_waiting(place, OrderOutcome::Canceled);
            }
        }
    }

    /// Lets a tick go by for the order that stands, if one does; `None` if none does, else whether its rest is
    /// over. One that another was put before stands until the next look.
    pub(super) fn rest_a_tick(&mut self) -> Option<bool> {
        let interrupted = self.waiting.iter_mut().find(|entry| entry.interrupted);
        self.current.as_mut().into_iter().chain(interrupted).find_map(Entry::rest_a_tick)
    }

    /// What the game puts on the unit, or takes off it, ends the order under way.
    fn give_way(&mut self, slot: &mut RequestOwner, view: &View, end: Option<End>) {
        if view.issued != slot.issued {
            slot.issued = view.issued;
            slot.owner = Owner::Game;
            let outcome =
                if view.has_request { OrderOutcome::Superseded } else { OrderOutcome::Canceled };
            self.end_current(outcome);
        } else if !view.has_request
            && slot.owner == Owner::Queue
            && end.is_none()
            && self.current.as_ref().is_some_and(Entry::is_on_its_way)
        {
            self.end_current(OrderOutcome::Canceled);
        }
        if !view.has_request || (slot.owner == Owner::Game && view.is_over()) {
            slot.owner = Owner::None;
        }
    }

    /// Begins the next order, and those behind it while they are done at once.
    fn begin_next(&mut self) -> Progress {
        while let Some(mut entry) = self.waiting.pop_front() {
            self.news.push(News::Begun { order: entry.id, resumed: entry.begun });
            let progress = entry.begin(!self.waiting.is_empty());
            self.current = Some(entry);
            match outcome_of(progress) {
                Some(outcome) => self.end_current(outcome),
                None => return progress,
            }
        }
        Progress::Same
    }
}

const fn outcome_of(progress: Progress) -> Option<OrderOutcome> {
    match progress {
        Progress::Done => Some(OrderOutcome::Done),
        Progress::Failed(reason) => Some(OrderOutcome::Failed(reason)),
        Progress::Same | Progress::Ask | Progress::Rest => None,
    }
}

/// How the request last put on a unit ended, by its status. One not yet read from the inbox has not:
/// what the status says may be of the one before.
fn end_of(request: Option<&PathRequest>, outcome: &OutcomeItem) -> Option<End> {
    let &OutcomeItem { status, state, path } = outcome;
    match *status {
        _ if state.issued > state.accepted => None,
        PathStatus::Arrived(_) => {
            let moved = path.start() != path.end();
            let follows = request.is_some_and(|request| {
                request.follows && matches!(request.target_of(state.attempt), Target::Entity(_))
            });
            Some(End::Arrived { moved, follows })
        }
        PathStatus::Failed(reason) => Some(End::Failed(reason)),
        _ => None,
    }
}
