//! Jump point search: successors are not neighbors, but the next cells at which a path may turn.
//!
//! Along a straight line that is the next jump point (a cell with a forced neighbor) or the goal. Along a
//! diagonal it is any jump point that a straight scan from one of its cells finds: the diagonal's cells
//! themselves (turning points) are not nodes, as they have no forced neighbors while corners may not be cut.
//! With four neighbors, columns take the place of diagonals: paths go up or down first. On hexagons, three of the
//! six directions take their place. All scans are looked up in the layer's jump map.
//!
//! On weighted cost, cells on cost borders are jump points as well; there, steps are pruned by comparing
//! costs (see [`JumpTerrain`]).
//!
//! Sources: D. Harabor & A. Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (AAAI 2011),
//! "Improving Jump Point Search" (ICAPS 2014); M. Carlson et al., "Optimal Pathfinding on Weighted Grid Maps"
//! (AAAI 2023) for jumps over weighted terrain.

use super::{
    Phase, Search, World,
    jump_nodes::{JumpNode, NO_NODE},
    target::Turn,
};
use crate::nav::{Adjacency, Direction, JumpTerrain, Key, NodeId, OpenList, STRAIGHT, directions};

/// So many turning points cost as much as an expansion (estimated). An expansion has two or three of them; on hexagons up
/// to a hundred, because walls across their rows are jagged.
const TURNING_POINTS_PER_EXPANSION: u32 = 16;

/// The node that is being expanded.
struct ExpandedNode<'a> {
    terrain: &'a JumpTerrain<'a>,
    id: NodeId,
    node: JumpNode,
    f: u64,
    /// Cost sum of a step between two cells that cost what the node's cell does.
    cost_sum: u32,
    /// Whether it lies outside the corridor that confines the search.
    is_outside: bool,
}

/// A path to a successor: its last direction, its number of steps, and their weight.
#[derive(Clone, Copy)]
struct Jump {
    arrival: Direction,
    steps: u32,
    weight: u32,
}

impl<L: OpenList> Search<L> {
    /// Expands up to `budget` nodes, fewer where they have many turning points; returns how much of the
    /// budget that took.
    pub(super) fn expand_jumps(&mut self, terrain: &JumpTerrain, world: World, budget: u32) -> u32 {
        match (terrain.map.has_cost_borders(), terrain.map.adjacency) {
            (false, Adjacency::Four) => self.expand_jump_nodes::<false, 4>(terrain, world, budget),
            (false, Adjacency::Six) => self.expand_jump_nodes::<false, 6>(terrain, world, budget),
            (false, Adjacency::Eight) => self.expand_jump_nodes::<false, 8>(terrain, world, budget),
            (true, Adjacency::Four) => self.expand_jump_nodes::<true, 4>(terrain, world, budget),
            (true, Adjacency::Six) => self.expand_jump_nodes::<true, 6>(terrain, world, budget),
            (true, Adjacency::Eight) => self.expand_jump_nodes::<true, 8>(terrain, world, budget),
        }
    }

    fn expand_jump_nodes<const WEIGHTED: bool, const N: u8>(
        &mut self,
        terrain: &JumpTerrain,
        world: World,
        budget: u32,
    ) -> u32 {
        let headroom = u64::from(self.target.headroom);
        // Work on goal cells counts in full, even where one long line of sight exceeds the budget.
        let (mut spent, mut goal_work) = (0_u32, 0_u32);
        while spent.saturating_add(goal_work) < budget {
            let Some((id, node)) = self.next_jump_node() else {
                let left = budget - spent - goal_work;
                if let Some(work) = self.open_goal_cell_when_empty(world, left) {
                    goal_work = goal_work.saturating_add(work);
                    continue;
                }
                goal_work = goal_work.saturating_add(self.end_exhausted(world));
                return spent.saturating_add(goal_work).saturating_add(1);
            };
            let (x, y) = node.cell();
            let distance = self.target.distance(terrain.layer, x, y);
            if distance == 0 {
                self.counters.expansions += 1;
                self.phase = Phase::Reached(id);
                return spent.saturating_add(goal_work).saturating_add(1);
            }
            self.probe.nearest_distance = self.probe.nearest_distance.min(distance);
            let f = u64::from(node.g) + u64::from(node.h);
            if self.goal_cells.needs_next(id, f + headroom) {
                let left = budget - spent - goal_work;
                let work = self.open_next_goal_cell(world, f, left);
                goal_work = goal_work.saturating_add(work);
                if spent.saturating_add(goal_work) >= budget {
                    self.jump_nodes.get_mut(id).is_closed = false;
                    self.put_back(id, f);
                    break;
                }
            }
            self.counters.expansions += 1;
            let cost_sum = terrain.cost_sum_at::<WEIGHTED>(x, y);
            let is_outside = self.is_confined && !self.hierarchy.corridor.contains(x, y);
            let from = ExpandedNode { terrain, id, node, f, cost_sum, is_outside };
            let turning_points = self.jump_all::<WEIGHTED, N>(&from);
            self.count_open();
            if self.is_finished() {
                return spent.saturating_add(goal_work).saturating_add(1);
            }
            let work = 1 + turning_points / TURNING_POINTS_PER_EXPANSION;
            self.probe.work += u64::from(work);
            spent = spent.saturating_add(work);
        }
        spent.min(budget).saturating_add(goal_work)
    }

    /// Jumps in all directions worth trying; returns the number of turning points.
    #[inline(always)]
    fn jump_all<const WEIGHTED: bool, const N: u8>(&mut self, from: &ExpandedNode) -> u32 {
        use Direction::{North, NorthEast, NorthWest, SouthWest, West};
        let mut turning_points = 0;
        let (x, y) = from.node.cell();
        let successors = from.terrain.successors::<WEIGHTED>(x, y, from.node.arrival);
        for direction in directions(successors) {
            turning_points += match Direction::from_bits(direction as u8) {
                straight if !straight.has_side_scans::<N>() => {
                    self.jump_straight::<WEIGHTED>(from, straight)
                }
                NorthEast | North => self.jump_branching::<WEIGHTED, N, true, true>(from),
                NorthWest | West => self.jump_branching::<WEIGHTED, N, false, true>(from),
                SouthWest => self.jump_branching::<WEIGHTED, 8, false, false>(from),
                // Southeast and south.
                _ => self.jump_branching::<WEIGHTED, N, true, false>(from),
            };
            if self.is_finished() {
                break;
            }
        }
        turning_points
    }

    #[inline]
    fn next_jump_node(&mut self) -> Option<(NodeId, JumpNode)> {
        loop {
            let id = self.immediate.take().map(|(id, _)| id).or_else(|| self.open.pop())?;
            let node = self.jump_nodes.get_mut(id);
            if !node.is_closed {
                node.is_closed = true;
                return Some((id, *node));
            }
        }
    }

    /// Generates the goal or the next jump point on a straight line. It has no turning points.
    #[inline]
    fn jump_straight<const WEIGHTED: bool>(
        &mut self,
        from: &ExpandedNode,
        arrival: Direction,
    ) -> u32 {
        let (x, y) = from.node.cell();
        let stop = from.terrain.straight::<WEIGHTED>(x, y, arrival);
        let limit = stop.distance + u32::from(stop.is_jump_point);
        let jump = |steps| Jump { arrival, steps, weight: steps * STRAIGHT };
        match self.target.straight_steps(x, y, arrival) {
            Some(steps) if steps < limit => self.relax_goal::<WEIGHTED>(from, jump(steps)),
            _ if stop.is_jump_point => {
                let cell = arrival.cell_at(x, y, stop.distance);
                self.relax_jump::<WEIGHTED>(from, cell, jump(stop.distance));
            }
            _ => {}
        }
        0
    }

    /// Generates the jump points seen from the turning points of a diagonal (with four neighbors: a column; on hexagons: a scan
    /// to the north, west or southeast); returns the number of turning points.
    #[inline]
    fn jump_branching<const WEIGHTED: bool, const N: u8, const RIGHT: bool, const UP: bool>(
        &mut self,
        from: &ExpandedNode,
    ) -> u32 {
        let (arrival, sides) = Direction::scan_directions::<N, RIGHT, UP>();
        let (start, map) = (from.node.cell(), from.terrain.map);
        let turn = self.target.turn::<N>(start, arrival, sides);
        let (mut cell, mut steps, mut turning_points) = (start, 0, 0);
        loop {
            let passed = steps;
            let (distance, is_turning_point) =
                map.next_turning_point::<N, RIGHT, UP>(cell.0, cell.1);
            steps += distance;
            cell = arrival.cell_at(start.0, start.1, steps);
            let is_border =
                WEIGHTED && is_turning_point && from.terrain.is_on_cost_border(cell.0, cell.1);
            let terrain = from.terrain;
            let along_edges = is_border
                .then(|| terrain.steps_along_edges::<WEIGHTED>(cell, arrival, sides))
                .flatten();
            let is_node = is_border && along_edges.is_none();
            let limit = steps + u32::from(is_turning_point && !is_node);
            let open = along_edges.unwrap_or(u8::MAX);
            let is_turn_open = turn.steps < steps || open >> turn.side as u8 & 1 == 1;
            if passed < turn.steps && turn.steps < limit && (turn.remaining == 0 || is_turn_open) {
                self.try_goal::<WEIGHTED, N>(from, arrival, turn);
            }
            if !is_turning_point {
                return turning_points;
            }
            turning_points += 1;
            let weight = steps * Adjacency::with_neighbors(N).weight(arrival);
            if is_node {
                self.relax_jump::<WEIGHTED>(from, cell, Jump { arrival, steps, weight });
                return turning_points;
            }
            for side in sides {
                if !WEIGHTED || open >> side as u8 & 1 == 1 {
                    self.relax_side::<WEIGHTED>(from, cell, (steps, weight), side);
                }
            }
            if WEIGHTED && open >> arrival as u8 & 1 == 0 {
                return turning_points;
            }
        }
    }

    /// Generates the jump point seen from a turning point to one side, if there is one.
    #[inline(always)]
    fn relax_side<const WEIGHTED: bool>(
        &mut self,
        from: &ExpandedNode,
        cell: (u32, u32),
        first_leg: (u32, u32),
        side: Direction,
    ) {
        let stop = from.terrain.straight::<WEIGHTED>(cell.0, cell.1, side);
        if stop.is_jump_point {
            self.relax_turn::<WEIGHTED>(from, cell, first_leg, (stop.distance, side));
        }
    }

    /// Generates the goal, reached by a turn from the scan in `direction`, if no stop lies in between.
    fn try_goal<const WEIGHTED: bool, const N: u8>(
        &mut self,
        from: &ExpandedNode,
        direction: Direction,
        Turn { steps, remaining, side }: Turn,
    ) {
        let (x, y) = from.node.cell();
        let (x, y) = direction.cell_at(x, y, steps);
        let weight = steps * Adjacency::with_neighbors(N).weight(direction);
        if remaining == 0 {
            self.relax_goal::<WEIGHTED>(from, Jump { arrival: direction, steps, weight });
            return;
        }
        let stop = from.terrain.straight::<WEIGHTED>(x, y, side);
        if remaining < stop.distance + u32::from(stop.is_jump_point) {
            let weight = weight + remaining * STRAIGHT;
            let jump = Jump { arrival: side, steps: steps + remaining, weight };
            self.relax_goal::<WEIGHTED>(from, jump);
        }
    }

    /// Records a path to the goal. If it costs no more than the lower bound of the expanded node, it is the cheapest path.
    fn relax_goal<const WEIGHTED: bool>(&mut self, from: &ExpandedNode, jump: Jump) {
        self.relax_jump::<WEIGHTED>(from, (self.target.x, self.target.y), jump);
        if let Some((id, Key { h: 0, .. })) = self.immediate {
            self.phase = Phase::Reached(id);
        }
    }

    /// Records a path of `steps` steps to `(x, y)` and then `distance` steps in direction `arrival`.
    #[inline]
    fn relax_turn<const WEIGHTED: bool>(
        &mut self,
        from: &ExpandedNode,
        (x, y): (u32, u32),
        (steps, weight): (u32, u32),
        (distance, arrival): (u32, Direction),
    ) {
        let jump = Jump { arrival, steps: steps + distance, weight: weight + distance * STRAIGHT };
        self.relax_jump::<WEIGHTED>(from, arrival.cell_at(x, y, distance), jump);
    }

    /// Records a path to `(x, y)`.
    #[inline]
    fn relax_jump<const WEIGHTED: bool>(
        &mut self,
        from: &ExpandedNode,
        (x, y): (u32, u32),
        jump: Jump,
    ) {
        let cost_sum = if WEIGHTED && jump.steps == 1 {
            // From one cost border to the next.
            let step = (from.node.cell(), (x, y));
            from.terrain.single_step_sum(from.cost_sum, step, jump.arrival as usize)
        } else {
            from.cost_sum
        };
        let g = u64::from(from.node.g) + u64::from(jump.weight) * u64::from(cost_sum);
        if from.is_outside && !self.hierarchy.corridor.contains(x, y) {
            return;
        }
        let (id, is_new) = self.jump_nodes.find_or_add(x, y);
        let known = self.jump_nodes.get(id);
        // Nodes with overflowed costs are unknown.
        let is_known = !is_new && known.g < u32::MAX;
        let h = if !is_known {
            let distance = self.target.distance(from.terrain.layer, x, y);
            self.heuristic((x, y), distance)
        } else if u64::from(known.g) <= g {
            return;
        } else {
            u64::from(known.h)
        };
        if g + h >= u64::from(u32::MAX) {
            self.target.overflow = true;
            self.jump_nodes.get_mut(id).g = u32::MAX;
            return;
        }
        let (g, h) = (g as u32, h as u32);
        let node = self.jump_nodes.get_mut(id);
        (node.g, node.h, node.parent, node.arrival) = (g, h, from.id, jump.arrival as u8);
        self.enqueue(id, Key { f: g + h, h }, is_known, from.f);
    }

    /// Directions and lengths of the legs from the reached node back to the root of the search; some have
    /// length 0.
    pub(super) fn legs_to_root(
        &self,
        reached: NodeId,
        adjacency: Adjacency,
    ) -> impl Iterator<Item = (Direction, u32)> + '_ {
        let mut id = reached;
        core::iter::from_fn(move || {
            let node = self.jump_nodes.get(id);
            id = node.parent;
            (id != NO_NODE).then(|| legs_between(&self.jump_nodes.get(id), &node, adjacency))
        })
        .flatten()
    }
}

/// The straight leg into a node, and the leg before it: along a diagonal; with four neighbors, along a column; on
/// hexagons, in a branching direction.
fn legs_between(parent: &JumpNode, node: &JumpNode, adjacency: Adjacency) -> [(Direction, u32); 2] {
    let (from, to) = (parent.cell(), node.cell());
    let (dx, dy) = (to.0.wrapping_sub(from.0) as i32, to.1.wrapping_sub(from.1) as i32);
    let (columns, rows) = (dx.unsigned_abs(), dy.unsigned_abs());
    let arrival = Direction::from_bits(node.arrival);
    match adjacency {
        Adjacency::Four => {
            return [(arrival, columns), (Direction::from_offset(0, dy.signum()), rows)];
        }
        Adjacency::Six => return legs_on_hexagons(arrival, (dx, dy)),
        Adjacency::Eight => {}
    }
    let diagonal = Direction::from_offset(dx.signum(), dy.signum());
    [(arrival, columns.abs_diff(rows)), (diagonal, columns.min(rows))]
}

/// The same on hexagons, for a jump by an offset.
fn legs_on_hexagons(arrival: Direction, (dx, dy): (i32, i32)) -> [(Direction, u32); 2] {
    use Direction::{East, North, NorthWest, South, SouthEast, West};
    // The steps of the branching leg (in the first of two directions if positive, in the second if negative) and of the
    // straight leg.
    let (branching, straight) = match arrival {
        East => (dy, if dy > 0 { dx } else { dx + dy }),
        NorthWest => (dx + dy, if dx + dy > 0 { -dx } else { dy }),
        South => (dx, if dx > 0 { -dx - dy } else { -dy }),
        _ => (0, dx.abs().max(dy.abs())),
    };
    let directions = match arrival {
        East => [North, SouthEast],
        NorthWest => [North, West],
        South => [SouthEast, West],
        other => [other; 2],
    };
    let direction = directions[usize::from(branching < 0)];
    [(arrival, straight.unsigned_abs()), (direction, branching.unsigned_abs())]
}
