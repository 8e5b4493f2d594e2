//! Clearance: where a unit larger than a cell fits, and what terrain it pays for.
//!
//! Input: the passability of single cells, and their terrain. Output: for each anchor (the lowest, leftmost
//! cell of the unit's block, see [`Profile::size`]) whether the whole block is on the grid and passable and,
//! on weighted terrain, the terrain of the costliest cell in the block. A search then treats anchors like
//! cells.
//!
//! - Passability is an erosion of bit rows: a word is combined with shifted copies of itself, first along
//!   rows, then with the rows above, doubling the covered distance each time, so that 64 anchors of a unit
//!   eight cells wide take three rounds per axis. (Decomposition of a square structuring element: R.
//!   Haralick, S. Sternberg & X. Zhuang, "Image Analysis Using Mathematical Morphology", IEEE PAMI 1987.)
//! - A shut edge inside the block keeps the unit off, too. The cells that are open to the east, and to the north, are eroded in
//!   the same way: along the side that they lead along, by one cell less.
//! - The costliest terrain is the maximum over the block in the same rounds, over ranks of terrains instead
//!   of costs: ranks fit into bytes, and they break ties.
//!
//! Invariant: after the cells of a rectangle were read, [`erode`](Clearance::erode) and
//! [`read_costliest`](Clearance::read_costliest) of its [anchors](Clearance::anchors) give the same result as
//! building from scratch. The bytes of blocked anchors may be out of date: no unit can stand there.
//!
//! Memory: 1 bit per cell, 2 more where there are shut edges, and 1 byte more on weighted terrain.

use core::{cmp::Reverse, ops::Range};

use crate::nav::{
    BitRows, Profile, Rect, TerrainId,
    edges::{EdgeMap, Side, crossings::EdgeCosts},
};

/// Rows of anchors processed at a time, so that scratch memory stays small.
const BAND: u32 = 64;

/// Data of a layer for units larger than a cell; see the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Clearance {
    width: u32,
    height: u32,
    /// Cells along a side of the unit.
    side: u32,
    /// Passability of single cells.
    base: BitRows,
    /// Cells without a shut edge to the east, and to the north; `None` as long as there are no shut edges.
    open_sides: Option<[BitRows; 2]>,
    /// `None` if cost is uniform.
    costliest: Option<CostliestTerrain>,
}

/// The costliest terrain in the block of each anchor.
#[derive(Clone, Debug)]
struct CostliestTerrain {
    /// For each anchor, row-major: the lowest of the terrain bytes with the highest cost in its block.
    bytes: Vec<u8>,
    /// Index of each terrain in `terrains`.
    ranks: Box<[u8; 256]>,
    /// Cheapest first, impassable ones before all others; among equals the highest byte first.
    terrains: Box<[u8; 256]>,
}

impl Clearance {
    /// Creates the data of a grid with nothing passable; `None` for units of one cell.
    pub(crate) fn of(profile: &Profile, width: u32, height: u32) -> Option<Box<Self>> {
        let side = u32::from(profile.unit_size());
        let cells = width as usize * height as usize;
        (side > 1).then(|| {
            let base = BitRows::new(width, height);
            let costliest = (!profile.is_uniform()).then(|| CostliestTerrain::new(profile, cells));
            Box::new(Self { width, height, side, base, open_sides: None, costliest })
        })
    }

    /// Returns the number of cells along a side of the unit.
    pub(crate) const fn side(&self) -> u32 {
        self.side
    }

    /// Returns the passability of single cells, for updates.
    pub(crate) const fn base_mut(&mut self) -> &mut BitRows {
        &mut self.base
    }

    /// Returns the terrain of the costliest cell of each anchor's block, row-major; valid only where the
    /// anchor is passable. `None` if cost is uniform.
    #[inline]
    pub(crate) fn costliest_terrain(&self) -> Option<&[u8]> {
        self.costliest.as_ref().map(|costliest| costliest.bytes.as_slice())
    }

    /// Returns the anchors whose blocks contain a cell of the rectangle (which lies on the grid), clipped to
    /// the grid.
    pub(crate) const fn anchors(&self, (x, y, width, height): Rect) -> Rect {
        let more = self.side - 1;
        let (left, low) = (x.saturating_sub(more), y.saturating_sub(more));
        (left, low, x + width - left, y + height - low)
    }

    /// Returns the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let open_sides = self.open_sides.iter().flatten().map(BitRows::bytes).sum::<usize>();
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
        if self.open_sides.is_none() && !edges.has_any_in((x, y, width, height)) {
            return false;
        }
        let (columns, rows) = (x..x + width, y..y + height);
        let grid = (self.width, self.height);
        let open_sides = self.open_sides.get_or_insert_with(|| {
            let mut all = BitRows::new(grid.0, grid.1);
            for y in 0..grid.1 {
                all.set_row(0, y, (0..grid.0).map(|_| true));
            }
            [all.clone(), all]
        });
        let mut changed = false;
        for (bits, side) in open_sides.iter_mut().zip([Side::East, Side::North]) {
            for y in rows.clone() {
                let is_open = |x| !costs.is_shut(edges.get(x, y)[side as usize]);
                changed |= bits.set_row(x, y, columns.clone().map(is_open));
            }
        }
        changed
    }

    /// Computes for a rectangle of anchors where the unit fits; returns whether any of `bits` has changed.
    pub(crate) fn erode(&self, (x, y, width, height): Rect, bits: &mut BitRows) -> bool {
        let words = BitRows::word_range(x..x + width);
        let (mut scratch, mut changed) = (Vec::new(), false);
        for rows in bands(y..y + height) {
            self.erode_band(&words, rows.clone(), &mut scratch);
            let eroded = scratch.chunks_exact(words.len() + 1);
            for (y, row) in rows.zip(eroded) {
                changed |= bits.set_words(y, words.start, &row[..words.len()]);
            }
        }
        changed
    }

    /// Fills `scratch` with a range of words of a range of eroded rows, plus one word per row and the extra
    /// rows.
    fn erode_band(&self, words: &Range<usize>, rows: Range<u32>, scratch: &mut Vec<u64>) {
        // Units extend up to one word further to the right and `side - 1` rows further up.
        let per_row = words.len() + 1;
        let read = |bits: &BitRows, side: u32, scratch: &mut Vec<u64>| {
            scratch.clear();
            for (row, y) in (rows.start..rows.end + self.side - 1).enumerate() {
                if y < self.height {
                    scratch.extend_from_slice(&bits.row(y)[words.start..=words.end]);
                }
                scratch.resize((row + 1) * per_row, 0);
            }
            scratch.chunks_exact_mut(per_row).for_each(|row| erode_row(row, side));
        };
        let both = |here: u64, above: u64| here & above;
        let combine = |all: &mut [u64], more: &[u64]| {
            all.iter_mut().zip(more).for_each(|(all, more)| *all &= more);
        };
        read(&self.base, self.side, scratch);
        let mut sides = Vec::new();
        if let Some([east, _]) = &self.open_sides {
            read(east, self.side - 1, &mut sides);
            combine(scratch, &sides);
        }
        combine_ahead(scratch, self.side, per_row, both);
        if let Some([_, north]) = &self.open_sides {
            read(north, self.side, &mut sides);
            combine_ahead(&mut sides, self.side - 1, per_row, both);
            combine(scratch, &sides);
        }
    }

    /// Computes the costliest terrain for a rectangle of anchors.
    pub(crate) fn read_costliest(&mut self, (x, y, width, height): Rect, terrain: &[u8]) {
        let Some(costliest) = &mut self.costliest else {
            return;
        };
        // Columns and rows off the grid have rank 0, so that they are never the costliest.
        let more = self.side - 1;
        let (per_row, right) = ((width + more) as usize, (x + width + more).min(self.width));
        let index = |x: u32, y: u32| y as usize * self.width as usize + x as usize;
        let mut scratch: Vec<u8> = Vec::new();
        for rows in bands(y..y + height) {
            scratch.clear();
            for (row, y) in (rows.start..rows.end + more).enumerate() {
                if y < self.height {
                    let cells = terrain[index(x, y)..index(right, y)].iter();
                    scratch.extend(cells.map(|&terrain| costliest.ranks[usize::from(terrain)]));
                }
                scratch.resize((row + 1) * per_row, 0);
            }
            // Values that wrap into the next row are not used.
            combine_ahead(&mut scratch, self.side, 1, u8::max);
            combine_ahead(&mut scratch, self.side, per_row, u8::max);
            for (y, row) in rows.zip(scratch.chunks_exact(per_row)) {
                let bytes = &mut costliest.bytes[index(x, y)..index(x + width, y)];
                for (byte, &rank) in bytes.iter_mut().zip(row) {
                    *byte = costliest.terrains[usize::from(rank)];
                }
            }
        }
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

/// Returns the successive distances at which to combine items so that each item covers the `side - 1` items
/// that follow it.
fn doubling_steps(side: u32) -> impl Iterator<Item = u32> {
    let mut covered = 1;
    core::iter::from_fn(move || {
        let step = covered.min(side - covered);
        covered += step;
        (step > 0).then_some(step)
    })
}

/// Combines each item with the `side - 1` items that follow it, `stride` apart, as far as they exist.
pub(crate) fn combine_ahead<T: Copy>(
    items: &mut [T],
    side: u32,
    stride: usize,
    combine: impl Fn(T, T) -> T,
) {
    for step in doubling_steps(side) {
        let ahead = step as usize * stride;
        for at in ahead..items.len() {
            items[at - ahead] = combine(items[at - ahead], items[at]);
        }
    }
}

/// Clears the bits of a row unless the `side - 1` bits above them are set, too.
fn erode_row(row: &mut [u64], side: u32) {
    for step in doubling_steps(side) {
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
        fn costliest(&self, (x, y): (u32, u32), profile: &Profile) -> Option<u8> {
            let side = u32::from(profile.unit_size());
            if x + side > self.size.0 || y + side > self.size.1 {
                return None;
            }
            let cells = (0..side * side).map(|i| (y + i / side) * self.size.0 + x + i % side);
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
            walls in 0u64..60,
            seed: u64,
            edits in prop::collection::vec((any::<(u32, u32)>(), 1u32..9, 1u32..9), 0..8),
        ) {
            let profile = profile(side);
            let (width, height) = size;
            let cells = (width * height) as usize;
            let mut grid = TestGrid { size, terrain: vec![0; cells], open: vec![false; cells] };
            let mut bits = BitRows::new(width, height);
            let clearance = Clearance::of(&profile, width, height);
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
                let expected = grid.costliest((x, y), &profile);
                prop_assert_eq!((x, y, found), (x, y, expected));
            }
        }
    }

    #[test]
    fn an_edit_that_no_unit_notices_changes_no_bit() {
        let mut clearance = Clearance::of(&profile(3), 20, 5).unwrap();
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
