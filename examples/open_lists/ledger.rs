//! Counts the calls to a list and their work, by kind.
//!
//! Input: any list whose work is counted. Output: a list that behaves the same, and the sums of its
//! calls by kind.

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OperationCounts};

use crate::lists::Counted;

/// Calls of one kind and their work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calls {
    /// Number of calls.
    pub calls: u64,
    /// Comparisons and moves in all of them.
    pub work: OperationCounts,
}

impl Calls {
    /// Returns the mean number of comparisons per call.
    pub fn comparisons_each(&self) -> f64 {
        self.work.comparisons as f64 / self.calls.max(1) as f64
    }

    /// Returns the mean number of moves per call.
    #[cfg(test)]
    pub fn moves_each(&self) -> f64 {
        self.work.moves as f64 / self.calls.max(1) as f64
    }
}

/// The work of a list over any number of searches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Nodes inserted.
    pub inserts: Calls,
    /// Nodes that became cheaper.
    pub improvements: Calls,
    /// Nodes removed.
    pub removals: Calls,
    /// Largest number of entries.
    pub peak: usize,
    /// Whether the list counts its moves.
    pub sees_moves: bool,
}

impl Work {
    /// Returns all comparisons.
    pub const fn comparisons(&self) -> u64 {
        let (inserts, improvements) = (self.inserts.work, self.improvements.work);
        inserts.comparisons + improvements.comparisons + self.removals.work.comparisons
    }

    /// Returns all moves; `None` if the list does not count them.
    pub fn moves(&self) -> Option<u64> {
        let all = [self.inserts, self.improvements, self.removals];
        self.sees_moves.then(|| all.iter().map(|calls| calls.work.moves).sum())
    }
}

/// A list and its counts; see the [module](self).
#[derive(Default)]
pub struct Ledger<L> {
    list: L,
    work: Work,
}

impl<L: Counted> Ledger<L> {
    /// Returns the work since the list's creation.
    pub fn work(&self) -> Work {
        Work { sees_moves: L::SEES_MOVES, ..self.work }
    }

    fn record<T>(
        &mut self,
        kind: fn(&mut Work) -> &mut Calls,
        call: impl FnOnce(&mut L) -> T,
    ) -> T {
        let before = self.list.count();
        let result = call(&mut self.list);
        let after = self.list.count();
        let calls = kind(&mut self.work);
        calls.calls += 1;
        calls.work.comparisons += after.comparisons - before.comparisons;
        calls.work.moves += after.moves - before.moves;
        self.work.peak = self.work.peak.max(self.list.len());
        result
    }
}

impl<L: Counted> OpenList for Ledger<L> {
    const NEEDS_EVERY_NODE: bool = L::NEEDS_EVERY_NODE;

    fn reset(&mut self, lowest: u32, spread: u32) {
        self.list.reset(lowest, spread);
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        self.record(|work| &mut work.inserts, |list| list.insert(node, key));
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.record(|work| &mut work.improvements, |list| list.improve(node, key));
    }

    fn pop(&mut self) -> Option<NodeId> {
        if self.list.is_empty() {
            return None;
        }
        self.record(|work| &mut work.removals, L::pop)
    }

    fn len(&self) -> usize {
        self.list.len()
    }

    fn bytes(&self) -> usize {
        self.list.bytes()
    }
}
