//! Claims on cells for a plan, which are undone if the plan fails.
//!
//! Input: the unit on top of the stack and a direction. Output: the cells it would enter, claimed and logged,
//! and the units that must make room first; or why the step is impossible. The unit becomes the owner of a
//! free cell immediately. Of a cell that another unit is leaving, or must leave first, it becomes the next
//! owner.

use super::{Planner, reclaim::yields_to_returning};
use crate::nav::crowd::board::{
    Board, CellList, GridPos, Hindrance, NONE, Reservation, Rung, SUBTICKS_PER_TICK, State, Unit,
};

/// A unit may be bound to the step of another unit for this many ticks, or for as long as so many of its own steps take.
const LONG_STEP: u64 = 256;
const MOST_STEPS_BEHIND: u64 = 32;

/// An entry of the log; can be undone.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Claim {
    /// A unit became the owner of this cell.
    Owner(u32),
    /// A unit became the next owner of this cell.
    NextOwner(u32),
    /// This unit is planned to make a step.
    Step(u32),
}

impl Claim {
    pub fn undo(self, board: &mut Board) {
        match self {
            Self::Owner(cell) => board.reservations.get_mut(cell).owner = NONE,
            Self::NextOwner(cell) => board.reservations.get_mut(cell).next_owner = NONE,
            Self::Step(unit) => cancel_step(board, unit),
        }
    }
}

impl Planner {
    /// Claims the cells that the top frame's unit enters in a direction. Returns the units that stand there.
    pub fn claim_step(&mut self, board: &mut Board, direction: u8) -> Result<CellList, Hindrance> {
        let (root, top) = (self.stack[0].unit, self.stack.len() - 1);
        let (index, mark) = (self.stack[top].unit, self.log.len());
        let Unit { tail, size, .. } = board.units[index];
        self.stack[top].log_mark = mark;
        let mut blockers = CellList::default();
        if size == 1 && is_crossed(board, tail, direction) {
            return Err(Hindrance::Queue);
        }
        for cell in board.reservations.entered(tail, size, direction).iter() {
            match availability(board, (index, root, self.reclaims_goal), (direction, cell)) {
                Ok(other) => {
                    self.claim(board, index, cell);
                    if other != NONE && !blockers.as_slice().contains(&other) {
                        blockers.push(other);
                    }
                }
                Err((hindrance, other)) => {
                    if other != NONE && !board.units[other].is_moving() {
                        board.units[other].wake_also = root;
                        board.update_listening(other);
                    }
                    self.undo_to(board, mark);
                    return Err(hindrance);
                }
            }
        }
        if size > 1 && !self.are_kept_cells_unclaimed(board, top, direction) {
            self.undo_to(board, mark);
            return Err(Hindrance::Queue);
        }
        self.plan_step(board, index, direction);
        Ok(blockers)
    }

    /// Returns whether no unit is the next owner of a cell that a large unit covers both before and after a
    /// step. If the unit sidesteps, the claims of its pusher do not count: the pusher drops them then.
    fn are_kept_cells_unclaimed(&self, board: &Board, top: usize, direction: u8) -> bool {
        let frame = &self.stack[top];
        let Unit { tail, size, .. } = board.units[frame.unit];
        let pusher = top.checked_sub(1).filter(|_| frame.is_sidestepping);
        let pusher = pusher.map_or(NONE, |pusher| self.stack[pusher].unit);
        let head = tail.step(direction);
        board
            .reservations
            .block(head, size)
            .filter(|&cell| board.reservations.covers(tail, size, cell))
            .all(|cell| [NONE, pusher].contains(&board.reservations.get(cell).next_owner))
    }

    /// Makes a unit the owner of a free cell, or the next owner of another.
    pub fn claim(&mut self, board: &mut Board, index: u32, cell: u32) {
        let reservation = board.reservations.get_mut(cell);
        if reservation.owner == NONE {
            reservation.owner = index;
            self.log.push(Claim::Owner(cell));
        } else {
            reservation.next_owner = index;
            self.log.push(Claim::NextOwner(cell));
        }
    }

    /// Undoes everything logged after `mark`.
    pub fn undo_to(&mut self, board: &mut Board, mark: usize) {
        self.log.drain(mark..).rev().for_each(|claim| claim.undo(board));
    }
}

/// Lets a unit that was planned to step stand again.
pub fn cancel_step(board: &mut Board, index: u32) {
    let unit = &mut board.units[index];
    unit.head = unit.tail;
    if let State::Planned { was_waiting } = unit.state {
        unit.state = if was_waiting { State::Waiting } else { State::Standing };
    }
    board.reservations.set_standing(unit.tail, unit.size, true);
}

/// Returns whether a unit crosses a diagonal step in the same block of 2 × 2 cells.
pub fn is_crossed(board: &Board, tail: GridPos, direction: u8) -> bool {
    let (a, b) = (tail.step(direction + 7), tail.step(direction + 1));
    let leads = |from: GridPos, to: GridPos| {
        board.owner(board.reservations.index(from)).is_some_and(|other| {
            other.is_moving() && other.size == 1 && other.tail == from && other.head == to
        })
    };
    board.topology.is_diagonal(direction) && (leads(a, b) || leads(b, a))
}

/// Returns whether a direction may be a diagonal that is crossed: a unit that steps between the two cells
/// beside the diagonal holds both. Computed without a branch, because whether a direction is diagonal
/// cannot be predicted.
#[inline(always)]
pub fn may_be_crossed(board: &Board, tail: GridPos, direction: u8) -> bool {
    let cell = board.reservations.index(tail);
    let a = board.reservations.get(board.reservations.neighbor(cell, direction + 7));
    let b = board.reservations.get(board.reservations.neighbor(cell, direction + 1));
    let holds = |owner: u32, to: Reservation| {
        (owner != NONE) & ((to.owner == owner) | (to.next_owner == owner))
    };
    board.topology.is_diagonal(direction) & (holds(a.owner, b) | holds(b.owner, a))
}

/// Returns whether a unit may step in a direction into a cell: its owner is leaving, in a direction that differs by no more than a
/// right angle. Not if the step of the owner takes many times as long as its own: its step would last until the owner is gone.
pub fn may_follow(board: &Board, (index, owner): (u32, u32), (cell, direction): (u32, u8)) -> bool {
    let other = &board.units[owner];
    let ticks_left = || other.end.div_ceil(SUBTICKS_PER_TICK).saturating_sub(board.now);
    other.is_moving()
        && board.topology.turn_angle(other.direction, direction) <= 2
        && !board.reservations.covers(other.head, other.size, cell)
        && !is_long(ticks_left(), &board.units[index])
}

/// Returns whether a pushed unit takes many times as long for a step as its pusher. If so, the pusher follows later.
pub fn is_much_slower(unit: &Unit, pusher: &Unit) -> bool {
    is_long(unit.ticks_per_cell(), pusher)
}

/// Returns whether this many ticks are too long for a unit to be bound.
fn is_long(ticks: u64, unit: &Unit) -> bool {
    ticks > LONG_STEP && ticks / MOST_STEPS_BEHIND > unit.ticks_per_cell()
}

/// Returns which standing unit must be pushed so that a unit can enter a cell in a direction: [`NONE`] if the cell is
/// free, or its owner is leaving and the unit may follow. If the unit cannot have the cell, returns the reason and the
/// standing unit responsible, or [`NONE`]. `reclaims_goal` is about the root.
fn availability(
    board: &Board,
    (index, root, reclaims_goal): (u32, u32, bool),
    (direction, cell): (u8, u32),
) -> Result<u32, (Hindrance, u32)> {
    let Reservation { owner, next_owner } = board.reservations.get(cell);
    if owner == NONE || next_owner == NONE && may_follow(board, (index, owner), (cell, direction)) {
        return Ok(NONE);
    }
    let other = &board.units[owner];
    if next_owner != NONE || other.is_moving() {
        return Err((Hindrance::Queue, NONE));
    }
    let (unit, root_unit) = (&board.units[index], &board.units[root]);
    if !other.is_pushable_by(unit.team) {
        return Err((Hindrance::Obstacle, owner));
    }
    if root_unit.is_returning() && !yields_to_returning(board, (root, reclaims_goal), owner) {
        return Err((Hindrance::Queue, owner));
    }
    let has_lower_priority =
        reclaims_goal || other.accepts_any_push || other.priority(owner) > root_unit.priority(root);
    if !has_lower_priority
        || other.stay_tick == board.tick_stamp()
        || root_unit.yields_to() == NONE
            && !board.has_waited_for(root, Rung::GoAround)
            && other.stands_its_ground(board.topology, (root_unit, direction), board.now)
    {
        return Err((Hindrance::Queue, owner));
    }
    Ok(owner)
}
