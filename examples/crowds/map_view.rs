//! Draws the map: floor, walls, and the goal of a group.
//!
//! Input: the grid, when it is replaced or edited. Output: sprites, one for each run of equal
//! cells.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    display::ViewSystems,
    game::{CELL, SceneState},
    palette,
};

/// Width of the wall drawn around the map, in cells.
pub const FRAME: f32 = 0.8;
/// Distance between the lines on the floor, and their width, in cells.
const LINES: usize = 10;
const LINE_WIDTH: f32 = 0.06;
/// The lit edge of a wall and the shadow beneath it, in cells.
const EDGE: f32 = 0.16;
const SHADOW: f32 = 0.3;

/// Draws the map.
pub struct MapViewPlugin;

impl Plugin for MapViewPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, draw.in_set(ViewSystems::Show));
    }
}

/// A sprite of the map.
#[derive(Component)]
struct MapSprite;

fn draw(
    mut commands: Commands,
    grids: Res<NavGrids>,
    scene: Res<SceneState>,
    old: Query<Entity, With<MapSprite>>,
    mut drawn: Local<Option<(u32, u64)>>,
) {
    let Some(grid) = grids.get(GridId::default()) else {
        return;
    };
    let now = Some((scene.started, grid.revision()));
    if *drawn == now {
        return;
    }
    *drawn = now;
    for entity in &old {
        commands.entity(entity).despawn();
    }
    draw_floor(&mut commands, grid);
    draw_walls(&mut commands, grid);
    if let Some(goal) = scene.group_goal {
        draw_goal(&mut commands, goal);
    }
}

/// Spawns a sprite; `area` in cells, `height` is its z coordinate.
fn lay(commands: &mut Commands, area: Rect, height: f32, color: Color) {
    let (middle, size) = (area.center() * CELL, area.size() * CELL);
    let transform = Transform::from_translation(middle.extend(height));
    commands.spawn((MapSprite, Sprite::from_color(color, size), transform));
}

/// Returns the area of cells; cell centers are at whole numbers.
fn area(cells: CellRect) -> Rect {
    let corner = Vec2::new(cells.min.x as f32, cells.min.y as f32) - 0.5;
    Rect::from_corners(corner, corner + Vec2::new(cells.width as f32, cells.height as f32))
}

fn draw_floor(commands: &mut Commands, grid: &NavGrid) {
    let whole = area(grid.rect());
    lay(commands, whole.inflate(FRAME), -9.0, palette::WALL);
    lay(commands, whole, -8.0, palette::FLOOR);
    for x in (LINES..grid.width() as usize).step_by(LINES) {
        let x = x as f32 - 0.5;
        let line = Rect::new(x - LINE_WIDTH / 2.0, whole.min.y, x + LINE_WIDTH / 2.0, whole.max.y);
        lay(commands, line, -7.0, palette::LINE);
    }
    for y in (LINES..grid.height() as usize).step_by(LINES) {
        let y = y as f32 - 0.5;
        let line = Rect::new(whole.min.x, y - LINE_WIDTH / 2.0, whole.max.x, y + LINE_WIDTH / 2.0);
        lay(commands, line, -7.0, palette::LINE);
    }
}

/// Draws walls with lit edges and shadows. Light comes from above.
fn draw_walls(commands: &mut Commands, grid: &NavGrid) {
    let is_wall = |cell: Cell| grid.cost(ProfileId::default(), cell) == 0;
    let is_built = |cell: Cell| grid.blockers(cell) > 0;
    let has_edge = |cell: Cell| is_wall(cell) && !is_wall(cell.offset(0, 1));
    let has_shadow = |cell: Cell| !is_wall(cell) && is_wall(cell.offset(0, 1));
    let inside = grid.rect();
    let around = CellRect::new(inside.min.offset(0, -1), inside.width, inside.height + 1);
    for run in runs(inside, |cell| is_wall(cell) && !is_built(cell)) {
        lay(commands, area(run), -6.0, palette::WALL);
    }
    for run in runs(inside, is_built) {
        lay(commands, area(run), -6.0, palette::BUILT);
    }
    for run in runs(inside, has_shadow) {
        let whole = area(run);
        let strip = Rect { min: Vec2::new(whole.min.x, whole.max.y - SHADOW), ..whole };
        lay(commands, strip, -5.0, palette::SHADOW);
    }
    let edges = [
        (runs(around, |cell| has_edge(cell) && !is_built(cell)), palette::WALL_EDGE),
        (runs(inside, |cell| has_edge(cell) && is_built(cell)), palette::BUILT_EDGE),
    ];
    for (runs, color) in edges {
        for whole in runs.into_iter().map(area) {
            let strip = Rect { min: Vec2::new(whole.min.x, whole.max.y - EDGE), ..whole };
            lay(commands, strip, -5.0, color);
        }
    }
}

/// Returns the runs of neighboring cells in a row for which `holds` is true.
fn runs(cells: CellRect, holds: impl Fn(Cell) -> bool) -> Vec<CellRect> {
    let mut runs: Vec<CellRect> = Vec::new();
    for cell in cells.cells().filter(|&cell| holds(cell)) {
        match runs.last_mut() {
            Some(run) if run.min.offset(run.width as i32, 0) == cell => run.width += 1,
            _ => runs.push(CellRect::single(cell)),
        }
    }
    runs
}

/// Draws a diamond on a group's goal.
fn draw_goal(commands: &mut Commands, cell: Cell) {
    let middle = area(CellRect::single(cell)).center() * CELL;
    let rotation = Quat::from_rotation_z(std::f32::consts::FRAC_PI_4);
    for (side, height, color) in [(0.9, -4.0, palette::GOAL), (0.6, -3.0, palette::FLOOR)] {
        let transform = Transform::from_translation(middle.extend(height)).with_rotation(rotation);
        let sprite = Sprite::from_color(color, Vec2::splat(side * CELL));
        commands.spawn((MapSprite, sprite, transform));
    }
}
