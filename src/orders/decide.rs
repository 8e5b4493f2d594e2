//! Determines the next actions for a unit's orders.
//!
//! Input: the queue, the owner of the request on the unit, and how that request ended. Output: the updated
//! queue, and a [`Todo`].

use super::{
    OnFailure, OrderId, OrderOutcome, OrderQueue, Owner, QueueEvent, RequestOwner,
    entry::{End, Progress, QueuedOrder},
};
use bevy::{ecs::query::QueryData, prelude::Has};

use crate::{
    nav::{GridId, PathKind},
    request::{PathRequest, Target, has_unread},
    unit::{Critter, DesiredVelocity, NavPath, PathStatus, RequestState},
};

/// The request on a unit, and its result if the unit has ever had one.
#[derive(QueryData)]
pub(super) struct UnitRequest {
    request: Option<&'static PathRequest>,
    result: Option<(&'static PathStatus, &'static RequestState, &'static NavPath)>,
    steering: Option<&'static DesiredVelocity>,
    is_critter: Has<Critter>,
}

impl UnitRequestItem<'_, '_> {
    /// Returns the number of the request last inserted; 0 before the first.
    pub(super) fn issued(&self) -> u64 {
        self.result.map_or(0, |(_, state, _)| state.issued)
    }

    /// Returns whether the game moves the unit along a path that leads all the way.
    fn has_whole_path(&self) -> bool {
        let whole = PathStatus::Found(PathKind::Complete);
        let nearest = PathStatus::Found(PathKind::Partial);
        self.result.is_some_and(|(status, state, _)| {
            [whole, nearest].contains(status) && !has_unread(state)
        })
    }

    /// Returns the grid on which the unit got the request, if it has left it over links.
    fn left_grid(&self) -> Option<GridId> {
        let (_, state, _) = self.result.as_ref()?;
        state.journey.left.filter(|_| !has_unread(state))
    }

    /// Returns whether the request goes on when the unit has arrived: it follows an entity.
    fn follows(&self) -> bool {
        self.request.zip(self.result).is_some_and(|(request, (_, state, _))| {
            request.follows && matches!(request.target_of(state.attempt), Target::Entity(_))
        })
    }

    /// Returns how the request with this number ended. Another one may have been inserted since, which was not read yet.
    fn end_of(&self, number: u64) -> Option<End> {
        let (&status, state, path) = self.result?;
        let is_last = state.issued == number;
        let (status, follows) = if is_last { (status, self.follows()) } else { state.ended? };
        match status {
            _ if state.accepted != number => None,
            PathStatus::Arrived(_) => {
                // The path of one that came over a link is only the last leg. A body rests beside the last cell of its path.
                let moved = match self.steering.filter(|_| !self.is_critter) {
                    Some(steering) => steering.has_moved,
                    None => path.start() != path.end(),
                } || state.journey.left.is_some();
                Some(End::Arrived { moved, follows })
            }
            PathStatus::Failed(reason) => Some(End::Failed(reason)),
            _ => None,
        }
    }
}

/// Actions to take on a unit.
#[derive(Debug, Default)]
pub(super) struct Todo {
    /// Request to insert, and its order.
    pub(super) insert: Option<(OrderId, PathRequest)>,
    /// Whether to remove the request on the unit.
    pub(super) remove: bool,
    /// Whether the order rests, so that the unit must be processed again when the rest is over.
    pub(super) rests: bool,
}

impl OrderQueue {
    /// Updates the queue from the state of its unit.
    pub(super) fn decide(&mut self, slot: &mut RequestOwner, unit: &UnitRequestItem) -> Todo {
        if slot.issued == 0 && self.has_begun_with(unit.request) {
            // A copy of a unit has a copy of its request: the order begins again.
            (slot.issued, slot.owner) = (unit.issued(), Owner::Queue(OrderId(0)));
        }
        let is_known = slot.issued == unit.issued();
        if is_known && self.is_written_over(slot.owner) {
            self.put_back();
        }
        let has_reached = std::mem::take(&mut self.reached) && is_known && unit.has_whole_path();
        if has_reached && slot.owner == Owner::Game {
            slot.owner = Owner::None;
        }
        let reached = End::Arrived { moved: true, follows: unit.follows() };
        let end = if has_reached { Some(reached) } else { unit.end_of(slot.issued) };
        let end = end.filter(|_| matches!(slot.owner, Owner::Queue(_)));
        self.update_interrupted(slot.owner, end, unit.left_grid());
        let mut progress = self.progress(slot, end);
        self.detect_external_change(slot, unit, end);
        if slot.owner == Owner::Game {
            return Todo::default();
        }
        if self.current.is_none() {
            progress = self.begin_next();
        }
        let current = self.current.as_ref();
        let remove = matches!(slot.owner, Owner::Queue(_))
            && !current.is_some_and(QueuedOrder::uses_requests);
        if remove {
            slot.owner = Owner::None;
        }
        let requesting = current.filter(|_| progress == Progress::Request);
        Todo {
            insert: requesting.and_then(|entry| Some((entry.id, entry.request()?))),
            remove,
            rests: current.is_some_and(|entry| entry.is_resting),
        }
    }

    /// Returns whether a request is that of an order which had begun before the queue was put on this unit.
    fn has_begun_with(&self, request: Option<&PathRequest>) -> bool {
        let first = self.waiting.front().filter(|entry| entry.begun && self.current.is_none());
        request.is_some() && first.and_then(QueuedOrder::request).as_ref() == request
    }

    /// Returns whether the current order is not the one for which the request on the unit was inserted: the game has put an earlier
    /// state of the queue in its place.
    fn is_written_over(&self, owner: Owner) -> bool {
        self.current.as_ref().is_some_and(|entry| {
            owner == Owner::Game || entry.is_on_its_way() && owner != Owner::Queue(entry.id)
        })
    }

    /// Updates an interrupted order: it may have been completed before the order in front of it was inserted,
    /// without having been processed since.
    fn update_interrupted(&mut self, owner: Owner, end: Option<End>, left: Option<GridId>) {
        // There is none while there is a current one.
        let mut waiting = self.waiting.iter();
        let index =
            if self.current.is_some() { None } else { waiting.position(|entry| entry.interrupted) };
        let Some(index) = index else {
            return;
        };
        let is_its_own = owner == Owner::Queue(self.waiting[index].id);
        let progress = self.waiting[index].progress(end.filter(|_| is_its_own), false);
        self.waiting[index].suspend(left.filter(|_| is_its_own && progress == Progress::Unchanged));
        if let Progress::Ended(outcome) = progress {
            self.end_waiting(index..=index, outcome);
            self.apply_on_failure(outcome, index);
        }
    }

    /// Advances the current order.
    fn progress(&mut self, slot: &mut RequestOwner, end: Option<End>) -> Progress {
        let another_waits = !self.waiting.is_empty();
        let current = self.current.as_mut();
        let progress =
            current.map_or(Progress::Unchanged, |entry| entry.progress(end, another_waits));
        if let Progress::Ended(outcome) = progress {
            self.end_current(outcome);
            self.apply_on_failure(outcome, 0);
        }
        let follows = matches!(end, Some(End::Arrived { follows: true, .. }));
        let has_ended = matches!(progress, Progress::Ended(_)) || end.is_some();
        if self.current.is_none() && has_ended && !follows {
            slot.owner = Owner::None; // a follow request keeps its owner, so that it gets removed
        }
        progress
    }

    /// After a failure, drops the orders from this index on if [`OnFailure::Stop`] is set.
    fn apply_on_failure(&mut self, outcome: OrderOutcome, index: usize) {
        if matches!(outcome, OrderOutcome::Failed(_)) && self.on_failure == OnFailure::Stop {
            self.end_waiting(index.., OrderOutcome::Canceled);
        }
    }

    /// Counts down the rest of the resting order, if there is one; returns `None` if there is none, otherwise
    /// whether its rest is over. An interrupted order rests until the next processing.
    pub(super) fn tick_rest(&mut self) -> Option<bool> {
        let mut waiting = self.waiting.iter_mut();
        let resting = self.current.as_mut().or_else(|| waiting.find(|entry| entry.interrupted));
        resting.and_then(QueuedOrder::tick_rest)
    }

    /// Ends the current order if the game has inserted a request on the unit or removed the request.
    fn detect_external_change(
        &mut self,
        slot: &mut RequestOwner,
        unit: &UnitRequestItem,
        end: Option<End>,
    ) {
        let has_request = unit.request.is_some();
        if unit.issued() != slot.issued {
            slot.issued = unit.issued();
            slot.owner = Owner::Game;
            use OrderOutcome::{Canceled, Replaced};
            self.end_current(if has_request { Replaced } else { Canceled });
        } else if !has_request
            && matches!(slot.owner, Owner::Queue(_))
            && end.is_none()
            && self.current.as_ref().is_some_and(QueuedOrder::is_on_its_way)
        {
            self.end_current(OrderOutcome::Canceled);
        }
        let is_over = matches!(
            unit.end_of(slot.issued),
            Some(End::Failed(_) | End::Arrived { follows: false, .. })
        );
        if !has_request || (slot.owner == Owner::Game && is_over) {
            slot.owner = Owner::None;
        }
    }

    /// Begins the next order, and further ones while orders are completed immediately.
    fn begin_next(&mut self) -> Progress {
        while let Some(mut entry) = self.waiting.pop_front() {
            self.events.push(QueueEvent::Begun { order: entry.id, resumed: entry.begun });
            let progress = entry.begin(!self.waiting.is_empty());
            self.current = Some(entry);
            let Progress::Ended(outcome) = progress else {
                return progress;
            };
            self.end_current(outcome);
        }
        Progress::Unchanged
    }
}
