//! A checksum of the plugin's state, to compare two runs.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use crate::{
    crowds::Crowds,
    nav::checksum::Checksum,
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
        add_position(state, crowds, &mut sum);
        sum.value()
    });
    states.fold(answers, u64::wrapping_add)
}

/// Adds the exact position of a critter, not the drawn one.
fn add_position(state: &CritterState, crowds: Option<&Crowds>, sum: &mut Checksum) {
    sum.add(state.member.number);
    sum.add_cell(state.walk.tail());
    sum.add_cell(state.walk.head());
    let unit_and_crowd = state.unit().zip(crowds.and_then(|crowds| crowds.get(state.member.grid)));
    let progress =
        unit_and_crowd.map_or(state.walk.progress(), |(unit, crowd)| crowd.progress(unit));
    sum.add(progress.0);
}
