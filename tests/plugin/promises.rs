//! Guarantees of the documentation of critters and crowds under misuse: a test for each guarantee that was
//! once broken.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::{nav::crowd::Crowd, prelude::*};

use crate::common::{app::*, units::*};
use crate::watch::*;

const GRID: GridId = GridId(0);

fn frame() -> GridFrame {
    GridFrame::square(Vec2::ZERO, Vec2::splat(10.0))
}

fn crowd(app: &App) -> &Crowd {
    app.world().resource::<Crowds>().get(GRID).unwrap()
}

/// Spawns critters of 8 cells per second side by side, in rows of five.
fn squad(app: &mut App, count: i32, (x, y): (i32, i32)) -> Vec<Entity> {
    (0..count).map(|i| spawn_at(app, Critter::new(8.0), (x + i % 5, y + i / 5))).collect()
}

/// Asserts that no two critters have the same unit and that the crowd has no units without a critter.
fn check_units(app: &mut App) {
    let mut critters = app.world_mut().query_filtered::<(Entity, &CritterState), Allow<Disabled>>();
    let world = app.world();
    let crowds: &Crowds = world.resource();
    let mut count = 0;
    for (entity, state) in critters.iter(world) {
        if let Some(unit) = state.unit() {
            assert_eq!(crowds.entity(GRID, unit), Some(entity), "the critter of {unit:?}");
            count += 1;
        }
    }
    let Some(crowd) = crowds.get(GRID) else {
        return assert_eq!(count, 0);
    };
    assert_eq!((crowd.len(), crowd.units().count()), (count, count), "units and critters");
}

#[test]
fn a_group_sent_to_the_edge_of_the_map_arrives() {
    let mut app = app_with(&field(40, 40));
    let units = squad(&mut app, 15, (20, 20));
    app.world_mut().spawn(Group::to(Cell::new(0, 20), units.clone()).persistent());
    Watch::new().run_until_all_arrived(&mut app, &units, 2_000);
}

#[test]
fn walkers_that_grow_with_their_profile_never_overlap() {
    let mut app = app_with_sizes(&field(40, 40));
    let units: Vec<Entity> =
        (0..12).map(|i| spawn_at(&mut app, Critter::new(8.0), (2 + 3 * i, 4 + i % 3))).collect();
    for (i, &unit) in units.iter().enumerate() {
        order(&mut app, unit, (36 - 3 * i as i32, 34));
    }
    let mut watch = Watch::new();
    watch.run(&mut app, 40);
    for sizes in [3, 1, 2, 4, 1] {
        grid(&mut app).set_profiles(vec![Profile::default().size(sizes)]);
        watch.allow_jumps(&units);
        watch.run(&mut app, 60);
        check_units(&mut app);
    }
    watch.run_until_all_arrived(&mut app, &units, 3_000);
}

#[test]
fn units_that_shrink_with_their_profile_hold_no_cell_off_the_map() {
    let mut app = app_with(&field(20, 20));
    grid(&mut app).set_profiles(vec![Profile::default().size(3)]);
    let starts = [(17, 17), (17, 0), (0, 17), (0, 0), (17, 8)];
    let units = starts.map(|at| spawn_at(&mut app, Critter::new(8.0), at));
    let mut watch = Watch::new();
    watch.run(&mut app, 5);
    grid(&mut app).set_profiles(vec![Profile::default()]);
    watch.allow_jumps(&units);
    watch.run(&mut app, 20);
    for (unit, goal) in units.into_iter().zip([(19, 19), (19, 0), (0, 19), (0, 0), (19, 9)]) {
        order(&mut app, unit, goal);
    }
    watch.run_until_all_arrived(&mut app, &units, 1_000);
    let held = level(&app).rect().cells().filter(|&cell| {
        let holder = crowd(&app).holder(level(&app), cell);
        holder.is_some()
    });
    assert_eq!(held.count(), 5);
}

#[test]
fn a_group_that_shrinks_while_walking_arrives() {
    let mut app = app_with(&field(40, 40));
    grid(&mut app).set_profiles(vec![Profile::default().size(2)]);
    let units: Vec<Entity> = (0..9)
        .map(|i| spawn_at(&mut app, Critter::new(8.0), (20 + 3 * (i % 3), 20 + 3 * (i / 3))))
        .collect();
    let mut watch = Watch::new();
    watch.run(&mut app, 2);
    app.world_mut().spawn(Group::to(Cell::new(38, 38), units.clone()).persistent());
    watch.run(&mut app, 60);
    grid(&mut app).set_profiles(vec![Profile::default()]);
    watch.allow_jumps(&units);
    watch.run_until_all_arrived(&mut app, &units, 2_000);
}

#[test]
fn an_unknown_profile_and_another_grid_do_not_mix_up_units() {
    let mut app = app_with(&field(20, 20));
    let units = squad(&mut app, 4, (2, 2));
    run(&mut app, 3);
    insert_request(&mut app, units[0], PathRequest::to(Cell::new(9, 9)).profile(ProfileId(77)));
    run(&mut app, 3);
    grid(&mut app).insert(GRID, grid_from(&field(16, 16)), frame());
    for _ in 0..40 {
        run(&mut app, 1);
        check_units(&mut app);
    }
}

#[test]
fn a_valid_order_after_an_unknown_profile_works() {
    for phase in 0..16 {
        let mut app = app_with(&field(20, 20));
        let units = squad(&mut app, 2, (2, 2));
        run(&mut app, 3 + phase);
        insert_request(&mut app, units[0], PathRequest::to(Cell::new(9, 9)).profile(ProfileId(77)));
        run(&mut app, 3);
        order(&mut app, units[0], (12, 12));
        run(&mut app, 2);
        set_ghost(&mut app, units[0], true);
        run(&mut app, 2);
        assert_eq!(crowd_len(&app), 1, "phase {phase}: a ghost holds no cell");
        set_ghost(&mut app, units[0], false);
        insert_request(&mut app, units[0], PathRequest::to(Cell::new(9, 9)).profile(ProfileId(77)));
        run(&mut app, 40);
        move_to(&mut app, units[0], (15, 3));
        run(&mut app, 2);
        assert_eq!(cell(&app, units[0]), Cell::new(15, 3), "phase {phase}");
        check_units(&mut app);
    }
}

#[test]
fn repeatedly_replaced_grids_do_not_mix_up_units() {
    let mut app = app_with_sizes(&field(20, 20));
    let units = squad(&mut app, 10, (2, 2));
    for round in 0..40_u32 {
        let side = 12 + (round * 7 % 11) as usize;
        if round % 5 == 3 {
            grid(&mut app).remove(GRID);
            run(&mut app, round % 3);
        }
        grid(&mut app).insert(GRID, grid_from(&field(side, side)), frame());
        for (i, &unit) in units.iter().enumerate() {
            let goal = Cell::new((i as i32 * 3 + round as i32) % 20, (i as i32 * 5) % 20);
            let profile = ProfileId((i as u32 + round) as u8 % 5);
            let request = PathRequest::to(goal).profile(profile).reach(Reach::Nearest);
            insert_request(&mut app, unit, request);
        }
        for _ in 0..1 + round % 23 {
            run(&mut app, 1);
            check_units(&mut app);
        }
    }
}

#[test]
fn an_order_and_a_transform_off_the_map_in_one_tick_leave_no_stale_unit() {
    let mut app = app_with(&field(20, 20));
    let unit = spawn_at(&mut app, Critter::new(8.0), (5, 5));
    run(&mut app, 3);
    move_to(&mut app, unit, (200, 5));
    order(&mut app, unit, (9, 9));
    run(&mut app, 1);
    let position = crowd(&app).position(level(&app), state(&app, unit).unit().unwrap()).unwrap();
    assert_eq!(cell(&app, unit), position.0, "the state of the critter and the crowd agree");
    Watch::new().run_until_all_arrived(&mut app, &[unit], 400);
    order(&mut app, unit, (1, 1));
    Watch::new().run_until_all_arrived(&mut app, &[unit], 400);
}

#[test]
fn the_speed_limit_of_a_group_ends_with_the_group() {
    let mut app = app_with_sizes(&field(12, 12));
    let slow = spawn_at(&mut app, Critter::new(2.0), (1, 1));
    let fast = spawn_at(&mut app, Critter::new(8.0), (3, 1));
    // One critter has no room on this map, the other no valid position.
    let huge = app.world_mut().spawn((Critter::new(9.0), NavAgent::new(ProfileId(9)))).id();
    let nowhere =
        app.world_mut().spawn((Critter::new(9.0), Transform::from_xyz(f32::NAN, 0.0, 0.0))).id();
    run(&mut app, 2);
    let members =
        [slow.into(), fast.into(), GroupMember::new(huge).profile(ProfileId(9)), nowhere.into()];
    let group = app
        .world_mut()
        .spawn(Group::to(Cell::new(8, 8), members).persistent().keep_together())
        .id();
    run(&mut app, 5);
    assert!(app.world().get::<GroupSpeedLimit>(fast).is_some());
    app.world_mut().entity_mut(group).despawn();
    run(&mut app, 2);
    for unit in [slow, fast, huge, nowhere] {
        assert!(app.world().get::<GroupSpeedLimit>(unit).is_none());
    }
}

#[test]
fn changes_to_a_disabled_critter_take_effect_when_it_is_enabled() {
    let disable = |app: &mut App, unit: Entity| {
        app.world_mut().entity_mut(unit).insert(Disabled);
    };
    let enable = |app: &mut App, unit: Entity| {
        app.world_mut().entity_mut(unit).remove::<Disabled>();
    };
    let mut app = app_with(&field(24, 24));
    let units = squad(&mut app, 5, (2, 2));
    let [ordered, walking, ghost, back, removed] = units[..] else { unreachable!() };
    order(&mut app, walking, (9, 9));
    order(&mut app, back, (20, 3));
    order(&mut app, removed, (20, 9));
    run(&mut app, 10);
    units.iter().for_each(|&unit| disable(&mut app, unit));
    order(&mut app, ordered, (20, 20));
    order(&mut app, back, (2, 20));
    app.world_mut().entity_mut(removed).remove::<PathRequest>();
    app.world_mut().get_mut::<Critter>(ghost).unwrap().collides = false;
    run(&mut app, 20); // steps under way end
    let walks = |app: &App| units.iter().map(|&unit| *state(app, unit).walk()).collect::<Vec<_>>();
    let before = walks(&app);
    assert!(before.iter().all(|walk| !walk.is_between_cells()));
    run(&mut app, 180);
    assert_eq!(walks(&app), before, "nobody moves while disabled");
    units.iter().for_each(|&unit| enable(&mut app, unit));
    run(&mut app, 2);
    assert_eq!(crowd_len(&app), 4, "the ghost holds no cell");
    assert_eq!(status(&app, removed), PathStatus::Idle);
    Watch::new().run_until_all_arrived(&mut app, &[ordered, walking, back], 1_000);
    assert_eq!(cell(&app, back), Cell::new(2, 20));
}

#[test]
fn a_disabled_critter_stands_still_and_holds_its_cells() {
    let mut app = app_with(&field(24, 24));
    let unit = spawn_at(&mut app, Critter::new(8.0), (2, 2));
    order(&mut app, unit, (20, 2));
    run(&mut app, 20);
    app.world_mut().entity_mut(unit).insert(Disabled);
    run(&mut app, 20);
    let here = cell(&app, unit);
    run(&mut app, 100);
    assert_eq!(cell(&app, unit), here);
    let holder = crowd(&app).holder(level(&app), here);
    assert_eq!(holder, state(&app, unit).unit());
    app.world_mut().entity_mut(unit).remove::<Disabled>();
    Watch::new().run_until_all_arrived(&mut app, &[unit], 400);
}

#[test]
fn a_grid_replaced_while_a_critter_is_disabled_does_not_mix_up_units() {
    let mut app = app_with(&field(24, 24));
    let units = squad(&mut app, 3, (2, 2));
    run(&mut app, 3);
    app.world_mut().entity_mut(units[0]).insert(Disabled);
    run(&mut app, 3);
    grid(&mut app).insert(GRID, grid_from(&field(16, 16)), frame());
    run(&mut app, 3);
    check_units(&mut app);
    app.world_mut().entity_mut(units[0]).remove::<Disabled>();
    run(&mut app, 20);
    check_units(&mut app);
    assert_eq!(crowd_len(&app), 3);
}

#[test]
fn cloning_a_unit_does_not_affect_the_original() {
    let mut app = app_with(&field(40, 12));
    record(&mut app);
    let prey = spawn_at(&mut app, Critter::new(4.0), (6, 6));
    let hunter = spawn_at(&mut app, Critter::new(6.0), (1, 6));
    insert_request(&mut app, hunter, PathRequest::follow(prey));
    order(&mut app, prey, (36, 6));
    run(&mut app, 30);
    let clone = app.world_mut().entity_mut(hunter).clone_and_spawn();
    run(&mut app, 3);
    check_units(&mut app);
    assert_ne!(cell(&app, hunter), cell(&app, clone));
    let near = |app: &App, unit| chebyshev_distance(cell(app, unit), cell(app, prey)) <= 1;
    let mut watch = Watch::new();
    watch.run_until(&mut app, 2_000, |app| near(app, hunter) && has_arrived(app, prey));
    watch.run_until(&mut app, 2_000, |app| near(app, clone));
    // Both continue to follow.
    order(&mut app, prey, (1, 1));
    watch.run_until(&mut app, 2_000, |app| has_arrived(app, prey));
    watch.run_until(&mut app, 2_000, |app| near(app, hunter) && near(app, clone));
}

#[test]
fn a_clone_of_a_member_is_no_member() {
    let mut app = app_with(&field(40, 12));
    let units = squad(&mut app, 6, (2, 2));
    let group = app
        .world_mut()
        .spawn(Group::to(Cell::new(30, 6), units.clone()).persistent().keep_together())
        .id();
    run(&mut app, 10);
    let clone = app.world_mut().entity_mut(units[0]).clone_and_spawn();
    run(&mut app, 2);
    assert!(app.world().get::<GroupSlot>(clone).is_none());
    app.world_mut().entity_mut(group).despawn();
    run(&mut app, 2);
    assert!(app.world().get::<GroupSpeedLimit>(clone).is_none());
    Watch::new().run_until_all_arrived(&mut app, &units, 1_000);
}

#[test]
fn a_blocker_removed_from_its_parent_blocks_its_new_cells() {
    let mut app = app_with(&field(20, 20));
    let parent = app.world_mut().spawn(Transform::from_xyz(50.0, 0.0, 0.0)).id();
    let house = app
        .world_mut()
        .spawn((NavBlocker::default(), Transform::from_xyz(20.0, 30.0, 0.0), ChildOf(parent)))
        .id();
    run(&mut app, 2);
    assert_eq!(level(&app).blockers(Cell::new(7, 3)), 1);
    app.world_mut().entity_mut(house).remove::<ChildOf>();
    run(&mut app, 2);
    assert_eq!(level(&app).blockers(Cell::new(7, 3)), 0);
    assert_eq!(level(&app).blockers(Cell::new(2, 3)), 1);
}

#[test]
fn a_saved_hold_continues_for_the_rest_of_its_time() {
    let mut app = app_with(&field(10, 10));
    run(&mut app, 500);
    let queue =
        OrderQueue::new().then(Order::Wait { ticks: 100 }).then(PathRequest::to(Cell::new(5, 5)));
    let unit = spawn_at(&mut app, Critter::new(8.0), (1, 1));
    app.world_mut().entity_mut(unit).insert(queue);
    run(&mut app, 60);
    let saved = app.world().get::<OrderQueue>(unit).unwrap().clone();
    for before in [0, 300, 2_000] {
        let mut app = app_with(&field(10, 10));
        run(&mut app, before);
        let unit = spawn_at(&mut app, Critter::new(8.0), (1, 1));
        app.world_mut().entity_mut(unit).insert(saved.clone());
        run(&mut app, 30);
        assert_eq!(status(&app, unit), PathStatus::Idle, "it still holds");
        run(&mut app, 20);
        assert_ne!(status(&app, unit), PathStatus::Idle, "it continues");
    }
}
