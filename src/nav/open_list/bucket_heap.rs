//! A heap of buckets: nodes of nearly equal f stand on one stack, and a tree of bits over the
//! stacks tells the lowest that is not empty.
//!
//! Input: nodes with f. Output: a node of lowest f. The tree is the article's array-as-a-tree made
//! 64 wide: a bit per stack, a bit per 64 stacks, so that the lowest is found by two bit scans
//! instead of a swap down. Stacks form a ring: all f in the list lie within the spread, so f
//! modulo the ring is unique.
//!
//! - Where the spread is small (uniform cost), each stack holds a single f, and what was put in
//!   last comes out first: on open ground the search runs straight at the goal.
//! - Where it is wide (mixed costs), a stack holds a range of f. The lowest stack is sorted when
//!   its turn comes and kept sorted while it lasts; the others stay a jumble. So the order is
//!   exact, and the ring stays small enough for the cache.
//!
//! A cheaper way to a node is simply put in again; the search skips the older entry when it turns
//! up (lazy deletion).
//!
//! Sources: R. Dial, "Algorithm 360" (CACM 1969) for the ring; Denardo & Fox, "Shortest-Route
//! Methods: 1" (Operations Research 1979) and Cherkassky, Goldberg & Silverstein, "Buckets, Heaps,
//! Lists and Monotone Priority Queues" (SODA 1997) for ranges with an exact front. Options
//! measured: `benches/RESULTS.md`.

use super::{Key, NodeId, OpenList, Watch};

/// Most stacks a ring may have: as many as two levels of 64 bits reach.
const LARGEST_RING: u32 = 64 * 64;
/// End of a stack.
const END: u32 = u32::MAX;

/// Buckets of nearly equal f under a 64-wide tree; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct BucketHeap<W: Watch = ()> {
    /// Top entry of each stack; meaningful where its bit is set.
    tops: Vec<u32>,
    /// A bit per stack: not empty.
    leaves: Vec<u64>,
    /// A bit per word of `leaves`: not zero.
    root: u64,
    entries: Vec<Entry>,
    /// First entry of the list of free ones.
    free: u32,
    /// Each stack holds 2^shift values of f.
    shift: u32,
    /// Stack of the f last popped.
    cursor: u32,
    /// The stack at the cursor, highest f first; unused where every stack holds a single f.
    front: Vec<(u32, NodeId)>,
    len: usize,
    watch: W,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    node: NodeId,
    f: u32,
    below: u32,
}

impl<W: Watch> BucketHeap<W> {
    /// Who looks on. [Resetting](OpenList::reset) the list leaves it as it is. Places are numbers
    /// of stacks, or places in the sorted front; bit scans are not comparisons.
    #[must_use]
    pub const fn watch(&self) -> &W {
        &self.watch
    }

    const fn stack_of(&self, f: u32) -> u32 {
        (f >> self.shift) & (self.tops.len() as u32 - 1)
    }

    fn push(&mut self, stack: u32, node: NodeId, f: u32) {
        let leaf = (stack / 64) as usize;
        let bit = 1 << (stack % 64);
        let is_used = self.leaves[leaf] & bit != 0;
        let below = if is_used { self.tops[stack as usize] } else { END };
        self.tops[stack as usize] = self.new_entry(Entry { node, f, below });
        if !is_used {
            self.leaves[leaf] |= bit;
            self.root |= 1 << leaf;
        }
    }

    /// Takes the top entry of a stack that is not empty.
    fn take(&mut self, stack: u32) -> Entry {
        let top = self.tops[stack as usize];
        let entry = self.entries[top as usize];
        self.tops[stack as usize] = entry.below;
        self.entries[top as usize].below = self.free;
        self.free = top;
        if entry.below == END {
            let leaf = (stack / 64) as usize;
            self.leaves[leaf] &= !(1 << (stack % 64));
            if self.leaves[leaf] == 0 {
                self.root &= !(1 << leaf);
            }
        }
        entry
    }

    /// The first stack in use from the cursor on, around the ring. One is in use.
    #[inline]
    fn lowest(&self) -> u32 {
        let leaf = self.cursor / 64;
        let here = self.leaves[leaf as usize] & (u64::MAX << (self.cursor % 64));
        if here != 0 {
            return leaf * 64 + here.trailing_zeros();
        }
        let ahead = self.root & (u64::MAX << leaf) & !(1 << leaf);
        let around = if ahead != 0 { ahead } else { self.root };
        let leaf = around.trailing_zeros();
        leaf * 64 + self.leaves[leaf as usize].trailing_zeros()
    }

    /// Moves a stack of several f to the front, sorted.
    fn sort_to_front(&mut self, stack: u32) {
        loop {
            let Entry { node, f, below } = self.take(stack);
            self.watch.moved(stack as usize, self.front.len());
            self.front.push((f, node));
            if below == END {
                break;
            }
        }
        self.front.reverse(); // what came in last is to come out first among equals
        self.front.sort_unstable_by(|&(one, _), &(other, _)| {
            self.watch.compared(0, 0);
            other.cmp(&one)
        });
    }

    fn new_entry(&mut self, entry: Entry) -> u32 {
        if self.free == END {
            self.entries.push(entry);
            return self.entries.len() as u32 - 1;
        }
        let index = self.free;
        self.free = self.entries[index as usize].below;
        self.entries[index as usize] = entry;
        index
    }
}

impl<W: Watch> OpenList for BucketHeap<W> {
    fn reset(&mut self, lowest: u32, spread: u32) {
        let needed = spread.saturating_add(1).min(1 << 31).next_power_of_two().max(64);
        let ring = needed.min(LARGEST_RING);
        // A range more than the spread covers: the lowest and the highest must not share a stack.
        self.shift = if needed > ring { (needed / ring).trailing_zeros() + 1 } else { 0 };
        self.tops.resize(ring as usize, END);
        self.leaves.clear();
        self.leaves.resize(ring as usize / 64, 0);
        self.root = 0;
        self.entries.clear();
        self.free = END;
        self.cursor = self.stack_of(lowest);
        self.front.clear();
        self.len = 0;
    }

    #[inline]
    fn insert(&mut self, node: NodeId, key: Key) {
        let stack = self.stack_of(key.f);
        self.len += 1;
        if self.shift > 0 && stack == self.cursor {
            let place = self.front.partition_point(|&(f, _)| {
                self.watch.compared(0, 0);
                f >= key.f
            });
            for moved in place..self.front.len() {
                self.watch.moved(moved, moved + 1);
            }
            self.front.insert(place, (key.f, node));
        } else {
            self.push(stack, node, key.f);
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
        if let Some((_, node)) = self.front.pop() {
            return Some(node);
        }
        let stack = self.lowest();
        self.cursor = stack;
        if self.shift == 0 {
            return Some(self.take(stack).node);
        }
        self.sort_to_front(stack);
        self.front.pop().map(|(_, node)| node)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        4 * self.tops.capacity()
            + 8 * (self.leaves.capacity() + self.front.capacity())
            + self.entries.capacity() * size_of::<Entry>()
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
