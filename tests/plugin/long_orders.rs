//! Orders across a large map: a critter starts on the first segment of its path while the rest is still being
//! searched. Also the counters of answers, with any number of threads.

use bevy::{prelude::*, tasks::ComputeTaskPool};
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, is_legal_path, units::block};

const WIDTH: u32 = 2_400;
const HEIGHT: u32 = 64;
pub const START: (i32, i32) = (2, 32);
pub const GOAL: (i32, i32) = (2_397, 32);
/// Small enough that the rest of a long path takes several ticks.
const BUDGET: u32 = 20_000;

/// Returns terrain in patches that cost 1, 2, 3 and 5 times the plain cost, with scattered rocks, so that
/// searches do not jump and take long. The columns at both ends, and some in the middle, are of terrain 1.
fn wilderness(width: u32, height: u32, rocks: u32) -> NavGrid {
    let mut random = Random(17);
    let mut terrain = vec![1u8; (width * height) as usize];
    for _ in 0..width * height / 100 {
        let (left, low) = (random.below(width), random.below(height));
        let id = 1 + random.below(4) as u8;
        let (right, high) = (left + 1 + random.below(14), low + 1 + random.below(14));
        for y in low..high.min(height) {
            let row = (y * width) as usize;
            terrain[row + left as usize..row + right.min(width) as usize].fill(id);
        }
    }
    for _ in 0..rocks {
        terrain[random.below(width * height) as usize] = 0;
    }
    let middle = width as usize / 2;
    for row in terrain.chunks_mut(width as usize) {
        row[..6].fill(1);
        row[middle - 6..middle + 6].fill(1);
        row[width as usize - 6..].fill(1);
    }
    NavGrid::from_terrain(width, height, terrain).unwrap()
}

/// Returns an app with a wilderness that takes many steps to cross.
pub fn app_in_the_wilderness() -> App {
    let mut app = app();
    let profile = (1u8..5)
        .zip([16, 32, 48, 80])
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost));
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    let mut grids = grid(&mut app);
    grids.set_profiles(vec![profile]);
    grids.insert(GridId::default(), wilderness(WIDTH, HEIGHT, 4_000), frame);
    app.world_mut().resource_mut::<TilePathSettings>().budget = BUDGET;
    app
}

fn set_speed(app: &mut App, unit: Entity, cells_per_second: f32) {
    app.world_mut().get_mut::<Critter>(unit).unwrap().speed = cells_per_second;
}

fn path(app: &App, unit: Entity) -> &Path {
    app.world().get::<NavPath>(unit).unwrap()
}

fn level(app: &App) -> &NavGrid {
    app.world().resource::<NavGrids>().get(GridId::default()).unwrap()
}

/// Returns the cells that a critter leaves and enters, and its progress between them.
fn step(app: &App, unit: Entity) -> (Cell, Cell, u64) {
    let state = state(app, unit);
    let crowd = app.world().resource::<Crowds>().get(GridId::default()).unwrap();
    (state.walk().tail(), state.walk().head(), crowd.progress(state.unit().unwrap()).0)
}

const ON_FIRST_SEGMENT: PathStatus = PathStatus::Walking(PathKind::FirstSegment);
const ON_WHOLE_PATH: PathStatus = PathStatus::Walking(PathKind::Complete);
const ARRIVED: PathStatus = PathStatus::Arrived(PathKind::Complete);

/// Returns a critter that has started across the map, while the rest of its path is being searched. It takes
/// more than a tick per cell.
fn start_on_first_segment() -> (App, Entity) {
    let mut app = app_in_the_wilderness();
    record(&mut app);
    let unit = spawn_critter(&mut app, START);
    set_speed(&mut app, unit, 60.0);
    order(&mut app, unit, GOAL);
    // In the tick of the order or the next.
    run_until(&mut app, 3, |app| status(app, unit) == ON_FIRST_SEGMENT);
    (app, unit)
}

/// Runs, at high speed, until the critter has reached the end of its path.
fn run_to_goal(app: &mut App, unit: Entity) {
    run_until(app, 100, |app| status(app, unit) == ON_WHOLE_PATH);
    set_speed(app, unit, 1_000.0);
    run_until(app, 10_000, |app| status(app, unit) == ARRIVED);
    assert_eq!(state(app, unit).cell(), Cell::from(GOAL));
}

#[test]
fn a_critter_starts_on_the_first_segment_and_never_stops_or_turns_back() {
    let (mut app, unit) = start_on_first_segment();
    assert!(state(&app, unit).walk().is_between_cells(), "it moves immediately");
    let splice = path(&app, unit).end();
    assert!(splice != Cell::from(GOAL) && splice.x > START.0, "the first segment ends at {splice}");
    let mut visited = vec![Cell::from(START)];
    for tick in 0..800 {
        let before = step(&app, unit);
        app.update();
        let now = step(&app, unit);
        assert_ne!(now, before, "it stands still in tick {tick}");
        if visited.last() != Some(&now.0) {
            assert!(!visited.contains(&now.0), "it turns back to {} in tick {tick}", now.0);
            visited.push(now.0);
        }
    }
    let last = visited.last().copied().expect("it has moved");
    assert!(last.x > splice.x, "it has passed the end of the first segment; it is at {last}");
    assert_eq!(status(&app, unit), ON_WHOLE_PATH);
    let whole = path(&app, unit);
    assert_eq!((whole.start(), whole.end()), (Cell::from(START), Cell::from(GOAL)));
    assert!(is_legal_path(level(&app), ProfileId(0), whole), "both segments make a legal path");
    run_to_goal(&mut app, unit);
    assert_eq!(
        events(&app),
        [
            Recorded::Found(unit, PathKind::FirstSegment),
            Recorded::Found(unit, PathKind::Complete),
            Recorded::Arrived(unit, PathKind::Complete),
        ]
    );
    let counters = counters(&app);
    assert_eq!((counters.requests, counters.found, counters.by_hierarchy), (1, 1, 1));
    assert_eq!((counters.restarts, counters.repaired), (0, 0));
}

#[test]
fn with_a_large_budget_both_segments_come_in_the_tick_of_the_order() {
    let mut app = app_in_the_wilderness();
    app.world_mut().resource_mut::<TilePathSettings>().budget = 50_000_000;
    record(&mut app);
    let unit = spawn_critter(&mut app, START);
    set_speed(&mut app, unit, 60.0);
    order(&mut app, unit, GOAL);
    app.update();
    assert_eq!(status(&app, unit), ON_WHOLE_PATH);
    let (first_segment, rest) = (PathKind::FirstSegment, PathKind::Complete);
    assert_eq!(events(&app), [Recorded::Found(unit, first_segment), Recorded::Found(unit, rest)]);
    let whole = path(&app, unit);
    assert_eq!((whole.start(), whole.end()), (Cell::from(START), Cell::from(GOAL)));
    assert!(is_legal_path(level(&app), ProfileId(0), whole), "both segments make a legal path");
    run_to_goal(&mut app, unit);
}

#[test]
fn an_edit_across_the_rest_while_it_is_being_searched_is_avoided() {
    let (mut app, unit) = start_on_first_segment();
    let wall = CellRect::new(Cell::new(WIDTH as i32 / 2, 0), 1, 60);
    block(&mut app, wall);
    app.update();
    assert!(counters(&app).restarts > 0, "the search was restarted");
    assert_eq!(counters(&app).repaired, 0, "the first segment is still valid");
    assert_eq!(status(&app, unit), ON_FIRST_SEGMENT);
    run_to_goal(&mut app, unit);
    let whole = path(&app, unit);
    assert!(whole.cells().all(|cell| !wall.contains(cell)), "it goes around the wall");
    assert_eq!(whole.start(), Cell::from(START), "the walked part stays part of its path");
    let found = events(&app);
    let ends = found.iter().filter(|&&event| event == Recorded::Found(unit, PathKind::Complete));
    assert_eq!(ends.count(), 1, "the rest comes once: {found:?}");
    assert!(!found.iter().any(|event| matches!(event, Recorded::Failed(..))), "{found:?}");
}

#[test]
fn the_rest_is_found_under_edits_in_every_tick() {
    let (mut app, unit) = start_on_first_segment();
    let mut edits = 0;
    while status(&app, unit) == ON_FIRST_SEGMENT {
        // Single walls along the edge, far ahead.
        block(&mut app, CellRect::single(Cell::new(2_000 + 2 * edits, 0)));
        app.update();
        edits += 1;
        assert!(edits < 20, "the rest is never found");
    }
    assert!(counters(&app).restarts > 2, "it was restarted several times");
    run_to_goal(&mut app, unit);
}

#[test]
fn a_wall_on_the_first_segment_has_the_whole_path_searched_again() {
    let (mut app, unit) = start_on_first_segment();
    let splice = path(&app, unit).end();
    let wall = CellRect::new(splice.offset(-1, -1), 3, 3);
    block(&mut app, wall);
    app.update();
    assert_eq!(counters(&app).repaired, 1, "its path is cut off");
    run_to_goal(&mut app, unit);
    assert!(path(&app, unit).cells().all(|cell| !wall.contains(cell)), "it goes around the wall");
    assert!(is_legal_path(level(&app), ProfileId(0), path(&app, unit)));
}

#[test]
fn a_goal_walled_off_while_the_rest_is_being_searched_is_reported_and_the_critter_stops() {
    let (mut app, unit) = start_on_first_segment();
    block(&mut app, CellRect::new(Cell::new(WIDTH as i32 / 2, 0), 1, HEIGHT));
    run(&mut app, 12);
    assert!(matches!(status(&app, unit), PathStatus::Failed(PathFailure::NoPath { .. })));
    assert!(!state(&app, unit).walk().is_between_cells(), "it stands on a cell");
    let before = step(&app, unit);
    run(&mut app, 50);
    assert_eq!(step(&app, unit), before, "and stays there");
    // It can be sent elsewhere from there.
    order(&mut app, unit, START);
    run_until(&mut app, 300, |app| status(app, unit) == ARRIVED);
    assert_eq!(state(&app, unit).cell(), Cell::from(START));
}

#[test]
fn a_new_order_while_the_rest_is_being_searched_replaces_it() {
    let (mut app, unit) = start_on_first_segment();
    run(&mut app, 2);
    assert_eq!(status(&app, unit), ON_FIRST_SEGMENT);
    let goal = (3, 60);
    order(&mut app, unit, goal);
    app.update();
    assert_eq!(status(&app, unit), ON_WHOLE_PATH);
    for _ in 0..200 {
        assert_eq!(path(&app, unit).end(), Cell::from(goal), "no part of the old path is appended");
        app.update();
    }
    assert_eq!((status(&app, unit), state(&app, unit).cell()), (ARRIVED, Cell::from(goal)));
    assert_eq!(
        events(&app),
        [
            Recorded::Found(unit, PathKind::FirstSegment),
            Recorded::Canceled(unit, CancelReason::Replaced),
            Recorded::Found(unit, PathKind::Complete),
            Recorded::Arrived(unit, PathKind::Complete),
        ]
    );
    let counters = counters(&app);
    assert_eq!((counters.waiting, counters.in_flight), (0, 0), "the old search is canceled");
    assert_eq!((counters.requests, counters.canceled, counters.found), (2, 1, 1));
}

#[test]
fn a_request_removed_while_the_rest_is_being_searched_leaves_no_job() {
    let (mut app, unit) = start_on_first_segment();
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(&mut app, 60);
    assert_eq!(status(&app, unit), PathStatus::Idle);
    assert!(!state(&app, unit).walk().is_between_cells(), "it stands on a cell");
    assert_eq!(events(&app).last(), Some(&Recorded::Canceled(unit, CancelReason::Removed)));
    let counters = counters(&app);
    assert_eq!((counters.waiting, counters.in_flight, counters.canceled), (0, 0, 1));
}

#[test]
fn despawning_while_the_rest_is_being_searched_leaves_no_job() {
    let (mut app, unit) = start_on_first_segment();
    let other = spawn_critter(&mut app, (3, 10));
    app.world_mut().entity_mut(unit).despawn();
    order(&mut app, other, (2, 50));
    run_until(&mut app, 600, |app| status(app, other) == ARRIVED);
    let counters = counters(&app);
    assert_eq!((counters.waiting, counters.in_flight), (0, 0));
    assert_eq!((counters.requests, counters.canceled, counters.found), (2, 1, 1));
}

#[test]
fn every_answer_is_counted_once_by_result_and_once_by_method() {
    let mut app = app_in_the_wilderness();
    app.world_mut().resource_mut::<TilePathSettings>().budget = 50_000;
    let town = GridId(1);
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(town, wilderness(200, 200, 0), frame);
    let rock = Cell::new(4, 20);
    block(&mut app, CellRect::single(rock));
    let transform_at = |x: i32, y: i32| Transform::from_xyz(x as f32 * 10.0, y as f32 * 10.0, 0.0);
    let mut requests = vec![
        (transform_at(2, 32), PathRequest::to(Cell::from(GOAL))),
        (transform_at(2, 3), PathRequest::to(rock)),
        (transform_at(2, 4), PathRequest::to(rock).reach(Reach::Nearest)),
        (transform_at(2, 5), PathRequest::to(Cell::new(-1, 5))),
        (transform_at(2, 6), PathRequest::to(Cell::new(3, 6)).profile(ProfileId(9))),
        (transform_at(2, 7), PathRequest::to(Cell::new(3, 9)).algorithm(Algorithm::Dijkstra)),
    ];
    for y in 10..30 {
        let near = PathRequest::to(Cell::new(3, y + 20));
        requests.push((transform_at(2, y), near.algorithm(Algorithm::AStar)));
        let across = PathRequest::to(Cell::new(198, y)).start_on(town);
        requests.push((transform_at(2, y), across.algorithm(Algorithm::JumpPoint)));
    }
    let mut random = Random(77);
    for _ in 0..600 {
        let at = transform_at(random.below(200) as i32, random.below(200) as i32);
        requests.push((at, PathRequest::to(Cell::new(1, 1)).start_on(town)));
    }
    let all = requests.len() as u64;
    app.world_mut().spawn_batch(requests).for_each(drop);
    let answered = |app: &App| {
        let counters = counters(app);
        counters.found + counters.partial + counters.failed
    };
    run_until(&mut app, 500, |app| answered(app) == all);
    run(&mut app, 20);
    let counters = counters(&app);
    assert_eq!((counters.requests, answered(&app)), (all, all), "no answer comes twice");
    assert_eq!((counters.partial, counters.failed, counters.by_check), (1, 3, 3));
    assert_eq!(counters.by_hierarchy, 1);
    assert!(counters.by_jump_point >= 20 && counters.by_astar >= 22, "{counters:?}");
    assert!(counters.by_field > 500, "{counters:?}");
    let by = [
        counters.by_check,
        counters.by_astar,
        counters.by_jump_point,
        counters.by_hierarchy,
        counters.by_field,
    ];
    assert_eq!(by.iter().sum::<u64>(), all, "{counters:?}");
}

/// Runs some critters across the map and many over short distances, while walls are built.
fn play(threads: usize) -> (u64, PathCounters) {
    let mut app = app_in_the_wilderness();
    let mut settings = app.world_mut().resource_mut::<TilePathSettings>();
    settings.threads = threads;
    settings.budget = 50_000;
    let mut random = Random(5);
    let units: Vec<Entity> = (0..64)
        .map(|number| {
            let unit = spawn_critter(&mut app, (number % 5, number));
            set_speed(&mut app, unit, 5.0 + random.below(40) as f32);
            unit
        })
        .collect();
    for tick in 0..150 {
        if tick % 75 == 0 {
            for (number, &unit) in units.iter().enumerate() {
                let is_far = number % 16 == 3;
                let (from, columns) = if is_far { (2_200, 199) } else { (0, 120) };
                let (x, y) = (from + random.below(columns) as i32, random.below(HEIGHT) as i32);
                let request = PathRequest::to(Cell::new(x, y)).reach(Reach::Nearest);
                app.world_mut().entity_mut(unit).insert(request);
            }
        }
        if tick % 60 == 9 {
            let corner = Cell::new(20 + random.below(2_300) as i32, random.below(50) as i32);
            block(&mut app, CellRect::new(corner, 3, 8));
        }
        app.update();
    }
    let mut counters = counters(&app);
    // Concurrent searches hold more pages at the same time than successive ones.
    counters.search_bytes = 0;
    (state_checksum(app.world_mut()), counters)
}

#[test]
fn the_state_does_not_depend_on_the_threads() {
    let once = play(1);
    let threads = ComputeTaskPool::get().thread_num() + 1;
    assert!(threads >= THREADS, "there are only {threads} threads to search on");
    assert!(once.1.by_hierarchy > 0 && once.1.by_astar > 60, "{:?}", once.1);
    assert_eq!(once, play(1), "a second run");
    assert_eq!(once, play(2), "two threads");
    assert_eq!(once, play(THREADS), "all threads");
}
