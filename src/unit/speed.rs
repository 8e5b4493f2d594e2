//! What the game and groups do to the speed of a unit.
//!
//! Input: the speed of a [`Critter`](super::Critter) or of [`PathSteering`](super::PathSteering), and these components. Output:
//! the speed at which the unit moves.

use bevy::{ecs::query::QueryData, prelude::*};

/// Slows a critter or a steered unit down: at most this speed (cells per second over plain terrain). For the game to add and
/// remove: a walk instead of a run, a unit that holds still.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct SpeedLimit(pub f32);

/// Multiplies the speed of a critter or a steered unit, before any limit: 0.5 is half as fast, 2 twice as fast. With zero, a
/// negative number or NaN the unit stands still. Default 1. For the game to add and remove: a slowing tower, wounds, a potion. If
/// several things change the speed of a unit, the game multiplies their factors.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_tilepath::prelude::*;
/// #[derive(Component)]
/// struct Chilled(Timer);
///
/// fn chill(unit: Entity, commands: &mut Commands) {
///     let timer = Timer::from_seconds(2.0, TimerMode::Once);
///     commands.entity(unit).insert((SpeedFactor(0.5), Chilled(timer)));
/// }
///
/// fn thaw(mut units: Query<(Entity, &mut Chilled)>, time: Res<Time>, mut commands: Commands) {
///     for (unit, mut chilled) in &mut units {
///         if chilled.0.tick(time.delta()).just_finished() {
///             commands.entity(unit).remove::<(SpeedFactor, Chilled)>();
///         }
///     }
/// }
/// # bevy::ecs::system::assert_is_system(thaw);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct SpeedFactor(pub f32);

impl Default for SpeedFactor {
    fn default() -> Self {
        Self(1.0)
    }
}

/// The speed of the slowest member of a unit's [`Group`](crate::prelude::Group), in cells per second over plain terrain, if the
/// group keeps together: no member goes faster. Read-only: the plugin writes it. The game's own limit is [`SpeedLimit`].
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
pub struct GroupSpeedLimit(pub f32);

/// What changes the speed of a unit.
#[derive(QueryData)]
pub(crate) struct SpeedChanges {
    factor: Option<&'static SpeedFactor>,
    limit: Option<&'static SpeedLimit>,
    group: Option<&'static GroupSpeedLimit>,
}

impl SpeedChangesItem<'_, '_> {
    /// What the game makes of a speed.
    pub(crate) fn own(&self, speed: f32) -> f32 {
        let speed = self.factor.map_or(speed, |factor| speed.max(0.0) * factor.0.max(0.0));
        self.limit.map_or(speed, |limit| lower(speed, limit.0))
    }

    /// What is left of it in the group of the unit.
    pub(crate) fn in_group(&self, speed: f32) -> f32 {
        let own = self.own(speed);
        self.group.map_or(own, |limit| lower(own, limit.0))
    }
}

/// The lower of two speeds; NaN if either is, as a unit that has no speed stands still.
fn lower(a: f32, b: f32) -> f32 {
    if a < b || a.is_nan() { a } else { b }
}
