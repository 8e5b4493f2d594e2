//! The fast path for a unit whose best direction is free.
//!
//! Input: a unit of one cell that is not pushed. Output: the same plan that the search would find, at a
//! fraction of the work; or none, and then the search runs. Most steps are planned here.

use super::claim::{Claim, is_crossed, is_leaving, may_be_crossed};
use super::{Planner, rank::evaluate};
use crate::nav::crowd::board::{
    Mode, NONE, Order, Reservation, STAY, legal_directions, uniform_step_costs,
};
use crate::nav::crowd::scene::Scene;

impl Planner {
    /// Plans a step in a unit's best direction, if that cell is free or being left and no passage is near;
    /// returns whether it did.
    pub fn plan_fast_step(&mut self, scene: &mut Scene<'_>, index: u32) -> bool {
        let unit = &scene.board.units[index];
        if unit.size > 1 || !is_in_open(scene, index) {
            return false;
        }
        let Some((direction, preferred_direction)) = best_direction(scene, index) else {
            return false;
        };
        let unit = &scene.board.units[index];
        let cell = scene.board.reservations.beside(unit.tail, direction);
        let Reservation { owner, next_owner } = scene.board.reservations.get(cell);
        if owner != NONE && (next_owner != NONE || !is_leaving(scene.board, owner, cell, direction))
        {
            return false;
        }
        if may_be_crossed(scene.board, unit.tail, direction)
            && is_crossed(scene.board, unit.tail, direction)
        {
            return false;
        }
        scene.board.units[index].preferred_direction = preferred_direction;
        scene.board.counters.decisions += 1;
        self.claim(scene.board, index, cell);
        self.plan_step(scene.board, index, direction);
        self.log.push(Claim::Step(index));
        true
    }
}

/// Returns the direction that a unit ranks first, and the direction of its shortest path.
fn best_direction(scene: &Scene<'_>, index: u32) -> Option<(u8, u8)> {
    let unit = &scene.board.units[index];
    // On weighted terrain the step costs differ.
    if let Some(costs) =
        scene.sources.neighbor_costs(scene.board, index).filter(|costs| costs.cell_cost != 0)
    {
        let steps = uniform_step_costs(costs.cell_cost);
        let evaluation = evaluate(scene.board, unit, STAY, costs, costs.cell_cost, &steps);
        return evaluation.first().map(|direction| (direction, evaluation.best));
    }
    let follows_path = unit.order == Order::Path && unit.mode == Mode::Normal;
    let is_alone = follows_path && scene.board.reservations.standing_neighbors(unit.tail) == 0;
    let follower = scene.sources.follower(index).filter(|_| is_alone)?;
    let direction = follower.next_direction(unit.tail)?;
    let layer = scene.world.grid.layer(unit.profile)?;
    let is_legal = legal_directions(layer, unit.tail) >> direction & 1 == 1;
    is_legal.then_some((direction, direction))
}

/// Returns whether no passage is near a unit.
fn is_in_open(scene: &mut Scene<'_>, index: u32) -> bool {
    let unit = scene.board.units[index];
    let passages = scene.shape.passages_of(unit.profile, scene.board.size);
    passages.is_far(unit.tail) || {
        let layer = scene.world.grid.layer(unit.profile);
        layer.is_some_and(|layer| !passages.explore(layer, unit.tail))
    }
}
