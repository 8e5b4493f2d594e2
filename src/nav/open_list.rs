//! The open list of a search: nodes to expand, lowest f first.
//!
//! This module has two lists, and others can be plugged in through [`OpenList`]:
//! - [`BinaryHeap`], the heap of the articles this crate is based on, which stores each node's slot and
//!   resorts an open node in place when a cheaper path to it is found;
//! - [`BucketHeap`], the default because it measures better: stacks of equal f, and one bit per stack that is
//!   set where the stack is not empty.

pub mod binary_heap;
pub mod bucket_heap;
pub mod observer;

pub use binary_heap::BinaryHeap;
pub use bucket_heap::BucketHeap;
pub use observer::{OpenListObserver, Operation, OperationCounts};

/// Number of a search node: its page and its index in the page. Small and dense within one search.
pub type NodeId = u32;

/// The sort key of an open list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Key {
    /// Cost so far plus heuristic.
    pub f: u32,
    /// Heuristic: estimate of the remaining cost. Among equal f the lower h is deeper in the search.
    pub h: u32,
}

/// A priority queue of search nodes.
///
/// A list must return nodes in order of f; among equal f it may choose, as long as the choice
/// depends on nothing but the calls made (searches stay deterministic). It may return a node
/// that was already returned, if that node was [improved](Self::improve) in between: searches
/// skip nodes they have closed. So both resorting in place and lazy deletion fit.
pub trait OpenList: Default + Send + Sync + 'static {
    /// Whether every node must go through the list. By default a search keeps back a successor whose f equals
    /// that of the node just expanded, because nothing can come before it.
    const NEEDS_EVERY_NODE: bool = false;

    /// Empties the list for a new search; called before anything else. No f will be below `lowest`, nor more
    /// than `spread` above the last one popped (or above `lowest` before that): f never falls along a path
    /// and grows by at most `spread` per step.
    fn reset(&mut self, lowest: u32, spread: u32);

    /// Adds a node that is not in the list.
    fn insert(&mut self, node: NodeId, key: Key);

    /// Records a lower f for a node in the list.
    fn improve(&mut self, node: NodeId, key: Key);

    /// Removes and returns a node with the lowest f.
    fn pop(&mut self) -> Option<NodeId>;

    /// Number of entries, including stale ones.
    fn len(&self) -> usize;

    /// Whether the list has no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory held, in bytes.
    fn bytes(&self) -> usize;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Drives a list with random inserts, improvements and pops whose f never falls below the last one
    /// popped, and checks every pop against a plain scan.
    fn agrees_with_scan<L: OpenList>(
        spread: u32,
        steps: &[(u8, u32, u32)],
    ) -> Result<(), TestCaseError> {
        let mut list = L::default();
        // Entries left behind by another search, with another spread, must have no effect.
        list.reset(77, spread / 3 + 1);
        for (node, &(_, add, _)) in steps.iter().enumerate().take(9) {
            list.insert(node as NodeId, Key { f: 77 + add % (spread / 3 + 2), h: 0 });
        }
        list.reset(0, spread);
        let mut open: Vec<(NodeId, u32)> = Vec::new();
        let mut floor = 0u32;
        for (node, &(what, add, pick)) in steps.iter().enumerate() {
            let f = floor.saturating_add(add % spread.saturating_add(1).max(1));
            match what % 3 {
                0 | 1 if open.is_empty() || what % 3 == 0 => {
                    list.insert(node as NodeId, Key { f, h: add });
                    open.push((node as NodeId, f));
                }
                1 => {
                    let index = pick as usize % open.len();
                    let (node, old) = open[index];
                    let f = floor + (old - floor) / 2;
                    if f < old {
                        list.improve(node, Key { f, h: add });
                        open[index].1 = f;
                    }
                }
                _ if open.is_empty() => {}
                _ => floor = pop_checked(&mut list, &mut open)?.unwrap_or(floor),
            }
        }
        while !open.is_empty() {
            pop_checked(&mut list, &mut open)?;
        }
        Ok(())
    }

    fn pop_checked<L: OpenList>(
        list: &mut L,
        open: &mut Vec<(NodeId, u32)>,
    ) -> Result<Option<u32>, TestCaseError> {
        let lowest = open.iter().map(|&(_, f)| f).min();
        let found = std::iter::from_fn(|| list.pop())
            .find_map(|node| open.iter().position(|&(other, _)| other == node));
        prop_assert_eq!(found.map(|index| open[index].1), lowest);
        Ok(found.map(|index| open.swap_remove(index).1))
    }

    proptest! {
        #[test]
        fn every_list_pops_the_lowest_f(
            spread in 1u32..40_000,
            steps in prop::collection::vec(any::<(u8, u32, u32)>(), 1..400),
        ) {
            agrees_with_scan::<BinaryHeap>(spread, &steps)?;
            agrees_with_scan::<BucketHeap>(spread, &steps)?;
            agrees_with_scan::<BucketHeap>(spread + 1_000_000, &steps)?;
            agrees_with_scan::<BucketHeap>(u32::MAX - spread, &steps)?;
        }
    }
}
