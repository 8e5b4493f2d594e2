//! 1. The unsorted list: insert at the end, scan all items for the lowest F.
//!
//! The fastest insertion and the slowest removal. Items stay in the order of insertion, so that
//! among equal F the newest is removed, as in the sorted lists of the article; the moves that this
//! takes are cheap compared with the scan.
//!
//! Source: P. Lester, "Using Binary Heaps in A* Pathfinding" (2003), "A Simple Approach".

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

/// Items in no order; see the [module](self).
#[derive(Default)]
pub struct UnsortedList<W: OpenListObserver = ()> {
    items: Vec<(u32, NodeId)>,
    observer: W,
}

impl<W: OpenListObserver> UnsortedList<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.observer
    }

    fn lowest(&mut self) -> usize {
        let (mut lowest, mut place) = (u32::MAX, 0);
        for (index, &(f, _)) in self.items.iter().enumerate() {
            self.observer.compared(index, place);
            if f <= lowest {
                (lowest, place) = (f, index);
            }
        }
        place
    }
}

impl<W: OpenListObserver> OpenList for UnsortedList<W> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.items.clear();
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        self.items.push((key.f, node));
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        let found = (0..self.items.len()).find(|&index| {
            self.observer.compared(index, index);
            self.items[index].1 == node
        });
        if let Some(index) = found {
            self.items[index].0 = key.f;
        }
    }

    fn pop(&mut self) -> Option<NodeId> {
        if self.items.is_empty() {
            return None;
        }
        let lowest = self.lowest();
        for index in lowest + 1..self.items.len() {
            self.observer.moved(index, index - 1);
        }
        Some(self.items.remove(lowest).1)
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn bytes(&self) -> usize {
        self.items.capacity() * 8
    }
}
