//! The slots of the heap, in the tree and in the array.
//!
//! Input: the shown moment and the hovered node. Output: a box for every slot in both views; swaps
//! are animated.

use bevy::prelude::*;

use crate::{
    display::ViewSystems,
    event::{Event, Highlight},
    layout::{HeapView, Layout, MOST_SLOTS},
    moment::Moment,
    palette,
    playback::{Playback, SwapAnimation},
    pointer::Hover,
    timeline::Timeline,
    widgets,
};

/// Draws the slots.
pub struct SlotViewPlugin;

impl Plugin for SlotViewPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn)
            .add_systems(Update, (show_boxes, show_values, show_numbers).in_set(ViewSystems::Show));
    }
}

/// The box of a slot.
#[derive(Component, Clone, Copy)]
struct SlotBox(HeapView, usize);

/// The number of a slot, beside its node.
#[derive(Component, Clone, Copy)]
struct SlotNumber;

/// The value in the box of a slot.
#[derive(Component, Clone, Copy)]
struct Value(usize);

fn spawn(mut commands: Commands) {
    for slot in 0..MOST_SLOTS {
        for (picture, radius) in [(HeapView::Tree, 9), (HeapView::Array, 3)] {
            let node = Node {
                justify_content: JustifyContent::Center,
                align_items: AlignItems::Center,
                border: UiRect::all(px(1.5)),
                border_radius: BorderRadius::all(px(radius)),
                ..default()
            };
            let looks = (
                Outline::new(px(2.5), px(0), Color::NONE),
                BackgroundColor(palette::OPEN),
                BorderColor::DEFAULT,
                ZIndex(1),
            );
            let mut slot_box = commands.spawn((SlotBox(picture, slot), node, looks));
            slot_box.with_child((Value(slot), widgets::label("", 14.0, palette::TEXT)));
            if picture == HeapView::Tree {
                slot_box.with_child(slot_number(slot));
            }
        }
    }
}

/// The number of a slot, to the left of its node.
fn slot_number(slot: usize) -> impl Bundle {
    let node = Node {
        position_type: PositionType::Absolute,
        right: percent(100),
        top: px(-5),
        margin: UiRect::right(px(4)),
        ..default()
    };
    (SlotNumber, widgets::label(slot.to_string(), 11.0, palette::QUIET), node)
}

/// Returns the rectangle of a box: on its slot, or during a swap between both slots.
fn animated_rect(
    layout: &Layout,
    picture: HeapView,
    slot: usize,
    moment: &Moment,
    glide: SwapAnimation,
) -> Rect {
    let home = layout.slot(picture, slot);
    let origin = match moment.event {
        Some(Event::Swapped { from, to }) if slot == to => layout.slot(picture, from),
        Some(Event::Swapped { from, to }) if slot == from => layout.slot(picture, to),
        _ => return home,
    };
    let eased = glide.0 * glide.0 * (3.0 - 2.0 * glide.0);
    Rect::from_center_size(origin.center().lerp(home.center(), eased), home.size())
}

fn show_boxes(
    timeline: Res<Timeline>,
    layout: Res<Layout>,
    playback: Res<Playback>,
    glide: Res<SwapAnimation>,
    hover: Res<Hover>,
    mut boxes: Query<(
        &SlotBox,
        &mut Node,
        &mut BackgroundColor,
        &mut BorderColor,
        &mut Outline,
        &mut Visibility,
    )>,
) {
    let moment = timeline.moment(playback.at);
    for (&SlotBox(picture, slot), mut node, mut background, mut border, mut outline, mut shown) in
        &mut boxes
    {
        let entry = moment.heap.get(slot);
        widgets::show(&mut shown, entry.is_some());
        let Some(entry) = entry else { continue };
        let Node { position_type, left, top, width, height, .. } =
            widgets::at(animated_rect(&layout, picture, slot, moment, *glide));
        let placed = Node { position_type, left, top, width, height, ..node.clone() };
        node.set_if_neq(placed);
        let light = moment.light(slot).map(Highlight::color);
        widgets::fill(&mut background, light.unwrap_or(palette::OPEN));
        border.set_if_neq(BorderColor::all(light.unwrap_or(palette::OPEN_EDGE)));
        let is_hovered = hover.0 == Some(entry.cell);
        let color = if is_hovered { palette::HOVER } else { Color::NONE };
        outline.set_if_neq(Outline { color, ..*outline });
    }
}

fn show_values(
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    mut values: Query<(&Value, &mut Text, &mut TextColor)>,
) {
    let moment = timeline.moment(playback.at);
    for (&Value(slot), mut text, mut color) in &mut values {
        if let Some(entry) = moment.heap.get(slot) {
            widgets::write(&mut text, timeline.scale.show(entry.key.f));
        }
        let is_lit = moment.light(slot).is_some();
        color.set_if_neq(TextColor(if is_lit { palette::DARK_TEXT } else { palette::TEXT }));
    }
}

/// Hides the slot numbers where nodes are too close together for them.
fn show_numbers(layout: Res<Layout>, mut numbers: Query<&mut Visibility, With<SlotNumber>>) {
    let apart = layout.slot(HeapView::Tree, MOST_SLOTS / 2);
    let is_wide = apart.width() >= 48.0;
    for mut visibility in &mut numbers {
        widgets::show(&mut visibility, is_wide);
    }
}
