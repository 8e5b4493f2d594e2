//! Components of one 32 × 32 chunk, found from its bit rows run by run.
//!
//! Every row is split into runs of passable cells; a run joins those of the row below that it touches
//! (union-find over at most 16 runs per row). Labels are numbered in order of their first run.

use super::{CHUNK, UNLABELED, find_root, union_sets};

/// A connection from a component of one chunk to one of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link {
    pub(super) chunk: u32,
    pub(super) from: u16,
    pub(super) to: u16,
}

/// Runs of one chunk, with the union-find sets that join them.
pub(super) struct ChunkLabels {
    runs: Vec<Run>,
    parents: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Run {
    row: u32,
    /// Its cells as bits of the row.
    bits: u32,
}

impl ChunkLabels {
    /// Finds the components; `rows` lowest first, lowest bit leftmost.
    pub(super) fn find(rows: &[u32; CHUNK as usize], joins_diagonally: bool) -> Self {
        let mut labels = Self { runs: Vec::with_capacity(64), parents: Vec::with_capacity(64) };
        let mut below = 0..0;
        for (row, &bits) in rows.iter().enumerate() {
            let start = labels.runs.len();
            labels.split_row(row as u32, bits);
            for run in start..labels.runs.len() {
                labels.join_row_below(run, below.clone(), joins_diagonally);
            }
            below = start..labels.runs.len();
        }
        labels
    }

    /// Writes a label to each of the chunk's cells; returns the number of components.
    pub(super) fn write(mut self, labels: &mut [u16]) -> u16 {
        labels.fill(UNLABELED);
        let mut numbers = vec![UNLABELED; self.runs.len()];
        let mut count = 0;
        for run in 0..self.runs.len() {
            let root = find_root(&mut self.parents, run as u32) as usize;
            if numbers[root] == UNLABELED {
                numbers[root] = count;
                count += 1;
            }
            let Run { row, bits } = self.runs[run];
            let first = (row * CHUNK + bits.trailing_zeros()) as usize;
            labels[first..first + bits.count_ones() as usize].fill(numbers[root]);
        }
        count
    }

    fn split_row(&mut self, row: u32, mut bits: u32) {
        while bits != 0 {
            let start = bits.trailing_zeros();
            let length = (bits >> start).trailing_ones();
            let run = (((1u64 << length) - 1) << start) as u32;
            self.parents.push(self.runs.len() as u32);
            self.runs.push(Run { row, bits: run });
            bits &= !run;
        }
    }

    fn join_row_below(
        &mut self,
        run: usize,
        below: std::ops::Range<usize>,
        joins_diagonally: bool,
    ) {
        let bits = self.runs[run].bits;
        let reach = if joins_diagonally { bits | bits << 1 | bits >> 1 } else { bits };
        for other in below {
            if self.runs[other].bits & reach != 0 {
                union_sets(&mut self.parents, run as u32, other as u32);
            }
        }
    }
}
