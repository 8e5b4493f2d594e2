//! Units that avian moves on paths of bevy_tilepath: a left click sends them, a right click is a blast, space changes who moves
//! them.
//!
//! `cargo run --example physics`. Blue units are bodies: they push boxes and each other, and get other paths where they are
//! thrown off theirs. Green ones are critters, which bevy_tilepath moves. What it takes is in
//! [`tilepath_integrations::physics`]. `--smoke DIR` plays by itself and saves pictures in DIR.

#[path = "../../examples/screen/mod.rs"]
mod screen;
#[path = "physics/smoke.rs"]
mod smoke;
#[path = "common/view.rs"]
mod view;

use std::process::ExitCode;

use avian2d::prelude::*;
use bevy::{color::palettes::css, prelude::*};
use bevy_tilepath::prelude::*;
use tilepath_integrations::physics::{PhysicsUnitsPlugin, unit};

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 704);
/// Columns and rows, and the side of a cell in the world.
const MAP: (i32, i32) = (40, 22);
const CELL: f32 = 16.0;
/// Column, row, width and height.
const WALLS: [(i32, i32, u32, u32); 9] = [
    (0, 0, 40, 1),
    (0, 21, 40, 1),
    (0, 1, 1, 20),
    (39, 1, 1, 20),
    (12, 1, 1, 8),
    (12, 13, 1, 8),
    (20, 6, 3, 10),
    (30, 1, 1, 6),
    (30, 10, 1, 11),
];
/// A blast throws those within this radius, at this speed at most.
const BLAST: (f32, f32) = (6.0 * CELL, 50.0 * CELL);

/// Can be pushed.
#[derive(Component)]
struct Cargo;

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title =
        "Physics: left click sends the units, right click is a blast, space: who moves them";
    let (mut app, smoke) = window::open_example_with(view::plugins(), title, SIZE)?;
    app.add_plugins((
        TilePathPlugin::default(),
        PhysicsPlugins::default().with_length_unit(CELL),
        PhysicsUnitsPlugin,
    ))
    .insert_resource(Gravity::ZERO)
    .add_systems(Startup, set_up)
    .add_systems(Update, (click, change_hands, look_ahead));
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

fn frame() -> GridFrame {
    let middle = Vec2::new(MAP.0 as f32 - 1.0, MAP.1 as f32 - 1.0) / 2.0;
    GridFrame::square(-middle * CELL, Vec2::splat(CELL))
}

fn set_up(mut commands: Commands, mut grids: ResMut<NavGrids>, assets: Res<AssetServer>) -> Result {
    let level = NavGrid::new(MAP.0 as u32, MAP.1 as u32, TerrainId::GROUND)?;
    grids.insert(GridId::default(), level, frame());
    let floor = Sprite::from_color(css::BURLYWOOD, SIZE.as_vec2() / 2.0);
    commands.spawn((floor, Transform::from_xyz(0.0, 0.0, -1.0)));
    for (x, y, width, height) in WALLS {
        let size = UVec2::new(width, height).as_vec2() * CELL;
        let corner = frame().cell_center(Cell::new(x, y)) - CELL / 2.0;
        commands.spawn((
            // One entity for paths, physics and the eye.
            NavBlocker::sized(width, height),
            (RigidBody::Static, Collider::rectangle(size.x, size.y)),
            Sprite::from_color(css::SADDLE_BROWN, size),
            Transform::from_translation((corner + size / 2.0).extend(0.0)),
        ));
    }
    for cell in CellRect::new(Cell::new(15, 9), 3, 4).cells() {
        let size = Vec2::splat(0.75 * CELL);
        commands.spawn((
            Cargo,
            (RigidBody::Dynamic, Collider::rectangle(size.x, size.y)),
            (LinearDamping(6.0), AngularDamping(6.0), ColliderDensity(0.3)),
            Sprite::from_color(css::PERU, size),
            Transform::from_translation(frame().cell_center(cell).extend(0.5)),
        ));
    }
    for cell in CellRect::new(Cell::new(3, 8), 5, 6).cells() {
        commands.spawn((
            unit(0.38 * CELL, 5.0),
            Sprite {
                image: assets.load("assets/critters.png"),
                custom_size: Some(Vec2::splat(15.0)),
                ..default()
            },
            Transform::from_translation(frame().cell_center(cell).extend(1.0)),
        ));
    }
    commands.spawn(view::camera());
    Ok(())
}

fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    cursor: view::Cursor,
    grids: Res<NavGrids>,
    units: Query<Entity, With<PathSteering>>,
    mut bodies: Query<(&Transform, &mut LinearVelocity, &RigidBody)>,
) {
    let Some(at) = cursor.position() else { return };
    if mouse.just_pressed(MouseButton::Left)
        && let Some(cell) = grids.cell_at(GridId::default(), at)
    {
        commands.spawn(Group::to(cell, units));
    }
    if mouse.just_pressed(MouseButton::Right) {
        for (transform, mut velocity, body) in &mut bodies {
            let away = transform.translation.truncate() - at;
            let strength = (1.0 - away.length() / BLAST.0).max(0.0);
            if body.is_dynamic() {
                velocity.0 += away.normalize_or_zero() * strength * BLAST.1;
            }
        }
    }
}

/// Bodies become critters, and critters bodies.
fn change_hands(
    mut commands: Commands,
    keys: Res<ButtonInput<KeyCode>>,
    mut units: Query<(Entity, Has<Critter>, &mut Sprite), With<PathSteering>>,
) {
    if !keys.just_pressed(KeyCode::Space) {
        return;
    }
    for (unit, is_critter, mut sprite) in &mut units {
        if is_critter {
            commands.entity(unit).remove::<Critter>();
            sprite.color = Color::WHITE;
        } else {
            commands.entity(unit).insert(Critter::new(5.0).turns(false));
            sprite.color = css::GOLD.into(); // green, on blue
        }
    }
}

/// Shows each unit in the direction in which it goes.
fn look_ahead(mut units: Query<(&DesiredVelocity, Option<&Facing>, Has<Critter>, &mut Sprite)>) {
    for (desired, facing, is_critter, mut sprite) in &mut units {
        let direction = match facing.filter(|_| is_critter) {
            Some(facing) => facing.world,
            None if **desired == Vec2::ZERO => continue,
            None => **desired,
        };
        let facing = Facing { world: direction, ..default() };
        let corner = Vec2::new(facing.compass() as u8 as f32, 0.0) * 16.0; // eight in a row
        sprite.rect = Some(Rect::from_corners(corner, corner + 16.0));
    }
}
