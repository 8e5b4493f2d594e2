//! Two floors, stairs between them and a trapdoor: a right click sends the ants, to either floor; a left click opens or shuts a
//! link.
//!
//! `cargo run --example stairs`: the floors are two grids, drawn side by side. Each staircase is an entity with a [`NavLink`];
//! the trapdoor leads down only. Beetles wander from floor to floor and meet the ants on the stairs. A unit is half transparent
//! while it crosses: [`LinkEntered`] and [`LinkLeft`] say when.
//! `--smoke DIR` plays by itself and saves pictures in DIR.

mod screen;
#[path = "stairs/smoke.rs"]
mod smoke;

use std::process::ExitCode;

use bevy::{color::palettes::css, prelude::*};
use bevy_tilepath::prelude::*;

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 720);
const CELL: f32 = 40.0;
/// Columns and rows of a floor.
const FLOOR: (i32, i32) = (15, 17);
const YARD: GridId = GridId(0);
const CELLAR: GridId = GridId(1);
/// Pictures in `tiles.png`.
const GRASS: u32 = 0;
const PAVING: u32 = 20;
const WALL: u32 = 46;

/// A picture of one end of a link.
#[derive(Component)]
struct End {
    link: Entity,
    place: (GridId, Cell),
}

/// Goes where the player sends it; all others wander.
#[derive(Component)]
struct Ant;

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Stairs: right click sends the ants, left click opens or shuts stairs";
    let (mut app, smoke) = window::open_example(title, SIZE)?;
    app.add_plugins(TilePathPlugin::default())
        .add_systems(Startup, (set_up, build_links, spawn_units).chain())
        .add_systems(FixedUpdate, wander.before(TilePathSystems::All))
        .add_systems(Update, (click, show_links, face))
        .add_observer(|event: On<LinkEntered>, mut units: Query<&mut Sprite>| {
            set_alpha(&mut units, event.entity, 0.5);
        })
        .add_observer(|event: On<LinkLeft>, mut units: Query<&mut Sprite>| {
            set_alpha(&mut units, event.entity, 1.0);
        });
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

/// The yard is in the left half of the window, the cellar in the right half.
fn frame(floor: GridId) -> GridFrame {
    let left = if floor == YARD { -15.5 } else { 0.5 };
    GridFrame::square(Vec2::new(left + 0.5, -8.0) * CELL, Vec2::splat(CELL))
}

/// Both floors with their walls, as grids and as pictures.
fn set_up(mut commands: Commands, mut grids: ResMut<NavGrids>, assets: Res<AssetServer>) -> Result {
    let walls = [
        (YARD, vec![(5, 5, 1, 9), (6, 13, 5, 1)]),
        (CELLAR, vec![(0, 8, 6, 1), (9, 8, 6, 1), (8, 3, 1, 5)]),
    ];
    for (floor, walls) in walls {
        let mut grid = NavGrid::new(FLOOR.0 as u32, FLOOR.1 as u32, TerrainId::GROUND)?;
        let walls = walls
            .into_iter()
            .map(|(x, y, width, height)| CellRect::new(Cell::new(x, y), width, height));
        for wall in walls {
            grid.block(wall)?;
        }
        for cell in grid.rect().cells() {
            let ground = if floor == YARD { GRASS } else { PAVING };
            let index = if grid.blockers(cell) > 0 { WALL } else { ground };
            draw_tile(&mut commands, &assets, (floor, cell), index);
        }
        grids.insert(floor, grid, frame(floor));
    }
    commands.spawn((Camera2d, Msaa::Off));
    Ok(())
}

fn draw_tile(
    commands: &mut Commands,
    assets: &AssetServer,
    (floor, cell): (GridId, Cell),
    index: u32,
) {
    let corner = Vec2::new((index % 8) as f32, (index / 8) as f32) * 16.0;
    let shade = if (cell.x + cell.y) % 2 == 0 { 0.93 } else { 1.0 };
    commands.spawn((
        Sprite {
            image: assets.load("tiles.png"),
            rect: Some(Rect::from_corners(corner, corner + 16.0)),
            custom_size: Some(Vec2::splat(CELL)),
            color: Color::srgb(shade, shade, shade),
            ..default()
        },
        Transform::from_translation(frame(floor).cell_center(cell).extend(0.0)),
    ));
}

/// Two staircases, one of them two cells wide, and a trapdoor.
fn build_links(mut commands: Commands) {
    let end = |floor, x, y, height| (floor, CellRect::new(Cell::new(x, y), 1, height));
    let links = [
        NavLink::new(end(YARD, 13, 3, 2), end(CELLAR, 1, 3, 2)).cost(6),
        NavLink::new(end(YARD, 13, 13, 1), end(CELLAR, 1, 13, 1)).cost(6),
        NavLink::new(end(YARD, 2, 8, 1), end(CELLAR, 12, 5, 1)).cost(3).one_way(),
    ];
    for link in links {
        let ends = [link.from, link.to];
        let entity = commands.spawn(link).id();
        for end in ends {
            for cell in end.area.cells() {
                let place = frame(end.grid).cell_center(cell).extend(1.0);
                let pad = Sprite::from_color(Color::WHITE, Vec2::splat(CELL - 10.0));
                let end = End { link: entity, place: (end.grid, cell) };
                commands.spawn((pad, end, Transform::from_translation(place)));
            }
        }
    }
}

/// Draws the ends of links and lines between them: gold, blue for one-way links, gray for shut links.
fn show_links(
    links: Query<(&NavLink, &LinkStatus)>,
    mut ends: Query<(&End, &mut Sprite)>,
    mut lines: Gizmos,
) {
    let color = |link: &NavLink, status: &LinkStatus| match status {
        LinkStatus::Connected if link.is_one_way => css::DODGER_BLUE,
        LinkStatus::Connected => css::GOLD,
        _ => css::DIM_GRAY,
    };
    for (end, mut sprite) in &mut ends {
        if let Ok((link, status)) = links.get(end.link) {
            sprite.color = color(link, status).with_alpha(0.6).into();
        }
    }
    for (link, status) in &links {
        let [from, to] = [link.from, link.to].map(|end| frame(end.grid).cell_center(end.area.min));
        if link.is_one_way {
            lines.arrow_2d(from, to, color(link, status));
        } else {
            lines.line_2d(from, to, color(link, status));
        }
    }
}

/// Ants in the yard, and beetles on both floors.
fn spawn_units(mut commands: Commands, assets: Res<AssetServer>) {
    let ants = (0..12).map(|i| ((YARD, Cell::new(7 + i % 4, 6 + i / 4)), true));
    let beetles = (0..10).map(|i| ((GridId(i as u32 % 2), Cell::new(2 + i, 2 + i % 3)), false));
    for ((floor, cell), is_ant) in ants.chain(beetles) {
        let unit = (
            Critter::new(if is_ant { 4.0 } else { 3.0 }).turns(false),
            NavAgent::default().on(floor),
            Sprite {
                image: assets.load("critters.png"),
                custom_size: Some(Vec2::splat(32.0)),
                color: if is_ant { Color::WHITE } else { css::TOMATO.into() },
                ..default()
            },
            StartCell(cell),
            Transform::from_xyz(0.0, 0.0, 2.0),
        );
        let unit = commands.spawn(unit).id();
        if is_ant {
            commands.entity(unit).insert(Ant);
        }
    }
}

/// Sends beetles that stand somewhere else, on either floor.
fn wander(
    mut commands: Commands,
    mut number: Local<u32>,
    beetles: Query<(Entity, &PathStatus), Without<Ant>>,
) {
    for (beetle, status) in &beetles {
        if status.is_under_way() {
            continue;
        }
        *number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (x, y) = ((*number >> 16) as i32 % FLOOR.0, (*number >> 24) as i32 % FLOOR.1);
        let floor = GridId(*number >> 12 & 1);
        let request = PathRequest::to(Cell::new(x, y)).goal_on(floor).reach(Reach::Nearest);
        commands.entity(beetle).insert(request);
    }
}

/// Sends the ants, and opens or shuts links.
fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    grids: Res<NavGrids>,
    ends: Query<&End>,
    mut links: Query<&mut NavLink>,
    ants: Query<Entity, With<Ant>>,
) {
    let (camera, view) = *camera;
    let Some(cursor) = window.cursor_position() else { return };
    let Ok(position) = camera.viewport_to_world_2d(view, cursor) else { return };
    let place =
        [YARD, CELLAR].into_iter().find_map(|floor| Some((floor, grids.cell_at(floor, position)?)));
    let Some((floor, cell)) = place else { return };
    if mouse.just_pressed(MouseButton::Right) {
        let request = PathRequest::default().goal_on(floor);
        commands.spawn(Group::to(cell, ants.iter()).request(request));
    }
    if mouse.just_pressed(MouseButton::Left)
        && let Some(end) = ends.iter().find(|end| end.place == (floor, cell))
        && let Ok(mut link) = links.get_mut(end.link)
    {
        link.is_open = !link.is_open;
    }
}

fn set_alpha(units: &mut Query<&mut Sprite>, unit: Entity, alpha: f32) {
    if let Ok(mut sprite) = units.get_mut(unit) {
        sprite.color.set_alpha(alpha);
    }
}

/// Shows each unit in the direction in which it faces.
fn face(mut units: Query<(&Facing, Has<Ant>, &mut Sprite)>) {
    for (facing, is_ant, mut sprite) in &mut units {
        let row = if is_ant { 0.0 } else { 2.0 };
        let corner = Vec2::new(facing.compass() as u8 as f32, row) * 16.0;
        sprite.rect = Some(Rect::from_corners(corner, corner + 16.0));
    }
}
