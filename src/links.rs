//! Links: stairs, ferries, teleporters and ledges that lead from cells of one grid to cells of another, or of the same.
//!
//! Input: entities with [`NavLink`]. Output: requests whose goal is on another grid, or cheaper to reach over a link, are carried
//! out in legs: a path to the link, the crossing, and so on. [`LinkEntered`] and [`LinkLeft`] are triggered at both ends of a
//! crossing.
//!
//! - A critter that crosses holds its landing cell from the moment it enters the link, and its old cell until then. So it is on
//!   one cell at all times, and nothing is lost when a link or a grid is removed while it crosses.
//! - Units take the cheapest route, by exact costs: each end has a field of the costs to it (see [`flow`](crate::flow)), kept up
//!   to date under edits. The route is chosen again after each crossing, and when a link ahead is shut.
//! - Inside a grid nothing changes: each leg is an ordinary request to the cells of a link.

mod network;
mod reach;
mod route;

pub use self::network::NavLinks;
pub(crate) use self::{
    network::{note_inserted, note_removed, sync_links},
    route::{Costs, Destination, Hop, NextLink, Routing},
};

use bevy::prelude::*;

use crate::nav::{Cell, CellRect, GridId, ProfileId};

/// A passage from cells of one grid to cells of another, or of the same: any cell of one end leads to any cell of the other.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let (ground, roof) = (GridId(0), GridId(1));
/// let stairs = NavLink::new((ground, Cell::new(9, 4)), (roof, Cell::new(2, 4))).cost(3);
/// let quay = CellRect::new(Cell::new(20, 0), 4, 2);
/// let ferry = NavLink::new(quay, CellRect::new(Cell::new(20, 40), 4, 2)).cost(40).capacity(8);
/// let ledge = NavLink::new(Cell::new(5, 9), Cell::new(5, 7)).one_way();
/// # assert!(stairs.is_open && ferry.capacity == 8 && ledge.is_one_way);
/// ```
#[derive(Component, Clone, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_insert = note_inserted, on_remove = note_removed)]
#[require(LinkStatus)]
#[must_use]
pub struct NavLink {
    /// Where it begins.
    pub from: LinkEnd,
    /// Where it leads.
    pub to: LinkEnd,
    /// Cost and duration of a crossing, as a number of straight steps over plain terrain (terrain of cost 16). Default 1. With
    /// 0 a crossing takes no time, like that of a teleporter.
    pub cost: u32,
    /// Whether it leads from `from` to `to` only. Default false.
    pub is_one_way: bool,
    /// Whether units may enter it. Default true. If a link is shut, units on the way to it look for another way; units that are
    /// crossing still arrive.
    pub is_open: bool,
    /// How many units may cross at the same time, in both directions together. Default: as many as find landing cells. Two
    /// units that wait for each other's cell swap places as soon as there is room for one more. 0 shuts the link.
    pub capacity: u16,
    /// Profiles of the units that may cross. `None` (default): all.
    pub profiles: Option<Vec<ProfileId>>,
}

/// One end of a link: cells of a grid. Made from a [`Cell`] or a [`CellRect`] (on the default grid), or from a grid and one of
/// these. Large units stand on it with their anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct LinkEnd {
    /// The grid.
    pub grid: GridId,
    /// Its cells; those that are impassable, or not on the grid, do not count.
    pub area: CellRect,
}

macro_rules! end_from {
    ($($area:ty),*) => {
        $(
            impl From<$area> for LinkEnd {
                fn from(area: $area) -> Self {
                    Self { grid: GridId::default(), area: area.into() }
                }
            }

            impl From<(GridId, $area)> for LinkEnd {
                fn from((grid, area): (GridId, $area)) -> Self {
                    Self { grid, area: area.into() }
                }
            }
        )*
    };
}

end_from!(Cell, CellRect);

impl Default for NavLink {
    /// From cell (0, 0) to itself; there for reflection.
    fn default() -> Self {
        Self::new(Cell::default(), Cell::default())
    }
}

impl NavLink {
    /// Links cells in both directions.
    pub fn new(from: impl Into<LinkEnd>, to: impl Into<LinkEnd>) -> Self {
        let (from, to) = (from.into(), to.into());
        let (capacity, profiles) = (u16::MAX, None);
        Self { from, to, cost: 1, is_one_way: false, is_open: true, capacity, profiles }
    }

    /// Sets what a crossing costs, in straight steps over plain terrain.
    pub fn cost(self, cost: u32) -> Self {
        Self { cost, ..self }
    }

    /// Leads from the first end to the second only.
    pub fn one_way(self) -> Self {
        Self { is_one_way: true, ..self }
    }

    /// Sets how many units may cross at the same time.
    pub fn capacity(self, units: u16) -> Self {
        Self { capacity: units, ..self }
    }

    /// Lets only units of these profiles cross.
    pub fn only(self, profiles: impl IntoIterator<Item = ProfileId>) -> Self {
        Self { profiles: Some(profiles.into_iter().collect()), ..self }
    }

    /// Opens or shuts it.
    pub fn open(self, is_open: bool) -> Self {
        Self { is_open, ..self }
    }
}

/// Whether a link can be used, and if not, why. Read-only: the plugin writes it in each tick in which that may have changed.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Hash, Clone)]
#[component(clone_behavior = Ignore)]
pub enum LinkStatus {
    /// It was not looked at yet.
    #[default]
    New,
    /// It can be used: units of some profile that may cross can stand at both ends.
    Connected,
    /// [`NavLink::is_open`] is false, or its capacity is 0.
    Shut,
    /// It leads nowhere at present. As soon as that changes it is used.
    Broken(LinkError),
}

/// Why a link leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub enum LinkError {
    /// There is no grid with this number.
    NoSuchGrid(GridId),
    /// No cell of this end is on its grid.
    OutOfBounds(LinkEnd),
    /// Of the units that may cross and can stand at the other end, none can stand on any cell of this end.
    Impassable(LinkEnd),
    /// The grids have no profile with this number.
    UnknownProfile(ProfileId),
}

impl core::fmt::Display for LinkError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchGrid(grid) => write!(f, "there is no grid {}", grid.0),
            Self::OutOfBounds(LinkEnd { grid, area }) => {
                write!(f, "no cell of {area} is on grid {}", grid.0)
            }
            Self::Impassable(LinkEnd { grid, area }) => {
                write!(f, "no unit that may cross can stand on {area} of grid {}", grid.0)
            }
            Self::UnknownProfile(profile) => {
                write!(f, "the grids know no profile {}", profile.0)
            }
        }
    }
}

impl core::error::Error for LinkError {}

/// A critter has entered a link: from now on it holds the cell where it will land. Its transform moves there in a straight line
/// while it crosses; hide it or show a picture of your own.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkEntered {
    /// The critter.
    pub entity: Entity,
    /// The entity with the [`NavLink`].
    pub link: Entity,
    /// The grid and the cell that it has left.
    pub from: (GridId, Cell),
    /// The grid and the cell where it will land.
    pub to: (GridId, Cell),
}

/// A critter has crossed a link, and goes on.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkLeft {
    /// The critter.
    pub entity: Entity,
    /// The entity that had the [`NavLink`]: it may be gone.
    pub link: Entity,
    /// The grid and the cell where it is.
    pub at: (GridId, Cell),
}
