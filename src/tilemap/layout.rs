//! Which cell of a grid each tile of a map is.
//!
//! Input: the type of a tilemap, and a tile. Output: a cell, and back. Grids have rows and columns; where the rows of a map
//! are shifted against each other, its cells form a slanted strip of the grid, and the cells beside it are void. This keeps the
//! eight neighbors of a cell at the same offsets everywhere.

use bevy::prelude::*;
use bevy_ecs_tilemap::{
    map::IsoCoordSystem,
    prelude::{TilePos, TilemapType},
};

use super::SourceError;
use crate::nav::Cell;

/// How the tiles of a map are numbered.
///
/// ```
/// use bevy_ecs_tilemap::prelude::*;
/// use bevy_tilepath::prelude::*;
/// let layout = TileLayout::of(TilemapType::Isometric(IsoCoordSystem::Staggered))?;
/// assert_eq!(layout.cell(TilePos::new(3, 4)), Cell::new(3, 7));
/// assert_eq!(layout.tile(Cell::new(3, 7)), Some(TilePos::new(3, 4)));
/// assert_eq!(layout.tile(Cell::new(3, 2)), None, "no tile has that cell");
/// # Ok::<(), SourceError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum TileLayout {
    /// Square and isometric-diamond maps: a tile has the numbers of its cell.
    #[default]
    Straight,
    /// Isometric-staggered maps: tile (x, y) is the cell (x, x + y), so that neighbors on screen are neighbors on the grid.
    Staggered,
}

impl TileLayout {
    /// Returns the layout of maps of this type.
    ///
    /// # Errors
    /// [`SourceError::Hexagonal`]: hexagonal maps are not supported yet.
    pub const fn of(map_type: TilemapType) -> Result<Self, SourceError> {
        match map_type {
            TilemapType::Square | TilemapType::Isometric(IsoCoordSystem::Diamond) => {
                Ok(Self::Straight)
            }
            TilemapType::Isometric(IsoCoordSystem::Staggered) => Ok(Self::Staggered),
            TilemapType::Hexagon(_) => Err(SourceError::Hexagonal),
        }
    }

    /// Returns the cell of a tile of a map without [offset](super::NavSource::offset).
    #[must_use]
    pub const fn cell(self, tile: TilePos) -> Cell {
        match self {
            Self::Straight => Cell::new(tile.x as i32, tile.y as i32),
            Self::Staggered => Cell::new(tile.x as i32, tile.x.wrapping_add(tile.y) as i32),
        }
    }

    /// Returns the tile of a cell of a map without offset, however large the map is; `None` if no tile can have that cell.
    #[must_use]
    pub const fn tile(self, cell: Cell) -> Option<TilePos> {
        let (x, y) = match self {
            Self::Straight => (cell.x, cell.y),
            Self::Staggered => (cell.x, cell.y.wrapping_sub(cell.x)),
        };
        if x < 0 || y < 0 || cell.y < 0 {
            return None;
        }
        Some(TilePos { x: x as u32, y: y as u32 })
    }

    /// Returns columns and rows of the cells of a map with so many tiles, neither of them 0.
    pub(super) const fn extent(self, tiles: UVec2) -> UVec2 {
        match self {
            Self::Straight => tiles,
            Self::Staggered => UVec2::new(tiles.x, tiles.x.saturating_add(tiles.y) - 1),
        }
    }

    /// The type of a map of which tiles (1, 0) and (0, 1) are the cells with these numbers.
    pub(super) const fn straightened(self, map_type: TilemapType) -> TilemapType {
        match self {
            Self::Straight => map_type,
            Self::Staggered => TilemapType::Isometric(IsoCoordSystem::Diamond),
        }
    }
}
