//! Where entities are in the world right now.
//!
//! Input: transforms and parents. Output: global transforms, computed on the spot: `GlobalTransform` is as old
//! as the last frame. Unlike Bevy's `TransformHelper` it finds disabled entities as well.

use bevy::{
    ecs::{entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};

/// Looks up where entities are.
#[derive(SystemParam)]
pub(crate) struct Whereabouts<'w, 's> {
    entities: Query<'w, 's, (&'static Transform, Option<&'static ChildOf>), Allow<Disabled>>,
}

impl Whereabouts<'_, '_> {
    /// The global transform of an entity; `None` if it, or one that it is a child of, has none.
    pub(crate) fn transform(&self, entity: Entity) -> Option<GlobalTransform> {
        let (&transform, mut parent) = self.entities.get(entity).ok()?;
        let mut global = GlobalTransform::from(transform);
        while let Some(child_of) = parent {
            let (&transform, above) = self.entities.get(child_of.parent()).ok()?;
            global = transform * global;
            parent = above;
        }
        Some(global)
    }

    /// Its position on the plane of the map.
    pub(crate) fn position(&self, entity: Entity) -> Option<Vec2> {
        self.transform(entity).map(|global| global.translation().truncate())
    }
}
