//! What a unit does in a tick.
//!
//! Input: a unit that is to be decided. Output: it begins a step, arrives, or waits.

use super::board::{Hindrance, Mode, NONE, Rung};
use super::groups::return_delay::delays_return;
use super::planner::Planner;
use super::scene::Scene;

/// Decides whether a unit moves or waits in this tick.
pub fn decide(scene: &mut Scene<'_>, planner: &mut Planner, index: u32) {
    let unit = &mut scene.board.units[index];
    if unit.is_moving() || unit.is_idle() {
        return;
    }
    if unit.needs_refit {
        unit.hindrance = Hindrance::NoRoom;
        return wait(scene, index);
    }
    if unit.is_trapped() {
        if scene.board.free_if_outside(scene.world.grid, index) {
            return;
        }
        let route = scene.groups.route_of(&scene.board.units[index]);
        scene.sources.choose_exit(scene.board, scene.world, (index, route));
    }
    let unit = &scene.board.units[index];
    if unit.yields_to() != NONE && !planner.still_yields(scene, index) {
        scene.board.units[index].mode = Mode::Normal; // it goes on with its own order
        return scene.board.schedule_next_tick(index);
    }
    scene.groups.assign_slot(scene.board, scene.world.grid, index);
    scene.groups.settle_in_place(scene.board, scene.world.grid, index);
    scene.update_path_following(index);
    if scene.is_at_goal(index) {
        return scene.board.arrive(scene.world.grid, index);
    }
    if delays_return(scene.board, index) {
        scene.board.units[index].waiting_since = scene.board.tick_stamp();
    } else if may_plan(scene, index) && planner.plan(scene, index) {
        planner.commit(scene, index);
    } else if scene.board.units[index].speed == 0 {
        scene.board.units[index].hindrance = Hindrance::NoSpeed;
    }
    if !scene.board.units[index].is_moving() {
        wait(scene, index);
    }
}

/// Returns whether a unit may move in this tick. A unit that could not make room for another has nowhere to go, either. There
/// are two exceptions. A large unit may only be unable to make room in one step. Near passages, where units cannot get around
/// each other, a unit that has waited tries again: it may find a chain, or let out units that it shuts in. If the unit behind
/// it tried first in every tick, it would never do so.
fn may_plan(scene: &Scene<'_>, index: u32) -> bool {
    let (board, unit) = (&*scene.board, &scene.board.units[index]);
    let has_tried = unit.size == 1 && unit.stay_tick == board.tick_stamp();
    let tries_again = || {
        board.has_waited_for(index, Rung::SearchChains)
            && scene.shape.is_passage_near(unit.profile, unit.tail)
    };
    unit.speed > 0 && (!has_tried || tries_again())
}

fn wait(scene: &mut Scene<'_>, index: u32) {
    let is_circling = scene.groups.is_circling(scene.board, index);
    scene.board.wait(index, is_circling);
}
