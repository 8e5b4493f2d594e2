//! Tilemaps as grids: first build, changes, layers, frames, refused maps. `TilemapPlugin` is not used.

#![cfg(feature = "tilemap")]
use bevy::prelude::*;
use bevy_ecs_tilemap::{
    helpers::{
        hex_grid::neighbors::HexNeighbors,
        square_grid::{neighbors::SQUARE_DIRECTIONS, staggered::StaggeredPos},
    },
    prelude::*,
};
use bevy_tilepath::prelude::*;
use proptest::prelude::*;

use crate::common::app::{app, app_on, field, frame_of, position, run, run_until, status};

const GRASS: TerrainId = TerrainId(b'G');
const ROAD: TerrainId = TerrainId(b'.');
const WATER: TerrainId = TerrainId(b'W');

/// Returns the components of a tilemap with square tiles of 16 units.
fn map_bundle(size: TilemapSize) -> impl Bundle {
    (
        size,
        TilemapGridSize { x: 16.0, y: 16.0 },
        TilemapTileSize { x: 16.0, y: 16.0 },
        TilemapType::Square,
        Transform::default(),
    )
}

/// Spawns a map of `size` tiles of texture 0.
fn spawn_map(app: &mut App, size: (u32, u32), source: NavSource) -> Entity {
    let size = TilemapSize { x: size.0, y: size.1 };
    let map = app.world_mut().spawn((map_bundle(size), source)).id();
    for y in 0..size.y {
        for x in 0..size.x {
            spawn_tile(app, map, (x, y), 0);
        }
    }
    map
}

fn spawn_tile(app: &mut App, map: Entity, at: (u32, u32), texture: u32) -> Entity {
    let position = TilePos { x: at.0, y: at.1 };
    app.world_mut().spawn((position, TilemapId(map), TileTextureIndex(texture))).id()
}

fn tile_at(app: &mut App, map: Entity, at: (u32, u32)) -> Entity {
    let mut tiles = app.world_mut().query::<(Entity, &TilePos, &TilemapId)>();
    let found = tiles
        .iter(app.world())
        .find(|(_, position, id)| id.0 == map && (position.x, position.y) == at);
    found.unwrap().0
}

fn terrain(app: &App, x: i32, y: i32) -> Option<TerrainId> {
    app.world().resource::<NavGrids>().get(GridId::default())?.terrain(Cell::new(x, y))
}

fn revision(app: &App) -> u64 {
    app.world().resource::<NavGrids>().get(GridId::default()).unwrap().revision()
}

fn by_texture() -> NavSource {
    NavSource::by_texture([GRASS, ROAD, WATER])
}

#[test]
fn a_map_becomes_a_grid_in_the_first_tick() {
    let mut app = app();
    let map = spawn_map(&mut app, (8, 5), by_texture());
    spawn_tile(&mut app, map, (3, 2), 2);
    app.update();
    assert_eq!(app.world().get::<SourceStatus>(map), Some(&SourceStatus::Ready));
    assert_eq!(terrain(&app, 0, 0), Some(GRASS));
    assert_eq!(terrain(&app, 3, 2), Some(WATER), "the tile spawned last has precedence");
    assert_eq!(terrain(&app, 8, 0), None);
}

#[test]
fn textures_beyond_the_table_are_void() {
    let mut app = app();
    let map = spawn_map(&mut app, (4, 4), by_texture());
    spawn_tile(&mut app, map, (1, 1), 77);
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(TerrainId::VOID));
}

#[test]
fn changed_moved_and_despawned_tiles_update_the_grid() {
    let mut app = app();
    let map = spawn_map(&mut app, (8, 8), by_texture().empty(WATER));
    app.update();
    let tile = tile_at(&mut app, map, (2, 2));
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 1;
    app.update();
    assert_eq!(terrain(&app, 2, 2), Some(ROAD));
    app.world_mut().entity_mut(tile).insert(TilePos { x: 5, y: 6 });
    app.update();
    assert_eq!((terrain(&app, 2, 2), terrain(&app, 5, 6)), (Some(WATER), Some(ROAD)));
    app.world_mut().entity_mut(tile).despawn();
    app.update();
    assert_eq!(terrain(&app, 5, 6), Some(GRASS), "the tile below is visible again");
    assert_eq!(terrain(&app, 2, 2), Some(WATER), "empty cells have the terrain of the source");
}

/// A level of tiles is left, and the next one is made by hand under the same number.
#[test]
fn a_grid_made_by_hand_in_the_tick_in_which_its_map_goes_stays() {
    let hand_made = || NavGrid::new(5, 4, TerrainId(b'H')).unwrap();
    for is_despawned in [true, false] {
        let mut app = app();
        let map = spawn_map(&mut app, (8, 8), by_texture());
        app.update();
        if is_despawned {
            app.world_mut().entity_mut(map).despawn();
        } else {
            app.world_mut().entity_mut(map).remove::<NavSource>();
        }
        let frame = GridFrame::square(Vec2::new(7.0, 9.0), Vec2::splat(3.0));
        let mut grids = app.world_mut().resource_mut::<NavGrids>();
        grids.insert(GridId::default(), hand_made(), frame);
        run(&mut app, 3);
        assert_eq!(terrain(&app, 0, 0), Some(TerrainId(b'H')));
    }
    // While the map is still there, its changes do not reach the grid of the game, nor does its frame.
    let mut app = app();
    let map = spawn_map(&mut app, (8, 8), by_texture());
    app.update();
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    let frame = GridFrame::square(Vec2::new(7.0, 9.0), Vec2::splat(3.0));
    grids.insert(GridId::default(), hand_made(), frame);
    let tile = tile_at(&mut app, map, (2, 2));
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 1;
    run(&mut app, 3);
    assert_eq!(terrain(&app, 2, 2), Some(TerrainId(b'H')));
    assert_eq!(app.world().resource::<NavGrids>().frame(GridId::default()), Some(&frame));
}

/// A ship sails on in every frame, several times a tick: units on deck stay where they are on it, those beside it a frame behind.
#[test]
fn critters_keep_up_with_a_map_that_moves_in_every_frame() {
    let mut app = app();
    let map = spawn_map(&mut app, (10, 10), by_texture());
    let at = Transform::from_xyz(32.0, 32.0, 1.0);
    let on_deck = app.world_mut().spawn((Critter::new(8.0), at, ChildOf(map))).id();
    let at = Transform::from_xyz(64.0, 64.0, 1.0);
    let beside = app.world_mut().spawn((Critter::new(8.0), at)).id();
    run(&mut app, 3);
    let frame = std::time::Duration::from_millis(4);
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(frame));
    app.add_systems(Update, move |mut maps: Query<&mut Transform, With<NavSource>>| {
        maps.iter_mut().for_each(|mut map| map.translation.x += 1.0);
    });
    run(&mut app, 5);
    for _ in 0..30 {
        let x = app.world().get::<Transform>(map).unwrap().translation.x;
        app.update();
        assert_eq!(position(&app, on_deck), Vec2::splat(32.0));
        assert_eq!(position(&app, beside), Vec2::new(64.0 + x, 64.0));
    }
}

#[test]
fn a_map_whose_components_come_one_after_another_is_read_with_the_last() {
    let mut app = app();
    let size = TilemapSize { x: 6, y: 6 };
    let map = app.world_mut().spawn((by_texture(), size, TilemapType::Square)).id();
    spawn_tile(&mut app, map, (2, 2), 1);
    run(&mut app, 3);
    assert_eq!(terrain(&app, 2, 2), None);
    assert_eq!(app.world().get::<SourceStatus>(map), Some(&SourceStatus::Pending));
    app.world_mut().entity_mut(map).insert(TilemapGridSize { x: 16.0, y: 16.0 });
    run(&mut app, 3);
    app.world_mut().entity_mut(map).insert(TilemapTileSize { x: 16.0, y: 16.0 });
    app.update();
    assert_eq!(terrain(&app, 2, 2), Some(ROAD));
    assert_eq!(app.world().get::<SourceStatus>(map), Some(&SourceStatus::Ready));
}

#[test]
fn changes_without_a_change_of_terrain_are_no_edits() {
    let mut app = app();
    let map = spawn_map(&mut app, (8, 8), NavSource::by_texture([GRASS, GRASS]));
    app.update();
    let before = revision(&app);
    let tile = tile_at(&mut app, map, (2, 2));
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 1;
    app.world_mut().get_mut::<TilePos>(tile).unwrap().set_changed();
    run(&mut app, 2);
    assert_eq!(revision(&app), before);
}

#[test]
fn terrain_may_come_from_a_component_or_a_function() {
    let mut app = app();
    let map = spawn_map(&mut app, (4, 4), NavSource::by_component().empty(WATER));
    let tile = tile_at(&mut app, map, (1, 1));
    app.world_mut().entity_mut(tile).insert(TileTerrain(ROAD));
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(ROAD));
    app.world_mut().entity_mut(tile).remove::<TileTerrain>();
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(TerrainId::VOID), "the tile has no terrain");

    let striped = NavSource::by(|tile| Some(if tile.position.x % 2 == 0 { GRASS } else { ROAD }));
    app.world_mut().entity_mut(map).insert(striped);
    app.update();
    assert_eq!((terrain(&app, 2, 3), terrain(&app, 3, 3)), (Some(GRASS), Some(ROAD)));
}

#[test]
fn hidden_tiles_count_unless_hidden_is_empty_is_set() {
    for (hidden_is_empty, expected) in [(false, GRASS), (true, WATER)] {
        let mut app = app();
        let source = NavSource { hidden_is_empty, ..by_texture().empty(WATER) };
        let map = spawn_map(&mut app, (4, 4), source);
        let tile = tile_at(&mut app, map, (1, 1));
        app.world_mut().entity_mut(tile).insert(TileVisible(false));
        app.update();
        assert_eq!(terrain(&app, 1, 1), Some(expected));
    }
}

#[test]
fn upper_layers_cover_lower_ones_except_where_empty() {
    let mut app = app();
    spawn_map(&mut app, (10, 10), NavSource::by_texture([WATER]));
    // A bridge layer with two tiles, shifted and left of the first map.
    let size = TilemapSize { x: 6, y: 1 };
    let source = NavSource::by_texture([ROAD]).order(1).offset(Cell::new(-2, 4));
    let bridge = app.world_mut().spawn((map_bundle(size), source)).id();
    let planks = [0, 3].map(|x| spawn_tile(&mut app, bridge, (x, 0), 0));
    app.update();
    let grids = app.world().resource::<NavGrids>();
    let extent = CellRect::new(Cell::new(-2, 0), 12, 10);
    assert_eq!(grids.get(GridId::default()).unwrap().rect(), extent);
    assert_eq!(terrain(&app, -2, 4), Some(ROAD));
    assert_eq!(terrain(&app, 1, 4), Some(ROAD));
    assert_eq!(terrain(&app, 2, 4), Some(WATER));
    assert_eq!(terrain(&app, -2, 5), Some(TerrainId::VOID));
    app.world_mut().entity_mut(planks[1]).despawn();
    app.update();
    assert_eq!(terrain(&app, 1, 4), Some(WATER), "the lower layer is visible again");
    app.world_mut().entity_mut(bridge).despawn();
    app.update();
    assert_eq!(terrain(&app, -2, 4), None, "the grid covers the remaining maps");
}

#[test]
fn removing_the_source_of_a_map_removes_its_grid() {
    let mut app = app();
    let map = spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    app.world_mut().entity_mut(map).remove::<NavSource>();
    app.update();
    assert_eq!(terrain(&app, 1, 1), None);
}

#[test]
fn a_map_despawned_in_mid_walk_fails_its_critters() {
    let mut app = app();
    let map = spawn_map(&mut app, (30, 4), by_texture());
    app.update();
    let unit = app
        .world_mut()
        .spawn((Critter::new(8.0), Transform::default(), PathRequest::to(Cell::new(29, 3))))
        .id();
    run(&mut app, 20);
    app.world_mut().entity_mut(map).despawn();
    run(&mut app, 20);
    let before = position(&app, unit);
    run(&mut app, 20);
    assert_eq!(position(&app, unit), before, "it stands still");
    let gone = PathFailure::GridGone(GridId::default());
    assert_eq!(status(&app, unit), PathStatus::Failed(gone));
    app.world_mut().entity_mut(unit).insert(PathRequest::to(Cell::new(0, 0)));
    run(&mut app, 2);
    assert_eq!(status(&app, unit), PathStatus::Failed(gone));
}

#[test]
fn unsupported_maps_are_refused_with_a_reason() {
    let square = TilemapType::Square;
    for (map_type, size, error) in [
        (square, (0, 4), SourceError::Empty { width: 0, height: 4 }),
        (square, (20_000, 4), SourceError::TooLarge { width: 20_000, height: 4 }),
        (
            TilemapType::Isometric(IsoCoordSystem::Staggered),
            (9_000, 9_000),
            SourceError::TooLarge { width: 9_000, height: 17_999 },
        ),
        (
            TilemapType::Hexagon(HexCoordSystem::RowEven),
            (12_000, 9_000),
            SourceError::TooLarge { width: 16_500, height: 9_000 },
        ),
        (
            TilemapType::Hexagon(HexCoordSystem::RowOdd),
            (u32::MAX, u32::MAX),
            SourceError::TooLarge { width: u32::MAX, height: u32::MAX },
        ),
    ] {
        let mut app = app();
        let size = TilemapSize { x: size.0, y: size.1 };
        let map = app.world_mut().spawn((map_bundle(size), by_texture())).id();
        app.world_mut().entity_mut(map).insert(map_type);
        spawn_tile(&mut app, map, (0, 0), 0);
        run(&mut app, 2);
        assert_eq!(app.world().get::<SourceStatus>(map), Some(&SourceStatus::Refused(error)));
        assert!(app.world().resource::<NavGrids>().get(GridId::default()).is_none());
    }
}

#[test]
fn of_maps_that_are_too_large_together_only_the_last_is_refused() {
    let mut app = app();
    spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    let far = by_texture().offset(Cell::new(30_000, 0));
    let second = spawn_map(&mut app, (4, 4), far);
    run(&mut app, 2);
    assert!(matches!(
        app.world().get::<SourceStatus>(second),
        Some(SourceStatus::Refused(SourceError::TooLarge { .. }))
    ));
    assert_eq!(terrain(&app, 1, 1), Some(GRASS));
}

#[test]
fn a_refused_map_is_read_when_the_conflicting_map_is_despawned() {
    let mut app = app();
    let first = spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    let far = [30_000, 60_000].map(|x| {
        let source = by_texture().offset(Cell::new(x, 0));
        let map = spawn_map(&mut app, (4, 4), source);
        run(&mut app, 2);
        map
    });
    let status = |app: &App, map| *app.world().get::<SourceStatus>(map).unwrap();
    let is_refused = |status| matches!(status, SourceStatus::Refused(SourceError::TooLarge { .. }));
    assert!(far.iter().all(|&map| is_refused(status(&app, map))));
    app.world_mut().entity_mut(first).despawn();
    run(&mut app, 20);
    assert_eq!(status(&app, far[0]), SourceStatus::Ready);
    assert!(is_refused(status(&app, far[1])), "it is still too far from the first of the two");
    let level = app.world().resource::<NavGrids>().get(GridId::default()).unwrap();
    assert_eq!(level.origin(), Cell::new(30_000, 0));
}

#[test]
fn tiles_outside_their_map_are_ignored() {
    let mut app = app();
    let map = spawn_map(&mut app, (4, 4), by_texture());
    spawn_tile(&mut app, map, (9, 9), 1);
    app.update();
    assert_eq!(terrain(&app, 3, 3), Some(GRASS));
}

#[test]
fn buildings_block_their_footprint_until_the_last_one_is_despawned() {
    let mut app = app();
    spawn_map(&mut app, (10, 10), by_texture());
    let rect = CellRect::new(Cell::new(4, 4), 2, 3);
    let first = app.world_mut().spawn(NavBlocker::at(rect)).id();
    // The center of cells (4..=5, 4..=6).
    let second = app
        .world_mut()
        .spawn((NavBlocker::sized(2, 3), Transform::from_xyz(4.5 * 16.0, 5.0 * 16.0, 0.0)))
        .id();
    app.update();
    let blockers = |app: &App, x, y| {
        let grids = app.world().resource::<NavGrids>();
        grids.get(GridId::default()).unwrap().blockers(Cell::new(x, y))
    };
    for cell in rect.cells() {
        assert_eq!(blockers(&app, cell.x, cell.y), 2, "at {cell}");
    }
    assert_eq!(blockers(&app, 3, 4) + blockers(&app, 6, 4) + blockers(&app, 4, 7), 0);
    app.world_mut().entity_mut(first).despawn();
    app.update();
    assert_eq!(blockers(&app, 4, 4), 1);
    app.world_mut().get_mut::<Transform>(second).unwrap().translation.x += 32.0;
    app.update();
    assert_eq!((blockers(&app, 4, 4), blockers(&app, 7, 6)), (0, 1), "it moved");
    app.world_mut().entity_mut(second).remove::<NavBlocker>();
    app.update();
    assert_eq!(blockers(&app, 7, 6), 0);
}

#[test]
fn a_building_in_the_middle_between_two_places_takes_the_one_to_the_right_and_above() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let mut app = app_on(&field(12, 12), topology);
        let center = frame_of(topology).cell_center(Cell::new(5, 5)).extend(0.0);
        for noise in [Vec3::ZERO, Vec3::new(1e-3, -1e-3, 0.0), Vec3::new(-1e-3, 1e-3, 0.0)] {
            let at = Transform::from_translation(center + noise);
            let building = app.world_mut().spawn((NavBlocker::sized(2, 2), at)).id();
            app.update();
            let level = app.world().resource::<NavGrids>().get(GridId::default()).unwrap();
            let blocked = level.rect().cells().filter(|&cell| level.blockers(cell) > 0);
            assert!(blocked.eq(CellRect::new(Cell::new(5, 5), 2, 2).cells()), "{topology:?}");
            app.world_mut().entity_mut(building).despawn();
        }
    }
}

#[test]
fn buildings_spawned_before_their_map_or_beside_it_wait_for_it() {
    let mut app = app();
    let rect = CellRect::new(Cell::new(3, 3), 2, 2);
    app.world_mut().spawn(NavBlocker::at(rect));
    app.update();
    let map = spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    let blockers = |app: &App, x, y| {
        let grids = app.world().resource::<NavGrids>();
        grids.get(GridId::default()).unwrap().blockers(Cell::new(x, y))
    };
    assert_eq!(blockers(&app, 3, 3), 1, "the part on the grid");
    app.world_mut().entity_mut(map).insert(TilemapSize { x: 8, y: 8 });
    run(&mut app, 2);
    assert_eq!((blockers(&app, 3, 3), blockers(&app, 4, 4)), (1, 1), "all of it");
}

#[test]
fn a_critter_walks_over_a_moved_and_scaled_map() {
    let mut app = app();
    let map = spawn_map(&mut app, (20, 20), by_texture());
    let transform = Transform::from_xyz(100.0, -50.0, 0.0).with_scale(Vec3::splat(2.0));
    app.world_mut().entity_mut(map).insert(transform);
    let unit = app
        .world_mut()
        .spawn((
            Critter::new(16.0),
            Transform::from_xyz(100.0, -50.0, 0.0),
            PathRequest::to(Vec2::new(100.0 + 5.0 * 32.0, -50.0 + 3.0 * 32.0)),
        ))
        .id();
    run_until(&mut app, 200, |app| matches!(status(app, unit), PathStatus::Arrived(_)));
    run(&mut app, 2);
    assert_eq!(position(&app, unit), Vec2::new(260.0, 46.0));
}

#[test]
fn removals_between_ticks_are_not_lost() {
    let mut app = app();
    let map = spawn_map(&mut app, (10, 10), by_texture().empty(WATER));
    let building = app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(4, 4), 2, 2))).id();
    app.update();
    let tile = tile_at(&mut app, map, (1, 1));
    // Frames without a tick.
    let frame = core::time::Duration::from_millis(1);
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(frame));
    app.world_mut().entity_mut(building).despawn();
    app.world_mut().entity_mut(tile).despawn();
    run(&mut app, 5);
    app.insert_resource(bevy::time::TimeUpdateStrategy::FixedTimesteps(1));
    run(&mut app, 2);
    assert_eq!(terrain(&app, 1, 1), Some(WATER));
    let grids = app.world().resource::<NavGrids>();
    assert_eq!(grids.get(GridId::default()).unwrap().blockers(Cell::new(4, 4)), 0);
}

#[test]
fn covered_tiles_reappear_and_survive_a_smaller_map() {
    let mut app = app();
    let map = spawn_map(&mut app, (10, 10), by_texture());
    app.update();
    let road = spawn_tile(&mut app, map, (9, 9), 1);
    let water = spawn_tile(&mut app, map, (9, 9), 2);
    app.update();
    assert_eq!(terrain(&app, 9, 9), Some(WATER));
    app.world_mut().entity_mut(water).despawn();
    app.update();
    assert_eq!(terrain(&app, 9, 9), Some(ROAD));
    app.world_mut().entity_mut(map).insert(TilemapSize { x: 5, y: 5 });
    app.update();
    app.world_mut().entity_mut(road).despawn();
    app.update();
    assert_eq!(terrain(&app, 4, 4), Some(GRASS));
    assert_eq!(terrain(&app, 9, 9), None);
}

#[test]
fn tiles_on_one_cell_keep_their_order_when_their_map_is_read_again() {
    let mut app = app();
    let map = spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    let older = spawn_tile(&mut app, map, (0, 0), 0);
    let road = spawn_tile(&mut app, map, (1, 1), 1);
    let water = spawn_tile(&mut app, map, (1, 1), 2);
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(WATER), "the one added last");
    // Now the table of tiles begins with the water.
    app.world_mut().entity_mut(older).despawn();
    app.update();
    app.world_mut().get_mut::<NavSource>(map).unwrap().hidden_is_empty = true;
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(WATER));
    app.world_mut().entity_mut(water).despawn();
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(ROAD));
    app.world_mut().entity_mut(road).despawn();
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(GRASS));
}

#[test]
fn a_source_removed_and_inserted_again_in_one_tick_is_read_again() {
    let mut app = app();
    let map = spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    for is_gone in [false, true] {
        if is_gone {
            app.world_mut().resource_mut::<NavGrids>().remove(GridId::default());
        }
        app.world_mut().entity_mut(map).remove::<NavSource>().insert(by_texture());
        app.update();
        assert_eq!(app.world().get(map), Some(&SourceStatus::Ready));
        assert_eq!(terrain(&app, 1, 1), Some(GRASS), "was the grid removed? {is_gone}");
    }
}

#[test]
fn maps_feed_the_grids_that_the_game_inserts_anew() {
    let mut app = app();
    let map = spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    let copy = app.world().resource::<NavGrids>().clone();
    let tile = tile_at(&mut app, map, (2, 2));
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 1;
    app.update();
    for grids in [NavGrids::default(), copy] {
        app.insert_resource(grids);
        app.update();
        assert_eq!(terrain(&app, 1, 1), Some(GRASS));
        assert_eq!(terrain(&app, 2, 2), Some(ROAD), "as the map has it now");
    }
}

#[test]
fn rewriting_a_source_does_not_change_the_precedence() {
    let mut app = app();
    let first = spawn_map(&mut app, (4, 4), NavSource::by_texture([ROAD]));
    app.update();
    spawn_map(&mut app, (4, 4), NavSource::by_texture([WATER]));
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(ROAD), "of equal layers, the first one");
    app.world_mut().get_mut::<NavSource>(first).unwrap().hidden_is_empty = true;
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(ROAD));
}

#[test]
fn a_source_written_without_a_change_builds_nothing() {
    let mut app = app();
    let striped = NavSource::by(|tile| Some(if tile.position.x % 2 == 0 { GRASS } else { ROAD }));
    let map = spawn_map(&mut app, (4, 4), striped.clone());
    app.update();
    let before = revision(&app);
    for _ in 0..3 {
        app.world_mut().get_mut::<NavSource>(map).unwrap().set_changed();
        app.world_mut().get_mut::<TilemapSize>(map).unwrap().set_changed();
        app.update();
    }
    app.world_mut().entity_mut(map).insert(striped);
    app.update();
    assert_eq!(revision(&app), before);
    let other = NavSource::by(|_| Some(WATER));
    app.world_mut().entity_mut(map).insert(other);
    app.update();
    assert_eq!(terrain(&app, 0, 0), Some(WATER));
}

#[test]
fn a_tile_that_loses_a_component_is_read_again() {
    let mut app = app();
    let source = NavSource { hidden_is_empty: true, ..by_texture().empty(WATER) };
    let map = spawn_map(&mut app, (4, 4), source);
    let tile = tile_at(&mut app, map, (1, 1));
    app.world_mut().entity_mut(tile).insert((TileVisible(false), TileTextureIndex(1)));
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(WATER));
    app.world_mut().entity_mut(tile).remove::<TileVisible>();
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(ROAD));
    app.world_mut().entity_mut(tile).remove::<TileTextureIndex>();
    app.update();
    assert_eq!(terrain(&app, 1, 1), Some(GRASS));
}

#[test]
fn buildings_stay_when_their_grid_grows_moves_or_is_replaced() {
    let mut app = app();
    let map = spawn_map(&mut app, (10, 10), by_texture());
    let rect = CellRect::new(Cell::new(4, 4), 1, 1);
    app.world_mut().spawn(NavBlocker::at(rect));
    app.world_mut().spawn((NavBlocker::default(), Transform::from_xyz(32.0, 32.0, 0.0)));
    app.update();
    let blockers = |app: &App, x, y| {
        let grids = app.world().resource::<NavGrids>();
        grids.get(GridId::default()).unwrap().blockers(Cell::new(x, y))
    };
    assert_eq!((blockers(&app, 4, 4), blockers(&app, 2, 2)), (1, 1));
    app.world_mut().get_mut::<Transform>(map).unwrap().translation.x = -16.0;
    run(&mut app, 2);
    assert_eq!((blockers(&app, 4, 4), blockers(&app, 2, 2), blockers(&app, 3, 2)), (1, 0, 1));
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    let (copy, frame) = {
        let id = GridId::default();
        (grids.get(id).unwrap().clone(), *grids.frame(id).unwrap())
    };
    let mut fresh = NavGrid::new(12, 12, GRASS).unwrap();
    fresh.set_terrain(Cell::new(0, 0), copy.terrain(Cell::new(0, 0)).unwrap()).unwrap();
    grids.remove(GridId::default());
    grids.insert(GridId::default(), fresh, frame);
    run(&mut app, 2);
    assert_eq!((blockers(&app, 4, 4), blockers(&app, 3, 2)), (1, 1));
}

#[test]
fn a_tile_that_becomes_impassable_reroutes_only_critters_whose_path_it_cuts() {
    let mut app = app();
    let map = spawn_map(&mut app, (20, 9), NavSource::by_texture([TerrainId::GROUND]));
    app.update();
    let [cut, unaffected] = [4.0, 8.0].map(|y: f32| {
        let goal = Cell::new(19, y as i32);
        let transform = Transform::from_xyz(0.0, y * 16.0, 0.0);
        app.world_mut().spawn((Critter::new(8.0), transform, PathRequest::to(goal))).id()
    });
    run(&mut app, 20);
    let tile = tile_at(&mut app, map, (12, 4));
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 9;
    app.update();
    assert_eq!(app.world().resource::<PathCounters>().repaired, 1);
    for unit in [cut, unaffected] {
        run_until(&mut app, 400, |app| {
            let at = app.world().get::<CritterState>(cut).unwrap().cell();
            assert_ne!(at, Cell::new(12, 4));
            status(app, unit) == PathStatus::Arrived(PathKind::Complete)
        });
    }
}

/// A bridge or a ruin over a level that is played: its cells are edited, and the grid is not made anew.
#[test]
fn a_layer_within_the_grid_is_an_edit() {
    let mut app = app();
    spawn_map(&mut app, (20, 9), NavSource::by_texture([TerrainId::GROUND]));
    let unit =
        (Critter::new(8.0), Transform::from_xyz(0.0, 64.0, 0.0), PathRequest::to(Cell::new(19, 4)));
    let unit = app.world_mut().spawn(unit).id();
    run(&mut app, 20);
    let edits = |app: &App, since| -> Option<Vec<CellRect>> {
        let grid = app.world().resource::<NavGrids>().get(GridId::default())?;
        Some(grid.edits_since(since)?.collect())
    };
    let before = revision(&app);
    let ruin = NavSource::by_texture([TerrainId::VOID])
        .edges([TileEdges::new().with(Direction::East, EdgeId(2))]);
    let ruin = spawn_map(&mut app, (1, 2), ruin.offset(Cell::new(12, 4)).order(1));
    app.update();
    assert_eq!(
        [3, 4, 5].map(|y| terrain(&app, 12, y).unwrap()),
        [TerrainId::GROUND, TerrainId::VOID, TerrainId::VOID]
    );
    assert_eq!(edge(&app, 12, 4, Direction::East), 2);
    assert_eq!(app.world().resource::<PathCounters>().repaired, 1);
    let around = CellRect::new(Cell::new(12, 4), 2, 2);
    let is_there = |rect: &CellRect| rect.intersection(around) == *rect;
    assert!(edits(&app, before).is_some_and(|rects| rects.iter().all(is_there)));
    let before = revision(&app);
    app.world_mut().entity_mut(ruin).despawn();
    app.update();
    assert_eq!(
        (terrain(&app, 12, 4), edge(&app, 12, 4, Direction::East)),
        (Some(TerrainId::GROUND), 0)
    );
    assert!(edits(&app, before).is_some_and(|rects| rects.iter().all(is_there)));
    run_until(&mut app, 400, |app| status(app, unit) == PathStatus::Arrived(PathKind::Complete));
}

fn anchors() -> impl Strategy<Value = TilemapAnchor> {
    prop_oneof![
        Just(TilemapAnchor::None),
        Just(TilemapAnchor::Center),
        Just(TilemapAnchor::BottomLeft),
        Just(TilemapAnchor::TopRight),
        Just(TilemapAnchor::CenterLeft),
        (-1.0f32..1.0, -1.0f32..1.0).prop_map(|(x, y)| TilemapAnchor::Custom(Vec2::new(x, y))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Conversions between world and cell, in both directions, agree with the tilemap's own helpers, for
    /// every anchor, type, tile size and transform.
    #[test]
    fn world_and_cell_agree_with_the_tilemap(
        anchor in anchors(),
        map_type in map_types(),
        size in (1u32..40, 1u32..40),
        grid in (4.0f32..40.0, 4.0f32..40.0),
        tile in (4.0f32..40.0, 4.0f32..40.0),
        shift in (-500.0f32..500.0, -500.0f32..500.0),
        scale in 0.25f32..4.0,
        rotation in 0.0f32..6.0,
        pick: (u32, u32),
        off in (-0.5f32..0.5, -0.5f32..0.5),
    ) {
        let mut app = app();
        let size = TilemapSize { x: size.0, y: size.1 };
        let grid_size = TilemapGridSize { x: grid.0, y: grid.1 };
        let tile_size = TilemapTileSize { x: tile.0, y: tile.1 };
        let layout = TileLayout::of(map_type);
        let transform = Transform::from_xyz(shift.0, shift.1, 0.0)
            .with_scale(Vec3::splat(scale))
            .with_rotation(Quat::from_rotation_z(rotation));
        app.world_mut().spawn((
            size, grid_size, tile_size, map_type, anchor, transform, by_texture(),
        ));
        app.update();
        let frame = *app.world().resource::<NavGrids>().frame(GridId::default()).unwrap();
        let at = TilePos { x: pick.0 % size.x, y: pick.1 % size.y };
        let local = at.center_in_world(&size, &grid_size, &tile_size, &map_type, &anchor);
        let world = transform.transform_point(local.extend(0.0)).truncate();
        let cell = layout.cell(at);
        prop_assert_eq!(layout.tile(cell), Some(at));
        prop_assert!(frame.cell_center(cell).distance(world) < 0.05);
        prop_assert_eq!(frame.cell_at(world), Some(cell));
        let back =
            TilePos::from_world_pos(&local, &size, &grid_size, &tile_size, &map_type, &anchor);
        prop_assert_eq!(back, Some(at));

        let point = local + Vec2::new(off.0 * grid_size.x, off.1 * grid_size.y);
        let tile_at = |point: Vec2| {
            TilePos::from_world_pos(&point, &size, &grid_size, &tile_size, &map_type, &anchor)
        };
        let tile = tile_at(point);
        let near = [Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y].map(|to| tile_at(point + 0.01 * to));
        if near == [tile; 4] && let Some(tile) = tile {
            let world = transform.transform_point(point.extend(0.0)).truncate();
            prop_assert_eq!(frame.cell_at(world), Some(layout.cell(tile)));
        }
    }
}

fn map_types() -> impl Strategy<Value = TilemapType> {
    prop_oneof![
        Just(TilemapType::Square),
        Just(TilemapType::Isometric(IsoCoordSystem::Diamond)),
        Just(STAGGERED),
        prop::sample::select(HEXAGONAL.to_vec()),
    ]
}

const HEXAGONAL: [TilemapType; 6] = [
    TilemapType::Hexagon(HexCoordSystem::RowEven),
    TilemapType::Hexagon(HexCoordSystem::RowOdd),
    TilemapType::Hexagon(HexCoordSystem::ColumnEven),
    TilemapType::Hexagon(HexCoordSystem::ColumnOdd),
    TilemapType::Hexagon(HexCoordSystem::Row),
    TilemapType::Hexagon(HexCoordSystem::Column),
];

const STAGGERED: TilemapType = TilemapType::Isometric(IsoCoordSystem::Staggered);

/// Tiles of a staggered map are the cells of a slanted strip; those that touch by an edge are straight neighbors.
#[test]
fn staggered_maps_feed_a_slanted_strip() {
    let mut app = app();
    let map = spawn_map(&mut app, (7, 9), by_texture().offset(Cell::new(-3, 5)));
    app.world_mut().entity_mut(map).insert(STAGGERED);
    run(&mut app, 2);
    let layout = TileLayout::Staggered;
    let cell = |x, y| layout.cell(TilePos { x, y }).offset(-3, 5);
    let level = app.world().resource::<NavGrids>().get(GridId::default()).unwrap();
    assert_eq!(level.rect(), CellRect::new(Cell::new(-3, 5), 7, 15));
    let ground = level.rect().cells().filter(|&cell| level.terrain(cell) == Some(GRASS));
    assert_eq!(ground.count(), 7 * 9, "all others are void");
    for (x, y) in (0..7).flat_map(|x| (0..9).map(move |y| (x, y))) {
        assert_eq!(level.terrain(cell(x, y)), Some(GRASS));
        let size = TilemapSize { x: 7, y: 9 };
        let position = TilePos { x, y };
        for direction in SQUARE_DIRECTIONS.iter().step_by(2) {
            let to = StaggeredPos::from(&position).offset(direction);
            let Some(to) = to.as_tile_pos(&size) else { continue };
            let (from, to) = (cell(x, y), layout.cell(to).offset(-3, 5));
            assert_eq!(from.x.abs_diff(to.x) + from.y.abs_diff(to.y), 1, "{from} {to}");
        }
    }
    let void = Cell::new(3, 5);
    assert_eq!(level.terrain(void), Some(TerrainId::VOID));

    let tile = tile_at(&mut app, map, (6, 8));
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 2;
    app.update();
    let changed = cell(6, 8);
    assert_eq!(terrain(&app, changed.x, changed.y), Some(WATER));
    app.world_mut().entity_mut(map).insert(TilemapType::Isometric(IsoCoordSystem::Diamond));
    run(&mut app, 2);
    assert_eq!(terrain(&app, -3 + 6, 5 + 8), Some(WATER));
    assert_eq!(terrain(&app, changed.x, changed.y), None, "the grid is smaller");
}

/// Void beside the strip is filled by other maps, not by the terrain for missing tiles.
#[test]
fn staggered_maps_combine_with_others() {
    let mut app = app();
    let size = TilemapSize { x: 4, y: 4 };
    let source = by_texture().empty(WATER).order(1);
    let map = app.world_mut().spawn((map_bundle(size), source)).id();
    app.world_mut().entity_mut(map).insert(STAGGERED);
    spawn_tile(&mut app, map, (2, 1), 0);
    run(&mut app, 2);
    assert_eq!(terrain(&app, 2, 3), Some(GRASS), "tile (2, 1)");
    assert_eq!(terrain(&app, 2, 4), Some(WATER), "a missing tile");
    assert_eq!([terrain(&app, 2, 1), terrain(&app, 0, 4)], [Some(TerrainId::VOID); 2]);
    let ground = spawn_map(&mut app, (8, 8), by_texture());
    let diamond = TilemapType::Isometric(IsoCoordSystem::Diamond);
    app.world_mut().entity_mut(ground).insert(diamond);
    run(&mut app, 2);
    assert_eq!([terrain(&app, 2, 1), terrain(&app, 7, 7)], [Some(GRASS); 2], "shows beside it");
    assert_eq!(terrain(&app, 2, 4), Some(WATER));
    app.world_mut().entity_mut(map).despawn();
    run(&mut app, 2);
    assert_eq!(terrain(&app, 2, 4), Some(GRASS));
}

/// A unit walks from one corner of a staggered map to the other, over tiles only, and along the way it is drawn on them.
#[test]
fn a_critter_walks_over_a_staggered_map() {
    let mut app = app();
    let map = spawn_map(&mut app, (12, 20), by_texture());
    app.world_mut().entity_mut(map).insert(STAGGERED);
    for x in 0..11 {
        let tile = tile_at(&mut app, map, (x, 10));
        app.world_mut().entity_mut(tile).insert(TileTextureIndex(9));
    }
    run(&mut app, 2);
    let center = |x, y| {
        let size = TilemapSize { x: 12, y: 20 };
        let (grid, tile) =
            (TilemapGridSize { x: 16.0, y: 16.0 }, TilemapTileSize { x: 16.0, y: 16.0 });
        let anchor = TilemapAnchor::None;
        TilePos { x, y }.center_in_world(&size, &grid, &tile, &STAGGERED, &anchor)
    };
    let start = Transform::from_translation(center(0, 0).extend(0.0));
    let request = PathRequest::to(center(0, 19));
    let unit = app.world_mut().spawn((Critter::new(20.0), start, request)).id();
    let mut last = 0;
    run_until(&mut app, 600, |app| {
        let at = app.world().get::<CritterState>(unit).unwrap().cell();
        let tile = TileLayout::Staggered.tile(at).expect("on a tile");
        assert!(tile.x < 12 && tile.y < 20, "{tile:?}");
        last = last.max(tile.x);
        status(app, unit) == PathStatus::Arrived(PathKind::Complete)
    });
    assert_eq!(last, 11, "through the gap in the wall");
    run(&mut app, 30); // it is drawn a little behind
    assert!(position(&app, unit).distance(center(0, 19)) < 0.1);
}

/// The cells beside that of a tile are those of the tiles that the tilemap calls its neighbors, in all six systems.
#[test]
fn neighbors_on_hexagonal_maps_are_those_of_the_tilemap() {
    for map_type in HEXAGONAL {
        let TilemapType::Hexagon(system) = map_type else { unreachable!() };
        let mut app = app();
        let offset = Cell::new(-5, 3);
        let map = spawn_map(&mut app, (9, 7), by_texture().offset(offset));
        app.world_mut().entity_mut(map).insert(map_type);
        run(&mut app, 2);
        assert_eq!(app.world().get::<SourceStatus>(map), Some(&SourceStatus::Ready));
        let level = app.world().resource::<NavGrids>().get(GridId::default()).unwrap();
        assert_eq!(level.topology(), Topology::Hexagonal);
        let ground = level.rect().cells().filter(|&cell| level.terrain(cell) == Some(GRASS));
        assert_eq!(ground.count(), 9 * 7, "all others are void");
        let (layout, size) = (TileLayout::of(map_type), TilemapSize { x: 9, y: 7 });
        let cell = |tile: TilePos| layout.cell(tile).offset(offset.x, offset.y);
        for (x, y) in (0..9).flat_map(|x| (0..7).map(move |y| (x, y))) {
            let tile = TilePos { x, y };
            assert_eq!(level.terrain(cell(tile)), Some(GRASS));
            let neighbors = HexNeighbors::get_neighboring_positions(&tile, &size, &system);
            let mut expected: Vec<Cell> = neighbors.iter().map(|&to| cell(to)).collect();
            expected.sort_unstable();
            let steps = |to: &Cell| {
                let path = level.find_path(ProfileId(0), cell(tile), *to);
                path.map_or(u32::MAX, |path| path.steps())
            };
            let mut found: Vec<Cell> = level.rect().cells().filter(|to| steps(to) == 1).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{map_type:?} {tile:?}");
        }
    }
}

/// Of maps of squares and of hexagons only those of one shape feed a grid; the other one does when it is alone.
#[test]
fn squares_and_hexagons_do_not_share_a_grid() {
    let mut app = app();
    let first = spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    let second = spawn_map(&mut app, (6, 4), by_texture().order(1));
    app.world_mut().entity_mut(second).insert(HEXAGONAL[1]);
    run(&mut app, 2);
    let of = |app: &App, map| *app.world().get::<SourceStatus>(map).unwrap();
    let mixed = SourceStatus::Refused(SourceError::MixedTopologies);
    assert_eq!([of(&app, first), of(&app, second)], [SourceStatus::Ready, mixed]);
    assert_eq!([terrain(&app, 3, 3), terrain(&app, -1, 3)], [Some(GRASS), None]);
    app.world_mut().entity_mut(first).insert(HEXAGONAL[4]);
    run(&mut app, 3);
    assert_eq!([of(&app, first), of(&app, second)], [SourceStatus::Ready; 2]);
    assert_eq!(terrain(&app, -1, 3), Some(GRASS), "both");
    app.world_mut().entity_mut(second).insert(TilemapType::Square);
    run(&mut app, 2);
    assert_eq!([of(&app, first), of(&app, second)], [SourceStatus::Ready, mixed]);
    app.world_mut().entity_mut(first).despawn();
    run(&mut app, 3);
    assert_eq!(of(&app, second), SourceStatus::Ready);
    let level = app.world().resource::<NavGrids>().get(GridId::default()).unwrap();
    assert_eq!((level.topology(), level.width()), (Topology::Square, 6));
}

/// A critter walks over tiles of a hexagonal map only, and is drawn on them.
#[test]
fn a_critter_walks_over_hexagonal_maps() {
    for map_type in HEXAGONAL {
        let mut app = app();
        let map = spawn_map(&mut app, (12, 12), by_texture());
        app.world_mut().entity_mut(map).insert(map_type);
        for x in 0..11 {
            let tile = tile_at(&mut app, map, (x, 6));
            app.world_mut().entity_mut(tile).insert(TileTextureIndex(9));
        }
        run(&mut app, 2);
        let center = |x, y| {
            let size = TilemapSize { x: 12, y: 12 };
            let (grid, tile) =
                (TilemapGridSize { x: 16.0, y: 16.0 }, TilemapTileSize { x: 16.0, y: 16.0 });
            let anchor = TilemapAnchor::None;
            TilePos { x, y }.center_in_world(&size, &grid, &tile, &map_type, &anchor)
        };
        let start = Transform::from_translation(center(0, 0).extend(0.0));
        let request = PathRequest::to(center(0, 11));
        let unit = app.world_mut().spawn((Critter::new(20.0), start, request)).id();
        run_until(&mut app, 600, |app| {
            let at = app.world().get::<CritterState>(unit).unwrap().cell();
            let tile = TileLayout::of(map_type).tile(at).expect("on a tile");
            assert!(tile.x < 12 && tile.y < 12 && (tile.y != 6 || tile.x == 11), "{tile:?}");
            status(app, unit) == PathStatus::Arrived(PathKind::Complete)
        });
        run(&mut app, 2); // drawing is a tick behind
        let off = position(&app, unit).distance(center(0, 11));
        assert!(off < 0.01, "{map_type:?}: {off}");
    }
}

fn edge(app: &App, x: i32, y: i32, direction: Direction) -> u8 {
    let grids = app.world().resource::<NavGrids>();
    grids.get(GridId::default()).unwrap().edge(Cell::new(x, y), direction).0
}

#[test]
fn tiles_have_edges_by_texture_and_by_component() {
    use Direction::{East, North, South, West};
    let mut app = app();
    let fence = TileEdges::new().with(North, EdgeId(2)).with(West, EdgeId(3));
    let map = spawn_map(&mut app, (6, 6), by_texture().edges([TileEdges::new(), fence]));
    let tile = tile_at(&mut app, map, (2, 3));
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 1;
    app.update();
    assert_eq!((edge(&app, 2, 3, North), edge(&app, 2, 4, South)), (2, 2));
    assert_eq!((edge(&app, 2, 3, West), edge(&app, 1, 3, East)), (3, 3));
    assert_eq!(terrain(&app, 2, 3), Some(ROAD));

    // A component takes precedence, and of two tiles that share a side the higher number counts.
    let above = tile_at(&mut app, map, (2, 4));
    app.world_mut().entity_mut(above).insert(TileEdges::new().with(South, EdgeId(7)));
    app.update();
    assert_eq!(edge(&app, 2, 3, North), 7);
    app.world_mut().entity_mut(above).insert(TileEdges::new());
    app.update();
    assert_eq!(edge(&app, 2, 3, North), 2);
    app.world_mut().entity_mut(tile).insert(TileEdges::new().with(South, EdgeId(5)));
    app.update();
    assert_eq!([North, West, South].map(|side| edge(&app, 2, 3, side)), [0, 0, 5]);
    app.world_mut().entity_mut(tile).remove::<TileEdges>();
    app.update();
    assert_eq!([North, West, South].map(|side| edge(&app, 2, 3, side)), [2, 3, 0]);

    // They move and go with their tile, and come back from under another one.
    let revision_before = revision(&app);
    app.update();
    assert_eq!(revision(&app), revision_before);
    app.world_mut().entity_mut(tile).insert(TilePos { x: 4, y: 1 });
    app.update();
    assert_eq!((edge(&app, 2, 3, North), edge(&app, 4, 1, North)), (0, 2));
    let cover = spawn_tile(&mut app, map, (4, 1), 0);
    app.update();
    assert_eq!(edge(&app, 4, 1, North), 0);
    app.world_mut().entity_mut(cover).despawn();
    app.update();
    assert_eq!(edge(&app, 4, 1, North), 2);
    app.world_mut().entity_mut(tile).despawn();
    app.update();
    assert_eq!(edge(&app, 4, 1, North), 0);
}

#[test]
fn edges_of_several_maps_and_shapes_are_combined() {
    let mut app = app();
    let wall = |direction, edge| TileEdges::new().with(direction, EdgeId(edge));
    spawn_map(&mut app, (6, 6), by_texture().edges([wall(Direction::East, 2)]));
    let overlay = NavSource::by(|_| None);
    let overlay = spawn_map(
        &mut app,
        (3, 3),
        overlay.offset(Cell::new(1, 1)).edges([wall(Direction::East, 4)]),
    );
    app.update();
    assert_eq!((edge(&app, 0, 2, Direction::East), edge(&app, 2, 2, Direction::East)), (2, 4));
    assert_eq!(edge(&app, 5, 2, Direction::East), 0, "the border of the grid");
    app.world_mut().entity_mut(overlay).despawn();
    app.update();
    assert_eq!(edge(&app, 2, 2, Direction::East), 2);

    let mut app = self::app();
    let map = spawn_map(
        &mut app,
        (6, 6),
        by_texture().edges([TileEdges::new(), wall(Direction::NorthWest, 3)]),
    );
    app.world_mut().entity_mut(map).insert(TilemapType::Hexagon(HexCoordSystem::RowOdd));
    let tile = tile_at(&mut app, map, (3, 2));
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 1;
    app.update();
    let Cell { x, y } = TileLayout::OddRows.cell(TilePos { x: 3, y: 2 });
    assert_eq!(edge(&app, x, y, Direction::NorthWest), 3);
    assert_eq!(edge(&app, x - 1, y + 1, Direction::SouthEast), 3);
}

/// A map may get any size between two ticks.
#[test]
fn a_map_of_no_size_is_refused_also_in_a_frame_without_a_tick() {
    use bevy::time::TimeUpdateStrategy;
    let mut app = app();
    let map = spawn_map(&mut app, (4, 4), by_texture());
    app.update();
    let frame = core::time::Duration::from_millis(1);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.world_mut().entity_mut(map).insert(TilemapSize { x: 0, y: 0 });
    run(&mut app, 40);
    assert!(matches!(app.world().get(map), Some(SourceStatus::Refused(_))));
}
