//! From the node that was reached back to where the part began: the path.
//!
//! Of a search that runs backwards the node is the start, and the way back leads to where the path
//! ends.

use super::Search;
use crate::nav::{
    direction::Direction,
    grid::NavGrid,
    jump_map::JumpMap,
    layer::Layer,
    moves::NO_DIRECTION,
    open_list::{NodeId, OpenList},
    path::{Leg, Path, end_of, legs_from_back},
};

impl<L: OpenList> Search<L> {
    /// Walks back from `node` to where the search began.
    pub(super) fn trace(&self, grid: &NavGrid, node: NodeId) -> Path {
        let (g, mut legs) = if self.aim.jumps {
            let has_diagonals = grid
                .layer(self.query.profile)
                .and_then(Layer::jumps)
                .is_none_or(JumpMap::has_diagonals);
            (self.jumps.get(node).g, legs_from_back(self.jumps_back(node, has_diagonals)))
        } else {
            (self.nodes.get(node).g, legs_from_back(self.steps_back(node)))
        };
        let start = grid.global(self.origin.0, self.origin.1);
        let end = if self.aim.is_backward {
            turn_around(&mut legs);
            legs.iter().fold(start, |at, &leg| end_of(at, leg))
        } else {
            self.cell_of(grid, node)
        };
        Path {
            start,
            end,
            legs,
            cost: self.cost_of(grid, g),
            kind: self.aim.kind,
            revision: self.revision,
        }
    }

    /// The steps from a node back to where the search began, as stretches of one.
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

/// The same way from its end to its start.
fn turn_around(legs: &mut [Leg]) {
    legs.reverse();
    for leg in legs {
        leg.direction = leg.direction.opposite();
    }
}
