//! Paths: the result of a search, in straight legs, with its cost and kind.

pub mod line_of_sight;
pub mod string_pulling;
pub mod walk;

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{Adjacency, Cell, Direction, Layer, NavGrid, Profile, ProfileId, STRAIGHT};

/// The cost of a path: 13,056 is one straight step over plain terrain (408 × (16 + 16), see
/// [`terrain`](super::terrain)). 64 bits: no path on any grid overflows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct PathCost(pub u64);

impl PathCost {
    /// One straight step over plain terrain: terrain of cost 16.
    pub const PLAIN_STEP: Self = Self(STRAIGHT as u64 * 2 * Profile::PLAIN_COST as u64);

    /// Returns the cost in straight steps over plain terrain, for display. It uses 577/408 for the square
    /// root of two.
    #[must_use]
    pub fn in_plain_steps(self) -> f64 {
        self.0 as f64 / Self::PLAIN_STEP.0 as f64
    }
}

/// Whether a path leads to the goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum PathKind {
    /// It ends on the goal.
    #[default]
    Complete,
    /// The goal cannot be reached; the path ends on the reachable cell nearest to it.
    Partial,
    /// The first segment of a long path: the rest is still being searched for and will be added.
    FirstSegment,
    /// It ends on a cell of a link; the way to the goal goes on at the link's other end. Only the plugin gives such paths.
    ToLink,
}

/// A run of steps in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct Leg {
    /// The direction.
    pub direction: Direction,
    /// Number of steps, at least 1.
    pub steps: u16,
}

/// A path over the grid: its start and the straight legs it consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Path {
    pub(crate) start: Cell,
    pub(crate) end: Cell,
    pub(crate) legs: Vec<Leg>,
    pub(crate) cost: PathCost,
    pub(crate) kind: PathKind,
    pub(crate) revision: u64,
}

impl Path {
    /// Returns a path without steps: `cell` is its start and end.
    #[must_use]
    pub const fn standing(cell: Cell) -> Self {
        let (cost, kind) = (PathCost(0), PathKind::Complete);
        Self { start: cell, end: cell, legs: Vec::new(), cost, kind, revision: 0 }
    }

    /// Returns the first cell.
    #[must_use]
    pub const fn start(&self) -> Cell {
        self.start
    }

    /// Returns the last cell.
    #[must_use]
    pub const fn end(&self) -> Cell {
        self.end
    }

    /// Returns the straight legs from start to end. Two consecutive legs can have the same direction: where
    /// the first is 65,535 steps long, or where the rest of a long path was added.
    #[must_use]
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Returns the total cost.
    #[must_use]
    pub const fn cost(&self) -> PathCost {
        self.cost
    }

    /// Returns whether the path leads to the goal.
    #[must_use]
    pub const fn kind(&self) -> PathKind {
        self.kind
    }

    /// Sets whether the path leads to the goal.
    pub(crate) const fn set_kind(&mut self, kind: PathKind) {
        self.kind = kind;
    }

    /// Returns the revision of the grid on which the path was found.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the number of steps; one less than the number of cells.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.legs.iter().map(|leg| u32::from(leg.steps)).sum()
    }

    /// Iterates over every cell from start to end, both included.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        cells_along(self.start, self.legs.iter().copied())
    }

    /// Returns the first `steps` steps, or the whole path if it has no more.
    pub(crate) fn first_segment(&self, steps: u32, grid: &NavGrid, profile: ProfileId) -> Self {
        let mut path = self.clone();
        path.truncate(steps);
        path.cost = path.cost_on(grid, profile);
        path
    }

    /// Keeps the first `steps` steps. The cost stays as it is.
    pub(crate) fn truncate(&mut self, steps: u32) {
        let mut left = steps;
        self.legs.retain_mut(|leg| {
            leg.steps = left.min(u32::from(leg.steps)) as u16;
            left -= u32::from(leg.steps);
            leg.steps > 0
        });
        self.end = self.legs.iter().fold(self.start, |at, &leg| end_of(at, leg));
    }

    /// Returns the cost of the path on a grid.
    fn cost_on(&self, grid: &NavGrid, profile: ProfileId) -> PathCost {
        let adjacency = grid.layer(profile).map_or(Adjacency::Eight, Layer::adjacency);
        let cost = |cell: Cell| u64::from(grid.cost(profile, cell));
        let directions = self
            .legs
            .iter()
            .flat_map(|leg| std::iter::repeat_n(leg.direction, usize::from(leg.steps)));
        let steps = self.cells().zip(self.cells().skip(1)).zip(directions);
        let costs = steps.map(|((from, to), direction)| {
            let crossing = grid.edge_cost(profile, from, direction).map_or(0, u64::from);
            u64::from(adjacency.weight(direction)) * (cost(from) + cost(to) + 2 * crossing)
        });
        PathCost(costs.sum())
    }

    /// Returns this path followed by `rest`, which begins where this one ends.
    pub(crate) fn joined(mut self, rest: Self) -> Self {
        self.append(rest);
        self
    }

    /// Appends `rest`, which begins where this path ends. The existing steps keep their positions in the list
    /// of legs.
    pub(crate) fn append(&mut self, rest: Self) {
        self.legs.extend(rest.legs);
        self.end = rest.end;
        self.cost.0 += rest.cost.0;
        self.kind = rest.kind;
        self.revision = rest.revision;
    }

    /// Iterates over the turning points: the start, every cell where the direction changes, and the end.
    pub fn waypoints(&self) -> impl Iterator<Item = Cell> + '_ {
        ends_along(self.start, self.legs.iter().copied())
    }
}

/// Iterates over every cell along legs, from `from` to the last end, both included.
fn cells_along(at: Cell, legs: impl Iterator<Item = Leg>) -> impl Iterator<Item = Cell> {
    let steps = |leg: Leg| std::iter::repeat_n(Leg { steps: 1, ..leg }, usize::from(leg.steps));
    ends_along(at, legs.flat_map(steps))
}

/// Iterates over `from` and the ends of legs that lead on from there.
fn ends_along(mut at: Cell, legs: impl Iterator<Item = Leg>) -> impl Iterator<Item = Cell> {
    std::iter::once(at).chain(legs.map(move |leg| {
        at = end_of(at, leg);
        at
    }))
}

/// Returns the end of a leg that begins at `from`.
pub(crate) fn end_of(from: Cell, leg: Leg) -> Cell {
    let (dx, dy) = leg.direction.offset();
    from.offset(dx * i32::from(leg.steps), dy * i32::from(leg.steps))
}

/// Builds legs from runs (a direction and a number of steps), given from last to first.
pub(crate) fn legs_from_back(runs: impl Iterator<Item = (Direction, u32)>) -> Vec<Leg> {
    let mut legs: Vec<Leg> = Vec::new();
    for (direction, mut steps) in runs {
        while steps > 0 {
            match legs.last_mut() {
                Some(leg) if leg.direction == direction && leg.steps < u16::MAX => {
                    let added = steps.min(u32::from(u16::MAX - leg.steps));
                    leg.steps += added as u16;
                    steps -= added;
                }
                _ => legs.push(Leg { direction, steps: 0 }),
            }
        }
    }
    legs.reverse();
    legs
}
