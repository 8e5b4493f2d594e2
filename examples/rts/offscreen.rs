//! A screenshot without a window.
//!
//! Input: the app of a headless match. Output: a PNG file of its final state. The camera renders to
//! an image, and only after the match, so that software adapters do not render thousands of unused
//! frames.

use std::path::{Path, PathBuf};

use bevy::{
    app::PluginsState,
    camera::RenderTarget,
    prelude::*,
    render::{
        render_resource::TextureFormat,
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    tasks::tick_global_task_pools_on_main_thread,
    window::ExitCondition,
    winit::WinitPlugin,
};

use crate::{
    camera::MainCamera,
    cli::Options,
    display,
    screen::{pictures, window},
    sprites::Sheets,
};

/// Frames rendered before the screenshot, until everything is uploaded to the GPU.
const FRAMES_BEFORE: u32 = 30;
/// Most frames to wait for files to load, and for the screenshot.
const MAX_FRAMES: u32 = 10_000;

/// The render target.
#[derive(Resource)]
struct Canvas(Handle<Image>);

/// Result of the screenshot.
#[derive(Resource, Default)]
struct Outcome(Option<Result<(), String>>);

/// Adds Bevy's plugins, without a window.
pub fn add_plugins(app: &mut App, options: &Options) -> Result<(), String> {
    window::find_adapter().map_err(|reason| format!("--screenshot: {reason}"))?;
    let no_window =
        WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
    app.add_plugins(display::plugins(options).set(no_window).disable::<WinitPlugin>());
    Ok(())
}

/// Adds everything that is drawn, and the render target.
pub fn add_scene(app: &mut App) {
    let format = TextureFormat::Rgba8UnormSrgb;
    let image = Image::new_target_texture(display::SIZE.x, display::SIZE.y, format, None);
    let canvas = app.world_mut().resource_mut::<Assets<Image>>().add(image);
    display::add_view(app);
    app.insert_resource(Canvas(canvas))
        .init_resource::<Outcome>()
        .add_systems(PostStartup, draw_into_canvas);
}

fn draw_into_canvas(
    mut commands: Commands,
    canvas: Res<Canvas>,
    mut camera: Single<(Entity, &mut Camera), With<MainCamera>>,
) {
    let (entity, camera) = &mut *camera;
    camera.is_active = false;
    commands.entity(*entity).insert(RenderTarget::Image(canvas.0.clone().into()));
}

/// Finishes the plugins, as an app's runner does before the first update.
pub fn finish_plugins(app: &mut App) {
    while app.plugins_state() == PluginsState::Adding {
        tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
}

/// Renders the current state and saves it as a PNG file.
pub fn save_picture(app: &mut App, path: &Path) -> Result<(), String> {
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    let world = app.world_mut();
    for mut camera in world.query_filtered::<&mut Camera, With<MainCamera>>().iter_mut(world) {
        camera.is_active = true;
    }
    let is_loaded = |app: &App| {
        app.world().resource::<Sheets>().are_loaded(app.world().resource::<AssetServer>())
    };
    update_until(app, is_loaded)?;
    (0..FRAMES_BEFORE).for_each(|_| app.update());
    let canvas = app.world().resource::<Canvas>().0.clone();
    let target: PathBuf = path.into();
    app.world_mut().spawn(Screenshot::image(canvas)).observe(
        move |captured: On<ScreenshotCaptured>, mut outcome: ResMut<Outcome>| {
            outcome.0 = Some(pictures::save(&captured.image, &target));
        },
    );
    update_until(app, |app| app.world().resource::<Outcome>().0.is_some())?;
    app.world_mut().resource_mut::<Outcome>().0.take().unwrap_or(Ok(()))
}

fn update_until(app: &mut App, is_done: impl Fn(&App) -> bool) -> Result<(), String> {
    for _ in 0..MAX_FRAMES {
        if is_done(app) {
            return Ok(());
        }
        app.update();
    }
    Err("--screenshot: the adapter draws nothing".into())
}
