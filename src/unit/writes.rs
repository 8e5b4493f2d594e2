//! Which transforms were written by the plugin, and which by the game.

use bevy::{ecs::change_detection::Tick, prelude::*};

/// When the plugin last wrote the transforms of critters. Any other change of a transform is the game's.
#[derive(Resource, Debug)]
pub(crate) struct TransformWrites {
    /// Whether transforms run between the last two ticks (the plugin ticks in `FixedUpdate`) or stand at the
    /// last one.
    pub(crate) is_between_ticks: bool,
    /// When they were last written.
    written: Option<Tick>,
    /// Critters whose transform the game had written at that very time: commands do not count time.
    moved: Vec<Entity>,
}

impl TransformWrites {
    pub(crate) const fn new(is_between_ticks: bool) -> Self {
        Self { is_between_ticks, written: None, moved: Vec::new() }
    }

    /// Transforms are written at this time.
    pub(crate) const fn begin(&mut self, now: Tick) {
        self.written = Some(now);
    }

    /// The game has written the transform of this critter at the same time.
    pub(crate) fn note_moved(&mut self, entity: Entity) {
        self.moved.push(entity);
    }

    /// Moves the critters noted so to `entities`.
    pub(crate) fn take_moved(&mut self, entities: &mut Vec<Entity>) {
        entities.append(&mut self.moved);
    }

    /// Whether the plugin wrote what changed at this time.
    pub(crate) fn has_written(&self, changed: Tick) -> bool {
        self.written == Some(changed)
    }
}
