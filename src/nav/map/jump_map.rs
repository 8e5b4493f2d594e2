//! Jump points as bits: where scans over uniform terrain stop, kept up to date under edits.
//!
//! Input: which cells are passable. Output: how far a scan from a cell goes and whether it ends at a jump
//! point, 64 cells at a time in all eight directions. Jump point search otherwise looks this up in tables of
//! jump distances, or scans for it cell by cell. Here it takes a few bits per cell, so that it is available
//! immediately and is repaired in microseconds, where tables of jump distances must be rebuilt.
//!
//! - Straight: a bit for each cell at which a scan stops (impassable, or a forced neighbor), for each
//!   direction.
//! - Diagonal: a bit for each cell at which a scan stops (illegal step, or a straight scan to one side would
//!   find a jump point), for each direction, stored along the diagonals.
//! - With four neighbors there are no diagonals. Paths go up or down first, so scans along columns take the
//!   role of diagonal ones: they stop where a scan along the row would find a jump point.
//! - On hexagons three directions take the role of diagonals, see `hexagons`.
//! - On weighted cost, every cell on a [cost border](crate::nav::cost_borders) is a jump point. All other cells
//!   have only cells of their own cost around them, where the rules for uniform cost hold.
//!
//! An edit changes straight stops beside it, the visibility of jump points along the lines through those
//! stops, and diagonal stops at cells whose visibility has changed. Valid where corners may not be cut.
//!
//! Sources: D. Harabor & A. Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (AAAI 2011) for
//! jump points; "Improving Jump Point Search" (ICAPS 2014) for scanning in blocks of bits and for pruning
//! diagonal jump points.

mod build;
mod diagonal_stops;
mod diagonals;
mod hexagons;
pub(crate) mod jump_terrain;
mod scan_lines;
mod scan_visibility;

use core::ops::Range;

pub(crate) use self::scan_lines::Stop;
use self::{
    diagonals::Diagonals,
    hexagons::SlantedLines,
    scan_lines::{ScanLines, StopRule},
    scan_visibility::ScanVisibility,
};
use crate::nav::{Adjacency, BitRows, Direction, Rect};

/// What a map is built from: passable cells and, on weighted cost or with edges, those on cost borders.
#[derive(Clone, Copy)]
pub(crate) struct JumpMapSource<'a> {
    pub(crate) passable: &'a BitRows,
    pub(crate) cost_borders: Option<&'a BitRows>,
    /// Cells on cost borders beside fences, at which scans along rows, and along columns, need not stop.
    pub(crate) along: Option<[&'a BitRows; 2]>,
}

impl JumpMapSource<'_> {
    fn is_on_cost_border(&self, x: u32, y: u32) -> bool {
        self.cost_borders.is_some_and(|cost_borders| cost_borders.get(x, y))
    }

    /// Whether scans along rows (0) or columns (1) stop at a cell because it is on a cost border.
    fn is_extra_stop(&self, x: u32, y: u32, axis: usize) -> bool {
        self.is_on_cost_border(x, y) && !self.along.is_some_and(|along| along[axis].get(x, y))
    }
}

/// Stops of all scans; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct JumpMap {
    width: u32,
    height: u32,
    rows: ScanLines,
    columns: ScanLines,
    /// Both empty unless there are eight neighbors.
    rising: Diagonals,
    falling: Diagonals,
    /// Empty except on hexagons.
    slanted: SlantedLines,
    pub(crate) adjacency: Adjacency,
    /// Number of passable cells, and of isolated impassable ones.
    obstacle_counts: [u32; 2],
}

impl JumpMap {
    /// Creates a map with nothing passable.
    fn new(width: u32, height: u32, adjacency: Adjacency, has_cost_borders: bool) -> Self {
        let size_if = |is_used: bool| if is_used { (width, height) } else { (0, 0) };
        let (diagonal_width, diagonal_height) = size_if(adjacency == Adjacency::Eight);
        let has_extra_stops = has_cost_borders || adjacency == Adjacency::Four;
        let [row_rule, column_rule] = match adjacency {
            Adjacency::Four => [StopRule::Forced, StopRule::ExtraOnly],
            Adjacency::Eight => [StopRule::Forced; 2],
            Adjacency::Six => hexagons::RULES,
        };
        Self {
            width,
            height,
            rows: ScanLines::new(width, height, has_cost_borders, row_rule),
            columns: ScanLines::new(height, width, has_extra_stops, column_rule),
            rising: Diagonals::new(diagonal_width, diagonal_height, true),
            falling: Diagonals::new(diagonal_width, diagonal_height, false),
            slanted: SlantedLines::new(size_if(adjacency == Adjacency::Six), has_cost_borders),
            adjacency,
            obstacle_counts: [0; 2],
        }
    }

    /// Whether there may be cells on cost borders.
    pub(crate) const fn has_cost_borders(&self) -> bool {
        // Rows have no other extra stops.
        self.rows.has_extra_stops()
    }

    /// Returns the next stop of a straight scan from a cell on the grid.
    #[inline]
    pub(crate) fn straight(&self, x: u32, y: u32, direction: Direction) -> Stop {
        match direction {
            Direction::East => self.rows.scan::<true>(y, x),
            Direction::West => self.rows.scan::<false>(y, x),
            Direction::North => self.columns.scan::<true>(x, y),
            Direction::NorthWest => self.slanted.scan::<true>(x, y),
            _ => self.columns.scan::<false>(x, y),
        }
    }

    /// Returns the distance from a cell on the grid to the next stop of a scan with [side scans](Direction::has_side_scans),
    /// and whether the stop is a turning point; if not, the last step to it is illegal. `N` is the number of neighbors.
    #[inline(always)]
    pub(crate) fn next_turning_point<const N: u8, const RIGHT: bool, const UP: bool>(
        &self,
        x: u32,
        y: u32,
    ) -> (u32, bool) {
        if N == 4 {
            let stop = self.columns.scan::<UP>(x, y);
            return (stop.distance, stop.is_jump_point);
        }
        if N == 6 {
            let stop = match (RIGHT, UP) {
                (true, true) => self.columns.scan::<true>(x, y),
                (false, _) => self.rows.scan::<false>(y, x),
                (true, false) => self.slanted.scan::<false>(x, y),
            };
            return (stop.distance, stop.is_jump_point);
        }
        let diagonals = if RIGHT == UP { &self.rising } else { &self.falling };
        let bit = diagonals.bit_of(x, y);
        let (stop, is_turning_point) = diagonals.next::<UP>(bit);
        (stop.abs_diff(bit) as u32, is_turning_point)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes()
            + self.columns.bytes()
            + self.rising.bytes()
            + self.falling.bytes()
            + self.slanted.bytes()
    }

    /// Reads the rectangle (column, row, width, height) again and updates everything that depends on it. Returns how many cells
    /// along the lines through the rectangle have changed: on open terrain two rows and two columns of the whole grid.
    pub(crate) fn update(&mut self, (x, y, width, height): Rect, source: JumpMapSource) -> u64 {
        // The legality of diagonal steps changes around the rectangle as well.
        let columns = x.saturating_sub(1)..(x + width + 1).min(self.width);
        let rows = y.saturating_sub(1)..(y + height + 1).min(self.height);
        let before = self.count_obstacles(rows.clone(), &(x..x + width));
        let row_visibility = ScanVisibility::around(&self.rows, rows.clone(), &(x..x + width));
        let is_scanned = self.adjacency != Adjacency::Four;
        let scanned_columns = if is_scanned { columns.clone() } else { 0..0 };
        let column_visibility =
            ScanVisibility::around(&self.columns, scanned_columns, &(y..y + height));
        let slanted_visibility = self.slanted.visibility_around((x, y, width, height));
        for y in y..y + height {
            for x in x..x + width {
                self.read_cell(x, y, source);
            }
        }
        rows.clone().for_each(|row| self.rows.refresh(row, &(x..x + width)));
        columns.clone().for_each(|column| self.columns.refresh(column, &(y..y + height)));
        self.slanted.refresh_around((x, y, width, height));
        let after = self.count_obstacles(rows.clone(), &(x..x + width));
        for (index, count) in self.obstacle_counts.iter_mut().enumerate() {
            *count = *count - before[index] + after[index];
        }
        let along_lines = match self.adjacency {
            Adjacency::Four => self.update_turns_on_columns(row_visibility, source),
            Adjacency::Six => self
                .update_branches([row_visibility, column_visibility, slanted_visibility], source),
            Adjacency::Eight => {
                self.update_diagonals::<0>(row_visibility, source)
                    + self.update_diagonals::<1>(column_visibility, source)
            }
        };
        // At the edit itself, anything may have changed.
        for (x, y) in rows.flat_map(|y| columns.clone().map(move |x| (x, y))) {
            self.update_turning_points(x, y, source.is_on_cost_border(x, y));
        }
        along_lines
    }

    /// With four neighbors: updates the stops of scans along columns where what scans along rows find has changed. Returns the
    /// number of these cells.
    fn update_turns_on_columns(&mut self, rows: ScanVisibility, source: JumpMapSource) -> u64 {
        let (mut count, columns) = (0, &mut self.columns);
        rows.update(&self.rows, |y, sight| {
            let [was, is] = [sight.was, sight.is].map(|[forward, backward]| forward | backward);
            count += u64::from((was ^ is).count_ones());
            for (bit, x) in sight.cells(was ^ is, self.width) {
                let is_turn = is >> bit & 1 == 1 || source.is_on_cost_border(x, y);
                columns.set_only_stop(x, y, is_turn && self.rows.is_passable(y, x));
            }
        });
        count
    }

    fn read_cell(&mut self, x: u32, y: u32, source: JumpMapSource) {
        let is_passable = source.passable.get(x, y);
        self.rows.set_passable(y, x, is_passable);
        self.columns.set_passable(x, y, is_passable);
        self.slanted.set_passable(x, y, is_passable);
        if source.cost_borders.is_some() {
            self.slanted.set_extra_stop(x, y, source.is_on_cost_border(x, y));
            self.rows.set_extra_stop(y, x, source.is_extra_stop(x, y, 0));
            self.columns.set_extra_stop(x, y, source.is_extra_stop(x, y, 1));
        }
    }

    /// Whether jumping pays: it does not where isolated obstacles are scattered, one for every hundred
    /// passable cells or more. Each of them is a reason to stop, and A* is faster (measured on maps with 10
    /// and 35 % of random obstacles; game maps have one for 2,000 cells or fewer).
    pub(crate) const fn is_worthwhile(&self) -> bool {
        let [passable, isolated] = self.obstacle_counts;
        (isolated as u64) * 100 < passable as u64
    }

    fn count_obstacles(&self, rows: Range<u32>, columns: &Range<u32>) -> [u32; 2] {
        let words = self.rows.words_around(columns);
        let add =
            |sum: [u32; 2], row: [u32; 2]| core::array::from_fn(|index| sum[index] + row[index]);
        rows.map(|row| self.rows.obstacle_counts(row, words.clone())).fold([0; 2], add)
    }

    #[inline]
    fn is_passable(&self, x: u32, y: u32) -> bool {
        x < self.width && y < self.height && self.rows.is_passable(y, x)
    }

    /// Updates what scans with side scans find at the cell.
    fn update_turning_points(&mut self, x: u32, y: u32, is_on_cost_border: bool) {
        match self.adjacency {
            Adjacency::Four => {}
            Adjacency::Six => return self.update_turns_on_hexagons(x, y, is_on_cost_border),
            Adjacency::Eight => return self.update_diagonal_stops(x, y, is_on_cost_border),
        }
        let sees_jump_point = self.rows.scan::<true>(y, x).is_jump_point
            || self.rows.scan::<false>(y, x).is_jump_point;
        let is_stop = self.rows.is_passable(y, x) && (sees_jump_point || is_on_cost_border);
        self.columns.set_only_stop(x, y, is_stop);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a map cell by cell.
    fn by_cells(width: u32, height: u32, adjacency: Adjacency, source: JumpMapSource) -> JumpMap {
        let mut map = JumpMap::new(width, height, adjacency, source.cost_borders.is_some());
        map.update((0, 0, width, height), source);
        map
    }

    fn source_of<'a>(
        passable: &'a BitRows,
        cost_borders: Option<&'a BitRows>,
        along: Option<[&'a BitRows; 2]>,
    ) -> JumpMapSource<'a> {
        JumpMapSource { passable, cost_borders, along }
    }

    fn adjacencies() -> impl Strategy<Value = Adjacency> {
        prop_oneof![Just(Adjacency::Four), Just(Adjacency::Six), Just(Adjacency::Eight)]
    }

    #[test]
    fn an_edit_of_open_terrain_updates_each_cell_along_its_lines_once() {
        let (width, height) = (500, 300);
        let mut passable = BitRows::new(width, height);
        for y in 0..height {
            passable.set_row(0, y, (0..width).map(|_| true));
        }
        let mut map = by_cells(width, height, Adjacency::Eight, source_of(&passable, None, None));
        for is_passable in [false, true] {
            passable.set(200, 100, is_passable);
            let along_lines = map.update((200, 100, 1, 1), source_of(&passable, None, None));
            assert!((1_500..=1_608).contains(&along_lines), "{along_lines}");
        }
    }

    proptest! {
        #[test]
        fn updating_equals_rebuilding(
            (width, height) in (1u32..150, 1u32..150),
            walls in prop_oneof![Just(0), 0u64..60],
            seed: u64,
            adjacency in adjacencies(),
            has_cost_borders: bool,
            has_along: bool,
            edits in prop::collection::vec((any::<(u32, u32)>(), 1u32..6, 1u32..6, any::<u64>()), 1..12),
        ) {
            let hash = |x: u32, y: u32, seed: u64| {
                let cell = u64::from(x) << 32 | u64::from(y);
                (cell + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33
            };
            let mut passable = BitRows::new(width, height);
            let mut cost_borders = BitRows::new(width, height);
            for y in 0..height {
                let is_passable = |x: u32| hash(x, y, seed) % 100 >= walls;
                passable.set_row(0, y, (0..width).map(is_passable));
                let is_on_border = |x: u32| is_passable(x) && hash(x, y, !seed) % 100 < walls;
                cost_borders.set_row(0, y, (0..width).map(is_on_border));
            }
            let mut along = [BitRows::new(width, height), BitRows::new(width, height)];
            for (axis, along) in (0..).zip(&mut along) {
                for y in 0..height {
                    let is_along = |x| hash(x, y, seed ^ axis).is_multiple_of(3);
                    along.set_row(0, y, (0..width).map(is_along));
                }
            }
            let along = has_along.then_some([&along[0], &along[1]]);
            let source = source_of(&passable, has_cost_borders.then_some(&cost_borders), along);
            let mut map = JumpMap::build(width, height, adjacency, source);
            prop_assert!(map == by_cells(width, height, adjacency, source));
            for ((x, y), columns, rows, seed) in edits {
                let (x, y) = (x % width, y % height);
                let (columns, rows) = (columns.min(width - x), rows.min(height - y));
                for y in y..y + rows {
                    let value = |x: u32, seed| hash(x, y, seed).is_multiple_of(2);
                    passable.set_row(x, y, (x..x + columns).map(|x| value(x, seed)));
                    let on_border = (x..x + columns).map(|x| value(x, seed) && value(x, !seed));
                    cost_borders.set_row(x, y, on_border);
                }
                let source = source_of(&passable, has_cost_borders.then_some(&cost_borders), along);
                map.update((x, y, columns, rows), source);
            }
            let source = source_of(&passable, has_cost_borders.then_some(&cost_borders), along);
            prop_assert!(map == JumpMap::build(width, height, adjacency, source));
        }
    }
}
