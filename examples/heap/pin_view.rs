//! Parent pointers: from every cell reached to the cell from which it was reached.
//!
//! Input: the shown moment. Output: on each cell a dot with a line towards its parent, golden along
//! the path.

use bevy::prelude::*;
use bevy_tilepath::prelude::{Cell, Direction};

use crate::{
    display::ViewSystems, layout::Layout, level::Level, map_view, palette, playback::Playback,
    timeline::Timeline, widgets,
};

/// Length of a pin, its width, and the size of its head.
const LENGTH: f32 = 9.0;
const WIDTH: f32 = 2.0;
const HEAD: f32 = 6.0;

/// Draws the pins.
pub struct PinViewPlugin;

impl Plugin for PinViewPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn.after(map_view::spawn))
            .add_systems(Update, (show_pins, show_colors).in_set(ViewSystems::Show));
    }
}

/// The pin of a cell.
#[derive(Component, Clone, Copy)]
struct Pin(Cell);

/// A part of a pin that is colored: its line or its head.
#[derive(Component, Clone, Copy)]
struct Ink(Cell);

fn spawn(mut commands: Commands, level: Res<Level>) {
    for cell in level.cells() {
        let head = Node {
            position_type: PositionType::Absolute,
            left: px(-HEAD / 2.0),
            top: px((WIDTH - HEAD) / 2.0),
            width: px(HEAD),
            height: px(HEAD),
            border_radius: BorderRadius::MAX,
            ..default()
        };
        let line = widgets::line(Vec2::ZERO, Vec2::ZERO, WIDTH);
        commands
            .spawn((Pin(cell), Ink(cell), line, BackgroundColor(palette::TEXT), ZIndex(1)))
            .with_child((Ink(cell), head, BackgroundColor(palette::TEXT)));
    }
}

fn show_pins(
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    layout: Res<Layout>,
    mut pins: Query<(&Pin, &mut Node, &mut UiTransform, &mut Visibility)>,
) {
    let moment = timeline.moment(playback.at);
    for (&Pin(cell), mut node, mut transform, mut visibility) in &mut pins {
        let parent = moment.cells.get(&cell).and_then(|state| state.parent);
        widgets::show(&mut visibility, parent.is_some());
        let Some((dx, dy)) = parent.map(Direction::offset) else {
            continue;
        };
        let along = Vec2::new(dx as f32, -dy as f32).normalize_or_zero();
        let foot = layout.cell(cell).center() + Vec2::Y * 3.0;
        let line = widgets::line(foot, foot + along * LENGTH, WIDTH);
        node.set_if_neq(line.0);
        transform.set_if_neq(line.1);
    }
}

fn show_colors(
    timeline: Res<Timeline>,
    playback: Res<Playback>,
    mut inks: Query<(&Ink, &mut BackgroundColor)>,
) {
    let moment = timeline.moment(playback.at);
    let path = timeline.path_at(playback.at);
    for (&Ink(cell), mut background) in &mut inks {
        let color = match moment.light_of(cell) {
            Some(_) => palette::DARK_TEXT,
            None if path.contains(&cell) => palette::PATH_EDGE,
            None => palette::PIN,
        };
        widgets::fill(&mut background, color);
    }
}
