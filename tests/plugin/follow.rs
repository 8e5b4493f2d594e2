//! Following moving targets: at which distance, how often paths are replanned, and how it ends.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::set_ghost;

/// Returns an open field, a target (a critter), and a hunter that is 1.5 times as fast.
fn chase(
    width: usize,
    height: usize,
    target: (i32, i32),
    hunter: (i32, i32),
) -> (App, Entity, Entity) {
    let mut app = app_with(&field(width, height));
    record(&mut app);
    let target = spawn_critter(&mut app, target);
    let hunter = spawn_critter(&mut app, hunter);
    set_speed(&mut app, hunter, 12.0);
    (app, target, hunter)
}

fn cell(app: &App, unit: Entity) -> Cell {
    state(app, unit).cell()
}

/// Returns the columns or the rows between two units, whichever is more.
fn gap(app: &App, a: Entity, b: Entity) -> u32 {
    let (a, b) = (cell(app, a), cell(app, b));
    a.x.abs_diff(b.x).max(a.y.abs_diff(b.y))
}

/// Moves an entity to another cell.
fn move_to(app: &mut App, entity: Entity, (x, y): (i32, i32)) {
    let position = Vec3::new(x as f32 * 10.0, y as f32 * 10.0, 0.0);
    app.world_mut().get_mut::<Transform>(entity).unwrap().translation = position;
}

#[test]
fn a_hunter_that_the_game_puts_elsewhere_comes_back() {
    for is_ghost in [false, true] {
        let (mut app, target, hunter) = chase(40, 12, (5, 5), (8, 5));
        set_ghost(&mut app, hunter, is_ghost);
        let request = PathRequest::follow(target).within(2);
        insert_request(&mut app, hunter, request);
        run_until(&mut app, 300, |app| has_arrived(app, hunter));
        move_to(&mut app, hunter, (35, 5));
        run_until(&mut app, 600, |app| position(app, hunter).x < 80.0);
        run_until(&mut app, 60, |app| has_arrived(app, hunter));
        assert!(gap(&app, target, hunter) <= 2, "ghost: {is_ghost}");
    }
}

#[test]
fn a_hunter_keeps_up_with_a_target_that_walks_away() {
    let (mut app, target, hunter) = chase(120, 9, (12, 4), (2, 4));
    order(&mut app, target, (110, 4));
    insert_request(&mut app, hunter, PathRequest::follow(target).within(2));
    // 10 cells to gain at 4 cells per second.
    run(&mut app, 180);
    let before = counters(&app).followed;
    for tick in 0..500 {
        app.update();
        assert!(gap(&app, target, hunter) <= 4, "tick {tick}");
    }
    assert_eq!(cell(&app, target).x, 12 + 680 / 8);
    let replanned = counters(&app).followed - before;
    assert!(replanned >= 20, "{replanned}: the path was replanned");
    assert!(replanned <= 500 / 5, "{replanned} times in 500 ticks");
    assert!(failures(&app, hunter).is_empty());
}

#[test]
fn far_from_the_target_the_path_is_seldom_replanned() {
    let (mut app, target, hunter) = chase(200, 60, (150, 5), (2, 5));
    order(&mut app, target, (150, 55));
    insert_request(&mut app, hunter, PathRequest::follow(target));
    run(&mut app, 200);
    let moved = cell(&app, target).y - 5;
    assert!(moved >= 24, "the target has moved {moved} cells");
    assert!(counters(&app).followed <= 1, "a quarter of the path is longer than that");
    assert!(is_walking(&app, hunter));
    run_until(&mut app, 3_000, |app| has_arrived(app, target) && has_arrived(app, hunter));
    assert_eq!(gap(&app, target, hunter), 1, "the hunter stops beside the target");
    assert!(counters(&app).followed <= 20);
}

#[test]
fn a_hunter_stops_at_the_requested_distance() {
    let none = Approach::Onto;
    for (approach, end) in [
        (none, 29), // beside it: both hold their cells
        (Approach::Beside, 29),
        (Approach::Within { cells: 1 }, 29),
        (Approach::Within { cells: 3 }, 27),
        (Approach::InSight { cells: 5, through: SMALL }, 25),
        (Approach::Within { cells: 40 }, 5),
    ] {
        let (mut app, target, hunter) = chase(40, 9, (30, 4), (5, 4));
        insert_request(&mut app, hunter, PathRequest { approach, ..PathRequest::follow(target) });
        assert_eq!(run_to_end(&mut app, hunter), Ok(Cell::new(end, 4)), "{approach:?}");
        let before = counters(&app);
        run(&mut app, 100);
        assert_eq!((counters(&app).followed, before.followed), (0, 0), "neither moves");
        assert_eq!(arrivals(&app, hunter), 1, "reported once: {approach:?}");
    }
}

#[test]
fn a_ghost_is_followed_onto_its_cell() {
    let (mut app, _, hunter) = chase(40, 9, (35, 8), (5, 4));
    let ghost = spawn_ghost(&mut app, (20, 4));
    insert_request(&mut app, hunter, PathRequest::follow(ghost));
    assert_eq!(run_to_end(&mut app, hunter), Ok(Cell::new(20, 4)));
    order(&mut app, ghost, (30, 2));
    run_to_end(&mut app, ghost).unwrap();
    run(&mut app, 40);
    assert_eq!(cell(&app, hunter), Cell::new(30, 2));
    assert!(has_arrived(&app, hunter));
}

#[test]
fn a_hunter_stops_early_when_the_target_approaches() {
    let (mut app, target, hunter) = chase(60, 9, (50, 4), (5, 4));
    order(&mut app, target, (8, 4));
    insert_request(&mut app, hunter, PathRequest::follow(target).within(3));
    run_until(&mut app, 1_000, |app| has_arrived(app, hunter));
    let met = cell(&app, hunter);
    assert!((20..40).contains(&met.x), "{met}: halfway");
    assert!(gap(&app, target, hunter) >= 1, "it does not enter the target's cell");
    assert!(counters(&app).followed < 40);
}

#[test]
fn a_hunter_starts_again_whenever_the_target_does() {
    let (mut app, target, hunter) = chase(60, 20, (10, 4), (2, 4));
    insert_request(&mut app, hunter, PathRequest::follow(target).within(2));
    for (round, goal) in
        [(10, 4), (20, 4), (20, 15), (50, 15), (49, 15), (5, 2)].into_iter().enumerate()
    {
        order(&mut app, target, goal);
        run_to_end(&mut app, target).unwrap();
        run(&mut app, 60);
        assert!(has_arrived(&app, hunter), "round {round}");
        assert!(gap(&app, target, hunter) <= 2, "round {round}");
        assert!(arrivals(&app, hunter) >= round.min(4));
    }
    assert!(failures(&app, hunter).is_empty());
    assert!(app.world().entity(hunter).contains::<PathRequest>());
}

#[test]
fn a_target_that_stays_near_enough_causes_no_new_path() {
    let (mut app, target, hunter) = chase(30, 20, (10, 4), (8, 4));
    insert_request(&mut app, hunter, PathRequest::follow(target).within(3));
    assert_eq!(run_to_end(&mut app, hunter), Ok(Cell::new(8, 4)));
    order(&mut app, target, (11, 4));
    run_to_end(&mut app, target).unwrap();
    run(&mut app, 50);
    assert_eq!(cell(&app, hunter), Cell::new(8, 4), "three cells are still near enough");
    assert_eq!(counters(&app).followed, 0);
}

/// Adds guards that nobody pushes in column 12, and lets a target walk up and down behind them, next to the hunter.
fn chase_past_guards(rows: core::ops::Range<i32>) -> (App, Entity, Entity) {
    let (mut app, target, hunter) = chase(30, 21, (15, 10), (11, 10));
    for row in rows {
        let guard = spawn_critter(&mut app, (12, row));
        app.world_mut().entity_mut(guard).insert(Unpushable);
    }
    insert_request(&mut app, hunter, PathRequest::follow(target));
    (app, target, hunter)
}

/// Lets the target walk up and down for some ticks, and calls `look` after each of them.
fn walk_up_and_down(app: &mut App, target: Entity, ticks: u32, mut look: impl FnMut(&App)) {
    let mut row = 8;
    for _ in 0..ticks {
        if !is_walking(app, target) {
            row = 20 - row;
            order(app, target, (15, row));
        }
        app.update();
        look(app);
    }
}

#[test]
fn a_hunter_goes_around_guards_while_its_target_moves() {
    let (mut app, target, hunter) = chase_past_guards(6..15);
    let mut nearest = u32::MAX;
    walk_up_and_down(&mut app, target, 400, |app| nearest = nearest.min(gap(app, hunter, target)));
    assert!(counters(&app).followed > 10, "{}: it gets new paths", counters(&app).followed);
    assert_eq!(nearest, 1, "the hunter is at {}", cell(&app, hunter));
}

#[test]
fn a_hunter_that_guards_shut_out_is_stuck_while_its_target_moves() {
    // In an alley, so that it cannot walk up and down on its side, either.
    let (mut app, target, hunter) = chase_past_guards(10..11);
    for row in [0, 11] {
        block(&mut app, CellRect::new(Cell::new(0, row), 13, 10));
    }
    walk_up_and_down(&mut app, target, 600, |_| {});
    let mut stuck = 0;
    walk_up_and_down(&mut app, target, 400, |app| {
        stuck += u32::from(status(app, hunter) == PathStatus::Stuck(Hindrance::Obstacle));
    });
    assert!(counters(&app).followed > 50, "{}: it gets new paths", counters(&app).followed);
    assert!(stuck > 200, "stuck in {stuck} of 400 ticks");
}

#[test]
fn the_order_fails_once_when_the_target_is_despawned() {
    for ticks in [0, 1, 30, 400] {
        let (mut app, target, hunter) = chase(60, 9, (30, 4), (2, 4));
        insert_request(&mut app, hunter, PathRequest::follow(target).within(2));
        run(&mut app, ticks);
        app.world_mut().entity_mut(target).despawn();
        app.update();
        assert_eq!(status(&app, hunter), PathStatus::Failed(PathFailure::TargetGone));
        run(&mut app, 200);
        assert_eq!(failures(&app, hunter), [PathFailure::TargetGone], "after {ticks} ticks");
        assert!(!state(&app, hunter).walk().is_between_cells(), "it stands on a cell");
        let stopped_at = cell(&app, hunter);
        run(&mut app, 50);
        assert_eq!(cell(&app, hunter), stopped_at);
        assert_eq!(counters(&app).failed, 1);
    }
}

#[test]
fn a_target_at_nan_counts_as_gone() {
    let (mut app, _, hunter) = chase(40, 9, (30, 8), (2, 4));
    let flag = app.world_mut().spawn(Transform::from_xyz(300.0, 40.0, 0.0)).id();
    insert_request(&mut app, hunter, PathRequest::follow(flag));
    run(&mut app, 20);
    app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x = f32::NAN;
    run(&mut app, 20);
    assert_eq!(status(&app, hunter), PathStatus::Failed(PathFailure::TargetGone));
    assert_eq!(failures(&app, hunter), [PathFailure::TargetGone]);
}

#[test]
fn when_the_target_is_gone_the_alternative_is_used() {
    let (mut app, target, hunter) = chase(40, 9, (30, 4), (12, 4));
    insert_request(&mut app, hunter, PathRequest::follow(target).or(Cell::new(3, 3)));
    run(&mut app, 30);
    app.world_mut().entity_mut(target).despawn();
    run(&mut app, 3);
    assert!(is_walking(&app, hunter));
    assert_eq!(run_to_end(&mut app, hunter), Ok(Cell::new(3, 3)));
    run(&mut app, 50);
    assert!(failures(&app, hunter).is_empty());
    assert_eq!(arrivals(&app, hunter), 1);
}

#[test]
fn a_target_out_of_reach_ends_the_order_or_is_waited_for() {
    for retry in [None, Some(Retry { after: 10, longest: 10, most: 60 })] {
        let (mut app, target, hunter) = chase(40, 9, (10, 4), (2, 4));
        insert_request(
            &mut app,
            hunter,
            PathRequest { retry, ..PathRequest::follow(target).within(1) },
        );
        run_to_end(&mut app, hunter).unwrap();
        let wall = CellRect::new(Cell::new(15, 0), 1, 9);
        order(&mut app, target, (30, 4));
        run_until(&mut app, 500, |app| cell(app, target).x > 16);
        // A wall closes between them, with the hunter on the other side.
        restart_at_left_edge(&mut app, hunter);
        block(&mut app, wall);
        run(&mut app, 60);
        match retry {
            None => assert!(matches!(
                status(&app, hunter),
                PathStatus::Failed(PathFailure::NoPath { .. })
            )),
            Some(_) => assert!(matches!(status(&app, hunter), PathStatus::Waiting(_))),
        }
        unblock(&mut app, wall);
        run(&mut app, 400);
        assert_eq!(gap(&app, target, hunter) <= 1, retry.is_some());
        assert_eq!(failures(&app, hunter).len(), usize::from(retry.is_none()));
    }
}

/// Moves a walking unit back to the left edge and restarts its order from there.
fn restart_at_left_edge(app: &mut App, unit: Entity) {
    let request = app.world().get::<PathRequest>(unit).unwrap().clone();
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(app, 20);
    move_to(app, unit, (2, 4));
    app.update();
    insert_request(app, unit, request);
    app.world_mut().resource_mut::<Events>().0.clear();
    app.update();
}

#[test]
fn another_order_or_a_removal_ends_the_chase() {
    for another in [Some(PathRequest::to(Cell::new(3, 7))), None] {
        let (mut app, target, hunter) = chase(60, 9, (20, 4), (2, 4));
        insert_request(&mut app, hunter, PathRequest::follow(target));
        run(&mut app, 30);
        let reason = match another.clone() {
            Some(request) => {
                insert_request(&mut app, hunter, request);
                CancelReason::Replaced
            }
            None => {
                app.world_mut().entity_mut(hunter).remove::<PathRequest>();
                CancelReason::Removed
            }
        };
        run(&mut app, 150);
        let (stopped_at, replanned) = (cell(&app, hunter), counters(&app).followed);
        order(&mut app, target, (50, 4));
        run(&mut app, 300);
        assert_eq!((cell(&app, hunter), counters(&app).followed), (stopped_at, replanned));
        assert_eq!(cancellations(&app, hunter), [reason]);
        app.world_mut().entity_mut(target).despawn();
        run(&mut app, 10);
        assert_eq!(cancellations(&app, hunter), [reason], "the old target no longer matters");
    }
}

#[test]
fn the_target_of_a_chase_can_be_changed() {
    let (mut app, first, hunter) = chase(60, 30, (20, 4), (2, 4));
    let second = spawn_critter(&mut app, (40, 25));
    insert_request(&mut app, hunter, PathRequest::follow(first).beside());
    run_to_end(&mut app, hunter).unwrap();
    insert_request(&mut app, hunter, PathRequest::follow(second).beside());
    order(&mut app, first, (2, 28));
    run_to_end(&mut app, hunter).unwrap();
    app.world_mut().entity_mut(first).despawn();
    order(&mut app, second, (50, 10));
    run_to_end(&mut app, second).unwrap();
    run(&mut app, 60);
    assert_eq!(gap(&app, second, hunter), 1);
    assert!(!failures(&app, hunter).contains(&PathFailure::TargetGone));
}

#[test]
fn two_that_follow_each_other_meet_and_come_to_rest() {
    let (mut app, a, b) = chase(60, 9, (50, 4), (5, 4));
    insert_request(&mut app, a, PathRequest::follow(b).within(2));
    insert_request(&mut app, b, PathRequest::follow(a).within(2));
    run(&mut app, 500);
    assert!(has_arrived(&app, a) && has_arrived(&app, b));
    assert!(gap(&app, a, b) <= 2);
    let replanned = counters(&app).followed;
    assert!(replanned < 100, "{replanned} times");
    run(&mut app, 200);
    assert_eq!(counters(&app).followed, replanned, "they stay at rest");
}

#[test]
fn a_unit_that_follows_itself_has_arrived() {
    let (mut app, _, hunter) = chase(20, 9, (15, 4), (5, 4));
    insert_request(&mut app, hunter, PathRequest::follow(hunter));
    assert_eq!(run_to_end(&mut app, hunter), Ok(Cell::new(5, 4)));
    run(&mut app, 50);
    assert_eq!((counters(&app).followed, arrivals(&app, hunter)), (0, 1));
}

#[test]
fn a_target_that_jumps_is_followed_immediately() {
    let (mut app, _, hunter) = chase(60, 30, (2, 28), (2, 4));
    let flag = app.world_mut().spawn(Transform::from_xyz(500.0, 40.0, 0.0)).id();
    insert_request(&mut app, hunter, PathRequest::follow(flag));
    run(&mut app, 40);
    move_to(&mut app, flag, (10, 25));
    app.update();
    assert_eq!(counters(&app).followed, 1);
    assert_eq!(app.world().get::<NavPath>(hunter).unwrap().end(), Cell::new(10, 25));
    assert_eq!(run_to_end(&mut app, hunter), Ok(Cell::new(10, 25)));
}

#[test]
fn an_entity_without_critter_gets_new_paths() {
    let (mut app, target, _) = chase(60, 9, (20, 4), (2, 8));
    let watcher = app
        .world_mut()
        .spawn((Transform::from_xyz(20.0, 40.0, 0.0), PathRequest::follow(target)))
        .id();
    app.update();
    assert_eq!(app.world().get::<NavPath>(watcher).unwrap().end(), Cell::new(20, 4));
    order(&mut app, target, (50, 4));
    run_to_end(&mut app, target).unwrap();
    run(&mut app, 2);
    assert_eq!(app.world().get::<NavPath>(watcher).unwrap().end(), Cell::new(50, 4));
    assert_eq!(position(&app, watcher), Vec2::new(20.0, 40.0));
    assert!(counters(&app).followed <= 31, "{}", counters(&app).followed);
}

#[test]
fn a_thousand_followers_stay_within_the_budget() {
    let mut app = app_with(&field(120, 60));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 20_000;
    let target = spawn_critter(&mut app, (100, 30));
    let hunters: Vec<Entity> =
        (0..1_000).map(|unit| spawn_ghost(&mut app, (unit % 40, 10 + unit / 40))).collect();
    for &hunter in &hunters {
        insert_request(&mut app, hunter, PathRequest::follow(target).within(20));
    }
    order(&mut app, target, (110, 55));
    for _ in 0..400 {
        app.update();
        assert!(counters(&app).spent_last_tick <= 20_000);
    }
    run_until(&mut app, 1_500, |app| hunters.iter().all(|&hunter| has_arrived(app, hunter)));
    let followed = counters(&app).followed;
    assert!(followed < 20 * 1_000, "{followed} in all");
    let far = hunters.iter().filter(|&&hunter| gap(&app, target, hunter) > 20).count();
    assert_eq!(far, 0);
}
