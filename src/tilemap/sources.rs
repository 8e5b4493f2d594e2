//! What each tilemap contributes to its grid, kept apart so that layers can be laid over each
//! other again when one of them changes.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Tilemaps that were too large together with others of their grid, and those of them to be read again
    /// because one of the others has changed or gone.
    crowded_out: Vec<(GridId, Entity)>,
    again: Vec<Entity>,
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
    /// The tile that stands on each cell, the last one put there where there are several.
    tiles: Vec<Option<Entity>>,
    /// Tiles under others, by cell, lowest first: rare.
    stacked: BTreeMap<u32, Vec<(Entity, Option<TerrainId>)>>,
}

impl Source {
    pub(super) fn new(entity: Entity, settings: NavSource, size: UVec2) -> Self {
        let cells = size.x as usize * size.y as usize;
        let terrain = vec![settings.empty; cells];
        Self { entity, settings, size, terrain, tiles: vec![None; cells], stacked: BTreeMap::new() }
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

    /// Puts a tile on a cell, on top of any that stand there, or updates one that does.
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

    /// Takes a tile from a cell; the one below it, if any, is on top then.
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

    /// Sets what it has to say of a cell; the cell, if that is news.
    fn set(&mut self, index: u32, terrain: Option<TerrainId>) -> Option<(GridId, Cell)> {
        let before = std::mem::replace(&mut self.terrain[index as usize], terrain);
        (before != terrain).then(|| {
            let (x, y) = (index % self.size.x, index / self.size.x);
            (self.settings.grid, self.settings.offset.offset(x as i32, y as i32))
        })
    }
}

impl TileSources {
    pub(super) fn find(&mut self, entity: Entity) -> Option<&mut Source> {
        self.sources.iter_mut().find(|source| source.entity == entity)
    }

    /// Adds a source, or lets it take the place of the one of the same tilemap, empty of tiles.
    pub(super) fn insert(&mut self, source: Source) {
        self.crowded_out.retain(|&(_, map)| map != source.entity);
        self.rebuild.insert(source.settings.grid);
        match self.sources.iter_mut().find(|old| old.entity == source.entity) {
            Some(old) => {
                let before = old.settings.grid;
                self.rebuild.insert(before);
                self.places.retain(|_, &mut (map, _)| map != source.entity);
                *old = source;
                self.make_room(before);
            }
            None => self.sources.push(source),
        }
    }

    pub(super) fn remove(&mut self, entity: Entity) {
        self.crowded_out.retain(|&(_, map)| map != entity);
        if let Some(grid) = self.take_out(entity) {
            self.make_room(grid);
        }
    }

    /// Takes a tilemap out that is too large together with the others of its grid.
    pub(super) fn crowd_out(&mut self, entity: Entity) {
        if let Some(grid) = self.take_out(entity) {
            self.crowded_out.push((grid, entity));
        }
    }

    fn take_out(&mut self, entity: Entity) -> Option<GridId> {
        let index = self.sources.iter().position(|source| source.entity == entity)?;
        let grid = self.sources.remove(index).settings.grid;
        self.rebuild.insert(grid);
        self.places.retain(|_, &mut (map, _)| map != entity);
        Some(grid)
    }

    /// There may be room now for those that were crowded out of a grid.
    fn make_room(&mut self, grid: GridId) {
        let out = self.crowded_out.iter().filter(|&&(of, _)| of == grid);
        self.again.extend(out.map(|&(_, map)| map));
    }

    /// The tilemaps to be read again.
    pub(super) fn take_again(&mut self) -> Vec<Entity> {
        core::mem::take(&mut self.again)
    }

    /// Puts `tile` on a cell of `map` with this terrain, and takes it from where it stood.
    pub(super) fn put(&mut self, tile: Entity, map: Entity, at: UVec2, terrain: Option<TerrainId>) {
        let place = self.find(map).and_then(|source| {
            let inside = at.x < source.size.x && at.y < source.size.y;
            inside.then(|| (map, at.y * source.size.x + at.x))
        });
        let before = self.places.get(&tile).copied();
        if before.is_some() && before != place {
            self.take(tile);
        }
        let (Some((map, index)), Some(source)) = (place, self.find(map)) else {
            return;
        };
        let is_new = before != place;
        let change = source.put(index, tile, terrain, is_new);
        self.changed.extend(change);
        self.places.insert(tile, (map, index));
    }

    /// Takes `tile` away.
    pub(super) fn take(&mut self, tile: Entity) {
        let Some((map, index)) = self.places.remove(&tile) else {
            return;
        };
        if let Some(source) = self.find(map) {
            let change = source.take(index, tile);
            self.changed.extend(change);
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
