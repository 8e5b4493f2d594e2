//! Clearance: where a unit larger than a cell fits, and what terrain it pays for.
//!
//! Input: the passability of single cells, and their terrain. Output: for each anchor (see [`Profile::size`]) whether the whole
//! [footprint](Footprint) of the unit is on the grid and passable and, on weighted terrain, the terrain of the costliest cell in
//! it. A search then treats anchors like cells.
//!
//! - Passability is an erosion of bit rows, run by run: a word is combined with shifted copies of itself, first along
//!   rows, then with the rows above, and on hexagons with those above to the left. The covered distance doubles each time, so
//!   that 64 anchors of a unit eight cells wide take three rounds per run. (Decomposition of a structuring element: R.
//!   Haralick, S. Sternberg & X. Zhuang, "Image Analysis Using Mathematical Morphology", IEEE PAMI 1987.)
//! - A shut edge inside the footprint keeps the unit off, too. So the cells with an open side to the east, to the north and, on
//!   hexagons, to the northwest are eroded in the same way, by one cell less in the direction of that side.
//! - The costliest terrain is the maximum over the footprint in the same rounds, over ranks of terrains instead
//!   of costs: ranks fit into bytes, and they break ties.
//!
//! Invariant: after the cells of a rectangle were read, [`erode`](Clearance::erode) and
//! [`read_costliest`](Clearance::read_costliest) of its [anchors](Clearance::anchors) give the same result as
//! building from scratch. The bytes of blocked anchors may be out of date: no unit can stand there.
//!
//! Memory: 1 bit per cell, 2 or 3 more where there are shut edges, and 1 byte more on weighted terrain.

use core::{cmp::Reverse, ops::Range};

use crate::nav::{
    BitRows, Footprint, Profile, Rect, TerrainId, Topology,
    edges::{EdgeMap, Side, crossings::EdgeCosts},
};

/// Rows of anchors processed at a time, so that scratch memory stays small.
const BAND: u32 = 64;

/// Data of a layer for units larger than a cell; see the [module](self).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Clearance {
    /// Columns and rows of the grid.
    size: (u32, u32),
    footprint: Footprint,
    /// The sides of cells at which edges are stored: two of squares, three of hexagons.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::edges::first_sides"))]
    sides: &'static [Side],
    /// Passability of single cells.
    base: BitRows,
    /// For each of the sides, the cells without a shut edge there; empty as long as there are no shut edges.
    open_sides: Vec<BitRows>,
    /// `None` if cost is uniform.
    costliest: Option<CostliestTerrain>,
}

/// The costliest terrain in the footprint at each anchor.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct CostliestTerrain {
    /// For each anchor, row-major: the lowest of the terrain bytes with the highest cost in its footprint.
    bytes: Vec<u8>,
    /// Index of each terrain in `terrains`.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::boxed_array"))]
    ranks: Box<[u8; 256]>,
    /// Cheapest first, impassable ones before all others; among equals the highest byte first.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::boxed_array"))]
    terrains: Box<[u8; 256]>,
}

impl Clearance {
    /// Creates the data of a grid with nothing passable; `None` for units of one cell.
    pub(crate) fn of(topology: Topology, profile: &Profile, size: (u32, u32)) -> Option<Box<Self>> {
        let footprint = Footprint::new(topology, profile.unit_size().into());
        let cells = size.0 as usize * size.1 as usize;
        (!footprint.is_single()).then(|| {
            let sides = match topology {
                Topology::Square => &Side::ALL[..2],
                Topology::Hexagonal => &Side::ALL[..],
            };
            let base = BitRows::new(size.0, size.1);
            let costliest = (!profile.is_uniform()).then(|| CostliestTerrain::new(profile, cells));
            Box::new(Self { size, footprint, sides, base, open_sides: Vec::new(), costliest })
        })
    }

    /// Returns the cells that the unit covers.
    pub(crate) const fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// Returns the passability of single cells, for updates.
    pub(crate) const fn base_mut(&mut self) -> &mut BitRows {
        &mut self.base
    }

    /// Returns the terrain of the costliest cell of the footprint at each anchor, row-major; valid only where the
    /// anchor is passable. `None` if cost is uniform.
    #[inline]
    pub(crate) fn costliest_terrain(&self) -> Option<&[u8]> {
        self.costliest.as_ref().map(|costliest| costliest.bytes.as_slice())
    }

    /// Returns the anchors whose footprints contain a cell of the rectangle (which lies on the grid), clipped to
    /// the grid.
    pub(crate) fn anchors(&self, rect: Rect) -> Rect {
        self.footprint.anchors_on(self.size, rect)
    }

    /// Returns the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let open_sides = self.open_sides.iter().map(BitRows::bytes).sum::<usize>();
        self.base.bytes()
            + open_sides
            + self.costliest.as_ref().map_or(0, |costliest| costliest.bytes.len() + 512)
    }

    /// Reads which edges of the cells of a rectangle are shut; returns whether any bit has changed.
    pub(crate) fn read_edges(
        &mut self,
        (x, y, width, height): Rect,
        edges: &EdgeMap,
        costs: &EdgeCosts,
    ) -> bool {
        if self.open_sides.is_empty() {
            if !edges.has_any_in((x, y, width, height)) {
                return false;
            }
            let mut all = BitRows::new(self.size.0, self.size.1);
            for y in 0..self.size.1 {
                all.set_row(0, y, (0..self.size.0).map(|_| true));
            }
            self.open_sides = vec![all; self.sides.len()];
        }
        let mut changed = false;
        for (bits, &side) in self.open_sides.iter_mut().zip(self.sides) {
            for y in y..y + height {
                let is_open = |x| !costs.is_shut(edges.get(x, y)[side as usize]);
                changed |= bits.set_row(x, y, (x..x + width).map(is_open));
            }
        }
        changed
    }

    /// Computes for a rectangle of anchors where the unit fits; returns whether any of `bits` has changed.
    pub(crate) fn erode(&self, (x, y, width, height): Rect, bits: &mut BitRows) -> bool {
        let words = BitRows::word_range(x..x + width);
        let (mut scratch, mut changed) = ([Vec::new(), Vec::new()], false);
        for rows in bands(y..y + height) {
            self.erode_band(&words, rows.clone(), &mut scratch);
            let eroded = scratch[0].chunks_exact(words.len() + 2);
            for (y, row) in rows.zip(eroded) {
                changed |= bits.set_words(y, words.start, &row[1..=words.len()]);
            }
        }
        changed
    }

    /// Fills the first scratch list with the given words of the given rows, eroded; each row has one more word on either side,
    /// and extra rows follow.
    fn erode_band(
        &self,
        words: &Range<usize>,
        rows: Range<u32>,
        [scratch, side_scratch]: &mut [Vec<u64>; 2],
    ) {
        let erode = |bits: &BitRows, runs: [u32; 3], scratch: &mut Vec<u64>| {
            self.read_words(bits, words, rows.clone(), scratch);
            erode_runs(scratch, words.len() + 2, runs);
        };
        erode(&self.base, self.footprint.runs(), scratch);
        for (bits, &side) in self.open_sides.iter().zip(self.sides) {
            let mut runs = self.footprint.runs();
            runs[side as usize] -= 1;
            erode(bits, runs, side_scratch);
            scratch.iter_mut().zip(&*side_scratch).for_each(|(all, more)| *all &= more);
        }
    }

    /// Reads a range of words, with one more on either side, of all rows that units with their anchors in `anchors` cover.
    fn read_words(
        &self,
        bits: &BitRows,
        words: &Range<usize>,
        anchors: Range<u32>,
        read: &mut Vec<u64>,
    ) {
        read.clear();
        for y in self.rows_under(anchors) {
            let length = read.len() + words.len() + 2;
            if let Some(y) = y {
                let row = bits.row(y);
                read.push(words.start.checked_sub(1).map_or(0, |before| row[before]));
                read.extend_from_slice(&row[words.start..=words.end]);
            }
            read.resize(length, 0);
        }
    }

    /// Iterates over the rows that units with their anchors in some rows cover; `None` for those off the grid.
    fn rows_under(&self, anchors: Range<u32>) -> impl Iterator<Item = Option<u32>> + use<> {
        let (before, height) = (self.footprint.before(), self.size.1);
        let rows = anchors.start as i32 - before..anchors.end as i32 - before;
        let more = self.footprint.span() - 1;
        (rows.start..rows.end + more).map(move |y| u32::try_from(y).ok().filter(|&y| y < height))
    }

    /// Computes the costliest terrain for a rectangle of anchors.
    pub(crate) fn read_costliest(&mut self, (x, y, width, height): Rect, terrain: &[u8]) {
        let (before, more) = (self.footprint.before() as u32, self.footprint.span() as u32 - 1);
        let Some(mut costliest) = self.costliest.take() else {
            return;
        };
        // Columns and rows off the grid have rank 0, so that they are never the costliest.
        let per_row = (width + more) as usize;
        let (left, off_grid) = (x.saturating_sub(before), before.saturating_sub(x));
        let right = (x + width + more - before).min(self.size.0);
        let index = |x: u32, y: u32| y as usize * self.size.0 as usize + x as usize;
        let mut scratch: Vec<u8> = Vec::new();
        for rows in bands(y..y + height) {
            scratch.clear();
            for y in self.rows_under(rows.clone()) {
                let length = scratch.len() + per_row;
                if let Some(y) = y {
                    let cells = terrain[index(left, y)..index(right, y)].iter();
                    scratch.resize(scratch.len() + off_grid as usize, 0);
                    scratch.extend(cells.map(|&terrain| costliest.ranks[usize::from(terrain)]));
                }
                scratch.resize(length, 0);
            }
            // Values that wrap into another row are not used.
            combine_runs(&mut scratch, per_row, self.footprint.runs(), u8::max);
            for (y, row) in rows.zip(scratch.chunks_exact(per_row)) {
                let bytes = &mut costliest.bytes[index(x, y)..index(x + width, y)];
                for (byte, &rank) in bytes.iter_mut().zip(&row[before as usize..]) {
                    *byte = costliest.terrains[usize::from(rank)];
                }
            }
        }
        self.costliest = Some(costliest);
    }
}

impl CostliestTerrain {
    fn new(profile: &Profile, cells: usize) -> Self {
        let mut terrains: Box<[u8; 256]> = Box::new(core::array::from_fn(|byte| byte as u8));
        terrains.sort_unstable_by_key(|&byte| (profile.cost(TerrainId(byte)), Reverse(byte)));
        let mut ranks = Box::new([0; 256]);
        for (rank, &terrain) in terrains.iter().enumerate() {
            ranks[usize::from(terrain)] = rank as u8;
        }
        Self { bytes: vec![0; cells], ranks, terrains }
    }
}

/// Splits rows into bands.
fn bands(rows: Range<u32>) -> impl Iterator<Item = Range<u32>> {
    let end = rows.end;
    rows.step_by(BAND as usize).map(move |start| start..end.min(start + BAND))
}

/// Returns the successive distances at which to combine items so that each item covers the `length - 1` items
/// that follow it.
fn doubling_steps(length: u32) -> impl Iterator<Item = u32> {
    let mut covered = 1;
    core::iter::from_fn(move || {
        let step = covered.min(length - covered);
        covered += step;
        (step > 0).then_some(step)
    })
}

/// Combines each item of a row-major table with all items that a footprint of these [runs](Footprint::runs) covers from there
/// on, as far as they exist. In the last columns, and on hexagons in the first ones, items of other rows get mixed in.
pub(crate) fn combine_runs<T: Copy>(
    items: &mut [T],
    columns: usize,
    runs: [u32; 3],
    combine: impl Fn(T, T) -> T,
) {
    for (length, stride) in runs.into_iter().zip([1, columns, columns - 1]) {
        combine_ahead(items, length, stride, &combine);
    }
}

/// Combines each item with the `length - 1` items that follow it, `stride` apart, as far as they exist.
fn combine_ahead<T: Copy>(
    items: &mut [T],
    length: u32,
    stride: usize,
    combine: &impl Fn(T, T) -> T,
) {
    for step in doubling_steps(length) {
        let ahead = step as usize * stride;
        for at in ahead..items.len() {
            items[at - ahead] = combine(items[at - ahead], items[at]);
        }
    }
}

/// Clears each bit unless all bits that a footprint of these [runs](Footprint::runs) covers from there on are set.
fn erode_runs(words: &mut [u64], per_row: usize, [east, north, northwest]: [u32; 3]) {
    words.chunks_exact_mut(per_row).for_each(|row| erode_row(row, east));
    combine_ahead(words, north, per_row, &|here, above| here & above);
    for step in doubling_steps(northwest) {
        let ahead = step as usize * per_row;
        for at in ahead..words.len() {
            let before = if at.is_multiple_of(per_row) { 0 } else { words[at - 1] >> (64 - step) };
            words[at - ahead] &= words[at] << step | before;
        }
    }
}

/// Clears the bits of a row unless the `length - 1` bits above them are set, too.
fn erode_row(row: &mut [u64], length: u32) {
    for step in doubling_steps(length) {
        for word in 0..row.len() {
            let next = row.get(word + 1).map_or(0, |next| next << (64 - step));
            row[word] &= row[word] >> step | next;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hash(x: u32, y: u32, seed: u64) -> u64 {
        let cell = u64::from(x) << 32 | u64::from(y);
        (cell + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33
    }

    /// Terrains 1 to 5; 4 and 5 cost the same, and 0 is not used.
    fn profile(side: u8) -> Profile {
        let costs = [(1, 32), (2, 16), (3, 48), (4, 40), (5, 40)];
        let all = costs.into_iter();
        all.fold(Profile::new(), |profile, (byte, cost)| profile.with(TerrainId(byte), cost))
            .size(side)
    }

    /// A minimal grid: its terrain, and where it is passable.
    struct TestGrid {
        size: (u32, u32),
        terrain: Vec<u8>,
        open: Vec<bool>,
    }

    impl TestGrid {
        fn draw(&mut self, (x, y, width, height): Rect, walls: u64, seed: u64) {
            for y in y..y + height {
                for x in x..x + width {
                    let index = (y * self.size.0 + x) as usize;
                    self.terrain[index] = 1 + (hash(x, y, seed) % 5) as u8;
                    self.open[index] = hash(x, y, !seed) % 1000 >= walls;
                }
            }
        }

        /// Reads a rectangle as a layer does.
        fn read(&self, rect: Rect, clearance: &mut Clearance, bits: &mut BitRows) {
            let (x, y, width, height) = rect;
            for y in y..y + height {
                let open = (x..x + width).map(|x| self.open[(y * self.size.0 + x) as usize]);
                clearance.base_mut().set_row(x, y, open);
            }
            let anchors = clearance.anchors(rect);
            clearance.erode(anchors, bits);
            clearance.read_costliest(anchors, &self.terrain);
        }

        /// Returns the terrain of the costliest cell, computed cell by cell; `None` if the unit does not fit.
        fn costliest(
            &self,
            (x, y): (u32, u32),
            topology: Topology,
            profile: &Profile,
        ) -> Option<u8> {
            let footprint = Footprint::new(topology, profile.unit_size().into());
            if !footprint.fits((x, y), self.size) {
                return None;
            }
            let at = |(dx, dy)| (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
            let cells = footprint.offsets().map(at).map(|(x, y)| y * self.size.0 + x);
            let cells: Vec<usize> = cells.map(|cell| cell as usize).collect();
            if !cells.iter().all(|&cell| self.open[cell]) {
                return None;
            }
            let terrains = cells.iter().map(|&cell| self.terrain[cell]);
            terrains.max_by_key(|&byte| (profile.cost(TerrainId(byte)), Reverse(byte)))
        }
    }

    proptest! {
        #[test]
        fn fit_and_costliest_terrain_match_a_cell_by_cell_check(
            size in (1u32..200, 1u32..150),
            side in 1u8..=8,
            is_hexagonal: bool,
            walls in 0u64..60,
            seed: u64,
            edits in prop::collection::vec((any::<(u32, u32)>(), 1u32..9, 1u32..9), 0..8),
        ) {
            let profile = profile(side);
            let (width, height) = size;
            let cells = (width * height) as usize;
            let mut grid = TestGrid { size, terrain: vec![0; cells], open: vec![false; cells] };
            let mut bits = BitRows::new(width, height);
            let topology = if is_hexagonal { Topology::Hexagonal } else { Topology::Square };
            let clearance = Clearance::of(topology, &profile, size);
            prop_assert_eq!(clearance.is_some(), side > 1);
            let Some(mut clearance) = clearance else {
                return Ok(());
            };
            grid.draw((0, 0, width, height), walls, seed);
            grid.read((0, 0, width, height), &mut clearance, &mut bits);
            for (number, ((x, y), columns, rows)) in edits.into_iter().enumerate() {
                let (x, y) = (x % width, y % height);
                let rect = (x, y, columns.min(width - x), rows.min(height - y));
                grid.draw(rect, 10 * walls, seed ^ (number as u64 + 1) << 20);
                grid.read(rect, &mut clearance, &mut bits);
            }
            let costliest = clearance.costliest_terrain().unwrap();
            for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                let found = bits.get(x, y).then(|| costliest[(y * width + x) as usize]);
                let expected = grid.costliest((x, y), topology, &profile);
                prop_assert_eq!((x, y, found), (x, y, expected));
            }
        }
    }

    #[test]
    fn an_edit_that_no_unit_notices_changes_no_bit() {
        let mut clearance = Clearance::of(Topology::Square, &profile(3), (20, 5)).unwrap();
        let mut bits = BitRows::new(20, 5);
        for y in 0..5 {
            clearance.base_mut().set_row(0, y, (0..20).map(|x| x != 10));
        }
        assert!(clearance.erode((0, 0, 20, 5), &mut bits));
        // A wall next to the wall removes anchors; removing one end of the first wall adds none.
        clearance.base_mut().set_row(11, 2, [false].into_iter());
        assert!(clearance.erode(clearance.anchors((11, 2, 1, 1)), &mut bits));
        clearance.base_mut().set_row(10, 0, [true].into_iter());
        assert!(!clearance.erode(clearance.anchors((10, 0, 1, 1)), &mut bits));
        assert!(bits.get(7, 0) && !bits.get(8, 0) && !bits.get(11, 0) && bits.get(12, 0));
    }
}
