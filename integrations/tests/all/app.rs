//! An app without a window, whose assets are the files of the repository.

use std::{path::Path, thread::sleep, time::Duration};

use bevy::{
    image::{CompressedImageFormats, ImageLoader},
    prelude::*,
    render::{RenderApp, sync_world::SyncWorldPlugin},
    state::app::StatesPlugin,
    time::TimeUpdateStrategy,
};
use bevy_tilepath::prelude::*;

/// Bevy without a window or a graphics adapter; each update is a tick.
pub fn headless() -> App {
    let mut app = App::new();
    // bevy_ecs_tilemap adds its systems there, though nothing runs them.
    app.insert_sub_app(RenderApp, SubApp::new());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let assets = AssetPlugin { file_path: root.to_string_lossy().into_owned(), ..default() };
    app.add_plugins((
        MinimalPlugins,
        StatesPlugin,
        TransformPlugin,
        assets,
        ImagePlugin::default(),
        SyncWorldPlugin,
    ))
    .register_asset_loader(ImageLoader::new(CompressedImageFormats::NONE))
    .init_asset::<Shader>()
    .init_asset::<Mesh>()
    .init_asset::<TextureAtlasLayout>()
    .init_resource::<ClearColor>()
    .add_plugins(TilePathPlugin::default())
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app
}

/// Updates until something is so.
pub fn update_until(app: &mut App, what: &str, is_so: impl Fn(&mut World) -> bool) {
    const TICKS: u32 = 20_000;
    for _ in 0..TICKS {
        if is_so(app.world_mut()) {
            return;
        }
        sleep(Duration::from_micros(100)); // files are read by other threads
        app.update();
    }
    panic!("never in {TICKS} ticks: {what}");
}

/// All units with their statuses.
pub fn statuses(world: &mut World) -> Vec<PathStatus> {
    world.query::<&PathStatus>().iter(world).copied().collect()
}

pub fn have_arrived(world: &mut World) -> bool {
    let statuses = statuses(world);
    !statuses.is_empty() && statuses.iter().all(|status| matches!(status, PathStatus::Arrived(_)))
}
