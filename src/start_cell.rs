//! Units that are put on a cell instead of a position.
//!
//! Input: units with a [`StartCell`], and the frames of grids. Output: their transforms.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use crate::{grids::NavGrids, nav::Cell, unit::NavAgent, whereabouts::Whereabouts};

/// Puts a unit on a cell: for a unit of several cells ([`Profile::size`](crate::prelude::Profile::size)), its anchor.
///
/// The next tick in which the unit's grid exists, or the next frame, writes the unit's `Transform` (x and y; z stays as it is), before
/// the plugin reads or draws it, and removes this component. So a unit can be spawned together with its tilemap, before it is known where the map lies
/// in the world. Inserted later, it has the effect of writing the `Transform`.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_tilepath::prelude::*;
/// fn spawn_guard(mut commands: Commands) {
///     let place = (StartCell(Cell::new(4, 7)), Transform::from_xyz(0.0, 0.0, 2.0));
///     commands.spawn((Critter::new(3.0), place));
/// }
/// # bevy::ecs::system::assert_is_system(spawn_guard);
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Hash, Clone)]
#[require(NavAgent, Transform)]
pub struct StartCell(pub Cell);

/// Units to be put on a cell.
type Starting<'w, 's> =
    Query<'w, 's, (Entity, &'static StartCell, &'static NavAgent), Allow<Disabled>>;

/// Writes the transforms of units whose grid exists: parents first, since their children move with them.
pub(crate) fn put_on_cells(
    grids: Res<NavGrids>,
    starting: Starting,
    mut places: ParamSet<(Whereabouts, Query<&mut Transform, Allow<Disabled>>)>,
    parents: Query<&ChildOf, Allow<Disabled>>,
    mut turns: Local<Vec<(usize, Entity, Vec2)>>,
    mut commands: Commands,
) {
    for (entity, &StartCell(cell), agent) in &starting {
        if let (Some(grid), Some(frame)) = (grids.get(agent.grid), grids.frame(agent.grid)) {
            let position = frame.block_center(cell, grid.unit_size(agent.profile));
            turns.push((places.p0().depth(entity), entity, position));
        }
    }
    turns.sort_unstable_by_key(|&(depth, entity, _)| (depth, entity));
    for (_, entity, position) in turns.drain(..) {
        let above = match parents.get(entity) {
            Ok(child_of) => places.p0().transform(child_of.parent()),
            Err(_) => Some(GlobalTransform::IDENTITY),
        };
        if let (Some(above), Ok(mut transform)) = (above, places.p1().get_mut(entity)) {
            put_at(&mut transform, position, &above);
        }
        commands.entity(entity).try_remove::<StartCell>();
    }
}

/// Writes x and y of a transform, so that its entity is there in the world. Below a parent that is scaled to nothing, the transform
/// stays as it is.
fn put_at(transform: &mut Transform, position: Vec2, above: &GlobalTransform) {
    let height = above.transform_point(transform.translation).z;
    let local = above.affine().inverse().transform_point3(position.extend(height));
    if local.is_finite() {
        transform.translation = local.xy().extend(transform.translation.z);
    }
}
