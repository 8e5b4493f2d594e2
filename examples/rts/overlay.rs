//! The debug overlay of the library, toggled by keys.
//!
//! Input: F2 (all paths, borders of passable cells, the search of a selected critter), F3
//! (connected regions, landmarks) and F4 (the crowd: reserved cells, which unit waits for or pushes which).
//! Output: the settings of `TilePathDebug`, for the kind of the selected critter and the area
//! around the middle of the view.

use bevy::prelude::*;
use bevy_tilepath::debug_draw::{TilePathDebug, TilePathDebugPlugin, TilePathGizmos};

use crate::{
    camera::{MainCamera, scale_of},
    display::{SIZE, ViewSystems},
    map::{GameMap, TILE},
    select::Selected,
    units::Unit,
};

/// Largest distance from the middle of the view at which cells are drawn, to limit the drawing
/// cost.
const MOST_CELLS: u32 = 80;

/// Adds the overlay.
pub struct OverlayPlugin;

impl Plugin for OverlayPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(TilePathDebugPlugin)
            .insert_resource(TilePathDebug { paths: false, ..default() })
            .add_systems(Startup, |mut configs: ResMut<GizmoConfigStore>| {
                configs.config_mut::<TilePathGizmos>().0.line.width = 1.5;
            })
            .add_systems(
                Update,
                (toggle.in_set(ViewSystems::Act), follow.in_set(ViewSystems::Show)),
            );
    }
}

fn toggle(keys: Res<ButtonInput<KeyCode>>, mut debug: ResMut<TilePathDebug>) {
    if keys.just_pressed(KeyCode::F2) {
        debug.paths = !debug.paths;
        debug.grid = debug.paths;
    }
    if keys.just_pressed(KeyCode::F3) {
        debug.regions = !debug.regions;
        debug.landmarks = debug.regions;
    }
    if keys.just_pressed(KeyCode::F4) {
        debug.crowd = !debug.crowd;
    }
}

/// Centers the overlay on the view, and sets its profile and search to the selected critter's.
fn follow(
    mut debug: ResMut<TilePathDebug>,
    camera: Single<(&Camera, &Transform, &Projection), With<MainCamera>>,
    map: Res<GameMap>,
    selected: Query<(Entity, &Unit), With<Selected>>,
) {
    if !debug.paths && !debug.regions {
        return;
    }
    let (camera, transform, projection) = *camera;
    if let Some(cell) = map.frame.cell_at(transform.translation.truncate()) {
        debug.around = cell;
    }
    let view = camera.logical_viewport_size().unwrap_or(SIZE.as_vec2());
    let half_view = view.max_element() / 2.0 * scale_of(projection);
    debug.radius = ((half_view / TILE) as u32 + 1).min(MOST_CELLS);
    let first = selected.iter().min_by_key(|(_, unit)| unit.number);
    debug.search = first.map(|(entity, _)| entity);
    debug.profile = first.map(|(_, unit)| unit.kind.profile()).unwrap_or_default();
}
