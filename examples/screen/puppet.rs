//! Injected input: keys, cursor and buttons.
//!
//! Input: a key, a button or a position. Output: the messages that a window would send, so that the
//! example's own controls handle them.

use bevy::{
    input::{
        ButtonState,
        keyboard::{Key, KeyboardInput},
        mouse::MouseButtonInput,
    },
    prelude::*,
    window::PrimaryWindow,
};

/// Returns the pixel that shows a point of the world in a window of this size. The camera is at the origin, with one pixel per
/// world unit.
pub fn pixel(point: Vec2, window: UVec2) -> Vec2 {
    point * Vec2::new(1.0, -1.0) + window.as_vec2() / 2.0
}

/// Presses and releases a key.
pub fn press(world: &mut World, key_code: KeyCode) -> Result<(), String> {
    let window = window(world)?;
    for state in [ButtonState::Pressed, ButtonState::Released] {
        let logical_key = Key::Character("".into());
        let (text, repeat) = (None, false);
        world.write_message(KeyboardInput { key_code, logical_key, state, text, repeat, window });
    }
    Ok(())
}

/// Presses or releases a mouse button.
pub fn button(world: &mut World, button: MouseButton, state: ButtonState) -> Result<(), String> {
    let window = window(world)?;
    world.write_message(MouseButtonInput { button, state, window });
    Ok(())
}

/// Moves the cursor and clicks there.
pub fn click(world: &mut World, position: Vec2, which: MouseButton) -> Result<(), String> {
    point(world, position)?;
    button(world, which, ButtonState::Pressed)?;
    button(world, which, ButtonState::Released)
}

/// Moves the cursor.
pub fn point(world: &mut World, position: Vec2) -> Result<(), String> {
    let window = window(world)?;
    let mut window = world.get_mut::<Window>(window).ok_or("the window is gone")?;
    window.set_cursor_position(Some(position));
    Ok(())
}

fn window(world: &mut World) -> Result<Entity, String> {
    let mut windows = world.query_filtered::<Entity, With<PrimaryWindow>>();
    windows.single(world).map_err(|error| error.to_string())
}
