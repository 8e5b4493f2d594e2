//! What one tilemap contributes to its grid: terrain and edges by tile, and which tiles cover one another.

use std::collections::BTreeMap;

use bevy::{ecs::entity::EntityHashMap, prelude::*};

use super::{NavSource, TileEdges, TileLayout};
use crate::{
    coordinates::GridFrame,
    grids::NavGrids,
    nav::{Cell, CellRect, GridId, terrain::TerrainId, topology::Topology},
};

/// Cells whose maps must be combined again.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) terrain: Vec<(GridId, Cell)>,
    pub(super) edges: Vec<(GridId, Cell)>,
}

impl Changes {
    pub(super) const fn is_empty(&self) -> bool {
        self.terrain.is_empty() && self.edges.is_empty()
    }
}

/// Of tiles that cover one another, the place of each, counted from the lowest.
pub(super) type StackOrder = EntityHashMap<usize>;

/// What a tile has: its terrain (`None` is undefined), and its edges.
pub(super) type Content = (Option<TerrainId>, TileEdges);

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
    pub(super) terrain: Vec<Option<TerrainId>>,
    /// The entity of each tile, the one added last if there are several.
    pub(super) tiles: Vec<Option<Entity>>,
    /// The edges of those tiles that have any, by tile.
    pub(super) edges: BTreeMap<u32, TileEdges>,
    /// Tiles covered by other tiles, by cell, lowest first; rare.
    stacked: BTreeMap<u32, Vec<(Entity, Content)>>,
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
            edges: BTreeMap::new(),
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
    pub(super) fn terrain(&self, cell: Cell) -> Option<TerrainId> {
        self.terrain[self.index(cell)? as usize]
    }

    /// Sets the frame of the grid, given the middle of tile (0, 0) in the world, and the steps to the next cell of a row and of a
    /// column.
    pub(super) fn set_frame(
        &self,
        grids: &mut ResMut<NavGrids>,
        (origin, right, up): (Vec2, Vec2, Vec2),
    ) {
        let &NavSource { grid, offset, .. } = &self.settings;
        let zero = origin - right * offset.x as f32 - up * offset.y as f32;
        let frame = GridFrame::from_axes(zero, right, up).with_topology(self.topology);
        // Unchanged grids are not written: games look for changes of the resource.
        if grids.is_fed_by_tiles(grid) && grids.frame(grid) != Some(&frame) {
            grids.set_frame(grid, frame);
        }
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

    /// Puts a tile on a cell, on top of any tiles there, or updates a tile that is already there. Returns what the cell has then,
    /// unless another tile covers it.
    pub(super) fn put(
        &mut self,
        index: u32,
        tile: Entity,
        content: Content,
        is_new: bool,
    ) -> Option<Content> {
        let before = self.content(index);
        let top = &mut self.tiles[index as usize];
        if is_new {
            if let Some(below) = top.replace(tile) {
                self.stacked.entry(index).or_default().push((below, before));
            }
        } else if *top != Some(tile) {
            let stack = self.stacked.get_mut(&index);
            if let Some(entry) = stack.and_then(|stack| stack.iter_mut().find(|e| e.0 == tile)) {
                entry.1 = content;
            }
            return None;
        }
        Some(content)
    }

    /// Removes a tile from a cell; the tile below it, if any, becomes the top one. Returns what the cell has then, unless another
    /// tile covered the one removed.
    pub(super) fn take(&mut self, index: u32, tile: Entity) -> Option<Content> {
        let stack = self.stacked.get_mut(&index);
        if self.tiles[index as usize] != Some(tile) {
            if let Some(stack) = stack {
                stack.retain(|&(below, _)| below != tile);
            }
            return None;
        }
        let below = stack.and_then(Vec::pop);
        self.tiles[index as usize] = below.map(|(tile, _)| tile);
        Some(below.map_or((self.settings.empty, TileEdges::new()), |(_, content)| content))
    }

    pub(super) fn stack_order(&self) -> StackOrder {
        let tops = self.stacked.keys().map(|&index| self.tiles[index as usize]);
        let stacks =
            self.stacked.values().zip(tops).flat_map(|(stack, top)| {
                stack.iter().map(|&(tile, _)| tile).chain(top).enumerate()
            });
        stacks.map(|(place, tile)| (tile, place)).collect()
    }

    /// Puts tiles that cover one another in this order again, others on top.
    #[cfg(feature = "tilemap")]
    pub(super) fn restack(&mut self, order: &StackOrder, changes: &mut Changes) {
        for (index, mut stack) in std::mem::take(&mut self.stacked) {
            if let Some(top) = self.tiles[index as usize] {
                stack.push((top, self.content(index)));
                stack.sort_by_key(|(tile, _)| order.get(tile).copied().unwrap_or(usize::MAX));
            }
            if let Some((top, content)) = stack.pop() {
                self.tiles[index as usize] = Some(top);
                self.set(index, content, changes);
            }
            if !stack.is_empty() {
                self.stacked.insert(index, stack);
            }
        }
    }

    /// All tiles on the cells of the map.
    pub(super) fn all_tiles(&self) -> impl Iterator<Item = Entity> {
        let covered = self.stacked.values().flatten().map(|&(tile, _)| tile);
        self.tiles.iter().flatten().copied().chain(covered)
    }

    /// Returns what the topmost tile of a cell has.
    fn content(&self, index: u32) -> Content {
        (self.terrain[index as usize], self.edges_on_top(index))
    }

    /// Sets what a cell has, and notes what has changed.
    pub(super) fn set(&mut self, index: u32, (terrain, edges): Content, changes: &mut Changes) {
        let before = self.content(index);
        self.terrain[index as usize] = terrain;
        if edges == TileEdges::new() {
            self.edges.remove(&index);
        } else {
            self.edges.insert(index, edges);
        }
        let cell = (self.settings.grid, self.cell(index));
        changes.terrain.extend((before.0 != terrain).then_some(cell));
        changes.edges.extend((before.1 != edges).then_some(cell));
    }
}
