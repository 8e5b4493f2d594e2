//! What docs/orders.md promises, where units, goals and groups are unusual.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

fn queue_of(order: impl Into<Order>) -> OrderQueue {
    let mut queue = OrderQueue::new();
    queue.append(order);
    queue
}

fn house(x: i32, y: i32, width: u32, height: u32) -> NavBlocker {
    NavBlocker::at(CellRect::new(Cell::new(x, y), width, height))
}

/// A barracks: its units are there with their orders before they are on the grid.
#[test]
fn a_critter_spawned_inside_a_building_walks_out_and_carries_out_its_order() {
    for is_queue in [false, true] {
        let mut app = app_with(&field(30, 20));
        record(&mut app);
        app.world_mut().spawn(house(5, 5, 5, 5));
        run(&mut app, 2);
        let unit = spawn_critter(&mut app, (7, 7));
        let request = PathRequest::to(Cell::new(25, 15));
        if is_queue {
            app.world_mut().entity_mut(unit).insert(queue_of(request));
        } else {
            insert_request(&mut app, unit, request);
        }
        run_until(&mut app, 600, |app| has_arrived(app, unit));
        assert_eq!(state(&app, unit).cell(), Cell::new(25, 15));
        assert_eq!(failures(&app, unit), []);
    }
}

/// As under load: the request was read, but not searched yet.
#[test]
fn a_critter_built_over_while_its_request_waits_walks_out_and_carries_it_out() {
    let mut app = app_with(&field(60, 20));
    let unit = spawn_critter(&mut app, (5, 5));
    run(&mut app, 3);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 0;
    order(&mut app, unit, (50, 10));
    run(&mut app, 2);
    app.world_mut().spawn(house(5, 5, 1, 1));
    run(&mut app, 1);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 50_000;
    run_until(&mut app, 900, |app| status(app, unit) == PathStatus::Arrived(PathKind::Complete));
}

#[test]
fn members_under_a_new_building_get_slots_and_keep_them() {
    let mut app = app_with(&field(40, 20));
    record(&mut app);
    let units: Vec<Entity> =
        (0..10).map(|at| spawn_critter(&mut app, (4 + at % 5, 8 + at / 5))).collect();
    run(&mut app, 2);
    app.world_mut().spawn(house(4, 8, 3, 2));
    app.world_mut().spawn(Group::to(Cell::new(30, 10), units.clone()));
    run(&mut app, 20);
    // On the way a house goes up over one, and another is lost meanwhile.
    let Cell { x, y } = state(&app, units[9]).cell();
    app.world_mut().spawn(house(x - 1, y - 1, 3, 3));
    app.world_mut().despawn(units[0]);
    run_until(&mut app, 1_200, |app| units[1..].iter().all(|&unit| has_arrived(app, unit)));
    for &unit in &units[1..] {
        assert_eq!(refusals(&app, unit), []);
        assert!(state(&app, unit).cell().chebyshev(Cell::new(30, 10)) <= 3);
    }
}

#[test]
fn beside_a_large_unit_that_the_game_moves_is_beside_all_its_cells() {
    let mut app = app_with_sizes(&field(30, 20));
    let place = block_center(&app, HUGE, Cell::new(20, 10)).extend(0.0);
    let boss = (PathSteering::new(4.0), NavAgent::new(HUGE), Transform::from_translation(place));
    let boss = app.world_mut().spawn(boss).id();
    let unit = spawn_critter(&mut app, (3, 3));
    run(&mut app, 2);
    insert_request(&mut app, unit, PathRequest::to(boss).beside());
    let Ok(end) = run_to_end(&mut app, unit) else { panic!("no path") };
    let body = CellRect::new(Cell::new(20, 10), 3, 3);
    let around = CellRect::new(Cell::new(19, 9), 5, 5);
    assert!(!body.contains(end) && around.contains(end), "{end}");
}

#[test]
fn a_group_inserted_again_disturbs_nobody() {
    let mut app = app_with(&field(40, 20));
    record(&mut app);
    record_groups(&mut app);
    let units: Vec<Entity> =
        (0..6).map(|at| spawn_critter(&mut app, (4 + at % 3, 8 + at / 3))).collect();
    let order = Group::to(Cell::new(30, 10), units.clone()).persistent();
    let group = app.world_mut().spawn(order.clone()).id();
    run(&mut app, 40);
    for _ in 0..3 {
        app.world_mut().entity_mut(group).insert(order.clone());
        run(&mut app, 10);
    }
    run_until(&mut app, 1_000, |app| !group_arrivals(app).is_empty());
    app.world_mut().entity_mut(group).insert(order);
    run(&mut app, 50);
    for &unit in &units {
        assert_eq!((cancellations(&app, unit), arrivals(&app, unit)), (vec![], 1));
    }
    assert_eq!(group_arrivals(&app), [(6, 0)]);
}

#[test]
fn a_persistent_group_at_rest_that_loses_a_member_says_so_and_lifts_its_limit() {
    let mut app = app_with(&field(40, 20));
    record_groups(&mut app);
    let units: Vec<Entity> =
        (0..9).map(|at| spawn_critter(&mut app, (4 + at % 3, 8 + at / 3))).collect();
    let order = Group::to(Cell::new(30, 10), units.clone()).persistent().keep_together();
    app.world_mut().spawn(order);
    run_until(&mut app, 1_000, |app| !group_arrivals(app).is_empty());
    app.world_mut().despawn(units[4]);
    run_until(&mut app, 600, |app| group_arrivals(app).len() == 2);
    assert_eq!(group_arrivals(&app), [(9, 0), (8, 0)]);
    run(&mut app, 2);
    let limited = units.iter().filter(|&&unit| app.world().get::<GroupSpeedLimit>(unit).is_some());
    assert_eq!(limited.count(), 0);
}

#[test]
fn a_group_whose_goal_is_gone_goes_on_when_profiles_change() {
    let mut app = app_with(&field(40, 20));
    record(&mut app);
    record_groups(&mut app);
    let enemy = spawn_critter(&mut app, (30, 10));
    let units: Vec<Entity> =
        (0..4).map(|at| spawn_critter(&mut app, (4 + at % 2, 8 + at / 2))).collect();
    app.world_mut().spawn(Group::to(enemy, units.clone()));
    run(&mut app, 30);
    app.world_mut().despawn(enemy);
    run(&mut app, 5);
    grid(&mut app).add_profile(Profile::default().size(2));
    run_until(&mut app, 1_000, |app| !group_arrivals(app).is_empty());
    assert_eq!(group_arrivals(&app), [(4, 0)]);
    for &unit in &units {
        assert_eq!(refusals(&app, unit), []);
        assert!(state(&app, unit).cell().chebyshev(Cell::new(30, 10)) <= 2);
    }
}

#[test]
fn a_target_on_a_grid_that_comes_later_is_waited_for() {
    let mut app = app_with(&field(30, 12));
    let roof = GridId(1);
    let ends = [(GridId(0), Cell::new(20, 6)), (roof, Cell::new(20, 6))];
    app.world_mut().spawn(NavLink::new(ends[0], ends[1]));
    let place = Transform::from_xyz(50.0, 1_050.0, 0.0);
    let target = (Critter::new(8.0), NavAgent::default().on(roof), place);
    let target = app.world_mut().spawn(target).id();
    let unit = spawn_critter(&mut app, (3, 6));
    run(&mut app, 2);
    insert_request(&mut app, unit, PathRequest::to(target).retry(Retry::default()));
    run(&mut app, 20);
    let waits = PathStatus::Waiting(PathFailure::GridGone(roof));
    assert_eq!(status(&app, unit), waits);
    let upper = GridFrame::square(Vec2::new(0.0, 1_000.0), Vec2::splat(10.0));
    grid(&mut app).insert(roof, grid_from(&field(30, 12)), upper);
    run_until(&mut app, 1_500, |app| has_arrived(app, unit));
    assert_eq!(app.world().get::<NavAgent>(unit).unwrap().grid, roof);
}

#[test]
fn a_patrol_between_the_ends_of_stairs_does_not_rest() {
    let mut app = app_with(&field(30, 12));
    let upper = GridFrame::square(Vec2::new(0.0, 1_000.0), Vec2::splat(10.0));
    grid(&mut app).insert(GridId(1), grid_from(&field(30, 12)), upper);
    let ends = [(GridId(0), Cell::new(6, 6)), (GridId(1), Cell::new(20, 6))];
    app.world_mut().spawn(NavLink::new(ends[0], ends[1]));
    let unit = spawn_critter(&mut app, (6, 6));
    run(&mut app, 2);
    let stops = ends.map(|(id, cell)| PathRequest::to(cell).goal_on(id));
    let patrol = Order::Patrol { stops: stops.into(), mode: PatrolMode::Round };
    app.world_mut().entity_mut(unit).insert(queue_of(patrol));
    let crossed = |app: &App| app.world().resource::<PathCounters>().requests;
    run(&mut app, 100);
    let before = crossed(&app);
    run(&mut app, 320);
    assert!(crossed(&app) - before >= 30, "{} rounds", crossed(&app) - before);
}

#[test]
fn reaching_a_target_that_is_followed_does_not_end_the_order() {
    let mut app = app_with(&field(40, 12));
    let target = spawn_ghost(&mut app, (20, 6));
    let unit = app.world_mut().spawn(Transform::from_xyz(30.0, 60.0, 0.0)).id();
    let queue = queue_of(PathRequest::follow(target));
    app.world_mut().entity_mut(unit).insert(queue);
    let found = PathStatus::Found(PathKind::Complete);
    run_until(&mut app, 60, |app| app.world().get(unit) == Some(&found));
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation.x = 200.0;
    assert!(app.world_mut().get_mut::<OrderQueue>(unit).unwrap().reached());
    run(&mut app, 5);
    assert!(app.world().get::<OrderQueue>(unit).unwrap().current().is_some(), "it follows on");
    // Another order ends it.
    app.world_mut().get_mut::<OrderQueue>(unit).unwrap().append(PathRequest::to(Cell::new(3, 3)));
    app.world_mut().get_mut::<OrderQueue>(unit).unwrap().reached();
    run(&mut app, 5);
    let current = app.world().get::<OrderQueue>(unit).unwrap().current();
    assert!(matches!(current, Some((_, Order::Go(request))) if !request.follows));
}

#[test]
fn a_copy_of_a_unit_that_follows_carries_out_its_queue() {
    let mut app = app_with(&field(40, 12));
    let prey = spawn_critter(&mut app, (20, 6));
    let unit = spawn_critter(&mut app, (2, 6));
    let queue = queue_of(PathRequest::follow(prey)).then(PathRequest::to(Cell::new(2, 2)));
    app.world_mut().entity_mut(unit).insert(queue);
    run(&mut app, 20);
    let copy = app.world_mut().entity_mut(unit).clone_and_spawn();
    run_until(&mut app, 1_500, |app| {
        let is_done = |unit| app.world().get::<OrderQueue>(unit).unwrap().is_empty();
        is_done(unit) && is_done(copy)
    });
}

/// Each would take it for itself again, for ever.
#[test]
fn two_that_follow_one_unit_do_not_fight_over_its_cell() {
    let mut app = app_with(&field(20, 12));
    let target = spawn_ghost(&mut app, (10, 6));
    let units = [(2, 6), (17, 5)].map(|cell| spawn_critter(&mut app, cell));
    for unit in units {
        app.world_mut().entity_mut(unit).insert(PathRequest::follow(target));
    }
    run(&mut app, 1_500); // at first each takes its place back
    let before = units.map(|unit| state(&app, unit).cell());
    for _ in 0..200 {
        app.update();
        assert_eq!(units.map(|unit| state(&app, unit).cell()), before);
    }
    let arrived = PathStatus::Arrived(PathKind::Complete);
    assert_eq!(units.map(|unit| status(&app, unit)), [arrived; 2]);
    // One that the game moves goes back.
    let away = Transform::from_xyz(40.0, 20.0, 5.0);
    app.world_mut().entity_mut(units[0]).insert(away);
    run(&mut app, 300);
    let near = state(&app, units[0]).cell().chebyshev(Cell::new(10, 6));
    assert!(near <= 1, "{near} cells away");
    // And both when their target moves.
    order(&mut app, target, (4, 2));
    run(&mut app, 400);
    for unit in units {
        assert!(state(&app, unit).cell().chebyshev(Cell::new(4, 2)) <= 1);
    }
}

#[test]
fn a_group_at_rest_has_no_speed_limit_whatever_is_changed_about_it() {
    let mut app = app_with(&field(60, 20));
    record_groups(&mut app);
    let units: Vec<Entity> = (0..6).map(|y| spawn_critter(&mut app, (3, 3 + y))).collect();
    let order = Group::to(Cell::new(30, 10), units.clone()).persistent();
    let group = app.world_mut().spawn(order.clone()).id();
    run_until(&mut app, 1_000, |app| group_arrivals(app).len() == 1);
    let has_limit =
        |app: &App| units.iter().any(|&unit| app.world().get::<GroupSpeedLimit>(unit).is_some());
    app.world_mut().get_mut::<Group>(group).unwrap().keeps_together = true;
    run(&mut app, 60);
    assert!(!has_limit(&app));
    app.world_mut().entity_mut(group).insert(order.keep_together());
    run(&mut app, 60);
    assert!(!has_limit(&app));
    grid(&mut app).add_profile(Profile::default());
    run(&mut app, 60);
    assert!(!has_limit(&app));
    app.world_mut().get_mut::<Group>(group).unwrap().goal = Cell::new(50, 10).into();
    run(&mut app, 20);
    assert!(has_limit(&app), "it walks");
}

#[test]
fn a_group_inserted_again_when_it_has_arrived_sends_those_that_failed() {
    let mut app = app_with(&field(40, 12));
    record_groups(&mut app);
    app.add_observer(
        |event: On<GroupArrived>,
         groups: Query<&Group>,
         mut commands: Commands,
         mut times: Local<u32>| {
            *times += 1;
            if *times == 1 {
                let again = groups.get(event.entity).unwrap().clone();
                commands.entity(event.entity).insert(again);
            }
        },
    );
    let units: Vec<Entity> = (0..4).map(|y| spawn_critter(&mut app, (3, 3 + y))).collect();
    let group = app.world_mut().spawn(Group::to(Cell::new(30, 6), units.clone())).id();
    run(&mut app, 60);
    let lost = units[1];
    let slot = app.world().get::<GroupSlot>(lost).unwrap().cell;
    let house = app.world_mut().spawn(house(slot.x, slot.y, 1, 1)).id();
    let has_failed = |app: &App| matches!(status(app, lost), PathStatus::Failed(_));
    run_until(&mut app, 1_000, |app| {
        has_failed(app) || app.world().get::<GroupSlot>(lost).is_none()
    });
    run_until(&mut app, 1_000, |app| !group_arrivals(app).is_empty());
    app.world_mut().despawn(house);
    assert!(app.world().get_entity(group).is_ok(), "it was given anew");
    run_until(&mut app, 1_000, |app| app.world().get_entity(group).is_err());
    for unit in units {
        assert!(matches!(status(&app, unit), PathStatus::Arrived(_)), "{:?}", status(&app, unit));
    }
}

/// Only eight cells lie beside it.
#[test]
fn many_that_follow_a_unit_at_rest_come_to_rest_around_it() {
    for (count, most) in [(4, 2), (20, 7), (80, 14)] {
        let mut app = app_with(&field(50, 40));
        let leader = spawn_critter(&mut app, (30, 20));
        let units: Vec<Entity> =
            (0..count).map(|i| spawn_critter(&mut app, (2 + i % 8, 10 + i / 8))).collect();
        for &unit in &units {
            app.world_mut().entity_mut(unit).insert(PathRequest::follow(leader));
        }
        run(&mut app, 4_000); // they have arrived long before, and take their places back
        let cells = |app: &App| -> Vec<Cell> {
            units.iter().map(|&unit| state(app, unit).cell()).collect()
        };
        let before = cells(&app);
        run(&mut app, 200);
        let moved = cells(&app).iter().zip(&before).filter(|(now, before)| now != before).count();
        assert!(moved <= count as usize / 20, "{moved} of {count} units have moved");
        for &unit in &units {
            assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Complete));
        }
        let middle = state(&app, leader).cell();
        assert!(middle.chebyshev(Cell::new(30, 20)) <= 2, "{count} have pushed it to {middle}");
        assert!(before.iter().all(|cell| cell.chebyshev(middle) <= most), "{middle}: {before:?}");
        // They set out again when it does.
        order(&mut app, leader, (45, 5));
        run(&mut app, 1_500);
        let middle = state(&app, leader).cell();
        assert_eq!(middle, Cell::new(45, 5));
        assert!(cells(&app).iter().all(|cell| cell.chebyshev(middle) <= most + 2), "{count} units");
    }
}

/// Those that take up no room make no other stop farther away.
#[test]
fn ghosts_that_follow_leave_the_cells_beside_their_target() {
    let mut app = app_with(&field(50, 40));
    let leader = spawn_critter(&mut app, (30, 20));
    for i in 0..60 {
        let ghost = spawn_critter(&mut app, (2 + i % 8, 10 + i / 8));
        let follow = PathRequest::follow(leader);
        app.world_mut().entity_mut(ghost).insert((Critter::new(8.0).ghost(), follow));
    }
    run(&mut app, 4);
    let unit = spawn_critter(&mut app, (5, 5));
    app.world_mut().entity_mut(unit).insert(PathRequest::follow(leader));
    run_until(&mut app, 600, |app| has_arrived(app, unit));
    assert_eq!(state(&app, unit).cell().chebyshev(state(&app, leader).cell()), 1);
}

#[test]
fn stop_unit_stops_a_unit_whatever_it_is_doing() {
    let mut app = app_with(&field(40, 12));
    record(&mut app);
    let units: Vec<Entity> = (0..5).map(|y| spawn_critter(&mut app, (2, 2 + y))).collect();
    let far = Cell::new(35, 5);
    app.update();
    insert_request(&mut app, units[0], PathRequest::to(far));
    let queue = OrderQueue::new().then(PathRequest::to(far)).then(PathRequest::to(Cell::new(2, 2)));
    app.world_mut().entity_mut(units[1]).insert(queue.clone());
    let group = app.world_mut().spawn(Group::to(far, units[2..4].to_vec()).persistent()).id();
    app.world_mut().entity_mut(units[3]).insert(queue); // its group goes first
    insert_request(&mut app, units[4], PathRequest::to(Vec2::NAN).retry(Retry::forever()));
    run(&mut app, 40);
    for unit in units.clone() {
        app.world_mut().commands().entity(unit).queue(stop_unit);
    }
    run(&mut app, 40);
    let places: Vec<Vec2> = units.iter().map(|&unit| position(&app, unit)).collect();
    run(&mut app, 300);
    for (index, &unit) in units.iter().enumerate() {
        assert_eq!(status(&app, unit), PathStatus::Idle, "{index}");
        assert_eq!(position(&app, unit), places[index], "{index}");
        assert_eq!(cancellations(&app, unit), [CancelReason::Removed], "{index}");
    }
    assert_eq!(app.world().get::<Group>(group).unwrap().members, []);
    assert!(app.world().get::<OrderQueue>(units[1]).unwrap().is_empty());
    // Units take new orders.
    app.world_mut().get_mut::<OrderQueue>(units[3]).unwrap().append(PathRequest::to(far));
    assert_eq!(run_to_end(&mut app, units[3]), Ok(far));
}
