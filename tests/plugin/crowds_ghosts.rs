//! Ghosts walk through other critters; critters become ghosts and colliding again; speeds and speed limits.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::*;

/// Returns the position of a ghost in every tick of its path through a corridor, in which others may stand.
fn ghost_walk(others: &[i32]) -> Vec<(Cell, Cell, (u64, u64))> {
    let mut app = app_with(&corridor());
    let mut watch = Watch::new();
    let ghost = spawn_at(&mut app, Critter::new(4.0).ghost(), (0, 1));
    let standing: Vec<(Entity, i32)> =
        others.iter().map(|&x| (spawn_at(&mut app, Critter::new(8.0), (x, 1)), x)).collect();
    order(&mut app, ghost, (19, 1));
    let mut positions = Vec::new();
    watch.run_until(&mut app, 1_000, |app| {
        let walk = *state(app, ghost).walk();
        positions.push((walk.tail(), walk.head(), walk.progress()));
        assert_eq!(state(app, ghost).unit(), None, "a ghost is in no crowd");
        has_arrived(app, ghost)
    });
    assert!(stands_on(&app, ghost, (19, 1)));
    for (unit, x) in standing {
        assert!(stands_on(&app, unit, (x, 1)), "a ghost does not push");
    }
    positions
}

#[test]
fn a_ghost_walks_through_others_as_on_an_empty_map() {
    let unobstructed = ghost_walk(&[]);
    // 19 cells at four cells per second, 64 ticks per second.
    assert!((300..=310).contains(&unobstructed.len()), "{} ticks", unobstructed.len());
    assert_eq!(ghost_walk(&[5, 6, 12, 19]), unobstructed);
}

#[test]
fn a_ghost_is_no_obstacle() {
    let mut app = app_with(&corridor());
    let mut watch = Watch::new();
    let ghost = spawn_at(&mut app, Critter::new(8.0).ghost(), (9, 1));
    app.world_mut().entity_mut(ghost).insert(Unpushable);
    let walker = spawn_at(&mut app, Critter::new(8.0), (0, 1));
    order(&mut app, walker, (19, 1));
    let is_done = |app: &App| has_arrived(app, walker);
    let ticks = watch.run_until(&mut app, 1_000, is_done);
    assert!(ticks <= 160, "it was delayed: {ticks} ticks for 19 cells");
    assert!(position(&app, ghost).distance(Vec2::new(90.0, 10.0)) < 0.01);
}

#[test]
fn critters_that_become_ghosts_and_back_while_walking_arrive() {
    let mut app = app_with(&field(40, 20));
    let mut watch = Watch::new();
    let units: Vec<Entity> = (0..20)
        .map(|i| {
            let (from, to) = if i % 2 == 0 { (1, 38) } else { (38, 1) };
            let unit = spawn_at(&mut app, Critter::new(8.0), (from, i));
            order(&mut app, unit, (to, 19 - i));
            unit
        })
        .collect();
    for round in 0..30 {
        watch.run(&mut app, 13);
        for &unit in units.iter().skip(round % 3).step_by(3) {
            let is_ghost = state(&app, unit).unit().is_none();
            set_ghost(&mut app, unit, !is_ghost);
        }
    }
    units.iter().for_each(|&unit| set_ghost(&mut app, unit, false));
    watch.run(&mut app, 20);
    watch.run_until_all_arrived(&mut app, &units, 3_000);
    assert_eq!(crowd_len(&app), 20);
}

#[test]
fn becoming_a_ghost_and_back_causes_no_jump() {
    let mut app = app_with(&field(60, 5));
    let unit = spawn_at(&mut app, Critter::new(4.0), (2, 2));
    order(&mut app, unit, (55, 2));
    run(&mut app, 7);
    let mut before = position(&app, unit);
    for tick in 0..600 {
        if tick % 37 == 0 {
            let collides = app.world().get::<Critter>(unit).unwrap().collides;
            set_ghost(&mut app, unit, collides);
        }
        app.update();
        let now = position(&app, unit);
        // 40 world units per second, 64 ticks per second; twice that while it is moved to the center of its
        // cell.
        assert!(before.distance(now) <= 2.0 * 40.0 / 64.0 + 0.01, "from {before} to {now}");
        before = now;
    }
    assert!(before.x > 250.0, "it has made progress");
}

#[test]
fn a_critter_without_room_may_walk_as_a_ghost() {
    let mut app = app_with("....");
    let units: Vec<Entity> =
        (0..4).map(|x| spawn_at(&mut app, Critter::new(8.0), (x, 0))).collect();
    let outside = spawn_at(&mut app, Critter::new(8.0), (0, 0));
    order(&mut app, outside, (3, 0));
    run(&mut app, 40);
    assert!(units.iter().all(|&unit| state(&app, unit).unit().is_some()));
    assert_eq!(status(&app, outside), PathStatus::Stuck(Hindrance::NoRoom));
    set_ghost(&mut app, outside, true);
    run_until(&mut app, 300, |app| has_arrived(app, outside));
    assert!(stands_on(&app, outside, (3, 0)));
}

#[test]
fn a_critter_pushed_aside_may_become_a_ghost_in_the_middle_of_its_step() {
    let mut app = app_with(&corridor_with_bay(12));
    let mut watch = Watch::new();
    let idle = spawn_at(&mut app, Critter::new(2.0), (3, 1));
    let walker = spawn_at(&mut app, Critter::new(8.0), (0, 1));
    order(&mut app, walker, (19, 1));
    watch.run_until(&mut app, 300, |app| state(app, idle).walk().is_between_cells());
    watch.run(&mut app, 5);
    set_ghost(&mut app, idle, true);
    watch.run_until_all_arrived(&mut app, &[walker], 1_000);
    watch.run(&mut app, 60);
    // It has come to rest, can be moved, and takes orders.
    assert!(!state(&app, idle).walk().is_between_cells());
    move_to(&mut app, idle, (10, 1));
    order(&mut app, idle, (15, 1));
    run(&mut app, 1);
    let start = app.world().get::<RequestState>(idle).unwrap().query().start;
    assert_eq!(start, Cell::new(10, 1));
    run_until(&mut app, 600, |app| has_arrived(app, idle));
    assert!(stands_on(&app, idle, (15, 1)));
    assert!(position(&app, idle).x > 140.0);
}

#[test]
fn a_critter_without_speed_is_reported_stuck_and_continues_with_one() {
    for speed in [0.0, -1.0, f32::NAN] {
        let mut app = app_with(&field(20, 5));
        let mut watch = Watch::new();
        let unit = spawn_at(&mut app, Critter::new(speed), (2, 2));
        order(&mut app, unit, (10, 2));
        let is_stuck = |app: &App| matches!(status(app, unit), PathStatus::Stuck(_));
        let ticks = watch.run_until(&mut app, 1_000, is_stuck);
        assert!((512..=532).contains(&ticks), "speed {speed}: reported after {ticks} ticks");
        assert_eq!(status(&app, unit), PathStatus::Stuck(Hindrance::NoSpeed));
        assert_eq!(position(&app, unit), Vec2::new(20.0, 20.0));
        set_speed(&mut app, unit, 8.0);
        watch.run(&mut app, 30);
        assert!(is_walking(&app, unit), "{:?}", status(&app, unit));
        watch.run_until_all_arrived(&mut app, &[unit], 200);
    }
}

/// Returns the ticks for 32 cells.
fn ticks_under(limit: Option<SpeedLimit>) -> u32 {
    let mut app = app_with(&field(40, 3));
    let mut watch = Watch::new();
    let unit = spawn_at(&mut app, Critter::new(8.0), (0, 1));
    if let Some(limit) = limit {
        app.world_mut().entity_mut(unit).insert(limit);
    }
    order(&mut app, unit, (32, 1));
    watch.run_until(&mut app, 2_000, |app| has_arrived(app, unit))
}

#[test]
fn a_speed_limit_slows_a_critter_down() {
    let free = ticks_under(None);
    assert!((256..=258).contains(&free), "{free}");
    assert_eq!(ticks_under(Some(SpeedLimit(100.0))), free);
    let held = ticks_under(Some(SpeedLimit(2.0)));
    assert!((1_024..=1_026).contains(&held), "{held}");
}

#[test]
fn a_speed_limit_of_0_stops_a_critter_after_its_step_until_it_is_removed() {
    let mut app = app_with(&field(20, 5));
    let mut watch = Watch::new();
    let unit = spawn_at(&mut app, Critter::new(8.0), (2, 2));
    order(&mut app, unit, (12, 2));
    watch.run(&mut app, 20);
    app.world_mut().entity_mut(unit).insert(SpeedLimit(0.0));
    watch.run(&mut app, 20);
    let stopped = cell(&app, unit);
    assert!(!state(&app, unit).walk().is_between_cells() && stopped.x < 8, "{stopped}");
    watch.run(&mut app, 100);
    assert_eq!(cell(&app, unit), stopped);
    app.world_mut().entity_mut(unit).remove::<SpeedLimit>();
    watch.run_until_all_arrived(&mut app, &[unit], 200);
}

/// A fast critter behind a slow one slows down and never enters its cells.
#[test]
fn a_fast_critter_stays_behind_a_slow_one_in_a_corridor() {
    let mut app = app_with(&corridor());
    let mut watch = Watch::new();
    let slow = spawn_at(&mut app, Critter::new(2.0), (2, 1));
    let fast = spawn_at(&mut app, Critter::new(16.0), (0, 1));
    order(&mut app, slow, (19, 1));
    order(&mut app, fast, (18, 1));
    watch.tick(&mut app);
    let is_over = |app: &App| {
        assert!(cell(app, fast).x < cell(app, slow).x);
        has_arrived(app, fast) && has_arrived(app, slow)
    };
    let ticks = watch.run_until(&mut app, 2_000, is_over);
    assert!(ticks + 1 >= 17 * 32, "{ticks} ticks");
}

#[test]
fn a_step_keeps_the_speed_with_which_it_began() {
    // 32 ticks for a cell before the change, and two after it; and the other way around.
    for (speed, other, rest, next) in [(2.0, 32.0, 32, 2), (8.0, 0.5, 8, 128)] {
        let mut app = app_with(&field(20, 5));
        let unit = spawn_at(&mut app, Critter::new(speed), (2, 2));
        order(&mut app, unit, (12, 2));
        let is_on = |x: i32| move |app: &App| state(app, unit).walk().tail() == Cell::new(x, 2);
        run_until(&mut app, 200, is_on(4));
        set_speed(&mut app, unit, other);
        let ticks = run_until(&mut app, 200, is_on(5));
        assert!(ticks.abs_diff(rest) <= 1, "the step under way: {ticks} ticks");
        let ticks = run_until(&mut app, 200, is_on(6));
        assert!(ticks.abs_diff(next) <= 1, "the next one: {ticks} ticks");
    }
}

#[test]
fn a_disabled_critter_ends_its_step_and_a_disabled_ghost_stops_at_once() {
    for critter in [Critter::new(4.0), Critter::new(4.0).ghost()] {
        let (mut app, collides) = (app_with(&field(20, 5)), critter.collides);
        let unit = spawn_at(&mut app, critter, (2, 2));
        order(&mut app, unit, (12, 2));
        run_until(&mut app, 200, |app| state(app, unit).walk().tail() == Cell::new(4, 2));
        run(&mut app, 6);
        let before = *state(&app, unit).walk();
        assert!(before.is_between_cells());
        app.world_mut().entity_mut(unit).insert(bevy::ecs::entity_disabling::Disabled);
        run(&mut app, 60);
        let now = *state(&app, unit).walk();
        if collides {
            assert_eq!((now.tail(), now.is_between_cells()), (Cell::new(5, 2), false));
        } else {
            assert_eq!(now, before, "at once");
        }
        app.world_mut().entity_mut(unit).remove::<bevy::ecs::entity_disabling::Disabled>();
        run_until(&mut app, 400, |app| has_arrived(app, unit));
    }
}
