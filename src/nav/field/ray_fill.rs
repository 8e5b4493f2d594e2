//! The loop that fills a field by rays: take the cheapest node, cast its rays (see `rays`).
//!
//! Input: nodes by cost. Output: costs of cells, and the *front*: the cost of the node taken last. A cell's
//! cost is final as soon as the front has reached it. Nodes cheaper than the front have cast their rays, and
//! whatever the others still find lies beyond the front, as every step costs something.
//!
//! Algorithm: Dijkstra's, where canonical order proceeds by jumps (see `search::jump`) and fills in the cells
//! that they jump over. It is correct where jump point search is: where corners may not be cut.
//!
//! A ray ends, without a new node, at a cell that is known to cost as little or less. So the first of several equally cheap
//! paths to a cell must be enough, whether its ray passes through the cell or ends there. The reason: say `p
//! → v → w` is a cheapest path to `w`, the ray that was first at `v` came from `p`, and canonical order
//! leaves `w` out at `v`.
//! - It does not leave `w` out for a cheaper path, as there is none. So there is a path `p → u → w` of the same cost,
//!   where `p → v` is straight and `p → u` diagonal (with four neighbors: horizontal and vertical).
//! - On terrain of one cost, and with four neighbors, `u → w` is then straight (horizontal), and no path of
//!   equal cost replaces such a step: whichever ray was first at `u`, `w` is not left out there.
//! - On a cost border `u → w` may be left out in turn, for a third path, and so on; but not in a circle. With
//!   `c` for the cost of a cell, `g(u) − g(v) = 577 (c(p) + c(u)) − 408 (c(p) + c(v))`. Around a circle that
//!   adds up to 169 times all those costs, and has to add up to zero.
//! - Not covered by this: one step `p → w` that replaces `p → v → w` at equal cost. It requires `169 (c(p) +
//!   c(w)) = 816 c(v)`, so a `c(v)` that is a multiple of 169, and more such coincidences around `p`; no grid
//!   is known where it leads to a higher cost.
//!
//! - On hexagons, `u → w` is a straight step (see `jump_map::hexagons`), and only branching steps are left out for an
//!   equally cheap path, on any terrain; a single step is always cheaper than two.
//!
//! So, by induction over cost, each cell is reached by rays that a neighbor on a cheapest path passes on. A
//! node is out of date if a cheaper path to its cell was found later: it is dropped when it is taken.
//!
//! Sources: N. Sturtevant & S. Rabin, "Canonical Orderings on Grids" (IJCAI 2016), for filling by canonical
//! order and for jumps as its contraction; D. Harabor & A. Grastien, "Online Graph Pruning for Pathfinding on
//! Grid Maps" (AAAI 2011). Options considered, by a model of seven maps: rays of any length take 0 to 60 %
//! fewer nodes than those of 64 steps, but a slice may take long, and fields for nearby units reach far out;
//! rays of 16 steps take up to six times as many nodes. There are 1 to 4 nodes per hundred cells, and cells
//! are written 1.0 to 1.1 times; on weighted terrain up to 5 times, as nearly equal paths fan out from each
//! cost border, and shorter rays save less than their nodes cost.

use super::{DistanceField, Phase, expand::OPEN, work_budget::WorkBudget};
use crate::nav::{
    Adjacency, DIAGONAL, JumpTerrain, Key, Layer, NO_DIRECTION, NodeId, OpenList, STRAIGHT,
};

/// Maximum length of a ray, in steps.
pub(super) const MAX_RAY_STEPS: u32 = 64;
/// Highest cost that is written.
const MAX_COST: u32 = OPEN - 2;
/// Work for a node besides its rays, in eighths of a unit (estimated: 40 ns).
const NODE_WORK: u32 = 16;

/// A cell that passes rays on, and how it was reached.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct RayNode {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) cost: u32,
    pub(super) arrival: u8,
}

/// The node whose rays are being cast.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct NodeInProgress {
    pub(super) node: RayNode,
    is_started: bool,
    /// Directions left, as a set; the lowest is in progress.
    pub(super) directions: u8,
    /// Steps done in that direction.
    pub(super) steps_done: u32,
    /// Cost sum of a step over the node's kind of terrain.
    pub(super) cost_sum: u32,
    /// Maximum length of a ray, in steps.
    pub(super) max_steps: u32,
}

/// The nodes to which the ids in the open list refer, and the node in progress.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct RayNodes {
    nodes: Vec<RayNode>,
    /// Ids not in use.
    free: Vec<NodeId>,
    current: Option<NodeInProgress>,
    /// Highest cost of a step of a walk together with a step of a ray to its side.
    max_step_cost: u32,
}

impl RayNodes {
    /// Drops all nodes.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.free.clear();
        self.current = None;
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<RayNode>() + self.free.capacity() * 4
    }

    fn add(&mut self, node: RayNode) -> NodeId {
        if let Some(id) = self.free.pop() {
            self.nodes[id as usize] = node;
            return id;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as NodeId
    }

    fn take(&mut self, id: NodeId) -> RayNode {
        self.free.push(id);
        self.nodes[id as usize]
    }
}

impl DistanceField {
    /// Settles the goal and makes its cells the first nodes.
    pub(super) fn open_goal(
        &mut self,
        layer: &Layer,
        cells: impl Iterator<Item = (u32, u32)> + Clone,
    ) {
        let highest = layer.highest_step_sum();
        self.rays.max_step_cost = (STRAIGHT + DIAGONAL) * highest;
        self.open.reset(0, self.rays.max_step_cost.saturating_mul(MAX_RAY_STEPS).min(MAX_COST));
        self.clear_costs_of_goal(cells.clone());
        for (x, y) in cells {
            self.push_node(RayNode { x, y, cost: 0, arrival: NO_DIRECTION });
        }
        self.counters.peak_open = self.open.len();
    }

    /// Puts a node on the open list. Not inlined: rays are many, their ends few.
    #[inline(never)]
    pub(super) fn push_node(&mut self, node: RayNode) {
        let id = self.rays.add(node);
        self.counters.generated += 1;
        self.open.insert(id, Key { f: node.cost, h: 0 });
    }

    /// Casts rays for up to `budget` units; returns how many it spent.
    pub(super) fn fill_by_rays(&mut self, terrain: &JumpTerrain, budget: u32) -> u32 {
        match (terrain.map.has_cost_borders(), terrain.map.adjacency) {
            (false, Adjacency::Four) => self.fill_with::<false, 4>(terrain, budget),
            (false, Adjacency::Six) => self.fill_with::<false, 6>(terrain, budget),
            (false, Adjacency::Eight) => self.fill_with::<false, 8>(terrain, budget),
            (true, Adjacency::Four) => self.fill_with::<true, 4>(terrain, budget),
            (true, Adjacency::Six) => self.fill_with::<true, 6>(terrain, budget),
            (true, Adjacency::Eight) => self.fill_with::<true, 8>(terrain, budget),
        }
    }

    fn fill_with<const WEIGHTED: bool, const N: u8>(
        &mut self,
        terrain: &JumpTerrain,
        budget: u32,
    ) -> u32 {
        let mut work = WorkBudget::of(budget);
        while !work.is_empty() {
            let Some(mut current) = self.rays.current.take() else {
                work.spend(NODE_WORK);
                if !self.next_node() {
                    break;
                }
                continue;
            };
            if !current.is_started {
                if !self.move_front(current.node.cost) {
                    self.rays.current = Some(current);
                    break;
                }
                self.start_node::<WEIGHTED>(terrain, &mut current);
            }
            self.cast_rays::<WEIGHTED, N>(terrain, &mut current, &mut work);
            if current.directions == 0 {
                self.counters.peak_open = self.counters.peak_open.max(self.open.len());
            } else {
                self.rays.current = Some(current);
            }
        }
        work.spent_of(budget)
    }

    /// Takes the cheapest node from the open list and makes it the current one, unless it is out of date;
    /// returns whether there was one.
    fn next_node(&mut self) -> bool {
        let Some(id) = self.open.pop() else {
            if self.move_front(MAX_COST) {
                self.phase = Phase::Exhausted;
            }
            return false;
        };
        let node = self.rays.take(id);
        if self.costs[self.layout.index(node.x, node.y)] == node.cost {
            self.rays.current = Some(NodeInProgress { node, ..NodeInProgress::default() });
        } else {
            self.counters.improved += 1;
        }
        true
    }

    /// Moves the front up to a cost, or only as far as the last awaited cell; returns whether the field is
    /// still running.
    fn move_front(&mut self, cost: u32) -> bool {
        let before = self.front;
        self.front = cost;
        if self.costs[self.watched] <= cost {
            self.await_next();
        }
        let is_running = self.phase == Phase::Running;
        if !is_running {
            self.front = before.max(self.farthest_awaited);
        }
        is_running
    }

    /// Determines in which directions to cast rays from a node.
    fn start_node<const WEIGHTED: bool>(
        &mut self,
        terrain: &JumpTerrain,
        current: &mut NodeInProgress,
    ) {
        self.counters.expansions += 1;
        let RayNode { x, y, cost, arrival } = current.node;
        self.clear_around(y);
        current.is_started = true;
        current.max_steps = ((MAX_COST - cost) / self.rays.max_step_cost).min(MAX_RAY_STEPS);
        current.cost_sum = terrain.cost_sum_at::<WEIGHTED>(x, y);
        current.directions = terrain.successors::<WEIGHTED>(x, y, arrival);
        if current.max_steps == 0 {
            self.overflow = true;
            current.directions = 0;
        }
    }
}
