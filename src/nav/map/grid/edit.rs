//! A batch of edits: the grid changes immediately, its layers and connected regions when the batch ends.

use std::sync::OnceLock;

use super::{GridError, NavGrid, blockers::Blockers};
use crate::nav::{CHUNK, Cell, CellRect, TerrainId, layer::Source};

/// Up to so many rectangles of a batch are recorded one by one.
const FEW: usize = 8;
/// Rectangles of a batch that are recorded; more are joined, so that the edit log covers a longer time.
const MAX_LOGGED: usize = 32;
/// Cells that may lie between two rectangles that are joined, if joining neighbors alone is not enough; twice as many if that is
/// not enough either, and so on.
const FIRST_GAP: u64 = 64;

/// A batch of edits on a [`NavGrid`]; dropping it updates all derived data.
///
/// An edit that does not affect units (the same terrain again, a second blocker on a blocked cell) leaves the
/// revision unchanged, so that no path is planned again because of it.
#[derive(Debug)]
pub struct GridEdit<'grid> {
    pub(super) grid: &'grid mut NavGrid,
    /// The changes so far: a rectangle for each call that changed something, or for several such calls.
    changed: Vec<CellRect>,
}

impl<'grid> GridEdit<'grid> {
    pub(super) fn new(grid: &'grid mut NavGrid) -> Self {
        Self { grid, changed: Vec::new() }
    }

    /// Sets the terrain of `cell`.
    ///
    /// # Errors
    /// [`GridError::OutOfBounds`]; nothing is changed then.
    pub fn set_terrain(&mut self, cell: Cell, terrain: TerrainId) -> Result<(), GridError> {
        let (x, y) = self.grid.local(cell).ok_or(GridError::OutOfBounds(cell))?;
        let index = self.grid.index(x, y);
        let before = std::mem::replace(&mut self.grid.terrain[index], terrain.0);
        if before != terrain.0 {
            self.grid.note_terrain(TerrainId(before), terrain);
        }
        if before != terrain.0 && self.grid.blockers.get(x, y) == 0 {
            self.note_cell(cell);
        }
        Ok(())
    }

    /// Records a changed cell. Cells that are set row by row become one rectangle, which is updated as a whole.
    fn note_cell(&mut self, cell: Cell) {
        match self.changed.last_mut() {
            Some(row) if row.height == 1 && cell == row.min.offset(row.width as i32, 0) => {
                row.width += 1;
            }
            _ => self.changed.push(CellRect::single(cell)),
        }
        if let [.., rows, row] = self.changed.as_mut_slice()
            && row.height == 1
            && row.width == rows.width
            && row.min == rows.min.offset(0, rows.height as i32)
        {
            rows.height += 1;
            self.changed.pop();
        }
    }

    /// Records the two cells of a changed edge. Edges that are set one after another along a line become one rectangle.
    pub(super) fn note_edge(&mut self, both: CellRect) {
        let is_line = |rect: CellRect| rect.width <= 2 || rect.height <= 2;
        match self.changed.last_mut() {
            Some(last) if !last.grown().intersection(both).is_empty() => {
                let joined = last.union(both);
                match is_line(joined) {
                    true => *last = joined,
                    false => self.changed.push(both),
                }
            }
            _ => self.changed.push(both),
        }
    }

    /// Adds a blocker to every cell of `rect`. Blockers are counted: a cell is free again when all of them
    /// have been removed.
    ///
    /// # Errors
    /// [`GridError::RectOutOfBounds`] if `rect` is empty or extends off the grid,
    /// [`GridError::TooManyBlockers`] on the 65,536th blocker; nothing is changed then.
    pub fn block(&mut self, rect: CellRect) -> Result<(), GridError> {
        self.change(rect, |count| count < u16::MAX, GridError::TooManyBlockers, Blockers::add)
    }

    /// Removes a blocker from every cell of `rect`.
    ///
    /// # Errors
    /// [`GridError::RectOutOfBounds`] if `rect` is empty or extends off the grid, [`GridError::NotBlocked`]
    /// if a cell has none; nothing is changed then.
    pub fn unblock(&mut self, rect: CellRect) -> Result<(), GridError> {
        self.change(rect, |count| count > 0, GridError::NotBlocked, Blockers::remove)
    }

    /// Returns the grid with the edits so far. Its layers do not include them yet.
    #[must_use]
    pub fn grid(&self) -> &NavGrid {
        self.grid
    }

    /// Runs `change` on every cell of `rect`; `change` returns whether passability changed there. If `rect` is
    /// not on the grid, or the count of a cell is not allowed (`error`), nothing is changed.
    fn change(
        &mut self,
        rect: CellRect,
        is_allowed: impl Fn(u16) -> bool,
        error: fn(Cell) -> GridError,
        change: impl Fn(&mut Blockers, u32, u32) -> bool,
    ) -> Result<(), GridError> {
        if rect.is_empty() || rect.intersection(self.grid.rect()) != rect {
            return Err(GridError::RectOutOfBounds(rect));
        }
        if let Some(cell) = rect.cells().find(|&cell| !is_allowed(self.grid.blockers(cell))) {
            return Err(error(cell));
        }
        let mut any = false;
        for cell in rect.cells() {
            if let Some((x, y)) = self.grid.local(cell) {
                any |= change(&mut self.grid.blockers, x, y);
            }
        }
        if any {
            self.changed.push(rect);
        }
        Ok(())
    }
}

impl Drop for GridEdit<'_> {
    fn drop(&mut self) {
        if self.changed.is_empty() {
            return;
        }
        // Sorted so that rectangles near each other are joined; the order of the edits does not matter.
        let chunk = |at: i32| at.div_euclid(CHUNK as i32);
        self.changed.sort_unstable_by_key(|&rect| (chunk(rect.min.x), chunk(rect.min.y), rect));
        let grid = &mut *self.grid;
        let blockers = &grid.blockers;
        let is_blocked = |x, y| blockers.get(x, y) > 0;
        let origin = grid.origin;
        let local = self.changed.iter().map(|rect| {
            let min = (rect.min.x - origin.x, rect.min.y - origin.y);
            (min.0 as u32, min.1 as u32, rect.width, rect.height)
        });
        for layer in grid.layers.iter_mut().filter_map(OnceLock::get_mut) {
            let (terrain, edges) = (grid.terrain.as_slice(), &grid.edges);
            layer.update(local.clone(), Source { terrain, edges, is_blocked });
        }
        let mut gap = 0;
        while self.changed.len() > if gap == 0 { FEW } else { MAX_LOGGED } {
            join_near(&mut self.changed, gap);
            gap = if gap == 0 { FIRST_GAP } else { gap.saturating_mul(2) };
        }
        self.changed.iter().for_each(|&rect| grid.touch(rect));
    }
}

/// Joins rectangles that follow each other in the list where this adds at most `gap` cells.
fn join_near(rects: &mut Vec<CellRect>, gap: u64) {
    let area = |rect: CellRect| u64::from(rect.width) * u64::from(rect.height);
    rects.dedup_by(|rect, last| {
        let joined = last.union(*rect);
        let is_near = area(joined) <= area(*last) + area(*rect) + gap;
        if is_near {
            *last = joined;
        }
        is_near
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rectangles recorded for cells that are set one by one.
    fn recorded(cells: impl IntoIterator<Item = (i32, i32)>) -> Vec<CellRect> {
        let mut grid = NavGrid::new(9, 9, TerrainId::GROUND).unwrap();
        grid.block(CellRect::single(Cell::new(5, 5))).unwrap();
        let mut edit = grid.edit();
        for cell in cells {
            edit.set_terrain(cell.into(), TerrainId(0)).unwrap();
        }
        edit.changed.clone()
    }

    /// Vehicles that are far apart drive a cell farther: what is recorded does not cover all that lies between them.
    #[test]
    fn many_edits_far_apart_are_recorded_near_where_they_are() {
        for vehicles in (5..9).chain([15, 30, 60]) {
            let column = |at| 10 + at * 29 % 230;
            let cells = (0..vehicles).map(|at| Cell::new(column(at), 10 + at * at * 83 % 230));
            let mut grid = NavGrid::new(250, 250, TerrainId::GROUND).unwrap();
            cells.clone().for_each(|cell| grid.block(CellRect::single(cell)).unwrap());
            let before = grid.revision();
            let mut edit = grid.edit();
            let left = cells.clone();
            left.for_each(|cell| edit.unblock(CellRect::single(cell)).unwrap());
            let entered = cells.map(|cell| cell.offset(1, 0));
            entered.for_each(|cell| edit.block(CellRect::single(cell)).unwrap());
            drop(edit);
            let recorded: Vec<CellRect> = grid.edits_since(before).unwrap().collect();
            let area: u32 = recorded.iter().map(|rect| rect.width * rect.height).sum();
            let most = if vehicles < 9 { 1_000 } else { 12_000 };
            assert!(recorded.len() <= MAX_LOGGED && area <= most, "{area}: {recorded:?}");
        }
    }

    fn rect(x: i32, y: i32, width: u32, height: u32) -> CellRect {
        CellRect::new(Cell::new(x, y), width, height)
    }

    #[test]
    fn cells_row_by_row_are_one_rectangle() {
        assert_eq!(recorded(rect(2, 1, 3, 4).cells().map(|c| (c.x, c.y))), [rect(2, 1, 3, 4)]);
        assert_eq!(recorded([(1, 1), (1, 2), (1, 3)]), [rect(1, 1, 1, 3)]);
        assert_eq!(recorded([(1, 1), (2, 1), (1, 2)]), [rect(1, 1, 2, 1), rect(1, 2, 1, 1)]);
        assert_eq!(recorded([(2, 1), (1, 1)]), [rect(2, 1, 1, 1), rect(1, 1, 1, 1)]);
        let around_a_blocker = recorded([(4, 5), (5, 5), (6, 5)]);
        assert_eq!(around_a_blocker, [rect(4, 5, 1, 1), rect(6, 5, 1, 1)]);
    }
}
