//! Combines what all maps contribute into the grids.
//!
//! Input: the sources, with what has changed in them. Output: grids of the extent of their maps, and edits where the terrain or
//! the edges of a cell have changed.

use std::collections::BTreeSet;

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{NavSource, SourceError, SourceStatus, sources::TileSources};
use crate::{
    grids::NavGrids,
    nav::{CellRect, GridId, NavGrid, TerrainId, Topology, grid::MAX_SIDE},
};

type Statuses<'w, 's> =
    Query<'w, 's, &'static mut SourceStatus, (With<NavSource>, Allow<Disabled>)>;

/// Forgets the maps that are no sources any more, and those that became sources anew: they are read again.
pub(crate) fn forget_sources(
    mut sources: ResMut<TileSources>,
    maps: Query<(), (With<NavSource>, Allow<Disabled>)>,
) {
    for map in std::mem::take(&mut sources.removed_sources) {
        sources.remove(map);
    }
    sources.reread.retain(|&map| maps.contains(map));
}

/// Rebuilds and edits the grids.
pub(crate) fn combine_sources(
    mut sources: ResMut<TileSources>,
    mut grids: ResMut<NavGrids>,
    mut statuses: Statuses,
) {
    if grids.tiles_version != sources.version {
        // They are others than before: those of a snapshot, or of the game.
        let ids: BTreeSet<_> = sources.sources.iter().map(|source| source.settings.grid).collect();
        let is_ours = |&id: &GridId| grids.get(id).is_none() || grids.is_fed_by_tiles(id);
        sources.rebuild.extend(ids.into_iter().filter(is_ours));
    }
    sources.version += u64::from(!sources.rebuild.is_empty() || !sources.changes.is_empty());
    if !sources.rebuild.is_empty() {
        rebuild_grids(&mut sources, &mut grids, &mut statuses);
    }
    if !sources.changes.is_empty() {
        apply_changes(&mut sources, &mut grids);
    }
    // Games look for changes of the resource.
    grids.bypass_change_detection().tiles_version = sources.version;
}

/// Reports that a map feeds no grid.
pub(super) fn reject(entity: Entity, status: &mut SourceStatus, error: SourceError) {
    tracing::error!("tilemap {entity} feeds no grid: {error}");
    *status = SourceStatus::Refused(error);
}

/// Makes grids what their maps say: edits those that have the extent of their maps, makes the others anew, and removes those
/// without a map.
fn rebuild_grids(sources: &mut TileSources, grids: &mut NavGrids, statuses: &mut Statuses) {
    while let Some(id) = sources.rebuild.pop_first() {
        sources.changes.terrain.retain(|&(grid, _)| grid != id);
        sources.changes.edges.retain(|&(grid, _)| grid != id);
        let extent = sources.extent(id);
        let (width, height) = (extent.width, extent.height);
        if extent.is_empty() {
            // A grid that the game has put in their place stays.
            if grids.is_fed_by_tiles(id) {
                grids.remove(id);
            }
        } else if let Some((misfit, error)) = misfit(sources, id, (width, height)) {
            sources.reject_misfit(misfit);
            if let Ok(mut status) = statuses.get_mut(misfit) {
                reject(misfit, &mut status, error);
            }
        } else {
            let first = sources.of(id).next();
            let topology = first.map(|source| source.topology).unwrap_or_default();
            let fits = |grid: &&mut NavGrid| (grid.rect(), grid.topology()) == (extent, topology);
            match fed(grids, id).filter(fits) {
                Some(grid) => write_all(sources, id, grid),
                None => insert_new(sources, id, (extent, topology), grids),
            }
        }
    }
}

/// Makes a grid what its maps say.
fn write_all(sources: &TileSources, id: GridId, grid: &mut NavGrid) {
    let rect = grid.rect();
    let terrain = sources.terrain_of(id, rect);
    let mut edit = grid.edit();
    for (cell, terrain) in rect.cells().zip(terrain) {
        let is_set = edit.set_terrain(cell, TerrainId(terrain));
        debug_assert!(is_set.is_ok(), "{is_set:?}: it is a cell of the grid");
    }
    drop(edit);
    sources.write_all_edges(id, grid);
}

/// Makes a grid of maps.
fn insert_new(
    sources: &TileSources,
    id: GridId,
    (extent, topology): (CellRect, Topology),
    grids: &mut NavGrids,
) {
    let terrain = sources.terrain_of(id, extent);
    match NavGrid::from_terrain(extent.width, extent.height, terrain) {
        Ok(grid) => {
            let frame = grids.frame(id).copied().unwrap_or_default();
            let mut grid = grid.with_origin(extent.min).with_topology(topology);
            sources.write_all_edges(id, &mut grid);
            grids.insert_level(id, grid, frame, true);
        }
        Err(error) => tracing::error!("grid {}: {error}", id.0),
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

/// Returns a grid, unless the game has put one of its own in its place.
fn fed(grids: &mut NavGrids, id: GridId) -> Option<&mut NavGrid> {
    if grids.is_fed_by_tiles(id) { grids.edit_mut(id) } else { None }
}

/// Combines the layers again where one of them has changed.
fn apply_changes(sources: &mut TileSources, grids: &mut NavGrids) {
    // Row by row, whatever the order of the tiles' entities.
    sources.changes.terrain.sort_unstable_by_key(|&(id, cell)| (id, cell.y, cell.x));
    for run in sources.changes.terrain.chunk_by(|a, b| a.0 == b.0) {
        let id = run[0].0;
        let Some(grid) = fed(grids, id) else {
            continue;
        };
        let around = sources.around(id, run.iter().map(|&(_, cell)| cell));
        let mut edit = grid.edit();
        for &(_, cell) in run {
            if let Err(error) = edit.set_terrain(cell, TileSources::terrain(&around, cell)) {
                tracing::error!("grid {}: {error}", id.0);
            }
        }
    }
    sources.changes.terrain.clear();
    let mut changed = std::mem::take(&mut sources.changes.edges);
    changed.sort_unstable();
    for run in changed.chunk_by(|a, b| a.0 == b.0) {
        let (id, cells) = (run[0].0, run.iter().map(|&(_, cell)| cell).collect::<Vec<_>>());
        if let Some(grid) = fed(grids, id) {
            sources.write_edges(id, grid, &cells);
        }
    }
}
