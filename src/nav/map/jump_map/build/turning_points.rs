//! Building the turning points of hexagons: planes of rows are turned into slanted lines and back, 64 × 64 cells at a time.

use core::ops::{BitAnd, BitOr};

use super::{
    super::{
        JumpMap,
        diagonals::column_at,
        hexagons::SlantedLines,
        scan_lines::{ScanDirection, ScanLines},
    },
    BitPlane, skew, transpose,
};

impl JumpMap {
    /// Finds where branching scans turn on hexagons.
    pub(super) fn build_turning_points(&mut self, passable: &BitPlane, cost_borders: &BitPlane) {
        let (width, height) = (self.width, self.height);
        self.slanted.set_lines(passable, ScanLines::set_line);
        if !cost_borders.words.is_empty() {
            self.slanted.set_lines(cost_borders, ScanLines::set_line_extra_stops);
        }
        let ring = self.slanted.ring;
        (0..ring).for_each(|line| self.slanted.lines.refresh(line, &(0..height)));
        let [forward, backward] = [ScanDirection::Forward, ScanDirection::Backward];
        let east = BitPlane::of_visibility(&self.rows, height, forward);
        let south = BitPlane::of_visibility(&self.columns, width, backward);
        let south = south.transposed(height as usize + 2);
        let northwest = BitPlane::of_visibility(&self.slanted.lines, ring, forward);
        let northwest = self.slanted.upright(&northwest, east.words_per_row);
        let turns = |one: &BitPlane, other: &BitPlane| {
            let visible = one.combine(other, BitOr::bitor).combine(cost_borders, BitOr::bitor);
            passable.combine(&visible, BitAnd::bitand)
        };
        let west_turns = turns(&northwest, &south);
        (0..height).for_each(|y| {
            self.rows.set_line_turning_points(y, west_turns.row(y as usize + 1));
            self.rows.refresh(y, &(0..width));
        });
        let north_turns = turns(&east, &northwest).transposed(width as usize + 2);
        (0..width).for_each(|x| {
            self.columns.set_line_turning_points(x, north_turns.row(x as usize + 1));
            self.columns.refresh(x, &(0..height));
        });
        self.slanted.set_lines(&turns(&east, &south), ScanLines::set_line_turning_points);
        (0..ring).for_each(|line| self.slanted.lines.refresh(line, &(0..height)));
    }
}

impl SlantedLines {
    /// Sets all lines from a plane of rows.
    fn set_lines(&mut self, plane: &BitPlane, set: impl Fn(&mut ScanLines, u32, &[u64])) {
        let words_per_row = self.lines.words_per_line;
        let mut words = vec![0; words_per_row * self.ring as usize];
        skew(
            plane,
            (self.ring, self.height),
            0,
            (false, |line, row, bits| {
                words[line as usize * words_per_row + row as usize / 64] = bits;
            }),
        );
        for (line, words) in (0..).zip(words.chunks_exact(words_per_row)) {
            set(&mut self.lines, line, words);
        }
    }

    /// Turns a plane of slanted lines into one of rows.
    fn upright(&self, slanted: &BitPlane, words_per_row: usize) -> BitPlane {
        let words = vec![0; words_per_row * (self.height as usize + 2)];
        let mut plane = BitPlane { words_per_row, words };
        for first_line in (0..self.ring).step_by(64) {
            let lines = first_line..self.ring.min(first_line + 64);
            for first_row in (0..self.height + 2).step_by(64) {
                let mut block = [0; 64];
                for (word, line) in block.iter_mut().zip(lines.clone()) {
                    *word = slanted.row(line as usize + 1)[first_row as usize / 64];
                }
                transpose(&mut block);
                for (&bits, row) in block.iter().zip(first_row..=self.height) {
                    if let Some(y) = row.checked_sub(1) {
                        let x = column_at((self.ring, false), first_line, y);
                        plane.add_ring_bits(row as usize, (x, self.ring), bits, lines.len() as u32);
                    }
                }
            }
        }
        plane
    }
}
