//! Changes of what moves a unit: the plugin ([`Critter`]), something that it steers ([`PathSteering`]), or the game alone.
//!
//! Input: these components as they are inserted and removed. Output: the unit's request, resolved again from where the unit is.

use bevy::{
    ecs::{entity::MapEntities, entity_disabling::Disabled},
    prelude::*,
};

use crate::{
    request::{Outcomes, Requester},
    unit::{Critter, DesiredVelocity, PathStatus, PathSteering},
};

/// Units that something else moves than before, since the last tick.
#[derive(Resource, Clone, Debug, Default, MapEntities)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct MoverChanges(#[entities] Vec<Entity>);

/// Registers the observers.
pub(crate) fn build(app: &mut App) {
    app.init_resource::<MoverChanges>()
        .add_observer(note::<Add, (Critter, PathSteering)>)
        .add_observer(note::<Remove, (Critter, PathSteering)>)
        .add_observer(|removed: On<Remove, PathSteering>, mut commands: Commands| {
            commands.entity(removed.entity).try_remove::<DesiredVelocity>();
        });
}

/// Notes units with a path only. While the plugin does not run no unit gets a path, so the list stays short.
fn note<E: EntityEvent, B: Bundle>(
    event: On<E, B>,
    statuses: Query<&PathStatus, Allow<Disabled>>,
    mut changes: ResMut<MoverChanges>,
) {
    let entity = event.event_target();
    if statuses.get(entity).is_ok_and(PathStatus::has_path) {
        changes.0.push(entity);
    }
}

/// Resolves the requests of units on the way that something else moves from now on.
pub(crate) fn hand_over(
    mut changes: ResMut<MoverChanges>,
    mut units: Query<Requester, Allow<Disabled>>,
    mut outcomes: Outcomes,
) {
    for entity in changes.0.drain(..) {
        let Ok(mut unit) = units.get_mut(entity) else {
            continue;
        };
        let critter = unit.critter.as_ref();
        let stands = critter.is_some_and(|(state, _)| state.placed || state.unit().is_some());
        // A critter that stands on its grid already keeps its request, unless the path was found while the game moved it.
        if !stands || matches!(*unit.status, PathStatus::Found(_)) {
            outcomes.mover_changed(&mut unit);
        }
    }
}
