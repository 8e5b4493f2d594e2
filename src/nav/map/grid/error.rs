//! Why a grid could not be created or changed.

use bevy::reflect::Reflect;

use super::MAX_SIDE;
use crate::nav::{Cell, CellRect, Direction, ProfileId};

/// Reason why a grid could not be created or changed. Nothing has changed when it is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub enum GridError {
    /// A side is zero or longer than [`MAX_SIDE`].
    BadSize {
        /// Requested columns.
        width: u32,
        /// Requested rows.
        height: u32,
    },
    /// The terrain array does not hold `width × height` bytes.
    WrongLength {
        /// Bytes needed.
        expected: u64,
        /// Bytes given.
        found: u64,
    },
    /// The cell is not on the grid.
    OutOfBounds(Cell),
    /// The rectangle is empty or not entirely on the grid.
    RectOutOfBounds(CellRect),
    /// The cell already has 65,535 blockers.
    TooManyBlockers(Cell),
    /// The cell has no blocker to remove.
    NotBlocked(Cell),
    /// There is no edge between a cell and this neighbor: it lies along a diagonal of squares.
    NoEdge {
        /// The cell.
        cell: Cell,
        /// The direction of the neighbor.
        direction: Direction,
    },
    /// The grid has no profile with this number.
    UnknownProfile(ProfileId),
}

impl core::fmt::Display for GridError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::BadSize { width, height } => {
                write!(f, "a grid of {width} × {height} cells: each side must be 1 to {MAX_SIDE}")
            }
            Self::WrongLength { expected, found } => {
                write!(f, "{found} terrain bytes where {expected} are needed")
            }
            Self::OutOfBounds(cell) => write!(f, "cell {cell} is not on the grid"),
            Self::RectOutOfBounds(rect) => write!(f, "{rect} is not on the grid as a whole"),
            Self::TooManyBlockers(cell) => write!(f, "too many blockers on cell {cell}"),
            Self::NotBlocked(cell) => write!(f, "no blocker on cell {cell} to take away"),
            Self::NoEdge { cell, direction } => {
                write!(f, "no edge between cell {cell} and the cell in direction {direction:?}")
            }
            Self::UnknownProfile(id) => write!(f, "profile {} is not known", id.0),
        }
    }
}

impl core::error::Error for GridError {}
