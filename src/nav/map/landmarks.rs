//! Distances from a few landmarks to all cells, and the estimates of paths that follow from them.
//!
//! Input: distance fields, each from one landmark. Output: a [`LandmarkTable`], and for a goal an [`Estimate`]: by the
//! triangle inequality no path between two cells is cheaper than the difference of their distances from any landmark.
//! This estimate knows walls and terrain costs. It never exceeds the cost of the cheapest path, and is consistent: along a
//! step it changes by no more than the step costs.
//!
//! The distances are those on the terrain without blockers. Blockers and dearer terrain only make paths costlier, so a
//! table stays correct while they come and go; it must be dropped where terrain becomes cheaper.
//!
//! Memory: two bytes per landmark and cell, for cells that landmarks reach: a distance is stored as a 16-bit number above
//! the lowest one of its chunk of 8 × 8 cells. Where that is not enough (in mazes and on costly terrain), the chunk
//! takes as much again. A chunk without reachable cells takes 16 bytes.
//!
//! Source: A. Goldberg & C. Harrelson, "Computing the Shortest Path: A\* Search Meets Graph Theory" (SODA 2005); N. Sturtevant
//! et al., "Memory-Based Heuristics for Explicit State Spaces" (IJCAI 2009), where such tables are called differential
//! heuristics.

use core::array;
use std::sync::Arc;

/// How many landmarks a table may have. Multiples of four, which processors handle at once.
pub(crate) const LANDMARK_COUNTS: [usize; 4] = [4, 8, 12, MOST_LANDMARKS];
const MOST_LANDMARKS: usize = 16;

/// Columns and rows of a chunk. With fewer cells in a chunk, fewer chunks need high halves.
const SIDE: u32 = 8;
/// Rows of a chunk before those of its cells: both halves of the lowest distances.
const BASE_ROWS: usize = 2;
/// Stands for the place of a chunk that no landmark reaches, or of high halves that are not stored.
const NONE: u32 = u32::MAX;

/// Where the distances of a chunk are stored: in rows of 16-bit halves, one for each landmark.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Chunk {
    /// The cells that landmarks reach, one bit each. Only these have rows.
    reached: u64,
    /// Index of the first row; [`NONE`] if no cell is reached. The first two rows hold the low and the high halves of
    /// the lowest distances; the others hold, cell by cell, the low halves of the distances minus these.
    low: u32,
    /// Index of the first row of high halves, where some distances need them.
    high: u32,
}

/// The distances from the landmarks to all cells.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct LandmarkTable {
    chunks_per_row: u32,
    landmarks: usize,
    /// The cells of the landmarks.
    places: Vec<(u32, u32)>,
    // Small enough to stay in the cache: reading a distance then waits for the rows only.
    chunks: Vec<Chunk>,
    halves: Vec<u16>,
    /// The divisor of all distances, in units of the layer's costs.
    scale: u32,
}

/// How serde writes tables that several owners share: once, if that happens [within](shared::within) one value.
#[cfg(feature = "serialize")]
pub(crate) mod shared;

impl LandmarkTable {
    /// Returns a table without distances for a grid of `width × height` cells; `scale` divides all distances. Memory for
    /// `most_bytes` is reserved, so that it need not move while it grows.
    pub(crate) fn new(
        (width, height): (u32, u32),
        (landmarks, most_bytes): (usize, usize),
        scale: u32,
    ) -> Self {
        let columns = width.div_ceil(SIDE);
        let chunks =
            vec![Chunk { reached: 0, low: NONE, high: NONE }; Self::chunks_of(width, height)];
        let halves = Vec::with_capacity(most_bytes / size_of::<u16>());
        let places = Vec::with_capacity(landmarks);
        Self { chunks_per_row: columns, landmarks, places, chunks, halves, scale }
    }

    const fn chunks_of(width: u32, height: u32) -> usize {
        width.div_ceil(SIDE) as usize * height.div_ceil(SIDE) as usize
    }

    /// Returns the memory of a table on a grid of this size in which no distance needs high halves.
    pub(crate) const fn least_bytes(
        (width, height): (u32, u32),
        (landmarks, cells): (usize, usize),
    ) -> usize {
        let chunks = Self::chunks_of(width, height);
        chunks * size_of::<Chunk>() + (cells + BASE_ROWS * chunks) * landmarks * size_of::<u16>()
    }

    /// Whether it is the table of a grid without landmarks.
    pub(crate) const fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(crate) fn places(&self) -> &[(u32, u32)] {
        &self.places
    }

    pub(crate) fn add_place(&mut self, place: (u32, u32)) {
        self.places.push(place);
    }

    pub(crate) const fn landmark_count(&self) -> usize {
        self.landmarks
    }

    pub(crate) fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Stores the distances from a landmark to the cells of a chunk, on a grid of this size. Every landmark reaches the
    /// same cells.
    pub(crate) fn store(
        &mut self,
        (chunk, landmark): (usize, usize),
        size: (u32, u32),
        distance: impl Fn(u32, u32) -> Option<u32>,
    ) {
        let at = (chunk as u32 % self.chunks_per_row, chunk as u32 / self.chunks_per_row);
        let scale = self.scale;
        let known = |(x, y)| Some((index_in_chunk(x, y), distance(x, y)? / scale));
        // In the order of their indices.
        let distances = || cells_of(at, size).filter_map(known);
        let (mut reached, mut lowest, mut highest) = (0_u64, u32::MAX, 0);
        for (index, distance) in distances() {
            reached |= 1 << index;
            (lowest, highest) = (distance.min(lowest), distance.max(highest));
        }
        if reached == 0 {
            return;
        }
        if self.chunks[chunk].low == NONE {
            let low = self.add_rows(BASE_ROWS + reached.count_ones() as usize);
            self.chunks[chunk] = Chunk { reached, low, high: NONE };
        }
        if highest - lowest > u32::from(u16::MAX) && self.chunks[chunk].high == NONE {
            self.chunks[chunk].high = self.add_rows(reached.count_ones() as usize);
        }
        let Chunk { low, high, .. } = self.chunks[chunk];
        self.set(low, 0, landmark, lowest);
        self.set(low, 1, landmark, lowest >> 16);
        for (row, (_, distance)) in distances().enumerate() {
            self.set(low, BASE_ROWS + row, landmark, distance - lowest);
            if high != NONE {
                self.set(high, row, landmark, (distance - lowest) >> 16);
            }
        }
    }

    /// Adds rows of zeros; returns the index of the first one.
    fn add_rows(&mut self, rows: usize) -> u32 {
        let (first, count) = (self.halves.len(), rows * self.landmarks);
        if self.halves.capacity() < first + count {
            // By a quarter, not twofold.
            self.halves.reserve_exact(first / 4 + count);
        }
        self.halves.resize(first + count, 0);
        first as u32
    }

    /// Stores the low half of a number in a row.
    fn set(&mut self, first: u32, row: usize, landmark: usize, number: u32) {
        self.halves[first as usize + row * self.landmarks + landmark] = number as u16;
    }

    /// Calls `evaluate` with the distances from all landmarks to a cell that they reach, divided by the scale. Distance
    /// fields keep them below 2^31. `N` is the number of landmarks.
    // A closure, because returned distances would leave the vector registers.
    #[inline(always)]
    fn with_distances<const N: usize, R>(
        &self,
        (x, y): (u32, u32),
        evaluate: impl Fn([i32; N]) -> R,
    ) -> R {
        let Chunk { reached, low, high } = self.chunks[self.chunk_of(x, y)];
        let below = (1 << index_in_chunk(x, y)) - 1;
        let row = (reached & below).count_ones() as usize;
        let (base, base_high) = (self.row::<N>(low, 0), self.row::<N>(low, 1));
        let above = self.row::<N>(low, BASE_ROWS + row);
        let joined = |high: u16, low: u16| i32::from(high) << 16 | i32::from(low);
        let distance = |i: usize| joined(base_high[i], base[i]) + i32::from(above[i]);
        if high == NONE {
            return evaluate(array::from_fn(distance));
        }
        let highs = self.row::<N>(high, row);
        evaluate(array::from_fn(|i| distance(i) + joined(highs[i], 0)))
    }

    #[inline(always)]
    fn row<const N: usize>(&self, first: u32, row: usize) -> &[u16; N] {
        let from = &self.halves[first as usize + row * N..];
        from.first_chunk().unwrap_or(&[0; N])
    }

    /// Returns whether the landmarks reach a cell on the grid: they lie in one region, so all of them do or none.
    pub(crate) fn reaches(&self, x: u32, y: u32) -> bool {
        let chunk = self.chunks.get(self.chunk_of(x, y));
        chunk.is_some_and(|chunk| chunk.reached >> index_in_chunk(x, y) & 1 > 0)
    }

    #[inline]
    const fn chunk_of(&self, x: u32, y: u32) -> usize {
        ((y / SIDE) * self.chunks_per_row + x / SIDE) as usize
    }

    /// Returns the table without spare memory.
    pub(crate) fn shrunk(mut self) -> Self {
        self.halves.shrink_to_fit();
        self
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<u16>() * self.halves.len() + size_of::<Chunk>() * self.chunks.len()
    }
}

/// Iterates over the cells of a chunk that are on the grid, row by row.
fn cells_of(
    (column, row): (u32, u32),
    (width, height): (u32, u32),
) -> impl Iterator<Item = (u32, u32)> {
    let columns = column * SIDE..(column * SIDE + SIDE).min(width);
    let rows = row * SIDE..(row * SIDE + SIDE).min(height);
    rows.flat_map(move |y| columns.clone().map(move |x| (x, y)))
}

#[inline]
const fn index_in_chunk(x: u32, y: u32) -> usize {
    (y % SIDE * SIDE + x % SIDE) as usize
}

/// A lower bound on the cost of paths to one goal.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Estimate {
    #[cfg_attr(feature = "serialize", serde(with = "shared::always"))]
    table: Arc<LandmarkTable>,
    /// The distances from the landmarks to the goal; 0 for landmarks that the table does not have.
    to_goal: [i32; MOST_LANDMARKS],
}

impl Estimate {
    /// Returns the estimate for a goal; `None` if the landmarks do not reach it.
    pub(crate) fn to(table: &Arc<LandmarkTable>, (x, y): (u32, u32)) -> Option<Self> {
        if !table.reaches(x, y) {
            return None;
        }
        let to_goal = match table.landmarks {
            4 => table.with_distances((x, y), padded::<4>),
            8 => table.with_distances((x, y), padded::<8>),
            12 => table.with_distances((x, y), padded::<12>),
            _ => table.with_distances((x, y), padded::<MOST_LANDMARKS>),
        };
        Some(Self { table: Arc::clone(table), to_goal })
    }

    /// Returns a lower bound on the cost of the path from a cell to the goal, in units. The cell must be connected with
    /// the goal.
    // Not inlined: the loops of searches without landmarks are faster if they are short.
    #[inline(never)]
    pub(crate) fn units(&self, x: u32, y: u32) -> u64 {
        let most = match self.table.landmarks {
            4 => self.greatest_difference::<4>(x, y),
            8 => self.greatest_difference::<8>(x, y),
            12 => self.greatest_difference::<12>(x, y),
            _ => self.greatest_difference::<MOST_LANDMARKS>(x, y),
        };
        most as u64 * u64::from(self.table.scale)
    }

    /// Returns the greatest difference between distances to the cell and to the goal.
    #[inline(always)]
    fn greatest_difference<const N: usize>(&self, x: u32, y: u32) -> i32 {
        self.table.with_distances::<N, i32>((x, y), |from| {
            let differences: [i32; N] = array::from_fn(|i| (from[i] - self.to_goal[i]).abs());
            differences.into_iter().fold(0, i32::max)
        })
    }
}

/// Returns distances from as many landmarks as a table may have; 0 for landmarks that do not exist.
fn padded<const N: usize>(distances: [i32; N]) -> [i32; MOST_LANDMARKS] {
    array::from_fn(|i| distances.get(i).copied().unwrap_or_default())
}
