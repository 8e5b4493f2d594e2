//! Units that something else moves, steered along their paths: arrivals, pushes, edits, and changes of who moves them.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::prelude::*;

use crate::common::{
    Random, any_topology,
    app::{
        app, app_on, app_with, field, frame_of, grid, order, position, record, run, run_until,
        spawn_critter, state, status,
    },
    patched_terrain,
    units::{
        app_with_sizes_on, arrivals, block, block_center, cancellations, failures, has_arrived,
        level,
    },
};
use crate::long_orders::{GOAL, START, app_in_the_wilderness};

/// Moves steered units like a simple physics engine: not into impassable cells, but along their sides. Units that stand in an
/// impassable cell get out.
fn walk(
    time: Res<Time>,
    grids: Res<NavGrids>,
    mut units: Query<(&DesiredVelocity, &NavAgent, &mut Transform), Without<Critter>>,
) {
    for (desired, agent, mut transform) in &mut units {
        let (Some(grid), Some(frame)) = (grids.get(agent.grid), grids.frame(agent.grid)) else {
            continue;
        };
        let size = grid.unit_size(agent.profile);
        let is_free = |position: Vec2| {
            frame.anchor_at(position, size).is_some_and(|cell| grid.cost(agent.profile, cell) > 0)
        };
        let from = transform.translation.truncate();
        let step = **desired * time.delta_secs();
        let steps = [step, Vec2::new(step.x, 0.0), Vec2::new(0.0, step.y)];
        let is_stuck = !is_free(from);
        if let Some(step) = steps.into_iter().find(|&step| is_stuck || is_free(from + step)) {
            transform.translation += step.extend(0.0);
        }
    }
}

fn add_walk(app: &mut App) {
    app.add_systems(FixedUpdate, walk.after(TilePathSystems::Move));
    record(app);
}

/// Spawns a steered unit of 8 cells per second in the middle of a cell.
fn spawn(app: &mut App, cell: (i32, i32)) -> Entity {
    let center = block_center(app, ProfileId(0), Cell::from(cell));
    app.world_mut()
        .spawn((PathSteering::new(8.0), Transform::from_translation(center.extend(0.0))))
        .id()
}

fn desired(app: &App, unit: Entity) -> Vec2 {
    **app.world().get::<DesiredVelocity>(unit).unwrap()
}

fn cell_of(app: &App, unit: Entity) -> Option<Cell> {
    let agent = app.world().get::<NavAgent>(unit).unwrap();
    let size = level(app).unit_size(agent.profile);
    let grids = app.world().resource::<NavGrids>();
    grids.frame(agent.grid)?.anchor_at(position(app, unit), size)
}

const MAZE: &str = "\
    ....................
    .######.###########.
    .#....#.#.........#.
    .#.##.#.#.#######.#.
    .#.#..#.#.#.....#.#.
    .#.####.#.#.###.#.#.
    .#......#.#.#...#.#.
    .########.#.#.###.#.
    ..........#.......#.
    ###################.
    ....................";

#[test]
fn a_steered_unit_walks_through_a_maze_and_arrives_once() {
    let mut app = app_with(MAZE);
    add_walk(&mut app);
    let unit = spawn(&mut app, (0, 0));
    order(&mut app, unit, (4, 6));
    let mut fastest: f32 = 0.0;
    let mut walked = 0.0;
    let mut last = position(&app, unit);
    let ticks = run_until(&mut app, 2_000, |app| {
        fastest = fastest.max(desired(app, unit).length());
        walked += (position(app, unit) - last).length() / 10.0;
        last = position(app, unit);
        has_arrived(app, unit)
    });
    assert!((79.9..80.1).contains(&fastest), "8 cells of 10 units per second, not {fastest}");
    assert!(desired(&app, unit) == Vec2::ZERO);
    let end = Vec2::new(40.0, 60.0);
    assert!((position(&app, unit) - end).length() <= 3.0, "within 0.3 cells of the goal");
    run(&mut app, 100);
    assert_eq!((arrivals(&app, unit), desired(&app, unit)), (1, Vec2::ZERO));
    let cost = app.world().get::<NavPath>(unit).unwrap().cost().in_plain_steps();
    assert!(f64::from(walked) < cost + 1.0, "{walked} cells on a path of {cost}");
    assert!(f64::from(ticks) < (cost / 8.0) * 64.0 * 1.1 + 10.0, "{ticks} ticks for {cost} cells");
}

#[test]
fn over_open_terrain_it_goes_straight() {
    let mut app = app_with(&field(60, 40));
    add_walk(&mut app);
    let unit = spawn(&mut app, (2, 3));
    order(&mut app, unit, (50, 17));
    let (start, mut walked, mut last) = (position(&app, unit), 0.0, position(&app, unit));
    run_until(&mut app, 1_000, |app| {
        walked += (position(app, unit) - last).length();
        last = position(app, unit);
        has_arrived(app, unit)
    });
    let straight = (Vec2::new(500.0, 170.0) - start).length();
    assert!(walked <= straight * 1.002, "{walked} instead of {straight}");
}

/// Random maps, sizes, starts and goals: it arrives wherever there is a path, and is never in an impassable cell.
#[test]
fn it_arrives_wherever_there_is_a_path() {
    let mut arrived = 0;
    for seed in 0..60 {
        let mut random = Random(seed);
        let (width, height) = (24 + random.below(24), 16 + random.below(16));
        let topology = any_topology(&mut random);
        let map = field(width as usize, height as usize);
        let mut app = app_with_sizes_on(&map, topology);
        add_walk(&mut app);
        for _ in 0..30 {
            let min = Cell::new(random.below(width) as i32, random.below(height) as i32);
            let rect = CellRect::new(min, 1 + random.below(4), 1 + random.below(4));
            let wall = NavBlocker::at(rect);
            app.world_mut().spawn(wall);
        }
        run(&mut app, 1);
        for _ in 0..6 {
            let profile = ProfileId(random.below(3) as u8);
            let mut any = || Cell::new(random.below(width) as i32, random.below(height) as i32);
            let (start, goal) = (any(), any());
            if !level(&app).can_reach(profile, start, goal) {
                continue;
            }
            let center = block_center(&app, profile, start).extend(0.0);
            let unit = (
                PathSteering::new(10.0),
                NavAgent::new(profile),
                Transform::from_translation(center),
                PathRequest::to(goal),
            );
            let unit = app.world_mut().spawn(unit).id();
            run_until(&mut app, 3_000, |app| {
                let cell = cell_of(app, unit).unwrap();
                assert!(level(app).cost(profile, cell) > 0, "seed {seed}: in a wall at {cell}");
                has_arrived(app, unit)
            });
            let end = block_center(&app, profile, goal);
            assert!((position(&app, unit) - end).length() <= 3.01, "seed {seed}");
            assert_eq!(failures(&app, unit), []);
            arrived += 1;
        }
    }
    assert!(arrived > 100, "{arrived}");
}

#[test]
fn it_is_slower_on_costlier_terrain() {
    let ticks = |letter: u8| {
        let mut app = app();
        add_walk(&mut app);
        let profile = Profile::new().with(TerrainId(b'.'), 16).with(TerrainId(b'S'), 48);
        grid(&mut app).set_profiles(vec![profile]);
        let level = NavGrid::from_terrain(40, 3, vec![letter; 120]).unwrap();
        grid(&mut app).insert(GridId::default(), level, frame_of(Topology::Square));
        let unit = spawn(&mut app, (1, 1));
        order(&mut app, unit, (38, 1));
        run_until(&mut app, 2_000, |app| has_arrived(app, unit))
    };
    let (road, swamp) = (ticks(b'.'), ticks(b'S'));
    assert!((swamp as f32 / road as f32 - 3.0).abs() < 0.1, "{swamp} and {road} ticks");
}

/// Pushed in every tick, and now and then thrown anywhere, walls included.
#[test]
fn however_it_is_pushed_it_arrives() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let topology = any_topology(&mut random);
        let mut app = app_on(MAZE, topology);
        add_walk(&mut app);
        let unit = spawn(&mut app, (0, 0));
        order(&mut app, unit, (4, 6));
        for tick in 0..1_500 {
            let mut push = |most: f32| {
                let mut any = || (random.below(2_001) as f32 / 1_000.0 - 1.0) * most;
                Vec3::new(any(), any(), 0.0)
            };
            let push = if tick % 100 == 99 { push(50.0) } else { push(0.9) };
            let mut transform = app.world_mut().get_mut::<Transform>(unit).unwrap();
            transform.translation += push;
            app.update();
            assert!(desired(&app, unit).is_finite());
        }
        // Thrown off the map it may have failed; a new order brings it there from anywhere.
        if !has_arrived(&app, unit)
            && cell_of(&app, unit).is_none_or(|cell| !level(&app).contains(cell))
        {
            app.world_mut().get_mut::<Transform>(unit).unwrap().translation = Vec3::ZERO;
        }
        if matches!(status(&app, unit), PathStatus::Failed(_)) {
            order(&mut app, unit, (4, 6));
        }
        run_until(&mut app, 2_000, |app| has_arrived(app, unit));
    }
}

/// A push aside, onto the other side of a wall: it goes back by another path, not through the wall.
#[test]
fn behind_a_wall_it_gets_another_path() {
    let mut app = app_with(&field(40, 9));
    add_walk(&mut app);
    block(&mut app, CellRect::new(Cell::new(5, 4), 30, 1));
    let unit = spawn(&mut app, (1, 2));
    order(&mut app, unit, (38, 2));
    run(&mut app, 100);
    let before = app.world().resource::<PathCounters>().repaired;
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation.y = 60.0;
    run(&mut app, 30);
    assert_eq!(app.world().resource::<PathCounters>().repaired, before + 1);
    assert_eq!(status(&app, unit), PathStatus::Walking(PathKind::Complete));
    run_until(&mut app, 1_000, |app| {
        assert!(level(app).cost(ProfileId(0), cell_of(app, unit).unwrap()) > 0);
        has_arrived(app, unit)
    });
    assert_eq!(arrivals(&app, unit), 1);
}

#[test]
fn it_walks_around_walls_that_are_built_before_it() {
    let mut app = app_with(&field(40, 20));
    add_walk(&mut app);
    let unit = spawn(&mut app, (2, 10));
    order(&mut app, unit, (37, 12));
    for x in [8, 14, 20, 26] {
        run(&mut app, 40);
        let rows = if x % 4 == 0 { 0 } else { 1 };
        block(&mut app, CellRect::new(Cell::new(x, rows), 1, 19));
    }
    // A wall beside the steps of the path, but on the straight line.
    run_until(&mut app, 2_000, |app| {
        assert!(level(app).cost(ProfileId(0), cell_of(app, unit).unwrap()) > 0);
        has_arrived(app, unit)
    });
    assert_eq!((arrivals(&app, unit), failures(&app, unit)), (1, vec![]));
}

/// Who moves the unit changes again and again; the order is carried out, once.
#[test]
fn the_unit_changes_hands_and_arrives_once() {
    for period in [1, 2, 3, 7, 20, 55] {
        let mut app = app_with(MAZE);
        add_walk(&mut app);
        let unit = spawn(&mut app, (0, 0));
        order(&mut app, unit, (4, 6));
        for change in 0..100 {
            if change % 2 == 0 {
                let critter = Critter::new(8.0);
                let critter = if change % 4 == 0 { critter } else { critter.ghost() };
                app.world_mut().entity_mut(unit).insert(critter);
            } else {
                app.world_mut().entity_mut(unit).remove::<Critter>();
            }
            for _ in 0..period {
                app.update();
                let is_critter = app.world().entity(unit).contains::<Critter>();
                assert!(!is_critter || desired(&app, unit) == Vec2::ZERO);
            }
        }
        run_until(&mut app, 2_000, |app| has_arrived(app, unit));
        run(&mut app, 20);
        assert_eq!(failures(&app, unit), []);
        assert_eq!(arrivals(&app, unit), 1, "a change of hands every {period} ticks");
        let place = position(&app, unit) - Vec2::new(40.0, 60.0);
        assert!(place.length() <= 5.0, "{place} off its goal");
    }
}

/// A unit whose path is known becomes a critter: it walks, without another order.
#[test]
fn a_unit_with_a_path_walks_as_soon_as_it_is_a_critter() {
    for is_steered in [false, true] {
        let mut app = app_with(&field(30, 10));
        record(&mut app);
        let unit = spawn(&mut app, (2, 2));
        if !is_steered {
            app.world_mut().entity_mut(unit).remove::<PathSteering>();
        }
        order(&mut app, unit, (25, 7));
        run(&mut app, 5);
        assert!(matches!(status(&app, unit), PathStatus::Found(_) | PathStatus::Walking(_)));
        app.world_mut().entity_mut(unit).insert(Critter::new(8.0));
        run_until(&mut app, 400, |app| has_arrived(app, unit));
        assert_eq!((arrivals(&app, unit), failures(&app, unit)), (1, vec![]));
    }
}

/// A steered unit that has arrived and becomes a critter is like one that has walked there: it makes room, and comes back.
#[test]
fn at_its_goal_it_holds_its_place_as_a_critter() {
    let mut app = app_with(&field(40, 5));
    add_walk(&mut app);
    let (goal, far) = ((20, 2), (4, 2));
    let unit = spawn(&mut app, (12, 2));
    order(&mut app, unit, goal);
    run_until(&mut app, 600, |app| has_arrived(app, unit));
    app.world_mut().entity_mut(unit).insert(Critter::new(8.0));
    run(&mut app, 5);
    assert_eq!(state(&app, unit).cell(), Cell::from(goal));
    let other = spawn_critter(&mut app, far);
    order(&mut app, other, goal);
    run_until(&mut app, 900, |app| has_arrived(app, other));
    assert_ne!(state(&app, unit).cell(), Cell::from(goal), "it has made room");
    order(&mut app, other, far);
    run_until(&mut app, 600, |app| has_arrived(app, other));
    run(&mut app, 300);
    assert_eq!(state(&app, unit).cell(), Cell::from(goal), "it has come back");
    assert_eq!((arrivals(&app, unit), failures(&app, unit)), (1, vec![]));
}

#[test]
fn groups_and_order_queues_wait_for_steered_units() {
    #[derive(Resource, Default)]
    struct Done(Vec<(u32, u32)>);
    let mut app = app_with(&field(40, 30));
    add_walk(&mut app);
    app.init_resource::<Done>().add_observer(|event: On<GroupArrived>, mut done: ResMut<Done>| {
        done.0.push((event.arrived, event.failed));
    });
    let units: Vec<Entity> = (0..9).map(|i| spawn(&mut app, (2 + i % 3, 2 + i / 3))).collect();
    for &unit in &units[..4] {
        app.world_mut().entity_mut(unit).insert(Critter::new(8.0));
    }
    app.world_mut().spawn(Group::to(Cell::new(30, 20), units.clone()));
    let is_done = |app: &App| !app.world().resource::<Done>().0.is_empty();
    let mut had_arrived = false;
    run_until(&mut app, 1_000, |app| {
        // It is announced in the tick after the last arrival.
        let have_arrived = units.iter().all(|&unit| has_arrived(app, unit));
        assert!(if is_done(app) { have_arrived } else { !had_arrived });
        had_arrived = have_arrived;
        is_done(app)
    });
    assert_eq!(app.world().resource::<Done>().0, [(9, 0)]);
    let queue = OrderQueue::new();
    let queue =
        queue.then(PathRequest::to(Cell::new(5, 25))).then(PathRequest::to(Cell::new(35, 5)));
    app.world_mut().entity_mut(units[8]).insert(queue);
    run_until(&mut app, 2_000, |app| {
        app.world().get::<OrderQueue>(units[8]).is_some_and(OrderQueue::is_empty)
    });
    assert_eq!(cell_of(&app, units[8]), Some(Cell::new(35, 5)));
}

#[test]
fn what_cannot_be_steered_stands_still() {
    let mut app = app_with(&field(40, 10));
    add_walk(&mut app);
    let speeds = [0.0, -3.0, f32::NAN, f32::INFINITY];
    let units: Vec<Entity> = speeds
        .iter()
        .enumerate()
        .map(|(row, &speed)| {
            let unit = spawn(&mut app, (1, 1 + row as i32));
            app.world_mut().entity_mut(unit).insert(PathSteering::new(speed));
            order(&mut app, unit, (38, 1 + row as i32));
            unit
        })
        .collect();
    run(&mut app, 100);
    for &unit in &units[..3] {
        assert_eq!(position(&app, unit).with_y(0.0), Vec2::new(10.0, 0.0));
        assert_eq!(status(&app, unit), PathStatus::Walking(PathKind::Complete));
    }
    assert!(has_arrived(&app, units[3]), "infinitely fast, it goes from point to point");

    // Disabled, off to nowhere, and without a grid.
    let unit = spawn(&mut app, (1, 6));
    order(&mut app, unit, (38, 6));
    run(&mut app, 20);
    app.world_mut().entity_mut(unit).insert(Disabled);
    run(&mut app, 2);
    let stopped = position(&app, unit);
    run(&mut app, 20);
    assert_eq!(position(&app, unit), stopped);
    app.world_mut().entity_mut(unit).remove::<Disabled>();
    run(&mut app, 20);
    let place = position(&app, unit);
    assert!(place.x > stopped.x);
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation.x = f32::NAN;
    run(&mut app, 40);
    assert_eq!(desired(&app, unit), Vec2::ZERO);
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation.x = place.x;
    run(&mut app, 20);
    assert!(position(&app, unit).x > place.x);
    grid(&mut app).remove(GridId::default());
    run(&mut app, 2);
    let gone = PathFailure::GridGone(GridId::default());
    assert_eq!((status(&app, unit), desired(&app, unit)), (PathStatus::Failed(gone), Vec2::ZERO));
}

/// Everything at once: nothing panics, and when it is quiet again everybody arrives.
#[test]
fn a_storm_over_steered_units() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let topology = any_topology(&mut random);
        let mut app = app_on(&field(32, 24), topology);
        add_walk(&mut app);
        let terrain = patched_terrain((32, 24), 12, 0, &mut random);
        let level = NavGrid::from_terrain(32, 24, terrain).unwrap().with_topology(topology);
        grid(&mut app).set_profiles(vec![
            (1u8..5)
                .fold(Profile::new(), |profile, i| profile.with(TerrainId(i), 16 * u16::from(i))),
        ]);
        grid(&mut app).insert(GridId::default(), level, frame_of(topology));
        let mut units: Vec<Entity> = (0..16).map(|i| spawn(&mut app, (i * 2, 3))).collect();
        let mut walls = Vec::new();
        for _ in 0..400 {
            let index = random.below(16) as usize;
            let unit = units[index];
            let any = Cell::new(random.below(32) as i32, random.below(24) as i32);
            let mut entity = app.world_mut().entity_mut(unit);
            match random.below(14) {
                0..3 => drop(entity.insert(PathRequest::to(any).reach(Reach::Nearest))),
                3 => drop(entity.insert(Critter::new(6.0))),
                4 => drop(entity.remove::<Critter>()),
                5 => drop(entity.remove::<(PathSteering, DesiredVelocity)>()),
                6 => drop(entity.insert(PathSteering::new(random.below(20) as f32))),
                7 => drop(entity.remove::<AnyAnglePath>()),
                8 => drop(entity.insert(Disabled)),
                9 => drop(entity.remove::<Disabled>()),
                10 => {
                    let at = frame_of(topology).cell_center(any).extend(0.0);
                    entity.insert(Transform::from_translation(at));
                }
                11 => {
                    let clone = entity.clone_and_spawn();
                    app.world_mut().despawn(unit);
                    units[index] = clone;
                }
                12 => walls.push(app.world_mut().spawn(NavBlocker::at(CellRect::single(any))).id()),
                _ => {
                    for wall in walls.drain(..walls.len() / 2) {
                        app.world_mut().despawn(wall);
                    }
                }
            }
            run(&mut app, random.below(8));
        }
        for &wall in &walls {
            app.world_mut().despawn(wall);
        }
        for (i, &unit) in units.iter().enumerate() {
            let mut entity = app.world_mut().entity_mut(unit);
            entity.remove::<Disabled>().insert(PathRequest::to(Cell::new(2 * i as i32, 20)));
            if i % 2 == 0 {
                entity
                    .remove::<Critter>()
                    .insert((PathSteering::new(8.0), AnyAnglePath::default()));
            } else {
                entity.insert(Critter::new(8.0));
            }
        }
        run_until(&mut app, 4_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    }
}

/// A steered unit of 60 cells per second on the first segment of a long path, or one that the game moves without steering.
fn start_on_first_segment(is_steered: bool) -> (App, Entity) {
    let mut app = app_in_the_wilderness();
    add_walk(&mut app);
    let unit = spawn(&mut app, START);
    let mut entity = app.world_mut().entity_mut(unit);
    entity.insert(PathSteering::new(60.0));
    if !is_steered {
        entity.remove::<PathSteering>();
    }
    order(&mut app, unit, GOAL);
    run_until(&mut app, 4, |app| {
        let kind = PathKind::FirstSegment;
        matches!(status(app, unit), PathStatus::Walking(now) | PathStatus::Found(now) if now == kind)
    });
    (app, unit)
}

/// A long path comes in two parts; the unit does not stop for good at the end of the first.
#[test]
fn a_long_path_goes_on_after_its_first_segment() {
    let (mut app, unit) = start_on_first_segment(true);
    run_until(&mut app, 8_000, |app| has_arrived(app, unit));
    assert_eq!((arrivals(&app, unit), failures(&app, unit)), (1, vec![]));
}

/// It stands at the end of its path to a link until the game takes it across.
#[test]
fn the_game_takes_it_across_a_link() {
    let mut app = app_with(&field(20, 10));
    add_walk(&mut app);
    let above = frame_of(Topology::Square);
    let upper = NavGrid::new(20, 10, TerrainId::GROUND).unwrap();
    grid(&mut app).insert(GridId(1), upper, above);
    let stairs = Cell::new(15, 5);
    app.world_mut().spawn(NavLink::new(stairs, (GridId(1), stairs)));
    let unit = spawn(&mut app, (2, 5));
    let request = PathRequest::to(Cell::new(3, 2)).goal_on(GridId(1));
    app.world_mut().entity_mut(unit).insert(request);
    run(&mut app, 300);
    assert_eq!(status(&app, unit), PathStatus::Walking(PathKind::ToLink));
    assert_eq!((cell_of(&app, unit), desired(&app, unit)), (Some(stairs), Vec2::ZERO));
    app.world_mut().get_mut::<NavAgent>(unit).unwrap().grid = GridId(1);
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    assert_eq!(cell_of(&app, unit), Some(Cell::new(3, 2)));
    assert_eq!(arrivals(&app, unit), 1);
}

/// However large its radius is, it has come to a link only on a cell of it: within 0.45 cells of its middle.
#[test]
fn beside_the_middle_of_a_link_it_is_stuck() {
    for (off, is_there) in [(4.4, true), (4.8, false)] {
        let mut app = app_with(&field(20, 10)); // nothing moves the unit
        let upper = NavGrid::new(20, 10, TerrainId::GROUND).unwrap();
        grid(&mut app).insert(GridId(1), upper, frame_of(Topology::Square));
        let stairs = Cell::new(15, 5);
        app.world_mut().spawn(NavLink::new(stairs, (GridId(1), stairs)));
        let place = Transform::from_xyz(150.0 - off, 50.0, 0.0);
        let steering = PathSteering::new(8.0).arrival_radius(2.0);
        let unit = app.world_mut().spawn((place, steering)).id();
        let request = PathRequest::to(Cell::new(3, 2)).goal_on(GridId(1));
        app.world_mut().entity_mut(unit).insert(request);
        let to_link = PathStatus::Walking(PathKind::ToLink);
        run_until(&mut app, 100, |app| status(app, unit) == to_link);
        let stuck = PathStatus::Stuck(Hindrance::Obstacle);
        run(&mut app, 500);
        assert_eq!(status(&app, unit), to_link, "not before 512 ticks");
        run(&mut app, 20);
        assert_eq!(status(&app, unit), if is_there { to_link } else { stuck }, "{off} off");
        assert_eq!(desired(&app, unit) == Vec2::ZERO, is_there, "{off} off");
    }
}

/// On a rotated, scaled map, and as a child of something that moves: positions and velocities are those of the world.
#[test]
fn it_is_steered_in_the_world() {
    let mut app = app_with(&field(30, 20));
    record(&mut app);
    // The map is turned by a quarter, with cells of 4 × 4 units.
    let turned =
        GridFrame::from_axes(Vec2::new(50.0, 0.0), Vec2::new(0.0, 4.0), Vec2::new(-4.0, 0.0));
    grid(&mut app).set_frame(GridId::default(), turned);
    let ship = app.world_mut().spawn(Transform::from_xyz(100.0, 0.0, 0.0)).id();
    let at = (turned.cell_center(Cell::new(3, 4)) - Vec2::new(100.0, 0.0)).extend(0.0);
    let unit = (PathSteering::new(8.0), Transform::from_translation(at), ChildOf(ship));
    let unit = app.world_mut().spawn(unit).id();
    order(&mut app, unit, (25, 4));
    run(&mut app, 4);
    let velocity = desired(&app, unit);
    assert!(velocity.distance(Vec2::new(0.0, 32.0)) < 0.1, "8 cells of 4 units, up: {velocity}");
    for _ in 0..400 {
        let step = desired(&app, unit) / 64.0;
        app.world_mut().get_mut::<Transform>(unit).unwrap().translation += step.extend(0.0);
        app.update();
    }
    assert!(has_arrived(&app, unit));
    let end = turned.cell_center(Cell::new(25, 4)) - Vec2::new(100.0, 0.0);
    assert!(position(&app, unit).distance(end) <= 1.2);
}

/// The same pushes give the same walk, on any number of threads.
#[test]
fn steering_is_deterministic() {
    let walk = |threads: usize| {
        let mut app = app_with(MAZE);
        add_walk(&mut app);
        app.world_mut().resource_mut::<TilePathSettings>().threads = threads;
        let units: Vec<Entity> = (0..6).map(|x| spawn(&mut app, (x, 0))).collect();
        let mut random = Random(7);
        for &unit in &units {
            order(&mut app, unit, (4, 6));
        }
        let mut places = Vec::new();
        for _ in 0..600 {
            for &unit in &units {
                let push = Vec3::new(
                    random.below(100) as f32 - 50.0,
                    random.below(100) as f32 - 50.0,
                    0.0,
                );
                app.world_mut().get_mut::<Transform>(unit).unwrap().translation += push / 60.0;
            }
            app.update();
            places.extend(
                units.iter().map(|&unit| position(&app, unit).to_array().map(f32::to_bits)),
            );
        }
        places
    };
    assert_eq!(walk(1), walk(4));
}

/// While the rest of its path is searched for, a wall cuts off the first part.
#[test]
fn a_first_segment_that_is_cut_off_is_replaced() {
    for is_steered in [true, false] {
        let (mut app, unit) = start_on_first_segment(is_steered);
        let path = app.world().get::<NavPath>(unit).unwrap();
        let ahead = path.cells().nth(path.steps() as usize / 2).unwrap();
        block(&mut app, CellRect::new(Cell::new(ahead.x, 0), 1, 63));
        run_until(&mut app, 200, |app| {
            let path = app.world().get::<NavPath>(unit).unwrap();
            let is_open = path.cells().all(|cell| level(app).cost(ProfileId(0), cell) > 0);
            is_open && path.end() == Cell::from(GOAL)
        });
        if is_steered {
            run_until(&mut app, 8_000, |app| has_arrived(app, unit));
        }
    }
}

/// Between two corners, past one, and only around: it gets through as the rule says.
#[test]
fn under_every_corner_rule_it_gets_through() {
    for rule in [CornerRule::Forbid, CornerRule::NoSqueeze, CornerRule::Allow] {
        for shift in [-0.45, -0.2, 0.0, 0.2, 0.45_f32] {
            let mut app = app_with(
                "........
                 .######.
                 .#...##.
                 .#.#..#.
                 .#..#...
                 .######.
                 ........",
            );
            grid(&mut app).set_profiles(vec![Profile::default().corners(rule)]);
            // Bodies that are no larger than a point get through between corners.
            app.add_systems(FixedUpdate, glide.after(TilePathSystems::Move));
            record(&mut app);
            let unit = spawn(&mut app, (2, 2));
            app.world_mut().get_mut::<Transform>(unit).unwrap().translation +=
                Vec3::splat(shift * 10.0);
            let goal = Cell::new(5, 3);
            let can_reach = level(&app).can_reach(ProfileId(0), Cell::new(2, 2), goal);
            order(&mut app, unit, (goal.x, goal.y));
            if can_reach {
                run_until(&mut app, 600, |app| has_arrived(app, unit));
            } else {
                run(&mut app, 10);
                assert_eq!((rule, failures(&app, unit).len()), (CornerRule::Forbid, 1));
            }
        }
    }
}

/// Moves without looking at walls.
fn glide(time: Res<Time>, mut units: Query<(&DesiredVelocity, &mut Transform)>) {
    for (desired, mut transform) in &mut units {
        transform.translation += desired.extend(0.0) * time.delta_secs();
    }
}

/// Never on ground or over an edge that its path avoids, however near.
#[test]
fn it_cuts_no_corner_over_costly_ground_or_edges() {
    let profile = Profile::default().with(TerrainId(b'L'), 1_600).with_edge(EdgeId(3), 1_600);
    for seed in 0..30 {
        let mut random = Random(seed);
        let mut app = app();
        add_walk(&mut app);
        grid(&mut app).set_profiles(vec![profile.clone()]);
        let mut terrain = vec![b'.'; 30 * 20];
        terrain.iter_mut().for_each(|cell| *cell = if random.below(6) == 0 { b'L' } else { b'.' });
        let map = NavGrid::from_terrain(30, 20, terrain).unwrap();
        grid(&mut app).insert(GridId::default(), map, frame_of(Topology::Square));
        for _ in 0..40 {
            let cell = Cell::new(random.below(30) as i32, random.below(20) as i32);
            let way = [Direction::East, Direction::North][random.below(2) as usize];
            app.world_mut().spawn(NavEdges::between(cell, way, EdgeId(3)));
        }
        run(&mut app, 1);
        let unit = spawn(&mut app, (1, 1));
        order(&mut app, unit, (28, 18));
        run(&mut app, 3);
        let path: Vec<Cell> = app.world().get::<NavPath>(unit).unwrap().cells().collect();
        let lava = |app: &App, cell| level(app).cost(ProfileId(0), cell) > 16;
        let crossed = |app: &App, a: Cell, b: Cell| {
            let Some(way) = Direction::between(a, b) else { return false };
            level(app).edge_cost(ProfileId(0), a, way) != Some(0)
        };
        let most = path.windows(2).filter(|step| crossed(&app, step[0], step[1])).count();
        let mut walked = vec![Cell::new(1, 1)];
        run_until(&mut app, 20_000, |app| {
            let cell = cell_of(app, unit).unwrap();
            // It may graze the corner of a cell between two steps.
            let point = position(app, unit) / 10.0;
            let off = |at: &Cell| (point - Vec2::new(at.x as f32, at.y as f32)).abs().max_element();
            let depth = path.iter().map(off).fold(f32::INFINITY, f32::min) - 0.5;
            assert!(!lava(app, cell) || depth < 0.2, "seed {seed}: {depth} deep in lava at {cell}");
            if walked.last() != Some(&cell) && path.contains(&cell) {
                walked.push(cell);
            }
            has_arrived(app, unit)
        });
        let crossings = walked.windows(2).filter(|step| crossed(&app, step[0], step[1])).count();
        assert!(crossings <= most, "seed {seed}: {crossings} costly edges instead of {most}");
    }
}

/// Who moves it changes by its steering alone: it goes on, and what steers no more has no velocity.
#[test]
fn steering_comes_and_goes() {
    let mut app = app_with(MAZE);
    add_walk(&mut app);
    let unit = spawn(&mut app, (0, 0));
    order(&mut app, unit, (4, 6));
    run(&mut app, 100);
    app.world_mut().entity_mut(unit).remove::<PathSteering>();
    run(&mut app, 5);
    assert!(!app.world().entity(unit).contains::<DesiredVelocity>());
    assert_eq!(status(&app, unit), PathStatus::Found(PathKind::Complete));
    let place = position(&app, unit);
    run(&mut app, 20);
    assert_eq!(position(&app, unit), place);
    // The game has carried it along its path in the meantime.
    let cell = app.world().get::<NavPath>(unit).unwrap().cells().nth(12).unwrap();
    let center = block_center(&app, ProfileId(0), cell).extend(0.0);
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation = center;
    app.world_mut().entity_mut(unit).insert(PathSteering::new(8.0));
    run(&mut app, 5);
    assert_eq!(status(&app, unit), PathStatus::Walking(PathKind::Complete));
    assert_eq!(app.world().get::<NavPath>(unit).unwrap().start(), cell, "from where it is");
    run_until(&mut app, 2_000, |app| has_arrived(app, unit));
    assert_eq!((arrivals(&app, unit), failures(&app, unit)), (1, vec![]));
    // Without its lines it stands still.
    order(&mut app, unit, (0, 0));
    run(&mut app, 20);
    app.world_mut().entity_mut(unit).remove::<AnyAnglePath>();
    run(&mut app, 2);
    assert_eq!(desired(&app, unit), Vec2::ZERO);
    app.world_mut().entity_mut(unit).insert(AnyAnglePath::default());
    run_until(&mut app, 2_000, |app| has_arrived(app, unit));
}

#[test]
fn its_orders_are_like_those_of_critters() {
    let mut app = app_with(&field(40, 20));
    add_walk(&mut app);
    let unit = spawn(&mut app, (2, 2));
    order(&mut app, unit, (35, 2));
    run(&mut app, 60);
    assert!(status(&app, unit).is_under_way());
    order(&mut app, unit, (35, 15));
    run(&mut app, 5);
    assert_eq!(cancellations(&app, unit), [CancelReason::Replaced]);
    // It becomes another kind of unit on the way, and gets a path of that kind.
    let slow = grid(&mut app).add_profile(Profile::default().size(2));
    app.world_mut().get_mut::<NavAgent>(unit).unwrap().profile = slow;
    run(&mut app, 5);
    assert_eq!(app.world().get::<RequestState>(unit).unwrap().query().profile, slow);
    run_until(&mut app, 2_000, |app| has_arrived(app, unit));
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(&mut app, 2);
    assert_eq!((status(&app, unit), desired(&app, unit)), (PathStatus::Idle, Vec2::ZERO));
}

#[test]
fn it_follows_and_stops_near_enough() {
    let mut app = app_with(&field(60, 30));
    add_walk(&mut app);
    let target = app.world_mut().spawn(Transform::from_xyz(300.0, 100.0, 0.0)).id();
    let unit = spawn(&mut app, (2, 2));
    let follow = PathRequest::follow(target).within(3);
    app.world_mut().entity_mut(unit).insert(follow);
    for tick in 0..1_200 {
        let mut place = app.world_mut().get_mut::<Transform>(target).unwrap();
        // To and fro, over 50 cells.
        let way = (tick % 1_000 - 500i32).abs() as f32;
        place.translation.x = 50.0 + way;
        app.update();
    }
    run(&mut app, 400);
    let distance = position(&app, unit).distance(position(&app, target)) / 10.0;
    assert!((2.0..4.0).contains(&distance), "{distance} cells from its target");
    assert!(has_arrived(&app, unit));
}

/// From the side of a wall into which it was knocked it comes out on that side.
#[test]
fn out_of_a_wall_it_comes_on_its_side() {
    for above in [true, false] {
        let mut app = app_with(&field(30, 11));
        add_walk(&mut app);
        block(&mut app, CellRect::new(Cell::new(0, 5), 29, 1));
        let unit = spawn(&mut app, (5, if above { 7 } else { 3 }));
        order(&mut app, unit, (8, if above { 9 } else { 1 }));
        run(&mut app, 10);
        let y = if above { 53.0 } else { 47.0 };
        app.world_mut().get_mut::<Transform>(unit).unwrap().translation.y = y;
        run_until(&mut app, 400, |app| {
            let y = position(app, unit).y;
            assert!(if above { y > 49.0 } else { y < 51.0 }, "{y}: on the other side");
            has_arrived(app, unit)
        });
    }
}

/// It sees its path, but costlier ground is between: it gets another path from where it is.
#[test]
fn pushed_onto_costlier_ground_it_comes_back() {
    for push in [13.0, 16.0, 24.0, 32.0] {
        let profile = Profile::default().with(TerrainId(b'G'), 48);
        let mut app = app();
        grid(&mut app).set_profiles(vec![profile]);
        let rows: Vec<u8> =
            (0..11).flat_map(|y| vec![if y == 5 { b'.' } else { b'G' }; 40]).collect();
        let level = NavGrid::from_terrain(40, 11, rows).unwrap();
        grid(&mut app).insert(GridId(0), level, frame_of(Topology::Square));
        add_walk(&mut app);
        let unit = spawn(&mut app, (1, 5));
        order(&mut app, unit, (38, 5));
        run_until(&mut app, 200, |app| position(app, unit).x > 120.0);
        app.world_mut().get_mut::<Transform>(unit).unwrap().translation.y += push;
        run_until(&mut app, 1_500, |app| has_arrived(app, unit));
    }
}

/// A body that cannot get nearer has arrived within the radius that the game sets, but not on the other side of a wall.
#[test]
fn it_arrives_within_its_radius() {
    let mut app = app_with(&field(40, 12));
    add_walk(&mut app);
    for radius in [0.3, 0.6, 1.0, 2.0, 3.0] {
        let unit = spawn(&mut app, (2, 5));
        let steering = PathSteering::new(8.0).arrival_radius(radius);
        app.world_mut().entity_mut(unit).insert(steering);
        order(&mut app, unit, (30, 5));
        run_until(&mut app, 600, |app| has_arrived(app, unit));
        let left = (300.0 - position(&app, unit).x) / 10.0;
        assert!((radius - 0.2..=radius).contains(&left), "{left} within {radius}");
    }
    // The goal is behind a wall, two cells away, and the path leads around the wall.
    let mut app = app_with(&field(40, 12));
    block(&mut app, CellRect::new(Cell::new(20, 0), 1, 11));
    add_walk(&mut app);
    let unit = spawn(&mut app, (2, 2));
    let steering = PathSteering::new(8.0).arrival_radius(3.0);
    app.world_mut().entity_mut(unit).insert(steering);
    order(&mut app, unit, (21, 2));
    run_until(&mut app, 900, |app| has_arrived(app, unit));
    assert!(position(&app, unit).x > 200.0, "it is behind the wall");
}

/// A body that physics stops before a rock in nobody's grid slides past it, on either side; in an alley it is stuck, until the rock is gone.
#[test]
fn held_by_something_it_passes_it_or_is_stuck() {
    #[derive(Resource)]
    struct Rock(Vec2);
    const APART: f32 = 7.0; // of ten units for a cell
    fn collide(rock: Option<Res<Rock>>, mut units: Query<&mut Transform, With<PathSteering>>) {
        for mut unit in &mut units {
            let Some(rock) = &rock else {
                continue;
            };
            let off = unit.translation.truncate() - rock.0;
            if off.length() < APART {
                unit.translation = (rock.0 + off.normalize() * APART).extend(0.0);
            }
        }
    }
    // In an open field the rock is straight in its way. Above the middle there is a wall, or below, or on both sides.
    for (walls, passes) in [(&[][..], true), (&[6], true), (&[4], true), (&[4, 6], false)] {
        for speed in [2.0, 8.0, 20.0] {
            let mut app = app_with(&field(40, 11));
            add_walk(&mut app);
            app.add_systems(FixedUpdate, collide.after(walk))
                .insert_resource(Rock(Vec2::new(150.0, 50.0)));
            for &y in walls {
                block(&mut app, CellRect::new(Cell::new(0, y), 40, 1));
            }
            let unit = spawn(&mut app, (2, 5));
            app.world_mut().entity_mut(unit).insert(PathSteering::new(speed));
            order(&mut app, unit, (30, 5));
            if !passes {
                let ticks = run_until(&mut app, 1_500, |app| {
                    status(app, unit) == PathStatus::Stuck(Hindrance::Obstacle)
                });
                assert!(ticks > 512, "stuck after {ticks} ticks at {speed}");
                run(&mut app, 500);
                assert_eq!(status(&app, unit), PathStatus::Stuck(Hindrance::Obstacle));
                app.world_mut().remove_resource::<Rock>();
                run_until(&mut app, 600, |app| matches!(status(app, unit), PathStatus::Walking(_)));
            }
            run_until(&mut app, 2_500, |app| has_arrived(app, unit));
            assert_eq!(
                (arrivals(&app, unit), failures(&app, unit)),
                (1, vec![]),
                "{walls:?} at {speed}"
            );
        }
    }
}

/// A unit that a speed limit holds is not stuck, and goes straight on after that.
#[test]
fn held_by_a_speed_limit_it_goes_straight_on() {
    let mut app = app_with(&field(40, 11));
    add_walk(&mut app);
    let unit = spawn(&mut app, (2, 5));
    order(&mut app, unit, (30, 5));
    run(&mut app, 60);
    app.world_mut().entity_mut(unit).insert(SpeedLimit(0.0));
    run(&mut app, 700);
    assert!(matches!(status(&app, unit), PathStatus::Walking(_)), "{:?}", status(&app, unit));
    app.world_mut().entity_mut(unit).remove::<SpeedLimit>();
    run_until(&mut app, 600, |app| {
        assert!((position(app, unit).y - 50.0).abs() < 0.01, "at {}", position(app, unit));
        has_arrived(app, unit)
    });
}

/// A follower that stops a little before its last cell, as a large radius makes it, arrives once.
#[test]
fn a_follower_with_a_large_radius_arrives_once() {
    for radius in [0.3, 0.6, 1.5] {
        let mut app = app_with(&field(40, 11));
        add_walk(&mut app);
        let target = app.world_mut().spawn(Transform::from_xyz(300.0, 50.0, 0.0)).id();
        let unit = spawn(&mut app, (2, 5));
        let steering = PathSteering::new(8.0).arrival_radius(radius);
        app.world_mut().entity_mut(unit).insert((steering, PathRequest::follow(target)));
        run_until(&mut app, 600, |app| has_arrived(app, unit));
        run(&mut app, 100);
        assert_eq!((arrivals(&app, unit), has_arrived(&app, unit)), (1, true), "{radius}");
        // It goes on when its target does.
        app.world_mut().get_mut::<Transform>(target).unwrap().translation.x = 100.0;
        run(&mut app, 4);
        run_until(&mut app, 600, |app| has_arrived(app, unit));
        run(&mut app, 100);
        assert_eq!(arrivals(&app, unit), 2, "{radius}");
        assert!((position(&app, unit).x - 100.0).abs() <= 10.0 * radius + 5.0);
    }
}

/// A unit that becomes a ghost in the moment in which its path is found walks from where it is.
#[test]
fn made_a_ghost_as_its_path_is_found_it_walks_from_where_it_is() {
    let mut app = app_with(&field(40, 11));
    record(&mut app);
    let unit = spawn(&mut app, (20, 5));
    app.add_observer(|found: On<PathFound>, mut commands: Commands| {
        commands.entity(found.entity).insert_if_new(Critter::new(8.0).ghost());
    });
    order(&mut app, unit, (30, 5));
    let mut last = position(&app, unit);
    run_until(&mut app, 600, |app| {
        let now = position(app, unit);
        assert!(now.distance(last) < 3.0, "from {last} to {now}");
        let cell = app.world().get::<CritterState>(unit).map(CritterState::cell);
        assert!(cell.is_none_or(|cell| cell.x >= 20), "on {cell:?}");
        last = now;
        has_arrived(app, unit)
    });
}
