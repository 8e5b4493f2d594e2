//! Resources of links that the game replaces while units queue and cross, and what it takes from units on links.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use super::{
    DOWN, UP, app_with_floors, at, check_places, frame, has_arrived, link, link_status, place_of,
    send, spawn,
};
use crate::common::app::{run, run_until, status};

/// Twelve critters and two ghosts whose way leads over one link, with a cost of 20 cells.
fn stairs() -> (App, Entity, Vec<Entity>) {
    let mut app = app_with_floors(2, (24, 16));
    let stairs = link(&mut app, NavLink::new(at(DOWN, 12, 8), at(UP, 12, 8)).cost(20));
    let cells = (0..14).map(|index| at(DOWN, 4 + 2 * (index % 7), 2 + index / 7));
    let critter = |index| match index {
        12.. => Critter::new(8.0).ghost(),
        _ => Critter::new(8.0),
    };
    let units: Vec<Entity> =
        (0..).zip(cells).map(|(index, cell)| spawn(&mut app, critter(index), cell)).collect();
    app.update();
    for (index, &unit) in (0..).zip(&units) {
        send(&mut app, unit, at(UP, 4 + 2 * (index % 7), 11 + index / 7));
    }
    (app, stairs, units)
}

fn crossing(app: &App, units: &[Entity]) -> usize {
    units.iter().filter(|&&unit| status(app, unit) == PathStatus::Crossing).count()
}

fn come_up(mut app: App, units: &[Entity]) {
    run_until(&mut app, 3_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    assert!(units.iter().all(|&unit| place_of(&app, unit).0 == UP));
    check_places(&mut app, &units[..12]);
}

#[test]
fn links_and_traffic_that_are_replaced_are_found_again() {
    let put: [fn(&mut World); 5] = [
        |world| world.insert_resource(NavLinks::default()),
        |world| *world.resource_mut::<NavLinks>() = NavLinks::default(),
        |world| world.insert_resource(LinkTraffic::default()),
        |world| {
            world.insert_resource(LinkTraffic::default());
            world.insert_resource(NavLinks::default());
        },
        |world| {
            world.insert_resource(Crowds::default());
            world.insert_resource(FlowFields::default());
            world.insert_resource(Pathfinder::default());
        },
    ];
    for put in put {
        for after in [3, 40, 120, 300] {
            let (mut app, stairs, units) = stairs();
            run(&mut app, after);
            put(app.world_mut());
            run(&mut app, 2);
            assert_eq!(link_status(&app, stairs), LinkStatus::Connected);
            come_up(app, &units);
        }
    }
}

#[test]
fn links_that_come_and_go_while_the_resource_is_out_of_the_world() {
    let (mut app, stairs, units) = stairs();
    run_until(&mut app, 400, |app| crossing(app, &units) > 0);
    let mut other = None;
    app.world_mut().resource_scope(|world, _: Mut<NavLinks>| {
        world.despawn(stairs);
        other = Some(world.spawn(NavLink::new(at(DOWN, 20, 8), at(UP, 20, 8))).id());
    });
    run(&mut app, 2);
    assert_eq!(link_status(&app, other.unwrap()), LinkStatus::Connected);
    come_up(app, &units);
}

/// The stage that moves stands still for a while, the others do not.
#[test]
fn queues_are_kept_while_nothing_moves() {
    #[derive(Resource, Default)]
    struct Paused(bool);
    let (mut app, _, units) = stairs();
    app.init_resource::<Paused>();
    let runs = |paused: Res<Paused>| !paused.0;
    app.configure_sets(FixedUpdate, TilePathSystems::Move.run_if(runs));
    run_until(&mut app, 400, |app| crossing(app, &units) > 0);
    app.world_mut().resource_mut::<Paused>().0 = true;
    run(&mut app, 50);
    assert!(crossing(&app, &units) > 0);
    app.world_mut().resource_mut::<Paused>().0 = false;
    come_up(app, &units);
}

#[test]
fn units_on_links_that_lose_components_for_a_while_land() {
    let take: [fn(&mut World, Entity); 2] = [
        |world, unit| {
            world.entity_mut(unit).remove::<Critter>();
        },
        |world, unit| {
            world.entity_mut(unit).remove::<Transform>();
        },
    ];
    for (kind, take) in take.into_iter().enumerate() {
        // Shorter and longer than the crossing.
        for ticks in [10, 400] {
            let (mut app, _, units) = stairs();
            run_until(&mut app, 400, |app| crossing(app, &units) > 0);
            let unit =
                *units.iter().find(|&&unit| status(&app, unit) == PathStatus::Crossing).unwrap();
            let kept: Critter = *app.world().get(unit).unwrap();
            take(app.world_mut(), unit);
            run(&mut app, ticks);
            let place = frame(UP).cell_center(Cell::new(12, 8)).extend(3.0);
            app.world_mut().entity_mut(unit).insert(Transform::from_translation(place));
            if kind == 0 {
                // It was drawn where there are no cells, and its order has failed.
                app.world_mut().entity_mut(unit).insert(kept);
                let index = units.iter().position(|&other| other == unit).unwrap() as i32;
                send(&mut app, unit, at(UP, 4 + 2 * (index % 7), 11 + index / 7));
            }
            come_up(app, &units);
        }
    }
}
