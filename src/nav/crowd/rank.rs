//! Which way a unit would like to go.
//!
//! Input: what the ground allows and what the rest of the way costs from each cell around. Output: the
//! ways in the order in which they are tried, and how many of them are better than staying.
//!
//! A way is worth the cost of its step and of the rest of the way behind it. Waiting counts for four
//! fifths of a straight step, and more with every tick waited: with a cheap wait head-on crowds freeze.

use super::{
    Crowd,
    board::{is_diagonal, turn},
    guide::{FAR, Guidance, World},
    unit::{STAY, State},
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
        let rest = self.rest_around(world, (index, unit), ways);
        let ground = Ground::new(layer, world.grid.terrain_bytes());
        let (x, y) = (u32::from(unit.tail.x), u32::from(unit.tail.y));
        let here = ground.cost(x, y);
        let sixteenth = u64::from(STRAIGHT) * 2 * here / 16;
        let is_idle = unit.is_idle();
        let mut scores = Scores::default();
        let (mut best, mut best_score) = (STAY, rest[usize::from(STAY)]);
        for way in 0..8 {
            if ways & 1 << way == 0 {
                continue;
            }
            let there = unit.tail.step(way);
            let weight = if is_diagonal(way) { DIAGONAL } else { STRAIGHT };
            let sum = here + ground.cost(u32::from(there.x), u32::from(there.y));
            let step = u64::from(weight) * sum;
            let total = if is_idle {
                aside(way, push) * sixteenth
            } else {
                rest[usize::from(way)].saturating_add(step)
            };
            if !is_idle && total < best_score.saturating_add(1) && rest[usize::from(way)] < rest[8]
            {
                (best, best_score) = (way, total);
            }
            let aside = if is_idle || push == STAY { 0 } else { aside(way, push) / 2 };
            let worse = self.crowding(index, way) + aside;
            scores.insert(way, total.saturating_add(worse * sixteenth));
        }
        let waited = if unit.state == State::Waiting { self.now - unit.waits_since } else { 0 };
        let wait = (WAIT + waited.min(64) / 8) * sixteenth;
        let stay = match rest[usize::from(STAY)] {
            0 => 0,
            FAR => FAR,
            rest => rest + wait,
        };
        scores.ranking(stay, best, rest[usize::from(STAY)] != FAR)
    }

    /// What others make a way worth less, in sixteenths of a step.
    fn crowding(&self, index: u32, way: u8) -> u64 {
        let unit = &self.units[index as usize];
        if unit.size > 1 || unit.is_ghost {
            return 0;
        }
        let beside = self.board.beside(self.board.index(unit.tail), way);
        let owner = self.board.hold(beside).owner;
        match self.units.get(owner as usize) {
            Some(other) if !other.is_moving() => OCCUPIED,
            _ => 0,
        }
    }
}

/// How little a unit that wants nothing likes to be pushed on this way, in sixteenths of a step: out of
/// the way to the side rather than ahead of whoever pushes.
const fn aside(way: u8, push: u8) -> u64 {
    match turn(way, push) {
        2 => 0,
        1 => 4,
        0 => 8,
        _ => 12,
    }
}

/// What cells cost a unit.
struct Ground<'a> {
    layer: &'a Layer,
    terrain: &'a [u8],
    /// What all of them cost, if that is the same.
    uniform: Option<u64>,
}

impl<'a> Ground<'a> {
    fn new(layer: &'a Layer, terrain: &'a [u8]) -> Self {
        let sum = u64::from(layer.cost_sum_range().0) * u64::from(layer.unit());
        Self { layer, terrain, uniform: layer.is_uniform().then_some(sum / 2) }
    }

    #[inline]
    fn cost(&self, x: u32, y: u32) -> u64 {
        self.uniform.unwrap_or_else(|| u64::from(self.layer.cost(x, y, self.terrain)).max(1))
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
