//! UI helpers shared by all views.
//!
//! Input: rectangles of the layout, text, colors. Output: bundles for Bevy's UI, and setters that
//! write only changed values, so that unchanged nodes are not laid out again.

use bevy::prelude::*;

/// Returns a node that covers a rectangle.
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

/// Returns a node with this top left corner and the size of its content.
pub fn from(corner: Vec2) -> Node {
    Node {
        position_type: PositionType::Absolute,
        left: px(corner.x),
        top: px(corner.y),
        ..default()
    }
}

/// Returns a line of text.
pub fn label(text: impl Into<String>, size: f32, color: Color) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(color), TextLayout::no_wrap())
}

/// Returns a straight line between two positions: a node, rotated around its center.
pub fn line(from: Vec2, to: Vec2, width: f32) -> (Node, UiTransform) {
    let size = Vec2::new(from.distance(to), width);
    let along = (to - from).normalize_or(Vec2::X);
    let rotation = Rot2 { cos: along.x, sin: along.y };
    (at(Rect::from_center_size((from + to) / 2.0, size)), UiTransform::from_rotation(rotation))
}

/// Sets a text, if it differs.
pub fn write(text: &mut Mut<Text>, content: impl Into<String>) {
    text.set_if_neq(Text(content.into()));
}

/// Shows or hides a node, if it differs.
pub fn show(visibility: &mut Mut<Visibility>, is_shown: bool) {
    visibility.set_if_neq(if is_shown { Visibility::Inherited } else { Visibility::Hidden });
}

/// Sets a background color, if it differs.
pub fn fill(background: &mut Mut<BackgroundColor>, color: Color) {
    background.set_if_neq(BackgroundColor(color));
}
