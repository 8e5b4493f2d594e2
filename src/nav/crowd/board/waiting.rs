//! Units that wait, and what wakes them.
//!
//! Input: units that stand, and cells that become free. Output: the units that are decided again: those that are
//! registered for wake-up beside such a cell, and those whose retry is due.

use super::{
    Board, CrowdEvent, GridPos, Hindrance, LOST_AFTER, NONE, RETRY_AFTER, Rung, STUCK_AFTER, State,
    Unit,
};
use crate::nav::NavGrid;

impl Board {
    /// Wakes all units that wait near the cells on which a unit stands or which it leaves.
    #[inline]
    pub fn wake_around_tail(&mut self, index: u32) {
        let Unit { tail, size, .. } = self.units[index];
        if size > 1 || self.reservations.has_listener::<3>(tail) {
            self.wake_near(tail, size);
        }
    }

    /// Wakes all units that wait near two positions of a unit that are at most one step apart.
    #[inline]
    pub fn wake_around(&mut self, a: GridPos, b: GridPos, size: u8) {
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
        for index in woken.drain(..).filter(|&index| index != NONE) {
            let wake_also = core::mem::replace(&mut self.units[index].wake_also, NONE);
            self.mark_ready(index);
            if wake_also != NONE {
                self.mark_ready(wake_also);
            }
            self.update_listening(index);
        }
        self.woken = woken;
    }

    /// Lists a waiting unit, once, to be decided in this tick; between two ticks, in the next one.
    pub fn mark_ready(&mut self, index: u32) {
        let unit = &mut self.units[index];
        if unit.state == State::Waiting && unit.list != self.list {
            unit.list = self.list;
            self.ready.push(index);
        }
    }

    /// Updates whether a unit is registered for wake-up.
    pub fn update_listening(&mut self, index: u32) {
        let unit = &self.units[index];
        let listens = unit.state == State::Waiting || unit.wake_also != NONE;
        self.reservations.set_listening(unit.tail, unit.size, listens);
    }

    /// Removes a unit from the timers and ends its registration for wake-up.
    #[inline]
    pub fn stop_waiting(&mut self, index: u32) {
        self.timers.remove(index);
        let unit = &mut self.units[index];
        unit.wake_also = NONE;
        self.reservations.set_listening(unit.tail, unit.size, false);
    }

    /// Lets all units that have stood for long try again soon, a few in each tick, and look for ways around others: the
    /// terrain has changed.
    pub fn retry_all(&mut self) {
        let now = self.now;
        for index in 0..self.units.0.len() as u32 {
            let unit = &mut self.units[index];
            if unit.state != State::Waiting || !unit.has_stood_for_long(now) {
                continue;
            }
            let waited = unit.ticks_waited(now).max(unit.ticks_until(Rung::GoAround) + 1);
            unit.waiting_since = (now - waited) as u32;
            // After another edit the unit keeps its turn, so that edits in every tick do not put it off for ever.
            match u64::from(index).wrapping_sub(now) % RETRY_AFTER {
                0 => self.mark_ready(index),
                turn => self.timers.put(index, now, now + turn),
            }
        }
    }

    /// Schedules a unit to be decided in the next tick, unless it moves.
    pub fn schedule_next_tick(&mut self, index: u32) {
        let now = self.now;
        let unit = &mut self.units[index];
        if unit.state == State::Moving {
            return;
        }
        unit.waiting_since = now as u32;
        if unit.is_idle() {
            unit.state = State::Standing;
            self.timers.remove(index);
        } else {
            unit.state = State::Waiting;
            self.timers.put(index, now, now + 1);
        }
        self.update_listening(index);
    }

    /// Schedules a unit to be decided in the next tick if the step planned for it is undone.
    pub fn retry_if_undone(&mut self, index: u32) {
        self.units[index].state = State::Planned { was_waiting: true };
        self.timers.put(index, self.now, self.now + 1);
    }

    /// Makes a unit on its goal stand.
    pub fn arrive(&mut self, grid: &NavGrid, index: u32) {
        self.stop_waiting(index);
        let unit = &mut self.units[index];
        unit.state = State::Standing;
        unit.hindrance = Hindrance::None;
        self.note_arrival(grid, index);
    }

    /// Records that a unit stands on its goal.
    pub fn note_arrival(&mut self, grid: &NavGrid, index: u32) {
        let id = self.id(index);
        let unit = &mut self.units[index];
        if !unit.has_arrived {
            (unit.has_arrived, unit.wasted_steps) = (true, 0);
            let cell = unit.tail.cell(grid);
            self.events.push(CrowdEvent::Arrived { unit: id, cell });
        }
    }

    /// Lets a unit wait until something changes nearby, or until its next retry.
    pub fn wait(&mut self, index: u32, is_circling: bool) {
        let now = self.now;
        let id = self.id(index);
        let unit = &mut self.units[index];
        unit.state = State::Waiting;
        self.counters.waits += 1;
        let stood = unit.ticks_stood(now);
        if !unit.has_arrived {
            self.counters.longest_wait = self.counters.longest_wait.max(stood);
        }
        if is_circling {
            unit.hindrance = Hindrance::Circling;
        }
        let is_stuck = stood >= STUCK_AFTER || unit.needs_refit || is_circling;
        if is_stuck && !unit.is_reported_stuck {
            unit.is_reported_stuck = true;
            self.events.push(CrowdEvent::Stuck { unit: id, why: unit.hindrance });
        }
        let is_lost = unit.hindrance == Hindrance::NoPath;
        if is_lost && stood >= LOST_AFTER {
            self.events.push(CrowdEvent::Lost { unit: id });
        }
        let will_be_lost = is_lost && stood < LOST_AFTER;
        let retry = self.retry_after(index, stood);
        let retry = if will_be_lost { retry.min(LOST_AFTER - stood) } else { retry };
        self.timers.put(index, now, now + retry);
        self.update_listening(index);
    }
}
