//! The stage: where everything lies in the window.
//!
//! Input: the size of the map and the most entries the heap will hold. Output: rectangles in
//! stage pixels, from the top left of a stage of 1280 x 720 that is scaled to the window.

use bevy::prelude::*;
use bevy_tilepath::prelude::Cell;

/// The stage.
pub const SIZE: Vec2 = Vec2::new(1280.0, 720.0);
/// Free space along the edges.
pub const MARGIN: f32 = 16.0;
/// Side of a cell of the map: three times the art's.
pub const CELL: f32 = 48.0;
/// Most rows of the tree, and most slots that are drawn.
const MOST_ROWS: u32 = 6;
pub const MOST_SLOTS: usize = (1 << MOST_ROWS) - 1;
/// Fewest rows: below that a tree would not look like one.
const FEWEST_ROWS: u32 = 4;
/// Boxes in one row of the array.
const ARRAY_COLUMNS: usize = 32;
/// Height of a row of the array, and of the slot numbers above its boxes.
const ARRAY_ROW: f32 = 44.0;
const ARRAY_NUMBERS: f32 = 15.0;
/// Top of the lower half of the stage.
pub const TREE_TOP: f32 = 416.0;

/// The two pictures of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    Tree,
    Array,
}

/// Where slots lie, for a heap of limited size.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Columns and rows of the map.
    map: UVec2,
    /// Rows of the tree.
    rows: u32,
    /// Boxes in a row of the array, and rows of it.
    columns: usize,
    array_rows: usize,
}

impl Stage {
    /// For a map of this size and a heap of at most `peak` entries.
    pub fn new(map: (u32, u32), peak: usize) -> Self {
        let shown = peak.clamp(1, MOST_SLOTS);
        let rows = (usize::BITS - shown.leading_zeros()).clamp(FEWEST_ROWS, MOST_ROWS);
        let columns = shown.clamp(24, ARRAY_COLUMNS);
        Self { map: map.into(), rows, columns, array_rows: shown.div_ceil(ARRAY_COLUMNS) }
    }

    /// What the map covers.
    pub fn map(&self) -> Rect {
        let corner = Vec2::splat(MARGIN);
        Rect::from_corners(corner, corner + self.map.as_vec2() * CELL)
    }

    /// What the panel covers.
    pub fn panel(&self) -> Rect {
        Rect::new(self.map().max.x + 20.0, MARGIN, SIZE.x - MARGIN, self.map().max.y)
    }

    /// A cell of the map; the lowest row is at the bottom.
    pub fn cell(&self, cell: Cell) -> Rect {
        let corner = Vec2::new(self.map().min.x, self.map().max.y);
        let place = Vec2::new(cell.x as f32, -1.0 - cell.y as f32) * CELL;
        Rect::from_corners(corner + place, corner + place + CELL)
    }

    /// The cell at a place on the stage.
    pub fn cell_at(&self, place: Vec2) -> Option<Cell> {
        let map = self.map();
        let inside = place.cmpge(map.min).all() && place.cmplt(map.max).all();
        let steps = Vec2::new(place.x - map.min.x, map.max.y - place.y) / CELL;
        inside.then(|| Cell::new(steps.x as i32, (steps.y.ceil() - 1.0) as i32))
    }

    /// Top of the array's zone.
    pub fn array_top(&self) -> f32 {
        SIZE.y - 12.0 - ARRAY_ROW * self.array_rows as f32
    }

    /// A slot's box.
    pub fn slot(&self, picture: Picture, slot: usize) -> Rect {
        match picture {
            Picture::Tree => self.tree_slot(slot),
            Picture::Array => self.array_slot(slot),
        }
    }

    /// The slot at a place on the stage, among the first `count`.
    pub fn slot_at(&self, place: Vec2, count: usize) -> Option<usize> {
        (0..count.min(MOST_SLOTS)).find(|&slot| {
            [Picture::Tree, Picture::Array]
                .into_iter()
                .any(|picture| self.slot(picture, slot).contains(place))
        })
    }

    fn tree_slot(&self, slot: usize) -> Rect {
        let row = (slot + 1).ilog2();
        let in_row = slot + 1 - (1 << row);
        let width = (SIZE.x - 2.0 * MARGIN) / (1_u32 << row) as f32;
        // Room for a line of text below the tree.
        let pitch = (self.array_top() - 22.0 - TREE_TOP) / self.rows as f32;
        let narrowest = (SIZE.x - 2.0 * MARGIN) / (1_u32 << (self.rows - 1)) as f32;
        let size = Vec2::new((narrowest - 5.0).min(50.0), (pitch - 8.0).min(28.0));
        let x = MARGIN + (in_row as f32 + 0.5) * width;
        let y = TREE_TOP + (row as f32) * pitch + size.y / 2.0 + 2.0;
        Rect::from_center_size(Vec2::new(x, y).round(), size.round())
    }

    fn array_slot(&self, slot: usize) -> Rect {
        let (row, column) = (slot / ARRAY_COLUMNS, slot % ARRAY_COLUMNS);
        let width = ((SIZE.x - 2.0 * MARGIN) / self.columns as f32).floor();
        let top = self.array_top() + row as f32 * ARRAY_ROW + ARRAY_NUMBERS;
        let left = MARGIN + column as f32 * width;
        Rect::new(left, top, left + width - 3.0, top + ARRAY_ROW - ARRAY_NUMBERS - 4.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_at_any_size() {
        let whole = Rect::from_corners(Vec2::ZERO, SIZE);
        for peak in 0..=MOST_SLOTS + 1 {
            let stage = Stage::new((13, 8), peak);
            let count = peak.min(MOST_SLOTS);
            let rects: Vec<Rect> = [Picture::Tree, Picture::Array]
                .into_iter()
                .flat_map(|picture| (0..count).map(move |slot| stage.slot(picture, slot)))
                .chain([stage.map(), stage.panel()])
                .collect();
            for (index, one) in rects.iter().enumerate() {
                assert_eq!(one.union(whole), whole, "{peak} entries: {one:?}");
                let meets = |other: &&Rect| !one.intersect(**other).is_empty();
                assert_eq!(rects[index + 1..].iter().find(meets), None, "{peak}: {one:?}");
            }
        }
    }

    #[test]
    fn places_lead_back_to_cells_and_slots() {
        let stage = Stage::new((13, 8), 25);
        for cell in [Cell::new(0, 0), Cell::new(12, 7), Cell::new(3, 5)] {
            let rect = stage.cell(cell);
            assert_eq!(stage.cell_at(rect.center()), Some(cell));
            assert_eq!(stage.cell_at(rect.min + 0.5), Some(cell));
        }
        assert_eq!(stage.cell_at(Vec2::ZERO), None);
        for slot in [0, 1, 24] {
            for picture in [Picture::Tree, Picture::Array] {
                let place = stage.slot(picture, slot).center();
                assert_eq!(stage.slot_at(place, 25), Some(slot));
                assert_eq!(stage.slot_at(place, slot), None);
            }
        }
    }
}
