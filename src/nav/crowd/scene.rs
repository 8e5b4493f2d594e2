//! What guides each unit: one interface over all sources.
//!
//! Input: the units, and what guides them: shared fields, groups and slots, their own paths, the way out of a blocked
//! area, or another unit that they let pass. Output: for a unit, the cost of the rest of its path from its own cell
//! and from each cell beside it. Every mechanism of the planner works with these nine numbers alone.

use core::hint::black_box;

use super::board::{Board, GridPos, Mode, NONE, STAY, StepCosts, Task, Unit, legal_directions};
use super::cost_to_go::{
    CostToGo, NeighborCosts, Sources, UNREACHABLE, World, around, costliest_step, route_cost,
    route_costs_around,
};
use super::groups::Groups;
use super::passages::TerrainShape;
use crate::nav::Layer;

/// The value from which costs are subtracted to reverse a direction of travel; far below what
/// [`Scores`](super::planner::scores::Scores) can hold.
const REVERSED_FROM: u64 = 1 << 55;

/// All that a decision reads and changes, for one tick.
pub struct Scene<'a> {
    pub world: World<'a>,
    pub board: &'a mut Board,
    pub sources: &'a mut Sources,
    pub groups: &'a mut Groups,
    pub shape: &'a mut TerrainShape,
}

impl Scene<'_> {
    /// Looks up the fields around all units that are to be decided, one unit after the other, so that the
    /// processor waits for many memory accesses at the same time.
    pub fn look_up_neighbor_costs(&mut self) {
        self.prefetch_surroundings();
        let world = self.world;
        for at in 0..self.board.ready.len() {
            let index = self.board.ready[at];
            let unit = &self.board.units[index];
            let Some(route) = self.groups.route_of(unit) else {
                continue;
            };
            if matches!(unit.task, Task::Group(_)) && self.sources.is_on_detour(index) {
                continue;
            }
            let Some(terrain) = StepCosts::of(world.grid, unit.profile) else {
                continue;
            };
            let cost_to_go = route_costs_around(world, route, unit.tail);
            // At the end of its group's field, or off the field, a member needs its own path.
            let is_at_end = matches!(cost_to_go[usize::from(STAY)], 0 | UNREACHABLE);
            if !is_at_end || !matches!(unit.task, Task::Group(_)) {
                let directions = legal_directions(terrain.layer, unit.tail);
                let costs = NeighborCosts { cost_to_go, directions, cell_cost: terrain.uniform() };
                self.sources.note_neighbor_costs(self.board, index, costs);
            }
        }
    }

    /// Reads the memory that will be needed around all units that are to be decided, so that the processor
    /// waits for many accesses at the same time. It works in rounds: what one round reads tells the next round where to read.
    fn prefetch_surroundings(&self) {
        let board = &*self.board;
        for &index in &board.ready {
            let unit = &board.units[index];
            if matches!(unit.task, Task::Path)
                && let Some(follower) = self.sources.follower(index)
            {
                follower.prefetch();
                self.groups.prefetch_progress(index);
            }
        }
        for &index in &board.ready {
            let cell = board.reservations.index(board.units[index].tail);
            for direction in [0, 1, 3, 4, 5, 7] {
                black_box(board.reservations.get(board.reservations.neighbor(cell, direction)));
            }
        }
        for &index in &board.ready {
            if matches!(board.units[index].task, Task::Path)
                && let Some(follower) = self.sources.follower(index)
            {
                follower.prefetch_corners();
            }
        }
    }

    /// Returns whether a unit stands on the goal of its order.
    pub fn is_at_goal(&self, index: u32) -> bool {
        let unit = &self.board.units[index];
        match unit.task {
            _ if unit.mode != Mode::Normal => false,
            Task::Route(route) => match self.sources.neighbor_costs(self.board, index) {
                Some(costs) => costs.cost_to_go[usize::from(STAY)] == 0,
                None => route_cost(self.world, route, unit.tail) == 0,
            },
            Task::Path | Task::Group(_) => unit.goal == unit.tail,
            Task::Idle => true,
        }
    }

    /// Updates whether a unit follows its own path at present, and its progress along that path.
    pub fn update_path_following(&mut self, index: u32) {
        let grid = self.world.grid;
        if matches!(self.board.units[index].task, Task::Group(_)) {
            self.sources.end_detour(&self.board.units[index], index);
            self.sources.begin_detour(self.board, grid, index);
        }
        let is_active = self.follows_own_path(index);
        self.sources.set_active(grid, (index, &self.board.units[index]), is_active);
        if is_active {
            self.sources.update_path_progress(self.board, grid, index);
        }
    }

    /// Lets a unit look along its own path, if it has only followed the path in this tick. The search considers other
    /// cells than the next one, and wherever it leads, the unit must remember the corner to which it goes.
    pub fn look_ahead(&mut self, index: u32) {
        let unit = &self.board.units[index];
        let has_looked = self.sources.neighbor_costs(self.board, index).is_some()
            || self.sources.follower(index).is_none_or(|follower| follower.field.is_some());
        if unit.task == Task::Path && unit.mode == Mode::Normal && !has_looked {
            self.sources.look_ahead(self.board, self.world.grid, (index, false));
        }
    }

    /// Returns whether a unit follows its own path at present.
    fn follows_own_path(&self, index: u32) -> bool {
        let unit = &self.board.units[index];
        match unit.task {
            Task::Path => true,
            Task::Group(_) if self.sources.is_on_detour(index) => true,
            Task::Group(_) if self.sources.neighbor_costs(self.board, index).is_some() => false,
            Task::Group(id) if unit.slot == NONE => {
                let group = &self.groups[id];
                let is_known = |route| route_cost(self.world, route, unit.tail) != UNREACHABLE;
                group.window.cost(unit.tail) == UNREACHABLE && !group.route.is_some_and(is_known)
            }
            _ => false,
        }
    }

    /// Returns the directions in which the terrain allows a unit to step, one bit each.
    pub fn unit_directions(&self, index: u32) -> u8 {
        let (unit, grid) = (&self.board.units[index], self.world.grid);
        // A unit that was pushed before it was decided may be outside already.
        if unit.is_trapped() && grid.cost(unit.profile, unit.tail.cell(grid)) == 0 {
            return self.sources.escape_directions(self.board, grid, unit);
        }
        let layer = grid.layer(unit.profile);
        layer.map_or(0, |layer| legal_directions(layer, unit.tail))
    }

    /// Returns the cost to go from the cells beside a unit in the given directions (bit mask), and from its
    /// own cell.
    pub fn cost_to_go_around(&self, (index, unit): (u32, &Unit), directions: u8) -> CostToGo {
        let grid = self.world.grid;
        match unit.mode {
            Mode::Normal => {}
            Mode::Escaping(side) => {
                let step = grid.layer(unit.profile).map_or(1, costliest_step);
                let cost = |pos| self.sources.escape_cost(grid, (unit.profile, side), (step, pos));
                return around(unit.tail, directions, &cost);
            }
            Mode::MakingWay(_, direction) => {
                let layer = grid.layer(unit.profile);
                return layer
                    .map_or([UNREACHABLE; 9], |layer| costs_of_making_way(layer, direction));
            }
            Mode::Yielding(passing) => {
                return self.reversed_costs(unit.tail, passing.index, directions);
            }
        }
        match unit.task {
            Task::Idle => [UNREACHABLE; 9],
            Task::Route(route) => route_costs_around(self.world, route, unit.tail),
            Task::Group(_) => self.member_cost_to_go((index, unit), directions),
            Task::Path => self.sources.path_costs_around(grid, (index, unit), directions),
        }
    }

    /// Returns costs that lead away from the goal of another unit, as seen from a position.
    fn reversed_costs(&self, tail: GridPos, passing: u32, directions: u8) -> CostToGo {
        let mut other = Unit { tail, ..self.board.units[passing] };
        if matches!(other.mode, Mode::Yielding(_)) {
            other.mode = Mode::Normal;
        }
        self.cost_to_go_around((passing, &other), directions).map(|cost| match cost {
            UNREACHABLE => UNREACHABLE,
            cost => REVERSED_FROM.saturating_sub(cost),
        })
    }

    /// Returns the cost to go around a member of a group. On a detour it leads back to the path of the member. Otherwise it
    /// leads to its slot, or around walls to the nearest slot; failing that, along the field of the group or along the path.
    /// [`UNREACHABLE`] everywhere for a member that has come to the end of its
    /// field or path but not to its slot.
    fn member_cost_to_go(&self, (index, unit): (u32, &Unit), directions: u8) -> CostToGo {
        if self.sources.is_on_detour(index) {
            return self.sources.path_costs_around(self.world.grid, (index, unit), directions);
        }
        if let Some(cost_to_go) = self.groups.slot_costs_around(self.world.grid, unit, directions) {
            return cost_to_go;
        }
        let route = unit.task.group().and_then(|id| self.groups[id].route);
        let mut cost_to_go = route
            .map_or([UNREACHABLE; 9], |route| route_costs_around(self.world, route, unit.tail));
        if cost_to_go[usize::from(STAY)] == UNREACHABLE {
            cost_to_go = self.sources.path_costs_around(self.world.grid, (index, unit), directions);
        }
        if cost_to_go[usize::from(STAY)] == 0 { [UNREACHABLE; 9] } else { cost_to_go }
    }
}

/// Returns the costs around a unit that makes way: its direction is better than staying, all others are worse.
fn costs_of_making_way(layer: &Layer, direction: u8) -> CostToGo {
    let step = costliest_step(layer);
    let mut costs = [8 * step; 9];
    costs[usize::from(STAY)] = 4 * step;
    if direction != STAY {
        costs[usize::from(direction)] = step;
    }
    costs
}
