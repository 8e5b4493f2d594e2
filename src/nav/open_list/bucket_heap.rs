//! A heap of buckets: nodes of nearly equal f share a stack, and one bit per stack is set where the stack is
//! not empty.
//!
//! Input: nodes with f. Output: a node of lowest f. Where a binary heap sifts down, the next lowest f is
//! found by reading bits, 64 stacks at a time. Stacks form a ring: all f in the list lie within the spread,
//! so f modulo the ring is unique.
//!
//! - Where the spread is small (uniform cost: 1,154; costs of 1 to 5: 11,540), each stack holds a single f,
//!   and the last node inserted is popped first: on open terrain the search runs straight at the goal.
//! - Where it is 16,384 or more (costs of fine steps), a stack holds a range of f. The lowest stack is sorted
//!   when the cursor reaches it and kept sorted until it is empty; the others stay unsorted. So the order is
//!   exact, and the ring stays small enough for the cache.
//!
//! All stacks together take 66 KiB, allocated when the list is created: searches are meant to be reused.
//!
//! A node with a cheaper path is simply inserted again; the search skips the older entry when it is popped
//! (lazy deletion).
//!
//! Sources: R. Dial, "Algorithm 360" (CACM 1969) for the ring; Denardo & Fox, "Shortest-Route Methods: 1"
//! (Operations Research 1979) and Cherkassky, Goldberg & Silverstein, "Buckets, Heaps, Lists and Monotone
//! Priority Queues" (SODA 1997) for ranges with an exact front. Options measured: `docs/open-lists.md`,
//! `docs/lab/search.md`.

use super::{Key, NodeId, OpenList, OpenListObserver};

/// Number of stacks. A constant, so that inserting needs no bounds check.
const MAX_STACKS: usize = 1 << 14;
/// Words of 64 bits for that many stacks.
const WORDS: usize = MAX_STACKS / 64;
/// End of a stack.
const NO_ENTRY: u32 = u32::MAX;

/// Stacks of nearly equal f and their bits; see the [module](self).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", serde(bound = ""))]
pub struct BucketHeap<O: OpenListObserver = ()> {
    /// Top entry of each stack, or [`NO_ENTRY`].
    #[cfg_attr(feature = "serialize", serde(with = "tops"))]
    tops: Box<[u32; MAX_STACKS]>,
    /// A bit per stack: not empty. The bit of the cursor's stack may be set although it is empty.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::boxed_array"))]
    occupied: Box<[u64; WORDS]>,
    /// Stacks in the ring, minus one: no more than the spread needs, so that they stay in the cache.
    mask: usize,
    /// Nodes, each with the entry below it; free entries are linked the same way.
    entries: Vec<(NodeId, u32)>,
    /// The f of each entry; unused where every stack holds a single f.
    entry_f: Vec<u32>,
    /// First entry of the list of free ones.
    free: u32,
    /// Each stack holds 2^shift values of f.
    shift: u32,
    /// Stack of the f last popped.
    cursor: usize,
    /// The stack at the cursor, highest f first; unused where every stack holds a single f.
    front: Vec<(u32, NodeId)>,
    len: usize,
    #[cfg_attr(feature = "serialize", serde(skip))]
    observer: O,
}

fn no_stacks() -> Box<[u32; MAX_STACKS]> {
    Box::new([NO_ENTRY; MAX_STACKS])
}

/// How serde writes the stacks: those that are not empty.
#[cfg(feature = "serialize")]
mod tops {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::{MAX_STACKS, NO_ENTRY};

    #[expect(clippy::borrowed_box, reason = "what serde passes")]
    pub(super) fn serialize<S: Serializer>(
        tops: &Box<[u32; MAX_STACKS]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let all = (0_u32..).zip(tops.iter().copied()).filter(|&(_, top)| top != NO_ENTRY);
        serializer.collect_seq(all.collect::<Vec<_>>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Box<[u32; MAX_STACKS]>, D::Error> {
        let all: Vec<(u32, u32)> = Vec::deserialize(deserializer)?;
        let mut tops = super::no_stacks();
        for (stack, top) in all {
            let place = tops.get_mut(stack as usize);
            *place.ok_or_else(|| D::Error::custom("a stack beyond the last"))? = top;
        }
        Ok(tops)
    }
}

impl<O: OpenListObserver> Default for BucketHeap<O> {
    fn default() -> Self {
        Self {
            tops: no_stacks(),
            occupied: Box::new([0; WORDS]),
            mask: MAX_STACKS - 1,
            entries: Vec::new(),
            entry_f: Vec::new(),
            free: NO_ENTRY,
            shift: 0,
            cursor: 0,
            front: Vec::new(),
            len: 0,
            observer: O::default(),
        }
    }
}

impl<O: OpenListObserver> BucketHeap<O> {
    /// The observer. [Resetting](OpenList::reset) the list does not reset it. Positions are indices of words
    /// of bits; reading a word counts as a comparison. Positions in the sorted front are not reported.
    #[must_use]
    pub const fn observer(&self) -> &O {
        &self.observer
    }

    #[inline]
    const fn stack_of(&self, f: u32) -> usize {
        (f >> self.shift) as usize & self.mask & (MAX_STACKS - 1)
    }

    #[inline]
    fn push(&mut self, stack: usize, node: NodeId) -> u32 {
        let entry = (node, self.tops[stack]);
        let mut index = self.free;
        if index == NO_ENTRY {
            index = self.entries.len() as u32;
            self.entries.push(entry);
        } else {
            self.free = self.entries[index as usize].1;
            self.entries[index as usize] = entry;
        }
        self.tops[stack] = index;
        self.occupied[stack / 64] |= 1 << (stack % 64);
        index
    }

    #[inline(never)]
    fn insert_wide(&mut self, stack: usize, node: NodeId, f: u32) {
        if stack == self.cursor {
            let index = self.front.partition_point(|&(other, _)| {
                self.observer.compared(0, 0);
                other >= f
            });
            for moved in index..self.front.len() {
                self.observer.moved(moved, moved + 1);
            }
            self.front.insert(index, (f, node));
        } else {
            let index = self.push(stack, node) as usize;
            self.entry_f.resize(self.entries.len(), 0);
            self.entry_f[index] = f;
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

    /// Removes the top entry of a stack; returns its index and its node.
    #[inline]
    fn take_top(&mut self, stack: usize) -> Option<(u32, NodeId)> {
        let top = self.tops[stack];
        if top == NO_ENTRY {
            return None;
        }
        let (node, below) = self.entries[top as usize];
        self.tops[stack] = below;
        self.entries[top as usize].1 = self.free;
        self.free = top;
        Some((top, node))
    }

    /// Moves the cursor from its empty stack to the next occupied one, around the ring. There must be one.
    fn advance(&mut self) {
        let words = (self.mask / 64) & (WORDS - 1);
        let (mut word, bit) = ((self.cursor / 64) & words, self.cursor % 64);
        self.occupied[word] &= !(1 << bit);
        let mut occupied = self.occupied[word] & (u64::MAX << bit);
        self.observer.compared(word, word);
        while occupied == 0 {
            word = (word + 1) & words;
            self.observer.compared(word, word);
            occupied = self.occupied[word];
        }
        self.cursor = word * 64 + occupied.trailing_zeros() as usize;
    }

    /// Empties all stacks. Those whose bit is not set are empty already.
    fn clear_stacks(&mut self) {
        if self.shift > 0 && self.entries.len() < WORDS {
            // After a short search, its entries are fewer than the words.
            for &f in &self.entry_f {
                let stack = self.stack_of(f);
                self.tops[stack] = NO_ENTRY;
                self.occupied[stack / 64] = 0;
            }
            self.occupied[self.cursor / 64] = 0;
            return;
        }
        let words = self.mask / 64 + 1;
        let stacks = self.tops.chunks_exact_mut(64).zip(self.occupied.iter_mut());
        for (tops, occupied) in stacks.take(words) {
            while *occupied != 0 {
                tops[occupied.trailing_zeros() as usize] = NO_ENTRY;
                *occupied &= *occupied - 1;
            }
        }
    }

    /// Moves the cursor's stack, which holds several values of f, to the front and sorts it.
    fn sort_to_front(&mut self) {
        while let Some((index, node)) = self.take_top(self.cursor) {
            self.observer.moved(self.cursor, self.front.len());
            self.front.push((self.entry_f[index as usize], node));
        }
        self.front.sort_unstable_by(|a, b| {
            self.observer.compared(0, 0);
            b.cmp(a)
        });
    }
}

impl<O: OpenListObserver> OpenList for BucketHeap<O> {
    fn reset(&mut self, lowest: u32, spread: u32) {
        self.clear_stacks();
        let needed = spread.saturating_add(1).min(1 << 31).next_power_of_two().max(64) as usize;
        let ring = needed.min(MAX_STACKS);
        self.mask = ring - 1;
        // The ring covers a larger range than the spread: the lowest and the highest f must not share a
        // stack.
        self.shift = if needed > ring { (needed / ring).trailing_zeros() + 1 } else { 0 };
        self.entries.clear();
        self.entry_f.clear();
        self.free = NO_ENTRY;
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
            if let Some((_, node)) = self.take_top(self.cursor) {
                return Some(node);
            }
            self.advance();
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        4 * (MAX_STACKS + self.entry_f.capacity())
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
    fn equal_f_pops_last_in_first_out_around_the_ring() {
        let mut list = BucketHeap::default();
        list.reset(110, 100);
        for (node, f) in [(0, 120), (1, 140), (2, 120), (3, 200)] {
            list.insert(node, Key { f, h: 0 });
        }
        assert_eq!(drain(&mut list), [2, 0, 1, 3]);
    }

    /// Whatever a search leaves behind is gone for the next one.
    #[test]
    fn a_reset_leaves_nothing_behind() {
        let mut list = BucketHeap::default();
        for count in [3, 40, 400] {
            for spread in [3_000_000, 90, 700_000] {
                list.reset(5, spread);
                for node in 0..count {
                    list.insert(node, Key { f: 5 + node * 7_919 % spread, h: 0 });
                }
                // The front is sorted, entries are free, and some are used again.
                for node in 0..count / 2 {
                    assert!(list.pop().is_some());
                    list.insert(node, Key { f: spread, h: 0 });
                }
                list.reset(0, 3_000_000);
                assert_eq!(drain(&mut list), []);
                for node in [2, 1] {
                    list.insert(node, Key { f: node * 1_000, h: 0 });
                }
                assert_eq!(drain(&mut list), [1, 2]);
            }
        }
    }

    #[test]
    fn a_wide_spread_pops_in_exact_order() {
        let mut list = BucketHeap::default();
        list.reset(0, 3_000_000);
        for (node, f) in [(0, 2_999_999), (1, 7), (2, 5), (3, 2_999_998), (4, 7), (5, 900)] {
            list.insert(node, Key { f, h: 0 });
        }
        assert_eq!(drain(&mut list), [2, 4, 1, 5, 3, 0]);
    }
}
