//! Rules that convert a tile to terrain.

use std::sync::Arc;

use bevy::prelude::*;

use crate::nav::terrain::TerrainId;

/// Terrain of a tile, for [`TerrainRule::Component`] and custom rules.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct TileTerrain(pub TerrainId);

/// The data of a tile that a rule can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileView {
    /// Column and row in its tilemap.
    pub position: UVec2,
    /// Texture index; 0 for tiles without one.
    pub texture: u32,
    /// Whether the tile is drawn; true for tiles without the component.
    pub visible: bool,
    /// [`TileTerrain`] of the tile, if it has one.
    pub terrain: Option<TerrainId>,
}

/// A function from tiles to terrain; `None` leaves the cell undefined. It is called when a tile's view
/// changes and must depend on nothing else.
#[derive(Clone, Reflect)]
#[reflect(opaque)]
pub struct TerrainFn(Arc<dyn Fn(&TileView) -> Option<TerrainId> + Send + Sync>);

impl TerrainFn {
    /// Wraps a function.
    pub fn new(function: impl Fn(&TileView) -> Option<TerrainId> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }
}

impl PartialEq for TerrainFn {
    /// Whether both are copies of one function.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl core::fmt::Debug for TerrainFn {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("TerrainFn")
    }
}

impl Default for TerrainFn {
    /// Leaves every cell undefined.
    fn default() -> Self {
        Self::new(|_| None)
    }
}

/// Rule that converts the tiles of a map to terrain.
#[derive(Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub enum TerrainRule {
    /// By texture index; `None` leaves the cell undefined, indices beyond the table are [`TerrainId::VOID`].
    Texture(Vec<Option<TerrainId>>),
    /// By the tile's [`TileTerrain`] (default).
    #[default]
    Component,
    /// By a function.
    Custom(TerrainFn),
}

impl TerrainRule {
    /// Returns the terrain of a tile; `None` leaves the cell undefined.
    #[must_use]
    pub fn terrain(&self, tile: &TileView) -> Option<TerrainId> {
        match self {
            Self::Texture(table) => {
                table.get(tile.texture as usize).copied().unwrap_or(Some(TerrainId::VOID))
            }
            Self::Component => tile.terrain,
            Self::Custom(function) => (function.0)(tile),
        }
    }
}
