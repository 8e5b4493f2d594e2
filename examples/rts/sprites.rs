//! How things look: pictures for the tilemap, critters, walls, buildings and marks.
//!
//! Input: entities of the game as they appear. Output: sprites on them, and every frame the
//! picture that fits where a critter faces and whether it walks.

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

/// Dresses the game.
pub struct SpritesPlugin;

impl Plugin for SpritesPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Sheets>()
            .add_observer(dress_unit)
            .add_observer(dress_wall)
            .add_observer(dress_building)
            .add_systems(Startup, dress_map.after(spawn_tiles))
            .add_systems(Update, animate.in_set(ViewSystems::Show));
    }
}

/// A picture with several frames in it.
#[derive(Clone, Debug)]
pub struct Sheet {
    image: Handle<Image>,
    layout: Handle<TextureAtlasLayout>,
}

impl Sheet {
    /// A sprite that shows one frame.
    pub fn sprite(&self, index: usize) -> Sprite {
        let atlas = TextureAtlas { layout: self.layout.clone(), index };
        Sprite::from_atlas_image(self.image.clone(), atlas)
    }
}

/// All pictures.
#[derive(Resource, Clone, Debug)]
pub struct Sheets {
    pub tiles: Sheet,
    pub critters: Sheet,
    pub marks: Sheet,
}

/// Frames of the sheet of marks.
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
        }
    }
}

impl Sheets {
    /// Whether all files have been read.
    pub fn are_loaded(&self, assets: &AssetServer) -> bool {
        [&self.tiles, &self.critters, &self.marks]
            .into_iter()
            .all(|sheet| assets.is_loaded(&sheet.image))
    }
}

/// Gives the tilemap what it is drawn with, next to what the pathfinder reads.
fn dress_map(
    mut commands: Commands,
    sheets: Res<Sheets>,
    map: Res<GameMap>,
    tilemap: Single<Entity, With<NavSource>>,
) {
    commands.entity(*tilemap).insert(TilemapBundle {
        size: TilemapSize { x: map.grid.width(), y: map.grid.height() },
        grid_size: TilemapGridSize { x: TILE, y: TILE },
        tile_size: TilemapTileSize { x: TILE, y: TILE },
        texture: TilemapTexture::Single(sheets.tiles.image.clone()),
        ..default()
    });
}

fn dress_unit(
    added: On<Add, Unit>,
    units: Query<&Unit>,
    sheets: Res<Sheets>,
    mut commands: Commands,
) {
    if let Ok(unit) = units.get(added.entity) {
        let sprite = sheets.critters.sprite(frame(*unit, Direction::South, 0));
        let size = TILE * f32::from(unit.kind.size());
        commands
            .entity(added.entity)
            .insert(Sprite { custom_size: Some(Vec2::splat(size)), ..sprite });
    }
}

fn dress_wall(added: On<Add, Wall>, sheets: Res<Sheets>, mut commands: Commands) {
    commands.entity(added.entity).insert(sheets.tiles.sprite(tiles::WALL as usize));
}

/// A depot is a house as large as its block; a dummy is a piece of wall, painted red, with a target
/// on it.
fn dress_building(
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

/// Shows units that are between two cells walking, and others standing: a unit under way may wait in a queue.
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
