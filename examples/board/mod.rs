//! Shared code of the turn-based boards: pieces, clicks, turns, and the range of the selected unit, drawn with its path.
//!
//! Input: a grid, pictures and pieces, which each board sets up. Output: a game of moves for one side.

pub mod smoke;

use bevy::{color::palettes::css, prelude::*};
use bevy_tilepath::prelude::*;

pub const SIZE: UVec2 = UVec2::new(1280, 720);
/// Points of a unit in each turn, and how many turns a preview looks ahead.
const POINTS: u16 = 6;
const TURNS: u32 = 4;
/// Pictures in `critters.png`.
const SOLDIER: u32 = 0;
const BEETLE: u32 = 16;
/// Cells per second.
const SPEED: f32 = 6.0;

/// What the cells of a board look like.
#[derive(Resource, Clone)]
pub struct Board {
    /// Where the cells are.
    pub frame: GridFrame,
    /// World units between the centers of neighbors.
    pub cell_size: f32,
    /// A white picture in the shape of a cell, and its size.
    pub shape: Handle<Image>,
    pub shape_size: Vec2,
}

/// A unit or an enemy.
#[derive(Component)]
pub struct Piece {
    pub cell: Cell,
    is_enemy: bool,
    /// What is left of this turn, in sixteenths of a point.
    pub left: u32,
    /// Cells over which it still has to walk, the next one last.
    pub path: Vec<Cell>,
}

/// The color of a cell, and the number on it.
#[derive(Component)]
struct Tint(Cell);

/// The unit that is selected, where it can go, and the cell under the cursor.
#[derive(Resource, Default)]
pub struct Selection {
    unit: Option<Entity>,
    pub range: MovementRange,
    hover: Option<Cell>,
}

/// Adds the game. The board must be set up in `Startup`.
pub fn plugin(app: &mut App) {
    app.init_resource::<Selection>().add_systems(
        Update,
        (walk, click, end_turn, (find_range, tint).chain().run_if(has_changed), draw_path)
            .chain()
            .run_if(resource_exists::<Board>),
    );
}

/// Whether another unit was selected, or a piece has moved.
fn has_changed(
    selection: Res<Selection>,
    mut last: Local<Option<Entity>>,
    pieces: Query<(), Changed<Piece>>,
) -> bool {
    std::mem::replace(&mut *last, selection.unit) != selection.unit || !pieces.is_empty()
}

/// Spawns what is drawn over a cell, and the piece on it: a unit (`u`) or an enemy (`x`).
pub fn spawn_cell(
    commands: &mut Commands,
    (board, assets): (&Board, &AssetServer),
    (cell, letter): (Cell, u8),
) {
    let at = |z: f32| Transform::from_translation(board.frame.cell_center(cell).extend(z));
    let font = TextFont { font_size: FontSize::Px(15.0), ..default() };
    let shape = Sprite {
        image: board.shape.clone(),
        color: Color::NONE,
        custom_size: Some(board.shape_size - 2.0),
        ..default()
    };
    let corner = Vec2::new(1.0, -1.0) * board.cell_size / 3.7;
    let number = (Text2d::default(), font, Transform::from_translation(corner.extend(3.0)));
    commands.spawn((Tint(cell), shape, at(1.0), children![number]));
    if letter.is_ascii_lowercase() {
        let is_enemy = letter == b'x';
        let left = u32::from(POINTS * Profile::PLAIN_COST);
        let piece = Piece { cell, is_enemy, left, path: Vec::new() };
        let index = if is_enemy { BEETLE } else { SOLDIER };
        let mut sprite = picture(assets.load("critters.png"), index, board.cell_size);
        if is_enemy {
            sprite.color = css::TOMATO.into();
        }
        commands.spawn((piece, sprite, at(2.0)));
    }
}

/// A sprite of this size: one picture of a sheet with eight columns.
pub fn picture(image: Handle<Image>, index: u32, size: f32) -> Sprite {
    let corner = UVec2::new(index % 8, index / 8).as_vec2() * 16.0;
    let rect = Some(Rect::from_corners(corner, corner + 16.0));
    Sprite { image, rect, custom_size: Some(Vec2::splat(size)), ..default() }
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
    if let (Some(goal), Some(path), true) =
        (goal, selection.range.cells_to(cell), unit.path.is_empty())
    {
        unit.path = path[1..].iter().rev().map(|step| step.cell).collect();
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

/// Moves pieces along their paths, in a straight line to the center of the next cell.
fn walk(time: Res<Time>, board: Res<Board>, mut pieces: Query<(&mut Piece, &mut Transform)>) {
    for (mut piece, mut transform) in &mut pieces {
        let Some(&next) = piece.path.last() else { continue };
        let (at, center) = (transform.translation.truncate(), board.frame.cell_center(next));
        let to = at.move_towards(center, SPEED * board.cell_size * time.delta_secs());
        transform.translation = to.extend(transform.translation.z);
        if to == center {
            piece.path.pop();
        }
    }
}

/// Finds where the selected unit can go. It may walk through its own side.
fn find_range(
    grids: Res<NavGrids>,
    board: Res<Board>,
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
        |cell| match enemies.iter().map(|&enemy| board.frame.topology().distance(enemy, cell)).min()
        {
            Some(0) => MayEnter::No,
            Some(1) => MayEnter::Stop,
            _ => MayEnter::Cost,
        },
    )?;
    Ok(())
}

/// Colors the cells in range: blue if reached in this turn, with the points left there; paler if reached later.
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

/// Draws the path to the cell under the cursor, with a ring where each turn ends, and around each enemy the cells where moves
/// end.
fn draw_path(
    board: Res<Board>,
    selection: Res<Selection>,
    pieces: Query<&Piece>,
    mut gizmos: Gizmos,
) {
    for enemy in pieces.iter().filter(|piece| piece.is_enemy) {
        draw_zone(&board, enemy.cell, &mut gizmos);
    }
    let Selection { range, hover, .. } = &*selection;
    let Some((path, ends)) = hover.and_then(|cell| range.cells_to(cell).zip(range.turn_ends(cell)))
    else {
        return;
    };
    let centers = path.iter().map(|step| board.frame.cell_center(step.cell));
    gizmos.linestrip_2d(centers, css::YELLOW);
    for end in ends {
        let center = board.frame.cell_center(end.cell);
        gizmos.circle_2d(center, board.cell_size / 3.0, css::YELLOW);
    }
}

/// Draws a line around an enemy and the cells beside it.
fn draw_zone(board: &Board, enemy: Cell, gizmos: &mut Gizmos) {
    let is_in_zone = |cell: Cell| board.frame.topology().distance(enemy, cell) <= 1;
    for cell in CellRect::new(enemy.offset(-1, -1), 3, 3).cells().filter(|&cell| is_in_zone(cell)) {
        let center = board.frame.cell_center(cell);
        let corners: Vec<Vec2> = board.frame.cell_corners(cell).collect();
        for (&a, &b) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            // The next cell over this side.
            let next = board.frame.cell_at(a + b - center);
            if !next.is_some_and(is_in_zone) {
                gizmos.line_2d(a, b, css::ORANGE_RED);
            }
        }
    }
}
