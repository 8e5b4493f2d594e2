//! What an edit of the grid changes for a crowd.
//!
//! Input: the rectangles edited since the last tick. Output: units under which terrain was blocked; all that was known
//! about the terrain there, forgotten.

use super::{Crowd, reservations::GridPos};
use crate::nav::{cell::CellRect, grid::NavGrid};

impl Crowd {
    /// Applies the edits made since the last tick.
    pub(super) fn apply_edits(&mut self, grid: &NavGrid) {
        let revision = grid.revision();
        if revision != self.revision {
            match grid.edits_since(self.revision) {
                Some(edits) => edits.for_each(|rect| {
                    self.find_trapped(grid, rect);
                    self.forget_terrain(grid, rect);
                }),
                None => {
                    self.find_trapped(grid, grid.rect());
                    self.shape.clear();
                }
            }
            self.revision = revision;
            self.reset_all_progress();
            self.sources.follow_edit(grid);
            self.groups.mark_stale();
        }
        self.drop_unused_footprints(grid);
    }

    /// Forgets what is known about the terrain in a rectangle after it has changed.
    fn forget_terrain(&mut self, grid: &NavGrid, rect: CellRect) {
        let rect = rect.intersection(grid.rect());
        if let Some(low) = GridPos::of(grid, rect.min).filter(|_| !rect.is_empty()) {
            let high =
                GridPos { x: low.x + rect.width as u16 - 1, y: low.y + rect.height as u16 - 1 };
            self.shape.forget(low, high);
        }
    }
}
