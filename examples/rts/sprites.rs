//! Sprites for the tilemap, critters, walls, buildings and markers.
//!
//! Input: entities of the game when they are spawned. Output: their sprites, and every frame the
//! atlas index of each critter from its facing and its movement.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    buildings::{Building, BuildingKind},
    display::ViewSystems,
    map::{GameMap, TILE, spawn_tiles},
    tiles,
    units::Unit,
    walls::Wall,
};

/// Walk frames of each kind: rows of the sheet.
const WALK_FRAMES: usize = 2;
/// Facings: columns of the sheet, in the order of [`Direction`].
const FACINGS: usize = 8;
/// Walk frames shown per cell walked.
const FRAMES_PER_CELL: f32 = 1.5;

/// Adds sprites.
pub struct SpritesPlugin;

impl Plugin for SpritesPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Sheets>()
            .add_observer(add_unit_sprite)
            .add_observer(add_wall_sprite)
            .add_observer(add_building_sprite)
            .add_systems(Startup, add_map_texture.after(spawn_tiles))
            .add_systems(Update, animate.in_set(ViewSystems::Show));
    }
}

/// A sprite sheet.
#[derive(Clone, Debug)]
pub struct Sheet {
    image: Handle<Image>,
    layout: Handle<TextureAtlasLayout>,
}

impl Sheet {
    /// Returns a sprite that shows one frame.
    pub fn sprite(&self, index: usize) -> Sprite {
        let atlas = TextureAtlas { layout: self.layout.clone(), index };
        Sprite::from_atlas_image(self.image.clone(), atlas)
    }
}

/// All sprite sheets.
#[derive(Resource, Clone, Debug)]
pub struct Sheets {
    pub tiles: Sheet,
    /// The tiles as hexagons.
    pub hexes: Handle<Image>,
    pub critters: Sheet,
    pub marks: Sheet,
}

/// Frames of the sheet of markers.
pub mod mark {
    pub const RING: usize = 0;
    pub const MOVE: usize = 1;
    pub const QUEUED: usize = 2;
    pub const FAILED: usize = 3;
    pub const BUILD: usize = 4;
    pub const FLAG: usize = 6;
}

impl FromWorld for Sheets {
    fn from_world(world: &mut World) -> Self {
        let mut sheet = |file: &'static str, rows| {
            let grid =
                TextureAtlasLayout::from_grid(UVec2::splat(TILE as u32), 8, rows, None, None);
            let layout = world.resource_mut::<Assets<TextureAtlasLayout>>().add(grid);
            Sheet { image: world.resource::<AssetServer>().load(file), layout }
        };
        Self {
            tiles: sheet("tiles.png", 17),
            critters: sheet("critters.png", 10),
            marks: sheet("marks.png", 1),
            hexes: world.resource::<AssetServer>().load("hexes.png"),
        }
    }
}

impl Sheets {
    /// Returns whether all files are loaded.
    pub fn are_loaded(&self, assets: &AssetServer) -> bool {
        let sheets = [&self.tiles, &self.critters, &self.marks].map(|sheet| &sheet.image);
        sheets.into_iter().chain([&self.hexes]).all(|image| assets.is_loaded(image))
    }
}

/// Adds the components that draw the tilemap.
fn add_map_texture(
    mut commands: Commands,
    sheets: Res<Sheets>,
    map: Res<GameMap>,
    tilemap: Single<Entity, With<NavSource>>,
) {
    let (map_type, size, grid_size, tile_size) = map.tilemap();
    let image = if map.is_hexagonal() { &sheets.hexes } else { &sheets.tiles.image };
    let texture = TilemapTexture::Single(image.clone());
    commands.entity(*tilemap).insert(TilemapBundle {
        map_type,
        size,
        grid_size,
        tile_size,
        texture,
        ..default()
    });
}

fn add_unit_sprite(
    added: On<Add, Unit>,
    units: Query<&Unit>,
    sheets: Res<Sheets>,
    mut commands: Commands,
) {
    if let Ok(unit) = units.get(added.entity) {
        let sprite = sheets.critters.sprite(frame(*unit, Direction::South, 0));
        let size = TILE * f32::from(unit.width);
        commands
            .entity(added.entity)
            .insert(Sprite { custom_size: Some(Vec2::splat(size)), ..sprite });
    }
}

fn add_wall_sprite(added: On<Add, Wall>, sheets: Res<Sheets>, mut commands: Commands) {
    commands.entity(added.entity).insert(sheets.tiles.sprite(tiles::WALL as usize));
}

/// Adds a building's sprite: a depot is a house as large as its block, a dummy a wall, tinted red,
/// with a target ring on it.
fn add_building_sprite(
    added: On<Add, Building>,
    buildings: Query<&Building>,
    sheets: Res<Sheets>,
    mut commands: Commands,
) {
    let Ok(building) = buildings.get(added.entity) else {
        return;
    };
    let mut entity = commands.entity(added.entity);
    match building.kind {
        BuildingKind::Depot => {
            let size = Vec2::splat(TILE * building.kind.size() as f32);
            let house = sheets.tiles.sprite(tiles::HOUSE as usize);
            entity.insert(Sprite { custom_size: Some(size), ..house });
        }
        BuildingKind::Dummy => {
            let wall = sheets.tiles.sprite(tiles::WALL as usize);
            let ring = sheets.tiles.sprite(tiles::TARGET as usize);
            entity
                .insert(Sprite { color: Color::srgb(1.0, 0.45, 0.4), ..wall })
                .with_child((ring, Transform::from_xyz(0.0, 0.0, 0.1)));
        }
    }
}

fn frame(unit: Unit, facing: Direction, step: usize) -> usize {
    (unit.kind as usize * WALK_FRAMES + step) * FACINGS + facing as usize
}

/// Updates the frames: units between two cells walk, all others stand, also those that are under
/// way but blocked.
fn animate(time: Res<Time>, mut units: Query<(&Unit, &Facing, &CritterState, &mut Sprite)>) {
    let seconds = time.elapsed_secs_wrapped();
    for (unit, facing, state, mut sprite) in &mut units {
        let steps = seconds * unit.kind.speed() * FRAMES_PER_CELL;
        let step = if state.is_moving() {
            (steps as usize + unit.number as usize) % WALK_FRAMES
        } else {
            0
        };
        let index = frame(*unit, facing.compass(), step);
        let is_shown = sprite.texture_atlas.as_ref().is_some_and(|atlas| atlas.index == index);
        if !is_shown && let Some(atlas) = &mut sprite.texture_atlas {
            atlas.index = index;
        }
    }
}
