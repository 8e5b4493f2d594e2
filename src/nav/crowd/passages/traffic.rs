//! The units in passages, and which of those outside may enter.
//!
//! Input: the units on the cells of a passage, and the steps that begin there. Output: whether another unit may enter at
//! a side; the priority of units that are inside or have just come out.

use super::TerrainShape;
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
        let known = self.passages.get_mut(usize::from(unit.profile.0));
        let Some(passages) = known.filter(|passages| passages.is_near(unit.tail)) else {
            return false;
        };
        let entrance = passages.entrance(unit.tail, unit.tail.step(direction));
        entrance.is_some_and(|(number, side)| !passages.may_enter(board, number, side, false))
    }

    /// Returns whether a passage is known near a cell.
    pub fn is_passage_near(&self, profile: ProfileId, pos: GridPos) -> bool {
        let passages = self.passages.get(usize::from(profile.0));
        passages.is_some_and(|passages| passages.is_near(pos))
    }

    /// Updates the passages near a unit when its step begins.
    #[inline]
    pub fn note_passage(&mut self, board: &mut Board, index: u32) {
        let unit = &board.units[index];
        let is_near = unit.clearing_steps > 0 || self.is_passage_near(unit.profile, unit.tail);
        if is_near && unit.size == 1 {
            self.note_passage_step(board, index);
        }
    }

    fn note_passage_step(&mut self, board: &mut Board, index: u32) {
        let unit = &mut board.units[index];
        let Some(passages) = self.passages.get_mut(usize::from(unit.profile.0)) else {
            return;
        };
        let (from, to) = (passages.passage_at(unit.tail), passages.passage_at(unit.head));
        let now = board.now;
        unit.clearing_steps = unit.clearing_steps.saturating_sub(1);
        for number in [from, to].into_iter().flatten().map(|of| of.0) {
            let Passage { cells, lock, .. } = &mut passages[number];
            lock.last_moved = now;
            if cells.len() >= MIN_LOCKED_LENGTH || lock.is_anyone_waiting(now) {
                unit.clearing_steps = PRIORITY_STEPS_AFTER;
            }
        }
        let Some((number, along)) = to.filter(|to| from.is_none_or(|from| from.0 != to.0)) else {
            return;
        };
        let step_ticks = (unit.end.saturating_sub(unit.start) / SUBTICKS_PER_TICK).clamp(1, 255);
        if let Some(side) = passages[number].side(unit.tail, along) {
            let lock = &mut passages[number].lock;
            if lock.flow != side {
                lock.set_flow(side, now);
            }
            lock.batch += 1;
            (lock.last_entry, lock.step_ticks, lock.counted_at) = (now, step_ticks, 0);
        }
    }
}

impl Passages {
    /// Returns the passage that a step enters from outside, and at which side.
    pub fn entrance(&self, from: GridPos, to: GridPos) -> Option<(u32, usize)> {
        let here = self.passage_at(from).map(|of| of.0);
        let (number, at) = self.passage_at(to).filter(|of| Some(of.0) != here)?;
        Some((number, self[number].side(from, at)?))
    }

    /// Returns whether a passage admits a unit at one of its sides.
    pub fn may_enter(
        &mut self,
        board: &Board,
        number: u32,
        side: usize,
        records_wait: bool,
    ) -> bool {
        let now = board.now;
        let passage = &self[number];
        let length = passage.cells.len();
        if passage.lock.is_uncontrolled || length < MIN_LOCKED_LENGTH {
            return true;
        }
        let count = (passage.lock.counted_at != now + 1).then(|| self.count_inside(board, number));
        let lock = &mut self[number].lock;
        if let Some((inside, has_moved)) = count {
            (lock.inside, lock.counted_at) = (inside, now + 1);
            if has_moved {
                lock.last_moved = now;
            }
        }
        lock.admits(side, length, now, records_wait)
    }

    /// Counts the units in a passage by the side they head for, and returns whether one of them moves.
    fn count_inside(&self, board: &Board, number: u32) -> ([u32; 2], bool) {
        let (mut inside, mut has_moved) = ([0; 2], false);
        let passage = &self[number];
        for (along, &cell) in passage.cells.iter().enumerate() {
            let Some(unit) = board.owner(board.reservations.index(cell)) else {
                continue;
            };
            has_moved |= unit.state == State::Moving; // not: whether it would move, if a plan succeeds
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
fn exit_side(passages: &Passages, number: u32, unit: &Unit, along: usize) -> Option<usize> {
    let passage = &passages[number];
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
