//! How steps begin and end.
//!
//! Input: units that are planned to make a step (see [`commit`](super::planner::commit)). Output: moving units, each
//! with the time at which it arrives; later the cells they leave go to their next owners. The duration of a step
//! follows from its cost and the unit's speed.

use super::{
    Crowd, Hindrance,
    guidance::World,
    reservations::{CellList, GridPos, Reservation, is_diagonal},
    step_costs::StepCosts,
    timer_wheel::{LONGEST_STEP, SUBTICKS_PER_TICK},
    unit::{NONE, State, Unit},
};
use crate::nav::{
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
    walk::PROGRESS_PER_COST,
};

impl Crowd {
    /// Begins the planned step of a unit.
    pub(super) fn begin_step<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let now = self.now;
        let unit = &self.units[index as usize];
        let sum = match self.neighbor_costs(index) {
            Some(costs) if costs.cell_cost > 0 => 2 * costs.cell_cost,
            _ => world.grid.layer(ProfileId(unit.profile)).map_or(1, |layer| {
                let terrain = StepCosts::new(layer, world.grid.terrain_bytes());
                terrain.cost(unit.tail) + terrain.cost(unit.head)
            }),
        };
        let weight = if is_diagonal(unit.direction) { DIAGONAL } else { STRAIGHT };
        let work = u64::from(weight) * sum * PROGRESS_PER_COST;
        let needed = (work * SUBTICKS_PER_TICK).checked_div(unit.speed).unwrap_or(LONGEST_STEP);
        let free_since = self.free_since(index);
        self.stop_waiting(index);
        let unit = &mut self.units[index as usize];
        // It uses the whole tick, or what its last step left of it, as far as the cells it enters were free.
        let is_continuing = unit.spare_tick == now as u32;
        if !is_continuing {
            self.moved.push(index);
        }
        let spare = if is_continuing {
            u64::from(unit.spare_subticks).min(SUBTICKS_PER_TICK)
        } else {
            SUBTICKS_PER_TICK
        };
        unit.start = (now * SUBTICKS_PER_TICK - spare).max(free_since);
        unit.end = (unit.start + needed.min(LONGEST_STEP)).max((now + 1) * SUBTICKS_PER_TICK);
        unit.state = State::Moving;
        self.density.relocate(unit.tail, unit.head);
        unit.is_reported_stuck = false;
        unit.hindrance = Hindrance::None;
        (unit.accepts_any_push, unit.stands_back) = (false, false);
        self.counters.steps += 1;
        self.note_passage(index);
    }

    /// Returns since when no unit has blocked a step that is about to begin; 0 if none did during the whole
    /// tick.
    fn free_since(&self, index: u32) -> u64 {
        let Unit { tail, size, direction, .. } = self.units[index as usize];
        let (reservations, departures) = (&self.reservations, &self.departures);
        if size > 1 {
            let entered = reservations.entered(tail, size, direction);
            let cells = entered.as_slice().iter();
            return cells.map(|&cell| departures.free_since(cell, direction)).max().unwrap_or(0);
        }
        let neighbor = |side: u8| reservations.neighbor(reservations.index(tail), side);
        let since = departures.free_since(neighbor(direction), direction);
        if !is_diagonal(direction) {
            return since;
        }
        let a = departures.left_along(neighbor(direction + 7), direction + 2);
        let b = departures.left_along(neighbor(direction + 1), direction + 6);
        since.max(a).max(b)
    }

    /// Ends a step: the cells left behind go to their next owners.
    pub(super) fn end_step(&mut self, index: u32, reservation: Reservation) {
        let unit = &self.units[index as usize];
        let (direction, end) = (unit.direction, unit.end);
        if unit.size == 1 && reservation.next_owner == NONE {
            let cell = self.reservations.index(unit.tail);
            self.departures.record(cell, direction, end);
            self.reservations.get_mut(cell).owner = NONE;
        } else {
            let left: CellList = self.reservations.vacated(unit.tail, unit.size, direction);
            for &cell in left.as_slice() {
                self.departures.record(cell, direction, end);
                self.release(cell);
            }
        }
        let now = self.now;
        let unit = &mut self.units[index as usize];
        let (tail, head) = (unit.tail, unit.head);
        unit.tail = head;
        unit.state = State::Standing;
        unit.spare_subticks = (now * SUBTICKS_PER_TICK).saturating_sub(unit.end) as u32;
        unit.spare_tick = now as u32;
        (unit.waiting_since, unit.standing_since) = (now as u32, now as u32);
        let size = unit.size;
        self.reservations.set_standing(head, size, true);
        self.wake_around(tail, head, size);
    }

    /// Gives a cell to its next owner. If that unit is not entering the cell, but had it reserved, the cell
    /// becomes free and the unit is decided again.
    pub(super) fn release(&mut self, cell: u32) {
        let next_owner = self.reservations.get(cell).next_owner;
        let mut owner = NONE;
        if let Some(unit) = self.units.get_mut(next_owner as usize) {
            if unit.reserved_cell == cell {
                unit.reserved_cell = NONE;
                self.mark_ready(next_owner);
            } else {
                owner = next_owner;
            }
        }
        *self.reservations.get_mut(cell) = Reservation { owner, next_owner: NONE };
    }

    /// Wakes all units that wait near the cells on which a unit stands or which it leaves.
    #[inline]
    pub(super) fn wake_around_tail(&mut self, index: u32) {
        let Unit { tail, size, .. } = self.units[index as usize];
        if size > 1 || self.reservations.has_listener::<3>(tail) {
            self.wake_near(tail, size);
        }
    }

    /// Wakes all units that wait near two positions of a unit that are at most one step apart.
    #[inline]
    fn wake_around(&mut self, a: GridPos, b: GridPos, size: u8) {
        let corner = GridPos { x: a.x.min(b.x), y: a.y.min(b.y) };
        if size > 1 || self.reservations.has_listener::<4>(corner) {
            self.wake_near(a, size);
            self.wake_near(b, size);
        }
    }

    #[inline(never)]
    fn wake_near(&mut self, pos: GridPos, size: u8) {
        let mut woken = core::mem::take(&mut self.woken);
        self.reservations
            .for_each_listener(pos, size, |cell| woken.push(self.reservations.get(cell).owner));
        for listener in woken.drain(..) {
            if listener != NONE {
                self.wake(listener);
            }
        }
        self.woken = woken;
    }

    fn wake(&mut self, index: u32) {
        let wake_also = core::mem::replace(&mut self.units[index as usize].wake_also, NONE);
        self.mark_ready(index);
        if wake_also != NONE {
            self.mark_ready(wake_also);
        }
        self.update_listening(index);
    }

    /// Lists a waiting unit to be decided in this tick, once.
    pub(super) fn mark_ready(&mut self, index: u32) {
        let now = self.tick_stamp();
        let unit = &mut self.units[index as usize];
        if unit.state == State::Waiting && unit.ready_tick != now {
            unit.ready_tick = now;
            self.ready.push(index);
        }
    }

    /// Updates whether a unit listens.
    pub(super) fn update_listening(&mut self, index: u32) {
        let unit = &self.units[index as usize];
        let listens = unit.state == State::Waiting || unit.wake_also != NONE;
        self.reservations.set_listening(unit.tail, unit.size, listens);
    }

    /// Takes a unit out of the timers and lets it listen no longer.
    #[inline]
    pub(super) fn stop_waiting(&mut self, index: u32) {
        self.timers.remove(index);
        let unit = &mut self.units[index as usize];
        unit.wake_also = NONE;
        self.reservations.set_listening(unit.tail, unit.size, false);
    }
}
