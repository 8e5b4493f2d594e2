//! The loop at the heart of every search: take the best node, look at its neighbors.
//!
//! What differs between searches is a [`Rule`], which says where to go on from a cell and what a
//! step costs; the loop is compiled once for each. A neighbor in the same node page is found by
//! adding an offset to the node's number, which covers nine of ten.

use super::{PathFailure, Phase, Search};
use crate::nav::{
    cell::CHUNK,
    direction::OFFSETS,
    grid::NavGrid,
    layer::Layer,
    moves::{MoveTable, NO_DIRECTION},
    node_pool::{Node, NodePool},
    open_list::{Key, NodeId, OpenList},
    terrain::{DIAGONAL, STRAIGHT},
};

/// Offset between node numbers in one page, by direction.
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

/// Where to go on from a cell, and for how much.
pub(super) trait Rule {
    /// Directions worth trying from `(x, y)` after arriving by `arrival`.
    fn successors(&self, arrival: u8, x: u32, y: u32) -> u8;
    /// By how much this cell makes steps from and to it costlier, in units.
    fn excess_of(&self, x: u32, y: u32) -> u32;
    /// Cost of the step in `direction` from a cell of excess `here` to `(x, y)`.
    fn step(&self, direction: u8, here: u32, x: u32, y: u32) -> u32;
}

/// Everything passable costs the same: canonical order, two step costs.
pub(super) struct Uniform<'a> {
    layer: &'a Layer,
    moves: &'a MoveTable,
    steps: [u32; 2],
}

impl<'a> Uniform<'a> {
    pub(super) fn new(layer: &'a Layer) -> Self {
        let (sum, _) = layer.cost_sum_range();
        Self { layer, moves: layer.moves(), steps: [STRAIGHT * sum, DIAGONAL * sum] }
    }
}

impl Rule for Uniform<'_> {
    #[inline]
    fn successors(&self, arrival: u8, x: u32, y: u32) -> u8 {
        self.moves.get(arrival, self.layer.pattern(x, y))
    }

    #[inline]
    fn excess_of(&self, _x: u32, _y: u32) -> u32 {
        0
    }

    #[inline]
    fn step(&self, direction: u8, _here: u32, _x: u32, _y: u32) -> u32 {
        self.steps[usize::from(direction & 1)]
    }
}

/// Costs differ from cell to cell: every legal step.
pub(super) struct Weighted<'a> {
    layer: &'a Layer,
    moves: &'a MoveTable,
    /// What counts for cost, row-major.
    terrain: &'a [u8],
    width: u32,
    /// Cost sum of the cheapest step, in units.
    lowest: u32,
}

impl<'a> Weighted<'a> {
    pub(super) fn new(layer: &'a Layer, grid: &'a NavGrid) -> Self {
        let terrain = layer.ground(grid.terrain_bytes());
        let (lowest, _) = layer.cost_sum_range();
        Self { layer, moves: layer.moves(), terrain, width: grid.width(), lowest }
    }
}

impl Rule for Weighted<'_> {
    #[inline]
    fn successors(&self, arrival: u8, x: u32, y: u32) -> u8 {
        let legal = self.moves.get(NO_DIRECTION, self.layer.pattern(x, y));
        // Going straight back never pays.
        if arrival == NO_DIRECTION { legal } else { legal & !(1 << ((arrival + 4) & 7)) }
    }

    #[inline]
    fn excess_of(&self, x: u32, y: u32) -> u32 {
        let terrain = self.terrain[y as usize * self.width as usize + x as usize];
        self.layer.excess(terrain)
    }

    #[inline]
    fn step(&self, direction: u8, here: u32, x: u32, y: u32) -> u32 {
        let weight = if direction & 1 == 1 { DIAGONAL } else { STRAIGHT };
        weight * (self.lowest + here + self.excess_of(x, y))
    }
}

impl<L: OpenList> Search<L> {
    /// Expands up to `budget` nodes; returns what of the budget it took (more than there was, where many
    /// ends had to be looked at).
    pub(super) fn expand<R: Rule>(
        &mut self,
        rule: &R,
        grid: &NavGrid,
        layer: &Layer,
        pool: &NodePool,
        budget: u32,
    ) -> u32 {
        let headroom = u64::from(self.aim.headroom);
        let mut spent = 0_u32;
        while spent < budget {
            let Some((id, node)) = self.next_open() else {
                if let Some(price) = self.open_end_alone(grid, layer, pool) {
                    spent = spent.saturating_add(price);
                    continue;
                }
                self.phase = Phase::Failed(self.exhausted());
                break;
            };
            spent += 1;
            let (x, y) = self.nodes.place(id);
            self.counters.expansions += 1;
            let distance = self.aim.distance(layer, x, y);
            if distance == 0 {
                self.phase = Phase::Reached(id);
                break;
            }
            let f = u64::from(node.g) + u64::from(distance) * u64::from(self.aim.per_weight);
            if self.ends.is_due(id, f + headroom) {
                spent = spent.saturating_add(self.open_next_end(grid, layer, pool, f));
            }
            self.look_around(rule, layer, pool, (id, node), f);
            let open = self.open.len() + usize::from(self.held.is_some());
            self.counters.peak_open = self.counters.peak_open.max(open);
        }
        spent
    }

    /// Takes note of the ways from a node of estimate `f` to its neighbors.
    #[inline(always)]
    fn look_around<R: Rule>(
        &mut self,
        rule: &R,
        layer: &Layer,
        pool: &NodePool,
        (id, node): (NodeId, Node),
        f: u64,
    ) {
        let (x, y) = self.nodes.place(id);
        let here = rule.excess_of(x, y);
        let is_free = !self.is_confined || self.is_well_inside((x, y));
        let arrival = if is_free { node.arrival() } else { NO_DIRECTION };
        let mut successors = rule.successors(arrival, x, y);
        while successors != 0 {
            let direction = successors.trailing_zeros() as u8;
            successors &= successors - 1;
            let (dx, dy) = OFFSETS[usize::from(direction & 7)];
            let to = (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
            let g = node.g + rule.step(direction, here, to.0, to.1);
            let neighbor = self.neighbor(id, direction, to, pool);
            self.relax(layer, neighbor, to, (g, f), direction);
        }
    }

    /// Takes the best node from the open list and closes it; entries out of date are dropped.
    #[inline(always)]
    fn next_open(&mut self) -> Option<(NodeId, Node)> {
        loop {
            let id = match self.held.take() {
                Some((id, _)) => id,
                None => self.open.pop()?,
            };
            let node = self.nodes.get_mut(id);
            if !node.is_closed() {
                node.close();
                return Some((id, *node));
            }
        }
    }

    /// The node of the neighbor `to` of node `id`.
    #[inline(always)]
    fn neighbor(&mut self, id: NodeId, direction: u8, to: (u32, u32), pool: &NodePool) -> NodeId {
        let (column, row) = (id % CHUNK, id / CHUNK % CHUNK);
        let inner = 1..CHUNK - 1;
        if inner.contains(&column) && inner.contains(&row) {
            id.wrapping_add_signed(NODE_OFFSETS[usize::from(direction & 7)])
        } else {
            self.nodes.id(to.0, to.1, pool)
        }
    }

    /// Takes note of a way of cost `g` to the node `id` at `to`, if it is the best so far. It comes
    /// from a node of estimate `from_f`.
    #[inline(always)]
    fn relax(
        &mut self,
        layer: &Layer,
        id: NodeId,
        to: (u32, u32),
        (g, from_f): (u32, u64),
        arrival: u8,
    ) {
        let generation = self.nodes.generation();
        let known = self.nodes.get(id);
        let is_open = known.is_of(generation);
        if is_open && (known.g <= g || known.is_closed()) {
            return;
        }
        let distance = self.aim.distance(layer, to.0, to.1);
        let h = u64::from(distance) * u64::from(self.aim.per_weight);
        let f = u64::from(g) + h;
        // Room for one more step, so that g itself never wraps.
        if f > u64::from(u32::MAX - self.aim.headroom) {
            self.aim.overflow = true;
            return;
        }
        if self.is_confined && !self.long.corridor.contains(to.0, to.1) {
            return;
        }
        *self.nodes.get_mut(id) = Node::open(generation, g, arrival);
        let key = Key { f: f as u32, h: h as u32 };
        if is_open {
            self.counters.improved += 1;
            self.open.improve(id, key);
        } else {
            self.counters.generated += 1;
            if !L::TAKES_ALL && f == from_f {
                // Nothing can be better: it is the next one, without a detour over the list.
                if let Some((id, key)) = self.held.replace((id, key)) {
                    self.open.insert(id, key);
                }
                return;
            }
            self.open.insert(id, key);
        }
    }

    /// Why the open list has run out.
    pub(super) fn exhausted(&self) -> PathFailure {
        let (start, goal) = (self.query.start, self.query.goal);
        if self.aim.overflow {
            PathFailure::CostOverflow { start, goal }
        } else {
            PathFailure::NoWay { start, goal }
        }
    }
}
