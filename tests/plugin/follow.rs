//! Going after targets that move: how near, how often planned anew, and how it ends.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

/// A field, what is followed (a critter), and who follows (half as fast again).
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

/// Cells between two units, the longer way along an axis.
fn gap(app: &App, a: Entity, b: Entity) -> u32 {
    let (a, b) = (cell(app, a), cell(app, b));
    a.x.abs_diff(b.x).max(a.y.abs_diff(b.y))
}

/// Puts something that stands by itself to another cell.
fn put(app: &mut App, entity: Entity, (x, y): (i32, i32)) {
    let place = Vec3::new(x as f32 * 10.0, y as f32 * 10.0, 0.0);
    app.world_mut().get_mut::<Transform>(entity).unwrap().translation = place;
}

#[test]
fn it_keeps_up_with_a_target_that_walks_away() {
    let (mut app, target, hunter) = chase(120, 9, (12, 4), (2, 4));
    order(&mut app, target, (110, 4));
    ask(&mut app, hunter, PathRequest::follow(target).within(2));
    // 10 cells to gain at 4 cells a second.
    run(&mut app, 180);
    let before = counters(&app).followed;
    for tick in 0..500 {
        app.update();
        assert!(gap(&app, target, hunter) <= 4, "tick {tick}");
    }
    assert_eq!(cell(&app, target).x, 12 + 680 / 8);
    let planned = counters(&app).followed - before;
    assert!(planned >= 20, "{planned}: it did follow");
    assert!(planned <= 500 / 5, "{planned} times in 500 ticks");
    assert!(failures(&app, hunter).is_empty());
}

#[test]
fn far_off_it_is_seldom_planned_anew() {
    let (mut app, target, hunter) = chase(200, 60, (150, 5), (2, 5));
    order(&mut app, target, (150, 55));
    ask(&mut app, hunter, PathRequest::follow(target));
    run(&mut app, 200);
    let moved = cell(&app, target).y - 5;
    assert!(moved >= 24, "the target has moved {moved} cells");
    assert!(counters(&app).followed <= 1, "a quarter of the way is farther than that");
    assert!(is_walking(&app, hunter));
    run_until(&mut app, 3_000, |app| has_arrived(app, target) && has_arrived(app, hunter));
    assert_eq!(gap(&app, target, hunter), 1, "nobody comes to stand on somebody else");
    assert!(counters(&app).followed <= 20);
}

#[test]
fn it_stops_at_the_distance_it_was_told() {
    let none = Near::Onto;
    for (near, end) in [
        (none, 29), // not on it: both hold their cells
        (Near::Beside, 29),
        (Near::Within(1), 29),
        (Near::Within(3), 27),
        (Near::InSight { cells: 5, through: SMALL }, 25),
        (Near::Within(40), 5),
    ] {
        let (mut app, target, hunter) = chase(40, 9, (30, 4), (5, 4));
        ask(&mut app, hunter, PathRequest { near, ..PathRequest::follow(target) });
        assert_eq!(rest(&mut app, hunter), Ok(Cell::new(end, 4)), "{near:?}");
        let told = counters(&app);
        run(&mut app, 100);
        assert_eq!((counters(&app).followed, told.followed), (0, 0), "nobody moves");
        assert_eq!(arrivals(&app, hunter), 1, "told once: {near:?}");
    }
}

#[test]
fn a_ghost_is_caught_up_with_on_its_cell() {
    let (mut app, _, hunter) = chase(40, 9, (35, 8), (5, 4));
    let ghost = spawn_ghost(&mut app, (20, 4));
    ask(&mut app, hunter, PathRequest::follow(ghost));
    assert_eq!(rest(&mut app, hunter), Ok(Cell::new(20, 4)));
    order(&mut app, ghost, (30, 2));
    rest(&mut app, ghost).unwrap();
    run(&mut app, 40);
    assert_eq!(cell(&app, hunter), Cell::new(30, 2));
    assert!(has_arrived(&app, hunter));
}

#[test]
fn it_stops_early_where_the_target_comes_to_meet_it() {
    let (mut app, target, hunter) = chase(60, 9, (50, 4), (5, 4));
    order(&mut app, target, (8, 4));
    ask(&mut app, hunter, PathRequest::follow(target).within(3));
    run_until(&mut app, 1_000, |app| has_arrived(app, hunter));
    let met = cell(&app, hunter);
    assert!((20..40).contains(&met.x), "{met}: half way");
    assert!(gap(&app, target, hunter) >= 1, "it does not run into it");
    assert!(counters(&app).followed < 40);
}

#[test]
fn it_sets_out_again_whenever_the_target_does() {
    let (mut app, target, hunter) = chase(60, 20, (10, 4), (2, 4));
    ask(&mut app, hunter, PathRequest::follow(target).within(2));
    for (round, goal) in
        [(10, 4), (20, 4), (20, 15), (50, 15), (49, 15), (5, 2)].into_iter().enumerate()
    {
        order(&mut app, target, goal);
        rest(&mut app, target).unwrap();
        run(&mut app, 60);
        assert!(has_arrived(&app, hunter), "round {round}");
        assert!(gap(&app, target, hunter) <= 2, "round {round}");
        assert!(arrivals(&app, hunter) >= round.min(4));
    }
    assert!(failures(&app, hunter).is_empty());
    assert!(app.world().entity(hunter).contains::<PathRequest>());
}

#[test]
fn near_enough_is_left_alone() {
    let (mut app, target, hunter) = chase(30, 20, (10, 4), (8, 4));
    ask(&mut app, hunter, PathRequest::follow(target).within(3));
    assert_eq!(rest(&mut app, hunter), Ok(Cell::new(8, 4)));
    order(&mut app, target, (11, 4));
    rest(&mut app, target).unwrap();
    run(&mut app, 50);
    assert_eq!(cell(&app, hunter), Cell::new(8, 4), "three cells are still near");
    assert_eq!(counters(&app).followed, 0);
}

#[test]
fn the_order_ends_once_when_the_target_is_gone() {
    for ticks in [0, 1, 30, 400] {
        let (mut app, target, hunter) = chase(60, 9, (30, 4), (2, 4));
        ask(&mut app, hunter, PathRequest::follow(target).within(2));
        run(&mut app, ticks);
        app.world_mut().entity_mut(target).despawn();
        app.update();
        assert_eq!(status(&app, hunter), PathStatus::Failed(PathFailure::TargetGone));
        run(&mut app, 200);
        assert_eq!(failures(&app, hunter), [PathFailure::TargetGone], "after {ticks} ticks");
        assert!(!state(&app, hunter).walk().is_between_cells(), "it stands on a cell");
        let stands = cell(&app, hunter);
        run(&mut app, 50);
        assert_eq!(cell(&app, hunter), stands);
        assert_eq!(counters(&app).failed, 1);
    }
}

#[test]
fn a_target_at_nan_is_as_good_as_gone() {
    let (mut app, _, hunter) = chase(40, 9, (30, 8), (2, 4));
    let flag = app.world_mut().spawn(Transform::from_xyz(300.0, 40.0, 0.0)).id();
    ask(&mut app, hunter, PathRequest::follow(flag));
    run(&mut app, 20);
    app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x = f32::NAN;
    run(&mut app, 20);
    assert_eq!(status(&app, hunter), PathStatus::Failed(PathFailure::TargetGone));
    assert_eq!(failures(&app, hunter), [PathFailure::TargetGone]);
}

#[test]
fn when_the_target_is_gone_it_goes_to_the_alternative() {
    let (mut app, target, hunter) = chase(40, 9, (30, 4), (12, 4));
    ask(&mut app, hunter, PathRequest::follow(target).or(Cell::new(3, 3)));
    run(&mut app, 30);
    app.world_mut().entity_mut(target).despawn();
    run(&mut app, 3);
    assert!(is_walking(&app, hunter));
    assert_eq!(rest(&mut app, hunter), Ok(Cell::new(3, 3)));
    run(&mut app, 50);
    assert!(failures(&app, hunter).is_empty());
    assert_eq!(arrivals(&app, hunter), 1);
}

#[test]
fn a_target_out_of_reach_ends_the_order_or_is_waited_for() {
    for retry in [None, Some(Retry { after: 10, longest: 10, most: 60 })] {
        let (mut app, target, hunter) = chase(40, 9, (10, 4), (2, 4));
        ask(&mut app, hunter, PathRequest { retry, ..PathRequest::follow(target).within(1) });
        rest(&mut app, hunter).unwrap();
        let wall = CellRect::new(Cell::new(15, 0), 1, 9);
        order(&mut app, target, (30, 4));
        run_until(&mut app, 500, |app| cell(app, target).x > 16);
        // The gate closes between them where the hunter is not through.
        put_back(&mut app, hunter);
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

/// Takes a walking unit back to the left edge: its order begins anew from there.
fn put_back(app: &mut App, unit: Entity) {
    let request = app.world().get::<PathRequest>(unit).unwrap().clone();
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(app, 20);
    put(app, unit, (2, 4));
    app.update();
    ask(app, unit, request);
    app.world_mut().resource_mut::<Events>().0.clear();
    app.update();
}

#[test]
fn another_order_or_none_ends_the_chase() {
    for another in [Some(PathRequest::to(Cell::new(3, 7))), None] {
        let (mut app, target, hunter) = chase(60, 9, (20, 4), (2, 4));
        ask(&mut app, hunter, PathRequest::follow(target));
        run(&mut app, 30);
        let reason = match another.clone() {
            Some(request) => {
                ask(&mut app, hunter, request);
                CancelReason::Replaced
            }
            None => {
                app.world_mut().entity_mut(hunter).remove::<PathRequest>();
                CancelReason::Removed
            }
        };
        run(&mut app, 150);
        let (stands, planned) = (cell(&app, hunter), counters(&app).followed);
        order(&mut app, target, (50, 4));
        run(&mut app, 300);
        assert_eq!((cell(&app, hunter), counters(&app).followed), (stands, planned));
        assert_eq!(cancellations(&app, hunter), [reason]);
        app.world_mut().entity_mut(target).despawn();
        run(&mut app, 10);
        assert_eq!(cancellations(&app, hunter), [reason], "the old target is nothing to it");
    }
}

#[test]
fn the_chase_goes_over_to_another_target() {
    let (mut app, first, hunter) = chase(60, 30, (20, 4), (2, 4));
    let second = spawn_critter(&mut app, (40, 25));
    ask(&mut app, hunter, PathRequest::follow(first).beside());
    rest(&mut app, hunter).unwrap();
    ask(&mut app, hunter, PathRequest::follow(second).beside());
    order(&mut app, first, (2, 28));
    rest(&mut app, hunter).unwrap();
    app.world_mut().entity_mut(first).despawn();
    order(&mut app, second, (50, 10));
    rest(&mut app, second).unwrap();
    run(&mut app, 60);
    assert_eq!(gap(&app, second, hunter), 1);
    assert!(!failures(&app, hunter).contains(&PathFailure::TargetGone));
}

#[test]
fn two_that_follow_each_other_meet_and_come_to_rest() {
    let (mut app, a, b) = chase(60, 9, (50, 4), (5, 4));
    ask(&mut app, a, PathRequest::follow(b).within(2));
    ask(&mut app, b, PathRequest::follow(a).within(2));
    run(&mut app, 500);
    assert!(has_arrived(&app, a) && has_arrived(&app, b));
    assert!(gap(&app, a, b) <= 2);
    let planned = counters(&app).followed;
    assert!(planned < 100, "{planned} times");
    run(&mut app, 200);
    assert_eq!(counters(&app).followed, planned, "they rest");
}

#[test]
fn who_follows_itself_has_arrived() {
    let (mut app, _, hunter) = chase(20, 9, (15, 4), (5, 4));
    ask(&mut app, hunter, PathRequest::follow(hunter));
    assert_eq!(rest(&mut app, hunter), Ok(Cell::new(5, 4)));
    run(&mut app, 50);
    assert_eq!((counters(&app).followed, arrivals(&app, hunter)), (0, 1));
}

#[test]
fn a_target_that_jumps_is_gone_after_at_once() {
    let (mut app, _, hunter) = chase(60, 30, (2, 28), (2, 4));
    let flag = app.world_mut().spawn(Transform::from_xyz(500.0, 40.0, 0.0)).id();
    ask(&mut app, hunter, PathRequest::follow(flag));
    run(&mut app, 40);
    put(&mut app, flag, (10, 25));
    app.update();
    assert_eq!(counters(&app).followed, 1);
    assert_eq!(app.world().get::<NavPath>(hunter).unwrap().end(), Cell::new(10, 25));
    assert_eq!(rest(&mut app, hunter), Ok(Cell::new(10, 25)));
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
    rest(&mut app, target).unwrap();
    run(&mut app, 2);
    assert_eq!(app.world().get::<NavPath>(watcher).unwrap().end(), Cell::new(50, 4));
    assert_eq!(place(&app, watcher), Vec2::new(20.0, 40.0));
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
        ask(&mut app, hunter, PathRequest::follow(target).within(20));
    }
    order(&mut app, target, (110, 55));
    for _ in 0..400 {
        app.update();
        assert!(counters(&app).spent_last_tick <= 40_000);
    }
    run_until(&mut app, 1_500, |app| hunters.iter().all(|&hunter| has_arrived(app, hunter)));
    let followed = counters(&app).followed;
    assert!(followed < 20 * 1_000, "{followed} in all");
    let far = hunters.iter().filter(|&&hunter| gap(&app, target, hunter) > 20).count();
    assert_eq!(far, 0);
}
