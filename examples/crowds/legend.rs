//! The legend: what each color means.
//!
//! Input: nothing. Output: rows of the panel, a mark and a word each.

use bevy::prelude::*;

use crate::{figures::Course, palette, panel::label};

/// Width of a column where two stand side by side.
const COLUMN: f32 = 142.0;
/// Side of a mark.
const MARK: f32 = 12.0;

/// What a mark looks like.
#[derive(Clone, Copy)]
enum Mark {
    Disc(Color),
    Block(Color),
    Line(Color),
}

/// Adds the rows to the panel.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    let to = |course: Course| Mark::Disc(course.color());
    let at_rest = Mark::Disc(palette::at_rest(Course::East.color()));
    let rows: [&[(Mark, &str)]; 7] = [
        &[(to(Course::East), "goes right"), (to(Course::West), "goes left")],
        &[(to(Course::North), "goes up"), (to(Course::South), "goes down")],
        &[(at_rest, "arrived"), (Mark::Disc(palette::STUCK), "stuck for long")],
        &[(Mark::Block(palette::TAIL), "holds (O)"), (Mark::Block(palette::HEAD), "enters (O)")],
        &[(Mark::Line(palette::IN_LINE), "stands in line behind (O)")],
        &[(Mark::Line(palette::HINDERED), "lets pass, or is jammed by (O)")],
        &[(Mark::Line(palette::PUSHES), "pushes ahead or aside (O)")],
    ];
    for items in rows {
        panel.spawn(Node::default()).with_children(|row| {
            for &(mark, word) in items {
                spawn_item(row, mark, word);
            }
        });
    }
}

fn spawn_item(row: &mut ChildSpawnerCommands, mark: Mark, word: &str) {
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
        item.spawn((label(word, 12.0, palette::QUIET), TextLayout::no_wrap()));
    });
}
