//! A level drawn in Tiled.

use bevy::prelude::*;
use bevy_ecs_tiled::prelude::*;
use bevy_tilepath::prelude::*;
use tilepath_integrations::tiled_level::TiledLevelPlugin;

use crate::app::{have_arrived, headless, update_until};

const UNITS: usize = 12;

fn load() -> App {
    let mut app = headless();
    let config =
        TiledPluginConfig { tiled_types_export_file: None, tiled_types_filter: TiledFilter::All };
    app.add_plugins((TiledPlugin(config), TiledLevelPlugin));
    let map = app.world().resource::<AssetServer>().load("integrations/levels/harbor.tmx");
    app.world_mut().spawn((TiledMap(map), TilemapAnchor::Center));
    update_until(&mut app, "the level is there", |world| {
        world.resource::<NavGrids>().get(GridId::default()).is_some()
            && world.query::<&Critter>().iter(world).count() == UNITS
    });
    app
}

/// The cell in a column, and in a row that is counted from the top, as in Tiled.
fn cell(x: i32, y: i32) -> Cell {
    Cell::new(x, 21 - y)
}

#[test]
fn tiles_become_terrain_and_buildings_block() {
    let app = load();
    let grids = app.world().resource::<NavGrids>();
    let grid = grids.get(GridId::default()).expect("loaded");
    assert_eq!(grid.rect(), CellRect::new(Cell::new(0, 0), 40, 22));
    let terrain = |x, y| grid.terrain(cell(x, y)).map(|terrain| terrain.0 as char);
    assert_eq!(terrain(0, 0), Some('T'));
    assert_eq!(terrain(1, 1), Some('G'));
    assert_eq!(terrain(30, 0), Some('W'));
    assert_eq!(terrain(2, 12), Some('S'));
    assert_eq!(terrain(7, 17), Some('.'));
    // The upper layer counts: walls on grass, bridges over water.
    assert_eq!(terrain(3, 3), Some('@'));
    assert_eq!(terrain(7, 15), Some('.'));
    assert_eq!(terrain(26, 11), Some('.'));
    // A house: its rectangle in the object layer.
    let house: Vec<Cell> = grid.rect().cells().filter(|&at| grid.blockers(at) > 0).collect();
    assert_eq!(house.len(), 6 + 6 + 8 + 2);
    assert!(house.contains(&cell(13, 8)) && house.contains(&cell(15, 9)));
    assert!(!house.contains(&cell(16, 8)) && !house.contains(&cell(13, 10)));
}

#[test]
fn units_start_where_they_were_drawn_and_take_the_ferry() {
    let mut app = load();
    app.update();
    let world = app.world_mut();
    let mut cells: Vec<Cell> =
        world.query::<&CritterState>().iter(world).map(CritterState::cell).collect();
    cells.sort_unstable();
    let mut drawn: Vec<Cell> = (4..7).flat_map(|y| (4..8).map(move |x| cell(x, y))).collect();
    drawn.sort_unstable();
    assert_eq!(cells, drawn);
    let mut speeds: Vec<f32> =
        world.query::<&Critter>().iter(world).map(|critter| critter.speed).collect();
    speeds.sort_by(f32::total_cmp);
    assert_eq!((speeds[3], speeds[4]), (3.0, 4.0));

    let units: Vec<Entity> = world.query_filtered::<Entity, With<Critter>>().iter(world).collect();
    let market = cell(33, 3);
    app.world_mut().spawn(Group::to(market, units));
    app.update();
    update_until(&mut app, "all are on the island", have_arrived);
    let world = app.world_mut();
    for state in world.query::<&CritterState>().iter(world) {
        assert!(state.cell().x >= 28, "{:?} is not on the island", state.cell());
    }
}

#[test]
fn what_an_object_does_ends_with_its_entity() {
    let mut app = load();
    let ferry = |world: &mut World| world.query_filtered::<Entity, With<NavLink>>().single(world);
    let ferry = ferry(app.world_mut()).expect("one ferry");
    app.world_mut().despawn(ferry);
    let world = app.world_mut();
    let unit = world.query_filtered::<Entity, With<Critter>>().iter(world).next().expect("units");
    world.entity_mut(unit).insert(PathRequest::to(cell(33, 3)));
    let house = cell(13, 8);
    let buildings: Vec<Entity> =
        world.query_filtered::<Entity, With<NavBlocker>>().iter(world).collect();
    for building in buildings {
        world.despawn(building);
    }
    update_until(&mut app, "the island is out of reach", |world| {
        world
            .query::<&PathStatus>()
            .iter(world)
            .any(|status| matches!(status, PathStatus::Failed(_)))
    });
    let grids = app.world().resource::<NavGrids>();
    assert_eq!(grids.get(GridId::default()).map(|grid| grid.blockers(house)), Some(0));
}

/// The map is spawned again, while a unit of the game's own walks on it.
#[test]
fn a_map_that_is_spawned_again_is_read_again() {
    let mut app = load();
    let start = Vec3::new(-300.0, 60.0, 0.0);
    let world = app.world_mut();
    let own = (Critter::new(4.0), Transform::from_translation(start));
    let own = world.spawn((own, PathRequest::to(cell(20, 17)))).id();
    for _ in 0..100 {
        app.update();
    }
    let world = app.world_mut();
    let mut units = world.query_filtered::<Entity, (With<Critter>, With<TiledObject>)>();
    let before: Vec<Entity> = units.iter(world).collect();
    assert_eq!(before.len(), UNITS);
    let map = world.query_filtered::<Entity, With<TiledMap>>().single(world).expect("one map");
    world.entity_mut(map).insert(RespawnTiledMap);
    app.update();
    update_until(&mut app, "the level is there again", |world| {
        world.query_filtered::<(), (With<Critter>, With<TiledObject>)>().iter(world).count()
            == UNITS
            && before.iter().all(|&unit| world.get_entity(unit).is_err())
    });
    app.update();
    let grids = app.world().resource::<NavGrids>();
    let grid = grids.get(GridId::default()).expect("loaded");
    assert_eq!(grid.terrain(cell(7, 15)).map(|terrain| terrain.0), Some(b'.'));
    assert_eq!(grid.blockers(cell(13, 8)), 1);
    update_until(&mut app, "the game's own unit has arrived", |world| {
        matches!(world.get(own), Some(PathStatus::Arrived(_)))
    });
}
