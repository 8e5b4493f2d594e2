//! Units larger than a cell, against a scan of every cell they cover: where they fit, what a cell costs, and
//! which paths are found.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use bevy_tilepath::{
    nav::{
        field::DistanceField,
        moving_ai::{ScenarioRow, read_map, read_scenario},
        node_pool::NodePool,
        search::Search,
        walk::{PROGRESS_PER_COST, Walk, WalkEvent},
    },
    prelude::*,
};
use proptest::prelude::*;

use crate::common::{Random, any_topology, covered};

const UNIT: ProfileId = ProfileId(0);

/// An oracle for the cost of each anchor cell of a unit, computed cell by cell; row-major, 0 where the unit
/// does not fit. The grid's origin is (0, 0).
struct AnchorCosts {
    topology: Topology,
    width: i32,
    height: i32,
    costs: Vec<u16>,
    corners: CornerRule,
    neighborhood: Neighborhood,
}

impl AnchorCosts {
    fn of(grid: &NavGrid) -> Self {
        let rules = &grid.profiles()[usize::from(UNIT.0)];
        let (width, height) = (grid.width() as i32, grid.height() as i32);
        let single = |cell: Cell| {
            let terrain = grid.terrain(cell).unwrap();
            if grid.blockers(cell) > 0 { 0 } else { rules.cost(terrain) }
        };
        let singles: Vec<u16> = grid.rect().cells().map(single).collect();
        let topology = grid.topology();
        let block = |anchor: Cell| {
            let mut cells = covered(topology, rules.unit_size().into(), anchor);
            if !cells.clone().all(|cell| grid.contains(cell)) {
                return 0;
            }
            let first = cells.next().unwrap();
            let cost = |cell: Cell| singles[(cell.y * width + cell.x) as usize];
            let worse = |most: u16, cost| if most.min(cost) == 0 { 0 } else { most.max(cost) };
            cells.map(cost).fold(cost(first), worse)
        };
        let costs = grid.rect().cells().map(block).collect();
        let (corners, neighborhood) = (rules.corner_rule(), rules.neighborhood());
        Self { topology, width, height, costs, corners, neighborhood }
    }

    fn cost(&self, cell: Cell) -> u16 {
        let inside = (0..self.width).contains(&cell.x) && (0..self.height).contains(&cell.y);
        if inside { self.costs[self.index(cell)] } else { 0 }
    }

    fn index(&self, cell: Cell) -> usize {
        (cell.y * self.width + cell.x) as usize
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        CellRect::new(Cell::new(0, 0), self.width as u32, self.height as u32).cells()
    }

    /// Returns the cost of the step if it is legal, computed from the movement rules.
    fn step(&self, from: Cell, direction: Direction) -> Option<u64> {
        let (dx, dy) = direction.offset();
        let costs = [self.cost(from), self.cost(from.offset(dx, dy))];
        if costs.contains(&0) {
            return None;
        }
        let sum = u64::from(costs[0]) + u64::from(costs[1]);
        if self.topology == Topology::Hexagonal {
            return (dx != dy).then_some(408 * sum);
        }
        if dx == 0 || dy == 0 {
            return Some(408 * sum);
        }
        let sides = [from.offset(dx, 0), from.offset(0, dy)].map(|cell| self.cost(cell) > 0);
        let is_legal = self.neighborhood == Neighborhood::Eight
            && match self.corners {
                CornerRule::Forbid => sides[0] && sides[1],
                CornerRule::NoSqueeze => sides[0] || sides[1],
                CornerRule::Allow => true,
            };
        is_legal.then_some(577 * sum)
    }

    /// Returns the cost of the cheapest path (textbook A*, with lazy deletion). `lowest` is the cost of the
    /// cheapest terrain, or 0 for Dijkstra's algorithm.
    fn cheapest(&self, start: Cell, goal: Cell, lowest: u64) -> Option<u64> {
        if self.cost(start) == 0 || self.cost(goal) == 0 {
            return None;
        }
        let heuristic = |cell: Cell| {
            if self.topology == Topology::Hexagonal {
                return 2 * lowest * 408 * u64::from(cell.hexagonal_distance(goal));
            }
            let (dx, dy) = (cell.x.abs_diff(goal.x), cell.y.abs_diff(goal.y));
            let straight = u64::from(dx.max(dy) - dx.min(dy));
            2 * lowest * (408 * straight + 577 * u64::from(dx.min(dy)))
        };
        let mut best = vec![u64::MAX; self.costs.len()];
        best[self.index(start)] = 0;
        let mut open = BinaryHeap::from([(Reverse(heuristic(start)), 0, start)]);
        while let Some((_, cost, at)) = open.pop() {
            if at == goal {
                return Some(cost);
            }
            if cost > best[self.index(at)] {
                continue;
            }
            for direction in Direction::ALL {
                let (dx, dy) = direction.offset();
                let to = at.offset(dx, dy);
                let Some(step) = self.step(at, direction) else {
                    continue;
                };
                let index = self.index(to);
                if cost + step < best[index] {
                    best[index] = cost + step;
                    open.push((Reverse(cost + step + heuristic(to)), cost + step, to));
                }
            }
        }
        None
    }

    /// Returns the expected result of a search.
    fn answer(&self, start: Cell, goal: Cell, lowest: u64) -> Result<PathCost, PathFailure> {
        if self.cost(start) == 0 {
            return Err(PathFailure::StartImpassable(start));
        }
        if self.cost(goal) == 0 {
            return Err(PathFailure::GoalImpassable(goal));
        }
        self.cheapest(start, goal, lowest).map(PathCost).ok_or(PathFailure::NoPath { start, goal })
    }

    /// Returns the cost of a path, from its steps; `None` if one of them is not legal.
    fn path_cost(&self, path: &Path) -> Option<PathCost> {
        let mut at = path.start();
        let mut sum = 0;
        for leg in path.legs() {
            for _ in 0..leg.steps {
                sum += self.step(at, leg.direction)?;
                let (dx, dy) = leg.direction.offset();
                at = at.offset(dx, dy);
            }
        }
        (at == path.end() && self.cost(at) > 0).then_some(PathCost(sum))
    }

    /// Returns the first cell of each cell's connected region, by flood fill.
    fn regions(&self) -> Vec<Option<usize>> {
        let mut regions = vec![None; self.costs.len()];
        for first in self.cells().filter(|&cell| self.cost(cell) > 0) {
            let label = Some(self.index(first));
            if regions[self.index(first)].is_some() {
                continue;
            }
            regions[self.index(first)] = label;
            let mut open = vec![first];
            while let Some(at) = open.pop() {
                for direction in Direction::ALL {
                    let (dx, dy) = direction.offset();
                    let to = at.offset(dx, dy);
                    if self.step(at, direction).is_some() && regions[self.index(to)].is_none() {
                        regions[self.index(to)] = label;
                        open.push(to);
                    }
                }
            }
        }
        regions
    }
}

/// Generates a random grid for a unit of any size. Walls are either few single cells, as large units would
/// not fit elsewhere, or rectangles; terrain of four kinds is scattered or in patches.
fn grids() -> impl Strategy<Value = NavGrid> {
    let rule =
        prop_oneof![Just(CornerRule::Forbid), Just(CornerRule::NoSqueeze), Just(CornerRule::Allow)];
    let neighborhood = prop_oneof![Just(Neighborhood::Four), Just(Neighborhood::Eight)];
    let costs = prop_oneof![
        Just([16, 16, 16, 16]),
        Just([16, 32, 48, 80]),
        Just([17, 23, 91, 400]),
        Just([16, 16, 16, 32]),
    ];
    let layout = (1u32..80, 1u32..72, 1u8..=8, any::<u64>());
    (layout, rule, neighborhood, costs).prop_map(
        |((width, height, side, seed), rule, neighborhood, costs)| {
            let mut random = Random(seed);
            let terrain = match random.below(2) {
                0 => scattered_terrain(width, height, side, &mut random),
                _ => {
                    let (count, walls) = (random.below(24), random.below(60));
                    crate::common::patched_terrain((width, height), count, walls, &mut random)
                }
            };
            let profile = (1u8..5)
                .zip(costs)
                .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost))
                .corners(rule)
                .neighbors(neighborhood)
                .size(side);
            let grid = NavGrid::from_terrain(width, height, terrain).unwrap();
            grid.with_topology(any_topology(&mut random)).with_profiles(vec![profile])
        },
    )
}

/// Draws each cell at random; the larger the unit, the fewer walls.
fn scattered_terrain(width: u32, height: u32, side: u8, random: &mut Random) -> Vec<u8> {
    let walls = random.below(400 / u32::from(side).pow(2) + 1);
    let kinds = 1 + random.below(4);
    let mut terrain = || if random.below(1000) < walls { 0 } else { 1 + random.below(kinds) as u8 };
    (0..width * height).map(|_| terrain()).collect()
}

fn any_cell(grid: &NavGrid, pick: u32) -> Cell {
    let index = pick % (grid.width() * grid.height());
    Cell::new((index % grid.width()) as i32, (index / grid.width()) as i32)
}

/// Returns a cell on which the unit fits, if there is one.
fn free_cell(oracle: &AnchorCosts, pick: u32) -> Option<Cell> {
    let cells: Vec<Cell> = oracle.cells().filter(|&cell| oracle.cost(cell) > 0).collect();
    (!cells.is_empty()).then(|| cells[pick as usize % cells.len()])
}

/// Returns a random start and goal, mostly cells on which the unit fits.
fn ends(grid: &NavGrid, oracle: &AnchorCosts, picks: (u32, u32)) -> (Cell, Cell) {
    let cell = |pick: u32| match pick % 16 {
        0 => any_cell(grid, pick / 16),
        _ => free_cell(oracle, pick / 16).unwrap_or(Cell::new(0, 0)),
    };
    (cell(picks.0), cell(picks.1))
}

fn search(grid: &NavGrid, query: PathQuery) -> Result<Path, PathFailure> {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    search.start(grid, &pool, query)?;
    search.step(grid, &pool, u32::MAX);
    search.finish(grid, &pool)
}

fn cost(found: &Result<Path, PathFailure>) -> Result<PathCost, PathFailure> {
    found.as_ref().map(Path::cost).map_err(|&failure| failure)
}

/// Makes a random edit; a refused edit changes nothing.
fn edit_at_random(grid: &mut NavGrid, (pick, what, width, height): (u32, u8, u8, u8)) {
    let at = any_cell(grid, pick);
    let rect = CellRect::new(at, u32::from(width % 6), u32::from(height % 6));
    match what % 4 {
        0 | 1 => grid.set_terrain(at, TerrainId(what / 4 % 5)).unwrap(),
        2 => drop(grid.block(rect)),
        _ => drop(grid.unblock(rect)),
    }
}

/// Returns an error unless the layer agrees with the oracle: where the unit fits, what a cell costs, and
/// which cells are connected.
fn check_layer(grid: &NavGrid) -> Result<(), String> {
    let (layer, oracle) = (grid.layer(UNIT).unwrap(), AnchorCosts::of(grid));
    let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
    for (cell, region) in oracle.cells().zip(oracle.regions()) {
        let (x, y) = (cell.x as u32, cell.y as u32);
        if layer.is_passable(x, y) != (oracle.cost(cell) > 0) {
            return Err(format!("{cell} is passable: {}", layer.is_passable(x, y)));
        }
        if grid.cost(UNIT, cell) != oracle.cost(cell) {
            let (found, real) = (grid.cost(UNIT, cell), oracle.cost(cell));
            return Err(format!("{cell} costs {found}, not {real}"));
        }
        // Region numbers may differ, but must map one to one.
        let number = layer.region(x, y);
        let labels =
            (*ours.entry(number).or_insert(region), *theirs.entry(region).or_insert(number));
        if labels != (region, number) {
            return Err(format!("{cell} is in region {number:?}"));
        }
    }
    let count = ours.keys().flatten().count();
    let counted = layer.region_count() as usize;
    if counted == count { Ok(()) } else { Err(format!("{counted} regions, not {count}")) }
}

/// Checks that all searches find what the textbook algorithm finds.
fn check_searches(grid: &NavGrid, picks: (u32, u32)) -> Result<(), TestCaseError> {
    let oracle = AnchorCosts::of(grid);
    let (start, goal) = ends(grid, &oracle, picks);
    let answer = oracle.answer(start, goal, 0);
    for algorithm in [Algorithm::Auto, Algorithm::AStar, Algorithm::JumpPoint, Algorithm::Dijkstra]
    {
        let found = search(grid, PathQuery::new(start, goal).algorithm(algorithm));
        prop_assert_eq!((algorithm, cost(&found)), (algorithm, answer));
        if let Ok(path) = found {
            prop_assert_eq!((algorithm, oracle.path_cost(&path)), (algorithm, Some(path.cost())));
            prop_assert_eq!((path.start(), path.end()), (start, goal));
        }
    }
    let mut field = DistanceField::new();
    if let Err(failure) = field.start(grid, UNIT, goal) {
        prop_assert_eq!(failure, PathFailure::GoalImpassable(goal));
        prop_assert_eq!(oracle.cost(goal), 0);
        return Ok(());
    }
    while !field.is_finished() {
        prop_assert!(field.step(grid, u32::MAX) > 0 || field.is_finished());
    }
    prop_assert_eq!(field.cost(grid, start), answer.ok());
    let path = field.path(grid, start);
    prop_assert_eq!(path.as_ref().map(Path::cost), answer.ok());
    if let Some(path) = path {
        prop_assert_eq!(oracle.path_cost(&path), Some(path.cost()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_unit_fits_where_all_cells_of_its_block_are_free(
        grid in grids(),
        edits in prop::collection::vec(any::<(u32, u8, u8, u8)>(), 0..30),
    ) {
        let mut grid = grid;
        prop_assert_eq!(check_layer(&grid), Ok(()));
        for edit in edits {
            edit_at_random(&mut grid, edit);
        }
        prop_assert_eq!(check_layer(&grid), Ok(()));
    }

    #[test]
    fn paths_of_large_units_cost_what_the_textbook_algorithm_finds(
        grid in grids(),
        picks: (u32, u32),
    ) {
        check_searches(&grid, picks)?;
    }

    /// Costs come from the terrain that the layer stores, jumps from its bitmap.
    #[test]
    fn paths_after_edits_cost_what_the_textbook_algorithm_finds(
        grid in grids(),
        edits in prop::collection::vec(any::<(u32, u8, u8, u8)>(), 1..30),
        picks: (u32, u32),
        in_one_edit: bool,
    ) {
        let mut grid = grid;
        grid.build_layers();
        if in_one_edit {
            let mut edit = grid.edit();
            for &(pick, what, width, height) in &edits {
                let at = any_cell(edit.grid(), pick);
                let rect = CellRect::new(at, u32::from(width % 6), u32::from(height % 6));
                match what % 4 {
                    0 | 1 => edit.set_terrain(at, TerrainId(what / 4 % 5)).unwrap(),
                    2 => drop(edit.block(rect)),
                    _ => drop(edit.unblock(rect)),
                }
            }
        } else {
            edits.into_iter().for_each(|edit| edit_at_random(&mut grid, edit));
        }
        prop_assert_eq!(check_layer(&grid), Ok(()));
        check_searches(&grid, picks)?;
    }
}

/// Returns plain terrain with expensive terrain in every fifth column (four times the cost), for units of
/// this size.
fn striped(width: u32, height: u32, side: u8) -> NavGrid {
    let profile = Profile::new().with(TerrainId(1), 16).with(TerrainId(2), 64).size(side);
    let terrain = (0..width * height).map(|i| if i % width % 5 == 4 { 2 } else { 1 }).collect();
    NavGrid::from_terrain(width, height, terrain).unwrap().with_profiles(vec![profile])
}

#[test]
fn sizes_are_clamped_and_can_be_read() {
    for (given, kept) in [(0, 1), (1, 1), (2, 2), (8, 8), (9, 8), (255, 8)] {
        let profile = Profile::default().size(given);
        assert_eq!(profile.unit_size(), kept);
        let grid = NavGrid::new(9, 9, TerrainId::GROUND).unwrap().with_profiles(vec![profile]);
        assert_eq!(grid.unit_size(UNIT), u32::from(kept));
        assert_eq!(grid.unit_size(ProfileId(1)), 1, "unknown profile");
    }
    assert_eq!(Profile::default().unit_size(), 1);
    assert_ne!(Profile::default(), Profile::default().size(2));
}

#[test]
fn on_a_map_smaller_than_the_unit_nothing_is_passable() {
    for (width, height) in [(1, 1), (3, 3), (3, 40), (40, 3), (2, 90)] {
        let mut grid = striped(width, height, 4);
        assert_eq!(check_layer(&grid), Ok(()));
        assert_eq!(grid.layer(UNIT).unwrap().region_count(), 0);
        let (start, goal) = (Cell::new(0, 0), Cell::new(width as i32 - 1, height as i32 - 1));
        for reach in [Reach::Exact, Reach::Nearest] {
            for algorithm in
                [Algorithm::Auto, Algorithm::AStar, Algorithm::JumpPoint, Algorithm::Hierarchical]
            {
                let query = PathQuery::new(start, goal).reach(reach).algorithm(algorithm);
                assert_eq!(search(&grid, query), Err(PathFailure::StartImpassable(start)));
            }
        }
        let mut field = DistanceField::new();
        assert_eq!(field.start(&grid, UNIT, goal), Err(PathFailure::GoalImpassable(goal)));
        grid.block(grid.rect()).unwrap();
        grid.unblock(grid.rect()).unwrap();
        grid.set_terrain(goal, TerrainId::VOID).unwrap();
        assert_eq!(check_layer(&grid), Ok(()));
    }
}

#[test]
fn a_unit_as_large_as_the_map_fits_on_one_cell() {
    for side in 1..=8 {
        let mut grid = striped(u32::from(side), u32::from(side), side);
        let (corner, other) = (Cell::new(0, 0), Cell::new(i32::from(side) - 1, 0));
        assert_eq!(check_layer(&grid), Ok(()));
        assert_eq!(grid.layer(UNIT).unwrap().region_count(), 1);
        assert_eq!(grid.cost(UNIT, corner), if side > 4 { 64 } else { 16 });
        assert_eq!(grid.find_path(UNIT, corner, corner).unwrap().steps(), 0);
        if side > 1 {
            let refused = Err(PathFailure::GoalImpassable(other));
            assert_eq!(grid.find_path(UNIT, corner, other), refused);
        }
        let last = CellRect::single(Cell::new(i32::from(side) - 1, i32::from(side) - 1));
        grid.block(last).unwrap();
        let refused = Err(PathFailure::StartImpassable(corner));
        assert_eq!(grid.find_path(UNIT, corner, corner), refused);
        grid.unblock(last).unwrap();
        assert_eq!(check_layer(&grid), Ok(()));
    }
}

#[test]
fn each_profile_of_a_grid_has_its_own_size() {
    let (small, large) = (Profile::default(), Profile::default().size(2));
    let mut grid =
        NavGrid::new(20, 9, TerrainId::GROUND).unwrap().with_profiles(vec![small, large]);
    // A wall with a door one cell wide.
    grid.block(CellRect::new(Cell::new(10, 0), 1, 4)).unwrap();
    grid.block(CellRect::new(Cell::new(10, 5), 1, 4)).unwrap();
    let (start, goal) = (Cell::new(2, 4), Cell::new(15, 4));
    assert_eq!(grid.find_path(ProfileId(0), start, goal).unwrap().steps(), 13);
    let refused = Err(PathFailure::NoPath { start, goal });
    assert_eq!(grid.find_path(ProfileId(1), start, goal), refused);
    grid.unblock(CellRect::single(Cell::new(10, 5))).unwrap();
    assert_eq!(grid.find_path(ProfileId(1), start, goal).unwrap().steps(), 13);
}

#[test]
fn a_search_notices_an_edit_as_far_to_the_right_as_its_unit_reaches() {
    let profile = Profile::default().size(8);
    let grid = NavGrid::new(96, 32, TerrainId::GROUND).unwrap().with_profiles(vec![profile]);
    let query = PathQuery::new(Cell::new(2, 2), Cell::new(24, 2)).algorithm(Algorithm::AStar);
    // The first edit affects anchors from column 29, in the first chunk, which the search has explored; the
    // second affects none there.
    for (column, is_stale) in [(36, true), (60, false)] {
        let mut grid = grid.clone();
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        search.start(&grid, &pool, query).unwrap();
        search.step(&grid, &pool, 3);
        grid.block(CellRect::single(Cell::new(column, 5))).unwrap();
        assert_eq!(search.is_stale(&grid), is_stale, "column {column}");
        search.stop(&pool);
    }
}

#[test]
fn a_walk_notices_edits_under_all_of_the_unit() {
    let profile = Profile::default().size(3);
    let grid = NavGrid::new(40, 20, TerrainId::GROUND).unwrap().with_profiles(vec![profile]);
    let path = grid.find_path(UNIT, Cell::new(2, 5), Cell::new(30, 5)).unwrap();
    let walk = Walk::standing(path.start());
    // The walking unit covers rows 5 to 7 and columns 2 to 32.
    for (cell, survives) in [
        (Cell::new(20, 7), false),
        (Cell::new(32, 6), false),
        (Cell::new(20, 8), true),
        (Cell::new(20, 4), true),
        (Cell::new(33, 6), true),
    ] {
        let (mut grid, edited) = (grid.clone(), CellRect::single(cell));
        grid.block(edited).unwrap();
        assert_eq!(walk.survives(&path, &grid, UNIT, &[edited]), survives, "{cell}");
    }
    let one = CellRect::single(Cell::new(20, 7));
    assert_eq!(grid.anchors_over(UNIT, one), CellRect::new(Cell::new(18, 5), 3, 3));
    assert!(grid.anchors_over(UNIT, CellRect::default()).is_empty());
}

#[test]
fn walking_takes_as_much_as_the_path_costs() {
    let grid = striped(40, 20, 3);
    let path = grid.find_path(UNIT, Cell::new(1, 2), Cell::new(35, 14)).unwrap();
    assert_eq!(AnchorCosts::of(&grid).path_cost(&path), Some(path.cost()));
    let mut walk = Walk::standing(path.start());
    let work = path.cost().0 * PROGRESS_PER_COST;
    assert_eq!(walk.advance(&path, &grid, UNIT, work - 1), WalkEvent::Walking);
    assert_eq!(walk.advance(&path, &grid, UNIT, 1), WalkEvent::Arrived);
    assert_eq!(walk.tail(), path.end());
}

#[test]
fn only_large_units_use_memory_for_their_size() {
    let bytes = |side: u8| {
        let grid = striped(512, 512, side);
        grid.layer(UNIT).unwrap().bytes() as f64 / (512.0 * 512.0)
    };
    // Narrow passages differ, so portals and cost borders may differ as well.
    let more = bytes(2) - bytes(1);
    assert!((1.1..1.3).contains(&more), "{more} bytes per cell for the size");
}

/// Returns a sample of a scenario's rows: at most every fortieth, and at most 14.
fn sample(rows: &[ScenarioRow]) -> impl Iterator<Item = &ScenarioRow> {
    const MOST: usize = 14;
    rows.iter().step_by(rows.len().div_ceil(MOST).max(40))
}

/// A unit of 3 × 3 cells on the benchmark's maps, where they are beside the checkout.
#[test]
fn large_units_on_benchmark_maps_get_the_cheapest_path() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/movingai");
    for folder in ["dao", "sc1"] {
        let Ok(files) = std::fs::read_dir(format!("{data}/{folder}")) else {
            eprintln!("{folder} is not available: skipped");
            continue;
        };
        let paths = files.map(|file| file.unwrap().path());
        let mut maps: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|end| end == "map")).collect();
        maps.sort();
        let mut found_paths = 0;
        for map in maps {
            let map_name = map.display();
            let grid = read_map(&std::fs::read_to_string(&map).unwrap()).unwrap();
            let grid = grid.with_profiles(vec![Profile::default().size(3)]);
            let oracle = AnchorCosts::of(&grid);
            let rows = std::fs::read_to_string(format!("{map_name}.scen")).unwrap();
            for row in sample(&read_scenario(&rows).unwrap()) {
                let query = PathQuery::new(row.start, row.goal).algorithm(Algorithm::Exact);
                let found = search(&grid, query);
                let answer = oracle.answer(row.start, row.goal, u64::from(Profile::PLAIN_COST));
                assert_eq!(cost(&found), answer, "{map_name} {row:?}");
                if let Ok(path) = found {
                    assert_eq!(oracle.path_cost(&path), Some(path.cost()), "{map_name} {row:?}");
                    found_paths += 1;
                }
            }
        }
        assert!(found_paths > 0, "no path was found on the maps of {folder}");
    }
}
