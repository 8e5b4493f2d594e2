//! Decides when a unit whose target is watched needs another path.
//!
//! Input: where the target is seen. Output: whether to plan again; a follower that is near enough stops.

use super::Outcomes;
use crate::{
    nav::{PathFailure, PathKind},
    request::{Follower, PathRequest, RequesterItem, Target, target::SeenTarget},
    unit::PathStatus,
};

/// A path is planned again when the goal has moved by at least the remaining distance divided by this.
const SHARE_OF_PATH: u32 = 4;

impl Outcomes<'_, '_> {
    /// Watches the target of a request that follows it, or gives it up when it is gone.
    pub(super) fn watch_target(&mut self, unit: &RequesterItem, request: &PathRequest) {
        let entity = unit.entity;
        let follower = match request.target_of(unit.state.attempt) {
            &Target::Entity(target) if request.follows => {
                let critter = unit.critter.as_ref();
                let takes_room = critter.is_some_and(|(state, _)| state.holds_its_cells());
                Follower { unit: entity, target, takes_room }
            }
            _ if request.needs_target => {
                Follower { unit: entity, target: entity, takes_room: false }
            }
            _ => return self.unfollow(unit.state.accepted),
        };
        self.open.add_follower(unit.state.accepted, follower);
    }

    /// Returns whether the target of a unit's request `number` is watched, and it waits for no answer.
    pub(in crate::request) fn follows(&mut self, unit: &RequesterItem, number: u64) -> bool {
        let is_watched = |request: &PathRequest| {
            request.follows || request.needs_target && unit.status.is_under_way()
        };
        let follows = unit.request.is_some_and(is_watched)
            && unit.state.accepted == number
            && !matches!(*unit.status, PathStatus::Failed(_));
        if !follows {
            self.unfollow(number);
        }
        let is_answer_due = unit.state.ticket.is_some()
            || matches!(*unit.status, PathStatus::Searching | PathStatus::Waiting(_));
        follows && !is_answer_due
    }

    /// A follower has looked at its target: it goes on, or stops where it is near enough. Returns whether it needs
    /// another path: its goal has moved by at least a part of the remaining distance.
    pub(in crate::request) fn target_seen(
        &mut self,
        unit: &mut RequesterItem,
        target: &SeenTarget,
    ) -> bool {
        let last = unit.state.query.goal.cell();
        let (moved, left) = (target.goal.cell().chebyshev(last), target.here.chebyshev(last));
        if unit.state.journey.next.is_some() || target.grid != unit.state.grid {
            return unit.has_moved_target(target);
        }
        match *unit.status {
            walking if walking.is_walking() && target.is_near => {
                let is_moved = unit.critter.is_some() || unit.steering.is_some();
                if is_moved && unit.path.0.end() != target.here {
                    unit.stop_at(target.here);
                    unit.state.query.goal = target.goal;
                }
                false
            }
            walking if walking.is_walking() => {
                moved > 0 && moved.saturating_mul(SHARE_OF_PATH) >= left
            }
            // One that was pushed off comes back. If it made for its target again, two that follow the same one would push
            // each other off for ever.
            PathStatus::Arrived(PathKind::Complete) => {
                !target.is_near && (moved > 0 || !unit.comes_back())
            }
            PathStatus::Arrived(PathKind::Partial) | PathStatus::Found(_) => moved > 0,
            _ => false,
        }
    }

    /// The target of a unit's request is gone, or where it is cannot be told.
    pub(in crate::request) fn target_lost(
        &mut self,
        unit: &mut RequesterItem,
        reason: PathFailure,
    ) {
        self.fail_unanswered(unit, reason);
        self.unfollow(unit.state.accepted);
    }

    pub(in crate::request) fn unfollow(&mut self, number: u64) {
        self.open.remove_follower(number);
    }
}

impl RequesterItem<'_, '_> {
    /// Whether its crowd brings it back to where it has arrived.
    fn comes_back(&self) -> bool {
        let critter = self.critter.as_ref();
        critter.is_some_and(|(state, _)| state.unit().is_some() && state.member.has_goal)
    }

    /// Whether a unit that goes to its target over links needs another path: the target is on another grid than when its route
    /// was planned, or has moved by at least a part of the distance to the next link.
    fn has_moved_target(&self, target: &SeenTarget) -> bool {
        if *self.status == PathStatus::Crossing {
            return false;
        }
        let Some(planned) = self.state.journey.goals.as_ref().and_then(|goals| goals.first())
        else {
            return true;
        };
        let moved = target.goal.cell().chebyshev(planned.goal.cell());
        let left = target.here.chebyshev(self.path.0.end());
        target.grid != planned.grid || moved > 0 && moved.saturating_mul(SHARE_OF_PATH) >= left
    }
}
