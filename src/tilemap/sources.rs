//! What each tilemap contributes to its grid, kept apart so that layers can be laid over each
//! other again when one of them changes.

use std::collections::BTreeSet;

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use super::NavSource;
use crate::nav::{
    cell::{Cell, CellRect},
    query::GridId,
    terrain::TerrainId,
};

/// Every tilemap that was read, and where each of its tiles stands.
#[derive(Resource, Debug, Default)]
pub(crate) struct TileSources {
    /// In the order in which they were added.
    pub(super) sources: Vec<Source>,
    /// Where each tile that was read stands: map entity and index in the map.
    places: EntityHashMap<(Entity, u32)>,
    /// Cells to be laid over again.
    pub(super) changed: Vec<(GridId, Cell)>,
    /// Grids to be made anew, because their extent or the order of their maps has changed.
    pub(super) rebuild: BTreeSet<GridId>,
}

/// One tilemap's contribution.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) entity: Entity,
    pub(super) settings: NavSource,
    pub(super) size: UVec2,
    /// Row-major; `None` has nothing to say.
    terrain: Vec<Option<TerrainId>>,
    /// The tile that stands on each cell, the last one where there are several.
    tiles: Vec<Option<Entity>>,
}

impl Source {
    pub(super) fn new(entity: Entity, settings: NavSource, size: UVec2) -> Self {
        let cells = size.x as usize * size.y as usize;
        let terrain = vec![settings.empty; cells];
        Self { entity, settings, size, terrain, tiles: vec![None; cells] }
    }

    /// The cells it covers.
    pub(super) const fn rect(&self) -> CellRect {
        CellRect::new(self.settings.offset, self.size.x, self.size.y)
    }

    /// What it has to say of `cell`.
    fn terrain(&self, cell: Cell) -> Option<TerrainId> {
        let rect = self.rect();
        if !rect.contains(cell) {
            return None;
        }
        let (x, y) = (cell.x - rect.min.x, cell.y - rect.min.y);
        self.terrain[y as usize * self.size.x as usize + x as usize]
    }

    fn cell(&self, index: u32) -> Cell {
        let (x, y) = (index % self.size.x, index / self.size.x);
        self.settings.offset.offset(x as i32, y as i32)
    }
}

impl TileSources {
    pub(super) fn find(&mut self, entity: Entity) -> Option<&mut Source> {
        self.sources.iter_mut().find(|source| source.entity == entity)
    }

    /// Adds a source, or lets it take the place of the one of the same tilemap.
    pub(super) fn insert(&mut self, source: Source) {
        self.rebuild.insert(source.settings.grid);
        match self.sources.iter_mut().find(|old| old.entity == source.entity) {
            Some(old) => {
                self.rebuild.insert(old.settings.grid);
                *old = source;
            }
            None => self.sources.push(source),
        }
    }

    pub(super) fn remove(&mut self, entity: Entity) {
        if let Some(index) = self.sources.iter().position(|source| source.entity == entity) {
            let source = self.sources.remove(index);
            self.rebuild.insert(source.settings.grid);
            for tile in source.tiles.into_iter().flatten() {
                self.places.remove(&tile);
            }
        }
    }

    /// Puts `tile` on a cell of `map` with this terrain, and takes it from where it stood.
    pub(super) fn put(&mut self, tile: Entity, map: Entity, at: UVec2, terrain: Option<TerrainId>) {
        let place = self.find(map).and_then(|source| {
            let inside = at.x < source.size.x && at.y < source.size.y;
            inside.then(|| (map, at.y * source.size.x + at.x))
        });
        if self.places.get(&tile).is_some_and(|&old| Some(old) != place) {
            self.take(tile);
        }
        let Some((map, index)) = place else {
            return;
        };
        self.places.insert(tile, (map, index));
        self.set(map, index, Some(tile), terrain);
    }

    /// Takes `tile` away.
    pub(super) fn take(&mut self, tile: Entity) {
        let Some((map, index)) = self.places.remove(&tile) else {
            return;
        };
        let Some(source) = self.find(map) else {
            return;
        };
        // Another tile may have been put there meanwhile.
        if source.tiles[index as usize] == Some(tile) {
            let empty = source.settings.empty;
            self.set(map, index, None, empty);
        }
    }

    fn set(&mut self, map: Entity, index: u32, tile: Option<Entity>, terrain: Option<TerrainId>) {
        let Some(source) = self.find(map) else {
            return;
        };
        source.tiles[index as usize] = tile;
        let before = std::mem::replace(&mut source.terrain[index as usize], terrain);
        if before != terrain {
            let change = (source.settings.grid, source.cell(index));
            self.changed.push(change);
        }
    }

    /// Whose word counts on `cell`: the highest order, among equals the first added.
    pub(super) fn terrain(&self, grid: GridId, cell: Cell) -> TerrainId {
        let mut best: Option<(i32, TerrainId)> = None;
        for source in self.of(grid) {
            if let Some(terrain) = source.terrain(cell)
                && best.is_none_or(|(order, _)| source.settings.order > order)
            {
                best = Some((source.settings.order, terrain));
            }
        }
        best.map_or(TerrainId::VOID, |(_, terrain)| terrain)
    }

    /// The sources of one grid, in the order in which they were added.
    pub(super) fn of(&self, grid: GridId) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(move |source| source.settings.grid == grid)
    }

    /// The cells that the sources of one grid cover together.
    pub(super) fn extent(&self, grid: GridId) -> CellRect {
        self.of(grid).fold(CellRect::default(), |sum, source| sum.union(source.rect()))
    }
}
