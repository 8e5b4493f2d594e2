//! Units that [avian](https://docs.rs/avian2d) moves: bevy_tilepath plans and steers, physics decides what comes of it.
//!
//! - [`DesiredVelocity`] → [`LinearVelocity`]: a unit speeds up towards it as well as its [`MaxAcceleration`] allows. What hits it counts, too.
//! - Pushed off its path, it goes back to it or gets another one; that is the business of [`PathSteering`].
//! - While a unit has a [`Critter`], bevy_tilepath moves it, and its body is kinematic: it pushes others and is not pushed.
//!
//! What stands still for good (walls, rocks) belongs on the grid and into physics: give its entity a [`NavBlocker`] and a
//! [`Collider`]. What can be pushed needs no blocker.

use avian2d::prelude::*;
use bevy::prelude::*;
use bevy_tilepath::prelude::*;

/// Lets steered bodies walk. Needs avian's `PhysicsPlugins` and `TilePathPlugin` in their default schedules.
pub struct PhysicsUnitsPlugin;

impl Plugin for PhysicsUnitsPlugin {
    fn build(&self, app: &mut App) {
        // Physics runs in `FixedPostUpdate`, after this.
        app.add_systems(FixedUpdate, walk.after(TilePathSystems::Move))
            .add_observer(hand_to_the_plugin)
            .add_observer(hand_to_physics);
    }
}

/// How fast a steered body can change its velocity, in world units per second, per second.
#[derive(Component, Clone, Copy, Debug)]
pub struct MaxAcceleration(pub f32);

/// A unit as a round body: its radius in world units, its speed in cells per second. Give it a `Transform`, and requests as usual.
pub fn unit(radius: f32, speed: f32) -> impl Bundle {
    (
        RigidBody::Dynamic,
        Collider::circle(radius),
        LockedAxes::ROTATION_LOCKED,
        Friction::new(0.1), // units slip past each other and along walls
        SleepingDisabled,
        MaxAcceleration(40.0 * radius * speed.max(1.0)),
        // Others may stand in its place.
        PathSteering::new(speed).arrival_radius(0.6),
    )
}

fn walk(
    time: Res<Time>,
    mut units: Query<(&DesiredVelocity, &MaxAcceleration, &mut LinearVelocity), Without<Critter>>,
) {
    for (desired, acceleration, mut velocity) in &mut units {
        let change = **desired - velocity.0;
        velocity.0 += change.clamp_length_max(acceleration.0 * time.delta_secs());
    }
}

/// The `Transform` is written by bevy_tilepath from now on.
fn hand_to_the_plugin(
    added: On<Insert, Critter>,
    mut commands: Commands,
    units: Query<(), With<MaxAcceleration>>,
) {
    if units.contains(added.entity) {
        commands.entity(added.entity).insert((RigidBody::Kinematic, LinearVelocity::ZERO));
    }
}

fn hand_to_physics(
    removed: On<Remove, Critter>,
    mut commands: Commands,
    units: Query<(), With<MaxAcceleration>>,
) {
    if units.contains(removed.entity) {
        commands.entity(removed.entity).try_insert(RigidBody::Dynamic);
    }
}
