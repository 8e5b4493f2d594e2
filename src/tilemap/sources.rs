//! The contribution of each tilemap to its grid, kept separately so that layers can be combined again when
//! one of them changes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use super::{NavSource, TileEdges, TileLayout};
use crate::{
    coordinates::GridFrame,
    grids::NavGrids,
    nav::{Cell, CellRect, GridId, terrain::TerrainId, topology::Topology},
};

/// All tilemaps read, and the position of each of their tiles.
#[derive(Resource, Debug, Default)]
pub(crate) struct TileSources {
    /// In the order of insertion.
    pub(super) sources: Vec<Source>,
    /// Position of each tile read: map entity and index in the map.
    tile_positions: EntityHashMap<(Entity, u32)>,
    /// Cells whose layers must be combined again.
    pub(super) changed: Vec<(GridId, Cell)>,
    /// Cells whose edges must be combined again.
    pub(super) changed_edges: Vec<(GridId, Cell)>,
    /// Tilemaps rejected because they do not fit together with others of their grid.
    misfits: Vec<(GridId, Entity)>,
    /// Rejected tilemaps to read again because another tilemap of their grid has changed or was removed.
    pub(super) reread: Vec<Entity>,
    /// Grids to rebuild because their extent or the order of their maps has changed.
    pub(super) rebuild: BTreeSet<GridId>,
    /// Tilemaps and tiles removed since the last tick. Kept here because Bevy discards removal records after a
    /// frame, and there may be no tick in that frame.
    pub(super) removed_sources: Vec<Entity>,
    #[cfg(feature = "tilemap")]
    pub(super) removed_tiles: Vec<Entity>,
}

/// One tilemap's contribution.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) entity: Entity,
    pub(super) settings: NavSource,
    /// Columns and rows of tiles.
    pub(super) size: UVec2,
    pub(super) layout: TileLayout,
    pub(super) topology: Topology,
    /// By tile, row-major; `None` is undefined.
    terrain: Vec<Option<TerrainId>>,
    /// The entity of each tile, the one added last if there are several.
    pub(super) tiles: Vec<Option<Entity>>,
    /// The edges of those tiles that have any.
    pub(super) edges: EntityHashMap<TileEdges>,
    /// The same for maps whose tiles are no entities, by tile.
    #[cfg(feature = "tilemap_chunk")]
    pub(super) edges_of_data: BTreeMap<u32, TileEdges>,
    /// Tiles covered by other tiles, by cell, lowest first; rare.
    stacked: BTreeMap<u32, Vec<(Entity, Option<TerrainId>)>>,
}

impl Source {
    pub(super) fn new(
        entity: Entity,
        settings: NavSource,
        (size, layout, topology): (UVec2, TileLayout, Topology),
    ) -> Self {
        let count = size.x as usize * size.y as usize;
        Self {
            entity,
            size,
            layout,
            topology,
            terrain: vec![settings.empty; count],
            tiles: vec![None; count],
            edges: EntityHashMap::default(),
            #[cfg(feature = "tilemap_chunk")]
            edges_of_data: BTreeMap::new(),
            stacked: BTreeMap::new(),
            settings,
        }
    }

    /// Returns a rectangle that holds all cells of the map.
    pub(super) const fn rect(&self) -> CellRect {
        let CellRect { min, width, height } = self.layout.rect(self.size);
        CellRect::new(self.settings.offset.offset(min.x, min.y), width, height)
    }

    /// Returns the terrain that the map defines for `cell`.
    fn terrain(&self, cell: Cell) -> Option<TerrainId> {
        self.terrain[self.index(cell)? as usize]
    }

    /// Sets the frame of the grid, given the middle of tile (0, 0) in the world, and the steps to the next cell of a row and of a
    /// column.
    pub(super) fn set_frame(&self, grids: &mut NavGrids, (origin, right, up): (Vec2, Vec2, Vec2)) {
        let offset = self.settings.offset;
        let zero = origin - right * offset.x as f32 - up * offset.y as f32;
        grids.set_frame(self.settings.grid, GridFrame::from_axes(zero, right, up));
    }

    /// Returns the number of the tile of a cell, row-major; `None` off the map.
    pub(super) fn index(&self, cell: Cell) -> Option<u32> {
        if !self.rect().contains(cell) {
            return None;
        }
        let Cell { x, y } = self.settings.offset;
        let cell = Cell::new(cell.x.wrapping_sub(x), cell.y.wrapping_sub(y));
        let (column, row) = self.layout.tile_of(cell)?;
        let is_inside = column < self.size.x && row < self.size.y;
        is_inside.then(|| row * self.size.x + column)
    }

    /// Returns the cell of a tile.
    pub(super) fn cell(&self, index: u32) -> Cell {
        let Cell { x, y } = self.layout.cell_of(index % self.size.x, index / self.size.x);
        self.settings.offset.offset(x, y)
    }

    /// Puts a tile on a cell, on top of any tiles there, or updates a tile that is already there. Returns the
    /// cell if its terrain has changed.
    fn put(
        &mut self,
        index: u32,
        tile: Entity,
        terrain: Option<TerrainId>,
        is_new: bool,
    ) -> Option<(GridId, Cell)> {
        let top = &mut self.tiles[index as usize];
        if is_new {
            if let Some(below) = top.replace(tile) {
                let below = (below, self.terrain[index as usize]);
                self.stacked.entry(index).or_default().push(below);
            }
        } else if *top != Some(tile) {
            let stack = self.stacked.get_mut(&index);
            if let Some(entry) = stack.and_then(|stack| stack.iter_mut().find(|e| e.0 == tile)) {
                entry.1 = terrain;
            }
            return None;
        }
        self.set(index, terrain)
    }

    /// Removes a tile from a cell; the tile below it, if any, becomes the top one. Returns the cell if its
    /// terrain has changed.
    fn take(&mut self, index: u32, tile: Entity) -> Option<(GridId, Cell)> {
        let stack = self.stacked.get_mut(&index);
        if self.tiles[index as usize] != Some(tile) {
            if let Some(stack) = stack {
                stack.retain(|&(below, _)| below != tile);
            }
            return None;
        }
        let below = stack.and_then(Vec::pop);
        self.tiles[index as usize] = below.map(|(tile, _)| tile);
        let empty = self.settings.empty;
        self.set(index, below.map_or(empty, |(_, terrain)| terrain))
    }

    /// Sets the terrain of a cell; returns the cell if its terrain has changed.
    pub(super) fn set(&mut self, index: u32, terrain: Option<TerrainId>) -> Option<(GridId, Cell)> {
        let before = std::mem::replace(&mut self.terrain[index as usize], terrain);
        (before != terrain).then(|| (self.settings.grid, self.cell(index)))
    }
}

impl TileSources {
    pub(super) fn find(&mut self, entity: Entity) -> Option<&mut Source> {
        self.sources.iter_mut().find(|source| source.entity == entity)
    }

    /// Adds a source, or replaces the source of the same tilemap, without tiles.
    pub(super) fn insert(&mut self, source: Source) {
        self.misfits.retain(|&(_, map)| map != source.entity);
        self.rebuild.insert(source.settings.grid);
        match self.sources.iter_mut().find(|old| old.entity == source.entity) {
            Some(old) => {
                let before = old.settings.grid;
                self.rebuild.insert(before);
                self.tile_positions.retain(|_, &mut (map, _)| map != source.entity);
                *old = source;
                self.retry_misfits(before);
            }
            None => self.sources.push(source),
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
        let index = self.sources.iter().position(|source| source.entity == entity)?;
        let grid = self.sources.remove(index).settings.grid;
        self.rebuild.insert(grid);
        self.tile_positions.retain(|_, &mut (map, _)| map != entity);
        Some(grid)
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
    pub(super) fn put(
        &mut self,
        tile: Entity,
        (map, at): (Entity, UVec2),
        (terrain, edges): (Option<TerrainId>, TileEdges),
    ) {
        let position = self.find(map).and_then(|source| {
            let inside = at.x < source.size.x && at.y < source.size.y;
            inside.then(|| (map, at.y * source.size.x + at.x))
        });
        let before = self.tile_positions.get(&tile).copied();
        if before.is_some() && before != position {
            self.take(tile);
        }
        let (Some((map, index)), Some(source)) = (position, self.find(map)) else {
            return;
        };
        let is_new = before != position;
        let edges_before = source.edges_on_top(index);
        source.set_edges(tile, edges);
        let change = source.put(index, tile, terrain, is_new);
        let edges_changed = source.edge_change(index, edges_before);
        self.changed.extend(change);
        self.changed_edges.extend(edges_changed);
        self.tile_positions.insert(tile, (map, index));
    }

    /// Removes `tile`.
    pub(super) fn take(&mut self, tile: Entity) {
        let Some((map, index)) = self.tile_positions.remove(&tile) else {
            return;
        };
        if let Some(source) = self.find(map) {
            let edges_before = source.edges_on_top(index);
            let change = source.take(index, tile);
            source.set_edges(tile, TileEdges::new());
            let edges_changed = source.edge_change(index, edges_before);
            self.changed.extend(change);
            self.changed_edges.extend(edges_changed);
        }
    }

    /// Returns the terrain of `cell`, from the source with the highest order, among equals the one added
    /// first.
    pub(super) fn terrain(&self, grid: GridId, cell: Cell) -> TerrainId {
        let defined = self.of(grid).filter_map(|source| Some((source, source.terrain(cell)?)));
        let highest = defined.min_by_key(|(source, _)| Reverse(source.settings.order));
        highest.map_or(TerrainId::VOID, |(_, terrain)| terrain)
    }

    /// Returns the source with the lowest order of each grid, among equals the one added first: it places the grid in the world.
    pub(super) fn lowest(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| {
            let others = self.of(source.settings.grid);
            let lowest = others.min_by_key(|other| other.settings.order);
            lowest.is_some_and(|lowest| lowest.entity == source.entity)
        })
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
