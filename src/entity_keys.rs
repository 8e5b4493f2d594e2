//! Tables by entity, when their entities are mapped to others.

use bevy::ecs::entity::{EntityHashMap, EntityMapper};

/// Moves all values to the entities to which the mapper leads.
pub(crate) fn map_keys<V>(table: &mut EntityHashMap<V>, mapper: &mut impl EntityMapper) {
    let before = core::mem::take(table).into_iter();
    *table = before.map(|(entity, value)| (mapper.get_mapped(entity), value)).collect();
}
