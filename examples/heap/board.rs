//! The tilemap that feeds the grid, and the search that is recorded on it.
//!
//! Input: the [`Level`], then the tiles that the user paints. Output: tile entities, which the
//! plugin turns into a grid, and a new [`Timeline`] whenever grid, start or goal change.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    display::ViewSystems,
    layout::{CELL, Layout},
    level::{self, Level, MUD, WALL},
    playback::Playback,
    timeline::Timeline,
};

/// Side of a tile of the sheet, in pixels.
const ART: f32 = 16.0;

/// Spawns the map and records the search.
pub struct BoardPlugin;

impl Plugin for BoardPlugin {
    fn build(&self, app: &mut App) {
        let size = app.world().resource::<Level>().size;
        app.world_mut().resource_mut::<NavGrids>().set_profiles(vec![level::profile()]);
        app.insert_resource(Layout::new(size, 0))
            .add_systems(Startup, (spawn_tiles, add_map_texture).chain())
            .add_systems(Update, record.after(TilePathSystems::SyncGrid).before(ViewSystems::Play));
    }
}

/// Returns the appearance of a terrain: an index into `assets/tiles.png` and a tint that keeps text
/// legible.
pub fn appearance(terrain: TerrainId, cell: Cell) -> (TileTextureIndex, TileColor) {
    let variant = (cell.x * 7 + cell.y * 5) as u32 % 4;
    let (texture, tint) = match terrain {
        WALL => (46, Color::srgb(0.62, 0.64, 0.72)),
        MUD => (8 + variant, Color::srgb(0.62, 0.42, 0.26)),
        _ => (20 + variant, Color::srgb(0.25, 0.27, 0.33)),
    };
    (TileTextureIndex(texture), TileColor(tint))
}

/// Spawns the tilemap that the grid is read from: one entity per tile.
fn spawn_tiles(mut commands: Commands, level: Res<Level>, layout: Res<Layout>) {
    let map = commands.spawn_empty().id();
    for (cell, &terrain) in level.cells().zip(&level.terrain) {
        let (texture_index, color) = appearance(terrain, cell);
        let position = TilePos::new(cell.x as u32, cell.y as u32);
        let tilemap_id = TilemapId(map);
        commands.spawn((
            TileBundle { position, tilemap_id, texture_index, color, ..default() },
            TileTerrain(terrain),
        ));
    }
    let first = layout.cell(Cell::default()).center();
    commands.entity(map).insert((
        TilemapSize { x: level.size.0, y: level.size.1 },
        TilemapGridSize { x: CELL, y: CELL },
        TilemapTileSize { x: CELL, y: CELL },
        TilemapType::Square,
        Transform::from_xyz(first.x, -first.y, 0.0),
        NavSource::by_component(),
    ));
}

/// Adds the components that draw the tilemap.
fn add_map_texture(
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

/// Returns whether the texture is loaded.
pub fn is_loaded(world: &mut World) -> bool {
    let mut textures = world.query::<&TilemapTexture>();
    let assets = world.resource::<AssetServer>();
    textures.iter(world).any(|texture| match texture {
        TilemapTexture::Single(image) => assets.is_loaded(image),
        _ => false,
    })
}

/// Records the search again when grid, start or goal have changed. If the end was shown, the new end
/// is shown, so that the path follows the walls being painted. A timeline of a single moment does not
/// change this choice.
fn record(
    mut commands: Commands,
    grids: Res<NavGrids>,
    level: Res<Level>,
    timeline: Option<Res<Timeline>>,
    mut playback: ResMut<Playback>,
    mut recorded: Local<Option<(u64, Cell, Cell)>>,
    mut is_at_end: Local<bool>,
) {
    let Some(grid) = grids.get(GridId::default()) else {
        return;
    };
    let input = Some((grid.revision(), level.start, level.goal));
    if *recorded == input {
        return;
    }
    *recorded = input;
    if let Some(timeline) = timeline.filter(|timeline| timeline.last() > 0) {
        *is_at_end = playback.at >= timeline.last();
    }
    let timeline = Timeline::record(grid, level.start, level.goal);
    playback.at = if *is_at_end { timeline.last() } else { 0 };
    playback.is_running = false;
    commands.insert_resource(Layout::new(level.size, timeline.peak()));
    commands.insert_resource(timeline);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::{level::FIRST, trace::trace};

    /// Creates the app without drawing.
    fn app(level: &Level) -> App {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TilePathPlugin::in_schedule(Update)))
            .init_resource::<Playback>()
            .insert_resource(Layout::new(level.size, 0))
            .insert_resource(level.clone())
            .add_systems(Startup, spawn_tiles)
            .add_systems(Update, record.after(TilePathSystems::SyncGrid));
        app.world_mut().resource_mut::<NavGrids>().set_profiles(vec![level::profile()]);
        app.update();
        app
    }

    /// Paints a column of the map. Returns the number of the shown moment and of the last one.
    fn paint(app: &mut App, column: u32, painted: TerrainId) -> (usize, usize) {
        let mut tiles = app.world_mut().query::<(&TilePos, &mut TileTerrain)>();
        for (position, mut terrain) in tiles.iter_mut(app.world_mut()) {
            if position.x == column {
                terrain.0 = painted;
            }
        }
        app.update();
        (app.world().resource::<Playback>().at, app.world().resource::<Timeline>().last())
    }

    #[test]
    fn tiles_and_text_give_the_same_timeline() {
        let level = Level::read(FIRST).unwrap();
        let mut app = app(&level);
        let from_tiles = trace(app.world().resource::<Timeline>());
        let from_text = trace(&Timeline::record(&level.grid().unwrap(), level.start, level.goal));
        assert_eq!(from_tiles, from_text);
        paint(&mut app, 9, WALL);
        let timeline = app.world().resource::<Timeline>();
        assert!(timeline.moments[0].caption.contains("no path from"));
    }

    #[test]
    fn the_end_stays_shown_after_an_edit() {
        let mut app = app(&Level::read("S..G").unwrap());
        let last = app.world().resource::<Timeline>().last();
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
