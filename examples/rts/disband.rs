//! Disbands a group whose members have queued orders.
//!
//! Input: the start of a queued order. Output: the despawned group. A group despawns itself when
//! all its members have stopped. A member that gets another order leaves it, and the other members
//! close ranks.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

/// Despawns the group of a unit that begins its next queued order. Otherwise the other members
/// would close ranks after each member that leaves.
pub fn disband_on_next_order(
    begun: On<OrderBegun>,
    slots: Query<&GroupSlot>,
    mut commands: Commands,
) {
    if let Ok(slot) = slots.get(begun.entity) {
        commands.entity(slot.group).try_despawn();
    }
}
