//! The loop that spreads a field by rays: take the nearest node, cast its rays (see `rays`).
//!
//! Input: nodes by cost. Output: costs of cells, and the *front*: the cost of the node last taken.
//! A cell's cost is final as soon as the front has reached it. Nodes cheaper than the front have cast
//! their rays, and whatever the others still find lies beyond the front, as no step is for nothing.
//!
//! Algorithm: Dijkstra's, where canonical order goes by jumps (see `search::jump`) and fills what it
//! jumps over. It holds where jump point search does: where corners may not be cut.
//!
//! Why the first of several equally cheap ways to a cell is enough, be it a ray that passes or one
//! that ends there, so that rays end and nodes are not noted where a cell is known to cost as
//! little. Say `p → v → w` is a cheapest way to `w`, the ray that was first at `v` came from `p`, and
//! canonical order leaves `w` out at `v`.
//! - It does not do so for a way that is cheaper, as there is none. So there is `p → u → w` for the same,
//!   where `p → v` is straight and `p → u` diagonal (with four neighbors: horizontal and vertical).
//! - On ground of one cost, and with four neighbors, `u → w` is straight (horizontal) then, and no way
//!   of equal cost replaces such a step: whoever was first at `u`, `w` is not left out there.
//! - On a seam `u → w` may be left out in turn, for a third way, and so on; but not in a circle.
//!   With `c` for what cells cost, `g(u) − g(v) = 577 (c(p) + c(u)) − 408 (c(p) + c(v))`. Around a
//!   circle that adds up to 169 times all those costs, and has to add up to nothing.
//! - Not covered by that: one step `p → w` that stands for `p → v → w` on equal terms. It takes
//!   `169 (c(p) + c(w)) = 816 c(v)`, so a `c(v)` that is a multiple of 169, and more such chances
//!   around `p`; no grid is known where it leads to a higher cost.
//!
//! So, by induction over cost, to each cell a neighbor on a cheapest way passes rays on. A node to
//! whose cell a cheaper way was found is out of date: it is dropped when it is taken.
//!
//! Sources: N. Sturtevant & S. Rabin, "Canonical Orderings on Grids" (IJCAI 2016), for filling by
//! canonical order and for jumps as its contraction; D. Harabor & A. Grastien, "Online Graph Pruning
//! for Pathfinding on Grid Maps" (AAAI 2011). Options considered, by a model of seven maps: rays of
//! any length take 0 to 60 % fewer nodes than those of 64 steps, but a slice may take long, and
//! fields for those nearby look far; rays of 16 steps take up to six times as many nodes. Nodes are
//! 1 to 4 for a hundred cells, and cells are written 1.0 to 1.1 times; on mixed ground up to 5
//! times, as nearly equal ways fan out from each seam, and shorter rays save less than their nodes
//! take.

use super::{DistanceField, Phase, expand::OPEN, purse::Purse};
use crate::nav::{
    jump_ground::JumpGround,
    layer::Layer,
    moves::NO_DIRECTION,
    open_list::{Key, NodeId, OpenList},
    terrain::{DIAGONAL, STRAIGHT},
};

/// Most steps of a ray.
const REACH: u32 = 64;
/// Highest cost that is written.
const TOP: u32 = OPEN - 2;
/// What a node takes besides its rays, in eighths of a unit (estimated: 40 ns).
const NODE: u32 = 16;

/// A cell that passes rays on, and how it was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct RayNode {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) cost: u32,
    pub(super) arrival: u8,
}

/// The node whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) node: RayNode,
    has_begun: bool,
    /// Directions left, as a set; the lowest is under way.
    pub(super) ways: u8,
    /// Steps gone in that.
    pub(super) gone: u32,
    /// Cost sum of a step over the node's kind of ground.
    pub(super) sum: u32,
    /// Most steps of a ray.
    pub(super) reach: u32,
}

/// The nodes that the open list knows by their numbers, and the one out of it.
#[derive(Debug, Default)]
pub(super) struct RayNodes {
    nodes: Vec<RayNode>,
    /// Numbers not in use.
    free: Vec<NodeId>,
    turn: Option<Turn>,
    /// Most that a step of a walk and one of a ray to its side cost together.
    longest: u32,
}

impl RayNodes {
    /// Forgets all nodes.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.free.clear();
        self.turn = None;
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

impl<L: OpenList> DistanceField<L> {
    /// Settles the goal and makes it the first node.
    pub(super) fn open_goal(&mut self, layer: &Layer, (x, y): (u32, u32)) {
        let (_, highest) = layer.cost_sum_range();
        self.rays.longest = (STRAIGHT + DIAGONAL) * highest;
        self.open.reset(0, self.rays.longest.saturating_mul(REACH).min(TOP));
        let index = self.frame.index(x, y);
        self.costs[index] = 0;
        self.note(RayNode { x, y, cost: 0, arrival: NO_DIRECTION });
        self.counters.peak_open = 1;
    }

    /// Puts a node on the open list. Not inlined: rays are many, their ends few.
    #[inline(never)]
    pub(super) fn note(&mut self, node: RayNode) {
        let id = self.rays.add(node);
        self.counters.generated += 1;
        self.open.insert(id, Key { f: node.cost, h: 0 });
    }

    /// Casts rays for up to `budget` units; returns how many it took.
    pub(super) fn spread(&mut self, ground: &JumpGround, budget: u32) -> u32 {
        match (ground.map.has_seams(), ground.map.has_diagonals()) {
            (false, true) => self.spread_on::<false, true>(ground, budget),
            (false, false) => self.spread_on::<false, false>(ground, budget),
            (true, true) => self.spread_on::<true, true>(ground, budget),
            (true, false) => self.spread_on::<true, false>(ground, budget),
        }
    }

    fn spread_on<const MIXED: bool, const EIGHT: bool>(
        &mut self,
        ground: &JumpGround,
        budget: u32,
    ) -> u32 {
        let mut purse = Purse::of(budget);
        while !purse.is_empty() {
            let Some(mut turn) = self.rays.turn.take() else {
                purse.pay(NODE);
                if !self.take_node() {
                    break;
                }
                continue;
            };
            if !turn.has_begun {
                if !self.move_front(turn.node.cost) {
                    self.rays.turn = Some(turn);
                    break;
                }
                self.begin::<MIXED>(ground, &mut turn);
            }
            self.cast::<MIXED, EIGHT>(ground, &mut turn, &mut purse);
            if turn.ways == 0 {
                self.counters.peak_open = self.counters.peak_open.max(self.open.len());
            } else {
                self.rays.turn = Some(turn);
            }
        }
        purse.spent_of(budget)
    }

    /// Makes it the turn of the nearest node, unless that is out of date; says whether there was one.
    fn take_node(&mut self) -> bool {
        let Some(id) = self.open.pop() else {
            if self.move_front(TOP) {
                self.phase = Phase::Exhausted;
            }
            return false;
        };
        let node = self.rays.take(id);
        if self.costs[self.frame.index(node.x, node.y)] == node.cost {
            let (has_begun, ways, gone, sum, reach) = (false, 0, 0, 0, 0);
            self.rays.turn = Some(Turn { node, has_begun, ways, gone, sum, reach });
        } else {
            self.counters.improved += 1;
        }
        true
    }

    /// Moves the front up to a cost, or just as far as the last awaited cell; says whether to go on.
    fn move_front(&mut self, cost: u32) -> bool {
        let before = self.front;
        self.front = cost;
        if self.costs[self.watched] <= cost {
            self.await_next();
        }
        let goes_on = self.phase == Phase::Running;
        if !goes_on {
            self.front = before.max(self.farthest);
        }
        goes_on
    }

    /// Finds out in which directions to cast rays from a node.
    fn begin<const MIXED: bool>(&mut self, ground: &JumpGround, turn: &mut Turn) {
        self.counters.expansions += 1;
        let RayNode { x, y, cost, arrival } = turn.node;
        turn.has_begun = true;
        turn.reach = ((TOP - cost) / self.rays.longest).min(REACH);
        turn.sum = ground.sum_at::<MIXED>(x, y);
        turn.ways = ground.successors::<MIXED>(x, y, arrival);
        if turn.reach == 0 {
            self.overflow = true;
            turn.ways = 0;
        }
    }
}
