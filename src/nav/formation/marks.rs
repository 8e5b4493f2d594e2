//! One bit for every cell of a grid, kept only where some are set.
//!
//! Pages of 32 × 32 cells are made when a bit in them is first set, so that marking a few thousand
//! cells on a huge grid takes little more than those cells.

use crate::nav::cell::CHUNK;

/// Columns and rows of a rectangle on a grid: the first ones, and the first ones past it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    left: u32,
    low: u32,
    right: u32,
    high: u32,
}

impl Span {
    /// The square of `side` cells whose lowest, leftmost cell is `at`.
    pub(super) const fn square(at: (u32, u32), side: u32) -> Self {
        Self { left: at.0, low: at.1, right: at.0 + side, high: at.1 + side }
    }

    /// The same with `border` cells more on every side, as far as cells can be counted.
    pub(super) const fn grown(self, border: u32) -> Self {
        Self {
            left: self.left.saturating_sub(border),
            low: self.low.saturating_sub(border),
            right: self.right + border,
            high: self.high + border,
        }
    }
}

/// A bit a cell; see the [module](self).
#[derive(Debug)]
pub(super) struct Marks {
    size: (u32, u32),
    /// Pages in a row of them.
    per_row: u32,
    /// Number of each page in `pages`, counted from 1; 0 where no bit is set. Empty until one is.
    numbers: Vec<u32>,
    /// A bit a column, row by row.
    pages: Vec<[u32; CHUNK as usize]>,
}

impl Marks {
    /// No marks on a grid of so many columns and rows.
    pub(super) fn new(size: (u32, u32)) -> Self {
        let per_row = size.0.div_ceil(CHUNK);
        Self { size, per_row, numbers: Vec::new(), pages: Vec::new() }
    }

    /// Whether the cell, which lies on the grid, is marked.
    pub(super) fn has(&self, x: u32, y: u32) -> bool {
        self.bits(x / CHUNK, y) >> (x % CHUNK) & 1 == 1
    }

    /// Marks a cell that lies on the grid; says whether that is new.
    pub(super) fn mark(&mut self, x: u32, y: u32) -> bool {
        let bit = 1 << (x % CHUNK);
        let row = self.row(x / CHUNK, y);
        let is_new = *row & bit == 0;
        *row |= bit;
        is_new
    }

    /// Marks every cell of `span` that lies on the grid.
    pub(super) fn mark_all(&mut self, span: Span) {
        let span = self.clipped(span);
        for (column, bits) in columns(span) {
            for y in span.low..span.high {
                *self.row(column, y) |= bits;
            }
        }
    }

    /// Whether any cell of `span` is marked.
    pub(super) fn has_any(&self, span: Span) -> bool {
        let span = self.clipped(span);
        columns(span)
            .any(|(column, bits)| (span.low..span.high).any(|y| self.bits(column, y) & bits != 0))
    }

    /// Which page holds row `y` in a column of pages.
    const fn page(&self, column: u32, y: u32) -> usize {
        (y / CHUNK * self.per_row + column) as usize
    }

    /// The bits of row `y` in a column of pages.
    #[inline]
    fn bits(&self, column: u32, y: u32) -> u32 {
        match self.numbers.get(self.page(column, y)) {
            None | Some(0) => 0,
            Some(&number) => self.pages[number as usize - 1][(y % CHUNK) as usize],
        }
    }

    /// The same to be changed; a page is made where there is none.
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

    fn clipped(&self, span: Span) -> Span {
        Span { right: span.right.min(self.size.0), high: span.high.min(self.size.1), ..span }
    }
}

/// The columns of pages that `span` meets, each with the bits of its columns of cells.
fn columns(span: Span) -> impl Iterator<Item = (u32, u32)> {
    (span.left / CHUNK..span.right.div_ceil(CHUNK)).map(move |column| {
        let first = column * CHUNK;
        let from = span.left.max(first) - first;
        let to = span.right.min(first + CHUNK) - first;
        // Where the span is empty `to` may lie before `from`: no bit is left then.
        (column, u32::MAX << from & u32::MAX >> (CHUNK - to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_over_four_pages_is_marked_and_found() {
        let mut marks = Marks::new((100, 70));
        marks.mark_all(Span::square((30, 31), 5));
        let count = (0..70).flat_map(|y| (0..100).map(move |x| (x, y)));
        assert_eq!(count.filter(|&(x, y)| marks.has(x, y)).count(), 25);
        assert!(marks.has(30, 31) && marks.has(34, 35) && !marks.has(35, 35));
        assert!(marks.has_any(Span::square((34, 35), 1)));
        assert!(!marks.has_any(Span::square((35, 31), 8)));
        assert!(marks.has_any(Span::square((35, 31), 8).grown(1)));
    }

    #[test]
    fn what_lies_past_the_edge_is_left_out() {
        let mut marks = Marks::new((32, 5));
        marks.mark_all(Span::square((0, 0), 1).grown(40));
        assert!((0..5).all(|y| (0..32).all(|x| marks.has(x, y))));
        assert!(!marks.mark(31, 4));
    }
}
