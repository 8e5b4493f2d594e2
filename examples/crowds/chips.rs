//! The row of scenes with a key.
//!
//! Input: the running scene. Output: the scenes' names along the bottom, the running one
//! highlighted.

use bevy::prelude::*;

use crate::{
    captions::FAVORITES,
    display::{PANEL, ROW, ViewSystems},
    game::SceneState,
    palette,
    panel::label,
};

/// Draws the row.
pub struct ChipsPlugin;

impl Plugin for ChipsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(Update, highlight.in_set(ViewSystems::Show));
    }
}

/// The name of a scene in the row.
#[derive(Component)]
struct Chip(&'static str);

fn spawn(mut commands: Commands) {
    let row = Node {
        position_type: PositionType::Absolute,
        left: px(0),
        right: px(PANEL),
        bottom: px(0),
        height: px(ROW),
        justify_content: JustifyContent::Center,
        align_items: AlignItems::Center,
        column_gap: px(18),
        ..default()
    };
    commands.spawn(row).with_children(|row| {
        for (index, name) in FAVORITES.into_iter().enumerate() {
            let text = format!("{} {name}", index + 1);
            row.spawn((Chip(name), label(text, 12.0, palette::QUIET), TextLayout::no_wrap()));
        }
    });
}

fn highlight(scene: Res<SceneState>, mut chips: Query<(&Chip, &mut TextColor)>) {
    for (chip, mut color) in &mut chips {
        let is_shown = chip.0 == scene.name;
        color.set_if_neq(TextColor(if is_shown { palette::TEXT } else { palette::QUIET }));
    }
}
