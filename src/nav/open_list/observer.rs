//! Observing an open list: the entries it compares and the entries it moves.
//!
//! A list that can be observed has a type parameter for the observer. With `()`, the default, nothing is
//! reported and nothing of it is left in the compiled code; [`OperationCounts`] counts, and a
//! `Vec<Operation>` records every operation, slot by slot.

/// Receives every comparison and every move of a list, as they happen.
///
/// Positions are specific to the list: slots of a heap, numbers of stacks.
pub trait OpenListObserver: Default + Send + Sync + 'static {
    /// The entries at these two positions were compared.
    #[inline(always)]
    fn compared(&mut self, _a: usize, _b: usize) {}

    /// The entry being sorted moved: it continues from `to`.
    #[inline(always)]
    fn moved(&mut self, _from: usize, _to: usize) {}
}

/// Ignores all operations.
impl OpenListObserver for () {}

/// Numbers of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCounts {
    /// Comparisons of two entries.
    pub comparisons: u64,
    /// Moves of an entry past another one, or of an entry to another position.
    pub moves: u64,
}

impl OpenListObserver for OperationCounts {
    fn compared(&mut self, _a: usize, _b: usize) {
        self.comparisons += 1;
    }

    fn moved(&mut self, _from: usize, _to: usize) {
        self.moves += 1;
    }
}

/// One operation of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Two entries were compared.
    Compared(usize, usize),
    /// The entry being sorted moved from the first position to the second.
    Moved(usize, usize),
}

impl OpenListObserver for Vec<Operation> {
    fn compared(&mut self, a: usize, b: usize) {
        self.push(Operation::Compared(a, b));
    }

    fn moved(&mut self, from: usize, to: usize) {
        self.push(Operation::Moved(from, to));
    }
}
