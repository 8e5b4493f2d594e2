//! How a complete plan is carried out.
//!
//! Input: the claims of a plan. Output: moving units, each with the time at which it arrives. A unit that enters a
//! cell that another is leaving arrives no sooner than the other, so it stays behind it for the whole step, whatever
//! their speeds; all units of a ring arrive at the same time.

use crate::nav::crowd::{
    Crowd,
    claim::Claim,
    guidance::{Guidance, World},
    step_costs::octile_distance,
    timer_wheel::SUBTICKS_PER_TICK,
    unit::Unit,
};

impl Crowd {
    /// Begins all steps of the plan.
    pub(in crate::nav::crowd) fn commit<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        root: u32,
    ) {
        for at in 0..self.planner.log.len() {
            if let Claim::Step(index) = self.planner.log[at] {
                if index != root {
                    self.note_arrival_in_passing(world, index);
                }
                self.begin_step(world, index);
                self.count_step(index);
                let is_wasted = self.is_wasted_step(index, root);
                let unit = &mut self.units[index as usize];
                unit.pushed_steps =
                    if index == root { 0 } else { unit.pushed_steps.saturating_add(1) };
                unit.wasted_steps = unit.wasted_steps.saturating_add(u8::from(is_wasted));
                self.counters.pushes += u64::from(index != root);
            }
        }
        let is_alone = matches!(self.planner.log[..], [Claim::Owner(_), Claim::Step(_)]);
        while !is_alone && self.delay_followers() {}
        for at in 0..self.planner.log.len() {
            if let Claim::Step(index) = self.planner.log[at] {
                let due = self.units[index as usize].end.div_ceil(SUBTICKS_PER_TICK);
                self.timers.put(index, self.now, due);
                self.wake_around_tail(index);
            }
        }
        self.planner.log.clear();
        self.planner.waiting_before.clear();
    }

    /// Returns whether a unit makes a step that does not bring it nearer, in the plan of a unit that only
    /// returns to its goal.
    fn is_wasted_step(&self, index: u32, root: u32) -> bool {
        let unit = &self.units[index as usize];
        let comes_nearer = || {
            let goal = self.sources.goal(index);
            octile_distance(unit.head, goal) < octile_distance(unit.tail, goal)
        };
        self.units[root as usize].is_returning() && (index != root || !comes_nearer())
    }

    /// Delays units that follow others so that they start and arrive no sooner; returns whether that changed
    /// anything.
    fn delay_followers(&mut self) -> bool {
        let mut is_changed = false;
        for at in 0..self.planner.log.len() {
            let Claim::NextOwner(cell) = self.planner.log[at] else {
                continue;
            };
            let reservation = self.reservations.get(cell);
            let Unit { start, end, .. } = self.units[reservation.owner as usize];
            let follower = &mut self.units[reservation.next_owner as usize];
            if follower.start < start || follower.end < end {
                follower.start = follower.start.max(start);
                follower.end = follower.end.max(end);
                is_changed = true;
            }
        }
        is_changed
    }
}
