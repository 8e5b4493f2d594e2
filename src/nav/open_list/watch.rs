//! Looking on while a list works: what it compares and what it moves.
//!
//! A list that can be watched has a parameter for the onlooker. With `()`, the default, nothing is
//! told and nothing is left of it in the compiled code; [`Count`] counts, and a `Vec<Step>` keeps
//! the whole story, slot by slot.

/// Hears of every comparison and every move of a list, as they happen.
///
/// Places are whatever the list has: slots of a heap, numbers of stacks.
pub trait Watch: Default + Send + Sync + 'static {
    /// The entries at these two places were compared.
    #[inline(always)]
    fn compared(&mut self, _one: usize, _other: usize) {}

    /// The entry on its way changed places: it goes on from `to`.
    #[inline(always)]
    fn moved(&mut self, _from: usize, _to: usize) {}
}

/// Nobody looks.
impl Watch for () {}

/// Sums of what was heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Comparisons of two entries.
    pub comparisons: u64,
    /// Moves of an entry past another one, or of an entry to another place.
    pub moves: u64,
}

impl Watch for Count {
    fn compared(&mut self, _one: usize, _other: usize) {
        self.comparisons += 1;
    }

    fn moved(&mut self, _from: usize, _to: usize) {
        self.moves += 1;
    }
}

/// One thing heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Two entries were compared.
    Compared(usize, usize),
    /// The entry on its way changed places, from the first to the second.
    Moved(usize, usize),
}

impl Watch for Vec<Step> {
    fn compared(&mut self, one: usize, other: usize) {
        self.push(Step::Compared(one, other));
    }

    fn moved(&mut self, from: usize, to: usize) {
        self.push(Step::Moved(from, to));
    }
}
