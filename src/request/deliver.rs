//! Hands answers to the units that requested them.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::outcome::{Outcomes, Requester, RequesterItem};
use crate::{
    grids::NavGrids,
    nav::{Answer, PathKind},
    scheduler::{PathCounters, path_kind},
};

/// Steps of a path that are pulled straight for a unit of the budget (estimated).
const STEPS_PULLED_PER_UNIT: u32 = 2;

/// Decides what becomes of each unit that has its answer, and makes the counters readable.
pub(crate) fn deliver_answers(
    mut outcomes: Outcomes,
    mut published: ResMut<PathCounters>,
    grids: Res<NavGrids>,
    mut units: Query<Requester, Allow<Disabled>>,
) {
    let mut answers = core::mem::take(&mut outcomes.pathfinder.answers);
    for answer in answers.drain(..) {
        if let Some(entity) = outcomes.pathfinder.requester_of(&answer)
            && let Ok(mut unit) = units.get_mut(entity)
        {
            deliver(&mut unit, answer, &mut outcomes, &grids);
        }
    }
    outcomes.pathfinder.answers = answers; // keeps the memory
    outcomes.pathfinder.counters.waiting_again = outcomes.open.retries.len();
    published.set_if_neq(outcomes.pathfinder.counters);
}

fn deliver(unit: &mut RequesterItem, answer: Answer, outcomes: &mut Outcomes, grids: &NavGrids) {
    let is_first_part = path_kind(&answer) == Some(PathKind::FirstSegment);
    if !is_first_part {
        unit.state.ticket = None;
    }
    if !unit.is_latest() {
        return; // removed or replaced: the entry that says so is not read yet
    }
    let is_rest = answer.delivered.is_some();
    match answer.result {
        _ if !is_rest && unit.was_moved() => outcomes.resolve_again(unit),
        Ok(found) if is_rest && unit.path.0.end() != found.start() => {
            // Its path was replaced in the meantime.
            let head = unit.head();
            outcomes.repair(unit, head);
        }
        Ok(mut found) => {
            // In straight lines if it has any-angle paths.
            if let (Some(any_angle), Some(grid)) = (&mut unit.any_angle, grids.get(answer.grid)) {
                // Paid in the next tick.
                outcomes.pathfinder.spend(found.steps() / STEPS_PULLED_PER_UNIT);
                found = any_angle.set_path(grid, unit.state.query.profile, &found, is_rest);
            }
            outcomes.found(unit, found, is_rest);
        }
        Err(reason) => {
            let head = unit.head();
            unit.stop_at(head);
            outcomes.fail(unit, reason);
        }
    }
}
