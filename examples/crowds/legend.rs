//! The legend of the colors.
//!
//! Input: nothing. Output: rows of the panel, each with a mark and a label.

use bevy::prelude::*;

use crate::{figures::Course, palette, panel::label};

/// Width of a column in rows with two items.
const COLUMN: f32 = 142.0;
/// Side of a mark.
const MARK: f32 = 12.0;

/// Shape and color of a mark.
#[derive(Clone, Copy)]
enum Mark {
    Disc(Color),
    Block(Color),
    Line(Color),
}

/// Adds the rows to the panel.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    let to = |course: Course| Mark::Disc(course.color());
    let arrived = Mark::Disc(palette::arrived(Course::East.color()));
    let rows: [&[(Mark, &str)]; 7] = [
        &[(to(Course::East), "moving right"), (to(Course::West), "moving left")],
        &[(to(Course::North), "moving up"), (to(Course::South), "moving down")],
        &[(arrived, "arrived"), (Mark::Disc(palette::STUCK), "stuck")],
        &[(Mark::Block(palette::TAIL), "holds (O)"), (Mark::Block(palette::HEAD), "enters (O)")],
        &[(Mark::Line(palette::IN_LINE), "queues behind (O)")],
        &[(Mark::Line(palette::HINDERED), "yields to, or is blocked by (O)")],
        &[(Mark::Line(palette::PUSHES), "pushes (O)")],
    ];
    for items in rows {
        panel.spawn(Node::default()).with_children(|row| {
            for &(mark, text) in items {
                spawn_item(row, mark, text);
            }
        });
    }
}

fn spawn_item(row: &mut ChildSpawnerCommands, mark: Mark, text: &str) {
    let item = Node {
        min_width: px(COLUMN),
        align_items: AlignItems::Center,
        column_gap: px(8),
        ..default()
    };
    row.spawn(item).with_children(|item| {
        let (height, radius, fill, edge) = match mark {
            Mark::Disc(color) => (MARK, MARK / 2.0, color, Color::NONE),
            Mark::Block(color) => (MARK, 0.0, Color::NONE, color),
            Mark::Line(color) => (2.0, 0.0, color, Color::NONE),
        };
        let node = Node {
            width: px(MARK),
            height: px(height),
            border: UiRect::all(px(if edge == Color::NONE { 0.0 } else { 1.5 })),
            border_radius: BorderRadius::all(px(radius)),
            flex_shrink: 0.0,
            ..default()
        };
        item.spawn((node, BackgroundColor(fill), BorderColor::all(edge)));
        item.spawn((label(text, 12.0, palette::QUIET), TextLayout::no_wrap()));
    });
}
