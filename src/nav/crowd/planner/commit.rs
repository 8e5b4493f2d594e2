//! How a complete plan is carried out.
//!
//! Input: the claims of a plan. Output: moving units, each with the time at which it arrives. A unit that enters a
//! cell that another is leaving arrives no sooner than the other, so it stays behind it for the whole step, whatever
//! their speeds; all units of a ring arrive at the same time.

use super::{Planner, claim::Claim};
use crate::nav::crowd::board::{Board, GridPos, SUBTICKS_PER_TICK, Task, Unit};
use crate::nav::crowd::scene::Scene;

impl Planner {
    /// Begins all steps of the plan.
    pub fn commit(&mut self, scene: &mut Scene<'_>, root: u32) {
        for at in 0..self.log.len() {
            if let Claim::Step(index) = self.log[at] {
                if index != root {
                    note_arrival_in_passing(scene, index);
                }
                scene.board.begin_step(scene.world.grid, index);
                scene.shape.note_passage(scene.board, index);
                scene.sources.note_step(scene.board, scene.world.grid, index);
                scene.groups.count_step(scene.board, (scene.sources, scene.world.grid), index);
                let is_wasted = is_wasted_step(scene, index, root);
                let unit = &mut scene.board.units[index];
                unit.pushed_steps =
                    if index == root { 0 } else { unit.pushed_steps.saturating_add(1) };
                unit.wasted_steps = unit.wasted_steps.saturating_add(u8::from(is_wasted));
                scene.board.counters.pushes += u64::from(index != root);
            }
        }
        while self.delay_followers(scene.board) {}
        for at in 0..self.log.len() {
            if let Claim::Step(index) = self.log[at] {
                let due = scene.board.units[index].end.div_ceil(SUBTICKS_PER_TICK);
                scene.board.timers.put(index, scene.board.now, due);
                scene.board.wake_around_tail(index);
            }
        }
        self.log.clear();
    }

    /// Delays units that follow others so that they start and arrive no sooner; returns whether that changed
    /// anything.
    fn delay_followers(&mut self, board: &mut Board) -> bool {
        let mut is_changed = false;
        for at in 0..self.log.len() {
            let Claim::NextOwner(cell) = self.log[at] else {
                continue;
            };
            let reservation = board.reservations.get(cell);
            let Unit { start, end, .. } = board.units[reservation.owner];
            let follower = &mut board.units[reservation.next_owner];
            if follower.start < start || follower.end < end {
                follower.start = follower.start.max(start);
                follower.end = follower.end.max(end);
                is_changed = true;
            }
        }
        is_changed
    }
}

/// Returns whether a unit makes a step that does not bring it nearer, in the plan of a unit that only
/// returns to its goal.
fn is_wasted_step(scene: &Scene<'_>, index: u32, root: u32) -> bool {
    let unit = &scene.board.units[index];
    let distance = |pos: GridPos| pos.open_distance(unit.goal, scene.board.topology);
    let is_detour = || distance(unit.head) >= distance(unit.tail);
    scene.board.units[root].is_returning() && (index != root || is_detour())
}

/// Records the arrival of a unit that is pushed off its goal in the tick in which it got there. Only for units on shared
/// fields: members of groups and units with their own paths push few units on their way back.
fn note_arrival_in_passing(scene: &mut Scene<'_>, index: u32) {
    let unit = &scene.board.units[index];
    let follows_route = matches!(unit.task, Task::Route(_));
    if follows_route && !unit.has_arrived && scene.is_at_goal(index) {
        scene.board.note_arrival(scene.world.grid, index);
    }
}
