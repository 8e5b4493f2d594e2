//! Passability along parallel lines (rows, or columns), with what a straight scan asks for.
//!
//! Beside each word of 64 cells stand, for both directions along the line, the cells at which a scan
//! stops. A stop is an impassable cell or a jump point:
//! a passable cell with a forced neighbor, that is, one whose neighbor to a side is passable while
//! the one before that is not; or a passable cell marked from outside (on a seam, say). A line of
//! impassable cells lies on either side, and an impassable cell at both ends of each line, so every
//! scan ends.

use core::ops::Range;

/// 64 cells of a line, the first at the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) open: u64,
    /// Stops of scans forward (0) and backward (1).
    pub(super) stops: [u64; 2],
}

const SHUT: Word = Word { open: 0, stops: [u64::MAX; 2] };

/// Which way along a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    Forward,
    Backward,
}

/// Where a scan has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Cells from the one the scan began at, which does not count.
    pub(crate) distance: u32,
    /// Whether it is a jump point.
    pub(crate) is_open: bool,
}

/// All lines; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    words_per_line: usize,
    words: Vec<Word>,
    /// Cells that are stops for reasons of their own, bits as in `words`; empty where there are none.
    marks: Vec<u64>,
    /// Whether cells with forced neighbors are stops.
    finds_forced: bool,
}

impl Lines {
    /// `count` lines of `length` cells, all impassable.
    pub(super) fn new(length: u32, count: u32) -> Self {
        let words_per_line = (length as usize + 2).div_ceil(64);
        let words = vec![SHUT; words_per_line * (count as usize + 2)];
        Self { words_per_line, words, marks: Vec::new(), finds_forced: true }
    }

    /// The same lines with room for marks.
    pub(super) fn with_marks(mut self) -> Self {
        self.marks = vec![0; self.words.len()];
        self
    }

    /// The same lines, where only marks are jump points.
    pub(super) fn without_forced(self) -> Self {
        Self { finds_forced: false, ..self.with_marks() }
    }

    pub(super) const fn words_per_line(&self) -> usize {
        self.words_per_line
    }

    /// The words of all `count` lines and of those on either side.
    pub(super) fn words(&self, count: u32) -> &[Word] {
        &self.words[..self.words_per_line * (count as usize + 2)]
    }

    /// How many cells of some words of a line are passable, and how many are not while all four
    /// beside them are.
    pub(super) fn texture(&self, line: u32, words: Range<usize>) -> [u32; 2] {
        let first = (line as usize + 1) * self.words_per_line;
        let open = |word: usize| self.words[word].open;
        let mut counts = [0; 2];
        for word in first + words.start..first + words.end {
            let here = open(word);
            let before = here << 1 | word.checked_sub(1).map_or(0, open) >> 63;
            let after = here >> 1 | self.words.get(word + 1).map_or(0, |next| next.open << 63);
            let beside = open(word - self.words_per_line) & open(word + self.words_per_line);
            counts[0] += here.count_ones();
            counts[1] += (!here & before & after & beside).count_ones();
        }
        counts
    }

    /// The words with the cells at `at` and one to either side.
    pub(super) fn words_around(&self, at: &Range<u32>) -> Range<usize> {
        at.start as usize / 64..((at.end as usize + 1) / 64 + 1).min(self.words_per_line)
    }

    /// The words of a line from whose cells something may be seen otherwise when cells at `at`, on
    /// the line or beside it, change: as far as the next stops that do not.
    pub(super) fn words_in_sight(&self, line: u32, at: &Range<u32>) -> Range<usize> {
        let first = (line as usize + 1) * self.words_per_line;
        let near = self.words_around(at);
        let (mut start, mut end) = (near.start, near.end);
        if start > 0 {
            let stop = self.next_stop::<false>(first + start, 0, 0).1;
            start = stop / 64 - first;
        }
        if end < self.words_per_line {
            let stop = self.next_stop::<true>(first + end - 1, 63, 1).1;
            end = stop / 64 - first + 1;
        }
        start..end
    }

    /// Sets which cells of a line are passable, from words with the first cell at bit 1.
    pub(super) fn set_line(&mut self, line: u32, open: &[u64]) {
        let (first, _) = self.place(line, 0);
        let words = self.words[first..].iter_mut().take(self.words_per_line);
        words.zip(open).for_each(|(word, &open)| word.open = open);
    }

    /// Sets which cells of a line are marked, from words with the first cell at bit 1.
    pub(super) fn set_line_marks(&mut self, line: u32, marks: &[u64]) {
        let (first, _) = self.place(line, 0);
        let words = self.marks[first..].iter_mut().take(self.words_per_line);
        words.zip(marks).for_each(|(word, &marks)| *word = marks);
    }

    pub(super) fn set_mark(&mut self, line: u32, at: u32, is_marked: bool) {
        let (word, bit) = self.place(line, at);
        let marks = &mut self.marks[word];
        *marks = *marks & !(1 << bit) | u64::from(is_marked) << bit;
    }

    /// Only of lines with room for marks.
    #[inline]
    pub(super) fn is_marked(&self, line: u32, at: u32) -> bool {
        let (word, bit) = self.place(line, at);
        self.marks[word] >> bit & 1 == 1
    }

    /// Whether there is room for marks.
    pub(super) const fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// The marks of all lines and of those on either side.
    pub(super) fn marks(&self) -> &[u64] {
        &self.marks
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len() * size_of::<Word>() + self.marks.len() * 8
    }

    /// Word and bit of cell `at` of line `line`.
    #[inline]
    const fn place(&self, line: u32, at: u32) -> (usize, u32) {
        let bit = at + 1;
        ((line as usize + 1) * self.words_per_line + bit as usize / 64, bit % 64)
    }

    #[inline]
    pub(super) fn is_open(&self, line: u32, at: u32) -> bool {
        let (word, bit) = self.place(line, at);
        self.words[word].open >> bit & 1 == 1
    }

    /// Distance to the next stop forward, or backward, if that is a jump point.
    #[inline(always)]
    pub(super) fn sight<const FORWARD: bool>(&self, line: u32, at: u32) -> Option<u32> {
        let stop = self.scan::<FORWARD>(line, at);
        stop.is_open.then_some(stop.distance)
    }

    pub(super) fn set_open(&mut self, line: u32, at: u32, is_open: bool) {
        let (word, bit) = self.place(line, at);
        let open = &mut self.words[word].open;
        *open = *open & !(1 << bit) | u64::from(is_open) << bit;
    }

    /// The next stop forward, or backward.
    #[inline(always)]
    pub(super) fn scan<const FORWARD: bool>(&self, line: u32, at: u32) -> Stop {
        let (word, bit) = self.place(line, at);
        let (distance, there) = self.next_stop::<FORWARD>(word, bit, usize::from(!FORWARD));
        let is_open = self.words[there / 64].open >> (there % 64) & 1 == 1;
        Stop { distance, is_open }
    }

    /// Distance to the next stop forward, or backward, of scans in the direction `side`, and its bit
    /// among all.
    #[inline(always)]
    fn next_stop<const FORWARD: bool>(
        &self,
        mut word: usize,
        bit: u32,
        side: usize,
    ) -> (u32, usize) {
        let here = word * 64 + bit as usize;
        if FORWARD {
            // All bits above; shifted twice, as there may be none.
            let mut stops = self.words[word].stops[side] & (u64::MAX << bit << 1);
            while stops == 0 {
                word += 1;
                stops = self.words[word].stops[side];
            }
            let there = word * 64 + stops.trailing_zeros() as usize;
            ((there - here) as u32, there)
        } else {
            let mut stops = self.words[word].stops[side] & !(u64::MAX << bit);
            while stops == 0 {
                word -= 1;
                stops = self.words[word].stops[side];
            }
            let there = word * 64 + 63 - stops.leading_zeros() as usize;
            ((here - there) as u32, there)
        }
    }

    /// Finds the stops of a line anew after cells at `at`, on it or beside it, have changed.
    pub(super) fn refresh(&mut self, line: u32, at: &Range<u32>) {
        let first = (line as usize + 1) * self.words_per_line;
        for word in self.words_around(at) {
            self.find_stops(first + word);
        }
    }

    /// The cells of some words of a line whose next stop forward, or backward, is a jump point:
    /// words of bits, added to `sights`.
    pub(super) fn add_sights(
        &self,
        line: u32,
        words: Range<usize>,
        along: Along,
        sights: &mut Vec<u64>,
    ) {
        let first = (line as usize + 1) * self.words_per_line;
        let range = &self.words[first + words.start..first + words.end];
        let is_open = |bit: usize| self.words[bit / 64].open >> (bit % 64) & 1;
        match along {
            Along::Backward => {
                // What stands before the first word goes on into it.
                let mut carry = match words.start {
                    0 => 0,
                    start => is_open(self.next_stop::<false>(first + start, 0, 1).1),
                };
                sights.extend(
                    range
                        .iter()
                        .map(|word| fill_up(word.stops[1], word.open & word.stops[1], &mut carry)),
                );
            }
            Along::Forward => {
                let mut carry = match words.end {
                    end if end == self.words_per_line => 0,
                    end => is_open(self.next_stop::<true>(first + end - 1, 63, 0).1),
                };
                let start = sights.len();
                sights.extend(range.iter().rev().map(|word| {
                    let jumps = (word.open & word.stops[0]).reverse_bits();
                    fill_up(word.stops[0].reverse_bits(), jumps, &mut carry).reverse_bits()
                }));
                sights[start..].reverse();
            }
        }
    }

    fn find_stops(&mut self, word: usize) {
        let open = self.words[word].open;
        let mut forced = [0; 2];
        for beside in [word - self.words_per_line, word + self.words_per_line] {
            let side = self.words[beside].open;
            // Words at the ends of lines have impassable cells there.
            let open = |word: Option<usize>| {
                word.and_then(|word| self.words.get(word)).map_or(0, |word| word.open)
            };
            let before = side << 1 | open(beside.checked_sub(1)) >> 63;
            let after = side >> 1 | open(Some(beside + 1)) << 63;
            forced[0] |= side & !before;
            forced[1] |= side & !after;
        }
        if !self.finds_forced {
            forced = [0; 2];
        }
        let marks = self.marks.get(word).copied().unwrap_or(0);
        self.words[word].stops = forced.map(|forced| !open | forced | marks);
    }
}

/// The cells above each of `jumps` up to the next of `stops`, that one included: those that see it
/// looking down. `carry` goes from word to word.
fn fill_up(stops: u64, jumps: u64, carry: &mut u64) -> u64 {
    let free = !stops;
    let starts = jumps << 1 | *carry;
    let (sum, overflow) = free.overflowing_add(starts);
    *carry = u64::from(overflow) | jumps >> 63;
    sum ^ free
}
