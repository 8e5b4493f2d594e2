//! Units that avian moves.

use avian2d::prelude::*;
use bevy::prelude::*;
use bevy_tilepath::prelude::*;
use tilepath_integrations::physics::{PhysicsUnitsPlugin, unit};

use crate::app::{have_arrived, headless, update_until};

const CELL: f32 = 16.0;
const RADIUS: f32 = 0.35 * CELL;

/// A hall of 40 × 20 cells with a wall across that has an opening, as blockers and as colliders.
fn hall() -> App {
    let mut app = headless();
    app.add_plugins((PhysicsPlugins::default().with_length_unit(CELL), PhysicsUnitsPlugin))
        .insert_resource(Gravity::ZERO);
    let level = NavGrid::new(40, 20, TerrainId::GROUND).expect("a small grid");
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(CELL));
    app.world_mut().resource_mut::<NavGrids>().insert(GridId::default(), level, frame);
    for (x, y, width, height) in [
        (20, 0, 1, 8),
        (20, 12, 1, 8),
        (0, 0, 40, 1),
        (0, 19, 40, 1),
        (0, 0, 1, 20),
        (39, 0, 1, 20),
    ] {
        build(&mut app, CellRect::new(Cell::new(x, y), width, height));
    }
    app.finish();
    app.cleanup();
    app
}

/// A wall that stands in the way of paths and of bodies.
fn build(app: &mut App, area: CellRect) {
    let size = UVec2::new(area.width, area.height).as_vec2() * CELL;
    let corner = IVec2::new(area.min.x, area.min.y).as_vec2() * CELL - CELL / 2.0;
    app.world_mut().spawn((
        NavBlocker::at(area),
        RigidBody::Static,
        Collider::rectangle(size.x, size.y),
        Transform::from_translation((corner + size / 2.0).extend(0.0)),
    ));
}

fn spawn_units(app: &mut App) -> Vec<Entity> {
    let cells = CellRect::new(Cell::new(3, 6), 4, 6).cells();
    cells
        .map(|cell| {
            let at = Vec2::new(cell.x as f32, cell.y as f32) * CELL;
            let place = Transform::from_translation(at.extend(0.0));
            app.world_mut().spawn((unit(RADIUS, 5.0), place)).id()
        })
        .collect()
}

fn places(world: &mut World) -> Vec<Vec2> {
    let mut units = world.query_filtered::<&Transform, With<PathSteering>>();
    units.iter(world).map(|transform| transform.translation.truncate()).collect()
}

#[test]
fn bodies_walk_through_an_opening_and_arrive() {
    let mut app = hall();
    let units = spawn_units(&mut app);
    // Boxes that are in nobody's grid: they are pushed aside.
    for y in 8..12 {
        let at = Vec3::new(18.0 * CELL, y as f32 * CELL, 0.0);
        let cargo = Collider::rectangle(0.7 * CELL, 0.7 * CELL);
        app.world_mut().spawn((RigidBody::Dynamic, cargo, Transform::from_translation(at)));
    }
    app.world_mut().spawn(Group::to(Cell::new(32, 10), units));
    let mut farthest: f32 = 0.0;
    for _ in 0..3_000 {
        app.update();
        for place in places(app.world_mut()) {
            farthest = farthest.max(place.x);
            let cell = (place / CELL).round();
            assert!(cell.x != 20.0 || (8.0..12.0).contains(&cell.y), "in the wall at {cell}");
        }
        if have_arrived(app.world_mut()) {
            break;
        }
    }
    assert!(have_arrived(app.world_mut()), "{:?}", crate::app::statuses(app.world_mut()));
    assert!(farthest > 30.0 * CELL);
    // They are bodies: no two overlap by more than what the solver tolerates.
    let places = places(app.world_mut());
    for (i, a) in places.iter().enumerate() {
        assert!(places[..i].iter().all(|b| a.distance(*b) > 1.8 * RADIUS));
    }
}

#[test]
fn a_blast_throws_them_and_they_get_there_all_the_same() {
    let mut app = hall();
    let units = spawn_units(&mut app);
    app.world_mut().spawn(Group::to(Cell::new(32, 10), units.clone()));
    for blast in 0..4 {
        for _ in 0..100 {
            app.update();
        }
        for (i, &unit) in units.iter().enumerate() {
            let angle = (i * 7 + blast * 3) as f32;
            let mut velocity = app.world_mut().get_mut::<LinearVelocity>(unit).expect("a body");
            velocity.0 += Vec2::from_angle(angle) * 40.0 * CELL;
        }
        if blast == 2 {
            build(&mut app, CellRect::new(Cell::new(26, 6), 1, 9)); // and a wall before them
        }
    }
    update_until(&mut app, "all have arrived", have_arrived);
}

fn set_critter(app: &mut App, unit: Entity, is_critter: bool) {
    let mut unit = app.world_mut().entity_mut(unit);
    if is_critter {
        unit.insert(Critter::new(5.0));
    } else {
        unit.remove::<Critter>();
    }
}

/// Who moves them changes while they walk. Critters at rest are walls to bodies, with gaps too narrow to pass: as long as there are
/// both, a body either arrives or is stuck. Once all are of one kind, all arrive.
#[test]
fn bodies_become_critters_and_bodies_again() {
    for are_critters_in_the_end in [false, true] {
        let mut app = hall();
        let units = spawn_units(&mut app);
        app.world_mut().spawn(Group::to(Cell::new(32, 10), units.clone()));
        for change in 0..8 {
            for (i, &unit) in units.iter().enumerate() {
                set_critter(&mut app, unit, (i + change) % 2 == 0);
            }
            for _ in 0..40 {
                app.update();
            }
            for &unit in &units {
                let unit = app.world().entity(unit);
                let body = unit.get::<RigidBody>().expect("a body");
                assert_eq!(body.is_dynamic(), !unit.contains::<Critter>());
            }
        }
        update_until(&mut app, "each has arrived, or is a body that is stuck", |world| {
            let mut units = world.query::<(&PathStatus, Has<Critter>)>();
            units.iter(world).all(|(status, is_critter)| match status {
                PathStatus::Arrived(_) => true,
                PathStatus::Stuck(why) => *why == Hindrance::Obstacle && !is_critter,
                _ => false,
            })
        });
        units.iter().for_each(|&unit| set_critter(&mut app, unit, are_critters_in_the_end));
        update_until(&mut app, "all have arrived", have_arrived);
    }
}

/// Two that push each other from opposite sides pass, each on its right.
#[test]
fn bodies_that_meet_pass_each_other() {
    let mut app = hall();
    let ends = [Cell::new(5, 10), Cell::new(15, 10)];
    for [from, to] in [ends, [ends[1], ends[0]]] {
        let place = Vec2::new(from.x as f32, from.y as f32) * CELL;
        let place = Transform::from_translation(place.extend(0.0));
        app.world_mut().spawn((unit(RADIUS, 5.0), place, PathRequest::to(to)));
    }
    for _ in 0..1_000 {
        app.update();
    }
    assert!(have_arrived(app.world_mut()), "{:?}", crate::app::statuses(app.world_mut()));
}
