//! The camera: pan by keys, screen edges and middle drag, zoom to the cursor.
//!
//! Input: keys, pointer and wheel. Output: the main camera's position and scale. It stays on the
//! map, and moves in real time, also while the game is paused.

use bevy::{
    input::mouse::{AccumulatedMouseScroll, MouseScrollUnit},
    prelude::*,
    window::PrimaryWindow,
};

use crate::{
    display::ViewSystems,
    map::GameMap,
    pointer::{Over, Pointer},
    units::{Home, spawn_camps},
};

/// World units per pixel at the start: 2x magnification.
const START_SCALE: f32 = 0.5;
/// World units per pixel at the nearest zoom: 6x magnification.
const NEAREST: f32 = 1.0 / 6.0;
/// Scale change per line scrolled.
const ZOOM_STEP: f32 = 1.2;
/// Panning speed by keys and edges, in pixels per second.
const PAN_SPEED: f32 = 900.0;
/// Width of the panning strip along the window's edges, in pixels.
const EDGE: f32 = 4.0;

/// Adds the camera and its controls.
pub struct CameraControlPlugin;

impl Plugin for CameraControlPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn_camera.after(spawn_camps)).add_systems(
            Update,
            (pan_by_keys_and_edges, drag, zoom, jump, keep_on_map).chain().in_set(ViewSystems::Act),
        );
    }
}

/// The camera that shows the game.
#[derive(Component, Clone, Copy, Debug)]
#[require(Camera2d, Msaa::Off)]
pub struct MainCamera;

fn spawn_camera(mut commands: Commands, home: Res<Home>, map: Res<GameMap>) {
    let view =
        OrthographicProjection { scale: START_SCALE, ..OrthographicProjection::default_2d() };
    commands.spawn((
        MainCamera,
        IsDefaultUiCamera, // also draws the panels when it renders to an image
        Projection::Orthographic(view),
        Transform::from_translation(map.frame.cell_center(home.0).extend(0.0)),
    ));
}

type Rig = (&'static mut Transform, &'static mut Projection);

/// Returns the world units per pixel.
pub fn scale_of(projection: &Projection) -> f32 {
    match projection {
        Projection::Orthographic(view) => view.scale,
        _ => 1.0,
    }
}

fn pan_by_keys_and_edges(
    mut camera: Single<Rig, With<MainCamera>>,
    window: Single<&Window, With<PrimaryWindow>>,
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time<Real>>,
) {
    let axis = |minus, plus| f32::from(keys.pressed(plus)) - f32::from(keys.pressed(minus));
    let mut direction = Vec2::new(
        axis(KeyCode::ArrowLeft, KeyCode::ArrowRight),
        axis(KeyCode::ArrowDown, KeyCode::ArrowUp),
    );
    if let Some(cursor) = window.cursor_position().filter(|_| window.focused) {
        let size = window.size();
        direction.x += f32::from(cursor.x > size.x - EDGE) - f32::from(cursor.x < EDGE);
        direction.y += f32::from(cursor.y < EDGE) - f32::from(cursor.y > size.y - EDGE);
    }
    let (transform, projection) = &mut *camera;
    let speed = PAN_SPEED * scale_of(projection);
    let step = direction.clamp_length_max(1.0) * speed * time.delta_secs();
    transform.translation += step.extend(0.0);
}

/// Drags the map with the middle button.
fn drag(
    mut last: Local<Vec2>,
    mut camera: Single<Rig, With<MainCamera>>,
    buttons: Res<ButtonInput<MouseButton>>,
    pointer: Res<Pointer>,
) {
    let moved = pointer.screen - std::mem::replace(&mut *last, pointer.screen);
    if buttons.pressed(MouseButton::Middle) && pointer.over != Over::Nothing {
        let (transform, projection) = &mut *camera;
        let step = moved * Vec2::new(-1.0, 1.0) * scale_of(projection);
        transform.translation += step.extend(0.0);
    }
}

/// Zooms; the world position under the pointer stays fixed.
#[expect(clippy::disallowed_methods, reason = "what the camera shows decides nothing")]
fn zoom(
    mut camera: Single<Rig, With<MainCamera>>,
    window: Single<&Window, With<PrimaryWindow>>,
    scroll: Res<AccumulatedMouseScroll>,
    pointer: Res<Pointer>,
    map: Res<GameMap>,
) {
    if scroll.delta == Vec2::ZERO || pointer.over != Over::World {
        return;
    }
    let lines = match scroll.unit {
        MouseScrollUnit::Line => scroll.delta.y,
        MouseScrollUnit::Pixel => scroll.delta.y / 50.0,
    };
    let (transform, projection) = &mut *camera;
    let Projection::Orthographic(view) = &mut **projection else {
        return;
    };
    let view_size = window.size().max(Vec2::ONE);
    let farthest = (map.bounds().size() / view_size).max_element().max(1.0);
    let scale = (view.scale * ZOOM_STEP.powf(-lines)).clamp(NEAREST, farthest);
    let from_pointer = transform.translation.truncate() - pointer.world;
    let position = pointer.world + from_pointer * (scale / view.scale);
    transform.translation = position.extend(transform.translation.z);
    view.scale = scale;
}

/// Centers the view by click or drag on the minimap, or on the home cell by the Home key.
fn jump(
    mut camera: Single<&mut Transform, With<MainCamera>>,
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    pointer: Res<Pointer>,
    home: Res<Home>,
    map: Res<GameMap>,
) {
    let is_down = buttons.pressed(MouseButton::Left) || buttons.just_pressed(MouseButton::Left);
    if is_down && [pointer.over, pointer.pressed_on] == [Over::Minimap; 2] {
        camera.translation = pointer.world.extend(camera.translation.z);
    }
    if keys.just_pressed(KeyCode::Home) {
        camera.translation = map.frame.cell_center(home.0).extend(camera.translation.z);
    }
}

fn keep_on_map(mut camera: Single<&mut Transform, With<MainCamera>>, map: Res<GameMap>) {
    let bounds = map.bounds();
    let position = camera.translation.truncate();
    let inside = position.clamp(bounds.min, bounds.max);
    if inside != position {
        camera.translation = inside.extend(camera.translation.z);
    }
}
