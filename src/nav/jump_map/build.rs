//! Building a whole map, 64 × 64 cells at a time.
//!
//! Columns are rows transposed; diagonals are rows shifted against each other and then transposed.
//! In blocks of 64 × 64 bits a transposition takes six rounds of swaps (H. S. Warren, "Hacker's
//! Delight", 2002), so that building costs a few nanoseconds a cell at most.
//!
//! Rows and bits count as in [`Lines`]: there is a line before the first and a bit before the first.

use super::{
    Ground, JumpMap,
    diagonals::Diagonals,
    lines::{Along, Lines},
};
use crate::nav::terrain::Neighborhood;

/// One bit a cell, row by row, with the border of [`Lines`].
#[derive(Clone)]
struct Plane {
    words_per_row: usize,
    words: Vec<u64>,
}

/// Four planes: cells that see a jump point along their row to the right and to the left, and along
/// their column upward and downward.
struct SightPlanes([Plane; 4]);

impl JumpMap {
    /// The map for this ground.
    pub(crate) fn build(
        width: u32,
        height: u32,
        neighborhood: Neighborhood,
        ground: Ground,
    ) -> Self {
        let mut map = Self::new(width, height, neighborhood, ground.seams.is_some());
        for y in 0..height {
            map.rows.set_line(y, ground.bits.row(y));
            if let Some(seams) = ground.seams {
                map.rows.set_line_marks(y, seams.row(y));
            }
        }
        let open = Plane::of(&map.rows, height, |word| word.open);
        let turned = open.transposed(width as usize + 2);
        for x in 0..width {
            map.columns.set_line(x, turned.row(x as usize + 1));
        }
        (0..height).for_each(|y| map.rows.refresh(y, &(0..width)));
        map.texture = map.texture_of(0..height, &(0..width));
        let seams = Plane::of_marks(&map.rows);
        if map.has_diagonals {
            map.mark_columns(&seams);
            map.build_diagonals(&open, &seams);
        } else {
            let [right, left] = [Along::Forward, Along::Backward]
                .map(|along| Plane::of_sights(&map.rows, height, along));
            let sees = right.with(&left, |right, left| right | left).with(&seams, |a, b| a | b);
            map.mark_columns(&open.with(&sees, |open, sees| open & sees));
        }
        map
    }

    /// Marks columns by a plane of rows, if it is not empty, and finds their stops.
    fn mark_columns(&mut self, marks: &Plane) {
        if !marks.words.is_empty() {
            let marks = marks.transposed(self.width as usize + 2);
            (0..self.width).for_each(|x| self.columns.set_line_marks(x, marks.row(x as usize + 1)));
        }
        (0..self.width).for_each(|x| self.columns.refresh(x, &(0..self.height)));
    }

    fn build_diagonals(&mut self, open: &Plane, seams: &Plane) {
        let height = self.height;
        let sights = SightPlanes::of(self, (self.width, height));
        for (diagonals, is_rising) in [(&mut self.rising, true), (&mut self.falling, false)] {
            for goes_up in [true, false] {
                let legal = open.legal_steps(is_rising == goes_up, goes_up);
                let seen = sights.beside(is_rising == goes_up, goes_up);
                let seen = seen.with(seams, |seen, seam| seen | seam);
                let turns = legal.with(&seen, |legal, seen| legal & seen);
                let stops = legal.with(&seen, |legal, seen| !legal | seen);
                let side = usize::from(!goes_up);
                skew(&stops, diagonals, height, !0, |word, bits| word.stops[side] = bits);
                skew(&turns, diagonals, height, 0, |word, bits| word.turns[side] = bits);
            }
        }
    }
}

impl SightPlanes {
    fn of(map: &JumpMap, (width, height): (u32, u32)) -> Self {
        let row = |along| Plane::of_sights(&map.rows, height, along);
        let column =
            |along| Plane::of_sights(&map.columns, width, along).transposed(height as usize + 2);
        let [ahead, behind] = [Along::Forward, Along::Backward];
        Self([row(ahead), row(behind), column(ahead), column(behind)])
    }

    /// What is seen from a diagonal that goes right or left, and up or down.
    fn beside(&self, goes_right: bool, goes_up: bool) -> Plane {
        let along_row = &self.0[usize::from(!goes_right)];
        along_row.with(&self.0[2 + usize::from(!goes_up)], |row, column| row | column)
    }
}

impl Plane {
    fn of(lines: &Lines, count: u32, bits: impl Fn(&super::lines::Word) -> u64) -> Self {
        let words = lines.words(count).iter().map(bits).collect();
        Self { words_per_row: lines.words_per_line(), words }
    }

    /// The marks of lines; without words where there are none.
    fn of_marks(lines: &Lines) -> Self {
        Self { words_per_row: lines.words_per_line(), words: lines.marks().to_vec() }
    }

    fn of_sights(lines: &Lines, count: u32, along: Along) -> Self {
        let words_per_row = lines.words_per_line();
        let mut words = vec![0; words_per_row];
        (0..count).for_each(|line| lines.add_sights(line, 0..words_per_row, along, &mut words));
        words.resize(words.len() + words_per_row, 0);
        Self { words_per_row, words }
    }

    fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.words_per_row..][..self.words_per_row]
    }

    fn rows(&self) -> usize {
        self.words.len() / self.words_per_row
    }

    /// Joined word by word; a plane without words stands for nothing.
    fn with(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let others = other.words.iter().copied().chain(core::iter::repeat(0));
        let words = self.words.iter().zip(others).map(|(&one, two)| join(one, two));
        Self { words_per_row: self.words_per_row, words: words.collect() }
    }

    /// Rows become columns; `rows` of them are kept.
    fn transposed(&self, rows: usize) -> Self {
        let words_per_row = self.rows().div_ceil(64);
        let mut turned = Self { words_per_row, words: vec![0; rows * words_per_row] };
        for across in 0..self.words_per_row {
            for down in 0..words_per_row {
                let mut block = [0; 64];
                for (word, row) in block.iter_mut().zip(down * 64..self.rows()) {
                    *word = self.words[row * self.words_per_row + across];
                }
                transpose(&mut block);
                for (&word, row) in block.iter().zip(across * 64..rows) {
                    turned.words[row * words_per_row + down] = word;
                }
            }
        }
        turned
    }

    /// Cells into which a diagonal step to the right or left, and up or down, is legal.
    fn legal_steps(&self, goes_right: bool, goes_up: bool) -> Self {
        let mut legal = self.clone();
        for row in 1..self.rows() - 1 {
            let behind = self.row(if goes_up { row - 1 } else { row + 1 });
            let here = self.row(row);
            for (word, legal) in
                legal.words[row * self.words_per_row..][..self.words_per_row].iter_mut().enumerate()
            {
                let beside = if goes_right {
                    here[word] << 1 | word.checked_sub(1).map_or(0, |word| here[word] >> 63)
                } else {
                    here[word] >> 1 | here.get(word + 1).map_or(0, |next| next << 63)
                };
                *legal = here[word] & beside & behind[word];
            }
        }
        legal
    }

    /// 64 bits of a row from column `x` on, in a row that is closed to a ring of `ring` columns.
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

/// Writes a plane into lines of diagonals; `outside` stands above and below the grid.
fn skew(
    plane: &Plane,
    diagonals: &mut Diagonals,
    height: u32,
    outside: u64,
    mut write: impl FnMut(&mut super::diagonals::Word, u64),
) {
    let ring = diagonals.lines();
    for first_line in (0..ring).step_by(64) {
        for first_row in (0..height + 2).step_by(64) {
            let mut block = [outside; 64];
            for (word, row) in block.iter_mut().zip(first_row..height + 1) {
                if let Some(y) = row.checked_sub(1) {
                    let x = diagonals.column_at(first_line, y);
                    *word = plane.ring_bits(row as usize, x, ring);
                }
            }
            transpose(&mut block);
            for (&word, line) in block.iter().zip(first_line..ring) {
                write(diagonals.word_mut(line, first_row), word);
            }
        }
    }
}

/// Turns 64 words of 64 bits around: bit `a` of word `b` becomes bit `b` of word `a`.
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
