//! The camera: pan by keys, screen edges and middle drag, zoom to the cursor.
//!
//! Input: keys, pointer and wheel. Output: the main camera's place and scale. It never leaves the
//! map, and moves in real time, also while the game is paused.

use bevy::{
    input::mouse::{AccumulatedMouseScroll, MouseScrollUnit},
    prelude::*,
    window::PrimaryWindow,
};

use crate::{
    display::{SIZE, ViewSystems},
    map::GameMap,
    pointer::{Over, Pointer},
    units::{Home, spawn_camps},
};

/// World units per pixel at the start: every pixel of the art is two on the screen.
const START_SCALE: f32 = 0.5;
/// Nearest: every pixel of the art is six on the screen.
const NEAREST: f32 = 1.0 / 6.0;
/// Scale change per line scrolled.
const ZOOM_STEP: f32 = 1.2;
/// Pixels per second by keys and edges.
const PAN_SPEED: f32 = 900.0;
/// Width of the strip along the edges of the window that pans, in pixels.
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
        IsDefaultUiCamera, // panels are drawn by it, also where it draws into an image
        Projection::Orthographic(view),
        Transform::from_translation(map.frame.cell_center(home.0).extend(0.0)),
    ));
}

type Rig = (&'static mut Transform, &'static mut Projection);

/// World units per pixel.
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
    let mut way = Vec2::new(
        axis(KeyCode::ArrowLeft, KeyCode::ArrowRight),
        axis(KeyCode::ArrowDown, KeyCode::ArrowUp),
    );
    if let Some(cursor) = window.cursor_position().filter(|_| window.focused) {
        let size = window.size();
        way.x += f32::from(cursor.x > size.x - EDGE) - f32::from(cursor.x < EDGE);
        way.y += f32::from(cursor.y < EDGE) - f32::from(cursor.y > size.y - EDGE);
    }
    let (transform, projection) = &mut *camera;
    let step = way.clamp_length_max(1.0) * PAN_SPEED * scale_of(projection) * time.delta_secs();
    transform.translation += step.extend(0.0);
}

/// The middle button takes hold of the ground.
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

/// The ground under the pointer stays there.
#[expect(clippy::disallowed_methods, reason = "what the camera shows decides nothing")]
fn zoom(
    mut camera: Single<Rig, With<MainCamera>>,
    scroll: Res<AccumulatedMouseScroll>,
    pointer: Res<Pointer>,
    map: Res<GameMap>,
) {
    if scroll.delta == Vec2::ZERO || pointer.over != Over::Ground {
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
    let farthest = (map.bounds().size() / SIZE.as_vec2()).max_element().max(1.0);
    let scale = (view.scale * ZOOM_STEP.powf(-lines)).clamp(NEAREST, farthest);
    let from_pointer = transform.translation.truncate() - pointer.world;
    let place = pointer.world + from_pointer * (scale / view.scale);
    transform.translation = place.extend(transform.translation.z);
    view.scale = scale;
}

/// A click on the minimap, or holding the button there, moves the view; Home brings it back.
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
    let place = camera.translation.truncate();
    let inside = place.clamp(bounds.min, bounds.max);
    if inside != place {
        camera.translation = inside.extend(camera.translation.z);
    }
}
