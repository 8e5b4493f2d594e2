//! Stage 1: bevy_ecs_tilemap's tiles become grids.
//!
//! Input: tilemap entities with a [`NavSource`], and their tiles. Output: [`NavGrids`](crate::grids::NavGrids) and the
//! frames that say where they lie. First everything is read, then only what was spawned,
//! changed, moved or despawned. Several tilemaps may feed one grid, as layers over each other or
//! side by side: each contributes at its offset, and where several have something to say of a
//! cell, the highest order has the word. The grid reaches over all of them.
//!
//! Square and isometric-diamond maps are read; staggered and hexagonal ones are refused for now,
//! and [`SourceStatus`] says so. This stage needs the tile components only, not
//! `TilemapPlugin`: it runs in headless apps.

mod rule;
mod scan;
mod sources;
mod sync;

pub(crate) use sync::sync_tilemaps;

pub use rule::{TerrainFn, TerrainRule, TileTerrain, TileView};

use bevy::{
    ecs::{lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
    reflect::std_traits::ReflectDefault,
};
use bevy_ecs_tilemap::prelude::{TilePos, TilemapId, TilemapSize, TilemapType};

use self::sources::TileSources;
use crate::nav::{cell::Cell, grid::MAX_SIDE, query::GridId, terrain::TerrainId};

/// Makes a tilemap feed a grid. Put it on the tilemap entity.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// // Texture 0 is grass, 1 is road, 2 is water, everything else is impassable.
/// let source = NavSource::by_texture([TerrainId(b'G'), TerrainId(b'.'), TerrainId(b'W')]);
/// # assert_eq!(source.grid, GridId::default());
/// ```
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default, Clone)]
#[component(on_remove = note_removed)]
#[require(SourceStatus)]
pub struct NavSource {
    /// Which grid.
    pub grid: GridId,
    /// How a tile becomes terrain.
    pub rule: TerrainRule,
    /// The cell that tile (0, 0) stands on.
    pub offset: Cell,
    /// Which of several tilemaps has the word on a cell: the highest, and among equals the one
    /// that was added first. The frame of the grid comes from the lowest.
    pub order: i32,
    /// Terrain of cells of this map that hold no tile; `None` (default) has nothing to say, so
    /// that maps of lower order show through.
    pub empty: Option<TerrainId>,
    /// Whether tiles with `TileVisible(false)` count as empty. Default false: what is drawn says
    /// nothing about what is walkable.
    pub hidden_is_empty: bool,
}

impl NavSource {
    /// Terrain by texture index: index `i` becomes `terrains[i]`, indices beyond become
    /// [`TerrainId::VOID`].
    #[must_use]
    pub fn by_texture(terrains: impl IntoIterator<Item = TerrainId>) -> Self {
        let rule = TerrainRule::Texture(terrains.into_iter().map(Some).collect());
        Self { rule, ..Self::default() }
    }

    /// Terrain from each tile's [`TileTerrain`]; tiles without one have nothing to say.
    #[must_use]
    pub fn by_component() -> Self {
        Self { rule: TerrainRule::Component, ..Self::default() }
    }

    /// Terrain from a function of the tile; `None` has nothing to say.
    #[must_use]
    pub fn by(function: impl Fn(&TileView) -> Option<TerrainId> + Send + Sync + 'static) -> Self {
        Self { rule: TerrainRule::Custom(TerrainFn::new(function)), ..Self::default() }
    }

    /// The same for another grid.
    #[must_use]
    pub fn on(mut self, grid: GridId) -> Self {
        self.grid = grid;
        self
    }

    /// The same with tile (0, 0) on another cell.
    #[must_use]
    pub fn offset(mut self, offset: Cell) -> Self {
        self.offset = offset;
        self
    }

    /// The same with another order.
    #[must_use]
    pub fn order(mut self, order: i32) -> Self {
        self.order = order;
        self
    }

    /// The same with this terrain where there is no tile.
    #[must_use]
    pub fn empty(mut self, terrain: TerrainId) -> Self {
        self.empty = Some(terrain);
        self
    }
}

/// What was taken off since the last tick. Kept here, because Bevy forgets removals after a frame
/// and there may be no tick in it.
#[derive(Resource, Debug, Default)]
pub(crate) struct Removed {
    sources: Vec<Entity>,
    tiles: Vec<Entity>,
}

fn note_removed(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut removed) = world.get_resource_mut::<Removed>() {
        removed.sources.push(entity);
    }
}

/// Whether a [`NavSource`] feeds its grid, and if not, why.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub enum SourceStatus {
    /// Not looked at yet, or the entity lacks components of a tilemap.
    #[default]
    Pending,
    /// Its tiles are on the grid.
    Ready,
    /// It cannot be read.
    Refused(SourceError),
}

/// Why a tilemap cannot feed a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Debug, PartialEq, Clone)]
pub enum SourceError {
    /// Isometric-staggered maps are not supported yet.
    Staggered,
    /// Hexagonal maps are not supported yet.
    Hexagonal,
    /// The map has no tiles: a side is 0.
    Empty {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The map, or all maps of its grid together, is longer than 16,384 cells on a side.
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
            Self::Staggered => f.write_str("isometric-staggered maps are not supported yet"),
            Self::Hexagonal => f.write_str("hexagonal maps are not supported yet"),
            Self::Empty { width, height } => write!(f, "a map of {width} × {height} has no tiles"),
            Self::TooLarge { width, height } => {
                write!(f, "{width} × {height} cells are more than {MAX_SIDE} on a side")
            }
        }
    }
}

impl core::error::Error for SourceError {}

/// What is wrong with a map of this type and size, if anything.
fn check(map_type: TilemapType, size: TilemapSize) -> Result<(), SourceError> {
    use bevy_ecs_tilemap::map::IsoCoordSystem;
    let TilemapSize { x: width, y: height } = size;
    match map_type {
        TilemapType::Isometric(IsoCoordSystem::Staggered) => Err(SourceError::Staggered),
        TilemapType::Hexagon(_) => Err(SourceError::Hexagonal),
        _ if width == 0 || height == 0 => Err(SourceError::Empty { width, height }),
        _ if width > MAX_SIDE || height > MAX_SIDE => Err(SourceError::TooLarge { width, height }),
        _ => Ok(()),
    }
}

/// Adds what the stage keeps and listens to.
pub(crate) fn build(app: &mut App) {
    app.init_resource::<TileSources>()
        .init_resource::<Removed>()
        .add_observer(|tile: On<Remove, TilePos>, mut removed: ResMut<Removed>| {
            removed.tiles.push(tile.entity);
        })
        .add_observer(|tile: On<Remove, TilemapId>, mut removed: ResMut<Removed>| {
            removed.tiles.push(tile.entity);
        })
        .add_observer(|tile: On<Remove, TileTerrain>, mut removed: ResMut<Removed>| {
            removed.tiles.push(tile.entity);
        })
        .register_type::<NavSource>()
        .register_type::<SourceStatus>()
        .register_type::<TileTerrain>();
}
