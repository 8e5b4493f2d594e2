//! Every search against a textbook Dijkstra, on random grids and under random slicing.

use bevy_tilepath::{
    nav::{
        node_pool::NodePool,
        open_list::{BinaryHeap, BucketHeap, OpenList},
        search::{Search, SearchCounters},
    },
    prelude::*,
};
use proptest::prelude::*;

use crate::common::{any_topology, dijkstra_cost, is_legal_path, with_some_edges};

/// Generates a random grid with up to five terrains, and a profile for it.
fn grid_and_profile() -> impl Strategy<Value = NavGrid> {
    let rule =
        prop_oneof![Just(CornerRule::Forbid), Just(CornerRule::NoSqueeze), Just(CornerRule::Allow)];
    let neighborhood = prop_oneof![Just(Neighborhood::Four), Just(Neighborhood::Eight)];
    let costs = prop_oneof![
        Just([16, 16, 16, 16]),
        Just([16, 32, 48, 80]),
        Just([17, 23, 91, 400]),
        Just([5, 5, 5, 5]),
    ];
    let size = (1u32..72, 1u32..72);
    (size, 0u8..55, rule, neighborhood, costs, any::<u64>()).prop_map(
        |((width, height), walls, rule, neighborhood, costs, seed)| {
            let mut random = crate::common::Random(seed);
            let terrain = if random.below(2) == 0 {
                scattered_terrain(width, height, walls, &mut random)
            } else {
                let count = random.below(40);
                crate::common::patched_terrain(
                    (width, height),
                    count,
                    u32::from(walls),
                    &mut random,
                )
            };
            let profile = (1u8..5)
                .zip(costs)
                .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost))
                .corners(rule)
                .neighbors(neighborhood);
            let grid = NavGrid::from_terrain(width, height, terrain).unwrap();
            let grid = grid.with_topology(any_topology(&mut random));
            with_some_edges(grid, vec![profile], &mut random)
        },
    )
}

/// Draws each cell at random.
fn scattered_terrain(
    width: u32,
    height: u32,
    walls: u8,
    random: &mut crate::common::Random,
) -> Vec<u8> {
    let mut terrain =
        || if random.below(100) < u32::from(walls) { 0 } else { 1 + random.below(4) as u8 };
    (0..width * height).map(|_| terrain()).collect()
}

fn run<L: OpenList>(
    grid: &NavGrid,
    query: PathQuery,
    mut budget: impl FnMut() -> u32,
) -> (Result<Path, PathFailure>, SearchCounters) {
    let pool = NodePool::default();
    let mut search = Search::<L>::new();
    if let Err(failure) = search.start(grid, &pool, query) {
        return (Err(failure), SearchCounters::default());
    }
    while !search.is_finished() {
        search.step(grid, &pool, budget());
    }
    let counters = search.counters();
    (search.finish(grid, &pool), counters)
}

fn cells(grid: &NavGrid, picks: (u32, u32)) -> (Cell, Cell) {
    let cell = |pick: u32| {
        let index = pick % (grid.width() * grid.height());
        Cell::new((index % grid.width()) as i32, (index / grid.width()) as i32)
    };
    (cell(picks.0), cell(picks.1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_path_costs_what_dijkstra_finds_and_every_step_is_legal(
        grid in grid_and_profile(),
        picks: (u32, u32),
    ) {
        let (start, goal) = cells(&grid, picks);
        let best = dijkstra_cost(&grid, ProfileId(0), start, goal);
        for algorithm in
            [Algorithm::Auto, Algorithm::AStar, Algorithm::JumpPoint, Algorithm::Dijkstra]
        {
            let query = PathQuery::new(start, goal).algorithm(algorithm);
            let (found, _) = run::<BucketHeap>(&grid, query, || u32::MAX);
            prop_assert_eq!(found.as_ref().ok().map(Path::cost), best);
            let (by_heap, _) = run::<BinaryHeap>(&grid, query, || u32::MAX);
            prop_assert_eq!(by_heap.as_ref().ok().map(Path::cost), best);
            for path in found.iter().chain(&by_heap) {
                prop_assert!(is_legal_path(&grid, ProfileId(0), path));
                prop_assert_eq!((path.start(), path.end()), (start, goal));
            }
        }
    }

    #[test]
    fn slicing_changes_nothing(
        grid in grid_and_profile(),
        picks: (u32, u32),
        budgets in prop::collection::vec(0u32..40, 1..20),
        nearest: bool,
        jumps: bool,
    ) {
        let (start, goal) = cells(&grid, picks);
        let reach = if nearest { Reach::Nearest } else { Reach::Exact };
        let algorithm = if jumps { Algorithm::JumpPoint } else { Algorithm::AStar };
        let query = PathQuery::new(start, goal).reach(reach).algorithm(algorithm);
        let mut slice = 0;
        let sliced = run::<BucketHeap>(&grid, query, || {
            slice += 1;
            budgets[slice % budgets.len()] + u32::from(slice % 7 == 0)
        });
        prop_assert_eq!(run::<BucketHeap>(&grid, query, || u32::MAX), sliced);
    }

    #[test]
    fn nearest_ends_on_the_nearest_reachable_cell_at_the_lowest_cost(
        grid in grid_and_profile(),
        picks: (u32, u32),
    ) {
        let (start, goal) = cells(&grid, picks);
        let query = PathQuery::new(start, goal).reach(Reach::Nearest);
        let (found, _) = run::<BucketHeap>(&grid, query, || u32::MAX);
        if grid.cost(ProfileId(0), start) == 0 {
            prop_assert_eq!(found, Err(PathFailure::StartImpassable(start)));
            return Ok(());
        }
        let best = crate::common::nearest(&grid, ProfileId(0), start, goal);
        let path = found.unwrap();
        let reached = crate::common::open_distance(&grid, ProfileId(0), path.end(), goal);
        prop_assert_eq!((reached, path.cost()), best);
        prop_assert_eq!(path.kind() == PathKind::Complete, path.end() == goal);
    }

    #[test]
    fn cells_share_a_region_exactly_where_a_path_exists(
        grid in grid_and_profile(),
        picks: (u32, u32),
    ) {
        let (start, goal) = cells(&grid, picks);
        let layer = grid.layer(ProfileId(0)).unwrap();
        let region = |cell: Cell| layer.region(cell.x as u32, cell.y as u32);
        let joined = region(start).is_some() && region(start) == region(goal);
        prop_assert_eq!(joined, dijkstra_cost(&grid, ProfileId(0), start, goal).is_some());
    }

    #[test]
    fn edited_layers_equal_rebuilt_ones(
        grid in grid_and_profile(),
        edits in prop::collection::vec(any::<(u32, u8, u8, u8)>(), 1..30),
        ends: (u32, u32),
    ) {
        let mut grid = grid;
        assert!(grid.layer(ProfileId(0)).is_some());
        for (pick, what, width, height) in edits {
            let (at, _) = cells(&grid, (pick, 0));
            let rect = CellRect::new(at, u32::from(width % 6), u32::from(height % 6));
            // Some of these are refused; a refused edit must change nothing.
            match what % 4 {
                0 => grid.set_terrain(at, TerrainId(what / 4 % 5)).unwrap(),
                1 | 2 => drop(grid.block(rect)),
                _ => drop(grid.unblock(rect)),
            }
        }
        prop_assert_eq!(same_as_rebuilt(&grid), Ok(()));
        let (start, goal) = cells(&grid, ends);
        let best = dijkstra_cost(&grid, ProfileId(0), start, goal);
        for algorithm in [Algorithm::JumpPoint, Algorithm::Auto] {
            let query = PathQuery::new(start, goal).algorithm(algorithm);
            let (found, _) = run::<BucketHeap>(&grid, query, || u32::MAX);
            prop_assert_eq!(found.ok().map(|path| path.cost()), best);
        }
    }

    /// Long walls are built and removed: they cut off regions, large and small, and join them again.
    #[test]
    fn regions_split_and_join_as_in_a_rebuilt_layer(
        size in (40u32..220, 40u32..220),
        corners in prop_oneof![Just(CornerRule::Forbid), Just(CornerRule::Allow)],
        walls in prop::collection::vec((any::<u32>(), any::<bool>(), 1u32..200), 1..60),
    ) {
        let profile = Profile::default().corners(corners);
        let mut grid = NavGrid::new(size.0, size.1, TerrainId::GROUND)
            .unwrap()
            .with_profiles(vec![profile]);
        assert!(grid.layer(ProfileId(0)).is_some());
        let mut standing: Vec<CellRect> = Vec::new();
        for (number, (pick, is_horizontal, length)) in walls.into_iter().enumerate() {
            if number % 3 == 2 {
                let wall = standing.swap_remove(pick as usize % standing.len());
                grid.unblock(wall).unwrap();
            } else {
                let (at, _) = cells(&grid, (pick, 0));
                let (width, height) = if is_horizontal { (length, 1) } else { (1, length) };
                let wall = CellRect::new(at, width, height).intersection(grid.rect());
                grid.block(wall).unwrap();
                standing.push(wall);
            }
        }
        prop_assert_eq!(same_as_rebuilt(&grid), Ok(()));
    }
}

#[test]
fn a_grid_redrawn_cell_by_cell_in_one_edit_equals_a_rebuilt_one() {
    let mut grid = NavGrid::new(150, 130, TerrainId::GROUND).unwrap();
    assert!(grid.layer(ProfileId(0)).is_some());
    let mut random = crate::common::Random(5);
    let mut edit = grid.edit();
    for cell in CellRect::new(Cell::new(0, 0), 150, 130).cells() {
        let terrain = if random.below(100) < 30 { TerrainId::VOID } else { TerrainId::GROUND };
        edit.set_terrain(cell, terrain).unwrap();
    }
    drop(edit);
    assert_eq!(same_as_rebuilt(&grid), Ok(()));
    let cells: Vec<Cell> = grid.rect().cells().collect();
    for _ in 0..200 {
        let mut pick = || cells[random.below(cells.len() as u32) as usize];
        let (start, goal) = (pick(), pick());
        let query = PathQuery::new(start, goal).algorithm(Algorithm::JumpPoint);
        let (found, _) = run::<BucketHeap>(&grid, query, || u32::MAX);
        let best = dijkstra_cost(&grid, ProfileId(0), start, goal);
        assert_eq!(found.ok().map(|path| path.cost()), best, "{start} to {goal}");
    }
}

#[test]
fn a_search_whose_goal_is_blocked_stays_stale() {
    let mut grid = NavGrid::new(200, 200, TerrainId::GROUND).unwrap();
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let query = PathQuery::new(Cell::new(0, 0), Cell::new(199, 199)).algorithm(Algorithm::AStar);
    search.start(&grid, &pool, query).unwrap();
    assert_eq!(search.step(&grid, &pool, 1), 1);
    grid.block(CellRect::single(Cell::new(100, 199))).unwrap();
    assert!(!search.is_stale(&grid), "that is elsewhere");
    grid.block(CellRect::single(Cell::new(199, 199))).unwrap();
    assert!(search.is_stale(&grid) && search.is_stale(&grid), "asked twice");
}

#[test]
fn a_search_whose_profile_can_no_longer_jump_is_stale_and_does_not_step() {
    let mut grid = NavGrid::new(60, 60, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(20, 0), 1, 50)).unwrap();
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let query = PathQuery::new(Cell::new(0, 0), Cell::new(59, 0));
    search.start(&grid, &pool, query.algorithm(Algorithm::JumpPoint)).unwrap();
    assert_eq!(search.step(&grid, &pool, 1), 1);
    grid.set_profiles(vec![Profile::default().corners(CornerRule::Allow)]);
    assert!(search.is_stale(&grid));
    assert_eq!(search.step(&grid, &pool, 100), 0);
    assert!(!search.is_finished());
    search.start(&grid, &pool, query).unwrap();
    search.step(&grid, &pool, u32::MAX);
    assert!(search.finish(&grid, &pool).is_ok());
}

/// Returns whether the layer equals a rebuilt one: the same cells passable, the same cells connected.
fn same_as_rebuilt(grid: &NavGrid) -> Result<(), String> {
    let fresh = grid.clone().with_profiles(grid.profiles().to_vec());
    let (old, new) = (grid.layer(ProfileId(0)).unwrap(), fresh.layer(ProfileId(0)).unwrap());
    if old.region_count() != new.region_count() {
        return Err(format!("{} regions, not {}", old.region_count(), new.region_count()));
    }
    let mut numbers = std::collections::BTreeMap::new();
    for cell in grid.rect().cells() {
        let (x, y) = (cell.x as u32, cell.y as u32);
        if old.is_passable(x, y) != new.is_passable(x, y) {
            return Err(format!("{cell} is passable: {}", old.is_passable(x, y)));
        }
        // Region numbers may differ, but must map one to one.
        let number = *numbers.entry(new.region(x, y)).or_insert(old.region(x, y));
        if number != old.region(x, y) {
            return Err(format!("{cell} is in region {:?}, not {number:?}", old.region(x, y)));
        }
    }
    if numbers.values().collect::<std::collections::BTreeSet<_>>().len() != numbers.len() {
        return Err("two regions have the same number".into());
    }
    Ok(())
}

/// Counts expansions, so that a change of the algorithm shows up.
#[test]
fn an_open_grid_is_crossed_without_superfluous_expansions() {
    let grid = NavGrid::new(100, 100, TerrainId::GROUND).unwrap();
    let query = PathQuery::new(Cell::new(5, 5), Cell::new(90, 40));
    let (path, counters) = run::<BucketHeap>(&grid, query.algorithm(Algorithm::AStar), || u32::MAX);
    assert_eq!(counters.expansions, 86, "straight to the goal, one node per step");
    assert_eq!(path.unwrap().steps(), 85);
    let (path, counters) = run::<BucketHeap>(&grid, query, || u32::MAX);
    assert_eq!(counters.expansions, 1, "one jump");
    assert_eq!(path.unwrap().steps(), 85);
}
