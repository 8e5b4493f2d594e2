//! A valley of four levels drawn in LDtk: a left click sends the units, a right click shows or hides the level there.
//!
//! `cargo run --example ldtk`: what cells and entities of `levels/valley.ldtk` mean is in [`tilepath_integrations::ldtk_level`].
//! Levels are parts of one grid, so units walk from one to the next; they wait for a level that is hidden.
//! `--smoke DIR` plays by itself and saves pictures in DIR.

#[path = "../../examples/screen/mod.rs"]
mod screen;
#[path = "ldtk/smoke.rs"]
mod smoke;
#[path = "common/view.rs"]
mod view;

use std::process::ExitCode;

use bevy::prelude::*;
use bevy_ecs_ldtk::prelude::*;
use bevy_tilepath::prelude::*;
use tilepath_integrations::ldtk_level::LdtkLevelPlugin;

use screen::window;

/// Twice the size of the world, of two by two levels.
const SIZE: UVec2 = UVec2::new(1280, 704);

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "LDtk: left click sends the units, right click shows or hides a level";
    let (mut app, smoke) = window::open_example_with(view::plugins(), title, SIZE)?;
    app.add_plugins((TilePathPlugin::default(), LdtkPlugin, LdtkLevelPlugin))
        .add_systems(Startup, load)
        .add_systems(Update, (show_first_level, click, view::dress_units, view::face));
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

fn load(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn(LdtkWorldBundle {
        ldtk_handle: assets.load("integrations/levels/valley.ldtk").into(),
        // LDtk counts rows from the top: the world is below the origin.
        transform: Transform::from_translation(
            Vec3::new(-1.0, 1.0, 0.0) * SIZE.as_vec2().extend(0.0) / 4.0,
        ),
        ..default()
    });
    commands.spawn(view::camera());
}

/// The village is there from the start.
fn show_first_level(
    projects: Res<Assets<LdtkProject>>,
    mut worlds: Query<(&LdtkProjectHandle, &mut LevelSet)>,
    mut is_done: Local<bool>,
) {
    for (project, mut set) in &mut worlds {
        if let (false, Some(project)) = (*is_done, projects.get(project)) {
            let first = project.json_data().levels.first();
            set.iids.extend(first.map(|level| LevelIid::new(level.iid.clone())));
            *is_done = true;
        }
    }
}

fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    cursor: view::Cursor,
    grids: Res<NavGrids>,
    units: Query<Entity, With<Critter>>,
    projects: Res<Assets<LdtkProject>>,
    mut worlds: Query<(&LdtkProjectHandle, &GlobalTransform, &mut LevelSet)>,
) {
    let Some(at) = cursor.position() else { return };
    if mouse.just_pressed(MouseButton::Left)
        && let Some(cell) = grids.cell_at(GridId::default(), at)
    {
        let patiently = PathRequest::default().retry(Retry::default());
        commands.spawn(Group::to(cell, units).request(patiently));
    }
    if !mouse.just_pressed(MouseButton::Right) {
        return;
    }
    for (project, place, mut set) in &mut worlds {
        let Some(project) = projects.get(project) else { continue };
        let at = (at - place.translation().truncate()) * Vec2::new(1.0, -1.0);
        let at = at.as_ivec2();
        let level = project.json_data().levels.iter().find(|level| {
            (level.world_x..level.world_x + level.px_wid).contains(&at.x)
                && (level.world_y..level.world_y + level.px_hei).contains(&at.y)
        });
        if let Some(level) = level {
            let level = LevelIid::new(level.iid.clone());
            if !set.iids.remove(&level) {
                set.iids.insert(level);
            }
        }
    }
}
