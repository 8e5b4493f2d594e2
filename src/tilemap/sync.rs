//! Reads tilemaps and their tiles into the sources, and combines the sources into the grids.

use bevy::{
    ecs::{entity_disabling::Disabled, system::SystemChangeTick},
    prelude::*,
};
use bevy_ecs_tilemap::prelude::{
    TilePos, TilemapAnchor, TilemapGridSize, TilemapSize, TilemapTileSize, TilemapType,
};

use super::{
    NavSource, SourceError, SourceStatus, TileView, check,
    layout::topology_of,
    scan::{TileItem, Tiles, changed_tiles},
    sources::{Source, TileSources},
};
use crate::{
    coordinates::GridFrame,
    grids::NavGrids,
    nav::{GridId, NavGrid, grid::MAX_SIDE},
    whereabouts::Whereabouts,
};

type Map = (
    Entity,
    Ref<'static, NavSource>,
    Ref<'static, TilemapSize>,
    Ref<'static, TilemapType>,
    &'static TilemapGridSize,
    &'static TilemapTileSize,
    Option<&'static TilemapAnchor>,
    &'static mut SourceStatus,
);

/// Includes disabled maps.
type Maps<'w, 's> = Query<'w, 's, Map, Allow<Disabled>>;

/// Updates the grids from the tilemaps that feed them.
pub(crate) fn sync_tilemaps(
    mut sources: ResMut<TileSources>,
    mut grids: ResMut<NavGrids>,
    mut maps: Maps,
    tiles: Tiles,
    ticks: SystemChangeTick,
    mut changed: Local<Vec<Entity>>,
    whereabouts: Whereabouts,
) {
    for map in std::mem::take(&mut sources.removed_sources) {
        if !maps.contains(map) {
            sources.remove(map);
        }
    }
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
    rebuild_grids(&mut sources, &mut grids, &mut maps);
    apply_changes(&mut sources, &mut grids);
    set_frames(&sources, &mut grids, &maps, &whereabouts);
}

/// Reads new tilemaps and those whose settings, size or type have changed, with all their tiles. Returns the
/// tilemaps read.
fn read_maps(sources: &mut TileSources, maps: &mut Maps, tiles: &Tiles) -> Vec<Entity> {
    let mut newly_read = Vec::new();
    let changed = maps.iter().filter(|(_, settings, size, map_type, ..)| {
        settings.is_changed() || size.is_changed() || map_type.is_changed()
    });
    let mut changed: Vec<Entity> = changed.map(|map| map.0).collect();
    // Formerly rejected maps, in the order in which they were rejected.
    let mut reread = std::mem::take(&mut sources.reread);
    reread.retain(|map| !changed.contains(map));
    changed.append(&mut reread);
    for entity in changed {
        let Ok((entity, settings, size, map_type, .., mut status)) = maps.get_mut(entity) else {
            continue; // gone
        };
        match check(*map_type, *size) {
            Ok(layout) => {
                let tiles = (UVec2::new(size.x, size.y), layout, topology_of(*map_type));
                sources.insert(Source::new(entity, (*settings).clone(), tiles));
                newly_read.push(entity);
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
    newly_read
}

fn reject(entity: Entity, status: &mut SourceStatus, error: SourceError) {
    tracing::error!("tilemap {entity} feeds no grid: {error}");
    *status = SourceStatus::Refused(error);
}

fn read_tiles<'w, 's>(sources: &mut TileSources, tiles: impl Iterator<Item = TileItem<'w, 's>>) {
    for tile in tiles {
        let view = TileView {
            position: UVec2::new(tile.position.x, tile.position.y),
            texture: tile.texture.map_or(0, |texture| texture.0),
            visible: tile.visible.is_none_or(|visible| visible.0),
            terrain: tile.terrain.map(|terrain| terrain.0),
        };
        let terrain = sources.find(tile.map.0).and_then(|source| {
            let settings = &source.settings;
            let is_hidden = settings.hidden_is_empty && !view.visible;
            if is_hidden { settings.empty } else { settings.rule.terrain(&view) }
        });
        let edges = sources.find(tile.map.0).and_then(|source| {
            let by_texture = source.settings.edges.get(view.texture as usize);
            let is_hidden = source.settings.hidden_is_empty && !view.visible;
            tile.edges.map(|edges| *edges).or(by_texture.copied()).filter(|_| !is_hidden)
        });
        let content = (terrain, edges.unwrap_or_default());
        sources.put(tile.entity, (tile.map.0, view.position), content);
    }
}

/// Rebuilds the grids whose extent or layers have changed; removes a grid without any map left.
fn rebuild_grids(sources: &mut TileSources, grids: &mut NavGrids, maps: &mut Maps) {
    while let Some(id) = sources.rebuild.pop_first() {
        sources.changed.retain(|&(grid, _)| grid != id);
        sources.changed_edges.retain(|&(grid, _)| grid != id);
        let extent = sources.extent(id);
        let (width, height) = (extent.width, extent.height);
        if extent.is_empty() {
            grids.remove(id);
        } else if let Some((misfit, error)) = misfit(sources, id, (width, height)) {
            sources.reject_misfit(misfit);
            if let Ok((.., mut status)) = maps.get_mut(misfit) {
                reject(misfit, &mut status, error);
            }
        } else {
            let terrain = extent.cells().map(|cell| sources.terrain(id, cell).0).collect();
            match NavGrid::from_terrain(width, height, terrain) {
                Ok(grid) => {
                    let frame = grids.frame(id).copied().unwrap_or_default();
                    let topology = sources.of(id).next().map(|source| source.topology);
                    let grid = grid.with_origin(extent.min);
                    let mut grid = grid.with_topology(topology.unwrap_or_default());
                    sources.write_edges(id, &mut grid, &sources.cells_with_edges(id));
                    grids.insert_level(id, grid, frame, true);
                }
                Err(error) => tracing::error!("grid {}: {error}", id.0),
            }
        }
    }
}

/// Returns a map that does not fit together with the others of its grid, of this size together, and why.
fn misfit(
    sources: &TileSources,
    id: GridId,
    (width, height): (u32, u32),
) -> Option<(Entity, SourceError)> {
    let first = sources.of(id).next()?;
    let other = sources.of(id).find(|source| source.topology != first.topology);
    if let Some(other) = other {
        return Some((other.entity, SourceError::MixedTopologies));
    }
    // The map added last made the grid too large; the others fit without it.
    let is_too_large = width > MAX_SIDE || height > MAX_SIDE;
    let last = sources.of(id).last().filter(|_| is_too_large)?;
    Some((last.entity, SourceError::TooLarge { width, height }))
}

/// Combines the layers again where one of them has changed.
fn apply_changes(sources: &mut TileSources, grids: &mut NavGrids) {
    for run in sources.changed.chunk_by(|a, b| a.0 == b.0) {
        let id = run[0].0;
        let Some(grid) = grids.edit_mut(id) else {
            continue;
        };
        let mut edit = grid.edit();
        for &(_, cell) in run {
            if let Err(error) = edit.set_terrain(cell, sources.terrain(id, cell)) {
                tracing::error!("grid {}: {error}", id.0);
            }
        }
    }
    sources.changed.clear();
    let mut changed = std::mem::take(&mut sources.changed_edges);
    changed.sort_unstable();
    for run in changed.chunk_by(|a, b| a.0 == b.0) {
        let (id, cells) = (run[0].0, run.iter().map(|&(_, cell)| cell).collect::<Vec<_>>());
        if let Some(grid) = grids.edit_mut(id) {
            sources.write_edges(id, grid, &cells);
        }
    }
}

/// Sets the frame of each grid from its tilemap with the lowest order.
fn set_frames(sources: &TileSources, grids: &mut NavGrids, maps: &Maps, whereabouts: &Whereabouts) {
    for source in &sources.sources {
        let id = source.settings.grid;
        let lowest = sources.of(id).min_by_key(|other| other.settings.order);
        let is_lowest = lowest.is_some_and(|lowest| lowest.entity == source.entity);
        let map = maps.get(source.entity).ok().filter(|_| is_lowest);
        let Some((entity, _, size, map_type, grid_size, tile_size, anchor, _)) = map else {
            continue;
        };
        let world = whereabouts.transform(entity).unwrap_or_default();
        let anchor = anchor.copied().unwrap_or(TilemapAnchor::None);
        let center = |x, y, map_type: TilemapType| {
            let local =
                TilePos::new(x, y).center_in_world(&size, grid_size, tile_size, &map_type, &anchor);
            world.transform_point(local.extend(0.0)).truncate()
        };
        let straight = source.layout.straightened(*map_type);
        let [zero, right, up] = [(0, 0), (1, 0), (0, 1)].map(|(x, y)| center(x, y, straight));
        let (origin, right, up) = (center(0, 0, *map_type), right - zero, up - zero);
        let offset = source.settings.offset;
        let zero = origin - right * offset.x as f32 - up * offset.y as f32;
        grids.set_frame(id, GridFrame::from_axes(zero, right, up));
    }
}
