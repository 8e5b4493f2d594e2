//! How a tile becomes terrain.

use std::sync::Arc;

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use crate::nav::terrain::TerrainId;

/// Terrain of a tile, for [`TerrainRule::Component`] and custom rules.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct TileTerrain(pub TerrainId);

/// What a rule sees of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileView {
    /// Column and row in its tilemap.
    pub position: UVec2,
    /// Texture index; 0 for tiles without one.
    pub texture: u32,
    /// Whether it is drawn; true for tiles that do not say.
    pub visible: bool,
    /// Its [`TileTerrain`], if it has one.
    pub terrain: Option<TerrainId>,
}

/// A function from tiles to terrain; `None` has nothing to say. It is called when a tile's view
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

impl core::fmt::Debug for TerrainFn {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("TerrainFn")
    }
}

impl Default for TerrainFn {
    /// Has nothing to say of any tile.
    fn default() -> Self {
        Self::new(|_| None)
    }
}

/// How the tiles of a map become terrain.
#[derive(Clone, Debug, Default, Reflect)]
#[reflect(Debug, Default, Clone)]
pub enum TerrainRule {
    /// By texture index; `None` has nothing to say, indices beyond the table are
    /// [`TerrainId::VOID`].
    Texture(Vec<Option<TerrainId>>),
    /// By the tile's [`TileTerrain`] (default).
    #[default]
    Component,
    /// By a function.
    Custom(TerrainFn),
}

impl TerrainRule {
    /// Terrain of a tile; `None` has nothing to say.
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
