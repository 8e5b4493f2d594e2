//! Hands answers to the units that requested them.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{Outcomes, Requester, RequesterItem};
use crate::{flow::FlowFields, grids::NavGrids, scheduler::PathCounters, whereabouts::Whereabouts};

/// Hands each answer to its unit, and makes the counters readable.
pub(crate) fn deliver_answers(
    mut outcomes: Outcomes,
    mut published: ResMut<PathCounters>,
    grids: Res<NavGrids>,
    flows: Res<FlowFields>,
    mut units: Query<Requester, Allow<Disabled>>,
    whereabouts: Whereabouts,
) {
    let mut answers = core::mem::take(&mut outcomes.pathfinder.answers);
    for answer in answers.drain(..) {
        if let Some(entity) = outcomes.pathfinder.requester_of(&answer)
            && let Ok(mut unit) = units.get_mut(entity)
        {
            let is_elsewhere = unit.was_moved() && !stands_on_start(&unit, &grids, &whereabouts);
            outcomes.answered(&mut unit, answer, (&grids, &flows), is_elsewhere);
        }
    }
    outcomes.pathfinder.answers = answers; // keeps the memory
    outcomes.pathfinder.counters.waiting_again = outcomes.open.retries.len();
    published.set_if_neq(outcomes.pathfinder.counters);
}

/// Whether a unit of a crowd that the game has moved stands where its path begins: the crowd puts it there. (A game may
/// move a unit on its cell in every tick.)
fn stands_on_start(unit: &RequesterItem, grids: &NavGrids, whereabouts: &Whereabouts) -> bool {
    let (id, start) = (unit.state.grid, unit.state.query.start);
    let anchor = || {
        let grid = grids.get(id).filter(|grid| grid.contains(start))?;
        let size = grid.unit_size(unit.state.query.profile);
        grids.frame(id)?.anchor_at(whereabouts.position(unit.entity)?, size)
    };
    unit.is_in_crowd() && anchor() == Some(start)
}
