//! Keyboard controls.
//!
//! Input: the keyboard; a held key repeats at the system's rate. Output: [`Action`]s, and the chosen
//! [`Brush`].

use bevy::{
    input::{
        ButtonState,
        keyboard::{Key, KeyboardInput},
    },
    prelude::*,
};

use crate::{brush::Brush, display::ViewSystems, playback::Action};

/// The command of a key or a button.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Play(Action),
    Paint(Brush),
}

/// All commands: name, name of the key, key, command.
pub const COMMANDS: [(&str, &str, KeyCode, Command); 13] = [
    ("first", "Home", KeyCode::Home, Command::Play(Action::Home)),
    ("back", "Left", KeyCode::ArrowLeft, Command::Play(Action::Back)),
    ("step", "Right", KeyCode::ArrowRight, Command::Play(Action::Step)),
    ("expand", "Down", KeyCode::ArrowDown, Command::Play(Action::Expand)),
    ("last", "End", KeyCode::End, Command::Play(Action::End)),
    ("run", "Space", KeyCode::Space, Command::Play(Action::Run)),
    ("slower", "-", KeyCode::Minus, Command::Play(Action::Slower)),
    ("faster", "+", KeyCode::Equal, Command::Play(Action::Faster)),
    ("start", "1", KeyCode::Digit1, Command::Paint(Brush::Start)),
    ("goal", "2", KeyCode::Digit2, Command::Paint(Brush::Goal)),
    ("wall", "3", KeyCode::Digit3, Command::Paint(Brush::Wall)),
    ("mud", "4", KeyCode::Digit4, Command::Paint(Brush::Mud)),
    ("floor", "5", KeyCode::Digit5, Command::Paint(Brush::Floor)),
];

/// Adds the keyboard controls.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, handle_keys.in_set(ViewSystems::Act));
    }
}

fn handle_keys(
    mut keys: MessageReader<KeyboardInput>,
    mut actions: MessageWriter<Action>,
    mut brush: ResMut<Brush>,
) {
    for key in keys.read().filter(|key| key.state == ButtonState::Pressed) {
        match command(&key.logical_key, key.key_code) {
            Some(Command::Play(Action::Run)) if key.repeat => {}
            Some(Command::Play(action)) => {
                actions.write(action);
            }
            Some(Command::Paint(chosen)) => *brush = chosen,
            None => {}
        }
    }
}

/// Returns the command of a key. The position of `+` and `-` depends on the keyboard layout: they
/// are recognized by their character, and by the physical key only if the character is unknown.
fn command(logical: &Key, physical: KeyCode) -> Option<Command> {
    let sign = match logical {
        Key::Character(sign) => Some(sign.as_str()).filter(|sign| !sign.is_empty()),
        Key::Unidentified(_) => None,
        // Not a sign, or a dead key.
        _ => Some(" "),
    };
    let code = match (sign, physical) {
        (Some("-"), _) => KeyCode::Minus,
        (Some("+" | "="), _) => KeyCode::Equal,
        (Some(_), KeyCode::Minus | KeyCode::Equal) => return None,
        _ => physical,
    };
    COMMANDS.iter().find(|&&(_, _, of_command, _)| of_command == code).map(|&(.., command)| command)
}

#[cfg(test)]
mod tests {
    use bevy::input::keyboard::NativeKey;

    use super::*;

    #[test]
    fn plus_and_minus_are_recognized_by_character() {
        let sign = |text: &str, physical| command(&Key::Character(text.into()), physical);
        let (slower, faster) = (Command::Play(Action::Slower), Command::Play(Action::Faster));
        assert_eq!(sign("-", KeyCode::Minus), Some(slower));
        assert_eq!(sign("=", KeyCode::Equal), Some(faster));
        assert_eq!(sign("+", KeyCode::NumpadAdd), Some(faster));
        // A German keyboard.
        assert_eq!(sign("-", KeyCode::Slash), Some(slower));
        assert_eq!(sign("+", KeyCode::BracketRight), Some(faster));
        assert_eq!(sign("ß", KeyCode::Minus), None);
        assert_eq!(command(&Key::Dead(Some('´')), KeyCode::Equal), None);
    }

    #[test]
    fn other_keys_are_recognized_by_position() {
        let nothing = [Key::Character("".into()), Key::Unidentified(NativeKey::Unidentified)];
        for key in nothing {
            for (.., physical, of_key) in COMMANDS {
                assert_eq!(command(&key, physical), Some(of_key));
            }
        }
        let key = Key::Character("&".into());
        assert_eq!(command(&key, KeyCode::Digit1), Some(Command::Paint(Brush::Start)));
        assert_eq!(command(&Key::Home, KeyCode::Home), Some(Command::Play(Action::Home)));
        assert_eq!(command(&Key::Tab, KeyCode::Tab), None);
    }
}
