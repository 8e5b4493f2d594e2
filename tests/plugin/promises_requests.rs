//! Promises about requests under changes: targets that vanish, retries, followers, and the events that end a request.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

/// Moves steered units as they want.
fn glide(time: Res<Time>, mut units: Query<(&DesiredVelocity, &mut Transform), Without<Critter>>) {
    for (desired, mut transform) in &mut units {
        transform.translation += desired.extend(0.0) * time.delta_secs();
    }
}

fn app_that_steers(map: &str) -> App {
    let mut app = app_with(map);
    record(&mut app);
    app.add_systems(FixedUpdate, glide.after(TilePathSystems::Move));
    app
}

fn spawn_steered(app: &mut App, (x, y): (f32, f32), radius: f32) -> Entity {
    let steering = PathSteering::new(8.0).arrival_radius(radius);
    app.world_mut().spawn((steering, Transform::from_xyz(10.0 * x, 10.0 * y, 0.0))).id()
}

fn spawn_flag(app: &mut App, (x, y): (f32, f32)) -> Entity {
    app.world_mut().spawn(Transform::from_xyz(10.0 * x, 10.0 * y, 0.0)).id()
}

/// A target that is not followed counts where it was when the request was read, also if the path is searched for again.
#[test]
fn a_target_that_vanishes_is_where_it_was_whatever_happens_to_the_path() {
    for to_nearest in [false, true] {
        let mut app = app_that_steers(&field(40, 12));
        let flag = spawn_flag(&mut app, (30.0, 5.0));
        let unit = spawn_steered(&mut app, (3.0, 5.0), 0.3);
        let request =
            if to_nearest { PathRequest::to_nearest([flag]) } else { PathRequest::to(flag) };
        insert_request(&mut app, unit, request);
        run(&mut app, 20);
        app.world_mut().despawn(flag);
        block(&mut app, CellRect::new(Cell::new(20, 1), 1, 11)); // it needs another path
        run_until(&mut app, 900, |app| has_arrived(app, unit));
        assert!(position(&app, unit).distance(Vec2::new(300.0, 50.0)) <= 3.0);
        assert_eq!(failures(&app, unit), []);
    }
    // Over stairs the request is read again behind them.
    let mut app = app_with(&field(30, 12));
    let upper = GridFrame::square(Vec2::new(0.0, 1_000.0), Vec2::splat(10.0));
    grid(&mut app).insert(GridId(1), grid_from(&field(30, 12)), upper);
    let ends = [(GridId(0), Cell::new(20, 6)), (GridId(1), Cell::new(20, 6))];
    app.world_mut().spawn(NavLink::new(ends[0], ends[1]));
    let flag = app.world_mut().spawn(Transform::from_xyz(50.0, 1_050.0, 0.0)).id();
    let unit = spawn_critter(&mut app, (3, 6));
    run(&mut app, 2);
    insert_request(&mut app, unit, PathRequest::to(flag).goal_on(GridId(1)));
    run(&mut app, 60);
    app.world_mut().despawn(flag);
    run_until(&mut app, 1_500, |app| has_arrived(app, unit));
    assert_eq!(state(&app, unit).cell(), Cell::new(5, 5));
    // Also if the game takes the unit across.
    let flag = app.world_mut().spawn(Transform::from_xyz(250.0, 1_050.0, 0.0)).id();
    let request = PathRequest::to(flag).goal_on(GridId(1));
    let unit = app.world_mut().spawn((Transform::from_xyz(30.0, 60.0, 0.0), request)).id();
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Found(PathKind::ToLink));
    app.world_mut().despawn(flag);
    let (there, agent) = (Transform::from_xyz(200.0, 1_060.0, 0.0), NavAgent::default());
    app.world_mut().entity_mut(unit).insert((there, agent.on(GridId(1))));
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Found(PathKind::Complete));
    assert_eq!(app.world().get::<NavPath>(unit).unwrap().end(), Cell::new(25, 5));
}

/// The reason for which none of several targets can be used is that of the first that may come back.
#[test]
fn to_nearest_waits_for_targets_that_may_come() {
    let mut app = app_with(&field(30, 12));
    record(&mut app);
    let unit = spawn_critter(&mut app, (3, 6));
    let (nowhere, gone) = (Vec2::NAN, despawned_entity(&mut app));
    let targets = [Target::Entity(gone), Target::Position(nowhere)];
    insert_request(&mut app, unit, PathRequest::to_nearest(targets).retry(Retry::default()));
    run(&mut app, 5);
    assert_eq!(status(&app, unit), PathStatus::Waiting(PathFailure::GoalUnknown));
    insert_request(&mut app, unit, PathRequest::to_nearest([gone]).retry(Retry::default()));
    run(&mut app, 5);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::TargetGone));
}

/// A request that has ended is replaced without an event; one that follows goes on until it is replaced.
#[test]
fn only_requests_under_way_are_canceled() {
    let mut app = app_with(&field(30, 12));
    record(&mut app);
    // It follows its prey; without it, it goes home, and this is no target that it follows.
    let prey = spawn_flag(&mut app, (20.0, 6.0));
    let unit = spawn_critter(&mut app, (3, 6));
    insert_request(&mut app, unit, PathRequest::follow(prey).or(Cell::new(3, 3)));
    run(&mut app, 10);
    app.world_mut().despawn(prey);
    run_until(&mut app, 600, |app| has_arrived(app, unit));
    order(&mut app, unit, (5, 5));
    run(&mut app, 5);
    assert_eq!(cancellations(&app, unit), []);
    // By hand: with its path, a request has ended, but not if it follows.
    for follows in [false, true] {
        let flag = spawn_flag(&mut app, (20.0, 6.0));
        let unit = spawn_flag(&mut app, (3.0, 6.0));
        let request = if follows { PathRequest::follow(flag) } else { PathRequest::to(flag) };
        insert_request(&mut app, unit, request);
        run(&mut app, 5);
        assert_eq!(status(&app, unit), PathStatus::Found(PathKind::Complete));
        app.world_mut().entity_mut(unit).remove::<PathRequest>();
        run(&mut app, 5);
        let expected = if follows { vec![CancelReason::Removed] } else { vec![] };
        assert_eq!(cancellations(&app, unit), expected);
    }
}

/// An urgent request is read first. What becomes of it is announced after the end of the request that it replaces.
#[test]
fn a_replaced_request_ends_before_the_urgent_one_begins() {
    let mut app = app_with(&field(30, 12));
    record(&mut app);
    let unit = spawn_critter(&mut app, (3, 6));
    order(&mut app, unit, (25, 6));
    run(&mut app, 10);
    let urgent = |x| PathRequest::to(Cell::new(x, 3)).priority(Priority(5));
    insert_request(&mut app, unit, urgent(20));
    run(&mut app, 10);
    insert_request(&mut app, unit, urgent(15)); // never read
    insert_request(&mut app, unit, PathRequest::to(Cell::new(-9, 3)).priority(Priority(5)));
    run(&mut app, 10);
    let found = Recorded::Found(unit, PathKind::Complete);
    let canceled = Recorded::Canceled(unit, CancelReason::Replaced);
    let failed = Recorded::Failed(unit, PathFailure::GoalOutOfBounds(Cell::new(-9, 3)));
    assert_eq!(events(&app), [found, canceled, found, canceled, canceled, failed]);
}

/// It rests as long as a patrol of critters, although its body stands beside the cell at which its path ends.
#[test]
fn a_patrol_of_a_body_with_one_stop_rests() {
    for radius in [0.3, 1.5] {
        let mut app = app_that_steers(&field(30, 12));
        let unit = spawn_steered(&mut app, (3.0, 6.0), radius);
        let patrol = Order::patrol([Cell::new(10, 6)], PatrolMode::Round);
        app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(patrol));
        run_until(&mut app, 300, |app| has_arrived(app, unit));
        run(&mut app, 20);
        let before = arrivals(&app, unit);
        run(&mut app, 320);
        let count = arrivals(&app, unit) - before;
        assert!((8..=11).contains(&count), "{count} rounds of 32 ticks");
    }
}

/// However often its agent changes meanwhile, it is tried as often and for as long as its `Retry` says.
#[test]
fn a_changed_agent_does_not_double_the_tries() {
    let time_to_fail = |changes: u32| {
        let mut app = app_with_sizes(&field(30, 12));
        record(&mut app);
        block(&mut app, CellRect::new(Cell::new(15, 0), 1, 12));
        let unit = spawn_critter(&mut app, (3, 6));
        let retry = Retry { after: 40, longest: 40, most: 6 };
        insert_request(&mut app, unit, PathRequest::to(Cell::new(25, 6)).retry(retry));
        run(&mut app, 4);
        for change in 0..changes {
            let profile = ProfileId(1 - (change % 2) as u8);
            app.world_mut().entity_mut(unit).insert(NavAgent::new(profile));
            run(&mut app, 3);
        }
        let waits = |app: &App| matches!(status(app, unit), PathStatus::Waiting(_));
        let mut most = 0;
        let ticks = run_until(&mut app, 2_000, |app| {
            most = most.max(counters(app).waiting_again);
            !waits(app)
        });
        assert!(most <= 1, "{most} entries for one request");
        (ticks + 3 * changes, failures(&app, unit).len())
    };
    let (calm, failures) = time_to_fail(0);
    assert_eq!(failures, 1);
    for changes in 1..3 {
        let (ticks, failures) = time_to_fail(changes);
        assert_eq!(failures, 1);
        // Each change is one of the tries, at once.
        assert!(ticks + 41 * changes >= calm, "{ticks} of {calm} ticks with {changes} changes");
    }
}

/// What is drawn of a path ends with it.
#[test]
fn a_stopped_unit_has_no_lines() {
    let mut app = app_with(&field(40, 20));
    let ghost = spawn_ghost(&mut app, (2, 2));
    app.world_mut().entity_mut(ghost).insert(AnyAnglePath::default());
    order(&mut app, ghost, (30, 13));
    run(&mut app, 20);
    let lines = |app: &App| app.world().get::<AnyAnglePath>(ghost).unwrap().lines().steps();
    assert!(lines(&app) > 0);
    app.world_mut().entity_mut(ghost).remove::<PathRequest>();
    run(&mut app, 3);
    assert_eq!(lines(&app), 0);
}

#[test]
fn followers_leave_something_of_the_smallest_budgets() {
    for budget in [1, 2, 4, 8] {
        let mut app = app_with(&field(30, 12));
        let flag = spawn_flag(&mut app, (20.0, 6.0));
        for y in 0..4 {
            let unit = spawn_critter(&mut app, (3, y));
            insert_request(&mut app, unit, PathRequest::follow(flag));
        }
        run(&mut app, 4);
        app.world_mut().resource_mut::<TilePathSettings>().budget = budget;
        let unit = spawn_critter(&mut app, (5, 10));
        order(&mut app, unit, (9, 10));
        run_until(&mut app, 3_000, |app| has_arrived(app, unit));
    }
}
