//! The map: a Moving AI text file that becomes a tilemap, which in turn feeds the grid.
//!
//! Input: a file. Output: [`GameMap`] (the terrain as read, for drawing and for choosing spawn
//! cells) and the tile entities. The pathfinder reads the tiles, not the file.

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy_ecs_tilemap::{map::HexCoordSystem, prelude::*};
use bevy_tilepath::{nav::moving_ai, prelude::*};

use crate::{hexagons, kinds::Kind, screen::window, text, tiles};

/// Side of a tile, in world units and in texture pixels.
pub const TILE: f32 = 16.0;
/// Height of a hexagonal tile in texture pixels, and from one row of them to the next in world units.
pub const HEX_TILE: f32 = 19.0;
const HEX_ROW: f32 = 14.0;
/// The map on which cells are hexagons.
const HEXES: &str = "hexes";

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
        let text = text::read(&path)?;
        let grid = moving_ai::read_map(&text).map_err(|error| format!("{shown}: {error}"))?;
        let grid = grid.with_profiles(Kind::profiles());
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
        if file == Path::new(HEXES) {
            let up = Vec2::new(TILE / 2.0, HEX_ROW);
            let frame = GridFrame::from_axes(Vec2::ZERO, Vec2::X * TILE, up);
            let grid =
                hexagons::shifted_rows(&grid).map_err(|error| format!("{shown}: {error}"))?;
            let topology = Topology::Hexagonal;
            return Ok(Self { name, grid, frame: frame.with_topology(topology) });
        }
        let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(TILE));
        Ok(Self { name, grid, frame })
    }

    /// Returns whether cells are hexagons.
    pub fn is_hexagonal(&self) -> bool {
        self.grid.topology() == Topology::Hexagonal
    }

    /// Returns the middle of a block of cells in the world.
    pub fn middle_of(&self, block: CellRect) -> Vec2 {
        let last = block.min.offset(block.width as i32 - 1, block.height as i32 - 1);
        self.frame.cell_center(block.min).midpoint(self.frame.cell_center(last))
    }

    /// Returns the type of the tilemap, its size in tiles, and the sizes of its grid and of its pictures.
    pub fn tilemap(&self) -> (TilemapType, TilemapSize, TilemapGridSize, TilemapTileSize) {
        let (width, height) = (self.grid.width(), self.grid.height());
        let square = (TilemapGridSize { x: TILE, y: TILE }, TilemapTileSize { x: TILE, y: TILE });
        if !self.is_hexagonal() {
            let size = TilemapSize { x: width, y: height };
            return (TilemapType::Square, size, square.0, square.1);
        }
        // Three quarters of the height of a cell lie between two rows.
        let grid = TilemapGridSize { x: TILE, y: HEX_ROW * 4.0 / 3.0 };
        let size = TilemapSize { x: width - (height - 1) / 2, y: height };
        let map_type = TilemapType::Hexagon(HexCoordSystem::RowOdd);
        (map_type, size, grid, TilemapTileSize { x: TILE, y: HEX_TILE })
    }

    /// Returns the terrain letter of a cell; `None` off the map.
    pub fn letter(&self, cell: Cell) -> Option<u8> {
        self.grid.terrain(cell).map(|terrain| terrain.0)
    }

    /// Returns the world rectangle that the map covers.
    pub fn bounds(&self) -> Rect {
        let (.., size, _, tile) = self.tilemap();
        let (columns, rows) = (size.x as f32, size.y as f32);
        if !self.is_hexagonal() {
            let size = Vec2::new(columns, rows) * TILE;
            return Rect::from_corners(Vec2::splat(-TILE / 2.0), size - TILE / 2.0);
        }
        // Every other row reaches half a tile farther to the right.
        let size = Vec2::new((columns + 0.5) * TILE, (rows - 1.0) * HEX_ROW + tile.y);
        let corner = Vec2::new(-TILE / 2.0, -tile.y / 2.0);
        Rect::from_corners(corner, corner + size)
    }
}

fn find(file: &Path) -> PathBuf {
    let own = window::assets_folder().join("maps").join(file).with_extension("map");
    let is_bare_name = file.components().count() == 1 && file.extension().is_none();
    if is_bare_name && own.is_file() { own } else { file.to_path_buf() }
}

/// Spawns the tilemap: one entity per tile, with its terrain and its texture index.
pub fn spawn_tiles(mut commands: Commands, map: Res<GameMap>) {
    let (map_type, size, grid_size, tile_size) = map.tilemap();
    let layout = TileLayout::of(map_type);
    let tilemap = commands.spawn_empty().id();
    let textures = tiles::choose_all(&map);
    let bundles: Vec<_> = map
        .grid
        .rect()
        .cells()
        .zip(textures)
        .filter_map(|(cell, texture)| {
            let position = layout.tile(cell).filter(|tile| tile.x < size.x && tile.y < size.y)?;
            let tile = TileBundle {
                position,
                tilemap_id: TilemapId(tilemap),
                texture_index: TileTextureIndex(texture),
                ..default()
            };
            Some((tile, TileTerrain(map.grid.terrain(cell).unwrap_or(TerrainId::VOID))))
        })
        .collect();
    commands.spawn_batch(bundles);
    commands.entity(tilemap).insert((
        size,
        grid_size,
        tile_size,
        map_type,
        Transform::default(),
        NavSource::by_component(),
    ));
}
