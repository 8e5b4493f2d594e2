//! Pictures of the game as files.
//!
//! Input: a captured image, or F12 in the window. Output: a file; F12 saves `rts-1.png`,
//! `rts-2.png` and so on in the working directory, without writing over what is there.

use std::path::{Path, PathBuf};

use bevy::{
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured},
};

use crate::{display::ViewSystems, orders::Notice};

/// Adds the key that saves pictures.
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
                let text = match save(&captured.image, &path) {
                    Ok(()) => format!("saved {}", path.display()),
                    Err(error) => error,
                };
                commands.trigger(Notice { cell: None, text });
            },
        );
    }
}

fn free_name() -> PathBuf {
    let name = |number: u32| PathBuf::from(format!("rts-{number}.png"));
    (1..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

/// Saves a captured picture; the format follows from the file's extension.
pub fn save(image: &Image, path: &Path) -> Result<(), String> {
    let shown = path.display();
    let picture = image.clone().try_into_dynamic().map_err(|error| format!("{shown}: {error}"))?;
    picture.to_rgb8().save(path).map_err(|error| format!("{shown}: {error}"))
}
