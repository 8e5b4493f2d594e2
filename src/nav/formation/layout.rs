//! The shape of a formation on open terrain.
//!
//! Input: a shape, a facing, and the side of each unit's block in points of a lattice, the front blocks
//! first. A block is a [`Footprint`] of points: a square, or a hexagon on hexagons. Output: the anchor of each block, counted from
//! the goal, and its row, counted from the front.
//!
//! All facings share one lattice, that of the grid, so a diagonal formation takes no more area: rows of a
//! straight facing lie along an axis; rows of a diagonal facing lie along a diagonal, each shifted by half a
//! file against the next and half as deep. On hexagons all facings are of that kind. Rows are filled from the front, each from its middle outward.
//! Blocks do not overlap.

use super::Formation;
use crate::nav::{Adjacency, Footprint, Topology, direction::Direction};

/// Ratio of width to depth of a line, and of depth to width of a column.
const ASPECT_RATIO: u64 = 16;

/// The position of a block, in points of the lattice from the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LatticeSlot {
    pub(super) x: i32,
    pub(super) y: i32,
    /// Row of its foremost point; 0 is the front.
    pub(super) row: u32,
}

/// Returns a slot for each block of `sides` points along a side, in their order. The middle of the shape is
/// the goal.
pub(super) fn slots(
    topology: Topology,
    (formation, facing): (Formation, Direction),
    sides: &[u32],
) -> Vec<LatticeSlot> {
    let area = sides.iter().map(|&side| Footprint::new(topology, side).area()).sum();
    let mut shape = Shape::new(topology, (formation, facing), area);
    let mut slots: Vec<LatticeSlot> = sides.iter().map(|&side| shape.place_block(side)).collect();
    let last_row = slots.iter().zip(sides).map(|(slot, &side)| slot.row + shape.depth(side) - 1);
    let (x, y) = shape.middle(last_row.max().unwrap_or(0) as i32);
    for slot in &mut slots {
        (slot.x, slot.y) = (slot.x - x, slot.y - y);
    }
    slots
}

/// A shape that is being filled. Its points have a row, counted to the rear, and a file, counted to the
/// right. Where rows are staggered (in a diagonal facing, and on hexagons), rows are half as deep and files half as wide as
/// their distance on the lattice, and a row has every second file: row and file are both even, or both odd.
#[derive(Default)]
struct Shape {
    topology: Topology,
    facing: Direction,
    /// Where rows are staggered: the offsets to the right and to the left point behind a point.
    staggered: Option<[(i32, i32); 2]>,
    /// Points in the first row; `None` where each row is longer than the one before.
    files: Option<u32>,
    /// Rows and files in the order in which they are filled, as far as needed.
    points: Vec<(i32, i32)>,
    rows: i32,
    /// By the side of a block: where to continue looking for one, in `points`.
    next: Vec<usize>,
    used: PointSet,
}

impl Shape {
    fn new(topology: Topology, (formation, facing): (Formation, Direction), area: u64) -> Self {
        let (wide, deep) = match formation {
            Formation::Line => (ASPECT_RATIO, 1),
            Formation::Column => (1, ASPECT_RATIO),
            Formation::Loose | Formation::Box | Formation::Wedge => (1, 1),
        };
        let staggered = points_behind(topology, facing);
        // By how much rows are less deep than their files are apart: by half; on hexagons, by two sevenths (√3/6).
        let (wide, deep) = match (topology, staggered) {
            (_, None) => (wide, deep),
            (Topology::Square, _) => (wide, 2 * deep),
            (Topology::Hexagonal, _) => (2 * wide, 7 * deep),
        };
        let files = sqrt_ceil((area * wide).div_ceil(deep)).min(area).max(1) as u32;
        let files = (formation != Formation::Wedge).then_some(files);
        Self { topology, facing, staggered, files, ..Self::default() }
    }

    /// Places a block of this side at the first free position, in the order of filling.
    fn place_block(&mut self, side: u32) -> LatticeSlot {
        if self.next.len() <= side as usize {
            self.next.resize(side as usize + 1, 0);
        }
        loop {
            let index = self.next[side as usize];
            self.next[side as usize] += 1;
            while self.points.len() <= index {
                self.add_row();
            }
            let (row, file) = self.points[index];
            let (x, y) = self.anchor(row, file, side as i32);
            if self.used.insert_block(Footprint::new(self.topology, side), (x, y)) {
                return LatticeSlot { x, y, row: row as u32 };
            }
        }
    }

    /// Adds the next row, from its middle outward.
    fn add_row(&mut self) {
        let (row, middle) = (self.rows, self.middle_file());
        self.rows += 1;
        let (first, last, step) = match (self.files, self.staggered.is_some()) {
            (Some(files), false) => ((1 - files as i32) / 2, files as i32 / 2, 1),
            (Some(files), true) => {
                let end = files as i32 - 1 - row % 2;
                (middle - end, middle + end, 2)
            }
            (None, false) => (-row, row, 1),
            (None, true) => (-row, row, 2),
        };
        let mut files: Vec<i32> = (first..=last).step_by(step).collect();
        files.sort_unstable_by_key(|&file| ((file - middle).abs(), file > middle));
        self.points.extend(files.into_iter().map(|file| (row, file)));
    }

    /// Returns the middle file; where rows are staggered, with an even number of files it is an odd one.
    fn middle_file(&self) -> i32 {
        let is_even = self.files.is_some_and(|files| files.is_multiple_of(2));
        i32::from(self.staggered.is_some() && is_even)
    }

    /// Returns the lattice point in the middle of a shape with this last row.
    fn middle(&self, last_row: i32) -> (i32, i32) {
        let (row, file) = (last_row / 2, self.middle_file());
        let is_point = self.staggered.is_none() || (row + file) % 2 == 0;
        let (row, file) = if is_point { (row, file) } else { (row - row % 2, 0) };
        self.to_lattice(row, file)
    }

    /// Returns how many rows a block of this side covers.
    const fn depth(&self, side: u32) -> u32 {
        match (self.topology, self.staggered) {
            (Topology::Hexagonal, _) => 4 * side - 3,
            (Topology::Square, Some(_)) => 2 * side - 1,
            (Topology::Square, None) => side,
        }
    }

    /// Returns the anchor of a block whose foremost point is given: it extends to the rear, and on squares away from the
    /// middle.
    fn anchor(&self, row: i32, file: i32, side: i32) -> (i32, i32) {
        let (ahead_x, ahead_y) = self.facing.offset();
        let (x, y) = self.to_lattice(row, file);
        if let (Topology::Hexagonal, Some([right, left])) = (self.topology, self.staggered) {
            // A step to the right and one to the left behind are one straight back.
            let back = (right.0 + left.0, right.1 + left.1);
            return (x + back.0 * (side - 1), y + back.1 * (side - 1));
        }
        let lowest = |at: i32, ahead: i32, aside: i32| match (ahead, aside * file.signum()) {
            (1, _) | (0, -1) => at - (side - 1),
            (0, 0) => at - (side - 1) / 2,
            _ => at,
        };
        (lowest(x, ahead_x, ahead_y), lowest(y, ahead_y, -ahead_x))
    }

    fn to_lattice(&self, row: i32, file: i32) -> (i32, i32) {
        let Some([right, left]) = self.staggered else {
            let (ahead_x, ahead_y) = self.facing.offset();
            return (file * ahead_y - row * ahead_x, -file * ahead_x - row * ahead_y);
        };
        let (to_right, to_left) = ((row + file) / 2, (row - file) / 2);
        (to_right * right.0 + to_left * left.0, to_right * right.1 + to_left * left.1)
    }
}

/// Points of the lattice, one bit each, 64 points of a row in a word. Rows and words are kept in the order 0, -1, 1, -2, 2, … as far
/// as needed. (Large blocks beside small ones are tried at most points of the shape: for one unit of one cell and 1,999 of 8 × 8,
/// point by point there are up to 3,800,000 look-ups, and 620,000 of words.)
#[derive(Debug, Default)]
struct PointSet(Vec<Vec<u64>>);

impl PointSet {
    /// Inserts the points of a block, unless one of them is in the set already; returns whether it did.
    fn insert_block(&mut self, block: Footprint, (x, y): (i32, i32)) -> bool {
        let words = || {
            let rows = block.rows();
            rows.flat_map(move |(row, columns)| words_of(y + row, x + columns.start, columns.len()))
        };
        let is_free = words().all(|(row, word, bits)| self.word(row, word) & bits == 0);
        if is_free {
            words().for_each(|(row, word, bits)| *self.word_mut(row, word) |= bits);
        }
        is_free
    }

    fn word(&self, row: usize, word: usize) -> u64 {
        self.0.get(row).and_then(|words| words.get(word)).copied().unwrap_or(0)
    }

    fn word_mut(&mut self, row: usize, word: usize) -> &mut u64 {
        if self.0.len() <= row {
            self.0.resize_with(row + 1, Vec::new);
        }
        let words = &mut self.0[row];
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        &mut words[word]
    }
}

/// Returns the words that hold a run of up to 64 points: the places of row and word, and the bits of the points.
fn words_of(y: i32, x: i32, length: usize) -> impl Iterator<Item = (usize, usize, u64)> {
    let (word, bits) = (x >> 6, ((1_u128 << length) - 1) << (x & 63));
    let words = [(word, bits as u64), (word + 1, (bits >> 64) as u64)].into_iter();
    words
        .filter(|&(_, bits)| bits != 0)
        .map(move |(word, bits)| (place_of(y), place_of(word), bits))
}

/// Returns the place of a number in the order 0, -1, 1, -2, 2, …
const fn place_of(number: i32) -> usize {
    (number << 1 ^ number >> 31) as u32 as usize
}

/// Returns the offsets to the right and to the left point behind a point, where rows are staggered.
fn points_behind(topology: Topology, facing: Direction) -> Option<[(i32, i32); 2]> {
    match topology {
        Topology::Square => {
            let [right, left] =
                [3, 5].map(|eighths| Direction::from_bits(facing as u8 + 8 - eighths));
            facing.is_diagonal().then(|| [right.offset(), left.offset()])
        }
        Topology::Hexagonal => {
            // At 120° to both sides.
            let [(_, left), (_, right)] = Adjacency::Six.around(facing as u8);
            Some([right, left].map(|behind| Direction::from_bits(behind).offset()))
        }
    }
}

/// Returns the square root, rounded up.
const fn sqrt_ceil(square: u64) -> u64 {
    let root = square.isqrt();
    if root * root < square { root + 1 } else { root }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_block_is_inserted_where_none_of_its_points_is_taken() {
        for topology in [Topology::Square, Topology::Hexagonal] {
            let (mut points, mut known, mut inserted) = (PointSet::default(), BTreeSet::new(), 0);
            for at in 0..20_000_i32 {
                // Over several words and rows to all sides of the origin, in no order.
                let (x, y) = (at * 7_919 % 331 - 165, at * 104_729 % 149 - 74);
                let block = Footprint::new(topology, 1 + at as u32 % 8);
                let offsets = block.offsets().map(|(dx, dy)| (x + dx, y + dy));
                let is_free = offsets.clone().all(|point| !known.contains(&point));
                assert_eq!(points.insert_block(block, (x, y)), is_free, "{block:?} at ({x}, {y})");
                known.extend(offsets.filter(|_| is_free));
                inserted += u32::from(is_free);
            }
            let count: u32 = points.0.iter().flatten().map(|word| word.count_ones()).sum();
            assert_eq!(count as usize, known.len());
            assert!(inserted > 300, "{topology:?}: only {inserted} blocks");
        }
    }

    #[test]
    fn blocks_of_mixed_sizes_fill_a_shape_without_overlaps() {
        let formations = [Formation::Line, Formation::Column, Formation::Box, Formation::Wedge];
        for topology in [Topology::Square, Topology::Hexagonal] {
            for (formation, facing) in
                formations.into_iter().flat_map(|it| topology.directions().map(move |to| (it, to)))
            {
                let sides: Vec<u32> = (0..60).map(|at| 1 + at * 5 % 8).collect();
                let slots = slots(topology, (formation, facing), &sides);
                let mut taken = BTreeSet::new();
                for (slot, &side) in slots.iter().zip(&sides) {
                    let mut points = Footprint::new(topology, side).offsets();
                    let is_new = points.all(|(dx, dy)| taken.insert((slot.x + dx, slot.y + dy)));
                    assert!(is_new, "{topology:?} {formation:?} {facing:?}: {slot:?}");
                }
            }
        }
    }
}
