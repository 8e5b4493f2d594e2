//! What may happen to units on the way to links: other ends, other grids, other sizes, and units that do not move.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::prelude::*;

use super::{
    DOWN, UP, app_with_floors, at, check_places, frame, has_arrived, has_ended, link, link_events,
    link_status, place_of, send, spawn,
};
use crate::common::app::{counters, grid, record, run, run_until, state, status};

#[test]
fn requests_wait_for_the_costs_of_links_and_do_not_fail() {
    for budget in [60, 10_000] {
        let mut app = app_with_floors(2, (60, 60));
        app.world_mut().resource_mut::<FlowFields>().budget = budget;
        link(&mut app, NavLink::new(at(DOWN, 50, 50), at(UP, 5, 5)));
        let unit = spawn(&mut app, Critter::new(100.0), at(DOWN, 1, 1));
        app.update();
        send(&mut app, unit, at(UP, 40, 40));
        run_until(&mut app, 3_000, |app| has_ended(app, unit));
        assert!(has_arrived(&app, unit));
        // Walls that take several ticks to repair.
        for round in 0..6 {
            let goal = if round % 2 == 0 { at(DOWN, 3, 3) } else { at(UP, 40, 40) };
            let wall = CellRect::new(Cell::new(10 + round, 10), 1, 40);
            for id in [DOWN, UP] {
                grid(&mut app).get_mut(id).unwrap().block(wall).unwrap();
            }
            send(&mut app, unit, goal);
            run_until(&mut app, 3_000, |app| has_ended(app, unit));
            assert!(has_arrived(&app, unit), "{:?}", status(&app, unit));
        }
        // A grid that is replaced in the frame of the order.
        let level = NavGrid::new(60, 60, TerrainId::GROUND).unwrap();
        send(&mut app, unit, at(DOWN, 1, 1));
        run_until(&mut app, 3_000, |app| has_ended(app, unit));
        grid(&mut app).insert(UP, level, frame(UP));
        send(&mut app, unit, at(UP, 44, 44));
        run_until(&mut app, 3_000, |app| has_ended(app, unit));
        assert!(has_arrived(&app, unit), "{:?}", status(&app, unit));
    }
}

#[test]
fn a_critter_that_crosses_turns_to_where_it_lands() {
    for critter in [Critter::new(8.0), Critter::new(8.0).ghost()] {
        let mut app = app_with_floors(2, (20, 20));
        link(&mut app, NavLink::new(at(DOWN, 10, 5), at(UP, 10, 5)).cost(60));
        let unit = spawn(&mut app, Critter { turns: true, ..critter }, at(DOWN, 2, 5));
        app.update();
        send(&mut app, unit, at(UP, 10, 15));
        run_until(&mut app, 600, |app| status(app, unit) == PathStatus::Crossing);
        run(&mut app, 60);
        assert_eq!(status(&app, unit), PathStatus::Crossing);
        let facing = app.world().get::<Facing>(unit).unwrap().world;
        let ahead = (app.world().get::<Transform>(unit).unwrap().rotation * Vec3::X).truncate();
        assert!(facing.distance(Vec2::Y) < 0.01 && ahead.distance(facing) < 0.01, "{ahead}");
    }
}

/// Over another grid and back.
#[test]
fn a_goal_without_a_grid_is_on_the_one_where_the_unit_got_the_request() {
    for is_critter in [true, false] {
        let mut app = app_with_floors(2, (30, 10));
        let wall = CellRect::new(Cell::new(15, 0), 1, 10);
        grid(&mut app).get_mut(DOWN).unwrap().block(wall).unwrap();
        link(&mut app, NavLink::new(at(DOWN, 10, 5), at(UP, 10, 5)));
        link(&mut app, NavLink::new(at(UP, 20, 5), at(DOWN, 20, 5)));
        let unit = spawn(&mut app, Critter::new(20.0), at(DOWN, 3, 5));
        if !is_critter {
            app.world_mut().entity_mut(unit).remove::<Critter>();
        }
        run(&mut app, 30);
        app.world_mut().entity_mut(unit).insert(PathRequest::to(Cell::new(25, 5)));
        if is_critter {
            run_until(&mut app, 600, |app| has_ended(app, unit));
            assert!(has_arrived(&app, unit), "{:?}", status(&app, unit));
            assert_eq!(place_of(&app, unit), at(DOWN, 25, 5));
            continue;
        }
        // The game carries it from one end of each link to the other.
        for (floor, x) in [(UP, 10), (DOWN, 20)] {
            let to_link = PathStatus::Found(PathKind::ToLink);
            run_until(&mut app, 90, |app| status(app, unit) == to_link);
            let place = frame(floor).cell_center(Cell::new(x, 5)).extend(3.0);
            let agent = NavAgent::default().on(floor);
            app.world_mut().entity_mut(unit).insert((Transform::from_translation(place), agent));
            run(&mut app, 2);
        }
        run_until(&mut app, 90, |app| status(app, unit) == PathStatus::Found(PathKind::Complete));
        let path = app.world().get::<NavPath>(unit).unwrap();
        assert_eq!((path.start(), path.end()), (Cell::new(20, 5), Cell::new(25, 5)));
        assert_eq!(app.world().get::<RequestState>(unit).unwrap().grid(), DOWN);
    }
}

#[test]
fn where_the_rest_of_a_long_path_is_cut_off_the_unit_goes_over_links() {
    let mut app = app_with_floors(2, (2_400, 40));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 400;
    link(&mut app, NavLink::new(at(DOWN, 2_200, 20), at(UP, 5, 5)));
    link(&mut app, NavLink::new(at(UP, 390, 5), at(DOWN, 2_395, 20)));
    let unit = spawn(&mut app, Critter::new(60.0), at(DOWN, 1, 20));
    run(&mut app, 300); // the links are known
    let goal = PathRequest::to(Cell::new(2_390, 20)).algorithm(Algorithm::Hierarchical);
    app.world_mut().entity_mut(unit).insert(goal);
    let first = PathStatus::Walking(PathKind::FirstSegment);
    run_until(&mut app, 600, |app| status(app, unit) == first);
    let wall = CellRect::new(Cell::new(2_300, 0), 1, 40);
    grid(&mut app).get_mut(DOWN).unwrap().block(wall).unwrap();
    run_until(&mut app, 6_000, |app| has_ended(app, unit));
    assert!(has_arrived(&app, unit), "{:?}", status(&app, unit));
    assert_eq!(place_of(&app, unit), at(DOWN, 2_390, 20));
}

#[test]
fn without_fields_units_walk_on_their_own_grid() {
    let mut app = app_with_floors(2, (40, 20));
    app.world_mut().resource_mut::<FlowFields>().budget = 0;
    link(&mut app, NavLink::new(at(DOWN, 5, 5), at(UP, 5, 5)));
    link(&mut app, NavLink::new(at(DOWN, 35, 5), at(UP, 6, 5)));
    let unit = spawn(&mut app, Critter::new(50.0), at(DOWN, 1, 1));
    app.update();
    let area = CellRect::new(Cell::new(30, 10), 3, 3);
    for request in [
        PathRequest::to(Cell::new(38, 5)),
        PathRequest::to(Cell::new(2, 5)).beside(),
        PathRequest::to(area),
        PathRequest::to_nearest([Cell::new(2, 2), Cell::new(3, 2)]),
    ] {
        app.world_mut().entity_mut(unit).insert(request);
        // Half a second, and the ticks in which requests are read and answered.
        let waits = run_until(&mut app, 300, |app| {
            matches!(status(app, unit), PathStatus::Walking(_)) || has_ended(app, unit)
        });
        assert!(waits <= 34, "{waits} ticks");
        run_until(&mut app, 300, |app| has_ended(app, unit));
        assert!(has_arrived(&app, unit));
    }
}

#[test]
fn units_go_to_where_a_link_begins_now() {
    for critter in [Critter::new(10.0), Critter::new(10.0).ghost()] {
        for is_replaced in [false, true] {
            let mut app = app_with_floors(2, (40, 12));
            let stairs = link(&mut app, NavLink::new(at(DOWN, 35, 5), at(UP, 35, 5)));
            let unit = spawn(&mut app, critter, at(DOWN, 1, 5));
            app.update();
            send(&mut app, unit, at(UP, 10, 5));
            run_until(&mut app, 400, |app| state(app, unit).cell().x > 20);
            let other = NavLink::new(at(DOWN, 3, 3), at(UP, 3, 3));
            if is_replaced {
                app.world_mut().entity_mut(stairs).insert(other);
            } else {
                *app.world_mut().get_mut::<NavLink>(stairs).unwrap() = other;
            }
            run_until(&mut app, 900, |app| has_ended(app, unit));
            assert_eq!(place_of(&app, unit), at(UP, 10, 5));
        }
    }
}

#[test]
fn units_on_one_another_s_landing_cells_exchange_places_by_any_links() {
    // Up by one link and down by another, on the same cells.
    let mut app = app_with_floors(3, (9, 1));
    let (foot, head) = (at(DOWN, 8, 0), at(UP, 0, 0));
    link(&mut app, NavLink::new(foot, head).cost(5).one_way());
    link(&mut app, NavLink::new(head, foot).cost(2).one_way());
    let units = [
        spawn(&mut app, Critter::new(8.0), at(DOWN, 7, 0)),
        spawn(&mut app, Critter::new(8.0), at(UP, 1, 0)),
    ];
    app.update();
    send(&mut app, units[0], at(UP, 4, 0));
    send(&mut app, units[1], at(DOWN, 4, 0));
    run_until(&mut app, 600, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    check_places(&mut app, &units);

    // A ring of three, all occupied.
    let mut app = app_with_floors(3, (9, 9));
    for id in 0..3 {
        let (from, to) = (GridId(id), GridId((id + 1) % 3));
        link(&mut app, NavLink::new((from, Cell::new(4, 4)), (to, Cell::new(4, 4))).one_way());
    }
    let units: Vec<Entity> =
        (0..3).map(|id| spawn(&mut app, Critter::new(8.0), at(GridId(id), 4, 4))).collect();
    app.update();
    for (id, &unit) in units.iter().enumerate() {
        send(&mut app, unit, at(GridId((id as u32 + 1) % 3), 1, 1));
    }
    run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    check_places(&mut app, &units);
}

#[test]
fn units_of_two_sizes_that_meet_get_past_each_other() {
    let mut app = app_with_floors(2, (14, 14));
    let giant = grid(&mut app).add_profile(Profile::default().size(2));
    link(&mut app, NavLink::new(at(DOWN, 8, 8), at(UP, 4, 4)).cost(3));
    let small = spawn(&mut app, Critter::new(8.0), at(DOWN, 8, 8));
    let large = spawn(&mut app, Critter::new(8.0), at(UP, 4, 4));
    app.world_mut().entity_mut(large).insert(NavAgent::new(giant).on(UP));
    app.update();
    send(&mut app, small, at(UP, 11, 11));
    send(&mut app, large, at(DOWN, 2, 2));
    run_until(&mut app, 3_000, |app| [small, large].iter().all(|&unit| has_arrived(app, unit)));
    assert_eq!((place_of(&app, small).0, place_of(&app, large).0), (UP, DOWN));
}

#[test]
fn large_units_get_room_to_land() {
    let mut app = app_with_floors(2, (14, 14));
    let giant = grid(&mut app).add_profile(Profile::default().size(2));
    link(&mut app, NavLink::new(at(DOWN, 8, 8), at(UP, 4, 4)));
    // Short ways along one grid: the cells before and after overlap.
    link(&mut app, NavLink::new(at(UP, 9, 9), at(UP, 9, 8)).cost(0).one_way());
    let idle = spawn(&mut app, Critter::new(8.0), at(UP, 5, 5));
    let large = spawn(&mut app, Critter::new(8.0), at(DOWN, 2, 2));
    app.world_mut().entity_mut(large).insert(NavAgent::new(giant).on(DOWN));
    app.update();
    send(&mut app, large, at(UP, 9, 9));
    run_until(&mut app, 1_500, |app| has_arrived(app, large));
    assert_ne!(place_of(&app, idle), at(UP, 5, 5));
    send(&mut app, large, at(UP, 9, 8));
    run_until(&mut app, 1_500, |app| has_ended(app, large));
    assert_eq!((place_of(&app, large), link_events(&app).len()), (at(UP, 9, 8), 4));
}

#[test]
fn a_unit_that_cannot_move_does_not_enter() {
    for cost in [0, 5] {
        let mut app = app_with_floors(2, (12, 12));
        link(&mut app, NavLink::new(at(DOWN, 5, 5), at(UP, 5, 5)).cost(cost));
        let guard = spawn(&mut app, Critter::new(8.0), at(UP, 5, 5));
        let unit = spawn(&mut app, Critter::new(8.0), at(DOWN, 4, 5));
        app.world_mut().entity_mut(guard).insert(Unpushable);
        app.update();
        send(&mut app, unit, at(UP, 9, 9));
        run(&mut app, 60);
        app.world_mut().entity_mut(unit).insert(Disabled);
        app.world_mut().despawn(guard);
        run(&mut app, 200);
        assert_eq!(place_of(&app, unit), at(DOWN, 5, 5));
        app.world_mut().entity_mut(unit).remove::<Disabled>().insert(SpeedLimit(0.0));
        run(&mut app, 200);
        assert_eq!(place_of(&app, unit), at(DOWN, 5, 5));
        app.world_mut().entity_mut(unit).remove::<SpeedLimit>();
        run_until(&mut app, 400, |app| has_arrived(app, unit));
    }
}

/// Twenty units that were sent over one link, one cell wide.
fn twenty_on_the_way_up() -> (App, Vec<Entity>) {
    let mut app = app_with_floors(2, (40, 20));
    link(&mut app, NavLink::new(at(DOWN, 30, 10), at(UP, 5, 10)));
    let units: Vec<Entity> = (0..20)
        .map(|index| spawn(&mut app, Critter::new(8.0), at(DOWN, 5 + index % 5, 5 + index / 5)))
        .collect();
    app.update();
    for (index, &unit) in units.iter().enumerate() {
        send(&mut app, unit, at(UP, 20 + index as i32 % 5, 5 + index as i32 / 5));
    }
    (app, units)
}

#[test]
fn units_that_stop_on_the_way_do_not_hold_up_the_queue() {
    let (mut app, units) = twenty_on_the_way_up();
    // The first that are near stop for good.
    let mut stopped = Vec::new();
    for _ in 0..3_000 {
        app.update();
        for &unit in &units {
            let (floor, cell) = place_of(&app, unit);
            let gap = cell.chebyshev(Cell::new(30, 10));
            if stopped.len() < 3 && floor == DOWN && gap == 2 && !stopped.contains(&unit) {
                app.world_mut().entity_mut(unit).insert(SpeedLimit(0.0));
                stopped.push(unit);
            }
        }
    }
    assert_eq!(stopped.len(), 3);
    let late: Vec<_> = units.iter().filter(|unit| !stopped.contains(unit)).collect();
    assert!(late.iter().all(|&&unit| has_arrived(&app, unit)));
    for unit in stopped {
        app.world_mut().entity_mut(unit).remove::<SpeedLimit>();
    }
    run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
}

#[test]
fn units_that_queue_before_a_link_say_that_they_are_stuck() {
    let mut app = app_with_floors(2, (30, 9));
    link(&mut app, NavLink::new(at(DOWN, 20, 4), at(UP, 20, 4)));
    let guard = spawn(&mut app, Critter::new(8.0), at(UP, 20, 4));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    let units: Vec<Entity> = (0..12)
        .map(|index| spawn(&mut app, Critter::new(8.0), at(DOWN, 4 + index % 4, 3 + index / 4)))
        .collect();
    app.update();
    units.iter().for_each(|&unit| send(&mut app, unit, at(UP, 5, 4)));
    let mut were_on_link: Vec<Entity> = Vec::new();
    for tick in 0..900 {
        app.update();
        // On the cell of the link after 128 ticks, all others after 512 in the queue.
        let is_stuck = |unit: Entity| status(&app, unit) == PathStatus::Stuck(Hindrance::Link);
        were_on_link.extend(units.iter().filter(|unit| place_of(&app, **unit) == at(DOWN, 20, 4)));
        let early = units.iter().filter(|&unit| is_stuck(*unit) && !were_on_link.contains(unit));
        let early = early.count();
        assert!(tick >= 512 || early == 0, "{early} are stuck after {tick} ticks");
    }
    // Two at a time are called to the link in between.
    let mut stuck = [0; 12];
    for _ in 0..400 {
        app.update();
        for (ticks, &unit) in stuck.iter_mut().zip(&units) {
            *ticks += u32::from(matches!(status(&app, unit), PathStatus::Stuck(Hindrance::Link)));
        }
    }
    let most = stuck.iter().filter(|&&ticks| ticks > 100).count();
    assert!(most >= 8, "of 400 ticks: {stuck:?}");
    app.world_mut().despawn(guard);
    run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
}

#[test]
fn a_unit_on_the_cell_of_a_link_is_stuck_after_128_ticks() {
    let mut app = app_with_floors(2, (30, 9));
    link(&mut app, NavLink::new(at(DOWN, 20, 4), at(UP, 20, 4)));
    let guard = spawn(&mut app, Critter::new(8.0), at(UP, 20, 4));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    let unit = spawn(&mut app, Critter::new(8.0), at(DOWN, 10, 4));
    app.update();
    send(&mut app, unit, at(UP, 5, 4));
    run_until(&mut app, 300, |app| {
        place_of(app, unit) == at(DOWN, 20, 4) && !state(app, unit).is_moving()
    });
    let stuck = PathStatus::Stuck(Hindrance::Link);
    let ticks = run_until(&mut app, 300, |app| status(app, unit) == stuck);
    assert!((126..=130).contains(&ticks), "{ticks}");
}

#[test]
fn a_group_stays_on_its_floor_while_members_take_a_tunnel() {
    let mut app = app_with_floors(2, (40, 12));
    // The lower floor is cut in two; the way leads over the upper one.
    let wall = CellRect::new(Cell::new(20, 0), 1, 12);
    grid(&mut app).get_mut(DOWN).unwrap().block(wall).unwrap();
    link(&mut app, NavLink::new(at(DOWN, 17, 5), at(UP, 17, 5)));
    link(&mut app, NavLink::new(at(UP, 23, 5), at(DOWN, 23, 5)));
    let units: Vec<Entity> =
        (0..5).map(|y| spawn(&mut app, Critter::new(8.0), at(DOWN, 14, 3 + y))).collect();
    app.update();
    let group = Group::to(Cell::new(30, 6), units[..4].iter().copied()).persistent();
    let group = app.world_mut().spawn(group).id();
    run_until(&mut app, 900, |app| place_of(app, units[0]).0 == UP);
    app.world_mut().get_mut::<Group>(group).unwrap().members.push(units[4].into());
    run(&mut app, 1_500);
    for &unit in &units {
        let (floor, cell) = place_of(&app, unit);
        assert!(floor == DOWN && cell.x > 20 && has_arrived(&app, unit), "{floor:?} {cell}");
    }
}

#[test]
fn units_that_the_game_moves_hear_of_shut_links_and_cross_as_other_kinds() {
    let mut app = app_with_floors(2, (20, 12));
    record(&mut app);
    let kind = grid(&mut app).add_profile(Profile::default());
    let stairs = link(&mut app, NavLink::new(at(DOWN, 8, 5), at(UP, 3, 5)));
    link(&mut app, NavLink::new(at(DOWN, 18, 5), at(UP, 13, 5)));
    let place = Transform::from_translation(frame(DOWN).cell_center(Cell::new(1, 5)).extend(0.0));
    let request = PathRequest::to(Cell::new(9, 9)).goal_on(UP).profile(kind);
    let unit = app.world_mut().spawn((place, request)).id();
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Found(PathKind::ToLink));
    app.world_mut().get_mut::<NavLink>(stairs).unwrap().is_open = false;
    let to_other = |app: &App| app.world().get::<NavPath>(unit).unwrap().end() == Cell::new(18, 5);
    run_until(&mut app, 100, to_other);
    let place = Transform::from_translation(frame(UP).cell_center(Cell::new(13, 5)).extend(0.0));
    app.world_mut().entity_mut(unit).insert((place, NavAgent::default().on(UP)));
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Found(PathKind::Complete));
    assert_eq!(app.world().get::<NavPath>(unit).unwrap().start(), Cell::new(13, 5));
}

#[test]
fn ends_may_be_larger_than_their_grids() {
    let mut app = app_with_floors(2, (3, 2));
    let all = CellRect::new(Cell::new(0, 0), u32::MAX, u32::MAX);
    let stairs = link(&mut app, NavLink::new((DOWN, all), (UP, all)).cost(0));
    let idle: Vec<Entity> =
        (0..6).map(|i| spawn(&mut app, Critter::new(8.0), at(UP, i % 3, i / 3))).collect();
    let unit = spawn(&mut app, Critter::new(8.0), at(DOWN, 0, 0));
    app.update();
    assert_eq!(link_status(&app, stairs), LinkStatus::Connected);
    send(&mut app, unit, at(UP, 2, 1));
    run(&mut app, 300);
    assert!(link_events(&app).is_empty(), "there is no room");
    app.world_mut().despawn(idle[5]);
    run(&mut app, 300);
    assert_eq!(place_of(&app, unit).0, UP);
}

#[test]
fn a_link_for_nobody_is_shut() {
    let mut app = app_with_floors(2, (30, 9));
    let ferry = link(&mut app, NavLink::new(at(DOWN, 5, 5), at(UP, 5, 5)).capacity(0));
    link(&mut app, NavLink::new(at(DOWN, 25, 5), at(UP, 25, 5)));
    let unit = spawn(&mut app, Critter::new(30.0), at(DOWN, 1, 5));
    app.update();
    assert_eq!(link_status(&app, ferry), LinkStatus::Shut);
    send(&mut app, unit, at(UP, 1, 5));
    run_until(&mut app, 600, |app| has_arrived(app, unit));
}

#[test]
fn an_order_during_a_crossing_waits_until_it_lands() {
    let mut app = app_with_floors(2, (20, 9));
    record(&mut app);
    link(&mut app, NavLink::new(at(DOWN, 5, 5), at(UP, 5, 5)).cost(20));
    let unit = spawn(&mut app, Critter::new(8.0), at(DOWN, 4, 5));
    app.update();
    send(&mut app, unit, at(UP, 10, 5));
    run_until(&mut app, 300, |app| status(app, unit) == PathStatus::Crossing);
    // To the cell where it lands: it has not arrived before.
    send(&mut app, unit, at(UP, 5, 5));
    run(&mut app, 100);
    assert_eq!(status(&app, unit), PathStatus::Crossing);
    assert_eq!(link_events(&app).len(), 1);
    run_until(&mut app, 300, |app| has_arrived(app, unit));
    assert_eq!(link_events(&app).len(), 2);
    assert_eq!(place_of(&app, unit), at(UP, 5, 5));
}

#[test]
fn a_unit_that_cannot_land_on_the_best_cell_does_not_cross_back() {
    let mut app = app_with_floors(1, (40, 3));
    let (west, east) =
        (CellRect::new(Cell::new(1, 1), 1, 1), CellRect::new(Cell::new(20, 1), 10, 1));
    link(&mut app, NavLink::new(west, east).cost(0));
    let guard = spawn(&mut app, Critter::new(8.0), at(DOWN, 29, 1));
    let unit = spawn(&mut app, Critter::new(8.0), at(DOWN, 1, 1));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    app.update();
    // From the cell beside, it would be as near to cross back and land on the best one.
    send(&mut app, unit, at(DOWN, 35, 1));
    run_until(&mut app, 600, |app| has_arrived(app, unit));
    assert_eq!(link_events(&app).len(), 2);
}

#[test]
fn units_behind_a_wall_are_not_called_before_those_at_the_door() {
    let mut app = app_with_floors(2, (60, 24));
    // A room with a door in the east; the stairs are inside.
    for (x, y, width, height) in
        [(27, 8, 1, 8), (27, 8, 8, 1), (27, 15, 8, 1), (34, 9, 1, 2), (34, 13, 1, 2)]
    {
        let wall = CellRect::new(Cell::new(x, y), width, height);
        grid(&mut app).get_mut(DOWN).unwrap().block(wall).unwrap();
    }
    link(&mut app, NavLink::new(at(DOWN, 28, 11), at(UP, 5, 10)));
    let outside = (0..4).map(|y| at(DOWN, 26, 10 + y));
    let at_the_door = (0..8).map(|i| at(DOWN, 36 + i % 2, 9 + i / 2));
    let places: Vec<_> = outside.chain(at_the_door).collect();
    let units: Vec<Entity> =
        places.into_iter().map(|place| spawn(&mut app, Critter::new(8.0), place)).collect();
    app.update();
    for (index, &unit) in units.iter().enumerate() {
        send(&mut app, unit, at(UP, 20 + index as i32 % 5, 5 + index as i32 / 5));
    }
    // Those outside need more than 150 ticks.
    let crossed = |app: &App| link_events(app).len() >= 6;
    run_until(&mut app, 150, crossed);
    run_until(&mut app, 1_500, |app| units.iter().all(|&unit| has_arrived(app, unit)));
}

/// A link that others can use is none for a unit that cannot stand at its far end: it takes another one, or there is none.
#[test]
fn a_unit_takes_no_link_behind_which_it_cannot_stand() {
    let mut app = app_with_floors(2, (40, 12));
    let large = grid(&mut app).add_profile(Profile::default().size(2));
    // The near stairs end in a niche of one cell.
    for x in [9, 11] {
        grid(&mut app).get_mut(UP).unwrap().block(CellRect::new(Cell::new(x, 0), 1, 12)).unwrap();
    }
    link(&mut app, NavLink::new(at(DOWN, 10, 5), at(UP, 10, 5)));
    let far = link(&mut app, NavLink::new(at(DOWN, 35, 5), at(UP, 35, 5)));
    let unit = spawn(&mut app, Critter::new(20.0), at(DOWN, 2, 5));
    app.world_mut()
        .entity_mut(unit)
        .insert(NavAgent { profile: large, ..NavAgent::default().on(DOWN) });
    app.update();
    let request = PathRequest::to(Cell::new(10, 8)).goal_on(UP).reach(Reach::Nearest);
    app.world_mut().entity_mut(unit).insert(request.clone());
    run_until(&mut app, 900, |app| has_ended(app, unit));
    assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Partial));
    assert_eq!(place_of(&app, unit).0, UP);
    // On its way back a wall makes the landing of the only link that it may use too narrow.
    send(&mut app, unit, at(DOWN, 2, 2));
    run_until(&mut app, 300, |app| status(app, unit) == PathStatus::Walking(PathKind::ToLink));
    let beside = CellRect::new(Cell::new(36, 4), 1, 4);
    grid(&mut app).get_mut(DOWN).unwrap().block(beside).unwrap();
    run_until(&mut app, 900, |app| has_ended(app, unit));
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::NoLinks { from: UP, to: DOWN }));
    assert_eq!(link_status(&app, far), LinkStatus::Connected, "for small units");
}

/// The cells where a link ends lie on both sides of a wall.
#[test]
fn a_unit_lands_only_where_it_can_go_on() {
    let mut app = app_with_floors(2, (30, 9));
    grid(&mut app).get_mut(UP).unwrap().block(CellRect::new(Cell::new(10, 0), 1, 9)).unwrap();
    let landing = CellRect::new(Cell::new(9, 4), 3, 1);
    link(&mut app, NavLink::new(at(DOWN, 10, 4), (UP, landing)).one_way());
    let guard = spawn(&mut app, Critter::new(8.0), at(UP, 11, 4));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    let unit = spawn(&mut app, Critter::new(8.0), at(DOWN, 2, 4));
    app.update();
    send(&mut app, unit, at(UP, 20, 4));
    run(&mut app, 400);
    assert_eq!(place_of(&app, unit).0, DOWN, "it waits");
    app.world_mut().despawn(guard);
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    assert_eq!(place_of(&app, unit), at(UP, 20, 4));
}

#[test]
fn a_unit_that_the_game_takes_across_a_link_within_its_grid_goes_on() {
    let mut app = app_with_floors(1, (60, 9));
    record(&mut app);
    link(&mut app, NavLink::new(at(DOWN, 4, 4), at(DOWN, 50, 4)));
    let put = |cell| Transform::from_translation(frame(DOWN).cell_center(cell).extend(0.0));
    let request = PathRequest::to(Cell::new(55, 4));
    let unit = app.world_mut().spawn((put(Cell::new(1, 4)), request)).id();
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Found(PathKind::ToLink));
    run(&mut app, 20);
    assert_eq!(status(&app, unit), PathStatus::Found(PathKind::ToLink));
    app.world_mut().entity_mut(unit).insert(put(Cell::new(50, 4)));
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Found(PathKind::Complete));
    let path = app.world().get::<NavPath>(unit).unwrap();
    assert_eq!((path.start(), path.end()), (Cell::new(50, 4), Cell::new(55, 4)));
}

#[test]
fn links_work_with_fields_inserted_anew() {
    let mut app = app_with_floors(2, (30, 9));
    link(&mut app, NavLink::new(at(DOWN, 5, 5), at(UP, 5, 5)));
    let unit = spawn(&mut app, Critter::new(30.0), at(DOWN, 1, 5));
    app.update();
    send(&mut app, unit, at(UP, 20, 5));
    run_until(&mut app, 300, |app| has_arrived(app, unit));
    app.insert_resource(FlowFields::default());
    app.update();
    send(&mut app, unit, at(DOWN, 20, 5));
    run_until(&mut app, 300, |app| has_arrived(app, unit));
}

/// A player who digs in every tick: the fields that tell what links cost are never up to date.
#[test]
fn requests_over_links_are_answered_although_there_are_edits_in_every_tick() {
    let mut app = app_with_floors(2, (80, 80));
    app.world_mut().resource_mut::<FlowFields>().budget = 400;
    for y in [10, 40, 70] {
        link(&mut app, NavLink::new(at(DOWN, 75, y), at(UP, 5, y)));
    }
    let early = spawn(&mut app, Critter::new(60.0), at(DOWN, 1, 41));
    let late = spawn(&mut app, Critter::new(60.0), at(DOWN, 1, 39));
    app.update();
    // The fields are complete when the digging begins.
    send(&mut app, early, at(UP, 40, 41));
    run_until(&mut app, 3_000, |app| has_ended(app, early));
    let dig = |app: &mut App, tick: i32| {
        let wall = CellRect::new(Cell::new(20 + tick % 40, 20), 1, 40);
        for id in [DOWN, UP] {
            let mut grids = grid(app);
            let level = grids.get_mut(id).unwrap();
            let is_built = level.blockers(wall.min) > 0;
            if is_built { level.unblock(wall) } else { level.block(wall) }.unwrap();
        }
    };
    let mut ticks = 0;
    while ticks < 40 {
        dig(&mut app, ticks);
        app.update();
        ticks += 1;
    }
    send(&mut app, late, at(UP, 15, 42));
    let mut waits = 0;
    while !has_ended(&app, late) {
        dig(&mut app, ticks);
        app.update();
        ticks += 1;
        let to_link = PathStatus::Walking(PathKind::ToLink);
        if ticks == 40 + waits + 1 && status(&app, late) != to_link {
            waits += 1;
            assert!(waits <= 68, "it plans with old costs after 64 ticks");
        }
        assert!(ticks < 2_000, "{:?} at {:?}", status(&app, late), place_of(&app, late));
    }
    assert!(has_arrived(&app, late), "{:?}", status(&app, late));
}

#[test]
fn cells_near_goals_on_other_floors_are_paid_for() {
    let mut app = app_with_floors(2, (100, 100));
    link(&mut app, NavLink::new(at(DOWN, 50, 50), at(UP, 50, 50)));
    let units: Vec<Entity> =
        (0..60).map(|x| spawn(&mut app, Critter::new(8.0), at(DOWN, 20 + x, 1))).collect();
    app.update();
    send(&mut app, units[0], at(UP, 1, 1));
    run(&mut app, 100);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 4_000;
    for &unit in &units {
        let request = PathRequest::to(Cell::new(50, 50)).goal_on(UP).within(30);
        app.world_mut().entity_mut(unit).insert(request);
    }
    app.update();
    // Each looks at 2,800 cells twice.
    let waiting = counters(&app).waiting;
    assert!((55..60).contains(&waiting), "{waiting} of 60 requests wait");
    run_until(&mut app, 400, |app| counters(app).waiting == 0);
}

/// Three that were called to the link lose their `Critter` before they come to it: they stay in nobody's way.
#[test]
fn units_that_the_game_moves_from_now_on_hold_no_place_in_the_queue() {
    let (mut app, units) = twenty_on_the_way_up();
    let mut taken: Vec<Entity> = Vec::new();
    for _ in 0..3_000 {
        app.update();
        let next = units.iter().find(|unit| {
            let (floor, cell) = match taken.contains(unit) {
                true => return false,
                false => place_of(&app, **unit),
            };
            floor == DOWN && cell.chebyshev(Cell::new(30, 10)) == 2
        });
        if let Some(&unit) = next {
            app.world_mut().entity_mut(unit).remove::<Critter>();
            taken.push(unit);
        }
        if taken.len() == 3 {
            break;
        }
    }
    assert_eq!(taken.len(), 3);
    let others: Vec<_> = units.iter().filter(|unit| !taken.contains(unit)).collect();
    run_until(&mut app, 2_000, |app| others.iter().all(|&&unit| has_arrived(app, unit)));
}
