//! The keys.
//!
//! Input: the keyboard; a key that is held repeats as it does elsewhere. Output: [`Action`]s, and
//! the chosen [`Brush`].

use bevy::{
    input::{
        ButtonState,
        keyboard::{Key, KeyboardInput},
    },
    prelude::*,
};

use crate::{brush::Brush, display::ViewSystems, playback::Action};

/// What a key or a button stands for.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Play(Action),
    Paint(Brush),
}

/// Everything that can be asked for: its name, its key's name, its key.
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
    ("ground", "5", KeyCode::Digit5, Command::Paint(Brush::Ground)),
];

/// Listens to the keyboard.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, listen.in_set(ViewSystems::Act));
    }
}

fn listen(
    mut keys: MessageReader<KeyboardInput>,
    mut actions: MessageWriter<Action>,
    mut brush: ResMut<Brush>,
) {
    for key in keys.read().filter(|key| key.state == ButtonState::Pressed) {
        // Where these signs are on a keyboard differs from country to country.
        let code = match &key.logical_key {
            Key::Character(sign) if sign == "+" => KeyCode::Equal,
            Key::Character(sign) if sign == "-" => KeyCode::Minus,
            _ => key.key_code,
        };
        let command = COMMANDS.iter().find(|&&(_, _, of_command, _)| of_command == code);
        match command.map(|&(.., command)| command) {
            Some(Command::Play(Action::Run)) if key.repeat => {}
            Some(Command::Play(action)) => {
                actions.write(action);
            }
            Some(Command::Paint(chosen)) => *brush = chosen,
            None => {}
        }
    }
}
