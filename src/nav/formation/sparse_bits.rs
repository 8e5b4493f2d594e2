//! A bit for every cell of a grid, stored only where some are set.
//!
//! Pages of 32 × 32 cells are allocated when a bit in them is first set, so that setting a few thousand bits
//! on a huge grid takes little more time than those cells.

use crate::nav::cell::CHUNK;

/// Columns and rows of a rectangle on a grid: the first ones, and the first ones past it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitRect {
    left: u32,
    low: u32,
    right: u32,
    high: u32,
}

impl BitRect {
    /// Returns the square of `side` cells whose lowest, leftmost cell is `cell`.
    pub(super) const fn square(cell: (u32, u32), side: u32) -> Self {
        Self { left: cell.0, low: cell.1, right: cell.0 + side, high: cell.1 + side }
    }

    /// Returns the rectangle with `border` more cells on every side, clipped at column and row 0.
    pub(super) const fn grown(self, border: u32) -> Self {
        Self {
            left: self.left.saturating_sub(border),
            low: self.low.saturating_sub(border),
            right: self.right + border,
            high: self.high + border,
        }
    }
}

/// A bit per cell; see the [module](self).
#[derive(Debug)]
pub(super) struct SparseBits {
    size: (u32, u32),
    /// Pages per row of pages.
    per_row: u32,
    /// Number of each page in `pages`, counted from 1; 0 where no bit is set. Empty until one is.
    numbers: Vec<u32>,
    /// A bit per column, row by row.
    pages: Vec<[u32; CHUNK as usize]>,
}

impl SparseBits {
    /// Creates a set without bits for a grid of this size.
    pub(super) fn new(size: (u32, u32)) -> Self {
        let per_row = size.0.div_ceil(CHUNK);
        Self { size, per_row, numbers: Vec::new(), pages: Vec::new() }
    }

    /// Whether the bit of a cell on the grid is set.
    pub(super) fn contains(&self, x: u32, y: u32) -> bool {
        self.bits(x / CHUNK, y) >> (x % CHUNK) & 1 == 1
    }

    /// Sets the bit of a cell on the grid; returns whether it was clear before.
    pub(super) fn insert(&mut self, x: u32, y: u32) -> bool {
        let bit = 1 << (x % CHUNK);
        let row = self.row(x / CHUNK, y);
        let is_new = *row & bit == 0;
        *row |= bit;
        is_new
    }

    /// Sets the bits of all cells of `rect` that lie on the grid.
    pub(super) fn insert_all(&mut self, rect: BitRect) {
        let rect = self.clipped(rect);
        for (column, bits) in columns(rect) {
            for y in rect.low..rect.high {
                *self.row(column, y) |= bits;
            }
        }
    }

    /// Whether any bit in `rect` is set.
    pub(super) fn intersects(&self, rect: BitRect) -> bool {
        let rect = self.clipped(rect);
        columns(rect)
            .any(|(column, bits)| (rect.low..rect.high).any(|y| self.bits(column, y) & bits != 0))
    }

    /// Returns the index of the page that holds row `y` in a column of pages.
    const fn page(&self, column: u32, y: u32) -> usize {
        (y / CHUNK * self.per_row + column) as usize
    }

    /// Returns the bits of row `y` in a column of pages.
    #[inline]
    fn bits(&self, column: u32, y: u32) -> u32 {
        match self.numbers.get(self.page(column, y)) {
            None | Some(0) => 0,
            Some(&number) => self.pages[number as usize - 1][(y % CHUNK) as usize],
        }
    }

    /// Returns the bits of row `y` for writing; allocates the page if there is none.
    fn row(&mut self, column: u32, y: u32) -> &mut u32 {
        if self.numbers.is_empty() {
            self.numbers.resize((self.per_row * self.size.1.div_ceil(CHUNK)) as usize, 0);
        }
        let page = self.page(column, y);
        if self.numbers[page] == 0 {
            self.pages.push([0; CHUNK as usize]);
            self.numbers[page] = self.pages.len() as u32;
        }
        &mut self.pages[self.numbers[page] as usize - 1][(y % CHUNK) as usize]
    }

    fn clipped(&self, rect: BitRect) -> BitRect {
        BitRect { right: rect.right.min(self.size.0), high: rect.high.min(self.size.1), ..rect }
    }
}

/// Iterates over the columns of pages that `rect` overlaps, each with the bits of its columns of cells.
fn columns(rect: BitRect) -> impl Iterator<Item = (u32, u32)> {
    (rect.left / CHUNK..rect.right.div_ceil(CHUNK)).map(move |column| {
        let first = column * CHUNK;
        let from = rect.left.max(first) - first;
        let to = rect.right.min(first + CHUNK) - first;
        // In an empty rectangle `to` may lie before `from`: no bit is left then.
        (column, u32::MAX << from & u32::MAX >> (CHUNK - to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_over_four_pages_is_inserted_and_found() {
        let mut bits = SparseBits::new((100, 70));
        bits.insert_all(BitRect::square((30, 31), 5));
        let count = (0..70).flat_map(|y| (0..100).map(move |x| (x, y)));
        assert_eq!(count.filter(|&(x, y)| bits.contains(x, y)).count(), 25);
        assert!(bits.contains(30, 31) && bits.contains(34, 35) && !bits.contains(35, 35));
        assert!(bits.intersects(BitRect::square((34, 35), 1)));
        assert!(!bits.intersects(BitRect::square((35, 31), 8)));
        assert!(bits.intersects(BitRect::square((35, 31), 8).grown(1)));
    }

    #[test]
    fn cells_past_the_edge_are_ignored() {
        let mut bits = SparseBits::new((32, 5));
        bits.insert_all(BitRect::square((0, 0), 1).grown(40));
        assert!((0..5).all(|y| (0..32).all(|x| bits.contains(x, y))));
        assert!(!bits.insert(31, 4));
    }
}
