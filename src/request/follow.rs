//! Goes after targets that move.
//!
//! Input: orders that follow an entity, in the order of their numbers. Output: new ways for those whose
//! target has moved enough to matter, a stop for those that are near enough, an end for those whose
//! target is gone. Looking costs a tick a little of its budget, planning anew as much as any request.

use bevy::prelude::*;

use super::{
    PathFailed, PathRequest, PathStatus,
    accept::{Desk, LETTER_COST},
};
use crate::{
    nav::{
        cell::Cell,
        goal::Goal,
        path::{Path, PathKind},
        query::PathFailure,
    },
    scheduler::TilePathSettings,
};

/// What looking after one target takes of the budget, in expansions.
const LOOK_COST: u32 = 4;
/// A way is planned anew when its goal has moved by this share of what is left of it.
const SHARE_OF_WAY: u32 = 4;

/// What is to be done about a follower.
enum Turn {
    Leave,
    PlanAnew,
    /// Near enough, here.
    Stop(Cell, Goal),
    Lost(PathFailure),
    /// It follows no more.
    Forget,
}

/// Looks after the targets that are followed, in turns: for up to a quarter of the budget in a tick.
pub(crate) fn follow_targets(
    mut desk: Desk,
    settings: Res<TilePathSettings>,
    mut followers: Local<Vec<(u64, Entity)>>,
    mut last: Local<u64>,
) {
    desk.pathfinder.begin_tick();
    followers.extend(desk.pathfinder.followers());
    let next = followers.partition_point(|&(number, _)| number <= *last);
    followers.rotate_left(next);
    let (share, mut spent) = ((settings.budget / 4).max(LOOK_COST), 0_u32);
    for (number, entity) in followers.drain(..) {
        if spent >= share {
            break;
        }
        *last = number;
        spent += LOOK_COST;
        match desk.turn_of(entity, number) {
            Turn::Leave => {}
            Turn::PlanAnew => {
                desk.pathfinder.counters.followed += 1;
                spent = spent.saturating_add(LETTER_COST + desk.take_up(entity));
            }
            Turn::Stop(cell, goal) => desk.stop(entity, cell, goal),
            Turn::Lost(reason) => desk.lose(entity, number, reason),
            Turn::Forget => desk.pathfinder.unfollow(number),
        }
    }
    desk.pathfinder.spent = desk.pathfinder.spent.saturating_add(spent);
}

impl Desk<'_, '_> {
    fn turn_of(&self, entity: Entity, number: u64) -> Turn {
        let Ok((Some(request), status, order, path, state)) = self.units.get(entity) else {
            return Turn::Forget;
        };
        if order.number != number || !request.follows || matches!(status, PathStatus::Failed(_)) {
            return Turn::Forget;
        }
        if order.ticket.is_some()
            || matches!(status, PathStatus::Searching | PathStatus::Waiting(_))
        {
            return Turn::Leave; // an answer is under way
        }
        let goal = match self.goal_of(entity, request, order.attempt) {
            Ok(goal) => goal,
            Err(reason) => return Turn::Lost(reason),
        };
        let here = state.map_or(path.0.end(), |(state, _)| state.walk.head());
        let is_near = self
            .grids
            .get(request.grid)
            .is_some_and(|grid| goal.admits(grid, request.profile, here));
        let moved = distance(goal.cell, order.query.goal);
        let way = distance(here, order.query.goal);
        match status {
            walking if walking.is_walking() && is_near => Turn::Stop(here, goal),
            walking if walking.is_walking() && moved > 0 && moved * SHARE_OF_WAY >= way => {
                Turn::PlanAnew
            }
            PathStatus::Arrived(PathKind::Complete) if !is_near => Turn::PlanAnew,
            PathStatus::Arrived(PathKind::Partial) | PathStatus::Found(_) if moved > 0 => {
                Turn::PlanAnew
            }
            _ => Turn::Leave,
        }
    }

    fn goal_of(
        &self,
        entity: Entity,
        request: &PathRequest,
        attempt: u16,
    ) -> Result<Goal, PathFailure> {
        self.grids.get(request.grid).ok_or(PathFailure::GridGone(request.grid))?;
        self.places().goal(entity, request, request.target_of(attempt), &self.units)
    }

    /// Lets a walking unit come to rest on `cell`, which it stands on or enters.
    fn stop(&mut self, entity: Entity, cell: Cell, goal: Goal) {
        if let Ok((_, _, mut order, mut path, Some((mut state, _)))) = self.units.get_mut(entity) {
            path.0 = Path::standing(cell);
            state.restart();
            (order.query.goal, order.query.approach) = (goal.cell, goal.approach);
        }
    }

    /// The target of an order is gone, or cannot be told any more.
    fn lose(&mut self, entity: Entity, number: u64, reason: PathFailure) {
        let Ok((request, mut status, mut order, mut path, state)) = self.units.get_mut(entity)
        else {
            return;
        };
        if let Some((mut state, _)) = state {
            path.0 = Path::standing(state.walk.head());
            state.restart();
        }
        let mut fallback = self.pathfinder.fallback();
        if !fallback.goes_on(entity, request, &mut order, &mut status, reason) {
            self.pathfinder.counters.failed += 1;
            self.commands.trigger(PathFailed { entity, reason });
        }
        self.pathfinder.unfollow(number);
    }
}

/// Cells between two cells, the longer way along an axis.
fn distance(a: Cell, b: Cell) -> u32 {
    a.x.abs_diff(b.x).max(a.y.abs_diff(b.y)).min(u32::MAX / SHARE_OF_WAY)
}
