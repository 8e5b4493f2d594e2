//! 4. The sorted array with binary search.
//!
//! The article calls the idea a quick sort. It takes few comparisons, but all items in front of the
//! new one move by one slot. The array is in reverse order, lowest F last, so that removing the
//! lowest moves nothing.
//!
//! Source: P. Lester, "Using Binary Heaps in A* Pathfinding" (2003), "A Simple Approach".

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

/// A sorted array; see the [module](self).
#[derive(Default)]
pub struct SortedBySearch<W: OpenListObserver = ()> {
    /// Highest F first.
    items: Vec<(u32, NodeId)>,
    observer: W,
}

impl<W: OpenListObserver> SortedBySearch<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.observer
    }

    /// Returns the index from which all items are below `f`: new items are removed before equal
    /// ones.
    fn place(&mut self, f: u32) -> usize {
        let (mut low, mut high) = (0, self.items.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            self.observer.compared(middle, middle);
            if self.items[middle].0 >= f {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn note_moves(&mut self, from: usize) {
        for index in from..self.items.len() {
            self.observer.moved(index, index + 1);
        }
    }
}

impl<W: OpenListObserver> OpenList for SortedBySearch<W> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.items.clear();
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        let place = self.place(key.f);
        self.note_moves(place);
        self.items.insert(place, (key.f, node));
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        let found = (0..self.items.len()).rev().find(|&index| {
            self.observer.compared(index, index);
            self.items[index].1 == node
        });
        if let Some(index) = found {
            self.note_moves(index + 1);
            self.items.remove(index);
            self.insert(node, key);
        }
    }

    fn pop(&mut self) -> Option<NodeId> {
        self.items.pop().map(|(_, node)| node)
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn bytes(&self) -> usize {
        self.items.capacity() * 8
    }
}
