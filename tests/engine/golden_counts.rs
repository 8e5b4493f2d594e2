//! The amount of work of searches, as recorded numbers: any change of an algorithm shows up here. If a change
//! is intended, read the difference and accept it (`INSTA_UPDATE=always cargo test`).
//!
//! One line per case: map, terrain and neighbors, algorithm, then the sums over all pairs of cells:
//! expansions, generated nodes, portals, cost.

use bevy_tilepath::{
    nav::{
        moving_ai::{read_map, read_scenario},
        node_pool::NodePool,
        search::{Search, SearchCounters},
    },
    prelude::*,
};

const UNIT: ProfileId = ProfileId(0);
/// Costs of terrains 1 to 4 of the maps that are generated here.
const UNIFORM: [u16; 4] = [16; 4];
const WEIGHTED: [u16; 4] = [16, 32, 48, 80];

/// The summed counters of searches between some pairs of cells.
#[derive(Default)]
struct Sum {
    expansions: u64,
    generated: u64,
    portals: u64,
    cost: u64,
}

impl Sum {
    fn add(&mut self, counters: SearchCounters, cost: PathCost) {
        self.expansions += counters.expansions;
        self.generated += counters.generated;
        self.portals += counters.portals;
        self.cost += cost.0;
    }
}

fn sum_up(grid: &NavGrid, pairs: &[(Cell, Cell)], algorithm: Algorithm) -> Sum {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let mut sum = Sum::default();
    for &(start, goal) in pairs {
        search.start(grid, &pool, PathQuery::new(start, goal).algorithm(algorithm)).unwrap();
        search.step(grid, &pool, u32::MAX);
        let counters = search.counters();
        sum.add(counters, search.finish(grid, &pool).unwrap().cost());
    }
    sum
}

/// Returns a line for each algorithm, with eight neighbors and with four.
fn lines(map: &str, grid: NavGrid, profile: &Profile, pairs: &[(Cell, Cell)]) -> String {
    let terrain = if profile.is_uniform() { "uniform" } else { "mixed" };
    let (mut grid, mut text) = (grid, String::new());
    for (neighbors, neighborhood) in [(8, Neighborhood::Eight), (4, Neighborhood::Four)] {
        grid.set_profiles(vec![profile.clone().neighbors(neighborhood)]);
        let mut best = None;
        for algorithm in [Algorithm::AStar, Algorithm::JumpPoint, Algorithm::Hierarchical] {
            let Sum { expansions, generated, portals, cost } = sum_up(&grid, pairs, algorithm);
            let name = format!("{map}, {terrain}, {neighbors} neighbors: {algorithm:?}");
            // Recorded numbers must be correct: no cost is below that of A*.
            let best = *best.get_or_insert(cost);
            assert!(cost >= best, "{name}: {cost} where {best} is best");
            assert!(cost == best || portals > 0, "{name}: {cost} where {best} is best");
            text += &format!("{map} {terrain}-{neighbors} {algorithm:?}");
            text += &format!(" {expansions} {generated} {portals} {cost}\n");
        }
    }
    text
}

/// Maps a column and a row to the terrain of the cell.
type Terrain = fn(u32, u32) -> u8;

/// Returns a map by a formula: terrain 1 to 4, or 0 for a wall.
fn map_by_formula(width: u32, height: u32, terrain: Terrain) -> NavGrid {
    let cells = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let terrain = cells.map(|(x, y)| terrain(x, y)).collect();
    NavGrid::from_terrain(width, height, terrain).unwrap()
}

/// Vertical walls eight columns apart, each with a gap of two cells.
fn maze(x: u32, y: u32) -> u8 {
    let gap = (x / 8 * 37) % 118;
    u8::from(x % 8 != 7 || (gap..gap + 2).contains(&y))
}

/// Rooms of 15 × 11 cells with a door to every side, no two doors in line.
fn rooms(x: u32, y: u32) -> u8 {
    let (column, row) = (x / 16, y / 12);
    match (x % 16 == 15, y % 12 == 11) {
        (false, false) => 1,
        (true, false) => u8::from(y % 12 == (3 * column + 5 * row) % 11),
        (false, true) => u8::from(x % 16 == (7 * column + 4 * row) % 15),
        (true, true) => 0,
    }
}

/// Patches of four terrains, nine by six cells each, some of them walls.
fn patches(x: u32, y: u32) -> u8 {
    let (column, row) = (x / 9, y / 6);
    if (column * 5 + row * 3) % 11 == 4 { 0 } else { 1 + ((column * 7 + row * 5) % 4) as u8 }
}

/// Returns the first passable cell from this one to the right.
fn free_cell(grid: &NavGrid, (x, y): (u32, u32)) -> Cell {
    let mut cells = (x..grid.width()).map(|x| Cell::new(x as i32, y as i32));
    cells.find(|&cell| grid.cost(UNIT, cell) > 0).unwrap()
}

/// Returns pairs of cells on a map of 160 × 120 cells: across it, along it, and close together.
fn pairs_on(grid: &NavGrid) -> Vec<(Cell, Cell)> {
    [
        ((1, 1), (156, 118)),
        ((2, 116), (150, 3)),
        ((4, 60), (148, 57)),
        ((75, 2), (81, 117)),
        ((20, 20), (60, 44)),
        ((120, 100), (98, 71)),
    ]
    .map(|(start, goal)| (free_cell(grid, start), free_cell(grid, goal)))
    .to_vec()
}

fn profile(costs: [u16; 4]) -> Profile {
    (1u8..5)
        .zip(costs)
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost))
}

#[test]
fn maps_by_formula() {
    let maps: [(&str, Terrain); 4] =
        [("open", |_, _| 1), ("maze", maze), ("rooms", rooms), ("patches", patches)];
    let mut text = String::new();
    for (map, terrain) in maps {
        for costs in [UNIFORM, WEIGHTED] {
            let profile = profile(costs);
            let grid = map_by_formula(160, 120, terrain).with_profiles(vec![profile.clone()]);
            let pairs = pairs_on(&grid);
            text += &lines(map, grid, &profile, &pairs);
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn long_paths_on_uniform_terrain() {
    let maps: [(&str, Terrain); 2] = [("long-open", |_, _| 1), ("long-rooms", rooms)];
    let mut text = String::new();
    for (map, terrain) in maps {
        let profile = profile(UNIFORM);
        let grid = map_by_formula(2_240, 96, terrain).with_profiles(vec![profile.clone()]);
        let pairs = [((1, 1), (2_236, 90)), ((3, 92), (2_230, 2)), ((2_220, 50), (8, 40))];
        let pairs = pairs.map(|(start, goal)| (free_cell(&grid, start), free_cell(&grid, goal)));
        text += &lines(map, grid, &profile, &pairs);
    }
    insta::assert_snapshot!(text);
}

/// Returns the lines for a map of the benchmark, on which trees are a wall or slow terrain, over thirty rows
/// of its scenario; `None` if the map is not beside the checkout.
fn benchmark_lines(map: &str) -> Option<String> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/movingai");
    let Ok(text) = std::fs::read_to_string(format!("{data}/{map}.map")) else {
        eprintln!("{map} is not available: skipped");
        return None;
    };
    let grid = read_map(&text).unwrap();
    let rows = std::fs::read_to_string(format!("{data}/{map}.map.scen")).unwrap();
    let rows = read_scenario(&rows).unwrap();
    let sampled = rows.iter().step_by(rows.len() / 30).take(30);
    let pairs: Vec<(Cell, Cell)> = sampled.map(|row| (row.start, row.goal)).collect();
    assert_eq!(pairs.len(), 30);
    let walls = Profile::default();
    let slow = Profile::default().with(TerrainId(b'T'), 2 * Profile::PLAIN_COST);
    Some([walls, slow].iter().map(|profile| lines(map, grid.clone(), profile, &pairs)).collect())
}

#[test]
fn a_small_arena() {
    if let Some(text) = benchmark_lines("dao/arena") {
        insta::assert_snapshot!(text);
    }
}

#[test]
fn a_map_of_a_strategy_game() {
    if let Some(text) = benchmark_lines("sc1/BigGameHunters") {
        insta::assert_snapshot!(text);
    }
}

#[test]
fn a_maze_with_wide_corridors() {
    if let Some(text) = benchmark_lines("mazes/maze512-8-0") {
        insta::assert_snapshot!(text);
    }
}
