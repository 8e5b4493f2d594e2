//! The overlay: which cells everybody holds, whom they wait for, and who pushes whom.
//!
//! Input: whether it is wanted. Output: what the debug overlay of the library is told to draw.

use bevy::prelude::*;
use bevy_tilepath::debug_draw::{TilePathDebug, TilePathDebugPlugin, TilePathGizmos};

use crate::display::ViewSystems;

/// Whether it is shown.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Overlay(pub bool);

/// Draws the overlay.
pub struct OverlayPlugin;

impl Plugin for OverlayPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(TilePathDebugPlugin)
            .init_resource::<Overlay>()
            .insert_resource(TilePathDebug { paths: false, ..default() })
            .add_systems(Startup, |mut configs: ResMut<GizmoConfigStore>| {
                configs.config_mut::<TilePathGizmos>().0.line.width = 1.5;
            })
            .add_systems(Update, show.in_set(ViewSystems::Show));
    }
}

fn show(overlay: Res<Overlay>, mut debug: ResMut<TilePathDebug>) {
    debug.crowd = overlay.0;
}
