//! What is drawn while something changes: grids move and turn, units change grids, begin to collide, are disabled or turn, and
//! time stands still.

use std::time::Duration;

use bevy::{ecs::entity_disabling::Disabled, prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::spawn_at;

const FAR: GridId = GridId(3);

/// The direction in which a transform looks.
fn ahead(app: &App, unit: Entity) -> Vec2 {
    (app.world().get::<Transform>(unit).unwrap().rotation * Vec3::X).truncate()
}

fn facing(app: &App, unit: Entity) -> Vec2 {
    app.world().get::<Facing>(unit).unwrap().world
}

fn put(app: &mut App, unit: Entity, at: Vec2) {
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation = at.extend(0.0);
}

/// An app with an open field, and a short corridor far to the right.
fn app_with_corridor() -> App {
    let mut app = app_with(&field(30, 12));
    let frame = GridFrame::square(Vec2::new(1_000.0, 0.0), Vec2::splat(10.0));
    grid(&mut app).insert(FAR, grid_from("...."), frame);
    app
}

#[test]
fn a_critter_without_room_on_its_new_grid_stays_where_it_is_drawn() {
    for is_walking in [false, true] {
        let mut app = app_with_corridor();
        let unit = spawn_critter(&mut app, (3, 3));
        app.update();
        if is_walking {
            order(&mut app, unit, (20, 3));
            run_until(&mut app, 90, |app| state(app, unit).walk().is_between_cells());
        }
        let before = position(&app, unit);
        app.world_mut().entity_mut(unit).insert(NavAgent::default().on(FAR));
        for _ in 0..40 {
            app.update();
            assert!(position(&app, unit).distance(before) < 2.0, "{}", position(&app, unit));
        }
        assert_eq!(state(&app, unit).unit(), None);
        assert!(!state(&app, unit).is_moving());
        // Put there, it joins.
        put(&mut app, unit, Vec2::new(1_020.0, 0.0));
        run(&mut app, 20);
        assert_eq!(position(&app, unit), Vec2::new(1_020.0, 0.0));
        assert!(state(&app, unit).unit().is_some());
    }
}

#[test]
fn a_ghost_that_begins_to_collide_where_there_is_no_room_stands_still() {
    let mut app = app_with("....");
    for x in 0..4 {
        spawn_critter(&mut app, (x, 0));
    }
    let ghost = spawn_ghost(&mut app, (0, 0));
    app.update();
    order(&mut app, ghost, (3, 0));
    run_until(&mut app, 90, |app| {
        state(app, ghost).walk().is_between_cells() && position(app, ghost).x > 13.0
    });
    app.world_mut().get_mut::<Critter>(ghost).unwrap().collides = true;
    run(&mut app, 3);
    assert!(!state(&app, ghost).is_moving());
    assert_eq!(state(&app, ghost).velocity(), Vec2::ZERO);
    // Between ticks, too.
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(4)));
    let stands = position(&app, ghost);
    for _ in 0..10 {
        app.update();
        assert_eq!(position(&app, ghost), stands);
    }
    // The game gives it room.
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    let frame = frame_of(Topology::Square);
    grid(&mut app).insert(GridId(0), grid_from(&field(9, 3)), frame);
    put(&mut app, ghost, Vec2::new(70.0, 20.0));
    run_until(&mut app, 40, |app| state(app, ghost).unit().is_some());
    assert_eq!(state(&app, ghost).cell(), Cell::new(7, 2));
    run_until(&mut app, 300, |app| has_arrived(app, ghost));
}

#[test]
fn a_critter_ends_turned_the_way_it_went_with_any_number_of_ticks_per_frame() {
    for speed in [8.0, 32.0, 64.0, 200.0] {
        for ticks in [1, 2, 4, 16] {
            let mut app = app_with(&field(12, 12));
            app.insert_resource(TimeUpdateStrategy::FixedTimesteps(ticks));
            let unit = spawn_at(&mut app, Critter { turns: true, ..Critter::new(speed) }, (3, 3));
            app.update();
            for (goal, way) in [((3, 4), Vec2::Y), ((2, 4), Vec2::NEG_X), ((2, 1), Vec2::NEG_Y)] {
                order(&mut app, unit, goal);
                run_until(&mut app, 200, |app| has_arrived(app, unit));
                run(&mut app, 60);
                assert!(facing(&app, unit).distance(way) < 0.01, "{speed} {ticks}");
                let ahead = ahead(&app, unit);
                assert!(ahead.distance(way) < 0.01, "{speed} {ticks}: {ahead}, not {way}");
            }
        }
    }
}

#[test]
fn a_disabled_critter_moves_with_its_grid() {
    for ends_step in [false, true] {
        let mut app = app_with(&field(30, 12));
        let unit = spawn_critter(&mut app, (3, 3));
        app.update();
        order(&mut app, unit, (6, 3));
        run_until(&mut app, 300, |app| has_arrived(app, unit));
        if ends_step {
            order(&mut app, unit, (20, 3));
            run_until(&mut app, 90, |app| state(app, unit).walk().is_between_cells());
        }
        app.world_mut().entity_mut(unit).insert(Disabled);
        let moved = GridFrame::square(Vec2::new(1_000.0, 0.0), Vec2::splat(10.0));
        grid(&mut app).set_frame(GridId(0), moved);
        run(&mut app, 30);
        let cell = state(&app, unit).cell();
        assert_eq!(position(&app, unit), moved.cell_center(cell));
        app.world_mut().entity_mut(unit).remove::<Disabled>();
        run(&mut app, 1);
        assert!(position(&app, unit).distance(moved.cell_center(cell)) < 2.0);
    }
}

#[test]
fn facing_follows_a_grid_that_turns() {
    for critter in [Critter::new(4.0), Critter::new(4.0).ghost()] {
        let mut app = app_with(&field(30, 12));
        let unit = spawn_at(&mut app, Critter { turns: true, ..critter }, (3, 3));
        app.update();
        order(&mut app, unit, (25, 3));
        run(&mut app, 40);
        assert!(facing(&app, unit).distance(Vec2::X) < 0.01);
        let turned = GridFrame::from_axes(Vec2::ZERO, Vec2::Y * 10.0, Vec2::NEG_X * 10.0);
        grid(&mut app).set_frame(GridId(0), turned);
        run(&mut app, 16);
        assert!(state(&app, unit).is_moving());
        assert!(facing(&app, unit).distance(Vec2::Y) < 0.01, "{}", facing(&app, unit));
        assert!(ahead(&app, unit).distance(Vec2::Y) < 0.01);
    }
}

#[test]
fn a_ghost_that_loses_its_lines_walks_on_without_a_jump() {
    for tick in (20..120).step_by(4) {
        let mut app = app_with(&field(40, 30));
        let ghost = spawn_ghost(&mut app, (2, 2));
        app.world_mut().entity_mut(ghost).insert(AnyAnglePath::default());
        app.update();
        order(&mut app, ghost, (35, 14));
        run(&mut app, tick);
        let mut before = position(&app, ghost);
        app.world_mut().entity_mut(ghost).remove::<AnyAnglePath>();
        for _ in 0..40 {
            app.update();
            let now = position(&app, ghost);
            // 80 world units a second, and as much again to come to its steps.
            let is_smooth = now.distance(before) < 2.0 * 80.0 / 64.0 + 0.01;
            assert!(is_smooth, "{tick}: from {before} to {now}");
            before = now;
        }
    }
}

/// An app that ticks in a schedule, with frames of four milliseconds.
fn app_in(schedule: impl bevy::ecs::schedule::ScheduleLabel, map: &str) -> App {
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, TilePathPlugin::in_schedule(schedule)))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(4)));
    app.finish();
    app.cleanup();
    app.update();
    grid(&mut app).insert(GridId(0), grid_from(map), frame_of(Topology::Square));
    app
}

#[test]
fn while_time_stands_still_so_do_units() {
    for critter in [Critter::new(4.0), Critter::new(4.0).ghost()] {
        let mut app = app_in(Update, &field(30, 12));
        let unit = spawn_at(&mut app, critter, (3, 3));
        app.update();
        order(&mut app, unit, (20, 3));
        run_until(&mut app, 400, |app| position(app, unit).x > 63.0);
        app.world_mut().resource_mut::<Time<Virtual>>().pause();
        app.update();
        let before = position(&app, unit);
        run(&mut app, 600);
        assert_eq!(position(&app, unit), before);
        assert!(matches!(status(&app, unit), PathStatus::Walking(_)), "{:?}", status(&app, unit));
        app.world_mut().resource_mut::<Time<Virtual>>().unpause();
        run_until(&mut app, 2_000, |app| has_arrived(app, unit));
    }
}

#[test]
fn a_steered_unit_without_a_limit_stays_in_the_world_while_time_stands_still() {
    let mut app = app_in(Update, &field(30, 12));
    let place = Transform::from_xyz(30.0, 30.0, 0.0);
    let unit = app.world_mut().spawn((place, PathSteering::new(f32::INFINITY))).id();
    app.update();
    order(&mut app, unit, (20, 3));
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    for _ in 0..9 {
        app.update();
        let desired: Vec2 = **app.world().get::<DesiredVelocity>(unit).unwrap();
        assert!(desired.is_finite(), "{desired}");
    }
}

#[test]
fn critters_are_drawn_between_ticks_in_every_schedule_of_the_fixed_loop() {
    for is_late in [false, true] {
        let mut app = match is_late {
            false => app_in(FixedPreUpdate, &field(30, 12)),
            true => app_in(FixedPostUpdate, &field(30, 12)),
        };
        let unit = spawn_critter(&mut app, (3, 3));
        run(&mut app, 8);
        order(&mut app, unit, (20, 3));
        run_until(&mut app, 90, |app| position(app, unit).x > 50.0);
        let mut before = position(&app, unit).x;
        for _ in 0..40 {
            app.update();
            let now = position(&app, unit).x;
            let way = now - before;
            assert!((way - 80.0 * 0.004).abs() < 0.02, "{way} in a frame of 4 ms");
            before = now;
        }
    }
}

/// Flat parents are common in two dimensions.
#[test]
fn a_parent_without_depth_draws_its_children() {
    let mut app = app_with(&field(30, 12));
    let flat = Transform::from_xyz(40.0, 10.0, 0.0).with_scale(Vec3::new(2.0, 2.0, 0.0));
    let parent = app.world_mut().spawn(flat).id();
    let local = Transform::from_xyz((30.0 - 40.0) / 2.0, (30.0 - 10.0) / 2.0, 0.0);
    let unit = app.world_mut().spawn((Critter::new(8.0), local, ChildOf(parent))).id();
    app.update();
    order(&mut app, unit, (20, 3));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    run(&mut app, 2);
    assert_eq!(position(&app, unit), Vec2::new((200.0 - 40.0) / 2.0, (30.0 - 10.0) / 2.0));
}

/// A game that bobs its units, or rounds them to pixels, writes their transforms in every tick.
#[test]
fn a_critter_whose_transform_is_written_in_every_tick_gets_its_paths() {
    let mut app = app_with(&field(20, 5));
    let unit = spawn_critter(&mut app, (2, 2));
    run(&mut app, 3);
    order(&mut app, unit, (10, 2));
    for tick in 0..300 {
        let mut at = app.world_mut().get_mut::<Transform>(unit).unwrap();
        at.translation.y += if tick % 2 == 0 { 1.0 } else { -1.0 };
        app.update();
    }
    assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Complete));
}

#[test]
fn while_only_the_ticks_are_paused_critters_are_drawn_where_they_were() {
    #[derive(Resource)]
    struct Plays(bool);
    for is_ghost in [false, true] {
        let mut app = app_with(&field(40, 5));
        app.insert_resource(Plays(true))
            .configure_sets(FixedUpdate, TilePathSystems::All.run_if(|plays: Res<Plays>| plays.0));
        let unit = spawn_critter(&mut app, (2, 2));
        app.world_mut().get_mut::<Critter>(unit).unwrap().collides = !is_ghost;
        run(&mut app, 3);
        order(&mut app, unit, (38, 2));
        run(&mut app, 30);
        let frame = Duration::from_millis(4);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
        run(&mut app, 20);
        app.world_mut().resource_mut::<Plays>().0 = false;
        let mut last = position(&app, unit).x;
        let first = last;
        for _ in 0..40 {
            app.update();
            let now = position(&app, unit).x;
            assert!(now >= last, "it falls back from {last} to {now}");
            last = now;
        }
        assert!(last - first < 2.0, "it stands");
        app.world_mut().resource_mut::<Plays>().0 = true;
        for _ in 0..40 {
            app.update();
            let now = position(&app, unit).x;
            assert!(now >= last && now - last < 2.0, "it goes on from {last} to {now}");
            last = now;
        }
        assert!(last - first > 8.0);
    }
}

#[test]
fn the_velocity_of_a_straight_walk_is_that_of_the_line() {
    let mut app = app_with(&field(40, 20));
    let unit = spawn_critter(&mut app, (2, 2));
    run(&mut app, 3);
    order(&mut app, unit, (34, 14));
    run(&mut app, 60);
    for _ in 0..60 {
        app.update();
        let off = state(&app, unit).velocity().angle_to(Vec2::new(32.0, 12.0));
        assert!(off.abs() < 0.06, "{off} from the line");
    }
}

#[test]
fn a_unit_that_the_game_turns_where_it_stands_turns_back_when_it_walks() {
    let mut app = app_with(&field(30, 10));
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(5)); // a frame draws its arrival and the tick after it
    for wait in 0..5 {
        let ghost = Critter { turns: true, ..Critter::new(8.0).ghost() };
        let unit = spawn_at(&mut app, ghost, (5, 5));
        app.update();
        order(&mut app, unit, (6 + wait, 5));
        run_until(&mut app, 50, |app| matches!(status(app, unit), PathStatus::Arrived(_)));
        run(&mut app, 3);
        let turned = Quat::from_rotation_z(2.5);
        app.world_mut().get_mut::<Transform>(unit).unwrap().rotation = turned;
        order(&mut app, unit, (25, 5));
        run(&mut app, 6);
        let ahead = app.world().get::<Transform>(unit).unwrap().rotation * Vec3::X;
        assert!(ahead.truncate().distance(Vec2::X) < 0.01, "{wait}: it looks to {ahead}");
        app.world_mut().despawn(unit);
    }
}
