//! The scenes in a sentence each, and which of them have a key of their own.
//!
//! Input: names of scenes. Output: their numbers and captions. The font of the window knows ASCII
//! alone.

use crate::scenes;

/// The scenes of the keys 1 to 9.
pub const FAVORITES: [&str; 9] = [
    "corridor-1",
    "doorway-1",
    "armies-mixed",
    "ring",
    "blob-side",
    "blob-all",
    "dead-end",
    "building",
    "sizes",
];

/// What happens in each.
const CAPTIONS: [(&str, &str); 13] = [
    ("corridor-0", "Twenty and twenty change sides through a corridor with nowhere to step aside."),
    ("corridor-1", "Twenty and twenty change sides through a corridor with a single bay in it."),
    ("corridor-3", "Twenty and twenty change sides through a corridor with three bays in it."),
    ("doorway-1", "Five hundred pass a door one cell wide and gather behind it."),
    ("doorway-2", "Five hundred pass a door two cells wide and gather behind it."),
    ("armies", "Two hundred change places with two hundred, all of one speed."),
    (
        "armies-mixed",
        "Two hundred change places with two hundred; the fastest go three times as fast.",
    ),
    ("ring", "A hundred on a circle, each on its way to the point across."),
    ("blob-side", "Four hundred come from one side and gather around one cell."),
    ("blob-all", "Four hundred come from all sides and gather around one cell."),
    ("dead-end", "Thirty leave a room with one narrow exit; ten want to get in."),
    ("building", "A wall is built across four hundred who walk; those under it come out."),
    ("sizes", "Two hundred small ones and fifty of 2 x 2 cells, criss-cross."),
];

/// What happens in a scene.
pub fn caption(name: &str) -> &'static str {
    CAPTIONS.iter().find(|(of, _)| *of == name).map_or("", |(_, caption)| caption)
}

/// The number of a scene among all.
pub fn number(name: &str) -> Option<usize> {
    scenes::names().position(|known| known == name)
}

/// How many scenes there are.
pub fn count() -> usize {
    scenes::names().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_has_a_caption_that_fits() {
        for name in scenes::names() {
            let caption = caption(name);
            assert!(!caption.is_empty() && caption.is_ascii(), "{name}");
            assert!(caption.len() <= 100, "{name}: three lines of the panel");
        }
        assert_eq!(count(), CAPTIONS.len());
        assert!(FAVORITES.iter().all(|name| number(name).is_some()));
    }
}
