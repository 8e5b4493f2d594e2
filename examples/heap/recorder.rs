//! The recorder: the library's binary heap as the open list of a search, with a log of calls.
//!
//! Input: what the search asks of its open list. Output: the same answers, and an [`Operation`]
//! for each call with everything that the heap compared and moved meanwhile.

use std::ops::Range;

use bevy_tilepath::nav::open_list::{BinaryHeap, Key, NodeId, OpenList, Operation as HeapStep};

/// What was asked of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Insert(NodeId, Key),
    Improve(NodeId, Key),
    /// With the answer.
    Pop(NodeId),
}

/// One call, and what it took.
#[derive(Clone, Debug)]
pub struct Operation {
    pub call: Call,
    /// Which of the heap's steps.
    steps: Range<usize>,
    /// The array after it, for the checks that the replay ends with the same one.
    #[cfg(any(test, debug_assertions))]
    pub after: Vec<NodeId>,
}

/// A binary heap that is listened to.
#[derive(Default)]
pub struct Recorder {
    heap: BinaryHeap<Vec<HeapStep>>,
    operations: Vec<Operation>,
}

impl Recorder {
    /// All calls so far, in their order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// What the heap compared and moved in one of its operations.
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
    /// The picture is of a heap that holds every open node.
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
