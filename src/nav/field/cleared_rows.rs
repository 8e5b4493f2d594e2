//! The rows of a field whose costs are cleared.
//!
//! Input: the rows that the fill comes to. Output: costs that are [`UNREACHED`] there and as far around as the next steps or
//! rays lead. The rows that are cleared lie together, and grow with the field: clearing a whole grid in one go may take
//! 30 ms, most of it in the system, which provides new memory page by page when it is first written.
//!
//! Memory may hold anything in the other rows. Cells there count as unreached.

use std::ops::Range;

use super::{DistanceField, expand::UNREACHED, ray_fill::MAX_RAY_STEPS};

/// Rows are cleared by so many, or by more.
const ROWS_AT_ONCE: u32 = 16;

/// Rows that lie together; see the [module](self).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ClearedRows {
    pub(super) rows: Range<u32>,
    /// The rows among them from which no step and no ray leads to others.
    inner: Range<u32>,
    /// Indices of all their cells.
    indices: Range<usize>,
}

impl DistanceField {
    /// Forgets all costs and makes room for those of a grid; the last one belongs to no cell.
    pub(super) fn forget_costs(&mut self) {
        let last = self.layout.index(0, self.size.1);
        if self.costs.capacity() > last {
            self.costs.resize(last + 1, UNREACHED);
        } else {
            self.costs = vec![0; last + 1]; // zeros are not written: the system has them
        }
        self.costs[last] = UNREACHED;
        self.cleared = ClearedRows::default();
    }

    /// Returns the cost that is recorded for a cell, settled or not.
    #[inline]
    pub(super) fn recorded(&self, index: usize) -> u32 {
        if self.cleared.indices.contains(&index) { self.costs[index] } else { UNREACHED }
    }

    /// Clears the rows to which steps or rays lead from row `y`.
    #[inline(always)]
    pub(super) fn clear_around(&mut self, y: u32) {
        if !self.cleared.inner.contains(&y) {
            self.clear_rows_around(y);
        }
    }

    #[cold]
    #[inline(never)]
    fn clear_rows_around(&mut self, y: u32) {
        // A ray may start at the end of another one.
        let reach = if self.casts_rays { 2 * MAX_RAY_STEPS } else { 1 };
        let height = self.size.1;
        let low = y.saturating_sub(reach) / ROWS_AT_ONCE * ROWS_AT_ONCE;
        let high = (y + reach + 1).next_multiple_of(ROWS_AT_ONCE).min(height);
        let old = Some(self.cleared.rows.clone()).filter(|rows| !rows.is_empty());
        let old = old.unwrap_or(low..low);
        let rows = low.min(old.start)..high.max(old.end);
        let indices =
            |rows: Range<u32>| self.layout.index(0, rows.start)..self.layout.index(0, rows.end);
        let added = [rows.start..old.start, old.end..rows.end].map(indices);
        self.cleared.indices = indices(rows.clone());
        for indices in added {
            self.costs[indices].fill(UNREACHED);
        }
        let inner_start = if rows.start == 0 { 0 } else { rows.start + reach };
        let inner_end = if rows.end == height { height } else { rows.end - reach };
        (self.cleared.rows, self.cleared.inner) = (rows, inner_start..inner_end);
    }
}

#[cfg(test)]
mod tests {
    use crate::nav::{Cell, DistanceField, NavGrid, ProfileId, TerrainId};

    #[test]
    fn what_used_memory_holds_does_not_count() {
        let grid = NavGrid::new(8, 700, TerrainId::GROUND).unwrap();
        let mut used = DistanceField::new();
        for goal in [Cell::new(3, 0), Cell::new(4, 699), Cell::new(0, 350)] {
            let mut new = DistanceField::new();
            for budget in [20, u32::MAX] {
                for field in [&mut used, &mut new] {
                    if budget == 20 {
                        field.start(&grid, ProfileId::default(), goal).unwrap();
                        field.await_cells(&grid, [Cell::new(7, 349)]);
                    }
                    field.step(&grid, budget);
                }
                for cell in grid.rect().cells() {
                    assert_eq!(used.cost(&grid, cell), new.cost(&grid, cell));
                    assert_eq!(used.costs_around(&grid, cell), new.costs_around(&grid, cell));
                    assert_eq!(used.last_known_cost(&grid, cell), new.last_known_cost(&grid, cell));
                }
            }
            assert_eq!(used.counters(), new.counters());
        }
    }
}
