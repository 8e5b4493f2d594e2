//! The panel: caption and counters.
//!
//! Input: the shown moment and the hovered node. Output: text, a progress bar, and an edge in the
//! color of the event.

use bevy::prelude::*;

use crate::{
    display::ViewSystems, event::Highlight, inspector, layout::Layout, palette, playback::Playback,
    pointer::Hover, timeline::Timeline, widgets,
};

/// Space between parts of a row.
const GAP: f32 = 11.0;
/// Explanation of the numbers.
const NUMBERS: &str = "Straight step 10, diagonal 14.14; every number is rounded separately.\n\
                       Each half of a step over mud counts twice.";
/// Text added to the first moment.
const KEYS: &str = "\nOne step: right arrow. Run and pause: space.";

/// Draws the panel.
pub struct PanelPlugin;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn)
            .add_systems(Update, (write, color, update_bar).in_set(ViewSystems::Show));
    }
}

/// The panel; [`buttons`](crate::buttons) adds its buttons.
#[derive(Component)]
pub struct Panel;

/// The content of a text.
#[derive(Component, Clone, Copy)]
enum Line {
    Caption,
    Moment,
    Expansions,
    Entries,
    Comparisons,
    Swaps,
    Pointer,
}

/// The card around the caption.
#[derive(Component)]
struct Card;

/// The progress bar.
#[derive(Component)]
struct Bar;

pub fn spawn(mut commands: Commands, layout: Res<Layout>) {
    let node = Node {
        flex_direction: FlexDirection::Column,
        justify_content: JustifyContent::SpaceBetween,
        ..widgets::at(layout.panel())
    };
    commands.spawn((Panel, node)).with_children(|panel| {
        panel.spawn(widgets::label("The open list of A*, a binary heap", 22.0, palette::TEXT));
        panel.spawn(widgets::label(NUMBERS, 12.0, palette::QUIET));
        spawn_caption(panel);
        spawn_progress(panel);
        let row = Node { column_gap: px(GAP), ..default() };
        panel.spawn(row).with_children(|row| {
            spawn_figure(row, "in the heap", Line::Entries);
            spawn_figure(row, "comparisons", Line::Comparisons);
            spawn_figure(row, "swaps", Line::Swaps);
            spawn_figure(row, "expansions", Line::Expansions);
        });
        let node = Node { height: px(36), ..default() };
        panel.spawn(node).with_child((Line::Pointer, widgets::label("", 13.0, palette::QUIET)));
    });
}

fn card(node: Node) -> impl Bundle {
    (
        Node { border_radius: BorderRadius::all(px(5)), ..node },
        BackgroundColor(palette::CARD),
        BorderColor::all(palette::CARD_EDGE),
    )
}

fn spawn_caption(panel: &mut ChildSpawnerCommands) {
    let node = Node {
        height: px(72),
        padding: UiRect::axes(px(14), px(0)),
        border: UiRect::left(px(5)),
        align_items: AlignItems::Center,
        ..default()
    };
    let text = (Text::default(), TextFont::from_font_size(18.0), TextColor(palette::TEXT));
    panel.spawn((Card, card(node))).with_child((Line::Caption, text));
}

fn spawn_progress(panel: &mut ChildSpawnerCommands) {
    let track = Node {
        height: px(5),
        flex_grow: 1.0,
        border_radius: BorderRadius::MAX,
        overflow: Overflow::clip(),
        ..default()
    };
    let bar = Node { height: percent(100), border_radius: BorderRadius::MAX, ..default() };
    let row = Node { column_gap: px(GAP), align_items: AlignItems::Center, ..default() };
    panel.spawn(row).with_children(|row| {
        row.spawn((track, BackgroundColor(palette::CARD_EDGE))).with_child((
            Bar,
            bar,
            BackgroundColor(palette::QUIET),
        ));
        row.spawn((Line::Moment, widgets::label("", 12.0, palette::QUIET)));
    });
}

fn spawn_figure(row: &mut ChildSpawnerCommands, name: &str, line: Line) {
    let node = Node {
        flex_direction: FlexDirection::Column,
        padding: UiRect::axes(px(10), px(5)),
        border: UiRect::all(px(1)),
        flex_grow: 1.0,
        flex_basis: px(0),
        ..default()
    };
    row.spawn(card(node)).with_children(|figure| {
        figure.spawn((line, widgets::label("", 18.0, palette::TEXT)));
        figure.spawn(widgets::label(name, 12.0, palette::QUIET));
    });
}

fn write(
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    hover: Res<Hover>,
    mut lines: Query<(&Line, &mut Text)>,
) {
    let moment = timeline.moment(playback.at);
    let with_call = |total: u32, call: u32| match call {
        0 => total.to_string(),
        call => format!("{total} (+{call})"),
    };
    for (line, mut text) in &mut lines {
        let content = match line {
            Line::Caption if playback.at == 0 && timeline.last() > 0 => {
                format!("{}{KEYS}", moment.caption)
            }
            Line::Caption => moment.caption.clone(),
            Line::Moment => format!("moment {} of {}", playback.at, timeline.last()),
            Line::Expansions => moment.expansions.to_string(),
            Line::Entries => moment.heap.len().to_string(),
            Line::Comparisons => with_call(moment.total.comparisons, moment.call.comparisons),
            Line::Swaps => with_call(moment.total.swaps, moment.call.swaps),
            Line::Pointer => inspector::describe(&timeline, moment, hover.0),
        };
        widgets::write(&mut text, content);
    }
}

fn color(
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    mut card: Single<&mut BorderColor, With<Card>>,
) {
    let at_end = playback.at == timeline.last() && !timeline.path.is_empty();
    let color = match timeline.moment(playback.at).event {
        Some(event) => Highlight::of(event).color(),
        None if at_end => palette::PATH_EDGE,
        None => palette::QUIET,
    };
    card.set_if_neq(BorderColor::all(color));
}

fn update_bar(
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    mut bar: Single<&mut Node, With<Bar>>,
) {
    let width = percent(100.0 * playback.at as f32 / timeline.last().max(1) as f32);
    if bar.width != width {
        bar.width = width;
    }
}
