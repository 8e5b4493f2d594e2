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
/// at the end, so that a path bends while walls are painted; a story of a single moment, which
/// has no other place to look at, leaves that as it was.
fn tell(
    mut commands: Commands,
    grids: Res<NavGrids>,
    level: Res<Level>,
    story: Option<Res<Story>>,
    mut playback: ResMut<Playback>,
    mut told: Local<Option<(u64, Cell, Cell)>>,
    mut is_at_end: Local<bool>,
) {
    let Some(grid) = grids.get(GridId::default()) else {
        return;
    };
    let subject = Some((grid.revision(), level.start, level.goal));
    if *told == subject {
        return;
    }
    *told = subject;
    if let Some(story) = story.filter(|story| story.last() > 0) {
        *is_at_end = playback.at >= story.last();
    }
    let story = Story::tell(grid, level.start, level.goal);
    playback.at = if *is_at_end { story.last() } else { 0 };
    playback.is_running = false;
    commands.insert_resource(Stage::new(level.size, story.peak()));
    commands.insert_resource(story);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::{level::FIRST, trace::trace};

    /// The map without anything that is drawn.
    fn app(level: &Level) -> App {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TilePathPlugin::in_schedule(Update)))
            .init_resource::<Playback>()
            .insert_resource(Stage::new(level.size, 0))
            .insert_resource(level.clone())
            .add_systems(Startup, spawn_tiles)
            .add_systems(Update, tell.after(TilePathSystems::SyncGrid));
        app.world_mut().resource_mut::<NavGrids>().set_profiles(vec![level::profile()]);
        app.update();
        app
    }

    /// Paints a column of the map and returns which moment is shown then, and which is the last.
    fn paint(app: &mut App, column: u32, painted: TerrainId) -> (usize, usize) {
        let mut tiles = app.world_mut().query::<(&TilePos, &mut TileTerrain)>();
        for (place, mut terrain) in tiles.iter_mut(app.world_mut()) {
            if place.x == column {
                terrain.0 = painted;
            }
        }
        app.update();
        (app.world().resource::<Playback>().at, app.world().resource::<Story>().last())
    }

    #[test]
    fn the_tiles_tell_the_same_story_as_the_text() {
        let level = Level::read(FIRST).unwrap();
        let mut app = app(&level);
        let told = trace(app.world().resource::<Story>());
        let plain = trace(&Story::tell(&level.grid().unwrap(), level.start, level.goal));
        assert_eq!(told, plain);
        paint(&mut app, 9, WALL);
        let story = app.world().resource::<Story>();
        assert!(story.moments[0].caption.contains("no way leads"));
    }

    #[test]
    fn who_looks_at_the_end_goes_on_looking_at_the_end() {
        let mut app = app(&Level::read("S..G").unwrap());
        let last = app.world().resource::<Story>().last();
        assert!(last > 0);
        assert_eq!(paint(&mut app, 1, WALL), (0, 0));
        assert_eq!(paint(&mut app, 1, TerrainId::GROUND), (0, last));
        app.world_mut().resource_mut::<Playback>().at = last;
        assert_eq!(paint(&mut app, 2, MUD), (last, last));
        assert_eq!(paint(&mut app, 1, WALL), (0, 0));
        assert_eq!(paint(&mut app, 2, WALL), (0, 0));
        assert_eq!(paint(&mut app, 1, MUD), (0, 0));
        assert_eq!(paint(&mut app, 2, TerrainId::GROUND), (last, last));
        app.world_mut().resource_mut::<Playback>().at = 1;
        assert_eq!(paint(&mut app, 1, TerrainId::GROUND), (0, last));
    }
}
