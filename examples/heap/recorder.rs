//! The recorder: the library's binary heap as the open list of a search, with a log of calls.
//!
//! Input: the search's calls to its open list. Output: the same answers, and an [`Operation`] for
//! each call with all comparisons and moves of the heap.

use std::ops::Range;

use bevy_tilepath::nav::open_list::{BinaryHeap, Key, NodeId, OpenList, Operation as HeapStep};

/// A call to the open list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Insert(NodeId, Key),
    Improve(NodeId, Key),
    /// With its result.
    Pop(NodeId),
}

/// One call and its steps.
#[derive(Clone, Debug)]
pub struct Operation {
    pub call: Call,
    /// Range of the heap's steps.
    steps: Range<usize>,
    /// The array after the call, to check the result of the replay.
    #[cfg(any(test, debug_assertions))]
    pub after: Vec<NodeId>,
}

/// A binary heap that is observed.
#[derive(Default)]
pub struct Recorder {
    heap: BinaryHeap<Vec<HeapStep>>,
    operations: Vec<Operation>,
}

impl Recorder {
    /// Returns all calls so far, in order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the comparisons and moves of one operation.
    pub fn steps(&self, operation: &Operation) -> &[HeapStep] {
        &self.heap.observer()[operation.steps.clone()]
    }

    fn note(&mut self, call: Call, first_step: usize) {
        let steps = first_step..self.heap.observer().len();
        self.operations.push(Operation {
            call,
            steps,
            #[cfg(any(test, debug_assertions))]
            after: self.heap.nodes().collect(),
        });
    }
}

impl OpenList for Recorder {
    /// The view shows a heap that holds every open node.
    const NEEDS_EVERY_NODE: bool = true;

    fn reset(&mut self, lowest: u32, spread: u32) {
        self.heap.reset(lowest, spread);
        self.operations.clear();
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        let first_step = self.heap.observer().len();
        self.heap.insert(node, key);
        self.note(Call::Insert(node, key), first_step);
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        let first_step = self.heap.observer().len();
        self.heap.improve(node, key);
        self.note(Call::Improve(node, key), first_step);
    }

    fn pop(&mut self) -> Option<NodeId> {
        let first_step = self.heap.observer().len();
        let node = self.heap.pop()?;
        self.note(Call::Pop(node), first_step);
        Some(node)
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    fn bytes(&self) -> usize {
        self.heap.bytes()
    }
}
