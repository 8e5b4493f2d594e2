//! Levels that are exchanged, copies, and groups whose members come and go.

use super::*;

/// What is on each cell of a grid.
fn picture(app: &App, id: GridId) -> Vec<String> {
    let level = app.world().resource::<NavGrids>().get(id).unwrap();
    let edges = |cell| Direction::ALL.map(|way| level.edge(cell, way));
    let cells = level.rect().cells();
    cells
        .map(|cell| {
            let reach = level.can_reach(SMALL, Cell::new(0, 0), cell);
            let cost = level.cost(SMALL, cell);
            format!("{cell}: {} {cost} {reach} {:?}", level.blockers(cell), edges(cell))
        })
        .collect()
}

const HOUSE: CellRect = CellRect::new(Cell::new(8, 3), 2, 4);

/// The two floors, without what entities place there.
fn two_floors() -> [NavGrid; 2] {
    let mut ground = grid_from(&field(30, 20));
    ground.block(CellRect::new(Cell::new(4, 4), 3, 1)).unwrap();
    let mut upper = grid_from(&field(20, 26));
    upper.set_edge(Cell::new(7, 7), Direction::North, EdgeId::WALL).unwrap();
    [ground, upper]
}

fn frames() -> [GridFrame; 2] {
    let at = |y| GridFrame::square(Vec2::new(0.0, y), Vec2::splat(10.0));
    [at(0.0), at(1_000.0)]
}

fn spawn_things(app: &mut App) {
    for id in [DOWN, UP] {
        app.world_mut().spawn(NavBlocker::at(HOUSE).on(id));
        let fence = (0..6).map(|x| (Cell::new(x, 12), Direction::North, EdgeId::WALL));
        app.world_mut().spawn(fence.collect::<NavEdges>().on(id));
    }
    let ends = [(DOWN, Cell::new(15, 5)), (UP, Cell::new(5, 15))];
    app.world_mut().spawn(NavLink::new(ends[0], ends[1]).cost(9));
}

/// The grids of two floors are exchanged, again and again, while units are on the stairs between them: each unit is on one floor,
/// what entities have placed is where it is in a new world, and in the end all get to where they are sent.
#[test]
fn floors_that_are_exchanged_while_units_are_on_the_stairs() {
    for first in [0, 37, 53, 71, 90] {
        let mut app = app();
        let [ground, upper] = two_floors();
        grid(&mut app).insert(DOWN, ground, frames()[0]);
        grid(&mut app).insert(UP, upper, frames()[1]);
        spawn_things(&mut app);
        let units: Vec<Entity> = (0..12)
            .map(|at| {
                let id = GridId(at % 2);
                let cell = Cell::new(1 + at as i32, 1 + (at as i32 % 3));
                let place = frames()[id.0 as usize].cell_center(cell).extend(0.0);
                let place = Transform::from_translation(place);
                app.world_mut().spawn((Critter::new(8.0), NavAgent::default().on(id), place)).id()
            })
            .collect();
        run(&mut app, 2);
        for (at, &unit) in units.iter().enumerate() {
            let to = GridId(1 - at as u32 % 2);
            let request = PathRequest::to(Cell::new(12 + at as i32 % 6, 16)).goal_on(to);
            insert_request(&mut app, unit, request.reach(Reach::Nearest));
        }
        let mut swaps = 0;
        for tick in 0..400 {
            if tick >= first && (tick - first) % 61 < 2 && swaps < 9 {
                let mut grids = grid(&mut app);
                let (a, b) = (grids.remove(DOWN).unwrap(), grids.remove(UP).unwrap());
                grids.insert(DOWN, b, frames()[0]);
                grids.insert(UP, a, frames()[1]);
                swaps += 1;
            }
            app.update();
            let crowds: &Crowds = app.world().resource();
            let mut count = 0;
            for &unit in &units {
                if let Some(id) = state(&app, unit).unit() {
                    let on = [DOWN, UP].map(|floor| crowds.entity(floor, id) == Some(unit));
                    assert_eq!(on.iter().filter(|&&is_on| is_on).count(), 1, "tick {tick}");
                    count += 1;
                }
            }
            assert_eq!(crowds.len(), count, "tick {tick}: a unit without a critter");
        }
        assert_eq!(swaps, 9);
        // A new world with the same floors: they were exchanged an odd number of times.
        let mut fresh = self::app();
        let [ground, upper] = two_floors();
        grid(&mut fresh).insert(DOWN, upper, frames()[0]);
        grid(&mut fresh).insert(UP, ground, frames()[1]);
        spawn_things(&mut fresh);
        run(&mut fresh, 2);
        for id in [DOWN, UP] {
            assert_eq!(picture(&app, id), picture(&fresh, id), "{id:?}");
        }
        for (at, &unit) in units.iter().enumerate() {
            let to = PathRequest::to(Cell::new(11 + at as i32 % 6, 15 + at as i32 / 6)).goal_on(UP);
            insert_request(&mut app, unit, to);
        }
        for _ in 0..6_000 {
            if units.iter().all(|&unit| has_arrived(&app, unit)) {
                break;
            }
            app.update();
        }
        for &unit in &units {
            let floor = app.world().get::<NavAgent>(unit).unwrap().grid;
            let status = status(&app, unit);
            assert_eq!(
                (status, floor),
                (PathStatus::Arrived(PathKind::Complete), UP),
                "from {first}"
            );
        }
    }
}

/// Copies of everything: what a copy places counts on its own, and stays when the original goes.
#[test]
fn copies_of_buildings_fences_links_and_groups_count_on_their_own() {
    let mut app = floors();
    record_groups(&mut app);
    let copy = |app: &mut App, of: Entity| app.world_mut().entity_mut(of).clone_and_spawn();
    let house = app.world_mut().spawn(NavBlocker::at(HOUSE)).id();
    let fence = app
        .world_mut()
        .spawn(NavEdges::between(Cell::new(2, 2), Direction::North, EdgeId::WALL))
        .id();
    let mut links = app.world_mut().query_filtered::<Entity, With<NavLink>>();
    let link = links.single(app.world()).unwrap();
    run(&mut app, 2);
    let copies = [house, fence, link].map(|of| copy(&mut app, of));
    run(&mut app, 2);
    let look = |app: &App| {
        let level = level(app);
        (level.blockers(HOUSE.min), level.edge(Cell::new(2, 2), Direction::North))
    };
    assert_eq!(look(&app), (2, EdgeId::WALL));
    assert_eq!(app.world().get::<LinkStatus>(copies[2]), Some(&LinkStatus::Connected));
    [house, fence, link].into_iter().for_each(|of| assert!(app.world_mut().despawn(of)));
    run(&mut app, 2);
    assert_eq!(look(&app), (1, EdgeId::WALL));
    let unit = spawn_critter(&mut app, (20, 2));
    run(&mut app, 2);
    insert_request(&mut app, unit, PathRequest::to(Cell::new(9, 9)).goal_on(UP));
    run_until(&mut app, 1_000, |app| has_arrived(app, unit));
    copies.into_iter().for_each(|of| assert!(app.world_mut().despawn(of)));
    run(&mut app, 2);
    assert_eq!(look(&app), (0, EdgeId::NONE));
    // A copy of a group takes over its members. Both end.
    let units: Vec<Entity> = (0..6).map(|y| spawn_critter(&mut app, (2, 3 + y))).collect();
    run(&mut app, 2);
    let group = app.world_mut().spawn(Group::to(Cell::new(20, 6), units.clone())).id();
    run(&mut app, 20);
    let second = copy(&mut app, group);
    run_until(&mut app, 2_000, |app| {
        [group, second].iter().all(|&group| app.world().get_entity(group).is_err())
    });
    assert!(units.iter().all(|&unit| has_arrived(&app, unit)));
    assert!(units.iter().all(|&unit| arrivals(&app, unit) == 1), "each arrives once");
    assert!(units.iter().all(|&unit| app.world().get::<GroupSlot>(unit).is_none()));
}

/// Two groups, each of which follows a member of the other: they meet, and come to rest.
#[test]
fn two_groups_that_follow_a_member_of_each_other_come_to_rest() {
    for count in [1, 4, 9] {
        let mut app = app_with(&field(60, 40));
        let squad = |app: &mut App, x: i32| -> Vec<Entity> {
            (0..count).map(|i| spawn_critter(app, (x + i % 3, 10 + i / 3))).collect()
        };
        let (a, b) = (squad(&mut app, 5), squad(&mut app, 45));
        let mut watch = Watch::new();
        watch.run(&mut app, 2);
        app.world_mut().spawn(Group::follow(b[0], a.clone()));
        app.world_mut().spawn(Group::follow(a[0], b.clone()));
        watch.run(&mut app, 4_000);
        let cells = |app: &App| -> Vec<Cell> {
            a.iter().chain(&b).map(|&unit| state(app, unit).cell()).collect()
        };
        let (before, requests) = (cells(&app), counters(&app).requests);
        watch.run(&mut app, 500);
        assert_eq!(cells(&app), before, "{count} units each: they still walk");
        assert_eq!(counters(&app).requests, requests, "{count} units each: nothing to do");
    }
}

/// Groups of mixed sizes whose members are despawned, disabled, enabled, stopped, copied and sent elsewhere in the same ticks as
/// the groups change: a slot belongs to a group that lists it, and afterwards every group ends and every unit comes to rest.
#[test]
fn groups_whose_members_come_and_go_in_the_same_ticks_all_end() {
    for seed in 0..5 {
        let mut random = Random(700 + seed);
        let topology = any_topology(&mut random);
        let mut app = app_with_sizes_on(&field(60, 56), topology);
        record(&mut app);
        let mut units: Vec<Entity> = (0..36)
            .map(|at| {
                let profile = [SMALL, SMALL, BIG, SMALL, SMALL, HUGE][at % 6];
                let cell = (4 + at as i32 % 6 * 9, 4 + at as i32 / 6 * 9);
                spawn_kind_at(&mut app, (Critter::new(12.0), NavAgent::new(profile)), cell)
            })
            .collect();
        let mut groups: Vec<Entity> = Vec::new();
        let mut watch = Watch::new();
        watch.run(&mut app, 2);
        for tick in 0..300 {
            for _ in 0..random.below(4) {
                let unit = units[random.below(units.len() as u32) as usize];
                let goal = Cell::from(random_cell(&mut random, (60, 56)));
                match random.below(14) {
                    0..3 => {
                        let count = 1 + random.below(12);
                        let any =
                            |random: &mut Random| units[random.below(units.len() as u32) as usize];
                        let members: Vec<Entity> = (0..count).map(|_| any(&mut random)).collect();
                        let formation = [Formation::Loose, Formation::Box, Formation::Line]
                            [random.below(3) as usize];
                        let group = Group::to(goal, members).formation(formation);
                        let group =
                            if random.below(2) == 0 { group.keep_together() } else { group };
                        groups.push(app.world_mut().spawn(group).id());
                    }
                    3 if units.len() > 20 => {
                        units.retain(|&other| other != unit);
                        app.world_mut().despawn(unit);
                    }
                    4 | 5 => {
                        let mut unit = app.world_mut().entity_mut(unit);
                        match unit.contains::<Disabled>() {
                            true => drop(unit.remove::<Disabled>()),
                            false => drop(unit.insert(Disabled)),
                        }
                    }
                    6 => stop_unit(app.world_mut().entity_mut(unit)),
                    7 if units.len() < 44 => {
                        let copy = app.world_mut().entity_mut(unit).clone_and_spawn();
                        units.push(copy);
                    }
                    8 => {
                        insert_request(&mut app, unit, PathRequest::to(goal).reach(Reach::Nearest));
                    }
                    9 => drop(
                        app.world_mut()
                            .entity_mut(unit)
                            .insert(SpeedFactor(0.25 + random.below(8) as f32)),
                    ),
                    10 | 11 if !groups.is_empty() => {
                        let group = groups[random.below(groups.len() as u32) as usize];
                        if let Some(mut group) = app.world_mut().get_mut::<Group>(group) {
                            group.members.push(unit.into());
                            group.goal = goal.into();
                        }
                    }
                    12 if !groups.is_empty() => {
                        let group = groups.swap_remove(random.below(groups.len() as u32) as usize);
                        let _ = app.world_mut().try_despawn(group); // it may have despawned itself
                    }
                    _ => {}
                }
            }
            watch.tick(&mut app);
            for &unit in &units {
                let Some(&slot) = app.world().get::<GroupSlot>(unit) else {
                    continue;
                };
                let listed = app.world().get::<GroupState>(slot.group).map(GroupState::slots);
                let listed = listed.and_then(|slots| slots.iter().find(|it| it.0 == unit).copied());
                let expected = Some((unit, Some(slot.cell)));
                assert_eq!(listed, expected, "seed {seed}, tick {tick}: the slot of {unit}");
            }
        }
        for &unit in &units {
            app.world_mut().entity_mut(unit).remove::<(Disabled, SpeedFactor)>();
        }
        let is_open = |app: &App, group: Entity| app.world().get_entity(group).is_ok();
        let rests = |app: &App, unit: Entity| !status(app, unit).is_under_way();
        for _ in 0..12_000 {
            let all_rest = units.iter().all(|&unit| rests(&app, unit));
            if all_rest && !groups.iter().any(|&group| is_open(&app, group)) {
                break;
            }
            watch.tick(&mut app);
        }
        for &unit in &units {
            assert!(rests(&app, unit), "seed {seed}: {unit} {:?}", status(&app, unit));
            assert!(app.world().get::<GroupSpeedLimit>(unit).is_none(), "seed {seed}: {unit}");
        }
        let open: Vec<Entity> = groups.into_iter().filter(|&group| is_open(&app, group)).collect();
        assert_eq!(open, [], "seed {seed}: groups that never end");
    }
}

/// A group that is disabled for a while: its members get around a wall meanwhile, and it ends after it is enabled again, with its
/// members on slots of their own.
#[test]
fn a_group_that_sleeps_while_a_wall_is_built_before_its_members_ends() {
    let mut app = app_with(&field(60, 30));
    record_groups(&mut app);
    let units: Vec<Entity> =
        (0..16).map(|at| spawn_critter(&mut app, (2 + at % 4, 10 + at / 4))).collect();
    let mut watch = Watch::new();
    watch.run(&mut app, 2);
    let group =
        app.world_mut().spawn(Group::to(Cell::new(50, 12), units.clone()).persistent()).id();
    watch.run(&mut app, 60);
    app.world_mut().entity_mut(group).insert(Disabled);
    block(&mut app, CellRect::new(Cell::new(30, 2), 1, 28));
    // A guard of another team takes the middle of the place where they gather.
    let guard = spawn_at(&mut app, Critter::new(8.0), (50, 12));
    app.world_mut().entity_mut(guard).insert((Unpushable, CrowdTeam(3)));
    watch.run(&mut app, 120);
    app.world_mut().entity_mut(group).remove::<Disabled>();
    for _ in 0..6_000 {
        if !group_arrivals(&app).is_empty() {
            break;
        }
        watch.tick(&mut app);
    }
    assert_eq!(group_arrivals(&app), [(16, 0)]);
    for &unit in &units {
        let slot = app.world().get::<GroupSlot>(unit).map(|slot| slot.cell);
        assert_eq!(Some(state(&app, unit).cell()), slot);
    }
}
