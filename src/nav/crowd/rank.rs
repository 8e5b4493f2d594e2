//! Which way a unit would like to go.
//!
//! Input: what the ground allows and what the rest of the way costs from each cell around. Output: the
//! ways in the order in which they are tried, and how many of them are better than staying.
//!
//! A way is worth the cost of its step and of the rest of the way behind it. Waiting counts for four
//! fifths of a straight step, and more with every tick waited: with a cheap wait head-on crowds freeze.
//! Behind others who want to go the same way, but elsewhere in the end, it counts for more, so that lanes
//! form beside each other around corners. In a line for one place nobody gains by stepping out of it.

use super::{
    Crowd,
    ahead::{Ahead, ONCOMING},
    board::{Place, is_diagonal, turn},
    guide::{FAR, Guidance, View, World},
    scores::{Scores, order_of_ways},
    unit::{STAY, State, Unit},
};
use crate::nav::{
    layer::Layer,
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
};

/// Ways out of a cell, best first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranking {
    pub(super) ways: [u8; 8],
    pub(super) len: u8,
    /// So many of them are better than staying.
    pub(super) worthwhile: u8,
    /// Where the shortest way leads, whoever stands there; [`STAY`] where it has come to its end.
    pub(super) best: u8,
    /// Whether the unit knows a way at all.
    pub(super) knows_way: bool,
}

impl Ranking {
    const NOTHING: Self =
        Self { ways: [0; 8], len: 0, worthwhile: 0, best: STAY, knows_way: false };
}

/// What the ways around a unit are worth to it.
pub(super) struct Outlook {
    scores: Scores,
    ways: u8,
    /// What staying is worth.
    stay: u64,
    /// As in [`Ranking`].
    pub(super) best: u8,
    knows_way: bool,
}

impl Outlook {
    /// The way worth most, if any is better than staying.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<u8> {
        self.scores.first(self.stay).filter(|_| self.knows_way)
    }

    /// All ways, best first.
    fn ranking(mut self) -> Ranking {
        self.scores.sort();
        Ranking {
            ways: self.scores.ways(),
            len: self.ways.count_ones() as u8,
            worthwhile: if self.knows_way { self.scores.count_below(self.stay) } else { 0 },
            best: self.best,
            knows_way: self.knows_way,
        }
    }
}

impl Ranking {
    /// Leaves out diagonal ways.
    pub(super) fn go_straight(&mut self) {
        let best = self.best;
        self.close(0b1010_1010, 0);
        if best != STAY && is_diagonal(best) && self.worthwhile > 0 {
            self.best = self.ways[0];
        }
    }

    /// Puts a way first.
    pub(super) fn prefer(&mut self, way: u8) {
        let len = usize::from(self.len);
        if let Some(at) = self.ways[..len].iter().position(|&known| known == way) {
            self.ways[..=at].rotate_right(1);
            self.worthwhile = if at < usize::from(self.worthwhile) {
                self.worthwhile
            } else {
                self.worthwhile + 1
            };
        }
    }

    /// Leaves out closed ways; whoever wants to go one of them by himself stays.
    pub(super) fn close(&mut self, closed: u8, push: u8) {
        if closed == 0 {
            return;
        }
        let (mut len, mut worthwhile) = (0, 0);
        for at in 0..usize::from(self.len) {
            let way = self.ways[at];
            if closed & 1 << way == 0 {
                self.ways[len] = way;
                len += 1;
                worthwhile += u8::from(at < usize::from(self.worthwhile));
            }
        }
        let is_kept = push == STAY && self.best != STAY && closed & 1 << self.best != 0;
        (self.len, self.worthwhile) = (len as u8, if is_kept { 0 } else { worthwhile });
    }
}

/// Sixteenths that a diagonal way counts for near a wall that cuts in before somebody who goes straight on.
const CUT_IN: u64 = 16;
/// Sixteenths of a straight step that a cell counts for in which somebody stands.
const OCCUPIED: u64 = 2;
/// The same on open ground.
const OCCUPIED_IN_OPEN: u64 = 4;

impl Crowd {
    /// The ways of a unit that is pushed in a direction, or goes by itself ([`STAY`]).
    pub(super) fn rank<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        index: u32,
        push: u8,
    ) -> Ranking {
        let unit = &self.units[index as usize];
        let Some(layer) = world.grid.layer(ProfileId(unit.profile)) else {
            return Ranking::NOTHING;
        };
        let view = match self.view(index) {
            Some(&view) => view,
            None => {
                let ways = self.ground_ways(world, index);
                View { rest: self.rest_around(world, (index, unit), ways), ways, cost: 0 }
            }
        };
        let ground = Ground::new(layer, world.grid.terrain_bytes());
        let cost = ground.cost(unit.tail);
        self.weigh(unit, push, &view, cost, &ground.steps(unit.tail, view.ways)).ranking()
    }

    /// What the ways around a unit are worth to it, by what its own cell and the steps cost.
    #[inline(always)]
    pub(super) fn weigh(
        &self,
        unit: &Unit,
        push: u8,
        &View { ref rest, ways, .. }: &View,
        cost: u64,
        steps: &[u64; 8],
    ) -> Outlook {
        let sixteenth = u64::from(STRAIGHT) * 2 * cost / 16;
        let own = rest[usize::from(STAY)];
        let (mut scores, best);
        if unit.is_idle() {
            let worth = |way| aside(way as u8, push) * sixteenth;
            scores = Scores::new(ways, order_of_ways(unit), worth);
            best = STAY;
        } else {
            let worth = |way: usize| rest[way].saturating_add(steps[way]);
            scores = Scores::new(ways, order_of_ways(unit), worth);
            // Nearer to the goal, and not around.
            best = scores.best(|way| rest[way] < own, own);
        }
        // Between walls there are no lanes, and whoever steps aside is in somebody's way.
        let is_open = ways == u8::MAX;
        let crowded = self.crowded_ways(unit);
        let ahead = if is_open { self.ahead(unit, best, crowded) } else { Ahead::Other };
        let occupied = if is_open { OCCUPIED_IN_OPEN } else { OCCUPIED };
        let is_by_wall = unit.is_by_wall && is_open && !unit.has_arrived && push == STAY;
        if is_by_wall && best != STAY && is_diagonal(best) && self.cuts_in(unit, best, crowded) {
            scores.burden_way(best, CUT_IN * sixteenth);
        }
        self.add_burdens(&mut scores, unit, (push, best), (crowded, occupied, sixteenth));
        if ahead == Ahead::Oncoming {
            scores.burden_way(best, ONCOMING * sixteenth);
        }
        let is_waiting = unit.state == State::Waiting && !unit.has_given_up();
        let waited = if is_waiting { unit.waited(self.now) } else { 0 };
        let stay = match own {
            0 | FAR => own,
            rest => rest + (ahead.wait(unit.is_by_wall) + waited.min(64) / 8) * sixteenth,
        };
        Outlook { scores, ways, stay, best, knows_way: own != FAR }
    }

    /// Makes ways worth less on which somebody stands, and those ahead of whoever pushes the unit, unless
    /// it wants to go on along there by itself.
    #[inline(always)]
    fn add_burdens(
        &self,
        scores: &mut Scores,
        unit: &Unit,
        (push, best): (u8, u8),
        (crowded, occupied, sixteenth): (u8, u64, u64),
    ) {
        let goes_along = best != STAY && push != STAY && turn(best, push) <= 2 && !unit.has_arrived;
        let is_put_aside = push != STAY && !unit.is_idle() && !goes_along;
        if !is_put_aside {
            return scores.burden(crowded, occupied * sixteenth);
        }
        let is_other_way = unit.tries % 2 == 1;
        scores.burden_sorted(|at, way| {
            let aside = match is_other_way {
                true => (ASIDE_MOST - aside(way, push)) / 2,
                false => aside(way, push) / 2,
            };
            let occupied = u64::from(crowded >> way & 1) * occupied;
            let last = if is_other_way { 8 - at as u64 } else { 0 };
            (occupied + aside) * sixteenth + last
        });
    }

    /// The ways which others make worth less: those on which somebody stands.
    fn crowded_ways(&self, unit: &Unit) -> u8 {
        if unit.size > 1 || unit.is_ghost { 0 } else { self.board.standing_around(unit.tail) }
    }
}

/// The most that [`aside`] says.
const ASIDE_MOST: u64 = 12;

/// How little a unit that wants nothing likes to be pushed on this way, in sixteenths of a step: out of
/// the way to the side rather than ahead of whoever pushes.
const fn aside(way: u8, push: u8) -> u64 {
    match turn(way, push) {
        2 => 0,
        1 => 4,
        0 => 8,
        _ => ASIDE_MOST,
    }
}

/// What cells cost a unit.
pub(super) struct Ground<'a> {
    layer: &'a Layer,
    terrain: &'a [u8],
    /// What all of them cost, if that is the same.
    uniform: Option<u64>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(layer: &'a Layer, terrain: &'a [u8]) -> Self {
        let sum = u64::from(layer.cost_sum_range().0) * u64::from(layer.unit());
        Self { layer, terrain, uniform: layer.is_uniform().then_some(sum / 2) }
    }

    /// What every cell costs, if that is the same; 0 otherwise.
    pub(super) fn uniform(&self) -> u64 {
        self.uniform.unwrap_or(0)
    }

    #[inline]
    pub(super) fn cost(&self, place: Place) -> u64 {
        let (x, y) = (u32::from(place.x), u32::from(place.y));
        self.uniform.unwrap_or_else(|| u64::from(self.layer.cost(x, y, self.terrain)).max(1))
    }

    /// What the steps cost that `ways` names, by direction.
    #[inline]
    fn steps(&self, from: Place, ways: u8) -> [u64; 8] {
        if let Some(cost) = self.uniform {
            return steps_at(cost);
        }
        let own = self.cost(from);
        let mut steps = [0; 8];
        for way in (0..8).filter(|way| ways >> way & 1 == 1) {
            let weight = if is_diagonal(way) { DIAGONAL } else { STRAIGHT };
            steps[usize::from(way)] = u64::from(weight) * (own + self.cost(from.step(way)));
        }
        steps
    }
}

/// What steps cost, by direction, where every cell costs the same.
#[inline(always)]
pub(super) fn steps_at(cost: u64) -> [u64; 8] {
    let (straight, diagonal) = (2 * u64::from(STRAIGHT) * cost, 2 * u64::from(DIAGONAL) * cost);
    [straight, diagonal, straight, diagonal, straight, diagonal, straight, diagonal]
}
