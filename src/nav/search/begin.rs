//! The first nodes of a search, or of a part of one.
//!
//! Input: what it runs towards. Output: an open list with whatever is to be expanded first, which costs
//! nothing to get to and is followed up in all directions: the start, or an end (see `goals`).

use super::{Phase, Search, jump_nodes::NO_NODE};
use crate::nav::{
    grid::NavGrid,
    layer::Layer,
    moves::NO_DIRECTION,
    node_pool::{Node, NodePool},
    open_list::{Key, NodeId, OpenList},
    terrain::DIAGONAL,
};

impl<L: OpenList> Search<L> {
    /// Opens the first node of a part.
    pub(super) fn open_origin(&mut self, layer: &Layer, pool: &NodePool) {
        self.begin_part(layer, pool);
        let (x, y) = self.origin;
        let (h, headroom) = (self.aim.estimate(layer, x, y), self.aim.headroom);
        if h > u64::from(u32::MAX - headroom) {
            self.aim.overflow = true;
            self.open.reset(0, 0);
            return;
        }
        self.open.reset(h as u32, headroom);
        self.open_at((x, y), h as u32, pool);
    }

    /// Opens the first end of a search that runs backwards.
    pub(super) fn open_ends(&mut self, grid: &NavGrid, layer: &Layer, pool: &NodePool) {
        self.begin_part(layer, pool);
        // What that takes is paid for with the aim: the first is known.
        self.open_end_alone(grid, layer, pool);
    }

    fn begin_part(&mut self, layer: &Layer, pool: &NodePool) {
        self.phase = Phase::Running;
        if !self.aim.jumps {
            self.nodes.start(layer.regions().chunks(), pool);
        }
        // f grows by at most two steps' cost along one step: the step, and the estimate undone.
        let (_, highest) = layer.cost_sum_range();
        let step = 2 * u64::from(DIAGONAL) * u64::from(highest);
        let spread = if self.aim.jumps { layer.longest_jump() } else { step };
        self.aim.headroom = spread as u32;
    }

    /// Opens a cell that costs nothing to get to, of estimate `h`. `None` where it was opened so
    /// before.
    pub(super) fn open_at(
        &mut self,
        (x, y): (u32, u32),
        h: u32,
        pool: &NodePool,
    ) -> Option<NodeId> {
        // What the way to it costs that is known so far.
        let (id, known) = if self.aim.jumps {
            let (id, is_new) = self.jumps.find_or_add(x, y);
            (id, (!is_new).then(|| self.jumps.get(id).g))
        } else {
            let id = self.nodes.id(x, y, pool);
            let node = self.nodes.get(id);
            (id, node.is_of(self.nodes.generation()).then_some(node.g))
        };
        if known == Some(0) {
            return None;
        }
        if self.aim.jumps {
            let node = self.jumps.get_mut(id);
            (node.g, node.parent, node.arrival) = (0, NO_NODE, NO_DIRECTION);
        } else {
            *self.nodes.get_mut(id) = Node::open(self.nodes.generation(), 0, NO_DIRECTION);
        }
        let key = Key { f: h, h };
        if known.is_some() {
            self.counters.improved += 1;
            self.open.improve(id, key);
        } else {
            self.counters.generated += 1;
            self.open.insert(id, key);
        }
        let open = self.open.len() + usize::from(self.held.is_some());
        self.counters.peak_open = self.counters.peak_open.max(open);
        Some(id)
    }
}
