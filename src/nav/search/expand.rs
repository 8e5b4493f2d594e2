//! The main loop of A*: take the best node, generate its successors.
//!
//! The searches differ in their [`StepModel`], which gives the directions to try from a cell and the cost of a
//! step; the loop is compiled once for each model. A neighbor in the same node page is found by adding an
//! offset to the node's number, which covers nine of ten neighbors.

use super::{PathFailure, Phase, Search, World};
use crate::nav::{
    CHUNK, Key, Layer, NO_DIRECTION, Node, NodeId, NodePool, OFFSETS, OpenList, StepModel,
    directions,
};

/// Difference of node numbers within one page, by direction.
const NODE_OFFSETS: [i32; 8] = {
    let mut offsets = [0; 8];
    let mut direction = 0;
    while direction < 8 {
        let (dx, dy) = OFFSETS[direction];
        offsets[direction] = dx + dy * CHUNK as i32;
        direction += 1;
    }
    offsets
};

impl<L: OpenList> Search<L> {
    /// Expands up to `budget` nodes; returns how much of the budget that took. Goal cells are looked for within
    /// the same budget; one long line of sight may exceed it.
    pub(super) fn expand<M: StepModel>(&mut self, model: &M, world: World, budget: u32) -> u32 {
        let World { layer, pool, .. } = world;
        let headroom = u64::from(self.target.headroom);
        let mut spent = 0_u32;
        while spent < budget {
            let Some((id, node)) = self.next_open() else {
                let left = budget - spent;
                if let Some(work) = self.open_goal_cell_when_empty(world, left) {
                    spent = spent.saturating_add(work);
                    continue;
                }
                spent = spent.saturating_add(self.end_exhausted(world));
                break;
            };
            let (x, y) = self.nodes.cell_of(id);
            let distance = self.target.distance(layer, x, y);
            if distance == 0 {
                spent += 1;
                self.counters.expansions += 1;
                self.phase = Phase::Reached(id);
                break;
            }
            let f = u64::from(node.g) + self.heuristic((x, y), distance);
            if self.goal_cells.needs_next(id, f + headroom) {
                let work = self.open_next_goal_cell(world, f, budget - spent);
                spent = spent.saturating_add(work);
                if spent >= budget {
                    self.nodes.get_mut(id).reopen();
                    self.put_back(id, f);
                    break;
                }
            }
            spent += 1;
            self.counters.expansions += 1;
            self.generate_successors(model, layer, pool, (id, node), f);
            self.count_open();
        }
        spent
    }

    /// Generates the successors of a node with the given `f`.
    #[inline(always)]
    fn generate_successors<M: StepModel>(
        &mut self,
        model: &M,
        layer: &Layer,
        pool: &NodePool,
        (id, node): (NodeId, Node),
        f: u64,
    ) {
        let (x, y) = self.nodes.cell_of(id);
        let may_prune = !self.is_confined || self.is_well_inside((x, y));
        let arrival = if may_prune { node.arrival() } else { NO_DIRECTION };
        let steps = model.steps_from(x, y, arrival);
        for direction in directions(steps.directions) {
            let (dx, dy) = OFFSETS[direction];
            let to = (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
            let g = node.g + model.step_cost(&steps, direction);
            let neighbor = self.neighbor(id, direction, to, pool);
            self.relax(layer, neighbor, to, (g, f), direction as u8);
        }
    }

    /// Takes the best node from the open list and closes it; skips stale entries.
    #[inline(always)]
    fn next_open(&mut self) -> Option<(NodeId, Node)> {
        loop {
            let id = self.immediate.take().map(|(id, _)| id).or_else(|| self.open.pop())?;
            let node = self.nodes.get_mut(id);
            if !node.is_closed() {
                node.close();
                return Some((id, *node));
            }
        }
    }

    /// Returns the node of `to`, the neighbor of node `id` in `direction`.
    #[inline(always)]
    fn neighbor(
        &mut self,
        id: NodeId,
        direction: usize,
        to: (u32, u32),
        pool: &NodePool,
    ) -> NodeId {
        let (column, row) = (id % CHUNK, id / CHUNK % CHUNK);
        let inner = 1..CHUNK - 1;
        if inner.contains(&column) && inner.contains(&row) {
            id.wrapping_add_signed(NODE_OFFSETS[direction & 7])
        } else {
            self.nodes.id(to.0, to.1, pool)
        }
    }

    /// Records a path of cost `g` to the node `id` at `to`, if it is the best so far. The path comes from a
    /// node whose f is `from_f`.
    #[inline(always)]
    fn relax(
        &mut self,
        layer: &Layer,
        id: NodeId,
        to: (u32, u32),
        (g, from_f): (u32, u64),
        arrival: u8,
    ) {
        let generation = self.nodes.generation;
        let current = self.nodes.get(id);
        let is_known = current.has_generation(generation);
        if is_known && (current.g <= g || current.is_closed()) {
            return;
        }
        let distance = self.target.distance(layer, to.0, to.1);
        let h = self.heuristic(to, distance);
        let f = u64::from(g) + h;
        // Leaves room for one more step, so that g itself never wraps.
        if f > u64::from(u32::MAX - self.target.headroom) {
            self.target.overflow = true;
            return;
        }
        if self.is_confined && !self.hierarchy.corridor.contains(to.0, to.1) {
            return;
        }
        *self.nodes.get_mut(id) = Node::open(generation, g, arrival);
        self.enqueue(id, Key { f: f as u32, h: h as u32 }, is_known, from_f);
    }

    /// Puts a node on the open list, or improves its key if it is known already. It was reached from a node
    /// whose f is `from_f`.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: NodeId, key: Key, is_known: bool, from_f: u64) {
        if is_known {
            self.counters.improved += 1;
            self.open.improve(id, key);
            return;
        }
        self.counters.generated += 1;
        if L::NEEDS_EVERY_NODE || u64::from(key.f) != from_f {
            self.open.insert(id, key);
        } else if let Some((id, key)) = self.immediate.replace((id, key)) {
            // Nothing can be better than the new one: it is expanded next, without passing through the open
            // list.
            self.open.insert(id, key);
        }
    }

    /// Updates the most entries that the open list held.
    #[inline(always)]
    pub(super) fn count_open(&mut self) {
        let open = self.open.len() + usize::from(self.immediate.is_some());
        self.counters.peak_open = self.counters.peak_open.max(open);
    }

    /// The failure to report when the open list is empty.
    pub(super) fn exhausted(&self) -> PathFailure {
        let (start, goal) = (self.query.start, self.query.goal.cell());
        if self.target.overflow {
            PathFailure::CostOverflow { start, goal }
        } else {
            PathFailure::NoPath { start, goal }
        }
    }
}
