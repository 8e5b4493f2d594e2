//! Places for many units near one goal, and who takes which.
//!
//! Input: a grid, units (where they are, what they are, their rank) and a [`GroupOrder`]. Output: a
//! place of its own for each, or the reason why it has none.
//!
//! Invariants: blocks of n × n cells never overlap, nor come nearer to each other than the spacing; each
//! place lies on the island on which its unit stands; the same group gets the same places, in
//! whatever order its units are given; a group that stands in its places stays there.
//!
//! In the order in which data flows: `muster` (who takes part) → `ground` (where they can stand),
//! `layout` (the shape) → `places` (what is taken) → `assign` (who takes what); `marks` are sets of
//! cells.
//!
//! Cost for n units: a heap operation for each cell looked at (a few times as many as the group
//! covers), sorting, and at most 500 n comparisons of two units to improve who goes where (4 million
//! for each size). Measured: 400 units 1.5 to 2 ms, 2,000 units 8 to 10 ms; a tenth of that where
//! nearly all stay.

mod assign;
mod ground;
mod layout;
mod lengths;
mod marks;
mod muster;
mod places;

use std::collections::BTreeMap;

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use self::{ground::Ground, marks::Marks, muster::Muster, places::Field};
use super::{
    cell::Cell,
    direction::Direction,
    grid::NavGrid,
    query::PathFailure,
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
};

/// Widest [`spacing`](GroupOrder::spacing), in cells.
pub const WIDEST_SPACING: u8 = 16;

/// How a group stands, seen in the direction in which it faces.
///
/// Rows are filled from the front, each from its middle outward, and the middle of the whole lies on
/// the goal. In a diagonal facing rows lie along a diagonal, each shifted by half a file against the
/// next: no ground is lost by turning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Formation {
    /// On the cells that are nearest to the goal, as one walks (default): a blob that fits into any
    /// ground and never reaches through a wall.
    #[default]
    Loose,
    /// Side by side; more rows where there are many units, 16 times as wide as deep.
    Line,
    /// One behind the other; more files where there are many units, 16 times as deep as wide.
    Column,
    /// As wide as deep.
    Box,
    /// A triangle with its point in front, its sides at right angles.
    Wedge,
}

/// One unit of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct GroupUnit {
    /// Where it is (its anchor).
    pub cell: Cell,
    /// How it moves, and how large it is.
    pub profile: ProfileId,
    /// Those of lower rank stand nearer to the front, or to the goal where there is none; 0 by
    /// default.
    pub rank: i32,
}

impl GroupUnit {
    /// A unit of profile 0 and rank 0.
    #[must_use]
    pub fn new(cell: Cell) -> Self {
        Self { cell, ..Self::default() }
    }

    /// The same with another profile.
    #[must_use]
    pub const fn profile(mut self, profile: ProfileId) -> Self {
        self.profile = profile;
        self
    }

    /// The same with another rank.
    #[must_use]
    pub const fn rank(mut self, rank: i32) -> Self {
        self.rank = rank;
        self
    }
}

/// Where a group shall stand, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct GroupOrder {
    /// The middle of the group; where a unit cannot stand on it, the ground around it counts.
    pub goal: Cell,
    /// How they stand.
    pub formation: Formation,
    /// Where the front of a formation is. `None` (default): in the direction in which the group goes
    /// (see [`faced`](Self::faced)).
    pub facing: Option<Direction>,
    /// Cells left free between any two units, 0 (default) to [`WIDEST_SPACING`]; more count as that.
    pub spacing: u8,
}

impl GroupOrder {
    /// Around `goal`, loose and without spacing.
    #[must_use]
    pub fn to(goal: Cell) -> Self {
        Self { goal, ..Self::default() }
    }

    /// The same in another formation.
    #[must_use]
    pub const fn formation(mut self, formation: Formation) -> Self {
        self.formation = formation;
        self
    }

    /// The same with its front in this direction.
    #[must_use]
    pub const fn facing(mut self, facing: Direction) -> Self {
        self.facing = Some(facing);
        self
    }

    /// The same with so many free cells between units.
    #[must_use]
    pub const fn spacing(mut self, cells: u8) -> Self {
        self.spacing = cells;
        self
    }

    /// The same with its facing settled: where it has none, the direction from the center of the
    /// units to the goal (east where that is the same cell). Do this once for orders that are looked at
    /// again later: a group that has arrived goes nowhere, and would turn at random.
    #[must_use]
    pub fn faced(self, units: &[GroupUnit]) -> Self {
        let (x, y) = units.iter().fold((0, 0), |sum: (i64, i64), unit| {
            let (dx, dy) = (i64::from(self.goal.x), i64::from(self.goal.y));
            (sum.0 + dx - i64::from(unit.cell.x), sum.1 + dy - i64::from(unit.cell.y))
        });
        let facing = self.facing.unwrap_or_else(|| nearest_direction(x, y));
        Self { facing: Some(facing), ..self }
    }
}

/// A place for each of `units`, in their order: a cell of its own (an anchor) on which it can stand
/// and to which it has a way.
///
/// Places are chosen by the [`Formation`]. A slot in which its unit cannot stand, or to which there is
/// only a long way around, is replaced by the nearest free place beside it, or else by that nearest to
/// the goal. Units on another island than the goal get the places of their own island that are nearest
/// to it in a straight line; where a unit's profile cannot stand on the goal at all, the nearest cell
/// on which it can takes its place.
///
/// Units of one size whose ranks are equal, or whose places are equally far in front, are
/// interchangeable: they share out their places so that they have little to walk in all (straight
/// ways; a few in a hundred above the least there is) and their ways seldom cross. One that
/// stands on a place of its kind already keeps it.
///
/// # Errors
/// For each unit that gets no place: [`PathFailure::UnknownProfile`];
/// [`PathFailure::StartOutOfBounds`] or [`PathFailure::StartImpassable`] where it stands nowhere;
/// [`PathFailure::GoalOutOfBounds`]; [`PathFailure::NoRoom`] where all room is taken: those
/// of high rank and those far from the goal go without.
#[must_use]
pub fn assign_places(
    grid: &NavGrid,
    units: &[GroupUnit],
    order: &GroupOrder,
) -> Vec<Result<Cell, PathFailure>> {
    let held = |index: usize| units.get(index).map(|unit| unit.cell);
    settle(grid, units, held, order)
}

/// New places after units were lost or have joined, or the ground has changed: `units` are those there
/// are now, `places` what each of them had before (`None`, or nothing at the end, for those that have
/// joined).
///
/// Places are chosen as by [`assign_places`]. A unit whose place is still among those for its size
/// (and its rank) keeps it, whether it stands there already or not; the others share out the rest. The
/// order should have its facing [settled](GroupOrder::faced).
///
/// # Errors
/// As [`assign_places`].
#[must_use]
pub fn close_ranks(
    grid: &NavGrid,
    units: &[GroupUnit],
    places: &[Option<Cell>],
    order: &GroupOrder,
) -> Vec<Result<Cell, PathFailure>> {
    settle(grid, units, |index| places.get(index).copied().flatten(), order)
}

/// Places for units of which each keeps what it holds, if it can.
fn settle(
    grid: &NavGrid,
    units: &[GroupUnit],
    held: impl Fn(usize) -> Option<Cell>,
    order: &GroupOrder,
) -> Vec<Result<Cell, PathFailure>> {
    let Some(goal) = grid.local(order.goal) else {
        return vec![Err(PathFailure::GoalOutOfBounds(order.goal)); units.len()];
    };
    let mut answers = vec![Err(PathFailure::NoRoom(order.goal)); units.len()];
    let refuse = |index: usize, failure| answers[index] = Err(failure);
    let mut muster = Muster::call(grid, (units, held), goal, refuse);
    muster.sort(order);
    choose_places(grid, &mut muster, &order.faced(units));
    assign::share_out(&mut muster.members, &muster.tribes);
    for member in &muster.members {
        if let Some(place) = member.place {
            answers[member.index] = Ok(grid.global(place.at.0, place.at.1));
        }
    }
    answers
}

/// Gives each member a place, in their order.
fn choose_places(grid: &NavGrid, muster: &mut Muster<'_>, order: &GroupOrder) {
    let Muster { members, tribes, center } = muster;
    let size = (grid.width(), grid.height());
    let mut held: BTreeMap<u32, Marks> = BTreeMap::new();
    for member in members.iter() {
        let held = held.entry(member.size).or_insert_with(|| Marks::new(size));
        if let Some((x, y)) = member.held {
            held.mark(x, y);
        }
    }
    let grounds = tribes.iter().map(|tribe| Ground::new(*tribe, *center, &held[&tribe.size]));
    let spacing = u32::from(order.spacing.min(WIDEST_SPACING));
    let mut field = Field::new((tribes, grounds.collect()), (size, center.goal), spacing);
    if order.formation == Formation::Loose {
        field.gather(members);
        return;
    }
    let smallest = members.iter().map(|member| member.size).min().unwrap_or(1);
    let pitch = smallest + spacing;
    let sides: Vec<u32> =
        members.iter().map(|member| (member.size + spacing).div_ceil(pitch)).collect();
    let facing = order.facing.unwrap_or_default();
    field.form(members, &layout::slots(order.formation, facing, &sides), pitch);
}

/// The one of the eight directions that is nearest to an offset; east where there is none.
fn nearest_direction(dx: i64, dy: i64) -> Direction {
    let (long, short) = (dx.abs().max(dy.abs()), dx.abs().min(dy.abs()));
    // The tangent of half the angle between two directions is √2 - 1.
    let is_diagonal = i128::from(short) * i128::from(STRAIGHT)
        > i128::from(long) * i128::from(DIAGONAL - STRAIGHT);
    let sign = |along: i64, across: i64| {
        if is_diagonal || along.abs() > across.abs() { along.signum() as i32 } else { 0 }
    };
    Direction::from_offset(sign(dx, dy), sign(dy, dx))
}
