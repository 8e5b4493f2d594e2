//! Dial's buckets: a stack for every possible F, and a cursor that advances to the next stack that
//! is not empty.
//!
//! All F in the list are within the spread of a search, so the stacks form a ring. Every stack that
//! the cursor examines counts as a comparison. A node that became cheaper is inserted again (lazy
//! deletion).
//!
//! Source: R. Dial, "Algorithm 360: Shortest-Path Forest with Topological Ordering" (CACM 1969).

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

/// End of a stack.
const END: u32 = u32::MAX;

/// A ring of stacks; see the [module](self).
#[derive(Default)]
pub struct DialRing<W: OpenListObserver = ()> {
    /// Newest item of each stack.
    tops: Vec<u32>,
    /// A node and the item below it; free items are linked in the same way.
    items: Vec<(NodeId, u32)>,
    free: u32,
    cursor: u32,
    len: usize,
    observer: W,
}

impl<W: OpenListObserver> DialRing<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.observer
    }
}

impl<W: OpenListObserver> OpenList for DialRing<W> {
    fn reset(&mut self, lowest: u32, spread: u32) {
        let ring = spread.saturating_add(1).min(1 << 31).next_power_of_two();
        self.tops.clear();
        self.tops.resize(ring as usize, END);
        self.items.clear();
        self.free = END;
        self.cursor = lowest & (ring - 1);
        self.len = 0;
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        let stack = key.f as usize & (self.tops.len() - 1);
        let item = (node, self.tops[stack]);
        if self.free == END {
            self.tops[stack] = self.items.len() as u32;
            self.items.push(item);
        } else {
            self.tops[stack] = self.free;
            let place = &mut self.items[self.free as usize];
            self.free = place.1;
            *place = item;
        }
        self.len += 1;
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.insert(node, key);
    }

    fn pop(&mut self) -> Option<NodeId> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        loop {
            self.observer.compared(self.cursor as usize, self.cursor as usize);
            let top = self.tops[self.cursor as usize];
            if top != END {
                let (node, below) = self.items[top as usize];
                self.tops[self.cursor as usize] = below;
                self.items[top as usize].1 = self.free;
                self.free = top;
                return Some(node);
            }
            self.cursor = (self.cursor + 1) & (self.tops.len() as u32 - 1);
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        4 * self.tops.capacity() + 8 * self.items.capacity()
    }
}
