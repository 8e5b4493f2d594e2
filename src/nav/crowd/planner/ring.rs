//! A ring of units, each of which waits for the next: all of them go at once.
//!
//! Input: a unit that has waited for some time. Output: a plan in which it and the units ahead of it move, each in the
//! direction it prefers, into the cell of the next; or none, if that does not lead back to the first. No unit makes
//! room for another, so priorities do not matter. The search by pushes misses such a ring if a unit from outside pushes into it
//! in the same tick; the search for chains misses it if neighbors go the same way.

use super::claim::is_crossed;
use super::{Planner, chain::Push};
use crate::nav::crowd::board::{NONE, Reservation, STAY, State, Unit};
use crate::nav::crowd::scene::Scene;

/// Most units in a ring. Nearly all have four.
const MAX_UNITS: u32 = 64;

impl Planner {
    /// Plans the steps of the ring to which a unit belongs and writes them to the log; returns whether there is one.
    pub fn plan_ring(&mut self, scene: &mut Scene<'_>, root: u32) -> bool {
        self.pushes.clear();
        self.pushes.push(Push::first(root));
        let mut index = root;
        for from in 0..MAX_UNITS {
            let Some(ahead) = next_in_ring(scene, index) else {
                return false;
            };
            let direction = scene.board.units[index].preferred_direction;
            if ahead == root {
                return self.log_chain(scene.board, from, direction);
            }
            self.pushes.push(Push { unit: ahead, direction, from });
            index = ahead;
        }
        false
    }
}

/// Returns the unit for which a unit waits, if that unit stands and waits to go somewhere itself.
fn next_in_ring(scene: &mut Scene<'_>, index: u32) -> Option<u32> {
    let Unit { tail, preferred_direction: direction, .. } = scene.board.units[index];
    if direction == STAY || scene.unit_directions(index) & 1 << direction == 0 {
        return None;
    }
    let cell = scene.board.reservations.beside(tail, direction);
    let Reservation { owner: ahead, next_owner } = scene.board.reservations.get(cell);
    let other = scene.board.units.get(ahead)?;
    let is_waiting = other.state == State::Waiting && other.size == 1 && other.speed > 0;
    let is_open = is_waiting
        && !other.needs_refit
        && next_owner == NONE
        && !is_crossed(scene.board, tail, direction)
        && !scene.shape.is_against_traffic(scene.board, index, direction);
    is_open.then_some(ahead)
}
