//! Edges of tiles: walls, fences and rivers that a tile draws along its sides.
//!
//! Input: the [`TileEdges`] of tiles. Output: the edges that all maps of a grid together have between two cells.

use std::collections::BTreeMap;

use bevy::prelude::*;

use super::{source::Source, sources::TileSources};
use crate::nav::{Cell, Direction, EdgeId, GridId, NavGrid};

/// The edges along the sides of a tile. For a tile without this component, [`NavSource::edges`](super::NavSource::edges) applies.
///
/// Directions are those of the grid, see [`TileLayout`](super::TileLayout). Each side belongs to two cells: of the edges that
/// both cells have there, on all maps of the grid, the highest number counts.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let corner_of_a_fence =
///     TileEdges::new().with(Direction::North, EdgeId(2)).with(Direction::East, EdgeId(2));
/// assert_eq!(corner_of_a_fence.get(Direction::East), EdgeId(2));
/// assert_eq!(corner_of_a_fence.get(Direction::West), EdgeId::NONE);
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[must_use]
pub struct TileEdges {
    /// By direction.
    sides: [EdgeId; 8],
}

impl TileEdges {
    /// Creates a tile without edges.
    pub const fn new() -> Self {
        Self { sides: [EdgeId::NONE; 8] }
    }

    /// Sets the edge on the side towards a neighbor. On squares, sides towards diagonal neighbors do nothing.
    pub const fn with(mut self, direction: Direction, edge: EdgeId) -> Self {
        self.sides[direction as usize] = edge;
        self
    }

    /// Returns the edge on the side towards a neighbor.
    #[must_use]
    pub const fn get(self, direction: Direction) -> EdgeId {
        self.sides[direction as usize]
    }
}

impl Source {
    /// Returns the edges of the topmost tile of a cell.
    fn edges_at(&self, cell: Cell) -> TileEdges {
        self.index(cell).map(|index| self.edges_on_top(index)).unwrap_or_default()
    }

    /// The same by the number of the tile.
    pub(super) fn edges_on_top(&self, index: u32) -> TileEdges {
        self.edges.get(&index).copied().unwrap_or_default()
    }
}

impl TileSources {
    /// Sets the edges around a cell on the grid.
    pub(super) fn write_edges(&self, id: GridId, grid: &mut NavGrid, cells: &[Cell]) {
        let mut around = self.around(id, cells.iter().copied());
        around.retain(|source| !source.edges.is_empty());
        let mut wanted = BTreeMap::new();
        for &cell in cells {
            for direction in Direction::ALL {
                // At the border of the grid, and along diagonals of squares, there are none.
                if let Some(at) = grid.canonical_edge(cell, direction) {
                    wanted.insert(at, edge_between(&around, cell, direction));
                }
            }
        }
        set_edges(grid, wanted);
    }

    /// Makes all edges of a grid those of its tiles: the same, but looks at each tile once. A world of chunks has many sources.
    pub(super) fn write_all_edges(&self, id: GridId, grid: &mut NavGrid) {
        let mut wanted = BTreeMap::new();
        for source in self.of(id) {
            for (&index, edges) in &source.edges {
                let cell = source.cell(index);
                for direction in Direction::ALL {
                    if let Some(at) = grid.canonical_edge(cell, direction) {
                        let known = wanted.entry(at).or_insert(EdgeId::NONE);
                        *known = edges.get(direction).max(*known);
                    }
                }
            }
        }
        for (cell, direction, _) in grid.edges() {
            wanted.entry((cell, direction)).or_insert(EdgeId::NONE);
        }
        set_edges(grid, wanted);
    }
}

/// Sets edges of a grid in one order, whatever has led to it: which rectangles of an edit are joined depends on that.
fn set_edges(grid: &mut NavGrid, edges: BTreeMap<(Cell, Direction), EdgeId>) {
    let mut edit = grid.edit();
    for ((cell, direction), edge) in edges {
        let is_set = edit.set_edge(cell, direction, edge);
        debug_assert!(is_set.is_ok(), "{is_set:?}: the grid has that edge");
    }
}

/// Returns what the tiles of these maps have between a cell and its neighbor.
fn edge_between(sources: &[&Source], cell: Cell, direction: Direction) -> EdgeId {
    let (dx, dy) = direction.offset();
    let neighbor = cell.offset(dx, dy);
    let edges = sources.iter().flat_map(|source| {
        let (here, there) = (source.edges_at(cell), source.edges_at(neighbor));
        [here.get(direction), there.get(direction.opposite())]
    });
    edges.max().unwrap_or_default()
}
