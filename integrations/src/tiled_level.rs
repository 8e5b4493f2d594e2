//! A level drawn in [Tiled](https://www.mapeditor.org), read by bevy_ecs_tiled: terrain, buildings, ferries and units.
//!
//! | in Tiled | in the game |
//! |---|---|
//! | the property `terrain` of a tile in the tileset: a letter, say `W` | the terrain of the cells with this tile |
//! | a tile without that property | nothing: the layer below counts |
//! | a point of class `Unit`, with a property `speed` or without | a critter that starts there |
//! | a rectangle of class `Building` | blocked cells, until the entity is despawned |
//! | a rectangle of class `Ferry` with a property `to`, another rectangle, and a `cost` | a link between both |
//!
//! For finite maps of squares, with any number of layers (in groups, too) and tilesets; layers without offsets, rectangles that are not
//! rotated. Copy this file into a game and change the table.

use bevy::prelude::*;
use bevy_ecs_tiled::prelude::*;
use bevy_tilepath::prelude::*;
use tiled::{Object, ObjectShape, PropertyValue};

/// Reads what every Tiled map that is spawned has for the pathfinder.
pub struct TiledLevelPlugin;

impl Plugin for TiledLevelPlugin {
    fn build(&self, app: &mut App) {
        // Before the tick that comes next, so that it finds units and ground together.
        let after = TiledPreUpdateSystems::ProcessLoadedMaps;
        app.add_systems(PreUpdate, (read_layers, read_tiles, read_objects).after(after));
    }
}

/// Makes a source of each tilemap. bevy_ecs_tiled spawns one for each layer and tileset, and reports them from the lowest layer up:
/// the order of the sources.
fn read_layers(mut commands: Commands, mut created: MessageReader<TiledEvent<TilemapCreated>>) {
    for (order, event) in created.read().enumerate() {
        let source = NavSource::by_component().order(order as i32);
        if let Ok(mut tilemap) = commands.get_entity(event.origin) {
            tilemap.insert(source);
        }
    }
}

/// bevy_ecs_tiled reports the tiles that have properties.
fn read_tiles(
    mut commands: Commands,
    mut created: MessageReader<TiledEvent<TileCreated>>,
    maps: Res<Assets<TiledMapAsset>>,
) {
    for event in created.read() {
        let tile = event.get_tile(&maps);
        let letter = tile.as_ref().and_then(|tile| match tile.properties.get("terrain") {
            Some(PropertyValue::StringValue(letter)) => letter.bytes().next(),
            _ => None,
        });
        if let (Some(letter), Ok(mut tile)) = (letter, commands.get_entity(event.origin)) {
            tile.insert(TileTerrain(TerrainId(letter)));
        }
    }
}

/// Objects become units, buildings and links on their own entities: despawn such an entity, and its effect is gone.
fn read_objects(
    mut commands: Commands,
    mut created: MessageReader<TiledEvent<ObjectCreated>>,
    maps: Res<Assets<TiledMapAsset>>,
) {
    for event in created.read() {
        let (Some(map), Some(object)) = (event.get_map(&maps), event.get_object(&maps)) else {
            continue;
        };
        let Ok(mut entity) = commands.get_entity(event.origin) else {
            continue; // the map is gone again
        };
        match object.user_type.as_str() {
            "Unit" => drop(entity.insert(Critter::new(speed(&object)).turns(false))),
            "Building" => drop(entity.insert(NavBlocker::at(cells(map, &object)))),
            "Ferry" => match ferry(map, &object) {
                Some(link) => drop(entity.insert(link)),
                None => warn!("ferry {} leads nowhere: it has no object `to`", object.id()),
            },
            _ => {}
        }
    }
}

fn speed(object: &Object) -> f32 {
    number(object, "speed").unwrap_or(Critter::default().speed)
}

/// A property that is a number.
fn number(object: &Object, name: &str) -> Option<f32> {
    match object.properties.get(name)? {
        PropertyValue::FloatValue(number) => Some(*number),
        PropertyValue::IntValue(number) => Some(*number as f32),
        _ => None,
    }
}

fn ferry(map: &tiled::Map, object: &Object) -> Option<NavLink> {
    let Some(&PropertyValue::ObjectValue(to)) = object.properties.get("to") else {
        return None;
    };
    let landing = get_object_from_map(map, to)?;
    let cost = number(object, "cost").unwrap_or(1.0);
    Some(NavLink::new(cells(map, object), cells(map, &landing)).cost(cost as u32))
}

/// The cells that a point or a rectangle touches. Tiled counts pixels from the top, the grid counts rows from the bottom.
pub fn cells(map: &tiled::Map, object: &Object) -> CellRect {
    let (width, height) = match object.shape {
        ObjectShape::Rect { width, height } => (width, height),
        _ => (0.0, 0.0),
    };
    let columns = span(object.x, width, map.tile_width);
    let rows = span(object.y, height, map.tile_height);
    let lowest = map.height as i32 - rows.end;
    CellRect::new(Cell::new(columns.start, lowest), columns.len() as u32, rows.len() as u32)
}

/// The columns or rows between two edges of an object.
fn span(from: f32, length: f32, tile: u32) -> core::ops::Range<i32> {
    let tile = tile as f32;
    let first = (from / tile).floor() as i32;
    first..((from + length) / tile).ceil().max(first as f32 + 1.0) as i32
}
