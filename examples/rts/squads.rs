//! The end of a group whose members have orders of their own waiting.
//!
//! A group despawns itself when all its members have come to rest. Members that get other orders leave it
//! by themselves, and the others close ranks.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

/// Ends the group of a unit that continues with orders of its own: else the others would close
/// ranks behind it, one after the other.
pub fn disband_ahead(begun: On<OrderBegun>, slots: Query<&GroupSlot>, mut commands: Commands) {
    if let Ok(slot) = slots.get(begun.entity) {
        commands.entity(slot.group).try_despawn();
    }
}
