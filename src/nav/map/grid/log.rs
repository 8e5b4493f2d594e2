//! What was edited lately, so that users of a grid can look at just that.
//!
//! Input: rectangles of edits, with the revision that each made. Output: those since any revision. The latest are kept one by one,
//! and all older ones as one rectangle around them: nothing is forgotten.

use crate::nav::CellRect;

/// Number of edits that are kept individually; older ones are joined.
const LENGTH: usize = 64;

/// All edits after a revision.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct EditLog {
    /// The revision after which all edits are listed.
    start: u64,
    /// The last edit of everything, and the revision it made.
    everything: Option<(u64, CellRect)>,
    /// Those after it, oldest first.
    edits: Vec<(u64, CellRect)>,
}

impl EditLog {
    /// Creates a log of the edits after `revision`.
    pub(super) const fn after(revision: u64) -> Self {
        Self { start: revision, everything: None, edits: Vec::new() }
    }

    /// Adds the edit that made `revision`.
    pub(super) fn push(&mut self, revision: u64, rect: CellRect) {
        if self.edits.len() == LENGTH {
            let (_, oldest) = self.edits.remove(0);
            self.edits[0].1 = self.edits[0].1.union(oldest);
        }
        self.edits.push((revision, rect));
    }

    /// Adds an edit of the whole grid, which contains all before it.
    pub(super) fn push_everything(&mut self, revision: u64, grid: CellRect) {
        self.edits.clear();
        self.everything = Some((revision, grid));
    }

    /// Returns what was edited after `revision`, oldest first; `None` before the start of the log.
    pub(super) fn since(&self, revision: u64) -> Option<impl Iterator<Item = CellRect>> {
        let edits = self.everything.iter().chain(&self.edits);
        let later = edits.skip_while(move |&&(at, _)| at <= revision).map(|&(_, rect)| rect);
        (revision >= self.start).then_some(later)
    }
}
