//! What changes the speed of units on their way: factors and limits.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

/// Returns how many ticks a critter of 8 cells per second takes for 16 cells with these components.
fn ticks_with(changes: impl Bundle, is_ghost: bool) -> u32 {
    let mut app = app_with(&field(20, 3));
    let spawn = if is_ghost { spawn_ghost } else { spawn_critter };
    let unit = spawn(&mut app, (1, 1));
    app.world_mut().entity_mut(unit).insert(changes);
    set_speed(&mut app, unit, 8.0);
    app.update();
    order(&mut app, unit, (17, 1));
    run_until(&mut app, 3_000, |app| has_arrived(app, unit))
}

#[test]
fn factors_multiply_the_speed_before_it_is_limited() {
    for is_ghost in [false, true] {
        let ticks = ticks_with((), is_ghost);
        assert!(ticks.abs_diff(128) <= 2, "{ticks}");
        for (factor, limit, speed) in [
            (0.5, f32::INFINITY, 4.0),
            (2.0, f32::INFINITY, 16.0),
            (2.0, 8.0, 8.0),
            (0.5, 2.0, 2.0),
            (1.0, 4.0, 4.0),
        ] {
            let ticks = ticks_with((SpeedFactor(factor), SpeedLimit(limit)), is_ghost);
            let expected = (16.0 * 64.0 / speed) as u32;
            assert!(ticks.abs_diff(expected) <= 2, "{factor} {limit}: {ticks}, not {expected}");
        }
    }
}

#[test]
fn a_factor_may_come_and_go_on_the_way() {
    let mut app = app_with(&field(40, 3));
    let unit = spawn_critter(&mut app, (1, 1));
    set_speed(&mut app, unit, 8.0);
    app.update();
    order(&mut app, unit, (33, 1));
    let cells_in = |app: &mut App, ticks| {
        let before = position(app, unit).x;
        run(app, ticks);
        (position(app, unit).x - before) / 10.0
    };
    run(&mut app, 8); // on its way
    for (factor, cells) in [(Some(0.5), 4.0), (None, 8.0), (Some(0.25), 2.0)] {
        match factor {
            Some(factor) => app.world_mut().entity_mut(unit).insert(SpeedFactor(factor)),
            None => app.world_mut().entity_mut(unit).remove::<SpeedFactor>(),
        };
        run(&mut app, 32); // from the next step on
        let moved = cells_in(&mut app, 64);
        assert!((moved - cells).abs() < 0.5, "{factor:?}: {moved} cells in a second");
    }
    for still in [0.0, -1.0, f32::NAN] {
        app.world_mut().entity_mut(unit).insert(SpeedFactor(still));
        run(&mut app, 64);
        assert!(cells_in(&mut app, 64).abs() < f32::EPSILON, "{still}");
    }
    app.world_mut().entity_mut(unit).remove::<SpeedFactor>();
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(33, 1)));
}

#[test]
fn a_group_that_keeps_together_is_as_fast_as_its_slowed_member() {
    let mut app = app_with(&field(60, 9));
    let units: Vec<Entity> = (0..4).map(|y| spawn_critter(&mut app, (2, 2 + y))).collect();
    units.iter().for_each(|&unit| set_speed(&mut app, unit, 8.0));
    app.world_mut().entity_mut(units[2]).insert(SpeedFactor(0.25));
    app.world_mut().spawn(Group::to(Cell::new(50, 4), units.clone()).keep_together());
    run(&mut app, 40);
    for unit in units {
        assert_eq!(app.world().get::<GroupSpeedLimit>(unit), Some(&GroupSpeedLimit(2.0)));
    }
}

#[test]
fn a_steered_unit_wants_to_go_at_its_speed_times_the_factor() {
    let mut app = app_with(&field(40, 9));
    let place = Transform::from_xyz(20.0, 40.0, 0.0);
    let steering = (PathSteering::new(8.0), SpeedFactor(0.5), place);
    let unit = app.world_mut().spawn((steering, PathRequest::to(Cell::new(35, 4)))).id();
    run(&mut app, 3);
    let wanted = app.world().get::<DesiredVelocity>(unit).unwrap().length();
    assert!((wanted - 40.0).abs() < 0.1, "{wanted} units of the world per second");
}
