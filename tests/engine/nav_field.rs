//! Distance fields against a textbook Dijkstra, on random grids and under random slicing: fields that are
//! settled cell by cell and fields that are filled by rays.

use bevy_tilepath::{
    nav::{field::DistanceField, node_pool::NodePool, search::Search},
    prelude::*,
};
use proptest::prelude::*;

use crate::common::{
    Random, any_topology, dijkstra, is_legal_path, scatter_edges, with_some_edges,
};

const UNIT: ProfileId = ProfileId(0);

/// Generates a random grid with a profile. Terrain lies in patches of four kinds, so that some cells have
/// equal neighbors and others do not; walls are single cells or blocks. With blocks, jumping pays and rays
/// fill the field.
fn grids() -> impl Strategy<Value = NavGrid> {
    let rule =
        prop_oneof![Just(CornerRule::Forbid), Just(CornerRule::NoSqueeze), Just(CornerRule::Allow)];
    let neighborhood = prop_oneof![Just(Neighborhood::Four), Just(Neighborhood::Eight)];
    let costs = prop_oneof![
        Just([16, 16, 16, 16]),
        Just([16, 32, 48, 80]),
        Just([16, 16, 16, 32]),
        Just([17, 23, 91, 400]),
        Just([5, 5, 5, 5]),
    ];
    let layout = (1u32..72, 1u32..72, 1u32..16, (any::<bool>(), 0u32..45), any::<u64>());
    (layout, rule, neighborhood, costs).prop_map(
        |((width, height, patch, (are_blocks, walls), seed), rule, neighborhood, costs)| {
            let mut random = Random(seed);
            let per_row = width.div_ceil(patch);
            let patches: Vec<u8> =
                (0..per_row * height.div_ceil(patch)).map(|_| 1 + random.below(4) as u8).collect();
            let scattered = if are_blocks { 0 } else { walls };
            let mut terrain: Vec<u8> = (0..width * height)
                .map(|index| {
                    let (x, y) = (index % width, index / width);
                    let kind = patches[(y / patch * per_row + x / patch) as usize];
                    if random.below(100) < scattered { 0 } else { kind }
                })
                .collect();
            for _ in scattered..walls {
                build_block(&mut terrain, (width, height), 8, &mut random);
            }
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

/// Blocks a rectangle of at least two cells, except where it reaches beyond the grid.
fn build_block(terrain: &mut [u8], (width, height): (u32, u32), longest: u32, random: &mut Random) {
    let (left, low) = (random.below(width), random.below(height));
    let (columns, rows) = (1 + random.below(longest), 2 + random.below(longest));
    for y in low..(low + rows).min(height) {
        let row = (y * width + left) as usize;
        terrain[row..][..columns.min(width - left) as usize].fill(0);
    }
}

/// Returns whether rays fill a field around this goal: exactly where searches jump.
fn is_filled_by_rays(grid: &NavGrid, goal: Cell) -> bool {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let query = PathQuery::new(goal, goal).algorithm(Algorithm::Exact);
    search.start(grid, &pool, query).unwrap();
    let algorithm = search.algorithm();
    search.stop(&pool);
    algorithm == Algorithm::JumpPoint
}

fn index(grid: &NavGrid, cell: Cell) -> usize {
    (cell.y as u32 * grid.width() + cell.x as u32) as usize
}

fn any_cell(grid: &NavGrid, pick: u32) -> Cell {
    let index = pick % (grid.width() * grid.height());
    Cell::new((index % grid.width()) as i32, (index / grid.width()) as i32)
}

/// Returns a passable cell, if there is one.
fn free_cell(grid: &NavGrid, pick: u32) -> Option<Cell> {
    let cells: Vec<Cell> = grid.rect().cells().filter(|&cell| grid.cost(UNIT, cell) > 0).collect();
    (!cells.is_empty()).then(|| cells[pick as usize % cells.len()])
}

fn run(field: &mut DistanceField, grid: &NavGrid, goal: Cell, mut budget: impl FnMut() -> u32) {
    field.start(grid, UNIT, goal).unwrap();
    let mut settled = field.counters().expansions;
    while !field.is_finished() {
        let budget = budget();
        let taken = field.step(grid, budget);
        assert!(taken <= budget);
        assert!(taken == budget || field.is_finished());
        settled += u64::from(taken);
    }
    if !is_filled_by_rays(grid, goal) {
        assert_eq!(field.counters().expansions, settled);
    }
}

fn field_to(grid: &NavGrid, goal: Cell) -> DistanceField {
    let mut field = DistanceField::new();
    run(&mut field, grid, goal, || u32::MAX);
    field
}

/// Returns the costs of all cells, row-major.
fn costs(field: &DistanceField, grid: &NavGrid) -> Vec<Option<u64>> {
    grid.rect().cells().map(|cell| field.cost(grid, cell).map(|cost| cost.0)).collect()
}

fn directions(field: &DistanceField, grid: &NavGrid) -> Vec<Option<Direction>> {
    grid.rect().cells().map(|cell| field.direction(grid, cell)).collect()
}

/// Returns the cost that a single search by Dijkstra's algorithm finds.
fn search_cost(grid: &NavGrid, start: Cell, goal: Cell) -> Option<PathCost> {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let query = PathQuery::new(start, goal).algorithm(Algorithm::Dijkstra);
    search.start(grid, &pool, query).ok()?;
    search.step(grid, &pool, u32::MAX);
    search.finish(grid, &pool).ok().map(|path| path.cost())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_cell_costs_what_dijkstra_finds(
        grid in grids(),
        other in grids(),
        picks: (u32, u32),
        starts: [u32; 4],
    ) {
        // One field for all: no state of an earlier grid or goal may remain.
        let mut field = DistanceField::new();
        for (grid, pick) in [(&grid, picks.0), (&other, picks.1), (&grid, picks.1)] {
            let Some(goal) = free_cell(grid, pick) else {
                continue;
            };
            let best = dijkstra(grid, UNIT, goal);
            run(&mut field, grid, goal, || u32::MAX);
            prop_assert_eq!(&costs(&field, grid), &best);
            prop_assert!(!field.overflow());
            let reachable = best.iter().flatten().count() as u64;
            let counters = field.counters();
            if is_filled_by_rays(grid, goal) {
                prop_assert!(counters.expansions <= reachable, "no cell is expanded twice");
                prop_assert_eq!(counters.expansions + counters.improved, counters.generated);
            } else {
                prop_assert_eq!(counters.expansions, reachable);
                prop_assert_eq!(counters.generated, reachable);
            }
            for pick in starts {
                let start = any_cell(grid, pick);
                prop_assert_eq!(field.cost(grid, start), search_cost(grid, start, goal));
            }
        }
    }

    #[test]
    fn slicing_changes_nothing(
        grid in grids(),
        pick: u32,
        budgets in prop::collection::vec(0u32..40, 1..20),
    ) {
        let Some(goal) = free_cell(&grid, pick) else {
            return Ok(());
        };
        let whole = field_to(&grid, goal);
        let mut slice = 0;
        let mut any_budget = || {
            slice += 1;
            budgets[slice % budgets.len()] + u32::from(slice % 7 == 0)
        };
        let slices: [&mut dyn FnMut() -> u32; 3] = [&mut || 1, &mut || 7, &mut any_budget];
        for budget in slices {
            let mut sliced = DistanceField::new();
            run(&mut sliced, &grid, goal, budget);
            prop_assert_eq!(sliced.counters(), whole.counters());
            prop_assert_eq!(costs(&sliced, &grid), costs(&whole, &grid));
            prop_assert_eq!(directions(&sliced, &grid), directions(&whole, &grid));
        }
    }

    #[test]
    fn unfinished_fields_return_only_final_costs(
        grid in grids(),
        pick: u32,
        budget in 0u32..900,
    ) {
        let Some(goal) = free_cell(&grid, pick) else {
            return Ok(());
        };
        let whole = field_to(&grid, goal);
        let mut field = DistanceField::new();
        field.start(&grid, UNIT, goal).unwrap();
        field.step(&grid, budget);
        let mut count = 0;
        for cell in grid.rect().cells() {
            if let Some(cost) = field.cost(&grid, cell) {
                count += 1;
                prop_assert_eq!(Some(cost), whole.cost(&grid, cell));
                prop_assert_eq!(field.path(&grid, cell).map(|path| path.cost()), Some(cost));
            }
        }
        if is_filled_by_rays(&grid, goal) {
            prop_assert!(field.counters().expansions <= count);
        } else {
            prop_assert_eq!(field.counters().expansions, count);
        }
    }

    #[test]
    fn a_path_is_legal_and_has_the_cost_of_its_start(grid in grids(), pick: u32, starts: [u32; 8]) {
        let Some(goal) = free_cell(&grid, pick) else {
            return Ok(());
        };
        let field = field_to(&grid, goal);
        prop_assert_eq!(field.path(&grid, goal).map(|path| path.steps()), Some(0));
        prop_assert_eq!(field.direction(&grid, goal), None);
        for start in starts.map(|pick| any_cell(&grid, pick)) {
            let path = field.path(&grid, start);
            prop_assert_eq!(path.as_ref().map(Path::cost), field.cost(&grid, start));
            let first = path.as_ref().and_then(|path| path.legs().first());
            prop_assert_eq!(first.map(|leg| leg.direction), field.direction(&grid, start));
            let Some(path) = path else {
                continue;
            };
            prop_assert!(is_legal_path(&grid, UNIT, &path));
            prop_assert_eq!((path.start(), path.end()), (start, goal));
            prop_assert_eq!((path.kind(), path.revision()), (PathKind::Complete, grid.revision()));
            let mut pairs = path.legs().windows(2);
            prop_assert!(pairs.all(|pair| pair[0].direction != pair[1].direction));
        }
    }

    #[test]
    fn a_field_ends_as_soon_as_all_awaited_cells_are_settled(
        grid in grids(),
        pick: u32,
        named in prop::collection::vec(any::<(u32, bool)>(), 1..6),
        budget in 1u32..40,
    ) {
        let Some(goal) = free_cell(&grid, pick) else {
            return Ok(());
        };
        let named: Vec<Cell> = named
            .into_iter()
            .map(|(pick, is_outside)| {
                let cell = any_cell(&grid, pick);
                if is_outside { Cell::new(-1 - cell.x, cell.y) } else { cell }
            })
            .collect();
        let best = dijkstra(&grid, UNIT, goal);
        let on_grid = named.iter().filter(|&&cell| grid.contains(cell));
        let farthest = on_grid.filter_map(|&cell| best[index(&grid, cell)]).max().unwrap_or(0);
        let mut field = DistanceField::new();
        field.start(&grid, UNIT, goal).unwrap();
        field.await_cells(&grid, named.iter().chain(&named).copied());
        while !field.is_finished() {
            field.step(&grid, budget);
        }
        for (cell, &cost) in grid.rect().cells().zip(&best) {
            let found = field.cost(&grid, cell).map(|cost| cost.0);
            if named.contains(&cell) || cost.is_some_and(|cost| cost < farthest) {
                prop_assert_eq!(found, cost);
            } else if found.is_some() {
                prop_assert_eq!(found, cost);
                prop_assert!(found <= Some(farthest), "settled after the last awaited cell");
            }
        }
        let mut whole = DistanceField::new();
        whole.start(&grid, UNIT, goal).unwrap();
        whole.await_cells(&grid, named.iter().copied());
        whole.step(&grid, u32::MAX);
        prop_assert!(whole.is_finished());
        prop_assert_eq!(whole.counters(), field.counters());
        // It continues where it stopped when more cells are awaited.
        field.await_cells(&grid, grid.rect().cells());
        while !field.is_finished() {
            field.step(&grid, budget);
        }
        prop_assert_eq!(costs(&field, &grid), best);
    }
}

/// Returns streets between blocks on patches of terrain, too large for rays to cross in one slice.
fn town(neighborhood: Neighborhood, costs: [u16; 3], seed: u64) -> NavGrid {
    let (width, height, patch) = (200, 150, 40);
    let mut random = Random(seed);
    let patches: Vec<u8> = (0..20).map(|_| 1 + random.below(3) as u8).collect();
    let mut terrain: Vec<u8> = (0..width * height)
        .map(|index| patches[(index / width / patch * 5 + index % width / patch) as usize])
        .collect();
    for _ in 0..40 {
        build_block(&mut terrain, (width, height), 24, &mut random);
    }
    let profile = (1u8..4)
        .zip(costs)
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost))
        .neighbors(neighborhood);
    NavGrid::from_terrain(width, height, terrain).unwrap().with_profiles(vec![profile])
}

#[test]
fn rays_fill_a_large_map_as_dijkstra_does() {
    for neighborhood in [Neighborhood::Four, Neighborhood::Eight] {
        for terrain_costs in [[16; 3], [16, 24, 40], [17, 91, 400]] {
            for seed in 1..4 {
                let grid = town(neighborhood, terrain_costs, seed);
                let goal = free_cell(&grid, 7_919 * seed as u32).unwrap();
                let case = format!("{neighborhood:?} {terrain_costs:?} {seed}");
                assert!(is_filled_by_rays(&grid, goal), "{case}");
                let best = dijkstra(&grid, UNIT, goal);
                let whole = field_to(&grid, goal);
                assert!(costs(&whole, &grid) == best, "{case}");
                let reachable = best.iter().flatten().count() as u64;
                let expanded = whole.counters().expansions;
                assert!(expanded > 1 && 4 * expanded < reachable, "{case}: {expanded} nodes");
                for budget in [1, 5] {
                    let mut sliced = DistanceField::new();
                    run(&mut sliced, &grid, goal, || budget);
                    assert_eq!(sliced.counters(), whole.counters(), "{case}");
                    assert!(costs(&sliced, &grid) == best, "{case}");
                }
            }
        }
    }
}

#[test]
fn a_slice_of_rays_is_short() {
    let grid = NavGrid::new(600, 600, TerrainId::GROUND).unwrap();
    let mut field = DistanceField::new();
    field.start(&grid, UNIT, Cell::new(300, 300)).unwrap();
    let mut slices = 0;
    while !field.is_finished() {
        field.step(&grid, 1);
        slices += 1;
    }
    // At most 17 units are taken for the one that was given.
    assert!(slices * 17 >= 600 * 600 / 8, "{slices} slices");
}

#[test]
fn an_open_grid_is_filled_from_few_nodes() {
    let grid = NavGrid::new(120, 90, TerrainId::GROUND).unwrap();
    let field = field_to(&grid, Cell::new(50, 40));
    let counters = field.counters();
    assert_eq!((counters.expansions, counters.improved), (counters.generated, 0));
    assert!(counters.expansions < 20, "{counters:?}");
    let path = field.path(&grid, Cell::new(110, 60)).unwrap();
    assert_eq!((path.legs().len(), path.steps()), (2, 60));
}

#[test]
fn each_cell_of_an_open_grid_is_reached_once() {
    let profile = Profile::default().corners(CornerRule::Allow);
    let grid = NavGrid::new(120, 90, TerrainId::GROUND).unwrap().with_profiles(vec![profile]);
    let field = field_to(&grid, Cell::new(50, 40));
    let counters = field.counters();
    let all = (counters.expansions, counters.generated, counters.improved);
    assert_eq!(all, (10_800, 10_800, 0), "each cell is reached once, by its canonical path");
    let path = field.path(&grid, Cell::new(110, 60)).unwrap();
    assert_eq!((path.legs().len(), path.steps()), (2, 60));
}

#[test]
fn a_field_awaited_by_nearby_cells_stops_near_the_goal() {
    let grid = NavGrid::new(300, 300, TerrainId::GROUND).unwrap();
    let goal = Cell::new(150, 150);
    let mut field = DistanceField::new();
    field.start(&grid, UNIT, goal).unwrap();
    assert!(!field.is_finished());
    field.await_cells(&grid, [goal]);
    assert!(field.is_finished(), "the goal is settled from the start");
    field.await_cells(&grid, [Cell::new(153, 150)]);
    assert!(!field.is_finished());
    field.step(&grid, u32::MAX);
    assert!(field.is_finished());
    assert!(field.counters().expansions < 45, "{:?}", field.counters());
    let three_steps = PathCost(3 * PathCost::PLAIN_STEP.0);
    assert_eq!(field.cost(&grid, Cell::new(153, 150)), Some(three_steps));
    assert_eq!(field.cost(&grid, Cell::new(160, 150)), None);
    assert_eq!(field.path(&grid, Cell::new(160, 150)), None);
}

#[test]
fn unreachable_cells_are_not_awaited() {
    let mut grid = NavGrid::new(30, 10, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(15, 0), 1, 10)).unwrap();
    let mut field = DistanceField::new();
    field.start(&grid, UNIT, Cell::new(3, 3)).unwrap();
    field.await_cells(&grid, []);
    assert!(!field.is_finished(), "no cell is awaited");
    field.await_cells(&grid, [Cell::new(20, 5), Cell::new(15, 5), Cell::new(-1, 5)]);
    assert!(field.is_finished());
    field.await_cells(&grid, [Cell::new(20, 5), Cell::new(14, 9)]);
    assert!(!field.is_finished());
    field.step(&grid, u32::MAX);
    assert!(field.is_finished());
    assert!(field.cost(&grid, Cell::new(14, 9)).is_some());
    assert_eq!(field.cost(&grid, Cell::new(20, 5)), None);
}

#[test]
fn an_edit_makes_a_field_stale_and_a_restart_fixes_it() {
    let mut grid = NavGrid::new(40, 30, TerrainId::GROUND).unwrap();
    let goal = Cell::new(5, 5);
    let mut field = DistanceField::new();
    assert!(field.is_stale(&grid), "nothing was started");
    field.start(&grid, UNIT, goal).unwrap();
    assert!(!field.is_stale(&grid));
    assert_eq!(field.step(&grid, 10), 10);
    grid.block(CellRect::new(Cell::new(20, 0), 1, 29)).unwrap();
    assert!(field.is_stale(&grid));
    assert_eq!(field.step(&grid, 10), 0);
    assert!(!field.is_finished());
    run(&mut field, &grid, goal, || 100);
    assert_eq!(costs(&field, &grid), dijkstra(&grid, UNIT, goal));
    let wider = NavGrid::new(41, 30, TerrainId::GROUND).unwrap();
    assert!(field.is_stale(&wider));
    assert_eq!((field.cost(&wider, goal), field.path(&wider, goal)), (None, None));
}

#[test]
fn a_stale_field_leads_through_no_wall() {
    let mut grid = NavGrid::new(40, 30, TerrainId::GROUND).unwrap();
    let field = field_to(&grid, Cell::new(5, 5));
    let before = costs(&field, &grid);
    let wall = CellRect::new(Cell::new(20, 0), 1, 29);
    grid.block(wall).unwrap();
    assert_eq!(costs(&field, &grid), before);
    assert_eq!(field.direction(&grid, Cell::new(21, 5)), None);
    assert_eq!(field.direction(&grid, Cell::new(30, 5)), Some(Direction::West));
    assert_eq!(field.path(&grid, Cell::new(30, 5)), None);
    let path = field.path(&grid, Cell::new(12, 9)).unwrap();
    assert!(is_legal_path(&grid, UNIT, &path));
    // In the wall itself there is no way either; the cost is the last that was known.
    let built_over = Cell::new(20, 5);
    assert_eq!(field.direction(&grid, built_over), None);
    assert_eq!(field.path(&grid, built_over), None);
    assert!(field.cost(&grid, built_over).is_some());
}

#[test]
fn invalid_input_is_reported_and_clears_the_field() {
    let mut grid = NavGrid::new(10, 10, TerrainId::GROUND).unwrap();
    let wall = Cell::new(3, 3);
    grid.block(CellRect::single(wall)).unwrap();
    let outside = Cell::new(10, 0);
    for (profile, goal, failure) in [
        (ProfileId(7), Cell::new(1, 1), PathFailure::UnknownProfile(ProfileId(7))),
        (UNIT, outside, PathFailure::GoalOutOfBounds(outside)),
        (UNIT, wall, PathFailure::GoalImpassable(wall)),
    ] {
        let mut field = field_to(&grid, Cell::new(1, 1));
        assert_eq!(field.cost(&grid, outside), None);
        assert_eq!(field.direction(&grid, wall), None);
        assert_eq!(field.start(&grid, profile, goal), Err(failure));
        assert!(field.is_finished());
        field.await_cells(&grid, [Cell::new(1, 1)]);
        assert_eq!(field.step(&grid, 100), 0);
        assert_eq!(field.cost(&grid, Cell::new(1, 1)), None);
        assert_eq!(field.counters(), DistanceField::new().counters());
    }
}

#[test]
fn cells_whose_cost_overflows_are_left_out() {
    let profile = Profile::new().with(TerrainId(1), u16::MAX).with(TerrainId(2), u16::MAX - 1);
    let grid = NavGrid::new(100, 1, TerrainId(1)).unwrap().with_profiles(vec![profile]);
    let field = field_to(&grid, Cell::new(0, 0));
    let step = 408 * 2 * u64::from(u16::MAX);
    let found = costs(&field, &grid);
    let reached = found.iter().flatten().count();
    assert!((36..=40).contains(&reached), "{reached} cells within 31 bits");
    for (x, cost) in (0u64..).zip(found) {
        assert_eq!(cost, (x < reached as u64).then_some(x * step));
    }
    assert!(field.overflow());
    let mut field = DistanceField::new();
    field.start(&grid, UNIT, Cell::new(0, 0)).unwrap();
    field.await_cells(&grid, [Cell::new(90, 0)]);
    field.step(&grid, u32::MAX);
    assert!(field.is_finished(), "it does not wait for cells whose cost overflows");
    run(&mut field, &grid, Cell::new(95, 0), || 3);
    assert_eq!(field.cost(&grid, Cell::new(90, 0)), Some(PathCost(5 * step)));
}

#[test]
fn rays_end_where_costs_overflow() {
    // One long path, up and down between walls.
    let terrain = (0..60 * 9).map(|index| {
        let (x, y) = (index % 60, index / 60);
        let gap = if y % 4 == 1 { 59 } else { 0 };
        u8::from(y % 2 == 0 || x == gap)
    });
    let profile = Profile::new().with(TerrainId(1), 15_001).with(TerrainId(2), 15_000);
    let grid = NavGrid::from_terrain(60, 9, terrain.collect()).unwrap();
    let grid = grid.with_profiles(vec![profile]);
    let goal = Cell::new(0, 0);
    assert!(is_filled_by_rays(&grid, goal));
    let field = field_to(&grid, goal);
    assert!(field.overflow());
    assert!(!field.can_repair(&grid), "where rays end depends on the nodes at that time");
    let best = dijkstra(&grid, UNIT, goal);
    // Up to this cost, a step along a ray and one to its side fit.
    let fits = (1 << 31) - 2 - (408 + 577) * 2 * 15_001;
    let mut left_out = 0;
    for (found, best) in costs(&field, &grid).into_iter().zip(best) {
        if found.is_some() || best.is_none_or(|best| best <= fits) {
            assert_eq!(found, best);
        } else {
            left_out += 1;
        }
    }
    assert!(left_out > 0);
}

#[test]
fn cells_count_from_the_origin_of_the_grid() {
    let grid = NavGrid::new(20, 10, TerrainId::GROUND).unwrap().with_origin(Cell::new(-7, 40));
    let (start, goal) = (Cell::new(-7, 40), Cell::new(-2, 45));
    let field = field_to(&grid, goal);
    assert_eq!((field.goal(), field.profile()), (goal.into(), UNIT));
    assert_eq!(field.cost(&grid, Cell::new(0, 0)), None);
    assert_eq!(field.direction(&grid, start), Some(Direction::NorthEast));
    let path = field.path(&grid, start).unwrap();
    assert_eq!((path.end(), path.steps()), (goal, 5));
}

#[test]
fn a_second_start_takes_no_more_memory() {
    let grid = NavGrid::new(200, 100, TerrainId::GROUND).unwrap();
    let mut field = field_to(&grid, Cell::new(10, 10));
    let bytes = field.bytes();
    assert!(bytes > 4 * 200 * 100);
    run(&mut field, &grid, Cell::new(10, 10), || 50);
    assert_eq!(field.bytes(), bytes);
}

/// Changes a rectangle of up to 6 × 6 cells: blocks it, unblocks it, or sets its terrain; or sets edges.
fn change(grid: &mut NavGrid, (kind, pick, width, height): (u8, u32, u32, u32)) {
    let min = any_cell(grid, pick);
    let rect = CellRect::new(min, 1 + width % 6, 1 + height % 6).intersection(grid.rect());
    let blocked: Vec<Cell> = rect.cells().filter(|&cell| grid.blockers(cell) > 0).collect();
    let mut edit = grid.edit();
    match kind % 4 {
        3 => {
            drop(edit);
            scatter_edges(grid, 1 + u32::from(kind) / 64, &mut Random(u64::from(pick)));
        }
        0 => edit.block(rect).unwrap(),
        1 => {
            for cell in blocked {
                edit.unblock(CellRect::single(cell)).unwrap();
            }
        }
        _ => {
            for cell in rect.cells() {
                edit.set_terrain(cell, TerrainId(kind / 4 % 5)).unwrap();
            }
        }
    }
}

/// Checks all costs and paths of an up-to-date field. Returns the number of cells with a cost, or the first
/// error.
fn check_costs(field: &DistanceField, grid: &NavGrid) -> Result<usize, String> {
    let best = dijkstra(grid, UNIT, field.goal().min);
    let mut count = 0;
    for (cell, best) in grid.rect().cells().zip(best) {
        let Some(cost) = field.cost(grid, cell) else {
            continue;
        };
        count += 1;
        if Some(cost.0) != best {
            return Err(format!("{cell} costs {best:?}, not {cost:?}"));
        }
        let path = field.path(grid, cell);
        if !path.is_some_and(|path| path.cost() == cost && is_legal_path(grid, UNIT, &path)) {
            return Err(format!("no path from {cell}"));
        }
    }
    Ok(count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_repaired_field_equals_a_new_one(
        grid in grids(),
        size in prop_oneof![4 => Just(1u8), 1 => 2u8..4],
        pick: u32,
        is_repairable: bool,
        rounds in prop::collection::vec(
            (prop::collection::vec(any::<(u8, u32, u32, u32)>(), 0..4), 0u32..60),
            1..5,
        ),
        slice in prop_oneof![Just(1u32), 2u32..60, Just(u32::MAX)],
    ) {
        let profile = grid.profiles()[0].clone().size(size);
        let mut grid = grid.with_profiles(vec![profile]);
        let Some(goal) = free_cell(&grid, pick) else {
            return Ok(());
        };
        let mut field = DistanceField::new();
        if is_repairable {
            field.start_repairable(&grid, UNIT, goal).unwrap();
        } else {
            run(&mut field, &grid, goal, || u32::MAX);
        }
        for (edits, slices) in rounds {
            for edit in edits {
                change(&mut grid, edit);
            }
            // The next edits may come in the middle of a repair.
            for _ in 0..slices {
                prop_assert!(field.repair(&grid, slice) <= slice);
            }
            if field.is_stale(&grid) && slices > 0 {
                prop_assert!(!field.can_repair(&grid));
                let is_empty = costs(&field, &grid).iter().all(Option::is_none);
                prop_assert!(is_empty || field.failure().is_none());
                let started = field.start(&grid, UNIT, goal);
                prop_assert_eq!(started.is_ok(), grid.cost(UNIT, goal) > 0);
                prop_assert_eq!(field.failure(), started.err());
                field.step(&grid, u32::MAX);
            }
            if !field.is_stale(&grid) {
                prop_assert_eq!(check_costs(&field, &grid).err(), None);
            }
        }
        while field.can_repair(&grid) && (field.is_stale(&grid) || !field.is_finished()) {
            let taken = field.repair(&grid, slice);
            prop_assert!(taken == slice || field.is_finished());
        }
        if field.is_stale(&grid) && field.start(&grid, UNIT, goal).is_err() {
            prop_assert_eq!(field.failure(), Some(PathFailure::GoalImpassable(goal)));
            return Ok(());
        }
        field.step(&grid, u32::MAX);
        let fresh = field_to(&grid, goal);
        prop_assert_eq!(costs(&field, &grid), costs(&fresh, &grid));
        prop_assert_eq!(directions(&field, &grid), directions(&fresh, &grid));
        prop_assert_eq!(costs(&field, &grid), dijkstra(&grid, UNIT, goal));
        prop_assert_eq!(field.repair(&grid, 100), 0, "nothing is left to do");
    }
}

#[test]
fn a_large_map_under_edits_is_repaired_in_slices_of_any_size() {
    for neighborhood in [Neighborhood::Four, Neighborhood::Eight] {
        for terrain_costs in [[16; 3], [17, 91, 400]] {
            let mut grid = town(neighborhood, terrain_costs, 5);
            let goal = free_cell(&grid, 4_444).unwrap();
            assert!(is_filled_by_rays(&grid, goal));
            let fields = [(); 3].map(|()| field_to(&grid, goal));
            let mut fields: Vec<_> = [1, 17, u32::MAX].into_iter().zip(fields).collect();
            let mut random = Random(11);
            for _ in 0..6 {
                for _ in 0..3 {
                    let (kind, pick) = (random.below(9) as u8, random.next() as u32);
                    if any_cell(&grid, pick).y.abs_diff(goal.y) > 6 {
                        change(&mut grid, (kind, pick, random.below(6), random.below(6)));
                    }
                }
                let best = dijkstra(&grid, UNIT, goal);
                let done = fields.iter_mut().map(|(slice, field)| {
                    while field.is_stale(&grid) || !field.is_finished() {
                        assert!(field.repair(&grid, *slice) > 0);
                    }
                    assert!(costs(field, &grid) == best, "{neighborhood:?} in slices of {slice}");
                    field.repair_counters()
                });
                let done: Vec<_> =
                    done.map(|done| (done.checked, done.raised, done.settled)).collect();
                assert!(done.iter().all(|&one| one == done[0]), "{done:?}");
            }
        }
    }
}

#[test]
fn a_small_edit_takes_a_small_part_of_a_field() {
    for rule in [CornerRule::Forbid, CornerRule::Allow] {
        let profile = Profile::default().corners(rule);
        let grid = NavGrid::new(256, 256, TerrainId::GROUND).unwrap();
        let mut grid = grid.with_profiles(vec![profile]);
        let goal = Cell::new(128, 128);
        let mut field = DistanceField::new();
        field.start(&grid, UNIT, goal).unwrap();
        let whole = field.step(&grid, u32::MAX);
        // Off the axis there are other paths of equal cost; on it there are none, up to the border.
        for (cell, most) in [(Cell::new(250, 30), 20), (Cell::new(200, 128), 300)] {
            for blocks in [true, false] {
                let wall = CellRect::single(cell);
                let edited = if blocks { grid.block(wall) } else { grid.unblock(wall) };
                edited.unwrap();
                let taken = field.repair(&grid, u32::MAX);
                assert!(field.is_finished() && !field.is_stale(&grid) && field.is_repair_cheaper());
                let counters = field.repair_counters();
                assert!(counters.checked >= 9 && counters.checked <= most, "{counters:?}");
                assert!(counters.raised + counters.settled <= 120, "{counters:?}");
                assert_eq!(u64::from(taken), counters.units);
                assert!(10 * taken < whole, "{taken} of {whole}");
                assert!(costs(&field, &grid) == dijkstra(&grid, UNIT, goal));
            }
        }
    }
}

#[test]
fn a_field_under_repair_returns_only_final_costs() {
    let mut grid = NavGrid::new(256, 256, TerrainId::GROUND).unwrap();
    let goal = Cell::new(128, 128);
    let mut field = field_to(&grid, goal);
    grid.block(CellRect::single(Cell::new(200, 128))).unwrap();
    let (near, far) = (Cell::new(140, 128), Cell::new(10, 128));
    assert!(field.is_finished() && field.cost(&grid, far).is_some(), "as it was before");
    // The nine cells around the edit, the first raised cells, and not all cells behind it.
    assert_eq!(field.repair(&grid, 20), 20);
    assert!(!field.is_finished() && !field.is_stale(&grid));
    assert_eq!(field.cost(&grid, near), Some(PathCost(12 * PathCost::PLAIN_STEP.0)));
    assert_eq!(field.direction(&grid, near), Some(Direction::West));
    assert_eq!((field.cost(&grid, far), field.path(&grid, far)), (None, None));
    let count = check_costs(&field, &grid).unwrap();
    assert!(count > 10_000 && count < 60_000, "{count} cells");
    while !field.is_finished() {
        field.step(&grid, 20);
    }
    assert!(field.cost(&grid, far).is_some());
}

#[test]
fn can_repair_is_false_where_a_repair_is_impossible() {
    let goal = Cell::new(5, 5);
    let level = || NavGrid::new(40, 30, TerrainId::GROUND).unwrap();
    let spot = Cell::new(20, 20);

    let (mut grid, mut field) = (level(), DistanceField::new());
    assert!(!field.can_repair(&grid), "nothing was started");
    field.start(&grid, UNIT, goal).unwrap();
    assert!(!field.can_repair(&grid), "it is not finished");
    field.await_cells(&grid, [Cell::new(7, 5)]);
    field.step(&grid, u32::MAX);
    assert!(field.is_finished() && !field.can_repair(&grid), "it ended early");
    grid.set_terrain(spot, TerrainId::VOID).unwrap();
    assert_eq!(field.repair(&grid, 100), 0);
    assert!(field.is_stale(&grid));

    let (mut grid, mut field) = (level(), field_to(&level(), goal));
    for count in 0..200 {
        assert!(field.can_repair(&grid), "{count} edits");
        grid.set_terrain(spot.offset(i32::from(count) % 7, 0), TerrainId(count % 2)).unwrap();
    }
    while field.is_stale(&grid) || !field.is_finished() {
        assert!(field.repair(&grid, 100) > 0);
    }
    let fresh = field_to(&grid, goal);
    for cell in grid.rect().cells() {
        assert_eq!(field.cost(&grid, cell), fresh.cost(&grid, cell), "{cell}");
    }

    let wider = NavGrid::new(41, 30, TerrainId::GROUND).unwrap();
    let shifted = level().with_origin(Cell::new(1, 0));
    let slower = level().with_profiles(vec![Profile::default().with(TerrainId::GROUND, 32)]);
    let larger = level().with_profiles(vec![Profile::default().size(2)]);
    for other in [wider, shifted, slower, larger] {
        let mut field = field_to(&level(), goal);
        assert!(!field.can_repair(&other));
        assert_eq!(field.repair(&other, 100), 0);
    }
}

#[test]
fn a_goal_built_over_empties_the_field() {
    let mut grid = NavGrid::new(40, 30, TerrainId::GROUND).unwrap();
    let goal = Cell::new(5, 5);
    let mut field = field_to(&grid, goal);
    assert_eq!(field.failure(), None);
    grid.block(CellRect::single(goal)).unwrap();
    assert_eq!(field.repair(&grid, 100), 0);
    assert_eq!(field.failure(), Some(PathFailure::GoalImpassable(goal)));
    assert!(field.is_finished() && field.is_stale(&grid) && !field.can_repair(&grid));
    assert!(costs(&field, &grid).iter().all(Option::is_none));
    grid.unblock(CellRect::single(goal)).unwrap();
    run(&mut field, &grid, goal, || u32::MAX);
    assert_eq!(field.failure(), None);
    assert_eq!(costs(&field, &grid), dijkstra(&grid, UNIT, goal));
}

#[test]
fn a_repair_that_does_not_pay_is_reported() {
    let mut grid = NavGrid::new(128, 128, TerrainId::GROUND).unwrap();
    let goal = Cell::new(20, 60);
    let mut field = field_to(&grid, goal);
    grid.block(CellRect::new(Cell::new(110, 59), 1, 3)).unwrap();
    field.repair(&grid, u32::MAX);
    assert!(field.is_repair_cheaper(), "few cells are behind the wall");
    grid.block(CellRect::new(Cell::new(40, 30), 1, 60)).unwrap();
    let mut slices = 0;
    while field.is_repair_cheaper() {
        assert!(field.repair(&grid, 100) > 0);
        slices += 1;
    }
    assert!((5..100).contains(&slices), "{slices} slices");
    // It may still continue.
    field.repair(&grid, u32::MAX);
    assert_eq!(costs(&field, &grid), dijkstra(&grid, UNIT, goal));
    // The same profiles again, or one more: nothing has changed.
    for count in [1, 2] {
        grid.set_profiles(vec![Profile::default(); count]);
        assert!(field.can_repair(&grid) && field.repair(&grid, 1) == 0);
    }
    // One less: every cell may have changed, so every cell is checked.
    grid.set_profiles(vec![Profile::default()]);
    assert!(field.can_repair(&grid));
    field.repair(&grid, 1);
    assert!(!field.is_repair_cheaper());
    field.repair(&grid, u32::MAX);
    assert_eq!(field.repair_counters().checked, 128 * 128 - 1);
}

#[test]
fn edits_do_not_restart_a_repairable_field() {
    let mut grid = NavGrid::new(64, 64, TerrainId::GROUND).unwrap();
    let (goal, spot) = (Cell::new(10, 10), Cell::new(50, 40));
    let mut field = DistanceField::new();
    field.start_repairable(&grid, UNIT, goal).unwrap();
    let mut slices = 0;
    while field.is_stale(&grid) || !field.is_finished() {
        assert!(field.repair(&grid, 200) > 0 && field.is_repair_cheaper());
        slices += 1;
        assert!(slices < 70, "4,096 cells at about two units each");
        if slices < 30 {
            grid.set_terrain(spot, TerrainId(slices % 2)).unwrap();
        }
    }
    assert!(slices > 30, "it was edited in the meantime");
    assert_eq!(costs(&field, &grid), dijkstra(&grid, UNIT, goal));
    // Awaited cells do not end it early.
    field.start_repairable(&grid, UNIT, goal).unwrap();
    field.await_cells(&grid, [goal]);
    assert!(!field.is_finished());
}

#[test]
fn repairs_leave_out_cells_whose_cost_overflows() {
    let profile = Profile::new().with(TerrainId(1), u16::MAX).with(TerrainId(2), u16::MAX - 1);
    let grid = NavGrid::new(100, 1, TerrainId(1)).unwrap();
    let mut grid = grid.with_profiles(vec![profile]);
    let goal = Cell::new(0, 0);
    let mut field = field_to(&grid, goal);
    let before = costs(&field, &grid);
    let wall = CellRect::single(Cell::new(20, 0));
    grid.block(wall).unwrap();
    field.repair(&grid, u32::MAX);
    assert_eq!(costs(&field, &grid).iter().flatten().count(), 20);
    grid.unblock(wall).unwrap();
    field.repair(&grid, u32::MAX);
    assert!(field.is_finished() && field.overflow());
    assert_eq!(costs(&field, &grid), before);
}

/// Returns the costs to the nearest passable cell of a rectangle.
fn costs_to_rect(grid: &NavGrid, rect: CellRect) -> Vec<Option<u64>> {
    let goals = rect.intersection(grid.rect()).cells().filter(|&cell| grid.cost(UNIT, cell) > 0);
    let each = goals.map(|goal| dijkstra(grid, UNIT, goal));
    let nearer = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
    each.fold(vec![None; grid.rect().cells().count()], |best, costs| {
        best.into_iter().zip(costs).map(|(a, b)| nearer(a, b)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_field_leads_to_the_nearest_cell_of_a_rectangle(
        grid in grids(),
        pick: u32,
        (width, height) in (1u32..6, 1u32..6),
        offset in -3i32..1,
        is_repairable: bool,
        edits in prop::collection::vec(any::<(u8, u32, u32, u32)>(), 0..4),
        slice in prop_oneof![Just(1u32), 2u32..60, Just(u32::MAX)],
    ) {
        let mut grid = grid;
        let goal = CellRect::new(any_cell(&grid, pick).offset(offset, offset), width, height);
        let mut field = DistanceField::new();
        let begin = |field: &mut DistanceField, grid: &NavGrid| {
            if is_repairable {
                field.start_repairable(grid, UNIT, goal)
            } else {
                field.start(grid, UNIT, goal)
            }
        };
        let mut is_begun = begin(&mut field, &grid).is_ok();
        for edit in edits.into_iter().map(Some).chain([None]) {
            while !field.is_finished() {
                field.step(&grid, slice);
            }
            let best = costs_to_rect(&grid, goal);
            prop_assert_eq!(is_begun, best.contains(&Some(0)));
            prop_assert_eq!(costs(&field, &grid), best);
            for cell in grid.rect().cells() {
                let path = field.path(&grid, cell);
                prop_assert!(path.is_none_or(|path| goal.contains(path.end())));
            }
            if let Some(edit) = edit {
                change(&mut grid, edit);
            }
            while field.can_repair(&grid) && field.is_stale(&grid) {
                field.repair(&grid, slice);
            }
            if field.is_stale(&grid) {
                is_begun = begin(&mut field, &grid).is_ok();
            }
        }
    }
}

#[test]
fn a_change_of_some_cells_of_a_goal_takes_a_small_part_of_a_field() {
    let mut grid = NavGrid::new(256, 256, TerrainId::GROUND).unwrap();
    let goal = CellRect::new(Cell::new(100, 120), 6, 3);
    let mut field = DistanceField::new();
    field.start(&grid, UNIT, goal).unwrap();
    let whole = field.step(&grid, u32::MAX);
    let (middle, corner) = (Cell::new(102, 121), Cell::new(105, 122));
    for (cell, blocks) in [(middle, true), (corner, true), (corner, false), (middle, false)] {
        let rect = CellRect::single(cell);
        let edited = if blocks { grid.block(rect) } else { grid.unblock(rect) };
        edited.unwrap();
        assert!(field.can_repair(&grid));
        let taken = field.repair(&grid, u32::MAX);
        assert!(field.is_finished() && !field.is_stale(&grid));
        assert!(costs(&field, &grid) == costs_to_rect(&grid, goal), "{cell} blocks: {blocks}");
        // Behind the corner many cells are farther away.
        assert!(cell == corner || 100 * taken < whole, "{taken} of {whole}");
    }
    for (rect, is_empty) in [(CellRect::single(middle), false), (goal, true)] {
        grid.block(rect).unwrap();
        field.repair(&grid, u32::MAX);
        assert_eq!(costs(&field, &grid).iter().all(Option::is_none), is_empty);
        assert!(costs(&field, &grid) == costs_to_rect(&grid, goal));
    }
}

#[test]
fn edits_that_come_faster_than_they_are_checked_take_no_more_memory() {
    let mut grid = NavGrid::new(64, 64, TerrainId::GROUND).unwrap();
    let goal = Cell::new(3, 3);
    let mut random = Random(7);
    let mut field = DistanceField::new();
    field.start_repairable(&grid, UNIT, goal).unwrap();
    for round in 0..20_000_u32 {
        let (x, y) = (10 + random.below(54) as i32, 10 + random.below(54) as i32);
        grid.set_terrain(Cell::new(x, y), TerrainId((round % 2) as u8)).unwrap();
        assert!(field.repair(&grid, 1) > 0);
        // Entries of 8 bytes, with room for twice as many.
        assert!(field.bytes() < 300_000, "{} bytes after {round} edits", field.bytes());
        if !field.is_repair_cheaper() {
            field.start_repairable(&grid, UNIT, goal).unwrap();
        }
    }
    while !field.is_finished() || field.is_stale(&grid) {
        assert!(field.repair(&grid, 5_000) > 0);
    }
    assert_eq!(costs(&field, &grid), dijkstra(&grid, UNIT, goal));
}
