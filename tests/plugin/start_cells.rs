//! Units that are put on cells.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

#[test]
fn a_unit_stands_on_its_start_cell_from_its_first_tick_on() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let mut app = app_on(&field(12, 9), topology);
        let large = grid(&mut app).add_profile(Profile::default().size(2));
        for (profile, cell) in [(ProfileId(0), Cell::new(3, 4)), (large, Cell::new(7, 5))] {
            let place = (StartCell(cell), Transform::from_xyz(0.0, 0.0, 2.0));
            let unit =
                app.world_mut().spawn((Critter::new(4.0), NavAgent::new(profile), place)).id();
            app.update();
            assert_eq!((state(&app, unit).is_placed(), state(&app, unit).cell()), (true, cell));
            assert_eq!(position(&app, unit), block_center(&app, profile, cell));
            let transform = app.world().get::<Transform>(unit).unwrap();
            assert!((transform.translation.z - 2.0).abs() < f32::EPSILON);
            assert!(app.world().get::<StartCell>(unit).is_none());
        }
    }
}

/// The first frame has no tick, but is drawn.
#[test]
fn a_unit_is_on_its_cell_in_the_first_frame() {
    let mut app = app();
    let level = grid_from(&field(12, 9));
    grid(&mut app).insert(GridId::default(), level, frame_of(Topology::Square));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    let unit = app.world_mut().spawn((Critter::new(4.0), StartCell(Cell::new(3, 4)))).id();
    app.update();
    assert!(!state(&app, unit).is_placed(), "no tick");
    assert_eq!(position(&app, unit), Vec2::new(30.0, 40.0));
}

#[test]
fn it_waits_for_its_grid_and_starts_there_with_its_request() {
    let mut app = app();
    record(&mut app);
    let (start, goal) = (Cell::new(3, 4), Cell::new(9, 4));
    let retry = Retry { after: 1, longest: 1, most: 100 };
    let request = PathRequest::to(goal).retry(retry);
    let unit = app.world_mut().spawn((Critter::new(8.0), StartCell(start), request)).id();
    run(&mut app, 20);
    assert!(app.world().get::<StartCell>(unit).is_some());
    let level = grid_from(&field(12, 9));
    grid(&mut app).insert(GridId::default(), level, frame_of(Topology::Square));
    run(&mut app, 3);
    assert_eq!(app.world().get::<NavPath>(unit).unwrap().start(), start);
    assert_eq!(run_to_end(&mut app, unit), Ok(goal));
}

#[test]
fn units_that_the_game_moves_ghosts_and_children_are_put_there_too() {
    let mut app = app_with(&field(12, 9));
    let raft = Transform::from_xyz(-35.0, 12.0, 1.0).with_scale(Vec3::splat(2.0));
    let raft = app.world_mut().spawn(raft).id();
    let cell = Cell::new(6, 3);
    let child = app.world_mut().spawn((StartCell(cell), ChildOf(raft))).id();
    let ghost = app.world_mut().spawn((Critter::new(4.0).ghost(), StartCell(cell))).id();
    app.update();
    let at = app.world().get::<Transform>(child).unwrap().translation.truncate();
    assert_eq!(at * 2.0 + Vec2::new(-35.0, 12.0), Vec2::new(60.0, 30.0));
    assert_eq!(position(&app, ghost), Vec2::new(60.0, 30.0));
}

#[test]
fn a_taken_cell_gives_the_nearest_free_one_and_a_cell_off_the_map_a_reason() {
    let mut app = app_with(&field(12, 9));
    record(&mut app);
    let cell = Cell::new(6, 3);
    let spawn =
        |app: &mut App, cell| app.world_mut().spawn((Critter::new(4.0), StartCell(cell))).id();
    let (first, second) = (spawn(&mut app, cell), spawn(&mut app, cell));
    let outside = spawn(&mut app, Cell::new(400, 3));
    app.update();
    assert_eq!(state(&app, first).cell(), cell);
    assert_eq!(state(&app, second).cell().chebyshev(cell), 1);
    insert_request(&mut app, outside, PathRequest::to(cell));
    run(&mut app, 3);
    let reason = PathFailure::StartOutOfBounds(Cell::new(400, 3));
    assert_eq!(failures(&app, outside), [reason]);
    // Later it moves a unit that stands, like a written transform.
    app.world_mut().entity_mut(first).insert(StartCell(Cell::new(1, 1)));
    run(&mut app, 2);
    assert_eq!(state(&app, first).cell(), Cell::new(1, 1));
}
