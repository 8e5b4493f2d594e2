//! Units at the ends of passages: who waits, who goes first, who steps aside.
//!
//! Input: a unit and its ranking. Output: the ranking without the ways into passages that are closed to
//! it, and without those to the cell before such a passage, so that whoever comes out has room.

use super::{
    Crowd, Hindrance,
    board::Place,
    guide::{FAR, Guidance, World},
    passage::{Passage, Passages},
    rank::Ranking,
    unit::{Errand, NONE, STAY, Unit},
};
use crate::nav::{
    cell::CellRect,
    grid::NavGrid,
    layer::Layer,
    terrain::{ProfileId, STRAIGHT},
};

/// Shortest passage that is locked, in cells: at a single door whoever is in the way is soon pushed back.
const LEAST: usize = 2;
/// Shortest passage before which those who wait leave room, and how many steps of it.
const LONG: usize = 8;
const ROOM: usize = 2;
/// Steps behind a passage on which a unit still goes before others.
const CLEAR: u8 = 3;

impl Crowd {
    /// The ways of a unit, those left out on which it would enter a passage against the traffic.
    pub(super) fn rank_with_locks<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        index: u32,
        push: u8,
    ) -> Ranking {
        let mut ranking = self.rank(world, index, push);
        let unit = &mut self.units[index as usize];
        unit.wish = ranking.best;
        if push == STAY && unit.hindrance == Hindrance::Oncoming {
            unit.hindrance = Hindrance::Queue;
        }
        if unit.size > 1 || unit.is_ghost || unit.is_trapped || unit.flees != NONE {
            return ranking;
        }
        let profile = usize::from(unit.profile);
        if self.passages.len() <= profile {
            self.passages.resize_with(profile + 1, Passages::default);
        }
        let tail = unit.tail;
        let passages = &mut self.passages[profile];
        passages.fit(self.size);
        if passages.is_far(tail) {
            return ranking;
        }
        let Some(layer) = world.grid.layer(ProfileId(profile as u8)) else {
            return ranking;
        };
        if passages.look(layer, tail) {
            let mut passages = core::mem::take(passages);
            let at = self.units[index as usize].tail;
            if is_before_busy(&passages, at, self.now, push) {
                ranking.go_straight();
                if let Some(way) = self.way_aside(&passages, index, &ranking) {
                    ranking.prefer(way);
                }
                self.units[index as usize].wish = ranking.best;
            }
            let closed = self.closed_ways(world, (&mut passages, layer), index, push, &ranking);
            ranking.close(closed, push);
            self.heed(index, push, closed, &passages);
            self.passages[profile] = passages;
        }
        ranking
    }

    /// A way by which a unit that has come out of a passage sooner makes room for those behind it than
    /// by following whoever is ahead.
    fn way_aside(&self, passages: &Passages, index: u32, ranking: &Ranking) -> Option<u8> {
        let unit = &self.units[index as usize];
        let passage = passages.before(unit.tail)?;
        let from = passages.of(unit.tail.step(unit.direction + 4));
        let is_out = passage.mouths.contains(&Some(unit.tail))
            && from.is_some()
            && ranking.best != STAY
            && passages.of(unit.tail.step(ranking.best)).is_none();
        let hold = |way: u8| self.board.hold(self.board.beside(self.board.index(unit.tail), way));
        let ahead = self.units.get(hold(ranking.best).owner as usize).filter(|_| is_out)?;
        let end = (self.now + passage.lock.pace) * super::PARTS;
        let is_slow = !ahead.is_moving() || ahead.end > end;
        let most = if is_slow { ranking.len } else { ranking.worthwhile };
        let ways = ranking.ways[..usize::from(most)].iter().copied();
        let is_free = |way: &u8| {
            way.is_multiple_of(2)
                && hold(*way).owner == NONE
                && passages.of(unit.tail.step(*way)).is_none()
        };
        ways.into_iter().find(is_free)
    }

    /// A unit whose way is closed waits, and lets everybody pass who comes out.
    fn heed(&mut self, index: u32, push: u8, closed: u8, passages: &Passages) {
        let unit = &mut self.units[index as usize];
        let is_closed = unit.wish != STAY && closed & 1 << unit.wish != 0;
        if push == STAY && is_closed {
            unit.hindrance = Hindrance::Oncoming;
            if passages.of(unit.tail).is_none() {
                unit.clears = 0;
            }
        }
    }

    /// The ways on which a unit would enter a passage that is closed to it, or stand before its end.
    fn closed_ways<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        (passages, layer): (&mut Passages, &Layer),
        index: u32,
        push: u8,
        ranking: &Ranking,
    ) -> u8 {
        let unit = &self.units[index as usize];
        let here = passages.of(unit.tail).map(|(number, _)| number);
        let mut closed = 0;
        for &way in &ranking.ways[..usize::from(ranking.len)] {
            let to = unit.tail.step(way);
            let notes = push == STAY && way == ranking.best;
            let is_closed = match passages.of(to) {
                Some((number, _)) if here == Some(number) => false,
                Some((number, at)) => {
                    let side = passages.get(number).and_then(|passage| passage.side(unit.tail, at));
                    side.is_some_and(|side| !self.may_enter(passages, number, side, notes))
                }
                None if unit.is_idle() || unit.has_arrived => false,
                None => self.kept_clear(passages, unit.tail, to).is_some_and(|mouth| {
                    self.is_bound_for_closed(world, (passages, layer), index, mouth, notes)
                }),
            };
            closed |= u8::from(is_closed) << way;
        }
        closed
    }

    /// The cell before a passage, if a step leads onto it; or, where the passage is long, into the room
    /// before it that is to be kept clear for those who come out: there they part.
    fn kept_clear(&self, passages: &Passages, from: Place, to: Place) -> Option<Place> {
        let passage = passages.before(to)?;
        let mut mouths = passage.mouths.iter().flatten().copied();
        let near = |mouth: &Place| usize::from(mouth.reach(to)) <= ROOM;
        match passage.mouths.contains(&Some(to)) {
            true => Some(to),
            false if passage.cells.len() < LONG || passages.of(from).is_some() => None,
            false => mouths.find(|mouth| near(mouth) && mouth.reach(from) > mouth.reach(to)),
        }
    }

    /// Whether a unit that steps on the cell before a passage would go on into it, and may not.
    fn is_bound_for_closed<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        (passages, layer): (&mut Passages, &Layer),
        index: u32,
        mouth: Place,
        notes: bool,
    ) -> bool {
        let unit = &self.units[index as usize];
        let here = passages.of(unit.tail).map(|(number, _)| number);
        let ghost = Unit { tail: mouth, ..*unit };
        for way in [0, 2, 4, 6] {
            let end = mouth.step(way);
            let Some((number, at)) = passages.of(end).filter(|of| Some(of.0) != here) else {
                continue;
            };
            let Some(side) = passages.get(number).and_then(|passage| passage.side(mouth, at))
            else {
                continue;
            };
            let cost = |at: Place| {
                u64::from(layer.cost(u32::from(at.x), u32::from(at.y), world.grid.terrain_bytes()))
            };
            let step = u64::from(STRAIGHT) * (cost(mouth) + cost(end));
            let rest = self.rest_around(world, (index, &ghost), 1 << way);
            let (before, behind) = (rest[usize::from(STAY)], rest[usize::from(way)]);
            let enters = before != FAR && behind != FAR && behind + step <= before + step / 2;
            if enters && !self.may_enter(passages, number, side, notes) {
                return true;
            }
        }
        false
    }

    /// Whether a step of a unit leads into a passage against the traffic.
    pub(super) fn is_against_traffic(&mut self, index: u32, way: u8) -> bool {
        let unit = &self.units[index as usize];
        let profile = usize::from(unit.profile);
        let known = self.passages.get(profile).filter(|passages| passages.is_near(unit.tail));
        let Some(passages) = known else {
            return false;
        };
        let (from, to) = (unit.tail, unit.tail.step(way));
        let here = passages.of(from).map(|of| of.0);
        let Some((number, at)) = passages.of(to).filter(|of| Some(of.0) != here) else {
            return false;
        };
        let Some(side) = passages.get(number).and_then(|passage| passage.side(from, at)) else {
            return false;
        };
        let mut passages = core::mem::take(&mut self.passages[profile]);
        let may = self.may_enter(&mut passages, number, side, false);
        self.passages[profile] = passages;
        !may
    }

    /// Whether a passage admits somebody at one of its sides.
    fn may_enter(&self, passages: &mut Passages, number: u32, side: usize, notes: bool) -> bool {
        let now = self.now;
        let Some(passage) = passages.get(number) else {
            return true;
        };
        if passage.lock.is_open || passage.mouths == [None, None] {
            return true;
        }
        let length = passage.cells.len();
        if length < LEAST {
            return true;
        }
        let count = (passage.lock.counted != now + 1).then(|| self.count_inside(passages, number));
        let Some(Passage { lock, .. }) = passages.get_mut(number) else {
            return true;
        };
        if let Some((inside, stirs)) = count {
            (lock.inside, lock.counted) = (inside, now + 1);
            if stirs {
                lock.stirred = now;
            }
        }
        lock.admits(side, length, now, notes)
    }

    /// How many units in a passage want to which side, and whether one of them moves.
    fn count_inside(&self, passages: &Passages, number: u32) -> ([u32; 2], bool) {
        let (mut inside, mut stirs) = ([0; 2], false);
        let Some(passage) = passages.get(number) else {
            return (inside, stirs);
        };
        for (along, &cell) in passage.cells.iter().enumerate() {
            let owner = self.board.hold(self.board.index(cell)).owner;
            let Some(unit) = self.units.get(owner as usize) else {
                continue;
            };
            stirs |= unit.is_moving();
            let is_twice =
                unit.tail != cell && passages.of(unit.tail).is_some_and(|of| of.0 == number);
            if unit.errand == Errand::Idle || unit.has_arrived || unit.wish == STAY || is_twice {
                continue;
            }
            if let Some(side) = goes_to(passages, (number, passage), unit, along) {
                inside[side] += 1;
            }
        }
        (inside, stirs)
    }

    /// The ground in a rectangle has changed.
    pub(super) fn forget_ground(&mut self, grid: &NavGrid, rect: CellRect) {
        let rect = rect.intersection(grid.rect());
        if let Some(low) = Place::of(grid, rect.min).filter(|_| !rect.is_empty()) {
            let high =
                Place { x: low.x + rect.width as u16 - 1, y: low.y + rect.height as u16 - 1 };
            self.passages.iter_mut().for_each(|passages| passages.forget(low, high));
            self.walls.iter_mut().for_each(|walls| walls.forget(low, high));
        }
    }

    /// A step begins: notes it where it has to do with a passage.
    #[inline]
    pub(super) fn note_passage(&mut self, index: u32) {
        let unit = &self.units[index as usize];
        let passages = self.passages.get(usize::from(unit.profile));
        let is_near = unit.clears > 0 || passages.is_some_and(|known| known.is_near(unit.tail));
        if is_near && unit.size == 1 && !unit.is_ghost {
            self.note_step(index);
        }
    }

    fn note_step(&mut self, index: u32) {
        let unit = &mut self.units[index as usize];
        let Some(passages) = self.passages.get_mut(usize::from(unit.profile)) else {
            return;
        };
        let (from, to) = (passages.of(unit.tail), passages.of(unit.head));
        let now = self.now;
        unit.clears = unit.clears.saturating_sub(1);
        for number in [from, to].into_iter().flatten().map(|of| of.0) {
            if let Some(passage) = passages.get_mut(number) {
                passage.lock.stirred = now;
                if passage.cells.len() >= LEAST
                    || passage.lock.is_wanted(0, now)
                    || passage.lock.is_wanted(1, now)
                {
                    unit.clears = CLEAR;
                }
            }
        }
        let Some((number, along)) = to.filter(|to| from.is_none_or(|from| from.0 != to.0)) else {
            return;
        };
        let pace = (unit.end.saturating_sub(unit.start) / super::PARTS).clamp(1, 255);
        if let Some(passage) = passages.get_mut(number)
            && let Some(side) = passage.side(unit.tail, along)
        {
            let lock = &mut passage.lock;
            if lock.flow != side {
                lock.turn(side, now);
            }
            lock.batch += 1;
            (lock.last_entry, lock.pace, lock.counted) = (now, pace, 0);
        }
    }
}

/// Whether a place lies before a passage through which others come or go just now. Whoever is pushed out of
/// one comes out as if by himself: a diagonal step would keep all behind him for its length.
fn is_before_busy(passages: &Passages, at: Place, now: u64, push: u8) -> bool {
    let is_pushed_out = push != STAY && passages.of(at.step(push + 4)).is_some();
    let push = if is_pushed_out { STAY } else { push };
    passages.before(at).is_some_and(|passage| passage.lock.is_busy(now, push))
}

/// The side to which a unit in a passage wants.
fn goes_to(
    passages: &Passages,
    (number, passage): (u32, &Passage),
    unit: &Unit,
    along: usize,
) -> Option<usize> {
    let next = unit.tail.step(unit.wish);
    let beside = passages.of(next).filter(|of| of.0 == number).map(|of| of.1);
    if unit.tail != passage.cells[along] {
        let side = passage.side(unit.tail, along)?;
        return Some(if beside.is_some() { 1 - side } else { side });
    }
    match beside {
        Some(at) => Some(usize::from(at > along)),
        None => [0, 1].into_iter().find(|&side| passage.mouths[side] == Some(next)),
    }
}
