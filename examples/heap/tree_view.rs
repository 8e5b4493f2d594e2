//! The lines and the title of the tree.
//!
//! Input: the shown moment. Output: lines from every slot to its parent, highlighted where both are
//! compared or swapped, and the tree's title.

use bevy::prelude::*;

use crate::{
    display::ViewSystems,
    layout::{HeapView, Layout, MARGIN, MOST_SLOTS, TREE_TOP},
    palette,
    playback::Playback,
    timeline::Timeline,
    widgets,
};

/// Draws the lines.
pub struct TreeViewPlugin;

impl Plugin for TreeViewPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn)
            .add_systems(Update, (show_lines, show_title).in_set(ViewSystems::Show));
    }
}

/// The line from a slot up to its parent.
#[derive(Component, Clone, Copy)]
struct Line(usize);

/// The title of the tree.
#[derive(Component)]
struct Title;

fn spawn(mut commands: Commands) {
    for slot in 1..MOST_SLOTS {
        let line = widgets::line(Vec2::ZERO, Vec2::ZERO, 2.0);
        commands.spawn((Line(slot), line, BackgroundColor(palette::EDGE)));
    }
    let node = widgets::from(Vec2::new(MARGIN, TREE_TOP - 2.0));
    commands.spawn((Title, widgets::label("", 12.0, palette::QUIET), node));
}

fn show_lines(
    timeline: Res<Timeline>,
    layout: Res<Layout>,
    playback: Res<Playback>,
    mut lines: Query<(&Line, &mut Node, &mut UiTransform, &mut BackgroundColor, &mut Visibility)>,
) {
    let moment = timeline.moment(playback.at);
    for (&Line(slot), mut node, mut transform, mut background, mut shown) in &mut lines {
        let parent = (slot - 1) / 2;
        widgets::show(&mut shown, slot < moment.heap.len());
        let (above, below) =
            (layout.slot(HeapView::Tree, parent), layout.slot(HeapView::Tree, slot));
        let foot = Vec2::new(above.center().x, above.max.y);
        let head = Vec2::new(below.center().x, below.min.y);
        let lights = moment.light(slot).zip(moment.light(parent));
        let line = widgets::line(foot, head, if lights.is_some() { 3.0 } else { 2.0 });
        node.set_if_neq(line.0);
        transform.set_if_neq(line.1);
        let color = lights.map_or(palette::EDGE, |(light, _)| light.color());
        widgets::fill(&mut background, color);
    }
}

fn show_title(
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    mut title: Single<&mut Text, With<Title>>,
) {
    let is_settled = timeline.moment(playback.at).is_settled;
    let state = if is_settled { "no child is lower than its parent" } else { "being reordered" };
    widgets::write(&mut title, format!("The heap as a tree: {state}"));
}
