//! Straight lines over the grid: line of sight, and lines that a unit can follow.
//!
//! Input: two cells and the passability of a layer. Output: whether the line between their centers is free.
//! There are two kinds of lines, both symmetric, computed in integers and without allocation, column by
//! column along the longer axis:
//!
//! - **Thin** ([`NavGrid::has_line_of_sight`]): every cell whose interior the line crosses must be passable,
//!   except its two ends. Where the line runs exactly through the corner between four cells, one passable
//!   cell of the two beside it is enough.
//! - **Swept** ([`NavGrid::clear_line`]): every cell must be passable that is less than one column and less
//!   than one row away from some point of the line, including its two ends. These are exactly the cells that
//!   a square of one cell touches on its way along the line, so this is
//!   [`CornerRule::Forbid`](crate::nav::terrain::CornerRule::Forbid) for lines in any direction.
//!
//! No shut edge may lie between two cells that a thin line runs through, or between any two that the square of a swept line
//! touches. Where a thin line runs through a corner, one way around the corner must be without a shut edge.
//!
//! On hexagons (see `hexagons`) both kinds need the cells whose interior the line between the centers crosses; where the line
//! runs along the side between two cells, sight needs one of them, and a unit both. The width of units does not count.
//!
//! Units larger than a cell need nothing more. A layer's cells are anchors (see
//! [`Profile::size`](crate::nav::terrain::Profile::size)), and with its anchor between cells, a block covers no
//! other cells than it does with its anchor on the cells less than one column and one row away. If those are
//! passable, the block of `n × n` cells that moves along the line touches no impassable cell.
//!
//! Source: the error term of J. E. Bresenham, "Algorithm for computer control of a digital plotter" (IBM
//! Systems Journal 4(1), 1965), with all cells touched instead of the nearest.

mod hexagons;

use core::ops::Range;

use crate::nav::{Adjacency, Cell, Direction, Layer, NavGrid, ProfileId};

/// The direction of a line: columns counted along its longer axis, rows across.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    /// One step along the longer axis and one across, in columns and rows of the grid.
    pub(crate) along: (i32, i32),
    pub(crate) across: (i32, i32),
    /// Steps along from end to end, and steps across: never more.
    pub(crate) length: u32,
    pub(crate) rise: u32,
}

impl Slope {
    /// Returns the slope of a line that goes `dx` columns to the right and `dy` rows up.
    pub(crate) const fn of(dx: i64, dy: i64) -> Self {
        let (row, column) = ((dx.signum() as i32, 0), (0, dy.signum() as i32));
        let (width, height) = (dx.unsigned_abs() as u32, dy.unsigned_abs() as u32);
        if width >= height {
            Self { along: row, across: column, length: width, rise: height }
        } else {
            Self { along: column, across: row, length: height, rise: width }
        }
    }

    /// Returns the directions of the steps along and across.
    fn directions(&self) -> (Direction, Direction) {
        let direction = |(dx, dy)| Direction::from_offset(dx, dy);
        (direction(self.along), direction(self.across))
    }

    fn between(a: (u32, u32), b: (u32, u32)) -> Self {
        Self::of(i64::from(b.0) - i64::from(a.0), i64::from(b.1) - i64::from(a.1))
    }

    /// Returns the cell so many steps along and across from `(x, y)`.
    #[inline(always)]
    fn cell(&self, (x, y): (u32, u32), along: u32, across: u32) -> (u32, u32) {
        let (along, across) = (along as i32, across as i32);
        let dx = self.along.0 * along + self.across.0 * across;
        let dy = self.along.1 * along + self.across.1 * across;
        (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy))
    }
}

/// How far across a line is over some column: whole rows, and parts of a row (as many as the line is long
/// make a row).
#[derive(Clone, Copy, Default)]
struct LineHeight {
    row: u32,
    part: u32,
}

impl LineHeight {
    /// Advances to the next column.
    #[inline(always)]
    const fn advance(&mut self, slope: &Slope) {
        self.part += slope.rise;
        if self.part >= slope.length {
            self.part -= slope.length;
            self.row += 1;
        }
    }

    /// Returns the first row that is not below it.
    #[inline(always)]
    fn ceil(self) -> u32 {
        self.row + u32::from(self.part > 0)
    }
}

/// Whether all cells that a square touches on its way from `a` to `b` (both on the grid) are free, and no edge between two of them
/// is shut: see the [module](self). `is_shut` is asked for a cell and the direction of a step to another.
#[inline]
pub(crate) fn is_swept_line_free(
    a: (u32, u32),
    b: (u32, u32),
    is_free: impl Fn(u32, u32) -> bool,
    is_shut: impl Fn((u32, u32), Direction) -> bool,
) -> bool {
    let slope = Slope::between(a, b);
    let (forward, upward) = slope.directions();
    // In each column the line covers the heights from the column before to the column after it, as far as the
    // line goes.
    let (mut low, mut high) = (LineHeight::default(), LineHeight::default());
    let mut covered_before = 0..0;
    for along in 0..=slope.length {
        if along < slope.length {
            high.advance(&slope);
        }
        let covered = low.row..high.ceil() + 1;
        for across in covered.clone() {
            let cell = slope.cell(a, along, across);
            let is_behind_edge = covered_before.contains(&across)
                && is_shut(slope.cell(a, along - 1, across), forward);
            let is_above_edge =
                across > covered.start && is_shut(slope.cell(a, along, across - 1), upward);
            if !is_free(cell.0, cell.1) || is_behind_edge || is_above_edge {
                return false;
            }
        }
        covered_before = covered;
        if along > 0 {
            low.advance(&slope);
        }
    }
    true
}

impl Layer {
    /// Whether the thin line between the centers of two cells (counted from the origin) is free: see the
    /// [module](crate::nav::line_of_sight). Whether the two cells are passable themselves does not matter;
    /// false if one is not on the grid. Time: that of reading about two cells per column.
    #[must_use]
    pub fn has_line_of_sight(&self, a: (u32, u32), b: (u32, u32)) -> bool {
        if !is_on(self, a) || !is_on(self, b) {
            return false;
        }
        if self.adjacency() == Adjacency::Six {
            let is_free = |x, y| self.is_passable(x, y);
            let is_shut = |cell, direction| self.is_shut(cell, direction);
            return hexagons::is_line_free(a, b, (is_free, is_shut), |one, other, _| one || other);
        }
        let slope = Slope::between(a, b);
        let (forward, upward) = slope.directions();
        let is_free = |along, across| {
            let (x, y) = slope.cell(a, along, across);
            self.is_passable(x, y)
        };
        let is_open =
            |along, across, direction| !self.is_shut(slope.cell(a, along, across), direction);
        // The height at which the line leaves the column, in parts of its row: twice the length makes a full
        // row.
        let full_row = 2 * slope.length;
        let (mut row, mut height) = (0, slope.length + slope.rise);
        for column in 0..slope.length {
            if height >= full_row {
                let is_over_row = is_free(column, row + 1)
                    && is_open(column, row, upward)
                    && is_open(column, row + 1, forward);
                // Exactly through the corner there is another way around it.
                let is_past_corner = height == full_row
                    && is_free(column + 1, row)
                    && is_open(column, row, forward)
                    && is_open(column + 1, row, upward);
                if !is_over_row && !is_past_corner {
                    return false;
                }
                row += 1;
                height -= full_row;
            } else if !is_open(column, row, forward) {
                return false;
            }
            if column + 1 < slope.length && !is_free(column + 1, row) {
                return false;
            }
            height += 2 * slope.rise;
        }
        true
    }

    /// Whether a unit of this profile can go straight from one cell to the other (counted from the origin):
    /// the swept line of the [module](crate::nav::line_of_sight). False if one is not on the grid. Time: that
    /// of reading up to four cells per column.
    #[must_use]
    pub fn clear_line(&self, a: (u32, u32), b: (u32, u32)) -> bool {
        let is_free = |x, y| self.is_passable(x, y);
        let is_shut = |cell, direction| self.is_shut(cell, direction);
        let ends_are_free = is_free(a.0, a.1) && is_free(b.0, b.1);
        match self.adjacency() {
            _ if !ends_are_free => false,
            Adjacency::Six => {
                let join = |one, other, is_divided: bool| one && other && !is_divided;
                hexagons::is_line_free(a, b, (is_free, is_shut), join)
            }
            _ => is_swept_line_free(a, b, is_free, is_shut),
        }
    }

    /// Whether the edge that a step out of a cell crosses is shut.
    #[inline]
    fn is_shut(&self, (x, y): (u32, u32), direction: Direction) -> bool {
        self.crossings().is_some_and(|crossings| crossings.is_shut(x, y, direction))
    }
}

fn is_on(layer: &Layer, (x, y): (u32, u32)) -> bool {
    let (width, height) = layer.size();
    x < width && y < height
}

impl NavGrid {
    /// Whether the line between two cells is free of all that `profile` cannot pass: every cell whose interior the
    /// line between their centers crosses is passable, and where it runs exactly through the corner between
    /// four cells, one of the two beside it; and the line crosses no edge that is shut for `profile`. The two cells themselves
    /// do not matter. Symmetric; false if a cell is not on the grid or the profile is unknown.
    ///
    /// On hexagons, where the line runs along the side between two cells, one of them must be passable.
    ///
    /// For sight across water or over low walls and fences, use a profile that passes them, of size 1.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let mut grid = NavGrid::new(20, 10, TerrainId::GROUND)?;
    /// grid.block(CellRect::new(Cell::new(10, 0), 1, 5))?;
    /// let sees = |from, to| grid.has_line_of_sight(ProfileId(0), Cell::from(from), Cell::from(to));
    /// assert!(sees((4, 5), (16, 5)) && !sees((4, 4), (16, 4)));
    /// # Ok::<(), GridError>(())
    /// ```
    #[must_use]
    pub fn has_line_of_sight(&self, profile: ProfileId, a: Cell, b: Cell) -> bool {
        let line = locate_line(self, profile, a, b);
        line.is_some_and(|(layer, a, b)| layer.has_line_of_sight(a, b))
    }

    /// Whether a unit of `profile` can go straight from one cell to the other, in any direction: its block of
    /// cells touches no impassable cell along the line, neither at the ends nor at a corner. (So every cell
    /// less than one column and less than one row away from some point of the line between the centers is passable for
    /// it, and no edge between two of these cells is shut.) Symmetric; false if a cell is not on the grid or the profile is
    /// unknown. Terrain costs, and the steps that the profile may take, do not matter.
    ///
    /// On hexagons only the middle of a unit counts: every cell whose interior the line between the centers crosses is
    /// passable, and where it runs along the side between two cells, both. A unit as large as a cell may graze an impassable
    /// cell beside its way.
    #[must_use]
    pub fn clear_line(&self, profile: ProfileId, a: Cell, b: Cell) -> bool {
        let line = locate_line(self, profile, a, b);
        line.is_some_and(|(layer, a, b)| layer.clear_line(a, b))
    }

    /// Whether all cells of the rectangle between two corners are passable for `profile` and cost the same, and none is beside an
    /// edge. False if one is not on the grid, or if there are 64 columns or more.
    pub(crate) fn is_even(&self, profile: ProfileId, min: Cell, max: Cell) -> bool {
        locate_line(self, profile, min, max).is_some_and(|(layer, min, max)| {
            let (columns, rows) = (min.0..max.0 + 1, min.1..max.1 + 1);
            columns.len() < 64
                && !layer.has_wall(columns.clone(), rows.clone())
                && (layer.is_uniform() || self.has_one_cost(layer, columns, rows))
        })
    }

    fn has_one_cost(&self, layer: &Layer, columns: Range<u32>, mut rows: Range<u32>) -> bool {
        let terrain = self.terrain_bytes();
        let cost = layer.cost(columns.start, rows.start, terrain);
        rows.all(|y| columns.clone().all(|x| layer.cost(x, y, terrain) == cost))
    }
}

/// Returns the layer of a profile and the columns and rows of two cells on it.
fn locate_line(
    grid: &NavGrid,
    profile: ProfileId,
    a: Cell,
    b: Cell,
) -> Option<(&Layer, (u32, u32), (u32, u32))> {
    Some((grid.layer(profile)?, grid.local(a)?, grid.local(b)?))
}
