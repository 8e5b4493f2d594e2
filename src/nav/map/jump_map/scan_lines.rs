//! Passability along parallel lines (rows, or columns), and where straight scans along them stop.
//!
//! Each word of 64 cells also holds, for both directions along the line, the cells at which a scan stops. A
//! stop is an impassable cell or a jump point: a passable cell with a forced neighbor, that is, one whose
//! neighbor to a side is passable while the cell before that neighbor is not; or a passable cell that was
//! added as an extra stop (on a cost border, say). A line of impassable cells lies on either side, and an
//! impassable cell at both ends of each line, so every scan ends.
//!
//! On hexagons scans in one direction stop at forced neighbors, and those in the other at turning points, which are set from
//! outside; see [`StopRule`].

use core::ops::Range;

/// 64 cells of a line, the first at the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LineWord {
    pub(super) passable: u64,
    /// Stops of scans forward (0) and backward (1).
    pub(super) stops: [u64; 2],
}

const IMPASSABLE_WORD: LineWord = LineWord { passable: 0, stops: [u64::MAX; 2] };

/// Direction of a scan along a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum ScanDirection {
    Forward,
    Backward,
}

/// At which passable cells scans along lines stop, apart from extra stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum StopRule {
    /// Squares: at cells with forced neighbors, in both directions.
    Forced,
    /// At no others.
    ExtraOnly,
    /// Hexagons: in the direction `straight` at cells with forced neighbors; in the other direction at turning points,
    /// without extra stops. `is_ahead`: whether a forced neighbor on the line before, and on the line after, lies one cell
    /// ahead of the cell beside the scan.
    Hexagons { straight: ScanDirection, is_ahead: [bool; 2] },
}

/// The end of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Cells from the start of the scan, which does not count itself.
    pub(crate) distance: u32,
    /// Whether it is a jump point.
    pub(crate) is_jump_point: bool,
}

/// All lines; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ScanLines {
    pub(super) words_per_line: usize,
    /// The words of all lines and of those on either side.
    pub(super) words: Vec<LineWord>,
    /// Cells that are stops without a forced neighbor, bits as in `words`; empty where there are none.
    pub(super) extra_stops: Vec<u64>,
    /// Cells at which scans turn, on hexagons; bits as in `words`.
    turning_points: Vec<u64>,
    rule: StopRule,
    /// Whether the first line and the last one are neighbors.
    is_ring: bool,
}

impl ScanLines {
    /// Creates `count` lines of `length` cells, all impassable. `has_extra_stops`: space for extra stops is
    /// allocated.
    pub(super) fn new(length: u32, count: u32, has_extra_stops: bool, rule: StopRule) -> Self {
        let words_per_line = (length as usize + 2).div_ceil(64);
        let words = vec![IMPASSABLE_WORD; words_per_line * (count as usize + 2)];
        let extra_stops = vec![0; if has_extra_stops { words.len() } else { 0 }];
        let has_turning_points = matches!(rule, StopRule::Hexagons { .. });
        let turning_points = vec![0; if has_turning_points { words.len() } else { 0 }];
        Self { words_per_line, words, extra_stops, turning_points, rule, is_ring: false }
    }

    /// Makes the first line and the last one neighbors.
    pub(super) fn closed_to_ring(self) -> Self {
        Self { is_ring: true, ..self }
    }

    /// For some words of a line, counts the passable cells, and the impassable cells whose four neighbors are
    /// passable.
    pub(super) fn obstacle_counts(&self, line: u32, words: Range<usize>) -> [u32; 2] {
        let first = (line as usize + 1) * self.words_per_line;
        let passable = |word: usize| self.words[word].passable;
        let mut counts = [0; 2];
        for word in first + words.start..first + words.end {
            let [before, after] = self.passable_before_and_after(word);
            let beside =
                passable(word - self.words_per_line) & passable(word + self.words_per_line);
            counts[0] += passable(word).count_ones();
            counts[1] += (!passable(word) & before & after & beside).count_ones();
        }
        counts
    }

    /// For each cell of a word, whether the cell before it is passable, and whether the one after it is.
    #[inline]
    fn passable_before_and_after(&self, word: usize) -> [u64; 2] {
        // Words at the ends of lines have impassable cells there.
        let passable = |word: usize| self.words.get(word).map_or(0, |word| word.passable);
        let (before, after) = (passable(word.wrapping_sub(1)), passable(word + 1));
        [passable(word) << 1 | before >> 63, passable(word) >> 1 | after << 63]
    }

    /// The words that contain `cells` and one more cell on either side.
    pub(super) fn words_around(&self, cells: &Range<u32>) -> Range<usize> {
        cells.start as usize / 64..((cells.end as usize + 1) / 64 + 1).min(self.words_per_line)
    }

    /// The words of a line from whose cells a scan may find something else when `cells`, on the line or
    /// beside it, change: as far as the next stops that do not change.
    pub(super) fn words_affected(&self, line: u32, cells: &Range<u32>) -> Range<usize> {
        let first = (line as usize + 1) * self.words_per_line;
        let near = self.words_around(cells);
        let (mut start, mut end) = (near.start, near.end);
        if start > 0 {
            start = self.next_stop::<false>((first + start) * 64, 0) / 64 - first;
        }
        if end < self.words_per_line {
            end = self.next_stop::<true>((first + end) * 64 - 1, 1) / 64 - first + 1;
        }
        start..end
    }

    /// Sets which cells of a line are passable, from words with the first cell at bit 1.
    pub(super) fn set_line(&mut self, line: u32, passable: &[u64]) {
        let (first, _) = self.bit_position(line, 0);
        let words = self.words[first..].iter_mut().take(self.words_per_line);
        words.zip(passable).for_each(|(word, &passable)| word.passable = passable);
        for (word, &passable) in passable.iter().enumerate().take(self.words_per_line) {
            self.copy_over_ring(first + word, passable);
        }
    }

    /// Stores the passable cells of a word of the first or last line of a ring beside the other one, too.
    fn copy_over_ring(&mut self, word: usize, passable: u64) {
        let per_line = self.words_per_line;
        let last = self.words.len() / per_line - 2;
        if self.is_ring && word / per_line == 1 {
            self.words[word + last * per_line].passable = passable;
        }
        if self.is_ring && word / per_line == last {
            self.words[word - last * per_line].passable = passable;
        }
    }

    /// Sets the turning points of a line, from words with the first cell at bit 1.
    pub(super) fn set_line_turning_points(&mut self, line: u32, turning_points: &[u64]) {
        let (first, _) = self.bit_position(line, 0);
        let words = self.turning_points[first..].iter_mut().take(self.words_per_line);
        words.zip(turning_points).for_each(|(word, &turning_points)| *word = turning_points);
    }

    /// Sets whether branching scans turn at a cell of hexagons, and with that whether they stop there.
    pub(super) fn set_turning_point(&mut self, line: u32, index: u32, is_turning_point: bool) {
        let (word, bit) = self.bit_position(line, index);
        set_bit(&mut self.turning_points[word], bit, is_turning_point);
        if let StopRule::Hexagons { straight, .. } = self.rule {
            let LineWord { passable, stops } = &mut self.words[word];
            stops[1 - straight as usize] = !*passable | self.turning_points[word];
        }
    }

    /// Whether branching scans turn at a cell of hexagons.
    pub(super) fn is_turning_point(&self, line: u32, index: u32) -> bool {
        let (word, bit) = self.bit_position(line, index);
        self.turning_points[word] >> bit & 1 == 1
    }

    /// Sets the extra stops of a line, from words with the first cell at bit 1.
    pub(super) fn set_line_extra_stops(&mut self, line: u32, extra_stops: &[u64]) {
        let (first, _) = self.bit_position(line, 0);
        let words = self.extra_stops[first..].iter_mut().take(self.words_per_line);
        words.zip(extra_stops).for_each(|(word, &extra_stops)| *word = extra_stops);
    }

    pub(super) fn set_extra_stop(&mut self, line: u32, index: u32, is_stop: bool) {
        let (word, bit) = self.bit_position(line, index);
        set_bit(&mut self.extra_stops[word], bit, is_stop);
    }

    /// The same for a cell of lines without other stops, and updates its stops.
    pub(super) fn set_only_stop(&mut self, line: u32, index: u32, is_stop: bool) {
        let (word, bit) = self.bit_position(line, index);
        set_bit(&mut self.extra_stops[word], bit, is_stop);
        self.find_stops(word);
    }

    /// Whether extra stops are allocated.
    pub(super) const fn has_extra_stops(&self) -> bool {
        !self.extra_stops.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len() * size_of::<LineWord>()
            + (self.extra_stops.len() + self.turning_points.len()) * 8
    }

    /// Word and bit of cell `index` of line `line`.
    #[inline]
    const fn bit_position(&self, line: u32, index: u32) -> (usize, u32) {
        let bit = index + 1;
        ((line as usize + 1) * self.words_per_line + bit as usize / 64, bit % 64)
    }

    #[inline]
    pub(super) fn is_passable(&self, line: u32, index: u32) -> bool {
        let (word, bit) = self.bit_position(line, index);
        self.words[word].passable >> bit & 1 == 1
    }

    pub(super) fn set_passable(&mut self, line: u32, index: u32, is_passable: bool) {
        let (word, bit) = self.bit_position(line, index);
        set_bit(&mut self.words[word].passable, bit, is_passable);
        self.copy_over_ring(word, self.words[word].passable);
    }

    /// The next stop forward, or backward.
    #[inline(always)]
    pub(super) fn scan<const FORWARD: bool>(&self, line: u32, index: u32) -> Stop {
        let (word, bit) = self.bit_position(line, index);
        let start = word * 64 + bit as usize;
        let stop = self.next_stop::<FORWARD>(start, usize::from(!FORWARD));
        let distance = stop.abs_diff(start) as u32;
        Stop { distance, is_jump_point: self.is_passable_bit(stop) }
    }

    /// Returns the next stop forward, or backward, among the stops of scans in `direction` (0 forward, 1
    /// backward). Bits are counted over all lines.
    #[inline(always)]
    fn next_stop<const FORWARD: bool>(&self, bit: usize, direction: usize) -> usize {
        nearest_bit::<FORWARD>(bit, |word| self.words[word].stops[direction])
    }

    #[inline(always)]
    fn is_passable_bit(&self, bit: usize) -> bool {
        self.words[bit / 64].passable >> (bit % 64) & 1 == 1
    }

    /// Updates the stops of a line after `cells`, on it or beside it, have changed.
    pub(super) fn refresh(&mut self, line: u32, cells: &Range<u32>) {
        let first = (line as usize + 1) * self.words_per_line;
        for word in self.words_around(cells) {
            self.find_stops(first + word);
        }
    }

    /// Appends to `visible`, as words of bits, the cells of some words of a line whose next stop forward, or
    /// backward, is a jump point.
    pub(super) fn push_visibility(
        &self,
        line: u32,
        words: Range<usize>,
        direction: ScanDirection,
        visible: &mut Vec<u64>,
    ) {
        let first = (line as usize + 1) * self.words_per_line;
        let range = &self.words[first + words.start..first + words.end];
        let jump_point = |stop: usize| u64::from(self.is_passable_bit(stop));
        match direction {
            ScanDirection::Backward => {
                // The state before the first word carries over into it.
                let mut carry = match words.start {
                    0 => 0,
                    start => jump_point(self.next_stop::<false>((first + start) * 64, 1)),
                };
                visible.extend(range.iter().map(|word| {
                    fill_between(word.stops[1], word.passable & word.stops[1], &mut carry)
                }));
            }
            ScanDirection::Forward => {
                let mut carry = match words.end {
                    end if end == self.words_per_line => 0,
                    end => jump_point(self.next_stop::<true>((first + end) * 64 - 1, 0)),
                };
                let start = visible.len();
                visible.extend(range.iter().rev().map(|word| {
                    let jumps = (word.passable & word.stops[0]).reverse_bits();
                    fill_between(word.stops[0].reverse_bits(), jumps, &mut carry).reverse_bits()
                }));
                visible[start..].reverse();
            }
        }
    }

    fn find_stops(&mut self, word: usize) {
        let passable = self.words[word].passable;
        let mut forced = [0; 2];
        if let StopRule::Hexagons { straight, is_ahead } = self.rule {
            let extra_stops = self.extra_stops.get(word).copied().unwrap_or(0);
            let mut stops = [!passable | self.turning_points[word]; 2];
            stops[straight as usize] =
                !passable | extra_stops | self.forced_on_hexagons(word, straight, is_ahead);
            self.words[word].stops = stops;
            return;
        }
        if self.rule == StopRule::Forced {
            for neighbor_word in [word - self.words_per_line, word + self.words_per_line] {
                let neighbors = self.words[neighbor_word].passable;
                let [before, after] = self.passable_before_and_after(neighbor_word);
                forced[0] |= neighbors & !before;
                forced[1] |= neighbors & !after;
            }
        }
        let extra_stops = self.extra_stops.get(word).copied().unwrap_or(0);
        self.words[word].stops = forced.map(|forced| !passable | forced | extra_stops);
    }

    /// The cells of a word with forced neighbors of hexagons: passable ones on the lines beside, where the cell before them is
    /// not.
    fn forced_on_hexagons(&self, word: usize, straight: ScanDirection, is_ahead: [bool; 2]) -> u64 {
        let forced = |word: usize| {
            let [before, after] = self.passable_before_and_after(word);
            let behind = if straight == ScanDirection::Forward { before } else { after };
            self.words.get(word).map_or(0, |word| word.passable & !behind)
        };
        let beside = [word - self.words_per_line, word + self.words_per_line];
        let found = beside.into_iter().zip(is_ahead).map(|(word, is_ahead)| {
            let here = forced(word);
            match straight {
                _ if !is_ahead => here,
                ScanDirection::Forward => here >> 1 | forced(word + 1) << 63,
                ScanDirection::Backward => here << 1 | forced(word.wrapping_sub(1)) >> 63,
            }
        });
        found.fold(0, |all, found| all | found)
    }
}

/// Sets a bit of a word to a value.
#[inline]
pub(super) fn set_bit(word: &mut u64, bit: u32, value: bool) {
    *word = *word & !(1 << bit) | u64::from(value) << bit;
}

/// Returns the nearest bit above `bit`, or below it; there must be one. `word` returns 64 bits, the first at
/// the lowest.
#[inline(always)]
pub(super) fn nearest_bit<const ABOVE: bool>(bit: usize, word: impl Fn(usize) -> u64) -> usize {
    let (mut index, bit) = (bit / 64, bit % 64);
    // The bits above are shifted in two steps, as there may be none.
    let others = if ABOVE { u64::MAX << bit << 1 } else { !(u64::MAX << bit) };
    let mut bits = word(index) & others;
    while bits == 0 {
        index = if ABOVE { index + 1 } else { index - 1 };
        bits = word(index);
    }
    let found = if ABOVE { bits.trailing_zeros() } else { 63 - bits.leading_zeros() };
    index * 64 + found as usize
}

/// The cells above each of `jumps` up to and including the next of `stops`: those from which a downward scan
/// finds it. `carry` passes from word to word.
fn fill_between(stops: u64, jumps: u64, carry: &mut u64) -> u64 {
    let free = !stops;
    let starts = jumps << 1 | *carry;
    let (sum, overflow) = free.overflowing_add(starts);
    *carry = u64::from(overflow) | jumps >> 63;
    sum ^ free
}
