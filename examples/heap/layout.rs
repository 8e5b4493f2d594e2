//! The layout of the window.
//!
//! Input: the size of the map and the largest size of the heap. Output: rectangles in layout pixels,
//! from the top left of an area of 1280 x 720 that is scaled to the window.

use bevy::prelude::*;
use bevy_tilepath::prelude::Cell;

/// Size of the layout.
pub const SIZE: Vec2 = Vec2::new(1280.0, 720.0);
/// Free space along the edges.
pub const MARGIN: f32 = 16.0;
/// Side of a cell of the map: three times the texture's.
pub const CELL: f32 = 48.0;
/// Most rows of the tree, and most slots drawn.
const MOST_ROWS: u32 = 6;
pub const MOST_SLOTS: usize = (1 << MOST_ROWS) - 1;
/// Least number of rows: with fewer, a tree is not recognizable.
const FEWEST_ROWS: u32 = 4;
/// Boxes in one row of the array.
const ARRAY_COLUMNS: usize = 32;
/// Height of a row of the array, and of the slot numbers above its boxes.
const ARRAY_ROW: f32 = 44.0;
const ARRAY_NUMBERS: f32 = 15.0;
/// Top of the lower half.
pub const TREE_TOP: f32 = 416.0;

/// The two views of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapView {
    Tree,
    Array,
}

/// The layout for a map and a heap of limited size.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Columns and rows of the map.
    map: UVec2,
    /// Rows of the tree.
    rows: u32,
    /// Boxes in a row of the array, and rows of it.
    columns: usize,
    array_rows: usize,
}

impl Layout {
    /// Creates the layout for a map of this size and a heap of at most `peak` entries.
    pub fn new(map: (u32, u32), peak: usize) -> Self {
        let shown = peak.clamp(1, MOST_SLOTS);
        let rows = (usize::BITS - shown.leading_zeros()).clamp(FEWEST_ROWS, MOST_ROWS);
        let columns = shown.clamp(24, ARRAY_COLUMNS);
        Self { map: map.into(), rows, columns, array_rows: shown.div_ceil(ARRAY_COLUMNS) }
    }

    /// Returns the rectangle of the map.
    pub fn map(&self) -> Rect {
        let corner = Vec2::splat(MARGIN);
        Rect::from_corners(corner, corner + self.map.as_vec2() * CELL)
    }

    /// Returns the rectangle of the panel.
    pub fn panel(&self) -> Rect {
        Rect::new(self.map().max.x + 20.0, MARGIN, SIZE.x - MARGIN, self.map().max.y)
    }

    /// Returns the rectangle of a cell; the lowest row is at the bottom.
    pub fn cell(&self, cell: Cell) -> Rect {
        let corner = Vec2::new(self.map().min.x, self.map().max.y);
        let offset = Vec2::new(cell.x as f32, -1.0 - cell.y as f32) * CELL;
        Rect::from_corners(corner + offset, corner + offset + CELL)
    }

    /// Returns the cell at a position.
    pub fn cell_at(&self, position: Vec2) -> Option<Cell> {
        let map = self.map();
        let inside = position.cmpge(map.min).all() && position.cmplt(map.max).all();
        let steps = Vec2::new(position.x - map.min.x, map.max.y - position.y) / CELL;
        inside.then(|| Cell::new(steps.x as i32, (steps.y.ceil() - 1.0) as i32))
    }

    /// Returns the top of the array.
    pub fn array_top(&self) -> f32 {
        SIZE.y - 12.0 - ARRAY_ROW * self.array_rows as f32
    }

    /// Returns the rectangle of a slot.
    pub fn slot(&self, picture: HeapView, slot: usize) -> Rect {
        match picture {
            HeapView::Tree => self.tree_slot(slot),
            HeapView::Array => self.array_slot(slot),
        }
    }

    /// Returns the slot at a position, among the first `count`.
    pub fn slot_at(&self, position: Vec2, count: usize) -> Option<usize> {
        (0..count.min(MOST_SLOTS)).find(|&slot| {
            [HeapView::Tree, HeapView::Array]
                .into_iter()
                .any(|picture| self.slot(picture, slot).contains(position))
        })
    }

    fn tree_slot(&self, slot: usize) -> Rect {
        let row = (slot + 1).ilog2();
        let in_row = slot + 1 - (1 << row);
        let width = (SIZE.x - 2.0 * MARGIN) / (1_u32 << row) as f32;
        // Space for a line of text below the tree.
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
            let layout = Layout::new((13, 8), peak);
            let count = peak.min(MOST_SLOTS);
            let rects: Vec<Rect> = [HeapView::Tree, HeapView::Array]
                .into_iter()
                .flat_map(|picture| (0..count).map(move |slot| layout.slot(picture, slot)))
                .chain([layout.map(), layout.panel()])
                .collect();
            for (index, one) in rects.iter().enumerate() {
                assert_eq!(one.union(whole), whole, "{peak} entries: {one:?}");
                let meets = |other: &&Rect| !one.intersect(**other).is_empty();
                assert_eq!(rects[index + 1..].iter().find(meets), None, "{peak}: {one:?}");
            }
        }
    }

    #[test]
    fn positions_map_back_to_cells_and_slots() {
        let layout = Layout::new((13, 8), 25);
        for cell in [Cell::new(0, 0), Cell::new(12, 7), Cell::new(3, 5)] {
            let rect = layout.cell(cell);
            assert_eq!(layout.cell_at(rect.center()), Some(cell));
            assert_eq!(layout.cell_at(rect.min + 0.5), Some(cell));
        }
        assert_eq!(layout.cell_at(Vec2::ZERO), None);
        for slot in [0, 1, 24] {
            for picture in [HeapView::Tree, HeapView::Array] {
                let position = layout.slot(picture, slot).center();
                assert_eq!(layout.slot_at(position, 25), Some(slot));
                assert_eq!(layout.slot_at(position, slot), None);
            }
        }
    }
}
