//! What becomes of a request that failed.
//!
//! Input: the reason. Output: its next attempt (the next of its targets, or another try later), or the failure that is announced.

use super::{Outcomes, is_latest};
use crate::{
    nav::PathFailure,
    request::{PathRequest, RequesterItem, requester::RequesterReadOnlyItem},
    unit::{PathFailed, PathStatus, RequestState},
};

impl Outcomes<'_, '_> {
    /// Sets a request that failed on its next attempt: the next of its targets, or another try later. Where
    /// there is none, it has failed for good; returns whether it has.
    pub(in crate::request) fn fail(
        &mut self,
        unit: &mut RequesterItem,
        reason: PathFailure,
    ) -> bool {
        unit.state.ticket = None;
        unit.state.journey.without_costs_since = None;
        let now = self.pathfinder.now;
        let wait =
            unit.request.and_then(|request| next_attempt(request, &mut unit.state, reason, now));
        let Some((status, ticks)) = wait else {
            *unit.status = PathStatus::Failed(reason);
            if !unit.take_announced() {
                self.commands.trigger(PathFailed { entity: unit.entity, reason });
            }
            return true;
        };
        *unit.status = status;
        if let Some((desired, _)) = &mut unit.steering {
            desired.begin(); // it has waited for another reason
        }
        self.retry_in(ticks, unit);
        false
    }

    /// The same for a request that fails without an answer from the queue, perhaps under way: its unit stops, and the search
    /// for the rest of a long path ends.
    pub(in crate::request) fn fail_unanswered(
        &mut self,
        unit: &mut RequesterItem,
        reason: PathFailure,
    ) {
        self.forget_search(unit);
        unit.stop();
        if self.fail(unit, reason) {
            self.pathfinder.counters.failed += 1;
        }
    }

    /// An edit may have opened a way: a request that waits is tried as soon as it may be, and then waits for the rest of its pause.
    pub(crate) fn try_early(&mut self, unit: &mut RequesterItem) {
        let retry = unit.request.and_then(|request| request.retry);
        let (Some(retry), PathStatus::Waiting(_), Some(due), None) =
            (retry, *unit.status, unit.state.due, unit.state.rest_of_pause)
        else {
            return;
        };
        let now = self.pathfinder.now;
        let earliest = unit.state.last_tried.saturating_add(retry.pause(1)).max(now + 1);
        if unit.is_latest() && earliest < due {
            unit.state.rest_of_pause = Some(due - earliest);
            self.retry_in(earliest - now, unit);
        }
    }

    /// Resolves the request again in the next tick, from where the unit is then.
    pub(crate) fn resolve_again(&mut self, unit: &mut RequesterItem) {
        self.resolve_in(unit, 1);
    }

    pub(super) fn resolve_in(&mut self, unit: &mut RequesterItem, ticks: u64) {
        *unit.status = PathStatus::Searching;
        self.retry_in(ticks, unit);
    }

    /// Tries the request again after so many ticks, and not at the time that was set before.
    pub(super) fn retry_in(&mut self, ticks: u64, unit: &mut RequesterItem) {
        let due = self.pathfinder.now + ticks;
        if let Some(before) = unit.state.due.replace(due) {
            self.open.retries.remove(&(before, unit.state.accepted));
        }
        self.open.retries.insert((due, unit.state.accepted), unit.entity);
    }
}

/// The next attempt of a request that failed in the tick `now`: its status until then, and in how many ticks it comes.
fn next_attempt(
    request: &PathRequest,
    state: &mut RequestState,
    reason: PathFailure,
    now: u64,
) -> Option<(PathStatus, u64)> {
    state.nearest = None;
    if usize::from(state.attempt) < request.more_attempts() {
        state.attempt += 1;
        state.places = None;
        return Some((PathStatus::Searching, 1));
    }
    // A despawned target does not come back.
    let may_change = reason != PathFailure::TargetGone || !request.alternatives.is_empty();
    let retry = request.retry.filter(|_| may_change)?;
    let rest_of_pause = state.rest_of_pause.take();
    if rest_of_pause.is_none() && !retry.allows_more(state.tries) {
        return None;
    }
    (state.attempt, state.places, state.last_tried) = (0, None, now);
    let pause = rest_of_pause.unwrap_or_else(|| {
        state.tries = state.tries.saturating_add(1);
        retry.pause(state.tries)
    });
    Some((PathStatus::Waiting(reason), pause))
}

/// Whether request `number` of a unit waits for its next attempt, and for no answer.
pub(in crate::request) fn is_retry_due(unit: &RequesterReadOnlyItem, number: u64) -> bool {
    use PathStatus::{Repairing, Searching, Waiting};
    let waits = matches!(*unit.status, Searching | Waiting(_) | Repairing);
    let is_same = unit.state.accepted == number && is_latest(unit.request, unit.state);
    waits && is_same && unit.state.ticket.is_none()
}
