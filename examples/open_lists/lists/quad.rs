//! A heap with four children per node: half as deep, with adjacent children.
//!
//! F and H are packed into one number, F in the high bits, so that one comparison covers both. A node
//! that became cheaper is inserted again; the search drops the older entry later (lazy deletion).
//!
//! Source: D. B. Johnson, "Priority Queues with Update and Finding Minimum Spanning Trees" (1975).

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

/// A 4-ary heap; see the [module](self).
#[derive(Default)]
pub struct QuadHeap<W: OpenListObserver = ()> {
    items: Vec<(u64, NodeId)>,
    observer: W,
}

impl<W: OpenListObserver> QuadHeap<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.observer
    }

    /// Returns the least child of `slot`.
    fn least_child(&mut self, slot: usize) -> Option<usize> {
        let children = 4 * slot + 1..self.items.len().min(4 * slot + 5);
        children.reduce(|least, child| {
            self.observer.compared(least, child);
            if self.items[child] < self.items[least] { child } else { least }
        })
    }
}

impl<W: OpenListObserver> OpenList for QuadHeap<W> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.items.clear();
    }

    fn insert(&mut self, node: NodeId, Key { f, h }: Key) {
        let item = (u64::from(f) << 32 | u64::from(h), node);
        let mut slot = self.items.len();
        self.items.push(item);
        while slot > 0 {
            let parent = (slot - 1) / 4;
            self.observer.compared(slot, parent);
            if item >= self.items[parent] {
                break;
            }
            self.items[slot] = self.items[parent];
            self.observer.moved(slot, parent);
            slot = parent;
        }
        self.items[slot] = item;
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.insert(node, key);
    }

    fn pop(&mut self) -> Option<NodeId> {
        let last = self.items.pop()?;
        let Some(&first) = self.items.first() else {
            return Some(last.1);
        };
        let mut slot = 0;
        while let Some(child) = self.least_child(slot) {
            self.observer.compared(slot, child);
            if last <= self.items[child] {
                break;
            }
            self.items[slot] = self.items[child];
            self.observer.moved(slot, child);
            slot = child;
        }
        self.items[slot] = last;
        Some(first.1)
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn bytes(&self) -> usize {
        self.items.capacity() * 16
    }
}
