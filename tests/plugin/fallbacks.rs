//! Orders without a path, and orders that are replaced, removed or interrupted: failures, the nearest cell,
//! alternatives and retries, and one event for each.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

const TWO_REGIONS: &str = "
    ....#....
    ....#....
    ....#....
";
const START: Cell = Cell::new(1, 1);
const WALL: Cell = Cell::new(4, 1);
const BEYOND: Cell = Cell::new(8, 1);
const NO_PATH: PathFailure = PathFailure::NoPath { start: START, goal: BEYOND };
const COMPLETE: PathKind = PathKind::Complete;

fn to(x: i32, y: i32) -> PathRequest {
    PathRequest::to(Cell::new(x, y))
}

fn beyond() -> PathRequest {
    PathRequest::to(BEYOND)
}

/// Returns an app with two regions, all events recorded, and a unit with a request.
fn ordered(request: PathRequest) -> (App, Entity) {
    let mut app = app_with(TWO_REGIONS);
    record(&mut app);
    let unit = spawn_critter(&mut app, (START.x, START.y));
    insert_request(&mut app, unit, request);
    (app, unit)
}

fn attempt(app: &App, unit: Entity) -> u16 {
    app.world().get::<RequestState>(unit).unwrap().target_index()
}

fn open_the_wall(app: &mut App) {
    let result = grid(app).get_mut(GridId::default()).unwrap().set_terrain(WALL, TerrainId::GROUND);
    result.unwrap();
}

#[test]
fn without_a_path_an_order_fails_or_leads_to_the_nearest_cell() {
    let edge = Cell::new(3, 1);
    let off = Cell::new(20, 1);
    for (name, request, exact, nearest) in [
        ("beyond the wall", beyond(), NO_PATH, edge),
        ("the wall", PathRequest::to(WALL), PathFailure::GoalImpassable(WALL), edge),
        ("beside the cell beyond the wall", beyond().beside(), NO_PATH, edge),
        ("within 2 cells of it", beyond().within(2), NO_PATH, edge),
    ] {
        let (mut app, unit) = ordered(request.clone());
        assert_eq!(run_to_end(&mut app, unit), Err(exact), "{name}");
        assert_eq!(events(&app), [Recorded::Failed(unit, exact)], "{name}");
        let (mut app, unit) = ordered(request.reach(Reach::Nearest));
        assert_eq!(run_to_end(&mut app, unit), Ok(nearest), "{name}");
        assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Partial), "{name}");
        assert_eq!(events(&app).len(), 2, "{name}: only found and arrived");
    }
    let (mut app, unit) = ordered(PathRequest::to(off).reach(Reach::Nearest));
    assert_eq!(run_to_end(&mut app, unit), Err(PathFailure::GoalOutOfBounds(off)));
}

#[test]
fn alternatives_are_tried_in_order() {
    let gone = Entity::PLACEHOLDER;
    let area = CellRect::new(Cell::new(2, 2), 1, 1);
    for (name, request, end, attempt_number) in [
        ("none is needed", to(3, 1).or(Cell::new(0, 0)), (3, 1), 0),
        ("the first", beyond().or(Cell::new(3, 2)).or(Cell::new(0, 0)), (3, 2), 1),
        ("the second", beyond().or(WALL).or(Cell::new(0, 0)).or(Cell::new(3, 2)), (0, 0), 2),
        ("after a despawned entity", PathRequest::to(gone).or(Cell::new(3, 0)), (3, 0), 1),
        ("after NaN", PathRequest::to(Vec2::NAN).or(gone).or(Vec2::new(20.0, 0.0)), (2, 0), 2),
        ("an area", beyond().or(area), (2, 2), 1),
        (
            "one of several",
            beyond().or(Target::Nearest(vec![BEYOND.into(), area.into()])),
            (2, 2),
            1,
        ),
        ("within a distance of it", beyond().or(Cell::new(3, 1)).within(1), (2, 1), 1),
    ] {
        let (mut app, unit) = ordered(request);
        assert_eq!(run_to_end(&mut app, unit), Ok(Cell::from(end)), "{name}");
        assert_eq!(attempt(&app, unit), attempt_number, "{name}");
        assert_eq!(counters(&app).retried, u64::from(attempt_number), "{name}");
        let expected = [Recorded::Found(unit, COMPLETE), Recorded::Arrived(unit, COMPLETE)];
        assert_eq!(events(&app), expected, "{name}: no events of earlier alternatives");
        run(&mut app, 50);
        assert_eq!(counters(&app).retried, u64::from(attempt_number), "{name}: no further retry");
    }
}

#[test]
fn when_all_alternatives_fail_the_last_reason_is_reported_once() {
    for (request, reason) in [
        (beyond().or(WALL), PathFailure::GoalImpassable(WALL)),
        (PathRequest::to(WALL).or(BEYOND), NO_PATH),
        (beyond().or(WALL).or(Vec2::NAN), PathFailure::GoalUnknown),
    ] {
        let (mut app, unit) = ordered(request);
        assert_eq!(run_to_end(&mut app, unit), Err(reason));
        run(&mut app, 100);
        assert_eq!(events(&app), [Recorded::Failed(unit, reason)]);
        assert_eq!(counters(&app).waiting_again, 0);
    }
}

/// Returns the ticks in which an order was tried; the first is 0.
fn tries(app: &mut App, ticks: u32) -> Vec<u32> {
    let (mut tries, mut before) = (vec![0], counters(app).retried);
    for tick in 0..ticks {
        app.update();
        let now = counters(app).retried;
        assert!(now <= before + 1, "twice in tick {tick}");
        if now > before {
            tries.push(tick);
        }
        before = now;
    }
    tries
}

fn pauses(tries: &[u32]) -> Vec<u32> {
    tries.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

const PAUSES: [(Retry, &[u32]); 6] = [
    (Retry { after: 4, longest: 16, most: 5 }, &[4, 8, 16, 16, 16]),
    (Retry { after: 3, longest: 20, most: 4 }, &[3, 6, 12, 20]),
    (Retry { after: 7, longest: 2, most: 3 }, &[7, 7, 7]),
    (Retry { after: 0, longest: 0, most: 3 }, &[1, 1, 1]),
    (Retry { after: 1, longest: 4, most: 4 }, &[1, 2, 4, 4]),
    (Retry { after: 5, longest: 5, most: 0 }, &[]),
];

/// Gives an order that always fails, and checks the ticks of its tries.
fn check_pauses(request: impl Fn() -> PathRequest, reason: PathFailure) {
    for (retry, expected) in PAUSES {
        let (mut app, unit) = ordered(request().retry(retry));
        let tries = tries(&mut app, 100);
        assert_eq!(pauses(&tries), expected, "{retry:?}, {reason}");
        assert_eq!(status(&app, unit), PathStatus::Failed(reason));
        assert_eq!(events(&app), [Recorded::Failed(unit, reason)], "reported once: {retry:?}");
        assert_eq!(counters(&app).waiting_again, 0);
    }
}

#[test]
fn pauses_between_tries_double_up_to_the_longest_where_the_goal_is_unknown() {
    check_pauses(|| PathRequest::to(Vec2::NAN), PathFailure::GoalUnknown);
}

#[test]
fn pauses_between_tries_double_up_to_the_longest_where_there_is_no_path() {
    check_pauses(beyond, NO_PATH);
}

#[test]
fn by_default_an_order_is_tried_eight_more_times_in_40_seconds() {
    let (mut app, unit) = ordered(beyond().retry(Retry::default()));
    let tries = tries(&mut app, 2_700);
    assert_eq!(pauses(&tries), [32, 64, 128, 256, 512, 512, 512, 512]);
    assert_eq!(status(&app, unit), PathStatus::Failed(NO_PATH));
}

#[test]
fn while_an_order_waits_its_status_has_the_reason() {
    let (mut app, unit) = ordered(beyond().retry(Retry { after: 10, longest: 10, most: 2 }));
    run(&mut app, 2);
    for tick in 0..7 {
        assert_eq!(status(&app, unit), PathStatus::Waiting(NO_PATH), "{tick}");
        assert_eq!(counters(&app).waiting_again, 1);
        app.update();
    }
    assert!(status(&app, unit).is_under_way());
    assert!(events(&app).is_empty(), "no order has ended");
    run(&mut app, 60);
    assert_eq!(status(&app, unit), PathStatus::Failed(NO_PATH));
    assert_eq!(app.world().get::<RequestState>(unit).unwrap().retries(), 2);
    run(&mut app, 60);
    assert_eq!(failures(&app, unit), [NO_PATH]);
}

#[test]
fn the_next_try_succeeds_when_the_wall_is_opened() {
    let retry = Retry { after: 8, longest: 64, most: 6 };
    for request in [beyond(), beyond().or(WALL), beyond().beside()] {
        let (mut app, unit) = ordered(request.retry(retry));
        run(&mut app, 40);
        assert!(matches!(status(&app, unit), PathStatus::Waiting(_)));
        open_the_wall(&mut app);
        assert!(
            run_to_end(&mut app, unit).is_ok_and(|end| end.x >= 7),
            "the target, not an alternative"
        );
        assert_eq!(attempt(&app, unit), 0);
        let expected = [Recorded::Found(unit, COMPLETE), Recorded::Arrived(unit, COMPLETE)];
        assert_eq!(events(&app), expected);
        let retried = counters(&app).retried;
        run(&mut app, 200);
        assert_eq!(counters(&app).retried, retried, "it is not tried again");
    }
}

#[test]
fn reach_nearest_comes_after_all_alternatives() {
    let home = Cell::new(0, 2);
    for (request, end, kind) in [
        (beyond().or(WALL).or(home), home, COMPLETE),
        (beyond().or(WALL), Cell::new(3, 1), PathKind::Partial),
    ] {
        let (mut app, unit) = ordered(request.reach(Reach::Nearest));
        assert_eq!(run_to_end(&mut app, unit), Ok(end));
        assert_eq!(status(&app, unit), PathStatus::Arrived(kind));
        assert!(failures(&app, unit).is_empty());
    }
}

#[test]
fn a_second_round_starts_with_the_first_target() {
    let retry = Retry { after: 5, longest: 5, most: 2 };
    let (mut app, unit) = ordered(beyond().or(WALL).retry(retry));
    run(&mut app, 60);
    // Two more rounds of two targets each, and the alternative of the first round.
    assert_eq!(counters(&app).retried, 5);
    assert_eq!(failures(&app, unit), [PathFailure::GoalImpassable(WALL)]);
}

#[test]
fn a_unit_walks_at_the_next_try_after_a_building_over_it_is_removed() {
    let mut app = app_with(&field(12, 5));
    record(&mut app);
    let unit = spawn_ghost(&mut app, (3, 2)); // colliding critters would move out
    let house = app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(2, 1), 3, 3))).id();
    insert_request(&mut app, unit, to(9, 2).retry(Retry { after: 4, longest: 4, most: 20 }));
    run(&mut app, 20);
    let inside = PathFailure::StartImpassable(Cell::new(3, 2));
    assert_eq!(status(&app, unit), PathStatus::Waiting(inside));
    app.world_mut().entity_mut(house).despawn();
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(9, 2)));
    assert!(failures(&app, unit).is_empty());
}

#[test]
fn an_order_whose_path_is_cut_off_continues_with_the_alternative_or_waits() {
    let cases = [
        (to(18, 2).or(Cell::new(0, 0)), Ok(Cell::new(0, 0))),
        (to(18, 2), Err(())),
        (to(18, 2).retry(Retry { after: 9, longest: 9, most: 50 }), Ok(Cell::new(18, 2))),
    ];
    for (request, end) in cases {
        let mut app = app_with(&field(20, 5));
        let unit = spawn_critter(&mut app, (2, 2));
        insert_request(&mut app, unit, request);
        run(&mut app, 30);
        let wall = CellRect::new(Cell::new(12, 0), 1, 5);
        block(&mut app, wall);
        run(&mut app, 40);
        unblock(&mut app, wall);
        assert_eq!(run_to_end(&mut app, unit).map_err(|_| ()), end);
    }
}

#[test]
fn repeated_orders_without_a_path_cost_no_search() {
    let nearest = PathRequest::to_nearest([BEYOND, WALL]);
    let requests = [beyond(), beyond().beside(), nearest, PathRequest::to(WALL)];
    let (mut app, unit) = ordered(to(3, 1));
    app.update();
    let before = counters(&app);
    for request in requests.iter().cycle().take(1_000) {
        insert_request(&mut app, unit, request.clone());
        app.update();
        assert!(matches!(status(&app, unit), PathStatus::Failed(_)), "in the same tick");
    }
    let after = counters(&app);
    assert_eq!(after.expansions, before.expansions);
    assert_eq!(after.by_check, before.by_check + 1_000);
    assert_eq!(after.failed, before.failed + 1_000);
    assert!(after.spent_last_tick <= 64, "{} per tick", after.spent_last_tick);
}

#[test]
fn a_thousand_equal_orders_without_a_path_cost_no_search() {
    let mut app = app_with(TWO_REGIONS);
    let orders = vec![(Transform::from_xyz(10.0, 10.0, 0.0), beyond()); 1_000];
    app.world_mut().spawn_batch(orders).for_each(drop);
    run(&mut app, 3);
    let counters = counters(&app);
    assert_eq!((counters.by_check, counters.failed, counters.expansions), (1_000, 1_000, 0));
}

/// The stage of an order when it is interrupted.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Unread,
    Searching,
    Walking,
    BetweenAlternatives,
    Waiting,
    Arrived,
    Failed,
}

const STAGES: [(Stage, bool); 7] = [
    (Stage::Unread, true),
    (Stage::Searching, true),
    (Stage::Walking, true),
    (Stage::BetweenAlternatives, true),
    (Stage::Waiting, true),
    (Stage::Arrived, false),
    (Stage::Failed, false),
];

/// Returns a unit whose order is at this stage, with no recorded events.
fn at_stage(stage: Stage) -> (App, Entity) {
    let (request, ticks) = match stage {
        Stage::Unread => (to(3, 2), 0),
        Stage::Searching => (to(3, 2), 3),
        Stage::Walking => (to(3, 2), 10),
        Stage::BetweenAlternatives => (beyond().or(Cell::new(3, 2)), 1),
        Stage::Waiting => (beyond().retry(Retry::default()), 3),
        Stage::Arrived => (to(1, 1), 3),
        Stage::Failed => (beyond(), 3),
    };
    let (mut app, unit) = ordered(request);
    if matches!(stage, Stage::Searching) {
        app.world_mut().resource_mut::<TilePathSettings>().budget = 0;
    }
    run(&mut app, ticks);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 50_000;
    let is_at_stage = match status(&app, unit) {
        PathStatus::Searching => {
            matches!(stage, Stage::Unread | Stage::Searching | Stage::BetweenAlternatives)
        }
        PathStatus::Walking(_) => matches!(stage, Stage::Walking),
        PathStatus::Waiting(_) => matches!(stage, Stage::Waiting),
        PathStatus::Arrived(_) => matches!(stage, Stage::Arrived),
        PathStatus::Failed(_) => matches!(stage, Stage::Failed),
        _ => false,
    };
    assert!(is_at_stage, "{stage:?}: {:?}", status(&app, unit));
    app.world_mut().resource_mut::<Events>().0.clear();
    (app, unit)
}

#[test]
fn a_replaced_order_is_reported_once_and_has_no_further_effect() {
    for (stage, is_under_way) in STAGES {
        let (mut app, unit) = at_stage(stage);
        insert_request(&mut app, unit, to(0, 2));
        assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(0, 2)), "{stage:?}");
        let found = [Recorded::Found(unit, COMPLETE), Recorded::Arrived(unit, COMPLETE)];
        let replaced = Recorded::Canceled(unit, CancelReason::Replaced);
        let expected: Vec<Recorded> =
            is_under_way.then_some(replaced).into_iter().chain(found).collect();
        assert_eq!(events(&app), expected, "{stage:?}");
        run(&mut app, 100); // longer than the first pause
        assert_eq!(events(&app).len(), expected.len(), "{stage:?}: no events of the old order");
        assert_eq!(state(&app, unit).cell(), Cell::new(0, 2));
        assert_eq!(counters(&app).waiting_again, 0, "{stage:?}");
    }
}

#[test]
fn a_removed_order_is_reported_once_and_has_no_further_effect() {
    for (stage, is_under_way) in STAGES {
        let (mut app, unit) = at_stage(stage);
        app.world_mut().entity_mut(unit).remove::<PathRequest>();
        run(&mut app, 100);
        assert_eq!(status(&app, unit), PathStatus::Idle, "{stage:?}");
        let expected: &[CancelReason] = if is_under_way { &[CancelReason::Removed] } else { &[] };
        assert_eq!(cancellations(&app, unit), expected, "{stage:?}");
        assert_eq!(events(&app).len(), expected.len(), "{stage:?}");
        assert_eq!(counters(&app).waiting_again, 0, "{stage:?}");
        assert!(!state(&app, unit).walk().is_between_cells());
    }
}

#[test]
fn a_unit_despawned_at_any_stage_leaves_no_request() {
    for (stage, _) in STAGES {
        let (mut app, unit) = at_stage(stage);
        app.world_mut().entity_mut(unit).despawn();
        run(&mut app, 100);
        let counters = counters(&app);
        let left = (counters.waiting, counters.in_flight, counters.waiting_again);
        assert_eq!(left, (0, 0, 0), "{stage:?}");
    }
}

#[test]
fn an_order_replaced_twice_before_it_is_read_is_canceled_twice() {
    let (mut app, unit) = ordered(to(3, 2));
    insert_request(&mut app, unit, to(2, 2));
    insert_request(&mut app, unit, to(0, 2));
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(0, 2)));
    let replaced = Recorded::Canceled(unit, CancelReason::Replaced);
    let found = [Recorded::Found(unit, COMPLETE), Recorded::Arrived(unit, COMPLETE)];
    assert_eq!(events(&app), [replaced, replaced, found[0], found[1]]);
}

#[test]
fn an_order_that_replaces_an_unread_one_fails_once() {
    for count in [1, 2, 3] {
        let (mut app, unit) = ordered(to(3, 2));
        for _ in 1..count {
            insert_request(&mut app, unit, to(2, 2));
        }
        insert_request(&mut app, unit, PathRequest::to(Vec2::NAN));
        run(&mut app, 3);
        assert_eq!(cancellations(&app, unit), vec![CancelReason::Replaced; count]);
        assert_eq!(failures(&app, unit), [PathFailure::GoalUnknown]);
        assert_eq!(counters(&app).failed, 1);
    }
}

#[test]
fn an_order_that_replaces_one_in_the_tick_of_its_next_try_fails_once() {
    let retry = Retry { after: 5, longest: 5, most: 9 };
    for ticks in 2..9 {
        let (mut app, unit) = ordered(beyond().retry(retry));
        run(&mut app, ticks);
        insert_request(&mut app, unit, PathRequest::to(Vec2::NAN));
        run(&mut app, 30);
        assert_eq!(cancellations(&app, unit), [CancelReason::Replaced], "after {ticks} ticks");
        assert_eq!(failures(&app, unit), [PathFailure::GoalUnknown], "after {ticks} ticks");
    }
}

#[test]
fn an_order_inserted_and_removed_before_it_is_read_is_canceled() {
    let (mut app, unit) = ordered(to(3, 2));
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    insert_request(&mut app, unit, to(2, 2));
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(&mut app, 20);
    assert_eq!(events(&app), vec![Recorded::Canceled(unit, CancelReason::Removed); 2]);
    assert_eq!((status(&app, unit), counters(&app).requests), (PathStatus::Idle, 0));
}

#[test]
fn an_urgent_order_without_a_target_ends_the_previous_one() {
    let mut app = app_with(&field(40, 5));
    record(&mut app);
    let unit = spawn_critter(&mut app, (1, 1));
    insert_request(&mut app, unit, to(35, 1));
    run(&mut app, 20);
    let gone = app.world_mut().spawn_empty().id();
    app.world_mut().despawn(gone);
    insert_request(&mut app, unit, PathRequest::to(gone).priority(Priority(1)));
    run(&mut app, 30);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::TargetGone));
    let stopped_at = state(&app, unit).cell();
    run(&mut app, 60);
    assert_eq!(state(&app, unit).cell(), stopped_at, "it does not continue to walk");
    assert!(stopped_at.x < 6, "{stopped_at}");
    assert_eq!(failures(&app, unit), [PathFailure::TargetGone]);
    assert_eq!(cancellations(&app, unit), [CancelReason::Replaced]);
}

#[test]
fn a_chase_ends_when_the_order_falls_back_to_the_nearest_of_some_cells() {
    let (mut app, unit) = ordered(beyond());
    let prey = app.world_mut().spawn(Transform::from_xyz(80.0, 10.0, 0.0)).id();
    let cells = [Cell::new(0, 0), Cell::new(3, 2)];
    let near = Target::Nearest(cells.map(Target::from).to_vec());
    insert_request(&mut app, unit, PathRequest::follow(prey).or(near));
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(0, 0)));
    run(&mut app, 40);
    assert_eq!(status(&app, unit), PathStatus::Arrived(COMPLETE));
}

#[test]
fn retries_of_many_units_leave_budget_for_new_orders() {
    let mut app = app_with(TWO_REGIONS);
    let retry = Retry { after: 1, longest: 1, most: u16::MAX };
    for _ in 0..2_000 {
        let unit = spawn_ghost(&mut app, (START.x, START.y));
        insert_request(&mut app, unit, beyond().retry(retry));
    }
    run(&mut app, 20);
    let late = spawn_ghost(&mut app, (START.x, START.y));
    insert_request(&mut app, late, to(3, 2));
    run(&mut app, 4);
    assert!(matches!(status(&app, late), PathStatus::Walking(_)), "{:?}", status(&app, late));
}
