//! The end of groups: when they have come to rest, and when a member goes its own way.
//!
//! Input: events of the library. Output: [`Group`] entities despawned, and what they have put on
//! their members taken off. (Members that are given other orders at once need nothing of this: the
//! library lets them go, and the others close the ranks.)

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

/// Groups, and who belongs to them.
#[derive(SystemParam)]
pub struct Squads<'w, 's> {
    commands: Commands<'w, 's>,
    places: Query<'w, 's, &'static GroupPlace>,
    groups: Query<'w, 's, &'static Group>,
}

impl Squads<'_, '_> {
    fn disband(&mut self, group: Entity) {
        let Ok(Group { members, .. }) = self.groups.get(group) else {
            return;
        };
        for &GroupMember { entity, .. } in members {
            if self.places.get(entity).is_ok_and(|place| place.group == group) {
                self.commands.entity(entity).try_remove::<(GroupPlace, SpeedLimit)>();
            }
        }
        self.commands.entity(group).try_despawn();
    }
}

/// Ends a group that has come to rest.
pub fn disband_arrived(arrived: On<GroupArrived>, mut squads: Squads) {
    squads.disband(arrived.entity);
}

/// Ends the group of a critter that goes on with orders of its own: the others would close the
/// ranks behind it, one after the other.
pub fn disband_ahead(begun: On<OrderBegun>, mut squads: Squads) {
    if let Ok(group) = squads.places.get(begun.entity).map(|place| place.group) {
        squads.disband(group);
    }
}
