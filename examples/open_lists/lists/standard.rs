//! The standard library's binary heap, with lazy deletion.
//!
//! F and H are packed into one number, F in the high bits, so that one comparison covers both. Its
//! pop sinks the last item to the bottom without checking whether it should stop earlier, then lifts
//! it: about one comparison per level instead of two. Its comparisons are counted in the items'
//! `Ord`; its moves cannot be counted.

use core::{cell::Cell, cmp::Ordering};
use std::collections::BinaryHeap;

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OperationCounts};

use super::Counted;

/// An item of the heap: the greatest is removed first.
pub trait StdItem: Ord + Copy + Send + Sync + 'static {
    /// Creates an item from packed key and node.
    fn new(key: u64, node: NodeId) -> Self;
    /// Returns its node.
    fn node(self) -> NodeId;
}

/// An item that is not counted.
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

/// An item that counts its comparisons, per thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CountedItem(Silent);

impl StdItem for CountedItem {
    fn new(key: u64, node: NodeId) -> Self {
        Self(Silent::new(key, node))
    }

    fn node(self) -> NodeId {
        self.0.node()
    }
}

impl Ord for CountedItem {
    fn cmp(&self, other: &Self) -> Ordering {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for CountedItem {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Std's heap; see the [module](self).
pub struct StdHeap<I: StdItem = Silent> {
    items: BinaryHeap<I>,
    /// The thread's count when the heap was created.
    before: u64,
}

impl<I: StdItem> Default for StdHeap<I> {
    fn default() -> Self {
        Self { items: BinaryHeap::new(), before: COMPARISONS.get() }
    }
}

impl Counted for StdHeap<CountedItem> {
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
