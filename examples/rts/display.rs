//! The window, or a clear word about why there can be none.
//!
//! Input: [`Options`] and the map. Output: an app that is ready to run, with everything that is
//! drawn and with the player's controls.

use std::{panic, process::ExitCode, sync::Arc};

use bevy::{
    app::{PluginGroupBuilder, TaskPoolOptions, TaskPoolPlugin},
    log::{DEFAULT_FILTER, Level, LogPlugin},
    prelude::*,
    render::renderer::{RenderInstance, WgpuWrapper},
    tasks::block_on,
    window::WindowResolution,
};
use bevy_ecs_tilemap::TilemapPlugin;

use crate::{
    camera, capture, cli::Options, controls, game, groups, help, hud, map, map::GameMap, markers,
    minimap, overlay, pointer, select, smoke, sprites,
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
    let filter = format!("{DEFAULT_FILTER},winit=error");
    App::new().add_plugins(LogPlugin { level: Level::WARN, filter, ..default() });
}

/// Threads as asked for.
pub fn thread_options(options: &Options) -> TaskPoolOptions {
    options.threads.map_or_else(default, TaskPoolOptions::with_num_threads)
}

/// Builds the game in a window; fails with the reason where there is no display or adapter.
pub fn open(options: &Options, map: GameMap) -> Result<App, String> {
    // Bevy is built with X11 only in this project; Wayland desktops offer it as well.
    if cfg!(target_os = "linux") && std::env::var_os("DISPLAY").is_none_or(|name| name.is_empty()) {
        return Err("no display (DISPLAY is not set)".into());
    }
    find_adapter()?;
    // A display that refuses the connection is a panic in winit's event loop.
    panic::set_hook(Box::new(|_| {}));
    let app = panic::catch_unwind(|| {
        let mut app = App::new();
        let primary_window = Some(window(options));
        app.add_plugins(plugins(options).set(WindowPlugin { primary_window, ..default() }));
        app
    });
    drop(panic::take_hook());
    let mut app = app.map_err(|_| "no display (it cannot be opened)")?;
    game::add_to(&mut app, options, map);
    add_view(&mut app);
    if let Some(folder) = &options.smoke {
        let shown = folder.display();
        std::fs::create_dir_all(folder).map_err(|error| format!("--smoke {shown}: {error}"))?;
        app.add_plugins(smoke::SmokePlugin { folder: folder.clone() });
    }
    Ok(app)
}

fn window(options: &Options) -> Window {
    let mut resolution = WindowResolution::new(SIZE.x, SIZE.y);
    if options.smoke.is_some() {
        resolution.set_scale_factor_override(Some(1.0)); // pictures are compared pixel by pixel
    }
    Window { title: "bevy_tilepath – RTS".into(), resolution, ..default() }
}

/// Fails where nothing could be drawn.
pub fn find_adapter() -> Result<(), String> {
    let instance = RenderInstance(Arc::new(WgpuWrapper::new(default())));
    let adapter = block_on(instance.request_adapter(&default()));
    adapter.map(drop).map_err(|_| "no graphics adapter".to_owned())
}

/// Bevy's plugins with what window and offscreen pictures have in common.
pub fn plugins(options: &Options) -> PluginGroupBuilder {
    DefaultPlugins
        .build()
        .disable::<LogPlugin>()
        .set(TaskPoolPlugin { task_pool_options: thread_options(options) })
        .set(ImagePlugin::default_nearest())
        .set(AssetPlugin {
            file_path: map::assets_folder().to_string_lossy().into_owned(),
            ..default()
        })
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
            controls::ControlsPlugin,
            markers::MarkersPlugin,
            minimap::MinimapPlugin,
            hud::HudPlugin,
            help::HelpPlugin,
            overlay::OverlayPlugin,
            capture::CapturePlugin,
        ));
}

/// What the process ends with.
pub fn exit_code(exit: &AppExit) -> ExitCode {
    match exit {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(code) => ExitCode::from(code.get()),
    }
}
