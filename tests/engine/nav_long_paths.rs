//! Hierarchical searches over long distances: over chunks first and over cells then, against a textbook
//! Dijkstra, whole, in slices and in two segments. On squares and hexagons, with fences and for large units.

use bevy_tilepath::{
    nav::{
        node_pool::NodePool,
        open_list::{BinaryHeap, BucketHeap, OpenList},
        search::{HIERARCHY_MIN_DISTANCE, HIERARCHY_MIN_DISTANCE_WEIGHTED, Search, SearchCounters},
    },
    prelude::*,
};
use proptest::prelude::*;

use crate::common::{Random, dijkstra_cost, is_legal_path, scatter_edges, with_edges};

const UNIT: ProfileId = ProfileId(0);
/// Crossing it costs as much as 400 cells.
const RIVER: EdgeId = EdgeId(6);
/// Costs of terrains 1 to 4: 1, 2, 3 and 5 times the plain cost, or all equal.
const WEIGHTED: [u16; 4] = [16, 32, 48, 80];
const UNIFORM: [u16; 4] = [16; 4];
/// The distance from which the first segment of a path is delivered separately.
const SEGMENT_MIN_DISTANCE: i32 = 1_024;

/// What lies between the cells of a map.
#[derive(Clone, Copy, Debug)]
enum Edges {
    None,
    /// Short lines of all kinds.
    Scattered,
    /// From top to bottom, with bridges.
    Rivers,
}

/// The parameters of a map of patches. The columns at both ends are of terrain 1.
#[derive(Clone, Copy, Debug)]
struct PatchedMap {
    width: u32,
    height: u32,
    costs: [u16; 4],
    /// Percentage of patches that are walls.
    walls: u32,
    /// Whether a wall from edge to edge divides the map in the middle.
    is_split: bool,
    topology: Topology,
    rule: CornerRule,
    neighborhood: Neighborhood,
    /// Size of units.
    unit: u32,
    edges: Edges,
    seed: u64,
}

impl PatchedMap {
    fn new(width: u32, height: u32, costs: [u16; 4], seed: u64) -> Self {
        let (walls, is_split) = (25, false);
        Self {
            width,
            height,
            costs,
            walls,
            is_split,
            topology: Topology::Square,
            rule: CornerRule::Forbid,
            neighborhood: Neighborhood::Eight,
            unit: 1,
            edges: Edges::None,
            seed,
        }
    }

    fn grid(&self) -> NavGrid {
        let mut random = Random(self.seed);
        let mut terrain = patched_terrain(self.width, self.height, self.walls, &mut random);
        for row in terrain.chunks_mut(self.width as usize) {
            row[..3].fill(1);
            row[self.width as usize - 3..].fill(1);
            if self.is_split {
                row[self.width as usize / 2] = 0;
            }
        }
        let profile = profile(self.costs).corners(self.rule).neighbors(self.neighborhood);
        let mut grid = NavGrid::from_terrain(self.width, self.height, terrain)
            .unwrap()
            .with_topology(self.topology)
            .with_profiles(vec![with_edges(profile.size(self.unit as u8)).with_edge(RIVER, 6_400)]);
        match self.edges {
            Edges::None => {}
            Edges::Scattered => {
                scatter_edges(&mut grid, self.width * self.height / 200, &mut random);
            }
            Edges::Rivers => add_rivers(&mut grid, &mut random),
        }
        grid
    }

    /// Returns a cell near each end, farther apart than the minimum distance of the hierarchy on weighted
    /// terrain.
    fn ends(&self, picks: (u32, u32), is_reversed: bool) -> (Cell, Cell) {
        // Where a large unit is on the grid: it covers cells to the right and above, on hexagons all around.
        let low = if self.topology == Topology::Hexagonal { self.unit - 1 } else { 0 };
        let rows = self.height + 1 - self.unit - low;
        let cell = |x: u32, pick: u32| Cell::new(x as i32, (low + pick % rows) as i32);
        let (west, east) = (cell(low.max(1), picks.0), cell(self.width - self.unit - 1, picks.1));
        if is_reversed { (east, west) } else { (west, east) }
    }
}

fn profile(costs: [u16; 4]) -> Profile {
    (1u8..5)
        .zip(costs)
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost))
}

/// Returns terrain in which patches cover about half of the map.
fn patched_terrain(width: u32, height: u32, walls: u32, random: &mut Random) -> Vec<u8> {
    crate::common::patched_terrain((width, height), width * height / 90, walls, random)
}

/// Adds rivers from top to bottom that wind through a map, 20 to 80 columns apart, each with up to three bridges.
fn add_rivers(grid: &mut NavGrid, random: &mut Random) {
    let CellRect { min, width, height } = grid.rect();
    let mut edit = grid.edit();
    let mut from = 20;
    while from + 20 < width {
        let mut at = from as i32;
        let course: Vec<i32> = (0..height)
            .map(|_| {
                at += random.below(5) as i32 - 2;
                at
            })
            .collect();
        let is_west = |cell: Cell| {
            let at = course.get(cell.y.abs_diff(min.y) as usize).filter(|_| cell.y >= min.y);
            at.map(|&at| cell.x - min.x <= at)
        };
        let bridges: Vec<u32> = (0..random.below(4)).map(|_| random.below(height)).collect();
        let rows =
            (0..height).filter(|row| !bridges.iter().any(|at| (at..&(at + 4)).contains(&row)));
        for cell in rows.flat_map(|row| (0..width).map(move |x| min.offset(x as i32, row as i32))) {
            for direction in [Direction::East, Direction::North, Direction::NorthWest] {
                let (dx, dy) = direction.offset();
                if is_west(cell) != is_west(cell.offset(dx, dy)) {
                    // On squares there are none to the northwest, and none at the border of the grid.
                    let _is_set = edit.set_edge(cell, direction, RIVER);
                }
            }
        }
        from += 20 + random.below(60);
    }
}

/// Returns uniform terrain of 2,400 × 96 cells with a wall every 40 columns, each with a gap at a random row.
fn walled_map() -> NavGrid {
    let mut grid = NavGrid::new(2_400, 96, TerrainId::GROUND).unwrap();
    let mut random = Random(11);
    for x in (40..2_400).step_by(40) {
        let gap = 1 + random.below(90);
        grid.block(CellRect::new(Cell::new(x, 0), 1, gap)).unwrap();
        grid.block(CellRect::new(Cell::new(x, gap as i32 + 5), 1, 96 - gap - 5)).unwrap();
    }
    grid
}

/// Returns a cell at each end of a connected map.
fn far_ends(grid: &NavGrid) -> (Cell, Cell) {
    let row = grid.height() as i32 / 2;
    let (start, goal) = (Cell::new(1, row), Cell::new(grid.width() as i32 - 2, row));
    let region = grid.region(UNIT, start);
    assert!(region.is_some() && region == grid.region(UNIT, goal), "the map is connected");
    (start, goal)
}

/// The result of a search, its counters and its algorithm.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    result: Result<Path, PathFailure>,
    counters: SearchCounters,
    algorithm: Algorithm,
}

impl Found {
    fn cost(&self) -> Option<PathCost> {
        self.result.as_ref().ok().map(Path::cost)
    }
}

fn run<L: OpenList>(grid: &NavGrid, query: PathQuery, mut budget: impl FnMut() -> u32) -> Found {
    let (pool, mut search) = (NodePool::default(), Search::<L>::new());
    let started = search.start(grid, &pool, query);
    while !search.is_finished() {
        let budget = budget();
        let spent = search.step(grid, &pool, budget);
        assert!(spent <= budget, "{spent} of {budget} spent");
        let makes_progress = spent > 0 || budget == 0 || search.is_finished();
        assert!(makes_progress, "a step that spends nothing would mean that the search is stale");
    }
    let (algorithm, counters) = (search.algorithm(), search.counters());
    let is_hierarchical = algorithm == Algorithm::Hierarchical;
    assert_eq!(counters.portals > 0, is_hierarchical, "portals are for the hierarchy: {query:?}");
    let result = started.and_then(|()| search.finish(grid, &pool));
    Found { result, counters, algorithm }
}

fn whole(grid: &NavGrid, query: PathQuery) -> Found {
    run::<BucketHeap>(grid, query, || u32::MAX)
}

/// Returns whether a cost is at least the best one and at most 1.5 times that.
fn is_near(cost: PathCost, best: PathCost) -> bool {
    best <= cost && 2 * cost.0 <= 3 * best.0
}

fn weighted_maps() -> impl Strategy<Value = PatchedMap> {
    let rule =
        prop_oneof![Just(CornerRule::Forbid), Just(CornerRule::NoSqueeze), Just(CornerRule::Allow)];
    let neighborhood = prop_oneof![Just(Neighborhood::Four), Just(Neighborhood::Eight)];
    let topology = prop_oneof![Just(Topology::Square), Just(Topology::Hexagonal)];
    let walls = (0u32..40, prop::bool::weighted(0.1));
    let size = (104u32..260, 40u32..200);
    let cells = (topology, rule, neighborhood, prop_oneof![2 => Just(1u32), 1 => Just(2u32)]);
    let edges =
        prop_oneof![2 => Just(Edges::None), 1 => Just(Edges::Scattered), 1 => Just(Edges::Rivers)];
    (size, walls, cells, edges, any::<u64>()).prop_map(
        |((width, height), (walls, is_split), cells, edges, seed)| {
            let (topology, rule, neighborhood, unit) = cells;
            let map = PatchedMap::new(width, height, WEIGHTED, seed);
            PatchedMap { walls, is_split, topology, rule, neighborhood, unit, edges, ..map }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn a_long_path_is_found_exactly_where_one_exists_and_is_at_most_1_5_times_the_best(
        map in weighted_maps(),
        picks: (u32, u32),
        is_reversed: bool,
    ) {
        let grid = map.grid();
        let (start, goal) = map.ends(picks, is_reversed);
        let best = dijkstra_cost(&grid, UNIT, start, goal);
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let by_heap = run::<BinaryHeap>(&grid, query, || u32::MAX);
        for found in [whole(&grid, query), by_heap] {
            prop_assert_eq!(found.result.is_ok(), best.is_some());
            let (Ok(path), Some(best)) = (found.result, best) else {
                continue;
            };
            prop_assert!(is_legal_path(&grid, UNIT, &path));
            prop_assert_eq!((path.start(), path.end()), (start, goal));
            prop_assert_eq!(path.kind(), PathKind::Complete);
            let cost = path.cost();
            prop_assert!(is_near(cost, best), "{cost:?} where {best:?} is best");
            let is_far =
                crate::common::open_distance(&grid, UNIT, start, goal) >= HIERARCHY_MIN_DISTANCE_WEIGHTED * 408;
            prop_assert_eq!(found.algorithm == Algorithm::Hierarchical, is_far);
            prop_assert!(is_far || cost == best, "an exact search finds the best path");
        }
    }

    #[test]
    fn slicing_changes_nothing(
        map in weighted_maps(),
        picks: (u32, u32),
        budgets in prop::collection::vec(0u32..200, 1..20),
    ) {
        let grid = map.grid();
        let (start, goal) = map.ends(picks, false);
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let mut slice = 0;
        let sliced = run::<BucketHeap>(&grid, query, || {
            slice += 1;
            budgets[slice % budgets.len()] + u32::from(slice % 7 == 0)
        });
        prop_assert_eq!(sliced, whole(&grid, query));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Same routes, same portals: what an edit of walls or fences leaves of the chunk graph is what a new grid has.
    #[test]
    fn after_edits_long_paths_are_those_of_a_new_grid(
        map in weighted_maps(),
        edits in prop::collection::vec(any::<u64>(), 1..8),
        picks in prop::collection::vec(any::<(u32, u32)>(), 3),
    ) {
        let mut grid = map.grid();
        assert!(grid.layer(UNIT).is_some(), "it is there before the edits");
        for seed in edits {
            let mut random = Random(seed);
            let at = Cell::new(random.below(map.width) as i32, random.below(map.height) as i32);
            let rect = CellRect::new(at, 1 + random.below(20), 1 + random.below(20));
            match random.below(3) {
                0 => scatter_edges(&mut grid, 1 + random.below(9), &mut random),
                kind => {
                    let terrain = TerrainId(if kind == 1 { 0 } else { 1 + random.below(4) as u8 });
                    for cell in rect.intersection(grid.rect()).cells() {
                        grid.set_terrain(cell, terrain).unwrap();
                    }
                }
            }
        }
        let rebuilt = grid.clone().with_profiles(grid.profiles().to_vec());
        for picks in picks {
            let (start, goal) = map.ends(picks, false);
            let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
            let [found, expected] = [&grid, &rebuilt].map(|grid| whole(grid, query));
            prop_assert_eq!((found.counters, found.algorithm), (expected.counters, expected.algorithm));
            let cells = |found: &Found| found.result.as_ref().ok().map(|path| path.cells().collect::<Vec<_>>());
            prop_assert_eq!(cells(&found), cells(&expected));
        }
    }
}

/// Returns the first segment of a path, the rest of it, and the counters of the search.
fn in_two_segments(grid: &NavGrid, query: PathQuery, slice: u32) -> (Path, Path, SearchCounters) {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    search.start(grid, &pool, query).unwrap();
    let mut first_segment = None;
    while !search.is_finished() {
        search.step(grid, &pool, slice);
        if let Some(found) = search.take_first_segment() {
            assert!(!search.is_finished(), "it is delivered before the search is finished");
            assert!(first_segment.replace(found).is_none(), "there is only one first segment");
        }
    }
    let counters = search.counters();
    (first_segment.unwrap(), search.finish(grid, &pool).unwrap(), counters)
}

#[test]
fn first_segment_and_rest_make_up_the_path_found_without_slicing() {
    let weighted = PatchedMap::new(1_600, 200, WEIGHTED, 3);
    let rule = CornerRule::Allow;
    let hexagons = |map| PatchedMap { topology: Topology::Hexagonal, ..map };
    let rivers = PatchedMap { edges: Edges::Rivers, ..weighted };
    let maps = [weighted, hexagons(weighted), PatchedMap { rule, ..weighted }, rivers];
    let maps = maps.into_iter().chain([PatchedMap { edges: Edges::Scattered, ..weighted }]);
    let maps = maps.chain([hexagons(rivers)]);
    let walled = walled_map();
    let walled_hexagons = walled.clone().with_topology(Topology::Hexagonal);
    for grid in maps.map(|map| map.grid()).chain([walled, walled_hexagons]) {
        let (start, goal) = far_ends(&grid);
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let whole = whole(&grid, query);
        assert_eq!(whole.algorithm, Algorithm::Hierarchical);
        let path = whole.result.unwrap();
        assert!(is_legal_path(&grid, UNIT, &path));
        let best = dijkstra_cost(&grid, UNIT, start, goal).unwrap();
        assert!(is_near(path.cost(), best), "{:?} where {best:?} is best", path.cost());
        for slice in [1, 50] {
            let (first_segment, rest, counters) = in_two_segments(&grid, query, slice);
            assert_eq!((first_segment.start(), rest.end()), (start, goal));
            assert_eq!(
                rest.start(),
                first_segment.end(),
                "the rest starts where the first segment ends"
            );
            assert_eq!(rest.kind(), PathKind::Complete);
            assert!(
                first_segment.steps() > 0 && rest.steps() > first_segment.steps(),
                "the rest is longer"
            );
            assert!(is_legal_path(&grid, UNIT, &first_segment), "the first segment is legal");
            assert!(is_legal_path(&grid, UNIT, &rest), "the rest is legal");
            assert_eq!(first_segment.cost().0 + rest.cost().0, path.cost().0);
            assert_eq!(counters, whole.counters, "in slices of {slice}");
            let cells = first_segment.cells().chain(rest.cells().skip(1));
            assert!(path.cells().eq(cells), "both segments have the cells of the whole path");
        }
    }
}

#[test]
fn a_first_segment_is_delivered_from_1_024_cells_on() {
    let grid = NavGrid::new(1_100, 3, TerrainId(1)).unwrap().with_profiles(vec![profile(WEIGHTED)]);
    for (distance, has_segment) in [(SEGMENT_MIN_DISTANCE - 1, false), (SEGMENT_MIN_DISTANCE, true)]
    {
        let (start, goal) = (Cell::new(2, 1), Cell::new(2 + distance, 1));
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        search.start(&grid, &pool, query).unwrap();
        assert_eq!(search.take_first_segment(), None, "nothing is found before a step");
        search.step(&grid, &pool, u32::MAX);
        assert_eq!(search.take_first_segment().is_some(), has_segment, "over {distance} cells");
        assert_eq!(search.take_first_segment(), None, "it is taken once");
        let rest = search.finish(&grid, &pool).unwrap();
        assert_eq!((rest.start() == start, rest.end()), (!has_segment, goal));
    }
}

#[test]
fn the_hierarchy_is_used_beyond_its_minimum_distance() {
    let width = HIERARCHY_MIN_DISTANCE + 2;
    for (costs, from) in
        [(UNIFORM, HIERARCHY_MIN_DISTANCE), (WEIGHTED, HIERARCHY_MIN_DISTANCE_WEIGHTED)]
    {
        let grid =
            NavGrid::new(width, 3, TerrainId(1)).unwrap().with_profiles(vec![profile(costs)]);
        for (distance, is_long) in [(from, false), (from + 1, true)] {
            let (start, goal) = (Cell::new(0, 1), Cell::new(distance as i32, 1));
            let query = PathQuery::new(start, goal);
            let found = whole(&grid, query.algorithm(Algorithm::Hierarchical));
            let is_hierarchical = found.algorithm == Algorithm::Hierarchical;
            assert_eq!(is_hierarchical, is_long, "{costs:?}, {distance} cells");
            assert_eq!(found.result.unwrap().steps(), distance, "a straight path");
            let auto = whole(&grid, query);
            assert_eq!(auto, whole(&grid, query.algorithm(Algorithm::Exact)), "no obstacles");
        }
    }
}

/// "Optimal to goals up to 2,048 cells away": on weighted terrain, where an exact search is not quick.
#[test]
fn auto_is_optimal_up_to_its_minimum_distance() {
    let mut compared = 0;
    for seed in 0..3 {
        let map = PatchedMap { walls: 10, ..PatchedMap::new(2_060, 300, WEIGHTED, seed) };
        let grid = map.grid();
        let goal = Cell::new(2_057, 150);
        for distance in [1_000, 2_000, HIERARCHY_MIN_DISTANCE as i32] {
            let start = Cell::new(goal.x - distance, 150);
            let Some(best) = dijkstra_cost(&grid, UNIT, start, goal) else {
                continue; // it lies in a wall
            };
            let auto = whole(&grid, PathQuery::new(start, goal));
            assert_eq!(auto.cost(), Some(best), "{distance} cells, seed {seed}");
            assert_ne!(auto.algorithm, Algorithm::Hierarchical, "{distance} cells");
            compared += 1;
        }
    }
    assert!(compared >= 6, "only {compared} paths");
}

#[test]
fn on_short_distances_over_uniform_terrain_hierarchical_is_exact() {
    for seed in 0..12 {
        let map = PatchedMap { walls: 60, ..PatchedMap::new(300, 200, UNIFORM, seed) };
        let grid = map.grid();
        let mut random = Random(seed);
        for _ in 0..5 {
            let picks = (random.below(200), random.below(200));
            let (start, goal) = map.ends(picks, seed % 2 == 0);
            let query = PathQuery::new(start, goal);
            let hierarchical = whole(&grid, query.algorithm(Algorithm::Hierarchical));
            let exact = whole(&grid, query.algorithm(Algorithm::Exact));
            let by_astar = whole(&grid, query.algorithm(Algorithm::AStar));
            assert_ne!(hierarchical.algorithm, Algorithm::Hierarchical);
            assert_eq!(hierarchical, exact, "{start} to {goal}, seed {seed}");
            assert_eq!(exact.cost(), by_astar.cost(), "{start} to {goal}, seed {seed}");
        }
    }
}

/// Seven rivers cross a plain, each with a bridge that is up to 180 rows away: some are worth the detour, others are not.
#[test]
fn long_paths_lead_over_bridges_where_that_is_cheaper_than_a_ford() {
    // They do not jump: jumps would find some of the bridges outside of their corridor.
    for rule in [CornerRule::NoSqueeze, CornerRule::Allow] {
        let profile = Profile::default().corners(rule);
        let mut grid = NavGrid::new(2_400, 400, TerrainId::GROUND)
            .unwrap()
            .with_profiles(vec![profile.with_edge(RIVER, 16 * 100)]);
        let mut edit = grid.edit();
        for river in 1..8 {
            let bridge = 200 + [-180, 60, 30, 140, -40, 10, -100][river as usize - 1];
            for row in (0..400).filter(|&row: &i32| row.abs_diff(bridge) > 2) {
                let cell = Cell::new(300 * river, row);
                edit.set_edge(cell, Direction::East, RIVER).unwrap();
            }
        }
        drop(edit);
        let (start, goal) = far_ends(&grid);
        let query = PathQuery::new(start, goal);
        let best = dijkstra_cost(&grid, UNIT, start, goal).unwrap();
        for algorithm in [Algorithm::Auto, Algorithm::Hierarchical] {
            let found = whole(&grid, query.algorithm(algorithm));
            assert_eq!(found.algorithm, Algorithm::Hierarchical);
            let path = found.result.unwrap();
            assert!(is_legal_path(&grid, UNIT, &path));
            let cost = path.cost();
            assert!(cost.0 * 100 <= best.0 * 103, "{cost:?} where {best:?} is best, {rule:?}");
        }
    }
}

/// Rooms of 7 × 7 cells, with a door in each wall.
fn small_rooms(size: (u32, u32)) -> NavGrid {
    let mut random = Random(3);
    let doors: Vec<u32> = (0..size.0 * size.1 / 32).map(|_| 1 + random.below(7)).collect();
    let is_passable = |x: u32, y: u32| {
        let door = doors[(x / 8 + y / 8 * (size.0 / 8)) as usize];
        match (x % 8, y % 8) {
            (0, at) | (at, 0) => at == door,
            _ => true,
        }
    };
    let cells = (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y)));
    let terrain = cells.map(|(x, y)| u8::from(is_passable(x, y))).collect();
    NavGrid::from_terrain(size.0, size.1, terrain).unwrap()
}

/// The most expansions of an exact search over a long distance before the hierarchy takes over.
const QUICK: u64 = 24_576;

#[test]
fn over_long_distances_auto_is_exact_where_quick_and_hierarchical_elsewhere() {
    let rough = small_rooms((2_400, 500));
    let cases = [(walled_map(), Algorithm::JumpPoint), (rough, Algorithm::Hierarchical)];
    let hexagons =
        |(grid, by): &(NavGrid, _)| (grid.clone().with_topology(Topology::Hexagonal), *by);
    for (grid, by) in cases.iter().map(hexagons).chain(cases.clone()) {
        let (start, goal) = far_ends(&grid);
        let query = PathQuery::new(start, goal);
        let best = dijkstra_cost(&grid, UNIT, start, goal).unwrap();
        let auto = whole(&grid, query);
        assert_eq!(auto.algorithm, by);
        let cost = auto.cost().unwrap();
        assert!(cost.0 * 100 <= best.0 * 103, "{cost:?} where {best:?} is best");
        let exact = whole(&grid, query.algorithm(Algorithm::Exact));
        assert_eq!(exact.algorithm, Algorithm::JumpPoint);
        assert_eq!(exact.counters.expansions <= QUICK, by == Algorithm::JumpPoint);
        assert_eq!(auto == exact, by == Algorithm::JumpPoint);
        let by_astar = whole(&grid, query.algorithm(Algorithm::AStar));
        assert_eq!((exact.cost(), by_astar.cost()), (Some(best), Some(best)));
        for slice in [1, 7, 100] {
            assert_eq!(run::<BucketHeap>(&grid, query, || slice), auto, "in slices of {slice}");
        }
    }
}

#[test]
fn a_goal_that_cannot_be_reached_is_approached_by_an_exact_search() {
    let mut grid = PatchedMap::new(240, 60, WEIGHTED, 8).grid();
    let (start, goal) = far_ends(&grid);
    grid.block(CellRect::new(Cell::new(200, 0), 2, 60)).unwrap();
    let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
    let found = whole(&grid, query.reach(Reach::Nearest));
    assert_ne!(found.algorithm, Algorithm::Hierarchical);
    let path = found.result.unwrap();
    let reached = crate::common::open_distance(&grid, UNIT, path.end(), goal);
    assert_eq!((reached, path.cost()), crate::common::nearest(&grid, UNIT, start, goal));
    assert_eq!(path.kind(), PathKind::Partial);
    assert_eq!(whole(&grid, query).result, Err(PathFailure::NoPath { start, goal }));
}

#[test]
fn any_edit_makes_a_long_search_stale_and_a_restart_fixes_it() {
    let mut grid = PatchedMap::new(1_300, 64, WEIGHTED, 5).grid();
    let (start, goal) = far_ends(&grid);
    let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    for (number, budget) in (0..).zip([0, 1, 40, 400]) {
        search.start(&grid, &pool, query).unwrap();
        assert_eq!(search.algorithm(), Algorithm::Hierarchical);
        search.step(&grid, &pool, budget);
        assert!(!search.is_finished(), "after {budget} expansions");
        assert!(!search.is_stale(&grid), "nothing was edited");
        // A wall far from the searched area, which the path must avoid.
        let low = number % 2 * 20;
        let wall = CellRect::new(Cell::new(1_000 + 20 * number, low), 2, 44);
        grid.block(wall).unwrap();
        assert!(search.is_stale(&grid), "after {budget} expansions");
        search.start(&grid, &pool, query).unwrap();
        assert!(!search.is_stale(&grid), "it was restarted");
        search.step(&grid, &pool, u32::MAX);
        let path = search.finish(&grid, &pool).unwrap();
        assert!(is_legal_path(&grid, UNIT, &path), "on the grid as it is now");
        assert_eq!((path.start(), path.end()), (start, goal));
        let best = dijkstra_cost(&grid, UNIT, start, goal).unwrap();
        assert!(is_near(path.cost(), best), "{:?} where {best:?} is best", path.cost());
    }
}

#[test]
fn a_canceled_long_search_answers_canceled_and_releases_its_memory() {
    // Where corners may be cut, searches do not jump and use pages.
    let map = PatchedMap { rule: CornerRule::NoSqueeze, ..PatchedMap::new(1_600, 64, WEIGHTED, 2) };
    let grid = map.grid();
    let (start, goal) = far_ends(&grid);
    let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    for budget in [1, 100, 300, 2_000] {
        search.start(&grid, &pool, query).unwrap();
        search.step(&grid, &pool, budget);
        assert!(!search.is_finished(), "after {budget} expansions");
        assert_eq!(search.finish(&grid, &pool), Err(PathFailure::Unfinished));
        assert_eq!(pool.free_pages(), pool.pages(), "all pages are released");
        assert_eq!(search.take_first_segment(), None, "no first segment is left over");
        assert_ne!(search.algorithm(), Algorithm::Hierarchical, "it is idle");
    }
    assert!(pool.pages() > 0, "it used some");
}

/// Returns uniform terrain of 2,400 × 640 cells with `blocks` random blocks.
///
/// The canonical path between two cells goes diagonally first, the route over chunks straight first: the
/// corridor around it contains no canonical path, but others of equal cost.
fn wide_map(topology: Topology, rule: CornerRule, blocks: u32) -> NavGrid {
    let mut grid = NavGrid::new(2_400, 640, TerrainId::GROUND)
        .unwrap()
        .with_topology(topology)
        .with_profiles(vec![Profile::default().corners(rule)]);
    let mut random = Random(u64::from(blocks));
    for _ in 0..blocks {
        let corner = Cell::new(100 + random.below(2_200) as i32, random.below(600) as i32);
        grid.block(CellRect::new(corner, 1 + random.below(40), 1 + random.below(40))).unwrap();
    }
    grid
}

/// A search run in steps of one node.
struct SteppedSearch {
    result: Result<Path, PathFailure>,
    /// How often it released all its pages to start another part: once between the first segment and the
    /// rest, and once more where it left the corridor. Never where it jumps.
    cleared: u32,
    /// Steps that spent nothing.
    idle: u32,
}

fn node_by_node(grid: &NavGrid, query: PathQuery) -> SteppedSearch {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    search.start(grid, &pool, query).unwrap();
    assert_eq!(search.algorithm(), Algorithm::Hierarchical);
    let (mut held, mut cleared, mut idle) = (0, 0, 0);
    while !search.is_finished() {
        idle += u32::from(search.step(grid, &pool, 1) == 0);
        let holds = pool.pages() - pool.free_pages();
        cleared += u32::from(holds < held);
        held = holds;
    }
    SteppedSearch { result: search.finish(grid, &pool), cleared, idle }
}

#[test]
fn a_corridor_off_the_canonical_path_contains_a_path_of_similar_cost() {
    use CornerRule::{Allow, Forbid, NoSqueeze};
    let shapes = [
        (Topology::Square, NoSqueeze),
        (Topology::Square, Forbid),
        (Topology::Square, Allow),
        (Topology::Hexagonal, Forbid),
    ];
    let cases = shapes.into_iter().flat_map(|shape| [0, 30, 120].map(|blocks| (shape, blocks)));
    let falling = (Cell::new(0, 639), Cell::new(2_399, 0));
    let rising = (Cell::new(0, 0), Cell::new(2_399, 639));
    for ((shape, blocks), (start, goal)) in cases.flat_map(|case| [(case, rising), (case, falling)])
    {
        let (topology, rule) = shape;
        let case = format!("{shape:?}, {blocks} blocks, from {start}");
        let grid = wide_map(topology, rule, blocks);
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let stepped = node_by_node(&grid, query);
        assert_eq!(stepped.result, whole(&grid, query).result, "{case}: in slices and in one step");
        // A step that spends nothing would mean that the search is stale.
        assert_eq!(stepped.idle, 0, "{case}: every step spends what it was given");
        let cleared = u32::from(rule != Forbid);
        assert_eq!(stepped.cleared, cleared, "{case}: it does not leave its corridor");
        let path = stepped.result.unwrap();
        assert!(is_legal_path(&grid, UNIT, &path), "{case}");
        assert_eq!((path.start(), path.end()), (start, goal), "{case}");
        let best = whole(&grid, query.algorithm(Algorithm::AStar)).cost().unwrap();
        let cost = path.cost();
        assert!(is_near(cost, best), "{case}: {cost:?} where {best:?} is best");
        let is_close = 100 * cost.0 <= 103 * best.0;
        assert!(blocks > 0 || is_close, "{case}: {cost:?} where {best:?} is best");
    }
}
