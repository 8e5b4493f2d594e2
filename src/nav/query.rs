//! What a search is asked, and every way in which the answer can be no.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{
    cell::Cell,
    goal::{Approach, Goal},
    terrain::ProfileId,
};

/// Number that a game gives to a grid (a level, a floor); 0 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct GridId(pub u32);

/// What to do where the goal itself cannot be reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Reach {
    /// Fail, with the reason (default: an order that cannot be carried out is worth knowing).
    #[default]
    Exact,
    /// Go to the reachable cell nearest to the goal by straight-line grid distance (octile or
    /// Manhattan, as the profile moves), the cheapest to get to among equals. For a rectangle that is
    /// nearest to its lowest, leftmost cell on the grid; of several goals only the first of those with
    /// a cell on the grid counts.
    Nearest,
}

/// Which algorithm answers a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Algorithm {
    /// Whatever suits the query best: [`Exact`](Self::Exact), and from a distance of
    /// [`LONG_WAY`](super::search::LONG_WAY) cells on [`Hierarchical`](Self::Hierarchical), if a short exact
    /// try has not come far. Depends on the grid and the query alone.
    #[default]
    Auto,
    /// The best way there is, however long: [`JumpPoint`](Self::JumpPoint) where that works and
    /// pays, [`AStar`](Self::AStar) elsewhere and where single impassable cells are strewn about (one
    /// for a hundred passable cells or more: they are what makes jumping slow).
    Exact,
    /// First over chunks of 32 × 32 cells, then over the cells around the way found there: a fraction
    /// of the time, and a way that costs a little more (see `benches/RESULTS.md` for how much), whose
    /// beginning is known at once. Only for long ways: from
    /// [`LONG_WAY`](super::search::LONG_WAY) cells on, on mixed terrain from
    /// [`LONG_MIXED_WAY`](super::search::LONG_MIXED_WAY). Below, under
    /// [`CornerRule::Allow`](super::terrain::CornerRule) with eight neighbors, where the goal itself
    /// cannot be reached, and where the way may end on one of several cells, `Exact` answers.
    Hierarchical,
    /// A* (Hart, Nilsson & Raphael 1968) with octile or Manhattan distance; on uniform cost it
    /// expands in canonical order, see [`search`](super::search).
    AStar,
    /// Jump point search (Harabor & Grastien 2011, 2014), see [`search`](super::search): the same
    /// costs as A* with far fewer nodes. For corners that may not be cut, or four neighbors, where the
    /// cost of a jump across the grid fits into 31 bits; elsewhere, and where the goal cannot be
    /// reached itself, A* answers.
    JumpPoint,
    /// Dijkstra's algorithm (1959): A* without an estimate. Slower, for comparison.
    Dijkstra,
}

/// One question: the cheapest way from `start` to `goal`, or to where that is near enough, for a unit
/// of `profile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct PathQuery {
    /// Who moves.
    pub profile: ProfileId,
    /// From where.
    pub start: Cell,
    /// To where: a cell, or the lowest, leftmost one of a rectangle.
    pub goal: Cell,
    /// How near to it; onto it by default.
    pub approach: Approach,
    /// What to do where there is no way.
    pub reach: Reach,
    /// How to search.
    pub algorithm: Algorithm,
}

impl PathQuery {
    /// From `start` to `goal` for profile 0, exactly, by whatever algorithm suits.
    #[must_use]
    pub fn new(start: Cell, goal: Cell) -> Self {
        Self { start, goal, ..Self::default() }
    }

    /// The same for another profile.
    #[must_use]
    pub fn profile(mut self, profile: ProfileId) -> Self {
        self.profile = profile;
        self
    }

    /// The same with another approach.
    #[must_use]
    pub fn approach(mut self, approach: Approach) -> Self {
        self.approach = approach;
        self
    }

    /// Where to, and how near to it.
    #[must_use]
    pub const fn goal(&self) -> Goal {
        Goal { cell: self.goal, approach: self.approach }
    }

    /// The same with another reach.
    #[must_use]
    pub fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// The same by another algorithm.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }
}

/// Why there is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub enum PathFailure {
    /// The start is not on the grid.
    StartOutOfBounds(Cell),
    /// The unit cannot stand on the start: wrong terrain or a blocker.
    StartImpassable(Cell),
    /// The goal is not on the grid; of a rectangle (and of all others, if there are several goals) no
    /// cell is.
    GoalOutOfBounds(Cell),
    /// The unit cannot stand on the goal: wrong terrain or a blocker. Or it can stand nowhere where the
    /// goal is near enough.
    GoalImpassable(Cell),
    /// A group's places near this goal are all taken: there is none left for the unit.
    NoRoom(Cell),
    /// Both cells are fine, but no way leads from one to the other (or to any cell near enough).
    NoWay {
        /// From where.
        start: Cell,
        /// To where.
        goal: Cell,
    },
    /// There is no grid with this number, or it was removed while the search ran.
    GridGone(GridId),
    /// The grid knows no profile with this number.
    UnknownProfile(ProfileId),
    /// The way costs more than a search can count (32 bits of the profile's cost unit). Coarser
    /// terrain costs, such as multiples of 4 or 16, reach further.
    CostOverflow {
        /// From where.
        start: Cell,
        /// To where.
        goal: Cell,
    },
    /// The unit has no position that a cell can be told from: no transform, or one with NaN or
    /// infinite coordinates.
    StartUnknown,
    /// The goal position is NaN or infinite.
    GoalUnknown,
    /// The entity to go to does not exist or has no position.
    TargetGone,
    /// The request was taken back before it was answered.
    Canceled,
    /// A newer request of the same unit took its place.
    Superseded,
}

impl core::fmt::Display for PathFailure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::StartOutOfBounds(cell) => write!(f, "start {cell} is not on the grid"),
            Self::StartImpassable(cell) => write!(f, "the unit cannot stand on its start {cell}"),
            Self::GoalOutOfBounds(cell) => write!(f, "goal {cell} is not on the grid"),
            Self::GoalImpassable(cell) => write!(f, "the unit cannot stand on the goal {cell}"),
            Self::NoRoom(goal) => write!(f, "there is no room left around {goal}"),
            Self::NoWay { start, goal } => write!(f, "no way leads from {start} to {goal}"),
            Self::GridGone(grid) => write!(f, "there is no grid {}", grid.0),
            Self::UnknownProfile(profile) => write!(f, "the grid knows no profile {}", profile.0),
            Self::CostOverflow { start, goal } => {
                write!(f, "the way from {start} to {goal} costs more than can be counted")
            }
            Self::StartUnknown => f.write_str("the unit has no finite position"),
            Self::GoalUnknown => f.write_str("the goal position is not finite"),
            Self::TargetGone => f.write_str("the target entity is gone"),
            Self::Canceled => f.write_str("canceled"),
            Self::Superseded => f.write_str("superseded by a newer request"),
        }
    }
}

impl core::error::Error for PathFailure {}
