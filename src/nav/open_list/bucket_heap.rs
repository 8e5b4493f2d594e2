//! A heap of buckets: nodes of nearly equal f stand on one stack, and a bit per stack tells which
//! are not empty.
//!
//! Input: nodes with f. Output: a node of lowest f. Where a binary heap swaps down, the next lowest
//! f is found by reading bits, 64 stacks at a time. Stacks form a ring: all f in the list lie within
//! the spread, so f modulo the ring is unique.
//!
//! - Where the spread is small (uniform cost: 1,154; costs of 1 to 5: 11,540), each stack holds a
//!   single f, and what was put in last comes out first: on open ground the search runs straight at
//!   the goal.
//! - Where it is 16,384 or more (costs of fine steps), a stack holds a range of f. The lowest stack
//!   is sorted when its turn comes and kept sorted while it lasts; the others stay a jumble. So the
//!   order is exact, and the ring stays small enough for the cache.
//!
//! Room for all stacks is 66 KiB, taken when the list is made: searches are meant to be used again.
//!
//! A cheaper way to a node is simply put in again; the search skips the older entry when it turns
//! up (lazy deletion).
//!
//! Sources: R. Dial, "Algorithm 360" (CACM 1969) for the ring; Denardo & Fox, "Shortest-Route
//! Methods: 1" (Operations Research 1979) and Cherkassky, Goldberg & Silverstein, "Buckets, Heaps,
//! Lists and Monotone Priority Queues" (SODA 1997) for ranges with an exact front. Options
//! measured: `docs/open-lists.md`, `benches/RESULTS.md`.

use super::{Key, NodeId, OpenList, Watch};

/// Room for stacks. A fixed number, so that putting in needs no bounds check.
const ROOM: usize = 1 << 14;
/// Words of 64 bits for so many stacks.
const WORDS: usize = ROOM / 64;
/// End of a stack.
const END: u32 = u32::MAX;

/// Stacks of nearly equal f and their bits; see the [module](self).
#[derive(Clone, Debug)]
pub struct BucketHeap<W: Watch = ()> {
    /// Top entry of each stack, or [`END`].
    tops: Box<[u32; ROOM]>,
    /// A bit per stack: not empty. That of the cursor's stack may be set for nothing.
    bits: Box<[u64; WORDS]>,
    /// Stacks of the ring less one: no more than the spread needs, so that they stay in the cache.
    mask: usize,
    /// Nodes, each with the entry below it; free ones hang together the same way.
    entries: Vec<(NodeId, u32)>,
    /// The f of each entry; unused where every stack holds a single one.
    costs: Vec<u32>,
    /// First entry of the list of free ones.
    free: u32,
    /// Each stack holds 2^shift values of f.
    shift: u32,
    /// Stack of the f last popped.
    cursor: usize,
    /// The stack at the cursor, highest f first; unused where every stack holds a single f.
    front: Vec<(u32, NodeId)>,
    len: usize,
    watch: W,
}

impl<W: Watch> Default for BucketHeap<W> {
    fn default() -> Self {
        Self {
            tops: Box::new([END; ROOM]),
            bits: Box::new([0; WORDS]),
            mask: ROOM - 1,
            entries: Vec::new(),
            costs: Vec::new(),
            free: END,
            shift: 0,
            cursor: 0,
            front: Vec::new(),
            len: 0,
            watch: W::default(),
        }
    }
}

impl<W: Watch> BucketHeap<W> {
    /// Who looks on. [Resetting](OpenList::reset) the list leaves it as it is. Places are numbers
    /// of words of bits; a word that is looked at counts as a comparison. In the sorted front places
    /// are not told.
    #[must_use]
    pub const fn watch(&self) -> &W {
        &self.watch
    }

    #[inline]
    const fn stack_of(&self, f: u32) -> usize {
        (f >> self.shift) as usize & self.mask & (ROOM - 1)
    }

    #[inline]
    fn push(&mut self, stack: usize, node: NodeId) -> u32 {
        let entry = (node, self.tops[stack]);
        let mut place = self.free;
        if place == END {
            place = self.entries.len() as u32;
            self.entries.push(entry);
        } else {
            self.free = self.entries[place as usize].1;
            self.entries[place as usize] = entry;
        }
        self.tops[stack] = place;
        self.bits[stack / 64] |= 1 << (stack % 64);
        place
    }

    #[inline(never)]
    fn insert_wide(&mut self, stack: usize, node: NodeId, f: u32) {
        if stack == self.cursor {
            let place = self.front.partition_point(|&(other, _)| {
                self.watch.compared(0, 0);
                other >= f
            });
            for moved in place..self.front.len() {
                self.watch.moved(moved, moved + 1);
            }
            self.front.insert(place, (f, node));
        } else {
            let place = self.push(stack, node) as usize;
            self.costs.resize(self.entries.len(), 0);
            self.costs[place] = f;
        }
    }

    #[inline(never)]
    fn pop_wide(&mut self) -> Option<NodeId> {
        if self.front.is_empty() {
            self.advance();
            self.sort_to_front();
        }
        self.front.pop().map(|(_, node)| node)
    }

    /// Takes the top entry of a stack: its place and its node.
    #[inline]
    fn take(&mut self, stack: usize) -> Option<(u32, NodeId)> {
        let top = self.tops[stack];
        if top == END {
            return None;
        }
        let (node, below) = self.entries[top as usize];
        self.tops[stack] = below;
        self.entries[top as usize].1 = self.free;
        self.free = top;
        Some((top, node))
    }

    /// Moves the cursor from its empty stack to the next one in use, around the ring. One is in
    /// use.
    fn advance(&mut self) {
        let words = (self.mask / 64) & (WORDS - 1);
        let (mut word, bit) = ((self.cursor / 64) & words, self.cursor % 64);
        self.bits[word] &= !(1 << bit);
        let mut bits = self.bits[word] & (u64::MAX << bit);
        self.watch.compared(word, word);
        while bits == 0 {
            word = (word + 1) & words;
            self.watch.compared(word, word);
            bits = self.bits[word];
        }
        self.cursor = word * 64 + bits.trailing_zeros() as usize;
    }

    /// Empties all stacks. Those whose bit is not set are empty already.
    fn clear_stacks(&mut self) {
        for (tops, bits) in self.tops.chunks_exact_mut(64).zip(self.bits.iter_mut()) {
            while *bits != 0 {
                tops[bits.trailing_zeros() as usize] = END;
                *bits &= *bits - 1;
            }
        }
    }

    /// Moves the cursor's stack of several f to the front, sorted.
    fn sort_to_front(&mut self) {
        while let Some((place, node)) = self.take(self.cursor) {
            self.watch.moved(self.cursor, self.front.len());
            self.front.push((self.costs[place as usize], node));
        }
        self.front.sort_unstable_by(|one, other| {
            self.watch.compared(0, 0);
            other.cmp(one)
        });
    }
}

impl<W: Watch> OpenList for BucketHeap<W> {
    fn reset(&mut self, lowest: u32, spread: u32) {
        self.clear_stacks();
        let needed = spread.saturating_add(1).min(1 << 31).next_power_of_two().max(64) as usize;
        let ring = needed.min(ROOM);
        self.mask = ring - 1;
        // A range more than the spread covers: the lowest and the highest must not share a stack.
        self.shift = if needed > ring { (needed / ring).trailing_zeros() + 1 } else { 0 };
        self.entries.clear();
        self.costs.clear();
        self.free = END;
        self.cursor = self.stack_of(lowest);
        self.front.clear();
        self.len = 0;
    }

    #[inline]
    fn insert(&mut self, node: NodeId, key: Key) {
        let stack = self.stack_of(key.f);
        self.len += 1;
        if self.shift > 0 {
            self.insert_wide(stack, node, key.f);
        } else {
            self.push(stack, node);
        }
    }

    #[inline]
    fn improve(&mut self, node: NodeId, key: Key) {
        self.insert(node, key);
    }

    #[inline]
    fn pop(&mut self) -> Option<NodeId> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        if self.shift > 0 {
            return self.pop_wide();
        }
        loop {
            if let Some((_, node)) = self.take(self.cursor) {
                return Some(node);
            }
            self.advance();
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        4 * (ROOM + self.costs.capacity())
            + 8 * (WORDS + self.front.capacity() + self.entries.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(list: &mut BucketHeap) -> Vec<NodeId> {
        std::iter::from_fn(|| list.pop()).collect()
    }

    #[test]
    fn equal_f_comes_out_last_in_first_out_around_the_ring() {
        let mut list = BucketHeap::default();
        list.reset(110, 100);
        for (node, f) in [(0, 120), (1, 140), (2, 120), (3, 200)] {
            list.insert(node, Key { f, h: 0 });
        }
        assert_eq!(drain(&mut list), [2, 0, 1, 3]);
    }

    #[test]
    fn a_wide_spread_is_still_in_exact_order() {
        let mut list = BucketHeap::default();
        list.reset(0, 3_000_000);
        for (node, f) in [(0, 2_999_999), (1, 7), (2, 5), (3, 2_999_998), (4, 7), (5, 900)] {
            list.insert(node, Key { f, h: 0 });
        }
        assert_eq!(drain(&mut list), [2, 4, 1, 5, 3, 0]);
    }
}
