//! What entities place on a grid: blockers and edges. They are recorded, so that they can be taken off a grid that leaves
//! the app, or off a copy.

use std::collections::btree_map::Entry;

use super::{GridEdit, GridError, NavGrid};
use crate::nav::{Cell, CellRect, Direction, EdgeId, Rect, edges::EdgeSource};

impl GridEdit<'_> {
    /// Adds a blocker of an entity to every cell of `rect`, as [`block`](Self::block) does.
    pub(crate) fn place(&mut self, rect: CellRect) -> Result<(), GridError> {
        self.block(rect)?;
        if let Some(rect) = self.grid.local_rect(rect) {
            *self.grid.blockers.placed.entry(rect).or_default() += 1;
        }
        Ok(())
    }

    /// Removes a blocker of an entity from every cell of `rect`, as [`unblock`](Self::unblock) does. One that could not be
    /// placed, as there were too many on a cell, leaves nothing behind.
    pub(crate) fn take(&mut self, rect: CellRect) -> Result<(), GridError> {
        if let Some(rect) = self.grid.local_rect(rect) {
            let Entry::Occupied(mut count) = self.grid.blockers.placed.entry(rect) else {
                return Ok(());
            };
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        self.unblock_what_is_left(rect)
    }

    /// Removes a blocker from every cell of `rect` except those that the game has already unblocked itself.
    fn unblock_what_is_left(&mut self, rect: CellRect) -> Result<(), GridError> {
        let whole = self.unblock(rect);
        if !matches!(whole, Err(GridError::NotBlocked(_))) {
            return whole;
        }
        for cell in rect.cells() {
            let _is_freed = self.unblock(CellRect::single(cell));
        }
        Ok(())
    }

    /// Sets what entities place between two cells.
    pub(crate) fn place_edge(
        &mut self,
        cell: Cell,
        direction: Direction,
        edge: EdgeId,
    ) -> Result<(), GridError> {
        self.set_edge_of(cell, direction, (EdgeSource::Placed, edge))
    }
}

impl NavGrid {
    /// Removes what entities have placed, for a grid that was outside the app for a time, or is a copy.
    pub(crate) fn forget_placed(&mut self) {
        let blockers = std::mem::take(&mut self.blockers.placed);
        let edges: Vec<_> = self.edges.placed().collect();
        let origin = self.origin;
        let mut edit = self.edit();
        for ((x, y, width, height), count) in blockers {
            let rect = CellRect::new(origin.offset(x as i32, y as i32), width, height);
            for _ in 0..count {
                let freed = edit.unblock_what_is_left(rect);
                debug_assert!(freed.is_ok(), "it was placed: {freed:?}");
            }
        }
        for ((x, y), side) in edges {
            let cell = origin.offset(x as i32, y as i32);
            let taken = edit.place_edge(cell, side.direction(), EdgeId::NONE);
            debug_assert!(taken.is_ok(), "there is an edge: {taken:?}");
        }
    }

    /// Returns a rectangle in columns and rows from the origin.
    fn local_rect(&self, CellRect { min, width, height }: CellRect) -> Option<Rect> {
        self.local(min).map(|(x, y)| (x, y, width, height))
    }
}
