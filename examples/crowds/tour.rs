//! The tour: from scene to scene.
//!
//! Input: a scene that is over. Output: after a rest, the next one.

use bevy::prelude::*;

use crate::{
    captions,
    game::{Play, Wanted},
};

/// Seconds between the end of a scene and the next one.
const REST: f32 = 3.0;

/// Goes on by itself.
pub struct TourPlugin;

impl Plugin for TourPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, go_on);
    }
}

fn go_on(
    time: Res<Time<Real>>,
    play: Res<Play>,
    mut wanted: ResMut<Wanted>,
    mut rested: Local<f32>,
) {
    *rested = if play.is_over() { *rested + time.delta_secs() } else { 0.0 };
    if *rested >= REST {
        *rested = 0.0;
        wanted.0 = Some((play.number + 1) % captions::count());
    }
}
