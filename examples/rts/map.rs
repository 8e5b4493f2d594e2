//! The map: a Moving AI text file that becomes a tilemap, which in turn feeds the grid.
//!
//! Input: a file. Output: [`GameMap`] (the terrain as read, for drawing and for choosing spawn
//! cells) and the tile entities. The pathfinder reads the tiles, not the file.

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_tilepath::{nav::moving_ai, prelude::*};

use crate::{kinds::Kind, screen::window, tiles};

/// Side of a tile, in world units and in texture pixels.
pub const TILE: f32 = 16.0;

/// The map as read from the file.
#[derive(Resource, Clone, Debug)]
pub struct GameMap {
    /// Displayed name: the file's, without folder and extension.
    pub name: String,
    /// Terrain (without walls) and the profiles of all kinds.
    pub grid: NavGrid,
    /// World positions of the cells.
    pub frame: GridFrame,
}

impl GameMap {
    /// Reads a map file; a bare name selects one of the project's own maps.
    pub fn load(file: &Path) -> Result<Self, String> {
        let path = find(file);
        let shown = path.display();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{shown}: {error}"))?;
        let grid = moving_ai::read_map(&text).map_err(|error| format!("{shown}: {error}"))?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
        Ok(Self {
            name,
            grid: grid.with_profiles(Kind::profiles()),
            frame: GridFrame::square(Vec2::ZERO, Vec2::splat(TILE)),
        })
    }

    /// Returns the terrain letter of a cell; `None` off the map.
    pub fn letter(&self, cell: Cell) -> Option<u8> {
        self.grid.terrain(cell).map(|terrain| terrain.0)
    }

    /// Returns the world rectangle that the map covers.
    pub fn bounds(&self) -> Rect {
        let size = Vec2::new(self.grid.width() as f32, self.grid.height() as f32) * TILE;
        Rect::from_corners(Vec2::splat(-TILE / 2.0), size - TILE / 2.0)
    }
}

fn find(file: &Path) -> PathBuf {
    let own = window::assets_folder().join("maps").join(file).with_extension("map");
    let is_bare_name = file.components().count() == 1 && file.extension().is_none();
    if is_bare_name && own.is_file() { own } else { file.to_path_buf() }
}

/// Spawns the tilemap: one entity per tile, with its terrain and its texture index.
pub fn spawn_tiles(mut commands: Commands, map: Res<GameMap>) {
    let size = TilemapSize { x: map.grid.width(), y: map.grid.height() };
    let tilemap = commands.spawn_empty().id();
    let textures = tiles::choose_all(&map);
    let bundles: Vec<_> = map
        .grid
        .rect()
        .cells()
        .zip(textures)
        .map(|(cell, texture)| {
            let tile = TileBundle {
                position: TilePos::new(cell.x as u32, cell.y as u32),
                tilemap_id: TilemapId(tilemap),
                texture_index: TileTextureIndex(texture),
                ..default()
            };
            (tile, TileTerrain(map.grid.terrain(cell).unwrap_or(TerrainId::VOID)))
        })
        .collect();
    commands.spawn_batch(bundles);
    commands.entity(tilemap).insert((
        size,
        TilemapGridSize { x: TILE, y: TILE },
        TilemapTileSize { x: TILE, y: TILE },
        TilemapType::Square,
        Transform::default(),
        NavSource::by_component(),
    ));
}
