//! What a game does to units from observers, while resources are out of the world, and before the plugin is there.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

#[test]
fn critters_may_come_and_go_while_the_crowds_are_out_of_the_world() {
    let mut app = app_with(&field(12, 5));
    let unit = spawn_critter(&mut app, (3, 2));
    run(&mut app, 2);
    app.world_mut().resource_scope(|world, crowds: Mut<Crowds>| {
        let grids = world.resource::<NavGrids>();
        let found = crowds.entity_at(grids, GridId::default(), Cell::new(3, 2));
        assert_eq!(found, Some(unit));
        world.despawn(unit);
    });
    let next = spawn_critter(&mut app, (3, 2));
    app.world_mut().resource_scope(|world, _: Mut<Crowds>| {
        world.entity_mut(next).insert(SpeedLimit(3.0)).remove::<SpeedLimit>();
        world.spawn((Critter::new(8.0), Transform::from_xyz(80.0, 20.0, 0.0)));
    });
    run(&mut app, 2);
    assert_eq!(app.world().resource::<Crowds>().len(), 2);
    assert_eq!(state(&app, next).cell(), Cell::new(3, 2), "the cell of the one that was despawned");
}

#[test]
fn requests_from_before_the_plugin_are_answered() {
    let mut app = App::new();
    let position = Transform::from_xyz(20.0, 20.0, 0.0);
    let request = PathRequest::to(Cell::new(9, 2));
    let unit = app.world_mut().spawn((Critter::new(8.0), position, request)).id();
    let mut app = with_plugin(app);
    let level = grid_from(&field(12, 5));
    grid(&mut app).insert(GridId::default(), level, frame_of(Topology::Square));
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(9, 2)));
}

#[test]
fn a_group_goes_on_to_the_goal_that_an_observer_of_its_arrival_gives_it() {
    #[derive(Resource, Default)]
    struct Arrivals(u32);
    let mut app = app_with(&field(30, 12));
    let units: Vec<Entity> = (0..3).map(|y| spawn_critter(&mut app, (2, y + 4))).collect();
    app.init_resource::<Arrivals>();
    app.add_observer(
        |event: On<GroupArrived>, mut groups: Query<&mut Group>, mut seen: ResMut<Arrivals>| {
            seen.0 += 1;
            if let (1, Ok(mut group)) = (seen.0, groups.get_mut(event.entity)) {
                group.goal = Target::Cell(Cell::new(25, 5));
            }
        },
    );
    let group = app.world_mut().spawn(Group::to(Cell::new(12, 5), units.clone())).id();
    run_until(&mut app, 2_000, |app| app.world().resource::<Arrivals>().0 == 2);
    run(&mut app, 1);
    assert!(
        units.iter().all(|&unit| state(&app, unit).cell().x >= 23),
        "they are at the second goal"
    );
    assert!(app.world().get_entity(group).is_err(), "it despawns itself after the last");
}

#[test]
fn members_go_to_their_slots_whatever_the_request_of_their_group_approaches() {
    let mut app = app_with(&field(30, 12));
    let units: Vec<Entity> = (0..4).map(|y| spawn_critter(&mut app, (2, y + 4))).collect();
    let request = PathRequest::follow(units[0]).within(5).or(Cell::new(0, 0));
    let group = Group::to(Cell::new(20, 5), units.clone()).request(request).persistent();
    let group = app.world_mut().spawn(group).id();
    run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    let slots = app.world().get::<GroupState>(group).unwrap().slots().to_vec();
    for (unit, slot) in slots {
        assert_eq!(Some(state(&app, unit).cell()), slot);
    }
}

#[test]
fn a_speed_that_is_no_number_is_none_under_any_limit() {
    let mut app = app_with(&field(30, 12));
    let units: Vec<Entity> = (0..3).map(|y| spawn_critter(&mut app, (2, 2 * y + 2))).collect();
    set_speed(&mut app, units[0], f32::NAN);
    app.world_mut().entity_mut(units[0]).insert(SpeedLimit(5.0));
    app.world_mut().entity_mut(units[1]).insert(SpeedLimit(f32::NAN));
    for (y, &unit) in units.iter().enumerate() {
        order(&mut app, unit, (20, 2 * y as i32 + 2));
    }
    run(&mut app, 200);
    let columns: Vec<i32> = units.iter().map(|&unit| state(&app, unit).cell().x).collect();
    assert_eq!(columns, [2, 2, 20]);
}

#[test]
fn units_that_mount_each_other_are_nowhere() {
    let mut app = app_with(&field(12, 5));
    let units = [spawn_ghost(&mut app, (2, 2)), spawn_ghost(&mut app, (4, 2))];
    run(&mut app, 2);
    app.world_mut().entity_mut(units[0]).insert(ChildOf(units[1]));
    app.world_mut().entity_mut(units[1]).insert(ChildOf(units[0]));
    let blocker = (NavBlocker::default(), Transform::default(), ChildOf(units[0]));
    let blocker = app.world_mut().spawn(blocker).id();
    order(&mut app, units[0], (9, 2));
    run(&mut app, 40);
    app.world_mut().despawn(blocker);
    app.world_mut().entity_mut(units[0]).remove::<ChildOf>();
    order(&mut app, units[0], (9, 2));
    assert_eq!(run_to_end(&mut app, units[0]), Ok(Cell::new(9, 2)));
}

#[test]
fn a_critter_without_an_agent_any_more_is_on_the_default_grid() {
    let mut app = app_with(&field(12, 5));
    let other = GridId(1);
    let level = grid_from(&field(12, 5));
    grid(&mut app).insert(other, level, frame_of(Topology::Square));
    let unit = spawn_critter(&mut app, (3, 2));
    app.world_mut().entity_mut(unit).insert(NavAgent::default().on(other));
    run(&mut app, 2);
    let count = |app: &App, id| {
        app.world().resource::<Crowds>().get(id).map_or(0, bevy_tilepath::nav::crowd::Crowd::len)
    };
    assert_eq!(count(&app, other), 1);
    app.world_mut().entity_mut(unit).remove::<NavAgent>();
    run(&mut app, 2);
    assert_eq!((count(&app, GridId::default()), count(&app, other)), (1, 0));
}

/// Pixel art: a game rounds positions in every tick.
#[test]
fn a_unit_whose_transform_the_game_rounds_on_its_cell_goes_on_waiting() {
    let mut app = app_with("############\n............\n############");
    let guard = spawn_critter(&mut app, (6, 1));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    let walker = spawn_critter(&mut app, (2, 1));
    order(&mut app, walker, (10, 1));
    let round = |app: &mut App| {
        let mut transform = app.world_mut().get_mut::<Transform>(walker).unwrap();
        transform.translation.y = transform.translation.y.round() + 0.4;
    };
    for _ in 0..900 {
        round(&mut app);
        app.update();
    }
    assert_eq!(state(&app, walker).cell(), Cell::new(5, 1));
    assert_eq!(status(&app, walker), PathStatus::Stuck(Hindrance::Obstacle));
    app.world_mut().despawn(guard);
    for _ in 0..400 {
        round(&mut app);
        app.update();
    }
    assert_eq!(state(&app, walker).cell(), Cell::new(10, 1));
    assert!(has_arrived(&app, walker));
}

#[test]
fn a_group_with_a_retry_waits_for_its_grid() {
    let mut app = app();
    let units: Vec<Entity> = (0..3).map(|y| spawn_critter(&mut app, (2, y + 4))).collect();
    let request = PathRequest::default().retry(Retry::default());
    let group = Group::to(Cell::new(20, 5), units.clone()).request(request);
    let group = app.world_mut().spawn(group).id();
    run(&mut app, 100);
    assert!(app.world().get::<Group>(group).is_some());
    let level = grid_from(&field(30, 12));
    grid(&mut app).insert(GridId::default(), level, frame_of(Topology::Square));
    run_until(&mut app, 2_000, |app| app.world().get_entity(group).is_err());
    assert!(units.iter().all(|&unit| state(&app, unit).cell().x >= 18));
}
