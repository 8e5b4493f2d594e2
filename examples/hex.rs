//! A turn-based board of hexagons, fed by a hexagonal tilemap: movement ranges, zones of control, turn marks.
//!
//! `cargo run --example hex`: a click selects a unit, another click moves it to a blue cell. Pale cells take more turns; the
//! preview marks where each turn ends. Enemies (beetles) cannot be passed, and moves end next to them. Woods cost two points,
//! hills three; water is impassable. The space bar ends the turn. `--smoke DIR` plays by itself and saves pictures in DIR.

mod board;
mod screen;

use std::process::ExitCode;

use bevy::{
    asset::RenderAssetUsages,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
};
use bevy_ecs_tilemap::{map::HexCoordSystem, prelude::*};
use bevy_tilepath::prelude::*;

use board::{
    Board, SIZE,
    smoke::{self, Own},
};
use screen::{play::Step, window};

/// Width and height of a cell in pixels; a hexagon is regular where they are as 1 to 1.155.
const TILE: UVec2 = UVec2::new(56, 65);
const MAP_TYPE: TilemapType = TilemapType::Hexagon(HexCoordSystem::RowOdd);
/// The board, from the top row down; every other row is shifted by half a cell to the right. Grass, woods, hills and water by
/// their letters; units (`u`) and enemies (`x`) on grass.
const BOARD: [&str; 14] = [
    "GGGGTTTGGGGGGHHHGGGGG",
    "GGGTTTGGGGGGHHHHGGGGG",
    "GGGTTTTGGGGGGHHGGGTTG",
    "GGGGTTGGGGGGGGGGGTTTG",
    "GGGGGGGWWGGGGGGGGTTGG",
    "GGuGGGWWWWGGGxGGGGGGG",
    "GGGGGGGWWWWGGGGGGGGGG",
    "GGGGGHGGWWWWGGGxGGGGG",
    "GGuGHHGGGWWWWGGGGGHGG",
    "GGGGHHHGGGGWWWGGGHHGG",
    "GGGGGHGGGGGGWWGGGGHGG",
    "GGGGGGGGTTGGGGGGGGGGG",
    "GGGGGGGTTTTGGxGGGGGGG",
    "GGGGGGTTTTTGGGGGTTTGG",
];
/// Letter, points to enter (0 is impassable), and color.
const TERRAINS: [(u8, u16, [u8; 3]); 4] = [
    (b'G', 1, [104, 156, 78]),
    (b'T', 2, [58, 110, 62]),
    (b'H', 3, [152, 128, 92]),
    (b'W', 0, [62, 112, 170]),
];

/// What `--smoke` plays: a long path around the water and past the enemies, and two moves.
const STEPS: &[Step<Own>] = &[
    Step::Wait(2.0),
    Step::Own(Own::Click(cell(2, 8))),
    Step::Wait(0.3),
    Step::Shoot("range"),
    Step::Own(Own::Hover(cell(14, 9))),
    Step::Wait(0.3),
    Step::Own(Own::Turns(cell(14, 9), 3)),
    Step::Shoot("preview"),
    Step::Own(Own::Click(cell(5, 6))),
    Step::Own(Own::Stand(cell(5, 6), 0)),
    Step::Shoot("moved"),
    Step::Key(KeyCode::Space),
    Step::Wait(0.3),
    Step::Own(Own::Click(cell(7, 3))),
    Step::Own(Own::Stand(cell(7, 3), 2)),
    Step::Shoot("next_turn"),
];

/// Returns the cell of a tile.
const fn cell(x: u32, y: u32) -> Cell {
    TileLayout::of(MAP_TYPE).cell(TilePos { x, y })
}

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Hexagons: a click selects a unit or moves it, the space bar ends the turn";
    let (mut app, smoke) = window::open_example(title, SIZE)?;
    app.add_plugins((TilemapPlugin, TilePathPlugin::default(), board::plugin))
        .add_systems(Startup, (set_profile, spawn_map))
        .add_systems(Update, set_up.run_if(not(resource_exists::<Board>)));
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder, STEPS)?;
    }
    Ok(window::run(app))
}

fn set_profile(mut grids: ResMut<NavGrids>) {
    let profile = TERRAINS.into_iter().fold(Profile::new(), |profile, (letter, points, _)| {
        profile.with(TerrainId(letter), points * Profile::PLAIN_COST)
    });
    grids.set_profiles(vec![profile]);
}

/// The letters of the board with their tiles, the lowest row first.
fn letters() -> impl Iterator<Item = (TilePos, u8)> {
    BOARD.iter().rev().zip(0..).flat_map(|(row, y)| {
        row.bytes().zip(0..).map(move |(letter, x)| (TilePos { x, y }, letter))
    })
}

/// The number of the terrain of a letter.
fn terrain(letter: u8) -> usize {
    TERRAINS.iter().position(|terrain| terrain.0 == letter).unwrap_or(0)
}

fn spawn_map(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let map = commands.spawn_empty().id();
    for (position, letter) in letters() {
        commands.spawn(TileBundle {
            position,
            tilemap_id: TilemapId(map),
            texture_index: TileTextureIndex(terrain(letter) as u32),
            ..default()
        });
    }
    let pixels: Vec<u8> =
        TERRAINS.into_iter().flat_map(|(.., color)| hexagon(color, 0.82)).collect();
    let texture = images.add(image(TILE * UVec2::new(1, TERRAINS.len() as u32), pixels));
    commands.entity(map).insert((
        TilemapBundle {
            size: TilemapSize { x: BOARD[0].len() as u32, y: BOARD.len() as u32 },
            grid_size: TILE.as_vec2().into(),
            tile_size: TILE.as_vec2().into(),
            map_type: MAP_TYPE,
            texture: TilemapTexture::Single(texture),
            anchor: TilemapAnchor::Center,
            ..default()
        },
        NavSource::by_texture(TERRAINS.map(|(letter, ..)| TerrainId(letter))),
    ));
    commands.spawn((Camera2d, Msaa::Off));
}

/// Once the tilemap has become a grid, takes over its frame.
fn set_up(
    mut commands: Commands,
    grids: Res<NavGrids>,
    assets: Res<AssetServer>,
    mut images: ResMut<Assets<Image>>,
) {
    let Some(&frame) = grids.frame(GridId::default()) else { return };
    let shape = images.add(image(TILE, hexagon([255; 3], 1.0)));
    let board = Board { frame, cell_size: TILE.x as f32, shape, shape_size: TILE.as_vec2() };
    for (tile, letter) in letters() {
        let at = (cell(tile.x, tile.y), letter);
        board::spawn_cell(&mut commands, (&board, &assets), at);
    }
    commands.insert_resource(board);
}

fn image(size: UVec2, pixels: Vec<u8>) -> Image {
    let size = Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 };
    let format = TextureFormat::Rgba8UnormSrgb;
    Image::new(size, TextureDimension::D2, pixels, format, RenderAssetUsages::default())
}

/// The pixels of a hexagon with a corner at the top; its rim is darker by a factor.
fn hexagon([red, green, blue]: [u8; 3], rim: f32) -> Vec<u8> {
    let middle = TILE.as_vec2() / 2.0;
    let pixel = |x: u32, y: u32| {
        let off = (UVec2::new(x, y).as_vec2() + 0.5 - middle).abs() / middle;
        // The distance is 1 on all sides: the upright sides, and the slanted ones from (0, 1) to (1, 1/2).
        let distance = off.x.max(off.x / 2.0 + off.y);
        let shade = if distance > 0.93 { rim } else { 1.0 };
        let [red, green, blue] = [red, green, blue].map(|part| (f32::from(part) * shade) as u8);
        if distance <= 1.0 { [red, green, blue, 255] } else { [0; 4] }
    };
    (0..TILE.y).flat_map(|y| (0..TILE.x).flat_map(move |x| pixel(x, y))).collect()
}
