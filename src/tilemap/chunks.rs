//! Reads Bevy's own tilemap chunks into the sources.
//!
//! Input: entities with a [`NavSource`], a `TilemapChunk` and its `TilemapChunkTileData`. Output: the terrain and edges of their
//! tiles, and the frames of their grids. If any tile of a chunk has changed, the whole chunk is read again, and only the
//! differences are edited.

use bevy::{
    ecs::entity_disabling::Disabled,
    prelude::*,
    sprite_render::{TileData, TilemapChunk, TilemapChunkTileData},
};

use super::{
    NavSource, SourceError, SourceStatus, TileEdges, TileLayout, TileView, check, combine::reject,
    source::Source, sources::TileSources,
};
use crate::{grids::NavGrids, nav::topology::Topology, whereabouts::Whereabouts};

type Chunk = (
    Entity,
    Ref<'static, NavSource>,
    Ref<'static, TilemapChunk>,
    Ref<'static, TilemapChunkTileData>,
    &'static mut SourceStatus,
);

/// Reads the chunks that are new or have changed.
pub(crate) fn read_chunks(
    mut sources: ResMut<TileSources>,
    mut chunks: Query<Chunk, Allow<Disabled>>,
) {
    let reread = sources.take_reread(|chunk| chunks.contains(chunk));
    for (entity, settings, chunk, tiles, mut status) in &mut chunks {
        let is_refused = matches!(*status, SourceStatus::Refused(SourceError::TileCount { .. }));
        let shape = (chunk.chunk_size, TileLayout::Straight, Topology::Square);
        let is_pending = *status == SourceStatus::Pending;
        let is_written = is_pending || settings.is_changed() || chunk.is_changed();
        let is_new =
            is_written && !sources.are_read(entity, &settings, shape) || reread.contains(&entity);
        if !is_new && !tiles.is_changed() {
            continue;
        }
        if let Err(error) = check_chunk(chunk.chunk_size, &tiles) {
            sources.remove(entity);
            reject(entity, &mut status, error);
            continue;
        }
        if is_new || is_refused {
            sources.insert(Source::new(entity, (*settings).clone(), shape));
            *status = SourceStatus::Ready;
        }
        read_tiles(&mut sources, entity, &tiles);
    }
}

/// Sets the frames of the grids whose map with the lowest order is a chunk.
pub(crate) fn frame_chunks(
    sources: Res<TileSources>,
    mut grids: ResMut<NavGrids>,
    chunks: Query<&TilemapChunk, (With<NavSource>, Allow<Disabled>)>,
    whereabouts: Whereabouts,
) {
    for source in sources.lowest() {
        let Ok(chunk) = chunks.get(source.entity) else {
            continue;
        };
        let world = whereabouts.transform(source.entity).unwrap_or_default();
        let [zero, right, up] = [UVec2::ZERO, UVec2::X, UVec2::Y].map(|tile| {
            let local = chunk.calculate_tile_transform(tile).translation;
            world.transform_point(local).truncate()
        });
        source.set_frame(&mut grids, (zero, right - zero, up - zero));
    }
}

fn check_chunk(size: UVec2, tiles: &TilemapChunkTileData) -> Result<(), SourceError> {
    check(TileLayout::Straight, size)?;
    let (expected, found) = (size.element_product(), tiles.len() as u32);
    if expected == found { Ok(()) } else { Err(SourceError::TileCount { expected, found }) }
}

/// Takes over what the tiles of a chunk have.
fn read_tiles(sources: &mut TileSources, chunk: Entity, tiles: &[Option<TileData>]) {
    let Some((source, changes)) = sources.find_with_changes(chunk) else {
        return;
    };
    for (index, tile) in (0..).zip(tiles) {
        let content = tile.map(|tile| {
            let view = TileView {
                position: UVec2::new(index % source.size.x, index / source.size.x),
                texture: u32::from(tile.tileset_index),
                visible: tile.visible,
                terrain: None,
            };
            source.settings.content(&view, None)
        });
        let content = content.unwrap_or((source.settings.empty, TileEdges::new()));
        source.set(index, content, changes);
    }
}
