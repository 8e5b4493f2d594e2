//! The cells from which a scan finds a jump point, before and after an edit.
//!
//! Input: lines through the edit and how far along each something may change. Output: the cells at which it
//! did.

use core::ops::Range;

use super::scan_lines::{ScanDirection, ScanLines};

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

    /// Reads again and calls `changed` with the line and the index on it of each cell whose visibility has
    /// changed; the cell may lie beside the grid.
    pub(super) fn update(mut self, lines: &ScanLines, mut changed: impl FnMut(u32, u32)) {
        let before = core::mem::take(&mut self.bits);
        self.read(lines);
        let mut index = 0;
        for (line, words) in self.ranges {
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

    fn read(&mut self, lines: &ScanLines) {
        for (line, words) in &self.ranges {
            for direction in [ScanDirection::Forward, ScanDirection::Backward] {
                lines.push_visibility(*line, words.clone(), direction, &mut self.bits);
            }
        }
    }
}
