//! Critters: how they walk, where they stop, and how they react to edits.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::app::*;

fn walking(app: &App, unit: Entity) -> bool {
    matches!(status(app, unit), PathStatus::Walking(_))
}

fn arrived(app: &App, unit: Entity) -> bool {
    matches!(status(app, unit), PathStatus::Arrived(_))
}

#[test]
fn the_duration_of_a_walk_follows_from_the_speed() {
    let mut app = app_with(&field(40, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (32, 1));
    let ticks = run_until(&mut app, 1_000, |app| arrived(app, unit));
    // 32 cells at 8 cells per second are 4 seconds of 64 ticks.
    assert_eq!(ticks, 256);
}

#[test]
fn expensive_terrain_slows_a_critter_down_in_proportion() {
    let mut app = app();
    let swamp = TerrainId(9);
    let profile = Profile::default().with(swamp, 2 * Profile::PLAIN_COST);
    grid(&mut app).set_profiles(vec![profile]);
    let level = NavGrid::new(40, 3, swamp).unwrap();
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (32, 1));
    assert_eq!(run_until(&mut app, 1_000, |app| arrived(app, unit)), 512);
}

#[test]
fn a_critter_moves_a_little_every_tick_never_back_and_ends_exactly_on_the_goal() {
    let mut app = app_with(&field(40, 40));
    let unit = spawn_critter(&mut app, (0, 0));
    order(&mut app, unit, (30, 17));
    let goal = Vec2::new(300.0, 170.0);
    let mut before = position(&app, unit);
    while !arrived(&app, unit) {
        app.update();
        let now = position(&app, unit);
        // 8 cells of 10 units per second, 64 ticks per second.
        assert!(before.distance(now) <= 80.0 / 64.0 + 0.01, "from {before} to {now}");
        assert!(now.distance(goal) <= before.distance(goal) + 0.01, "it does not turn back");
        before = now;
    }
    run(&mut app, 3);
    assert_eq!(position(&app, unit), goal);
    run(&mut app, 10);
    assert_eq!(position(&app, unit), goal, "and stays there");
}

#[test]
fn the_height_of_the_transform_is_unchanged() {
    let mut app = app_with(&field(10, 10));
    let unit = spawn_critter(&mut app, (0, 0));
    order(&mut app, unit, (9, 9));
    run_until(&mut app, 500, |app| arrived(app, unit));
    assert_eq!(
        app.world().get::<Transform>(unit).unwrap().translation.z.to_bits(),
        5.0f32.to_bits()
    );
}

#[test]
fn a_critter_off_the_center_of_its_cell_is_moved_there_without_a_jump() {
    let mut app = app_with(&field(20, 20));
    let unit = spawn_critter(&mut app, (0, 0));
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation = Vec3::new(3.0, 4.0, 0.0);
    order(&mut app, unit, (0, 0));
    app.update();
    assert!(position(&app, unit).distance(Vec2::new(3.0, 4.0)) < 1.5);
    run(&mut app, 30);
    assert_eq!(position(&app, unit), Vec2::ZERO);
}

#[test]
fn a_critter_faces_its_direction_of_travel() {
    let mut app = app_with(&field(20, 20));
    for (goal, facing, degrees) in [
        ((15, 5), Direction::East, 0.0),
        ((5, 15), Direction::North, 90.0),
        ((0, 0), Direction::SouthWest, -135.0),
    ] {
        let unit = spawn_critter(&mut app, (5, 5));
        *app.world_mut().get_mut::<Critter>(unit).unwrap() = Critter::new(8.0).ghost();
        order(&mut app, unit, goal);
        run(&mut app, 5);
        assert_eq!(app.world().get::<Facing>(unit).unwrap().direction, facing);
        let rotation = app.world().get::<Transform>(unit).unwrap().rotation;
        let error = rotation.angle_between(Quat::from_rotation_z(f32::to_radians(degrees)));
        assert!(error < 0.01, "{error} radians off");
    }
}

#[test]
fn a_critter_turns_over_several_frames_and_finishes_the_turn_where_it_stops() {
    for speed in [4.0, 12.0] {
        let mut app = app_with(&field(20, 20));
        let unit = spawn_critter(&mut app, (5, 5));
        *app.world_mut().get_mut::<Critter>(unit).unwrap() = Critter::new(speed);
        let angle = |app: &App| {
            let rotation = app.world().get::<Transform>(unit).unwrap().rotation;
            (rotation * Vec3::X).truncate().to_angle()
        };
        order(&mut app, unit, (5, 6));
        let (mut before, mut between) = (angle(&app), 0);
        for _ in 0..40 {
            app.update();
            let now = angle(&app);
            let step = core::f32::consts::TAU * speed / 64.0;
            assert!(now >= before && now - before < step + 0.01, "{before} to {now}");
            between += i32::from(now > 0.01 && now < 1.56);
            before = now;
        }
        assert!(between > 0, "it turns at once");
        assert!((before - core::f32::consts::FRAC_PI_2).abs() < 0.001, "{before}");
        // Where it stands, the rotation is the game's.
        let own = Quat::from_rotation_z(2.5);
        app.world_mut().get_mut::<Transform>(unit).unwrap().rotation = own;
        run(&mut app, 5);
        assert_eq!(app.world().get::<Transform>(unit).unwrap().rotation, own);
        // A rotation that is none is replaced.
        app.world_mut().get_mut::<Transform>(unit).unwrap().rotation = Quat::from_array([0.0; 4]);
        order(&mut app, unit, (15, 6));
        run(&mut app, 10);
        assert!(angle(&app).abs() < 0.001);
    }
}

#[test]
fn every_turn_comes_to_an_end() {
    for (from, to) in (0..64).map(|at| (at % 8, at / 8)) {
        let mut app = app_with(&field(20, 20));
        let unit = spawn_critter(&mut app, (10, 10));
        for direction in [from, to] {
            let here = app.world().get::<CritterState>(unit).unwrap().cell();
            let (dx, dy) = Direction::ALL[direction].offset();
            order(&mut app, unit, (here.x + dx, here.y + dy));
            run(&mut app, 40);
        }
        let own = Quat::from_rotation_z(2.5);
        app.world_mut().get_mut::<Transform>(unit).unwrap().rotation = own;
        run(&mut app, 3);
        let rotation = app.world().get::<Transform>(unit).unwrap().rotation;
        assert_eq!(rotation, own, "it still turns, from direction {from} to {to}");
    }
}

#[test]
fn between_ticks_the_transform_moves_smoothly() {
    use core::time::Duration;
    let mut app = app_with(&field(40, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (30, 1));
    // Four frames per tick.
    let frame = Duration::from_micros(15_625 / 4);
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(frame));
    run(&mut app, 20);
    let mut before = position(&app, unit).x;
    for _ in 0..40 {
        app.update();
        let now = position(&app, unit).x;
        let step = now - before;
        assert!((step - 80.0 / 64.0 / 4.0).abs() < 0.02, "a frame moved it by {step}");
        before = now;
    }
}

#[test]
fn a_wall_across_the_path_is_walked_around_without_a_stop() {
    let mut app = app_with(&field(30, 30));
    let unit = spawn_critter(&mut app, (2, 15));
    let bystander = spawn_critter(&mut app, (2, 28));
    order(&mut app, unit, (27, 15));
    order(&mut app, bystander, (27, 28));
    run(&mut app, 40);
    let wall = CellRect::new(Cell::new(15, 10), 1, 11);
    grid(&mut app).get_mut(GridId::default()).unwrap().block(wall).unwrap();
    app.update();
    assert!(walking(&app, unit), "answered in the same tick");
    assert_eq!(counters(&app).repaired, 1, "no other path is repaired");
    run_until(&mut app, 1_000, |app| {
        assert!(!wall.contains(state(app, unit).walk().head()), "it never enters the wall");
        arrived(app, unit)
    });
    assert_eq!(state(&app, unit).cell(), Cell::new(27, 15));
}

#[test]
fn a_wall_away_from_every_path_costs_nothing() {
    let mut app = app_with(&field(30, 30));
    let unit = spawn_critter(&mut app, (2, 15));
    order(&mut app, unit, (27, 15));
    run(&mut app, 10);
    let before = counters(&app);
    let wall = CellRect::new(Cell::new(15, 20), 3, 3);
    grid(&mut app).get_mut(GridId::default()).unwrap().block(wall).unwrap();
    run(&mut app, 5);
    let now = counters(&app);
    assert_eq!((now.repaired, now.expansions), (before.repaired, before.expansions));
}

/// Blocks the cell that a unit has just begun to enter, on its way from (5, 1) to the east. Returns that cell.
fn block_entered_cell(app: &mut App, unit: Entity) -> Cell {
    order(app, unit, (27, 1));
    run_until(app, 100, |app| {
        let walk = *state(app, unit).walk();
        walk.tail() == Cell::new(5, 1) && walk.is_between_cells()
    });
    let wall = state(app, unit).walk().head();
    assert_eq!(wall, Cell::new(6, 1));
    grid(app).get_mut(GridId::default()).unwrap().block(CellRect::single(wall)).unwrap();
    wall
}

#[test]
fn a_wall_on_the_entered_cell_sends_a_ghost_back() {
    let mut app = app_with(&field(30, 3));
    let unit = spawn_ghost(&mut app, (2, 1));
    let wall = block_entered_cell(&mut app, unit);
    let mut has_left = false;
    app.update();
    run_until(&mut app, 1_000, |app| {
        let walk = *state(app, unit).walk();
        assert_ne!(walk.head(), wall, "it turns back");
        assert!(walk.tail() != wall || !has_left && walk.head() == Cell::new(5, 1), "{walk:?}");
        has_left |= walk.tail() != wall;
        arrived(app, unit)
    });
}

#[test]
fn a_critter_that_enters_a_new_wall_ends_its_step_and_walks_off() {
    let mut app = app_with(&field(30, 3));
    let unit = spawn_critter(&mut app, (2, 1));
    let wall = block_entered_cell(&mut app, unit);
    let (mut on_it, mut has_left) = (0, false);
    run_until(&mut app, 1_000, |app| {
        let walk = *state(app, unit).walk();
        let is_on_it = walk.tail() == wall || walk.head() == wall;
        assert!(!(has_left && is_on_it), "it enters the wall again");
        has_left |= !is_on_it;
        on_it += u32::from(is_on_it);
        arrived(app, unit)
    });
    assert!(on_it <= 18, "two steps of at most nine ticks each: {on_it}");
}

#[test]
fn a_goal_walled_off_is_reported_and_the_critter_stops() {
    let mut app = app_with(&field(30, 3));
    record(&mut app);
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (29, 1));
    run(&mut app, 30);
    let wall = CellRect::new(Cell::new(20, 0), 1, 3);
    grid(&mut app).get_mut(GridId::default()).unwrap().block(wall).unwrap();
    run(&mut app, 30);
    assert!(matches!(status(&app, unit), PathStatus::Failed(PathFailure::NoPath { .. })));
    assert!(state(&app, unit).cell().x < 10);
    assert!(!state(&app, unit).walk().is_between_cells());
}

#[test]
fn a_grid_that_moves_takes_its_critters_along() {
    let mut app = app_with(&field(30, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (29, 1));
    run(&mut app, 30);
    let before = position(&app, unit);
    let frame = GridFrame::square(Vec2::new(0.0, 500.0), Vec2::splat(10.0));
    grid(&mut app).set_frame(GridId::default(), frame);
    app.update();
    let moved = position(&app, unit) - before;
    assert!((moved.y - 500.0).abs() < 0.01 && moved.x < 2.0, "moved by {moved}");
}

#[test]
fn a_critter_under_a_moved_and_scaled_parent_walks_in_the_world() {
    let mut app = app_with(&field(30, 3));
    let parent = Transform::from_xyz(50.0, -20.0, 0.0).with_scale(Vec3::splat(2.0));
    let parent = app.world_mut().spawn(parent).id();
    // World (0, 10) is cell (0, 1).
    let unit = app
        .world_mut()
        .spawn((Critter::new(8.0), Transform::from_xyz(-25.0, 15.0, 0.0), ChildOf(parent)))
        .id();
    app.update();
    order(&mut app, unit, (9, 1));
    run_until(&mut app, 500, |app| arrived(app, unit));
    run(&mut app, 2);
    let world = app.world().get::<GlobalTransform>(unit).unwrap().translation();
    assert!(world.truncate().distance(Vec2::new(90.0, 10.0)) < 0.01, "at {world}");
}

#[test]
fn an_infinite_speed_arrives_immediately() {
    let mut app = app_with(&field(10, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    *app.world_mut().get_mut::<Critter>(unit).unwrap() = Critter::new(f32::INFINITY).ghost();
    order(&mut app, unit, (9, 1));
    run(&mut app, 3);
    assert_eq!(position(&app, unit), Vec2::new(90.0, 10.0));
}

#[test]
fn a_grid_replaced_by_a_smaller_one_causes_no_panic() {
    let mut app = app_with(&field(40, 40));
    let unit = spawn_critter(&mut app, (2, 2));
    order(&mut app, unit, (38, 38));
    run(&mut app, 20);
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), grid_from(&field(20, 20)), frame);
    run(&mut app, 20);
    let goal = Cell::new(38, 38);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::GoalOutOfBounds(goal)));
}

#[test]
fn the_plugin_runs_in_any_schedule() {
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::in_schedule(Update)))
        .insert_resource(bevy::time::TimeUpdateStrategy::FixedTimesteps(1));
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), grid_from(&field(10, 3)), frame);
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (9, 1));
    run_until(&mut app, 500, |app| arrived(app, unit));
    assert_eq!(position(&app, unit), Vec2::new(90.0, 10.0));
}

#[test]
fn the_end_of_a_walk_is_drawn_with_any_number_of_ticks_per_frame() {
    for ticks in [1, 2, 3, 4, 7, 16] {
        let mut app = app_with(&field(30, 3));
        app.insert_resource(bevy::time::TimeUpdateStrategy::FixedTimesteps(ticks));
        let unit = spawn_critter(&mut app, (0, 1));
        order(&mut app, unit, (11, 1));
        run_until(&mut app, 500, |app| arrived(app, unit));
        run(&mut app, 2);
        assert_eq!(position(&app, unit), Vec2::new(110.0, 10.0), "{ticks} ticks per frame");
    }
}

#[test]
fn the_next_order_starts_at_the_cell_not_at_the_drawn_position() {
    let mut app = app_with(&field(40, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    app.world_mut().get_mut::<Critter>(unit).unwrap().speed = 1_000.0;
    order(&mut app, unit, (30, 1));
    run_until(&mut app, 100, |app| arrived(app, unit));
    order(&mut app, unit, (39, 1));
    app.update();
    let start = app.world().get::<RequestState>(unit).unwrap().query().start;
    assert_eq!(start, Cell::new(30, 1));
}

#[test]
fn a_critter_moved_while_it_stands_continues_from_there() {
    let mut app = app_with(&field(40, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (5, 1));
    run_until(&mut app, 500, |app| arrived(app, unit));
    run(&mut app, 3);
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation.x = 300.0;
    run(&mut app, 3);
    assert_eq!(position(&app, unit), Vec2::new(300.0, 10.0), "it stays where it was moved");
    order(&mut app, unit, (35, 1));
    app.update();
    let start = app.world().get::<RequestState>(unit).unwrap().query().start;
    assert_eq!(start, Cell::new(30, 1));
}

#[test]
fn a_grid_that_comes_back_does_not_resume_old_walks() {
    let mut app = app_with(&field(30, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (29, 1));
    run(&mut app, 20);
    let level = grid(&mut app).remove(GridId::default()).unwrap();
    run(&mut app, 2);
    let gone = PathFailure::GridGone(GridId::default());
    assert_eq!(status(&app, unit), PathStatus::Failed(gone));
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    run(&mut app, 60);
    assert!(state(&app, unit).cell().x < 5, "it finishes only its step");
}

#[test]
fn an_invalid_request_does_not_affect_a_step_on_another_grid() {
    let mut app = app_with(&field(30, 3));
    let frame = GridFrame::square(Vec2::new(1_000.0, 0.0), Vec2::splat(10.0));
    grid(&mut app).insert(GridId(3), grid_from(&field(30, 3)), frame);
    let unit = spawn_critter(&mut app, (100, 1));
    app.world_mut().entity_mut(unit).insert(PathRequest::to(Cell::new(20, 1)).start_on(GridId(3)));
    run(&mut app, 21);
    let before = position(&app, unit);
    app.world_mut().entity_mut(unit).insert(PathRequest::to(Vec2::NAN).start_on(GridId(3)));
    run(&mut app, 20);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::GoalUnknown));
    assert!(position(&app, unit).distance(before) < 15.0, "it ends its step where it was");
}

#[test]
fn the_order_of_a_ghost_built_over_on_both_sides_of_its_step_fails() {
    let mut app = app_with(&field(30, 3));
    let unit = spawn_critter(&mut app, (2, 1));
    *app.world_mut().get_mut::<Critter>(unit).unwrap() = Critter::new(8.0).ghost();
    order(&mut app, unit, (27, 1));
    run_until(&mut app, 100, |app| state(app, unit).walk().tail() == Cell::new(5, 1));
    let building = CellRect::new(Cell::new(4, 0), 4, 3);
    grid(&mut app).get_mut(GridId::default()).unwrap().block(building).unwrap();
    run(&mut app, 30);
    assert!(matches!(status(&app, unit), PathStatus::Failed(PathFailure::StartImpassable(_))));
    assert!(!state(&app, unit).walk().is_between_cells());
}
