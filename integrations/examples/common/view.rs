//! What the examples with levels share: the camera, the cursor, and pictures of units.

#![allow(dead_code, reason = "each example uses a part of it")]

use std::path::Path;

use bevy::{app::PluginGroupBuilder, ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::screen::window;

/// Pixels of the window for each of the world.
pub const ZOOM: f32 = 2.0;
/// Side of a tile.
const TILE: f32 = 16.0;
/// Above all layers of a level.
const UNITS_Z: f32 = 500.0;

/// Bevy's plugins; assets are files of the repository.
pub fn plugins() -> PluginGroupBuilder {
    window::plugins_with(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}

pub fn camera() -> impl Bundle {
    let zoom = OrthographicProjection { scale: 1.0 / ZOOM, ..OrthographicProjection::default_2d() };
    (Camera2d, Msaa::Off, Projection::from(zoom))
}

/// The pixel of a cell of the level, whose rows are counted from the top, as in its editor.
pub fn pixel_from_top(cell: Cell) -> Vec2 {
    (IVec2::new(cell.x, cell.y).as_vec2() + 0.5) * TILE * ZOOM
}

/// Where the mouse points to in the world.
#[derive(SystemParam)]
pub struct Cursor<'w, 's> {
    window: Single<'w, 's, &'static Window>,
    camera: Single<'w, 's, (&'static Camera, &'static GlobalTransform)>,
}

impl Cursor<'_, '_> {
    pub fn position(&self) -> Option<Vec2> {
        let (camera, view) = *self.camera;
        camera.viewport_to_world_2d(view, self.window.cursor_position()?).ok()
    }
}

/// Gives new units a picture.
pub fn dress_units(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut units: Query<(Entity, &mut Transform), Added<Critter>>,
) {
    for (unit, mut transform) in &mut units {
        transform.translation.z = UNITS_Z;
        commands.entity(unit).insert(Sprite {
            image: assets.load("assets/critters.png"),
            custom_size: Some(Vec2::splat(14.0)),
            ..default()
        });
    }
}

/// Shows each unit in the direction in which it faces.
pub fn face(mut units: Query<(&Facing, &mut Sprite)>) {
    for (facing, mut sprite) in &mut units {
        let corner = Vec2::new(facing.compass() as u8 as f32, 0.0) * 16.0; // eight in a row
        sprite.rect = Some(Rect::from_corners(corner, corner + 16.0));
    }
}

/// A unit that crosses a link is half transparent.
pub fn ride(event: On<LinkEntered>, mut units: Query<&mut Sprite>) {
    set_alpha(&mut units, event.entity, 0.5);
}

pub fn leave(event: On<LinkLeft>, mut units: Query<&mut Sprite>) {
    set_alpha(&mut units, event.entity, 1.0);
}

fn set_alpha(units: &mut Query<&mut Sprite>, unit: Entity, alpha: f32) {
    if let Ok(mut sprite) = units.get_mut(unit) {
        sprite.color.set_alpha(alpha);
    }
}
