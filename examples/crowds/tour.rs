//! The tour: runs all scenes in turn.
//!
//! Input: a scene that is over. Output: the next scene, after a pause.

use bevy::prelude::*;

use crate::{
    captions,
    game::{RequestedScene, SceneState},
};

/// Seconds between the end of a scene and the next one.
const PAUSE: f32 = 3.0;

/// Adds the tour.
pub struct TourPlugin;

impl Plugin for TourPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, advance);
    }
}

fn advance(
    time: Res<Time<Real>>,
    scene: Res<SceneState>,
    mut wanted: ResMut<RequestedScene>,
    mut paused: Local<f32>,
) {
    *paused = if scene.is_over() { *paused + time.delta_secs() } else { 0.0 };
    if *paused >= PAUSE {
        *paused = 0.0;
        wanted.0 = Some((scene.number + 1) % captions::count());
    }
}
