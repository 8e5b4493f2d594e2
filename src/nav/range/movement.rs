//! What a unit may spend on its path, and how steps are counted.
//!
//! Input: the rules of a query. Output: sums. A sum is what is spent where a cell is entered; lower is better. With turns, it
//! is the points of all turns that are over, plus what is used of the current one: so turns come first, and what is left in
//! them second.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use crate::nav::{DIAGONAL, Layer, PathCost, Profile, STRAIGHT};

/// Sums of turns stay below this, so that two more turns can be added.
const HIGHEST_SUM_OF_TURNS: u32 = u32::MAX / 2;
/// Most points of a turn, in sixteenths: those of [`TurnRules::new`]. With more there would be too many buckets.
pub(super) const MOST_PER_TURN: u32 = 1 << 20;

/// Whether a unit may enter a cell. For the terrain, the profile decides; this is for other units, and zones of control.
///
/// For a large unit, the cell asked about is that of its anchor. Cells that may not be entered are no corners: diagonal steps
/// past them are legal. For a cell that may be passed but not stood on (an ally's), answer `Cost`, and do not offer it as a
/// goal. A path over several turns may end a turn there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum MayEnter {
    /// At the cost of its terrain.
    #[default]
    Cost,
    /// At the same cost, but the move ends there: what is left of the turn is lost. Without turns, no path leads on from there.
    Stop,
    /// No: an enemy stands there, say.
    No,
}

/// What a unit may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Movement {
    /// This cost at most. Steps cost what they cost in paths: both the cell left and the cell entered count.
    Cost(PathCost),
    /// Movement points, as turn-based games count them: only the cell entered counts.
    Turns(TurnRules),
}

impl Default for Movement {
    /// One turn of five points.
    fn default() -> Self {
        Self::Turns(TurnRules::default())
    }
}

/// How turns are counted. Points are in sixteenths, as the costs of terrain are: a unit with 80 enters five plain cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct TurnRules {
    /// Points of a turn, in sixteenths, up to 1,048,576. What is not used by the end of a turn is lost.
    pub per_turn: u32,
    /// What is left of this turn, up to `per_turn`.
    pub left: u32,
    /// How many turns the unit may take, this one included; 0 is none.
    pub turns: u32,
    /// What a diagonal step costs; on hexagons there are none.
    pub diagonals: Diagonals,
    /// Whether the last step of a turn may cost more than is left: such a step takes all that is left, and no cell is too
    /// costly for a unit that has any points (as in Civilization V). By default a unit that cannot pay for a cell waits for the
    /// next turn, and cells that cost more than a whole turn cannot be entered (as in Battle for Wesnoth).
    pub may_overspend: bool,
}

impl TurnRules {
    /// Returns the rules for this many whole points per turn (all of them left), and this many turns.
    #[must_use]
    pub const fn new(points: u16, turns: u32) -> Self {
        let per_turn = points as u32 * Profile::PLAIN_COST as u32;
        let diagonals = Diagonals::AsStraight;
        Self { per_turn, left: per_turn, turns, diagonals, may_overspend: false }
    }

    /// Returns the rules with this much left of the current turn, in sixteenths of a point.
    #[must_use]
    pub const fn left(mut self, sixteenths: u32) -> Self {
        self.left = sixteenths;
        self
    }

    /// Returns the rules with another cost of diagonal steps.
    #[must_use]
    pub const fn diagonals(mut self, diagonals: Diagonals) -> Self {
        self.diagonals = diagonals;
        self
    }

    /// Returns the rules under which the last step of a turn may cost more than is left.
    #[must_use]
    pub const fn overspend(mut self) -> Self {
        self.may_overspend = true;
        self
    }
}

impl Default for TurnRules {
    /// One turn of five points.
    fn default() -> Self {
        Self::new(5, 1)
    }
}

/// What a diagonal step costs in turns. On hexagons there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Diagonals {
    /// As much as a straight one (default, as on most boards).
    #[default]
    AsStraight,
    /// √2 times as much, to the nearest sixteenth: a plain cell takes 23.
    Euclidean,
}

impl Diagonals {
    /// The cost of a diagonal step as a fraction of that of a straight one.
    pub(super) const fn factor(self) -> (u32, u32) {
        match self {
            Self::AsStraight => (1, 1),
            Self::Euclidean => (DIAGONAL, STRAIGHT),
        }
    }
}

/// How sums grow; the loop is compiled once for each implementation.
pub(super) trait Counting {
    /// What is known of a cell before the steps from it are counted.
    type From: Copy;

    /// Whether of several paths with the same sum the shortest one is taken, as far as they are compared.
    const BREAKS_TIES: bool;

    /// Returns the sum at the start.
    fn first(&self) -> u32;

    /// Returns the highest sum in range, and whether a higher one was asked for.
    fn limit(&self) -> (u32, bool);

    /// Returns the most steps of a path in range.
    fn most_steps(&self) -> u32;

    /// Returns by how much a step raises the sum: at least, and at most.
    fn increments(&self) -> (u32, u32);

    /// Returns how many sixteenths a unit of the sums has.
    fn unit(&self) -> u32;

    fn leave(&self, sum: u32) -> Self::From;

    /// Returns the sum after a step of this cost; `None` if it can never be made.
    fn enter(&self, from: Self::From, cost: u32) -> Option<u32>;

    /// Returns the sum after a step that ended with `sum` on a cell where moves end, and whether a path leads on from there.
    fn stop(&self, from: Self::From, sum: u32) -> (u32, bool);
}

/// Sums are path costs, in the layer's units.
pub(super) struct ByCost {
    limit: (u32, bool),
    increments: (u32, u32),
    unit: u32,
}

impl ByCost {
    pub(super) fn new(layer: &Layer, movement: Movement) -> Self {
        let cost = match movement {
            Movement::Cost(PathCost(cost)) => cost,
            Movement::Turns(_) => 0,
        };
        let (lowest, highest) = (layer.cost_sum_range().0, layer.highest_step_sum());
        let increments = (STRAIGHT * lowest, DIAGONAL * highest);
        let (wanted, most) =
            (cost / u64::from(layer.unit()), u64::from(u32::MAX - 1 - increments.1));
        let limit = (wanted.min(most) as u32, wanted > most);
        Self { limit, increments, unit: layer.unit() }
    }
}

impl Counting for ByCost {
    type From = u32;

    const BREAKS_TIES: bool = false;

    fn first(&self) -> u32 {
        0
    }

    fn limit(&self) -> (u32, bool) {
        self.limit
    }

    fn most_steps(&self) -> u32 {
        self.limit.0 / self.increments.0.max(1)
    }

    fn increments(&self) -> (u32, u32) {
        self.increments
    }

    fn unit(&self) -> u32 {
        self.unit
    }

    #[inline(always)]
    fn leave(&self, sum: u32) -> u32 {
        sum
    }

    #[inline(always)]
    fn enter(&self, from: u32, cost: u32) -> Option<u32> {
        Some(from + cost)
    }

    #[inline(always)]
    fn stop(&self, _from: u32, sum: u32) -> (u32, bool) {
        (sum, false)
    }
}

/// Sums are sixteenths of points: those of all turns that are over, and those used of the current one.
pub(super) struct ByTurns {
    per_turn: u32,
    first: u32,
    limit: (u32, bool),
    /// The lowest cost of a cell.
    lowest: u32,
    may_overspend: bool,
}

impl ByTurns {
    pub(super) fn new(layer: &Layer, rules: TurnRules) -> Self {
        let per_turn = rules.per_turn.min(MOST_PER_TURN);
        let left = rules.left.min(per_turn);
        // Whole turns.
        let most_turns = HIGHEST_SUM_OF_TURNS.checked_div(per_turn).unwrap_or(0);
        let is_over = rules.turns > most_turns && per_turn > 0 || rules.per_turn > per_turn;
        let overflow = rules.turns > 0 && is_over;
        let limit = (rules.turns.min(most_turns) * per_turn, overflow);
        let (first, lowest) = (per_turn - left, layer.lowest_cost().max(1));
        Self { per_turn, first, limit, lowest, may_overspend: rules.may_overspend }
    }
}

/// What is spent on a cell, and the sum at which the turn ends in which it is left.
#[derive(Clone, Copy)]
pub(super) struct InTurn {
    sum: u32,
    end: u32,
}

impl Counting for ByTurns {
    type From = InTurn;

    const BREAKS_TIES: bool = true;

    fn first(&self) -> u32 {
        self.first
    }

    fn limit(&self) -> (u32, bool) {
        self.limit
    }

    fn most_steps(&self) -> u32 {
        let turns = self.limit.0.checked_div(self.per_turn).unwrap_or(0);
        turns.saturating_mul(self.per_turn.div_ceil(self.lowest))
    }

    fn increments(&self) -> (u32, u32) {
        let least = if self.may_overspend { 1 } else { self.lowest };
        (least, 2 * self.per_turn)
    }

    fn unit(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn leave(&self, sum: u32) -> InTurn {
        // Where a turn is over, the next one begins.
        let turn = sum.checked_div(self.per_turn).unwrap_or(0);
        InTurn { sum, end: (turn + 1) * self.per_turn }
    }

    #[inline(always)]
    fn enter(&self, InTurn { sum, end }: InTurn, cost: u32) -> Option<u32> {
        if cost <= end - sum {
            Some(sum + cost)
        } else if self.may_overspend && sum < end {
            Some(end)
        } else {
            (cost <= self.per_turn).then_some(end + cost)
        }
    }

    #[inline(always)]
    fn stop(&self, InTurn { end, .. }: InTurn, sum: u32) -> (u32, bool) {
        (if sum <= end { end } else { end + self.per_turn }, true)
    }
}
