//! A turn-based board: where a unit can go, what is left there, and how many turns a way takes.
//!
//! `cargo run --example skirmish`: a click selects a unit, another one moves it to a blue cell. Pale cells take more turns; the
//! preview has a mark where each turn ends. Enemies (beetles) cannot be passed, and next to them a move ends. Woods cost two
//! points, swamp three. The space bar ends the turn. `--smoke DIR` plays by itself and saves pictures in DIR.

mod screen;
#[path = "skirmish/smoke.rs"]
mod smoke;

use std::{path::PathBuf, process::ExitCode};

use bevy::{color::palettes::css, prelude::*};
use bevy_tilepath::prelude::*;

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 720);
const CELL: f32 = 48.0;
/// The board, from the top row down: grass, woods, swamp and water by their letters; units (`u`) and enemies (`x`) on grass.
const BOARD: [&str; 14] = [
    "GGGGTTTGGGGGGGSSSGGGGGGGGG",
    "GGGTTTTGGGGGGSSSSSGGGGGGGG",
    "GGGTTTGGGGGGGGSSSGGGGGTTGG",
    "GGGGTGGGGGGGGGGSGGGGGTTTTG",
    "GGGGGGGGWWWGGGGGGGGGGTTTGG",
    "GGuGGGGWWWWWGGGGxGGGGGTGGG",
    "GGGGGGGGWWWWWGGGGGGGGGGGGG",
    "GGGGGSGGGWWWWWGGGGxGGGGGGG",
    "GGuGSSSGGGGWWWWGGGGGGGSSGG",
    "GGGGSSSSGGGGGWWWGGGGGSSSSG",
    "GGGGGSSGGGGGGGWWGGGGGGSSGG",
    "GGGGGGGGGTTGGGGGGGGGGGGGGG",
    "GGGGGGGGTTTTTGGGGxGGGGGGGG",
    "GGGGGGGTTTTTTGGGGGGGGTTGGG",
];
/// Letter, points to enter (0 is impassable), and picture in `tiles.png`.
const TERRAINS: [(u8, u16, u32); 4] = [(b'G', 1, 0), (b'T', 2, 36), (b'S', 3, 16), (b'W', 0, 24)];
/// Points of a unit in each turn, and how many turns a preview looks ahead.
const POINTS: u16 = 6;
const TURNS: u32 = 4;
/// Pictures in `critters.png`.
const SOLDIER: u32 = 0;
const BEETLE: u32 = 16;
/// Cells per second.
const SPEED: f32 = 6.0;

/// A unit or an enemy.
#[derive(Component)]
struct Piece {
    cell: Cell,
    is_enemy: bool,
    /// What is left of this turn, in sixteenths of a point.
    left: u32,
    /// Cells over which it still has to walk, the next one last.
    way: Vec<Cell>,
}

/// The color of a cell, and the number on it.
#[derive(Component)]
struct Tint(Cell);

/// The unit that is selected, where it can go, and the cell under the cursor.
#[derive(Resource, Default)]
struct Selection {
    unit: Option<Entity>,
    range: MovementRange,
    hover: Option<Cell>,
}

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let smoke = std::env::args_os().skip_while(|arg| arg != "--smoke").nth(1).map(PathBuf::from);
    let title = "Skirmish: a click selects a unit or moves it, the space bar ends the turn";
    let window = window::window(title, SIZE, smoke.is_some());
    let mut app = window::open(window::plugins(), window)?;
    app.add_plugins(TilePathPlugin::default())
        .init_resource::<Selection>()
        .add_systems(Startup, set_up)
        .add_systems(Update, (walk, click, end_turn, find_range, tint, draw_way).chain());
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

/// The board lies in the middle of the window.
fn frame() -> GridFrame {
    let board = Vec2::new(BOARD[0].len() as f32, BOARD.len() as f32);
    GridFrame::square((Vec2::ONE - board) * CELL / 2.0, Vec2::splat(CELL))
}

/// A sprite as large as a cell: one picture of a sheet with eight columns.
fn picture(image: Handle<Image>, index: u32) -> Sprite {
    let corner = UVec2::new(index % 8, index / 8).as_vec2() * 16.0;
    let rect = Some(Rect::from_corners(corner, corner + 16.0));
    Sprite { image, rect, custom_size: Some(Vec2::splat(CELL)), ..default() }
}

fn set_up(mut commands: Commands, mut grids: ResMut<NavGrids>, assets: Res<AssetServer>) -> Result {
    let profile = TERRAINS.into_iter().fold(Profile::new(), |profile, (letter, points, _)| {
        profile.with(TerrainId(letter), points * Profile::PLAIN_COST)
    });
    grids.set_profiles(vec![profile]);
    let letters: Vec<u8> = BOARD.iter().rev().flat_map(|row| row.bytes()).collect();
    let ground = |letter: u8| if letter.is_ascii_lowercase() { b'G' } else { letter };
    let terrain = letters.iter().map(|&letter| ground(letter)).collect();
    let grid = NavGrid::from_terrain(BOARD[0].len() as u32, BOARD.len() as u32, terrain)?;
    for (cell, &letter) in grid.rect().cells().zip(&letters) {
        let at = |z: f32| Transform::from_translation(frame().cell_center(cell).extend(z));
        let (.., index) =
            TERRAINS[TERRAINS.iter().position(|it| it.0 == ground(letter)).unwrap_or(0)];
        commands.spawn((picture(assets.load("tiles.png"), 0), at(0.0)));
        commands.spawn((picture(assets.load("tiles.png"), index), at(0.1)));
        let font = TextFont { font_size: FontSize::Px(15.0), ..default() };
        let square = Sprite::from_color(Color::NONE, Vec2::splat(CELL - 2.0));
        let number = (Text2d::default(), font, Transform::from_xyz(CELL / 3.5, -CELL / 3.5, 3.0));
        commands.spawn((Tint(cell), square, at(1.0), children![number]));
        if letter.is_ascii_lowercase() {
            let is_enemy = letter == b'x';
            let index = if is_enemy { BEETLE } else { SOLDIER };
            let left = u32::from(POINTS * Profile::PLAIN_COST);
            let piece = Piece { cell, is_enemy, left, way: Vec::new() };
            let mut sprite = picture(assets.load("critters.png"), index);
            if is_enemy {
                sprite.color = css::TOMATO.into();
            }
            commands.spawn((piece, sprite, at(2.0)));
        }
    }
    grids.insert(GridId::default(), grid, frame());
    commands.spawn((Camera2d, Msaa::Off));
    Ok(())
}

/// Selects a unit, or sends the selected one to a cell that it reaches in this turn.
fn click(
    mouse: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    grids: Res<NavGrids>,
    mut selection: ResMut<Selection>,
    mut pieces: Query<(Entity, &mut Piece)>,
) {
    let (camera, view) = *camera;
    let cursor = window.cursor_position();
    let position = cursor.and_then(|cursor| camera.viewport_to_world_2d(view, cursor).ok());
    selection.hover = position.and_then(|position| grids.cell_at(GridId::default(), position));
    let Some(cell) = selection.hover.filter(|_| mouse.just_pressed(MouseButton::Left)) else {
        return;
    };
    if let Some((unit, piece)) = pieces.iter().find(|(_, piece)| piece.cell == cell) {
        selection.unit = (!piece.is_enemy).then_some(unit);
        return;
    }
    let goal = selection.range.get(cell).filter(|goal| goal.turn == 0);
    let Some((_, mut unit)) = selection.unit.and_then(|unit| pieces.get_mut(unit).ok()) else {
        return;
    };
    if let (Some(goal), Some(way), true) =
        (goal, selection.range.cells_to(cell), unit.way.is_empty())
    {
        unit.way = way[1..].iter().rev().map(|step| step.cell).collect();
        (unit.cell, unit.left) = (cell, goal.left as u32);
    }
}

fn end_turn(keys: Res<ButtonInput<KeyCode>>, mut pieces: Query<&mut Piece>) {
    if keys.just_pressed(KeyCode::Space) {
        pieces
            .iter_mut()
            .for_each(|mut piece| piece.left = u32::from(POINTS * Profile::PLAIN_COST));
    }
}

/// Moves pieces along their way, in a straight line to the center of the next cell.
fn walk(time: Res<Time>, mut pieces: Query<(&mut Piece, &mut Transform)>) {
    for (mut piece, mut transform) in &mut pieces {
        let Some(&next) = piece.way.last() else { continue };
        let (at, center) = (transform.translation.truncate(), frame().cell_center(next));
        let to = at.move_towards(center, SPEED * CELL * time.delta_secs());
        transform.translation = to.extend(transform.translation.z);
        if to == center {
            piece.way.pop();
        }
    }
}

/// Finds where the selected unit can go. It may walk through its own side.
fn find_range(
    grids: Res<NavGrids>,
    mut selection: ResMut<Selection>,
    pieces: Query<&Piece>,
) -> Result {
    let Selection { unit, range, .. } = &mut *selection;
    let (Some(unit), Some(grid)) =
        (unit.and_then(|unit| pieces.get(unit).ok()), grids.get(GridId::default()))
    else {
        range.clear();
        return Ok(());
    };
    let enemies: Vec<Cell> =
        pieces.iter().filter(|piece| piece.is_enemy).map(|piece| piece.cell).collect();
    let rules = TurnRules::new(POINTS, TURNS).left(unit.left);
    range.fill_with(
        grid,
        RangeQuery::new(unit.cell, Movement::Turns(rules)),
        |cell| match enemies.iter().map(|enemy| enemy.chebyshev(cell)).min() {
            Some(0) => Enter::No,
            Some(1) => Enter::Stop,
            _ => Enter::Cost,
        },
    )?;
    Ok(())
}

/// Colors the cells in range: blue in this turn, with what is left there, and paler in later ones.
fn tint(
    selection: Res<Selection>,
    pieces: Query<&Piece>,
    mut tints: Query<(&Tint, &mut Sprite, &Children)>,
    mut numbers: Query<&mut Text2d>,
) {
    for (tint, mut sprite, children) in &mut tints {
        let is_free = !pieces.iter().any(|piece| piece.cell == tint.0);
        let found = selection.range.get(tint.0).filter(|_| is_free);
        sprite.color = match found.map(|found| found.turn) {
            Some(0) => css::DODGER_BLUE.with_alpha(0.5).into(),
            Some(turn) => css::WHITE.with_alpha(0.4 - 0.1 * turn as f32).into(),
            None => Color::NONE,
        };
        let text = match found {
            Some(InRange { turn: 0, left, .. }) => {
                (left / u64::from(Profile::PLAIN_COST)).to_string()
            }
            _ => String::new(),
        };
        if let Some(mut number) = children.first().and_then(|&child| numbers.get_mut(child).ok())
            && number.0 != text
        {
            number.0 = text;
        }
    }
}

/// Draws the way to the cell under the cursor, with a ring where each turn ends, and around each enemy where moves end.
fn draw_way(selection: Res<Selection>, pieces: Query<&Piece>, mut gizmos: Gizmos) {
    for enemy in pieces.iter().filter(|piece| piece.is_enemy) {
        let center = frame().cell_center(enemy.cell);
        gizmos.rect_2d(center, Vec2::splat(3.0 * CELL - 4.0), css::ORANGE_RED);
    }
    let Selection { range, hover, .. } = &*selection;
    let Some((way, ends)) = hover.and_then(|cell| range.cells_to(cell).zip(range.turn_ends(cell)))
    else {
        return;
    };
    let centers = way.iter().map(|step| frame().cell_center(step.cell));
    gizmos.linestrip_2d(centers, css::YELLOW);
    for end in ends {
        gizmos.circle_2d(frame().cell_center(end.cell), CELL / 3.0, css::YELLOW);
    }
}
