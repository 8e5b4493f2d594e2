//! Smooth transforms between ticks.

use bevy::prelude::*;

use super::{Critter, CritterState, Facing};
use crate::{grids::NavGrids, request::ActiveOrder};

/// Whether transforms run between the last two ticks (the plugin ticks in `FixedUpdate`) or
/// stand at the last one.
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct Interpolation(pub(crate) bool);

type Drawn = (
    &'static Critter,
    &'static mut CritterState,
    Option<&'static ActiveOrder>,
    &'static Facing,
    &'static mut Transform,
    Option<&'static ChildOf>,
);

/// Writes the transform of every critter whose place on screen has changed: it walks, or its
/// grid was moved. One that stands may be put elsewhere by writing its transform.
pub(crate) fn place_transforms(
    grids: Res<NavGrids>,
    interpolation: Res<Interpolation>,
    fixed: Option<Res<Time<Fixed>>>,
    mut critters: Query<Drawn>,
    parents: Query<&GlobalTransform>,
) {
    let share = match fixed {
        Some(fixed) if interpolation.0 => fixed.overstep_fraction(),
        _ => 1.0,
    };
    for (critter, mut state, order, facing, mut transform, child_of) in &mut critters {
        let grid = match (state.unit(), order) {
            (None, Some(order)) => order.grid,
            _ => state.member.grid,
        };
        let Some(frame) = grids.frame(grid).filter(|_| state.placed) else {
            continue;
        };
        let place = frame.to_world(state.before.lerp(state.now, share));
        let parent = child_of.and_then(|child_of| parents.get(child_of.parent()).ok());
        let local = match parent {
            Some(parent) => {
                let world = place.extend(parent.translation().z);
                parent.affine().inverse().transform_point3(world).truncate()
            }
            None => place,
        };
        if local.is_finite() && local != state.drawn {
            transform.translation.x = local.x;
            transform.translation.y = local.y;
            state.bypass_change_detection().drawn = local;
        }
        if critter.turns && state.walk.is_between_cells() {
            let (dx, dy) = match state.heading {
                (0, 0) => facing.0.offset(),
                heading => heading,
            };
            let ahead = frame.step(dx, dy);
            transform.rotation = Quat::from_rotation_z(ahead.y.atan2(ahead.x));
        }
    }
}
