//! Keyboard controls.
//!
//! Input: the keyboard. Output: the requested scene, the speed of time, whether the overlay is
//! shown.

use bevy::{
    input::{
        ButtonState,
        keyboard::{Key, KeyboardInput},
    },
    prelude::*,
};

use crate::{
    captions::{self, FAVORITES},
    display::ViewSystems,
    game::{RequestedScene, SceneState},
    overlay::Overlay,
};

/// Speeds of time, and the index of the default.
const SPEEDS: [f32; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
const NORMAL: usize = 2;

/// The keys of the favorite scenes.
const DIGITS: [KeyCode; 9] = [
    KeyCode::Digit1,
    KeyCode::Digit2,
    KeyCode::Digit3,
    KeyCode::Digit4,
    KeyCode::Digit5,
    KeyCode::Digit6,
    KeyCode::Digit7,
    KeyCode::Digit8,
    KeyCode::Digit9,
];

/// Adds the keyboard controls.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, handle_keys.in_set(ViewSystems::Act));
    }
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Favorite(usize),
    Previous,
    Next,
    Restart,
    Pause,
    Slower,
    Faster,
    Overlay,
}

/// Returns the command of a key. The position of `+` and `-` depends on the keyboard layout, so the
/// character is checked first, then the physical key.
fn command(logical: &Key, physical: KeyCode) -> Option<Command> {
    if let Key::Character(sign) = logical {
        match sign.as_str() {
            "-" => return Some(Command::Slower),
            "+" | "=" => return Some(Command::Faster),
            _ => {}
        }
    }
    Some(match physical {
        KeyCode::ArrowLeft | KeyCode::KeyP => Command::Previous,
        KeyCode::ArrowRight | KeyCode::KeyN => Command::Next,
        KeyCode::KeyR => Command::Restart,
        KeyCode::Space => Command::Pause,
        KeyCode::Minus | KeyCode::NumpadSubtract => Command::Slower,
        KeyCode::Equal | KeyCode::NumpadAdd => Command::Faster,
        KeyCode::KeyO => Command::Overlay,
        digit => Command::Favorite(DIGITS.iter().position(|&key| key == digit)?),
    })
}

fn handle_keys(
    mut keys: MessageReader<KeyboardInput>,
    scene: Res<SceneState>,
    mut wanted: ResMut<RequestedScene>,
    mut overlay: ResMut<Overlay>,
    mut clock: ResMut<Time<Virtual>>,
) {
    let count = captions::count();
    let pressed = keys.read().filter(|key| key.state == ButtonState::Pressed && !key.repeat);
    for command in pressed.filter_map(|key| command(&key.logical_key, key.key_code)) {
        match command {
            Command::Favorite(index) => wanted.0 = captions::number(FAVORITES[index]),
            Command::Previous => wanted.0 = Some((scene.number + count - 1) % count),
            Command::Next => wanted.0 = Some((scene.number + 1) % count),
            Command::Restart => wanted.0 = Some(scene.number),
            Command::Pause => clock.toggle(),
            Command::Slower => change_speed(&mut clock, false),
            Command::Faster => change_speed(&mut clock, true),
            Command::Overlay => overlay.0 = !overlay.0,
        }
    }
}

/// Changes to the next speed up or down.
fn change_speed(clock: &mut Time<Virtual>, is_up: bool) {
    let now = clock.relative_speed();
    let at = SPEEDS.iter().position(|&speed| speed >= now).unwrap_or(NORMAL);
    let at = if is_up { (at + 1).min(SPEEDS.len() - 1) } else { at.saturating_sub(1) };
    clock.set_relative_speed(SPEEDS[at]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_read_by_character_and_other_keys_by_position() {
        let written = |sign: &str, physical| command(&Key::Character(sign.into()), physical);
        assert_eq!(written("+", KeyCode::BracketRight), Some(Command::Faster));
        assert_eq!(written("-", KeyCode::Slash), Some(Command::Slower));
        assert_eq!(written("", KeyCode::Equal), Some(Command::Faster));
        assert_eq!(written("r", KeyCode::KeyR), Some(Command::Restart));
        assert_eq!(written("&", KeyCode::Digit1), Some(Command::Favorite(0)));
        assert_eq!(written("x", KeyCode::KeyX), None);
    }

    #[test]
    fn speeds_stay_within_their_limits() {
        let mut clock = Time::<Virtual>::default();
        for _ in 0..9 {
            change_speed(&mut clock, true);
        }
        assert_eq!(clock.relative_speed().to_bits(), 16.0_f32.to_bits());
        for _ in 0..9 {
            change_speed(&mut clock, false);
        }
        assert_eq!(clock.relative_speed().to_bits(), 0.25_f32.to_bits());
    }
}
