//! Number of blockers per cell, stored only for chunks that have any.

use std::collections::BTreeMap;

use crate::nav::{CHUNK, Rect};

const CELLS: usize = (CHUNK * CHUNK) as usize;

/// A count per cell, in chunks of 2 KiB that are allocated on demand.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Blockers {
    chunks_per_row: u32,
    chunks: Vec<Option<Box<ChunkCounts>>>,
    /// Blockers of entities, which `chunks` counts as well: how many there are for each rectangle.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    pub(super) placed: BTreeMap<Rect, u32>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct ChunkCounts {
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::array"))]
    counts: [u16; CELLS],
    /// Cells with a count above zero.
    occupied: u32,
}

impl ChunkCounts {
    /// Returns the rectangle around its blocked cells.
    fn bounds(&self) -> Option<Rect> {
        let (mut left, mut right, mut low, mut high) = (CHUNK, 0, CHUNK, 0);
        for (cell, _) in (0..).zip(&self.counts).filter(|&(_, &count)| count > 0) {
            let (x, y): (u32, u32) = (cell % CHUNK, cell / CHUNK);
            (left, right) = (left.min(x), right.max(x + 1));
            (low, high) = (low.min(y), high.max(y + 1));
        }
        (left < right).then(|| (left, low, right - left, high - low))
    }
}

impl Blockers {
    pub(super) fn new(width: u32, height: u32) -> Self {
        let chunks_per_row = width.div_ceil(CHUNK);
        let chunks = vec![None; chunks_per_row as usize * height.div_ceil(CHUNK) as usize];
        Self { chunks_per_row, chunks, placed: BTreeMap::new() }
    }

    /// Returns rectangles that hold all blocked cells: one for each chunk that has any.
    pub(super) fn rects(&self) -> Vec<Rect> {
        let held = (0..).zip(&self.chunks).filter_map(|(i, chunk)| Some((i, chunk.as_ref()?)));
        held.filter_map(|(chunk, counts)| {
            let (x, y, width, height) = counts.bounds()?;
            let (left, low) = (chunk % self.chunks_per_row, chunk / self.chunks_per_row);
            Some((left * CHUNK + x, low * CHUNK + y, width, height))
        })
        .collect()
    }

    #[inline]
    pub(super) fn get(&self, x: u32, y: u32) -> u16 {
        let (chunk, cell) = self.location(x, y);
        self.chunks[chunk].as_ref().map_or(0, |chunk| chunk.counts[cell])
    }

    /// Increments the count; returns whether it was zero. The caller has checked that it is below its maximum.
    pub(super) fn add(&mut self, x: u32, y: u32) -> bool {
        let (chunk, cell) = self.location(x, y);
        let chunk = self.chunks[chunk]
            .get_or_insert_with(|| Box::new(ChunkCounts { counts: [0; CELLS], occupied: 0 }));
        chunk.counts[cell] += 1;
        let is_first = chunk.counts[cell] == 1;
        chunk.occupied += u32::from(is_first);
        is_first
    }

    /// Decrements the count; returns whether it is zero now. The caller has checked that it is above zero.
    pub(super) fn remove(&mut self, x: u32, y: u32) -> bool {
        let (index, cell) = self.location(x, y);
        let Some(chunk) = &mut self.chunks[index] else {
            return false;
        };
        chunk.counts[cell] -= 1;
        let was_last = chunk.counts[cell] == 0;
        chunk.occupied -= u32::from(was_last);
        if chunk.occupied == 0 {
            self.chunks[index] = None;
        }
        was_last
    }

    pub(super) fn bytes(&self) -> usize {
        let held = self.chunks.iter().flatten().count();
        self.chunks.len() * size_of::<usize>()
            + held * size_of::<ChunkCounts>()
            + self.placed.len() * size_of::<(Rect, u32)>()
    }

    fn location(&self, x: u32, y: u32) -> (usize, usize) {
        let chunk = (y / CHUNK) * self.chunks_per_row + x / CHUNK;
        (chunk as usize, ((y % CHUNK) * CHUNK + x % CHUNK) as usize)
    }
}
