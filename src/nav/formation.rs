//! Slots for many units near one goal, and the assignment of units to slots.
//!
//! Input: a grid, units (their cell, profile and rank) and a [`FormationSpec`]. Output: a slot for each unit, or
//! the reason why it has none.
//!
//! Invariants: the cells of two slots never overlap, nor come nearer to each other than the spacing; each slot
//! lies in the connected region of its unit; the same group gets the same slots, whatever the order of its
//! units; a group that stands in its slots stays there.
//!
//! In the order of the data flow: `roster` (the units that take part) → `nearest_cells` (where they can
//! stand), `layout` (the shape) → `slot_selection` (the cells that are taken) → `assign` (which unit takes
//! which slot).
//!
//! Cost for n units: a heap operation for each cell examined (a few times as many as the group covers),
//! sorting, and at most 400,000 + 300 n comparisons of two units to improve the assignment (4 million for each size).
//! Measured: 2,000 units 8 to 10 ms; a tenth of that where nearly all units stay. 400 units took 1.5 to 2 ms with 200,000 comparisons;
//! until nothing gets better they need 361,000 on average.

mod assign;
mod layout;
mod line_costs;
mod nearest_cells;
mod roster;
mod slot_selection;

use std::collections::BTreeMap;

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use self::{nearest_cells::NearestCells, roster::Roster, slot_selection::SlotSelection};
use super::{
    Cell, CellRect, Direction, NavGrid, PathFailure, ProfileId, Topology, bit_rows::BitRows,
};

/// Largest [`spacing`](FormationSpec::spacing), in cells.
pub const MAX_SPACING: u8 = 16;

/// The shape of a group, seen in the direction in which it faces.
///
/// Rows are filled from the front, each from its middle outward, and the middle of the shape lies on the
/// goal. If a group faces a diagonal direction, its rows are diagonal, too, each shifted by half a file
/// against the next: a diagonal formation takes no more area than a straight one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Formation {
    /// On the cells that are nearest to the goal by walking distance (default): a compact group that fits
    /// into any terrain and never extends through a wall.
    #[default]
    Loose,
    /// Side by side in a row; many units form several rows, 16 times as wide as deep.
    Line,
    /// One behind the other in a file; many units form several files, 16 times as deep as wide.
    Column,
    /// As wide as deep.
    Box,
    /// A triangle with its point in front, its sides at right angles.
    Wedge,
}

/// One unit of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct FormationUnit {
    /// The unit's cell (its anchor).
    pub cell: Cell,
    /// Determines how the unit moves, and its size.
    pub profile: ProfileId,
    /// Units of lower rank stand nearer to the front, or to the goal in a loose group (among units of one size: there the largest
    /// choose first); 0 by default.
    pub rank: i32,
}

impl FormationUnit {
    /// Creates a unit of profile 0 and rank 0.
    #[must_use]
    pub fn new(cell: Cell) -> Self {
        Self { cell, ..Self::default() }
    }

    /// Sets the profile.
    #[must_use]
    pub const fn profile(self, profile: ProfileId) -> Self {
        Self { profile, ..self }
    }

    /// Sets the rank.
    #[must_use]
    pub const fn rank(self, rank: i32) -> Self {
        Self { rank, ..self }
    }
}

/// The goal and shape of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct FormationSpec {
    /// The middle of the group; for units that cannot stand there, the nearest cell where they can.
    pub goal: Cell,
    /// The shape of the group.
    pub formation: Formation,
    /// Where the front of a formation is. `None` (default): in the direction in which the group moves (see
    /// [`resolve_facing`](Self::resolve_facing)). On hexagons there are six: northeast counts as east, southwest as west.
    pub facing: Option<Direction>,
    /// Cells left free between any two units, 0 (default) to [`MAX_SPACING`]; higher values count as that.
    pub spacing: u8,
    /// Cells on which no unit is to stand: those of the unit around which a group gathers, for example. None by default.
    pub kept_free: CellRect,
}

impl FormationSpec {
    /// Creates an order to `goal`, loose and without spacing.
    #[must_use]
    pub fn to(goal: Cell) -> Self {
        Self { goal, ..Self::default() }
    }

    /// Sets the formation.
    #[must_use]
    pub const fn formation(self, formation: Formation) -> Self {
        Self { formation, ..self }
    }

    /// Sets the direction of the front.
    #[must_use]
    pub const fn facing(self, facing: Direction) -> Self {
        Self { facing: Some(facing), ..self }
    }

    /// Sets the number of free cells between units.
    #[must_use]
    pub const fn spacing(self, cells: u8) -> Self {
        Self { spacing: cells, ..self }
    }

    /// Sets the cells on which no unit is to stand.
    #[must_use]
    pub const fn keep_free(self, cells: CellRect) -> Self {
        Self { kept_free: cells, ..self }
    }

    /// Returns the order with a definite facing. If it has none, that is the direction from the center of the units (of those on
    /// the grid, if there are any) to the goal, or east if both are the same cell. Call this once for orders that are evaluated
    /// again later: a group that has arrived moves nowhere, and would turn at random.
    #[must_use]
    pub fn resolve_facing(self, grid: &NavGrid, units: &[FormationUnit]) -> Self {
        let topology = grid.topology();
        let is_any_on_grid = units.iter().any(|unit| grid.contains(unit.cell));
        let takes_part = |cell: &Cell| !is_any_on_grid || grid.contains(*cell);
        let cells = || units.iter().map(|unit| unit.cell).filter(takes_part);
        let x = cells().map(|cell| i64::from(self.goal.x) - i64::from(cell.x)).sum();
        let y = cells().map(|cell| i64::from(self.goal.y) - i64::from(cell.y)).sum();
        let facing = self.facing.or_else(|| topology.nearest_direction(x, y)).unwrap_or_default();
        Self { facing: Some(facing), ..self }
    }
}

/// Returns a slot for each of `units`, in their order: a cell of its own (an anchor) on which the unit can
/// stand and to which it has a path.
///
/// Slots are chosen by the [`Formation`]. A slot in which its unit cannot stand, or that can only be reached
/// by a long detour, is replaced by the nearest free cell beside it, or else by the one nearest to the goal.
/// Units in another connected region than the goal get the cells of their own region that are nearest to it
/// in a straight line; where a unit's profile cannot stand on the goal at all, the nearest cell on which it
/// can stand replaces the goal.
///
/// Units of one size are interchangeable if their ranks are equal, or their slots equally far in front.
/// Slots are distributed among them so that the total distance in straight lines is short (a few percent
/// above the minimum) and no unit walks past units that stand already: those in front take the farthest
/// slots. A unit that already stands in a slot for its size and rank keeps it.
///
/// # Errors
/// For each unit that gets no slot: [`PathFailure::UnknownProfile`]; [`PathFailure::StartOutOfBounds`] or
/// [`PathFailure::StartImpassable`] if it does not stand on a passable cell;
/// [`PathFailure::GoalOutOfBounds`]; [`PathFailure::NoRoom`] if all slots are taken: units of high rank and
/// those far from the goal get none.
#[must_use]
pub fn assign_slots(
    grid: &NavGrid,
    units: &[FormationUnit],
    order: &FormationSpec,
) -> Vec<Result<Cell, PathFailure>> {
    let held = |index: usize| units.get(index).map(|unit| unit.cell);
    assign_keeping_held(grid, units, held, order)
}

/// Returns new slots after units were lost or have joined, or the terrain has changed: `units` are the
/// current ones, `previous` the slots that each of them had before (`None`, or missing at the end, for units
/// that have joined).
///
/// Slots are chosen as by [`assign_slots`]. A unit whose slot is still among those for its size (and its
/// rank) keeps it, whether it stands there already or not; the others are distributed over the rest. The
/// order should have its facing [resolved](FormationSpec::resolve_facing).
///
/// # Errors
/// As [`assign_slots`].
#[must_use]
pub fn reassign_slots(
    grid: &NavGrid,
    units: &[FormationUnit],
    previous: &[Option<Cell>],
    order: &FormationSpec,
) -> Vec<Result<Cell, PathFailure>> {
    assign_keeping_held(grid, units, |index| previous.get(index).copied().flatten(), order)
}

/// Returns slots for units, each of which keeps the slot it holds if possible.
fn assign_keeping_held(
    grid: &NavGrid,
    units: &[FormationUnit],
    held: impl Fn(usize) -> Option<Cell>,
    order: &FormationSpec,
) -> Vec<Result<Cell, PathFailure>> {
    let Some(goal) = grid.local(order.goal) else {
        return vec![Err(PathFailure::GoalOutOfBounds(order.goal)); units.len()];
    };
    let mut results = vec![Err(PathFailure::NoRoom(order.goal)); units.len()];
    let reject = |index: usize, failure| results[index] = Err(failure);
    let mut roster = Roster::new(grid, (units, held), goal, reject);
    roster.sort(grid.topology(), order);
    choose_slots(grid, &mut roster, &order.resolve_facing(grid, units));
    assign::assign_within_sizes(grid.topology(), &mut roster.members, &roster.classes);
    for member in &roster.members {
        if let Some(slot) = member.slot {
            results[member.index] = Ok(grid.global(slot.cell.0, slot.cell.1));
        }
    }
    results
}

/// Gives each member a slot, in their order.
fn choose_slots(grid: &NavGrid, roster: &mut Roster<'_>, order: &FormationSpec) {
    let Roster { members, classes, center } = roster;
    let size = (grid.width(), grid.height());
    // The slots held by units of each size.
    let mut held: BTreeMap<u32, BitRows> = BTreeMap::new();
    for member in members.iter() {
        let held = held.entry(member.size).or_insert_with(|| BitRows::new(size.0, size.1));
        if let Some((x, y)) = member.held {
            held.insert(x, y);
        }
    }
    let nearest = classes
        .iter()
        .map(|class| NearestCells::new(*class, *center, &held[&class.footprint.size()]));
    let nearest_cells = nearest.collect();
    let mut taken = BitRows::new(size.0, size.1);
    for (x, y) in
        order.kept_free.intersection(grid.rect()).cells().filter_map(|cell| grid.local(cell))
    {
        taken.insert(x, y);
    }
    let spacing = u32::from(order.spacing.min(MAX_SPACING));
    let goal = center.goal;
    let topology = grid.topology();
    let mut selection =
        SlotSelection { topology, classes, nearest_cells, taken, spacing, size, goal };
    if order.formation == Formation::Loose {
        members.iter_mut().for_each(|member| selection.assign_nearest(member, None));
        return;
    }
    let smallest = members.iter().map(|member| member.size).min().unwrap_or(1);
    // How far the anchors of two units are apart at least. Blocks of the lattice are footprints of points: on hexagons
    // with their anchor in the middle, too.
    let pitch = |size: u32| match topology {
        Topology::Square => size + spacing,
        Topology::Hexagonal => size + smallest - 1 + spacing,
    };
    let sides: Vec<u32> =
        members.iter().map(|member| pitch(member.size).div_ceil(pitch(smallest))).collect();
    let facing = order.facing.unwrap_or_default();
    selection.assign_formation(
        members,
        &layout::slots(topology, (order.formation, facing), &sides),
        (pitch(smallest), facing),
    );
}
