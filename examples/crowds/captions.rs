//! Captions of the scenes, and the scenes with a key.
//!
//! Input: names of scenes. Output: their numbers and captions. Captions are ASCII: the window's
//! font has no other glyphs.

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

/// The caption of each scene.
const CAPTIONS: [(&str, &str); 13] = [
    ("corridor-0", "Two groups of 20 swap sides through a corridor without passing places."),
    ("corridor-1", "Two groups of 20 swap sides through a corridor with one passing place."),
    ("corridor-3", "Two groups of 20 swap sides through a corridor with three passing places."),
    ("doorway-1", "500 units pass a door one cell wide and gather behind it."),
    ("doorway-2", "500 units pass a door two cells wide and gather behind it."),
    ("armies", "Two armies of 200 swap sides, all at the same speed."),
    ("armies-mixed", "Two armies of 200 swap sides; the fastest units are three times as fast."),
    ("ring", "100 units on a circle, each moving to the opposite point."),
    ("blob-side", "400 units arrive from one side and gather around one cell."),
    ("blob-all", "400 units arrive from all sides and gather around one cell."),
    ("dead-end", "30 units leave a room with one narrow exit; 10 others enter it."),
    ("building", "A wall is built across 400 moving units; the ones under it walk out."),
    ("sizes", "200 small units and 50 of 2 x 2 cells cross each other's paths."),
];

/// Returns the caption of a scene.
pub fn caption(name: &str) -> &'static str {
    CAPTIONS.iter().find(|(of, _)| *of == name).map_or("", |(_, caption)| caption)
}

/// Returns the number of a scene.
pub fn number(name: &str) -> Option<usize> {
    scenes::names().position(|known| known == name)
}

/// Returns the number of scenes.
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
