//! Path queries, and every reason why there may be no path.
//!
//! Input: what the caller asks for. Output: a [`PathQuery`] for searches, or a [`PathFailure`] from them.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{Cell, Goal, ProfileId};

/// Number that a game assigns to a grid (a level, a floor); 0 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct GridId(pub u32);

/// What to do where the goal itself cannot be reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Reach {
    /// Fail with the reason (default: a game should notice an order that cannot be carried out).
    #[default]
    Exact,
    /// Go to the reachable cell nearest to the goal by distance on an empty grid (octile or Manhattan, as
    /// the profile moves; steps on hexagons); among equals, to the one that is cheapest to reach. For a rectangle the
    /// distance is measured to its lowest, leftmost cell on the grid; of several goals, only the first
    /// that has a cell on the grid counts.
    Nearest,
}

/// Which algorithm answers a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Algorithm {
    /// The one that suits the query: [`Exact`](Self::Exact) up to a distance of
    /// [`HIERARCHY_MIN_DISTANCE`](super::search::HIERARCHY_MIN_DISTANCE) cells; beyond that
    /// [`Hierarchical`](Self::Hierarchical), if an exact search would take the work of more than 24,000 expansions or
    /// would not jump. It then looks farther around its route than `Hierarchical`, so that paths
    /// are at most 3 % too long on tiled worlds of real maps, and 5.1 % with
    /// [`CornerRule::Allow`](super::terrain::CornerRule) or across edges that cost as much as hundreds of cells.
    /// The choice depends on the grid, its landmarks and the query alone. Two exceptions in a queue: a search for such a long path
    /// does not try an exact search first if an edit has restarted it; and where many jobs have one goal, an exact search may
    /// answer them all.
    #[default]
    Auto,
    /// The cheapest path, however long: [`JumpPoint`](Self::JumpPoint) where that works and pays, elsewhere
    /// [`AStar`](Self::AStar). Jumping does not pay among scattered impassable cells (one for every hundred passable
    /// cells or more), unless the [landmarks](super::landmarks) are ready and the goal is 32 to 2,048 cells away.
    Exact,
    /// First over chunks of 32 × 32 cells, then over the cells around the path found there. Takes a
    /// fraction of the time, for a path that costs a little more (see `benches/RESULTS.md` for how much)
    /// and whose first segment is known early. Only for long paths: beyond
    /// [`HIERARCHY_MIN_DISTANCE`](super::search::HIERARCHY_MIN_DISTANCE) cells, on weighted terrain beyond
    /// [`HIERARCHY_MIN_DISTANCE_WEIGHTED`](super::search::HIERARCHY_MIN_DISTANCE_WEIGHTED). `Exact` answers
    /// shorter ones, and those where the goal itself cannot be reached or the path may end on one of several cells.
    Hierarchical,
    /// A* (Hart, Nilsson & Raphael 1968) with octile or Manhattan distance, or that of hexagons. On uniform cost it
    /// expands in canonical order, see [`search`](super::search).
    AStar,
    /// Jump point search (Harabor & Grastien 2011, 2014), see [`search`](super::search): the same costs as
    /// A* with far fewer nodes. For profiles that may not cut corners or that have four neighbors, and on hexagons, where
    /// the cost of a jump across the grid fits into 31 bits. Elsewhere, and where the goal itself cannot be
    /// reached, A* answers.
    JumpPoint,
    /// Dijkstra's algorithm (1959): A* without a heuristic. Slower, for comparison.
    Dijkstra,
}

impl Algorithm {
    /// Whether it is left to the search to jump or not.
    pub(crate) const fn is_free_to_jump(self) -> bool {
        matches!(self, Self::Auto | Self::Exact | Self::Hierarchical)
    }
}

/// One query: the cheapest path from `start` to `goal`, or to a cell near enough to it, for a unit of
/// `profile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct PathQuery {
    /// The profile of the unit that moves.
    pub profile: ProfileId,
    /// Where the path starts.
    pub start: Cell,
    /// Where it leads, and how near to it.
    pub goal: Goal,
    /// What to do where the goal cannot be reached.
    pub reach: Reach,
    /// Which algorithm to use.
    pub algorithm: Algorithm,
}

impl PathQuery {
    /// Returns a query from `start` to `goal` for profile 0, with [`Reach::Exact`] and
    /// [`Algorithm::Auto`].
    #[must_use]
    pub fn new(start: Cell, goal: impl Into<Goal>) -> Self {
        Self { start, goal: goal.into(), ..Self::default() }
    }

    /// Returns the query for another profile.
    #[must_use]
    pub fn profile(mut self, profile: ProfileId) -> Self {
        self.profile = profile;
        self
    }

    /// Returns the query with another reach.
    #[must_use]
    pub fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// Returns the query with another algorithm.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }
}

/// Why there is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub enum PathFailure {
    /// The start is not on the grid.
    StartOutOfBounds(Cell),
    /// The unit cannot stand on the start: wrong terrain or a blocker.
    StartImpassable(Cell),
    /// The goal is not on the grid. For a rectangle: no cell of it is; for several goals: no cell of any.
    GoalOutOfBounds(Cell),
    /// The unit cannot stand on the goal (wrong terrain or a blocker), or on any cell near enough to it.
    GoalImpassable(Cell),
    /// All slots of a group near this goal are taken: there is none left for the unit.
    NoRoom(Cell),
    /// Both cells are passable, but no path leads from one to the other (or to any cell near enough).
    NoPath {
        /// The start of the query.
        start: Cell,
        /// The goal of the query.
        goal: Cell,
    },
    /// There is no grid with this number, or it was removed while the search ran.
    GridGone(GridId),
    /// The goal is on another grid, and the unit cannot get there over links: there are none, they are not open to it, or the goal
    /// is cut off on its grid.
    NoLinks {
        /// The unit's grid.
        from: GridId,
        /// The grid of the goal.
        to: GridId,
    },
    /// The grid has no profile with this number.
    UnknownProfile(ProfileId),
    /// The path costs more than a search can count (32 bits of the profile's cost unit). Coarser
    /// terrain costs, such as multiples of 4 or 16, reach further.
    CostOverflow {
        /// The start of the query.
        start: Cell,
        /// The goal of the query.
        goal: Cell,
    },
    /// The unit has no position that lies in a cell: no transform, or one with NaN or infinite
    /// coordinates.
    StartUnknown,
    /// The goal position is NaN or infinite.
    GoalUnknown,
    /// The entity to go to does not exist or has no position.
    TargetGone,
    /// The result was asked for before the search was finished.
    Unfinished,
}

impl PathFailure {
    /// The same failure of a query that starts elsewhere: for the rest of a path, where the whole path was asked for.
    pub(super) const fn with_start(self, start: Cell) -> Self {
        match self {
            Self::NoPath { goal, .. } => Self::NoPath { start, goal },
            Self::CostOverflow { goal, .. } => Self::CostOverflow { start, goal },
            other => other,
        }
    }
}

impl core::fmt::Display for PathFailure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::StartOutOfBounds(cell) => write!(f, "start {cell} is not on the grid"),
            Self::StartImpassable(cell) => write!(f, "the unit cannot stand on its start {cell}"),
            Self::GoalOutOfBounds(cell) => write!(f, "goal {cell} is not on the grid"),
            Self::GoalImpassable(cell) => write!(f, "the unit cannot stand on the goal {cell}"),
            Self::NoRoom(goal) => write!(f, "there is no room left around {goal}"),
            Self::NoPath { start, goal } => write!(f, "there is no path from {start} to {goal}"),
            Self::GridGone(grid) => write!(f, "there is no grid {}", grid.0),
            Self::NoLinks { from, to } => {
                write!(f, "no open links lead from grid {} to the goal on grid {}", from.0, to.0)
            }
            Self::UnknownProfile(profile) => write!(f, "the grid knows no profile {}", profile.0),
            Self::CostOverflow { start, goal } => {
                write!(f, "the cost of the path from {start} to {goal} overflows")
            }
            Self::StartUnknown => f.write_str("the unit has no finite position"),
            Self::GoalUnknown => f.write_str("the goal position is not finite"),
            Self::TargetGone => f.write_str("the target entity is gone"),
            Self::Unfinished => f.write_str("the search is not finished"),
        }
    }
}

impl core::error::Error for PathFailure {}
