//! 100,000 requests in a tick, and limits by class: waiting times grow, work per tick and memory do not.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, units::*};

const SIDE: i32 = 160;
const BUDGET: u32 = 50_000;
/// A closed yard in the upper right corner, unreachable from outside.
const YARD: Cell = Cell::new(SIDE - 3, SIDE - 3);

/// Returns an app with open terrain, walls with gaps, and the yard.
fn city() -> App {
    let mut app = app();
    let mut level = NavGrid::new(SIDE as u32, SIDE as u32, TerrainId::GROUND).unwrap();
    for wall in (20..SIDE).step_by(20) {
        let gap = 1 + (wall * 37) % (SIDE - 12);
        level.block(CellRect::new(Cell::new(wall, 0), 1, gap as u32)).unwrap();
        let rest = (SIDE - gap - 2) as u32;
        level.block(CellRect::new(Cell::new(wall, gap + 2), 1, rest)).unwrap();
    }
    let (around, side) = (Cell::new(SIDE - 5, SIDE - 5), 5);
    level.block(CellRect::new(around, side, 1)).unwrap();
    level.block(CellRect::new(around, 1, side)).unwrap();
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    app.world_mut().resource_mut::<TilePathSettings>().budget = BUDGET;
    app
}

/// Returns a passable cell of the city, away from the yard.
fn free_cell(app: &App, random: &mut Random) -> Cell {
    loop {
        let mut coordinate = || random.below(SIDE as u32 - 6) as i32;
        let cell = Cell::new(coordinate(), coordinate());
        if level(app).cost(SMALL, cell) > 0 {
            return cell;
        }
    }
}

/// Returns many requests: most of them short, one in eight far, one in eight without a path, one in eight to
/// a common goal.
fn requests(app: &App, count: usize, seed: u64) -> Vec<(Transform, PathRequest)> {
    let mut random = Random(seed);
    let market = free_cell(app, &mut Random(5));
    (0..count)
        .map(|number| {
            let start = free_cell(app, &mut random);
            let request = match number % 8 {
                0 => PathRequest::to(free_cell(app, &mut random)),
                1 => PathRequest::to(YARD),
                2 => PathRequest::to(market),
                3 => PathRequest::to(start.offset(3, 1)).reach(Reach::Nearest).within(1),
                _ => PathRequest::to(start.offset(2, 3)).reach(Reach::Nearest),
            };
            let position = Vec3::new(start.x as f32 * 10.0, start.y as f32 * 10.0, 0.0);
            (Transform::from_translation(position), request)
        })
        .collect()
}

fn answered(app: &App) -> u64 {
    let counters = counters(app);
    counters.found + counters.partial + counters.failed
}

/// The highest counters during a flood.
#[derive(Debug, Default)]
struct Worst {
    ticks: u64,
    spent: u32,
    wait: u64,
    bytes: usize,
}

/// Spawns all requests in one tick and runs until all are answered.
fn answer_all(app: &mut App, requests: Vec<(Transform, PathRequest)>) -> Worst {
    let until = answered(app) + requests.len() as u64;
    app.world_mut().spawn_batch(requests).for_each(drop);
    let mut worst = Worst::default();
    while answered(app) < until {
        app.update();
        let counters = counters(app);
        worst.ticks += 1;
        worst.spent = worst.spent.max(counters.spent_last_tick);
        worst.wait = worst.wait.max(counters.longest_wait);
        worst.bytes = worst.bytes.max(counters.search_bytes);
        assert!(worst.ticks < 5_000, "still not done: {worst:?}");
    }
    worst
}

#[test]
fn a_hundred_thousand_requests_in_a_tick_only_wait_longer() {
    let mut app = city();
    // Memory that is kept for later searches is not counted.
    let few = requests(&app, 4_000, 1);
    answer_all(&mut app, few);
    run(&mut app, 3);
    let before = counters(&app);
    let many = requests(&app, 100_000, 2);
    let worst = answer_all(&mut app, many);
    assert!(worst.spent <= BUDGET, "{worst:?}");
    assert!(worst.ticks > 60, "reading the requests takes half of these budgets: {worst:?}");
    assert!(worst.wait < worst.ticks, "{worst:?}");
    run(&mut app, 3);
    let after = counters(&app);
    assert_eq!(answered(&app), 104_000);
    let hopeless = after.failed - before.failed;
    assert_eq!(hopeless, 100_000 / 8, "only the requests to the yard");
    assert_eq!((after.waiting, after.in_flight, after.waiting_again), (0, 0, 0));
    assert!(
        after.search_bytes <= before.search_bytes + before.search_bytes / 2,
        "{} bytes before, {} after",
        before.search_bytes,
        after.search_bytes
    );
    assert!(worst.bytes < 200_000_000, "{worst:?}");
    let mut statuses = app.world_mut().query::<&PathStatus>();
    let ended =
        |status: &&PathStatus| matches!(status, PathStatus::Found(_) | PathStatus::Failed(_));
    assert_eq!(statuses.iter(app.world()).filter(ended).count(), 104_000);
}

#[test]
fn a_flood_is_answered_the_same_with_any_number_of_threads() {
    let sums: Vec<(u64, u64)> = [1, 4]
        .into_iter()
        .map(|threads| {
            let mut app = city();
            app.world_mut().resource_mut::<TilePathSettings>().threads = threads;
            let requests = requests(&app, 8_000, 3);
            let worst = answer_all(&mut app, requests);
            (counters(&app).answers_checksum, worst.ticks)
        })
        .collect();
    assert_eq!(sums[0], sums[1]);
}

#[test]
fn an_urgent_order_in_a_flood_is_answered_when_it_is_read() {
    let mut app = city();
    let flood: Vec<_> = requests(&app, 160_000, 4)
        .into_iter()
        .enumerate()
        .filter(|(number, _)| number % 8 == 0) // the long requests
        .map(|(_, (transform, request))| (transform, request.algorithm(Algorithm::AStar)))
        .collect();
    app.world_mut().spawn_batch(flood).for_each(drop);
    run(&mut app, 20); // until all are read
    let unit = spawn_critter(&mut app, (2, 2));
    let request = PathRequest::to(Cell::new(12, 9)).priority(Priority(10));
    insert_request(&mut app, unit, request);
    run(&mut app, 6);
    assert!(is_walking(&app, unit));
    assert!(counters(&app).waiting > 5_000, "{:?}", counters(&app));
}

#[test]
fn a_canceled_flood_leaves_no_requests() {
    let mut app = city();
    let flood = requests(&app, 20_000, 6);
    let units: Vec<Entity> = app.world_mut().spawn_batch(flood).collect();
    let before = counters(&app).search_bytes;
    run(&mut app, 8);
    for unit in units {
        app.world_mut().entity_mut(unit).despawn();
    }
    run(&mut app, 40);
    let after = counters(&app);
    assert_eq!((after.waiting, after.in_flight), (0, 0));
    // Some requests may have been answered; the rest were canceled.
    assert_eq!(after.requests, after.canceled + answered(&app));
    assert!(after.search_bytes < before + 40_000_000, "{after:?}");
}

/// Spawns `count` entities with requests of one class and distinct goals, side by side on an open field.
fn request_by_class(app: &mut App, count: usize, class: u8) -> Vec<Entity> {
    let requests: Vec<_> = (0..count)
        .map(|number| {
            let (x, y) = ((number % 50) as i32, (number / 50) as i32);
            let transform = Transform::from_xyz(x as f32 * 10.0, y as f32 * 10.0, 0.0);
            (transform, PathRequest::to(Cell::new(x + 5, y + 7)).class(RequestClass(class)))
        })
        .collect();
    app.world_mut().spawn_batch(requests).collect()
}

fn limit(app: &mut App, class: usize, jobs: u32) {
    app.world_mut().resource_mut::<TilePathSettings>().queue.class_limits[class] = jobs;
}

fn count_found(app: &App, units: &[Entity]) -> usize {
    units.iter().filter(|&&unit| matches!(status(app, unit), PathStatus::Found(_))).count()
}

#[test]
fn a_limited_class_starts_no_more_jobs_per_tick_than_its_limit() {
    let mut app = app_with(&field(64, 64));
    limit(&mut app, 3, 5);
    let limited = request_by_class(&mut app, 60, 3);
    let free = request_by_class(&mut app, 100, 0);
    for tick in 1..=12 {
        app.update();
        assert_eq!(count_found(&app, &limited), 5 * tick, "tick {tick}");
        assert_eq!(count_found(&app, &free), 100, "other classes do not wait");
    }
    assert_eq!(counters(&app).waiting, 0);
}

#[test]
fn a_paused_class_waits_until_its_limit_is_raised() {
    let mut app = app_with(&field(64, 64));
    limit(&mut app, 2, 0);
    let (paused, free) = (request_by_class(&mut app, 20, 2), request_by_class(&mut app, 20, 1));
    run(&mut app, 50);
    assert_eq!((count_found(&app, &paused), count_found(&app, &free)), (0, 20));
    assert_eq!(counters(&app).waiting, 20);
    assert!(paused.iter().all(|&unit| status(&app, unit) == PathStatus::Searching));
    limit(&mut app, 2, u32::MAX);
    app.update();
    assert_eq!(count_found(&app, &paused), 20);
}

#[test]
fn classes_above_the_last_count_as_the_last() {
    let mut app = app_with(&field(64, 64));
    limit(&mut app, 7, 4);
    let (last, above) = (request_by_class(&mut app, 10, 7), request_by_class(&mut app, 10, 200));
    app.update();
    assert_eq!(count_found(&app, &last) + count_found(&app, &above), 4, "together");
    run(&mut app, 4);
    assert_eq!(count_found(&app, &last) + count_found(&app, &above), 20);
}

#[test]
fn a_limited_crowd_with_one_goal_stays_within_its_limit() {
    let mut app = app_with(&field(64, 64));
    limit(&mut app, 1, 25);
    let crowd: Vec<_> = (0..200)
        .map(|number| {
            let (x, y) = (number % 20, number / 20);
            let transform = Transform::from_xyz(x as f32 * 10.0, y as f32 * 10.0, 0.0);
            (transform, PathRequest::to(Cell::new(60, 60)).class(RequestClass(1)))
        })
        .collect();
    let crowd: Vec<Entity> = app.world_mut().spawn_batch(crowd).collect();
    for tick in 1..=8 {
        app.update();
        assert!(count_found(&app, &crowd) <= 25 * tick, "tick {tick}");
    }
    run(&mut app, 2);
    assert_eq!(count_found(&app, &crowd), 200);
}

#[test]
fn repairs_of_a_limited_class_continue() {
    let mut app = app_with(&field(40, 9));
    let unit = spawn_critter(&mut app, (2, 4));
    insert_request(&mut app, unit, PathRequest::to(Cell::new(35, 4)).class(RequestClass(5)));
    run(&mut app, 20);
    limit(&mut app, 5, 1);
    block(&mut app, CellRect::new(Cell::new(20, 2), 1, 5));
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(35, 4)));
    assert_eq!(counters(&app).repaired, 1);
}

/// What games do whose units chase something: an order each, in every tick.
#[test]
fn units_that_are_ordered_anew_in_every_tick_walk() {
    #[derive(Resource, Default)]
    struct Canceled(u32);
    const UNITS: u32 = 1_000;
    let mut app = app_with(&field(120, 60));
    app.init_resource::<Canceled>()
        .add_observer(|_: On<PathCanceled>, mut canceled: ResMut<Canceled>| canceled.0 += 1);
    let units: Vec<Entity> =
        (0..UNITS as i32).map(|unit| spawn_ghost(&mut app, (unit % 20, unit / 20))).collect();
    app.update();
    let places: Vec<Vec2> = units.iter().map(|&unit| position(&app, unit)).collect();
    let rounds = 60;
    for round in 0..rounds {
        for &unit in &units {
            order(&mut app, unit, (100, 20 + round % 7));
        }
        app.update();
        let waiting = counters(&app).waiting;
        assert!(waiting <= 3 * UNITS as usize, "{waiting} wait in round {round}");
    }
    let moved = |app: &App, at: usize| position(app, units[at]).distance(places[at]) > 5.0;
    let count = (0..units.len()).filter(|&at| moved(&app, at)).count();
    assert!(count > 900, "{count} of {UNITS} have moved");
    run(&mut app, 20);
    assert!(units.iter().all(|&unit| matches!(status(&app, unit), PathStatus::Walking(_))));
    let canceled = app.world().resource::<Canceled>().0;
    assert_eq!(canceled, UNITS * (rounds as u32 - 1), "each one that was replaced, once");
}

/// A request that is removed before it was read is canceled as well, and another one after it is read.
#[test]
fn requests_that_come_and_go_before_they_are_read_end_once() {
    for is_urgent in [false, true] {
        let mut app = app_with(&field(20, 12));
        record(&mut app);
        let unit = spawn_critter(&mut app, (3, 3));
        app.update();
        let request = |x| {
            let priority = Priority(i8::from(is_urgent && x == 9));
            PathRequest::to(Cell::new(x, 3)).priority(priority)
        };
        for x in [7, 8, 9] {
            app.world_mut().entity_mut(unit).insert(request(x));
        }
        app.world_mut().entity_mut(unit).remove::<PathRequest>();
        run(&mut app, 2);
        assert_eq!(status(&app, unit), PathStatus::Idle);
        let [replaced, removed] = [CancelReason::Replaced, CancelReason::Removed]
            .map(|reason| Recorded::Canceled(unit, reason));
        assert_eq!(events(&app), [replaced, replaced, removed]);
        app.world_mut().entity_mut(unit).insert(request(7));
        app.world_mut().entity_mut(unit).remove::<PathRequest>();
        for x in [8, 9] {
            app.world_mut().entity_mut(unit).insert(request(x));
        }
        run_until(&mut app, 200, |app| has_arrived(app, unit));
        assert_eq!(state(&app, unit).cell(), Cell::new(9, 3));
        let canceled = |event: &&Recorded| matches!(event, Recorded::Canceled(..));
        assert_eq!(events(&app).iter().filter(canceled).count(), 3 + 2);
        // Between the insertion and the removal a tick may have passed.
        app.world_mut().entity_mut(unit).insert(request(5));
        app.update();
        app.world_mut().entity_mut(unit).remove::<PathRequest>();
        run(&mut app, 40);
        assert_eq!(status(&app, unit), PathStatus::Idle);
        assert_eq!(events(&app).iter().filter(canceled).count(), 3 + 2 + 1);
        assert_eq!(counters(&app).waiting, 0);
    }
}
