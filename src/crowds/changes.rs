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

/// Lists the critters whose component has changed.
pub(super) fn list_changed<C: Component>(column: &Column<C>, entities: &mut Vec<Entity>) {
    list_changed_except(column, |_| false, entities);
}

/// Like [`list_changed`], but ignores changes at ticks for which `is_known` is true.
pub(super) fn list_changed_except<C: Component>(
    column: &Column<C>,
    is_known: impl Fn(Tick) -> bool,
    entities: &mut Vec<Entity>,
) {
    let Ok(tables) = column.contiguous_iter() else {
        // Components not stored in tables; this crate has none.
        let new =
            |component: &Ref<C>| component.is_changed() && !is_known(component.last_changed());
        entities.extend(column.iter().filter(|(_, component)| new(component)).map(|(id, _)| id));
        return;
    };
    for (ids, components) in tables {
        let (last, this) = (components.last_run_tick(), components.this_run_tick());
        let is_new = |tick: &Tick| tick.is_newer_than(last, this) && !is_known(*tick);
        let ticks = components.changed_ticks_slice();
        for (ids, ticks) in ids.chunks(CHUNK).zip(ticks.chunks(CHUNK)) {
            if ticks.iter().fold(false, |any, tick| any | is_new(tick)) {
                let new = ids.iter().zip(ticks).filter(|(_, tick)| is_new(tick));
                entities.extend(new.map(|(&id, _)| id));
            }
        }
    }
}
