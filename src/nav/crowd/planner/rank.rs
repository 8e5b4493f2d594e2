//! The order in which a unit tries directions.
//!
//! Input: the directions that the terrain allows, and the cost-to-go from each neighboring cell. Output: the
//! directions in the order in which they are tried, and how many of them are better than staying.
//!
//! A direction costs its step plus the cost-to-go behind it. Waiting costs about four fifths of a straight
//! step, and more with every tick waited: if waiting is cheap, crowds that meet head-on freeze. Behind units
//! that go in the same direction, but to another goal, it costs more, so that lanes form next to each other
//! around corners. In a queue for one goal no unit gains by stepping out of the queue; on
//! hexagons, where that would cost the least, a unit stays in it for long ([`Rung::StopYielding`]). Units with their own
//! paths have different goals but may still stand in one queue, before a door: there, waiting does not cost them more, or
//! they would drift sideways.

use super::leader::{Leader, ONCOMING_PENALTY, cuts_in, goes_along_ahead, is_followed, leader};
use super::scores::{Scores, tie_order};
use crate::nav::crowd::board::{Board, Rung, STAY, State, StepCosts, Task, Unit};
use crate::nav::crowd::cost_to_go::{NeighborCosts, UNREACHABLE};
use crate::nav::crowd::scene::Scene;
use crate::nav::{STRAIGHT, Topology, direction::directions as iter_directions};

/// Directions out of a cell, best first.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Ranking {
    pub directions: [u8; 8],
    pub len: u8,
    /// How many of them are better than staying.
    pub worthwhile: u8,
    /// Direction of the shortest path, whether the cell there is free or not; [`STAY`] at its end.
    pub best: u8,
    /// Whether any path to the goal is known.
    pub has_path: bool,
}

/// The scores of the directions around a unit.
pub struct Evaluation {
    scores: Scores,
    directions: u8,
    /// The score of staying.
    stay: u64,
    /// As in [`Ranking`].
    pub best: u8,
    has_path: bool,
}

impl Evaluation {
    /// Returns the best direction, if it is better than staying.
    #[inline(always)]
    pub fn first(&self) -> Option<u8> {
        self.scores.first(self.stay).filter(|_| self.has_path)
    }

    /// Returns all directions, best first.
    fn ranking(mut self) -> Ranking {
        self.scores.sort();
        Ranking {
            directions: self.scores.directions(),
            len: self.directions.count_ones() as u8,
            worthwhile: if self.has_path { self.scores.count_below(self.stay) } else { 0 },
            best: self.best,
            has_path: self.has_path,
        }
    }
}

impl Ranking {
    /// Returns whether a straight direction of squares is better than staying.
    pub fn has_straight(&self) -> bool {
        let worthwhile = &self.directions[..usize::from(self.worthwhile)];
        !worthwhile.iter().all(|&direction| Topology::Square.is_diagonal(direction))
    }

    /// Removes the diagonal directions of squares.
    pub fn remove_diagonals(&mut self) {
        let best = self.best;
        self.remove(0b1010_1010);
        if best != STAY && Topology::Square.is_diagonal(best) && self.worthwhile > 0 {
            self.best = self.directions[0];
        }
    }

    /// Puts a direction first.
    pub fn prefer(&mut self, direction: u8) {
        let len = usize::from(self.len);
        if let Some(at) = self.directions[..len].iter().position(|&known| known == direction) {
            self.directions[..=at].rotate_right(1);
            self.worthwhile += u8::from(at >= usize::from(self.worthwhile));
        }
    }

    /// Removes closed directions.
    pub fn remove(&mut self, closed: u8) {
        let (mut len, mut worthwhile) = (0, 0);
        for at in 0..self.len {
            let direction = self.directions[usize::from(at)];
            if closed & 1 << direction == 0 {
                self.directions[usize::from(len)] = direction;
                len += 1;
                worthwhile += u8::from(at < self.worthwhile);
            }
        }
        (self.len, self.worthwhile) = (len, worthwhile);
    }
}

/// What waiting costs at most in a queue on hexagons, in sixteenths of a straight step. There a unit has neighbors that are as far
/// from its goal as its own cell: a step to one of them costs one straight step, and gains nothing in a queue. (Squares have no
/// such neighbors: there a step comes nearer, or costs 22 sixteenths and more.)
const MAX_WAIT_ON_HEXAGONS: u64 = 16;
/// Penalty near a wall for a diagonal step that cuts in front of a unit going straight on, in sixteenths of a
/// straight step.
const CUT_IN_PENALTY: u64 = 16;
/// Penalty near a gate for a diagonal step of a unit with another one right behind it: the follower needs as long as the step
/// takes, and so do all units behind it. A straight step and a step to the side are 9 sixteenths longer together, but hold up
/// no unit. This makes a doorway of two cells a tenth faster.
const HOLD_UP_PENALTY: u64 = 11;
/// Penalty for a cell on which a unit stands, in sixteenths of a straight step.
const OCCUPIED_PENALTY: u64 = 2;
/// The same on open terrain.
const OCCUPIED_PENALTY_IN_OPEN: u64 = 4;

/// The maximum of [`push_penalty`].
const MAX_PUSH_PENALTY: u64 = 12;

/// Returns the penalty for a pushed unit to go in a direction, in sixteenths of a straight step: it is better
/// to make room to the side than to stay ahead of the pusher.
const fn push_penalty(topology: Topology, direction: u8, push: u8) -> u64 {
    match topology.turn_angle(direction, push) {
        2 => 0,
        1 => 4,
        0 => 8,
        _ => MAX_PUSH_PENALTY,
    }
}

/// Ranks the directions of a unit that is pushed in a direction, or not pushed ([`STAY`]).
pub fn rank(scene: &Scene<'_>, index: u32, push: u8) -> Ranking {
    let unit = &scene.board.units[index];
    let Some(terrain) = StepCosts::of(scene.world.grid, unit.profile) else {
        return Ranking { best: STAY, ..Ranking::default() };
    };
    let costs = match scene.sources.neighbor_costs(scene.board, index) {
        Some(&costs) => costs,
        None => {
            let directions = scene.unit_directions(index);
            let cost_to_go = scene.cost_to_go_around((index, unit), directions);
            NeighborCosts { cost_to_go, directions, cell_cost: 0 }
        }
    };
    let steps = terrain.steps(unit.tail, costs.directions);
    let cell_cost = cost_of_waiting(&terrain, unit, costs.directions, &steps);
    evaluate(scene.board, unit, push, &costs, cell_cost, &steps).ranking()
}

/// Returns the cost of a cell by which waiting is measured: on costly ground beside cheap ground, the cost for the cheapest
/// straight step. Otherwise stepping off and back again would be better than waiting, and a unit that does so never waits for
/// long.
fn cost_of_waiting(terrain: &StepCosts, unit: &Unit, directions: u8, steps: &[u64; 8]) -> u64 {
    let straight = iter_directions(directions & terrain.layer.adjacency().straight_directions());
    let cheapest = straight.map(|direction| steps[direction] / (2 * u64::from(STRAIGHT))).min();
    terrain.cost(unit.tail).min(cheapest.unwrap_or(u64::MAX))
}

/// Scores the directions around a unit, given the cost by which waiting is measured and that of the steps.
#[inline(always)]
pub fn evaluate(
    board: &Board,
    unit: &Unit,
    push: u8,
    &NeighborCosts { ref cost_to_go, directions, .. }: &NeighborCosts,
    cell_cost: u64,
    steps: &[u64; 8],
) -> Evaluation {
    let sixteenth = u64::from(STRAIGHT) * 2 * cell_cost / 16;
    let own = cost_to_go[usize::from(STAY)];
    // Between walls there are no lanes, and a unit that steps aside is in the way of another.
    let is_open = directions == board.topology.widest().directions();
    let order = tie_order(unit, is_open);
    let (mut scores, best);
    if unit.is_idle() {
        // It keeps off costly ground where it can.
        let score = |direction: usize| {
            let weight = u64::from(board.topology.widest().weights()[direction & 1]);
            let more = steps[direction].saturating_sub(2 * weight * cell_cost);
            push_penalty(board.topology, direction as u8, push) * sixteenth + more
        };
        scores = Scores::new(directions, order, score);
        best = STAY;
    } else {
        let score = |direction: usize| cost_to_go[direction].saturating_add(steps[direction]);
        scores = Scores::new(directions, order, score);
        // Only cells nearer to the goal, and no detours.
        best = scores.best(|direction| cost_to_go[direction] < own, own);
    }
    let is_large = unit.size > 1;
    let occupied = if is_large { 0 } else { board.reservations.standing_neighbors(unit.tail) };
    let leader = if is_open { leader(board, unit, best, occupied) } else { Leader::Other };
    let occupied_penalty = if is_open { OCCUPIED_PENALTY_IN_OPEN } else { OCCUPIED_PENALTY };
    let is_near_wall = unit.is_near_wall && is_open && !unit.has_arrived && push == STAY;
    if is_near_wall && board.topology.is_diagonal(best) && cuts_in(board, unit, best, occupied) {
        scores.penalize_directions(1 << best, CUT_IN_PENALTY * sixteenth);
    }
    let penalties = (occupied, occupied_penalty, sixteenth);
    add_penalties(&mut scores, (board.topology, unit), (push, best), penalties);
    if leader == Leader::Oncoming {
        scores.penalize_directions(1 << best, ONCOMING_PENALTY * sixteenth);
    }
    if unit.is_near_gate && !unit.has_arrived && (push != STAY || is_followed(board, unit)) {
        let diagonals = !board.topology.widest().straight_directions();
        scores.penalize_directions(diagonals, HOLD_UP_PENALTY * sixteenth);
    }
    let stay = match own {
        0 | UNREACHABLE => own,
        own => own + cost_of_staying(board, unit, best, (leader, is_open)) * sixteenth,
    };
    Evaluation { scores, directions, stay, best, has_path: own != UNREACHABLE }
}

/// Returns what waiting adds to the cost-to-go of a unit's own cell, in sixteenths of a straight step.
#[inline(always)]
fn cost_of_staying(board: &Board, unit: &Unit, best: u8, (leader, is_open): (Leader, bool)) -> u64 {
    let is_waiting = unit.state == State::Waiting;
    let waited = if is_waiting { unit.ticks_waited(board.now) } else { 0 };
    let is_impatient = is_waiting
        && !unit.has_given_up()
        && !queues_on_its_path(board, unit, best, (leader, is_open));
    let impatience = if is_impatient { waited.min(64) / 8 } else { 0 };
    let cost = leader.wait_cost(unit, board.topology) + impatience;
    let may_stay_in_queue = board.topology == Topology::Hexagonal
        && unit.size == 1
        && cost > MAX_WAIT_ON_HEXAGONS
        && waited < unit.ticks_until(Rung::StopYielding);
    if !may_stay_in_queue || !goes_along_ahead(board, unit, best) {
        return cost;
    }
    // Lanes form around corners: at first, a step aside is better than waiting, but only onto a free cell.
    let forms_lane =
        unit.is_near_wall && leader != Leader::Other && waited < unit.ticks_until(Rung::Queue);
    MAX_WAIT_ON_HEXAGONS + u64::from(forms_lane)
}

/// Returns whether a unit with its own path stands in a queue: behind a unit that goes in the same direction
/// or, near a wall, after some time behind a unit that goes in about that direction.
fn queues_on_its_path(
    board: &Board,
    unit: &Unit,
    best: u8,
    (leader, is_open): (Leader, bool),
) -> bool {
    let is_slow = || unit.ticks_waited(board.now) >= unit.ticks_until(Rung::Queue);
    matches!(unit.task, Task::Path)
        && (leader == Leader::Queued
            || (unit.is_near_wall || !is_open) && is_slow() && goes_along_ahead(board, unit, best))
}

/// Adds penalties for cells on which units stand. A unit that is pushed, and would not go in about that
/// direction anyway, also gets penalties for directions ahead of its pusher.
#[inline(always)]
fn add_penalties(
    scores: &mut Scores,
    (topology, unit): (Topology, &Unit),
    (push, best): (u8, u8),
    (occupied, occupied_penalty, sixteenth): (u8, u64, u64),
) {
    let is_pushed = push != STAY;
    let goes_along =
        best != STAY && is_pushed && topology.turn_angle(best, push) <= 2 && !unit.has_arrived;
    let is_put_aside = is_pushed && !unit.is_idle() && !goes_along;
    if !is_put_aside {
        return scores.penalize(occupied, occupied_penalty * sixteenth);
    }
    let is_reversed = unit.stand_backs % 2 == 1;
    scores.penalize_sorted(|at, direction| {
        let aside = match is_reversed {
            true => (MAX_PUSH_PENALTY - push_penalty(topology, direction, push)) / 2,
            false => push_penalty(topology, direction, push) / 2,
        };
        let occupied = u64::from(occupied >> direction & 1) * occupied_penalty;
        let tie = if is_reversed { 8 - at as u64 } else { 0 };
        (occupied + aside) * sixteenth + tie
    });
}
