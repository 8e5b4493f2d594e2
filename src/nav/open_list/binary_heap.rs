//! The indexed binary heap: an array read as a tree, and an index from each node back to its slot.
//!
//! Input: nodes with f and h. Output: the node of lowest f, among those the lowest h (the deepest), among
//! those the lowest number. The children of slot `i` are `2i + 1` and `2i + 2`. A new node is put at the end
//! and sifted up past costlier parents; when the first is taken, the last takes its slot and is sifted down
//! past cheaper children. `slots` holds the slot of each node, so that an open node with a cheaper path is
//! resorted in place, without a scan.
//!
//! Sources: P. Lester, "Using Binary Heaps in A* Pathfinding" (2003); S. Lague, "A* Pathfinding (E04: heap
//! optimization)" (2014).

use super::{Key, NodeId, OpenList, OpenListObserver};

/// Slot of a node that is not in the heap.
const NOT_IN_HEAP: u32 = u32::MAX;

/// The indexed binary heap of the articles; see the [module](self).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", serde(bound = ""))]
pub struct BinaryHeap<O: OpenListObserver = ()> {
    items: Vec<Item>,
    /// Slot of each node in `items`, by node number.
    slots: Vec<u32>,
    #[cfg_attr(feature = "serialize", serde(skip))]
    observer: O,
}

/// Packed so that one comparison orders by f, then h, then node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Item {
    key: u64,
    node: NodeId,
}

impl<O: OpenListObserver> BinaryHeap<O> {
    /// Node numbers in array order: the heap as a tree, row by row.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.items.iter().map(|item| item.node)
    }

    /// The observer. [Resetting](OpenList::reset) the heap does not reset it.
    #[must_use]
    pub const fn observer(&self) -> &O {
        &self.observer
    }

    fn sift_up(&mut self, mut slot: usize) {
        let item = self.items[slot];
        while slot > 0 {
            let parent = (slot - 1) / 2;
            self.observer.compared(slot, parent);
            if self.items[parent] <= item {
                break;
            }
            self.set_slot(slot, self.items[parent]);
            self.observer.moved(slot, parent);
            slot = parent;
        }
        self.set_slot(slot, item);
    }

    fn sift_down(&mut self, mut slot: usize) {
        let item = self.items[slot];
        loop {
            let left = 2 * slot + 1;
            let Some(mut child) = self.items.get(left).copied() else {
                break;
            };
            let mut child_slot = left;
            if let Some(&right) = self.items.get(left + 1) {
                self.observer.compared(left, left + 1);
                if right < child {
                    (child, child_slot) = (right, left + 1);
                }
            }
            self.observer.compared(slot, child_slot);
            if item <= child {
                break;
            }
            self.set_slot(slot, child);
            self.observer.moved(slot, child_slot);
            slot = child_slot;
        }
        self.set_slot(slot, item);
    }

    fn set_slot(&mut self, slot: usize, item: Item) {
        self.items[slot] = item;
        self.slots[item.node as usize] = slot as u32;
    }
}

impl<O: OpenListObserver> OpenList for BinaryHeap<O> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        for item in self.items.drain(..) {
            self.slots[item.node as usize] = NOT_IN_HEAP;
        }
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        if self.slots.len() <= node as usize {
            self.slots.resize(node as usize + 1, NOT_IN_HEAP);
        }
        self.items.push(Item::new(node, key));
        self.sift_up(self.items.len() - 1);
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        let slot = self.slots[node as usize];
        debug_assert_ne!(slot, NOT_IN_HEAP, "only a node in the heap can be improved");
        self.items[slot as usize] = Item::new(node, key);
        self.sift_up(slot as usize);
    }

    fn pop(&mut self) -> Option<NodeId> {
        let last = self.items.pop()?;
        let Some(&first) = self.items.first() else {
            self.slots[last.node as usize] = NOT_IN_HEAP;
            return Some(last.node);
        };
        self.slots[first.node as usize] = NOT_IN_HEAP;
        self.set_slot(0, last);
        self.sift_down(0);
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
    fn insert_and_pop_as_in_the_article() {
        let mut heap = heap_of(&[10, 30, 20, 34, 38, 30, 24]);
        heap.insert(7, Key { f: 17, h: 0 });
        assert_eq!(values(&heap), [10, 17, 20, 30, 38, 30, 24, 34]);
        assert_eq!(heap.pop(), Some(0));
        assert_eq!(values(&heap), [17, 30, 20, 34, 38, 30, 24]);
    }

    #[test]
    fn improve_resorts_in_place() {
        let mut heap = heap_of(&[10, 30, 20, 34]);
        heap.improve(3, Key { f: 5, h: 0 });
        assert_eq!(heap.len(), 4);
        assert_eq!(values(&heap), [5, 10, 20, 30]);
        assert_eq!(heap.pop(), Some(3));
    }

    #[test]
    fn equal_f_pops_the_lowest_h_first() {
        let mut heap = BinaryHeap::<()>::default();
        heap.insert(0, Key { f: 9, h: 5 });
        heap.insert(1, Key { f: 9, h: 2 });
        heap.insert(2, Key { f: 9, h: 7 });
        assert_eq!([heap.pop(), heap.pop(), heap.pop()], [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn observer_sees_every_operation() {
        use super::super::Operation::{Compared, Moved};
        let mut heap = BinaryHeap::<Vec<_>>::default();
        for (node, f) in [(0, 10), (1, 30), (2, 20)] {
            heap.insert(node, Key { f, h: 0 });
        }
        heap.observer.clear();
        heap.insert(3, Key { f: 17, h: 0 });
        assert_eq!(heap.observer, [Compared(3, 1), Moved(3, 1), Compared(1, 0)]);
        heap.observer.clear();
        assert_eq!(heap.pop(), Some(0));
        assert_eq!(heap.observer, [Compared(1, 2), Compared(0, 1), Moved(0, 1)]);
    }

    #[test]
    fn reset_empties_the_heap() {
        let mut heap = heap_of(&[3, 1, 2]);
        heap.reset(0, 0);
        assert!(heap.is_empty() && heap.slots.iter().all(|&slot| slot == NOT_IN_HEAP));
    }
}
