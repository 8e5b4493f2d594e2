//! The tilemaps read, each with what it contributes to its grid, so that layers can be combined again when one of them changes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use super::{
    NavSource, TileLayout,
    source::{Changes, Content, Source, StackOrder},
};
use crate::nav::{Cell, CellRect, GridId, terrain::TerrainId, topology::Topology};

/// All tilemaps read, and the position of each of their tiles.
#[derive(Resource, Debug, Default)]
pub(crate) struct TileSources {
    /// In the order of insertion.
    pub(super) sources: Vec<Source>,
    /// The index of each of them in that list.
    indices: EntityHashMap<usize>,
    /// Position of each tile read: map entity and index in the map.
    tile_positions: EntityHashMap<(Entity, u32)>,
    pub(super) changes: Changes,
    /// Tilemaps rejected because they do not fit together with others of their grid.
    misfits: Vec<(GridId, Entity)>,
    /// Rejected tilemaps to read again because another tilemap of their grid has changed or was removed.
    pub(super) reread: Vec<Entity>,
    /// How often anything has changed here that grids are made of.
    pub(super) version: u64,
    /// Grids to make what their maps say, as a whole: their maps have changed, or they are others than before.
    pub(super) rebuild: BTreeSet<GridId>,
    /// Tilemaps and tiles removed since the last tick. Kept here because Bevy discards removal records after a
    /// frame, and there may be no tick in that frame.
    pub(super) removed_sources: Vec<Entity>,
    #[cfg(feature = "tilemap")]
    pub(super) removed_tiles: Vec<Entity>,
}

impl TileSources {
    /// Returns whether a map has been read with these settings and this shape: written without a change, it is not read again.
    pub(super) fn are_read(
        &self,
        entity: Entity,
        settings: &NavSource,
        shape: (UVec2, TileLayout, Topology),
    ) -> bool {
        let known = self.indices.get(&entity).map(|&index| &self.sources[index]);
        known.is_some_and(|known| {
            (known.size, known.layout, known.topology) == shape && known.settings == *settings
        })
    }

    pub(super) fn find(&mut self, entity: Entity) -> Option<&mut Source> {
        self.indices.get(&entity).map(|&index| &mut self.sources[index])
    }

    /// Returns a source, and the list for what changes in it.
    pub(super) fn find_with_changes(&mut self, map: Entity) -> Option<(&mut Source, &mut Changes)> {
        let &index = self.indices.get(&map)?;
        Some((&mut self.sources[index], &mut self.changes))
    }

    /// Adds a source, or replaces the source of the same tilemap, without tiles. Returns in which order tiles covered one another.
    pub(super) fn insert(&mut self, source: Source) -> StackOrder {
        self.misfits.retain(|&(_, map)| map != source.entity);
        self.rebuild.insert(source.settings.grid);
        match self.indices.get(&source.entity) {
            Some(&index) => {
                let old = std::mem::replace(&mut self.sources[index], source);
                self.forget_tiles(&old);
                let before = old.settings.grid;
                self.rebuild.insert(before);
                self.retry_misfits(before);
                old.stack_order()
            }
            None => {
                self.indices.insert(source.entity, self.sources.len());
                self.sources.push(source);
                StackOrder::default()
            }
        }
    }

    pub(super) fn remove(&mut self, entity: Entity) {
        self.misfits.retain(|&(_, map)| map != entity);
        if let Some(grid) = self.detach(entity) {
            self.retry_misfits(grid);
        }
    }

    /// Removes a tilemap that does not fit together with the others of its grid.
    pub(super) fn reject_misfit(&mut self, entity: Entity) {
        if let Some(grid) = self.detach(entity) {
            self.misfits.push((grid, entity));
        }
    }

    fn detach(&mut self, entity: Entity) -> Option<GridId> {
        let index = self.indices.remove(&entity)?;
        let source = self.sources.remove(index);
        for (index, source) in self.sources.iter().enumerate().skip(index) {
            self.indices.insert(source.entity, index);
        }
        self.forget_tiles(&source);
        self.rebuild.insert(source.settings.grid);
        Some(source.settings.grid)
    }

    /// Forgets where the tiles of a map are.
    fn forget_tiles(&mut self, source: &Source) {
        if source.tiles.len() > self.tile_positions.len() / 2 {
            // Most of the table: entries removed one by one would leave traces that make it slow (512 × 512 tiles read again: 237 ms instead of 32).
            let positions = std::mem::take(&mut self.tile_positions).into_iter();
            self.tile_positions = positions.filter(|(_, (map, _))| *map != source.entity).collect();
        } else {
            for tile in source.all_tiles() {
                self.tile_positions.remove(&tile);
            }
        }
    }

    /// Notes that a tile may be gone, or has lost a part.
    #[cfg(feature = "tilemap")]
    pub(super) fn note_removed_tile(&mut self, tile: Entity) {
        if self.tile_positions.contains_key(&tile) {
            self.removed_tiles.push(tile);
        }
    }

    /// Takes the rejected tilemaps that are to be read again, of one kind of map.
    pub(super) fn take_reread(&mut self, is_of_kind: impl Fn(Entity) -> bool) -> Vec<Entity> {
        self.reread.extract_if(.., |map| is_of_kind(*map)).collect()
    }

    /// Schedules the rejected tilemaps of a grid to be read again, as they may fit now.
    fn retry_misfits(&mut self, grid: GridId) {
        let out = self.misfits.iter().filter(|&&(of, _)| of == grid);
        self.reread.extend(out.map(|&(_, map)| map));
    }

    /// Puts `tile` on a cell of `map` with this terrain and these edges, and removes it from its previous cell.
    pub(super) fn put(&mut self, tile: Entity, (map, at): (Entity, UVec2), content: Content) {
        let position = self.find(map).and_then(|source| {
            let inside = at.x < source.size.x && at.y < source.size.y;
            inside.then(|| (map, at.y * source.size.x + at.x))
        });
        let before = self.tile_positions.get(&tile).copied();
        if before.is_some() && before != position {
            self.take(tile);
        }
        let Some((map, index)) = position else {
            return;
        };
        let is_new = before != position;
        self.change(map, index, |source| source.put(index, tile, content, is_new));
        self.tile_positions.insert(tile, (map, index));
    }

    /// Removes `tile`.
    pub(super) fn take(&mut self, tile: Entity) {
        let Some((map, index)) = self.tile_positions.remove(&tile) else {
            return;
        };
        self.change(map, index, |source| source.take(index, tile));
    }

    /// Changes the tiles on a cell of a map; `tiles` returns what the cell has then, if that may have changed.
    fn change(
        &mut self,
        map: Entity,
        index: u32,
        tiles: impl FnOnce(&mut Source) -> Option<Content>,
    ) {
        if let Some((source, changes)) = self.find_with_changes(map)
            && let Some(content) = tiles(source)
        {
            source.set(index, content, changes);
        }
    }

    /// Returns the sources of a grid that may have something to say about some cells or their neighbors, in the order of insertion. A
    /// world of chunks has many sources.
    pub(super) fn around(&self, grid: GridId, cells: impl Iterator<Item = Cell>) -> Vec<&Source> {
        let area = cells.fold(CellRect::default(), |all, cell| all.union(CellRect::single(cell)));
        let area = area.grown();
        self.of(grid).filter(|source| !source.rect().intersection(area).is_empty()).collect()
    }

    /// Returns the terrain of `cell`, from the source with the highest order, among equals the one added
    /// first.
    pub(super) fn terrain(sources: &[&Source], cell: Cell) -> TerrainId {
        let defined = sources.iter().filter_map(|source| Some((source, source.terrain(cell)?)));
        let highest = defined.min_by_key(|(source, _)| Reverse(source.settings.order));
        highest.map_or(TerrainId::VOID, |(_, terrain)| terrain)
    }

    /// Returns the terrain of a rectangle of a grid, row-major: as [`terrain`](Self::terrain) has it for each cell, but looks at
    /// each tile once. A world of chunks has many sources.
    pub(super) fn terrain_of(&self, grid: GridId, rect: CellRect) -> Vec<u8> {
        let mut terrain = vec![TerrainId::VOID.0; rect.width as usize * rect.height as usize];
        // Later ones cover earlier ones.
        let mut sources: Vec<&Source> = self.of(grid).collect();
        sources.reverse();
        sources.sort_by_key(|source| source.settings.order);
        for source in sources {
            for (index, defined) in (0..).zip(&source.terrain) {
                let cell = source.cell(index);
                if let Some(defined) = defined.filter(|_| rect.contains(cell)) {
                    let (x, y) = (cell.x.abs_diff(rect.min.x), cell.y.abs_diff(rect.min.y));
                    terrain[y as usize * rect.width as usize + x as usize] = defined.0;
                }
            }
        }
        terrain
    }

    /// Returns the source with the lowest order of each grid, among equals the one added first: it places the grid in the world.
    pub(super) fn lowest(&self) -> impl Iterator<Item = &Source> {
        let mut lowest: BTreeMap<GridId, &Source> = BTreeMap::new();
        for source in &self.sources {
            let known = lowest.entry(source.settings.grid).or_insert(source);
            if source.settings.order < known.settings.order {
                *known = source;
            }
        }
        lowest.into_values()
    }

    /// Returns the sources of one grid, in the order of insertion.
    pub(super) fn of(&self, grid: GridId) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(move |source| source.settings.grid == grid)
    }

    /// Returns the smallest rectangle that holds all sources of one grid.
    pub(super) fn extent(&self, grid: GridId) -> CellRect {
        self.of(grid).fold(CellRect::default(), |sum, source| sum.union(source.rect()))
    }
}
