//! Where critters are drawn, and which way they face: children of what moves and turns, ghosts on lines, and positions that the
//! game writes at the last moment.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::*;

/// Spawns a critter at a place in the world as a child.
fn spawn_child(app: &mut App, parent: Entity, critter: Critter, cell: (i32, i32)) -> Entity {
    let parent_to_world = *app.world().get::<Transform>(parent).unwrap();
    let world = Vec3::new(cell.0 as f32 * 10.0, cell.1 as f32 * 10.0, 0.0);
    let local = GlobalTransform::from(parent_to_world).affine().inverse().transform_point3(world);
    app.world_mut().spawn((critter, Transform::from_translation(local), ChildOf(parent))).id()
}

/// Where a child is in the world, from the transforms as they are.
fn in_world(app: &App, child: Entity) -> (Vec2, Vec2) {
    let parent = app.world().get::<ChildOf>(child).unwrap().parent();
    let [parent, child] = [parent, child].map(|one| *app.world().get::<Transform>(one).unwrap());
    let world = GlobalTransform::from(parent) * child;
    let ahead = world.affine().transform_vector3(Vec3::X).truncate();
    (world.translation().truncate(), ahead.normalize())
}

#[test]
fn children_of_turned_and_mirrored_parents_walk_and_face_in_the_world() {
    let turned = Quat::from_rotation_z(1.3);
    for (parent, kind) in [
        (Transform::from_xyz(100.0, 30.0, 0.0).with_rotation(turned), "turned"),
        (Transform::from_xyz(-50.0, 0.0, 0.0).with_scale(Vec3::new(-2.0, 2.0, 1.0)), "mirrored"),
        (Transform::from_xyz(7.0, 9.0, 0.0).with_scale(Vec3::splat(3.0)), "scaled"),
    ] {
        for critter in [Critter::new(8.0), Critter::new(8.0).ghost()] {
            let mut app = app_with(&field(40, 12));
            let parent = app.world_mut().spawn(parent).id();
            let critter = Critter { turns: true, ..critter };
            let unit = spawn_child(&mut app, parent, critter, (3, 4));
            app.update();
            order(&mut app, unit, (30, 4));
            run(&mut app, 100);
            let (place, ahead) = in_world(&app, unit);
            assert!((place.y - 40.0).abs() < 0.1 && place.x > 60.0, "{kind}: {place}");
            assert!(ahead.distance(Vec2::X) < 0.01, "{kind}: it faces {ahead}");
            run_until(&mut app, 400, |app| has_arrived(app, unit));
            run(&mut app, 2);
            assert!(in_world(&app, unit).0.distance(Vec2::new(300.0, 40.0)) < 0.1, "{kind}");
        }
    }
}

/// The example apps have no `TransformPlugin`: nothing keeps global transforms up to date.
#[test]
fn children_are_drawn_where_they_are_without_transform_propagation() {
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(bevy::time::TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    app.update();
    grid(&mut app).insert(GridId(0), grid_from(&field(40, 12)), frame_of(Topology::Square));
    let parent = app.world_mut().spawn(Transform::from_xyz(100.0, 20.0, 0.0)).id();
    let unit = spawn_child(&mut app, parent, Critter::new(8.0), (3, 4));
    app.update();
    order(&mut app, unit, (30, 4));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    run(&mut app, 2);
    assert_eq!(in_world(&app, unit).0, Vec2::new(300.0, 40.0));
}

/// A ship whose deck is the grid sails on: passengers stay where they are on deck, in every frame.
#[test]
fn children_keep_up_with_a_parent_that_moves_with_the_grid() {
    let mut app = app_with(&field(20, 12));
    let ship = app.world_mut().spawn(Transform::default()).id();
    let unit = spawn_child(&mut app, ship, Critter::new(4.0), (3, 4));
    app.update();
    order(&mut app, unit, (15, 4));
    let mut last = 30.0;
    for tick in 1..150 {
        let at = Vec2::new(tick as f32 * 3.0, 0.0);
        app.world_mut().get_mut::<Transform>(ship).unwrap().translation = at.extend(0.0);
        let frame = GridFrame::square(at, Vec2::splat(10.0));
        grid(&mut app).set_frame(GridId(0), frame);
        app.update();
        // On deck it goes ahead by less than a cell's sixteenth a tick.
        let on_deck = position(&app, unit).x;
        assert!((last - 0.01..=last + 0.7).contains(&on_deck), "tick {tick}: {last} to {on_deck}");
        last = on_deck;
    }
    assert!(last > 100.0);
}

#[test]
fn a_ghost_on_a_line_faces_along_it() {
    for speed in [8.0, 150.0] {
        let mut app = app_with(&field(60, 30));
        let unit = spawn_ghost(&mut app, (2, 3));
        app.world_mut().entity_mut(unit).insert(AnyAnglePath::default());
        set_speed(&mut app, unit, speed);
        app.world_mut().get_mut::<Critter>(unit).unwrap().turns = true;
        app.update();
        order(&mut app, unit, (50, 20));
        let mut faced = Vec::new();
        run_until(&mut app, 900, |app| {
            if state(app, unit).is_moving() {
                faced.push(app.world().get::<Facing>(unit).unwrap().world);
            }
            has_arrived(app, unit)
        });
        let line = Vec2::new(480.0, 170.0).normalize();
        let off = faced.iter().map(|facing| facing.distance(line)).fold(0.0, f32::max);
        assert!(off < 0.1, "at {speed} it faces up to {off} off its line");
        run(&mut app, 60);
        let ahead = app.world().get::<Transform>(unit).unwrap().rotation * Vec3::X;
        assert!(ahead.truncate().distance(line) < 0.1, "at {speed} it ends turned to {ahead}");
    }
}

/// On its way, a position that the game writes does not count, whether it is drawn before the end of the step or not.
#[test]
fn a_position_written_in_the_last_tick_of_a_step_does_not_count() {
    for (critter, name) in [
        (Critter::new(3.0), "critter"),
        (Critter::new(3.0).ghost(), "ghost"),
        (Critter { turns: true, ..Critter::new(3.0) }, "turning"),
    ] {
        for ticks_before in 20..36 {
            let mut app = app_with(&field(20, 12));
            let unit = spawn_critter(&mut app, (3, 3));
            app.world_mut().entity_mut(unit).insert(critter);
            app.update();
            order(&mut app, unit, (4, 4));
            run_until(&mut app, 100, |app| state(app, unit).is_moving());
            run(&mut app, ticks_before);
            if !state(&app, unit).is_moving() {
                continue; // the step is over: the next position counts
            }
            let mut transform = app.world_mut().get_mut::<Transform>(unit).unwrap();
            transform.translation = Vec3::new(150.0, 90.0, 0.0);
            run(&mut app, 90);
            let at = (cell(&app, unit), position(&app, unit));
            assert_eq!(at, (Cell::new(4, 4), Vec2::splat(40.0)), "{name} {ticks_before}");
        }
    }
}

#[test]
fn a_ghost_that_begins_to_collide_on_another_grid_stays_where_it_is_drawn() {
    let mut app = app_with(&field(20, 12));
    let frame = GridFrame::square(Vec2::new(-300.0, 0.0), Vec2::splat(10.0));
    grid(&mut app).insert(GridId(3), grid_from(&field(60, 12)), frame);
    let agent = NavAgent::default().on(GridId(3));
    let at = Transform::from_xyz(30.0, 50.0, 0.0);
    let unit = app.world_mut().spawn((Critter::new(9.0).ghost(), agent, at)).id();
    app.update();
    order(&mut app, unit, (38, 5));
    run_until(&mut app, 300, |app| has_arrived(app, unit));
    run(&mut app, 2);
    assert_eq!(position(&app, unit), Vec2::new(80.0, 50.0));
    app.world_mut().entity_mut(unit).insert((NavAgent::default(), Critter::new(4.0)));
    run(&mut app, 5);
    assert_eq!(position(&app, unit), Vec2::new(80.0, 50.0));
    assert_eq!(cell(&app, unit), Cell::new(8, 5));
}

#[test]
fn a_ghost_from_before_its_first_tick_can_be_walked_onto() {
    let mut app = app_with(&field(20, 12));
    let at = |x: f32| Transform::from_xyz(x, 50.0, 0.0);
    let target = app.world_mut().spawn((Critter::new(4.0), at(150.0))).id();
    app.world_mut().get_mut::<Critter>(target).unwrap().collides = false;
    let unit = app.world_mut().spawn((Critter::new(9.0), at(20.0))).id();
    app.update();
    insert_request(&mut app, unit, PathRequest::to(target));
    run_until(&mut app, 300, |app| has_arrived(app, unit));
    assert_eq!(cell(&app, unit), Cell::new(15, 5));
}
