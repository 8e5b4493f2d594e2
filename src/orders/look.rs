//! What is to be done about a unit's orders, from what can be seen of it.
//!
//! In: the queue, whose request is on the unit, and how that request ended. Out: the queue brought up to
//! date, and a [`Todo`].

use super::{
    News, OnFailure, OrderId, OrderOutcome, OrderQueue, QueueSlot, Whose,
    entry::{End, Entry, Progress},
};
use crate::request::{ActiveOrder, NavPath, PathRequest, PathStatus, Target};

/// What is known of the requests of a unit that ever had one.
pub(super) type Known<'a> = (&'a PathStatus, &'a ActiveOrder, &'a NavPath);

/// What a look at a unit shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    has_request: bool,
    /// Number of the request last put on; 0 before the first.
    pub(super) asked: u64,
    /// How it ended, once it has.
    end: Option<End>,
}

impl View {
    pub(super) fn new(request: Option<&PathRequest>, known: Option<Known>) -> Self {
        let has_request = request.is_some();
        let asked = known.map_or(0, |(_, order, _)| order.asked);
        let end = known.and_then(|known| end_of(request, known));
        Self { has_request, asked, end }
    }

    /// How the request ended, if it is the queue's.
    fn own_end(&self, slot: &QueueSlot) -> Option<End> {
        self.end.filter(|_| slot.whose == Whose::Queue && slot.asked == self.asked)
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
    pub(super) fn look(&mut self, slot: &mut QueueSlot, view: &View) -> Todo {
        let end = view.own_end(slot);
        self.settle_interrupted(end);
        let mut progress = self.progress(slot, end);
        self.give_way(slot, view, end);
        if slot.whose == Whose::Game {
            return Todo::default();
        }
        if self.current.is_none() {
            progress = self.begin_next();
        }
        let current = self.current.as_ref();
        let take_off = slot.whose == Whose::Queue && !current.is_some_and(Entry::asks);
        if take_off {
            slot.whose = Whose::Nobody;
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
    fn progress(&mut self, slot: &mut QueueSlot, end: Option<End>) -> Progress {
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
            slot.whose = Whose::Nobody; // else it would go on following: it is to be taken off
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
    fn give_way(&mut self, slot: &mut QueueSlot, view: &View, end: Option<End>) {
        if view.asked != slot.asked {
            slot.asked = view.asked;
            slot.whose = Whose::Game;
            let outcome =
                if view.has_request { OrderOutcome::Superseded } else { OrderOutcome::Canceled };
            self.end_current(outcome);
        } else if !view.has_request
            && slot.whose == Whose::Queue
            && end.is_none()
            && self.current.as_ref().is_some_and(Entry::is_on_its_way)
        {
            self.end_current(OrderOutcome::Canceled);
        }
        if !view.has_request || (slot.whose == Whose::Game && view.is_over()) {
            slot.whose = Whose::Nobody;
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
fn end_of(request: Option<&PathRequest>, (status, order, path): Known) -> Option<End> {
    match *status {
        _ if order.asked > order.number => None,
        PathStatus::Arrived(_) => {
            let moved = path.start() != path.end();
            let follows = request.is_some_and(|request| {
                request.follows && matches!(request.target_of(order.attempt), Target::Entity(_))
            });
            Some(End::Arrived { moved, follows })
        }
        PathStatus::Failed(reason) => Some(End::Failed(reason)),
        _ => None,
    }
}
