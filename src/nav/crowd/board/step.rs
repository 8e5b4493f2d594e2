//! How steps begin and end.
//!
//! Input: units that are planned to make a step. Output: moving units, each
//! with the time at which it arrives; later the cells they leave go to their next owners. The duration of a step
//! follows from its cost and the unit's speed.

use super::{
    Board, Hindrance, LONGEST_STEP, NONE, Reservation, SUBTICKS_PER_TICK, State, StepCosts, Unit,
};
use crate::nav::{NavGrid, walk::PROGRESS_PER_COST};

impl Board {
    /// Begins the planned step of a unit.
    pub fn begin_step(&mut self, grid: &NavGrid, index: u32) {
        let now = self.now;
        let unit = &self.units[index];
        let costs = StepCosts::of(grid, unit.profile);
        let cost = costs.map_or(1, |costs| costs.step(unit.tail, unit.direction));
        let work = cost * PROGRESS_PER_COST;
        let needed = (work * SUBTICKS_PER_TICK).checked_div(unit.speed).unwrap_or(LONGEST_STEP);
        let free_since = self.free_since(index);
        self.stop_waiting(index);
        let unit = &mut self.units[index];
        // The step may use the whole tick, or what the last step left of it, but only the time for which the
        // cells it enters were free.
        let is_continuing = unit.standing_since == now as u32;
        if !is_continuing {
            self.moved.push(index);
        }
        let ready = if is_continuing { unit.end } else { (now - 1) * SUBTICKS_PER_TICK };
        unit.start = ready.max(free_since);
        unit.end = (unit.start + needed.min(LONGEST_STEP)).max((now + 1) * SUBTICKS_PER_TICK);
        unit.state = State::Moving;
        self.density.relocate(unit.tail, unit.head);
        unit.is_reported_stuck = false;
        unit.hindrance = Hindrance::None;
        (unit.accepts_any_push, unit.stands_back) = (false, false);
        self.counters.steps += 1;
    }

    /// Returns since when no unit has blocked a step that is about to begin; 0 if none did during the whole
    /// tick.
    fn free_since(&self, index: u32) -> u64 {
        let Unit { tail, size, direction, .. } = self.units[index];
        let (reservations, departures) = (&self.reservations, &self.departures);
        if size > 1 {
            let cells = reservations.entered(tail, size, direction).iter();
            let since = cells.map(|cell| departures.free_since(self.topology, (cell, direction)));
            return since.max().unwrap_or(0);
        }
        let neighbor = |side: u8| reservations.beside(tail, side);
        let since = departures.free_since(self.topology, (neighbor(direction), direction));
        if !self.topology.is_diagonal(direction) {
            return since;
        }
        let a = departures.left_along(neighbor(direction + 7), direction + 2);
        let b = departures.left_along(neighbor(direction + 1), direction + 6);
        since.max(a).max(b)
    }

    /// Ends a step: the cells left behind go to their next owners.
    pub fn end_step(&mut self, index: u32, reservation: Reservation) {
        let Unit { tail, head, size, direction, end, .. } = self.units[index];
        if size == 1 && reservation.next_owner == NONE {
            let cell = self.reservations.index(tail);
            self.departures.record(cell, direction, end);
            self.reservations.get_mut(cell).owner = NONE;
        } else {
            for cell in self.reservations.vacated(tail, size, direction).iter() {
                self.departures.record(cell, direction, end);
                self.release(cell);
            }
        }
        let now = self.tick_stamp();
        let unit = &mut self.units[index];
        (unit.tail, unit.state) = (head, State::Standing);
        (unit.waiting_since, unit.standing_since) = (now, now);
        self.reservations.set_standing(head, size, true);
        self.wake_around(tail, head, size);
    }

    /// Gives a cell to its next owner. If that unit is not entering the cell, but had it reserved, the cell
    /// becomes free and the unit is decided again.
    pub fn release(&mut self, cell: u32) {
        let next_owner = self.reservations.get(cell).next_owner;
        let mut owner = NONE;
        if let Some(unit) = self.units.get_mut(next_owner) {
            if unit.reserved_cell == cell {
                unit.reserved_cell = NONE;
                self.mark_ready(next_owner);
            } else {
                owner = next_owner;
            }
        }
        *self.reservations.get_mut(cell) = Reservation { owner, next_owner: NONE };
    }
}
