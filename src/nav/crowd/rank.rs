//! Which way a unit would like to go.
//!
//! Input: what the ground allows and what the rest of the way costs from each cell around. Output: the
//! ways in the order in which they are tried, and how many of them are better than staying.
//!
//! A way is worth the cost of its step and of the rest of the way behind it. Waiting counts for four
//! fifths of a straight step, and more with every tick waited: with a cheap wait head-on crowds freeze.

use super::{
    Crowd,
    board::{Place, is_diagonal, turn},
    guide::{FAR, Guidance, Rest, World},
    unit::{Errand, STAY, State, Unit},
};
use crate::nav::{
    layer::Layer,
    terrain::{DIAGONAL, STRAIGHT},
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

/// Sixteenths of a straight step that a cell counts for in which somebody stands.
const OCCUPIED: u64 = 2;
/// Sixteenths of a straight step that waiting counts for, at first.
const WAIT: u64 = 13;

impl Crowd {
    /// The ways of a unit that is pushed in a direction, or goes by itself ([`STAY`]).
    pub(super) fn rank<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        index: u32,
        push: u8,
    ) -> Ranking {
        let unit = &self.units[index as usize];
        let profile = crate::nav::terrain::ProfileId(unit.profile);
        let Some(layer) = world.grid.layer(profile) else {
            return Ranking::NOTHING;
        };
        let ways = self.ground_ways(world, index);
        let rest = match self.view(index) {
            Some(&rest) => rest,
            None => self.rest_around(world, (index, unit), ways),
        };
        let ground = Ground::new(layer, world.grid.terrain_bytes());
        let sixteenth = u64::from(STRAIGHT) * 2 * ground.cost(unit.tail) / 16;
        let mut scores = Scores::default();
        for way in order_of_ways(unit).into_iter().filter(|way| ways & 1 << way != 0) {
            let total = if unit.is_idle() {
                aside(way, push) * sixteenth
            } else {
                rest[usize::from(way)].saturating_add(ground.step(unit.tail, way))
            };
            scores.insert(way, total);
        }
        let best = if unit.is_idle() { STAY } else { scores.best(&rest) };
        self.add_burdens(&mut scores, unit, (push, best), sixteenth);
        let waited = if unit.state == State::Waiting { unit.waited(self.now) } else { 0 };
        let stay = match rest[usize::from(STAY)] {
            0 => 0,
            FAR => FAR,
            rest => rest + (WAIT + waited.min(64) / 8) * sixteenth,
        };
        scores.ranking(stay, best, rest[usize::from(STAY)] != FAR)
    }

    /// Makes ways worth less on which somebody stands, and those ahead of whoever pushes the unit, unless
    /// it wants to go on along there by itself.
    fn add_burdens(
        &self,
        scores: &mut Scores,
        unit: &Unit,
        (push, best): (u8, u8),
        sixteenth: u64,
    ) {
        let crowded = self.crowded_ways(unit);
        let goes_along = best != STAY && push != STAY && turn(best, push) <= 2 && !unit.has_arrived;
        let is_put_aside = push != STAY && !unit.is_idle() && !goes_along;
        let is_other_way = unit.tries % 2 == 1;
        for (at, (score, way)) in scores.list[..scores.len].iter_mut().enumerate() {
            let aside = match is_put_aside {
                true if is_other_way => (ASIDE_MOST - aside(*way, push)) / 2,
                true => aside(*way, push) / 2,
                false => 0,
            };
            let occupied = u64::from(crowded >> *way & 1) * OCCUPIED;
            let last = if is_put_aside && is_other_way { 8 - at as u64 } else { 0 };
            *score = score.saturating_add((occupied + aside) * sixteenth + last);
        }
        scores.list[..scores.len].sort_by_key(|&(score, _)| score);
    }

    /// The ways which others make worth less: those on which somebody stands.
    fn crowded_ways(&self, unit: &Unit) -> u8 {
        if unit.size > 1 || unit.is_ghost { 0 } else { self.board.standing_around(unit.tail) }
    }
}

/// The order in which the ways of a unit are looked at; of several that are worth the same the first
/// one counts.
///
/// Members of a group take straight steps first: a block of them walks in parallel lines then, as long as
/// it can. With diagonal steps first they would all meet on the diagonals of their goal, and go on in
/// single file. Everybody else takes the leftmost way: those who would all meet in one place circle
/// around it instead, all in the same sense.
fn order_of_ways(unit: &Unit) -> [u8; 8] {
    match unit.errand {
        Errand::Group(_) | Errand::Place(_) => [0, 2, 4, 6, 1, 3, 5, 7],
        _ => [3, 2, 1, 0, 7, 6, 5, 4].map(|way| (unit.direction + way) & 7),
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

    #[inline]
    pub(super) fn cost(&self, place: Place) -> u64 {
        let (x, y) = (u32::from(place.x), u32::from(place.y));
        self.uniform.unwrap_or_else(|| u64::from(self.layer.cost(x, y, self.terrain)).max(1))
    }

    /// What a step costs.
    #[inline]
    fn step(&self, from: Place, way: u8) -> u64 {
        let weight = if is_diagonal(way) { DIAGONAL } else { STRAIGHT };
        u64::from(weight) * (self.cost(from) + self.cost(from.step(way)))
    }
}

/// Ways sorted by what they are worth.
#[derive(Default)]
struct Scores {
    list: [(u64, u8); 8],
    len: usize,
}

impl Scores {
    fn insert(&mut self, way: u8, score: u64) {
        let mut at = self.len;
        while at > 0 && self.list[at - 1].0 > score {
            self.list[at] = self.list[at - 1];
            at -= 1;
        }
        self.list[at] = (score, way);
        self.len += 1;
    }

    /// Where the shortest way leads, whoever stands there: nearer to the goal, and not around.
    fn best(&self, rest: &Rest) -> u8 {
        let own = rest[usize::from(STAY)];
        let leads = |&&(total, way): &&(u64, u8)| total <= own && rest[usize::from(way)] < own;
        self.list[..self.len].iter().find(leads).map_or(STAY, |&(_, way)| way)
    }

    fn ranking(&self, stay: u64, best: u8, knows_way: bool) -> Ranking {
        let ways = self.list.map(|(_, way)| way);
        let worthwhile = self.list[..self.len].iter().take_while(|&&(score, _)| score < stay);
        Ranking {
            ways,
            len: self.len as u8,
            worthwhile: if knows_way { worthwhile.count() as u8 } else { 0 },
            best,
            knows_way,
        }
    }
}
