//! Which cells see a jump point, before and after an edit.
//!
//! Input: lines through the edit and how far along each something may change. Output: the cells at
//! which it did.

use core::ops::Range;

use super::lines::{Along, Lines};

/// Stretches of lines and the bits of their cells from which a jump point is seen.
#[derive(Default)]
pub(super) struct Sights {
    /// Line and words of each stretch.
    stretches: Vec<(u32, Range<usize>)>,
    /// Words of all stretches, forward then backward each.
    bits: Vec<u64>,
}

impl Sights {
    /// What may change along `lines` when their cells at `at`, or those beside them, change.
    pub(super) fn around(lines: &Lines, across: Range<u32>, at: &Range<u32>) -> Self {
        let stretches = across.map(|line| (line, lines.words_in_sight(line, at))).collect();
        let mut sights = Self { stretches, bits: Vec::new() };
        sights.look(lines);
        sights
    }

    /// Looks again and calls `changed` with the line and the place on it of each cell that sees
    /// otherwise; it may lie beside the grid.
    pub(super) fn update(mut self, lines: &Lines, mut changed: impl FnMut(u32, u32)) {
        let before = core::mem::take(&mut self.bits);
        self.look(lines);
        let mut index = 0;
        for (line, words) in self.stretches {
            for word in words.clone().chain(words) {
                let mut difference = before[index] ^ self.bits[index];
                index += 1;
                while difference != 0 {
                    let bit = (word * 64) as u32 + difference.trailing_zeros();
                    difference &= difference - 1;
                    // The first cell has bit 1.
                    changed(line, bit.wrapping_sub(1));
                }
            }
        }
    }

    fn look(&mut self, lines: &Lines) {
        for (line, words) in &self.stretches {
            for along in [Along::Forward, Along::Backward] {
                lines.add_sights(*line, words.clone(), along, &mut self.bits);
            }
        }
    }
}
