//! Links that lead back to the grid from which they came, and ways that open and shut while units use links.

use super::*;

/// A wall divides the lower floor; the way around it leads over the upper one.
fn app_with_tunnel() -> (App, Entity) {
    let mut app = app_with_floors(2, (30, 10));
    let wall = CellRect::new(Cell::new(15, 0), 1, 10);
    grid(&mut app).get_mut(DOWN).unwrap().block(wall).unwrap();
    link(&mut app, NavLink::new(at(DOWN, 10, 5), at(UP, 10, 5)));
    link(&mut app, NavLink::new(at(UP, 20, 5), at(DOWN, 20, 5)));
    let unit = spawn(&mut app, Critter::new(20.0), at(DOWN, 3, 5));
    run(&mut app, 30);
    (app, unit)
}

fn run_until_upstairs(app: &mut App, unit: Entity) {
    run_until(app, 600, |app| {
        place_of(app, unit).0 == UP && status(app, unit) != PathStatus::Crossing
    });
}

#[test]
fn a_unit_that_changes_its_profile_in_a_tunnel_goes_to_its_goal() {
    let (mut app, unit) = app_with_tunnel();
    let other = grid(&mut app).add_profile(Profile::default());
    app.world_mut().entity_mut(unit).insert(PathRequest::to(Cell::new(25, 5)));
    run_until_upstairs(&mut app, unit);
    app.world_mut().get_mut::<NavAgent>(unit).unwrap().profile = other;
    run_until(&mut app, 600, |app| has_ended(app, unit));
    assert_eq!(place_of(&app, unit), at(DOWN, 25, 5));
}

#[test]
fn an_order_that_is_interrupted_in_a_tunnel_goes_on_to_its_goal() {
    let goal = Cell::new(25, 5);
    let patrol = Order::patrol([goal, Cell::new(20, 9)], PatrolMode::Round);
    for order in [Order::from(PathRequest::to(goal)), patrol] {
        let (mut app, unit) = app_with_tunnel();
        app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(order));
        run_until_upstairs(&mut app, unit);
        let mut queue = app.world_mut().get_mut::<OrderQueue>(unit).unwrap();
        queue.insert_first(Order::Wait { ticks: 5 });
        run_until(&mut app, 900, |app| place_of(app, unit) == (DOWN, goal));
    }
}

/// The fields that tell what links cost are those of the tick before.
#[test]
fn a_way_that_opens_in_the_tick_of_an_order_is_taken() {
    for reach in [Reach::Exact, Reach::Nearest] {
        let mut app = app_with_floors(2, (30, 10));
        let wall = CellRect::new(Cell::new(10, 0), 1, 10);
        grid(&mut app).get_mut(DOWN).unwrap().block(wall).unwrap();
        link(&mut app, NavLink::new(at(DOWN, 20, 5), at(UP, 5, 5)));
        let unit = spawn(&mut app, Critter::new(20.0), at(DOWN, 2, 5));
        app.update();
        let goal = PathRequest::to(Cell::new(15, 5)).goal_on(UP);
        app.world_mut().entity_mut(unit).insert(goal.clone());
        run_until(&mut app, 300, |app| has_ended(app, unit));
        let shut = PathFailure::NoLinks { from: DOWN, to: UP };
        assert_eq!(status(&app, unit), PathStatus::Failed(shut));
        grid(&mut app).get_mut(DOWN).unwrap().unblock(wall).unwrap();
        app.world_mut().entity_mut(unit).insert(goal.reach(reach));
        run_until(&mut app, 600, |app| has_ended(app, unit));
        assert_eq!(place_of(&app, unit), at(UP, 15, 5), "{:?}", status(&app, unit));
    }
}

#[test]
fn a_goal_that_is_walled_in_is_refused_although_there_are_edits_in_every_tick() {
    let mut app = app_with_floors(2, (80, 80));
    app.world_mut().resource_mut::<FlowFields>().budget = 400;
    link(&mut app, NavLink::new(at(DOWN, 75, 40), at(UP, 5, 40)));
    for wall in [CellRect::new(Cell::new(60, 60), 9, 9), CellRect::new(Cell::new(61, 61), 7, 7)] {
        let mut grids = grid(&mut app);
        let upper = grids.get_mut(UP).unwrap();
        match wall.width {
            9 => upper.block(wall).unwrap(),
            _ => upper.unblock(wall).unwrap(),
        };
    }
    let unit = spawn(&mut app, Critter::new(60.0), at(DOWN, 1, 41));
    app.update();
    send(&mut app, unit, at(UP, 40, 41));
    run_until(&mut app, 3_000, |app| has_ended(app, unit));
    send(&mut app, unit, at(UP, 64, 64));
    for tick in 0..2_000 {
        let wall = CellRect::new(Cell::new(20 + tick % 40, 20), 1, 30);
        for id in [DOWN, UP] {
            let mut grids = grid(&mut app);
            let level = grids.get_mut(id).unwrap();
            let is_built = level.blockers(wall.min) > 0;
            if is_built { level.unblock(wall) } else { level.block(wall) }.unwrap();
        }
        app.update();
        if has_ended(&app, unit) {
            break;
        }
    }
    assert!(matches!(status(&app, unit), PathStatus::Failed(_)), "{:?}", status(&app, unit));
}

/// They would press onto the link from all sides.
#[test]
fn units_that_follow_keep_their_place_in_the_queue_when_their_target_moves() {
    let mut app = app_with_floors(2, (40, 12));
    link(&mut app, NavLink::new(at(DOWN, 20, 5), at(UP, 20, 5)));
    let guard = spawn(&mut app, Critter::new(8.0), at(UP, 20, 5));
    app.world_mut().entity_mut(guard).insert(Unpushable); // no unit gets through
    let target = spawn(&mut app, Critter::new(4.0), at(UP, 5, 5));
    let units: Vec<Entity> = (0..12)
        .map(|i| spawn(&mut app, Critter::new(8.0), at(DOWN, 4 + i % 4, 4 + i / 4)))
        .collect();
    app.update();
    for &unit in &units {
        app.world_mut().entity_mut(unit).insert(PathRequest::follow(target));
    }
    let near = |app: &App| {
        let is_near = |unit: &&Entity| state(app, **unit).cell().chebyshev(Cell::new(20, 5)) <= 2;
        units.iter().filter(is_near).count()
    };
    run(&mut app, 500);
    let before = near(&app);
    send(&mut app, target, at(UP, 15, 9));
    run(&mut app, 300);
    assert!(near(&app) <= before + 1, "{} of 12 at the link, {before} before", near(&app));
    app.world_mut().despawn(guard);
    run_until(&mut app, 3_000, |app| units.iter().all(|&unit| place_of(app, unit).0 == UP));
}

#[test]
fn a_group_whose_leader_cannot_be_reached_any_more_stays_on_its_floor() {
    let mut app = app_with_floors(2, (40, 12));
    let stairs = link(&mut app, NavLink::new(at(DOWN, 35, 5), at(UP, 35, 5)));
    let leader = spawn(&mut app, Critter::new(8.0), at(UP, 5, 5));
    let units: Vec<Entity> =
        (0..4).map(|y| spawn(&mut app, Critter::new(8.0), at(DOWN, 20, 3 + y))).collect();
    app.update();
    let group = app.world_mut().spawn(Group::follow(leader, units.clone())).id();
    run(&mut app, 40);
    app.world_mut().despawn(stairs);
    run(&mut app, 600);
    let is_near_stairs = |unit: &Entity| {
        let (floor, cell) = place_of(&app, *unit);
        floor == DOWN && cell.x > 15
    };
    assert!(units.iter().all(is_near_stairs));
    assert!(app.world().get_entity(group).is_ok(), "it follows as soon as it can");
    link(&mut app, NavLink::new(at(DOWN, 35, 5), at(UP, 35, 5)));
    run_until(&mut app, 3_000, |app| units.iter().all(|&unit| place_of(app, unit).0 == UP));
}

#[test]
fn a_ghost_that_the_game_carries_to_another_floor_is_found_there() {
    let mut app = app_with_floors(2, (40, 12));
    link(&mut app, NavLink::new(at(DOWN, 20, 5), at(UP, 20, 5)));
    let ghost = spawn(&mut app, Critter::new(20.0).ghost(), at(DOWN, 2, 2));
    let unit = spawn(&mut app, Critter::new(20.0), at(DOWN, 2, 8));
    app.update();
    send(&mut app, ghost, at(DOWN, 6, 2));
    run_until(&mut app, 200, |app| has_arrived(app, ghost));
    let place = frame(UP).cell_center(Cell::new(30, 3)).extend(3.0);
    let moved = (NavAgent::default().on(UP), Transform::from_translation(place));
    app.world_mut().entity_mut(ghost).insert(moved);
    app.update();
    app.world_mut().entity_mut(unit).insert(PathRequest::follow(ghost));
    run_until(&mut app, 900, |app| has_ended(app, unit));
    assert_eq!(place_of(&app, unit), at(UP, 30, 3), "{:?}", status(&app, unit));
}
