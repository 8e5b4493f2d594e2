//! The board: the tilemap that feeds the grid, and the story that is told of it.
//!
//! Input: the [`Level`], then the tiles as the viewer paints them. Output: tile entities, which
//! the plugin turns into a grid, and a new [`Story`] whenever grid, start or goal change.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    display::ViewSystems,
    level::{self, Level, MUD, WALL},
    playback::Playback,
    stage::{CELL, Stage},
    story::Story,
};

/// Side of a tile of the sheet, in pixels.
const ART: f32 = 16.0;

/// Spawns the map and tells its story.
pub struct BoardPlugin;

impl Plugin for BoardPlugin {
    fn build(&self, app: &mut App) {
        let size = app.world().resource::<Level>().size;
        app.world_mut().resource_mut::<NavGrids>().set_profiles(vec![level::profile()]);
        app.insert_resource(Stage::new(size, 0))
            .add_systems(Startup, (spawn_tiles, dress_map).chain())
            .add_systems(Update, tell.after(TilePathSystems::SyncGrid).before(ViewSystems::Play));
    }
}

/// What a terrain looks like: an index into `assets/tiles.png` and a tint that keeps text legible.
pub fn look(terrain: TerrainId, cell: Cell) -> (TileTextureIndex, TileColor) {
    let variant = (cell.x * 7 + cell.y * 5) as u32 % 4;
    let (texture, tint) = match terrain {
        WALL => (46, Color::srgb(0.62, 0.64, 0.72)),
        MUD => (8 + variant, Color::srgb(0.62, 0.42, 0.26)),
        _ => (20 + variant, Color::srgb(0.25, 0.27, 0.33)),
    };
    (TileTextureIndex(texture), TileColor(tint))
}

/// Spawns what the grid is read from: one entity per tile.
fn spawn_tiles(mut commands: Commands, level: Res<Level>, stage: Res<Stage>) {
    let map = commands.spawn_empty().id();
    for (cell, &terrain) in level.cells().zip(&level.terrain) {
        let (texture_index, color) = look(terrain, cell);
        let position = TilePos::new(cell.x as u32, cell.y as u32);
        let tilemap_id = TilemapId(map);
        commands.spawn((
            TileBundle { position, tilemap_id, texture_index, color, ..default() },
            TileTerrain(terrain),
        ));
    }
    let first = stage.cell(Cell::default()).center();
    commands.entity(map).insert((
        TilemapSize { x: level.size.0, y: level.size.1 },
        TilemapGridSize { x: CELL, y: CELL },
        TilemapTileSize { x: CELL, y: CELL },
        TilemapType::Square,
        Transform::from_xyz(first.x, -first.y, 0.0),
        NavSource::by_component(),
    ));
}

/// Adds what only drawing needs.
fn dress_map(
    mut commands: Commands,
    assets: Res<AssetServer>,
    map: Single<(Entity, &TilemapSize, &Transform), With<NavSource>>,
) {
    let (map, &size, &transform) = *map;
    let scale = CELL / ART;
    commands.entity(map).insert(TilemapBundle {
        size,
        grid_size: TilemapGridSize { x: ART, y: ART },
        tile_size: TilemapTileSize { x: ART, y: ART },
        texture: TilemapTexture::Single(assets.load("tiles.png")),
        transform: transform.with_scale(Vec3::new(scale, scale, 1.0)),
        ..default()
    });
}

/// Whether the tiles can be drawn.
pub fn is_loaded(world: &mut World) -> bool {
    let mut textures = world.query::<&TilemapTexture>();
    let assets = world.resource::<AssetServer>();
    textures.iter(world).any(|texture| match texture {
        TilemapTexture::Single(image) => assets.is_loaded(image),
        _ => false,
    })
}

/// Tells the story anew when what it is about has changed. Who looks at its end goes on looking
/// at the end, so that a path bends while walls are painted.
fn tell(
    mut commands: Commands,
    grids: Res<NavGrids>,
    level: Res<Level>,
    story: Option<Res<Story>>,
    mut playback: ResMut<Playback>,
    mut told: Local<Option<(u64, Cell, Cell)>>,
) {
    let Some(grid) = grids.get(GridId::default()) else {
        return;
    };
    let subject = Some((grid.revision(), level.start, level.goal));
    if *told == subject {
        return;
    }
    *told = subject;
    let was_at_end = story.is_some_and(|story| story.last() > 0 && playback.at >= story.last());
    let story = Story::tell(grid, level.start, level.goal);
    playback.at = if was_at_end { story.last() } else { 0 };
    playback.is_running = false;
    commands.insert_resource(Stage::new(level.size, story.peak()));
    commands.insert_resource(story);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::{level::FIRST, trace::trace};

    #[test]
    fn the_tiles_tell_the_same_story_as_the_text() {
        let level = Level::read(FIRST).unwrap();
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TilePathPlugin::in_schedule(Update)))
            .init_resource::<Playback>()
            .insert_resource(Stage::new(level.size, 0))
            .insert_resource(level.clone())
            .add_systems(Startup, spawn_tiles)
            .add_systems(Update, tell.after(TilePathSystems::SyncGrid));
        app.world_mut().resource_mut::<NavGrids>().set_profiles(vec![level::profile()]);
        app.update();
        let told = trace(app.world().resource::<Story>());
        let plain = trace(&Story::tell(&level.grid().unwrap(), level.start, level.goal));
        assert_eq!(told, plain);

        let mut tiles = app.world_mut().query::<(&TilePos, &mut TileTerrain)>();
        for (place, mut terrain) in tiles.iter_mut(app.world_mut()) {
            if place.x == 9 {
                terrain.0 = WALL;
            }
        }
        app.update();
        let story = app.world().resource::<Story>();
        assert!(story.moments[0].caption.contains("no way leads"));
    }
}
