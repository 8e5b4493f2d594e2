//! Whoever shuts others in lets them out.
//!
//! Input: a unit in whose way nobody can make room, and those it would push. Output: those come out
//! towards it, and let it pass; it stands back meanwhile.

use super::{
    Crowd,
    guide::{FAR, Guidance, World},
    unit::{Errand, NONE, STAY, Unit},
};

/// Ticks for which a unit that stands back for others leaves it to them to move.
const STANDS_BACK: u64 = 64;

impl Crowd {
    /// Whether a unit leaves it to others for now to move.
    pub(super) fn is_standing_back(&self, index: u32) -> bool {
        self.units[index as usize].stands_back && self.waited(index) < STANDS_BACK
    }

    /// Nobody in the way of `root` can make room: they are shut in by it (in a dead end, say). Whoever of
    /// them wants to go somewhere goes before all others from now on; the others are to come out, too,
    /// and let it pass. It leaves that to them for a while; where it makes room for them, in what branch
    /// of the way behind it, differs from one time to the next, so that in the end there is room for
    /// all of them beside it (the swap at a junction: Okumura, "LaCAM", AAAI 2023).
    pub(super) fn let_out(&mut self, root: u32) {
        let is_fleeing = self.units[root as usize].flees != NONE;
        for at in 1..self.pushes.len() {
            let index = self.pushes[at].unit;
            let unit = &mut self.units[index as usize];
            if unit.stands_back {
                continue;
            }
            let wants = unit.errand != Errand::Idle && !unit.has_arrived;
            if !wants && !is_fleeing {
                unit.flees = root;
            }
            if wants || unit.flees == root {
                unit.since = self.foremost - if wants { 2 } else { 1 };
                self.call_soon(index);
            }
        }
        self.foremost -= 2;
        let now = self.now;
        let shuts_in = self.pushes.len() > 1;
        let unit = &mut self.units[root as usize];
        unit.waits_since = now as u32;
        unit.yields = true;
        unit.stands_back = shuts_in;
        unit.tries = unit.tries.wrapping_add(u8::from(shuts_in && !unit.has_arrived));
        self.counters.let_out += 1;
    }

    /// Whether the one whom a unit lets pass is past it, or goes there no more.
    pub(super) fn is_past<G: Guidance + ?Sized>(&self, world: &World<'_, G>, index: u32) -> bool {
        let unit = self.units[index as usize];
        let other = self.units[unit.flees as usize];
        if other.is_idle() || other.has_arrived || other.flees != NONE || !other.is_there() {
            return true;
        }
        let here = Unit { tail: unit.tail, ..other };
        let own = self.rest_around(world, (unit.flees, &here), 0)[usize::from(STAY)];
        let rest = self.rest_around(world, (unit.flees, &other), 0)[usize::from(STAY)];
        own > rest || own == FAR
    }

    /// A unit that let somebody pass goes its own way again.
    pub(super) fn stop_fleeing(&mut self, index: u32) {
        self.units[index as usize].flees = NONE;
        self.call_soon(index);
    }
}
