//! Room for units: where one can be put, and what it takes and gives up of the board.
//!
//! Input: a unit and a cell. Output: its place there, or who or what is in the way.

use super::{
    Crowd, CrowdError, UnitId,
    board::Place,
    unit::{NONE, State, Unit},
};
use crate::nav::{cell::Cell, grid::NavGrid, terrain::ProfileId};

impl Crowd {
    /// The cell nearest to `cell`, at most `radius` columns and rows off, where a unit of `profile` could
    /// be put: `unit` itself, or a new one. On the island of `cell`, if that is passable. `None` where
    /// there is no room.
    #[must_use]
    pub fn nearest_room(
        &self,
        grid: &NavGrid,
        (cell, profile): (Cell, ProfileId),
        unit: Option<UnitId>,
        radius: u32,
    ) -> Option<Cell> {
        let index = unit.map_or(NONE, |unit| unit.index);
        let island = grid.island(profile, cell);
        let has_room = |&at: &Cell| {
            (island.is_none() || grid.island(profile, at) == island)
                && self.room(grid, profile, index, at).is_ok()
        };
        (0..=radius as i32).find_map(|reach| {
            let ring = (-reach..=reach).flat_map(move |dy| {
                (-reach..=reach)
                    .filter(move |dx| dx.abs().max(dy.abs()) == reach)
                    .map(move |dx| (dx, dy))
            });
            let cells = ring.map(|(dx, dy)| (dx * dx + dy * dy, cell.offset(dx, dy)));
            let free = cells.filter(|(_, at)| has_room(at));
            free.min_by_key(|&(distance, at)| (distance, at.y, at.x)).map(|(_, at)| at)
        })
    }

    /// Whether this is the grid that the crowd was made for, as far as its size tells.
    pub(super) fn check_size(&self, grid: &NavGrid) -> Result<(), CrowdError> {
        let is_same = (grid.width(), grid.height()) == self.size;
        if is_same { Ok(()) } else { Err(CrowdError::OtherGrid) }
    }

    /// The place of a cell where a unit of a profile can stand among the others: the unit with this index, or
    /// a new one.
    pub(super) fn room(
        &self,
        grid: &NavGrid,
        profile: ProfileId,
        index: u32,
        cell: Cell,
    ) -> Result<Place, CrowdError> {
        let place = self.ground(grid, profile, cell)?;
        let size = grid.unit_size(profile) as usize;
        let is_held = |&at: &u32| {
            let hold = self.board.hold(at);
            hold.owner != NONE && (hold.owner != index || hold.heir != NONE)
        };
        match self.board.block(place, size as u8).position(|at| is_held(&at)) {
            Some(at) => Err(CrowdError::Held(cell.offset((at % size) as i32, (at / size) as i32))),
            None => Ok(place),
        }
    }

    /// The place of a cell that is passable for a profile, occupied or not.
    pub(super) fn ground(
        &self,
        grid: &NavGrid,
        profile: ProfileId,
        cell: Cell,
    ) -> Result<Place, CrowdError> {
        self.check_size(grid)?;
        let place = Place::of(grid, cell).filter(|_| grid.cost(profile, cell) > 0);
        place.ok_or(CrowdError::Impassable(cell))
    }

    /// Puts a unit on a place of this size at once.
    pub(super) fn put_on(&mut self, index: u32, place: Place, size: u8) {
        self.leave_place(index);
        let Unit { errand, tail, .. } = self.units[index as usize];
        self.move_member(errand, tail, -1);
        self.move_member(errand, place, 1);
        let unit = &mut self.units[index as usize];
        (unit.tail, unit.head, unit.size, unit.state) = (place, place, size, State::Standing);
        (unit.is_pushed, unit.is_misfit) = (false, false);
        self.take_place(index);
        self.call_soon(index);
    }

    pub(super) fn take_place(&mut self, index: u32) {
        let unit = self.units[index as usize];
        if !unit.is_ghost {
            for cell in self.board.block(unit.tail, unit.size) {
                self.board.hold_mut(cell).owner = index;
            }
            self.board.stand(unit.tail, unit.size, true);
        }
    }

    /// Gives up every cell that a unit holds or is to have.
    pub(super) fn leave_place(&mut self, index: u32) {
        let unit = self.units[index as usize];
        self.wheel.take_out(index);
        self.board.listen(unit.tail, unit.size, false);
        if unit.reserves != NONE {
            self.board.hold_mut(unit.reserves).heir = NONE;
            self.units[index as usize].reserves = NONE;
        }
        if unit.is_ghost {
            return;
        }
        self.board.stand(unit.tail, unit.size, false);
        for place in [unit.tail, unit.head] {
            for cell in self.board.block(place, unit.size) {
                let hold = self.board.hold_mut(cell);
                if hold.owner == index {
                    self.release(cell);
                } else if hold.heir == index {
                    hold.heir = NONE;
                }
            }
        }
        self.wake_around_tail(index);
    }
}
