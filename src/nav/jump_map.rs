//! Jump points as bits: where scans over uniform ground stop, kept right under edits.
//!
//! Input: which cells are passable. Output: how far a scan from a cell goes and whether it ends at a
//! jump point, 64 cells a step in all eight directions. This is what jump point search looks up, or
//! scans for cell by cell; here it is a few bits a cell, so that it can be had at once and be
//! repaired in microseconds, where tables of jump distances must be found anew.
//!
//! - Straight: a bit for each cell at which a scan stops (impassable, or a forced neighbor), for each
//!   direction.
//! - Diagonal: a bit for each cell at which a scan stops (illegal step, or a straight scan to one
//!   side would find a jump point), for each direction, stored along the diagonals.
//! - With four neighbors there are no diagonals. Ways go up or down first, so scans along columns do
//!   what diagonal ones do: they stop where a scan along the row would find a jump point.
//! - Where cost is mixed, every cell on a [seam](super::seams) is a jump point. All other cells have
//!   ground of one cost around them, where the rules of uniform cost hold.
//!
//! An edit changes straight stops beside it, sights along the lines through those, and diagonal
//! stops at cells that see otherwise. It holds where corners may not be cut.
//!
//! Sources: D. Harabor & A. Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (AAAI
//! 2011) for jump points; "Improving Jump Point Search" (ICAPS 2014) for scanning in blocks of bits
//! and for leaving out diagonal jump points.

mod build;
mod diagonals;
mod lines;
mod sights;

use core::ops::Range;

pub(crate) use self::lines::Stop;
use self::{
    diagonals::Diagonals,
    lines::{Along, Lines},
    sights::Sights,
};
use super::{bit_rows::BitRows, direction::Direction, terrain::Neighborhood};

/// What a map is made from: passable cells and, where cost is mixed, those on seams.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) bits: &'a BitRows,
    pub(crate) seams: Option<&'a BitRows>,
}

/// Stops of all scans; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JumpMap {
    width: u32,
    height: u32,
    rows: Lines,
    columns: Lines,
    /// Both empty with four neighbors.
    rising: Diagonals,
    falling: Diagonals,
    has_diagonals: bool,
    /// Passable cells, and impassable ones that stand alone.
    texture: [u32; 2],
}

impl JumpMap {
    /// A map with nothing passable.
    fn new(width: u32, height: u32, neighborhood: Neighborhood, has_seams: bool) -> Self {
        let has_diagonals = neighborhood == Neighborhood::Eight;
        let (mut rows, mut columns) = (Lines::new(width, height), Lines::new(height, width));
        if has_seams {
            (rows, columns) = (rows.with_marks(), columns.with_marks());
        }
        if !has_diagonals {
            columns = columns.without_forced();
        }
        let (across, along) = if has_diagonals { (width, height) } else { (0, 0) };
        Self {
            width,
            height,
            rows,
            columns,
            rising: Diagonals::new(across, along, true),
            falling: Diagonals::new(across, along, false),
            has_diagonals,
            texture: [0; 2],
        }
    }

    /// Whether scans go along diagonals: with eight neighbors.
    pub(crate) const fn has_diagonals(&self) -> bool {
        self.has_diagonals
    }

    /// Whether there may be cells on seams.
    pub(crate) const fn has_seams(&self) -> bool {
        // Nothing else marks rows.
        self.rows.has_marks()
    }

    /// Whether ground of another cost lies beside the cell. Only of maps that
    /// [have seams](Self::has_seams).
    #[inline]
    pub(crate) fn is_on_seam(&self, x: u32, y: u32) -> bool {
        self.rows.is_marked(y, x)
    }

    /// The next stop of a straight scan from a cell on the grid.
    #[inline]
    pub(crate) fn straight(&self, x: u32, y: u32, way: Direction) -> Stop {
        match way {
            Direction::East => self.rows.scan::<true>(y, x),
            Direction::West => self.rows.scan::<false>(y, x),
            Direction::North => self.columns.scan::<true>(x, y),
            _ => self.columns.scan::<false>(x, y),
        }
    }

    /// How far along its row, to the right or left, the next jump point is, if one is seen.
    #[inline(always)]
    pub(crate) fn sight_along_row<const RIGHT: bool>(&self, x: u32, y: u32) -> Option<u32> {
        self.rows.sight::<RIGHT>(y, x)
    }

    /// How far along its column, up or down, the next jump point is, if one is seen.
    #[inline(always)]
    pub(crate) fn sight_along_column<const UP: bool>(&self, x: u32, y: u32) -> Option<u32> {
        self.columns.sight::<UP>(x, y)
    }

    /// A diagonal scan from a cell on the grid.
    #[inline(always)]
    pub(crate) fn diagonal<const RIGHT: bool, const UP: bool>(&self, x: u32, y: u32) -> Ray<'_> {
        let diagonals = if RIGHT == UP { &self.rising } else { &self.falling };
        let bit = diagonals.bit_of(x, y);
        Ray { diagonals, from: bit, bit }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes() + self.columns.bytes() + self.rising.bytes() + self.falling.bytes()
    }

    /// Reads the rectangle (column, row, width, height) anew and brings everything up to date.
    pub(crate) fn update(&mut self, (x, y, width, height): (u32, u32, u32, u32), ground: Ground) {
        // Whether diagonal steps are legal changes around the rectangle, too.
        let columns = x.saturating_sub(1)..(x + width + 1).min(self.width);
        let rows = y.saturating_sub(1)..(y + height + 1).min(self.height);
        let before = self.texture_of(rows.clone(), &(x..x + width));
        let along_rows = Sights::around(&self.rows, rows.clone(), &(x..x + width));
        let seen_columns = if self.has_diagonals { columns.clone() } else { 0..0 };
        let along_columns = Sights::around(&self.columns, seen_columns, &(y..y + height));
        for y in y..y + height {
            for x in x..x + width {
                self.read_cell(x, y, ground);
            }
        }
        rows.clone().for_each(|row| self.rows.refresh(row, &(x..x + width)));
        columns.clone().for_each(|column| self.columns.refresh(column, &(y..y + height)));
        let after = self.texture_of(rows.clone(), &(x..x + width));
        for (side, count) in self.texture.iter_mut().enumerate() {
            *count = *count - before[side] + after[side];
        }
        let mut cells = Vec::new();
        along_rows.update(&self.rows, |row, x| cells.push((x, row)));
        along_columns.update(&self.columns, |column, y| cells.push((column, y)));
        cells.retain(|&(x, y)| x < self.width && y < self.height);
        cells.extend(rows.flat_map(|y| columns.clone().map(move |x| (x, y))));
        for (x, y) in cells {
            self.find_turns(x, y);
        }
    }

    fn read_cell(&mut self, x: u32, y: u32, ground: Ground) {
        let is_open = ground.bits.get(x, y);
        self.rows.set_open(y, x, is_open);
        self.columns.set_open(x, y, is_open);
        if let Some(seams) = ground.seams {
            self.rows.set_mark(y, x, seams.get(x, y));
            self.columns.set_mark(x, y, seams.get(x, y));
        }
    }

    /// Whether jumping pays: not where single obstacles are strewn about, one for a hundred
    /// passable cells or more. There each is a reason to stop, and A* is faster (measured on maps
    /// with 10 and 35 % of random obstacles; game maps have one for 2,000 or fewer).
    pub(crate) const fn pays(&self) -> bool {
        let [open, alone] = self.texture;
        (alone as u64) * 100 < open as u64
    }

    fn texture_of(&self, rows: Range<u32>, columns: &Range<u32>) -> [u32; 2] {
        let words = self.rows.words_around(columns);
        let add = |sum: [u32; 2], row: [u32; 2]| core::array::from_fn(|side| sum[side] + row[side]);
        rows.map(|row| self.rows.texture(row, words.clone())).fold([0; 2], add)
    }

    #[inline]
    fn is_open(&self, x: u32, y: u32) -> bool {
        x < self.width && y < self.height && self.rows.is_open(y, x)
    }

    /// Finds out what scans that look to their sides do at the cell.
    fn find_turns(&mut self, x: u32, y: u32) {
        let is_on_seam = self.has_seams() && self.is_on_seam(x, y);
        if self.has_diagonals {
            self.find_diagonal_stops(x, y, is_on_seam);
            return;
        }
        let sees = self.rows.scan::<true>(y, x).is_open || self.rows.scan::<false>(y, x).is_open;
        self.columns.set_mark(x, y, self.rows.is_open(y, x) && (sees || is_on_seam));
        self.columns.refresh(x, &(y..y + 1));
    }

    fn find_diagonal_stops(&mut self, x: u32, y: u32, is_on_seam: bool) {
        let (left, right) = (self.is_open(x.wrapping_sub(1), y), self.is_open(x + 1, y));
        let (below, above) = (self.is_open(x, y.wrapping_sub(1)), self.is_open(x, y + 1));
        let here = self.rows.is_open(y, x);
        let east = self.rows.scan::<true>(y, x).is_open;
        let west = self.rows.scan::<false>(y, x).is_open;
        let north = self.columns.scan::<true>(x, y).is_open;
        let south = self.columns.scan::<false>(x, y).is_open;
        let [up, down] = [Along::Forward, Along::Backward];
        self.rising.set(x, y, up, here && left && below, is_on_seam || east || north);
        self.rising.set(x, y, down, here && right && above, is_on_seam || west || south);
        self.falling.set(x, y, up, here && right && below, is_on_seam || west || north);
        self.falling.set(x, y, down, here && left && above, is_on_seam || east || south);
    }
}

/// A diagonal scan under way.
pub(crate) struct Ray<'a> {
    diagonals: &'a Diagonals,
    from: usize,
    bit: usize,
}

impl Ray<'_> {
    /// Goes on to the next stop: how many steps it is from the beginning, and whether there is
    /// something to be seen there; otherwise the step there is illegal and the scan is over.
    #[inline(always)]
    pub(crate) fn advance<const UP: bool>(&mut self) -> (u32, bool) {
        let (bit, turns) = self.diagonals.next::<UP>(self.bit);
        self.bit = bit;
        (bit.abs_diff(self.from) as u32, turns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A map built cell by cell.
    fn by_cells(width: u32, height: u32, neighborhood: Neighborhood, ground: Ground) -> JumpMap {
        let mut map = JumpMap::new(width, height, neighborhood, ground.seams.is_some());
        map.update((0, 0, width, height), ground);
        map
    }

    fn neighborhoods() -> impl Strategy<Value = Neighborhood> {
        prop_oneof![Just(Neighborhood::Four), Just(Neighborhood::Eight)]
    }

    proptest! {
        #[test]
        fn edits_lead_to_the_same_map_as_building_it_anew(
            (width, height) in (1u32..150, 1u32..150),
            walls in 0u64..60,
            seed: u64,
            neighborhood in neighborhoods(),
            has_seams: bool,
            edits in prop::collection::vec((any::<(u32, u32)>(), 1u32..6, 1u32..6, any::<u64>()), 1..12),
        ) {
            let hash = |x: u32, y: u32, seed: u64| {
                let cell = u64::from(x) << 32 | u64::from(y);
                (cell + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33
            };
            let (mut bits, mut seams) = (BitRows::new(width, height), BitRows::new(width, height));
            for y in 0..height {
                let is_open = |x: u32| hash(x, y, seed) % 100 >= walls;
                bits.set_row(0, y, (0..width).map(is_open));
                let is_on_seam = |x: u32| is_open(x) && hash(x, y, !seed) % 100 < walls;
                seams.set_row(0, y, (0..width).map(is_on_seam));
            }
            fn seen<'a>(bits: &'a BitRows, seams: Option<&'a BitRows>) -> Ground<'a> {
                Ground { bits, seams }
            }
            let ground = seen(&bits, has_seams.then_some(&seams));
            let mut map = JumpMap::build(width, height, neighborhood, ground);
            prop_assert!(map == by_cells(width, height, neighborhood, ground));
            for ((x, y), columns, rows, seed) in edits {
                let (x, y) = (x % width, y % height);
                let (columns, rows) = (columns.min(width - x), rows.min(height - y));
                for y in y..y + rows {
                    let value = |x: u32, seed| hash(x, y, seed).is_multiple_of(2);
                    bits.set_row(x, y, (x..x + columns).map(|x| value(x, seed)));
                    let on_seam = (x..x + columns).map(|x| value(x, seed) && value(x, !seed));
                    seams.set_row(x, y, on_seam);
                }
                map.update((x, y, columns, rows), seen(&bits, has_seams.then_some(&seams)));
            }
            let ground = seen(&bits, has_seams.then_some(&seams));
            prop_assert!(map == JumpMap::build(width, height, neighborhood, ground));
        }
    }
}
