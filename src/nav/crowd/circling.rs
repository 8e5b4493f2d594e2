//! Units that walk and walk and come no nearer to their goals.
//!
//! Input: the steps that begin, and what is left of the way of each unit. Output: those that have made many
//! steps without coming nearer than they were stand back for a while, at another time each; so what goes
//! round in circles comes out of step. Who still comes no nearer after many such pauses is reported
//! ([`Hindrance::Circling`](super::Hindrance::Circling)) in each one that follows.
//!
//! Members of groups are not counted: they keep a place where they stand (see [`settle`](super::settle)).
//! An order, an arrival and an edit of the grid begin the count anew.

use super::{
    Crowd,
    unit::{Errand, STAY},
};

/// Fewest steps without progress after which a unit stands back: more than a long way around takes.
const PAUSE: u32 = 192;
/// Units have this many different numbers of steps before they do, and by what these differ.
const KINDS: u32 = 9;
const APART: u32 = 16;
/// Steps without progress after which a unit is reported: about ten pauses.
const REPORT: u32 = 2_048;

/// What is known of a unit's progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// The least that ever was left of its way.
    least: u64,
    /// Steps since then.
    steps: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Self { least: u64::MAX, steps: 0 }
    }
}

impl Crowd {
    /// Begins to count the steps of a unit anew.
    pub(super) fn forget_steps(&mut self, index: u32) {
        let at = index as usize;
        if self.progress.len() <= at {
            self.progress.resize(self.units.len(), Progress::default());
        }
        self.progress[at] = Progress::default();
    }

    /// Begins to count everybody's steps anew.
    pub(super) fn forget_all_steps(&mut self) {
        self.progress.fill(Progress::default());
    }

    /// Counts a step that has just begun.
    pub(super) fn count_step(&mut self, index: u32) {
        let unit = &self.units[index as usize];
        if unit.has_arrived || !matches!(unit.errand, Errand::Route(_) | Errand::Way) {
            return;
        }
        let left = match unit.errand {
            Errand::Way => Some(u64::from(self.ways[index as usize].left())),
            _ => self.view(index).map(|view| view.rest[usize::from(STAY)]),
        };
        let Some(progress) = self.progress.get_mut(index as usize) else {
            return;
        };
        if left.is_some_and(|left| left < progress.least) {
            *progress = Progress { least: left.unwrap_or(u64::MAX), steps: 0 };
            return;
        }
        progress.steps = progress.steps.saturating_add(1);
        let steps = progress.steps;
        if steps.is_multiple_of(PAUSE + APART * (index % KINDS)) {
            let unit = &mut self.units[index as usize];
            (unit.yields, unit.stands_back) = (true, true);
            self.counters.pauses += 1;
        }
    }

    /// Whether a unit has come no nearer to its goal for so long that the game should know.
    pub(super) fn is_circling(&self, index: u32) -> bool {
        let steps = self.progress.get(index as usize).map_or(0, |progress| progress.steps);
        self.units[index as usize].stands_back && steps >= REPORT
    }
}
