//! The cells from which a scan finds a jump point, before and after an edit.
//!
//! Input: lines through the edit and how far along each something may change. Output: the cells at which it
//! did, and what.

use core::ops::Range;

use super::scan_lines::{ScanDirection, ScanLines};

/// 64 cells of a line: from which of them scans forward (0) and backward (1) found a jump point before an edit, and from which
/// they do now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) was: [u64; 2],
    pub(super) is: [u64; 2],
    /// The index on the line of the cell of the lowest bit, wrapped: the first cell has bit 1.
    first: u32,
}

impl Sight {
    /// The cells from which a scan in a direction finds one no more.
    pub(super) const fn lost(self, direction: usize) -> u64 {
        self.was[direction] & !self.is[direction]
    }

    /// The cells from which one is found now.
    pub(super) const fn gained(self, direction: usize) -> u64 {
        self.is[direction] & !self.was[direction]
    }

    /// The cells at which either has changed.
    pub(super) const fn changed(self) -> u64 {
        self.was[0] ^ self.is[0] | self.was[1] ^ self.is[1]
    }

    /// Iterates over some of the cells as bits and as indices on a line of this length; none of those beside the grid.
    pub(super) fn cells(self, mut bits: u64, length: u32) -> impl Iterator<Item = (u32, u32)> {
        let cells = core::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros())?;
            bits &= bits - 1;
            Some((bit, self.first.wrapping_add(bit)))
        });
        cells.filter(move |&(_, index)| index < length)
    }
}

/// Ranges of lines, and for each of their cells whether a scan finds a jump point.
#[derive(Default)]
pub(super) struct ScanVisibility {
    /// Line and words of each range.
    ranges: Vec<(u32, Range<usize>)>,
    /// Words of all ranges, forward then backward each.
    bits: Vec<u64>,
}

impl ScanVisibility {
    /// Reads what may change along `lines` when `cells` of them, or those beside, change.
    pub(super) fn around(
        lines: &ScanLines,
        line_numbers: impl Iterator<Item = u32>,
        cells: &Range<u32>,
    ) -> Self {
        let ranges = line_numbers.map(|line| (line, lines.words_affected(line, cells))).collect();
        let mut visibility = Self { ranges, bits: Vec::new() };
        visibility.read(lines);
        visibility
    }

    /// Reads again and calls `changed` with each line and 64 cells of it if the visibility of one of them has changed; some
    /// may lie beside the grid.
    pub(super) fn update(mut self, lines: &ScanLines, mut changed: impl FnMut(u32, Sight)) {
        let before = core::mem::take(&mut self.bits);
        self.read(lines);
        let mut at = 0;
        for (line, words) in self.ranges {
            let count = words.len();
            for word in words {
                let [was, is] = [&before, &self.bits].map(|bits| [bits[at], bits[at + count]]);
                at += 1;
                if was != is {
                    let first = ((word * 64) as u32).wrapping_sub(1);
                    changed(line, Sight { was, is, first });
                }
            }
            at += count;
        }
    }

    fn read(&mut self, lines: &ScanLines) {
        for (line, words) in &self.ranges {
            for direction in [ScanDirection::Forward, ScanDirection::Backward] {
                lines.push_visibility(*line, words.clone(), direction, &mut self.bits);
            }
        }
    }
}
