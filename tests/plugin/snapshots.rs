//! Snapshots: a world that was put back, and another one into which a snapshot was loaded, go on exactly as the first did.

use bevy::{
    ecs::{entity::EntityHashMap, entity_disabling::Disabled},
    prelude::*,
};
use bevy_tilepath::prelude::*;

use crate::common::app::*;
use crate::snapshot_world::{Game, compare};

/// How many worlds each test plays: `TILEPATH_STORMS`, a tenth of it.
fn worlds() -> u64 {
    let storms = std::env::var("TILEPATH_STORMS").ok().and_then(|storms| storms.parse().ok());
    storms.unwrap_or(60_u64).div_ceil(10)
}

/// Ticks until the snapshot, and after it.
const BEFORE: u32 = 90;
const AFTER: u32 = 160;

#[test]
fn a_world_that_is_put_back_goes_on_as_before() {
    let mut busy = 0;
    for seed in 0..worlds() {
        let mut game = Game::lasting(seed);
        game.run(BEFORE + seed as u32 * 7);
        game.run_until_busy();
        let begun = game.clone_script();
        let snapshot = TilePathSnapshot::take(game.app.world_mut()).unwrap();
        busy += u64::from(game.is_busy());
        let first = game.run(AFTER);
        for again in 0..2 {
            game.rewind(begun.clone());
            snapshot.restore(game.app.world_mut()).unwrap();
            let second = game.run(AFTER);
            compare(&first, &second, &format!("seed {seed}, time {again}"));
        }
    }
    assert!(busy * 2 > worlds(), "only {busy} worlds had everything in them");
}

#[test]
fn a_unit_that_was_spawned_since_faces_as_the_game_spawned_it() {
    let mut app = app_with(&field(20, 12));
    spawn_critter(&mut app, (3, 3));
    app.update();
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    let unit = spawn_critter(&mut app, (9, 3));
    app.world_mut().entity_mut(unit).insert(Facing::new(Direction::South));
    run(&mut app, 3);
    snapshot.restore(app.world_mut()).unwrap();
    run(&mut app, 3);
    assert_eq!(app.world().get::<Facing>(unit).unwrap().direction, Direction::South);
    assert_eq!(state(&app, unit).cell(), Cell::new(9, 3));
}

/// A component of which the plugin knows nothing.
#[derive(Component)]
struct OfTheGame;

#[test]
fn another_world_goes_on_from_a_snapshot() {
    let mut busy = 0;
    for seed in 0..worlds() {
        let mut game = Game::new(seed);
        game.run(BEFORE + seed as u32 * 5);
        game.run_until_busy();
        let script = game.clone_script();
        let snapshot = TilePathSnapshot::take(game.app.world_mut()).unwrap();
        busy += u64::from(game.is_busy());
        let first = game.run(AFTER);
        let mut other = Game::empty();
        // Other entities, in another order.
        let junk: Vec<Entity> = (0..40).map(|_| other.app.world_mut().spawn_empty().id()).collect();
        junk.iter().step_by(2).for_each(|&one| other.app.world_mut().entity_mut(one).despawn());
        let mut map = EntityHashMap::default();
        let mut own: Vec<Entity> = snapshot.entities().collect();
        own.reverse();
        for &entity in own.iter().step_by(3) {
            map.insert(entity, other.app.world_mut().spawn_empty().id());
        }
        snapshot.load(other.app.world_mut(), &mut map).unwrap();
        assert!(own.iter().all(|entity| map.contains_key(entity)));
        // The rows of tables are in another order, too.
        for entity in own.iter().step_by(2).filter_map(|entity| map.get(entity)) {
            other.app.world_mut().entity_mut(*entity).insert(OfTheGame);
        }
        other.follow(script, &map);
        let second = other.run(AFTER);
        compare(&first, &second, &format!("seed {seed}"));
    }
    assert!(busy * 2 > worlds(), "only {busy} worlds had everything in them");
}

/// Taking a snapshot, and a second one of the world into which it was loaded, changes nothing.
#[test]
fn snapshots_of_snapshots_are_the_same() {
    let mut game = Game::new(11);
    game.run(BEFORE);
    let mut other = Game::empty();
    let mut map = EntityHashMap::default();
    let snapshot = TilePathSnapshot::take(game.app.world_mut()).unwrap();
    snapshot.load(other.app.world_mut(), &mut map).unwrap();
    let again = TilePathSnapshot::take(other.app.world_mut()).unwrap();
    let script = game.clone_script();
    let mut third = Game::empty();
    let mut map_again = EntityHashMap::default();
    again.load(third.app.world_mut(), &mut map_again).unwrap();
    let whole = map.iter().filter_map(|(&from, to)| Some((from, *map_again.get(to)?))).collect();
    third.follow(script, &whole);
    compare(&game.run(AFTER), &third.run(AFTER), "twice");
}

#[test]
fn a_write_without_a_change_changes_nothing() {
    for seed in 1_000..1_000 + worlds() {
        let first = Game::new(seed).run(BEFORE + AFTER);
        let mut touched = Game::new(seed);
        touched.touches = true;
        compare(&first, &touched.run(BEFORE + AFTER), &format!("seed {seed}"));
    }
}

#[test]
fn entities_made_since_begin_anew() {
    let mut app = app_with(&field(30, 10));
    let old = spawn_critter(&mut app, (2, 2));
    order(&mut app, old, (27, 2));
    run(&mut app, 20);
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    let new = spawn_critter(&mut app, (2, 5));
    order(&mut app, new, (27, 5));
    app.world_mut()
        .entity_mut(old)
        .insert(OrderQueue::new().then(PathRequest::to(Cell::new(9, 9))));
    let wall = app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(20, 0), 1, 8))).id();
    record(&mut app);
    run(&mut app, 40);
    snapshot.restore(app.world_mut()).unwrap();
    assert!(app.world().get::<OrderQueue>(old).is_none(), "its orders were given since");
    run_until(&mut app, 600, |app| {
        [old, new].iter().all(|&unit| matches!(status(app, unit), PathStatus::Arrived(_)))
    });
    assert_eq!(state(&app, old).cell(), Cell::new(27, 2));
    assert_eq!(state(&app, new).cell(), Cell::new(27, 5));
    let grids: &NavGrids = app.world().resource();
    let grid = grids.get(GridId::default()).unwrap();
    assert_eq!(grid.cost(ProfileId(0), Cell::new(20, 4)), 0, "the wall {wall} stands");
    // Once more: what was in the snapshot and is gone is an error, and changes nothing.
    app.world_mut().entity_mut(old).despawn();
    app.update();
    let before = state_checksum(app.world_mut());
    assert_eq!(snapshot.restore(app.world_mut()), Err(SnapshotError::NoSuchEntity(old)));
    assert_eq!(state_checksum(app.world_mut()), before);
    let mut map: EntityHashMap<Entity> = [(old, new)].into_iter().collect();
    snapshot.load(app.world_mut(), &mut map).unwrap();
    run(&mut app, 400);
    assert_eq!(state(&app, new).cell(), Cell::new(27, 2), "it is the other unit now");
}

#[test]
fn wrong_maps_and_apps_are_refused() {
    let mut app = app_with(&field(12, 4));
    let units = [spawn_critter(&mut app, (1, 1)), spawn_critter(&mut app, (3, 1))];
    app.update();
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    let mut empty = World::new();
    assert!(matches!(TilePathSnapshot::take(&mut empty), Err(SnapshotError::NoPlugin)));
    let mut map = EntityHashMap::default();
    assert_eq!(snapshot.load(&mut empty, &mut map), Err(SnapshotError::NoPlugin));
    assert!(map.is_empty());
    let one = app.world_mut().spawn_empty().id();
    map.extend(units.map(|unit| (unit, one)));
    assert_eq!(snapshot.load(app.world_mut(), &mut map), Err(SnapshotError::NotUnique(one)));
    app.world_mut().entity_mut(one).despawn();
    map.remove(&units[1]);
    assert_eq!(snapshot.load(app.world_mut(), &mut map), Err(SnapshotError::NoSuchEntity(one)));
    assert_eq!(map.len(), 1);
}

/// Observers do not run for components that are only put back, and no order ends by that.
#[test]
fn putting_back_is_silent() {
    let mut app = app_with(&field(30, 10));
    let unit = spawn_critter(&mut app, (2, 2));
    let sleeper = spawn_critter(&mut app, (2, 6));
    app.world_mut().entity_mut(sleeper).insert(Disabled);
    let queue = OrderQueue::new()
        .then(PathRequest::to(Cell::new(20, 2)))
        .then(PathRequest::to(Cell::new(2, 2)));
    app.world_mut().entity_mut(unit).insert(queue);
    run(&mut app, 20);
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    #[derive(Resource, Default)]
    struct Heard(u32);
    app.init_resource::<Heard>()
        .add_observer(|_: On<OrderEnded>, mut heard: ResMut<Heard>| heard.0 += 1)
        .add_observer(|_: On<PathCanceled>, mut heard: ResMut<Heard>| heard.0 += 1)
        .add_observer(|_: On<Insert, Critter>, mut heard: ResMut<Heard>| heard.0 += 1)
        .add_observer(|_: On<Insert, OrderQueue>, mut heard: ResMut<Heard>| heard.0 += 1);
    app.world_mut().entity_mut(sleeper).remove::<Disabled>();
    run(&mut app, 10);
    snapshot.restore(app.world_mut()).unwrap();
    run(&mut app, 1);
    assert_eq!(app.world().resource::<Heard>().0, 0);
    assert!(app.world().get::<Disabled>(sleeper).is_some());
    assert_eq!(app.world().get::<OrderQueue>(unit).unwrap().len(), 2);
}

/// A level of tiles, all of texture 0 (grass) but for a river with a ford; with the tiles by column and row.
#[cfg(feature = "tilemap")]
fn tiled_app() -> (App, impl Fn(&mut App, u32, u32, u32)) {
    let mut app = app();
    let paint = spawn_level(&mut app);
    run(&mut app, 2);
    (app, paint)
}

/// Returns how to change the texture of a tile.
#[cfg(feature = "tilemap")]
fn spawn_level(app: &mut App) -> impl Fn(&mut App, u32, u32, u32) + use<> {
    use bevy_ecs_tilemap::prelude::*;
    let size = TilemapSize { x: 24, y: 12 };
    let source = NavSource::by_texture([TerrainId(b'G'), TerrainId(b'W')]);
    let sides = (TilemapGridSize { x: 10.0, y: 10.0 }, TilemapTileSize { x: 10.0, y: 10.0 });
    let map = (size, sides, TilemapType::Square, Transform::default(), source);
    let map = app.world_mut().spawn(map).id();
    let mut tiles = Vec::new();
    for (y, x) in (0..size.y).flat_map(|y| (0..size.x).map(move |x| (y, x))) {
        let texture = TileTextureIndex(u32::from(x == 12 && y != 5));
        tiles.push(app.world_mut().spawn((TilePos { x, y }, TilemapId(map), texture)).id());
    }
    move |app: &mut App, x: u32, y: u32, texture| {
        let tile = tiles[(y * size.x + x) as usize];
        app.world_mut().entity_mut(tile).insert(TileTextureIndex(texture));
    }
}

/// A floor that was added after the snapshot and is still there.
#[test]
#[cfg(feature = "tilemap")]
fn maps_that_a_snapshot_does_not_know_get_their_grids_again() {
    use bevy_ecs_tilemap::prelude::*;
    let (mut app, _) = tiled_app();
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    let size = TilemapSize { x: 2, y: 2 };
    let source = NavSource::by_texture([TerrainId(b'G')]).on(GridId(5));
    let sides = (TilemapGridSize { x: 10.0, y: 10.0 }, TilemapTileSize { x: 10.0, y: 10.0 });
    let map = (size, sides, TilemapType::Square, Transform::default(), source);
    let map = app.world_mut().spawn(map).id();
    for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        app.world_mut().spawn((TilePos { x, y }, TilemapId(map), TileTextureIndex(0)));
    }
    run(&mut app, 2);
    let terrain = |app: &mut App| grid(app).get(GridId(5))?.terrain(Cell::new(1, 1));
    assert_eq!(terrain(&mut app), Some(TerrainId(b'G')));
    snapshot.restore(app.world_mut()).unwrap();
    run(&mut app, 2);
    assert_eq!(terrain(&mut app), Some(TerrainId(b'G')));
}

#[test]
#[cfg(feature = "tilemap")]
fn levels_with_tilemaps_are_the_games() {
    let (mut app, paint) = tiled_app();
    let units: Vec<Entity> = (0..8).map(|y| spawn_critter(&mut app, (2, y))).collect();
    units.iter().zip(0..).for_each(|(&unit, y)| order(&mut app, unit, (21, y)));
    run(&mut app, 60);
    paint(&mut app, 12, 9, 0);
    run(&mut app, 5);
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    let play = |app: &mut App, paint: &dyn Fn(&mut App, u32, u32, u32)| -> Vec<u64> {
        (0..400)
            .map(|tick| {
                match tick {
                    20 => paint(app, 12, 5, 1),
                    90 => paint(app, 12, 5, 0),
                    150 => paint(app, 12, 9, 1),
                    _ => {}
                }
                app.update();
                state_checksum(app.world_mut())
            })
            .collect()
    };
    let first = play(&mut app, &paint);
    assert_eq!(units.iter().filter(|&&unit| state(&app, unit).cell().x == 21).count(), 8);
    paint(&mut app, 12, 9, 0); // as it was
    snapshot.restore(app.world_mut()).unwrap();
    assert_eq!(play(&mut app, &paint), first);
    // A new app: the level first.
    let (mut other, paint) = tiled_app();
    paint(&mut other, 12, 9, 0);
    run(&mut other, 1);
    snapshot.load(other.world_mut(), &mut EntityHashMap::default()).unwrap();
    assert_eq!(play(&mut other, &paint), first);
    let grids: &NavGrids = other.world().resource();
    let grid = grids.get(GridId::default()).unwrap();
    assert_eq!(grid.terrain(Cell::new(12, 9)), Some(TerrainId(b'W')), "tiles are read as ever");
}

#[cfg(feature = "tilemap")]
fn level(app: &App) -> &NavGrid {
    app.world().resource::<NavGrids>().get(GridId::default()).unwrap()
}

/// Tiles that no tick had read, that were changed since and not put back, or that an update of the game has changed.
#[test]
#[cfg(feature = "tilemap")]
fn grids_follow_the_tiles_after_a_restore() {
    let (mut app, paint) = tiled_app();
    let terrain = |app: &App, y| level(app).terrain(Cell::new(12, y)).unwrap().0;
    paint(&mut app, 12, 5, 1);
    paint(&mut app, 3, 3, 1);
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    paint(&mut app, 3, 3, 0);
    paint(&mut app, 12, 9, 0);
    run(&mut app, 3);
    let before = level(&app).revision();
    snapshot.restore(app.world_mut()).unwrap();
    assert_eq!([5, 9].map(|y| terrain(&app, y)), [b'G', b'W'], "as they were");
    run(&mut app, 1);
    assert_eq!([5, 9].map(|y| terrain(&app, y)), [b'W', b'G'], "as the tiles are");
    assert_eq!(level(&app).terrain(Cell::new(3, 3)).unwrap().0, b'G');
    let after = level(&app).revision();
    assert!(after <= before, "two cells were edited, and not the whole grid");
    run(&mut app, 2);
    assert_eq!(level(&app).revision(), after);
}

/// A saved game is loaded first, and then the level is spawned: nothing begins again.
#[test]
#[cfg(feature = "tilemap")]
fn levels_may_be_spawned_after_their_snapshot_is_loaded() {
    let (mut app, _) = tiled_app();
    let units: Vec<Entity> = (0..8).map(|y| spawn_critter(&mut app, (2, y))).collect();
    units.iter().zip(0..).for_each(|(&unit, y)| order(&mut app, unit, (21, y)));
    run(&mut app, 60);
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    let play = |app: &mut App| -> Vec<u64> {
        let tick = |_| {
            app.update();
            state_checksum(app.world_mut())
        };
        (0..400).map(tick).collect()
    };
    let first = play(&mut app);
    assert_eq!(units.iter().filter(|&&unit| state(&app, unit).cell().x == 21).count(), 8);
    let mut other = self::app();
    snapshot.load(other.world_mut(), &mut EntityHashMap::default()).unwrap();
    let _paint = spawn_level(&mut other);
    assert_eq!(play(&mut other), first);
}
