//! The smallest app: a tile map, a wall, a critter, an order.
//!
//! Input: nothing. Output: the cell where the critter arrives. `cargo run --example minimal` runs
//! without a window.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_ecs_tilemap::prelude::*;
use bevy_tilepath::prelude::*;

fn main() {
    App::new()
        .add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1)) // as fast as it will go
        .add_systems(Startup, spawn_level)
        .add_observer(|arrived: On<Arrived>, mut exit: MessageWriter<AppExit>| {
            println!("arrived at {}", arrived.cell);
            exit.write(AppExit::Success);
        })
        .add_observer(|failed: On<PathFailed>| println!("no path: {}", failed.reason))
        .run();
}

fn spawn_level(mut commands: Commands) {
    // A map of 32 × 32 tiles: texture 0 is grass, texture 1 is rock.
    let size = TilemapSize { x: 32, y: 32 };
    let map = commands.spawn_empty().id();
    for x in 0..size.x {
        for y in 0..size.y {
            let is_rock = x == 16 && y != 30;
            commands.spawn((
                TilePos { x, y },
                TilemapId(map),
                TileTextureIndex(u32::from(is_rock)),
            ));
        }
    }
    commands.entity(map).insert((
        size,
        TilemapGridSize { x: 16.0, y: 16.0 },
        TilemapTileSize { x: 16.0, y: 16.0 },
        TilemapType::Square,
        Transform::default(),
        NavSource::by_texture([TerrainId::GROUND]), // whatever is not listed is impassable
    ));
    // A critter on cell (2, 2), drawn above the map (z is 1), sent around the rock.
    commands.spawn((
        Critter::new(8.0),
        StartCell(Cell::new(2, 2)),
        Transform::from_xyz(0.0, 0.0, 1.0),
        PathRequest::to(Cell::new(29, 3)),
    ));
}
