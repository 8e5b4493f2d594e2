//! Screenshots.
//!
//! Input: F12. Output: `rts-1.png`, `rts-2.png` and so on in the working directory; existing files
//! are not overwritten.

use std::path::PathBuf;

use bevy::{
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured},
};

use crate::{display::ViewSystems, reports::Notice, screen::pictures};

/// Adds the screenshot key.
pub struct CapturePlugin;

impl Plugin for CapturePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, save_on_key.in_set(ViewSystems::Act));
    }
}

fn save_on_key(mut commands: Commands, keys: Res<ButtonInput<KeyCode>>) {
    if keys.just_pressed(KeyCode::F12) {
        commands.spawn(Screenshot::primary_window()).observe(
            |captured: On<ScreenshotCaptured>, mut commands: Commands| {
                let path = free_name();
                let text = match pictures::save(&captured.image, &path) {
                    Ok(()) => format!("saved {}", path.display()),
                    Err(error) => error,
                };
                commands.trigger(Notice { text, ..default() });
            },
        );
    }
}

fn free_name() -> PathBuf {
    let name = |number: u32| PathBuf::from(format!("rts-{number}.png"));
    (1..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}
