//! The widgets: what all views are built from.
//!
//! Input: rectangles of the stage, text, colors. Output: bundles for Bevy's user interface, and
//! writers that leave alone what is as it should be, so that nothing is laid out for nothing.

use bevy::prelude::*;

/// A node at a place on the stage.
pub fn at(rect: Rect) -> Node {
    Node {
        position_type: PositionType::Absolute,
        left: px(rect.min.x),
        top: px(rect.min.y),
        width: px(rect.width()),
        height: px(rect.height()),
        ..default()
    }
}

/// A node that begins at a place on the stage and is as large as what is in it.
pub fn from(corner: Vec2) -> Node {
    Node {
        position_type: PositionType::Absolute,
        left: px(corner.x),
        top: px(corner.y),
        ..default()
    }
}

/// A line of text.
pub fn label(text: impl Into<String>, size: f32, color: Color) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(color), TextLayout::no_wrap())
}

/// A straight line between two places on the stage: a node, turned around its middle.
pub fn line(from: Vec2, to: Vec2, width: f32) -> (Node, UiTransform) {
    let size = Vec2::new(from.distance(to), width);
    let along = (to - from).normalize_or(Vec2::X);
    let turn = Rot2 { cos: along.x, sin: along.y };
    (at(Rect::from_center_size((from + to) / 2.0, size)), UiTransform::from_rotation(turn))
}

/// Writes a text, if it is news.
pub fn write(text: &mut Mut<Text>, content: impl Into<String>) {
    text.set_if_neq(Text(content.into()));
}

/// Shows or hides, if it is news.
pub fn show(visibility: &mut Mut<Visibility>, is_shown: bool) {
    visibility.set_if_neq(if is_shown { Visibility::Inherited } else { Visibility::Hidden });
}

/// Fills, if it is news.
pub fn fill(background: &mut Mut<BackgroundColor>, color: Color) {
    background.set_if_neq(BackgroundColor(color));
}
