//! Where diagonal scans stop, one bit per cell, with the bits of each diagonal in sequence.
//!
//! A diagonal scan stops where the step is illegal, or where a straight scan to one of its two sides would
//! find a jump point. Diagonals are numbered by column minus row (rising) or column plus row (falling),
//! modulo the width plus one: so two diagonals share a line of bits, one after the other, and between them
//! lies the column beyond the right edge, where nothing is passable. Bits are in the order of rows.

use super::scan_lines::{ScanDirection, nearest_bit, set_bit};

/// 64 cells of a line, for scans up (0) and down (1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct DiagonalWord {
    pub(super) stops: [u64; 2],
    /// The stops at which the step is legal: a scan looks to both sides there and continues.
    pub(super) turning_points: [u64; 2],
}

/// The column of the cell in row `y` on one of `lines` lines of diagonals, rising or falling.
pub(super) const fn column_at((lines, is_rising): (u32, bool), line: u32, y: u32) -> u32 {
    let row = y % lines;
    let shift = if is_rising { row } else { lines - row };
    (line + shift) % lines
}

/// Stops along all diagonals of one slope; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Diagonals {
    is_rising: bool,
    /// Number of lines of bits: the width plus one.
    pub(super) lines: u32,
    words_per_line: usize,
    words: Vec<DiagonalWord>,
}

impl Diagonals {
    /// Creates diagonals on which every cell is a stop.
    pub(super) fn new(width: u32, height: u32, is_rising: bool) -> Self {
        let words_per_line = (height as usize + 2).div_ceil(64);
        let lines = width + 1;
        let word = DiagonalWord { stops: [u64::MAX; 2], turning_points: [0; 2] };
        let words = vec![word; words_per_line * lines as usize];
        Self { is_rising, lines, words_per_line, words }
    }

    /// The word of a line with the bit of row `row`, counted from the row before the first.
    pub(super) fn word_mut(&mut self, line: u32, row: u32) -> &mut DiagonalWord {
        &mut self.words[line as usize * self.words_per_line + row as usize / 64]
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len() * size_of::<DiagonalWord>()
    }

    /// The cell's index among all bits; the next cell up its diagonal has the next index.
    #[inline(always)]
    pub(super) const fn bit_of(&self, x: u32, y: u32) -> usize {
        let row = if y < self.lines { y } else { y % self.lines };
        let shift = if self.is_rising { self.lines - row } else { row };
        let line = x + shift;
        let line = if line >= self.lines { line - self.lines } else { line };
        line as usize * self.words_per_line * 64 + y as usize + 1
    }

    /// Sets what scans up (forward) or down (backward) find at the cell.
    #[inline]
    pub(super) fn set(
        &mut self,
        x: u32,
        y: u32,
        direction: ScanDirection,
        is_legal: bool,
        sees_jump_point: bool,
    ) {
        let bit = self.bit_of(x, y);
        let word = &mut self.words[bit / 64];
        let (index, bit) = (direction as usize, (bit % 64) as u32);
        set_bit(&mut word.stops[index], bit, !is_legal || sees_jump_point);
        set_bit(&mut word.turning_points[index], bit, is_legal && sees_jump_point);
    }

    /// Whether a scan up (0) or down (1) stops at the cell of a bit to look to its sides.
    #[inline]
    pub(super) fn is_turning_point(&self, bit: usize, direction: usize) -> bool {
        self.words[bit / 64].turning_points[direction] >> (bit % 64) & 1 == 1
    }

    /// Makes the cell of a bit a turning point of scans up (0) or down (1) if the step to it is legal.
    #[inline]
    pub(super) fn add_turning_point(&mut self, bit: usize, direction: usize) {
        let DiagonalWord { stops, turning_points } = &mut self.words[bit / 64];
        let mask = 1 << (bit % 64);
        // A stop that is no turning point is one because the step is illegal.
        turning_points[direction] |= mask & !stops[direction];
        stops[direction] |= mask;
    }

    /// Lets scans up (0) or down (1) pass the cell of a bit, a turning point.
    #[inline]
    pub(super) fn remove_turning_point(&mut self, bit: usize, direction: usize) {
        let DiagonalWord { stops, turning_points } = &mut self.words[bit / 64];
        let mask = !(1 << (bit % 64));
        turning_points[direction] &= mask;
        stops[direction] &= mask;
    }

    /// Returns the next stop up or down from a bit, and whether it is a turning point.
    #[inline(always)]
    pub(super) fn next<const UP: bool>(&self, bit: usize) -> (usize, bool) {
        let direction = usize::from(!UP);
        let bit = nearest_bit::<UP>(bit, |word| self.words[word].stops[direction]);
        (bit, self.words[bit / 64].turning_points[direction] >> (bit % 64) & 1 == 1)
    }
}
