//! The standard library's binary heap, with lazy deletion.
//!
//! Keys are packed, F above H, so that one comparison settles both. Its pop sinks the last item to
//! the bottom without asking whether it should stop on the way, then lifts it: about one comparison
//! a level instead of two. Its comparisons are heard through the items' order; its moves cannot
//! be.

use core::{cell::Cell, cmp::Ordering};
use std::collections::BinaryHeap;

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OperationCounts};

use super::Counted;

/// An item of the heap: the greater comes out first.
pub trait StdItem: Ord + Copy + Send + Sync + 'static {
    /// An item of packed key and node.
    fn new(key: u64, node: NodeId) -> Self;
    /// Its node.
    fn node(self) -> NodeId;
}

/// An item and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Silent(core::cmp::Reverse<(u64, NodeId)>);

impl StdItem for Silent {
    fn new(key: u64, node: NodeId) -> Self {
        Self(core::cmp::Reverse((key, node)))
    }

    fn node(self) -> NodeId {
        self.0.0.1
    }
}

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// An item that counts each time it is compared, for its thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Heard(Silent);

impl StdItem for Heard {
    fn new(key: u64, node: NodeId) -> Self {
        Self(Silent::new(key, node))
    }

    fn node(self) -> NodeId {
        self.0.node()
    }
}

impl Ord for Heard {
    fn cmp(&self, other: &Self) -> Ordering {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Heard {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Std's heap; see the [module](self).
pub struct StdHeap<I: StdItem = Silent> {
    items: BinaryHeap<I>,
    /// What the thread had counted when the heap was made.
    before: u64,
}

impl<I: StdItem> Default for StdHeap<I> {
    fn default() -> Self {
        Self { items: BinaryHeap::new(), before: COMPARISONS.get() }
    }
}

impl Counted for StdHeap<Heard> {
    fn count(&self) -> OperationCounts {
        OperationCounts { comparisons: COMPARISONS.get() - self.before, moves: 0 }
    }

    const SEES_MOVES: bool = false;
}

impl<I: StdItem> OpenList for StdHeap<I> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.items.clear();
    }

    fn insert(&mut self, node: NodeId, Key { f, h }: Key) {
        self.items.push(I::new(u64::from(f) << 32 | u64::from(h), node));
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.insert(node, key);
    }

    fn pop(&mut self) -> Option<NodeId> {
        self.items.pop().map(I::node)
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<I>()
    }
}
