//! Components of one 32 × 32 chunk, found from its bit rows run by run.
//!
//! Every row is split into runs of passable cells; a run joins those of the row below that it touches
//! (union-find over at most 16 runs per row). Beside edges, cells are joined one by one instead. Labels are numbered in order of
//! their first cell.

use super::{CELLS, CHUNK, Connections, Joints, UNLABELED, find_root, union_sets};
use crate::nav::{Direction, runs_of_ones};

/// A connection from a component of one chunk to one of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
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

/// Writes a label to each cell of a chunk that may have edges; `corner` is its lowest, leftmost cell, and `rows` as in
/// [`label_components`]. Returns the number of components.
pub(super) fn label_beside_edges(
    rows: &[u32; CHUNK as usize],
    (corner, connections): ((u32, u32), Connections<'_>),
    joints: Joints,
    labels: &mut [u16],
) -> u16 {
    let is_passable = |x: u32, y: u32| rows[y as usize] >> x & 1 == 1;
    let mut parents: Vec<u32> = (0..CELLS as u32).collect();
    for (x, y) in (0..CHUNK).flat_map(|y| (0..CHUNK).map(move |x| (x, y))) {
        for direction in joints.directions().filter(|_| is_passable(x, y)) {
            let to = direction.cell_at(x, y, 1);
            let at = (corner.0 + x, corner.1 + y);
            let is_inside = to.0 < CHUNK && to.1 < CHUNK && is_passable(to.0, to.1);
            if is_inside && connections.are_joined(at, direction) {
                union_sets(&mut parents, y * CHUNK + x, to.1 * CHUNK + to.0);
            }
        }
    }
    let mut count = 0;
    for cell in 0..CELLS as u32 {
        let root = find_root(&mut parents, cell);
        // The root of a set is its first cell.
        labels[cell as usize] = match is_passable(cell % CHUNK, cell / CHUNK) {
            false => UNLABELED,
            true if root == cell => {
                count += 1;
                count - 1
            }
            true => labels[root as usize],
        };
    }
    count
}

impl Joints {
    /// The directions of steps that join cells, one for each pair.
    pub(crate) fn directions(self) -> impl Iterator<Item = Direction> {
        let slanted = [(self.right, Direction::NorthEast), (self.left, Direction::NorthWest)];
        let slanted = slanted.into_iter().filter_map(|(is_joined, it)| is_joined.then_some(it));
        [Direction::East, Direction::North].into_iter().chain(slanted)
    }
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
        for (first, last) in runs_of_ones(u64::from(bits)) {
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
