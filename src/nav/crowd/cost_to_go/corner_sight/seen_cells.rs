//! Visibility of a corner where edges are near, cell by cell.
//!
//! Input: a corner and a position. Output: the cells around the position from which the corner is visible, as when rows are
//! read as words. A step over an edge counts only if crossing is free, since the distance must be the exact cost.

use super::{CornerSight, REACH};
use crate::nav::crowd::board::{GridPos, STAY};
use crate::nav::{OFFSETS, directions};

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
    /// Notes whether the corner is visible from the cell so many columns and rows away.
    fn look_at(&mut self, x: i32, y: i32) {
        let layer = self.sight.costs.layer;
        let at = |dx: i32, dy: i32| {
            let (x, y) = (i32::from(self.corner.x) + dx, i32::from(self.corner.y) + dy);
            (x as u32, y as u32)
        };
        let cost = |(x, y): (u32, u32)| match layer.is_passable(x, y) {
            true => self.sight.costs.cost(GridPos { x: x as u16, y: y as u16 }),
            false => 0,
        };
        let (here, own) = (at(x, y), cost(at(0, 0)));
        if own == 0 || cost(here) != own {
            return;
        }
        let leads_nearer = |direction: u8| {
            let (dx, dy) = OFFSETS[usize::from(direction)];
            let weight = layer.adjacency().weights()[usize::from(direction & 1)];
            self.contains(x + dx, y + dy)
                && layer.distance(x + dx, y + dy) + weight == layer.distance(x, y)
                && layer.crossing_cost(here.0, here.1, usize::from(direction)) == 0
        };
        let legal = layer.legal_steps(here.0, here.1);
        let is_seen = (x, y) == (0, 0) || directions(legal).any(|it| leads_nearer(it as u8));
        self.rows[(y + i32::from(REACH) + 1) as usize] |=
            u64::from(is_seen) << (x + i32::from(REACH) + 1);
    }

    fn contains(&self, x: i32, y: i32) -> bool {
        let (column, row) = (x + i32::from(REACH) + 1, y + i32::from(REACH) + 1);
        let is_inside = (0..SEEN_ROWS as i32).contains(&column);
        is_inside && self.rows.get(row as usize).is_some_and(|row| row >> column & 1 == 1)
    }
}

impl CornerSight<'_> {
    /// The same as [`seen_around`](Self::seen_around), from the corner to the position.
    #[inline(never)]
    pub(super) fn seen_beside_edges(&self, corner: GridPos, pos: GridPos) -> u16 {
        let mut seen = SeenCells { sight: self, corner, rows: [0; SEEN_ROWS] };
        let (dx, dy) = corner.offset_to(pos);
        // From nearest to farthest, as each cell is seen over a nearer one.
        let outward = |to: i32| {
            let reach = 0..=(to.abs() + 1);
            reach.flat_map(|away| [away, -away]).filter(move |&at| (at - to).abs() <= to.abs() + 1)
        };
        for y in outward(dy) {
            for x in outward(dx) {
                seen.look_at(x, y);
            }
        }
        let is_seen = |direction: u8| {
            let (x, y) = OFFSETS.get(usize::from(direction)).copied().unwrap_or_default();
            seen.contains(dx + x, dy + y)
        };
        (0..=STAY).fold(0, |all, direction| all | u16::from(is_seen(direction)) << direction)
    }
}
