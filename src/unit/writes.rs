//! Which transforms were written by the plugin, and which by the game.

use core::time::Duration;

use bevy::{ecs::change_detection::Tick, prelude::*};

/// When the plugin last wrote the transforms of critters. Any other change of a transform is the game's.
#[derive(Resource, Debug, Default)]
pub(crate) struct TransformWrites {
    /// Whether transforms run between the last two ticks (the plugin ticks in `FixedUpdate`) or stand at the
    /// last one.
    pub(crate) is_between_ticks: bool,
    /// The time of the fixed steps in the last tick.
    pub(crate) last_tick: Option<Duration>,
    /// When they were last written.
    pub(crate) written: Option<Tick>,
    /// Critters whose transform the game wrote in the same change tick as the plugin.
    pub(crate) moved: Vec<Entity>,
}
