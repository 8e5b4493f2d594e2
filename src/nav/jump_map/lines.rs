//! Passability along parallel lines (rows, or columns), with what a straight scan asks for.
//!
//! Beside each word of 64 cells stand, for both directions along the line, the cells at which a scan
//! stops and those from which it stops at a jump point. A stop is an impassable cell or a jump point:
//! a passable cell with a forced neighbor, that is, one whose neighbor to a side is passable while
//! the one before that is not. A line of impassable cells lies on either side, and an impassable cell
//! at both ends of each line, so every scan ends.

/// 64 cells of a line, the first at the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) open: u64,
    /// Stops of scans forward (0) and backward (1).
    pub(super) stops: [u64; 2],
    /// Where the next stop forward (0) or backward (1) is a jump point.
    pub(super) sees: [u64; 2],
}

const SHUT: Word = Word { open: 0, stops: [u64::MAX; 2], sees: [0; 2] };

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
}

impl Lines {
    /// `count` lines of `length` cells, all impassable.
    pub(super) fn new(length: u32, count: u32) -> Self {
        let words_per_line = (length as usize + 2).div_ceil(64);
        Self { words_per_line, words: vec![SHUT; words_per_line * (count as usize + 2)] }
    }

    pub(super) const fn words_per_line(&self) -> usize {
        self.words_per_line
    }

    /// The words of all `count` lines and of those on either side.
    pub(super) fn words(&self, count: u32) -> &[Word] {
        &self.words[..self.words_per_line * (count as usize + 2)]
    }

    /// Sets which cells of a line are passable, from words with the first cell at bit 1.
    pub(super) fn set_line(&mut self, line: u32, open: &[u64]) {
        let (first, _) = self.place(line, 0);
        let words = self.words[first..].iter_mut().take(self.words_per_line);
        words.zip(open).for_each(|(word, &open)| word.open = open);
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len() * size_of::<Word>()
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

    /// Whether the next stop along the line is a jump point.
    #[inline]
    pub(super) fn sees(&self, line: u32, at: u32, along: Along) -> bool {
        let (word, bit) = self.place(line, at);
        self.words[word].sees[along as usize] >> bit & 1 == 1
    }

    /// Distance to the next stop forward, or backward, if that is a jump point.
    #[inline(always)]
    pub(super) fn sight<const FORWARD: bool>(&self, line: u32, at: u32) -> Option<u32> {
        let (word, bit) = self.place(line, at);
        let sees = self.words[word].sees[usize::from(!FORWARD)] >> bit & 1 == 1;
        sees.then(|| self.next_stop::<FORWARD>(word, bit).0)
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
        let (distance, there) = self.next_stop::<FORWARD>(word, bit);
        let is_open = self.words[there / 64].open >> (there % 64) & 1 == 1;
        Stop { distance, is_open }
    }

    /// Distance to the next stop, and its bit among all.
    #[inline(always)]
    fn next_stop<const FORWARD: bool>(&self, mut word: usize, bit: u32) -> (u32, usize) {
        let here = word * 64 + bit as usize;
        if FORWARD {
            // All bits above; shifted twice, as there may be none.
            let mut stops = self.words[word].stops[0] & (u64::MAX << bit << 1);
            while stops == 0 {
                word += 1;
                stops = self.words[word].stops[0];
            }
            let there = word * 64 + stops.trailing_zeros() as usize;
            ((there - here) as u32, there)
        } else {
            let mut stops = self.words[word].stops[1] & !(u64::MAX << bit);
            while stops == 0 {
                word -= 1;
                stops = self.words[word].stops[1];
            }
            let there = word * 64 + 63 - stops.leading_zeros() as usize;
            ((here - there) as u32, there)
        }
    }

    /// Finds stops and sights of a line anew after cells near `at` on it or beside it have changed.
    /// Calls `changed` with every cell that sees otherwise than before.
    pub(super) fn refresh(
        &mut self,
        line: u32,
        at: core::ops::Range<u32>,
        mut changed: impl FnMut(u32),
    ) {
        let first = (line as usize + 1) * self.words_per_line;
        // A forced neighbor shows one cell further.
        let from = at.start as usize / 64;
        let to = ((at.end as usize + 1) / 64).min(self.words_per_line - 1);
        for word in from..=to {
            self.find_stops(first + word);
        }
        let (mut ahead, mut behind) = (0, 0);
        for word in 0..self.words_per_line {
            let Word { open, stops, .. } = self.words[first + word];
            let sees = fill_up(stops[1], open & stops[1], &mut behind);
            self.note_sees(first, word, Along::Backward, sees, &mut changed);
        }
        for word in (0..self.words_per_line).rev() {
            let Word { open, stops, .. } = self.words[first + word];
            let jumps = (open & stops[0]).reverse_bits();
            let sees = fill_up(stops[0].reverse_bits(), jumps, &mut ahead).reverse_bits();
            self.note_sees(first, word, Along::Forward, sees, &mut changed);
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
        self.words[word].stops = forced.map(|forced| !open | forced);
    }

    fn note_sees(
        &mut self,
        first: usize,
        word: usize,
        along: Along,
        sees: u64,
        changed: &mut impl FnMut(u32),
    ) {
        let before = &mut self.words[first + word].sees[along as usize];
        let mut difference = *before ^ sees;
        *before = sees;
        while difference != 0 {
            let bit = (word * 64) as u32 + difference.trailing_zeros();
            difference &= difference - 1;
            changed(bit.wrapping_sub(1));
        }
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
