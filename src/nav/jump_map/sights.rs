//! Which cells see a jump point, before and after an edit.
//!
//! Input: words of bits for the rows and columns through the edit, forward then backward. Output: the
//! cells at which they differ.

use core::ops::Range;

/// Bits of the cells whose next stop along their line is a jump point.
#[derive(Default)]
pub(super) struct Sights {
    pub(super) rows: Vec<u64>,
    pub(super) columns: Vec<u64>,
}

impl Sights {
    /// Column and row of each cell at which the two differ; some may lie beside the grid.
    pub(super) fn differences(
        &self,
        after: &Self,
        rows: &Range<u32>,
        columns: &Range<u32>,
    ) -> Vec<(u32, u32)> {
        let mut cells = Vec::new();
        each_difference(&self.rows, &after.rows, rows, |row, x| cells.push((x, row)));
        each_difference(&self.columns, &after.columns, columns, |column, y| {
            cells.push((column, y));
        });
        cells
    }
}

/// Calls `found` with the line and the place on it of each bit that differs.
fn each_difference(
    before: &[u64],
    after: &[u64],
    lines: &Range<u32>,
    mut found: impl FnMut(u32, u32),
) {
    // All lines forward, then all backward.
    let words_per_line = before.len() / (2 * lines.len()).max(1);
    for (index, (before, after)) in before.iter().zip(after).enumerate() {
        let mut difference = before ^ after;
        while difference != 0 {
            let line = lines.start + (index / words_per_line % lines.len()) as u32;
            let bit = (index % words_per_line * 64) as u32 + difference.trailing_zeros();
            // The first cell has bit 1.
            found(line, bit.wrapping_sub(1));
            difference &= difference - 1;
        }
    }
}
