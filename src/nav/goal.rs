//! Conditions for being at a goal: on it, in it, beside it, or near it.
//!
//! Input: a [`Goal`] (a cell or a rectangle, and how near to it a unit must come), a grid and a profile.
//! Output: whether a unit may end its path on a cell. Searches get the same answers from a `GoalZone`. All in integers; cells are
//! anchors of units (see [`Profile::size`](super::terrain::Profile::size)).
//!
//! Distances are *gaps*: the number of steps between the columns of a unit and those of a rectangle, 0 if
//! they share one, 1 if they are adjacent; rows likewise. On hexagons they are steps over open terrain: around a single cell
//! the cells within range form a hexagon. A rectangle of columns and rows looks like a rhombus there. A unit of several hexagons
//! reaches farther, by the number of cells that it covers on each side of its anchor.

mod zone;

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

pub(crate) use self::zone::GoalZone;
use super::{Cell, CellRect, NavGrid, ProfileId};

/// Maximum range of sight, in cells: a line of sight may have to be checked from every cell within range.
pub const MAX_SIGHT_RANGE: u16 = 64;

/// Longest side of a [small](Goal::is_small) goal with the cells around it: a field has to begin at each of them.
const MAX_SMALL_SIDE: u32 = 64;

/// How near to its target a unit must come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Approach {
    /// Onto it, with the anchor (default): on the cell, or on any cell of the rectangle.
    #[default]
    Onto,
    /// Up to it: the unit touches it from outside, along a side or, with eight neighbors, at a corner. To harvest
    /// or repair something.
    Beside,
    /// Within range of it, or on it.
    Within {
        /// Greatest distance, in cells, in a straight line: where columns are a gap of `dx` apart and
        /// rows one of `dy`, `dx² + dy²` is at most `cells²`. On hexagons, in steps over open terrain. 0 is on the target, 1
        /// beside it.
        cells: u16,
    },
    /// Within range, and with nothing in between: the line to the target is passable for the profile `through` (a profile
    /// for shots, say), as [`NavGrid::has_line_of_sight`] checks. The line joins the two cells of unit and target that
    /// are nearest to each other; of several, the lowest, leftmost. On hexagons the line begins at the unit's anchor, its
    /// middle, and the nearest cell of a rectangle is found by columns and rows, as on squares. For a
    /// [round](Goal::radius) goal the line ends at the cell nearest to the anchor; if the middle of the goal is off the grid, near
    /// its border.
    InSight {
        /// Greatest distance, in cells; at most [`MAX_SIGHT_RANGE`] counts.
        cells: u16,
        /// The profile that can pass along the line.
        through: ProfileId,
    },
}

/// Where to go, and how near to it.
///
/// Cells off the grid do not count; if neither the area nor the cells [around](Self::radius) it have one on the grid (or a side
/// is 0), no cell is near enough. Cells of the area may be impassable: the units then stand around a building, for example.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let mut grid = NavGrid::new(16, 16, TerrainId::GROUND)?;
/// let (unit, house) = (ProfileId::default(), CellRect::new(Cell::new(4, 4), 3, 2));
/// grid.block(house)?;
/// let door = Goal::beside(house);
/// assert!(door.admits(&grid, unit, Cell::new(7, 6)), "at a corner");
/// assert!(!door.admits(&grid, unit, Cell::new(8, 6)), "a step away");
/// # Ok::<(), GridError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct Goal {
    /// The cells to approach.
    pub area: CellRect,
    /// Steps around the area that belong to the goal, too: with 1, a cell becomes a square of nine, or a hexagon of seven.
    /// Default 0.
    pub radius: u16,
    /// How near to these cells the unit must come.
    pub approach: Approach,
}

impl Default for Goal {
    /// Creates a goal onto cell (0, 0).
    fn default() -> Self {
        Self::from(Cell::default())
    }
}

impl From<Cell> for Goal {
    /// Creates a goal onto the cell.
    fn from(cell: Cell) -> Self {
        CellRect::single(cell).into()
    }
}

impl From<CellRect> for Goal {
    /// Creates a goal on any cell of the rectangle.
    fn from(area: CellRect) -> Self {
        Self::new(area, Approach::Onto)
    }
}

impl Goal {
    const fn new(area: CellRect, approach: Approach) -> Self {
        Self { area, radius: 0, approach }
    }

    /// Creates a goal beside `area`, touching it. A fence in between does not matter: if it should, use
    /// [`in_sight`](Self::in_sight) with a range of one cell.
    #[must_use]
    pub const fn beside(area: CellRect) -> Self {
        Self::new(area, Approach::Beside)
    }

    /// Creates a goal within `cells` cells of `area`.
    #[must_use]
    pub const fn within(area: CellRect, cells: u16) -> Self {
        Self::new(area, Approach::Within { cells })
    }

    /// Creates a goal within `cells` cells of `area`, where nothing in between is impassable for `through`.
    #[must_use]
    pub const fn in_sight(area: CellRect, cells: u16, through: ProfileId) -> Self {
        Self::new(area, Approach::InSight { cells, through })
    }

    /// Sets how many [steps around](Self::radius) the area belong to the goal.
    #[must_use]
    pub const fn around(self, radius: u16) -> Self {
        Self { radius, ..self }
    }

    /// Returns the lowest, leftmost cell of the area.
    #[must_use]
    pub const fn cell(&self) -> Cell {
        self.area.min
    }

    /// Whether the goal is to stand on one cell.
    #[must_use]
    pub fn is_single_cell(&self) -> bool {
        let shape = (self.area.width, self.area.height, self.radius);
        self.approach == Approach::Onto && shape == (1, 1, 0)
    }

    /// Whether only geometry decides whether a cell is near enough, and only few cells can be.
    pub(in crate::nav) fn is_small(&self) -> bool {
        let around = match self.approach {
            Approach::Onto => 0,
            Approach::Beside => 1,
            Approach::Within { cells } => u32::from(cells),
            Approach::InSight { .. } => return false,
        };
        let margin = 2 * (around + u32::from(self.radius));
        let side = self.area.width.max(self.area.height).saturating_add(margin);
        side <= MAX_SMALL_SIDE
    }

    /// Whether a unit of `profile` may end its path on `cell`: it is near enough, sees the goal if required,
    /// and has room to stand.
    #[must_use]
    pub fn admits(&self, grid: &NavGrid, profile: ProfileId, cell: Cell) -> bool {
        let (Some((x, y)), Some(layer)) = (grid.local(cell), grid.layer(profile)) else {
            return false;
        };
        GoalZone::of(grid, profile, self).is_some_and(|zone| zone.admits(grid, layer, x, y))
    }
}
