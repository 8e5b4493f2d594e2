//! Any list, with every node passing through it.
//!
//! By default a search bypasses the list for a successor that must be expanded next. The articles'
//! searches do not.

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OperationCounts};

use super::Counted;

/// A list that receives every node, as in the articles; see [`OpenList::NEEDS_EVERY_NODE`].
#[derive(Default)]
pub struct Every<L>(L);

impl<L: OpenList> OpenList for Every<L> {
    const NEEDS_EVERY_NODE: bool = true;

    fn reset(&mut self, lowest: u32, spread: u32) {
        self.0.reset(lowest, spread);
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        self.0.insert(node, key);
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.0.improve(node, key);
    }

    fn pop(&mut self) -> Option<NodeId> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl<L: Counted> Counted for Every<L> {
    const SEES_MOVES: bool = L::SEES_MOVES;

    fn count(&self) -> OperationCounts {
        self.0.count()
    }
}
