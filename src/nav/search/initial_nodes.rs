//! The first nodes of a search, or of a segment of one.
//!
//! Input: the target. Output: an open list with the node to expand first: the start, or a goal cell of a
//! backward search (see `goal_cells`). It costs nothing to reach and is expanded in all directions.

use super::{Phase, Search, jump_nodes::NO_NODE};
use crate::nav::{DIAGONAL, Key, Layer, NO_DIRECTION, Node, NodeId, NodePool, OpenList};

impl<L: OpenList> Search<L> {
    /// Opens the first node of a segment.
    pub(super) fn open_origin(&mut self, layer: &Layer, pool: &NodePool) {
        self.begin_segment(layer, pool);
        self.look_up_landmarks(layer);
        let (x, y) = self.origin;
        let distance = self.target.distance(layer, x, y);
        let (h, headroom) = (self.heuristic((x, y), distance), self.target.headroom);
        if h > u64::from(u32::MAX - headroom) {
            self.target.overflow = true;
            self.open.reset(0, 0);
            return;
        }
        self.open.reset(h as u32, headroom);
        self.open_root((x, y), h as u32, pool);
    }

    /// Prepares for the first node of a segment.
    pub(super) fn begin_segment(&mut self, layer: &Layer, pool: &NodePool) {
        self.phase = Phase::Running;
        if !self.target.uses_jumps {
            self.nodes.start(layer.regions().chunks, pool);
        }
        // Along one step, f grows by at most the cost of two steps: the step itself, and a heuristic that
        // grows by as much.
        let highest = layer.highest_step_sum();
        let step = 2 * u64::from(DIAGONAL) * u64::from(highest);
        let spread = if self.target.uses_jumps { layer.longest_jump() } else { step };
        self.target.headroom = spread as u32;
    }

    /// Opens a cell that costs nothing to reach, with heuristic `h`. Returns `None` where it was already
    /// opened at no cost.
    pub(super) fn open_root(
        &mut self,
        (x, y): (u32, u32),
        h: u32,
        pool: &NodePool,
    ) -> Option<NodeId> {
        // The g known so far, if the node is known.
        let (id, known_g) = if self.target.uses_jumps {
            let (id, is_new) = self.jump_nodes.find_or_add(x, y);
            // Not of one whose cost has overflowed: it was never opened.
            let known_g = (!is_new).then(|| self.jump_nodes.get(id).g);
            (id, known_g.filter(|&g| g < u32::MAX))
        } else {
            let id = self.nodes.id(x, y, pool);
            let node = self.nodes.get(id);
            (id, node.has_generation(self.nodes.generation).then_some(node.g))
        };
        if known_g == Some(0) {
            return None;
        }
        if self.target.uses_jumps {
            let node = self.jump_nodes.get_mut(id);
            (node.g, node.h, node.parent, node.arrival) = (0, h, NO_NODE, NO_DIRECTION);
        } else {
            *self.nodes.get_mut(id) = Node::open(self.nodes.generation, 0, NO_DIRECTION);
        }
        // It was reached from no node.
        self.enqueue(id, Key { f: h, h }, known_g.is_some(), u64::MAX);
        self.count_open();
        Some(id)
    }
}
