//! Units in a mine drawn with Bevy's own `TilemapChunk`s: a left click sends them, a right click digs or fills in.
//!
//! `cargo run --example chunks --features tilemap_chunk`: six chunks lie side by side. Each feeds the grid through its
//! [`NavSource`], at its offset; digging changes a tile in its data. Units dig nothing themselves: they walk where there is floor.
//! `--smoke DIR` plays by itself and saves pictures in DIR.

mod screen;
#[path = "chunks/smoke.rs"]
mod smoke;

use std::process::ExitCode;

use bevy::{
    asset::RenderAssetUsages,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
    sprite_render::{TileData, TilemapChunk, TilemapChunkTileData},
};
use bevy_tilepath::prelude::*;

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 720);
/// Side of a tile in pixels.
const TILE: u32 = 20;
/// Tiles of a chunk, and columns and rows of chunks.
const CHUNK: UVec2 = UVec2::new(20, 16);
const CHUNKS: UVec2 = UVec2::new(3, 2);
/// Textures: two shades of floor, which are passable, and rock.
const FLOOR: [u16; 2] = [0, 1];
const ROCK: u16 = 2;
/// Rooms and tunnels: column, row, width and height.
const DUG: [(u32, u32, u32, u32); 11] = [
    (3, 4, 9, 8),
    (12, 7, 14, 2),
    (26, 3, 8, 9),
    (29, 12, 2, 9),
    (24, 21, 13, 7),
    (34, 6, 13, 2),
    (47, 3, 9, 10),
    (5, 12, 2, 8),
    (3, 20, 10, 8),
    (44, 20, 12, 8),
    (50, 13, 2, 4),
];

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Chunks: left click sends units, right click digs or fills in";
    let (mut app, smoke) = window::open_example(title, SIZE)?;
    app.add_plugins(TilePathPlugin::default())
        .add_systems(Startup, (spawn_chunks, spawn_units))
        .add_systems(Update, (click, draw_units));
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

/// The middle of a cell. The plugin derives the same place from the chunks.
fn center(cell: Cell) -> Vec2 {
    let half = (CHUNKS * CHUNK).as_vec2() / 2.0;
    (IVec2::new(cell.x, cell.y).as_vec2() + 0.5 - half) * TILE as f32
}

fn spawn_chunks(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let tileset = images.add(tileset());
    for (column, row) in (0..CHUNKS.y).flat_map(|row| (0..CHUNKS.x).map(move |x| (x, row))) {
        let first = UVec2::new(column, row) * CHUNK;
        let tiles = (0..CHUNK.element_product()).map(|tile| {
            let at = first + UVec2::new(tile % CHUNK.x, tile / CHUNK.x);
            let is_dug = DUG.iter().any(|&(x, y, width, height)| {
                (x..x + width).contains(&at.x) && (y..y + height).contains(&at.y)
            });
            Some(TileData::from_tileset_index(if is_dug { floor(at) } else { ROCK }))
        });
        let tiles = TilemapChunkTileData(tiles.collect());
        // A chunk is drawn around its middle.
        let corner = center(Cell::new(first.x as i32, first.y as i32)) - TILE as f32 / 2.0;
        let middle = corner + (CHUNK * TILE).as_vec2() / 2.0;
        commands.spawn((
            tiles,
            TilemapChunk {
                chunk_size: CHUNK,
                tile_display_size: UVec2::splat(TILE),
                tileset: tileset.clone(),
                ..default()
            },
            Transform::from_translation(middle.extend(0.0)),
            NavSource::by_texture(FLOOR.map(|_| TerrainId::GROUND)) // other textures are impassable
                .offset(Cell::new(first.x as i32, first.y as i32)),
        ));
    }
    commands.spawn((Camera2d, Msaa::Off));
}

fn spawn_units(mut commands: Commands, assets: Res<AssetServer>) {
    for cell in CellRect::new(Cell::new(4, 5), 5, 5).cells() {
        commands.spawn((
            Critter::new(5.0).turns(false),
            Sprite {
                image: assets.load("critters.png"),
                custom_size: Some(Vec2::splat(24.0)),
                ..default()
            },
            Transform::from_translation(center(cell).extend(1.0)),
        ));
    }
}

/// Sends all units, or changes a tile between floor and rock. The grid follows the tiles.
fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    grids: Res<NavGrids>,
    units: Query<Entity, With<Critter>>,
    mut chunks: Query<(&NavSource, &mut TilemapChunkTileData)>,
) {
    let (camera, view) = *camera;
    let Some(cursor) = window.cursor_position() else { return };
    let Ok(position) = camera.viewport_to_world_2d(view, cursor) else { return };
    let Some(cell) = grids.cell_at(GridId::default(), position) else { return };
    if mouse.just_pressed(MouseButton::Left) {
        commands.spawn(Group::to(cell, units));
    }
    if !mouse.just_pressed(MouseButton::Right) {
        return;
    }
    for (source, mut tiles) in &mut chunks {
        if CellRect::new(source.offset, CHUNK.x, CHUNK.y).contains(cell) {
            let (x, y) = (cell.x.abs_diff(source.offset.x), cell.y.abs_diff(source.offset.y));
            if let Some(tile) = tiles.get_mut((y * CHUNK.x + x) as usize).and_then(Option::as_mut) {
                let is_rock = tile.tileset_index == ROCK;
                tile.tileset_index = if is_rock { floor(UVec2::new(x, y)) } else { ROCK };
            }
        }
    }
}

/// The texture of floor: the two shades alternate.
fn floor(at: UVec2) -> u16 {
    FLOOR[(at.x + at.y) as usize % 2]
}

/// Shows each unit in the direction in which it faces.
fn draw_units(mut units: Query<(&Facing, &mut Sprite), With<Critter>>) {
    for (facing, mut sprite) in &mut units {
        let corner = Vec2::new(facing.compass() as u8 as f32, 0.0) * 16.0; // eight in a row
        sprite.rect = Some(Rect::from_corners(corner, corner + 16.0));
    }
}

/// An image of three layers, one for each texture.
fn tileset() -> Image {
    let pixel = |texture: usize, x: u32, y: u32| {
        let shade = [[148, 128, 104], [140, 120, 98], [66, 60, 62]][texture];
        // Rock has some grain: lighter specks of two by two pixels.
        let is_speck = (x / 2 * 7 + y / 2 * 11 + x / 2 * (y / 2)).is_multiple_of(9);
        let light = if texture == 2 && is_speck { 12 } else { 0 };
        let [red, green, blue] = shade.map(|color: u8| color + light);
        [red, green, blue, 255]
    };
    let of_texture =
        |texture| (0..TILE).flat_map(move |y| (0..TILE).flat_map(move |x| pixel(texture, x, y)));
    let size = Extent3d { width: TILE, height: TILE, depth_or_array_layers: 3 };
    let pixels = (0..3).flat_map(of_texture).collect();
    let format = TextureFormat::Rgba8UnormSrgb;
    Image::new(size, TextureDimension::D2, pixels, format, RenderAssetUsages::default())
}
