//! Ten units on a grid: a left click sends them, a right click builds or removes a wall.

use bevy::{color::palettes::css, prelude::*};
use bevy_tilepath::prelude::*;

fn main() -> AppExit {
    App::new()
        .add_plugins((DefaultPlugins, TilePathPlugin::default()))
        .add_systems(Startup, spawn_level)
        .add_systems(Update, click)
        .run()
}

fn spawn_level(mut commands: Commands, mut grids: ResMut<NavGrids>) -> Result {
    let grid = NavGrid::new(40, 22, TerrainId::GROUND)?;
    for cell in grid.rect().cells() {
        commands.spawn(square(cell, 0.0, 0.96, css::DARK_SEA_GREEN));
    }
    grids.insert(GridId::default(), grid, GridFrame::default());
    for y in 4..18 {
        commands.spawn(wall(Cell::new(20, y)));
    }
    for y in 6..16 {
        commands.spawn((square(Cell::new(4, y), 2.0, 0.6, css::ORANGE_RED), Critter::new(6.0)));
    }
    let zoom = OrthographicProjection { scale: 1.0 / 32.0, ..OrthographicProjection::default_2d() };
    commands.spawn((Camera2d, Projection::from(zoom), Transform::from_xyz(19.5, 10.5, 0.0)));
    Ok(())
}

fn square(at: Cell, z: f32, size: f32, color: Srgba) -> impl Bundle {
    (Sprite::from_color(color, Vec2::splat(size)), Transform::from_xyz(at.x as f32, at.y as f32, z))
}

fn wall(cell: Cell) -> impl Bundle {
    (square(cell, 1.0, 0.96, css::DARK_SLATE_GRAY), NavBlocker::at(CellRect::single(cell)))
}

fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    grids: Res<NavGrids>,
    units: Query<Entity, With<Critter>>,
    walls: Query<(Entity, &NavBlocker)>,
) {
    let Some(cursor) = window.cursor_position() else { return };
    let Ok(position) = camera.0.viewport_to_world_2d(camera.1, cursor) else { return };
    let Some(cell) = grids.cell_at(GridId::default(), position) else { return };
    if mouse.just_pressed(MouseButton::Left) {
        commands.spawn(Group::to(position, units));
    } else if mouse.just_pressed(MouseButton::Right) {
        match walls.iter().find(|(_, wall)| wall.at == Some(cell)) {
            Some((wall, _)) => commands.entity(wall).despawn(),
            None => drop(commands.spawn(wall(cell))),
        }
    }
}
