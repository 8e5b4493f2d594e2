//! What an edit of the grid changes for a crowd.
//!
//! Input: the rectangles edited since the last tick. Output: the units under which terrain was blocked. What was known
//! about the edited terrain is forgotten.

use super::Crowd;
use super::board::GridPos;
use crate::nav::{CellRect, NavGrid};

impl Crowd {
    /// Applies the edits made since the last tick.
    pub(super) fn apply_edits(&mut self, grid: &NavGrid) {
        let revision = grid.revision();
        if revision != self.revision {
            let edits: Option<Vec<CellRect>> =
                grid.edits_since(self.revision).map(Iterator::collect);
            match &edits {
                Some(edits) => edits.iter().for_each(|&rect| self.forget_terrain(grid, rect)),
                None => self.shape.clear(),
            }
            let edits = edits.unwrap_or_else(|| vec![grid.rect()]);
            self.sources.find_trapped(&mut self.board, grid, &edits);
            self.revision = revision;
            self.sources.follow_edits(&self.board, grid, &edits);
            self.groups.follow_edits(grid, &edits);
            self.board.retry_all();
        }
        self.sources.drop_unused_areas(&self.board, grid);
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
