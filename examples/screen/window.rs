//! Opens the window, or reports why it cannot.
//!
//! Input: Bevy's plugins, and the window's settings. Output: an app to add plugins to, and its exit
//! status.

use std::{
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use bevy::{
    app::PluginGroupBuilder,
    log::{DEFAULT_FILTER, Level, LogPlugin},
    prelude::*,
    render::renderer::{RenderInstance, WgpuWrapper},
    tasks::block_on,
    window::WindowResolution,
};

/// Builds an app in a window; fails with a reason where there is no display or adapter.
pub fn open(plugins: PluginGroupBuilder, window: Window) -> Result<App, String> {
    // In this project Bevy is built with X11 only; Wayland desktops support it through XWayland.
    if cfg!(target_os = "linux") && std::env::var_os("DISPLAY").is_none_or(|name| name.is_empty()) {
        return Err("no display (DISPLAY is not set)".into());
    }
    find_adapter()?;
    let plugins = plugins.set(WindowPlugin { primary_window: Some(window), ..default() });
    // If the display refuses the connection, winit's event loop panics.
    panic::set_hook(Box::new(|_| {}));
    let app = panic::catch_unwind(AssertUnwindSafe(|| {
        let mut app = App::new();
        app.add_plugins(plugins);
        app
    }));
    drop(panic::take_hook());
    app.map_err(|_| "no display (it cannot be opened)".to_owned())
}

/// Builds the app of a small example in a window of a size in pixels. Also returns the folder for the screenshots of a scripted
/// run, if the command line says `--smoke DIR`.
pub fn open_example(title: &str, size: UVec2) -> Result<(App, Option<PathBuf>), String> {
    open_example_with(plugins(), title, size)
}

/// The same with other plugins.
pub fn open_example_with(
    plugins: PluginGroupBuilder,
    title: &str,
    size: UVec2,
) -> Result<(App, Option<PathBuf>), String> {
    let mut arguments = std::env::args_os().skip(1);
    let smoke = match (arguments.next(), arguments.next(), arguments.next()) {
        (None, ..) => None,
        (Some(smoke), Some(folder), None) if smoke == "--smoke" => Some(PathBuf::from(folder)),
        _ => return Err("the only argument is --smoke DIR: plays by itself, saves pictures".into()),
    };
    let app = open(plugins, window(title, size, smoke.is_some()))?;
    Ok((app, smoke))
}

/// Fails if there is no graphics adapter.
pub fn find_adapter() -> Result<(), String> {
    let instance = RenderInstance(Arc::new(WgpuWrapper::new(default())));
    let adapter = block_on(instance.request_adapter(&default()));
    adapter.map(drop).map_err(|_| "no graphics adapter".to_owned())
}

/// Returns a window of a size in pixels; `is_exact` ignores the scale of the desktop.
pub fn window(title: &str, size: UVec2, is_exact: bool) -> Window {
    let mut resolution = WindowResolution::new(size.x, size.y);
    if is_exact {
        resolution.set_scale_factor_override(Some(1.0)); // pictures are compared pixel by pixel
    }
    Window { title: title.into(), resolution, ..default() }
}

/// Returns Bevy's plugins, with nearest-neighbor sampling and this project's assets.
pub fn plugins() -> PluginGroupBuilder {
    plugins_with(&assets_folder())
}

/// The same with the assets of another folder.
pub fn plugins_with(assets: &Path) -> PluginGroupBuilder {
    let file_path = assets.to_string_lossy().into_owned();
    DefaultPlugins
        .set(log())
        .set(ImagePlugin::default_nearest())
        .set(AssetPlugin { file_path, ..default() })
}

/// Returns the log plugin: warnings and errors, on stderr.
pub fn log() -> LogPlugin {
    let filter = format!("{DEFAULT_FILTER},winit=error");
    LogPlugin { level: Level::WARN, filter, ..default() }
}

/// Returns the folder of textures and maps.
pub fn assets_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

/// Runs an app; returns the exit status of the process.
pub fn run(mut app: App) -> ExitCode {
    match app.run() {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(code) => ExitCode::from(code.get()),
    }
}
