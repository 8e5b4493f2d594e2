//! Which cell of a grid each tile of a map is.
//!
//! Input: the type of a tilemap, and a tile. Output: a cell, and back. Grids have rows and columns; where the rows or columns of
//! a map are shifted against each other, its cells form a slanted strip of the grid, and the cells beside it are void. This keeps
//! the neighbors of a cell at the same offsets everywhere.

use bevy::prelude::*;
#[cfg(feature = "tilemap")]
use bevy_ecs_tilemap::{
    map::{HexCoordSystem, IsoCoordSystem},
    prelude::{TilePos, TilemapType},
};

#[cfg(feature = "tilemap")]
use crate::nav::topology::Topology;
use crate::nav::{Cell, CellRect};

/// How the tiles of a map are numbered.
///
#[cfg_attr(feature = "tilemap", doc = "```")]
#[cfg_attr(not(feature = "tilemap"), doc = "```ignore")]
/// use bevy_ecs_tilemap::{map::HexCoordSystem, prelude::*};
/// use bevy_tilepath::prelude::*;
/// let layout = TileLayout::of(TilemapType::Isometric(IsoCoordSystem::Staggered));
/// assert_eq!(layout.cell(TilePos::new(3, 4)), Cell::new(3, 7));
/// assert_eq!(layout.tile(Cell::new(3, 7)), Some(TilePos::new(3, 4)));
/// assert_eq!(layout.tile(Cell::new(3, 2)), None, "no tile has that cell");
///
/// let layout = TileLayout::of(TilemapType::Hexagon(HexCoordSystem::RowOdd));
/// assert_eq!(layout.cell(TilePos::new(3, 4)), Cell::new(1, 4));
/// assert_eq!(layout.tile(Cell::new(-2, 4)), Some(TilePos::new(0, 4)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum TileLayout {
    /// Square and isometric-diamond maps, and hexagonal ones of the types `Row` and `Column`: a tile has the numbers of its cell.
    #[default]
    Straight,
    /// Isometric-staggered maps: tile (x, y) is the cell (x, x + y), so that neighbors on screen are neighbors on the grid.
    Staggered,
    /// Hexagonal maps of the type `RowOdd`: tile (x, y) is the cell (x − ⌊y/2⌋, y).
    OddRows,
    /// Hexagonal maps of the type `RowEven`: tile (x, y) is the cell (x − ⌈y/2⌉, y).
    EvenRows,
    /// Hexagonal maps of the type `ColumnOdd`: tile (x, y) is the cell (x, y − ⌊x/2⌋).
    OddColumns,
    /// Hexagonal maps of the type `ColumnEven`: tile (x, y) is the cell (x, y − ⌈x/2⌉).
    EvenColumns,
}

#[cfg(feature = "tilemap")]
impl TileLayout {
    /// Returns the layout of maps of this type.
    #[must_use]
    pub const fn of(map_type: TilemapType) -> Self {
        match map_type {
            TilemapType::Square | TilemapType::Isometric(IsoCoordSystem::Diamond) => Self::Straight,
            TilemapType::Isometric(IsoCoordSystem::Staggered) => Self::Staggered,
            TilemapType::Hexagon(system) => match system {
                HexCoordSystem::Row | HexCoordSystem::Column => Self::Straight,
                HexCoordSystem::RowOdd => Self::OddRows,
                HexCoordSystem::RowEven => Self::EvenRows,
                HexCoordSystem::ColumnOdd => Self::OddColumns,
                HexCoordSystem::ColumnEven => Self::EvenColumns,
            },
        }
    }

    /// Returns the cell of a tile of a map without [offset](super::NavSource::offset).
    #[must_use]
    pub const fn cell(self, tile: TilePos) -> Cell {
        self.cell_of(tile.x, tile.y)
    }

    /// Returns the tile of a cell of a map without offset, however large the map is; `None` if no tile can have that cell.
    #[must_use]
    pub const fn tile(self, cell: Cell) -> Option<TilePos> {
        match self.tile_of(cell) {
            Some((x, y)) => Some(TilePos { x, y }),
            None => None,
        }
    }

    /// The type of a map of which tiles (1, 0) and (0, 1) are the cells with these numbers.
    pub(super) const fn straightened(self, map_type: TilemapType) -> TilemapType {
        match self {
            Self::Straight => map_type,
            Self::Staggered => TilemapType::Isometric(IsoCoordSystem::Diamond),
            Self::OddRows | Self::EvenRows => TilemapType::Hexagon(HexCoordSystem::Row),
            Self::OddColumns | Self::EvenColumns => TilemapType::Hexagon(HexCoordSystem::Column),
        }
    }
}

impl TileLayout {
    /// Returns the cell of the tile in a column and a row.
    pub(super) const fn cell_of(self, x: u32, y: u32) -> Cell {
        let (x, y) = (x as i32, y as i32);
        let (dx, dy) = self.shift(x, y);
        Cell::new(x.wrapping_add(dx), y.wrapping_add(dy))
    }

    /// Returns the column and row of the tile of a cell; `None` if no tile can have that cell.
    pub(super) const fn tile_of(self, cell: Cell) -> Option<(u32, u32)> {
        // The shift depends only on the number that it leaves alone.
        let (dx, dy) = self.shift(cell.x, cell.y);
        let (x, y) = (cell.x.wrapping_sub(dx), cell.y.wrapping_sub(dy));
        let is_upright = matches!(self, Self::Straight | Self::Staggered);
        if x < 0 || y < 0 || (is_upright && cell.y < 0) {
            return None;
        }
        Some((x as u32, y as u32))
    }

    /// Returns what is added to the numbers of a tile.
    const fn shift(self, x: i32, y: i32) -> (i32, i32) {
        match self {
            Self::Straight => (0, 0),
            Self::Staggered => (0, x),
            Self::OddRows => (-(y >> 1), 0),
            Self::EvenRows => (-(y.wrapping_add(1) >> 1), 0),
            Self::OddColumns => (0, -(x >> 1)),
            Self::EvenColumns => (0, -(x.wrapping_add(1) >> 1)),
        }
    }

    /// Returns the rectangle around the cells of a map without offset, with so many tiles, neither of them 0.
    pub(super) const fn rect(self, tiles: UVec2) -> CellRect {
        let (last_x, last_y) = (tiles.x as i32 - 1, tiles.y as i32 - 1);
        let (dx, dy) = self.shift(last_x, last_y);
        let min = Cell::new(if dx < 0 { dx } else { 0 }, if dy < 0 { dy } else { 0 });
        let (width, height) = (dx.unsigned_abs(), dy.unsigned_abs());
        CellRect::new(min, tiles.x.saturating_add(width), tiles.y.saturating_add(height))
    }
}

/// Returns the shape of the cells of maps of this type.
#[cfg(feature = "tilemap")]
pub(super) const fn topology_of(map_type: TilemapType) -> Topology {
    match map_type {
        TilemapType::Square | TilemapType::Isometric(_) => Topology::Square,
        TilemapType::Hexagon(_) => Topology::Hexagonal,
    }
}
