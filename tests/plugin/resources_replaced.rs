//! Resources of the plugin that the game replaces while units are under way, and components that it takes away.

use std::collections::BTreeSet;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

/// Checks that each critter is exactly one unit of the crowd, on a cell that no other holds.
fn check_units(app: &App, critters: &[Entity]) {
    let crowds = app.world().resource::<Crowds>();
    assert_eq!(crowds.len(), critters.len(), "units are lost or doubled");
    let mut seen = BTreeSet::new();
    for &critter in critters {
        let state = state(app, critter);
        let unit = state.unit().expect("a critter is in no crowd");
        assert_eq!(crowds.entity(GridId::default(), unit), Some(critter));
        let crowd = crowds.get(GridId::default()).unwrap();
        let (tail, head) = crowd.position(level(app), unit).unwrap();
        for cell in BTreeSet::from([tail, head]) {
            assert!(seen.insert(cell), "two on {cell}");
        }
    }
}

/// Units in two columns that change sides.
fn spawn_columns(app: &mut App) -> Vec<Entity> {
    let starts = (0..10).flat_map(|y| [(2, 2 * y + 1), (27, 2 * y + 1)]);
    starts.map(|start| spawn_critter(app, start)).collect()
}

fn send_across(app: &mut App, units: &[Entity]) {
    for &unit in units {
        let Cell { x, y } = state(app, unit).cell();
        order(app, unit, (29 - x, y));
    }
}

#[test]
fn crowds_that_are_replaced_move_on() {
    let put: [fn(&mut World); 3] = [
        |world| world.insert_resource(Crowds::default()),
        |world| *world.resource_mut::<Crowds>() = Crowds::default(),
        // What the game kept from two seconds before.
        |world| {
            let kept = world.remove_resource::<Kept>().unwrap();
            world.insert_resource(kept.0);
        },
    ];
    for put in put {
        let mut app = app_with(&field(30, 21));
        let mut units = spawn_columns(&mut app);
        run(&mut app, 2);
        let kept = app.world().resource::<Crowds>().clone();
        app.insert_resource(Kept(kept));
        send_across(&mut app, &units);
        run(&mut app, 60);
        // Another one is there before those that are under way are units again.
        let other = spawn_critter(&mut app, (1, 0));
        put(app.world_mut());
        app.update();
        units.push(other);
        check_units(&app, &units);
        units.pop();
        run_until(&mut app, 600, |app| units.iter().all(|&unit| has_arrived(app, unit)));
        units.push(other);
        check_units(&app, &units);
        assert_eq!(state(&app, other).cell(), Cell::new(1, 0), "it has no orders");
    }
}

#[derive(Resource)]
struct Kept(Crowds);

#[test]
fn a_critter_without_a_cell_enters_other_crowds_as_soon_as_it_can() {
    let mut app = app_with("#####\n##.##\n#####");
    let first = spawn_critter(&mut app, (2, 1));
    run(&mut app, 2);
    let second = spawn_critter(&mut app, (2, 1));
    run(&mut app, 20);
    assert_eq!(state(&app, second).unit(), None);
    app.insert_resource(Crowds::default());
    run(&mut app, 20);
    check_units(&app, &[first]);
    app.world_mut().despawn(first);
    run(&mut app, 20);
    check_units(&app, &[second]);
}

#[test]
fn a_pathfinder_that_is_replaced_answers_what_was_asked() {
    let put: [fn(&mut World); 2] = [
        |world| world.insert_resource(Pathfinder::default()),
        |world| *world.resource_mut::<Pathfinder>() = Pathfinder::default(),
    ];
    for put in put {
        let mut app = app_with(&field(200, 60));
        record(&mut app);
        block(&mut app, CellRect::new(Cell::new(170, 1), 1, 59));
        let ghosts: Vec<Entity> = (0..10).map(|y| spawn_ghost(&mut app, (2, 4 * y))).collect();
        let waits = spawn_critter(&mut app, (100, 30));
        let target = spawn_critter(&mut app, (150, 50));
        let follows = spawn_critter(&mut app, (140, 50));
        run(&mut app, 600); // its clock is far ahead of a new one
        block(&mut app, CellRect::single(Cell::new(120, 30)));
        let retry = Retry { after: 64, ..Retry::default() };
        let request = PathRequest::to(Cell::new(120, 30)).retry(retry);
        insert_request(&mut app, waits, request);
        insert_request(&mut app, follows, PathRequest::follow(target).beside());
        run_until(&mut app, 600, |app| {
            has_arrived(app, follows) && matches!(status(app, waits), PathStatus::Waiting(_))
        });
        app.world_mut().resource_mut::<TilePathSettings>().budget = 400;
        for (y, &ghost) in ghosts.iter().enumerate() {
            order_slowly(&mut app, ghost, (190, 4 * y as i32 + 1));
        }
        run(&mut app, 20);
        let searching = |app: &App| {
            let statuses = ghosts.iter().map(|&ghost| status(app, ghost));
            statuses.filter(|status| matches!(status, PathStatus::Searching)).count()
        };
        assert!(searching(&app) > 2, "{} are in the queue", searching(&app));
        put(app.world_mut());
        app.world_mut().resource_mut::<TilePathSettings>().budget = 50_000;
        unblock(&mut app, CellRect::single(Cell::new(120, 30)));
        order(&mut app, target, (160, 50));
        run_until(&mut app, 200, |app| searching(app) == 0);
        run_until(&mut app, 400, |app| has_arrived(app, waits));
        let is_beside = |app: &App| {
            state(app, follows).cell().chebyshev(state(app, target).cell()) == 1
                && state(app, target).cell() == Cell::new(160, 50)
        };
        run_until(&mut app, 600, is_beside);
        run_until(&mut app, 2_500, |app| ghosts.iter().all(|&ghost| has_arrived(app, ghost)));
        let cancels =
            events(&app).iter().filter(|event| matches!(event, Recorded::Canceled(..))).count();
        assert_eq!(cancels, 0);
    }
}

#[test]
fn a_critter_that_is_none_for_a_while_goes_on_with_its_order() {
    let mut app = app_with(&field(30, 21));
    let units = spawn_columns(&mut app);
    run(&mut app, 2);
    send_across(&mut app, &units);
    run(&mut app, 20);
    for &unit in &units {
        app.world_mut().entity_mut(unit).remove::<Critter>();
    }
    run(&mut app, 5);
    assert!(app.world().resource::<Crowds>().is_empty());
    for &unit in &units {
        app.world_mut().entity_mut(unit).insert(Critter::new(8.0));
    }
    run_until(&mut app, 600, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    check_units(&app, &units);
}

#[test]
fn a_critter_without_a_transform_for_a_while_goes_on_with_its_order() {
    let mut app = app_with(&field(30, 21));
    let units = spawn_columns(&mut app);
    run(&mut app, 2);
    send_across(&mut app, &units);
    run(&mut app, 20);
    let taken: Vec<Transform> = units
        .iter()
        .map(|&unit| app.world_mut().entity_mut(unit).take::<Transform>().unwrap())
        .collect();
    run(&mut app, 30);
    for (&unit, transform) in units.iter().zip(taken) {
        app.world_mut().entity_mut(unit).insert(transform);
    }
    run_until(&mut app, 600, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    check_units(&app, &units);
}

/// Large groups walk by shared fields, which other groups get with the same numbers once the resource is another.
#[test]
fn groups_that_walk_by_fields_keep_their_goal_when_the_fields_are_replaced() {
    let mut app = app_with(&field(80, 60));
    let squad = |app: &mut App, y: i32| -> Vec<Entity> {
        (0..24).map(|i| spawn_critter(app, (2 + i % 4, y + i / 4))).collect()
    };
    let (first, second) = (squad(&mut app, 2), squad(&mut app, 50));
    run(&mut app, 2);
    app.world_mut().spawn(Group::to(Cell::new(70, 5), first.clone()));
    run(&mut app, 60);
    let fields = app.world().resource::<FlowFields>().counters();
    assert_eq!(fields.alive, 1, "they share a field");
    app.insert_resource(FlowFields::default());
    app.world_mut().spawn(Group::to(Cell::new(70, 50), second.clone()));
    run_until(&mut app, 1_200, |app| {
        first.iter().chain(&second).all(|&unit| has_arrived(app, unit))
    });
    for (units, y) in [(first, 5), (second, 50)] {
        for unit in units {
            assert!(state(&app, unit).cell().chebyshev(Cell::new(70, y)) <= 4);
        }
    }
}
