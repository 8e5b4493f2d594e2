//! Stage 1: converts the tiles of bevy_ecs_tilemap, and of Bevy's own `TilemapChunk`s, to grids.
//!
//! Input: map entities with a [`NavSource`], and their tiles (and what these have along their sides, as [`TileEdges`]). Output:
//! [`NavGrids`](crate::grids::NavGrids) and the frames that place them in the world. Everything is read once
//! at first, then only what was spawned, changed, moved or despawned. Several tilemaps may feed one grid,
//! stacked as layers or side by side: each contributes at its offset, and where several define a cell, the
//! one with the highest order applies. The grid extends over all of them. If several tiles of one map are on one cell, the one
//! put there last applies; when it is gone, the one below it does. Among tiles put there in one tick the order is not specified.
//!
//! All maps that bevy_ecs_tilemap draws are supported: square, isometric (diamond and staggered) and hexagonal (all six
//! coordinate systems); see [`TileLayout`] for which cell a tile is. A map that cannot be read is rejected, which
//! [`SourceStatus`] reports. This stage needs only the tile components, not `TilemapPlugin`: it runs in
//! headless apps.
//!
//! **Chunks** (feature `tilemap_chunk`): a `NavSource` on an entity with bevy_sprite_render's `TilemapChunk` and
//! `TilemapChunkTileData` reads that chunk. The texture of a tile is its index in the tileset. Chunks side by side are sources at
//! different [offsets](NavSource::offset). A chunk that makes the grid larger or smaller rebuilds it; other changes edit it.
//! Tiles of chunks are not entities, so they have no [`TileTerrain`]: take the terrain from the texture or from a function.

#[cfg(feature = "tilemap_chunk")]
mod chunks;
mod combine;
mod layout;
mod rule;
#[cfg(feature = "tilemap")]
mod scan;
#[cfg_attr(not(feature = "tilemap"), allow(dead_code, reason = "tiles of chunks are no entities"))]
mod source;
#[cfg_attr(not(feature = "tilemap"), allow(dead_code, reason = "tiles of chunks are no entities"))]
mod sources;
#[cfg(feature = "tilemap")]
mod sync;
mod tile_edges;

#[cfg(feature = "tilemap_chunk")]
pub(crate) use chunks::{frame_chunks, read_chunks};
pub(crate) use combine::{combine_sources, forget_sources};
#[cfg(feature = "tilemap")]
pub(crate) use sync::{frame_tilemaps, read_tilemaps};

pub use layout::TileLayout;
pub use rule::{TerrainFn, TerrainRule, TileTerrain, TileView};
pub use tile_edges::TileEdges;

use bevy::prelude::*;
#[cfg(feature = "tilemap")]
use bevy_ecs_tilemap::prelude::{TilePos, TileTextureIndex, TileVisible, TilemapId};

use self::{source::Content, sources::TileSources};
use crate::nav::{Cell, GridId, grid::MAX_SIDE, terrain::TerrainId};

/// Makes a tilemap feed a grid. Insert it on the tilemap entity, or on a chunk.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// // Texture 0 is grass, 1 is road, 2 is water, everything else is impassable.
/// let source = NavSource::by_texture([TerrainId(b'G'), TerrainId(b'.'), TerrainId(b'W')]);
/// # assert_eq!(source.grid, GridId::default());
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[require(SourceStatus)]
#[must_use]
pub struct NavSource {
    /// Grid to feed.
    pub grid: GridId,
    /// Rule that converts tiles to terrain.
    pub rule: TerrainRule,
    /// Cell of tile (0, 0).
    pub offset: Cell,
    /// Decides which of several tilemaps defines a cell: the one with the highest order, and among equals the
    /// one added first. The frame of the grid comes from the tilemap with the lowest order.
    pub order: i32,
    /// Terrain of the cells of this map that hold no tile. With `None` (default) they stay undefined, so that
    /// maps of lower order show through.
    pub empty: Option<TerrainId>,
    /// Edges along the sides of tiles, by texture index; none beyond the list. A tile's own [`TileEdges`] takes precedence.
    pub edges: Vec<TileEdges>,
    /// Whether tiles with `TileVisible(false)` count as empty. Default false: visibility and walkability are
    /// independent.
    pub hidden_is_empty: bool,
}

impl NavSource {
    /// Takes the terrain from the texture index: index `i` becomes `terrains[i]`, indices beyond become
    /// [`TerrainId::VOID`].
    pub fn by_texture(terrains: impl IntoIterator<Item = TerrainId>) -> Self {
        let rule = TerrainRule::Texture(terrains.into_iter().map(Some).collect());
        Self { rule, ..Self::default() }
    }

    /// Takes the terrain from each tile's [`TileTerrain`]; tiles without one leave their cell undefined.
    pub fn by_component() -> Self {
        Self { rule: TerrainRule::Component, ..Self::default() }
    }

    /// Takes the terrain from a function of the tile; `None` leaves the cell undefined.
    pub fn by(function: impl Fn(&TileView) -> Option<TerrainId> + Send + Sync + 'static) -> Self {
        Self { rule: TerrainRule::Custom(TerrainFn::new(function)), ..Self::default() }
    }

    /// Sets the edges along the sides of tiles by texture index: the tiles of a fence, say.
    pub fn edges(self, by_texture: impl IntoIterator<Item = TileEdges>) -> Self {
        Self { edges: by_texture.into_iter().collect(), ..self }
    }

    /// Sets the grid to feed.
    pub fn on(self, grid: GridId) -> Self {
        Self { grid, ..self }
    }

    /// Sets the cell of tile (0, 0).
    pub fn offset(self, offset: Cell) -> Self {
        Self { offset, ..self }
    }

    /// Sets the order.
    pub fn order(self, order: i32) -> Self {
        Self { order, ..self }
    }

    /// Sets the terrain of cells without a tile.
    pub fn empty(self, terrain: TerrainId) -> Self {
        Self { empty: Some(terrain), ..self }
    }

    /// Returns what a tile has; `own_edges` take precedence over those of its texture.
    fn content(&self, tile: &TileView, own_edges: Option<TileEdges>) -> Content {
        if self.hidden_is_empty && !tile.visible {
            return (self.empty, TileEdges::new());
        }
        let edges = own_edges.or_else(|| self.edges.get(tile.texture as usize).copied());
        (self.rule.terrain(tile), edges.unwrap_or_default())
    }
}

/// State of a [`NavSource`]: whether it feeds its grid and, if not, the reason.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub enum SourceStatus {
    /// Not read yet. The entity may lack components of a tilemap. (A map that loses one after it was read stays as it is.)
    #[default]
    Pending,
    /// Its tiles have been written to the grid.
    Ready,
    /// It cannot be read.
    Refused(SourceError),
}

/// Reason why a tilemap cannot feed a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Clone)]
pub enum SourceError {
    /// Squares and hexagons cannot be mixed on a grid: the cells of this map have another [shape](crate::nav::topology::Topology)
    /// than those of the first map that was added to the grid.
    MixedTopologies,
    /// The map has no tiles: a side is 0.
    Empty {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// A chunk does not have as many tiles as its size says.
    TileCount {
        /// Columns × rows.
        expected: u32,
        /// Tiles in its data.
        found: u32,
    },
    /// The map, or all maps of its grid together, exceeds 16,384 cells on a side.
    TooLarge {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
}

impl core::fmt::Display for SourceError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::MixedTopologies => f.write_str(
                "another map of the grid is of the other shape: squares and hexagons do not mix",
            ),
            Self::Empty { width, height } => write!(f, "a map of {width} × {height} has no tiles"),
            Self::TileCount { expected, found } => {
                write!(f, "a chunk of {expected} tiles has data for {found}")
            }
            Self::TooLarge { width, height } => {
                write!(f, "{width} × {height} cells are more than {MAX_SIDE} on a side")
            }
        }
    }
}

impl core::error::Error for SourceError {}

/// Checks whether maps of so many tiles are supported.
fn check(layout: TileLayout, size: UVec2) -> Result<(), SourceError> {
    let UVec2 { x: mut width, y: mut height } = size;
    if width == 0 || height == 0 {
        return Err(SourceError::Empty { width, height });
    }
    // Sides that are too large are not shifted: the numbers of their last cells might not exist.
    if width <= MAX_SIDE && height <= MAX_SIDE {
        let rect = layout.rect(size);
        (width, height) = (rect.width, rect.height);
    }
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(SourceError::TooLarge { width, height });
    }
    Ok(())
}

/// A tile is read again when it loses one of these, or is gone.
#[cfg(feature = "tilemap")]
type PartsOfTiles = (TilePos, TilemapId, TileTextureIndex, TileVisible, TileTerrain, TileEdges);

/// Adds the resources, observers and types of the stage.
pub(crate) fn build(app: &mut App) {
    app.init_resource::<TileSources>()
        .add_observer(|map: On<Remove, NavSource>, mut sources: ResMut<TileSources>| {
            sources.removed_sources.push(map.entity);
        })
        .add_observer(|map: On<Remove, NavSource>, mut commands: Commands| {
            commands.entity(map.entity).try_remove::<SourceStatus>();
        })
        .register_type::<NavSource>()
        .register_type::<SourceStatus>()
        .register_type::<TileLayout>()
        .register_type::<TileTerrain>()
        .register_type::<TileEdges>();
    #[cfg(feature = "tilemap")]
    app.add_observer(|tile: On<Remove, PartsOfTiles>, mut sources: ResMut<TileSources>| {
        sources.note_removed_tile(tile.entity);
    });
}
