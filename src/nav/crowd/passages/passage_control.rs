//! Units at the ends of passages: which of them wait, go first or step aside.
//!
//! Input: a unit and its ranking. Output: the ranking without the directions into passages that are closed to
//! the unit, and without those onto the cell before such a passage, so that units coming out have room.

use crate::nav::crowd::{
    Crowd, Hindrance,
    guidance::{Guidance, UNREACHABLE, World},
    passage::{Passage, Passages},
    rank::Ranking,
    reservations::GridPos,
    unit::{NONE, Order, STAY, Unit},
};
use crate::nav::{
    layer::Layer,
    terrain::{ProfileId, STRAIGHT},
};

/// Shortest passage that is locked, in cells. At a single door, a unit in the way is soon pushed back.
const MIN_LOCKED_LENGTH: usize = 2;
/// Shortest passage, in cells, before which waiting units leave room, and the steps of room they leave.
const MIN_CLEARED_LENGTH: usize = 8;
const CLEARED_STEPS: usize = 2;
/// Steps after a passage during which a unit still goes before others.
const PRIORITY_STEPS_AFTER: u8 = 3;

impl Crowd {
    /// Ranks the directions of a unit, without those on which it would enter a passage against the traffic.
    pub(in crate::nav::crowd) fn rank_with_locks<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        index: u32,
        push: u8,
    ) -> Ranking {
        let mut ranking = self.rank(world, index, push);
        let unit = &mut self.units[index as usize];
        unit.preferred_direction = ranking.best;
        if push == STAY && unit.hindrance == Hindrance::Oncoming {
            unit.hindrance = Hindrance::Queue;
        }
        if unit.size > 1 || unit.is_trapped || unit.yields_to != NONE {
            return ranking;
        }
        let Unit { tail, profile, .. } = *unit;
        let passages = self.shape.passages_of(profile, self.size);
        let profile = usize::from(profile);
        if passages.is_far(tail) {
            return ranking;
        }
        let Some(layer) = world.grid.layer(ProfileId(profile as u8)) else {
            return ranking;
        };
        if passages.explore(layer, tail) {
            let mut passages = core::mem::take(passages);
            let at = self.units[index as usize].tail;
            if is_before_busy_passage(&passages, at, self.now, push) {
                ranking.remove_diagonals();
                if let Some(direction) = self.direction_aside(&passages, index, &ranking) {
                    ranking.prefer(direction);
                }
                self.units[index as usize].preferred_direction = ranking.best;
            }
            let closed =
                self.closed_directions(world, (&mut passages, layer), index, push, &ranking);
            ranking.remove(closed, push);
            self.note_closed(index, push, closed, &passages);
            self.shape.passages[profile] = passages;
        }
        ranking
    }

    /// Returns a direction in which a unit that has come out of a passage makes room for those behind it
    /// sooner than by following the unit ahead.
    fn direction_aside(&self, passages: &Passages, index: u32, ranking: &Ranking) -> Option<u8> {
        let unit = &self.units[index as usize];
        let passage = passages.approached_at(unit.tail)?;
        let from = passages.passage_at(unit.tail.step(unit.direction + 4));
        let is_out = passage.mouths.contains(&Some(unit.tail))
            && from.is_some()
            && ranking.best != STAY
            && passages.passage_at(unit.tail.step(ranking.best)).is_none();
        let reservation = |direction: u8| {
            self.reservations
                .get(self.reservations.neighbor(self.reservations.index(unit.tail), direction))
        };
        let ahead = self.units.get(reservation(ranking.best).owner as usize).filter(|_| is_out)?;
        let end = (self.now + passage.lock.step_ticks) * crate::nav::crowd::SUBTICKS_PER_TICK;
        let is_slow = !ahead.is_moving() || ahead.end > end;
        let most = if is_slow { ranking.len } else { ranking.worthwhile };
        let directions = ranking.directions[..usize::from(most)].iter().copied();
        let is_free = |direction: &u8| {
            direction.is_multiple_of(2)
                && reservation(*direction).owner == NONE
                && passages.passage_at(unit.tail.step(*direction)).is_none()
        };
        directions.into_iter().find(is_free)
    }

    /// Makes a unit whose preferred direction is closed wait, and lets the units coming out go first.
    fn note_closed(&mut self, index: u32, push: u8, closed: u8, passages: &Passages) {
        let unit = &mut self.units[index as usize];
        let is_closed =
            unit.preferred_direction != STAY && closed & 1 << unit.preferred_direction != 0;
        if push == STAY && is_closed {
            unit.hindrance = Hindrance::Oncoming;
            if passages.passage_at(unit.tail).is_none() {
                unit.clearing_steps = 0;
            }
        }
    }

    /// Returns the directions, as a bit mask, on which a unit would enter a passage that is closed to it, or
    /// stand before its end.
    fn closed_directions<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        (passages, layer): (&mut Passages, &Layer),
        index: u32,
        push: u8,
        ranking: &Ranking,
    ) -> u8 {
        let unit = &self.units[index as usize];
        let here = passages.passage_at(unit.tail).map(|(number, _)| number);
        let mut closed = 0;
        for &direction in &ranking.directions[..usize::from(ranking.len)] {
            let to = unit.tail.step(direction);
            let records_wait = push == STAY && direction == ranking.best;
            let is_closed = match passages.passage_at(to) {
                Some((number, _)) if here == Some(number) => false,
                Some((number, at)) => {
                    let side = passages.get(number).and_then(|passage| passage.side(unit.tail, at));
                    side.is_some_and(|side| !self.may_enter(passages, number, side, records_wait))
                }
                None if unit.is_idle() || unit.has_arrived => false,
                None => self.mouth_kept_clear(passages, unit.tail, to).is_some_and(|mouth| {
                    self.would_enter_closed(world, (passages, layer), index, mouth, records_wait)
                }),
            };
            closed |= u8::from(is_closed) << direction;
        }
        closed
    }

    /// Returns the mouth of a passage if a step leads onto it. If the passage is long, also for a step into
    /// the room before it that is kept clear: units that come out separate there.
    fn mouth_kept_clear(&self, passages: &Passages, from: GridPos, to: GridPos) -> Option<GridPos> {
        let passage = passages.approached_at(to)?;
        let mut mouths = passage.mouths.iter().flatten().copied();
        let near = |mouth: &GridPos| usize::from(mouth.chebyshev(to)) <= CLEARED_STEPS;
        match passage.mouths.contains(&Some(to)) {
            true => Some(to),
            false
                if passage.cells.len() < MIN_CLEARED_LENGTH
                    || passages.passage_at(from).is_some() =>
            {
                None
            }
            false => {
                mouths.find(|mouth| near(mouth) && mouth.chebyshev(from) > mouth.chebyshev(to))
            }
        }
    }

    /// Returns whether a unit that steps onto the cell before a passage would continue into the passage and
    /// may not.
    fn would_enter_closed<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        (passages, layer): (&mut Passages, &Layer),
        index: u32,
        mouth: GridPos,
        records_wait: bool,
    ) -> bool {
        let unit = &self.units[index as usize];
        let here = passages.passage_at(unit.tail).map(|(number, _)| number);
        let at_mouth = Unit { tail: mouth, ..*unit };
        for direction in [0, 2, 4, 6] {
            let end = mouth.step(direction);
            let Some((number, at)) = passages.passage_at(end).filter(|of| Some(of.0) != here)
            else {
                continue;
            };
            let Some(side) = passages.get(number).and_then(|passage| passage.side(mouth, at))
            else {
                continue;
            };
            let cost = |at: GridPos| {
                u64::from(layer.cost(u32::from(at.x), u32::from(at.y), world.grid.terrain_bytes()))
            };
            let step = u64::from(STRAIGHT) * (cost(mouth) + cost(end));
            let costs = self.cost_to_go_around(world, (index, &at_mouth), 1 << direction);
            let (before, behind) = (costs[usize::from(STAY)], costs[usize::from(direction)]);
            let enters = before != UNREACHABLE
                && behind != UNREACHABLE
                && behind + step <= before + step / 2;
            if enters && !self.may_enter(passages, number, side, records_wait) {
                return true;
            }
        }
        false
    }

    /// Returns whether a unit's step leads into a passage against the traffic.
    pub(in crate::nav::crowd) fn is_against_traffic(&mut self, index: u32, direction: u8) -> bool {
        let unit = &self.units[index as usize];
        let profile = usize::from(unit.profile);
        let known = self.shape.passages.get(profile).filter(|passages| passages.is_near(unit.tail));
        let Some(passages) = known else {
            return false;
        };
        let (from, to) = (unit.tail, unit.tail.step(direction));
        let here = passages.passage_at(from).map(|of| of.0);
        let Some((number, at)) = passages.passage_at(to).filter(|of| Some(of.0) != here) else {
            return false;
        };
        let Some(side) = passages.get(number).and_then(|passage| passage.side(from, at)) else {
            return false;
        };
        let mut passages = core::mem::take(&mut self.shape.passages[profile]);
        let may = self.may_enter(&mut passages, number, side, false);
        self.shape.passages[profile] = passages;
        !may
    }

    /// Returns whether a passage admits a unit at one of its sides.
    fn may_enter(
        &self,
        passages: &mut Passages,
        number: u32,
        side: usize,
        records_wait: bool,
    ) -> bool {
        let now = self.now;
        let Some(passage) = passages.get(number) else {
            return true;
        };
        if passage.lock.is_uncontrolled || passage.mouths == [None, None] {
            return true;
        }
        let length = passage.cells.len();
        if length < MIN_LOCKED_LENGTH {
            return true;
        }
        let count =
            (passage.lock.counted_at != now + 1).then(|| self.count_inside(passages, number));
        let Some(Passage { lock, .. }) = passages.get_mut(number) else {
            return true;
        };
        if let Some((inside, has_moved)) = count {
            (lock.inside, lock.counted_at) = (inside, now + 1);
            if has_moved {
                lock.last_moved = now;
            }
        }
        lock.admits(side, length, now, records_wait)
    }

    /// Counts the units in a passage by the side they head for, and returns whether one of them moves.
    fn count_inside(&self, passages: &Passages, number: u32) -> ([u32; 2], bool) {
        let (mut inside, mut has_moved) = ([0; 2], false);
        let Some(passage) = passages.get(number) else {
            return (inside, has_moved);
        };
        for (along, &cell) in passage.cells.iter().enumerate() {
            let owner = self.reservations.get(self.reservations.index(cell)).owner;
            let Some(unit) = self.units.get(owner as usize) else {
                continue;
            };
            has_moved |= unit.is_moving();
            let is_twice = unit.tail != cell
                && passages.passage_at(unit.tail).is_some_and(|of| of.0 == number);
            if unit.order == Order::Idle
                || unit.has_arrived
                || unit.preferred_direction == STAY
                || is_twice
            {
                continue;
            }
            if let Some(side) = exit_side(passages, (number, passage), unit, along) {
                inside[side] += 1;
            }
        }
        (inside, has_moved)
    }

    /// Updates the passages near a unit when its step begins.
    #[inline]
    pub(in crate::nav::crowd) fn note_passage(&mut self, index: u32) {
        let unit = &self.units[index as usize];
        let passages = self.shape.passages.get(usize::from(unit.profile));
        let is_near =
            unit.clearing_steps > 0 || passages.is_some_and(|known| known.is_near(unit.tail));
        if is_near && unit.size == 1 {
            self.note_passage_step(index);
        }
    }

    fn note_passage_step(&mut self, index: u32) {
        let unit = &mut self.units[index as usize];
        let Some(passages) = self.shape.passages.get_mut(usize::from(unit.profile)) else {
            return;
        };
        let (from, to) = (passages.passage_at(unit.tail), passages.passage_at(unit.head));
        let now = self.now;
        unit.clearing_steps = unit.clearing_steps.saturating_sub(1);
        for number in [from, to].into_iter().flatten().map(|of| of.0) {
            if let Some(passage) = passages.get_mut(number) {
                passage.lock.last_moved = now;
                if passage.cells.len() >= MIN_LOCKED_LENGTH
                    || passage.lock.is_waiting_at(0, now)
                    || passage.lock.is_waiting_at(1, now)
                {
                    unit.clearing_steps = PRIORITY_STEPS_AFTER;
                }
            }
        }
        let Some((number, along)) = to.filter(|to| from.is_none_or(|from| from.0 != to.0)) else {
            return;
        };
        let step_ticks = (unit.end.saturating_sub(unit.start)
            / crate::nav::crowd::SUBTICKS_PER_TICK)
            .clamp(1, 255);
        if let Some(passage) = passages.get_mut(number)
            && let Some(side) = passage.side(unit.tail, along)
        {
            let lock = &mut passage.lock;
            if lock.flow != side {
                lock.set_flow(side, now);
            }
            lock.batch += 1;
            (lock.last_entry, lock.step_ticks, lock.counted_at) = (now, step_ticks, 0);
        }
    }
}

/// Returns whether a cell lies before a passage that units are entering or leaving just now. A unit that is
/// pushed out of a passage counts as one that comes out unpushed: a diagonal step would hold up all units
/// behind it for its duration.
fn is_before_busy_passage(passages: &Passages, at: GridPos, now: u64, push: u8) -> bool {
    let is_pushed_out = push != STAY && passages.passage_at(at.step(push + 4)).is_some();
    let push = if is_pushed_out { STAY } else { push };
    passages.approached_at(at).is_some_and(|passage| passage.lock.is_busy(now, push))
}

/// Returns the side for which a unit in a passage heads.
fn exit_side(
    passages: &Passages,
    (number, passage): (u32, &Passage),
    unit: &Unit,
    along: usize,
) -> Option<usize> {
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
