//! The path, traced from the reached node back to the root of the segment.
//!
//! In a backward search the reached node is the start, and the trace leads to where the path ends.

use super::Search;
use crate::nav::{
    Adjacency, Direction, Layer, NO_DIRECTION, NavGrid, NodeId, OpenList, Path, legs_from_back,
    path::end_of,
};

impl<L: OpenList> Search<L> {
    /// Traces the path from `node` back to the root of the search.
    pub(super) fn trace(&self, grid: &NavGrid, node: NodeId) -> Path {
        let (g, mut legs) = if self.target.uses_jumps {
            let layer = grid.layer(self.query.profile);
            let adjacency = layer.map_or(Adjacency::Eight, Layer::adjacency);
            (self.jump_nodes.get(node).g, legs_from_back(self.legs_to_root(node, adjacency)))
        } else {
            (self.nodes.get(node).g, legs_from_back(self.steps_back(node)))
        };
        let start = grid.global(self.origin.0, self.origin.1);
        let end = if self.target.is_backward {
            legs.reverse();
            legs.iter_mut().for_each(|leg| leg.direction = leg.direction.opposite());
            legs.iter().fold(start, |at, &leg| end_of(at, leg))
        } else {
            self.cell_of(grid, node)
        };
        let (cost, kind) = (self.cost_of(grid, g), self.target.kind);
        Path { start, end, legs, cost, kind, revision: self.revision }
    }

    /// The steps from a node back to the root of the search, as legs of one step.
    fn steps_back(&self, node: NodeId) -> impl Iterator<Item = (Direction, u32)> + '_ {
        let (mut x, mut y) = self.nodes.cell_of(node);
        std::iter::from_fn(move || {
            let node = self.nodes.get(self.nodes.find(x, y)?);
            let arrival = node.arrival();
            (arrival != NO_DIRECTION).then(|| {
                let direction = Direction::from_bits(arrival);
                (x, y) = direction.opposite().cell_at(x, y, 1);
                (direction, 1)
            })
        })
    }
}
