//! How steps begin and end.
//!
//! Input: a plan that stands. Output: units on their way, each with the time at which it arrives; later
//! their cells given to whoever comes next. A step takes as long as its cost says at the unit's speed. A
//! unit that enters a cell which another is leaving arrives no sooner than that one, so it stays behind
//! it all the way, whatever their speeds; all units of a ring arrive together.

use super::{
    Crowd, Hindrance,
    board::{Few, Hold, Place, is_diagonal},
    claim::Claim,
    clock::{LONGEST_STEP, PARTS},
    guide::{Guidance, World},
    near::straight,
    rank::Ground,
    unit::{NONE, State, Unit},
};
use crate::nav::{
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
    walk::PROGRESS_PER_COST,
};

impl Crowd {
    /// Begins all steps of the plan.
    pub(super) fn commit<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, root: u32) {
        for at in 0..self.log.len() {
            if let Claim::Moves(index) = self.log[at] {
                if index != root {
                    self.note_passing(world, index);
                }
                self.begin_step(world, index);
                self.count_step(index);
                let is_astray = self.is_led_astray(index, root);
                let unit = &mut self.units[index as usize];
                unit.is_pushed = index != root;
                unit.led_astray = unit.led_astray.saturating_add(u8::from(is_astray));
                self.counters.pushes += u64::from(index != root);
            }
        }
        let is_alone = matches!(self.log[..], [Claim::Owned(_), Claim::Moves(_)]);
        while !is_alone && self.stretch() {}
        for at in 0..self.log.len() {
            if let Claim::Moves(index) = self.log[at] {
                let due = self.units[index as usize].end.div_ceil(PARTS);
                self.wheel.put(index, self.now, due);
                self.wake_around_tail(index);
            }
        }
        self.log.clear();
        self.waiting_before.clear();
    }

    fn begin_step<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let now = self.now;
        let unit = &self.units[index as usize];
        let sum = match self.view(index) {
            Some(view) if view.cost > 0 => 2 * view.cost,
            _ => world.grid.layer(ProfileId(unit.profile)).map_or(1, |layer| {
                let ground = Ground::new(layer, world.grid.terrain_bytes());
                ground.cost(unit.tail) + ground.cost(unit.head)
            }),
        };
        let weight = if is_diagonal(unit.direction) { DIAGONAL } else { STRAIGHT };
        let work = u64::from(weight) * sum * PROGRESS_PER_COST;
        let needed = (work * PARTS).checked_div(unit.speed).unwrap_or(LONGEST_STEP);
        let free_since = self.free_since(index);
        self.forget_waiting(index);
        let unit = &mut self.units[index as usize];
        // It uses the whole tick, or what its last step has left of it, as far as its way was free.
        let is_going_on = unit.spare_in == now as u32;
        if !is_going_on {
            self.moved.push(index);
        }
        let spare = if is_going_on { u64::from(unit.spare).min(PARTS) } else { PARTS };
        unit.start = (now * PARTS - spare).max(free_since);
        unit.end = (unit.start + needed.min(LONGEST_STEP)).max((now + 1) * PARTS);
        unit.state = State::Moving;
        (unit.is_reported_stuck, unit.lines_up) = (false, false);
        unit.hindrance = Hindrance::None;
        (unit.yields, unit.stands_back) = (false, false);
        self.counters.steps += 1;
        self.note_passage(index);
    }

    /// Whether a unit makes a step that does not help it, on behalf of one that only goes back to its goal, or
    /// near its place in a group.
    fn is_led_astray(&self, index: u32, root: u32) -> bool {
        let unit = &self.units[index as usize];
        let comes_nearer = || {
            let goal = self.ways[index as usize].goal;
            straight(unit.head, goal) < straight(unit.tail, goal)
        };
        let is_near_place = !unit.has_arrived && unit.slot != NONE && unit.errand.group().is_some();
        match self.units[root as usize].is_back_only() {
            true => index != root || !comes_nearer(),
            false => is_near_place && self.ways.len() > index as usize && !comes_nearer(),
        }
    }

    /// Since when nobody has been in the way of a step that is about to begin: 0 where that is so for the
    /// whole tick.
    fn free_since(&mut self, index: u32) -> u64 {
        let Unit { tail, size, direction: way, is_ghost, .. } = self.units[index as usize];
        if is_ghost {
            return 0;
        }
        let (board, departures) = (&self.board, &mut self.departures);
        if size > 1 {
            let entered = board.entered(tail, size, way);
            let cells = entered.as_slice().iter();
            return cells.map(|&cell| departures.free_since(cell, way)).max().unwrap_or(0);
        }
        let beside = |way: u8| board.beside(board.index(tail), way);
        let since = departures.free_since(beside(way), way);
        if !is_diagonal(way) {
            return since;
        }
        let a = departures.left_along(beside(way + 7), way + 2);
        let b = departures.left_along(beside(way + 1), way + 6);
        since.max(a).max(b)
    }

    /// Lets followers set out and arrive no sooner than those they follow; says whether that changed
    /// anything.
    fn stretch(&mut self) -> bool {
        let mut is_changed = false;
        for at in 0..self.log.len() {
            let Claim::Inherits(cell) = self.log[at] else {
                continue;
            };
            let hold = self.board.hold(cell);
            let Unit { start, end, .. } = self.units[hold.owner as usize];
            let follower = &mut self.units[hold.heir as usize];
            if follower.start < start || follower.end < end {
                follower.start = follower.start.max(start);
                follower.end = follower.end.max(end);
                is_changed = true;
            }
        }
        is_changed
    }

    /// Ends a step: the cells left behind go to whoever comes next.
    pub(super) fn end_step(&mut self, index: u32, hold: Hold) {
        let unit = &self.units[index as usize];
        let (direction, end) = (unit.direction, unit.end);
        if !unit.is_ghost {
            if unit.size == 1 && hold.heir == NONE {
                let cell = self.board.index(unit.tail);
                self.departures.note(cell, direction, end);
                self.board.hold_mut(cell).owner = NONE;
            } else {
                let left: Few = self.board.left(unit.tail, unit.size, direction);
                for &cell in left.as_slice() {
                    self.departures.note(cell, direction, end);
                    self.release(cell);
                }
            }
        }
        let now = self.now;
        let Unit { errand, tail, head, .. } = self.units[index as usize];
        if errand.group().is_some() {
            self.move_member(errand, tail, -1);
            self.move_member(errand, head, 1);
        }
        let unit = &mut self.units[index as usize];
        unit.tail = unit.head;
        unit.state = State::Standing;
        unit.spare = (now * PARTS).saturating_sub(unit.end) as u32;
        unit.spare_in = now as u32;
        (unit.waits_since, unit.stands_since) = (now as u32, now as u32);
        if !unit.is_ghost {
            let size = unit.size;
            self.board.stand(head, size, true);
            self.wake_around(tail, head, size);
        }
    }

    /// Gives a cell to its heir, if that one is on its way into it.
    pub(super) fn release(&mut self, cell: u32) {
        let heir = self.board.hold(cell).heir;
        let mut owner = NONE;
        if let Some(unit) = self.units.get_mut(heir as usize) {
            if unit.reserves == cell {
                unit.reserves = NONE;
                self.list(heir);
            } else {
                owner = heir;
            }
        }
        *self.board.hold_mut(cell) = Hold { owner, heir: NONE };
    }

    /// Calls everybody who waits near the cells on which a unit stands or which it leaves.
    #[inline]
    pub(super) fn wake_around_tail(&mut self, index: u32) {
        let Unit { tail, size, .. } = self.units[index as usize];
        if size > 1 || self.board.is_heard::<3>(tail) {
            self.wake_beside(tail, size);
        }
    }

    /// Calls everybody who waits near two places of a unit that are no more than a step apart.
    #[inline]
    fn wake_around(&mut self, a: Place, b: Place, size: u8) {
        let corner = Place { x: a.x.min(b.x), y: a.y.min(b.y) };
        if size > 1 || self.board.is_heard::<4>(corner) {
            self.wake_beside(a, size);
            self.wake_beside(b, size);
        }
    }

    #[inline(never)]
    fn wake_beside(&mut self, place: Place, size: u8) {
        let mut woken = core::mem::take(&mut self.woken);
        self.board.listeners(place, size, |cell| woken.push(self.board.hold(cell).owner));
        for listener in woken.drain(..) {
            if listener != NONE {
                self.wake(listener);
            }
        }
        self.woken = woken;
    }

    fn wake(&mut self, index: u32) {
        let wakes = core::mem::replace(&mut self.units[index as usize].wakes, NONE);
        self.list(index);
        if wakes != NONE {
            self.list(wakes);
        }
        self.listen(index);
    }

    /// Lists a unit that waits, to be decided in this tick, once.
    pub(super) fn list(&mut self, index: u32) {
        let now = self.stamp();
        let unit = &mut self.units[index as usize];
        if unit.state == State::Waiting && unit.listed_in != now {
            unit.listed_in = now;
            self.ready.push(index);
        }
    }

    /// Notes whether a unit listens.
    pub(super) fn listen(&mut self, index: u32) {
        let unit = &self.units[index as usize];
        let listens = unit.state == State::Waiting || unit.wakes != NONE;
        self.board.listen(unit.tail, unit.size, listens);
    }

    /// A unit waits no longer.
    #[inline]
    pub(super) fn forget_waiting(&mut self, index: u32) {
        self.wheel.take_out(index);
        let unit = &mut self.units[index as usize];
        unit.wakes = NONE;
        self.board.listen(unit.tail, unit.size, false);
    }
}
