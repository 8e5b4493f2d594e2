//! Reads the maps of bevy_ecs_tilemap and their tiles into the sources, and derives the frames of their grids.

use bevy::{
    ecs::{entity::EntityHashSet, entity_disabling::Disabled, system::SystemChangeTick},
    prelude::*,
};
use bevy_ecs_tilemap::prelude::{
    TilePos, TilemapAnchor, TilemapGridSize, TilemapSize, TilemapTileSize, TilemapType,
};

use super::{
    NavSource, SourceStatus, TileLayout, TileView, check,
    combine::reject,
    layout::topology_of,
    scan::{TileItem, Tiles, changed_tiles},
    source::Source,
    sources::TileSources,
};
use crate::{grids::NavGrids, nav::topology::Topology, whereabouts::Whereabouts};

type Map = (
    Entity,
    Ref<'static, NavSource>,
    Ref<'static, TilemapSize>,
    Ref<'static, TilemapType>,
    &'static mut SourceStatus,
);

/// Where tiles are drawn.
type Shape = (
    &'static TilemapSize,
    &'static TilemapType,
    &'static TilemapGridSize,
    &'static TilemapTileSize,
    Option<&'static TilemapAnchor>,
);

/// Includes disabled maps.
type Maps<'w, 's> =
    Query<'w, 's, Map, (With<TilemapGridSize>, With<TilemapTileSize>, Allow<Disabled>)>;

/// Reads the tilemaps and tiles that have changed.
pub(crate) fn read_tilemaps(
    mut sources: ResMut<TileSources>,
    mut maps: Maps,
    tiles: Tiles,
    ticks: SystemChangeTick,
    mut changed: Local<Vec<Entity>>,
) {
    let newly_read = read_maps(&mut sources, &mut maps, &tiles);
    changed_tiles(&tiles, &ticks, &mut changed);
    let changed = changed.drain(..).filter_map(|tile| tiles.get(tile).ok());
    read_tiles(&mut sources, changed.filter(|tile| !newly_read.contains(&tile.map.0)));
    for tile in std::mem::take(&mut sources.removed_tiles) {
        match tiles.get(tile) {
            Ok(tile) => read_tiles(&mut sources, std::iter::once(tile)),
            Err(_) => sources.take(tile),
        }
    }
}

/// Reads new tilemaps and those whose settings, size or type have changed, with all their tiles. Returns the
/// tilemaps read.
fn read_maps(sources: &mut TileSources, maps: &mut Maps, tiles: &Tiles) -> EntityHashSet {
    let (mut newly_read, mut orders) = (EntityHashSet::default(), Vec::new());
    let changed = maps.iter().filter(|(_, settings, size, map_type, status)| {
        // One that was not read yet may have got its last component now.
        let is_pending = **status == SourceStatus::Pending;
        is_pending || settings.is_changed() || size.is_changed() || map_type.is_changed()
    });
    let changed = changed.filter(|(map, settings, size, map_type, _)| {
        !sources.are_read(*map, settings, shape_of(**size, **map_type))
    });
    let mut changed: Vec<Entity> = changed.map(|map| map.0).collect();
    // Formerly rejected maps, in the order in which they were rejected.
    let mut reread = sources.take_reread(|map| maps.contains(map));
    reread.retain(|map| !changed.contains(map));
    changed.append(&mut reread);
    for entity in changed {
        let Ok((entity, settings, size, map_type, mut status)) = maps.get_mut(entity) else {
            continue; // gone
        };
        let shape = shape_of(*size, *map_type);
        match check(shape.1, shape.0) {
            Ok(()) => {
                let order = sources.insert(Source::new(entity, (*settings).clone(), shape));
                orders.extend((!order.is_empty()).then_some((entity, order)));
                newly_read.insert(entity);
                *status = SourceStatus::Ready;
            }
            Err(error) => {
                sources.remove(entity);
                reject(entity, &mut status, error);
            }
        }
    }
    if !newly_read.is_empty() {
        read_tiles(sources, tiles.iter().filter(|tile| newly_read.contains(&tile.map.0)));
    }
    for (map, order) in orders {
        if let Some((source, changes)) = sources.find_with_changes(map) {
            source.restack(&order, changes);
        }
    }
    newly_read
}

/// Returns the columns and rows of a map, which cell a tile is, and the shape of cells.
fn shape_of(size: TilemapSize, map_type: TilemapType) -> (UVec2, TileLayout, Topology) {
    (UVec2::new(size.x, size.y), TileLayout::of(map_type), topology_of(map_type))
}

fn read_tiles<'w, 's>(sources: &mut TileSources, tiles: impl Iterator<Item = TileItem<'w, 's>>) {
    for tile in tiles {
        let view = TileView {
            position: UVec2::new(tile.position.x, tile.position.y),
            texture: tile.texture.map_or(0, |texture| texture.0),
            visible: tile.visible.is_none_or(|visible| visible.0),
            terrain: tile.terrain.map(|terrain| terrain.0),
        };
        let source = sources.find(tile.map.0);
        let own_edges = tile.edges.map(|edges| *edges);
        let content = source.map(|source| source.settings.content(&view, own_edges));
        let content = content.unwrap_or_default();
        sources.put(tile.entity, (tile.map.0, view.position), content);
    }
}

/// Sets the frames of the grids whose map with the lowest order is one of these.
pub(crate) fn frame_tilemaps(
    sources: Res<TileSources>,
    mut grids: ResMut<NavGrids>,
    maps: Query<Shape, (With<NavSource>, Allow<Disabled>)>,
    whereabouts: Whereabouts,
) {
    for source in sources.lowest() {
        let Ok((size, map_type, grid_size, tile_size, anchor)) = maps.get(source.entity) else {
            continue;
        };
        if size.x == 0 || size.y == 0 {
            continue; // it is refused in the next tick
        }
        let world = whereabouts.transform(source.entity).unwrap_or_default();
        let anchor = anchor.copied().unwrap_or(TilemapAnchor::None);
        let center = |x, y, map_type: TilemapType| {
            let local =
                TilePos::new(x, y).center_in_world(size, grid_size, tile_size, &map_type, &anchor);
            world.transform_point(local.extend(0.0)).truncate()
        };
        let straight = source.layout.straightened(*map_type);
        let [zero, right, up] = [(0, 0), (1, 0), (0, 1)].map(|(x, y)| center(x, y, straight));
        let origin = center(0, 0, *map_type);
        source.set_frame(&mut grids, (origin, right - zero, up - zero));
    }
}
