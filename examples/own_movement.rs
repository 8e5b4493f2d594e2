//! Three ways to move a unit: by the plugin, by your own code along its path, and by your own code where the plugin steers.
//!
//! `cargo run --example own_movement`: a left click sends all units, a right click builds or removes a wall, space changes who moves
//! them. Blue units are critters: the plugin moves them, and they do not collide. Green ones have no [`Critter`]; this example
//! moves them along their [`NavPath`], from turning point to turning point. Dark ones have a [`PathSteering`], and this example
//! adds its [`DesiredVelocity`] to the wind. `--smoke DIR` plays by itself and saves pictures in DIR.

mod screen;
#[path = "own_movement/smoke.rs"]
mod smoke;

use std::process::ExitCode;

use bevy::{color::palettes::css, prelude::*};
use bevy_tilepath::prelude::*;

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 720);
const CELL: f32 = 32.0;
/// Cells per second.
const SPEED: f32 = 4.0;

/// A unit that this example moves: the turning point of its [`NavPath`] to which it goes.
#[derive(Component, Default)]
struct PathFollower {
    next: usize,
}

/// A square on the floor where a wall stands.
#[derive(Component)]
struct Wall;

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Own movement: left click sends units, right click builds, space changes the mover";
    let (mut app, smoke) = window::open_example(title, SIZE)?;
    app.add_plugins(TilePathPlugin::default())
        .add_systems(Startup, set_up)
        .add_systems(FixedUpdate, (follow_paths, blow_and_walk).after(TilePathSystems::Move))
        .add_systems(Update, (click, change_hands))
        .add_observer(begin_path)
        .add_observer(forget_path);
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

fn frame() -> GridFrame {
    GridFrame::square(Vec2::new(-19.5, -11.0) * CELL, Vec2::splat(CELL))
}

fn set_up(mut commands: Commands, mut grids: ResMut<NavGrids>, assets: Res<AssetServer>) -> Result {
    grids.insert(GridId::default(), NavGrid::new(40, 23, TerrainId::GROUND)?, frame());
    let floor = Sprite::from_color(css::DARK_SEA_GREEN, SIZE.as_vec2() * 2.0);
    commands.spawn((floor, Transform::from_xyz(0.0, 0.0, -1.0)));
    for y in 4..19 {
        build(&mut commands, Cell::new(14, y));
        build(&mut commands, Cell::new(26, y + if y < 11 { -4 } else { 4 }));
    }
    for (kind, x) in [(0, 2), (1, 5), (2, 8)] {
        for y in 8..14 {
            let picture = Sprite {
                image: assets.load("critters.png"),
                rect: Some(Rect::new(0.0, 0.0, 16.0, 16.0)),
                custom_size: Some(Vec2::splat(CELL * 0.9)),
                ..default()
            };
            let at = frame().cell_center(Cell::new(x, y)).extend(1.0);
            let unit =
                commands.spawn((picture, NavAgent::default(), Transform::from_translation(at)));
            hand_over(unit, kind);
        }
    }
    commands.spawn((Camera2d, Msaa::Off));
    Ok(())
}

fn build(commands: &mut Commands, cell: Cell) {
    commands.spawn((
        Wall,
        NavBlocker::at(CellRect::single(cell)),
        Sprite::from_color(css::DARK_SLATE_GRAY, Vec2::splat(CELL * 0.95)),
        Transform::from_translation(frame().cell_center(cell).extend(0.0)),
    ));
}

/// Changes what moves a unit: 0 the plugin; 1 this example, along the path; 2 this example, as the plugin steers.
fn hand_over(mut unit: EntityCommands, kind: u32) {
    unit.remove::<(Critter, PathFollower, PathSteering)>();
    match kind {
        0 => unit.insert(Critter::new(SPEED)),
        1 => unit.insert(PathFollower::default()),
        _ => unit.insert(PathSteering::new(SPEED)),
    };
    let color = [css::WHITE, css::YELLOW, css::TOMATO][kind as usize]; // on blue
    unit.entry::<Sprite>().and_modify(move |mut sprite| sprite.color = color.into());
}

/// Goes from one turning point of the path to the next.
fn follow_paths(
    time: Res<Time>,
    mut units: Query<(&NavPath, &PathStatus, &mut PathFollower, &mut Transform)>,
) {
    for (path, status, mut follower, mut transform) in &mut units {
        let mut way = SPEED * CELL * time.delta_secs();
        if !matches!(status, PathStatus::Found(_)) {
            continue;
        }
        for cell in path.waypoints().skip(follower.next) {
            let (here, target) = (transform.translation.truncate(), frame().cell_center(cell));
            let there = here.move_towards(target, way);
            transform.translation = there.extend(transform.translation.z);
            turn(&mut transform, there - here);
            if there != target {
                break;
            }
            way -= here.distance(there);
            follower.next += 1;
        }
    }
}

/// Follows a new path from its beginning. The rest of a long path only extends the path that the unit follows already.
fn begin_path(found: On<PathFound>, mut units: Query<&mut PathFollower>) {
    if let Ok(mut follower) = units.get_mut(found.entity)
        && !found.is_rest
    {
        follower.next = 0;
    }
}

/// A wall stands on the path: a new path will come.
fn forget_path(cut_off: On<PathInvalidated>, mut units: Query<&mut PathFollower>) {
    if let Ok(mut follower) = units.get_mut(cut_off.entity) {
        follower.next = usize::MAX;
    }
}

/// A steered unit keeps to its path, wherever the wind blows it. The wind does not move units that have nowhere to go.
fn blow_and_walk(
    time: Res<Time>,
    mut units: Query<(&DesiredVelocity, &mut Transform), With<PathSteering>>,
) {
    let wind = Vec2::from_angle(0.7 * time.elapsed_secs()) * CELL;
    for (desired, mut transform) in &mut units {
        if **desired != Vec2::ZERO {
            let velocity = **desired + wind;
            transform.translation += velocity.extend(0.0) * time.delta_secs();
            turn(&mut transform, velocity);
        }
    }
}

fn turn(transform: &mut Transform, direction: Vec2) {
    if direction != Vec2::ZERO {
        transform.rotation = Quat::from_rotation_z(direction.to_angle());
    }
}

fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    grids: Res<NavGrids>,
    units: Query<Entity, With<NavAgent>>,
    walls: Query<(Entity, &NavBlocker), With<Wall>>,
) {
    let (camera, view) = *camera;
    let Some(cursor) = window.cursor_position() else { return };
    let Ok(position) = camera.viewport_to_world_2d(view, cursor) else { return };
    let Some(cell) = grids.cell_at(GridId::default(), position) else { return };
    if mouse.just_pressed(MouseButton::Left) {
        commands.spawn(Group::to(cell, units));
    } else if mouse.just_pressed(MouseButton::Right) {
        match walls.iter().find(|(_, wall)| wall.at == Some(cell)) {
            Some((wall, _)) => commands.entity(wall).despawn(),
            None => build(&mut commands, cell),
        }
    }
}

/// Changes what moves each unit, even in the middle of its way.
fn change_hands(
    mut commands: Commands,
    keys: Res<ButtonInput<KeyCode>>,
    units: Query<(Entity, Has<Critter>, Has<PathFollower>), With<NavAgent>>,
) {
    if keys.just_pressed(KeyCode::Space) {
        for (unit, is_critter, is_follower) in units {
            let next = if is_critter { 1 } else { 2 * u32::from(is_follower) };
            hand_over(commands.entity(unit), next);
        }
    }
}
