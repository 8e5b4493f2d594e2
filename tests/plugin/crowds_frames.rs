//! Colliding critters, frame by frame: several frames per tick, as in a game.

use std::time::Duration;

use crate::common::{Random, app::*, units::*};
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::prelude::*;

/// Frames of four milliseconds: about four per tick.
const FRAME: Duration = Duration::from_millis(4);

#[derive(Resource, Default)]
struct Written(usize);

fn count_written(
    critters: Query<(), (Changed<Transform>, With<Critter>)>,
    mut written: ResMut<Written>,
) {
    written.0 += critters.iter().count();
}

/// Returns an app with an open field of cells 10 units wide, run in short frames.
fn app_in_frames() -> App {
    let mut app = app_with(&field(40, 20));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME))
        .init_resource::<Written>()
        .add_systems(Last, count_written);
    app
}

fn frames(app: &mut App, seconds: f32) {
    for _ in 0..(seconds / FRAME.as_secs_f32()) as u32 {
        app.update();
    }
}

fn cell_of(app: &App, unit: Entity) -> Cell {
    state(app, unit).cell()
}

#[test]
fn transforms_move_smoothly_through_turns_and_are_not_written_at_rest() {
    let mut app = app_in_frames();
    let unit = spawn_critter(&mut app, (2, 2));
    order(&mut app, unit, (20, 9));
    app.update();
    // 80 units per second; the rest of a tick after a step goes into the next step, so no frame is longer.
    let most = 80.0 * FRAME.as_secs_f32() * 1.05;
    let mut before = position(&app, unit);
    let mut walked = 0.0;
    for frame in 0..2_000 {
        app.update();
        let now = position(&app, unit);
        let gone = now.distance(before);
        assert!(gone <= most, "{gone} in frame {frame}, from {before} to {now}");
        (walked, before) = (walked + gone, now);
    }
    assert_eq!(before, Vec2::new(200.0, 90.0));
    let straight = Vec2::new(180.0, 70.0).length();
    assert!((walked - straight).abs() < 0.5, "{walked} instead of {straight}");
    app.world_mut().resource_mut::<Written>().0 = 0;
    frames(&mut app, 1.0);
    assert_eq!(app.world().resource::<Written>().0, 0, "written although it stands still");
}

#[test]
fn a_lone_critter_walks_straight_and_faces_where_it_goes() {
    let mut app = app_in_frames();
    let unit = spawn_critter(&mut app, (2, 2));
    order(&mut app, unit, (34, 14));
    let line = (Vec2::new(340.0, 140.0) - Vec2::new(20.0, 20.0)).normalize();
    let (mut turns, mut facing) = (0, *app.world().get::<Facing>(unit).unwrap());
    // All steps together take as long as ever: 20 straight ones and 12 diagonal ones, at 8 cells per second.
    let even = 80.0 * FRAME.as_secs_f32() * 341.76 / (200.0 + 120.0 * 1.414);
    let (mut before, mut steps, mut evenly) = (0.0, 0, 0);
    for frame in 0..3_000 {
        app.update();
        let gone = position(&app, unit) - Vec2::new(20.0, 20.0);
        let off = gone.perp_dot(line).abs();
        assert!(off <= 0.2, "{off} off the line in frame {frame}: more than a fiftieth of a cell");
        let step = gone.length() - before;
        if (1.0..300.0).contains(&before) {
            evenly += u32::from((step / even - 1.0).abs() < 0.1);
            steps += 1;
        }
        before = gone.length();
        let now = *app.world().get::<Facing>(unit).unwrap();
        turns += u32::from(now != facing);
        facing = now;
        let is_under_way = (position(&app, unit).x - 180.0).abs() < 100.0;
        let rotation = app.world().get::<Transform>(unit).unwrap().rotation;
        let off = rotation.angle_between(Quat::from_rotation_z(line.to_angle()));
        assert!(!is_under_way || off < 0.01, "turned {off} away in frame {frame}");
    }
    assert!(has_arrived(&app, unit));
    assert!(turns <= 1, "it turned {turns} times");
    assert!(steps > 1_000 && evenly == steps, "only {evenly} of {steps} frames are even");
    assert!(facing.world.distance(line) < 0.01 && facing.direction == Direction::East);
}

#[test]
fn a_lone_critter_that_is_stopped_on_a_line_comes_to_the_center_of_its_cell() {
    for stop in [0.6, 0.9, 1.3, 1.7] {
        let mut app = app_in_frames();
        let unit = spawn_critter(&mut app, (2, 2));
        order(&mut app, unit, (34, 14));
        frames(&mut app, stop);
        app.world_mut().entity_mut(unit).remove::<PathRequest>();
        frames(&mut app, 1.0);
        let cell = cell_of(&app, unit);
        assert!(cell != Cell::new(2, 2) && cell != Cell::new(34, 14), "stopped on the way");
        let center = Vec2::new(cell.x as f32, cell.y as f32) * 10.0;
        assert_eq!(position(&app, unit), center, "stopped after {stop} seconds");
    }
}

#[test]
fn critters_move_evenly_between_ticks_among_others() {
    let mut app = app_in_frames();
    let units: Vec<Entity> = (0..12)
        .map(|number| {
            let (x, y) = (2 + number % 4, 4 + number / 4);
            let unit = spawn_critter(&mut app, (x, y));
            set_speed(&mut app, unit, 4.0 + number as f32);
            order(&mut app, unit, (36 - x, 14 - y));
            unit
        })
        .collect();
    app.update();
    let mut before: Vec<Vec2> = units.iter().map(|&unit| position(&app, unit)).collect();
    for _ in 0..4_000 {
        app.update();
        for (number, &unit) in units.iter().enumerate() {
            let now = position(&app, unit);
            // A critter that starts behind another makes up for the part of a tick that it waited.
            let most = (40.0 + 10.0 * number as f32) * FRAME.as_secs_f32() * 1.2;
            let gone = now.distance(before[number]);
            assert!(gone <= most, "{gone} of {most}: number {number} at {now}");
            before[number] = now;
        }
    }
    assert!(units.iter().all(|&unit| has_arrived(&app, unit)));
}

#[test]
fn components_removed_between_two_ticks_take_effect() {
    let mut app = app_in_frames();
    let unit = spawn_critter(&mut app, (2, 2));
    app.world_mut().entity_mut(unit).insert(SpeedLimit(0.5));
    order(&mut app, unit, (30, 2));
    frames(&mut app, 2.0);
    assert!(cell_of(&app, unit).x <= 3, "half a cell per second");
    app.world_mut().entity_mut(unit).remove::<SpeedLimit>();
    frames(&mut app, 4.0);
    // Its slow step may take two seconds to end; then it walks eight cells per second.
    assert!(cell_of(&app, unit).x >= 14, "{}", cell_of(&app, unit));
}

#[test]
fn guards_that_become_pushable_make_room() {
    let mut app = app_with("..........\n##########");
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    let guard = spawn_critter(&mut app, (4, 1));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    let unit = spawn_critter(&mut app, (1, 1));
    order(&mut app, unit, (8, 1));
    frames(&mut app, 3.0);
    assert_eq!(cell_of(&app, guard), Cell::new(4, 1));
    assert!(cell_of(&app, unit).x < 4 && !has_arrived(&app, unit));
    app.world_mut().entity_mut(guard).remove::<Unpushable>();
    frames(&mut app, 4.0);
    assert!(has_arrived(&app, unit), "{:?} {}", status(&app, unit), cell_of(&app, unit));
    assert_eq!(cell_of(&app, guard), Cell::new(9, 1));
}

#[test]
fn a_critter_that_changes_its_team_is_no_longer_an_obstacle() {
    let mut app = app_with("..........\n##########");
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    let other = spawn_critter(&mut app, (4, 1));
    app.world_mut().entity_mut(other).insert(CrowdTeam(3));
    let unit = spawn_critter(&mut app, (1, 1));
    order(&mut app, unit, (8, 1));
    frames(&mut app, 3.0);
    assert!(!has_arrived(&app, unit));
    app.world_mut().get_mut::<CrowdTeam>(other).unwrap().0 = 0;
    frames(&mut app, 4.0);
    assert!(has_arrived(&app, unit), "{:?} {}", status(&app, unit), cell_of(&app, unit));
}

#[test]
fn a_transform_written_in_any_frame_moves_the_critter() {
    let mut app = app_in_frames();
    let unit = spawn_critter(&mut app, (2, 2));
    let other = spawn_critter(&mut app, (9, 9));
    order(&mut app, other, (30, 9));
    for frame in 0..12 {
        let (x, y) = (3 + frame, 12);
        // At varying times between two ticks.
        for _ in 0..frame % 5 {
            app.update();
        }
        let target = Vec3::new(x as f32 * 10.0, y as f32 * 10.0, 5.0);
        app.world_mut().get_mut::<Transform>(unit).unwrap().translation = target;
        frames(&mut app, 0.05);
        assert_eq!(cell_of(&app, unit), Cell::new(x, y));
        assert_eq!(position(&app, unit), target.truncate());
    }
    frames(&mut app, 6.0);
    assert!(has_arrived(&app, other), "the walking critter is not moved");
}

/// Critters put beside the center of a cell move smoothly to the center of the cell, for several frames.
#[test]
fn a_transform_written_while_the_critter_moves_to_the_center_counts() {
    for frame in 0..24 {
        let mut app = app_in_frames();
        let unit = spawn_critter(&mut app, (2, 2));
        frames(&mut app, 0.1);
        let put = |app: &mut App, (x, y): (f32, f32)| {
            app.world_mut().get_mut::<Transform>(unit).unwrap().translation = Vec3::new(x, y, 0.0);
        };
        put(&mut app, (83.0, 94.0));
        for _ in 0..frame {
            app.update();
        }
        put(&mut app, (250.0, 60.0));
        frames(&mut app, 0.2);
        assert_eq!(cell_of(&app, unit), Cell::new(25, 6), "written {frame} frames later");
        assert_eq!(position(&app, unit), Vec2::new(250.0, 60.0));
    }
}

#[test]
fn a_grid_that_is_moved_takes_standing_critters_along() {
    let mut app = app_in_frames();
    let unit = spawn_critter(&mut app, (2, 2));
    order(&mut app, unit, (6, 2));
    frames(&mut app, 3.0);
    assert!(has_arrived(&app, unit));
    let frame = GridFrame::square(Vec2::new(1_000.0, 0.0), Vec2::splat(10.0));
    app.world_mut().resource_mut::<NavGrids>().set_frame(GridId::default(), frame);
    frames(&mut app, 0.1);
    assert_eq!(position(&app, unit), Vec2::new(1_060.0, 20.0));
    assert_eq!(cell_of(&app, unit), Cell::new(6, 2));
}

#[test]
fn a_child_that_leaves_its_parent_stays_where_it_is() {
    let mut app = app_in_frames();
    let parent = app.world_mut().spawn(Transform::from_xyz(100.0, 0.0, 0.0)).id();
    let unit = spawn_critter(&mut app, (2, 2));
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation.x -= 100.0;
    app.world_mut().entity_mut(unit).insert(ChildOf(parent));
    frames(&mut app, 0.5);
    assert_eq!(cell_of(&app, unit), Cell::new(2, 2));
    assert_eq!(position(&app, unit), Vec2::new(-80.0, 20.0), "relative to the parent");
    app.world_mut().entity_mut(unit).remove::<ChildOf>();
    frames(&mut app, 0.5);
    assert_eq!(position(&app, unit), Vec2::new(20.0, 20.0));
    assert_eq!(cell_of(&app, unit), Cell::new(2, 2));
}

/// The critter to move by a command, once, and its new position.
#[derive(Resource)]
struct MoveCommand(Option<(Entity, Vec3)>);

#[test]
fn a_transform_inserted_by_a_command_right_before_drawing_counts() {
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::in_schedule(Update)));
    app.world_mut().resource_mut::<NavGrids>().insert(
        GridId::default(),
        grid_from(&field(40, 20)),
        GridFrame::square(Vec2::ZERO, Vec2::splat(10.0)),
    );
    let move_command = |mut move_command: ResMut<MoveCommand>, mut commands: Commands| {
        if let Some((unit, target)) = move_command.0.take() {
            commands.entity(unit).insert(Transform::from_translation(target));
        }
    };
    app.insert_resource(MoveCommand(None)).add_systems(
        Update,
        move_command.after(TilePathSystems::Move).before(TilePathSystems::Draw),
    );
    let unit = spawn_critter(&mut app, (2, 2));
    for _ in 0..20 {
        app.update();
    }
    app.world_mut().resource_mut::<MoveCommand>().0 = Some((unit, Vec3::new(120.0, 70.0, 5.0)));
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(cell_of(&app, unit), Cell::new(12, 7));
    assert_eq!(position(&app, unit), Vec2::new(120.0, 70.0));
}

#[test]
fn discs_on_screen_stay_apart_at_every_speed_and_tick_length() {
    for (hertz, speed, seed) in
        [(64.0, 32.0, 3), (64.0, 45.0, 4), (64.0, 64.0, 5), (16.0, 8.0, 6), (240.0, 200.0, 7)]
    {
        let mut random = Random(seed);
        let mut app = app_with(&field(30, 20));
        app.insert_resource(Time::<Fixed>::from_hz(hertz));
        let units: Vec<Entity> = (0..50)
            .map(|i| {
                let at = (1 + 3 * (i % 10), 1 + 4 * (i / 10));
                let unit = spawn_critter(&mut app, at);
                set_speed(&mut app, unit, speed);
                unit
            })
            .collect();
        run(&mut app, 1);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
            0.23 / hertz,
        )));
        for frame in 0..3_000 {
            if frame % 4 == 0 {
                let unit = units[random.below(50) as usize];
                order(&mut app, unit, (random.below(30) as i32, random.below(20) as i32));
            }
            app.update();
            let positions: Vec<Vec2> =
                units.iter().map(|&unit| position(&app, unit) / 10.0).collect();
            let pairs = positions.iter().enumerate();
            let nearest = pairs
                .flat_map(|(at, &a)| positions[at + 1..].iter().map(move |&b| a.distance(b)))
                .fold(f32::INFINITY, f32::min);
            assert!(
                nearest >= core::f32::consts::FRAC_1_SQRT_2 - 1.0e-3,
                "{nearest} cells apart in frame {frame}, {hertz} Hz, {speed}"
            );
        }
    }
}
