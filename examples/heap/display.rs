//! The window, and everything in it.
//!
//! Input: the level, and a folder for the smoke run. Output: an app that is ready to run.

use std::path::Path;

use bevy::{camera::ScalingMode, prelude::*, window::PrimaryWindow};
use bevy_ecs_tilemap::TilemapPlugin;
use bevy_tilepath::prelude::*;

use crate::{
    array_view, board, brush, buttons, controls, layout, legend, level::Level, map_view, palette,
    panel, pin_view, playback, pointer, screen::window, slot_view, smoke, timeline::Timeline,
    tree_view,
};

/// Systems of the view, in the order in which they run in a frame. Between `Act` and `Play` the grid
/// is updated from the tiles.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewSystems {
    /// Update the pointer.
    Point,
    /// Handle input.
    Act,
    /// Choose the shown moment.
    Play,
    /// Draw.
    Show,
}

/// Builds the app; fails with a reason where there is no display or adapter.
pub fn open(level: Level, smoke: Option<&Path>) -> Result<App, String> {
    let title = "bevy_tilepath – the open list as a heap";
    let window = window::window(title, layout::SIZE.as_uvec2(), smoke.is_some());
    let mut app = window::open(window::plugins(), window)?;
    add_all(&mut app, level);
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, folder)?;
    }
    Ok(app)
}

fn add_all(app: &mut App, level: Level) {
    use ViewSystems::{Act, Play, Point, Show};
    app.configure_sets(Update, (Point, Act, TilePathSystems::SyncGrid, Play, Show).chain())
        .configure_sets(Update, (Play, Show).run_if(resource_exists::<Timeline>))
        .insert_resource(ClearColor(palette::BACKGROUND))
        .insert_resource(level)
        .add_systems(Startup, spawn_camera)
        .add_systems(PreUpdate, fit_to_window)
        .add_plugins((TilemapPlugin, TilePathPlugin::in_schedule(Update)))
        .add_plugins((
            board::BoardPlugin,
            playback::PlaybackPlugin,
            pointer::PointerPlugin,
            brush::BrushPlugin,
            controls::ControlsPlugin,
            map_view::MapViewPlugin,
            pin_view::PinViewPlugin,
            tree_view::TreeViewPlugin,
            slot_view::SlotViewPlugin,
            array_view::ArrayViewPlugin,
            panel::PanelPlugin,
            buttons::ButtonsPlugin,
            legend::LegendPlugin,
        ));
}

/// Spawns a camera that maps world units to layout pixels; the world's y points up.
fn spawn_camera(mut commands: Commands) {
    let (min_width, min_height) = layout::SIZE.into();
    let projection = OrthographicProjection {
        viewport_origin: Vec2::new(0.0, 1.0),
        scaling_mode: ScalingMode::AutoMin { min_width, min_height },
        ..OrthographicProjection::default_2d()
    };
    commands.spawn((Camera2d, Projection::Orthographic(projection)));
}

fn fit_to_window(window: Single<&Window, With<PrimaryWindow>>, mut scale: ResMut<UiScale>) {
    let fit = (window.size() / layout::SIZE).min_element();
    if fit > 0.0 && scale.0.to_bits() != fit.to_bits() {
        scale.0 = fit;
    }
}
