//! 2. The list kept sorted, searched from the front.
//!
//! A new item is inserted before the first item of equal or higher F, searched from the front.
//! Removal takes the first item. An improved item is found from the front, removed and inserted again.
//!
//! Source: P. Lester, "Using Binary Heaps in A* Pathfinding" (2003), "A Simple Approach".

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

use super::chain::{Chain, NONE};

/// A sorted linked list, searched from the front; see the [module](self).
#[derive(Default)]
pub struct SortedFromFront<W: OpenListObserver = ()> {
    chain: Chain,
    observer: W,
}

impl<W: OpenListObserver> SortedFromFront<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.observer
    }
}

/// Finds the link of a node, searching from the front.
pub fn find<W: OpenListObserver>(chain: &Chain, observer: &mut W, node: NodeId) -> Option<u32> {
    let mut at = chain.first;
    while at != NONE {
        observer.compared(at as usize, at as usize);
        let link = chain.get(at);
        if link.node == node {
            return Some(at);
        }
        at = link.next;
    }
    None
}

/// Finds the first link of equal or higher F, searching from the front; `NONE` if there is none.
pub fn first_not_below<W: OpenListObserver>(chain: &Chain, observer: &mut W, f: u32) -> u32 {
    let mut at = chain.first;
    while at != NONE {
        observer.compared(at as usize, at as usize);
        let link = chain.get(at);
        if link.f >= f {
            break;
        }
        at = link.next;
    }
    at
}

impl<W: OpenListObserver> OpenList for SortedFromFront<W> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.chain.clear();
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        let next = first_not_below(&self.chain, &mut self.observer, key.f);
        self.chain.insert_before(next, key.f, node);
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        if let Some(link) = find(&self.chain, &mut self.observer, node) {
            self.observer.moved(link as usize, link as usize);
            self.chain.remove(link);
            self.insert(node, key);
        }
    }

    fn pop(&mut self) -> Option<NodeId> {
        let first = self.chain.first;
        (first != NONE).then(|| self.chain.remove(first).node)
    }

    fn len(&self) -> usize {
        self.chain.len()
    }

    fn bytes(&self) -> usize {
        self.chain.bytes()
    }
}
