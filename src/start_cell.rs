//! Units that are put on a cell instead of a position.
//!
//! Input: units with a [`StartCell`], and the frames of grids. Output: their transforms.

use bevy::{
    ecs::entity_disabling::Disabled,
    math::{Affine3A, Vec3A},
    prelude::*,
};

use crate::{grids::NavGrids, nav::Cell, unit::NavAgent, whereabouts::Whereabouts};

/// Puts a unit on a cell: for a unit of several cells ([`Profile::size`](crate::prelude::Profile::size)), its anchor.
///
/// The next tick in which the unit's grid exists writes the unit's `Transform` (x and y; z stays as it is), before anything else
/// reads it, and removes this component. So a unit can be spawned together with its tilemap, before it is known where the map lies
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
type Starting<'w, 's> = Query<
    'w,
    's,
    (Entity, &'static StartCell, &'static NavAgent, Option<&'static ChildOf>),
    Allow<Disabled>,
>;

/// Writes the transforms of units whose grid exists.
pub(crate) fn put_on_cells(
    grids: Res<NavGrids>,
    starting: Starting,
    mut places: ParamSet<(Whereabouts, Query<&mut Transform, Allow<Disabled>>)>,
    mut commands: Commands,
) {
    for (entity, &StartCell(cell), agent, child_of) in &starting {
        let (Some(grid), Some(frame)) = (grids.get(agent.grid), grids.frame(agent.grid)) else {
            continue;
        };
        let parent = child_of.map_or(Some(Affine3A::IDENTITY), |child_of| {
            places.p0().transform(child_of.parent()).map(|global| global.affine())
        });
        let position = frame.block_center(cell, grid.unit_size(agent.profile));
        if let (Some(parent), Ok(mut transform)) = (parent, places.p1().get_mut(entity)) {
            let world = parent.transform_point3a(Vec3A::from(transform.translation));
            let local = parent.inverse().transform_point3(position.extend(world.z));
            transform.translation = local.xy().extend(transform.translation.z);
        }
        commands.entity(entity).try_remove::<StartCell>();
    }
}
