//! The map during the search: f, g and h of every cell reached.
//!
//! Input: the shown moment and the hovered node. Output: boxes over the tiles, with f large at the
//! top left, g at the bottom left, h at the bottom right, and badges on start and goal. Each number
//! is rounded separately, as the panel says.

use bevy::prelude::*;
use bevy_tilepath::prelude::Cell;

use crate::{
    display::ViewSystems, event::Highlight, layout::Layout, level::Level, moment::CellState,
    palette, playback::Playback, pointer::Hover, timeline::Timeline, widgets,
};

/// Draws the map.
pub struct MapViewPlugin;

impl Plugin for MapViewPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn)
            .add_systems(Update, (show_boxes, show_numbers, show_ends).in_set(ViewSystems::Show));
    }
}

/// The box of a cell.
#[derive(Component, Clone, Copy)]
struct CellBox(Cell);

/// A number in a cell.
#[derive(Component, Clone, Copy)]
struct Number(Cell, Part);

#[derive(Clone, Copy)]
enum Part {
    F,
    G,
    H,
}

/// The badge of start or goal.
#[derive(Component, Clone, Copy, PartialEq, Eq)]
enum End {
    Start,
    Goal,
}

pub fn spawn(mut commands: Commands, level: Res<Level>, layout: Res<Layout>) {
    for cell in level.cells() {
        let rect = layout.cell(cell).inflate(-1.0);
        let node = Node {
            border: UiRect::all(px(2)),
            border_radius: BorderRadius::all(px(4)),
            ..widgets::at(rect)
        };
        commands
            .spawn((CellBox(cell), node, BackgroundColor(Color::NONE), BorderColor::DEFAULT))
            .with_children(|cell_box| {
                let mut number = |part, size, node: Node| {
                    let node = Node { position_type: PositionType::Absolute, ..node };
                    let label = widgets::label("", size, palette::TEXT);
                    cell_box.spawn((Number(cell, part), label, node));
                };
                number(Part::F, 15.0, Node { left: px(2), top: px(-2), ..default() });
                number(Part::G, 11.0, Node { left: px(1), bottom: px(-1), ..default() });
                number(Part::H, 11.0, Node { right: px(1), bottom: px(-1), ..default() });
            });
    }
    for (end, letter, color) in [(End::Start, "S", palette::START), (End::Goal, "G", palette::GOAL)]
    {
        let node = Node {
            justify_content: JustifyContent::Center,
            align_items: AlignItems::Center,
            border_radius: BorderRadius::MAX,
            ..widgets::at(Rect::from_corners(Vec2::ZERO, Vec2::splat(13.0)))
        };
        let letter = widgets::label(letter, 11.0, palette::DARK_TEXT);
        commands.spawn((end, node, BackgroundColor(color), ZIndex(2))).with_child(letter);
    }
}

fn show_boxes(
    timeline: Res<Timeline>,
    level: Res<Level>,
    playback: Res<Playback>,
    hover: Res<Hover>,
    mut boxes: Query<(&CellBox, &mut BackgroundColor, &mut BorderColor)>,
) {
    let moment = timeline.moment(playback.at);
    let path = timeline.path_at(playback.at);
    for (&CellBox(cell), mut background, mut border) in &mut boxes {
        let (fill, edge) = match (moment.cells.get(&cell), moment.light_of(cell)) {
            (_, Some(light)) => (light.color(), light.color()),
            (Some(_), None) if path.contains(&cell) => (palette::PATH, palette::PATH_EDGE),
            (Some(state), None) if state.is_closed => (palette::CLOSED, palette::CLOSED_EDGE),
            (Some(_), None) => (palette::OPEN, palette::OPEN_EDGE),
            (None, None) => (Color::NONE, palette::UNSEEN_EDGE),
        };
        // The tile stays visible under the box.
        let alpha = if fill == Color::NONE { 0.0 } else { 0.82 };
        let is_expanded = moment.expanded == Some(cell) && path.is_empty();
        let edge = match edge {
            _ if hover.0 == Some(cell) => palette::HOVER,
            _ if is_expanded => Highlight::Removed.color(),
            _ if cell == level.start => palette::START,
            _ if cell == level.goal => palette::GOAL,
            edge if path.contains(&cell) => edge,
            edge => edge.with_alpha(0.6 * edge.alpha()),
        };
        widgets::fill(&mut background, fill.with_alpha(alpha));
        border.set_if_neq(BorderColor::all(edge));
    }
}

fn show_numbers(
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    mut numbers: Query<(&Number, &mut Text, &mut TextColor)>,
) {
    let moment = timeline.moment(playback.at);
    for (&Number(cell, part), mut text, mut color) in &mut numbers {
        let show = |state: &CellState| {
            timeline.scale.show(match part {
                Part::F => state.key.f,
                Part::G => state.key.f - state.key.h,
                Part::H => state.key.h,
            })
        };
        widgets::write(&mut text, moment.cells.get(&cell).map_or_else(String::new, show));
        let is_lit = moment.light_of(cell).is_some();
        color.set_if_neq(TextColor(if is_lit { palette::DARK_TEXT } else { palette::TEXT }));
    }
}

fn show_ends(level: Res<Level>, layout: Res<Layout>, mut ends: Query<(&End, &mut Node)>) {
    for (&end, mut node) in &mut ends {
        let cell = layout.cell(if end == End::Start { level.start } else { level.goal });
        let (left, top) = (px(cell.max.x - 16.0), px(cell.min.y + 4.0));
        if (node.left, node.top) != (left, top) {
            (node.left, node.top) = (left, top);
        }
    }
}
