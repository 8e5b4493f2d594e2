//! Diagonal stops with eight neighbors, where straight scans find something different after an edit.
//!
//! Input: the cells along the lines through the edit from which a scan finds a jump point, before and after. Output: the stops of
//! diagonal scans there. Of the two straight scans that a stop depends on only one has changed, and the words of its line say
//! what it found, so that few stops need another scan.

use super::{
    JumpMap, JumpMapSource,
    diagonals::Diagonals,
    scan_lines::{ScanDirection, ScanLines},
    scan_visibility::{ScanVisibility, Sight},
};

/// A diagonal direction from the view of a straight axis (0: rows, 1: columns): forward (0) or backward (1) along it, and across it.
#[derive(Clone, Copy)]
struct Quadrant {
    along: usize,
    across: usize,
}

const QUADRANTS: [Quadrant; 4] = [
    Quadrant { along: 0, across: 0 },
    Quadrant { along: 0, across: 1 },
    Quadrant { along: 1, across: 0 },
    Quadrant { along: 1, across: 1 },
];

impl Quadrant {
    /// The diagonal in this direction (0: falling, 1: rising), and whether up (0) or down (1) on it.
    const fn diagonal<const AXIS: usize>(self) -> (usize, usize) {
        let is_rising = self.along == self.across;
        (is_rising as usize, if AXIS == 0 { self.across } else { self.along })
    }

    /// The direction with the same way across, and the other one along the axis.
    const fn mirrored(self) -> Self {
        Self { along: 1 - self.along, across: self.across }
    }
}

/// What an update of the stops of one axis reads and writes.
struct Update<'a> {
    rows: &'a ScanLines,
    columns: &'a ScanLines,
    /// Falling and rising.
    diagonals: [&'a mut Diagonals; 2],
    source: JumpMapSource<'a>,
}

impl JumpMap {
    /// Updates diagonal stops where what scans along rows (`AXIS` 0), or along columns (1), find has changed, and returns the
    /// number of these cells. What scans along the other axis find there has not changed, and neither have the legal steps, except
    /// at the edit itself.
    pub(super) fn update_diagonals<const AXIS: usize>(
        &mut self,
        visibility: ScanVisibility,
        source: JumpMapSource,
    ) -> u64 {
        let Self { rows, columns, rising, falling, .. } = self;
        let (lines, length) =
            if AXIS == 0 { (&*rows, self.width) } else { (&*columns, self.height) };
        let mut update = Update { rows, columns, diagonals: [falling, rising], source };
        let mut count = 0;
        visibility.update(lines, |line, sight| {
            count += u64::from(sight.changed().count_ones());
            // What is lost comes first: it reads from the stops what was found before.
            QUADRANTS.iter().for_each(|&it| update.lose::<AXIS>((line, length), sight, it));
            QUADRANTS.iter().for_each(|&it| update.gain::<AXIS>((line, length), sight, it));
        });
        count
    }

    /// Finds the diagonal stops at a cell again.
    pub(super) fn update_diagonal_stops(&mut self, x: u32, y: u32, is_on_cost_border: bool) {
        let is_passable = self.rows.is_passable(y, x);
        let [left, right, below, above] = [
            self.is_passable(x.wrapping_sub(1), y),
            self.is_passable(x + 1, y),
            self.is_passable(x, y.wrapping_sub(1)),
            self.is_passable(x, y + 1),
        ]
        .map(|beside| is_passable && beside);
        let [east, west, north, south] = [
            self.rows.scan::<true>(y, x),
            self.rows.scan::<false>(y, x),
            self.columns.scan::<true>(x, y),
            self.columns.scan::<false>(x, y),
        ]
        .map(|stop| is_on_cost_border || stop.is_jump_point);
        let [up, down] = [ScanDirection::Forward, ScanDirection::Backward];
        self.rising.set(x, y, up, left && below, east || north);
        self.rising.set(x, y, down, right && above, west || south);
        self.falling.set(x, y, up, right && below, west || north);
        self.falling.set(x, y, down, left && above, east || south);
    }
}

/// The cell with an index on a line of an axis.
const fn cell<const AXIS: usize>(line: u32, index: u32) -> (u32, u32) {
    if AXIS == 0 { (index, line) } else { (line, index) }
}

impl Update<'_> {
    /// Removes the turning points at which nothing is seen any more.
    fn lose<const AXIS: usize>(
        &mut self,
        (line, length): (u32, u32),
        sight: Sight,
        quadrant: Quadrant,
    ) {
        let (slope, way) = quadrant.diagonal::<AXIS>();
        for (bit, index) in sight.cells(sight.lost(quadrant.along), length) {
            let (x, y) = cell::<AXIS>(line, index);
            let at = self.diagonals[slope].bit_of(x, y);
            if !self.diagonals[slope].is_turning_point(at, way)
                || self.source.is_on_cost_border(x, y)
            {
                continue;
            }
            // If nothing was seen along the other way, the diagonal there says what is seen across. Its step is legal, too: what
            // was seen lay beyond a passable cell.
            let mirrored = quadrant.mirrored();
            let is_known = sight.was[mirrored.along] >> bit & 1 == 0;
            let sees_across = if is_known {
                let (slope, way) = mirrored.diagonal::<AXIS>();
                let diagonal = &self.diagonals[slope];
                diagonal.is_turning_point(diagonal.bit_of(x, y), way)
            } else {
                self.sees_across::<AXIS>(quadrant.across, (x, y))
            };
            if !sees_across {
                self.diagonals[slope].remove_turning_point(at, way);
            }
        }
    }

    /// Adds the turning points at which a jump point is seen now.
    fn gain<const AXIS: usize>(
        &mut self,
        (line, length): (u32, u32),
        sight: Sight,
        quadrant: Quadrant,
    ) {
        let (slope, way) = quadrant.diagonal::<AXIS>();
        for (_, index) in sight.cells(sight.gained(quadrant.along), length) {
            let (x, y) = cell::<AXIS>(line, index);
            let at = self.diagonals[slope].bit_of(x, y);
            self.diagonals[slope].add_turning_point(at, way);
        }
    }

    /// Whether a scan across the axis finds a jump point.
    fn sees_across<const AXIS: usize>(&self, across: usize, (x, y): (u32, u32)) -> bool {
        let stop = match (AXIS, across) {
            (0, 0) => self.columns.scan::<true>(x, y),
            (0, _) => self.columns.scan::<false>(x, y),
            (_, 0) => self.rows.scan::<true>(y, x),
            _ => self.rows.scan::<false>(y, x),
        };
        stop.is_jump_point
    }
}
