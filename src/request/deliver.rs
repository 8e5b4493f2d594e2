//! Hands answers to the units that requested them.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{Outcomes, Requester};
use crate::{flow::FlowFields, grids::NavGrids, scheduler::PathCounters};

/// Hands each answer to its unit, and makes the counters readable.
pub(crate) fn deliver_answers(
    mut outcomes: Outcomes,
    mut published: ResMut<PathCounters>,
    grids: Res<NavGrids>,
    flows: Res<FlowFields>,
    mut units: Query<Requester, Allow<Disabled>>,
) {
    let mut answers = core::mem::take(&mut outcomes.pathfinder.answers);
    for answer in answers.drain(..) {
        if let Some(entity) = outcomes.pathfinder.requester_of(&answer)
            && let Ok(mut unit) = units.get_mut(entity)
        {
            outcomes.answered(&mut unit, answer, (&grids, &flows));
        }
    }
    outcomes.pathfinder.answers = answers; // keeps the memory
    outcomes.pathfinder.counters.waiting_again = outcomes.open.retries.len();
    published.set_if_neq(outcomes.pathfinder.counters);
}
