//! 3. The sorted list that is searched from the nearer end.
//!
//! The position of an item below the average F is searched from the front, else from the back. The
//! sum of all F is stored, so the average costs one comparison.
//!
//! Source: P. Lester, "Using Binary Heaps in A* Pathfinding" (2003), "A Simple Approach".

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

use super::{
    chain::{Chain, NONE},
    sorted_front::{find, first_not_below},
};

/// A sorted linked list, searched from either end; see the [module](self).
#[derive(Default)]
pub struct SortedFromAverage<W: OpenListObserver = ()> {
    chain: Chain,
    /// Sum of all F in the list.
    sum: u64,
    observer: W,
}

impl<W: OpenListObserver> SortedFromAverage<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.observer
    }

    /// Returns whether `f` is above the average.
    fn is_above_average(&mut self, f: u32) -> bool {
        self.observer.compared(0, 0);
        u64::from(f) * self.chain.len() as u64 > self.sum
    }

    /// Finds the same position as from the front, searching from the back.
    fn last_below(&mut self, f: u32) -> u32 {
        let (mut next, mut at) = (NONE, self.chain.last);
        while at != NONE {
            self.observer.compared(at as usize, at as usize);
            let link = self.chain.get(at);
            if link.f < f {
                break;
            }
            (next, at) = (at, link.previous);
        }
        next
    }

    fn remove(&mut self, link: u32) -> NodeId {
        let link = self.chain.remove(link);
        self.sum -= u64::from(link.f);
        link.node
    }
}

impl<W: OpenListObserver> OpenList for SortedFromAverage<W> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.chain.clear();
        self.sum = 0;
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        let next = if self.is_above_average(key.f) {
            self.last_below(key.f)
        } else {
            first_not_below(&self.chain, &mut self.observer, key.f)
        };
        self.chain.insert_before(next, key.f, node);
        self.sum += u64::from(key.f);
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        if let Some(link) = find(&self.chain, &mut self.observer, node) {
            self.observer.moved(link as usize, link as usize);
            self.remove(link);
            self.insert(node, key);
        }
    }

    fn pop(&mut self) -> Option<NodeId> {
        let first = self.chain.first;
        (first != NONE).then(|| self.remove(first))
    }

    fn len(&self) -> usize {
        self.chain.len()
    }

    fn bytes(&self) -> usize {
        self.chain.bytes()
    }
}
