//! Bevy's own tilemap chunks as sources of grids, headless: first build, changes, several chunks, frames, refused ones, and chunks
//! that come, go and change at random, compared with what their data says.

#![allow(clippy::unwrap_used, reason = "a test whose setup fails should fail")]

use bevy::{
    ecs::schedule::{LogLevel, ScheduleBuildSettings},
    prelude::*,
    sprite_render::{
        TileData, TilemapChunk, TilemapChunkMaterial, TilemapChunkMeshCache, TilemapChunkTileData,
    },
    time::TimeUpdateStrategy,
};
use bevy_tilepath::prelude::*;
use proptest::prelude::*;

const GRASS: TerrainId = TerrainId(b'G');
const ROAD: TerrainId = TerrainId(b'.');
const WATER: TerrainId = TerrainId(b'W');
const TERRAINS: [TerrainId; 3] = [GRASS, ROAD, WATER];

/// An app in which each update is one fixed tick, with what inserting a chunk needs.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<TilemapChunkMeshCache>()
        .init_resource::<Assets<Mesh>>()
        .init_resource::<Assets<Image>>()
        .init_resource::<Assets<TilemapChunkMaterial>>();
    app.update(); // the first update has no fixed step
    app
}

/// A chunk of tiles of 16 × 16 units with texture 0.
fn chunk(size: (u32, u32)) -> (TilemapChunk, TilemapChunkTileData) {
    let chunk_size = UVec2::new(size.0, size.1);
    let tile_display_size = UVec2::splat(16);
    let tiles = vec![Some(TileData::from_tileset_index(0)); (size.0 * size.1) as usize];
    let chunk = TilemapChunk { chunk_size, tile_display_size, ..default() };
    (chunk, TilemapChunkTileData(tiles))
}

fn tiles(app: &mut App, chunk: Entity) -> Mut<'_, TilemapChunkTileData> {
    app.world_mut().get_mut(chunk).unwrap()
}

fn grid(app: &App) -> Option<&NavGrid> {
    app.world().resource::<NavGrids>().get(GridId::default())
}

fn terrain(app: &App, x: i32, y: i32) -> Option<TerrainId> {
    grid(app)?.terrain(Cell::new(x, y))
}

fn status(app: &App, chunk: Entity) -> SourceStatus {
    *app.world().get(chunk).unwrap()
}

#[test]
fn the_order_of_systems_is_never_ambiguous() {
    let mut app = app();
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            ..default()
        });
    }
    app.add_systems(FixedUpdate, || {}); // the schedule is built anew
    app.update();
}

#[test]
fn a_chunk_becomes_a_grid_that_lies_where_its_tiles_are_drawn() {
    let mut app = app();
    let (shape, data) = chunk((6, 4));
    let place = Transform::from_xyz(100.0, 50.0, 0.0).with_scale(Vec3::splat(2.0));
    let source = NavSource::by_texture(TERRAINS).offset(Cell::new(-3, 7));
    let entity = app.world_mut().spawn((shape.clone(), data, place, source)).id();
    tiles(&mut app, entity)[7] = Some(TileData::from_tileset_index(2));
    app.update();
    assert_eq!(status(&app, entity), SourceStatus::Ready);
    assert_eq!(grid(&app).unwrap().rect(), CellRect::new(Cell::new(-3, 7), 6, 4));
    assert_eq!(terrain(&app, -3, 7), Some(GRASS));
    assert_eq!(terrain(&app, -2, 8), Some(WATER), "tile 7 is in column 1 of row 1");
    let grids = app.world().resource::<NavGrids>();
    let frame = grids.frame(GridId::default()).unwrap();
    for (x, y) in [(0, 0), (1, 1), (5, 3)] {
        let drawn = place * shape.calculate_tile_transform(UVec2::new(x, y)).translation;
        let cell = Cell::new(x as i32 - 3, y as i32 + 7);
        assert!(frame.cell_center(cell).distance(drawn.truncate()) < 1e-3, "{cell}");
        assert_eq!(frame.cell_at(drawn.truncate()), Some(cell));
    }
}

#[test]
fn changed_tiles_change_the_terrain_and_the_edges_of_their_cells() {
    let mut app = app();
    let (shape, data) = chunk((8, 8));
    let fence = TileEdges::new().with(Direction::North, EdgeId::WALL);
    let source =
        NavSource::by_texture(TERRAINS).empty(TerrainId::VOID).edges([TileEdges::new(), fence]);
    let source = NavSource { hidden_is_empty: true, ..source };
    let entity = app.world_mut().spawn((shape, data, source)).id();
    app.update();
    let edge = |app: &App| grid(app).unwrap().edge(Cell::new(2, 3), Direction::South);
    assert_eq!((terrain(&app, 2, 2), edge(&app)), (Some(GRASS), EdgeId::NONE));
    tiles(&mut app, entity)[2 * 8 + 2] = Some(TileData::from_tileset_index(1));
    app.update();
    assert_eq!((terrain(&app, 2, 2), edge(&app)), (Some(ROAD), EdgeId::WALL));
    let hidden = TileData { visible: false, ..TileData::from_tileset_index(1) };
    tiles(&mut app, entity)[2 * 8 + 2] = Some(hidden);
    app.update();
    assert_eq!((terrain(&app, 2, 2), edge(&app)), (Some(TerrainId::VOID), EdgeId::NONE));
    tiles(&mut app, entity)[2 * 8 + 2] = None;
    tiles(&mut app, entity)[0] = Some(TileData::from_tileset_index(9));
    app.update();
    assert_eq!(terrain(&app, 2, 2), Some(TerrainId::VOID), "no tile");
    assert_eq!(terrain(&app, 0, 0), Some(TerrainId::VOID), "a texture beyond the list");
    app.world_mut().despawn(entity);
    app.update();
    assert!(grid(&app).is_none(), "the grid goes with its last chunk");
}

#[test]
fn a_unit_walks_from_chunk_to_chunk_and_around_a_wall_built_on_its_way() {
    let mut app = app();
    let mut chunks = Vec::new();
    for column in 0..2 {
        let (shape, data) = chunk((16, 16));
        let place = Transform::from_xyz(256.0 * column as f32, 0.0, 0.0);
        let source = NavSource::by_texture(TERRAINS).offset(Cell::new(16 * column, 0));
        chunks.push(app.world_mut().spawn((shape, data, place, source)).id());
    }
    app.update();
    let world = |app: &App, cell| {
        let grids = app.world().resource::<NavGrids>();
        grids.frame(GridId::default()).unwrap().cell_center(cell)
    };
    let (start, goal) = (Cell::new(2, 8), Cell::new(29, 8));
    let at = Transform::from_translation(world(&app, start).extend(0.0));
    let unit = app.world_mut().spawn((at, Critter::new(8.0), PathRequest::to(goal))).id();
    for _ in 0..30 {
        app.update();
    }
    for row in 0..15 {
        tiles(&mut app, chunks[1])[row * 16 + 4] = None;
    }
    for _ in 0..1_200 {
        app.update();
    }
    let translation = app.world().get::<Transform>(unit).unwrap().translation.truncate();
    assert!(translation.distance(world(&app, goal)) < 1.0, "it is there: {translation}");
}

#[test]
fn a_chunk_with_the_wrong_number_of_tiles_is_refused_until_that_is_put_right() {
    let mut app = app();
    let (shape, data) = chunk((4, 4));
    let source = NavSource::by_texture(TERRAINS);
    let entity = app.world_mut().spawn((shape, data, source)).id();
    app.update();
    assert_eq!(status(&app, entity), SourceStatus::Ready);
    tiles(&mut app, entity).pop();
    app.update();
    let error = SourceError::TileCount { expected: 16, found: 15 };
    assert_eq!(status(&app, entity), SourceStatus::Refused(error));
    assert_eq!(error.to_string(), "a chunk of 16 tiles has data for 15");
    assert!(grid(&app).is_none(), "it feeds no grid any more");
    tiles(&mut app, entity).push(Some(TileData::from_tileset_index(1)));
    app.update();
    assert_eq!((status(&app, entity), terrain(&app, 3, 3)), (SourceStatus::Ready, Some(ROAD)));
    for size in [(0, 5), (20_000, 1)] {
        let (shape, data) = chunk(size);
        let bad = app.world_mut().spawn((shape, data, NavSource::by_texture(TERRAINS))).id();
        app.update();
        assert!(matches!(status(&app, bad), SourceStatus::Refused(_)), "{size:?}");
    }
}

/// Something that happens to chunks.
#[derive(Clone, Debug)]
enum Event {
    Spawn { offset: (i32, i32), size: (u32, u32), order: i32 },
    Despawn(usize),
    Set { chunk: usize, tile: usize, texture: Option<u16> },
    Move { chunk: usize, offset: (i32, i32) },
    Resize { chunk: usize, size: (u32, u32) },
}

fn event() -> impl Strategy<Value = Event> {
    let (offset, size) = (|| (-20i32..20, -20i32..20), || (1u32..20, 1u32..20));
    prop_oneof![
        2 => (offset(), size(), -1i32..2)
            .prop_map(|(offset, size, order)| Event::Spawn { offset, size, order }),
        1 => any::<usize>().prop_map(Event::Despawn),
        6 => (any::<usize>(), any::<usize>(), prop::option::of(0u16..4))
            .prop_map(|(chunk, tile, texture)| Event::Set { chunk, tile, texture }),
        1 => (any::<usize>(), offset()).prop_map(|(chunk, offset)| Event::Move { chunk, offset }),
        1 => (any::<usize>(), size()).prop_map(|(chunk, size)| Event::Resize { chunk, size }),
    ]
}

/// Applies an event.
fn happen(app: &mut App, chunks: &mut Vec<Entity>, event: Event) {
    if let Event::Spawn { offset: (x, y), size, order } = event {
        let source = NavSource::by_texture(TERRAINS).offset(Cell::new(x, y)).order(order);
        // Tiles of texture 1 have a fence on their upper side.
        let fence = TileEdges::new().with(Direction::North, EdgeId::WALL);
        let source = source.edges([TileEdges::new(), fence]);
        let (shape, data) = chunk(size);
        return chunks.push(app.world_mut().spawn((shape, data, source)).id());
    }
    let count = chunks.len();
    let pick = |number: usize| number.checked_rem(count);
    match event {
        Event::Spawn { .. } => {}
        Event::Despawn(number) => {
            if let Some(at) = pick(number) {
                app.world_mut().despawn(chunks.remove(at));
            }
        }
        Event::Set { chunk, tile, texture } => {
            if let Some(at) = pick(chunk) {
                let mut tiles = tiles(app, chunks[at]);
                let tile = tile % tiles.len();
                tiles[tile] = texture.map(TileData::from_tileset_index);
            }
        }
        Event::Move { chunk, offset: (x, y) } => {
            if let Some(at) = pick(chunk) {
                app.world_mut().get_mut::<NavSource>(chunks[at]).unwrap().offset = Cell::new(x, y);
            }
        }
        Event::Resize { chunk: number, size } => {
            if let Some(at) = pick(number) {
                app.world_mut().entity_mut(chunks[at]).insert(chunk(size));
            }
        }
    }
}

/// The terrain of a cell as the chunks' data has it: that of the highest order, among equals of the one spawned first.
fn expected(app: &App, chunks: &[Entity], cell: Cell) -> TerrainId {
    let mut found: Option<(i32, TerrainId)> = None;
    for &entity in chunks {
        let entity = app.world().entity(entity);
        let source = entity.get::<NavSource>().unwrap();
        let size = entity.get::<TilemapChunk>().unwrap().chunk_size;
        let (x, y) = (cell.x - source.offset.x, cell.y - source.offset.y);
        if x < 0 || y < 0 || x as u32 >= size.x || y as u32 >= size.y {
            continue;
        }
        let tile =
            entity.get::<TilemapChunkTileData>().unwrap()[(y as u32 * size.x + x as u32) as usize];
        let terrain = tile.map(|tile| {
            TERRAINS.get(usize::from(tile.tileset_index)).copied().unwrap_or(TerrainId::VOID)
        });
        if let Some(terrain) =
            terrain.filter(|_| found.is_none_or(|(order, _)| order < source.order))
        {
            found = Some((source.order, terrain));
        }
    }
    found.map_or(TerrainId::VOID, |(_, terrain)| terrain)
}

/// Whether a tile of any chunk has a fence on the upper side of a cell.
fn has_fence(app: &App, chunks: &[Entity], cell: Cell) -> bool {
    chunks.iter().any(|&entity| {
        let entity = app.world().entity(entity);
        let size = entity.get::<TilemapChunk>().unwrap().chunk_size;
        let offset = entity.get::<NavSource>().unwrap().offset;
        let is_on = CellRect::new(offset, size.x, size.y).contains(cell);
        let (x, y) = (cell.x.abs_diff(offset.x), cell.y.abs_diff(offset.y));
        let tiles = entity.get::<TilemapChunkTileData>().unwrap();
        is_on && tiles[(y * size.x + x) as usize].is_some_and(|tile| tile.tileset_index == 1)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn grids_are_what_the_data_of_their_chunks_says(
        events in prop::collection::vec(event(), 1..40),
    ) {
        let mut app = app();
        let mut chunks = Vec::new();
        for (number, event) in events.into_iter().enumerate() {
            happen(&mut app, &mut chunks, event);
            if number % 3 == 0 {
                app.update();
            }
        }
        app.update();
        let rect = grid(&app).map_or(CellRect::default(), NavGrid::rect);
        prop_assert_eq!(rect.is_empty(), chunks.is_empty());
        for cell in rect.cells() {
            let found = grid(&app).unwrap().terrain(cell);
            prop_assert_eq!(found, Some(expected(&app, &chunks, cell)), "{}", cell);
            let is_below_another = rect.contains(cell.offset(0, 1));
            let has_fence = is_below_another && has_fence(&app, &chunks, cell);
            let edge = grid(&app).unwrap().edge(cell, Direction::North);
            prop_assert_eq!(edge == EdgeId::WALL, has_fence, "{}", cell);
        }
    }
}
