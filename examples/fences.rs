//! Fences, doors and a river between cells: a left click builds or removes a piece of fence, a right click sends the ants.
//!
//! `cargo run --example fences`: an edge lies between two cells and takes no room. Ants open the door of their yard, beetles do
//! not. Both can cross the river, but that costs as much as four cells, so they prefer the bridge. Each piece of fence is
//! an entity with [`NavEdges`]; the river belongs to the map.
//! `--smoke DIR` plays by itself and saves pictures in DIR.

mod screen;
#[path = "fences/smoke.rs"]
mod smoke;

use std::{f32::consts::FRAC_PI_2, process::ExitCode};

use bevy::{color::palettes::css, prelude::*};
use bevy_tilepath::prelude::*;

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 720);
const CELL: f32 = 40.0;
const COLUMNS: i32 = 32;
const ROWS: i32 = 18;
/// The yard of the ants.
const YARD: CellRect = CellRect::new(Cell::new(5, 5), 9, 8);
/// Rows of the bridge.
const BRIDGE: std::ops::Range<i32> = 12..14;
/// Kinds of edges.
const FENCE: EdgeId = EdgeId::WALL;
const DOOR: EdgeId = EdgeId(2);
const RIVER: EdgeId = EdgeId(3);
/// Kinds of units.
const ANT: ProfileId = ProfileId(0);
const BEETLE: ProfileId = ProfileId(1);
/// Pictures in `tiles.png`.
const GRASS: u32 = 0;

/// A piece of fence or a door, between a cell and its neighbor.
#[derive(Component)]
struct Piece(Cell, Direction);

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Fences: left click builds or removes a fence, right click sends the ants";
    let (mut app, smoke) = window::open_example(title, SIZE)?;
    app.add_plugins(TilePathPlugin::default())
        .add_systems(Startup, (draw_ground, set_up, spawn_units).chain())
        .add_systems(FixedUpdate, wander.before(TilePathSystems::All))
        .add_systems(Update, (click, face));
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

/// Cell (0, 0) is in the lower left corner of the window.
fn frame() -> GridFrame {
    GridFrame::square((Vec2::splat(CELL) - SIZE.as_vec2()) / 2.0, Vec2::splat(CELL))
}

fn set_up(mut commands: Commands, mut grids: ResMut<NavGrids>) -> Result {
    let ant = Profile::default().with_edge(DOOR, 0).with_edge(RIVER, 64);
    grids.set_profiles(vec![ant, Profile::default().with_edge(RIVER, 64)]);
    let mut grid = NavGrid::new(COLUMNS as u32, ROWS as u32, TerrainId::GROUND)?;
    let mut edit = grid.edit();
    for (cell, direction) in river() {
        edit.set_edge(cell, direction, RIVER)?;
        draw_edge(&mut commands, (cell, direction), css::DODGER_BLUE.into(), 10.0);
    }
    drop(edit);
    for y in BRIDGE {
        draw_edge(&mut commands, (Cell::new(19, y), Direction::East), css::TAN.into(), 24.0);
    }
    grids.insert(GridId::default(), grid, frame());
    for (cell, direction) in around(YARD) {
        let is_door = direction == Direction::East && (8..10).contains(&cell.y);
        build(&mut commands, (cell, direction), if is_door { DOOR } else { FENCE });
    }
    commands.spawn((Camera2d, Msaa::Off));
    Ok(())
}

/// The edges of the river: it bends, and there is a bridge.
fn river() -> impl Iterator<Item = (Cell, Direction)> {
    let column = |y: i32| if y < 6 { 21 } else { 19 };
    let along = (0..ROWS).filter(|y| !BRIDGE.contains(y));
    let along = along.map(move |y| (Cell::new(column(y), y), Direction::East));
    along.chain((20..22).map(|x| (Cell::new(x, 5), Direction::North)))
}

/// The edges around a rectangle, from inside.
fn around(rect: CellRect) -> impl Iterator<Item = (Cell, Direction)> {
    let sides = [Direction::East, Direction::North, Direction::West, Direction::South];
    rect.cells().flat_map(move |cell| sides.map(|side| (cell, side))).filter(move |(cell, side)| {
        let (dx, dy) = side.offset();
        !rect.contains(cell.offset(dx, dy))
    })
}

/// Builds a piece of fence or a door.
fn build(commands: &mut Commands, (cell, direction): (Cell, Direction), edge: EdgeId) {
    let color = if edge == DOOR { css::GOLD } else { css::SADDLE_BROWN };
    let piece = draw_edge(commands, (cell, direction), color.into(), 6.0);
    commands
        .entity(piece)
        .insert((Piece(cell, direction), NavEdges::between(cell, direction, edge)));
}

/// Draws a bar between two cells.
fn draw_edge(
    commands: &mut Commands,
    (cell, direction): (Cell, Direction),
    color: Color,
    width: f32,
) -> Entity {
    let (dx, dy) = direction.offset();
    let middle = frame().cell_center(cell).midpoint(frame().cell_center(cell.offset(dx, dy)));
    let turn = if dy == 0 { FRAC_PI_2 } else { 0.0 };
    let transform = Transform::from_translation(middle.extend(1.0));
    let sprite = Sprite::from_color(color, Vec2::new(CELL + width, width));
    commands.spawn((sprite, transform.with_rotation(Quat::from_rotation_z(turn)))).id()
}

/// Ants in their yard, and beetles around it.
fn spawn_units(mut commands: Commands, assets: Res<AssetServer>) {
    let ants = (0..10).map(|i| (Cell::new(6 + i % 5, 7 + i / 5 * 2), ANT));
    let beetles = (0..12).map(|i| (Cell::new(1 + i % 3 * 14, 2 + i / 3 * 4), BEETLE));
    for (cell, kind) in ants.chain(beetles) {
        commands.spawn((
            Critter::new(if kind == ANT { 4.0 } else { 3.0 }).turns(false),
            NavAgent::new(kind),
            Sprite {
                image: assets.load("critters.png"),
                custom_size: Some(Vec2::splat(32.0)),
                color: if kind == ANT { Color::WHITE } else { css::TOMATO.into() },
                ..default()
            },
            StartCell(cell),
            Transform::from_xyz(0.0, 0.0, 2.0),
        ));
    }
}

/// Sends beetles that stand somewhere else, even into the yard: they go as near as they can.
fn wander(
    mut commands: Commands,
    mut number: Local<u32>,
    beetles: Query<(Entity, &NavAgent, &PathStatus)>,
) {
    for (beetle, agent, status) in &beetles {
        let is_busy =
            !matches!(status, PathStatus::Idle | PathStatus::Arrived(_) | PathStatus::Failed(_));
        if agent.profile == BEETLE && !is_busy {
            *number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let cell = Cell::new((*number >> 16) as i32 % COLUMNS, (*number >> 24) as i32 % ROWS);
            commands.entity(beetle).insert(PathRequest::to(cell).reach(Reach::Nearest));
        }
    }
}

/// Builds or removes fences, and sends the ants.
fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    grids: Res<NavGrids>,
    pieces: Query<(Entity, &Piece)>,
    units: Query<(Entity, &NavAgent), With<Critter>>,
) {
    let (camera, view) = *camera;
    let Some(cursor) = window.cursor_position() else { return };
    let Ok(position) = camera.viewport_to_world_2d(view, cursor) else { return };
    if mouse.just_pressed(MouseButton::Left)
        && let Some((cell, direction)) = grids.edge_at(GridId::default(), position)
    {
        // The same edge from the other side.
        let (dx, dy) = direction.offset();
        let reverse = (cell.offset(dx, dy), direction.opposite());
        let is_here = |piece: &Piece| {
            (piece.0, piece.1) == (cell, direction) || (piece.0, piece.1) == reverse
        };
        match pieces.iter().find(|(_, piece)| is_here(piece)) {
            Some((piece, _)) => commands.entity(piece).despawn(), // its edge goes with it
            None => build(&mut commands, (cell, direction), FENCE),
        }
    }
    if mouse.just_pressed(MouseButton::Right)
        && let Some(cell) = grids.cell_at(GridId::default(), position)
    {
        let ants = units.iter().filter(|(_, agent)| agent.profile == ANT);
        commands.spawn(Group::to(cell, ants.map(|(ant, _)| ant)));
    }
}

/// Shows each unit in the direction in which it faces.
fn face(mut units: Query<(&Facing, &NavAgent, &mut Sprite)>) {
    for (facing, agent, mut sprite) in &mut units {
        let row = if agent.profile == ANT { 0.0 } else { 2.0 };
        let corner = Vec2::new(facing.compass() as u8 as f32, row) * 16.0;
        sprite.rect = Some(Rect::from_corners(corner, corner + 16.0));
    }
}

fn draw_ground(mut commands: Commands, assets: Res<AssetServer>) {
    for (x, y) in (0..ROWS).flat_map(|y| (0..COLUMNS).map(move |x| (x, y))) {
        let index = GRASS + (x * 7 + y * 13) as u32 % 5;
        let corner = Vec2::new(index as f32, 0.0) * 16.0;
        let shade = if (x + y) % 2 == 0 { 0.93 } else { 1.0 };
        commands.spawn((
            Sprite {
                image: assets.load("tiles.png"),
                rect: Some(Rect::from_corners(corner, corner + 16.0)),
                custom_size: Some(Vec2::splat(CELL)),
                color: Color::srgb(shade, shade, shade),
                ..default()
            },
            Transform::from_translation(frame().cell_center(Cell::new(x, y)).extend(0.0)),
        ));
    }
}
