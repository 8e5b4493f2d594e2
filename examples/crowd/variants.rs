//! Variants of a scene, so that figures do not depend on the details of one scene.
//!
//! Input: a [`Scene`] and the name of a variant. Output: the scene, changed.

use bevy_tilepath::prelude::*;

use super::{
    hexagons,
    scenes::{Scene, Start},
};

/// A variant and its name.
type Entry = (&'static str, fn(Scene) -> Scene);

/// All variants.
const VARIANTS: [Entry; 7] = [
    ("mirrored", |scene| with_axes(scene, Axes::Mirrored)),
    ("transposed", |scene| with_axes(scene, Axes::Transposed)),
    ("reversed", reversed),
    ("fewer", fewer),
    ("fast", |scene| with_speed(scene, 5, 3)),
    ("slow", |scene| with_speed(scene, 2, 3)),
    ("hexagons", on_hexagons),
];

/// Returns the names of all variants.
pub fn names() -> impl Iterator<Item = &'static str> {
    VARIANTS.iter().map(|(name, _)| *name)
}

/// Returns this variant of a scene; `None` if there is no such variant.
pub fn vary(scene: Scene, name: &str) -> Option<Scene> {
    VARIANTS.iter().find(|(known, _)| *known == name).map(|(_, change)| change(scene))
}

#[derive(Clone, Copy)]
enum Axes {
    /// Left and right are exchanged.
    Mirrored,
    /// Columns and rows are exchanged.
    Transposed,
}

impl Axes {
    /// Returns where a block of `width` × `height` cells with the lowest, leftmost cell `min` is on a map that had
    /// `columns` columns.
    fn apply(self, columns: u32, min: Cell, (width, height): (u32, u32)) -> CellRect {
        match self {
            Self::Mirrored => {
                let x = columns as i32 - min.x - width as i32;
                CellRect::new(Cell::new(x, min.y), width, height)
            }
            Self::Transposed => CellRect::new(Cell::new(min.y, min.x), height, width),
        }
    }
}

fn with_axes(scene: Scene, axes: Axes) -> Scene {
    let (grid, columns) = (&scene.grid, scene.grid.width());
    let size = match axes {
        Axes::Mirrored => (columns, grid.height()),
        Axes::Transposed => (grid.height(), columns),
    };
    let mut terrain = vec![TerrainId::VOID.0; (size.0 * size.1) as usize];
    for cell in grid.rect().cells() {
        let at = axes.apply(columns, cell, (1, 1)).min;
        terrain[at.y as usize * size.0 as usize + at.x as usize] =
            grid.terrain(cell).unwrap_or(TerrainId::VOID).0;
    }
    let start = |start: &Start| {
        let side = grid.unit_size(start.settings.profile);
        let anchor = |cell: Cell| axes.apply(columns, cell, (side, side)).min;
        Start { cell: anchor(start.cell), goal: anchor(start.goal), ..*start }
    };
    let turn = |rect: CellRect| axes.apply(columns, rect.min, (rect.width, rect.height));
    let building =
        scene.building.map(|(tick, rects)| (tick, rects.into_iter().map(turn).collect()));
    let starts = scene.starts.iter().map(start).collect();
    #[expect(clippy::expect_used, reason = "the terrain was made for this size")]
    let turned = NavGrid::from_terrain(size.0, size.1, terrain).expect("one value for each cell");
    let grid = turned.with_profiles(grid.profiles().to_vec());
    Scene { grid, starts, building, ..scene }
}

/// The same map and units on hexagons: every other row is shifted by half a cell. Units of size 2 cover seven hexagons.
fn on_hexagons(scene: Scene) -> Scene {
    #[expect(clippy::expect_used, reason = "built-in scenes are small")]
    let grid = hexagons::shifted_rows(&scene.grid).expect("it fits into a grid");
    let start = |start: &Start| {
        let [cell, goal] = [start.cell, start.goal].map(hexagons::shifted);
        Start { cell, goal, ..*start }
    };
    let rows = |rect: CellRect| {
        let row =
            move |y| CellRect::new(hexagons::shifted(Cell::new(rect.min.x, y)), rect.width, 1);
        (rect.min.y..rect.min.y + rect.height as i32).map(row)
    };
    let building =
        scene.building.map(|(tick, rects)| (tick, rects.into_iter().flat_map(rows).collect()));
    let starts = scene.starts.iter().map(start).collect();
    Scene { grid, starts, building, ..scene }
}

/// The units in reverse order: the last one gets its order first. The goal of a group stays that of the first.
fn reversed(mut scene: Scene) -> Scene {
    scene.starts.reverse();
    scene
}

/// Without every fourth unit.
fn fewer(mut scene: Scene) -> Scene {
    let mut number = 0;
    scene.starts.retain(|_| {
        number += 1;
        number % 4 != 0
    });
    scene
}

fn with_speed(mut scene: Scene, times: u64, divided_by: u64) -> Scene {
    for start in &mut scene.starts {
        start.settings.speed = start.settings.speed * times / divided_by;
    }
    scene.ticks = scene.ticks * divided_by / times;
    scene
}
