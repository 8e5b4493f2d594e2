//! From the node that was reached back to where the part began: the path.

use super::Search;
use crate::nav::{
    direction::Direction,
    grid::NavGrid,
    jump_map::JumpMap,
    layer::Layer,
    moves::NO_DIRECTION,
    open_list::{NodeId, OpenList},
    path::{Path, legs_from_back},
};

impl<L: OpenList> Search<L> {
    /// Walks back from `node` to the start.
    pub(super) fn trace(&self, grid: &NavGrid, node: NodeId) -> Path {
        let (end_x, end_y) = self.place(node);
        let (g, legs) = if self.aim.jumps {
            let has_diagonals = grid
                .layer(self.query.profile)
                .and_then(Layer::jumps)
                .is_none_or(JumpMap::has_diagonals);
            (self.jumps.get(node).g, legs_from_back(self.jumps_back(node, has_diagonals)))
        } else {
            (self.nodes.get(node).g, legs_from_back(self.steps_back(node)))
        };
        Path {
            start: grid.global(self.origin.0, self.origin.1),
            end: grid.global(end_x, end_y),
            legs,
            cost: self.cost_of(grid, g),
            kind: self.aim.kind,
            revision: self.revision,
        }
    }

    /// The steps from a node back to the start, as stretches of one.
    fn steps_back(&self, node: NodeId) -> impl Iterator<Item = (Direction, u32)> + '_ {
        let (mut x, mut y) = self.nodes.place(node);
        std::iter::from_fn(move || {
            let node = self.nodes.get(self.nodes.find(x, y)?);
            let arrival = node.arrival();
            (arrival != NO_DIRECTION).then(|| {
                let direction = Direction::from_bits(arrival);
                let (dx, dy) = direction.offset();
                (x, y) = (x.wrapping_add_signed(-dx), y.wrapping_add_signed(-dy));
                (direction, 1)
            })
        })
    }
}
