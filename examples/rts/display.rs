//! The window, and everything that is seen in it.
//!
//! Input: [`Options`] and the map. Output: an app that is ready to run, with everything that is
//! drawn and with the player's controls.

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

/// Size of the window and of offscreen pictures, in pixels.
pub const SIZE: UVec2 = UVec2::new(1280, 720);

/// What the player sees and does, in the order in which it happens in a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewSystems {
    /// Where the pointer is.
    Point,
    /// What the player does with it.
    Act,
    /// What is drawn of it.
    Show,
}

/// Sends the log to stderr, for whichever app is run after.
pub fn start_log() {
    App::new().add_plugins(window::log());
}

/// Threads as asked for.
pub fn thread_options(options: &Options) -> TaskPoolOptions {
    options.threads.map_or_else(default, TaskPoolOptions::with_num_threads)
}

/// Builds the game in a window; fails with the reason where there is no display or adapter.
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

/// Bevy's plugins with what window and offscreen pictures have in common.
pub fn plugins(options: &Options) -> PluginGroupBuilder {
    window::plugins()
        .disable::<LogPlugin>()
        .set(TaskPoolPlugin { task_pool_options: thread_options(options) })
}

/// Adds everything that is seen, and the controls.
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
