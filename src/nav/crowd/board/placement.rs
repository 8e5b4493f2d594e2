//! Where a unit can be put, and which cells it occupies and vacates.
//!
//! Input: a unit and a cell. Output: its position there, or what prevents it. Units whose profile has changed its size
//! are placed on the nearest position with room for them. Until there is one, such a unit stays as it was, cannot move,
//! and cannot be pushed ([`Hindrance::NoRoom`](super::Hindrance::NoRoom)).

use super::{
    Board, CrowdError, GridPos, MAX_UNIT_SIZE, Mode, NONE, RETRY_AFTER, STAY, State, Unit, UnitId,
    unit_sizes,
};
use crate::nav::{Cell, NavGrid, ProfileId, Topology};

/// Maximum distance, in steps over open terrain, at which a resized unit is put from its position.
const MAX_DISTANCE: u32 = 16;
/// Units that wait for room, from which on they try less often.
const MANY_WAITING: usize = 1_024;

/// Returns the nearest cell that is free, at most `radius` steps over open terrain from `cell`.
pub fn nearest_cell(
    topology: Topology,
    cell: Cell,
    radius: u32,
    is_free: impl Fn(&Cell) -> bool,
) -> Option<Cell> {
    (0..=radius as i32).find_map(|distance| {
        let cells = topology.cells_around(cell, distance..=distance);
        let free = cells.filter(|(_, at)| is_free(at));
        free.min_by_key(|&(square, at)| (square, at.y, at.x)).map(|(_, at)| at)
    })
}

/// Returns the ticks between two attempts to find room, where so many units wait for some: twice as many for each doubling, so
/// that a tick makes only so many attempts. Powers of two: what is due after a long pause is also due after a short one.
pub fn retry_pause(waiting: usize) -> u64 {
    RETRY_AFTER * waiting.div_ceil(MANY_WAITING).max(1).next_power_of_two() as u64
}

impl Board {
    /// Returns the cell nearest to `cell`, at most `radius` steps over open terrain away, where a unit of `profile`
    /// could be put: `unit` itself, or a new one. If `cell` is passable, only cells of its connected region
    /// count. `None` if there is no room.
    pub fn nearest_free_cell(
        &self,
        grid: &NavGrid,
        (cell, profile): (Cell, ProfileId),
        unit: Option<UnitId>,
        radius: u32,
    ) -> Option<Cell> {
        let index = unit.and_then(|unit| self.find(unit).ok()).unwrap_or(NONE);
        let region = grid.region(profile, cell);
        let is_free = |&at: &Cell| {
            (region.is_none() || grid.region(profile, at) == region)
                && self.check_free(grid, profile, index, at).is_ok()
        };
        nearest_cell(grid.topology(), cell, radius, is_free)
    }

    /// Checks that a grid has the size and the shape of cells of the grid for which the crowd was made.
    pub fn check_size(&self, grid: &NavGrid) -> Result<(), CrowdError> {
        let is_same =
            (grid.width(), grid.height()) == self.size && grid.topology() == self.topology;
        if is_same { Ok(()) } else { Err(CrowdError::OtherGrid) }
    }

    /// Returns the position of a cell where a unit of a profile can stand among the others: the unit with
    /// this index, or a new one for [`NONE`].
    pub fn check_free(
        &self,
        grid: &NavGrid,
        profile: ProfileId,
        index: u32,
        cell: Cell,
    ) -> Result<GridPos, CrowdError> {
        self.check_size(grid)?;
        let pos = GridPos::of(grid, cell).filter(|_| grid.region(profile, cell).is_some());
        let pos = pos.ok_or(CrowdError::Impassable(cell))?;
        let (size, footprint) = (grid.unit_size(profile) as u8, grid.footprint(profile));
        let is_held = |&at: &u32| {
            let reservation = self.reservations.get(at);
            reservation.owner != NONE
                && (reservation.owner != index || reservation.next_owner != NONE)
        };
        let mut cells = self.reservations.block(pos, size).zip(footprint.offsets());
        match cells.find(|(at, _)| is_held(at)) {
            Some((_, (columns, rows))) => Err(CrowdError::Held(cell.offset(columns, rows))),
            None => Ok(pos),
        }
    }

    /// Puts a unit at a position immediately, with a new size.
    pub fn put_at(&mut self, index: u32, pos: GridPos, size: u8) {
        self.vacate(index);
        let unit = &mut self.units[index];
        (unit.tail, unit.head, unit.size, unit.state) = (pos, pos, size, State::Standing);
        (unit.pushed_steps, unit.needs_refit, unit.is_reported_stuck) = (0, false, false);
        // What it did at its old position does not count here.
        (unit.clearing_steps, unit.standing_since) = (0, self.now as u32);
        (unit.accepts_any_push, unit.stands_back, unit.preferred_direction) = (false, false, STAY);
        self.occupy(index);
        self.schedule_next_tick(index);
    }

    /// Makes a unit the owner of the cells on which it stands.
    pub fn occupy(&mut self, index: u32) {
        let unit = self.units[index];
        if self.unit_sizes.get(usize::from(unit.profile.0)) != Some(&unit.size) {
            self.unit_sizes.clear(); // profiles have changed since the last tick, and may change back before the next
        }
        for cell in self.reservations.block(unit.tail, unit.size) {
            self.reservations.get_mut(cell).owner = index;
        }
        self.reservations.set_standing(unit.tail, unit.size, true);
        self.density.add(unit.head);
    }

    /// Releases every cell of which a unit is the owner or the next owner.
    pub fn vacate(&mut self, index: u32) {
        let unit = self.units[index];
        self.density.remove(unit.head);
        self.timers.remove(index);
        self.reservations.set_listening(unit.tail, unit.size, false);
        if unit.reserved_cell != NONE {
            self.reservations.get_mut(unit.reserved_cell).next_owner = NONE;
            self.units[index].reserved_cell = NONE;
        }
        self.reservations.set_standing(unit.tail, unit.size, false);
        for pos in [unit.tail, unit.head] {
            for cell in self.reservations.block(pos, unit.size) {
                let reservation = self.reservations.get_mut(cell);
                if reservation.owner == index {
                    self.release(cell);
                } else if reservation.next_owner == index {
                    reservation.next_owner = NONE;
                }
            }
        }
        self.wake_around(unit.tail, unit.head, unit.size);
    }

    /// Returns whether a trapped unit is outside by now; if so, it follows its order again.
    pub fn free_if_outside(&mut self, grid: &NavGrid, index: u32) -> bool {
        let unit = &self.units[index];
        let is_out = grid.cost(unit.profile, unit.tail.cell(grid)) > 0;
        if is_out {
            self.units[index].mode = Mode::Normal;
            self.freed.push(index);
            self.schedule_next_tick(index);
        }
        is_out
    }

    /// Finds the units whose profile has another size than in the previous tick, and puts all units that wait
    /// for room where they fit, as far as there is room.
    pub fn refit_units(&mut self, grid: &NavGrid) {
        let sizes = unit_sizes(grid);
        if !sizes.clone().eq(self.unit_sizes.iter().copied()) {
            self.unit_sizes.clear();
            self.unit_sizes.extend(sizes);
            for index in 0..self.units.0.len() as u32 {
                let unit = &mut self.units[index];
                let is_known = check_profile(grid, unit.profile).is_ok();
                let has_changed = u32::from(unit.size) != grid.unit_size(unit.profile);
                if unit.is_present()
                    && (is_known && has_changed)
                    && !core::mem::replace(&mut unit.needs_refit, true)
                    && !self.refit(grid, index)
                {
                    self.pending_refits.push(index);
                }
            }
        }
        let mut pending = core::mem::take(&mut self.pending_refits);
        let pause = retry_pause(pending.len());
        pending.retain(|&index| {
            let is_due = (self.now + u64::from(index)).is_multiple_of(pause);
            self.units[index].needs_refit && !(is_due && self.refit(grid, index))
        });
        self.pending_refits = pending;
    }

    /// Puts a unit where it fits; returns whether there is such a position.
    fn refit(&mut self, grid: &NavGrid, index: u32) -> bool {
        let Unit { tail, head, profile, .. } = self.units[index];
        if check_profile(grid, profile).is_err() {
            return false;
        }
        let size = grid.unit_size(profile) as u8;
        let target = (head.cell(grid), profile);
        let found = self.nearest_free_cell(grid, target, Some(self.id(index)), MAX_DISTANCE);
        let unit = &self.units[index];
        // If no other cell is free, a standing unit that shrinks still fits where it is.
        let shrinks = size <= unit.size && !unit.is_moving();
        let found = found.and_then(|cell| GridPos::of(grid, cell)).or(shrinks.then_some(tail));
        if let Some(pos) = found {
            self.put_at(index, pos, size);
            self.moved.push(index);
        }
        found.is_some()
    }
}

/// Checks that units of a profile can be part of a crowd on this grid.
pub fn check_profile(grid: &NavGrid, profile: ProfileId) -> Result<(), CrowdError> {
    let is_known = usize::from(profile.0) < grid.profiles().len();
    let fits = is_known && grid.unit_size(profile) <= MAX_UNIT_SIZE;
    if fits { Ok(()) } else { Err(CrowdError::Profile) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every 16 ticks, less often if more than 1,024 wait: no tick makes more than about that many attempts.
    #[test]
    fn where_many_wait_they_try_less_often() {
        let pauses = [0, 1, 1_024, 1_025, 2_048, 2_049, 8_192].map(retry_pause);
        assert_eq!(pauses, [16, 16, 16, 32, 32, 64, 128]);
        for waiting in (0..40_000).step_by(97) {
            let attempts = waiting as u64 / retry_pause(waiting);
            assert!(attempts <= MANY_WAITING as u64 / RETRY_AFTER, "{waiting}: {attempts} a tick");
        }
    }
}
