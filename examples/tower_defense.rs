//! A small tower defense: creeps walk from the left edge to the right edge, around the towers.
//!
//! `cargo run --example tower_defense`: a left click builds a tower, a right click sells it. A tower
//! is a [`NavBlocker`]: creeps walk around it, and those whose path it cuts off plan a new one. A
//! tower that would leave the entrance or a creep without a path is refused, see [`refusal`].
//! `--smoke DIR` plays by itself and saves pictures in DIR.

mod screen;
#[path = "tower_defense/smoke.rs"]
mod smoke;

use std::process::ExitCode;

use bevy::{color::palettes::css, prelude::*};
use bevy_tilepath::prelude::*;

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 720);
const CELL: f32 = 32.0;
const COLUMNS: i32 = 40;
const ROWS: i32 = 20;
/// Gates: creeps come in at the left edge and leave at the right edge.
const ENTRANCE: CellRect = CellRect::new(Cell::new(0, 8), 1, 4);
const EXIT: CellRect = CellRect::new(Cell::new(COLUMNS - 1, 8), 1, 4);

const PRICE: u32 = 10;
const REWARD: u32 = 2;
/// Range of a tower in world units.
const RANGE: f32 = 3.5 * CELL;
/// Pictures in `tiles.png` and `critters.png`.
const GRASS: u32 = 0;
const ROAD: u32 = 8;
const TOWER: u32 = 95;
const BEETLE: u32 = 16;

/// What the player has, and what has happened.
#[derive(Resource, Default)]
struct Game {
    lives: u32,
    money: u32,
    spawned: u32,
    kills: u32,
    leaks: u32,
    refused: u32,
    /// Why the last tower was refused; empty if it was built.
    message: &'static str,
}

#[derive(Component)]
struct Creep {
    life: u32,
}

#[derive(Component)]
struct Tower {
    cell: Cell,
    reload: Timer,
    /// The position of its last shot.
    aim: Vec2,
}

/// Shows where the next tower would stand: green where it may, red where it may not.
#[derive(Component)]
struct Hover;

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Tower defense: left click builds a tower, right click sells it";
    let (mut app, smoke) = window::open_example(title, SIZE)?;
    app.add_plugins(TilePathPlugin::default())
        .insert_resource(Game { lives: 20, money: 250, ..default() })
        .add_systems(Startup, set_up)
        // A creep that is shot in the tick of its arrival does not arrive.
        .add_systems(FixedUpdate, (spawn_creeps, shoot).chain().before(TilePathSystems::All))
        .add_systems(Update, (edit_towers, draw, show_score))
        .add_observer(leak);
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

/// Cell (0, 0) is in the lower left corner of the window; the strip above the map holds the score.
fn frame() -> GridFrame {
    let corner = (Vec2::splat(CELL) - SIZE.as_vec2()) / 2.0;
    GridFrame::square(corner, Vec2::splat(CELL))
}

/// A sprite as large as a cell: one picture of a sheet with eight columns.
fn picture(image: Handle<Image>, index: u32) -> Sprite {
    let rect = Some(picture_rect(index));
    Sprite { image, rect, custom_size: Some(Vec2::splat(CELL)), ..default() }
}

fn picture_rect(index: u32) -> Rect {
    let corner = UVec2::new(index % 8, index / 8).as_vec2() * 16.0;
    Rect::from_corners(corner, corner + 16.0)
}

fn set_up(mut commands: Commands, mut grids: ResMut<NavGrids>, assets: Res<AssetServer>) -> Result {
    let grid = NavGrid::new(COLUMNS as u32, ROWS as u32, TerrainId::GROUND)?;
    for cell in grid.rect().cells() {
        let is_gate = ENTRANCE.contains(cell) || EXIT.contains(cell);
        let index = if is_gate { ROAD } else { GRASS } + (cell.x * 7 + cell.y * 13) as u32 % 5;
        let mut tile = picture(assets.load("tiles.png"), index);
        if (cell.x + cell.y) % 2 == 0 {
            tile.color = Color::srgb(0.93, 0.93, 0.93); // the grid shows as a checkerboard
        }
        commands.spawn((tile, Transform::from_translation(frame().cell_center(cell).extend(0.0))));
    }
    grids.insert(GridId::default(), grid, frame());
    commands.spawn((Camera2d, Msaa::Off));
    let hover = Sprite::from_color(Color::NONE, Vec2::splat(CELL));
    commands.spawn((Hover, hover, Transform::default()));
    let red = TextColor(css::TOMATO.into());
    commands.spawn((Text::default(), children![(TextSpan::default(), red)]));
    Ok(())
}

/// Spawns a creep every 0.8 seconds; later ones have more life.
fn spawn_creeps(
    mut commands: Commands,
    mut wait: Local<Timer>,
    time: Res<Time>,
    mut game: ResMut<Game>,
    assets: Res<AssetServer>,
) {
    if !wait.tick(time.delta()).is_finished() {
        return;
    }
    *wait = Timer::from_seconds(0.8, TimerMode::Once);
    let gate = ENTRANCE.min.offset(0, (game.spawned % ENTRANCE.height) as i32);
    game.spawned += 1;
    commands.spawn((
        Creep { life: 6 + game.spawned / 8 },
        Critter::new(3.0).turns(false),
        PathRequest::to(EXIT),
        picture(assets.load("critters.png"), BEETLE),
        StartCell(gate),
        Transform::from_xyz(0.0, 0.0, 2.0),
    ));
}

/// A creep that arrives at the exit costs a life.
fn leak(
    arrived: On<Arrived>,
    mut commands: Commands,
    mut game: ResMut<Game>,
    mut time: ResMut<Time<Virtual>>,
) {
    commands.entity(arrived.entity).despawn();
    game.leaks += 1;
    game.lives = game.lives.saturating_sub(1);
    if game.lives == 0 {
        game.message = "Game over";
        time.pause();
    }
}

/// Each tower shoots at the nearest creep in range. It aims at the picture: in a game that must run equally on several machines it
/// would aim at `CritterState::cell`.
fn shoot(
    mut commands: Commands,
    time: Res<Time>,
    mut game: ResMut<Game>,
    mut towers: Query<(&mut Tower, &Transform)>,
    mut creeps: Query<(Entity, &mut Creep, &Transform)>,
) {
    for (mut tower, transform) in &mut towers {
        if !tower.reload.tick(time.delta()).is_finished() {
            continue;
        }
        let from = transform.translation.truncate();
        let distance = |creep: &Transform| creep.translation.truncate().distance(from);
        let nearest = creeps
            .iter_mut()
            .filter(|(_, creep, at)| creep.life > 0 && distance(at) < RANGE)
            .min_by(|(.., a), (.., b)| distance(a).total_cmp(&distance(b)));
        let Some((entity, mut creep, at)) = nearest else { continue };
        tower.reload.reset();
        tower.aim = at.translation.truncate();
        creep.life -= 1;
        if creep.life == 0 {
            commands.entity(entity).despawn();
            game.kills += 1;
            game.money += REWARD;
        }
    }
}

/// Returns why no tower may stand on a cell. Towers built since the last tick are not on the grid yet, so all of them are named.
fn refusal(
    grid: &NavGrid,
    cell: Cell,
    towers: impl Iterator<Item = Cell>,
    creeps: impl Iterator<Item = Cell>,
) -> Option<&'static str> {
    if cell.x == 0 || cell.x == COLUMNS - 1 {
        return Some("Refused: the edges must stay free");
    }
    let buildings = towers.chain([cell]).map(CellRect::single);
    let from = core::iter::once(ENTRANCE.min).chain(creeps);
    let cut_off = grid.cut_off_by(buildings, ProfileId::default(), from, EXIT)?;
    let is_entrance = cut_off == ENTRANCE.min;
    Some(if is_entrance {
        "Refused: it would close the last path"
    } else {
        "Refused: it would trap a creep"
    })
}

/// Builds and sells towers with the mouse.
fn edit_towers(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    (grids, assets, mut game): (Res<NavGrids>, Res<AssetServer>, ResMut<Game>),
    mut hover: Single<(&mut Sprite, &mut Transform), With<Hover>>,
    towers: Query<(Entity, &Tower)>,
    creeps: Query<&CritterState, With<Creep>>,
) {
    let (camera, view) = *camera;
    let (sprite, transform) = &mut *hover;
    sprite.color = Color::NONE;
    let Some(cursor) = window.cursor_position() else { return };
    let Ok(position) = camera.viewport_to_world_2d(view, cursor) else { return };
    let Some(cell) = grids.cell_at(GridId::default(), position) else { return };
    let Some(grid) = grids.get(GridId::default()) else { return };
    let center = frame().cell_center(cell);
    transform.translation = center.extend(4.0);
    if let Some((tower, _)) = towers.iter().find(|(_, tower)| tower.cell == cell) {
        if mouse.just_pressed(MouseButton::Right) {
            commands.entity(tower).despawn();
            game.money += PRICE / 2;
        }
        return;
    }
    let built = towers.iter().map(|(_, tower)| tower.cell);
    // The cells that they enter.
    let creeps = creeps.iter().filter(|creep| creep.is_placed()).map(|creep| creep.walk().head());
    let refusal = refusal(grid, cell, built, creeps);
    let refusal = refusal.or((game.money < PRICE).then_some("Refused: not enough money"));
    let color = if refusal.is_some() { css::RED } else { css::LIGHT_GREEN };
    sprite.color = color.with_alpha(0.5).into();
    if !mouse.just_pressed(MouseButton::Left) || game.lives == 0 {
        return;
    }
    game.message = refusal.unwrap_or_default();
    if refusal.is_some() {
        game.refused += 1;
        return;
    }
    game.money -= PRICE;
    commands.spawn((
        Tower { cell, reload: Timer::from_seconds(0.7, TimerMode::Once), aim: center },
        NavBlocker::at(CellRect::single(cell)),
        picture(assets.load("tiles.png"), TOWER),
        Transform::from_translation(center.extend(1.0)),
    ));
}

/// Shows creeps in the direction in which they walk, their life, and each shot for a tenth of a second.
fn draw(
    time: Res<Time>,
    mut gizmos: Gizmos,
    mut creeps: Query<(&Creep, &Facing, &CritterState, &Transform, &mut Sprite)>,
    towers: Query<(&Tower, &Transform)>,
) {
    let step = (time.elapsed_secs_wrapped() * 6.0) as u32 % 2;
    for (creep, facing, state, transform, mut sprite) in &mut creeps {
        let row = if state.is_moving() { step } else { 0 };
        sprite.rect = Some(picture_rect(BEETLE + 8 * row + facing.compass() as u32));
        let middle = transform.translation.truncate() + Vec2::new(0.0, 18.0);
        let half = Vec2::new(1.5 * creep.life as f32, 0.0);
        gizmos.line_2d(middle - half, middle + half, css::RED);
    }
    for (tower, transform) in &towers {
        if tower.reload.elapsed_secs() < 0.1 {
            gizmos.line_2d(transform.translation.truncate(), tower.aim, css::YELLOW);
        }
    }
}

fn show_score(game: Res<Game>, mut score: Single<&mut Text>, mut message: Single<&mut TextSpan>) {
    let Game { lives, money, kills, leaks, refused, .. } = *game;
    score.0 = format!(
        " Lives {lives}    Money {money}    Kills {kills}    Leaks {leaks}    Refused {refused}\n "
    );
    message.0 = game.message.into();
}
