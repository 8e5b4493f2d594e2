//! Units under an inspector: a left click chooses a unit, a right click sends it. Its components, its next order, terrain costs and
//! settings can be edited in the window; the overlay has the counters.
//!
//! `cargo run --example inspector`. `--smoke DIR` plays by itself and saves pictures in DIR.

#[path = "../../examples/screen/mod.rs"]
mod screen;
#[path = "inspector/smoke.rs"]
mod smoke;
#[path = "common/view.rs"]
mod view;

use std::process::ExitCode;

use bevy::{
    color::palettes::css,
    dev_tools::diagnostics_overlay::{DiagnosticsOverlay, DiagnosticsOverlayPlugin},
    prelude::*,
};
use bevy_tilepath::{diagnostics::TilePathDiagnosticsPlugin, prelude::*};
use tilepath_integrations::inspector::{Inspected, NavInspectorPlugin};

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 704);
/// Columns and rows of the map, and the side of a cell in the world.
const MAP: (u32, u32) = (40, 22);
const CELL: f32 = 16.0;
/// Letter and color of each terrain.
const TERRAINS: [(u8, Srgba); 3] =
    [(b'.', css::DARK_SEA_GREEN), (b'S', css::DARK_OLIVEGREEN), (b'T', css::DARK_SLATE_GRAY)];

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Inspector: left click chooses a unit, right click sends it";
    let (mut app, smoke) = window::open_example_with(view::plugins(), title, SIZE)?;
    app.add_plugins((
        TilePathPlugin::default(),
        TilePathDiagnosticsPlugin,
        DiagnosticsOverlayPlugin,
        NavInspectorPlugin,
    ))
    .add_systems(Startup, set_up)
    .add_systems(FixedUpdate, wander.before(TilePathSystems::All))
    .add_systems(Update, (click, mark, view::dress_units, view::face));
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

/// Swamps and rocks.
fn terrain(cell: Cell) -> usize {
    let swamp = (cell.x - 20).pow(2) + 2 * (cell.y - 11).pow(2) < 60;
    let rock = cell.x % 9 == 4 && (cell.y + cell.x / 9 * 5) % 11 < 5;
    if rock { 2 } else { usize::from(swamp) }
}

fn frame() -> GridFrame {
    let middle = Vec2::new(MAP.0 as f32 - 1.0, MAP.1 as f32 - 1.0) / 2.0;
    GridFrame::square(-middle * CELL, Vec2::splat(CELL))
}

fn set_up(mut commands: Commands, mut grids: ResMut<NavGrids>) -> Result {
    let cells = CellRect::new(Cell::new(0, 0), MAP.0, MAP.1).cells();
    let letters = cells.clone().map(|cell| TERRAINS[terrain(cell)].0).collect();
    grids.set_profiles(vec![Profile::new().with(TerrainId(b'.'), 16).with(TerrainId(b'S'), 64)]);
    grids.insert(GridId::default(), NavGrid::from_terrain(MAP.0, MAP.1, letters)?, frame());
    for cell in cells {
        let color = TERRAINS[terrain(cell)].1;
        commands.spawn((
            Sprite::from_color(color, Vec2::splat(CELL - 1.0)),
            Transform::from_translation(frame().cell_center(cell).extend(0.0)),
        ));
        if cell.x % 6 == 1 && cell.y % 5 == 2 {
            let at = frame().cell_center(cell).extend(1.0);
            let name = Name::new(format!("Ant {},{}", cell.x, cell.y));
            commands.spawn((name, Critter::new(4.0).turns(false), Transform::from_translation(at)));
        }
    }
    let counters = TilePathDiagnosticsPlugin::ALL.map(Into::into).to_vec();
    commands.spawn(DiagnosticsOverlay::new("Paths", counters));
    commands.spawn(view::camera());
    Ok(())
}

/// Units that nobody has chosen walk about.
fn wander(
    mut commands: Commands,
    mut number: Local<u32>,
    inspected: Res<Inspected>,
    units: Query<(Entity, &PathStatus)>,
) {
    for (unit, status) in &units {
        if status.is_under_way() || inspected.unit == Some(unit) {
            continue;
        }
        *number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (x, y) = ((*number >> 16) % MAP.0, (*number >> 8) % MAP.1);
        let request = PathRequest::to(Cell::new(x as i32, y as i32)).reach(Reach::Nearest);
        commands.entity(unit).insert(request);
    }
}

fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    cursor: view::Cursor,
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    mut inspected: ResMut<Inspected>,
) {
    let id = GridId::default();
    let Some(cell) = cursor.position().and_then(|at| grids.cell_at(id, at)) else { return };
    if mouse.just_pressed(MouseButton::Left) {
        let unit =
            crowds.get(id).zip(grids.get(id)).and_then(|(crowd, grid)| crowd.holder(grid, cell));
        inspected.unit = unit.and_then(|unit| crowds.entity(id, unit)).or(inspected.unit);
    } else if mouse.just_pressed(MouseButton::Right)
        && let Some(unit) = inspected.unit
    {
        inspected.order = PathRequest::to(cell);
        commands.entity(unit).insert(inspected.order.clone());
    }
}

/// A ring around the unit that is shown.
fn mark(inspected: Res<Inspected>, units: Query<&Transform>, mut lines: Gizmos) {
    let unit = inspected.unit.and_then(|unit| units.get(unit).ok());
    if let Some(transform) = unit {
        lines.circle_2d(transform.translation.truncate(), 0.7 * CELL, css::YELLOW);
    }
}
