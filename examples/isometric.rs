//! Units on an isometric tilemap: a left click sends them, a right click builds or removes a wall.
//!
//! `cargo run --example isometric`: the tilemap feeds the grid through its [`NavSource`], so building a
//! wall means changing a tile. [`Facing::compass`] selects the picture of a unit: on a diamond map a
//! step along a row leads down and to the right on screen.
//! `--smoke DIR` plays by itself and saves pictures in DIR.

mod screen;
#[path = "isometric/smoke.rs"]
mod smoke;

use std::process::ExitCode;

use bevy::{
    asset::RenderAssetUsages,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
};
use bevy_ecs_tilemap::{map::IsoCoordSystem, prelude::*};
use bevy_tilepath::prelude::*;

use screen::window;

const SIZE: UVec2 = UVec2::new(1280, 720);
/// Tiles on a side of the map, and the size of one in pixels.
const SIDE: u32 = 20;
const TILE: UVec2 = UVec2::new(64, 32);
/// Height of a wall in pixels.
const WALL_HEIGHT: u32 = 14;
/// Textures: two shades of grass, which are passable, and the foundation of a wall.
const GRASS: [u32; 2] = [0, 1];
const WALL: u32 = 2;

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Isometric: left click sends units, right click builds or removes a wall";
    let (mut app, smoke) = window::open_example(title, SIZE)?;
    app.add_plugins((TilemapPlugin, TilePathPlugin::default()))
        .add_systems(Startup, (spawn_map, spawn_units))
        .add_systems(Update, (click, raise_walls, draw_units).chain());
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder)?;
    }
    Ok(window::run(app))
}

/// Where the tilemap lies in the world. The plugin derives the same frame from the tilemap.
fn frame() -> GridFrame {
    let half = TILE.as_vec2() / 2.0;
    let west = Vec2::new(-half.x * (SIDE - 1) as f32, 0.0);
    GridFrame::from_axes(west, half * Vec2::new(1.0, -1.0), half)
}

fn spawn_map(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let map = commands.spawn_empty().id();
    for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
        let is_wall = (x == 7 && (3..15).contains(&y)) || (y == 9 && (11..19).contains(&x));
        let position = TilePos { x, y };
        let texture = if is_wall { WALL } else { grass(&position) };
        commands.spawn(TileBundle {
            position,
            tilemap_id: TilemapId(map),
            texture_index: TileTextureIndex(texture),
            ..default()
        });
    }
    let tops = [[104, 156, 78], [96, 147, 72], [84, 78, 74]];
    let pixels = tops.map(|top| block(0, [top; 3])).concat();
    let texture = images.add(image(TILE * UVec2::new(1, tops.len() as u32), pixels));
    commands.entity(map).insert((
        TilemapBundle {
            size: TilemapSize { x: SIDE, y: SIDE },
            grid_size: TILE.as_vec2().into(),
            tile_size: TILE.as_vec2().into(),
            map_type: TilemapType::Isometric(IsoCoordSystem::Diamond),
            texture: TilemapTexture::Single(texture),
            transform: Transform::from_translation(
                frame().cell_center(Cell::default()).extend(0.0),
            ),
            ..default()
        },
        NavSource::by_texture(GRASS.map(|_| TerrainId::GROUND)), // other textures are impassable
    ));
    commands.spawn((Camera2d, Msaa::Off));
}

fn spawn_units(mut commands: Commands, assets: Res<AssetServer>) {
    for y in 5..13 {
        commands.spawn((
            Critter::new(4.0).turns(false),
            Sprite {
                image: assets.load("critters.png"),
                custom_size: Some(Vec2::splat(32.0)),
                ..default()
            },
            Transform::from_translation(frame().cell_center(Cell::new(3, y)).extend(0.0)),
        ));
    }
}

/// Sends all units, or changes a tile between grass and wall. The grid follows the tiles.
fn click(
    mut commands: Commands,
    mouse: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    grids: Res<NavGrids>,
    units: Query<Entity, With<Critter>>,
    mut tiles: Query<(&TilePos, &mut TileTextureIndex)>,
) {
    let (camera, view) = *camera;
    let Some(cursor) = window.cursor_position() else { return };
    let Ok(position) = camera.viewport_to_world_2d(view, cursor) else { return };
    let Some(cell) = grids.cell_at(GridId::default(), position) else { return };
    if mouse.just_pressed(MouseButton::Left) {
        commands.spawn(Group::to(cell, units));
    }
    let mut tiles = tiles.iter_mut();
    if mouse.just_pressed(MouseButton::Right)
        && let Some((position, mut texture)) = tiles.find(|(position, _)| cell_of(position) == cell)
    {
        texture.0 = if texture.0 == WALL { grass(position) } else { WALL };
    }
}

/// The texture of grass: the two shades alternate.
fn grass(position: &TilePos) -> u32 {
    GRASS[(position.x + position.y) as usize % 2]
}

fn cell_of(position: &TilePos) -> Cell {
    Cell::new(position.x as i32, position.y as i32)
}

/// Puts a block on each tile that has become a wall.
fn raise_walls(
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    mut picture: Local<Option<Handle<Image>>>,
    tiles: Query<(Entity, &TilePos, &TileTextureIndex), Changed<TileTextureIndex>>,
) {
    let picture = picture.get_or_insert_with(|| {
        let colors = [[166, 158, 148], [96, 88, 84], [126, 117, 110]];
        images.add(image(TILE + UVec2::new(0, WALL_HEIGHT), block(WALL_HEIGHT, colors)))
    });
    for (tile, position, texture) in &tiles {
        if texture.0 == WALL {
            let center = frame().cell_center(cell_of(position));
            let middle = center + Vec2::new(0.0, WALL_HEIGHT as f32 / 2.0);
            let transform = Transform::from_translation(middle.extend(depth(center)));
            commands.entity(tile).insert((Sprite::from_image(picture.clone()), transform));
        } else {
            commands.entity(tile).remove::<Sprite>();
        }
    }
}

/// Sprites that are lower on screen are drawn in front.
fn depth(position: Vec2) -> f32 {
    10.0 - position.y / 100.0
}

/// Shows each unit in the direction in which it faces on screen.
fn draw_units(mut units: Query<(&Facing, &mut Sprite, &mut Transform), With<Critter>>) {
    for (facing, mut sprite, mut transform) in &mut units {
        let corner = Vec2::new(facing.compass() as u8 as f32, 0.0) * 16.0; // eight in a row
        sprite.rect = Some(Rect::from_corners(corner, corner + 16.0));
        let at = transform.translation.truncate();
        let sorted = Transform { translation: at.extend(depth(at)), ..*transform };
        // Written only if it differs: the plugin looks again at every critter whose transform was written.
        transform.set_if_neq(sorted);
    }
}

fn image(size: UVec2, pixels: Vec<u8>) -> Image {
    let size = Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 };
    let format = TextureFormat::Rgba8UnormSrgb;
    Image::new(size, TextureDimension::D2, pixels, format, RenderAssetUsages::default())
}

/// The pixels of a block of some height: its top, a diamond, and its left and right side.
fn block(height: u32, [top, left, right]: [[u8; 3]; 3]) -> Vec<u8> {
    let half = TILE.as_vec2() / 2.0;
    let color = |x: u32, y: u32| {
        let (x, y) = (x as f32 + 0.5 - half.x, y as f32 + 0.5 - half.y);
        let edge = half.y * (1.0 - x.abs() / half.x);
        match y {
            y if y.abs() <= edge => Some(top),
            y if y < 0.0 || y > edge + height as f32 => None,
            _ if x < 0.0 => Some(left),
            _ => Some(right),
        }
    };
    let pixel = |x, y| color(x, y).map_or([0; 4], |[red, green, blue]| [red, green, blue, 255]);
    (0..TILE.y + height).flat_map(|y| (0..TILE.x).flat_map(move |x| pixel(x, y))).collect()
}
