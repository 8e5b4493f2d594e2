//! A world drawn in [LDtk](https://ldtk.io), read by bevy_ecs_ldtk: terrain, houses and units; levels come and go while units
//! walk.
//!
//! | in LDtk | in the game |
//! |---|---|
//! | a value of the IntGrid layer `Terrain` | the terrain of a cell, by [`TERRAINS`] |
//! | the place of a level in the world | its place on the one grid that all levels share |
//! | an entity `Unit` with a field `speed` | a critter that starts there, and stays when its level goes |
//! | an entity `House` | blocked cells, as long as its level is there |
//!
//! The levels must lie on the raster of their cells: offsets in the world are multiples of the layer's grid size.
//! Copy this file into a game and change the table.

use bevy::prelude::*;
use bevy_ecs_ldtk::prelude::*;
use bevy_tilepath::prelude::*;

/// The terrain of each IntGrid value. Cells with 0 (no value), or with a value beyond, belong to no level.
pub const TERRAINS: [TerrainId; 7] = [
    TerrainId::VOID,
    TerrainId(b'G'), // grass
    TerrainId(b'.'), // road
    TerrainId(b'W'), // water
    TerrainId(b'@'), // rock
    TerrainId(b'S'), // swamp
    TerrainId(b'T'), // trees
];

/// The IntGrid layer that has the terrain.
const LAYER: &str = "Terrain";

/// Reads what every level that is spawned has for the pathfinder.
pub struct LdtkLevelPlugin;

impl Plugin for LdtkLevelPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(LdtkSettings {
            level_spawn_behavior: LevelSpawnBehavior::UseWorldTranslation {
                load_level_neighbors: false,
            },
            int_grid_rendering: IntGridRendering::Invisible,
            ..default()
        })
        .register_ldtk_entity::<UnitBundle>("Unit")
        .register_ldtk_entity::<HouseBundle>("House")
        .add_observer(read_layer)
        .add_observer(read_cell);
    }
}

/// A layer feeds the grid at the place of its level in the world.
fn read_layer(
    added: On<Add, LayerMetadata>,
    mut commands: Commands,
    layers: Query<(&LayerMetadata, &ChildOf)>,
    levels: Query<&Transform, With<LevelIid>>,
) {
    let Ok((layer, level)) = layers.get(added.entity) else { return };
    let Ok(place) = levels.get(level.parent()) else { return };
    if layer.identifier == LAYER {
        let corner = (place.translation.truncate() / layer.grid_size as f32).round().as_ivec2();
        let source = NavSource::by_component().offset(Cell::new(corner.x, corner.y));
        commands.entity(added.entity).insert(source);
    }
}

fn read_cell(added: On<Add, IntGridCell>, mut commands: Commands, cells: Query<&IntGridCell>) {
    let value = cells.get(added.entity).map_or(0, |cell| cell.value as usize);
    if let Some(&terrain) = TERRAINS.get(value) {
        commands.entity(added.entity).insert(TileTerrain(terrain));
    }
}

/// Worldly: it becomes a child of the world, and does not come again when its level is spawned again.
#[derive(Bundle, Default, LdtkEntity)]
struct UnitBundle {
    #[worldly]
    worldly: Worldly,
    #[with(critter)]
    critter: Critter,
}

fn critter(unit: &EntityInstance) -> Critter {
    let speed = unit.get_float_field("speed").copied();
    Critter::new(speed.unwrap_or(Critter::default().speed)).turns(false)
}

#[derive(Bundle, Default, LdtkEntity)]
struct HouseBundle {
    #[with(blocker)]
    blocker: NavBlocker,
}

/// The entity's transform is in the middle of the house.
fn blocker(house: &EntityInstance) -> NavBlocker {
    let cells = |pixels: i32| (pixels / CELL).max(1) as u32;
    NavBlocker::sized(cells(house.width), cells(house.height))
}

/// Side of a cell in pixels.
pub const CELL: i32 = 16;
