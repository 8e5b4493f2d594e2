//! The fast path for a unit whose best direction is free.
//!
//! Input: a unit of one cell that is not pushed. Output: the same plan that the search would find, at a
//! fraction of the work; or none, and then the search runs. Most steps are planned here. A unit on its own path with no
//! other unit beside it follows that path, where the search might take another one of the same length.

use super::claim::{Claim, is_crossed, may_be_crossed, may_follow};
use super::{Planner, rank::evaluate};
use crate::nav::crowd::board::{
    Mode, NONE, Reservation, STAY, Task, legal_directions, uniform_step_costs,
};
use crate::nav::crowd::scene::Scene;

impl Planner {
    /// Plans a step in a unit's best direction, if that cell is free or being left and no passage is near;
    /// returns whether it did.
    pub fn plan_fast_step(&mut self, scene: &mut Scene<'_>, index: u32) -> bool {
        let unit = &scene.board.units[index];
        if unit.size > 1 || scene.shape.explore(scene.board, scene.world.grid, index) {
            return false;
        }
        let Some((direction, preferred_direction)) = best_direction(scene, index) else {
            return false;
        };
        let cell = scene.board.reservations.beside(unit.tail, direction);
        let Reservation { owner, next_owner } = scene.board.reservations.get(cell);
        if owner != NONE
            && (next_owner != NONE || !may_follow(scene.board, (index, owner), (cell, direction)))
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
        let steps = uniform_step_costs(scene.board.topology.widest(), costs.cell_cost);
        let evaluation = evaluate(scene.board, unit, STAY, costs, costs.cell_cost, &steps);
        return evaluation.first().map(|direction| (direction, evaluation.best));
    }
    let follows_path = unit.task == Task::Path && unit.mode == Mode::Normal;
    let is_alone = follows_path && scene.board.reservations.standing_neighbors(unit.tail) == 0;
    let follower = scene.sources.follower(index).filter(|_| is_alone)?;
    let direction = follower.next_direction(unit.tail)?;
    let layer = scene.world.grid.layer(unit.profile)?;
    let is_legal = legal_directions(layer, unit.tail) >> direction & 1 == 1;
    is_legal.then_some((direction, direction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::crowd::{Crowd, RouteId, UnitSettings, decide::decide};
    use crate::nav::{
        Cell, CellRect, ProfileId, field::DistanceField, grid::NavGrid, terrain::TerrainId,
    };

    /// Plans of the fast step, and those that the search makes as well.
    #[derive(Debug, Default)]
    struct Plans {
        fast: u32,
        equal: u32,
    }

    /// Plans a unit both ways, if both apply, and undoes both.
    fn compare(scene: &mut Scene<'_>, planner: &mut Planner, index: u32, plans: &mut Plans) {
        let before = scene.board.units[index];
        let is_free = !before.is_moving() && !before.is_idle() && before.mode == Mode::Normal;
        if !is_free || scene.board.ticks_waited(index) > 0 || scene.is_at_goal(index) {
            return;
        }
        scene.update_path_following(index);
        scene.shape.update_wall_proximity(scene.board, scene.world.grid, index);
        let unit = scene.board.units[index];
        let plan = |planner: &mut Planner, scene: &mut Scene<'_>, is_fast: bool| {
            planner.log.clear();
            planner.stack.clear();
            let is_planned = if is_fast {
                planner.plan_fast_step(scene, index)
            } else {
                planner.search(scene, index)
            };
            let log = format!("{:?}", planner.log);
            planner.undo_to(scene.board, 0);
            scene.board.units[index] = unit;
            is_planned.then_some(log)
        };
        if let Some(log) = plan(planner, scene, true) {
            plans.fast += 1;
            plans.equal += u32::from(plan(planner, scene, false) == Some(log));
        }
    }

    #[test]
    fn a_fast_step_is_the_step_that_the_search_finds() {
        let mut grid = NavGrid::new(60, 40, TerrainId(1)).unwrap();
        for wall in [(20, 5, 1, 12), (20, 22, 1, 14), (38, 8, 6, 6), (44, 20, 1, 16)] {
            let (x, y, width, height) = wall;
            grid.block(CellRect::new(Cell::new(x, y), width, height)).unwrap();
        }
        let goals = [(3, 20), (56, 20), (30, 3), (30, 36)].map(|(x, y)| Cell::new(x, y));
        let fields: Vec<DistanceField> = goals
            .map(|goal| {
                let mut field = <DistanceField>::new();
                field.start(&grid, ProfileId(0), goal).unwrap();
                while !field.is_finished() {
                    field.step(&grid, u32::MAX);
                }
                field
            })
            .into();
        for follows_path in [false, true] {
            let mut crowd = Crowd::new(&grid);
            let mut plans = Plans::default();
            for at in 0..120 {
                let cell = Cell::new(2 + at % 15, 2 + at / 15 * 4);
                let ticks = 7 + at as u32 * 5 % 14;
                let unit =
                    crowd.add(&grid, cell, UnitSettings::default().ticks_per_cell(ticks)).unwrap();
                let goal = at as usize % 4;
                if follows_path {
                    let path = grid.find_path(ProfileId(0), cell, goals[goal]).unwrap();
                    crowd.follow(&grid, unit, &path).unwrap();
                } else {
                    crowd.follow_route(unit, RouteId(goal as u32)).unwrap();
                }
            }
            for _ in 0..1_500 {
                crowd.tick_with(&grid, &fields, |scene, planner, index| {
                    compare(scene, planner, index, &mut plans);
                    decide(scene, planner, index);
                });
            }
            let least = if follows_path { plans.fast * 98 / 100 } else { plans.fast };
            assert!(plans.fast > 2_000 && plans.equal >= least, "{plans:?}, paths: {follows_path}");
        }
    }
}
