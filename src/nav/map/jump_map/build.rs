//! Building a whole map, 64 × 64 cells at a time.
//!
//! Columns are transposed rows; diagonals are rows shifted against each other and then transposed. In blocks
//! of 64 × 64 bits a transposition takes six rounds of swaps (H. S. Warren, "Hacker's Delight", 2002), so
//! that building costs at most a few nanoseconds per cell.
//!
//! Rows and bits are numbered as in [`ScanLines`]: there is a line before the first and a bit before the
//! first.

mod turning_points;

use core::ops::{BitAnd, BitOr};

use super::{
    JumpMap, JumpMapSource,
    diagonals::column_at,
    scan_lines::{ScanDirection, ScanLines},
};
use crate::nav::{Adjacency, BitRows};

/// One bit per cell, row by row, with the border of [`ScanLines`].
#[derive(Clone)]
struct BitPlane {
    words_per_row: usize,
    words: Vec<u64>,
}

impl JumpMap {
    /// Builds the map for these cells.
    pub(crate) fn build(
        width: u32,
        height: u32,
        adjacency: Adjacency,
        source: JumpMapSource,
    ) -> Self {
        let mut map = Self::new(width, height, adjacency, source.cost_borders.is_some());
        for y in 0..height {
            map.rows.set_line(y, source.passable.row(y));
        }
        let words_per_row = map.rows.words_per_line;
        let words = map.rows.words.iter().map(|word| word.passable).collect();
        let passable = BitPlane { words_per_row, words };
        let transposed = passable.transposed(width as usize + 2);
        for x in 0..width {
            map.columns.set_line(x, transposed.row(x as usize + 1));
        }
        // No words if there are no bits.
        let size = (words_per_row, height);
        let cost_borders = BitPlane::of_rows(source.cost_borders, size);
        let [row_stops, column_stops] = [0, 1].map(|axis| {
            let along = BitPlane::of_rows(source.along.map(|along| along[axis]), size);
            cost_borders.combine(&along, |border, along| border & !along)
        });
        if source.cost_borders.is_some() {
            (0..height)
                .for_each(|y| map.rows.set_line_extra_stops(y, row_stops.row(y as usize + 1)));
        }
        (0..height).for_each(|y| map.rows.refresh(y, &(0..width)));
        map.obstacle_counts = map.count_obstacles(0..height, &(0..width));
        match adjacency {
            Adjacency::Eight => {
                map.set_column_stops(&column_stops);
                map.build_diagonals(&passable, &cost_borders);
            }
            Adjacency::Six => {
                map.set_column_stops(&column_stops);
                map.build_turning_points(&passable, &cost_borders);
            }
            Adjacency::Four => {
                let [right, left] = [ScanDirection::Forward, ScanDirection::Backward]
                    .map(|direction| BitPlane::of_visibility(&map.rows, height, direction));
                let visible =
                    right.combine(&left, BitOr::bitor).combine(&cost_borders, BitOr::bitor);
                map.set_column_stops(&passable.combine(&visible, BitAnd::bitand));
            }
        }
        map
    }

    /// Sets the extra stops of columns from a plane of rows, if it is not empty, and updates the stops.
    fn set_column_stops(&mut self, extra_stops: &BitPlane) {
        if !extra_stops.words.is_empty() {
            let extra_stops = extra_stops.transposed(self.width as usize + 2);
            (0..self.width).for_each(|x| {
                self.columns.set_line_extra_stops(x, extra_stops.row(x as usize + 1));
            });
        }
        (0..self.width).for_each(|x| self.columns.refresh(x, &(0..self.height)));
    }

    fn build_diagonals(&mut self, passable: &BitPlane, cost_borders: &BitPlane) {
        let (width, height) = (self.width, self.height);
        let [forward, backward] = [ScanDirection::Forward, ScanDirection::Backward];
        // The cells from which a scan finds a jump point along their row, and along their column.
        let [right, left] = [forward, backward]
            .map(|direction| BitPlane::of_visibility(&self.rows, height, direction));
        let [up, down] = [forward, backward].map(|direction| {
            let visible = BitPlane::of_visibility(&self.columns, width, direction);
            visible.transposed(height as usize + 2)
        });
        for (diagonals, is_rising) in [(&mut self.rising, true), (&mut self.falling, false)] {
            for is_up in [true, false] {
                let is_right = is_rising == is_up;
                let legal = passable.legal_steps(is_right, is_up);
                let (row, column) =
                    (if is_right { &right } else { &left }, if is_up { &up } else { &down });
                let visible = row.combine(column, BitOr::bitor).combine(cost_borders, BitOr::bitor);
                let turning_points = legal.combine(&visible, BitAnd::bitand);
                let stops = legal.combine(&visible, |legal, visible| !legal | visible);
                let direction = usize::from(!is_up);
                let ring = diagonals.lines;
                skew(
                    &stops,
                    (ring, height),
                    !0,
                    (is_rising, |line, row, bits| {
                        diagonals.word_mut(line, row).stops[direction] = bits;
                    }),
                );
                skew(
                    &turning_points,
                    (ring, height),
                    0,
                    (is_rising, |line, row, bits| {
                        diagonals.word_mut(line, row).turning_points[direction] = bits;
                    }),
                );
            }
        }
    }
}

impl BitPlane {
    /// Copies a plane of bits; without words if there is none.
    fn of_rows(bits: Option<&BitRows>, (words_per_row, height): (usize, u32)) -> Self {
        let words = bits.map_or_else(Vec::new, |bits| {
            let mut words = vec![0; words_per_row];
            (0..height).for_each(|y| words.extend(&bits.row(y)[..words_per_row]));
            words.resize(words.len() + words_per_row, 0);
            words
        });
        Self { words_per_row, words }
    }

    fn of_visibility(lines: &ScanLines, count: u32, direction: ScanDirection) -> Self {
        let words_per_row = lines.words_per_line;
        let mut words = vec![0; words_per_row];
        (0..count)
            .for_each(|line| lines.push_visibility(line, 0..words_per_row, direction, &mut words));
        words.resize(words.len() + words_per_row, 0);
        Self { words_per_row, words }
    }

    fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.words_per_row..][..self.words_per_row]
    }

    fn rows(&self) -> usize {
        self.words.len() / self.words_per_row
    }

    /// Combines two planes word by word; a plane without words counts as all zeros.
    fn combine(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let others = other.words.iter().copied().chain(core::iter::repeat(0));
        let words = self.words.iter().zip(others).map(|(&word, other)| join(word, other));
        Self { words_per_row: self.words_per_row, words: words.collect() }
    }

    /// Turns rows into columns; keeps `rows` of them.
    fn transposed(&self, rows: usize) -> Self {
        let words_per_row = self.rows().div_ceil(64);
        let mut transposed = Self { words_per_row, words: vec![0; rows * words_per_row] };
        for word_column in 0..self.words_per_row {
            for word_row in 0..words_per_row {
                let mut block = [0; 64];
                for (word, row) in block.iter_mut().zip(word_row * 64..self.rows()) {
                    *word = self.words[row * self.words_per_row + word_column];
                }
                transpose(&mut block);
                for (&word, row) in block.iter().zip(word_column * 64..rows) {
                    transposed.words[row * words_per_row + word_row] = word;
                }
            }
        }
        transposed
    }

    /// The cells that a legal diagonal step to the right or left, and up or down, may enter.
    fn legal_steps(&self, is_right: bool, is_up: bool) -> Self {
        let mut legal = self.clone();
        for row in 1..self.rows() - 1 {
            let behind = self.row(if is_up { row - 1 } else { row + 1 });
            let here = self.row(row);
            for (word, legal) in
                legal.words[row * self.words_per_row..][..self.words_per_row].iter_mut().enumerate()
            {
                let beside = if is_right {
                    here[word] << 1 | word.checked_sub(1).map_or(0, |word| here[word] >> 63)
                } else {
                    here[word] >> 1 | here.get(word + 1).map_or(0, |next| next << 63)
                };
                *legal = here[word] & beside & behind[word];
            }
        }
        legal
    }

    /// Sets some bits of a row from column `x` on; the row is a ring of `ring` columns.
    fn add_ring_bits(
        &mut self,
        row: usize,
        (mut x, ring): (u32, u32),
        mut bits: u64,
        mut count: u32,
    ) {
        let row = &mut self.words[row * self.words_per_row..][..self.words_per_row];
        while count > 0 {
            let part = count.min(ring - x);
            let here = bits & (u64::MAX >> (64 - part));
            let at = x as usize + 1;
            row[at / 64] |= here << (at % 64);
            if let Some(next) = row.get_mut(at / 64 + 1) {
                *next |= here >> 1 >> (63 - at % 64);
            }
            // Shifted twice, as there may be no bits left.
            bits = bits >> (part - 1) >> 1;
            count -= part;
            x = 0;
        }
    }

    /// Returns 64 bits of a row from column `x` on, where the row is closed to a ring of `ring` columns.
    fn ring_bits(&self, row: usize, mut x: u32, ring: u32) -> u64 {
        let row = self.row(row);
        let (mut bits, mut filled) = (0, 0);
        while filled < 64 {
            let from = x as usize + 1;
            let low = row[from / 64] >> (from % 64);
            let high = row.get(from / 64 + 1).map_or(0, |next| next << 1 << (63 - from % 64));
            let count = (ring - x).min(64);
            bits |= ((low | high) & (u64::MAX >> (64 - count))) << filled;
            filled += count;
            x = 0;
        }
        bits
    }
}

/// Writes a plane as `ring` lines of diagonals, rising or falling ones: calls a function with a line, the first of 64 rows, and
/// their bits. `outside` fills the rows above and below the grid.
fn skew(
    plane: &BitPlane,
    (ring, height): (u32, u32),
    outside: u64,
    (is_rising, mut write): (bool, impl FnMut(u32, u32, u64)),
) {
    for first_line in (0..ring).step_by(64) {
        for first_row in (0..height + 2).step_by(64) {
            let mut block = [outside; 64];
            for (word, row) in block.iter_mut().zip(first_row..height + 1) {
                if let Some(y) = row.checked_sub(1) {
                    let x = column_at((ring, is_rising), first_line, y);
                    *word = plane.ring_bits(row as usize, x, ring);
                }
            }
            transpose(&mut block);
            for (&word, line) in block.iter().zip(first_line..ring) {
                write(line, first_row, word);
            }
        }
    }
}

/// Transposes 64 words of 64 bits: bit `a` of word `b` becomes bit `b` of word `a`.
fn transpose(block: &mut [u64; 64]) {
    let (mut half, mut mask) = (32, u64::MAX >> 32);
    while half > 0 {
        let mut row = 0;
        while row < 64 {
            let swapped = (block[row] >> half ^ block[row + half]) & mask;
            block[row] ^= swapped << half;
            block[row + half] ^= swapped;
            row = (row + half + 1) & !half;
        }
        half /= 2;
        mask ^= mask << half;
    }
}
