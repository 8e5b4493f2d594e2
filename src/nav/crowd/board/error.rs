//! Why a call on a crowd failed.

use crate::nav::Cell;

/// Why a call on a crowd failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrowdError {
    /// The unit does not exist, or was removed.
    NoSuchUnit,
    /// The grid does not know the unit's profile, or its units are too large.
    Profile,
    /// The crowd was made for a grid of another size.
    OtherGrid,
    /// The unit cannot stand there: the cell is off the grid or impassable to it.
    Impassable(Cell),
    /// Another unit holds this cell.
    Held(Cell),
}

impl core::fmt::Display for CrowdError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchUnit => write!(f, "no such unit"),
            Self::Profile => write!(f, "the profile is not known, or its units are too large"),
            Self::OtherGrid => write!(f, "the grid and the crowd differ in size"),
            Self::Impassable(cell) => write!(f, "a unit cannot stand on {cell}"),
            Self::Held(cell) => write!(f, "{cell} is held by another unit"),
        }
    }
}

impl core::error::Error for CrowdError {}
