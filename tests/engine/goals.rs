//! Goals of more than one cell: rectangles, the cells beside them and within a distance, and lists of goals,
//! compared with a scan of every cell of the grid.

use bevy_tilepath::{
    nav::{
        node_pool::NodePool,
        open_list::{BinaryHeap, BucketHeap, OpenList},
        search::{Search, SearchCounters},
    },
    prelude::*,
};
use proptest::prelude::*;

use crate::common::{
    Random, any_topology, covered, crossing_cost, dijkstra, is_legal_path, with_some_edges,
};

const UNIT: ProfileId = ProfileId(0);
/// The profile for lines of sight.
const SHOT: ProfileId = ProfileId(1);
const UNIFORM: [u16; 4] = [16; 4];
const WEIGHTED: [u16; 4] = [16, 32, 48, 80];
const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::Auto,
    Algorithm::Exact,
    Algorithm::AStar,
    Algorithm::JumpPoint,
    Algorithm::Dijkstra,
    Algorithm::Hierarchical,
];

fn profile(costs: [u16; 4]) -> Profile {
    (1u8..5)
        .zip(costs)
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost))
}

/// Returns the profile of shots: everything but walls and terrain 4 is passable.
fn shot() -> Profile {
    (1u8..4).fold(Profile::new(), |profile, id| profile.with(TerrainId(id), Profile::PLAIN_COST))
}

/// Generates small grids for units of 1 × 1 to 3 × 3 cells.
fn small_grids() -> impl Strategy<Value = NavGrid> {
    let rule =
        prop_oneof![Just(CornerRule::Forbid), Just(CornerRule::NoSqueeze), Just(CornerRule::Allow)];
    let neighborhood = prop_oneof![Just(Neighborhood::Four), Just(Neighborhood::Eight)];
    let costs = prop_oneof![Just(UNIFORM), Just(WEIGHTED), Just([17, 23, 91, 400]), Just([5; 4])];
    let size = (1u32..40, 1u32..40);
    (size, 0u32..45, rule, neighborhood, costs, 1u8..4, any::<u64>()).prop_map(
        |((width, height), walls, rule, neighborhood, costs, unit, seed)| {
            let mut random = Random(seed);
            let terrain = if random.below(2) == 0 {
                // Large units need more room.
                let walls = walls / (u32::from(unit) * u32::from(unit));
                let mut cell = || match random.below(100) < walls {
                    true => 0,
                    false => 1 + random.below(4) as u8,
                };
                (0..width * height).map(|_| cell()).collect()
            } else {
                let count = random.below(30);
                crate::common::patched_terrain((width, height), count, walls, &mut random)
            };
            let unit = profile(costs).corners(rule).neighbors(neighborhood).size(unit);
            let grid = NavGrid::from_terrain(width, height, terrain).unwrap();
            let grid = grid.with_topology(any_topology(&mut random));
            with_some_edges(grid, vec![unit, shot()], &mut random)
        },
    )
}

/// Returns a random cell, preferably passable: up to 20 draws.
fn start_on(grid: &NavGrid, random: &mut Random) -> Cell {
    let mut cell = Cell::default();
    for _ in 0..20 {
        let (x, y) = (random.below(grid.width()), random.below(grid.height()));
        cell = Cell::new(x as i32, y as i32);
        if grid.cost(UNIT, cell) > 0 {
            break;
        }
    }
    cell
}

/// Returns a random goal on the grid, or up to three cells outside.
fn goal_near(grid: &NavGrid, random: &mut Random) -> Goal {
    let mut coordinate = |side: u32| random.below(side + 6) as i32 - 3;
    let cell = Cell::new(coordinate(grid.width()), coordinate(grid.height()));
    let (width, height) = (1 + random.below(5), 1 + random.below(5));
    let cells = random.below(8) as u16;
    let area = CellRect::new(cell, width, height);
    let radius = if random.below(3) == 0 { random.below(4) as u16 } else { 0 };
    let goal = match random.below(6) {
        0 => Goal::from(cell),
        1 => Goal::from(area),
        2 | 3 => Goal::beside(area),
        4 => Goal::within(area, cells),
        _ => Goal::in_sight(area, cells, SHOT),
    };
    goal.around(radius)
}

/// Returns the cells of a goal: its area, on squares with those around it that belong to it.
fn area_of(grid: &NavGrid, goal: &Goal) -> CellRect {
    match grid.topology() {
        Topology::Square => {
            let (more, CellRect { min, width, height }) = (u32::from(goal.radius), goal.area);
            let min = min.offset(-(more as i32), -(more as i32));
            CellRect::new(min, width + 2 * more, height + 2 * more)
        }
        Topology::Hexagonal => goal.area,
    }
}

/// The profile that has to see a goal, if any has.
fn sight_of(goal: &Goal) -> Option<ProfileId> {
    match goal.approach {
        Approach::InSight { through, .. } => Some(through),
        _ => None,
    }
}

/// Returns whether a path may end on a cell, by trying every pair of a cell that the unit covers there and a
/// cell of the goal.
fn may_end(grid: &NavGrid, goal: &Goal, at: Cell) -> bool {
    if grid.cost(UNIT, at) == 0 || !is_on_grid(grid, goal) {
        return false;
    }
    if grid.topology() == Topology::Hexagonal {
        return may_end_on_hexagons(grid, goal, at);
    }
    let side = u32::from(grid.profiles()[0].unit_size());
    let area = area_of(grid, goal);
    let targets: Vec<Cell> = area.cells().filter(|&cell| grid.terrain(cell).is_some()).collect();
    let targets = targets.as_slice();
    let covered = move || CellRect::new(at, side, side).cells();
    let pairs = move || covered().flat_map(move |own| targets.iter().map(move |&cell| (own, cell)));
    let apart = |a: Cell, b: Cell| (a.x.abs_diff(b.x), a.y.abs_diff(b.y));
    match goal.approach {
        Approach::Onto => targets.contains(&at),
        Approach::Beside => {
            let has_corners = grid.profiles()[0].neighborhood() == Neighborhood::Eight;
            let touches = |(a, b): (Cell, Cell)| {
                let (dx, dy) = apart(a, b);
                if has_corners { dx.max(dy) == 1 } else { dx + dy == 1 }
            };
            pairs().any(touches) && pairs().all(|(a, b)| a != b)
        }
        Approach::Within { cells } | Approach::InSight { cells, .. } => {
            let distance = |(a, b): (Cell, Cell)| {
                let (dx, dy) = apart(a, b);
                dx * dx + dy * dy
            };
            let nearest = pairs().min_by_key(|&(a, b)| (distance((a, b)), a.y, a.x, b.y, b.x));
            nearest.is_some_and(|(a, b)| {
                let is_near = distance((a, b)) <= u32::from(cells) * u32::from(cells);
                is_near
                    && sight_of(goal).is_none_or(|profile| has_line_of_sight(grid, profile, a, b))
            })
        }
    }
}

/// The same on hexagons. Sight goes from the anchor to the cell of the area whose column and row are nearest to that; if this is
/// off the grid, as near to the nearest cell on the grid as the goal reaches around that.
fn may_end_on_hexagons(grid: &NavGrid, goal: &Goal, at: Cell) -> bool {
    let targets = || goal.area.cells();
    let own = covered(grid.topology(), grid.unit_size(UNIT), at);
    let pairs = targets().flat_map(|cell| own.clone().map(move |own| own.hexagonal_distance(cell)));
    let apart = |cell: &Cell| (cell.x.abs_diff(at.x), cell.y.abs_diff(at.y));
    let (Some(steps), Some(nearest)) = (pairs.min(), targets().min_by_key(apart)) else {
        return false;
    };
    let radius = u32::from(goal.radius);
    let is_near = |cells: u16| steps <= u32::from(cells) + radius;
    match goal.approach {
        Approach::Onto => targets().any(|cell| cell.hexagonal_distance(at) <= radius),
        Approach::Beside => steps == 1 + radius,
        Approach::Within { cells } => is_near(cells),
        Approach::InSight { cells, through } => {
            let length = |cell: &Cell| {
                let (dx, dy) = (cell.x - at.x, cell.y - at.y);
                (dx * dx + dy * dy + dx * dy, cell.y, cell.x)
            };
            let middle = on_grid(grid, nearest);
            let radius = radius - middle.hexagonal_distance(nearest);
            let around = covered(grid.topology(), 1 + radius, middle);
            let seen = around.min_by_key(length).unwrap();
            is_near(cells) && crate::hexagons::has_line_of_sight(grid, through, at, seen)
        }
    }
}

/// Returns whether the line between two cells is free, by trying every cell and every corner of the rectangle
/// they span.
fn has_line_of_sight(grid: &NavGrid, profile: ProfileId, a: Cell, b: Cell) -> bool {
    let is_free = |x, y| grid.cost(profile, Cell::new(x, y)) > 0;
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    // On which side of the line a point lies, in half cells from the center of `a`.
    let side = |x: i32, y: i32| (dx * y - dy * x).signum();
    let (left, right) = (a.x.min(b.x), a.x.max(b.x));
    let (low, high) = (a.y.min(b.y), a.y.max(b.y));
    let is_crossed = |x: i32, y: i32| {
        let (across, up) = (2 * (x - a.x), 2 * (y - a.y));
        let corners =
            [(-1, -1), (1, -1), (-1, 1), (1, 1)].map(|(dx, dy)| side(across + dx, up + dy));
        let is_inside = (left..=right).contains(&x) && (low..=high).contains(&y);
        is_inside && corners.contains(&1) && corners.contains(&-1)
    };
    let is_open = |a: (i32, i32), b: (i32, i32)| {
        crossing_cost(grid, profile, Cell::from(a), Cell::from(b)).is_some()
    };
    for y in low..=high {
        for x in left..=right {
            let is_between = Cell::new(x, y) != a && Cell::new(x, y) != b;
            if is_crossed(x, y) && is_between && !is_free(x, y) {
                return false;
            }
            let beside = [(x + 1, y), (x, y + 1)].into_iter();
            let mut crossed = beside.filter(|&to| is_crossed(x, y) && is_crossed(to.0, to.1));
            if crossed.any(|to| !is_open((x, y), to)) {
                return false;
            }
        }
    }
    let is_rising = (dx > 0) == (dy > 0);
    let is_shut = |x: i32, y: i32| {
        let one = [(x, y + 1), (x + 1, y)];
        let other = [(x, y), (x + 1, y + 1)];
        let (beside, ends) = if is_rising { (one, other) } else { (other, one) };
        !beside
            .into_iter()
            .any(|way| is_free(way.0, way.1) && ends.into_iter().all(|end| is_open(end, way)))
    };
    // The corners above and to the right of cells that lie between both centers.
    (low..high).all(|y| {
        (left..right).all(|x| {
            let is_touched = side(2 * (x - a.x) + 1, 2 * (y - a.y) + 1) == 0;
            !(is_touched && is_shut(x, y))
        })
    })
}

/// Returns whether a cell of the goal is on the grid, of its area or of those around it that belong to it.
fn is_on_grid(grid: &NavGrid, goal: &Goal) -> bool {
    let size = match grid.topology() {
        Topology::Square => 1,
        Topology::Hexagonal => 1 + u32::from(goal.radius),
    };
    let mut cells =
        area_of(grid, goal).cells().flat_map(|cell| covered(grid.topology(), size, cell));
    cells.any(|cell| grid.terrain(cell).is_some())
}

/// Returns the cell of the grid, which begins at (0, 0), whose column and row are nearest to those of a cell.
fn on_grid(grid: &NavGrid, cell: Cell) -> Cell {
    let (right, top) = (grid.width() as i32 - 1, grid.height() as i32 - 1);
    Cell::new(cell.x.clamp(0, right), cell.y.clamp(0, top))
}

/// Returns the cost of the cheapest path to an end cell, by trying all cells, or the reason why there is
/// none.
fn cheapest(grid: &NavGrid, start: Cell, goals: &[Goal]) -> Result<PathCost, PathFailure> {
    if grid.cost(UNIT, start) == 0 {
        return Err(PathFailure::StartImpassable(start));
    }
    let costs = dijkstra(grid, UNIT, start);
    let is_end = |cell: Cell| goals.iter().any(|goal| may_end(grid, goal, cell));
    let end_costs: Vec<Option<u64>> = grid
        .rect()
        .cells()
        .zip(costs)
        .filter(|&(cell, _)| is_end(cell))
        .map(|(_, cost)| cost)
        .collect();
    let goal = goals[0].cell();
    match end_costs.iter().flatten().min() {
        Some(&best) => Ok(PathCost(best)),
        None if !goals.iter().any(|goal| is_on_grid(grid, goal)) => {
            Err(PathFailure::GoalOutOfBounds(goal))
        }
        None if end_costs.is_empty() => Err(PathFailure::GoalImpassable(goal)),
        None => Err(PathFailure::NoPath { start, goal }),
    }
}

fn query(start: Cell, goal: Goal) -> PathQuery {
    PathQuery::new(start, goal)
}

/// The result of a search and its counters.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    result: Result<Path, PathFailure>,
    counters: SearchCounters,
}

/// Searches a path to any of the goals.
fn run<L: OpenList>(
    grid: &NavGrid,
    (start, goals): (Cell, &[Goal]),
    change: impl FnOnce(PathQuery) -> PathQuery,
    mut budget: impl FnMut() -> u32,
) -> Found {
    let (pool, mut search) = (NodePool::default(), Search::<L>::new());
    let query_to_start = change(query(start, goals[0]));
    let started = search.start_any(grid, &pool, query_to_start, &goals[1..]);
    while !search.is_finished() {
        let budget = budget();
        let spent = search.step(grid, &pool, budget);
        // One line of sight may exceed the budget.
        assert!(spent <= budget.saturating_add(10), "{spent} of {budget} spent");
        let makes_progress = spent > 0 || budget == 0 || search.is_finished();
        assert!(makes_progress, "a step that spends nothing would mean that the search is stale");
    }
    let counters = search.counters();
    let result = started.and_then(|()| search.finish(grid, &pool));
    search.stop(&pool);
    assert_eq!(pool.free_pages(), pool.pages(), "all pages are released");
    Found { result, counters }
}

fn whole(grid: &NavGrid, start: Cell, goals: &[Goal], algorithm: Algorithm) -> Found {
    run::<BucketHeap>(grid, (start, goals), |query| query.algorithm(algorithm), || u32::MAX)
}

fn assert_is_right(
    grid: &NavGrid,
    start: Cell,
    goals: &[Goal],
    found: &Result<Path, PathFailure>,
    best: Result<PathCost, PathFailure>,
) {
    assert_eq!(found.as_ref().map(Path::cost), best.as_ref().copied(), "{start} to {goals:?}");
    let Ok(path) = found else {
        return;
    };
    assert_eq!((path.start(), path.kind()), (start, PathKind::Complete));
    assert!(is_legal_path(grid, UNIT, path), "{path:?}");
    assert!(goals.iter().any(|goal| may_end(grid, goal, path.end())), "{path:?} to {goals:?}");
    assert!(goals.iter().any(|goal| goal.admits(grid, UNIT, path.end())), "{path:?}");
}

/// Returns a random start and up to three goals.
fn task(grid: &NavGrid, seed: u64) -> (Cell, Vec<Goal>) {
    let mut random = Random(seed);
    let start = start_on(grid, &mut random);
    let count = 1 + random.below(3);
    (start, (0..count).map(|_| goal_near(grid, &mut random)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_path_is_the_cheapest_to_any_admitted_cell(grid in small_grids(), seed: u64) {
        let (start, goals) = task(&grid, seed);
        let best = cheapest(&grid, start, &goals);
        for algorithm in ALGORITHMS {
            let change = |query: PathQuery| query.algorithm(algorithm);
            let found = run::<BucketHeap>(&grid, (start, &goals[..]), change, || u32::MAX);
            assert_is_right(&grid, start, &goals, &found.result, best);
            let found = run::<BinaryHeap>(&grid, (start, &goals[..]), change, || u32::MAX);
            assert_is_right(&grid, start, &goals, &found.result, best);
        }
    }

    #[test]
    fn a_goal_admits_exactly_the_cells_near_enough(grid in small_grids(), seed: u64) {
        let (_, goals) = task(&grid, seed);
        for goal in goals {
            for cell in grid.rect().cells() {
                let is_admitted = goal.admits(&grid, UNIT, cell);
                prop_assert!(is_admitted == may_end(&grid, &goal, cell), "{cell} {goal:?}");
            }
            prop_assert!(!goal.admits(&grid, UNIT, Cell::new(-1, 0)), "off the grid");
        }
    }

    #[test]
    fn slicing_and_the_order_of_goals_do_not_matter(
        grid in small_grids(),
        seed: u64,
        budgets in prop::collection::vec(0u32..30, 1..20),
    ) {
        let (start, goals) = task(&grid, seed);
        let reversed_goals: Vec<Goal> = goals.iter().rev().copied().collect();
        for algorithm in ALGORITHMS {
            let unsliced = whole(&grid, start, &goals, algorithm);
            let change = |query: PathQuery| query.algorithm(algorithm);
            let one_by_one = run::<BucketHeap>(&grid, (start, &goals[..]), change, || 1);
            prop_assert_eq!(&one_by_one, &unsliced);
            let mut slice = 0;
            let sliced = run::<BucketHeap>(&grid, (start, &goals[..]), change, || {
                slice += 1;
                budgets[slice % budgets.len()] + u32::from(slice % 7 == 0)
            });
            prop_assert_eq!(&sliced, &unsliced);
            let reversed = whole(&grid, start, &reversed_goals, algorithm);
            // Failures name the first goal.
            prop_assert_eq!(reversed.result.ok(), unsliced.result.ok());
        }
    }

    #[test]
    fn without_a_reachable_end_cell_nearest_ends_on_the_nearest_cell(
        grid in small_grids(),
        seed: u64,
    ) {
        let (start, goals) = task(&grid, seed);
        let best = cheapest(&grid, start, &goals);
        let nearest = |query: PathQuery| query.reach(Reach::Nearest);
        let found = run::<BucketHeap>(&grid, (start, &goals[..]), nearest, || u32::MAX).result;
        let first = goals.iter().find(|goal| is_on_grid(&grid, goal));
        match (best, first) {
            (Err(PathFailure::NoPath { .. } | PathFailure::GoalImpassable(_)), Some(goal)) => {
                let path = found.unwrap();
                let target = on_grid(&grid, goal.area.min);
                let reached = crate::common::open_distance(&grid, UNIT, path.end(), target);
                let expected = crate::common::nearest(&grid, UNIT, start, target);
                prop_assert_eq!((reached, path.cost()), expected);
                prop_assert_eq!(path.kind(), PathKind::Partial);
                prop_assert!(is_legal_path(&grid, UNIT, &path));
                prop_assert_eq!(path.start(), start);
            }
            _ => assert_is_right(&grid, start, &goals, &found, best),
        }
    }
}

/// Returns 200 × 200 cells of uniform terrain with some walls.
fn open_grid(seed: u64) -> NavGrid {
    let terrain = crate::common::patched_terrain((200, 200), 60, 100, &mut Random(seed));
    NavGrid::from_terrain(200, 200, terrain).unwrap()
}

#[test]
fn the_nearest_of_a_hundred_goals_takes_little_more_than_a_single_goal() {
    for algorithm in [Algorithm::AStar, Algorithm::JumpPoint] {
        let (mut taken, mut alone, mut count) = (0, 0, 0);
        for seed in 0..4 {
            let grid = open_grid(seed);
            let mut random = Random(100 + seed);
            for _ in 0..8 {
                let start = start_on(&grid, &mut random);
                let goals: Vec<Goal> =
                    (0..100).map(|_| Goal::from(start_on(&grid, &mut random))).collect();
                let single = |&goal: &Goal| whole(&grid, start, &[goal], algorithm).result.ok();
                let costs = goals.iter().filter_map(single).map(|path| path.cost());
                let best = costs.min();
                let found = whole(&grid, start, &goals, algorithm);
                assert_eq!(found.result.as_ref().ok().map(Path::cost), best);
                let path = found.result.unwrap();
                assert!(is_legal_path(&grid, UNIT, &path));
                let goal = Goal::from(path.end());
                assert!(goals.contains(&goal));
                taken += found.counters.expansions;
                alone += whole(&grid, start, &[goal], algorithm).counters.expansions;
                count += 1;
            }
        }
        assert!(alone > count, "{algorithm:?}: {alone} expansions for {count} single goals");
        let is_little = 2 * taken <= 3 * alone + 2 * 4 * count;
        assert!(
            is_little,
            "{algorithm:?}: {taken} expansions, {alone} with a single goal, {count} times"
        );
    }
}

#[test]
fn a_unit_near_enough_stays_where_it_is() {
    let mut grid = NavGrid::new(40, 30, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(20, 0), 1, 20)).unwrap();
    let start = Cell::new(12, 12);
    let area = |cell| CellRect::new(cell, 5, 5);
    let corner = Cell::new(10, 10);
    let goals = [
        Goal::from(start),
        Goal::from(area(corner)),
        Goal::beside(area(Cell::new(13, 13))),
        Goal::in_sight(area(corner), 0, UNIT),
        Goal::in_sight(area(Cell::new(15, 16)), 5, UNIT),
        Goal::within(area(Cell::new(30, 12)), u16::MAX),
    ];
    for goal in goals {
        for algorithm in ALGORITHMS {
            let far = Goal::from(Cell::new(39, 29));
            for goals in [vec![goal], vec![far, goal], vec![goal, far]] {
                let found = whole(&grid, start, &goals, algorithm);
                let path = found.result.unwrap();
                assert_eq!((path.start(), path.end(), path.steps()), (start, start, 0));
                assert_eq!((path.cost(), path.kind()), (PathCost(0), PathKind::Complete));
                assert_eq!(found.counters.expansions, 1, "{goal:?} {algorithm:?}");
            }
        }
    }
}

#[test]
fn impossible_goals_fail_without_a_search() {
    let mut grid = NavGrid::new(30, 20, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(15, 0), 1, 20)).unwrap();
    grid.block(CellRect::new(Cell::new(20, 5), 6, 6)).unwrap();
    let (start, wall, house) = (Cell::new(3, 3), Cell::new(15, 3), Cell::new(22, 7));
    let beside = |cell, width, height| Goal::beside(CellRect::new(cell, width, height));
    let into = |cell, width, height| Goal::from(CellRect::new(cell, width, height));
    let within = |cell, width, height| Goal::within(CellRect::new(cell, width, height), 30);
    let no_path = |goal| PathFailure::NoPath { start, goal };
    let (left, above) = (Cell::new(-4, 3), Cell::new(3, 20));
    for (start, goals, failure) in [
        (wall, vec![beside(house, 2, 2)], PathFailure::StartImpassable(wall)),
        (left, vec![beside(house, 2, 2)], PathFailure::StartOutOfBounds(left)),
        // All cells around the goal are blocked; around the whole block, the cells on the other side are
        // free.
        (start, vec![beside(house, 2, 2)], PathFailure::GoalImpassable(house)),
        (start, vec![into(house, 2, 2)], PathFailure::GoalImpassable(house)),
        (start, vec![into(house, 5, 2)], no_path(house)),
        (start, vec![beside(house, 4, 4)], no_path(house)),
        (start, vec![into(house, 2, 2), beside(house, 4, 4)], no_path(house)),
        // Off the grid, or empty.
        (start, vec![into(left, 4, 3)], PathFailure::GoalOutOfBounds(left)),
        (start, vec![within(left, 4, 3)], PathFailure::GoalOutOfBounds(left)),
        (start, vec![beside(above, 3, 3)], PathFailure::GoalOutOfBounds(above)),
        (start, vec![within(start, 0, 3)], PathFailure::GoalOutOfBounds(start)),
        (start, vec![into(start, 3, 0)], PathFailure::GoalOutOfBounds(start)),
        (start, vec![beside(above, 3, 3), within(left, 2, 2)], PathFailure::GoalOutOfBounds(above)),
        (start, vec![beside(above, 3, 3), into(house, 2, 2)], PathFailure::GoalImpassable(above)),
    ] {
        for algorithm in ALGORITHMS {
            let found = whole(&grid, start, &goals, algorithm);
            assert_eq!(found.result, Err(failure), "{goals:?}");
            assert_eq!(found.counters, SearchCounters::default(), "{goals:?}");
        }
    }
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let unknown = query(start, beside(house, 2, 2)).profile(ProfileId(9));
    let failure = PathFailure::UnknownProfile(ProfileId(9));
    assert_eq!(search.start(&grid, &pool, unknown), Err(failure));
}

#[test]
fn only_the_part_of_a_rectangle_on_the_grid_counts() {
    let grid = NavGrid::new(30, 20, TerrainId::GROUND).unwrap();
    let start = Cell::new(12, 3);
    let area = |height| CellRect::new(Cell::new(-4, -9), 6, height);
    for (goal, end) in [
        (Goal::from(area(30)), Cell::new(1, 3)),
        (Goal::beside(area(30)), Cell::new(2, 3)),
        (Goal::within(area(30), 4), Cell::new(5, 3)),
        (Goal::from(area(u32::MAX)), Cell::new(1, 3)),
    ] {
        for algorithm in ALGORITHMS {
            let path = whole(&grid, start, &[goal], algorithm).result.unwrap();
            assert_eq!((path.end(), path.steps()), (end, start.x.abs_diff(end.x)));
        }
    }
}

/// Its middle may be off the grid.
#[test]
fn the_cells_of_a_round_goal_that_are_on_the_grid_count() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let grid = NavGrid::new(30, 20, TerrainId::GROUND).unwrap().with_topology(topology);
        let (start, middle) = (Cell::new(12, 9), Cell::new(-2, 9));
        let area = CellRect::single(middle);
        for (goal, end) in [
            (Goal::from(middle), 1),
            (Goal::beside(area), 2),
            (Goal::within(area, 2), 3),
            (Goal::in_sight(area, 2, UNIT), 3),
        ] {
            for algorithm in ALGORITHMS {
                let path = whole(&grid, start, &[goal.around(3)], algorithm).result.unwrap();
                assert_eq!(path.end(), Cell::new(end, 9), "{goal:?} {algorithm:?}");
                let off = whole(&grid, start, &[goal.around(1)], algorithm).result;
                assert_eq!(off, Err(PathFailure::GoalOutOfBounds(middle)), "{goal:?}");
            }
        }
    }
}

#[test]
fn goals_count_from_the_origin_of_the_grid() {
    let mut grid = NavGrid::new(30, 20, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(15, 4), 1, 16)).unwrap();
    let moved = grid.clone().with_origin(Cell::new(-40, 7));
    let (start, cell) = (Cell::new(3, 12), Cell::new(20, 10));
    let shifted = |cell: Cell| cell.offset(-40, 7);
    let area = |min| CellRect::new(min, 2, 3);
    for (own, goal) in [
        (Goal::from(cell), Goal::from(shifted(cell))),
        (Goal::from(area(cell)), Goal::from(area(shifted(cell)))),
        (Goal::beside(area(cell)), Goal::beside(area(shifted(cell)))),
        (Goal::in_sight(area(cell), 5, UNIT), Goal::in_sight(area(shifted(cell)), 5, UNIT)),
    ] {
        for algorithm in ALGORITHMS {
            let path = whole(&grid, start, &[own], algorithm).result.unwrap();
            let found = whole(&moved, shifted(start), &[goal], algorithm).result.unwrap();
            assert_eq!((found.start(), found.end()), (shifted(path.start()), shifted(path.end())));
            assert_eq!((found.legs(), found.cost()), (path.legs(), path.cost()));
            assert!(goal.admits(&moved, UNIT, found.end()));
        }
    }
}

#[test]
fn any_edit_makes_a_search_stale_and_a_restart_fixes_it() {
    let house = CellRect::new(Cell::new(100, 40), 3, 3);
    let beside = Goal::beside(house);
    for algorithm in [Algorithm::AStar, Algorithm::JumpPoint, Algorithm::Dijkstra] {
        let mut grid = NavGrid::new(120, 80, TerrainId::GROUND).unwrap();
        grid.block(CellRect::new(Cell::new(60, 0), 1, 70)).unwrap();
        let start = Cell::new(5, 5);
        let query_to_start = query(start, beside).algorithm(algorithm);
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        let edits = [
            CellRect::single(Cell::new(0, 79)),
            CellRect::new(Cell::new(99, 39), 1, 5),
            CellRect::new(Cell::new(90, 20), 1, 30),
        ];
        for edit in edits {
            search.start(&grid, &pool, query_to_start).unwrap();
            assert!(!search.is_stale(&grid));
            search.step(&grid, &pool, 1);
            assert!(!search.is_finished() && !search.is_stale(&grid));
            grid.block(edit).unwrap();
            assert!(search.is_stale(&grid), "{beside:?} {algorithm:?} {edit}");
        }
        search.start(&grid, &pool, query_to_start).unwrap();
        search.step(&grid, &pool, u32::MAX);
        let found = search.finish(&grid, &pool);
        assert_is_right(&grid, start, &[beside], &found, cheapest(&grid, start, &[beside]));
        assert!(found.is_ok());
    }
}

#[test]
fn a_large_goal_costs_no_more_than_its_border() {
    let grid = NavGrid::new(1_200, 1_000, TerrainId::GROUND).unwrap();
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let start = Cell::new(5, 500);
    let into = Goal::from(CellRect::new(Cell::new(150, 50), 1_000, 900));
    let within = Goal::within(CellRect::single(Cell::new(1_000, 500)), 600);
    for (goal, end) in [(into, Cell::new(150, 500)), (within, Cell::new(400, 500))] {
        for algorithm in [Algorithm::AStar, Algorithm::JumpPoint] {
            let query_to_start = query(start, goal).algorithm(algorithm);
            search.start(&grid, &pool, query_to_start).unwrap();
            let setup = search.setup_work();
            assert!((100..600).contains(&setup), "{goal:?}: {setup}");
            search.step(&grid, &pool, u32::MAX);
            let counters = search.counters();
            let path = search.finish(&grid, &pool).unwrap();
            let steps = start.x.abs_diff(end.x);
            assert_eq!((path.end(), path.steps()), (end, steps), "{algorithm:?}");
            assert!(counters.expansions <= u64::from(steps) + 1, "{counters:?}");
            // Of thousands of end cells, two are opened.
            assert!(counters.peak_open < 20, "{counters:?}");
        }
    }
}

#[test]
fn sight_reaches_64_cells_however_far_is_asked_for() {
    let grid = NavGrid::new(300, 9, TerrainId::GROUND).unwrap();
    let (start, shot_at) = (Cell::new(5, 4), Cell::new(250, 4));
    for cells in [63, 64, 65, 140, u16::MAX] {
        let goal = Goal::in_sight(CellRect::single(shot_at), cells, UNIT);
        let end = Cell::new(250 - i32::from(cells.min(64)), 4);
        let admits = |cell: Cell| goal.admits(&grid, UNIT, cell);
        assert!(admits(end) && !admits(end.offset(-1, 0)), "{cells}");
        for algorithm in ALGORITHMS {
            let path = grid.answer(PathQuery::new(start, goal).algorithm(algorithm)).unwrap();
            assert_eq!(path.end(), end, "{cells}, {algorithm:?}");
        }
    }
}

#[test]
fn many_cells_without_sight_are_checked_within_the_budget() {
    // Thousands of cells on the side of the start are near enough, but do not see over the wall.
    let mut grid = NavGrid::new(300, 200, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(150, 0), 1, 199)).unwrap();
    let (start, shot_at) = (Cell::new(5, 5), Cell::new(160, 5));
    let goals = [Goal::in_sight(CellRect::single(shot_at), 140, UNIT)];
    for algorithm in [Algorithm::AStar, Algorithm::JumpPoint] {
        let unsliced = whole(&grid, start, &goals, algorithm);
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        search.start(&grid, &pool, query(start, goals[0]).algorithm(algorithm)).unwrap();
        for budget in [1, 7, 100].into_iter().cycle() {
            let spent = search.step(&grid, &pool, budget);
            assert!(spent <= budget + 155 / 8 + 1, "{spent} of {budget} spent, {algorithm:?}");
            assert!(spent > 0 || search.is_finished());
            if search.is_finished() {
                break;
            }
        }
        assert_eq!(search.counters(), unsliced.counters);
        assert_eq!(search.finish(&grid, &pool), unsliced.result);
        assert!(unsliced.result.is_ok());
    }
}

#[test]
fn only_paths_to_a_single_cell_are_searched_hierarchically() {
    let terrain = crate::common::patched_terrain((200, 40), 80, 0, &mut Random(3));
    let grid = NavGrid::from_terrain(200, 40, terrain).unwrap();
    let grid = grid.with_profiles(vec![profile(WEIGHTED), shot()]);
    let (start, cell) = (Cell::new(1, 20), Cell::new(190, 20));
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let small = Goal::from(CellRect::single(cell));
    let large = Goal::beside(CellRect::new(cell, 2, 2));
    let onto = Goal::from(cell);
    for (goal, others, is_hierarchical) in
        [(small, vec![], true), (large, vec![], false), (onto, vec![onto], false)]
    {
        let query_to_start = query(start, goal).algorithm(Algorithm::Hierarchical);
        search.start_any(&grid, &pool, query_to_start, &others).unwrap();
        let is_chosen = search.algorithm() == Algorithm::Hierarchical;
        assert_eq!(is_chosen, is_hierarchical, "{goal:?} {others:?}");
        search.step(&grid, &pool, u32::MAX);
        assert_eq!(search.counters().portals > 0, is_hierarchical);
        let path = search.finish(&grid, &pool).unwrap();
        let best = cheapest(&grid, start, &[goal]).unwrap();
        assert!(is_legal_path(&grid, UNIT, &path));
        assert!(may_end(&grid, &goal, path.end()) && path.cost() >= best);
        assert!(is_hierarchical || path.cost() == best);
    }
}

#[test]
fn cost_overflow_is_reported() {
    let profile = Profile::new().with(TerrainId(1), u16::MAX).with(TerrainId(2), u16::MAX - 1);
    let grid = NavGrid::new(100, 1, TerrainId(1)).unwrap().with_profiles(vec![profile]);
    let start = Cell::new(0, 0);
    let beside = |x: i32| Goal::beside(CellRect::single(Cell::new(x, 0)));
    for algorithm in ALGORITHMS {
        let overflow = PathFailure::CostOverflow { start, goal: Cell::new(95, 0) };
        let found = whole(&grid, start, &[beside(95)], algorithm).result;
        assert_eq!(found, Err(overflow), "{algorithm:?}");
        let path = whole(&grid, start, &[beside(95), beside(40)], algorithm).result.unwrap();
        assert_eq!((path.end(), path.steps()), (Cell::new(39, 0), 39), "{algorithm:?}");
    }
}

/// A box of walls around a tower on an open field: no cell outside sees it, and none can be reached that does.
fn hidden_tower(is_hollow: bool) -> (NavGrid, Goal) {
    let mut grid = NavGrid::new(300, 200, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(158, 98), 5, 5)).unwrap();
    let inside = Cell::new(160, 100);
    if is_hollow {
        grid.unblock(CellRect::single(inside)).unwrap();
    }
    (grid, Goal::in_sight(CellRect::single(inside), 64, UNIT))
}

/// What lies within a large area was not looked at yet when no path enters it.
#[test]
fn a_large_area_that_no_path_enters_is_looked_through_quickly_and_paid_for() {
    for (is_hollow, topology) in
        [(false, Topology::Square), (true, Topology::Square), (true, Topology::Hexagonal)]
    {
        let grid = NavGrid::new(1_200, 1_200, TerrainId::GROUND).unwrap();
        let mut grid = grid.with_topology(topology);
        let area = CellRect::new(Cell::new(100, 100), 1_000, 1_000);
        grid.block(area).unwrap();
        let last = CellRect::single(Cell::new(1_098, 1_098));
        if is_hollow {
            grid.unblock(last).unwrap();
        }
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        let query = query(Cell::new(5, 5), Goal::from(area));
        let (start, goal) = (query.start, query.goal.cell());
        let mut failure = search.start(&grid, &pool, query).err();
        let mut work = search.setup_work();
        while failure.is_none() {
            work += search.step(&grid, &pool, 1_000);
            failure = search.is_finished().then(|| search.finish(&grid, &pool).unwrap_err());
        }
        let expected = match is_hollow {
            true => PathFailure::NoPath { start, goal },
            false => PathFailure::GoalImpassable(goal),
        };
        assert_eq!(failure, Some(expected));
        // 16 words a row, and 4,000 entrances.
        assert!((1_000..10_000).contains(&work), "{work}");
    }
}

#[test]
fn a_goal_that_no_cell_sees_is_looked_for_within_the_budget() {
    for is_hollow in [true, false] {
        let (grid, goal) = hidden_tower(is_hollow);
        let (start, cell) = (Cell::new(5, 5), goal.cell());
        let failure = match is_hollow {
            true => PathFailure::NoPath { start, goal: cell },
            false => PathFailure::GoalImpassable(cell),
        };
        for (algorithm, reach) in [Algorithm::AStar, Algorithm::JumpPoint]
            .into_iter()
            .flat_map(|algorithm| [(algorithm, Reach::Exact), (algorithm, Reach::Nearest)])
        {
            let (pool, mut search) = (NodePool::default(), <Search>::new());
            let query = query(start, goal).algorithm(algorithm).reach(reach);
            search.start(&grid, &pool, query).unwrap();
            assert!(search.setup_work() < 500, "{} before the first step", search.setup_work());
            let mut all = 0;
            while !search.is_finished() {
                let spent = search.step(&grid, &pool, 100);
                assert!(spent > 0 || search.is_finished());
                // One long line of sight, or the search for the nearest cell, may take more.
                assert!(spent <= 100 + 500, "{spent} of 100 spent");
                all += spent;
            }
            assert!(all > 10_000, "{all}: thousands of cells are near enough");
            let counters = search.counters();
            match (search.finish(&grid, &pool), reach) {
                (found, Reach::Exact) => {
                    assert_eq!(found, Err(failure));
                    assert_eq!(counters, SearchCounters::default(), "nothing is expanded");
                }
                (found, Reach::Nearest) => {
                    let path = found.unwrap();
                    assert_eq!(path.kind(), PathKind::Partial);
                    let nearest = Goal::from(cell);
                    let direct = self::query(start, nearest).algorithm(algorithm).reach(reach);
                    search.start(&grid, &pool, direct).unwrap();
                    search.step(&grid, &pool, u32::MAX);
                    assert_eq!(Ok(path), search.finish(&grid, &pool), "as near as can be");
                }
            }
        }
    }
}
