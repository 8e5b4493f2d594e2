//! Requests: their results and their events.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::app::*;

const WALLED: &str = "
    ..........
    ..........
    .....#....
    .....#....
    .....#....
";

const TWO_REGIONS: &str = "
    ....#....
    ....#....
    ....#....
";

#[test]
fn a_request_is_answered_in_the_tick_it_is_made() {
    let mut app = app_with(WALLED);
    record(&mut app);
    let unit = spawn_critter(&mut app, (1, 1));
    order(&mut app, unit, (8, 0));
    assert_eq!(status(&app, unit), PathStatus::Searching, "set when the request is inserted");
    app.update();
    assert_eq!(status(&app, unit), PathStatus::Walking(PathKind::Complete));
    assert_eq!(events(&app), [Recorded::Found(unit, PathKind::Complete)]);
    let path = app.world().get::<NavPath>(unit).unwrap();
    assert_eq!((path.start(), path.end()), (Cell::new(1, 1), Cell::new(8, 0)));
}

#[test]
fn an_entity_without_critter_gets_its_path_and_stays() {
    let mut app = app_with(WALLED);
    let unit = app
        .world_mut()
        .spawn((Transform::from_xyz(10.0, 10.0, 0.0), PathRequest::to(Cell::new(8, 0))))
        .id();
    run(&mut app, 5);
    assert_eq!(status(&app, unit), PathStatus::Found(PathKind::Complete));
    assert_eq!(position(&app, unit), Vec2::splat(10.0));
}

#[test]
fn every_failure_names_its_reason() {
    let far = Cell::new(99, 1);
    let wall = Cell::new(4, 1);
    let other_side = Cell::new(8, 1);
    let start = Cell::new(1, 1);
    let gone = Entity::PLACEHOLDER;
    for (request, reason) in [
        (PathRequest::to(far), PathFailure::GoalOutOfBounds(far)),
        (PathRequest::to(wall), PathFailure::GoalImpassable(wall)),
        (PathRequest::to(other_side), PathFailure::NoPath { start, goal: other_side }),
        (PathRequest::to(start).start_on(GridId(7)), PathFailure::GridGone(GridId(7))),
        (PathRequest::to(start).profile(ProfileId(3)), PathFailure::UnknownProfile(ProfileId(3))),
        (PathRequest::to(Vec2::NAN), PathFailure::GoalUnknown),
        (PathRequest::to(Vec2::INFINITY), PathFailure::GoalUnknown),
        (PathRequest::to(gone), PathFailure::TargetGone),
    ] {
        let mut app = app_with(TWO_REGIONS);
        record(&mut app);
        let unit = spawn_critter(&mut app, (1, 1));
        app.world_mut().entity_mut(unit).insert(request);
        run(&mut app, 2);
        assert_eq!(status(&app, unit), PathStatus::Failed(reason));
        assert_eq!(events(&app), [Recorded::Failed(unit, reason)], "reported once: {reason}");
        assert_eq!(counters(&app).failed, 1);
    }
}

#[test]
fn a_unit_in_a_wall_off_the_grid_or_at_an_invalid_position_gets_a_reason() {
    for (translation, reason) in [
        (Vec3::new(40.0, 10.0, 0.0), PathFailure::StartImpassable(Cell::new(4, 1))),
        (Vec3::new(-500.0, 0.0, 0.0), PathFailure::StartOutOfBounds(Cell::new(-50, 0))),
        (Vec3::new(f32::NAN, 0.0, 0.0), PathFailure::StartUnknown),
        (Vec3::new(f32::INFINITY, 0.0, 0.0), PathFailure::StartUnknown),
    ] {
        let mut app = app_with(TWO_REGIONS);
        let unit = spawn_ghost(&mut app, (0, 0));
        app.world_mut().get_mut::<Transform>(unit).unwrap().translation = translation;
        order(&mut app, unit, (2, 2));
        run(&mut app, 2);
        assert_eq!(status(&app, unit), PathStatus::Failed(reason));
    }
}

#[test]
fn removing_a_request_cancels_it_and_the_critter_stops_on_a_cell() {
    let mut app = app_with(&field(40, 3));
    record(&mut app);
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (39, 1));
    run(&mut app, 20);
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(&mut app, 20);
    assert_eq!(status(&app, unit), PathStatus::Idle);
    assert_eq!(events(&app).last(), Some(&Recorded::Canceled(unit, CancelReason::Removed)));
    let (cell, position) = (state(&app, unit).cell(), position(&app, unit));
    assert_eq!(position, Vec2::new(cell.x as f32, cell.y as f32) * 10.0, "on the center of a cell");
    assert!(cell.x < 10, "it went no farther than the cell it was about to enter");
}

#[test]
fn despawning_with_searches_in_flight_leaves_no_job() {
    let mut app = app_with(&field(64, 64));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 40;
    let units: Vec<_> = (0..20).map(|x| spawn_critter(&mut app, (x, 0))).collect();
    for &unit in &units {
        order(&mut app, unit, (60, 60));
    }
    run(&mut app, 10);
    for &unit in &units {
        app.world_mut().entity_mut(unit).despawn();
    }
    run(&mut app, 60);
    let counters = counters(&app);
    assert_eq!((counters.waiting, counters.in_flight), (0, 0));
    assert_eq!(counters.requests, counters.canceled + counters.found);
}

#[test]
fn a_target_despawned_before_the_request_is_read_is_reported() {
    let mut app = app_with(WALLED);
    let flag = app.world_mut().spawn(Transform::default()).id();
    let unit = spawn_critter(&mut app, (0, 0));
    app.world_mut().entity_mut(unit).insert(PathRequest::to(flag));
    app.world_mut().entity_mut(flag).despawn();
    app.update();
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::TargetGone));
}

#[test]
fn a_grid_removed_in_mid_search_is_reported() {
    let mut app = app_with(&field(64, 64));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 60;
    let unit = spawn_critter(&mut app, (0, 0));
    order_slowly(&mut app, unit, (63, 40));
    app.update();
    assert_eq!(status(&app, unit), PathStatus::Searching);
    grid(&mut app).remove(GridId::default());
    run(&mut app, 2);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::GridGone(GridId::default())));
}

#[test]
fn without_a_budget_requests_wait() {
    let mut app = app_with(WALLED);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 0;
    let unit = spawn_critter(&mut app, (0, 0));
    order(&mut app, unit, (9, 0));
    run(&mut app, 10);
    assert_eq!(status(&app, unit), PathStatus::Searching);
    assert!(counters(&app).longest_wait >= 9);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 1_000;
    app.update();
    assert!(matches!(status(&app, unit), PathStatus::Walking(_)));
}

#[test]
fn a_short_request_is_answered_immediately_while_huge_ones_run() {
    let mut app = app_with(&maze(255));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 20_000;
    for _ in 0..40 {
        let unit = spawn_critter(&mut app, (0, 0));
        order_slowly(&mut app, unit, (254, 254));
    }
    run(&mut app, 10);
    assert!(counters(&app).in_flight > 8, "the huge ones are still running");
    let unit = spawn_critter(&mut app, (0, 0));
    order(&mut app, unit, (0, 25));
    app.update();
    assert!(matches!(status(&app, unit), PathStatus::Walking(_)));
}

/// Draws walls in every other column with gaps at alternating ends, which makes paths as long as possible.
fn maze(side: usize) -> String {
    let row = |y: usize| -> String {
        let is_free = |x: usize| {
            x.is_multiple_of(2) || (y == 0 && x % 4 == 1) || (y == side - 1 && x % 4 == 3)
        };
        (0..side).map(|x| if is_free(x) { '.' } else { '#' }).collect()
    };
    (0..side).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn urgent_requests_come_first_and_ordinary_ones_do_not_starve() {
    let mut app = app_with(&field(100, 100));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 120;
    let patient = spawn_critter(&mut app, (0, 0));
    let mut first_urgent = None;
    for tick in 0..200 {
        for _ in 0..2 {
            let unit = spawn_critter(&mut app, (0, 50));
            let request = PathRequest::to(Cell::new(90, 50))
                .priority(Priority(1))
                .algorithm(Algorithm::AStar);
            app.world_mut().entity_mut(unit).insert(request);
            first_urgent.get_or_insert(unit);
        }
        if tick == 0 {
            order_slowly(&mut app, patient, (99, 0));
        }
        app.update();
        if matches!(status(&app, patient), PathStatus::Walking(_)) {
            let urgent = status(&app, first_urgent.unwrap());
            assert!(tick > 10 && urgent != PathStatus::Searching, "urgent ones came first");
            return;
        }
    }
    panic!("the ordinary request starved");
}

#[test]
fn huge_costs_end_in_an_error_instead_of_wrapping() {
    let mut app = app();
    let expensive =
        Profile::new().with(TerrainId::GROUND, u16::MAX).with(TerrainId(2), u16::MAX - 1);
    let level = NavGrid::new(200, 1, TerrainId::GROUND).unwrap();
    grid(&mut app).set_profiles(vec![expensive]);
    grid(&mut app).insert(GridId::default(), level, GridFrame::default());
    let unit =
        app.world_mut().spawn((Transform::default(), PathRequest::to(Cell::new(199, 0)))).id();
    app.update();
    let (start, goal) = (Cell::new(0, 0), Cell::new(199, 0));
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::CostOverflow { start, goal }));
}

#[test]
fn a_grid_replaced_in_mid_search_is_searched_again() {
    for (side, answer) in [(64, "found"), (32, "off the grid")] {
        let mut app = app_with(&field(64, 64));
        app.world_mut().resource_mut::<TilePathSettings>().budget = 60;
        let unit = spawn_critter(&mut app, (0, 0));
        order_slowly(&mut app, unit, (63, 40));
        app.update();
        assert_eq!(counters(&app).in_flight, 1);
        let mut level = grid_from(&field(side, side));
        let wall = CellRect::new(Cell::new(10, 0), 1, side as u32 - 1);
        level.block(wall).unwrap();
        let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
        grid(&mut app).remove(GridId::default());
        grid(&mut app).insert(GridId::default(), level, frame);
        run_until(&mut app, 200, |app| status(app, unit) != PathStatus::Searching);
        let path = app.world().get::<NavPath>(unit).unwrap();
        assert!(path.cells().all(|cell| !wall.contains(cell)), "{answer}");
        let is_off = matches!(status(&app, unit), PathStatus::Failed(_));
        assert_eq!(is_off, answer == "off the grid");
    }
}

#[test]
fn a_nearest_search_follows_edits_of_what_is_nearest() {
    let mut app = app_with(&field(200, 3));
    let id = GridId::default();
    let wall = CellRect::new(Cell::new(150, 0), 50, 3);
    grid(&mut app).get_mut(id).unwrap().block(wall).unwrap();
    app.world_mut().resource_mut::<TilePathSettings>().budget = 60;
    let unit = spawn_critter(&mut app, (0, 1));
    app.world_mut()
        .entity_mut(unit)
        .insert(PathRequest::to(Cell::new(199, 1)).reach(Reach::Nearest));
    run(&mut app, 2);
    assert_eq!(status(&app, unit), PathStatus::Searching);
    let more = CellRect::new(Cell::new(140, 0), 10, 3);
    grid(&mut app).get_mut(id).unwrap().block(more).unwrap();
    run_until(&mut app, 100, |app| status(app, unit) != PathStatus::Searching);
    assert_eq!(status(&app, unit), PathStatus::Walking(PathKind::Partial));
    assert_eq!(app.world().get::<NavPath>(unit).unwrap().end(), Cell::new(139, 1));
}

#[test]
fn a_canceled_search_does_not_affect_the_next_one() {
    use bevy_tilepath::nav::{node_pool::NodePool, search::Search};
    let pool = NodePool::default();
    let mut search = <Search>::new();
    let level = grid_from(&field(64, 64));
    search.start(&level, &pool, PathQuery::new(Cell::new(0, 0), Cell::new(60, 60))).unwrap();
    search.step(&level, &pool, 5);
    let expensive = Profile::new().with(TerrainId::GROUND, 65_535).with(TerrainId(2), 65_534);
    let large = NavGrid::new(512, 512, TerrainId::GROUND).unwrap().with_profiles(vec![expensive]);
    let (start, goal) = (Cell::new(0, 0), Cell::new(511, 511));
    search.start(&large, &pool, PathQuery::new(start, goal)).unwrap();
    search.step(&large, &pool, u32::MAX);
    let result = search.finish(&large, &pool);
    assert_eq!(result, Err(PathFailure::CostOverflow { start, goal }));
}

#[test]
fn edits_that_restart_long_searches_do_not_block_short_ones() {
    let mut app = app_with(&maze(255));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 20_000;
    for _ in 0..40 {
        let unit = spawn_critter(&mut app, (0, 0));
        order_slowly(&mut app, unit, (254, 254));
    }
    run(&mut app, 10);
    let wall = CellRect::single(Cell::new(0, 254));
    grid(&mut app).get_mut(GridId::default()).unwrap().block(wall).unwrap();
    let unit = spawn_critter(&mut app, (0, 0));
    order(&mut app, unit, (0, 25));
    app.update();
    assert!(counters(&app).restarts > 0, "they were restarted");
    assert!(matches!(status(&app, unit), PathStatus::Walking(_)));
}

#[test]
fn requests_are_tried_again_with_the_smallest_budget() {
    let mut app = app_with(&field(20, 9));
    let wall = CellRect::new(Cell::new(10, 0), 1, 9);
    grid(&mut app).get_mut(GridId::default()).unwrap().block(wall).unwrap();
    let unit = spawn_critter(&mut app, (2, 2));
    let retry = Retry { after: 2, longest: 8, most: 50 };
    let request = PathRequest::to(Cell::new(15, 2)).retry(retry);
    app.world_mut().entity_mut(unit).insert(request);
    app.update();
    assert!(matches!(status(&app, unit), PathStatus::Waiting(_)));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 1;
    grid(&mut app).get_mut(GridId::default()).unwrap().unblock(wall).unwrap();
    run_until(&mut app, 400, |app| matches!(status(app, unit), PathStatus::Walking(_)));
}

#[test]
fn a_critter_moved_while_it_waits_starts_from_there() {
    let mut app = app_with(&field(60, 20));
    let unit = spawn_critter(&mut app, (2, 2));
    order(&mut app, unit, (6, 2));
    run_until(&mut app, 400, |app| matches!(status(app, unit), PathStatus::Arrived(_)));
    run(&mut app, 3);
    let budget = app.world().resource::<TilePathSettings>().budget;
    app.world_mut().resource_mut::<TilePathSettings>().budget = 1;
    order_slowly(&mut app, unit, (50, 15));
    run(&mut app, 5);
    assert_eq!(status(&app, unit), PathStatus::Searching);
    let mut transform = app.world_mut().get_mut::<Transform>(unit).unwrap();
    (transform.translation.x, transform.translation.y) = (300.0, 50.0);
    app.world_mut().resource_mut::<TilePathSettings>().budget = budget;
    run(&mut app, 3);
    assert_eq!(app.world().get::<NavPath>(unit).unwrap().start(), Cell::new(30, 5));
    assert!(position(&app, unit).x >= 300.0, "it is not moved back");
    run_until(&mut app, 1_000, |app| matches!(status(app, unit), PathStatus::Arrived(_)));
    assert_eq!(state(&app, unit).cell(), Cell::new(50, 15));
}
