//! A priority queue of buckets: cells by the sum at which they are entered.
//!
//! Input: cells with sums. Output: the same, bucket by bucket. A bucket holds a range of sums, and its cells come in any
//! order. The buckets form a ring: a step raises a sum by no more than all of them span.

/// Most buckets. Where more would be needed, buckets get wider: cells may be expanded more than once then.
const MOST_BUCKETS: u32 = 1 << 16;
/// Stands for no entry.
const NONE: u32 = u32::MAX;

/// A cell with the sum at which it is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entered {
    /// Column and row; sides of grids fit into 16 bits.
    pub(super) x: u16,
    pub(super) y: u16,
    /// Index in the window.
    pub(super) index: u32,
    pub(super) sum: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    entered: Entered,
    /// The next entry of its bucket, or of the free ones.
    next: u32,
}

/// The queue; see the [module](self).
#[derive(Clone, Debug)]
pub(super) struct BucketQueue {
    /// The first entry of each bucket.
    heads: Vec<u32>,
    entries: Vec<Entry>,
    /// The first entry that is free.
    free: u32,
    /// How many entries are in buckets.
    len: u32,
    /// The first bucket that may have entries, counted from a sum of 0.
    front: u32,
    /// Binary logarithm of a bucket's width.
    shift: u32,
}

impl Default for BucketQueue {
    fn default() -> Self {
        let (heads, entries) = (Vec::new(), Vec::new());
        Self { heads, entries, free: NONE, len: 0, front: 0, shift: 0 }
    }
}

impl BucketQueue {
    /// Removes all entries and prepares for sums from `first` on, which steps raise by `least` to `most`.
    pub(super) fn reset(&mut self, first: u32, (least, most): (u32, u32)) {
        self.shift = least.max(1).ilog2();
        let mut buckets = (most >> self.shift) + 2;
        while buckets > MOST_BUCKETS {
            self.shift += 1;
            buckets = (most >> self.shift) + 2;
        }
        self.heads.clear();
        self.heads.resize(buckets.next_power_of_two() as usize, NONE);
        self.entries.clear();
        (self.free, self.len, self.front) = (NONE, 0, first >> self.shift);
    }

    #[inline(always)]
    const fn head(&self, bucket: u32) -> usize {
        bucket as usize & (self.heads.len() - 1)
    }

    /// Adds a cell.
    #[inline(always)]
    pub(super) fn push(&mut self, entered: Entered) {
        let bucket = self.head(entered.sum >> self.shift);
        let entry = Entry { entered, next: self.heads[bucket] };
        self.heads[bucket] = if self.free == NONE {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        } else {
            let free = self.free;
            self.free = self.entries[free as usize].next;
            self.entries[free as usize] = entry;
            free
        };
        self.len += 1;
    }

    /// Takes a cell out of the first bucket that has any.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Entered> {
        if self.len == 0 {
            return None;
        }
        let mut bucket = self.head(self.front);
        while self.heads[bucket] == NONE {
            self.front += 1;
            bucket = self.head(self.front);
        }
        let first = self.heads[bucket];
        let entry = &mut self.entries[first as usize];
        let entered = entry.entered;
        self.heads[bucket] = core::mem::replace(&mut entry.next, self.free);
        self.free = first;
        self.len -= 1;
        Some(entered)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) const fn bytes(&self) -> usize {
        4 * self.heads.capacity() + size_of::<Entry>() * self.entries.capacity()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What comes out is what went in, and no bucket before an earlier one.
        #[test]
        fn cells_come_bucket_by_bucket(
            (least, most) in (1u32..5_000, 0u32..200_000),
            first in 0u32..1_000_000,
            rises in prop::collection::vec((0u32..u32::MAX, 0usize..4), 1..300),
        ) {
            let most = least + most;
            let mut queue = BucketQueue::default();
            queue.reset(first, (least, most));
            let cell = |sum: u32| Entered { x: 7 + (sum % 100) as u16, y: 9, index: !sum, sum };
            queue.push(cell(first));
            let (mut pushed, mut popped, mut lowest) = (1, 0, 0);
            let mut rises = rises.into_iter();
            while let Some(entered) = queue.pop() {
                let sum = entered.sum;
                popped += 1;
                prop_assert_eq!(entered, cell(sum));
                prop_assert!(sum >> queue.shift >= lowest);
                lowest = sum >> queue.shift;
                for (rise, copies) in rises.by_ref().take(2) {
                    let raised = sum + least + rise % (most - least + 1);
                    (0..copies).for_each(|_| queue.push(cell(raised)));
                    pushed += copies;
                }
            }
            prop_assert_eq!(pushed, popped);
            prop_assert_eq!(queue.len, 0);
        }
    }
}
