//! The legend of the colors.
//!
//! Input: nothing. Output: chips with labels, on both sides of the top of the tree, where it is
//! narrow.

use bevy::prelude::*;

use crate::{
    event::Highlight,
    layout::{MARGIN, SIZE, TREE_TOP},
    palette, widgets,
};

/// Width of a column, height of a row.
const COLUMN: f32 = 98.0;
const ROW: f32 = 18.0;

/// Draws the legend.
pub struct LegendPlugin;

impl Plugin for LegendPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn);
    }
}

fn spawn(mut commands: Commands) {
    let lit = |word, light: Highlight| (word, light.color(), light.color());
    let left = Vec2::new(MARGIN, TREE_TOP + 20.0);
    let right = Vec2::new(SIZE.x - MARGIN - 2.0 * COLUMN, TREE_TOP + 2.0);
    let columns: [(Vec2, &[(&str, Color, Color)]); 4] = [
        (
            left,
            &[
                ("open", palette::OPEN, palette::OPEN_EDGE),
                ("closed", palette::CLOSED, palette::CLOSED_EDGE),
                ("path", palette::PATH, palette::PATH_EDGE),
            ],
        ),
        (
            left + Vec2::X * COLUMN,
            &[
                ("start", palette::START, palette::START),
                ("goal", palette::GOAL, palette::GOAL),
                ("mud", palette::MUD, palette::MUD),
            ],
        ),
        (right, &[lit("inserted", Highlight::Inserted), lit("removed", Highlight::Removed)]),
        (
            right + Vec2::X * COLUMN,
            &[
                lit("compared", Highlight::Compared),
                lit("swapped", Highlight::Swapped),
                ("pointed at", Color::NONE, palette::HOVER),
            ],
        ),
    ];
    for (top, items) in columns {
        for (row, &(word, fill, edge)) in items.iter().enumerate() {
            spawn_item(&mut commands, top + Vec2::Y * row as f32 * ROW, word, (fill, edge));
        }
    }
}

fn spawn_item(commands: &mut Commands, corner: Vec2, word: &str, (fill, edge): (Color, Color)) {
    let chip = Node {
        border: UiRect::all(px(1.5)),
        border_radius: BorderRadius::all(px(3)),
        ..widgets::at(Rect::from_corners(corner, corner + 12.0))
    };
    commands.spawn((chip, BackgroundColor(fill), BorderColor::all(edge)));
    let node = widgets::from(corner + Vec2::new(18.0, -2.0));
    commands.spawn((widgets::label(word, 12.0, palette::TEXT), node));
}
