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
//! Memory: 17 bytes per cell, in chunks that landmarks reach: a distance is stored
//! as a 16-bit number above the lowest one of its chunk of 8 × 8 cells. Where that is not enough (in mazes and on costly terrain), the
//! chunk takes as much again.
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
/// Stands for the place of a chunk that no landmark reaches, or of high halves that are not stored.
const NONE: u32 = u32::MAX;
/// The halves of a distance that is not known: the cell cannot be reached from the landmark.
const UNKNOWN: u16 = u16::MAX;

/// Where the distances of a chunk are stored: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Chunk {
    /// The lowest distance from each landmark.
    base: [u32; LANDMARKS],
    /// Index of the first row of eight low halves; [`NONE`] if no cell can be reached from a landmark.
    low: u32,
    /// The same of high halves, where some distances need them.
    high: u32,
    /// The landmarks whose distances need high halves, one bit each.
    wide: u8,
}

/// The distances from the landmarks to all cells.
#[derive(Debug, Default)]
pub struct LandmarkTable {
    chunks_per_row: u32,
    chunks: Vec<Chunk>,
    /// Low halves of the distances above the base, for each cell of each chunk; then high halves.
    halves: Vec<[u16; LANDMARKS]>,
    /// By what the distances are divided, in units of the layer's costs.
    scale: u32,
}

impl LandmarkTable {
    /// Returns a table without landmarks for a grid of `width × height` cells; `scale` divides all distances.
    pub(crate) fn new((width, height): (u32, u32), scale: u32) -> Self {
        let (columns, rows) = (width.div_ceil(SIDE), height.div_ceil(SIDE));
        let none = Chunk { base: [0; LANDMARKS], low: NONE, high: NONE, wide: 0 };
        let chunks = vec![none; columns as usize * rows as usize];
        let halves = Vec::with_capacity(chunks.len() * CELLS);
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
        self.chunks[chunk].base[landmark] = base;
        if self.chunks[chunk].low == NONE {
            self.chunks[chunk].low = self.halves.len() as u32;
            self.halves.resize(self.halves.len() + CELLS, [UNKNOWN; LANDMARKS]);
        }
        let is_wide = distances().any(|(_, distance)| distance - base >= u32::from(UNKNOWN));
        if is_wide && self.chunks[chunk].high == NONE {
            self.chunks[chunk].high = self.halves.len() as u32;
            if self.halves.capacity() < self.halves.len() + CELLS {
                // Not twice as much.
                self.halves.reserve_exact(self.halves.len() / 4 + CELLS);
            }
            self.halves.resize(self.halves.len() + CELLS, [0; LANDMARKS]);
        }
        let Chunk { low, high, .. } = self.chunks[chunk];
        if is_wide {
            self.chunks[chunk].wide |= 1 << landmark;
            let all = &mut self.halves[high as usize..][..CELLS];
            all.iter_mut().for_each(|halves| halves[landmark] = UNKNOWN);
        }
        for (index, distance) in distances() {
            let above = distance - base;
            self.halves[low as usize + index][landmark] = above as u16;
            if is_wide {
                self.halves[high as usize + index][landmark] = (above >> 16) as u16;
            }
        }
    }

    /// Returns the distances from all landmarks to a passable cell, divided by the scale.
    #[inline]
    fn distances(&self, x: u32, y: u32) -> [u32; LANDMARKS] {
        let Chunk { ref base, low, high, .. } = self.chunks[self.chunk_of(x, y)];
        let index = index_in_chunk(x, y);
        let lows = &self.halves[low as usize + index];
        let above: [u32; LANDMARKS] = array::from_fn(|i| base[i] + u32::from(lows[i]));
        if high == NONE {
            return above;
        }
        let highs = &self.halves[high as usize + index];
        array::from_fn(|i| above[i] + (u32::from(highs[i]) << 16))
    }

    /// Returns whether the landmarks reach a cell: they lie in one region, so all of them do or none.
    pub(crate) fn reaches(&self, x: u32, y: u32) -> bool {
        if self.is_empty() {
            return false;
        }
        let Chunk { low, high, wide, .. } = self.chunks[self.chunk_of(x, y)];
        let is_unknown =
            |place: u32| self.halves[place as usize + index_in_chunk(x, y)][0] == UNKNOWN;
        low != NONE && !(is_unknown(low) && (wide & 1 == 0 || is_unknown(high)))
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
        size_of::<[u16; LANDMARKS]>() * self.halves.len()
            + size_of::<Chunk>() * self.chunks.capacity()
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
    to_goal: [u32; LANDMARKS],
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
        let differences: [u32; LANDMARKS] = array::from_fn(|i| from[i].abs_diff(self.to_goal[i]));
        let most = differences.into_iter().fold(0, u32::max);
        u64::from(most) * u64::from(self.table.scale)
    }
}
