//! Mates exchange their goals where one at rest stands in the way of another.
//!
//! Input: units that go along paths of their own to places of their own, and count as mates. Output: the
//! same places, dealt otherwise: whoever finds the next cell of its way held by a mate at rest takes that
//! one's place, and that one goes on instead. So a hole in a group travels outward, nobody
//! walks around those at rest, and nobody pushes them off their places (the rule for targets of TSWAP:
//! Okumura & Défago, "Solving Simultaneous Target Assignment and Path Planning Efficiently with
//! Time-Independent Execution", ICAPS 2022).

use super::{
    Crowd, CrowdEvent,
    guide::{Guidance, World},
    unit::{Errand, NONE, STAY, State},
};

/// Mates that are both on their way exchange their goals within so many cells of them.
const NEAR: u32 = 6;

impl Crowd {
    /// Lets a unit take the place of a mate that is in its way; says whether it did.
    pub(super) fn exchange<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        index: u32,
    ) -> bool {
        let unit = &self.units[index as usize];
        if unit.mates == 0 || unit.flees != NONE || unit.is_trapped || unit.size > 1 {
            return false;
        }
        let tail = unit.tail;
        let way = match self.ways[index as usize].next_step(tail) {
            Some(way) => way,
            None => self.rank(world, index, STAY).best,
        };
        if way == STAY {
            return false;
        }
        let other = self.board.hold(self.board.index(tail.step(way))).owner;
        if other == NONE || !self.are_mates(index, other) || !self.is_worth_it(index, other) {
            return false;
        }
        self.ways.swap(index as usize, other as usize);
        let (unit, with) = (self.id(index), self.id(other));
        self.events.push(CrowdEvent::Exchanged { unit, with });
        self.counters.exchanges += 1;
        self.units[other as usize].has_arrived = false;
        self.call_soon(other);
        true
    }

    /// Whether a unit may exchange its goal with another, which stands.
    fn are_mates(&self, index: u32, other: u32) -> bool {
        let (unit, mate) = (&self.units[index as usize], &self.units[other as usize]);
        mate.mates == unit.mates
            && mate.profile == unit.profile
            && mate.team == unit.team
            && mate.speed > 0
            && mate.errand == Errand::Way
            && mate.flees == NONE
            && !mate.is_trapped
            && matches!(mate.state, State::Standing | State::Waiting)
    }

    /// Whether the other is at rest; or both are near their goals and nearer to those of each other: the
    /// sum of squares falls with every such exchange, so there is an end to it.
    fn is_worth_it(&self, index: u32, other: u32) -> bool {
        if self.units[other as usize].has_arrived && self.is_at_end(other) {
            return true;
        }
        let [unit, mate] = [index, other].map(|at| self.units[at as usize].tail);
        let [goal, its] = [index, other].map(|at| self.ways[at as usize].end());
        let before = [unit.apart(goal), mate.apart(its)];
        let after = [unit.apart(its), mate.apart(goal)];
        before.iter().all(|&apart| apart <= NEAR * NEAR)
            && after.iter().sum::<u32>() < before.iter().sum()
    }
}
