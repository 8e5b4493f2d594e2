//! The crowd overlay: reserved cells, and which unit waits for or pushes which.
//!
//! Input: [`Overlay`]. Output: the settings of the library's debug overlay.

use bevy::prelude::*;
use bevy_tilepath::debug_draw::{TilePathDebug, TilePathDebugPlugin, TilePathGizmos};

use crate::display::ViewSystems;

/// Whether the overlay is shown.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Overlay(pub bool);

/// Adds the overlay.
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
