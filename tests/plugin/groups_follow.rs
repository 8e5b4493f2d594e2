//! Groups that follow an entity: a leader, a target that is led over links, and what happens when it is gone.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

fn gap(app: &App, a: Entity, b: Entity) -> u32 {
    state(app, a).cell().chebyshev(state(app, b).cell())
}

/// A field, a leader, units, and the group in which they follow it.
fn escort(count: i32) -> (App, Entity, Vec<Entity>, Entity) {
    let mut app = app_with(&field(60, 30));
    record(&mut app);
    record_groups(&mut app);
    let leader = spawn_critter(&mut app, (10, 10));
    set_speed(&mut app, leader, 6.0);
    let units = (0..count).map(|at| spawn_critter(&mut app, (2 + at / 6, 2 + at % 6))).collect();
    let group = Group::follow(leader, Vec::clone(&units)).request(PathRequest::default());
    let group = app.world_mut().spawn(group).id();
    (app, leader, units, group)
}

#[test]
fn a_group_follows_a_leader_and_leaves_it_its_cell() {
    for count in [1, 3, 20] {
        let (mut app, leader, units, group) = escort(count);
        let all_rest = |app: &App| units.iter().all(|&unit| has_arrived(app, unit));
        run_until(&mut app, 600, |app| !group_arrivals(app).is_empty() && all_rest(app));
        let moved = state(&app, leader).cell().chebyshev(Cell::new(10, 10));
        assert!(moved <= 5, "it has no orders, so those that pass push it aside: {moved} cells");
        let reach = 2 + (count as u32).isqrt();
        for goal in [(50, 10), (50, 25), (8, 25), (9, 12)] {
            order(&mut app, leader, goal);
            run_until(&mut app, 1_500, |app| has_arrived(app, leader));
            run_until(&mut app, 400, |app| {
                all_rest(app) && units.iter().all(|&unit| gap(app, unit, leader) <= reach)
            });
            run(&mut app, 100);
            let moved = state(&app, leader).cell().chebyshev(goal.into());
            assert!(moved <= 3, "{count} units push it aside by {moved} cells");
            assert!(all_rest(&app), "they come to rest for good");
        }
        assert_eq!(group_arrivals(&app).last(), Some(&(count as u32, 0)));
        assert!(app.world().get::<Group>(group).is_some(), "it follows on");
        let orders = app.world().resource::<PathCounters>().requests;
        run(&mut app, 300);
        assert_eq!(app.world().resource::<PathCounters>().requests, orders, "nothing to do");
        // It is gone: so the group is done.
        let before = group_arrivals(&app).len();
        app.world_mut().despawn(leader);
        run(&mut app, 3);
        assert_eq!(group_arrivals(&app).len(), before + 1);
        assert!(app.world().get_entity(group).is_err());
        assert!(units.iter().all(|&unit| app.world().get::<GroupSlot>(unit).is_none()));
    }
}

#[test]
fn a_group_whose_leader_is_gone_on_the_way_ends_where_it_was_last() {
    let (mut app, leader, units, group) = escort(6);
    order(&mut app, leader, (50, 25));
    run(&mut app, 200);
    app.world_mut().despawn(leader);
    run_until(&mut app, 1_000, |app| app.world().get_entity(group).is_err());
    assert_eq!(group_arrivals(&app).last(), Some(&(6, 0)));
    assert!(units.iter().all(|&unit| has_arrived(&app, unit)));
}

#[test]
fn a_group_that_follows_one_of_its_members_or_a_building_comes_to_rest() {
    let (mut app, _, units, group) = escort(8);
    app.world_mut().get_mut::<Group>(group).unwrap().goal = Target::Entity(units[3]);
    run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    run(&mut app, 200);
    assert!(units.iter().all(|&unit| has_arrived(&app, unit)), "for good");
    let house = NavBlocker::at(CellRect::new(Cell::new(30, 15), 3, 3));
    let house = app.world_mut().spawn(house).id();
    app.world_mut().get_mut::<Group>(group).unwrap().goal = Target::Entity(house);
    run(&mut app, 2);
    run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    let is_there = |&unit: &Entity| state(&app, unit).cell().chebyshev(Cell::new(31, 16)) <= 5;
    assert!(units.iter().all(is_there));
}

#[test]
fn a_group_follows_over_stairs() {
    let mut app = app_with(&field(30, 12));
    record(&mut app);
    record_groups(&mut app);
    let upper = GridFrame::square(Vec2::new(0.0, 1_000.0), Vec2::splat(10.0));
    grid(&mut app).insert(GridId(1), grid_from(&field(30, 12)), upper);
    let ends = [(GridId(0), Cell::new(20, 6)), (GridId(1), Cell::new(20, 6))];
    app.world_mut().spawn(NavLink::new(ends[0], ends[1]).cost(10));
    let leader = spawn_critter(&mut app, (10, 6));
    let units: Vec<Entity> = (0..4).map(|y| spawn_critter(&mut app, (3, 4 + y))).collect();
    app.world_mut().spawn(Group::follow(leader, units.clone()));
    run(&mut app, 100);
    let up = PathRequest::to(Cell::new(5, 5)).goal_on(GridId(1));
    app.world_mut().entity_mut(leader).insert(up);
    let floor = |app: &App, unit: Entity| app.world().get::<NavAgent>(unit).unwrap().grid;
    run_until(&mut app, 2_000, |app| {
        let is_near = |&unit: &Entity| floor(app, unit) == GridId(1) && gap(app, unit, leader) <= 4;
        has_arrived(app, leader) && units.iter().all(is_near)
    });
    assert!(state(&app, leader).cell().chebyshev(Cell::new(5, 5)) <= 2);
    assert!(units.iter().all(|&unit| refusals(&app, unit).is_empty()), "also while it crosses");
}

#[test]
fn a_group_follows_its_own_large_member_and_stays_where_it_stands() {
    let mut app = app_with_sizes(&field(40, 30));
    let tank = spawn_unit(&mut app, BIG, (10, 10));
    app.world_mut().entity_mut(tank).insert(NavAgent::new(BIG));
    let units: Vec<Entity> = (0..4).map(|y| spawn_critter(&mut app, (5, 9 + y))).collect();
    run(&mut app, 2);
    let members = units.iter().chain([&tank]).copied();
    app.world_mut().spawn(Group::follow(tank, members));
    run(&mut app, 600);
    let moved = state(&app, tank).cell().chebyshev(Cell::new(10, 10));
    assert!(moved <= 2, "{moved} cells");
    assert!(units.iter().all(|&unit| has_arrived(&app, unit) && gap(&app, unit, tank) <= 5));
}

#[test]
fn a_leader_that_is_nowhere_for_a_while_is_followed_again() {
    let (mut app, leader, units, group) = escort(6);
    run_until(&mut app, 600, |app| !group_arrivals(app).is_empty());
    let taken = app.world_mut().entity_mut(leader).take::<Transform>().unwrap();
    run(&mut app, 5);
    app.world_mut().entity_mut(leader).insert(taken);
    run(&mut app, 2);
    app.world_mut().get_mut::<Transform>(leader).unwrap().translation.x = f32::NAN;
    run(&mut app, 5);
    app.world_mut().get_mut::<Transform>(leader).unwrap().translation =
        Vec3::new(400.0, 200.0, 5.0);
    run_until(&mut app, 1_000, |app| units.iter().all(|&unit| gap(app, unit, leader) <= 4));
    assert!(app.world().get::<Group>(group).unwrap().request.follows);
}

/// A leader that comes to rest on any cell of a slot is given room, not only on its anchor.
#[test]
fn a_leader_on_the_cells_of_a_large_slot_is_given_room() {
    for step in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1)] {
        let mut app = app_with_sizes(&field(40, 30));
        let leader = spawn_critter(&mut app, (20, 15));
        let tanks: Vec<Entity> = (0..6)
            .map(|i| spawn_unit(&mut app, ProfileId(1), (3 + 3 * (i % 2), 5 + 3 * (i / 2))))
            .collect();
        for &tank in &tanks {
            app.world_mut().entity_mut(tank).insert(NavAgent::new(ProfileId(1)));
        }
        run(&mut app, 2);
        let group = app.world_mut().spawn(Group::follow(leader, tanks.clone())).id();
        run(&mut app, 600);
        order(&mut app, leader, (20 + step.0, 15 + step.1));
        run(&mut app, 600);
        let at = state(&app, leader).cell();
        let slots = app.world().get::<GroupState>(group).unwrap().slots().to_vec();
        for (tank, slot) in slots {
            let slot = CellRect::new(slot.unwrap(), 2, 2);
            assert!(
                !slot.contains(at),
                "{step:?}: the leader stands on {at}, and a slot is {slot:?}"
            );
            assert!(has_arrived(&app, tank));
        }
    }
}

/// Members near the leader are sent on with it, also if the first member is far away and cannot come.
#[test]
fn a_member_that_is_left_behind_does_not_hold_up_the_others() {
    let mut app = app_with(&field(120, 30));
    let leader = spawn_critter(&mut app, (90, 15));
    let units: Vec<Entity> =
        [(3, 3), (88, 13), (88, 15), (88, 17)].map(|cell| spawn_critter(&mut app, cell)).into();
    for wall in [CellRect::new(Cell::new(1, 6), 6, 1), CellRect::new(Cell::new(6, 1), 1, 6)] {
        block(&mut app, wall); // around the first of them
    }
    run(&mut app, 2);
    app.world_mut().spawn(Group::follow(leader, units.clone()));
    run(&mut app, 200);
    order(&mut app, leader, (100, 15));
    run(&mut app, 600);
    assert!(has_arrived(&app, leader));
    for &unit in &units[1..] {
        assert!(gap(&app, unit, leader) <= 2, "{} cells", gap(&app, unit, leader));
    }
}
