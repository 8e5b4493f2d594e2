//! Casts the rays of a node: costs are written cell by cell, and nodes are added where rays end.
//!
//! Input: the current node, and the stops of scans from the jump map. Output: costs of all cells that
//! canonical order reaches from the node before it has to examine a neighborhood again, and a node at every
//! cell where it has to.
//!
//! - A straight ray goes as far as the next stop. On the cells between, canonical order has only one step:
//!   straight on.
//! - A walk along a diagonal (with four neighbors: along a column; on hexagons: in a direction that branches) sends straight rays to both sides from each of
//!   its cells, as canonical order does. It ends where a step is illegal, and on a cost border.
//! - Any ray ends after `max_steps` steps with a node like any other: from a cell that is no jump point,
//!   canonical order just continues. So no piece of work is long, and near cells are done first.
//! - A ray ends as soon as it meets a cell that is known to cost as little (see `ray_fill`).
//!
//! A walk can be interrupted after any of its cells and resumed there.

use super::{
    DistanceField,
    ray_fill::{NodeInProgress, RayNode},
    work_budget::WorkBudget,
};
use crate::nav::{Adjacency, Direction, JumpTerrain, STRAIGHT, jump_map::Stop};

/// Work to find where rays stop, in eighths of a unit.
const SCAN_WORK: u32 = 4;

/// The start of a straight ray, its direction and its costs.
#[derive(Clone, Copy)]
struct Ray {
    x: u32,
    y: u32,
    index: usize,
    cost: u32,
    direction: Direction,
    /// Cost of a step.
    step: u32,
    /// Maximum length.
    max_steps: u32,
}

impl DistanceField {
    /// Casts rays in the remaining directions until the budget is spent.
    pub(super) fn cast_rays<const WEIGHTED: bool, const N: u8>(
        &mut self,
        terrain: &JumpTerrain,
        current: &mut NodeInProgress,
        work: &mut WorkBudget,
    ) {
        use Direction::{North, NorthEast, NorthWest, SouthWest, West};
        while current.directions != 0 && !work.is_empty() {
            let direction = Direction::from_bits(current.directions.trailing_zeros() as u8);
            let is_done = match direction {
                straight if !straight.has_side_scans::<N>() => {
                    self.cast_straight::<WEIGHTED>(terrain, current, straight, work);
                    true
                }
                NorthEast | North => {
                    self.walk_branching::<WEIGHTED, N, true, true>(terrain, current, work)
                }
                NorthWest | West => {
                    self.walk_branching::<WEIGHTED, N, false, true>(terrain, current, work)
                }
                SouthWest => {
                    self.walk_branching::<WEIGHTED, 8, false, false>(terrain, current, work)
                }
                // Southeast and south.
                _ => self.walk_branching::<WEIGHTED, N, true, false>(terrain, current, work),
            };
            if is_done {
                current.directions &= current.directions - 1;
                current.steps_done = 0;
            }
        }
    }

    /// Casts a straight ray from the node itself.
    fn cast_straight<const WEIGHTED: bool>(
        &mut self,
        terrain: &JumpTerrain,
        current: &NodeInProgress,
        direction: Direction,
        work: &mut WorkBudget,
    ) {
        let RayNode { x, y, cost, .. } = current.node;
        let stop = terrain.straight::<WEIGHTED>(x, y, direction);
        let cost_sum = if WEIGHTED && stop.is_jump_point && stop.distance == 1 {
            let (to_x, to_y) = direction.cell_at(x, y, 1);
            let step = ((x, y), (to_x, to_y));
            terrain.single_step_sum(current.cost_sum, step, direction as usize)
        } else {
            current.cost_sum
        };
        let (index, step) = (self.layout.index(x, y), STRAIGHT * cost_sum);
        work.spend(SCAN_WORK);
        let max_steps = current.max_steps;
        self.write_ray(stop, &Ray { x, y, index, cost, direction, step, max_steps }, work);
    }

    /// Walks along a diagonal (with four neighbors: a column; on hexagons: to the north, west or southeast), casting rays to
    /// both sides from each cell; returns whether the walk is done, rather than out of budget.
    fn walk_branching<const WEIGHTED: bool, const N: u8, const RIGHT: bool, const UP: bool>(
        &mut self,
        terrain: &JumpTerrain,
        current: &mut NodeInProgress,
        work: &mut WorkBudget,
    ) -> bool {
        let (direction, sides) = Direction::scan_directions::<N, RIGHT, UP>();
        let weight = Adjacency::with_neighbors(N).weight(direction);
        let (map, step, max_steps) = (terrain.map, STRAIGHT * current.cost_sum, current.max_steps);
        let (x, y) = direction.cell_at(current.node.x, current.node.y, current.steps_done);
        let cost = current.node.cost + current.steps_done * weight * current.cost_sum;
        let mut at = Ray { x, y, index: self.layout.index(x, y), cost, direction, step, max_steps };
        let (mut steps_to_stop, mut can_step) = (0, false);
        loop {
            if steps_to_stop == 0 {
                (steps_to_stop, can_step) = map.next_turning_point::<N, RIGHT, UP>(at.x, at.y);
            }
            steps_to_stop -= 1;
            if steps_to_stop == 0 && !can_step {
                return true;
            }
            let from = (at.x, at.y);
            (at.x, at.y) = direction.cell_at(at.x, at.y, 1);
            at.index = self.layout.index_of_neighbor(at.index, direction as usize);
            let is_on_cost_border =
                WEIGHTED && steps_to_stop == 0 && terrain.is_on_cost_border(at.x, at.y);
            let along_edges = is_on_cost_border
                .then(|| terrain.steps_along_edges::<WEIGHTED>((at.x, at.y), direction, sides))
                .flatten();
            let cost_sum = if is_on_cost_border {
                let step = (from, (at.x, at.y));
                terrain.single_step_sum(current.cost_sum, step, direction as usize)
            } else {
                current.cost_sum
            };
            at.cost += weight * cost_sum;
            if self.costs[at.index] <= at.cost {
                return true;
            }
            self.costs[at.index] = at.cost;
            current.steps_done += 1;
            let is_node = is_on_cost_border && along_edges.is_none();
            if is_node || current.steps_done >= max_steps {
                let Ray { x, y, cost, .. } = at;
                self.push_node(RayNode { x, y, cost, arrival: direction as u8 });
                return true;
            }
            let open = along_edges.unwrap_or(u8::MAX);
            self.cast_sideways::<WEIGHTED>(terrain, at, (sides, open), work);
            if WEIGHTED && open >> direction as u8 & 1 == 0 {
                return true;
            }
            if work.is_empty() {
                return false;
            }
        }
    }

    /// Casts straight rays to those sides of a walk that are `open`.
    #[inline(always)]
    fn cast_sideways<const WEIGHTED: bool>(
        &mut self,
        terrain: &JumpTerrain,
        at: Ray,
        (sides, open): ([Direction; 2], u8),
        work: &mut WorkBudget,
    ) {
        work.spend(SCAN_WORK);
        // Written out one by one: each call is compiled for its own direction.
        let (first, second) =
            (Ray { direction: sides[0], ..at }, Ray { direction: sides[1], ..at });
        let is_open = |side: Direction| !WEIGHTED || open >> side as u8 & 1 == 1;
        if is_open(first.direction) {
            let stop = terrain.straight::<WEIGHTED>(at.x, at.y, first.direction);
            self.write_ray(stop, &first, work);
        }
        if is_open(second.direction) {
            let stop = terrain.straight::<WEIGHTED>(at.x, at.y, second.direction);
            self.write_ray(stop, &second, work);
        }
    }

    /// Writes costs along a ray as far as its next stop.
    #[inline(always)]
    fn write_ray(&mut self, stop: Stop, ray: &Ray, work: &mut WorkBudget) {
        let steps = stop.distance - u32::from(!stop.is_jump_point);
        let count = steps.min(ray.max_steps);
        let (first, cells) = (ray.index, count as usize);
        let costs = self.costs.as_mut_slice();
        let written = match ray.direction {
            Direction::East => {
                write_rising(costs[first + 1..][..cells].iter_mut(), ray.cost, ray.step)
            }
            Direction::West => {
                write_rising(costs[first - cells..first].iter_mut().rev(), ray.cost, ray.step)
            }
            column => {
                let stride = self.layout.index_offset(column as usize);
                write_rising_strided(stride, costs, first, count, ray.cost, ray.step)
            }
        };
        work.spend(written);
        if written == count && (stop.is_jump_point || steps > count) {
            let (x, y) = ray.direction.cell_at(ray.x, ray.y, count);
            let cost = ray.cost + count * ray.step;
            self.push_node(RayNode { x, y, cost, arrival: ray.direction as u8 });
        }
    }
}

/// Writes costs that rise by `step` into cells, in order, until a cell has no higher cost; returns how many
/// it wrote.
#[inline(always)]
fn write_rising<'a>(cells: impl Iterator<Item = &'a mut u32>, mut cost: u32, step: u32) -> u32 {
    let mut written = 0;
    for known in cells {
        cost += step;
        if *known <= cost {
            break;
        }
        *known = cost;
        written += 1;
    }
    written
}

/// Does the same for `count` cells that lie `stride` apart, starting after `index`.
#[inline(always)]
fn write_rising_strided(
    stride: isize,
    costs: &mut [u32],
    mut index: usize,
    count: u32,
    mut cost: u32,
    step: u32,
) -> u32 {
    for written in 0..count {
        index = index.wrapping_add_signed(stride);
        cost += step;
        let known = &mut costs[index];
        if *known <= cost {
            return written;
        }
        *known = cost;
    }
    count
}
