//! Stops a unit, whatever it is doing.

use bevy::prelude::*;

use super::OrderQueue;
use crate::{group::GroupSlot, request::PathRequest};

/// Stops a unit, whatever it is doing: cancels the orders of its [`OrderQueue`], which stays, takes it out of its
/// [`Group`](crate::prelude::Group), and removes its [`PathRequest`]. The unit halts on the next cell. A member that has no slot of
/// its group yet still gets one.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_tilepath::prelude::*;
/// fn halt_all(units: Query<Entity, With<Critter>>, mut commands: Commands) {
///     for unit in &units {
///         commands.entity(unit).queue(stop_unit);
///     }
/// }
/// # bevy::ecs::system::assert_is_system(halt_all);
/// ```
pub fn stop_unit(mut unit: EntityWorldMut) {
    if let Some(mut queue) = unit.get_mut::<OrderQueue>() {
        queue.stop();
    }
    unit.remove::<(PathRequest, GroupSlot)>();
}
