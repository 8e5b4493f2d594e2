//! A harbor drawn in Tiled: a left click sends the units, across bridges and by ferry; a right click tears a house down.
//!
//! `cargo run --example tiled`: what tiles and objects of `levels/harbor.tmx` mean is in [`tilepath_integrations::tiled_level`].
//! Open the map in Tiled and change it. `--smoke DIR` plays by itself and saves pictures in DIR.

#[path = "../../examples/screen/mod.rs"]
mod screen;
#[path = "tiled/smoke.rs"]
mod smoke;
#[path = "common/view.rs"]
mod view;

use std::process::ExitCode;

use bevy::prelude::*;
use bevy_ecs_tiled::prelude::*;
use bevy_tilepath::prelude::*;
use tilepath_integrations::tiled_level::TiledLevelPlugin;

use screen::window;

/// Twice the size of the map.
const SIZE: UVec2 = UVec2::new(1280, 704);

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Tiled: left click sends the units, right click tears a house down";
    let (mut app, smoke) = window::open_example_with(view::plugins(), title, SIZE)?;
    let no_export =
        TiledPluginConfig { tiled_types_export_file: None, tiled_types_filter: TiledFilter::All };
    app.add_plugins((TilePathPlugin::default(), TiledPlugin(no_export), TiledLevelPlugin))
        .add_systems(Startup, load)
        .add_systems(Update, (click, view::dress_units, view::face))
        .add_observer(view::ride)
        .add_observer(view::leave);
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

fn load(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn((
        TiledMap(assets.load("integrations/levels/harbor.tmx")),
        // The middle of the map is in the middle of the window.
        TilemapAnchor::Center,
    ));
    commands.spawn(view::camera());
}

fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    cursor: view::Cursor,
    grids: Res<NavGrids>,
    units: Query<Entity, With<Critter>>,
    houses: Query<(Entity, &NavBlocker)>,
    mut roofs: Query<(&NavSource, &mut TileStorage)>,
) {
    let Some(cell) = cursor.position().and_then(|at| grids.cell_at(GridId::default(), at)) else {
        return;
    };
    if mouse.just_pressed(MouseButton::Left) {
        commands.spawn(Group::to(cell, units));
    }
    if !mouse.just_pressed(MouseButton::Right) {
        return;
    }
    for (house, blocker) in houses {
        let Some(corner) = blocker.at else { continue };
        let area = CellRect::new(corner, blocker.width, blocker.height);
        if !area.contains(cell) {
            continue;
        }
        // The object, and the tiles that show it in the upper layer.
        commands.entity(house).despawn();
        for (source, mut tiles) in &mut roofs {
            for cell in area.cells().filter(|_| source.order > 0) {
                let at = TilePos::new(cell.x as u32, cell.y as u32);
                if let Some(tile) = tiles.remove(&at) {
                    commands.entity(tile).despawn();
                }
            }
        }
    }
}
