//! Built-in scenes: a map, units, orders and a tick limit.
//!
//! Input: a name. Output: a [`Scene`], the same every time.

use bevy_tilepath::{
    nav::{crowd::UnitSettings, walk::PROGRESS_PER_COST},
    prelude::*,
};

/// One unit of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub cell: Cell,
    pub goal: Cell,
    pub settings: UnitSettings,
}

impl Start {
    /// Returns the unit's speed as a critter; `tick` is the length of a tick in seconds.
    pub fn cells_per_second(&self, tick: f64) -> f32 {
        let per_cell = (PathCost::PLAIN_STEP.0 * PROGRESS_PER_COST) as f64;
        // Half a unit of work is added because the plugin rounds down.
        ((self.settings.speed as f64 + 0.5) / per_cell / tick) as f32
    }
}

/// A map and its units.
pub struct Scene {
    pub grid: NavGrid,
    pub starts: Vec<Start>,
    /// All units are one group; they move to the goal of the first and stop around it.
    pub is_group: bool,
    /// Cells that are blocked in a given tick, also under units.
    pub building: Option<(u64, Vec<CellRect>)>,
    /// Tick limit.
    pub ticks: u64,
}

/// A scene and its name.
type Entry = (&'static str, fn() -> Scene);

/// All scenes.
const SCENES: [Entry; 13] = [
    ("corridor-0", || corridor(0)),
    ("corridor-1", || corridor(1)),
    ("corridor-3", || corridor(3)),
    ("doorway-1", || doorway(1)),
    ("doorway-2", || doorway(2)),
    ("armies", || armies(false)),
    ("armies-mixed", || armies(true)),
    ("ring", ring),
    ("blob-side", blob_from_one_side),
    ("blob-all", blob_from_all_sides),
    ("dead-end", dead_end),
    ("building", building),
    ("sizes", sizes),
];

/// Returns the names of all scenes.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCENES.iter().map(|(name, _)| *name)
}

/// Returns the scene of this name.
pub fn scene(name: &str) -> Option<Scene> {
    SCENES.iter().find(|(known, _)| *known == name).map(|(_, make)| make())
}

/// Column, row, width, height.
type Room = (i32, i32, u32, u32);

/// Returns a grid of walls with rooms in it.
fn rooms(width: u32, height: u32, rooms: &[Room]) -> NavGrid {
    let mut terrain = vec![TerrainId::VOID.0; (width * height) as usize];
    for &(x, y, columns, rows) in rooms {
        for cell in CellRect::new(Cell::new(x, y), columns, rows).cells() {
            terrain[cell.y as usize * width as usize + cell.x as usize] = TerrainId::GROUND.0;
        }
    }
    #[expect(clippy::expect_used, reason = "the sizes are constants of this file")]
    NavGrid::from_terrain(width, height, terrain).expect("the terrain has width * height cells")
}

fn open(width: u32, height: u32) -> NavGrid {
    rooms(width, height, &[(0, 0, width, height)])
}

fn start((x, y): (i32, i32), goal: (i32, i32)) -> Start {
    Start { cell: Cell::new(x, y), goal: goal.into(), settings: UnitSettings::default() }
}

fn scene_of(grid: NavGrid, starts: Vec<Start>, ticks: u64) -> Scene {
    Scene { grid, starts, is_group: false, building: None, ticks }
}

fn group_of(grid: NavGrid, starts: Vec<Start>, ticks: u64) -> Scene {
    Scene { is_group: true, ..scene_of(grid, starts, ticks) }
}

/// Two groups of 20 swap sides through a corridor of 40 cells.
fn corridor(bays: i32) -> Scene {
    let bay = |number: i32| (11 + 40 * number / (bays + 1), 6, 1, 1);
    let mut plan = vec![(1, 1, 10, 10), (11, 5, 40, 1), (51, 1, 10, 10)];
    plan.extend((1..=bays).map(bay));
    let ends = (0..20).map(|i| ((8 - i / 10, 1 + i % 10), (53 + i / 10, 1 + i % 10)));
    let starts = ends.flat_map(|(left, right)| [start(left, right), start(right, left)]);
    scene_of(rooms(62, 12, &plan), starts.collect(), 12_000)
}

/// 500 units move from one room into another.
fn doorway(width: u32) -> Scene {
    let plan = [(1, 1, 41, 40), (42, 20, 1, width), (43, 1, 42, 40)];
    let starts = (0..500).map(|i| start((8 + i % 25, 11 + i / 25), (63, 20)));
    group_of(rooms(86, 42, &plan), starts.collect(), 20_000)
}

/// Two armies of 200 swap sides.
fn armies(has_mixed_speeds: bool) -> Scene {
    let ends = (0..200).map(|i| ((10 + i % 10, 20 + i / 10), (80 + i % 10, 20 + i / 10)));
    let mut starts: Vec<Start> =
        ends.flat_map(|(left, right)| [start(left, right), start(right, left)]).collect();
    if has_mixed_speeds {
        mix_speeds(&mut starts);
    }
    scene_of(open(100, 60), starts, 8_000)
}

/// Gives units speeds of 7 to 20 ticks per cell.
pub fn mix_speeds(starts: &mut [Start]) {
    for (number, start) in starts.iter_mut().enumerate() {
        start.settings = start.settings.ticks_per_cell(7 + number as u32 * 5 % 14);
    }
}

/// 100 units on a circle move to the opposite side.
fn ring() -> Scene {
    let on_circle = |i: i32| {
        let angle = f64::from(i) * std::f64::consts::TAU / 100.0;
        ((angle.cos() * 40.0).round() as i32, (angle.sin() * 40.0).round() as i32)
    };
    let starts = (0..100).map(on_circle).map(|(x, y)| start((50 + x, 50 + y), (50 - x, 50 - y)));
    scene_of(open(101, 101), starts.collect(), 8_000)
}

fn blob_from_one_side() -> Scene {
    let starts = (0..400).map(|i| start((5 + i % 20, 22 + i / 20), (84, 32)));
    group_of(open(110, 64), starts.collect(), 8_000)
}

fn blob_from_all_sides() -> Scene {
    let cells = CellRect::new(Cell::new(0, 0), 111, 111).cells().filter(|cell| {
        let (x, y) = (cell.x - 55, cell.y - 55);
        (40 * 40..54 * 54).contains(&(x * x + y * y))
    });
    let starts = cells.step_by(10).map(|cell| start((cell.x, cell.y), (55, 55)));
    group_of(open(111, 111), starts.take(400).collect(), 8_000)
}

/// 30 units leave a room with one narrow exit, 10 enter it.
fn dead_end() -> Scene {
    let plan = [(1, 1, 20, 20), (21, 10, 12, 1), (33, 7, 7, 7)];
    let out = (0..30).map(|i| start((33 + i % 6, 8 + i / 6), (3 + i % 6, 5 + i / 6)));
    let into = (0..10).map(|i| start((16, 6 + i), (35 + i % 3, 8 + i / 3)));
    scene_of(rooms(44, 22, &plan), out.chain(into).collect(), 8_000)
}

/// A wall is built across 400 moving units.
fn building() -> Scene {
    let starts = (0..400).map(|i| start((5 + i % 20, 20 + i / 20), (75 + i % 20, 20 + i / 20)));
    let building = Some((300, vec![CellRect::new(Cell::new(44, 10), 3, 40)]));
    Scene { building, ..scene_of(open(104, 60), starts.collect(), 8_000) }
}

/// 200 units of one cell and 50 of 2 × 2 cells cross each other's paths.
fn sizes() -> Scene {
    let grid = open(64, 64).with_profiles(vec![Profile::default(), Profile::default().size(2)]);
    let large = (0..50).map(|i| {
        let start = start((2 + i % 10 * 6, 2 + i / 10 * 12), (56 - i % 10 * 6, 55 - i / 10 * 12));
        let settings = UnitSettings { profile: ProfileId(1), ..start.settings };
        Start { settings, ..start }
    });
    let small = (0..200).map(|i| {
        let (x, y) = (i % 20 * 3, i / 20 * 6);
        start((1 + x, 5 + y), (61 - x, 58 - y))
    });
    scene_of(grid, large.chain(small).collect(), 8_000)
}
