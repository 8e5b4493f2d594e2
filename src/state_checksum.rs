//! One number for the state of the plugin, to tell whether two runs did the same.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use crate::{
    crowds::Crowds, movement::CritterState, nav::checksum::Checksum, request::ActiveOrder,
    scheduler::PathCounters,
};

/// Sum over all answers given and all critters: their cells and how far into a step they are, in
/// whole numbers. Equal in two runs of the same orders and edits on the same ticks, whatever the
/// machine, the frame rate and the number of threads.
///
/// Critters are told apart by the sequence numbers of their orders and of themselves, not by entity.
pub fn state_checksum(world: &mut World) -> u64 {
    let answers =
        world.get_resource::<PathCounters>().map_or(0, |counters| counters.answers_checksum);
    let mut critters =
        world.query_filtered::<(Option<&ActiveOrder>, &CritterState), Allow<Disabled>>();
    let crowds = world.get_resource::<Crowds>();
    let states = critters.iter(world).map(|(order, state)| {
        let mut sum = Checksum::default();
        sum.add(order.map_or(0, |order| order.number));
        state.add_to(crowds, &mut sum);
        sum.value()
    });
    states.fold(answers, u64::wrapping_add)
}
