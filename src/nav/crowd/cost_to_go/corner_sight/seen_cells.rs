//! Visibility of a corner where edges are near, cell by cell.
//!
//! Input: a corner and a position. Output: the cells around the position from which the corner is visible, as when rows are
//! read as words. A step over an edge counts only if crossing is free, since the distance must be the exact cost.

use super::{CornerSight, REACH};
use crate::nav::crowd::board::{GridPos, STAY};
use crate::nav::directions;

/// Rows and columns of the cells around a corner.
const SEEN_ROWS: usize = 2 * (REACH as usize + 1) + 1;

/// The cells around a corner from which it is visible, found one by one.
struct SeenCells<'a> {
    sight: &'a CornerSight<'a>,
    corner: GridPos,
    /// By row, one bit for each column.
    rows: [u64; SEEN_ROWS],
}

impl SeenCells<'_> {
    /// Notes whether the corner is visible from a cell.
    fn look_at(&mut self, pos: GridPos) {
        let (costs, corner) = (&self.sight.costs, self.corner);
        let (layer, x, y) = (costs.layer, u32::from(pos.x), u32::from(pos.y));
        if !layer.is_passable(x, y) || costs.cost(pos) != costs.cost(corner) {
            return;
        }
        let leads_nearer = |direction: usize| {
            let next = pos.step(direction as u8);
            let weight = u64::from(layer.adjacency().weights()[direction & 1]);
            self.contains(next)
                && costs.distance(next, corner) + weight == costs.distance(pos, corner)
                && layer.crossing_cost(x, y, direction) == 0
        };
        let is_seen = pos == corner || directions(layer.legal_steps(x, y)).any(leads_nearer);
        let (column, row) = self.place(pos);
        self.rows[row] |= u64::from(is_seen) << column;
    }

    fn contains(&self, pos: GridPos) -> bool {
        let (column, row) = self.place(pos);
        column < SEEN_ROWS && self.rows.get(row).is_some_and(|row| row >> column & 1 == 1)
    }

    /// Returns the column and row of a cell, counted from the lowest, leftmost one.
    fn place(&self, pos: GridPos) -> (usize, usize) {
        let (dx, dy) = self.corner.offset_to(pos);
        let side = i32::from(REACH) + 1;
        ((dx + side) as usize, (dy + side) as usize)
    }
}

impl CornerSight<'_> {
    /// The same as [`seen_around`](Self::seen_around), from the corner to the position.
    #[inline(never)]
    pub(super) fn seen_beside_edges(&self, corner: GridPos, pos: GridPos) -> u16 {
        let mut seen = SeenCells { sight: self, corner, rows: [0; SEEN_ROWS] };
        let (dx, dy) = corner.offset_to(pos);
        // From nearest to farthest, as each cell is seen over a nearer one.
        let outward = |from: u16, to: i32| {
            let reach = (0..=(to.abs() + 1)).flat_map(|away| [away, -away]);
            let near = reach.filter(move |&at| (at - to).abs() <= to.abs() + 1);
            near.map(move |at| from.wrapping_add_signed(at as i16))
        };
        for y in outward(corner.y, dy) {
            for x in outward(corner.x, dx) {
                seen.look_at(GridPos { x, y });
            }
        }
        let is_seen = |direction: u8| {
            seen.contains(if direction == STAY { pos } else { pos.step(direction) })
        };
        (0..=STAY).fold(0, |all, direction| all | u16::from(is_seen(direction)) << direction)
    }
}
