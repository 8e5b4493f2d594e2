//! Cells claimed for a plan, and given back if it leads nowhere.
//!
//! Input: a unit on top of the stack and a way. Output: the cells it would enter, claimed and logged, and
//! those units which must make room first; or why not. A cell that is free is owned at once; one that
//! somebody leaves, or shall leave, has an heir.

use super::{
    Crowd, Hindrance,
    board::{Few, Hold, Place, is_diagonal, turn},
    unit::{NONE, State, Unit},
};

/// A claim that can be undone.
#[derive(Clone, Copy, Debug)]
pub(super) enum Claim {
    Owned(u32),
    Inherits(u32),
    Moves(u32),
}

/// What became of a claim for one cell.
enum Answer {
    Free,
    Follow,
    Push(u32),
    No(Hindrance, u32),
}

impl Crowd {
    /// Claims the cells that the top frame's unit enters on a way, and tells who stands on them.
    pub(super) fn claim_way(&mut self, top: usize, root: u32, way: u8) -> Result<Few, Hindrance> {
        let index = self.stack[top].unit;
        let unit = &self.units[index as usize];
        let (tail, size, is_ghost) = (unit.tail, unit.size, unit.is_ghost);
        let mark = self.log.len();
        self.stack[top].mark = mark;
        let mut blockers = Few::default();
        if !is_ghost {
            if is_diagonal(way) && size == 1 && self.is_crossed(tail, way) {
                return Err(Hindrance::Queue);
            }
            for &cell in self.board.entered(tail, size, way).as_slice() {
                if let Err(hindrance) = self.claim_cell(index, root, (way, cell), &mut blockers) {
                    self.undo_to(mark);
                    return Err(hindrance);
                }
            }
            if size > 1 && !self.keeps_only_its_own(top, way) {
                self.undo_to(mark);
                return Err(Hindrance::Queue);
            }
        }
        self.set_out(index, way);
        Ok(blockers)
    }

    /// Whether nobody is to inherit a cell that a large unit covers before and after a step; whoever
    /// pushes it gives up its claim where it only gives way.
    fn keeps_only_its_own(&self, top: usize, way: u8) -> bool {
        let frame = &self.stack[top];
        let Unit { tail, size, .. } = self.units[frame.unit as usize];
        let pusher = top.checked_sub(1).filter(|_| frame.is_giving_way);
        let pusher = pusher.map_or(NONE, |pusher| self.stack[pusher].unit);
        let head = tail.step(way);
        self.board
            .block(head, size)
            .filter(|&cell| self.board.covers(tail, size, cell))
            .all(|cell| [NONE, pusher].contains(&self.board.hold(cell).heir))
    }

    /// Whether somebody crosses this diagonal in the same block of 2 × 2 cells.
    pub(super) fn is_crossed(&self, tail: Place, way: u8) -> bool {
        let (a, b) = (tail.step(way + 7), tail.step(way + 1));
        let leads = |from: Place, to: Place| {
            let owner = self.board.hold(self.board.index(from)).owner;
            self.units.get(owner as usize).is_some_and(|other| {
                other.is_moving() && other.size == 1 && other.tail == from && other.head == to
            })
        };
        leads(a, b) || leads(b, a)
    }

    /// Whether a way may be a diagonal that is crossed: whoever goes from one cell beside it to the other
    /// holds both. Told without a branch, as nobody can foresee whether a way is diagonal.
    #[inline(always)]
    pub(super) fn may_be_crossed(&self, tail: Place, way: u8) -> bool {
        let cell = self.board.index(tail);
        let a = self.board.hold(self.board.beside(cell, way + 7));
        let b = self.board.hold(self.board.beside(cell, way + 1));
        let holds =
            |owner: u32, to: Hold| (owner != NONE) & ((to.owner == owner) | (to.heir == owner));
        is_diagonal(way) & (holds(a.owner, b) | holds(b.owner, a))
    }

    fn claim_cell(
        &mut self,
        index: u32,
        root: u32,
        (way, cell): (u8, u32),
        blockers: &mut Few,
    ) -> Result<(), Hindrance> {
        match self.ask_for_cell(index, root, way, cell) {
            Answer::Free => {
                self.board.hold_mut(cell).owner = index;
                self.log.push(Claim::Owned(cell));
            }
            Answer::Follow => {
                self.board.hold_mut(cell).heir = index;
                self.log.push(Claim::Inherits(cell));
            }
            Answer::Push(other) => {
                self.board.hold_mut(cell).heir = index;
                self.log.push(Claim::Inherits(cell));
                if !blockers.as_slice().contains(&other) {
                    blockers.push(other);
                }
            }
            Answer::No(hindrance, other) => {
                if other != NONE && !self.units[other as usize].is_moving() {
                    self.units[other as usize].wakes = root;
                    self.listen(other);
                }
                return Err(hindrance);
            }
        }
        Ok(())
    }

    /// Whether a unit may have a cell that it would enter on a way.
    fn ask_for_cell(&self, index: u32, root: u32, way: u8, cell: u32) -> Answer {
        let hold = self.board.hold(cell);
        if hold.owner == NONE {
            return Answer::Free;
        }
        if hold.heir != NONE {
            return Answer::No(Hindrance::Queue, NONE);
        }
        let other = &self.units[hold.owner as usize];
        if other.is_moving() {
            let is_leaving = !self.board.covers(other.head, other.size, cell);
            return if is_leaving && turn(other.direction, way) <= 2 {
                Answer::Follow
            } else {
                Answer::No(Hindrance::Queue, NONE)
            };
        }
        let (unit, first) = (&self.units[index as usize], &self.units[root as usize]);
        if !other.gives_way_to(unit.team) {
            return Answer::No(Hindrance::Obstacle, hold.owner);
        }
        if first.is_back_only() && !self.makes_way_back(root, hold.owner) {
            return Answer::No(Hindrance::Queue, hold.owner);
        }
        let comes_later = other.yields || other.turn(hold.owner) > first.turn(root);
        if !comes_later || other.settled_in == self.stamp() {
            return Answer::No(Hindrance::Queue, hold.owner);
        }
        Answer::Push(hold.owner)
    }

    /// Whether a unit makes way for one that only goes back to its goal: as long as neither has tried often
    /// enough, one that is on its way back itself does; one at rest only where the goal is free and shut in.
    fn makes_way_back(&self, root: u32, other: u32) -> bool {
        let (first, other_unit) = (&self.units[root as usize], &self.units[other as usize]);
        if !other_unit.is_back_only() || other_unit.has_given_up() {
            return false;
        }
        let goal = self.ways[root as usize].goal;
        let is_free = |cell: u32| [NONE, root].contains(&self.board.hold(cell).owner);
        // A unit that has grown since may not fit there any more.
        let fits = |at: u16, side: u32| u32::from(at) + u32::from(first.size) <= side;
        let is_on_grid = fits(goal.x, self.size.0) && fits(goal.y, self.size.1);
        let is_shut_out = || {
            is_on_grid && !first.has_given_up() && self.board.block(goal, first.size).all(is_free)
        };
        !self.is_at_end(other) || is_shut_out()
    }

    /// Takes back everything logged after `mark`.
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some(Claim::Owned(cell)) => self.board.hold_mut(cell).owner = NONE,
                Some(Claim::Inherits(cell)) => self.board.hold_mut(cell).heir = NONE,
                Some(Claim::Moves(unit)) => self.stand_again(unit),
                None => return,
            }
        }
    }

    pub(super) fn stand_again(&mut self, index: u32) {
        let unit = &mut self.units[index as usize];
        unit.head = unit.tail;
        unit.state = State::Standing;
        if let Some(at) = self.waiting_before.iter().rposition(|&unit| unit == index) {
            self.waiting_before.swap_remove(at);
            unit.state = State::Waiting;
        }
        if !unit.is_ghost {
            self.board.stand(unit.tail, unit.size, true);
        }
    }
}
