//! The part of a grid that a range can cover.

use core::array;

use crate::nav::OFFSETS;

/// A rectangle of cells, and their indices in row-major order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    left: u32,
    low: u32,
    width: u32,
    height: u32,
}

impl Window {
    /// Returns all cells up to `steps` from a cell that lie on a grid of this size.
    pub(super) fn around((x, y): (u32, u32), steps: u32, (width, height): (u32, u32)) -> Self {
        let (left, low) = (x.saturating_sub(steps), y.saturating_sub(steps));
        let end = |at: u32, size: u32| at.saturating_add(steps).min(size - 1) + 1;
        Self { left, low, width: end(x, width) - left, height: end(y, height) - low }
    }

    pub(super) const fn cells(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Returns the index of a cell in the window.
    #[inline(always)]
    pub(super) const fn index(&self, x: u32, y: u32) -> usize {
        (y - self.low) as usize * self.width as usize + (x - self.left) as usize
    }

    /// Returns the differences of the indices of neighbors, by direction.
    pub(super) fn index_offsets(&self) -> [i32; 8] {
        array::from_fn(|direction| OFFSETS[direction].0 + OFFSETS[direction].1 * self.width as i32)
    }

    /// Returns the index of a cell; `None` if it is not in the window.
    pub(super) fn find(&self, x: u32, y: u32) -> Option<usize> {
        let is_inside =
            x.wrapping_sub(self.left) < self.width && y.wrapping_sub(self.low) < self.height;
        is_inside.then(|| self.index(x, y))
    }

    /// Iterates over all cells in the order of their indices.
    pub(super) fn iter(self) -> impl Iterator<Item = (u32, u32)> {
        let (columns, rows) = (self.left..self.left + self.width, self.low..self.low + self.height);
        rows.flat_map(move |y| columns.clone().map(move |x| (x, y)))
    }
}
