//! Player controls other than orders: walls, new critters, pause and speed.
//!
//! Input: pointer and keys. Output: calls to the functions that the scripted match also uses.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    display::ViewSystems,
    kinds::Kind,
    map::GameMap,
    placement::{OccupiedCells, Spiral},
    pointer::Pointer,
    sprites::{Sheets, mark},
    units::{Unit, UnitSpawner, cells_under},
    walls::WallEditor,
};

/// Critters added per key press.
const REINFORCEMENTS: usize = 25;
/// Game speeds, slowest first.
const SPEEDS: [f32; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// Adds the controls.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn_build_cursor).add_systems(
            Update,
            (
                (edit_walls, reinforce, change_speed).in_set(ViewSystems::Act),
                draw_build_cursor.in_set(ViewSystems::Show),
            ),
        );
    }
}

#[derive(Component)]
struct BuildCursor;

/// Builds walls under the cursor (B), removes walls and buildings (X). Both keys may be held while
/// the pointer moves.
fn edit_walls(
    mut last: Local<Option<Cell>>,
    mut editor: WallEditor,
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    map: Res<GameMap>,
) {
    let builds = keys.pressed(KeyCode::KeyB);
    let removes = keys.any_pressed([KeyCode::KeyX, KeyCode::Delete]);
    let Some(cell) = pointer.cell(&map).filter(|_| builds || removes) else {
        *last = None;
        return;
    };
    let from = last.replace(cell).unwrap_or(cell);
    if from == cell && !keys.any_just_pressed([KeyCode::KeyB, KeyCode::KeyX, KeyCode::Delete]) {
        return;
    }
    for cell in line(from, cell) {
        if builds {
            editor.build(cell);
        } else {
            editor.remove(cell);
        }
    }
}

/// Returns the cells of a line, both ends included, without diagonal steps.
fn line(from: Cell, to: Cell) -> impl Iterator<Item = Cell> {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let steps = dx.abs() + dy.abs();
    (0..=steps).map(move |step| {
        let share = |delta: i32| {
            (delta * step + steps.signum() * delta.signum() * steps / 2) / steps.max(1)
        };
        from.offset(share(dx), share(dy))
    })
}

/// Spawns critters (N) of every kind that can stand at the pointer.
fn reinforce(
    mut spawner: UnitSpawner,
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    map: Res<GameMap>,
    grids: Res<NavGrids>,
    spiral: Res<Spiral>,
    units: Query<(&Unit, &CritterState, &Transform)>,
) {
    let cell = pointer.cell(&map).filter(|_| keys.just_pressed(KeyCode::KeyN));
    let (Some(center), Some(grid)) = (cell, grids.get(GridId::default())) else {
        return;
    };
    let taken = units
        .iter()
        .flat_map(|(unit, state, transform)| cells_under(unit.kind, state, transform, &map));
    let mut occupied = OccupiedCells::new(taken);
    let kinds: Vec<_> = Kind::ALL
        .into_iter()
        .filter_map(|kind| Some((kind, grid.region(kind.profile(), center)?)))
        .collect();
    for &(kind, region) in &kinds {
        let count = REINFORCEMENTS.div_ceil(kinds.len());
        for cell in spiral.spawn_cells(grid, (kind, region), center, count, &mut occupied) {
            spawner.spawn(kind, cell);
        }
    }
}

/// Pauses (Space) and changes the speed (minus and plus).
fn change_speed(mut time: ResMut<Time<Virtual>>, keys: Res<ButtonInput<KeyCode>>) {
    if keys.just_pressed(KeyCode::Space) {
        if time.is_paused() { time.unpause() } else { time.pause() }
    }
    let index = SPEEDS.iter().position(|&speed| speed >= time.relative_speed()).unwrap_or(2);
    if keys.any_just_pressed([KeyCode::Equal, KeyCode::NumpadAdd]) {
        time.set_relative_speed(SPEEDS[(index + 1).min(SPEEDS.len() - 1)]);
    }
    if keys.any_just_pressed([KeyCode::Minus, KeyCode::NumpadSubtract]) {
        time.set_relative_speed(SPEEDS[index.saturating_sub(1)]);
    }
}

fn spawn_build_cursor(mut commands: Commands, sheets: Res<Sheets>) {
    commands.spawn((BuildCursor, sheets.marks.sprite(mark::BUILD), Visibility::Hidden));
}

fn draw_build_cursor(
    mut cursor: Single<(&mut Transform, &mut Visibility), With<BuildCursor>>,
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    map: Res<GameMap>,
) {
    let is_editing = keys.any_pressed([KeyCode::KeyB, KeyCode::KeyX, KeyCode::Delete]);
    let (transform, visibility) = &mut *cursor;
    if let Some(cell) = pointer.cell(&map).filter(|_| is_editing) {
        transform.translation = map.frame.cell_center(cell).extend(6.0);
        visibility.set_if_neq(Visibility::Visible);
    } else {
        visibility.set_if_neq(Visibility::Hidden);
    }
}
