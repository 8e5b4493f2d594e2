//! Current world positions of entities.
//!
//! Input: transforms and parents. Output: global transforms, computed on demand: `GlobalTransform` is only
//! updated once per frame. Unlike Bevy's `TransformHelper` this also finds disabled entities.

use bevy::{
    ecs::{entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};

/// Most ancestors of an entity. More are a circle: two units that mount each other, say.
const MOST_ANCESTORS: usize = 1_024;

/// Computes the world positions of entities.
#[derive(SystemParam)]
pub(crate) struct Whereabouts<'w, 's> {
    entities: Query<'w, 's, (&'static Transform, Option<&'static ChildOf>), Allow<Disabled>>,
}

impl Whereabouts<'_, '_> {
    /// Returns the global transform of an entity; `None` if the entity or one of its ancestors has no
    /// transform, or is an ancestor of itself.
    pub(crate) fn transform(&self, entity: Entity) -> Option<GlobalTransform> {
        let (&transform, mut parent) = self.entities.get(entity).ok()?;
        let mut global = GlobalTransform::from(transform);
        for _ in 0..MOST_ANCESTORS {
            let Some(child_of) = parent else {
                return Some(global);
            };
            let (&transform, above) = self.entities.get(child_of.parent()).ok()?;
            global = transform * global;
            parent = above;
        }
        None
    }

    /// Returns the number of ancestors of an entity.
    pub(crate) fn depth(&self, entity: Entity) -> usize {
        let parent_of = |entity: &Entity| self.entities.get(*entity).ok()?.1.map(ChildOf::parent);
        core::iter::successors(Some(entity), parent_of).skip(1).take(MOST_ANCESTORS).count()
    }

    /// Returns the position of an entity on the plane of the map.
    pub(crate) fn position(&self, entity: Entity) -> Option<Vec2> {
        self.transform(entity).map(|global| global.translation().truncate())
    }
}
