//! The window, and everything drawn in it.
//!
//! Input: [`Options`] and the map. Output: an app that is ready to run, with drawing and controls.

use bevy::{
    app::{PluginGroupBuilder, TaskPoolOptions, TaskPoolPlugin},
    log::LogPlugin,
    prelude::*,
};
use bevy_ecs_tilemap::TilemapPlugin;

use crate::{
    camera, capture, cli::Options, controls, game, groups, help, hud, labels, map::GameMap,
    markers, minimap, overlay, player, pointer, previews, screen::window, select, smoke, sprites,
};

/// Size of the window and of offscreen screenshots, in pixels.
pub const SIZE: UVec2 = UVec2::new(1280, 720);

/// Systems of the view, in the order in which they run in a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewSystems {
    /// Update the pointer.
    Point,
    /// Handle input.
    Act,
    /// Draw.
    Show,
}

/// Sends the log to stderr, for the app that runs later.
pub fn start_log() {
    App::new().add_plugins(window::log());
}

/// Returns the thread options of the command line.
pub fn thread_options(options: &Options) -> TaskPoolOptions {
    options.threads.map_or_else(default, TaskPoolOptions::with_num_threads)
}

/// Builds the game in a window; fails with a reason where there is no display or adapter.
pub fn open(options: &Options, map: GameMap) -> Result<App, String> {
    let window = window::window("bevy_tilepath – RTS", SIZE, options.smoke.is_some());
    let mut app = window::open(plugins(options), window)?;
    game::add_to(&mut app, options, map);
    add_view(&mut app);
    if let Some(folder) = &options.smoke {
        smoke::add_to(&mut app, folder)?;
    }
    Ok(app)
}

/// Returns Bevy's plugins, configured for both windows and offscreen screenshots.
pub fn plugins(options: &Options) -> PluginGroupBuilder {
    window::plugins()
        .disable::<LogPlugin>()
        .set(TaskPoolPlugin { task_pool_options: thread_options(options) })
}

/// Adds everything that is drawn, and the controls.
pub fn add_view(app: &mut App) {
    app.configure_sets(Update, (ViewSystems::Point, ViewSystems::Act, ViewSystems::Show).chain())
        .insert_resource(ClearColor(Color::srgb_u8(20, 18, 27)))
        .add_plugins((
            TilemapPlugin,
            sprites::SpritesPlugin,
            camera::CameraControlPlugin,
            pointer::PointerPlugin,
            select::SelectPlugin,
            groups::GroupsPlugin,
            (player::PlayerPlugin, controls::ControlsPlugin),
            (markers::MarkersPlugin, previews::PreviewsPlugin, labels::LabelsPlugin),
            minimap::MinimapPlugin,
            hud::HudPlugin,
            help::HelpPlugin,
            overlay::OverlayPlugin,
            capture::CapturePlugin,
        ));
}
