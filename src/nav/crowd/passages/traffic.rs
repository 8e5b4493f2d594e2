//! The units in passages, and which of those outside may enter.
//!
//! Input: the units on the cells of a passage, and the steps that begin there. Output: whether another unit may enter at
//! a side; the priority of units that are inside or have just come out.

use super::TerrainShape;
use super::direction_lock::DirectionLock;
use super::passage::{Passage, Passages};
use crate::nav::ProfileId;
use crate::nav::crowd::board::{Board, GridPos, STAY, SUBTICKS_PER_TICK, State, Task, Unit};

/// Shortest passage that is locked, in cells. At a single door, a unit in the way is soon pushed back.
const MIN_LOCKED_LENGTH: usize = 2;
/// Steps after a passage during which a unit still goes before others.
const PRIORITY_STEPS_AFTER: u8 = 3;

impl TerrainShape {
    /// Returns whether a unit's step leads into a passage against the traffic.
    pub fn is_against_traffic(&mut self, board: &Board, index: u32, direction: u8) -> bool {
        let unit = &board.units[index];
        let entry = (unit.tail, unit.tail.step(direction));
        self.is_passage_near(unit.profile, unit.tail) && !self.may_enter(board, unit.profile, entry)
    }

    /// Returns whether a passage is known near a cell.
    pub fn is_passage_near(&self, profile: ProfileId, pos: GridPos) -> bool {
        self.passages_of(profile).is_some_and(|passages| passages.is_near(pos))
    }

    /// Updates the passages near a unit when its step begins.
    #[inline]
    pub fn note_passage(&mut self, board: &mut Board, index: u32) {
        let unit = &mut board.units[index];
        let is_near = unit.clearing_steps > 0 || self.is_passage_near(unit.profile, unit.tail);
        if is_near && unit.size == 1 {
            unit.clearing_steps = unit.clearing_steps.saturating_sub(1);
            let keeps_clear = self.passages_of(unit.profile).is_some_and(|passages| {
                let on_step = [unit.tail, unit.head].into_iter();
                let mut lies_in = on_step.filter_map(|pos| passages.passage_at(pos));
                lies_in.any(|(number, _)| passages.list[number].goes_first(board.now))
            });
            if keeps_clear {
                unit.clearing_steps = PRIORITY_STEPS_AFTER;
            }
            self.note_step(board.now, unit);
        }
    }

    /// Notes that a unit begins a step.
    fn note_step(&mut self, now: u64, unit: &Unit) {
        for passages in &mut self.passages {
            for pos in [unit.tail, unit.head] {
                if let Some((number, _)) = passages.passage_at(pos) {
                    passages.list[number].lock.last_moved = now;
                }
            }
        }
        let step_ticks = (unit.end.saturating_sub(unit.start) / SUBTICKS_PER_TICK).clamp(1, 255);
        self.at_entrance((unit.tail, unit.head), |lock, side| {
            if lock.flow != side {
                lock.set_flow(side, now);
            }
            lock.batch += 1;
            (lock.last_entry, lock.step_ticks, lock.counted_at) = (now, step_ticks, 0);
        });
    }

    /// Notes that a unit waits to make a step into a passage.
    pub fn note_waiting(&mut self, entry: Entry, now: u64) {
        self.at_entrance(entry, |lock, side| lock.last_waiting[side] = now + 1);
    }

    /// Changes the locks of the passage that a step enters.
    fn at_entrance(&mut self, entry: Entry, change: impl Fn(&mut DirectionLock, usize)) {
        for passages in &mut self.passages {
            if let Some((number, side)) = passages.entrance(entry) {
                change(&mut passages.list[number].lock, side);
            }
        }
    }

    /// Returns whether the passage that a unit's step enters admits the unit; true if the step enters none. If several
    /// profiles see the same passage, the lock of the lowest one counts.
    pub fn may_enter(&mut self, board: &Board, profile: ProfileId, entry: Entry) -> bool {
        let own = self.passages_of(profile);
        let own = own.and_then(|passages| Some(&passages.list[passages.entrance(entry)?.0]));
        let lowest = own.and_then(|own| {
            self.passages.iter().enumerate().find_map(|(at, passages)| {
                let (number, side) = passages.entrance(entry)?;
                passages.list[number].is_same(own).then_some((at, number, side))
            })
        });
        lowest.is_none_or(|(at, number, side)| self.passages[at].may_enter(board, number, side))
    }
}

impl Passage {
    /// Returns whether another profile sees the same passage.
    fn is_same(&self, other: &Self) -> bool {
        let [first, last] = other.mouths;
        self.cells.len() == other.cells.len()
            && (self.mouths == other.mouths || self.mouths == [last, first])
    }

    /// Returns whether units inside, and those that have just come out, go before others.
    fn goes_first(&self, now: u64) -> bool {
        self.cells.len() >= MIN_LOCKED_LENGTH || self.lock.is_anyone_waiting(now)
    }
}

/// A step into a passage: from outside, and to its first cell.
pub type Entry = (GridPos, GridPos);

impl Passages {
    /// Returns the passage that a step enters from outside, and at which side.
    fn entrance(&self, (from, to): Entry) -> Option<(usize, usize)> {
        let here = self.passage_at(from).map(|of| of.0);
        let (number, at) = self.passage_at(to).filter(|of| Some(of.0) != here)?;
        Some((number, self.list[number].side(from, at)?))
    }

    /// Returns whether a step enters a passage from outside, and not the passage of `cell`.
    pub fn leads_on(&self, cell: GridPos, entry: Entry) -> bool {
        let here = self.passage_at(cell).map(|of| of.0);
        self.entrance(entry).is_some_and(|of| Some(of.0) != here)
    }

    /// Returns whether a passage admits a unit at one of its sides.
    fn may_enter(&mut self, board: &Board, number: usize, side: usize) -> bool {
        let now = board.now;
        let passage = &self.list[number];
        let length = passage.cells.len();
        if passage.lock.is_uncontrolled || length < MIN_LOCKED_LENGTH {
            return true;
        }
        let count = (passage.lock.counted_at != now + 1).then(|| self.count_inside(board, number));
        let lock = &mut self.list[number].lock;
        if let Some((inside, has_moved)) = count {
            (lock.inside, lock.counted_at) = (inside, now + 1);
            if has_moved {
                lock.last_moved = now;
            }
        }
        lock.admits(side, length, now)
    }

    /// Counts the units in a passage by the side they head for, and returns whether one of them moves.
    fn count_inside(&self, board: &Board, number: usize) -> ([u32; 2], bool) {
        let (mut inside, mut has_moved) = ([0; 2], false);
        let passage = &self.list[number];
        for (along, &cell) in passage.cells.iter().enumerate() {
            let Some(unit) = board.owner(board.reservations.index(cell)) else {
                continue;
            };
            has_moved |= unit.state == State::Moving; // not if it only moves when a plan succeeds
            let is_twice =
                unit.tail != cell && self.passage_at(unit.tail).is_some_and(|of| of.0 == number);
            let is_heading = unit.task != Task::Idle && !unit.has_arrived;
            if is_heading
                && unit.preferred_direction != STAY
                && !is_twice
                && let Some(side) = exit_side(self, number, unit, along)
            {
                inside[side] += 1;
            }
        }
        (inside, has_moved)
    }
}

/// Returns the side for which a unit in a passage heads.
fn exit_side(passages: &Passages, number: usize, unit: &Unit, along: usize) -> Option<usize> {
    let passage = &passages.list[number];
    let next = unit.tail.step(unit.preferred_direction);
    let beside = passages.passage_at(next).filter(|of| of.0 == number).map(|of| of.1);
    if unit.tail != passage.cells[along] {
        let side = passage.side(unit.tail, along)?;
        return Some(if beside.is_some() { 1 - side } else { side });
    }
    match beside {
        Some(at) => Some(usize::from(at > along)),
        None => [0, 1].into_iter().find(|&side| passage.mouths[side] == Some(next)),
    }
}
