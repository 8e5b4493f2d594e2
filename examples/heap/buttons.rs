//! The buttons: one for each key command, labeled with the key.
//!
//! Input: clicks. Output: [`Action`]s, the chosen [`Brush`], and the highlighted buttons.

use bevy::prelude::*;

use crate::{
    brush::Brush,
    controls::{COMMANDS, Command},
    display::ViewSystems,
    palette,
    panel::{self, Panel},
    playback::{Action, Playback},
    widgets,
};

/// Buttons in the first row: the commands of the playback.
const FIRST_ROW: usize = 8;

/// Adds the buttons.
pub struct ButtonsPlugin;

impl Plugin for ButtonsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn.after(panel::spawn))
            .add_systems(Update, press.in_set(ViewSystems::Act))
            .add_systems(Update, (show_state, show_run).in_set(ViewSystems::Show));
    }
}

/// The text on the button that runs and pauses.
#[derive(Component)]
struct RunText;

/// The text that shows the playback speed.
#[derive(Component)]
struct SpeedText;

fn spawn(mut commands: Commands, panel: Single<Entity, With<Panel>>) {
    commands.entity(*panel).with_children(|panel| {
        panel.spawn(row()).with_children(|row| {
            for (name, key, _, command) in &COMMANDS[..FIRST_ROW] {
                spawn_button(row, name, key, *command);
            }
        });
        panel.spawn(row()).with_children(|row| {
            for (name, key, _, command) in &COMMANDS[FIRST_ROW..] {
                spawn_button(row, name, key, *command);
            }
            let node = Node { flex_direction: FlexDirection::Column, ..default() };
            row.spawn(Node { margin: UiRect::left(px(8)), ..node }).with_children(|texts| {
                texts.spawn((SpeedText, widgets::label("", 12.0, palette::QUIET)));
                let text = "click or drag: paint; right: erase";
                texts.spawn(widgets::label(text, 12.0, palette::QUIET));
            });
        });
    });
}

fn row() -> Node {
    Node { column_gap: px(6), align_items: AlignItems::Center, ..default() }
}

fn spawn_button(row: &mut ChildSpawnerCommands, name: &str, key: &str, command: Command) {
    let node = Node {
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::Center,
        width: px(if matches!(command, Command::Play(_)) { 70 } else { 58 }),
        padding: UiRect::axes(px(0), px(3)),
        border: UiRect::all(px(1)),
        border_radius: BorderRadius::all(px(5)),
        ..default()
    };
    let looks = (BackgroundColor(palette::CARD), BorderColor::all(palette::CARD_EDGE));
    row.spawn((Button, command, node, looks)).with_children(|button| {
        let mut label = button.spawn(widgets::label(name, 13.0, palette::TEXT));
        if command == Command::Play(Action::Run) {
            label.insert(RunText);
        }
        button.spawn(widgets::label(key, 11.0, palette::QUIET));
    });
}

fn press(
    buttons: Query<(&Command, &Interaction), Changed<Interaction>>,
    mut actions: MessageWriter<Action>,
    mut brush: ResMut<Brush>,
) {
    for (&command, &interaction) in &buttons {
        match (interaction, command) {
            (Interaction::Pressed, Command::Play(action)) => {
                actions.write(action);
            }
            (Interaction::Pressed, Command::Paint(chosen)) => *brush = chosen,
            _ => {}
        }
    }
}

fn show_state(
    playback: Res<Playback>,
    brush: Res<Brush>,
    mut buttons: Query<(&Command, &Interaction, &mut BackgroundColor, &mut BorderColor)>,
) {
    for (&command, &interaction, mut background, mut border) in &mut buttons {
        let is_on = match command {
            Command::Paint(of_button) => of_button == *brush,
            Command::Play(action) => action == Action::Run && playback.is_running,
        };
        let is_lit = is_on || interaction != Interaction::None;
        widgets::fill(&mut background, if is_lit { palette::CARD_EDGE } else { palette::CARD });
        let edge = if is_on { palette::TEXT } else { palette::CARD_EDGE };
        border.set_if_neq(BorderColor::all(edge));
    }
}

fn show_run(
    playback: Res<Playback>,
    mut run: Single<&mut Text, With<RunText>>,
    mut speed: Single<&mut Text, (With<SpeedText>, Without<RunText>)>,
) {
    widgets::write(&mut run, if playback.is_running { "pause" } else { "run" });
    widgets::write(&mut speed, format!("{} moments per second", playback.speed()));
}
