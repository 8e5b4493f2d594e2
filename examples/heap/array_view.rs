//! Slot numbers and the title of the array.
//!
//! Input: the shown moment. Output: text.

use bevy::prelude::*;

use crate::{
    display::ViewSystems,
    layout::{HeapView, Layout, MARGIN, MOST_SLOTS},
    palette,
    playback::Playback,
    timeline::Timeline,
    widgets,
};

/// Title of the array.
const TITLE: &str = "The same heap as an array: the children of slot i are 2i + 1 and 2i + 2";

/// Draws the numbers.
pub struct ArrayViewPlugin;

impl Plugin for ArrayViewPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn)
            .add_systems(Update, (show_numbers, show_title).in_set(ViewSystems::Show));
    }
}

/// The number over a slot.
#[derive(Component, Clone, Copy)]
struct SlotNumber(usize);

/// The title of the array.
#[derive(Component)]
struct Title;

fn spawn(mut commands: Commands) {
    for slot in 0..MOST_SLOTS {
        let number = widgets::label(slot.to_string(), 11.0, palette::QUIET);
        commands.spawn((SlotNumber(slot), Node::default())).with_child(number);
    }
    let node = widgets::from(Vec2::new(MARGIN, 0.0));
    commands.spawn((Title, widgets::label("", 12.0, palette::QUIET), node));
}

fn show_numbers(
    timeline: Res<Timeline>,
    layout: Res<Layout>,
    playback: Res<Playback>,
    mut numbers: Query<(&SlotNumber, &mut Node, &mut Visibility)>,
) {
    let count = timeline.moment(playback.at).heap.len();
    for (&SlotNumber(slot), mut node, mut shown) in &mut numbers {
        widgets::show(&mut shown, slot < count);
        let below = layout.slot(HeapView::Array, slot);
        let rect = Rect { min: below.min - Vec2::Y * 14.0, ..below };
        let justify_content = JustifyContent::Center;
        node.set_if_neq(Node { justify_content, ..widgets::at(rect) });
    }
}

fn show_title(
    timeline: Res<Timeline>,
    layout: Res<Layout>,
    playback: Res<Playback>,
    title: Single<(&mut Text, &mut Node), With<Title>>,
) {
    let (mut text, mut node) = title.into_inner();
    let content = match timeline.moment(playback.at).heap.len().saturating_sub(MOST_SLOTS) {
        0 => TITLE.to_owned(),
        more => format!("{TITLE} ({more} more are not drawn)"),
    };
    widgets::write(&mut text, content);
    let top = px(layout.array_top() - 17.0);
    if node.top != top {
        node.top = top;
    }
}
