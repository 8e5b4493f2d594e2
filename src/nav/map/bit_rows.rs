//! One bit a cell, in rows of words.
//!
//! Input: bits, such as passability, a row at a time. Output: single bits, 3 × 3 blocks, and runs of bits.
//!
//! A border of zeros runs around the grid, so that the 3 × 3 block around any cell is three short
//! reads without a bounds check, and a row can be read or written many cells at a time.

use core::ops::Range;

use crate::nav::{Footprint, Pattern};

/// Reads the same 64 columns of any row.
#[derive(Clone, Copy)]
pub(crate) struct Columns64<'a> {
    bits: &'a BitRows,
    /// The word that holds the first of these columns, and its bit there.
    word: usize,
    shift: usize,
}

impl Columns64<'_> {
    /// Returns the cells of row `y`, lowest bit first; zeros for cells off the grid.
    #[inline(always)]
    pub(crate) fn read(&self, y: i32) -> u64 {
        let row = (y.wrapping_add(1) as usize).wrapping_mul(self.bits.words_per_row);
        let at = row.wrapping_add(self.word);
        match self.bits.words.get(at..at.wrapping_add(2)) {
            Some(&[low, high]) => low >> self.shift | (high << 1) << (63 - self.shift),
            _ => 0,
        }
    }
}

/// One bit a cell, with a border of zeros one cell wide.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BitRows {
    words_per_row: usize,
    words: Vec<u64>,
}

impl BitRows {
    pub(crate) fn new(width: u32, height: u32) -> Self {
        // A border bit on either side, and a spare word for reads that span two words.
        let words_per_row = (width as usize + 2).div_ceil(64) + 1;
        Self { words_per_row, words: vec![0; words_per_row * (height as usize + 2)] }
    }

    #[inline]
    pub(crate) fn get(&self, x: u32, y: u32) -> bool {
        let bit = x as usize + 1;
        let word = self.words[(y as usize + 1) * self.words_per_row + bit / 64];
        word >> (bit % 64) & 1 == 1
    }

    /// Returns the words of row `y`: the cell of column `x` is bit `x + 1`.
    pub(crate) fn row(&self, y: u32) -> &[u64] {
        &self.words[(y as usize + 1) * self.words_per_row..][..self.words_per_row]
    }

    /// Returns the indices of the words of a row that hold these columns (at least one). One more word
    /// always follows them.
    pub(crate) const fn word_range(columns: Range<u32>) -> Range<usize> {
        (columns.start as usize + 1) / 64..columns.end as usize / 64 + 1
    }

    /// Sets whole words of row `y` from word `first` on, laid out as in [`row`](Self::row); returns
    /// whether any has changed.
    pub(crate) fn set_words(&mut self, y: u32, first: usize, words: &[u64]) -> bool {
        let start = (y as usize + 1) * self.words_per_row + first;
        let row = &mut self.words[start..start + words.len()];
        let changed = *row != *words;
        row.copy_from_slice(words);
        changed
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * self.words.len()
    }

    /// Sets the bit of a cell; returns whether it was clear before.
    pub(crate) fn insert(&mut self, x: u32, y: u32) -> bool {
        self.set(x, y, true)
    }

    /// Sets or clears the bit of a cell; returns whether it has changed.
    #[inline]
    pub(crate) fn set(&mut self, x: u32, y: u32, is_set: bool) -> bool {
        let bit = x as usize + 1;
        let index = (y as usize + 1) * self.words_per_row + bit / 64;
        self.set_word(index, 1 << (bit % 64), u64::from(is_set) << (bit % 64))
    }

    /// Returns whether any bit is set in the square of `SIDE` × `SIDE` cells whose lowest, leftmost cell is the diagonal neighbor
    /// below and to the left of the cell.
    #[inline(always)]
    pub(crate) fn any_around<const SIDE: usize>(&self, x: u32, y: u32) -> bool {
        let (word, shift) = (x as usize / 64, x % 64);
        let mut row = y as usize * self.words_per_row + word;
        let (mut low, mut high) = (0, 0);
        for _ in 0..SIDE {
            if let Some(&[left, right]) = self.words.get(row..row + 2) {
                (low, high) = (low | left, high | right);
            }
            row += self.words_per_row;
        }
        (low >> shift | high << 1 << (63 - shift)) & ((1 << SIDE) - 1) != 0
    }

    /// Sets bits of row `y` from column `x` on, a word at a time; returns whether any has changed.
    pub(crate) fn set_row(&mut self, x: u32, y: u32, values: impl Iterator<Item = bool>) -> bool {
        let row = (y as usize + 1) * self.words_per_row;
        let mut bit = x as usize + 1;
        let (mut mask, mut word) = (0u64, 0u64);
        let mut changed = false;
        for value in values {
            mask |= 1 << (bit % 64);
            word |= u64::from(value) << (bit % 64);
            bit += 1;
            if bit.is_multiple_of(64) {
                changed |= self.set_word(row + bit / 64 - 1, mask, word);
                (mask, word) = (0, 0);
            }
        }
        changed | self.set_word(row + bit / 64, mask, word)
    }

    /// Sets the bits of a word that `mask` selects; returns whether any has changed.
    #[inline]
    fn set_word(&mut self, index: usize, mask: u64, bits: u64) -> bool {
        let before = self.words[index];
        self.words[index] = before & !mask | bits;
        before & mask != bits
    }

    /// Returns the 3 × 3 block around the cell.
    #[inline(always)]
    pub(crate) fn pattern(&self, x: u32, y: u32) -> Pattern {
        let (word, shift) = (x as usize / 64, x % 64);
        let row = y as usize * self.words_per_row + word;
        let below = self.three_bits(row, shift);
        let middle = self.three_bits(row + self.words_per_row, shift);
        let above = self.three_bits(row + 2 * self.words_per_row, shift);
        below | middle << 3 | above << 6
    }

    /// Returns three bits from bit `shift` of word `index` on.
    #[inline]
    fn three_bits(&self, index: usize, shift: u32) -> Pattern {
        let low = self.words[index] >> shift;
        let bits = if shift > 61 { low | self.words[index + 1] << (64 - shift) } else { low };
        (bits & 7) as Pattern
    }

    /// Returns a reader of the 64 columns from `x` on (-64 or more, and on the grid or left of it).
    #[inline]
    pub(crate) const fn columns_from(&self, x: i32) -> Columns64<'_> {
        let bit = (x + 1 + 64) as usize;
        // The word before a row is the spare one of the row below: zeros.
        Columns64 { bits: self, word: (bit / 64).wrapping_sub(1), shift: bit % 64 }
    }

    /// Whether any bit is set on the cells that a unit covers with its anchor on this cell; parts of the unit may
    /// lie off the grid.
    pub(crate) fn meets(&self, footprint: Footprint, (x, y): (u32, u32)) -> bool {
        let cells = self.columns_from(x as i32 - footprint.before());
        footprint.rows().any(|(row, columns)| {
            let all = (1u64 << columns.len()) - 1;
            cells.read(y as i32 + row) >> (columns.start + footprint.before()) & all != 0
        })
    }

    /// Sets the bits of the cells that a unit covers with its anchor on a cell, as far as they lie on a grid of this width and
    /// height.
    pub(crate) fn cover(
        &mut self,
        footprint: Footprint,
        (x, y): (i32, i32),
        (width, height): (u32, u32),
    ) {
        for (row, columns) in footprint.rows() {
            let clipped = |at: i32| (x + at).clamp(0, width as i32) as u32;
            let (first, end) = (clipped(columns.start), clipped(columns.end));
            if let Some(y) = u32::try_from(y + row).ok().filter(|&y| y < height) {
                self.set_row(first, y, (first..end).map(|_| true));
            }
        }
    }

    /// Returns 32 cells of row `y` from column `x` (a multiple of 32) on, lowest bit first.
    #[inline]
    pub(crate) fn cells_32(&self, x: u32, y: u32) -> u32 {
        self.columns_from(x as i32).read(y as i32) as u32
    }
}

/// Iterates over the runs of ones in a word from the lowest on: the first and the last bit of each.
pub(crate) fn runs_of_ones(mut bits: u64) -> impl Iterator<Item = (u32, u32)> {
    core::iter::from_fn(move || {
        let first = (bits != 0).then(|| bits.trailing_zeros())?;
        let last = first + (bits >> first).trailing_ones() - 1;
        // The carry passes through the lowest run and clears it.
        bits &= bits.wrapping_add(1 << first);
        Some((first, last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::Topology;

    #[test]
    fn a_square_over_two_words_is_inserted_and_found() {
        let mut bits = BitRows::new(100, 70);
        for y in 31..36 {
            bits.set_row(60, y, [true; 5].into_iter());
        }
        let cells = (0..70).flat_map(|y| (0..100).map(move |x| (x, y)));
        assert_eq!(cells.filter(|&(x, y)| bits.get(x, y)).count(), 25);
        assert!(bits.get(60, 31) && bits.get(64, 35) && !bits.get(65, 35));
        let meets = |size, at| bits.meets(Footprint::new(Topology::Square, size), at);
        assert!(meets(1, (64, 35)) && !meets(8, (65, 31)) && meets(8, (64, 30)));
        let meets = |size, at| bits.meets(Footprint::new(Topology::Hexagonal, size), at);
        assert!(meets(2, (65, 35)) && !meets(2, (65, 36)) && meets(2, (64, 36)));
        assert!(
            meets(8, (57, 35)) && !meets(8, (55, 28)) && meets(8, (56, 28)) && meets(8, (60, 24))
        );
    }

    #[test]
    fn cells_past_the_edge_are_clear() {
        let mut bits = BitRows::new(63, 5);
        assert!((0..5).all(|y| bits.set_row(0, y, [true; 62].into_iter())));
        let square = |size| Footprint::new(Topology::Square, size);
        assert!(!bits.meets(square(8), (62, 0)) && bits.meets(square(8), (61, 4)));
        assert!(bits.insert(62, 4) && !bits.insert(62, 4));
        assert!(bits.meets(square(8), (62, 4)) && !bits.meets(square(4), (62, 0)));
    }

    #[test]
    fn footprints_are_covered_as_far_as_they_lie_on_the_grid() {
        for topology in [Topology::Square, Topology::Hexagonal] {
            for (size, at) in [(3, (0, 0)), (8, (62, 3)), (17, (-9, 20)), (20, (80, -4))] {
                let (grid, footprint) = ((70, 30), Footprint::new(topology, size));
                let mut bits = BitRows::new(grid.0, grid.1);
                bits.cover(footprint, at, grid);
                for (x, y) in (0..30).flat_map(|y| (0..70).map(move |x| (x, y))) {
                    let is_covered = footprint.covers((x - at.0, y - at.1));
                    assert_eq!(
                        bits.get(x as u32, y as u32),
                        is_covered,
                        "{footprint:?} ({x}, {y})"
                    );
                }
            }
        }
    }
}
