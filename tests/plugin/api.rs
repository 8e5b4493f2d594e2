//! Traps of the API that are closed, a test each; registered types and diagnostics.

use std::collections::BTreeMap;

use bevy::{
    app::RunFixedMainLoop,
    diagnostic::{DiagnosticsPlugin, DiagnosticsStore},
    prelude::*,
    state::app::StatesPlugin,
};
use bevy_tilepath::prelude::*;

use crate::common::{
    app::{app, app_with, field, make_pool, run},
    units::block,
};

const GRID: GridId = GridId(0);
const CELL: f32 = 10.0;

fn at(x: i32, y: i32) -> Transform {
    Transform::from_xyz(x as f32 * CELL, y as f32 * CELL, 0.0)
}

fn add_tank_profile(app: &mut App) -> ProfileId {
    app.world_mut().resource_mut::<NavGrids>().add_profile(Profile::default().size(2))
}

fn get<C: Component + Clone>(app: &App, entity: Entity) -> C {
    app.world().get::<C>(entity).unwrap().clone()
}

fn cells(path: &NavPath) -> Vec<Cell> {
    path.cells().collect()
}

#[test]
fn a_bare_request_is_planned_for_the_units_own_profile() {
    let mut app = app_with(&field(20, 9));
    let tank = add_tank_profile(&mut app);
    // A wall with a door for one cell, and a gap of two cells at the upper border.
    block(&mut app, CellRect::new(Cell::new(10, 0), 1, 2));
    block(&mut app, CellRect::new(Cell::new(10, 3), 1, 4));
    let large =
        (Critter::new(8.0), NavAgent::new(tank), at(3, 2), PathRequest::to(Cell::new(16, 2)));
    let large = app.world_mut().spawn(large).id();
    let small = (at(3, 1), PathRequest::to(Cell::new(16, 2)));
    let small = app.world_mut().spawn(small).id();
    app.update();
    let passes = |app: &App, unit, y| cells(&get(app, unit)).contains(&Cell::new(10, y));
    assert!(passes(&app, large, 7), "the tank goes through the gap");
    assert!(passes(&app, small, 2), "one cell fits through the door");
    assert_eq!(get::<RequestState>(&app, large).query().profile, tank);
}

#[test]
fn a_bare_request_moves_on_the_units_own_grid() {
    let mut app = app_with(&field(4, 4));
    let frame = GridFrame::square(Vec2::new(500.0, 0.0), Vec2::splat(CELL));
    let level = NavGrid::new(12, 4, TerrainId::GROUND).unwrap();
    app.world_mut().resource_mut::<NavGrids>().insert(GridId(7), level, frame);
    let place = Transform::from_xyz(500.0, 0.0, 0.0);
    let agent = NavAgent::default().on(GridId(7));
    let request = PathRequest::to(Cell::new(11, 3));
    let unit = app.world_mut().spawn((Critter::new(8.0), agent, place, request)).id();
    run(&mut app, 200);
    assert_eq!(get::<PathStatus>(&app, unit), PathStatus::Arrived(PathKind::Complete));
    assert_eq!(get::<RequestState>(&app, unit).grid(), GridId(7));
}

#[test]
fn patrols_and_groups_take_the_units_own_profile() {
    let mut app = app_with(&field(30, 30));
    let tank = add_tank_profile(&mut app);
    let patrol = Order::patrol([Cell::new(20, 20), Cell::new(2, 2)], PatrolMode::Round);
    let queue = OrderQueue::new().then(patrol);
    let guard = (Critter::new(8.0), NavAgent::new(tank), at(2, 2), queue);
    let guard = app.world_mut().spawn(guard).id();
    let member = (Critter::new(8.0), NavAgent::new(tank), at(10, 2));
    let member = app.world_mut().spawn(member).id();
    app.world_mut().spawn(Group::to(Cell::new(10, 20), [member]));
    run(&mut app, 3);
    assert_eq!(get::<RequestState>(&app, guard).query().profile, tank);
    assert_eq!(get::<RequestState>(&app, member).query().profile, tank);
    run(&mut app, 300);
    assert_eq!(get::<PathStatus>(&app, member), PathStatus::Arrived(PathKind::Complete));
}

#[test]
fn patrols_and_groups_move_on_the_units_own_grid() {
    let mut app = app_with(&field(4, 4));
    let frame = GridFrame::square(Vec2::new(500.0, 0.0), Vec2::splat(CELL));
    let level = NavGrid::new(20, 10, TerrainId::GROUND).unwrap();
    app.world_mut().resource_mut::<NavGrids>().insert(GridId(7), level, frame);
    let on_grid = |x: f32, y: f32| {
        let place = Transform::from_xyz(500.0 + x * CELL, y * CELL, 0.0);
        (Critter::new(20.0), NavAgent::default().on(GridId(7)), place)
    };
    let patrol = Order::patrol([Cell::new(18, 8), Cell::new(1, 8)], PatrolMode::Round);
    let queue = OrderQueue::new().then(patrol);
    let guard = app.world_mut().spawn((on_grid(1.0, 8.0), queue)).id();
    let members: Vec<Entity> =
        (0..4).map(|y| app.world_mut().spawn(on_grid(1.0, y as f32)).id()).collect();
    app.world_mut().spawn(Group::to(Cell::new(17, 2), members.clone()));
    run(&mut app, 3);
    assert_eq!(get::<RequestState>(&app, guard).grid(), GridId(7));
    run(&mut app, 120);
    for member in members {
        assert_eq!(get::<PathStatus>(&app, member), PathStatus::Arrived(PathKind::Complete));
        let cell = get::<CritterState>(&app, member).cell();
        assert!(cell.x.abs_diff(17).max(cell.y.abs_diff(2)) <= 1, "{cell}");
    }
}

#[test]
fn a_unit_that_becomes_another_kind_on_its_way_gets_another_path() {
    let mut app = app_with(&field(30, 9));
    let tank = add_tank_profile(&mut app);
    block(&mut app, CellRect::new(Cell::new(15, 0), 1, 2));
    block(&mut app, CellRect::new(Cell::new(15, 3), 1, 4)); // a door for one cell at (15, 2), a gap of two above
    let request = PathRequest::to(Cell::new(26, 2));
    let unit = app.world_mut().spawn((Critter::new(8.0), at(2, 2), request)).id();
    run(&mut app, 20);
    assert!(cells(&get(&app, unit)).contains(&Cell::new(15, 2)));
    app.world_mut().get_mut::<NavAgent>(unit).unwrap().profile = tank;
    run(&mut app, 3);
    assert!(
        cells(&get(&app, unit)).contains(&Cell::new(15, 7)),
        "it does not fit through the door"
    );
    run(&mut app, 600);
    assert_eq!(get::<PathStatus>(&app, unit), PathStatus::Arrived(PathKind::Complete));
    assert_eq!(get::<CritterState>(&app, unit).cell(), Cell::new(26, 2));
}

/// Terminal events of each unit.
#[derive(Resource, Default)]
struct Ends {
    arrived: BTreeMap<Entity, u32>,
    failed: BTreeMap<Entity, u32>,
    replaced: BTreeMap<Entity, u32>,
    removed: BTreeMap<Entity, u32>,
}

impl Ends {
    fn of(&self, unit: Entity) -> [u32; 4] {
        [&self.arrived, &self.failed, &self.replaced, &self.removed]
            .map(|ends| ends.get(&unit).copied().unwrap_or(0))
    }
}

fn count_ends(app: &mut App) {
    app.init_resource::<Ends>()
        .add_observer(|event: On<Arrived>, mut ends: ResMut<Ends>| {
            *ends.arrived.entry(event.entity).or_default() += 1;
        })
        .add_observer(|event: On<PathFailed>, mut ends: ResMut<Ends>| {
            *ends.failed.entry(event.entity).or_default() += 1;
        })
        .add_observer(|event: On<PathCanceled>, ends: ResMut<Ends>| {
            let ends = match event.reason {
                CancelReason::Replaced => &mut ends.into_inner().replaced,
                CancelReason::Removed => &mut ends.into_inner().removed,
            };
            *ends.entry(event.entity).or_default() += 1;
        });
}

#[test]
fn every_request_ends_with_exactly_one_event_and_only_a_missing_path_is_a_failure() {
    let mut app = app_with(&field(40, 5));
    count_ends(&mut app);
    let unit = app.world_mut().spawn((Critter::new(8.0), at(2, 2))).id();
    let send = |app: &mut App, goal: Cell, ticks| {
        app.world_mut().entity_mut(unit).insert(PathRequest::to(goal));
        run(app, ticks);
        app.world().resource::<Ends>().of(unit)
    };
    assert_eq!(send(&mut app, Cell::new(20, 2), 10), [0, 0, 0, 0], "under way");
    assert_eq!(send(&mut app, Cell::new(10, 2), 200), [1, 0, 1, 0], "replaced, then arrived");
    assert_eq!(send(&mut app, Cell::new(-3, 2), 10), [1, 1, 1, 0], "there is no such cell");
    assert_eq!(send(&mut app, Cell::new(30, 2), 10), [1, 1, 1, 0], "under way again");
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(&mut app, 10);
    assert_eq!(app.world().resource::<Ends>().of(unit), [1, 1, 1, 1]);
    assert_eq!(get::<PathStatus>(&app, unit), PathStatus::Idle);
}

#[test]
fn a_group_goes_to_any_target_and_despawns_when_it_has_come_to_rest() {
    let mut app = app_with(&field(40, 40));
    let flag = app.world_mut().spawn(at(30, 30)).id();
    let targets: [Target; 5] = [
        Cell::new(30, 30).into(),
        Vec2::new(300.0, 300.0).into(),
        flag.into(),
        CellRect::new(Cell::new(28, 28), 5, 5).into(),
        Target::Nearest(vec![Cell::new(30, 30).into(), Cell::new(3, 35).into()]),
    ];
    for target in targets {
        let units: Vec<Entity> =
            (0..9).map(|i| app.world_mut().spawn((Critter::new(30.0), at(i, 2))).id()).collect();
        let group = app.world_mut().spawn(Group::to(target.clone(), units.clone())).id();
        run(&mut app, 300);
        for &unit in &units {
            let cell = get::<CritterState>(&app, unit).cell();
            let (dx, dy) = (cell.x.abs_diff(30), cell.y.abs_diff(30));
            assert!(dx.max(dy) <= 2, "{target:?}: {cell}");
            assert!(app.world().get::<GroupSlot>(unit).is_none(), "nothing is left of the group");
        }
        assert!(app.world().get_entity(group).is_err(), "{target:?}: the group is gone");
        units.into_iter().for_each(|unit| assert!(app.world_mut().despawn(unit)));
    }
}

#[test]
fn an_empty_group_despawns_and_a_persistent_one_stays() {
    let mut app = app_with(&field(20, 20));
    let empty = app.world_mut().spawn(Group::to(Cell::new(3, 3), [] as [Entity; 0])).id();
    let unit = app.world_mut().spawn((Critter::new(8.0), at(2, 2))).id();
    let dying = app.world_mut().spawn(Group::to(Cell::new(12, 12), [unit])).id();
    let other = app.world_mut().spawn((Critter::new(8.0), at(5, 2))).id();
    let kept = app.world_mut().spawn(Group::to(Cell::new(12, 3), [other]).persistent()).id();
    run(&mut app, 5);
    assert!(app.world_mut().despawn(unit));
    run(&mut app, 200);
    assert!(app.world().get_entity(empty).is_err());
    assert!(app.world().get_entity(dying).is_err());
    assert_eq!(get::<GroupSlot>(&app, other).group, kept);
}

#[derive(Resource, Default)]
struct Invalidated(Vec<Entity>);

#[test]
fn a_unit_that_the_game_moves_is_notified_when_its_path_is_cut_off() {
    let mut app = app_with(&field(30, 11));
    app.init_resource::<Invalidated>().add_observer(
        |event: On<PathInvalidated>, mut all: ResMut<Invalidated>| all.0.push(event.entity),
    );
    let unit = app.world_mut().spawn((at(2, 5), PathRequest::to(Cell::new(25, 5)))).id();
    app.update();
    assert_eq!(get::<PathStatus>(&app, unit), PathStatus::Found(PathKind::Complete));
    block(&mut app, CellRect::new(Cell::new(10, 0), 1, 3)); // beside the path
    run(&mut app, 3);
    assert!(app.world().resource::<Invalidated>().0.is_empty());
    *app.world_mut().get_mut::<Transform>(unit).unwrap() = at(12, 5);
    block(&mut app, CellRect::new(Cell::new(8, 4), 1, 3)); // behind the unit
    run(&mut app, 3);
    assert!(app.world().resource::<Invalidated>().0.is_empty());
    block(&mut app, CellRect::new(Cell::new(20, 4), 1, 3)); // ahead of it
    run(&mut app, 3);
    assert_eq!(app.world().resource::<Invalidated>().0, [unit]);
    assert_eq!(get::<PathStatus>(&app, unit), PathStatus::Found(PathKind::Complete));
    let path = get::<NavPath>(&app, unit);
    assert_eq!((path.start(), path.end()), (Cell::new(12, 5), Cell::new(25, 5)));
    assert!(path.cells().all(|cell| cell.x != 20 || !(4..7).contains(&cell.y)));
}

#[test]
fn a_unit_that_waits_on_its_way_is_not_moving() {
    let mut app = app_with(&field(20, 1));
    let guard = app.world_mut().spawn((Critter::new(8.0), Unpushable, at(10, 0))).id();
    let request = PathRequest::to(Cell::new(18, 0));
    let unit = app.world_mut().spawn((Critter::new(8.0), at(2, 0), request)).id();
    run(&mut app, 20);
    let state = get::<CritterState>(&app, unit);
    assert!(state.is_moving());
    assert!((state.velocity() - Vec2::new(8.0 / 64.0, 0.0)).length() < 1.0e-4, "{state:?}");
    run(&mut app, 200);
    assert_eq!(get::<PathStatus>(&app, unit), PathStatus::Walking(PathKind::Complete));
    let state = get::<CritterState>(&app, unit);
    assert!(!state.is_moving(), "it waits in front of the guard");
    assert_eq!(state.velocity(), Vec2::ZERO);
    assert!(!get::<CritterState>(&app, guard).is_moving());
}

#[test]
fn a_ghost_is_moving_only_while_it_walks() {
    let mut app = app_with(&field(20, 1));
    let request = PathRequest::to(Cell::new(18, 0));
    let ghost = app.world_mut().spawn((Critter::new(8.0).ghost(), at(2, 0), request)).id();
    run(&mut app, 20);
    let state = get::<CritterState>(&app, ghost);
    assert!(state.is_moving());
    assert!((state.velocity() - Vec2::new(8.0 / 64.0, 0.0)).length() < 1.0e-4, "{state:?}");
    run(&mut app, 200);
    let state = get::<CritterState>(&app, ghost);
    assert_eq!((state.is_moving(), state.velocity()), (false, Vec2::ZERO));
    assert_eq!(get::<PathStatus>(&app, ghost), PathStatus::Arrived(PathKind::Complete));
}

#[test]
fn facing_is_right_in_the_world_on_an_isometric_map() {
    let mut app = app();
    let level = NavGrid::new(12, 12, TerrainId::GROUND).unwrap();
    // A diamond map: columns go right and down, rows right and up.
    let frame = GridFrame::from_axes(Vec2::ZERO, Vec2::new(16.0, -8.0), Vec2::new(16.0, 8.0));
    app.world_mut().resource_mut::<NavGrids>().insert(GRID, level, frame);
    for (goal, direction, compass) in [
        (Cell::new(9, 2), Direction::East, Direction::SouthEast),
        (Cell::new(2, 9), Direction::North, Direction::NorthEast),
        (Cell::new(9, 9), Direction::NorthEast, Direction::East),
    ] {
        let place = frame.cell_center(Cell::new(2, 2)).extend(0.0);
        for critter in [Critter::new(8.0), Critter::new(8.0).ghost()] {
            let place = Transform::from_translation(place);
            let unit = app.world_mut().spawn((critter, place, PathRequest::to(goal))).id();
            run(&mut app, 15);
            let facing = get::<Facing>(&app, unit);
            assert_eq!((facing.direction, facing.compass()), (direction, compass));
            let moved = get::<Transform>(&app, unit).translation - place.translation;
            assert!(facing.world.dot(moved.truncate().normalize()) > 0.999, "{facing:?}");
            assert!(app.world_mut().despawn(unit));
            app.update();
        }
    }
}

#[derive(States, Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Screen {
    #[default]
    Menu,
    Level,
    Paused,
}

fn enter(app: &mut App, screen: Screen) {
    app.world_mut().resource_mut::<NextState<Screen>>().set(screen);
    app.update();
}

#[test]
fn a_level_can_be_paused_left_and_followed_by_another() {
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin, TilePathPlugin::default()))
        .insert_resource(bevy::time::TimeUpdateStrategy::FixedTimesteps(1))
        .init_state::<Screen>()
        .configure_sets(FixedUpdate, TilePathSystems::All.run_if(in_state(Screen::Level)))
        .configure_sets(RunFixedMainLoop, TilePathSystems::All.run_if(in_state(Screen::Level)))
        .add_systems(OnEnter(Screen::Menu), |mut grids: ResMut<NavGrids>| {
            grids.remove(GRID);
        });
    let start_level = |app: &mut App, side: u32, count: i32| -> (Vec<Entity>, Entity) {
        let level = NavGrid::new(side, side, TerrainId::GROUND).unwrap();
        let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(CELL));
        app.world_mut().resource_mut::<NavGrids>().insert(GRID, level, frame);
        let units: Vec<Entity> = (0..count)
            .map(|i| {
                let request = PathRequest::to(Cell::new(i, side as i32 - 1));
                app.world_mut().spawn((Critter::new(8.0), at(i, 0), request)).id()
            })
            .collect();
        app.world_mut().spawn(Group::to(Cell::new(3, 3), units[..2].to_vec()));
        let tower = app.world_mut().spawn(NavBlocker::at(CellRect::single(Cell::new(5, 5)))).id();
        let stops = [Cell::new(9, 9), Cell::new(9, 3)];
        let queue = OrderQueue::new().then(Order::patrol(stops, PatrolMode::Round));
        app.world_mut().entity_mut(units[3]).remove::<PathRequest>().insert(queue);
        (units, tower)
    };
    app.update(); // into the menu
    let (first, tower) = start_level(&mut app, 30, 8);
    let goal = Cell::new(20, 20);
    let field = app.world_mut().resource_mut::<FlowFields>().request(GRID, ProfileId(0), goal);
    run(&mut app, 10);
    assert_eq!(
        get::<PathStatus>(&app, first[5]),
        PathStatus::Searching,
        "nothing runs in the menu"
    );
    enter(&mut app, Screen::Level);
    run(&mut app, 30);
    enter(&mut app, Screen::Paused);
    let stopped: Transform = get(&app, first[5]);
    run(&mut app, 50);
    assert_eq!(get::<Transform>(&app, first[5]), stopped, "paused");
    enter(&mut app, Screen::Level);
    run(&mut app, 10);
    assert_ne!(get::<Transform>(&app, first[5]), stopped, "it continues");
    // Left in the middle of everything, with requests not yet read.
    app.world_mut().entity_mut(first[7]).insert(PathRequest::to(Cell::new(1, 1)));
    let groups: Vec<Entity> =
        app.world_mut().query_filtered::<Entity, With<Group>>().iter(app.world()).collect();
    let gone = first.into_iter().chain(groups).chain([tower]);
    gone.for_each(|entity| assert!(app.world_mut().despawn(entity)));
    enter(&mut app, Screen::Menu);
    run(&mut app, 20);
    let (second, tower) = start_level(&mut app, 12, 4);
    app.world_mut().despawn(tower);
    enter(&mut app, Screen::Level);
    let cost = |app: &App, x, y| {
        let grids = app.world().resource::<NavGrids>();
        grids.get(GRID).unwrap().cost(ProfileId(0), Cell::new(x, y))
    };
    assert!(cost(&app, 5, 5) > 0, "no tower of the first level stands in the second");
    let fields = app.world().resource::<FlowFields>();
    assert!(
        !fields.is_ready(&field),
        "the field of the first level leads nowhere: it has no such goal"
    );
    run(&mut app, 300);
    let crowds = app.world().resource::<Crowds>();
    assert_eq!(crowds.get(GRID).unwrap().len(), 4, "only the units of this level");
    let counters = *app.world().resource::<PathCounters>();
    assert_eq!((counters.waiting, counters.in_flight, counters.waiting_again), (0, 0, 0));
    for &unit in &second[..3] {
        assert_eq!(get::<PathStatus>(&app, unit), PathStatus::Arrived(PathKind::Complete));
    }
    assert!(get::<PathStatus>(&app, second[3]).is_under_way(), "its patrol goes on");
}

#[cfg(feature = "tilemap")]
#[test]
fn edits_of_a_grid_that_tiles_write_are_refused_with_a_reason() {
    use bevy_ecs_tilemap::prelude::*;
    let mut app = app();
    let size = TilemapSize { x: 4, y: 4 };
    let tile_size = (TilemapGridSize { x: 16.0, y: 16.0 }, TilemapTileSize { x: 16.0, y: 16.0 });
    let source = NavSource::by_texture([TerrainId::GROUND, TerrainId::VOID]);
    let map = (size, tile_size, TilemapType::Square, Transform::default(), source);
    let map = app.world_mut().spawn(map).id();
    for (x, y) in (0..4).flat_map(|y| (0..4).map(move |x| (x, y))) {
        app.world_mut().spawn((TilePos { x, y }, TilemapId(map), TileTextureIndex(0)));
    }
    app.update();
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    assert_eq!(grids.get_mut(GRID).err(), Some(GridAccessError::FedByTiles(GRID)));
    assert_eq!(grids.get_mut(GridId(5)).err(), Some(GridAccessError::NoSuchGrid(GridId(5))));
    // Blockers do the same, and outlast a rebuild of the grid.
    let tower = NavBlocker::sized(1, 1);
    app.world_mut().spawn((tower, Transform::from_xyz(16.0, 16.0, 0.0)));
    app.update();
    let cost = |app: &App| {
        let grids = app.world().resource::<NavGrids>();
        grids.get(GRID).unwrap().cost(ProfileId(0), Cell::new(1, 1))
    };
    assert_eq!(cost(&app), 0);
    app.world_mut().get_mut::<NavSource>(map).unwrap().set_changed();
    app.update();
    assert_eq!(cost(&app), 0, "after a rebuild, too");
}

#[test]
fn components_and_resources_are_registered() {
    let app = app();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    for name in [
        "PathRequest",
        "PathStatus",
        "NavPath",
        "RequestState",
        "Critter",
        "CritterState",
        "Facing",
        "NavBlocker",
        "TilePathSettings",
        "PathCounters",
        "NavGrids",
        "Pathfinder",
        "PathFound",
        "PathFailed",
        "PathCanceled",
        "PathInvalidated",
        "Arrived",
        "OrderBegun",
        "OrderEnded",
        "GroupArrived",
        "NavAgent",
        "Group",
        "OrderQueue",
        "PathFailure",
        "Cell",
    ] {
        let found = registry.iter().any(|entry| {
            let path = entry.type_info().type_path_table();
            path.ident() == Some(name) && path.crate_name() == Some("bevy_tilepath")
        });
        assert!(found, "{name} is not registered");
    }
}

#[test]
fn counters_are_published_as_diagnostics() {
    make_pool();
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        DiagnosticsPlugin,
        TilePathPlugin::default(),
        TilePathDiagnosticsPlugin,
    ));
    app.update();
    let store = app.world().resource::<DiagnosticsStore>();
    let waiting = store.get(&TilePathDiagnosticsPlugin::WAITING).unwrap();
    assert_eq!(waiting.value(), Some(0.0));
}
