//! Where diagonal scans stop, one bit a cell, with each diagonal in one piece.
//!
//! A diagonal scan stops where the step is illegal, or where a straight scan to one of its two sides
//! would find a jump point. Diagonals are numbered by column minus row (rising) or column plus row
//! (falling), modulo the width and one: so two diagonals share a line of bits, one behind the other,
//! and between them stands the column beyond the right edge, where nothing is passable. Bits go by
//! row.

use super::lines::Along;

/// Stops along all diagonals of one slope; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Diagonals {
    is_rising: bool,
    /// Lines of bits: the width and one.
    lines: u32,
    words_per_line: usize,
    /// Stops of scans up (0) and down (1).
    words: Vec<[u64; 2]>,
}

impl Diagonals {
    /// Stops everywhere.
    pub(super) fn new(width: u32, height: u32, is_rising: bool) -> Self {
        let words_per_line = (height as usize + 2).div_ceil(64);
        let lines = width + 1;
        let words = vec![[u64::MAX; 2]; words_per_line * lines as usize];
        Self { is_rising, lines, words_per_line, words }
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len() * size_of::<[u64; 2]>()
    }

    /// Word and bit of the cell.
    #[inline]
    const fn place(&self, x: u32, y: u32) -> (usize, u32) {
        let row = if y < self.lines { y } else { y % self.lines };
        let shift = if self.is_rising { self.lines - row } else { row };
        let line = x + shift;
        let line = if line >= self.lines { line - self.lines } else { line };
        let bit = y + 1;
        (line as usize * self.words_per_line + bit as usize / 64, bit % 64)
    }

    /// Sets whether scans up (forward) or down (backward) stop at the cell.
    #[inline]
    pub(super) fn set(&mut self, x: u32, y: u32, along: Along, stops: bool) {
        let (word, bit) = self.place(x, y);
        let word = &mut self.words[word][along as usize];
        *word = *word & !(1 << bit) | u64::from(stops) << bit;
    }

    /// Distance to the next stop.
    #[inline]
    pub(super) fn scan(&self, x: u32, y: u32, along: Along) -> u32 {
        let (mut word, bit) = self.place(x, y);
        let here = (word * 64) as u32 + bit;
        match along {
            Along::Forward => {
                let mut stops = self.words[word][0] & (u64::MAX << bit << 1);
                while stops == 0 {
                    word += 1;
                    stops = self.words[word][0];
                }
                (word * 64) as u32 + stops.trailing_zeros() - here
            }
            Along::Backward => {
                let mut stops = self.words[word][1] & !(u64::MAX << bit);
                while stops == 0 {
                    word -= 1;
                    stops = self.words[word][1];
                }
                here - ((word * 64) as u32 + 63 - stops.leading_zeros())
            }
        }
    }
}
