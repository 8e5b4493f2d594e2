//! A heap of buckets: nodes of equal f stand on one stack, and a tree of bits over the stacks
//! tells the lowest that is not empty.
//!
//! Input: nodes with f. Output: a node of lowest f, the one put in last (going deeper first: on
//! open ground the search runs straight at the goal). The tree is the article's array-as-a-tree
//! made 64 wide: a bit per stack, a bit per 64 stacks, so that finding the lowest is two or three
//! bit scans instead of a swap down. Stacks form a ring: all f in the list lie within the
//! spread, so f modulo the ring's size is unique. A cheaper way to a node is simply put in again;
//! the search skips the older entry when it turns up (lazy deletion).
//!
//! Where costs are so fine that the ring would need more than 65,536 stacks, the indexed
//! [`BinaryHeap`] does the work.
//!
//! Sources: R. Dial, "Algorithm 360: Shortest-path forest with topological ordering" (CACM 1969)
//! for the ring of buckets. Options measured: `benches/RESULTS.md`.

use super::{BinaryHeap, Key, NodeId, OpenList};

/// Most stacks a ring may have; 4 bytes each.
const LARGEST_RING: u32 = 1 << 16;
/// End of a stack.
const END: u32 = u32::MAX;

/// Buckets of equal f under a 64-wide tree; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct BucketHeap {
    /// Top entry of each stack; meaningful where its bit is set.
    tops: Vec<u32>,
    /// A bit per stack: not empty.
    leaves: Vec<u64>,
    /// A bit per word of `leaves`: not zero.
    branches: Vec<u64>,
    entries: Vec<Entry>,
    /// First entry of the list of free ones.
    free: u32,
    /// Stack of the f last popped.
    cursor: u32,
    len: usize,
    /// Takes over where the spread is too wide.
    fallback: BinaryHeap,
    uses_fallback: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    node: NodeId,
    below: u32,
}

impl BucketHeap {
    fn mask(&self) -> u32 {
        self.tops.len() as u32 - 1
    }

    fn set_bit(&mut self, stack: u32) {
        let leaf = (stack / 64) as usize;
        self.leaves[leaf] |= 1 << (stack % 64);
        self.branches[leaf / 64] |= 1 << (leaf % 64);
    }

    fn clear_bit(&mut self, stack: u32) {
        let leaf = (stack / 64) as usize;
        self.leaves[leaf] &= !(1 << (stack % 64));
        if self.leaves[leaf] == 0 {
            self.branches[leaf / 64] &= !(1 << (leaf % 64));
        }
    }

    /// The first stack in use from the cursor on, around the ring. The list is not empty.
    #[inline]
    fn lowest(&self) -> u32 {
        let leaf = (self.cursor / 64) as usize;
        let here = self.leaves[leaf] & (u64::MAX << (self.cursor % 64));
        if here != 0 {
            return leaf as u32 * 64 + here.trailing_zeros();
        }
        let leaf = self.next_leaf(leaf + 1).or_else(|| self.next_leaf(0)).unwrap_or(0);
        leaf as u32 * 64 + self.leaves[leaf].trailing_zeros()
    }

    /// The first word of `leaves` from `from` on that is not zero.
    fn next_leaf(&self, from: usize) -> Option<usize> {
        let branch = from / 64;
        let here = *self.branches.get(branch)? & (u64::MAX << (from % 64));
        let rest = self.branches.iter().copied().enumerate().skip(branch + 1);
        std::iter::once((branch, here))
            .chain(rest)
            .find(|&(_, bits)| bits != 0)
            .map(|(branch, bits)| branch * 64 + bits.trailing_zeros() as usize)
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

impl OpenList for BucketHeap {
    fn reset(&mut self, lowest: u32, spread: u32) {
        self.uses_fallback = spread >= LARGEST_RING;
        self.fallback.reset(lowest, spread);
        let ring = (spread.min(LARGEST_RING - 1) + 1).next_power_of_two().max(64) as usize;
        if !self.uses_fallback && self.tops.len() != ring {
            self.tops.resize(ring, END);
            self.leaves.resize(ring / 64, 0);
            self.branches.resize((ring / 64).div_ceil(64), 0);
        }
        self.leaves.fill(0);
        self.branches.fill(0);
        self.entries.clear();
        self.free = END;
        self.cursor = if self.uses_fallback { 0 } else { lowest & self.mask() };
        self.len = 0;
    }

    #[inline]
    fn insert(&mut self, node: NodeId, key: Key) {
        if self.uses_fallback {
            return self.fallback.insert(node, key);
        }
        let stack = key.f & self.mask();
        let used = self.leaves[(stack / 64) as usize] >> (stack % 64) & 1 == 1;
        let below = if used { self.tops[stack as usize] } else { END };
        let top = self.new_entry(Entry { node, below });
        self.tops[stack as usize] = top;
        if !used {
            self.set_bit(stack);
        }
        self.len += 1;
    }

    #[inline]
    fn improve(&mut self, node: NodeId, key: Key) {
        if self.uses_fallback {
            return self.fallback.improve(node, key);
        }
        self.insert(node, key);
    }

    #[inline]
    fn pop(&mut self) -> Option<NodeId> {
        if self.uses_fallback {
            return self.fallback.pop();
        }
        if self.len == 0 {
            return None;
        }
        let stack = self.lowest();
        self.cursor = stack;
        let top = self.tops[stack as usize];
        let Entry { node, below } = self.entries[top as usize];
        if below == END {
            self.clear_bit(stack);
        }
        self.tops[stack as usize] = below;
        self.entries[top as usize].below = self.free;
        self.free = top;
        self.len -= 1;
        Some(node)
    }

    fn len(&self) -> usize {
        self.len + self.fallback.len()
    }

    fn bytes(&self) -> usize {
        let tree = 8 * (self.leaves.capacity() + self.branches.capacity());
        4 * self.tops.capacity()
            + tree
            + self.entries.capacity() * size_of::<Entry>()
            + self.fallback.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_f_comes_out_last_in_first_out_around_the_ring() {
        let mut list = BucketHeap::default();
        list.reset(110, 100);
        for (node, f) in [(0, 120), (1, 140), (2, 120), (3, 200)] {
            list.insert(node, Key { f, h: 0 });
        }
        let order: Vec<_> = std::iter::from_fn(|| list.pop()).collect();
        assert_eq!(order, [2, 0, 1, 3]);
    }
}
