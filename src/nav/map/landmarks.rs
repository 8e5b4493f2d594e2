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
//! Memory: about 17 bytes per cell, in chunks that landmarks reach: a distance is stored as a 16-bit number above the
//! lowest one of its chunk of 8 × 8 cells. Where that is not enough (in mazes and on costly terrain), the chunk takes as
//! much again.
//!
//! Source: A. Goldberg & C. Harrelson, "Computing the Shortest Path: A\* Search Meets Graph Theory" (SODA 2005); N. Sturtevant
//! et al., "Memory-Based Heuristics for Explicit State Spaces" (IJCAI 2009), where such tables are called differential
//! heuristics.

use core::array;
use std::sync::Arc;

/// Landmarks in a table.
pub(crate) const LANDMARKS: usize = 8;

/// Columns and rows of a chunk. With fewer cells in a chunk, fewer chunks need high halves.
const SIDE: u32 = 8;
const CELLS: usize = (SIDE * SIDE) as usize;
/// Halves of a chunk before those of its cells.
const BASE: usize = 2;
/// Stands for the place of a chunk that no landmark reaches, or of high halves that are not stored.
const NONE: u32 = u32::MAX;
/// The halves of a distance that is not known: the cell cannot be reached from the landmark.
const UNKNOWN: u16 = u16::MAX;

/// One 16-bit number for each landmark.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Halves([u16; LANDMARKS]);

/// Where the distances of a chunk are stored.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// Index of its first halves; [`NONE`] if no cell can be reached from a landmark. The first two are the halves of the
    /// lowest distances, then come the low halves of the distances above these, cell by cell.
    low: u32,
    /// Index of the high halves, where some distances need them.
    high: u32,
}

/// The distances from the landmarks to all cells.
#[derive(Debug, Default)]
pub struct LandmarkTable {
    chunks_per_row: u32,
    // Small, so that it stays in the cache: for one distance, only the halves are waited for.
    chunks: Vec<Chunk>,
    halves: Vec<Halves>,
    /// By what the distances are divided, in units of the layer's costs.
    scale: u32,
}

impl LandmarkTable {
    /// Returns a table without landmarks for a grid of `width × height` cells; `scale` divides all distances.
    pub(crate) fn new((width, height): (u32, u32), scale: u32) -> Self {
        let (columns, rows) = (width.div_ceil(SIDE), height.div_ceil(SIDE));
        let chunks = vec![Chunk { low: NONE, high: NONE }; columns as usize * rows as usize];
        let halves = Vec::with_capacity(chunks.len() * (BASE + CELLS));
        Self { chunks_per_row: columns, chunks, halves, scale }
    }

    /// Whether it holds no distances.
    fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    pub(crate) fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Stores the distances from a landmark to the cells of a chunk, on a grid of this size.
    pub(crate) fn store(
        &mut self,
        (chunk, landmark): (usize, usize),
        size: (u32, u32),
        distance: impl Fn(u32, u32) -> Option<u32>,
    ) {
        let at = (chunk as u32 % self.chunks_per_row, chunk as u32 / self.chunks_per_row);
        let scale = self.scale;
        let known = |(x, y)| Some((index_in_chunk(x, y), distance(x, y)? / scale));
        let distances = || cells_of(at, size).filter_map(known);
        let Some(base) = distances().map(|(_, distance)| distance).min() else {
            return; // no cell of it is reached
        };
        if self.chunks[chunk].low == NONE {
            self.chunks[chunk].low = self.halves.len() as u32;
            self.halves.resize(self.halves.len() + BASE + CELLS, Halves([UNKNOWN; LANDMARKS]));
        }
        if distances().any(|(_, distance)| distance - base >= u32::from(UNKNOWN)) {
            self.add_high_halves(chunk);
        }
        let Chunk { low, high } = self.chunks[chunk];
        let mut set = |at: usize, half: u32| self.halves[at].0[landmark] = half as u16;
        set(low as usize, base);
        set(low as usize + 1, base >> 16);
        for (index, distance) in distances() {
            set(low as usize + BASE + index, distance - base);
            if high != NONE {
                set(high as usize + index, (distance - base) >> 16);
            }
        }
    }

    /// Adds high halves to a chunk that has none: 0 for known distances.
    fn add_high_halves(&mut self, chunk: usize) {
        let Chunk { low, high } = &mut self.chunks[chunk];
        if *high != NONE {
            return;
        }
        *high = self.halves.len() as u32;
        if self.halves.capacity() < self.halves.len() + CELLS {
            // Not twice as much.
            self.halves.reserve_exact(self.halves.len() / 4 + CELLS);
        }
        for cell in *low as usize + BASE..*low as usize + BASE + CELLS {
            let high_half = |low| if low == UNKNOWN { UNKNOWN } else { 0 };
            self.halves.push(Halves(self.halves[cell].0.map(high_half)));
        }
    }

    /// Returns the distances from all landmarks to a passable cell, divided by the scale. Distance fields keep them below
    /// 2^31.
    #[inline(always)]
    fn distances(&self, x: u32, y: u32) -> [i32; LANDMARKS] {
        let Chunk { low, high } = self.chunks[self.chunk_of(x, y)];
        let (low, index) = (low as usize, index_in_chunk(x, y));
        let [base, high_base, above] = [low, low + 1, low + BASE + index].map(|at| &self.halves[at].0);
        let joined = |high: u16, low: u16| i32::from(high) << 16 | i32::from(low);
        let distances: [i32; LANDMARKS] =
            array::from_fn(|i| joined(high_base[i], base[i]) + i32::from(above[i]));
        if high == NONE {
            return distances;
        }
        let highs = &self.halves[high as usize + index].0;
        array::from_fn(|i| distances[i] + joined(highs[i], 0))
    }

    /// Returns whether the landmarks reach a cell: they lie in one region, so all of them do or none.
    pub(crate) fn reaches(&self, x: u32, y: u32) -> bool {
        if self.is_empty() {
            return false;
        }
        let Chunk { low, high } = self.chunks[self.chunk_of(x, y)];
        let index = index_in_chunk(x, y);
        let is_unknown = |at: usize| self.halves[at].0[0] == UNKNOWN;
        let is_known = |low: usize| {
            !is_unknown(low + BASE + index) || high != NONE && !is_unknown(high as usize + index)
        };
        low != NONE && is_known(low as usize)
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
        size_of::<Halves>() * self.halves.len() + size_of::<Chunk>() * self.chunks.capacity()
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
pub(crate) struct Estimate {
    table: Arc<LandmarkTable>,
    /// The distances from the landmarks to the goal.
    to_goal: [i32; LANDMARKS],
}

impl Estimate {
    /// Returns the estimate for a goal; `None` if the landmarks do not reach it.
    pub(crate) fn to(table: &Arc<LandmarkTable>, (x, y): (u32, u32)) -> Option<Self> {
        let distances = || Self { table: Arc::clone(table), to_goal: table.distances(x, y) };
        table.reaches(x, y).then(distances)
    }

    /// Returns a lower bound on the cost of the path from a cell to the goal, in units. The cell must be connected with
    /// the goal.
    // Not inlined: without landmarks the loops of searches are faster for being short.
    #[inline(never)]
    pub(crate) fn units(&self, x: u32, y: u32) -> u64 {
        let from = self.table.distances(x, y);
        let most = (0..LANDMARKS).map(|i| (from[i] - self.to_goal[i]).abs()).fold(0, i32::max);
        most as u64 * u64::from(self.table.scale)
    }
}
