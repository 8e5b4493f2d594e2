//! A game for several players in lockstep: a left click sends your units, a right click builds a wall or tears it down.
//!
//! `cargo run --example lockstep` hosts a game on port 5000 of this machine, `cargo run --example lockstep -- --join 5000` joins it, at any
//! time; with `--bot` as well it plays by itself, without a window. The host's units are blue, all others green. What it takes is in
//! [`tilepath_integrations::lockstep`]. `--smoke DIR` plays by itself, with a bot as a second process, and saves pictures in DIR.

#[path = "lockstep/game.rs"]
mod game;
#[path = "../../examples/screen/mod.rs"]
mod screen;
#[path = "lockstep/smoke.rs"]
mod smoke;
#[path = "common/view.rs"]
mod view;

use std::{process::ExitCode, time::Duration};

use bevy::{app::ScheduleRunnerPlugin, color::palettes::css, prelude::*, state::app::StatesPlugin};
use bevy_replicon::prelude::*;
use bevy_replicon_renet::{RenetClient, RepliconRenetPlugins};
use bevy_tilepath::prelude::*;
use game::{Bot, Order, SIDE, Skirmish, UNITS, UnitNumber, frame};
use tilepath_integrations::lockstep::{Lockstep, LockstepPlugin};

use screen::window;

const SIZE: UVec2 = UVec2::new(1000, 704);
const PORT: u16 = 5_000;
/// Side of a cell in the window.
const CELL: f32 = 7.0;
/// The map is on the left.
const SHIFT: f32 = 148.0;
/// Units that a click sends: the nearest of those that stand idle, or else any.
const SENT: usize = 40;

/// Which units are the player's: every other one.
#[derive(Resource, Clone, Copy)]
struct Player(u32);

/// The text beside the map.
#[derive(Component)]
struct News;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let join = arguments.iter().position(|argument| argument == "--join");
    let port = join.and_then(|at| arguments.get(at + 1)?.parse().ok());
    match (join, port) {
        (Some(_), None) => {
            eprintln!("--join needs the port of a host");
            ExitCode::FAILURE
        }
        (_, Some(port)) if arguments.iter().any(|argument| argument == "--bot") => run_bot(port),
        _ => screen::report(|| run(port)),
    }
}

fn add_lockstep(app: &mut App) {
    app.add_plugins((
        RepliconPlugins,
        RepliconRenetPlugins,
        TilePathPlugin::default(),
        LockstepPlugin::<Skirmish>::default(),
    ));
}

fn run(join: Option<u16>) -> Result<ExitCode, String> {
    let title = "Lockstep: left click sends your units, right click builds a wall or tears it down";
    let (mut app, smoke) = window::open_example_with(view::plugins(), title, SIZE)?;
    add_lockstep(&mut app);
    app.insert_resource(Player(u32::from(join.is_some())))
        .add_systems(Startup, set_up)
        .add_systems(Update, (draw_map, draw_walls, draw_units, click, tell_news));
    let world = app.world_mut();
    let port = match join {
        Some(port) => {
            world.insert_resource(Lockstep::<Skirmish>::client());
            game::connect(world, port).map(|()| port)
        }
        None => {
            world.insert_resource(Lockstep::<Skirmish>::host());
            game::fill(world).map_err(|error| error.to_string())?;
            game::listen(world, if smoke.is_some() { 0 } else { PORT })
        }
    };
    let port = port.map_err(|error| error.to_string())?;
    println!("others join with: cargo run --example lockstep -- --join {port}");
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder, port)?;
    }
    Ok(window::run(app))
}

/// Joins a game as a player that gives orders at random, until the host is gone.
fn run_bot(port: u16) -> ExitCode {
    let mut app = App::new();
    let pace = ScheduleRunnerPlugin::run_loop(Duration::from_millis(5));
    app.add_plugins((MinimalPlugins.set(pace), StatesPlugin, TransformPlugin));
    add_lockstep(&mut app);
    app.insert_resource(Lockstep::<Skirmish>::client()).add_systems(Update, play);
    match game::connect(app.world_mut(), port) {
        Ok(()) if app.run().is_success() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn play(
    mut bot: Local<Option<Bot>>,
    mut lockstep: ResMut<Lockstep<Skirmish>>,
    client: Res<RenetClient>,
    mut exit: MessageWriter<AppExit>,
) {
    if lockstep.has_begun() {
        lockstep.order(bot.get_or_insert(Bot(9)).order());
    }
    if client.is_disconnected() {
        exit.write(AppExit::Success);
    }
}

fn set_up(mut commands: Commands) {
    let side = SIDE as f32 * CELL;
    let floor = Sprite::from_color(css::BURLYWOOD, Vec2::splat(side));
    commands.spawn((floor, Transform::from_xyz(0.0, 0.0, -2.0)));
    commands.spawn((Camera2d, Msaa::Off, Transform::from_xyz(SHIFT, 0.0, 0.0)));
    commands.spawn((
        News,
        Text::default(),
        TextFont { font_size: FontSize::Px(17.0), ..default() },
        Node { position_type: PositionType::Absolute, left: px(700), top: px(24), ..default() },
    ));
}

/// Once there is a map.
fn draw_map(mut commands: Commands, grids: Res<NavGrids>, mut is_drawn: Local<bool>) {
    let Some(grid) = grids.get(GridId::default()).filter(|_| !*is_drawn) else {
        return;
    };
    *is_drawn = true;
    let free = |cell| grid.terrain(cell) == Some(TerrainId::GROUND);
    for cell in grid.rect().cells().filter(|&cell| !free(cell)) {
        commands.spawn((
            Sprite::from_color(css::DARK_OLIVEGREEN, Vec2::splat(CELL)),
            Transform::from_translation(frame().cell_center(cell).extend(-1.0)),
        ));
    }
}

fn draw_walls(mut commands: Commands, walls: Query<(Entity, &NavBlocker), Added<NavBlocker>>) {
    for (wall, blocker) in &walls {
        let size = UVec2::new(blocker.width, blocker.height).as_vec2() * CELL;
        let corner = frame().cell_center(blocker.at.unwrap_or_default()) - CELL / 2.0;
        commands.entity(wall).insert((
            Sprite::from_color(css::SADDLE_BROWN, size),
            Transform::from_translation((corner + size / 2.0).extend(0.0)),
        ));
    }
}

fn draw_units(
    mut commands: Commands,
    assets: Res<AssetServer>,
    units: Query<(Entity, &UnitNumber), Added<UnitNumber>>,
    mut dressed: Query<(&Facing, &mut Sprite)>,
) {
    for (unit, number) in &units {
        let image = assets.load("assets/critters.png");
        let color = if number.0.is_multiple_of(2) { Color::WHITE } else { css::GOLD.into() };
        let sprite = Sprite { image, color, custom_size: Some(Vec2::splat(13.0)), ..default() };
        commands.entity(unit).insert(sprite);
    }
    for (facing, mut sprite) in &mut dressed {
        let corner = Vec2::new(facing.compass() as u8 as f32, 0.0) * 16.0; // eight in a row
        sprite.rect = Some(Rect::from_corners(corner, corner + 16.0));
    }
}

/// Orders are given, not carried out: that happens on all peers in the same tick.
fn click(
    mouse: Res<ButtonInput<MouseButton>>,
    cursor: view::Cursor,
    player: Res<Player>,
    mut lockstep: ResMut<Lockstep<Skirmish>>,
    units: Query<(&UnitNumber, &PathStatus, &Transform)>,
) {
    let Some(at) = cursor.position() else { return };
    let Some(to) = frame().cell_at(at) else { return };
    if mouse.just_pressed(MouseButton::Left) {
        let own = units.iter().filter(|(number, ..)| number.0 % 2 == player.0);
        let mut own: Vec<(bool, i32, u32)> = own
            .map(|(number, status, place)| {
                let away = place.translation.truncate().distance(at) as i32;
                (status.is_under_way(), away, number.0)
            })
            .collect();
        own.sort_unstable();
        let units = own.into_iter().take(SENT).map(|(.., number)| number).collect();
        lockstep.order(Order::Gather { units, to });
    }
    if mouse.just_pressed(MouseButton::Right) {
        lockstep.order(Order::Wall { at: to });
    }
}

fn tell_news(
    lockstep: Res<Lockstep<Skirmish>>,
    player: Res<Player>,
    mut text: Single<&mut Text, With<News>>,
) {
    let (differences, compared) = lockstep.differences();
    let role = if player.0 == 0 { "host" } else { "guest" };
    let peers: Vec<String> =
        lockstep.clients().iter().map(|(_, ticks)| ticks.to_string()).collect();
    let checks = match player.0 {
        0 => format!("{compared} checksums of others,\n{} differ", differences.len()),
        _ => format!("{} checksums sent", lockstep.checksums().len()),
    };
    let peers = if peers.is_empty() { "nobody else".into() } else { peers.join(", ") };
    text.0 = format!(
        "{role}, {UNITS} units\n\ntick {}\nothers are at\n{peers}\n\n{checks}",
        lockstep.ticks()
    );
}
