//! Landmarks: in every state, and while terrain, blockers and profiles change, paths cost what they must.

use bevy_tilepath::nav::{landmarks::LandmarkFiller, node_pool::NodePool, search::Search};
use bevy_tilepath::prelude::*;

use crate::common::{Random, any_topology, patched_terrain, scatter_edges, with_edges};

const SIZE: (u32, u32) = (96, 80);
const ID: GridId = GridId(0);
const ALL: usize = usize::MAX;

fn profiles() -> Vec<Profile> {
    let weighted = [(2, 24), (3, 48), (4, 160)]
        .into_iter()
        .fold(Profile::default(), |profile, (terrain, cost)| {
            profile.with(TerrainId(terrain), cost)
        });
    let plain =
        (1..=4).fold(Profile::default(), |profile, terrain| profile.with(TerrainId(terrain), 16));
    vec![
        plain.clone(),
        with_edges(weighted.clone()),
        plain.clone().neighbors(Neighborhood::Four),
        with_edges(weighted.clone().size(2)),
        with_edges(plain.corners(CornerRule::Allow)),
        weighted.neighbors(Neighborhood::Four),
    ]
}

/// A grid of patches, of walls that are scattered, or of rooms.
fn grid_of(kind: u32, random: &mut Random) -> NavGrid {
    let mut terrain = match kind % 3 {
        0 => patched_terrain(SIZE, 60, 30, random),
        _ => patched_terrain(SIZE, 25, 0, random),
    };
    for (at, cell) in terrain.iter_mut().enumerate() {
        let (x, y) = (at as u32 % SIZE.0, at as u32 / SIZE.0);
        let is_wall = match kind % 3 {
            1 => random.below(4) == 0,
            2 => (x % 12 == 0 || y % 12 == 0) && random.below(6) > 0,
            _ => false,
        };
        if is_wall {
            *cell = 0;
        }
    }
    let grid = NavGrid::from_terrain(SIZE.0, SIZE.1, terrain).unwrap();
    let mut grid = grid.with_topology(any_topology(random)).with_profiles(profiles());
    if kind % 2 == 1 {
        scatter_edges(&mut grid, 40, random);
    }
    grid
}

fn fill(filler: &mut LandmarkFiller, grid: &mut NavGrid, budget: u32) -> u32 {
    filler.begin_step();
    filler.fill((ID, grid), ALL, budget)
}

fn want_all(grid: &NavGrid) {
    (0..grid.profiles().len() as u8).for_each(|profile| grid.want_landmarks(ProfileId(profile)));
}

/// Fills all tables, however long it takes.
fn fill_all(filler: &mut LandmarkFiller, grid: &mut NavGrid) {
    want_all(grid);
    for _ in 0..1_000 {
        fill(filler, grid, u32::MAX);
    }
}

fn terrain_of(grid: &NavGrid) -> Vec<u8> {
    grid.rect().cells().filter_map(|cell| Some(grid.terrain(cell)?.0)).collect()
}

fn cell(random: &mut Random) -> Cell {
    Cell::new(random.below(SIZE.0) as i32, random.below(SIZE.1) as i32)
}

/// Changes terrain, a blocker, or the profiles.
fn edit(grid: &mut NavGrid, blocked: &mut Vec<CellRect>, random: &mut Random) {
    let (at, side) = (cell(random), 1 + random.below(5));
    let rect = CellRect::new(at, side, side).intersection(grid.rect());
    match random.below(40) {
        0 => {
            let mut others = profiles();
            others.rotate_left(random.below(6) as usize);
            grid.set_profiles(others);
        }
        1..6 => scatter_edges(grid, 2, random),
        6..20 => {
            let terrain = TerrainId(random.below(5) as u8);
            let mut edit = grid.edit();
            rect.cells().for_each(|cell| edit.set_terrain(cell, terrain).unwrap());
        }
        _ if blocked.len() > 8 => grid.unblock(blocked.swap_remove(0)).unwrap(),
        _ => {
            grid.block(rect).unwrap();
            blocked.push(rect);
        }
    }
}

/// The cost of a query; `None` where there is no path.
fn cost(grid: &NavGrid, query: PathQuery) -> Option<PathCost> {
    cost_to_any(grid, query, &[])
}

fn cost_to_any(grid: &NavGrid, query: PathQuery, goals: &[Goal]) -> Option<PathCost> {
    let whole = answer_to_any(grid, query, goals, u32::MAX);
    if !goals.is_empty() {
        assert_eq!(whole, answer_to_any(grid, query, goals, 1), "one by one: {query:?} {goals:?}");
    }
    whole.0
}

fn answer_to_any(
    grid: &NavGrid,
    query: PathQuery,
    goals: &[Goal],
    slice: u32,
) -> (Option<PathCost>, u64) {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    if search.start_any(grid, &pool, query, goals).is_err() {
        return (None, 0);
    }
    while !search.is_finished() {
        search.step(grid, &pool, slice);
    }
    let expansions = search.counters().expansions;
    (search.finish(grid, &pool).ok().map(|path| path.cost()), expansions)
}

/// Cells and areas anywhere.
fn goals(random: &mut Random) -> Vec<Goal> {
    let goal = |random: &mut Random| match random.below(4) {
        0 => Goal::within(CellRect::new(cell(random), 3, 5), random.below(6) as u16),
        1 => Goal::in_sight(CellRect::single(cell(random)), 9, ProfileId(0)),
        2 => Goal::beside(CellRect::new(cell(random), 9, 2)),
        _ => cell(random).into(),
    };
    (0..1 + random.below(5)).map(|_| goal(random)).collect()
}

fn query(random: &mut Random) -> PathQuery {
    let algorithms = [Algorithm::Auto, Algorithm::AStar, Algorithm::JumpPoint, Algorithm::Exact];
    let profile = ProfileId(random.below(6) as u8);
    let reach = if random.below(4) == 0 { Reach::Nearest } else { Reach::Exact };
    PathQuery::new(cell(random), cell(random))
        .profile(profile)
        .reach(reach)
        .algorithm(algorithms[random.below(4) as usize])
}

fn check(grid: &NavGrid, query: PathQuery, found: Option<PathCost>, what: &str) {
    let least = cost(grid, query.algorithm(Algorithm::Dijkstra));
    assert_eq!(found, least, "{what}: {query:?}");
}

/// Whole searches between edits, with tables in every state: none, half filled, whole, dropped.
#[test]
fn paths_cost_the_least_while_the_map_changes() {
    let (mut steps, mut with_tables) = (0, 0);
    for seed in 0..36 {
        let mut random = Random(seed);
        let mut grid = grid_of(seed as u32, &mut random);
        let (mut filler, mut blocked) = (LandmarkFiller::new(), Vec::new());
        want_all(&grid);
        for _ in 0..40 {
            for _ in 0..random.below(3) {
                edit(&mut grid, &mut blocked, &mut random);
                want_all(&grid);
            }
            let (slice, times) = (1 + random.below(20_000), random.below(300));
            for _ in 0..times {
                fill(&mut filler, &mut grid, slice);
            }
            steps += 1;
            with_tables += usize::from(grid.landmark_bytes() > 0);
            for _ in 0..6 {
                let query = query(&mut random);
                check(&grid, query, cost(&grid, query), "whole");
                let goals = goals(&mut random);
                let query = query.reach(Reach::Exact);
                let least = cost_to_any(&grid, query.algorithm(Algorithm::Dijkstra), &goals);
                let found = cost_to_any(&grid, query, &goals);
                assert_eq!(found, least, "many goals: {query:?} {goals:?}");
            }
        }
    }
    assert!(with_tables * 3 > steps && with_tables < steps, "{with_tables} of {steps}");
}

/// Searches under way while the map changes and tables come and go: one that is not stale ends with the least cost.
#[test]
fn searches_under_way_cost_the_least_while_the_map_changes() {
    let mut went_on = 0;
    for seed in 100..124 {
        let mut random = Random(seed);
        let mut grid = grid_of(seed as u32, &mut random);
        let (mut filler, mut blocked) = (LandmarkFiller::new(), Vec::new());
        fill_all(&mut filler, &mut grid);
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        for _ in 0..60 {
            let query = query(&mut random);
            let mut found = search.start(&grid, &pool, query);
            while found.is_ok() && !search.is_finished() {
                search.step(&grid, &pool, 1 + random.below(60));
                if random.below(4) == 0 {
                    edit(&mut grid, &mut blocked, &mut random);
                }
                for _ in 0..random.below(3) {
                    fill(&mut filler, &mut grid, 5_000);
                }
                if search.is_stale(&grid) {
                    found = search.start(&grid, &pool, query);
                } else {
                    went_on += 1;
                }
            }
            let cost = found.and_then(|()| search.finish(&grid, &pool)).ok();
            check(&grid, query, cost.map(|path| path.cost()), "under way");
            for _ in 0..random.below(2) * 300 {
                fill(&mut filler, &mut grid, 20_000);
            }
        }
    }
    assert!(went_on > 1_000, "{went_on}");
}

#[test]
fn landmarks_save_expansions_and_leave_with_cheaper_terrain() {
    let mut random = Random(7);
    let mut grid = grid_of(2, &mut random);
    let (mut filler, pool, mut search) =
        (LandmarkFiller::new(), NodePool::default(), Search::new());
    let far_apart = |_| {
        let (from, to) = (cell(&mut random), cell(&mut random));
        (Cell::new(from.x / 4, from.y), Cell::new(72 + to.x / 4, to.y))
    };
    let ways: Vec<_> = (0..200).map(far_apart).collect();
    let mut expansions = |grid: &NavGrid| {
        let mut sum = 0;
        for &(from, to) in &ways {
            let search: &mut Search = &mut search;
            if search.start(grid, &pool, PathQuery::new(from, to)).is_ok() {
                search.step(grid, &pool, u32::MAX);
                sum += search.counters().expansions;
                assert!(search.finish(grid, &pool).is_ok());
            }
        }
        sum
    };
    let without = expansions(&grid);
    fill_all(&mut filler, &mut grid);
    let with = expansions(&grid);
    assert!(with * 2 < without, "{with} instead of {without}");
    let backwards = |grid: &NavGrid| -> u64 {
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        let mut work = |&(from, to): &(Cell, Cell)| {
            let far: Vec<Goal> = (0..9).map(|y| Cell::new(95, 9 * y).into()).collect();
            let query = PathQuery::new(from, Goal::within(CellRect::single(to), 2));
            let _started = search.start_any(grid, &pool, query, &far);
            search.step(grid, &pool, u32::MAX);
            search.counters().expansions
        };
        ways.iter().map(&mut work).sum()
    };
    let with = backwards(&grid);
    let bare = NavGrid::from_terrain(SIZE.0, SIZE.1, terrain_of(&grid)).unwrap();
    let bare = bare.with_topology(grid.topology()).with_profiles(profiles());
    let without = backwards(&bare);
    assert!(with * 3 < without * 2, "{with} instead of {without}, backwards");

    let wall = grid.rect().cells().find(|&cell| grid.terrain(cell) == Some(TerrainId(0))).unwrap();
    let bytes = grid.landmark_bytes();
    grid.block(CellRect::single(wall)).unwrap();
    grid.unblock(CellRect::single(wall)).unwrap();
    assert_eq!(grid.landmark_bytes(), bytes, "blockers come and go");
    grid.set_terrain(wall, TerrainId(1)).unwrap();
    assert_eq!(grid.landmark_bytes(), 0, "a wall became passable");
    assert!(expansions(&grid) > with, "without landmarks");
}

/// Terrain that becomes cheaper under a blocker changes no path, and not even the revision of the grid, but it does once
/// the blocker is gone.
#[test]
fn cheaper_terrain_under_blockers_counts() {
    let mut random = Random(11);
    let mut grid = grid_of(2, &mut random);
    let mut filler = LandmarkFiller::new();
    let is_wall = |cell: &Cell| grid.terrain(*cell) == Some(TerrainId(0));
    let walls: Vec<Cell> = grid.rect().cells().filter(is_wall).collect();
    walls.iter().for_each(|&wall| grid.block(CellRect::single(wall)).unwrap());
    fill_all(&mut filler, &mut grid);
    for part in walls.chunks(40) {
        // One half before the filling begins, the other while it is under way.
        let (before, meanwhile) = part.split_at(20.min(part.len()));
        let dig = |grid: &mut NavGrid, walls: &[Cell]| {
            walls.iter().for_each(|&wall| grid.set_terrain(wall, TerrainId(1)).unwrap());
        };
        dig(&mut grid, before);
        for _ in 0..140 {
            fill(&mut filler, &mut grid, 200);
        }
        dig(&mut grid, meanwhile);
        fill_all(&mut filler, &mut grid);
        assert!(grid.landmark_bytes() > 0, "there are tables to be wrong");
        part.iter().for_each(|&wall| grid.unblock(CellRect::single(wall)).unwrap());
        for _ in 0..40 {
            let query = query(&mut random);
            check(&grid, query, cost(&grid, query), "after digging");
        }
    }
}

/// A table that is being filled for one grid is not given to another one with the same number.
#[test]
fn tables_belong_to_their_grid() {
    let mut random = Random(12);
    let (mut grid, mut other) = (grid_of(2, &mut random), grid_of(0, &mut random));
    let mut filler = LandmarkFiller::new();
    want_all(&grid);
    want_all(&other);
    for _ in 0..20 {
        fill(&mut filler, &mut grid, 300);
    }
    fill_all(&mut filler, &mut other);
    assert!(other.landmark_bytes() > 0);
    for _ in 0..200 {
        let query = query(&mut random);
        check(&other, query, cost(&other, query), "the other grid");
    }
}

/// A copy from before a wall went up takes the place of the grid while a table is filled for it.
#[test]
fn a_restored_copy_gets_a_table_of_its_own() {
    let mut random = Random(13);
    let mut grid = grid_of(2, &mut random);
    let mut filler = LandmarkFiller::new();
    want_all(&grid);
    let copy = grid.clone();
    for x in 0..SIZE.0 as i32 - 1 {
        grid.set_terrain(Cell::new(x, 40), TerrainId(0)).unwrap();
    }
    for _ in 0..20 {
        fill(&mut filler, &mut grid, 300);
    }
    grid = copy;
    fill_all(&mut filler, &mut grid);
    assert!(grid.landmark_bytes() > 0);
    for _ in 0..200 {
        let query = query(&mut random);
        check(&grid, query, cost(&grid, query), "the copy");
    }
}

/// The table depends on the map alone, not on how its filling was sliced.
#[test]
fn tables_are_the_same_however_they_are_filled() {
    let mut random = Random(3);
    let grid = grid_of(0, &mut random);
    let mut counts = [u32::MAX, 1, 977].map(|slice| {
        let (mut grid, mut filler) = (grid.clone(), LandmarkFiller::new());
        grid.want_landmarks(ProfileId(1));
        while fill(&mut filler, &mut grid, slice) > 0 {}
        assert!(grid.landmark_bytes() > 0);
        let mut random = Random(4);
        let queries = (0..50).map(|_| query(&mut random).profile(ProfileId(1)));
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        let expansions = queries.map(|query| {
            let started = search.start(&grid, &pool, query);
            search.step(&grid, &pool, u32::MAX);
            let path = started.and_then(|()| search.finish(&grid, &pool));
            (path, search.counters())
        });
        expansions.collect::<Vec<_>>()
    });
    counts.sort_by_key(Vec::len);
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[1], counts[2]);
}

#[test]
fn there_are_as_many_landmarks_as_fit() {
    let grid = grid_of(2, &mut Random(5));
    let count = |bytes_per_cell: usize| {
        let (mut grid, mut filler) = (grid.clone(), LandmarkFiller::new());
        grid.want_landmarks(ProfileId(0));
        let most_bytes = (SIZE.0 * SIZE.1) as usize * bytes_per_cell;
        let mut room = most_bytes;
        filler.begin_step();
        while filler.fill((ID, &mut grid), room, 1_000) > 0 {
            assert!(grid.landmark_bytes() <= most_bytes);
            room = most_bytes - grid.landmark_bytes();
        }
        let cells = grid.landmark_cells(ProfileId(0)).collect::<Vec<_>>();
        assert!(cells.iter().all(|&cell| grid.cost(ProfileId(0), cell) > 0));
        cells.len()
    };
    assert_eq!([7, 13, 20, 23, 1_000].map(count), [0, 4, 8, 12, 12]);
    let half = NavGrid::from_terrain(64, 64, (0..4_096).map(|i| u8::from(i % 64 < 40)).collect());
    let (mut half, mut filler) = (half.unwrap(), LandmarkFiller::new());
    fill_all(&mut filler, &mut half);
    assert_eq!(half.landmark_cells(ProfileId(0)).count(), 16);
}

/// Costs that differ finely take 32 bits; the room is known to be too small only when distances are stored.
#[test]
fn a_table_that_grows_too_large_gets_fewer_landmarks() {
    let mut random = Random(8);
    let terrain = (0..64 * 64).map(|_| 1 + random.below(2) as u8).collect();
    let costly = Profile::new().with(TerrainId(1), 60_000).with(TerrainId(2), 65_000);
    let grid = NavGrid::from_terrain(64, 64, terrain).unwrap().with_profiles(vec![costly]);
    for slice in [300, u32::MAX] {
        let (mut grid, mut filler) = (grid.clone(), LandmarkFiller::new());
        grid.want_landmarks(ProfileId(0));
        while fill(&mut filler, &mut grid, slice) > 0 {}
        assert_eq!(grid.landmark_cells(ProfileId(0)).count(), 4, "8 have room for 16 bits only");
        assert!(grid.landmark_bytes() <= 64 * 64 * 23);
    }
}

/// What cannot be filled again stays in use, and what is missing is filled before what is weak.
#[test]
fn weak_tables_stay_until_there_are_better_ones() {
    let mut grid = grid_of(2, &mut Random(5));
    let mut filler = LandmarkFiller::new();
    let (first, second) = (ProfileId(0), ProfileId(1));
    grid.want_landmarks(first);
    while fill(&mut filler, &mut grid, 5_000) > 0 {}
    let before: Vec<Cell> = grid.landmark_cells(first).collect();
    for cell in CellRect::new(Cell::new(30, 30), 20, 20).cells() {
        grid.set_terrain(cell, TerrainId(0)).unwrap();
    }
    grid.want_landmarks(second);
    fill_until(&mut filler, &mut grid, |grid| grid.landmark_cells(second).count() > 0);
    assert!(grid.landmark_cells(first).eq(before.iter().copied()), "the second comes first");
    // All but a few cells become walls: too few for landmarks.
    for cell in grid.rect().cells().filter(|cell| cell.x > 5) {
        grid.set_terrain(cell, TerrainId(0)).unwrap();
    }
    while fill(&mut filler, &mut grid, 5_000) > 0 {}
    assert!(grid.landmark_cells(first).count() > 0, "it is correct still");
}

fn fill_until(filler: &mut LandmarkFiller, grid: &mut NavGrid, is_done: impl Fn(&NavGrid) -> bool) {
    let done = (0..2_000).any(|_| {
        fill(filler, grid, 300);
        is_done(grid)
    });
    assert!(done);
}

/// Several profiles together keep the limit, whatever the slices, and use memory that becomes free.
#[test]
fn the_limit_holds_and_free_memory_is_used() {
    let profiles = [0, 1, 2].map(ProfileId);
    for (seed, bytes_per_cell) in (0..12).flat_map(|seed| [20, 40, 60].map(|most| (seed, most))) {
        let mut random = Random(seed);
        let mut grid = grid_of(seed as u32, &mut random);
        let mut filler = LandmarkFiller::new();
        profiles.iter().for_each(|&profile| grid.want_landmarks(profile));
        let limit = (SIZE.0 * SIZE.1) as usize * bytes_per_cell;
        let slice = [1_000, 50_000, u32::MAX][random.below(3) as usize];
        filler.begin_step();
        loop {
            let room = limit - grid.landmark_bytes();
            let spent = filler.fill((ID, &mut grid), room, slice);
            assert!(grid.landmark_bytes() <= limit, "{seed} {bytes_per_cell} {slice}");
            if spent == 0 {
                break;
            }
        }
        assert!(grid.landmark_bytes() > 0);
    }
}

/// Every profile first gets a table soon, then a better one.
#[test]
fn quick_tables_come_first() {
    let mut grid = grid_of(2, &mut Random(5));
    // Edges that cost little make the units of costs small, so that fewer landmarks fit.
    let shut = |profile: &Profile| profile.clone().without_edge(EdgeId(3)).without_edge(EdgeId(4));
    grid.set_profiles(profiles().iter().map(shut).collect());
    let mut filler = LandmarkFiller::new();
    want_all(&grid);
    // Units of two cells do not fit through the doors: too few cells are connected.
    let counts = |grid: &NavGrid| {
        [0, 1, 2, 4, 5].map(|profile| grid.landmark_cells(ProfileId(profile)).count())
    };
    let (mut spent, mut quick) = (0, 0);
    loop {
        let work = fill(&mut filler, &mut grid, 300);
        spent += work;
        if quick == 0 && !counts(&grid).contains(&0) {
            quick = spent;
            assert!(counts(&grid).into_iter().all(|count| count <= 8));
        }
        if work == 0 {
            break;
        }
    }
    assert_eq!(counts(&grid), [12, 12, 12, 12, 8]);
    assert!(quick > 0 && quick * 4 < spent, "{quick} of {spent}");
}

/// The paths of the layer without blockers are the same, whether it was repaired or built.
#[test]
fn tables_are_the_same_with_and_without_buildings() {
    for seed in 0..24 {
        let mut random = Random(seed);
        let mut grid = grid_of(seed as u32, &mut random);
        let mut built = grid.clone();
        let mut blocked = Vec::new();
        for _ in 0..random.below(60) {
            let rect = CellRect::new(cell(&mut random), 1 + random.below(9), 1 + random.below(9));
            blocked.push(rect.intersection(grid.rect()));
        }
        blocked.iter().for_each(|&rect| grid.block(rect).unwrap());
        fill_all(&mut LandmarkFiller::new(), &mut grid);
        fill_all(&mut LandmarkFiller::new(), &mut built);
        blocked.iter().for_each(|&rect| grid.unblock(rect).unwrap());
        assert!(built.landmark_bytes() > 0 && grid.landmark_bytes() > 0, "{seed}");
        for profile in (0..6).map(ProfileId) {
            assert!(grid.landmark_cells(profile).eq(built.landmark_cells(profile)), "{seed}");
        }
        for _ in 0..40 {
            let query = query(&mut random);
            assert_eq!(work(&grid, query), work(&built, query), "{seed}");
        }
    }
}

fn work(grid: &NavGrid, query: PathQuery) -> u64 {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let _started = search.start(grid, &pool, query);
    search.step(grid, &pool, u32::MAX);
    search.counters().expansions
}

#[test]
fn profiles_with_the_same_rules_share_a_table() {
    let mut grid = grid_of(2, &mut Random(5));
    let rules = profiles().swap_remove(0);
    let bytes = [1, 3].map(|count| {
        grid.set_profiles(vec![rules.clone(); count]);
        fill_all(&mut LandmarkFiller::new(), &mut grid);
        grid.landmark_bytes()
    });
    assert_eq!(bytes[0], bytes[1]);
    assert!(grid.landmark_cells(ProfileId(2)).count() > 0);
}

/// Profiles that stay the same keep their layers and tables; searches of changed ones go by the new rules.
#[test]
fn profiles_are_added_and_changed_one_by_one() {
    let mut random = Random(17);
    let mut grid = grid_of(2, &mut random);
    let [first, second] = [0, 1].map(|index| profiles().swap_remove(index));
    grid.set_profiles(vec![first.clone()]);
    fill_all(&mut LandmarkFiller::new(), &mut grid);
    let bytes = grid.landmark_bytes();
    assert!(bytes > 0);
    grid.set_profiles(vec![first.clone(), second.clone()]);
    assert_eq!(grid.landmark_bytes(), bytes, "nothing has changed for the first profile");
    let everything = [vec![first.clone(), second.clone()], vec![second.clone(), second.clone()]];
    for rules in everything.into_iter().chain([vec![second], vec![first.clone(), first]]) {
        grid.set_profiles(rules.clone());
        let fresh = NavGrid::from_terrain(SIZE.0, SIZE.1, terrain_of(&grid)).unwrap();
        let fresh = fresh.with_topology(grid.topology()).with_profiles(rules.clone());
        for number in 0..rules.len() {
            let profile = ProfileId(number as u8);
            let start = grid.rect().cells().find(|&cell| grid.cost(profile, cell) > 0).unwrap();
            for goal in grid.rect().cells().step_by(61) {
                let cost =
                    |grid: &NavGrid| grid.find_path(profile, start, goal).map(|it| it.cost());
                assert_eq!(cost(&grid), cost(&fresh), "{rules:?} {number} {start} to {goal}");
            }
        }
    }
    assert_eq!(grid.landmark_bytes(), 0, "the first profile was another one in between");
}

/// Walls are allowed to make a table weak, but not for long.
#[test]
fn a_weak_table_is_filled_again() {
    let mut random = Random(6);
    let mut grid = grid_of(0, &mut random);
    let mut filler = LandmarkFiller::new();
    let profile = ProfileId(0);
    grid.want_landmarks(profile);
    while fill(&mut filler, &mut grid, 5_000) > 0 {}
    for _ in 0..12 {
        let (x, y) = (8 + random.below(80) as i32, 2 + random.below(30) as i32);
        for cell in CellRect::new(Cell::new(x, y), 1, 46).cells() {
            grid.set_terrain(cell, TerrainId(0)).unwrap();
        }
    }
    assert!(grid.landmark_bytes() > 0, "it is correct still");
    let weak = grid.clone();
    while fill(&mut filler, &mut grid, 5_000) > 0 {}
    let expansions = |grid: &NavGrid| {
        let (pool, mut search, mut sum) = (NodePool::default(), <Search>::new(), 0);
        for y in 2..78 {
            let query = PathQuery::new(Cell::new(0, y), Cell::new(95, 79 - y)).profile(profile);
            let started = search.start(grid, &pool, query);
            search.step(grid, &pool, u32::MAX);
            check(
                grid,
                query,
                started.and_then(|()| search.finish(grid, &pool)).ok().map(|path| path.cost()),
                "walls",
            );
            sum += search.counters().expansions;
        }
        sum
    };
    let (before, after) = (expansions(&weak), expansions(&grid));
    assert!(after * 3 < before * 2, "{after} instead of {before}");
}

#[test]
fn there_are_no_landmarks_where_they_do_not_fit_or_do_not_help() {
    let (mut grid, mut filler) =
        (NavGrid::new(64, 64, TerrainId(1)).unwrap(), LandmarkFiller::new());
    let too_few = 64 * 64 * 8;
    want_all(&grid);
    filler.begin_step();
    while filler.fill((ID, &mut grid), too_few, 1_000) > 0 {}
    assert_eq!(grid.landmark_bytes(), 0);

    let (mut tiny, mut filler) = (NavGrid::new(9, 9, TerrainId(1)).unwrap(), LandmarkFiller::new());
    fill_all(&mut filler, &mut tiny);
    assert_eq!(tiny.landmark_bytes(), 0);
    let (from, to) = (Cell::new(0, 0), Cell::new(8, 3));
    assert!(tiny.find_path(ProfileId(0), from, to).is_ok());
}
