//! What a search runs towards, and how far that is.
//!
//! Input: a grid and a query. Output: the aim, or the reason why there is nothing to search for; then
//! distances to it from any cell.

use super::nearest;
use crate::nav::{
    direction::Direction,
    grid::NavGrid,
    layer::Layer,
    path::PathKind,
    query::{Algorithm, PathFailure, PathQuery, Reach},
};

/// What looking for the nearest cell takes of a time budget for each chunk looked through, in
/// expansions.
const CHUNK_PRICE: u32 = 40;

/// What the search runs towards.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aim {
    pub(super) x: u32,
    pub(super) y: u32,
    /// Any cell at most this far (weight over open ground) from `(x, y)` will do.
    pub(super) slack: u32,
    /// Cost of a unit of that distance in the estimate; 0 for Dijkstra.
    pub(super) per_weight: u32,
    pub(super) kind: PathKind,
    /// Whether the search runs from where the way ends to where it starts (see `goals`).
    pub(super) is_backward: bool,
    /// What finding the aim took, in expansions.
    pub(super) price: u32,
    /// How far below the top of 32 bits every f must stay: the most one step can add.
    pub(super) headroom: u32,
    /// Whether the search goes from jump point to jump point.
    pub(super) jumps: bool,
    /// Something was left out because its cost does not fit into 32 bits.
    pub(super) overflow: bool,
}

impl Aim {
    /// The aim of a query for a way onto its goal.
    pub(super) fn find(
        grid: &NavGrid,
        layer: &Layer,
        query: &PathQuery,
        start: (u32, u32),
    ) -> Result<Self, PathFailure> {
        let (x, y) = grid.local(query.goal).ok_or(PathFailure::GoalOutOfBounds(query.goal))?;
        let island = layer.island(start.0, start.1);
        match (layer.island(x, y), query.reach) {
            (goal_island, _) if goal_island.is_some() && goal_island == island => {
                Ok(Self::at(layer, query, (x, y)))
            }
            (None, Reach::Exact) => Err(PathFailure::GoalImpassable(query.goal)),
            (Some(_), Reach::Exact) => {
                Err(PathFailure::NoWay { start: query.start, goal: query.goal })
            }
            (_, Reach::Nearest) => Ok(Self::near(layer, query, (x, y), island.unwrap_or(0))),
        }
    }

    /// Onto a cell that can be reached.
    pub(super) fn at(layer: &Layer, query: &PathQuery, (x, y): (u32, u32)) -> Self {
        let (lowest, _) = layer.cost_sum_range();
        let per_weight = if query.algorithm == Algorithm::Dijkstra { 0 } else { lowest };
        let jumps = layer.jumps().is_some_and(|map| match query.algorithm {
            Algorithm::Auto | Algorithm::Exact | Algorithm::Hierarchical => map.pays(),
            Algorithm::JumpPoint => true,
            Algorithm::AStar | Algorithm::Dijkstra => false,
        });
        Self { x, y, per_weight, jumps, ..Self::default() }
    }

    /// As near to a cell as an island comes.
    pub(super) fn near(layer: &Layer, query: &PathQuery, goal: (u32, u32), island: u32) -> Self {
        let (slack, chunks_looked_at) = nearest::distance_to_island(layer, goal, island);
        let (price, kind) = (chunks_looked_at.saturating_mul(CHUNK_PRICE), PathKind::Partial);
        Self { slack, price, kind, jumps: false, ..Self::at(layer, query, goal) }
    }

    /// What the way from the cell costs at least, in units.
    #[inline]
    pub(super) fn estimate(&self, layer: &Layer, x: u32, y: u32) -> u64 {
        u64::from(self.distance(layer, x, y)) * u64::from(self.per_weight)
    }

    /// Weight still to go from the cell over open ground; 0 exactly where the search may end.
    #[inline]
    pub(super) fn distance(&self, layer: &Layer, x: u32, y: u32) -> u32 {
        layer.distance(x.abs_diff(self.x), y.abs_diff(self.y)).saturating_sub(self.slack)
    }

    /// How many straight steps lead to the goal from `(x, y)`; `None` where none do.
    #[inline]
    pub(super) fn ahead(&self, x: u32, y: u32, way: Direction) -> Option<u32> {
        let (along, across) = match way {
            Direction::East => (self.x.wrapping_sub(x), self.y != y),
            Direction::West => (x.wrapping_sub(self.x), self.y != y),
            Direction::North => (self.y.wrapping_sub(y), self.x != x),
            _ => (y.wrapping_sub(self.y), self.x != x),
        };
        // A goal behind wraps around to a distance that no grid has.
        (!across && along != 0 && along < 1 << 31).then_some(along)
    }

    /// Where a diagonal from `(x, y)` comes beside the goal: after how many steps, how far off, and
    /// in which direction. Never, where the goal does not lie ahead.
    #[inline]
    pub(super) fn beside(&self, x: u32, y: u32, way: Direction) -> (u32, u32, Direction) {
        let (dx, dy) = way.offset();
        let columns = self.x.wrapping_sub(x) as i32 * dx;
        let rows = self.y.wrapping_sub(y) as i32 * dy;
        if columns <= 0 || rows <= 0 {
            return (u32::MAX, 0, way);
        }
        let turn = columns.min(rows) as u32;
        let rest = columns.abs_diff(rows);
        let [one, other] = way.sides();
        let goes_across = columns > rows;
        let side = if (one.offset().0 != 0) == goes_across { one } else { other };
        (turn, rest, side)
    }

    /// Where a column from `(x, y)` comes abreast of the goal: after how many steps, how far off, and
    /// in which direction. Never, where the goal does not lie ahead.
    #[inline]
    pub(super) fn abreast(&self, x: u32, y: u32, way: Direction) -> (u32, u32, Direction) {
        let rows = self.y.wrapping_sub(y) as i32 * way.offset().1;
        if rows <= 0 {
            return (u32::MAX, 0, way);
        }
        let side = if self.x > x { Direction::East } else { Direction::West };
        (rows as u32, self.x.abs_diff(x), side)
    }
}
