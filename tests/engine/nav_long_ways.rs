//! Long ways: searches over chunks first and over cells then, against a textbook Dijkstra, whole, in
//! slices and in two parts.

use bevy_tilepath::{
    nav::{
        node_pool::NodePool,
        open_list::{BinaryHeap, BucketHeap, OpenList},
        search::{HIERARCHY_MIN_DISTANCE, HIERARCHY_MIN_DISTANCE_WEIGHTED, Search, SearchCounters},
    },
    prelude::*,
};
use proptest::prelude::*;

use crate::common::{Random, dijkstra_cost, is_legal_path};

const UNIT: ProfileId = ProfileId(0);
/// Costs of terrains 1 to 4: of one, two, three and five plain cells, or all the same.
const MIXED: [u16; 4] = [16, 32, 48, 80];
const UNIFORM: [u16; 4] = [16; 4];
/// Distance from which the beginning of a way is found apart.
const APART_FROM: i32 = 1_024;

/// A world of patches, told by a few numbers. Columns at both ends are plain ground.
#[derive(Clone, Copy, Debug)]
struct World {
    width: u32,
    height: u32,
    costs: [u16; 4],
    /// So many of a hundred patches are walls.
    walls: u32,
    /// Whether a wall from end to end stands in the middle.
    is_split: bool,
    rule: CornerRule,
    neighborhood: Neighborhood,
    seed: u64,
}

impl World {
    fn new(width: u32, height: u32, costs: [u16; 4], seed: u64) -> Self {
        let (walls, is_split) = (25, false);
        let (rule, neighborhood) = (CornerRule::Forbid, Neighborhood::Eight);
        Self { width, height, costs, walls, is_split, rule, neighborhood, seed }
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
        NavGrid::from_terrain(self.width, self.height, terrain)
            .unwrap()
            .with_profiles(vec![profile])
    }

    /// Whether components are joined by straight steps: where they are not, there is no hierarchy.
    fn has_hierarchy(&self) -> bool {
        self.rule != CornerRule::Allow || self.neighborhood == Neighborhood::Four
    }

    /// A cell near each end, farther apart than a long way over mixed ground.
    fn ends(&self, picks: (u32, u32), is_turned: bool) -> (Cell, Cell) {
        let cell = |x: u32, pick: u32| Cell::new(x as i32, (pick % self.height) as i32);
        let (west, east) = (cell(1, picks.0), cell(self.width - 2, picks.1));
        if is_turned { (east, west) } else { (west, east) }
    }
}

fn profile(costs: [u16; 4]) -> Profile {
    (1u8..5)
        .zip(costs)
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost))
}

/// Patches over about half of the ground.
fn patched_terrain(width: u32, height: u32, walls: u32, random: &mut Random) -> Vec<u8> {
    crate::common::patched_terrain((width, height), width * height / 90, walls, random)
}

/// Uniform ground of 2,400 × 96 cells with a wall every 40 columns, each with a gap somewhere.
fn walled_world() -> NavGrid {
    let mut grid = NavGrid::new(2_400, 96, TerrainId::GROUND).unwrap();
    let mut random = Random(11);
    for x in (40..2_400).step_by(40) {
        let gap = 1 + random.below(90);
        grid.block(CellRect::new(Cell::new(x, 0), 1, gap)).unwrap();
        grid.block(CellRect::new(Cell::new(x, gap as i32 + 5), 1, 96 - gap - 5)).unwrap();
    }
    grid
}

/// A cell at each end of a world that is connected.
fn far_ends(grid: &NavGrid) -> (Cell, Cell) {
    let row = grid.height() as i32 / 2;
    let (start, goal) = (Cell::new(1, row), Cell::new(grid.width() as i32 - 2, row));
    let island = grid.region(UNIT, start);
    assert!(island.is_some() && island == grid.region(UNIT, goal), "the world is connected");
    (start, goal)
}

/// What came of a search.
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
        let goes_on = spent > 0 || budget == 0 || search.is_finished();
        assert!(goes_on, "nothing spent: that would mean that it must be started anew");
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

/// Whether a cost is no less than the best one and at most half as much again.
fn is_near(cost: PathCost, best: PathCost) -> bool {
    best <= cost && 2 * cost.0 <= 3 * best.0
}

fn mixed_worlds() -> impl Strategy<Value = World> {
    let rule =
        prop_oneof![Just(CornerRule::Forbid), Just(CornerRule::NoSqueeze), Just(CornerRule::Allow)];
    let neighborhood = prop_oneof![Just(Neighborhood::Four), Just(Neighborhood::Eight)];
    let walls = (0u32..40, prop::bool::weighted(0.1));
    let size = (100u32..260, 40u32..200);
    (size, walls, rule, neighborhood, any::<u64>()).prop_map(
        |((width, height), (walls, is_split), rule, neighborhood, seed)| {
            let world = World::new(width, height, MIXED, seed);
            World { walls, is_split, rule, neighborhood, ..world }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn a_long_way_is_found_exactly_where_there_is_one_and_is_hardly_dearer_than_the_best(
        world in mixed_worlds(),
        picks: (u32, u32),
        is_turned: bool,
    ) {
        let grid = world.grid();
        let (start, goal) = world.ends(picks, is_turned);
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
            let is_hierarchical = found.algorithm == Algorithm::Hierarchical;
            prop_assert_eq!(is_hierarchical, world.has_hierarchy());
            prop_assert!(is_hierarchical || cost == best, "what is exact is the best");
        }
    }

    #[test]
    fn slicing_changes_nothing(
        world in mixed_worlds(),
        picks: (u32, u32),
        budgets in prop::collection::vec(0u32..200, 1..20),
    ) {
        let grid = world.grid();
        let (start, goal) = world.ends(picks, false);
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let mut turn = 0;
        let sliced = run::<BucketHeap>(&grid, query, || {
            turn += 1;
            budgets[turn % budgets.len()] + u32::from(turn % 7 == 0)
        });
        prop_assert_eq!(sliced, whole(&grid, query));
    }
}

/// The beginning of a way, the rest of it, and what finding both took.
fn in_two_parts(grid: &NavGrid, query: PathQuery, slice: u32) -> (Path, Path, SearchCounters) {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    search.start(grid, &pool, query).unwrap();
    let mut stretch = None;
    while !search.is_finished() {
        search.step(grid, &pool, slice);
        if let Some(found) = search.take_first_segment() {
            assert!(!search.is_finished(), "it is known before the search is finished");
            assert!(stretch.replace(found).is_none(), "there is only one beginning");
        }
    }
    let counters = search.counters();
    (stretch.unwrap(), search.finish(grid, &pool).unwrap(), counters)
}

#[test]
fn a_beginning_and_the_rest_make_up_the_way_that_is_found_at_once() {
    let mixed = World::new(1_600, 200, MIXED, 3).grid();
    for grid in [mixed, walled_world()] {
        let (start, goal) = far_ends(&grid);
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let whole = whole(&grid, query);
        assert_eq!(whole.algorithm, Algorithm::Hierarchical);
        let path = whole.result.unwrap();
        assert!(is_legal_path(&grid, UNIT, &path));
        let best = dijkstra_cost(&grid, UNIT, start, goal).unwrap();
        assert!(is_near(path.cost(), best), "{:?} where {best:?} is best", path.cost());
        for slice in [1, 50] {
            let (stretch, rest, counters) = in_two_parts(&grid, query, slice);
            assert_eq!((stretch.start(), rest.end()), (start, goal));
            assert_eq!(rest.start(), stretch.end(), "the rest begins where the beginning ends");
            assert_eq!(rest.kind(), PathKind::Complete);
            assert!(stretch.steps() > 0 && rest.steps() > stretch.steps(), "it is a beginning");
            assert!(is_legal_path(&grid, UNIT, &stretch), "the beginning is legal");
            assert!(is_legal_path(&grid, UNIT, &rest), "the rest is legal");
            assert_eq!(stretch.cost().0 + rest.cost().0, path.cost().0);
            assert_eq!(counters, whole.counters, "in slices of {slice}");
            let cells = stretch.cells().chain(rest.cells().skip(1));
            assert!(path.cells().eq(cells), "both parts go over the cells of the whole");
        }
    }
}

#[test]
fn a_beginning_is_found_apart_from_1_024_cells_on() {
    let grid = NavGrid::new(1_100, 3, TerrainId(1)).unwrap().with_profiles(vec![profile(MIXED)]);
    for (distance, is_apart) in [(APART_FROM - 1, false), (APART_FROM, true)] {
        let (start, goal) = (Cell::new(2, 1), Cell::new(2 + distance, 1));
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        search.start(&grid, &pool, query).unwrap();
        assert_eq!(search.take_first_segment(), None, "nothing is known before a step");
        search.step(&grid, &pool, u32::MAX);
        assert_eq!(search.take_first_segment().is_some(), is_apart, "over {distance} cells");
        assert_eq!(search.take_first_segment(), None, "it is taken once");
        let rest = search.finish(&grid, &pool).unwrap();
        assert_eq!((rest.start() == start, rest.end()), (!is_apart, goal));
    }
}

#[test]
fn ways_count_as_long_from_the_distance_that_is_said() {
    let width = HIERARCHY_MIN_DISTANCE + 2;
    for (costs, from) in
        [(UNIFORM, HIERARCHY_MIN_DISTANCE), (MIXED, HIERARCHY_MIN_DISTANCE_WEIGHTED)]
    {
        let grid =
            NavGrid::new(width, 3, TerrainId(1)).unwrap().with_profiles(vec![profile(costs)]);
        for (distance, is_long) in [(from - 1, false), (from, true)] {
            let (start, goal) = (Cell::new(0, 1), Cell::new(distance as i32, 1));
            let query = PathQuery::new(start, goal);
            let found = whole(&grid, query.algorithm(Algorithm::Hierarchical));
            let is_hierarchical = found.algorithm == Algorithm::Hierarchical;
            assert_eq!(is_hierarchical, is_long, "{costs:?}, {distance} cells");
            assert_eq!(found.result.unwrap().steps(), distance, "straight on");
            let auto = whole(&grid, query);
            assert_eq!(
                auto,
                whole(&grid, query.algorithm(Algorithm::Exact)),
                "nothing is in the way"
            );
        }
    }
}

#[test]
fn short_of_a_long_way_on_uniform_ground_hierarchical_is_exact() {
    for seed in 0..12 {
        let world = World { walls: 60, ..World::new(300, 200, UNIFORM, seed) };
        let grid = world.grid();
        let mut random = Random(seed);
        for _ in 0..5 {
            let picks = (random.below(200), random.below(200));
            let (start, goal) = world.ends(picks, seed % 2 == 0);
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

/// Most expansions of an exact search over a long way that is not left to the hierarchy.
const QUICK: u64 = 1_536;

#[test]
fn over_long_ways_auto_is_exact_where_that_is_quick_and_hierarchical_elsewhere() {
    let rough = World { walls: 60, ..World::new(2_400, 300, UNIFORM, 5) }.grid();
    for (grid, by) in [(walled_world(), Algorithm::JumpPoint), (rough, Algorithm::Hierarchical)] {
        let (start, goal) = far_ends(&grid);
        let query = PathQuery::new(start, goal);
        let best = dijkstra_cost(&grid, UNIT, start, goal).unwrap();
        let auto = whole(&grid, query);
        assert_eq!(auto.algorithm, by);
        assert!(is_near(auto.cost().unwrap(), best), "{:?} where {best:?} is best", auto.cost());
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
    let mut grid = World::new(240, 60, MIXED, 8).grid();
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
fn an_edit_anywhere_makes_a_long_search_stale_and_a_start_makes_it_right() {
    let mut grid = World::new(1_300, 64, MIXED, 5).grid();
    let (start, goal) = far_ends(&grid);
    let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    for (number, budget) in (0..).zip([0, 1, 40, 400]) {
        search.start(&grid, &pool, query).unwrap();
        assert_eq!(search.algorithm(), Algorithm::Hierarchical);
        search.step(&grid, &pool, budget);
        assert!(!search.is_finished(), "after {budget} expansions");
        assert!(!search.is_stale(&grid), "nothing was edited");
        // A wall far from where it has looked, which must be gone around.
        let low = number % 2 * 20;
        let wall = CellRect::new(Cell::new(1_000 + 20 * number, low), 2, 44);
        grid.block(wall).unwrap();
        assert!(search.is_stale(&grid), "after {budget} expansions");
        search.start(&grid, &pool, query).unwrap();
        assert!(!search.is_stale(&grid), "it was started anew");
        search.step(&grid, &pool, u32::MAX);
        let path = search.finish(&grid, &pool).unwrap();
        assert!(is_legal_path(&grid, UNIT, &path), "on the grid as it is now");
        assert_eq!((path.start(), path.end()), (start, goal));
        let best = dijkstra_cost(&grid, UNIT, start, goal).unwrap();
        assert!(is_near(path.cost(), best), "{:?} where {best:?} is best", path.cost());
    }
}

#[test]
fn a_long_search_given_up_halfway_answers_canceled_and_gives_its_memory_back() {
    // Where corners may be cut, searches do not jump: they take pages.
    let world = World { rule: CornerRule::NoSqueeze, ..World::new(1_600, 64, MIXED, 2) };
    let grid = world.grid();
    let (start, goal) = far_ends(&grid);
    let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    for budget in [1, 100, 300, 2_000] {
        search.start(&grid, &pool, query).unwrap();
        search.step(&grid, &pool, budget);
        assert!(!search.is_finished(), "after {budget} expansions");
        assert_eq!(search.finish(&grid, &pool), Err(PathFailure::Canceled));
        assert_eq!(pool.free_pages(), pool.pages(), "all pages are back");
        assert_eq!(search.take_first_segment(), None, "no beginning is left over");
        assert_ne!(search.algorithm(), Algorithm::Hierarchical, "it is at rest");
    }
    assert!(pool.pages() > 0, "it took some");
}

/// Uniform ground of 2,400 × 640 cells with so many blocks on it.
///
/// The canonical way between two cells goes diagonally first, the route over chunks straight first: the
/// corridor around it holds no canonical way, but others that are as good.
fn wide_world(rule: CornerRule, blocks: u32) -> NavGrid {
    let mut grid = NavGrid::new(2_400, 640, TerrainId::GROUND)
        .unwrap()
        .with_profiles(vec![Profile::default().corners(rule)]);
    let mut random = Random(u64::from(blocks));
    for _ in 0..blocks {
        let corner = Cell::new(100 + random.below(2_200) as i32, random.below(600) as i32);
        grid.block(CellRect::new(corner, 1 + random.below(40), 1 + random.below(40))).unwrap();
    }
    grid
}

/// A search run node by node.
struct Slow {
    result: Result<Path, PathFailure>,
    /// How often it gave all its pages back to begin another part: once between the beginning and the
    /// rest, and once more where it left the corridor. Never where it jumps.
    cleared: u32,
    /// Steps in which it spent nothing.
    idle: u32,
}

fn node_by_node(grid: &NavGrid, query: PathQuery) -> Slow {
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
    Slow { result: search.finish(grid, &pool), cleared, idle }
}

#[test]
fn a_corridor_off_the_canonical_way_holds_a_way_that_is_hardly_dearer() {
    for (rule, blocks) in [
        (CornerRule::NoSqueeze, 0),
        (CornerRule::NoSqueeze, 30),
        (CornerRule::NoSqueeze, 120),
        (CornerRule::Forbid, 0),
        (CornerRule::Forbid, 30),
        (CornerRule::Forbid, 120),
    ] {
        let about = format!("{rule:?}, {blocks} blocks");
        let grid = wide_world(rule, blocks);
        let (start, goal) = (Cell::new(0, 0), Cell::new(2_399, 639));
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        let slow = node_by_node(&grid, query);
        assert_eq!(slow.result, whole(&grid, query).result, "{about}: in slices and at once");
        // 0 would mean that it must be started anew.
        assert_eq!(slow.idle, 0, "{about}: every step spends what it was given");
        let cleared = u32::from(rule == CornerRule::NoSqueeze);
        assert_eq!(slow.cleared, cleared, "{about}: it need not leave its corridor");
        let path = slow.result.unwrap();
        assert!(is_legal_path(&grid, UNIT, &path), "{about}");
        assert_eq!((path.start(), path.end()), (start, goal), "{about}");
        let best = whole(&grid, query.algorithm(Algorithm::AStar)).cost().unwrap();
        let cost = path.cost();
        assert!(is_near(cost, best), "{about}: {cost:?} where {best:?} is best");
        let is_close = 100 * cost.0 <= 103 * best.0;
        assert!(blocks > 0 || is_close, "{about}: {cost:?} where {best:?} is best");
    }
}
