//! A ring of units each of which waits for the next one: all of them go at once.
//!
//! Input: a unit that has waited for some time. Output: a plan in which it and the units ahead of it move, each in the
//! direction it prefers, into the cell of the next; or none, if that does not lead back to the first. Nobody makes room
//! for anybody, so priorities do not matter. The search by pushes misses such a ring where a unit from outside pushes into it
//! in the same tick, and the search for chains where neighbors go the same way.

use super::claim::is_crossed;
use super::{Planner, chain::Push};
use crate::nav::crowd::board::{Board, NONE, STAY, State, Unit};
use crate::nav::crowd::scene::Scene;

/// Most units in a ring. Nearly all have four.
const MAX_UNITS: usize = 64;

impl Planner {
    /// Plans the steps of the ring to which a unit belongs and writes them to the log; returns whether there is one.
    pub fn plan_ring(&mut self, scene: &mut Scene<'_>, root: u32) -> bool {
        let Some(units) = ring_len(scene, root) else {
            return false;
        };
        self.pushes.clear();
        self.pushes.push(Push::first(root));
        let mut at = root;
        for from in 0..units as u32 - 1 {
            let direction = scene.board.units[at].preferred_direction;
            at = unit_ahead(scene.board, at);
            self.pushes.push(Push { unit: at, direction, from });
        }
        let last = &scene.board.units[at];
        let cell = scene.board.reservations.beside(last.tail, last.preferred_direction);
        let last = (last.preferred_direction, cell);
        self.log_chain(scene.board, units as u32 - 1, last)
    }
}

/// Returns the number of units in the ring to which a unit belongs.
fn ring_len(scene: &mut Scene<'_>, root: u32) -> Option<usize> {
    let mut index = root;
    for len in 1..=MAX_UNITS {
        index = next_in_ring(scene, index)?;
        if index == root {
            return Some(len);
        }
    }
    None
}

/// Returns the unit for which another one waits, if that stands and wants to go somewhere else.
fn next_in_ring(scene: &mut Scene<'_>, index: u32) -> Option<u32> {
    let Unit { tail, preferred_direction: direction, .. } = scene.board.units[index];
    if direction == STAY || scene.unit_directions(index) & 1 << direction == 0 {
        return None;
    }
    let ahead = unit_ahead(scene.board, index);
    let other = scene.board.units.get(ahead)?;
    let cell = scene.board.reservations.index(other.tail);
    let is_waiting = other.state == State::Waiting && other.size == 1 && other.speed > 0;
    let is_open = is_waiting
        && !other.needs_refit
        && scene.board.reservations.get(cell).next_owner == NONE
        && !is_crossed(scene.board, tail, direction)
        && !scene.shape.is_against_traffic(scene.board, index, direction);
    is_open.then_some(ahead)
}

/// Returns the unit on the cell that a unit prefers, or [`NONE`].
fn unit_ahead(board: &Board, index: u32) -> u32 {
    let unit = &board.units[index];
    let cell = board.reservations.beside(unit.tail, unit.preferred_direction);
    board.reservations.get(cell).owner
}
