//! Finds changed critters by reading change ticks as columns instead of critter by critter.
//!
//! Input: one or more components. Output: the critters whose component was written since the system last ran.

use bevy::{
    ecs::{change_detection::Tick, entity_disabling::Disabled},
    prelude::*,
};

use crate::unit::CritterState;

/// All critters, including disabled ones. (`Allow<Disabled>` does not support contiguous iteration.)
type Critters = (With<CritterState>, Or<(With<Disabled>, Without<Disabled>)>);

/// A component of all critters that have it.
pub(super) type Column<'w, 's, C> = Query<'w, 's, (Entity, Ref<'static, C>), Critters>;

/// Change ticks checked together.
const CHUNK: usize = 32;

/// Lists the critters whose component has changed, except those changed at the tick `known`.
pub(super) fn list_changed<C: Component>(
    column: &Column<C>,
    known: Option<Tick>,
    entities: &mut Vec<Entity>,
) {
    // Table components are always contiguous.
    for (ids, components) in column.contiguous_iter().into_iter().flatten() {
        let (last, this) = (components.last_run_tick(), components.this_run_tick());
        let is_new = |tick: &Tick| tick.is_newer_than(last, this) && Some(*tick) != known;
        let ticks = components.changed_ticks_slice();
        for (ids, ticks) in ids.chunks(CHUNK).zip(ticks.chunks(CHUNK)) {
            if ticks.iter().fold(false, |any, tick| any | is_new(tick)) {
                let new = ids.iter().zip(ticks).filter(|(_, tick)| is_new(tick));
                entities.extend(new.map(|(&id, _)| id));
            }
        }
    }
}
