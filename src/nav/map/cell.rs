//! Positions on a grid: signed cells, and rectangles of them.
//!
//! A [`Cell`] is a position, not a record: it holds no data about what is there. `x` grows to the right and
//! `y` grows **up**, like `TilePos` in bevy_ecs_tilemap. Coordinates are signed, so that a level can grow to
//! the left of and below its first map.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

/// Cells along one side of a chunk, the unit of repair and of search memory.
pub const CHUNK: u32 = 32;
/// Column, row, width and height of a rectangle of cells, from the origin of the grid.
pub(crate) type Rect = (u32, u32, u32, u32);

/// A position on a grid: `x` to the right, `y` up, both in cells and signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct Cell {
    /// Column.
    pub x: i32,
    /// Row, counted upwards.
    pub y: i32,
}

impl Cell {
    /// Creates the cell in column `x` and row `y`.
    #[must_use]
    pub const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }

    /// Returns the columns or the rows to another cell, whichever are more: the fewest steps there, with eight neighbors (the
    /// Chebyshev distance).
    #[must_use]
    pub fn chebyshev(self, other: Self) -> u32 {
        self.x.abs_diff(other.x).max(self.y.abs_diff(other.y))
    }

    /// Returns the fewest steps to another cell on hexagons, in axial coordinates (see
    /// [`Topology`](super::topology::Topology)); [`u32::MAX`] if there are more.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let cell = Cell::new(4, 4);
    /// assert_eq!(cell.hexagonal_distance(Cell::new(3, 5)), 1, "to the northwest");
    /// assert_eq!(cell.hexagonal_distance(Cell::new(5, 5)), 2, "no step leads there");
    /// ```
    #[must_use]
    pub fn hexagonal_distance(self, other: Self) -> u32 {
        let (dx, dy) =
            (i64::from(other.x) - i64::from(self.x), i64::from(other.y) - i64::from(self.y));
        let steps = dx.abs().max(dy.abs()).max((dx + dy).abs());
        steps.min(i64::from(u32::MAX)) as u32
    }

    /// Returns the cell `dx` columns to the right and `dy` rows up; saturates at the limits of the number
    /// range instead of wrapping.
    #[must_use]
    pub const fn offset(self, dx: i32, dy: i32) -> Self {
        Self::new(self.x.saturating_add(dx), self.y.saturating_add(dy))
    }
}

impl core::fmt::Display for Cell {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

impl From<(i32, i32)> for Cell {
    fn from((x, y): (i32, i32)) -> Self {
        Self::new(x, y)
    }
}

/// A rectangle of `width` × `height` cells whose lowest, leftmost cell is `min`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct CellRect {
    /// Lowest, leftmost cell.
    pub min: Cell,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl From<Cell> for CellRect {
    fn from(cell: Cell) -> Self {
        Self::single(cell)
    }
}

impl CellRect {
    /// Creates a rectangle of `width` × `height` cells from `min` to the right and up.
    #[must_use]
    pub const fn new(min: Cell, width: u32, height: u32) -> Self {
        Self { min, width, height }
    }

    /// Creates a rectangle of one cell.
    #[must_use]
    pub const fn single(cell: Cell) -> Self {
        Self::new(cell, 1, 1)
    }

    /// Returns whether the rectangle has no cells.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Returns whether the rectangle contains `cell`.
    #[must_use]
    pub const fn contains(&self, cell: Cell) -> bool {
        let dx = cell.x as i64 - self.min.x as i64;
        let dy = cell.y as i64 - self.min.y as i64;
        dx >= 0 && dy >= 0 && dx < self.width as i64 && dy < self.height as i64
    }

    /// Returns the smallest rectangle that contains both, up to [`u32::MAX`] columns and rows of it.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let min = Cell::new(self.min.x.min(other.min.x), self.min.y.min(other.min.y));
        let (right, top) = self.end();
        let (other_right, other_top) = other.end();
        let width = right.max(other_right) - i64::from(min.x);
        let height = top.max(other_top) - i64::from(min.y);
        let side = |cells: i64| cells.min(i64::from(u32::MAX)) as u32;
        Self::new(min, side(width), side(height))
    }

    /// Returns the columns or rows from one rectangle to the other, whichever are more: 1 if they touch, 0 if they overlap.
    pub(crate) fn gap(self, other: Self) -> u32 {
        let ((right, top), (other_right, other_top)) = (self.end(), other.end());
        let columns = (i64::from(self.min.x) - other_right).max(i64::from(other.min.x) - right);
        let rows = (i64::from(self.min.y) - other_top).max(i64::from(other.min.y) - top);
        (columns.max(rows) + 1).clamp(0, i64::from(u32::MAX)) as u32
    }

    /// Returns its cell that is nearest to another one, by columns and by rows; `None` if it is empty.
    pub(crate) fn nearest(self, to: Cell) -> Option<Cell> {
        let (right, top) = self.end();
        let within = |at: i32, min: i32, end: i64| {
            i64::from(at).clamp(i64::from(min), end - 1) as i32 // no farther out than `at` or `min`
        };
        let has_cells = !self.is_empty();
        has_cells.then(|| Cell::new(within(to.x, self.min.x, right), within(to.y, self.min.y, top)))
    }

    /// Returns the cells that lie in both; empty if there are none.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        let min = Cell::new(self.min.x.max(other.min.x), self.min.y.max(other.min.y));
        let (right, top) = self.end();
        let (other_right, other_top) = other.end();
        let width = right.min(other_right) - i64::from(min.x);
        let height = top.min(other_top) - i64::from(min.y);
        if width <= 0 || height <= 0 {
            return Self::default();
        }
        Self::new(min, width as u32, height as u32)
    }

    /// Returns the rectangle extended by one cell on every side.
    pub(crate) const fn grown(self) -> Self {
        self.extended(1)
    }

    /// Returns the rectangle extended by so many cells on every side; an empty one stays empty.
    pub(crate) const fn extended(self, cells: u32) -> Self {
        if self.is_empty() {
            return self;
        }
        let left = -(cells as i32);
        let min = self.min.offset(left, left);
        // At the ends of the numbers, less is added on the left and below.
        let (dx, dy) = (self.min.x.abs_diff(min.x), self.min.y.abs_diff(min.y));
        let width = self.width.saturating_add(dx).saturating_add(cells);
        let height = self.height.saturating_add(dy).saturating_add(cells);
        Self::new(min, width, height)
    }

    /// Returns whether the rectangle spanned by the corners `a` and `b` (any two opposite ones, both
    /// inclusive) shares a cell with this one.
    #[must_use]
    pub fn meets_span(&self, a: Cell, b: Cell) -> bool {
        let (right, top) = self.end();
        !self.is_empty()
            && i64::from(a.x.min(b.x)) < right
            && i64::from(a.y.min(b.y)) < top
            && a.x.max(b.x) >= self.min.x
            && a.y.max(b.y) >= self.min.y
    }

    /// Iterates over the cells row by row, lowest row first.
    pub fn cells(self) -> impl Iterator<Item = Cell> + Clone {
        let min = self.min;
        (0..self.height as i32)
            .flat_map(move |dy| (0..self.width as i32).map(move |dx| min.offset(dx, dy)))
    }

    /// Returns the first column and row past the right and top edge.
    fn end(&self) -> (i64, i64) {
        let (x, y) = (i64::from(self.min.x), i64::from(self.min.y));
        (x + i64::from(self.width), y + i64::from(self.height))
    }
}

impl core::fmt::Display for CellRect {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} × {} at {}", self.width, self.height, self.min)
    }
}
