//! Where diagonal scans stop, one bit a cell, with each diagonal in one piece.
//!
//! A diagonal scan stops where the step is illegal, or where a straight scan to one of its two sides
//! would find a jump point. Diagonals are numbered by column minus row (rising) or column plus row
//! (falling), modulo the width and one: so two diagonals share a line of bits, one behind the other,
//! and between them stands the column beyond the right edge, where nothing is passable. Bits go by
//! row.

use super::lines::Along;

/// What is known of 64 cells for scans up (0) and down (1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) stops: [u64; 2],
    /// The stops at which the step is legal: a scan looks to both sides there and goes on.
    pub(super) turns: [u64; 2],
}

/// Stops along all diagonals of one slope; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Diagonals {
    is_rising: bool,
    /// Lines of bits: the width and one.
    lines: u32,
    words_per_line: usize,
    words: Vec<Word>,
}

impl Diagonals {
    /// Stops everywhere.
    pub(super) fn new(width: u32, height: u32, is_rising: bool) -> Self {
        let words_per_line = (height as usize + 2).div_ceil(64);
        let lines = width + 1;
        let word = Word { stops: [u64::MAX; 2], turns: [0; 2] };
        let words = vec![word; words_per_line * lines as usize];
        Self { is_rising, lines, words_per_line, words }
    }

    /// Lines of bits: the width and one.
    pub(super) const fn lines(&self) -> u32 {
        self.lines
    }

    /// The column of the cell of row `y` on a line.
    pub(super) const fn column_at(&self, line: u32, y: u32) -> u32 {
        let row = y % self.lines;
        let shift = if self.is_rising { row } else { self.lines - row };
        (line + shift) % self.lines
    }

    /// The word of a line with the bit of row `row`, counted from the one before the first.
    pub(super) fn word_mut(&mut self, line: u32, row: u32) -> &mut Word {
        &mut self.words[line as usize * self.words_per_line + row as usize / 64]
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len() * size_of::<Word>()
    }

    /// The cell's bit among all; that of the next cell up its diagonal follows.
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
    pub(super) fn set(&mut self, x: u32, y: u32, along: Along, is_legal: bool, sees: bool) {
        let bit = self.bit_of(x, y);
        let word = &mut self.words[bit / 64];
        let (side, bit) = (along as usize, bit % 64);
        let stops = &mut word.stops[side];
        *stops = *stops & !(1 << bit) | u64::from(!is_legal || sees) << bit;
        let turns = &mut word.turns[side];
        *turns = *turns & !(1 << bit) | u64::from(is_legal && sees) << bit;
    }

    /// The next stop up or down from a bit, and whether the scan looks to both sides there.
    #[inline(always)]
    pub(super) fn next<const UP: bool>(&self, bit: usize) -> (usize, bool) {
        let (mut word, bit) = (bit / 64, bit % 64);
        if UP {
            let mut stops = self.words[word].stops[0] & (u64::MAX << bit << 1);
            while stops == 0 {
                word += 1;
                stops = self.words[word].stops[0];
            }
            let bit = stops.trailing_zeros() as usize;
            (word * 64 + bit, self.words[word].turns[0] >> bit & 1 == 1)
        } else {
            let mut stops = self.words[word].stops[1] & !(u64::MAX << bit);
            while stops == 0 {
                word -= 1;
                stops = self.words[word].stops[1];
            }
            let bit = 63 - stops.leading_zeros() as usize;
            (word * 64 + bit, self.words[word].turns[1] >> bit & 1 == 1)
        }
    }
}
