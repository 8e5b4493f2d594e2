//! Components of one 32 × 32 chunk, found from its bit rows run by run.
//!
//! Every row is split into runs of passable cells; a run joins those of the row below that it touches
//! (union-find over at most 16 runs per row). Labels are numbered in order of their first run.

use super::{CHUNK, Joints, UNLABELED, find_root, union_sets};
use crate::nav::runs_of_ones;

/// A connection from a component of one chunk to one of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link {
    pub(super) chunk: u32,
    pub(super) from: u16,
    pub(super) to: u16,
}

/// Some adjacent passable cells of a row.
#[derive(Clone, Copy)]
struct Run {
    row: u32,
    first: u32,
    last: u32,
}

/// Writes a label to each of a chunk's cells; returns the number of components. `rows` come lowest first, their
/// lowest bit is leftmost.
pub(super) fn label_components(
    rows: &[u32; CHUNK as usize],
    joints: Joints,
    labels: &mut [u16],
) -> u16 {
    let (mut runs, mut parents) = (Vec::<Run>::with_capacity(64), Vec::with_capacity(64));
    let [left, right] = [joints.left, joints.right].map(u32::from);
    let mut below = 0..0;
    for (row, &bits) in (0..).zip(rows) {
        let start = runs.len();
        for (first, last) in runs_of_ones(bits) {
            let run = runs.len() as u32;
            parents.push(run);
            for other in below.clone() {
                if first <= runs[other].last + right && runs[other].first <= last + left {
                    union_sets(&mut parents, run, other as u32);
                }
            }
            runs.push(Run { row, first, last });
        }
        below = start..runs.len();
    }
    labels.fill(UNLABELED);
    let mut numbers = vec![UNLABELED; runs.len()];
    let mut count = 0;
    for (run, Run { row, first, last }) in (0..).zip(runs) {
        let root = find_root(&mut parents, run) as usize;
        if numbers[root] == UNLABELED {
            numbers[root] = count;
            count += 1;
        }
        let cells = (row * CHUNK + first) as usize..=(row * CHUNK + last) as usize;
        labels[cells].fill(numbers[root]);
    }
    count
}
