//! The target of a search, and the distance to it.
//!
//! Input: a grid and a query. Output: the target, or the reason why there is nothing to search for; then
//! distances to it from any cell.

use core::ops::RangeInclusive;

use super::{HIERARCHY_MIN_DISTANCE, nearest};
use crate::nav::{
    Algorithm, Direction, Layer, NavGrid, PathFailure, PathKind, PathQuery, Reach, STRAIGHT,
};

/// Distance over open terrain from which searches use landmarks: below it, landmarks tell no more than the distance.
pub(super) const LANDMARKS_MIN_DISTANCE: u32 = 32 * STRAIGHT;

/// Distances at which searches with landmarks jump over scattered obstacles. Beyond these distances plain A* is faster:
/// landmarks tell less, and jumps have many turning points.
const LANDMARKS_JUMP_DISTANCES: RangeInclusive<u32> =
    LANDMARKS_MIN_DISTANCE..=HIERARCHY_MIN_DISTANCE * STRAIGHT;

/// The target of a search.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SearchTarget {
    pub(super) x: u32,
    pub(super) y: u32,
    /// The search may end on any cell at most this far from `(x, y)` (weight over open terrain).
    pub(super) tolerance: u32,
    /// The heuristic per unit of weight; 0 for Dijkstra.
    pub(super) h_per_weight: u32,
    pub(super) kind: PathKind,
    /// Whether the search runs from where the path ends to where it starts (see `goal_cells`).
    pub(super) is_backward: bool,
    /// Work spent to find the target, in expansions.
    pub(super) work: u32,
    /// Every f must stay this far below the 32-bit maximum: the most one step can add.
    pub(super) headroom: u32,
    /// Whether this is a jump point search.
    pub(super) uses_jumps: bool,
    /// Whether a node was dropped because its cost does not fit into 32 bits.
    pub(super) overflow: bool,
}

/// The last turn of a path to the goal, in the scan of a diagonal or a column.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// Steps to the cell at which the path turns; `u32::MAX` where the goal does not lie ahead.
    pub(super) steps: u32,
    /// Steps from there to the goal, and their direction.
    pub(super) remaining: u32,
    pub(super) side: Direction,
}

impl SearchTarget {
    /// The target of a query whose path must end on the goal cell.
    pub(super) fn find(
        grid: &NavGrid,
        layer: &Layer,
        query: &PathQuery,
        start: (u32, u32),
    ) -> Result<Self, PathFailure> {
        let goal = query.goal.cell();
        let (x, y) = grid.local(goal).ok_or(PathFailure::GoalOutOfBounds(goal))?;
        let region = layer.region(start.0, start.1);
        match (layer.region(x, y), query.reach) {
            (goal_region, _) if goal_region.is_some() && goal_region == region => {
                let target = Self::at(layer, query, (x, y));
                let distance = target.distance(layer, start.0, start.1);
                let may_jump = layer.jumps().is_some()
                    && query.algorithm.is_free_to_jump()
                    && LANDMARKS_JUMP_DISTANCES.contains(&distance);
                let has_landmarks =
                    || grid.landmarks(query.profile).is_some_and(|it| it.reaches(x, y));
                let uses_jumps = target.uses_jumps || may_jump && has_landmarks();
                Ok(Self { uses_jumps, ..target })
            }
            (None, Reach::Exact) => Err(PathFailure::GoalImpassable(goal)),
            (Some(_), Reach::Exact) => Err(PathFailure::NoPath { start: query.start, goal }),
            (_, Reach::Nearest) => Ok(Self::near(layer, query, (x, y), region.unwrap_or(0))),
        }
    }

    /// The target is a cell that can be reached.
    pub(super) fn at(layer: &Layer, query: &PathQuery, (x, y): (u32, u32)) -> Self {
        let (lowest, _) = layer.cost_sum_range();
        let h_per_weight = if query.algorithm == Algorithm::Dijkstra { 0 } else { lowest };
        let uses_jumps = layer.jumps().is_some_and(|map| match query.algorithm {
            algorithm if algorithm.is_free_to_jump() => map.is_worthwhile(),
            algorithm => algorithm == Algorithm::JumpPoint,
        });
        Self { x, y, h_per_weight, uses_jumps, ..Self::default() }
    }

    /// The target is any cell of `region` that is nearest to `goal`.
    pub(super) fn near(layer: &Layer, query: &PathQuery, goal: (u32, u32), region: u32) -> Self {
        let (tolerance, work) = nearest::distance_to_region(layer, goal, region);
        let kind = PathKind::Partial;
        Self { tolerance, work, kind, uses_jumps: false, ..Self::at(layer, query, goal) }
    }

    /// Lower bound on the cost of the path from a goal cell of a backward search, in units.
    #[inline]
    pub(super) fn heuristic(&self, layer: &Layer, x: u32, y: u32) -> u64 {
        u64::from(self.distance(layer, x, y)) * u64::from(self.h_per_weight)
    }

    /// Weight of the path from the cell over open terrain; 0 exactly where the search may end.
    #[inline]
    pub(super) fn distance(&self, layer: &Layer, x: u32, y: u32) -> u32 {
        layer.distance_between((x, y), (self.x, self.y)).saturating_sub(self.tolerance)
    }

    /// Number of steps from `(x, y)` to the goal in `direction`, a direction without side scans; `None` if the goal is not on
    /// that line.
    #[inline]
    pub(super) fn straight_steps(&self, x: u32, y: u32, direction: Direction) -> Option<u32> {
        let (along, across) = match direction {
            Direction::East => (self.x.wrapping_sub(x), self.y != y),
            Direction::West => (x.wrapping_sub(self.x), self.y != y),
            Direction::North => (self.y.wrapping_sub(y), self.x != x),
            Direction::NorthWest => {
                let along = self.y.wrapping_sub(y);
                (along, x.wrapping_sub(self.x) != along)
            }
            _ => (y.wrapping_sub(self.y), self.x != x),
        };
        // A goal behind `(x, y)` wraps around to a distance no grid has.
        (!across && along != 0 && along < 1 << 31).then_some(along)
    }

    /// Where a path along a diagonal (with four neighbors: a column) from `(x, y)` must turn to one side to
    /// reach the goal straight. Direction and sides are those of a [scan](Direction::scan_directions).
    #[inline]
    pub(super) fn turn<const N: u8>(
        &self,
        (x, y): (u32, u32),
        direction: Direction,
        sides: [Direction; 2],
    ) -> Turn {
        if N == 6 {
            let offset = (self.x.wrapping_sub(x) as i32, self.y.wrapping_sub(y) as i32);
            return turn_on_hexagons(offset, direction, sides);
        }
        let (dx, dy) = direction.offset();
        let is_diagonal = N == 8;
        let columns = self.x.wrapping_sub(x) as i32 * if is_diagonal { dx } else { 1 };
        let rows = self.y.wrapping_sub(y) as i32 * dy;
        if rows <= 0 || (is_diagonal && columns <= 0) {
            return Turn { steps: u32::MAX, remaining: 0, side: direction };
        }
        let (steps, rest) =
            if is_diagonal { (columns.min(rows), columns - rows) } else { (rows, columns) };
        let side = sides[usize::from(rest <= 0)];
        Turn { steps: steps as u32, remaining: rest.unsigned_abs(), side }
    }
}

/// The same on hexagons, for a goal at an offset.
#[inline]
fn turn_on_hexagons((dx, dy): (i32, i32), direction: Direction, sides: [Direction; 2]) -> Turn {
    // Steps after the turn (to the first side, or to the second if negative), and steps before it.
    let (rest, steps) = match direction {
        Direction::North => (dx, if dx < 0 { dx + dy } else { dy }),
        Direction::West => (dy, if dy < 0 { -dx } else { -dx - dy }),
        _ => (dx + dy, if dx + dy < 0 { dx } else { -dy }),
    };
    if steps <= 0 {
        return Turn { steps: u32::MAX, remaining: 0, side: direction };
    }
    Turn { steps: steps as u32, remaining: rest.unsigned_abs(), side: sides[usize::from(rest < 0)] }
}
