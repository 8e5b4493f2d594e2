//! Follows targets that move.
//!
//! Input: requests that follow an entity, in the order of their numbers. Output: new paths for those whose
//! target has moved enough to matter, a stop for those that are near enough, an end for those whose
//! target is gone. Looking costs a tick a little of its budget, planning again as much as any request.

use bevy::prelude::*;

use super::intake::{ENTRY_COST, RequestIntake};
use crate::{
    nav::{Cell, Goal, PathFailure, PathKind},
    scheduler::TilePathSettings,
    unit::PathStatus,
};

/// What checking one target takes of the budget, in expansions.
const LOOK_COST: u32 = 4;
/// A path is planned again when its goal has moved by at least the remaining distance divided by this.
const SHARE_OF_PATH: u32 = 4;

/// Action for a follower.
enum Action {
    Keep,
    PlanAgain,
    /// Close enough: stop at this cell.
    Stop(Cell, Goal),
    Fail(PathFailure),
    /// No longer a follower.
    Forget,
}

/// Checks the targets that are followed, one after another: for up to a quarter of the budget in a tick.
pub(crate) fn follow_targets(
    mut intake: RequestIntake,
    settings: Res<TilePathSettings>,
    mut followers: Local<Vec<(u64, Entity)>>,
    mut last: Local<u64>,
) {
    let open = &intake.outcomes.open;
    followers.extend(open.followers.iter().map(|(&number, &entity)| (number, entity)));
    let next = followers.partition_point(|&(number, _)| number <= *last);
    followers.rotate_left(next);
    let (share, mut spent) = ((settings.budget / 4).max(LOOK_COST), 0_u32);
    for (number, entity) in followers.drain(..) {
        if spent >= share {
            break;
        }
        *last = number;
        spent += LOOK_COST;
        match intake.action_for(entity, number).unwrap_or_else(Action::Fail) {
            Action::Keep => {}
            Action::PlanAgain => {
                intake.outcomes.pathfinder.counters.followed += 1;
                spent = spent.saturating_add(ENTRY_COST + intake.resolve_and_queue(entity));
            }
            Action::Stop(cell, goal) => intake.stop(entity, cell, goal),
            Action::Fail(reason) => intake.lose_target(entity, number, reason),
            Action::Forget => intake.outcomes.unfollow(number),
        }
    }
    intake.outcomes.pathfinder.spend(spent);
}

impl RequestIntake<'_, '_> {
    /// Returns the action for the follower with this request; an error ends the request.
    fn action_for(&self, entity: Entity, number: u64) -> Result<Action, PathFailure> {
        let Ok(unit) = self.units.get(entity) else {
            return Ok(Action::Forget);
        };
        let Some(request) = unit.request.filter(|request| request.follows) else {
            return Ok(Action::Forget);
        };
        let status = unit.status;
        if unit.state.accepted != number || matches!(status, PathStatus::Failed(_)) {
            return Ok(Action::Forget);
        }
        if unit.state.ticket.is_some()
            || matches!(status, PathStatus::Searching | PathStatus::Waiting(_))
        {
            return Ok(Action::Keep); // an answer is under way
        }
        let (id, profile) = request.grid_and_profile(unit.agent);
        let grid = self.grids.get(id).ok_or(PathFailure::GridGone(id))?;
        let goal = self.goal(&unit, request, request.target_of(unit.state.attempt))?;
        let here = unit.critter.map_or(unit.path.0.end(), |(state, _)| state.walk.head());
        let is_near = goal.admits(grid, profile, here);
        let moved = distance(goal.cell(), unit.state.query.goal.cell());
        let left = distance(here, unit.state.query.goal.cell());
        Ok(match status {
            walking if walking.is_walking() && is_near => Action::Stop(here, goal),
            walking if walking.is_walking() && moved > 0 && moved * SHARE_OF_PATH >= left => {
                Action::PlanAgain
            }
            PathStatus::Arrived(PathKind::Complete) if !is_near => Action::PlanAgain,
            PathStatus::Arrived(PathKind::Partial) | PathStatus::Found(_) if moved > 0 => {
                Action::PlanAgain
            }
            _ => Action::Keep,
        })
    }

    /// Lets a walking critter come to rest on `cell`, which it stands on or enters.
    fn stop(&mut self, entity: Entity, cell: Cell, goal: Goal) {
        if let Ok(mut unit) = self.units.get_mut(entity)
            && unit.critter.is_some()
        {
            unit.stop_at(cell);
            unit.state.query.goal = goal;
        }
    }

    /// The target of a request is gone, or unknown by now.
    fn lose_target(&mut self, entity: Entity, number: u64, reason: PathFailure) {
        let Ok(mut unit) = self.units.get_mut(entity) else {
            return;
        };
        if unit.critter.is_some() {
            let head = unit.head();
            unit.stop_at(head);
        }
        self.outcomes.fail_unanswered(&mut unit, reason);
        self.outcomes.unfollow(number);
    }
}

/// Cells between two cells, the longer distance along an axis.
fn distance(a: Cell, b: Cell) -> u32 {
    a.x.abs_diff(b.x).max(a.y.abs_diff(b.y)).min(u32::MAX / SHARE_OF_PATH)
}
