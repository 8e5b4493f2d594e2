//! A checksum of the plugin's state, to compare two runs.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use crate::{
    crowds::Crowds,
    nav::Checksum,
    scheduler::PathCounters,
    unit::{CritterState, RequestState},
};

/// Computes a checksum over all answers given and all critters: their cells and their progress within a step,
/// in whole numbers. Equal in two runs of the same orders and edits on the same ticks, whatever the machine,
/// the frame rate and the number of threads.
///
/// Critters are identified by the sequence numbers of their requests and of themselves, not by entity.
pub fn state_checksum(world: &mut World) -> u64 {
    let answers =
        world.get_resource::<PathCounters>().map_or(0, |counters| counters.answers_checksum);
    let mut critters =
        world.query_filtered::<(Option<&RequestState>, &CritterState), Allow<Disabled>>();
    let crowds = world.get_resource::<Crowds>();
    let states = critters.iter(world).map(|(request, state)| {
        let mut sum = Checksum::default();
        sum.add(request.map_or(0, |request| request.accepted));
        sum.add(state.member.number);
        // The exact position, not the drawn one.
        sum.add_cell(state.walk.tail());
        sum.add_cell(state.walk.head());
        let crowd = crowds.and_then(|crowds| crowds.get(state.member.grid));
        let progress = state.unit().zip(crowd).map(|(unit, crowd)| crowd.progress(unit));
        sum.add(progress.unwrap_or(state.walk.progress()).0);
        sum.value()
    });
    states.fold(answers, u64::wrapping_add)
}
