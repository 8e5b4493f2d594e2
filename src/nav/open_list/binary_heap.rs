//! The indexed binary heap: an array read as a tree, and an index back from each node.
//!
//! Input: nodes with f and h. Output: the node of lowest f, among those the lowest h (the
//! deepest), among those the lowest number. The children of slot `i` are `2i + 1` and `2i + 2`.
//! A new node is put at the end and swapped up past costlier parents; when the first is taken,
//! the last takes its place and is swapped down past cheaper children. `slots` tells where each
//! node stands, so that a cheaper way to an open node is resorted in place, without a scan.
//!
//! Sources: P. Lester, "Using Binary Heaps in A* Pathfinding" (2003); S. Lague, "A* Pathfinding
//! (E04: heap optimization)" (2014).

use super::{Key, NodeId, OpenList, Watch};

/// Slot of a node that is not in the heap.
const OUTSIDE: u32 = u32::MAX;

/// The binary heap of the articles, indexed; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct BinaryHeap<W: Watch = ()> {
    items: Vec<Item>,
    /// Slot of each node in `items`, by node number.
    slots: Vec<u32>,
    watch: W,
}

/// Packed so that one comparison settles f, then h, then the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    key: u64,
    node: NodeId,
}

impl<W: Watch> BinaryHeap<W> {
    /// Node numbers in array order: the heap as a tree, row by row.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.items.iter().map(|item| item.node)
    }

    /// Who looks on. [Resetting](OpenList::reset) the heap leaves it as it is.
    #[must_use]
    pub const fn watch(&self) -> &W {
        &self.watch
    }

    fn sort_up(&mut self, mut slot: usize) {
        let item = self.items[slot];
        while slot > 0 {
            let parent = (slot - 1) / 2;
            self.watch.compared(slot, parent);
            if self.items[parent] <= item {
                break;
            }
            self.place(slot, self.items[parent]);
            self.watch.moved(slot, parent);
            slot = parent;
        }
        self.place(slot, item);
    }

    fn sort_down(&mut self, mut slot: usize) {
        let item = self.items[slot];
        loop {
            let left = 2 * slot + 1;
            let Some(mut child) = self.items.get(left).copied() else {
                break;
            };
            let mut child_slot = left;
            if let Some(&right) = self.items.get(left + 1) {
                self.watch.compared(left, left + 1);
                if right < child {
                    (child, child_slot) = (right, left + 1);
                }
            }
            self.watch.compared(slot, child_slot);
            if item <= child {
                break;
            }
            self.place(slot, child);
            self.watch.moved(slot, child_slot);
            slot = child_slot;
        }
        self.place(slot, item);
    }

    fn place(&mut self, slot: usize, item: Item) {
        self.items[slot] = item;
        self.slots[item.node as usize] = slot as u32;
    }
}

impl<W: Watch> OpenList for BinaryHeap<W> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        for item in self.items.drain(..) {
            self.slots[item.node as usize] = OUTSIDE;
        }
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        if self.slots.len() <= node as usize {
            self.slots.resize(node as usize + 1, OUTSIDE);
        }
        self.items.push(Item::new(node, key));
        self.sort_up(self.items.len() - 1);
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        let slot = self.slots[node as usize];
        debug_assert_ne!(slot, OUTSIDE, "only a node in the heap can be improved");
        self.items[slot as usize] = Item::new(node, key);
        self.sort_up(slot as usize);
    }

    fn pop(&mut self) -> Option<NodeId> {
        let last = self.items.pop()?;
        let Some(&first) = self.items.first() else {
            self.slots[last.node as usize] = OUTSIDE;
            return Some(last.node);
        };
        self.slots[first.node as usize] = OUTSIDE;
        self.place(0, last);
        self.sort_down(0);
        Some(first.node)
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<Item>() + self.slots.capacity() * 4
    }
}

impl Item {
    fn new(node: NodeId, Key { f, h }: Key) -> Self {
        Self { key: u64::from(f) << 32 | u64::from(h), node }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap_of(values: &[u32]) -> BinaryHeap {
        let mut heap = BinaryHeap::default();
        for (node, &f) in values.iter().enumerate() {
            heap.insert(node as NodeId, Key { f, h: 0 });
        }
        heap
    }

    fn values(heap: &BinaryHeap) -> Vec<u32> {
        heap.items.iter().map(|item| (item.key >> 32) as u32).collect()
    }

    #[test]
    fn the_article_s_insert_and_removal() {
        let mut heap = heap_of(&[10, 30, 20, 34, 38, 30, 24]);
        heap.insert(7, Key { f: 17, h: 0 });
        assert_eq!(values(&heap), [10, 17, 20, 30, 38, 30, 24, 34]);
        assert_eq!(heap.pop(), Some(0));
        assert_eq!(values(&heap), [17, 30, 20, 34, 38, 30, 24]);
    }

    #[test]
    fn a_cheaper_way_is_resorted_in_place() {
        let mut heap = heap_of(&[10, 30, 20, 34]);
        heap.improve(3, Key { f: 5, h: 0 });
        assert_eq!(heap.len(), 4);
        assert_eq!(values(&heap), [5, 10, 20, 30]);
        assert_eq!(heap.pop(), Some(3));
    }

    #[test]
    fn the_deeper_of_two_equals_comes_first() {
        let mut heap = BinaryHeap::<()>::default();
        heap.insert(0, Key { f: 9, h: 5 });
        heap.insert(1, Key { f: 9, h: 2 });
        heap.insert(2, Key { f: 9, h: 7 });
        assert_eq!([heap.pop(), heap.pop(), heap.pop()], [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn who_watches_hears_every_step() {
        use super::super::Step::{Compared, Moved};
        let mut heap = BinaryHeap::<Vec<_>>::default();
        for (node, f) in [(0, 10), (1, 30), (2, 20)] {
            heap.insert(node, Key { f, h: 0 });
        }
        heap.watch.clear();
        heap.insert(3, Key { f: 17, h: 0 });
        assert_eq!(heap.watch, [Compared(3, 1), Moved(3, 1), Compared(1, 0)]);
        heap.watch.clear();
        assert_eq!(heap.pop(), Some(0));
        assert_eq!(heap.watch, [Compared(1, 2), Compared(0, 1), Moved(0, 1)]);
    }

    #[test]
    fn a_reset_heap_forgets_everything() {
        let mut heap = heap_of(&[3, 1, 2]);
        heap.reset(0, 0);
        assert!(heap.is_empty() && heap.slots.iter().all(|&slot| slot == OUTSIDE));
    }
}
