//! Units that keep walking and come no nearer to their goals.
//!
//! Input: the steps that begin, and the remaining cost of each unit. Output: units that have made many steps
//! without coming nearer than before stand back for a while. They do so after different numbers of steps, so
//! that units that circle together fall out of step. A unit that still comes no nearer after many such pauses
//! is reported ([`Hindrance::Circling`](crate::nav::crowd::Hindrance::Circling)) in each pause that follows.
//!
//! For members of groups, ticks near their slots count instead of steps: they settle where they stand (see
//! [`slot_assignment`](super::slot_assignment)). An order resets the count.

use super::Groups;
use crate::nav::crowd::board::{Board, GridPos, NONE, STAY, Task, entry_at};
use crate::nav::crowd::cost_to_go::{Sources, UNREACHABLE, costliest_step};
use crate::nav::{NavGrid, PathCost};

/// Minimum number of steps without progress after which a unit stands back: more than a long detour takes.
const PAUSE_AFTER: u32 = 192;
/// Number of different intervals between pauses, and the difference between them in steps.
const PAUSE_VARIANTS: u32 = 9;
const PAUSE_STAGGER: u32 = 16;
/// Steps without progress after which a unit is reported: about ten pauses.
const REPORT_AFTER: u32 = 2_048;

/// If the remaining cost rises by more than this from one step to the next, the way has become longer; or by more than twice
/// the costliest step, if that is more.
const LONGER_WAY: u64 = 16 * PathCost::PLAIN_STEP.0;
/// Bits dropped from costs that need not be exact: a unit is then a little more than half of a plain step.
const COARSE: u32 = 13;

fn coarse(cost: u64) -> u32 {
    (cost >> COARSE).min(u32::MAX.into()) as u32
}

/// How often a member may get back its previous slot, not counting quick exchanges: while a group comes together,
/// slots go back and forth more often, but within this many ticks.
const MOST_RETURNED: u8 = 6;
const QUICK_EXCHANGE: u32 = 64;

/// The progress of a unit towards its goal.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct GoalProgress {
    /// The lowest remaining cost so far; `None` before the first step.
    least_remaining: Option<u64>,
    /// Steps since then.
    steps: u32,
    /// The tick in which it was lowest.
    since: u32,
    /// The remaining cost at the last step, of a unit on a shared field, in units of 2^[`COARSE`]; and whether terrain has
    /// changed since the count began.
    remaining: u32,
    is_old: bool,
    /// A member of a group: since when it has stood on its slot, if it was there when it last decided.
    at_slot_since: Option<u32>,
    /// Its slot before the last exchange, the tick of that exchange, and how often it has got back its previous slot.
    last_slot: GridPos,
    exchanged_at: u32,
    slots_returned: u8,
}

impl GoalProgress {
    /// Notes that terrain has changed somewhere: the shared field that guides the unit may now lead a longer way.
    pub const fn note_edit(&mut self) {
        self.is_old = true;
    }

    /// Returns whether a remaining cost is lower than all before.
    fn is_nearer(&self, remaining: u64) -> bool {
        self.least_remaining.is_none_or(|least| remaining < least)
    }

    /// Notes the remaining cost at a step. Returns whether it has risen by more than steps alone can change it:
    /// the field has changed.
    fn has_longer_way(&mut self, remaining: u64, costliest_step: impl Fn() -> u64) -> bool {
        let before = core::mem::replace(&mut self.remaining, coarse(remaining));
        let more = u64::from(self.remaining.saturating_sub(before));
        self.is_old && more > LONGER_WAY >> COARSE && more > (2 * costliest_step()) >> COARSE
    }

    /// Whether a member of a group no longer exchanges slots. In a dead end, two members before a slot that neither
    /// can reach could exchange slots for ever.
    pub const fn keeps_slot(&self) -> bool {
        self.slots_returned >= MOST_RETURNED
    }

    /// Restarts the count for the slot that a member got in exchange for its own.
    pub fn begin_slot(&mut self, now: u32, (old, new): (GridPos, GridPos)) {
        let is_slow = now.wrapping_sub(self.exchanged_at) >= QUICK_EXCHANGE;
        let is_returned = is_slow && new == self.last_slot;
        let slots_returned = self.slots_returned.saturating_add(u8::from(is_returned));
        *self = Self { last_slot: old, exchanged_at: now, slots_returned, ..Self::default() };
    }
}

impl Groups {
    /// Resets the step count of a unit.
    pub fn reset_progress(&mut self, index: u32) {
        *entry_at(&mut self.progress, index as usize) = GoalProgress::default();
    }

    /// Counts a step that has just begun.
    pub fn count_step(
        &mut self,
        board: &mut Board,
        (sources, grid): (&Sources, &NavGrid),
        index: u32,
    ) {
        let unit = &board.units[index];
        let remaining = match unit.task {
            _ if unit.has_arrived => return,
            Task::Path => sources.follower(index).map(|follower| follower.steps_left.into()),
            Task::Route(_) => {
                let costs = sources.neighbor_costs(board, index);
                costs.map(|costs| costs.cost_to_go[usize::from(STAY)])
            }
            Task::Idle | Task::Group(_) => return,
        };
        let remaining = remaining.filter(|&cost| cost != UNREACHABLE);
        let progress = &mut self.progress[index as usize];
        let is_route = matches!(unit.task, Task::Route(_));
        let costliest_step = || grid.layer(unit.profile).map_or(0, costliest_step);
        if let Some(cost) = remaining
            && (is_route && progress.has_longer_way(cost, costliest_step)
                || progress.is_nearer(cost))
        {
            let (least_remaining, since) = (remaining, board.tick_stamp());
            let remaining = coarse(cost);
            *progress =
                GoalProgress { least_remaining, since, remaining, ..GoalProgress::default() };
            return;
        }
        progress.steps = progress.steps.saturating_add(1);
        let steps = progress.steps;
        if steps.is_multiple_of(PAUSE_AFTER + PAUSE_STAGGER * (index % PAUSE_VARIANTS)) {
            let unit = &mut board.units[index];
            (unit.accepts_any_push, unit.stands_back) = (true, true);
            board.counters.pauses += 1;
        }
    }

    /// Notes that a member of a group stands on its slot.
    pub fn note_at_slot(&mut self, now: u32, index: u32) {
        self.progress[index as usize].at_slot_since.get_or_insert(now);
    }

    /// Notes how far a member of a group is from its slot. Returns for how many ticks it has come no nearer, without those in which
    /// it stood on its slot: units that come later may push it off.
    pub fn ticks_without_progress(&mut self, now: u32, index: u32, remaining: u64) -> u64 {
        let progress = &mut self.progress[index as usize];
        if let Some(since) = progress.at_slot_since.take() {
            progress.since = progress.since.wrapping_add(now.wrapping_sub(since));
        }
        if progress.is_nearer(remaining) {
            (progress.least_remaining, progress.since) = (Some(remaining), now);
        }
        u64::from(now.wrapping_sub(progress.since))
    }

    /// Begins to count the ticks without progress anew.
    pub fn restart_progress(&mut self, board: &Board, index: u32) {
        if board.units[index].task.group().is_none() {
            self.progress[index as usize].since = board.tick_stamp();
        }
    }

    /// Returns the ticks since a unit was nearest to its goal; 0 until it has made a step, while it lets another one pass, after it
    /// has arrived, and for members of groups.
    pub fn ticks_since_progress(&self, board: &Board, index: u32) -> u64 {
        let (unit, progress) = (&board.units[index], &self.progress[index as usize]);
        let goes_alone = unit.task.group().is_none() && unit.yields_to() == NONE;
        let counts = goes_alone && !unit.has_arrived && progress.least_remaining.is_some();
        if counts { board.tick_stamp().wrapping_sub(progress.since).into() } else { 0 }
    }

    /// Returns whether a unit has come no nearer to its goal for so long that it is to be reported.
    pub fn is_circling(&self, board: &Board, index: u32) -> bool {
        board.units[index].stands_back && self.progress[index as usize].steps >= REPORT_AFTER
    }
}
