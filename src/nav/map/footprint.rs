//! The cells that a unit covers.
//!
//! Input: the shape of cells and the size of a unit, in cells along a side. Output: a `Footprint`: cells relative to the unit's
//! anchor. On squares it is a square, and the anchor is its lowest, leftmost cell. On hexagons it is a hexagon of 1, 7, 19, 37, …
//! cells, and the anchor is the one in the middle.
//!
//! Every footprint is a sum of *runs* (a Minkowski sum): one to the east, one to the north and, on hexagons, one to the
//! northwest. Three runs of `n` cells along the axes of hexagons give a hexagon with `n` cells along each side, and two give a
//! square. So what holds on all cells of a footprint is computed run by run (see [`clearance`](crate::nav::clearance)).

use core::ops::Range;

use crate::nav::{CellRect, Rect, Topology};

/// The cells that a unit covers, relative to its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Footprint {
    topology: Topology,
    size: i32,
}

impl Footprint {
    /// The footprint of a unit with so many cells along a side.
    pub(crate) const fn new(topology: Topology, size: u32) -> Self {
        Self { topology, size: size as i32 }
    }

    /// Cells along a side.
    pub(crate) const fn size(self) -> u32 {
        self.size as u32
    }

    /// Whether it is a single cell.
    #[inline]
    pub(crate) const fn is_single(self) -> bool {
        self.size == 1
    }

    /// How many columns, and how many rows, it covers to the left of the anchor and below.
    #[inline]
    pub(crate) const fn before(self) -> i32 {
        match self.topology {
            Topology::Square => 0,
            Topology::Hexagonal => self.size - 1,
        }
    }

    /// How many columns, and how many rows, it covers.
    #[inline]
    pub(crate) const fn span(self) -> i32 {
        self.before() + self.size
    }

    /// The number of its cells.
    pub(crate) const fn area(self) -> u64 {
        let size = self.size as u64;
        match self.topology {
            Topology::Square => size * size,
            Topology::Hexagonal => 3 * size * (size - 1) + 1,
        }
    }

    /// Its rows from the lowest on: how far above the anchor, and its columns there.
    pub(crate) fn rows(self) -> impl Iterator<Item = (i32, Range<i32>)> + Clone {
        let Self { topology, size } = self;
        (-self.before()..size).map(move |row| match topology {
            Topology::Square => (row, 0..size),
            // Rows are slanted: each row up reaches one column less far to the right, each row down one less to the left.
            Topology::Hexagonal => (row, 1 - size - row.min(0)..size - row.max(0)),
        })
    }

    /// Its cells, row by row: how far to the right of the anchor and above.
    pub(crate) fn offsets(self) -> impl Iterator<Item = (i32, i32)> + Clone {
        self.rows().flat_map(|(row, columns)| columns.map(move |column| (column, row)))
    }

    /// Whether it covers the cell `column` columns to the right of the anchor and `row` rows above it.
    #[inline]
    pub(crate) const fn covers(self, (column, row): (i32, i32)) -> bool {
        let size = self.size;
        match self.topology {
            Topology::Square => column >= 0 && column < size && row >= 0 && row < size,
            Topology::Hexagonal => {
                let third = column + row;
                column > -size
                    && column < size
                    && row > -size
                    && row < size
                    && third > -size
                    && third < size
            }
        }
    }

    /// Whether it shares a cell with another footprint whose anchor is `column` columns to the right of its own
    /// and `row` rows above.
    pub(crate) const fn meets(self, other: Self, (column, row): (i32, i32)) -> bool {
        match self.topology {
            Topology::Square => {
                let (low, high) = (-other.size, self.size);
                column > low && column < high && row > low && row < high
            }
            // Two hexagons meet where the middle of one lies in a hexagon as large as both together.
            Topology::Hexagonal => {
                let both = Self { size: self.size + other.size - 1, ..self };
                both.covers((column, row))
            }
        }
    }

    /// The footprint extended by all cells at most `spacing` columns and rows away (on hexagons, steps), and how far the anchor
    /// of the result lies to the left of the old one and below.
    pub(crate) const fn spaced(self, spacing: u32) -> (Self, i32) {
        let spacing = spacing as i32;
        match self.topology {
            Topology::Square => (Self { size: self.size + 2 * spacing, ..self }, spacing),
            Topology::Hexagonal => (Self { size: self.size + spacing, ..self }, 0),
        }
    }

    /// The lengths of the runs to the east, north and northwest of which it is the sum. The sum starts from the lowest cell in
    /// the column of the anchor.
    pub(crate) const fn runs(self) -> [u32; 3] {
        let size = self.size as u32;
        match self.topology {
            Topology::Square => [size, size, 1],
            Topology::Hexagonal => [size; 3],
        }
    }

    /// Whether all of it is on a grid of so many columns and rows, with its anchor on this one.
    #[inline]
    pub(crate) const fn fits(self, (x, y): (u32, u32), (width, height): (u32, u32)) -> bool {
        let (before, size) = (self.before() as u32, self.size as u32);
        x >= before && y >= before && x + size <= width && y + size <= height
    }

    /// The anchors from which it covers a cell of a rectangle; on hexagons, also some more at the corners.
    pub(crate) const fn anchors_over(self, rect: CellRect) -> CellRect {
        let (left, more) = (1 - self.size, self.span() as u32 - 1);
        let (width, height) = (rect.width.saturating_add(more), rect.height.saturating_add(more));
        CellRect::new(rect.min.offset(left, left), width, height)
    }

    /// The same on a grid of so many columns and rows, for a rectangle that lies on it.
    pub(crate) fn anchors_on(self, (width, height): (u32, u32), rect: Rect) -> Rect {
        let (before, after) = (self.before() as u32, self.size as u32 - 1);
        let (left, low) = (rect.0.saturating_sub(after), rect.1.saturating_sub(after));
        let right = (rect.0 + rect.2 + before).min(width);
        let top = (rect.1 + rect.3 + before).min(height);
        (left, low, right - left, top - low)
    }

    /// The anchors with which all of it lies in a rectangle.
    pub(crate) fn anchors_in(self, rect: CellRect) -> CellRect {
        let (before, more) = (self.before(), self.span() as u32 - 1);
        if rect.width.min(rect.height) <= more {
            return CellRect::default();
        }
        CellRect::new(rect.min.offset(before, before), rect.width - more, rect.height - more)
    }

    /// The rectangle of the cells that it covers with its anchor in a rectangle; on hexagons, with some more cells at the
    /// corners.
    pub(crate) const fn cells_under(self, anchors: CellRect) -> CellRect {
        let (before, more) = (self.before(), self.span() as u32 - 1);
        let (width, height) =
            (anchors.width.saturating_add(more), anchors.height.saturating_add(more));
        CellRect::new(anchors.min.offset(-before, -before), width, height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::Cell;

    fn all() -> impl Iterator<Item = Footprint> {
        let shapes = [Topology::Square, Topology::Hexagonal].into_iter();
        shapes.flat_map(|topology| (1..=8).map(move |size| Footprint::new(topology, size)))
    }

    #[test]
    fn footprints_are_what_their_runs_add_up_to() {
        for footprint in all() {
            let [east, north, northwest] = footprint.runs().map(|length| 0..length as i32);
            let mut sum: Vec<(i32, i32)> = Vec::new();
            for (a, b, c) in east.flat_map(|a| {
                let northwest = northwest.clone();
                north.clone().flat_map(move |b| northwest.clone().map(move |c| (a, b, c)))
            }) {
                sum.push((b + c - footprint.before(), a - c));
            }
            sum.sort_unstable();
            sum.dedup();
            let mut cells: Vec<_> = footprint.offsets().map(|(x, y)| (y, x)).collect();
            cells.sort_unstable();
            assert_eq!(cells, sum, "{footprint:?}");
            assert_eq!(cells.len() as u64, footprint.area());
        }
    }

    #[test]
    fn cells_of_hexagons_are_those_within_reach_of_the_middle() {
        for footprint in all().filter(|footprint| footprint.topology == Topology::Hexagonal) {
            let around = footprint.topology.cells_around(Cell::default(), 0..=footprint.before());
            let around: Vec<_> = around.map(|(_, cell)| (cell.x, cell.y)).collect();
            assert_eq!(footprint.offsets().collect::<Vec<_>>(), around);
        }
    }

    #[test]
    fn what_is_covered_and_met_agrees_with_the_cells() {
        for (one, other) in all().flat_map(|one| all().map(move |other| (one, other))) {
            if one.topology != other.topology || one.size > 4 {
                continue;
            }
            for (x, y) in (-12..12).flat_map(|y| (-12..12).map(move |x| (x, y))) {
                assert_eq!(one.covers((x, y)), one.offsets().any(|cell| cell == (x, y)));
                let moved = other.offsets().map(|(column, row)| (column + x, row + y));
                let meets = moved.clone().any(|cell| one.covers(cell));
                assert_eq!(one.meets(other, (x, y)), meets, "{one:?} {other:?} ({x}, {y})");
            }
        }
    }

    #[test]
    fn rectangles_of_anchors_and_cells_bound_them() {
        for footprint in all() {
            let (grid, rect) = ((40, 30), CellRect::new(Cell::new(13, 2), 5, 3));
            let anchors = footprint.anchors_over(rect);
            let (x, y, width, height) = footprint.anchors_on(grid, (13, 2, 5, 3));
            let clipped = anchors.intersection(CellRect::new(Cell::default(), grid.0, grid.1));
            assert_eq!(CellRect::new(Cell::new(x as i32, y as i32), width, height), clipped);
            for at in CellRect::new(Cell::new(-10, -20), 60, 60).cells() {
                let mut cells = footprint.offsets().map(|(x, y)| at.offset(x, y));
                assert!(anchors.contains(at) || cells.clone().all(|cell| !rect.contains(cell)));
                let under = footprint.cells_under(CellRect::single(at));
                assert!(cells.clone().all(|cell| under.contains(cell)));
                assert_eq!(under.width, footprint.span() as u32);
                let on_grid = CellRect::new(Cell::default(), grid.0, grid.1);
                if on_grid.contains(at) {
                    let fits = footprint.fits((at.x as u32, at.y as u32), grid);
                    assert_eq!(fits, footprint.anchors_in(on_grid).contains(at));
                    assert_eq!(fits, cells.all(|cell| on_grid.contains(cell)));
                }
            }
        }
    }
}
