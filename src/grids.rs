//! The grids of an app, by number, each with its place in the world.

use std::collections::BTreeMap;

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use crate::{
    coordinates::GridFrame,
    nav::{
        cell::Cell,
        grid::NavGrid,
        query::GridId,
        queue::GridSource,
        terrain::{Profile, ProfileId},
    },
};

/// All grids: one per level, keyed by a number the game chooses ([`GridId::default`] is the one
/// that everything refers to unless told otherwise).
///
/// A tilemap with a `NavSource` (feature `tilemap`) fills its grid by itself. Grids may as well
/// be filled by hand:
///
/// ```
/// use bevy::{math::Vec2, prelude::App};
/// use bevy_tilepath::prelude::*;
/// let mut app = App::new();
/// app.add_plugins(TilePathPlugin::default());
/// let mut grids = app.world_mut().resource_mut::<NavGrids>();
/// let level = NavGrid::new(64, 64, TerrainId::GROUND)?;
/// grids.insert(GridId(3), level, GridFrame::square(Vec2::ZERO, Vec2::splat(16.0)));
/// # Ok::<(), GridError>(())
/// ```
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(opaque)]
#[reflect(Resource, Debug, Default, Clone)]
pub struct NavGrids {
    grids: BTreeMap<GridId, Level>,
    profiles: Vec<Profile>,
    /// Highest revision of any grid that was replaced or removed.
    last_revision: u64,
    inserted: u64,
    removed: u64,
}

#[derive(Clone, Debug)]
struct Level {
    grid: NavGrid,
    frame: GridFrame,
    /// Counts insertions of grids: two grids that had the same number differ in it.
    generation: u64,
    /// Tilemaps write its terrain.
    is_fed_by_tiles: bool,
}

/// Why a grid cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
pub enum GridAccessError {
    /// There is no grid with this number.
    NoSuchGrid(GridId),
    /// Tilemaps write this grid, and would overwrite the edit when they are next read. Change their tiles, or
    /// block cells with a [`NavBlocker`](crate::prelude::NavBlocker).
    FedByTiles(GridId),
}

impl core::fmt::Display for GridAccessError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchGrid(id) => write!(f, "there is no grid {}", id.0),
            Self::FedByTiles(id) => write!(
                f,
                "tilemaps write grid {}: change their tiles, or block cells with a NavBlocker",
                id.0
            ),
        }
    }
}

impl core::error::Error for GridAccessError {}

impl Default for NavGrids {
    /// No grid, and [`Profile::default`] as profile 0.
    fn default() -> Self {
        Self {
            grids: BTreeMap::new(),
            profiles: vec![Profile::default()],
            last_revision: 0,
            inserted: 0,
            removed: 0,
        }
    }
}

impl NavGrids {
    /// Adds a grid, or lets it take the place of the one with this number: searches under way
    /// start anew on it, walking critters check their paths, `NavBlocker`s block it. It is given
    /// the profiles of this resource. (Swapping a grid through [`get_mut`](Self::get_mut) would
    /// do none of this.)
    pub fn insert(&mut self, id: GridId, grid: NavGrid, frame: GridFrame) {
        self.insert_level(id, grid, frame, false);
    }

    /// The same for a grid whose terrain tilemaps write.
    #[cfg(feature = "tilemap")]
    pub(crate) fn insert_fed_by_tiles(&mut self, id: GridId, grid: NavGrid, frame: GridFrame) {
        self.insert_level(id, grid, frame, true);
    }

    fn insert_level(
        &mut self,
        id: GridId,
        mut grid: NavGrid,
        frame: GridFrame,
        is_fed_by_tiles: bool,
    ) {
        self.remove(id);
        grid.set_profiles(self.profiles.clone());
        grid.continue_from(self.last_revision);
        grid.build_layers(); // now, while a level is loaded, rather than in the first tick
        self.inserted += 1;
        self.grids.insert(id, Level { grid, frame, generation: self.inserted, is_fed_by_tiles });
    }

    /// Removes a grid. Requests on it fail with [`GridGone`](crate::prelude::PathFailure).
    pub fn remove(&mut self, id: GridId) -> Option<NavGrid> {
        let grid = self.grids.remove(&id)?.grid;
        self.last_revision = self.last_revision.max(grid.revision());
        self.removed += 1;
        Some(grid)
    }

    /// The grid with this number.
    #[must_use]
    pub fn get(&self, id: GridId) -> Option<&NavGrid> {
        self.grids.get(&id).map(|level| &level.grid)
    }

    /// The grid with this number, to edit. Edits are noticed at the next tick: searches that have
    /// looked there start again, units whose path is cut off find another.
    ///
    /// # Errors
    /// [`NoSuchGrid`](GridAccessError::NoSuchGrid), and [`FedByTiles`](GridAccessError::FedByTiles) for a grid
    /// that tilemaps with a `NavSource` write: they would overwrite the edit.
    pub fn get_mut(&mut self, id: GridId) -> Result<&mut NavGrid, GridAccessError> {
        match self.grids.get_mut(&id) {
            None => Err(GridAccessError::NoSuchGrid(id)),
            Some(level) if level.is_fed_by_tiles => Err(GridAccessError::FedByTiles(id)),
            Some(level) => Ok(&mut level.grid),
        }
    }

    /// The grid with this number, for edits that last: those of tilemaps and blockers.
    pub(crate) fn edit_mut(&mut self, id: GridId) -> Option<&mut NavGrid> {
        self.grids.get_mut(&id).map(|level| &mut level.grid)
    }

    /// Where the grid lies in the world.
    #[must_use]
    pub fn frame(&self, id: GridId) -> Option<&GridFrame> {
        self.grids.get(&id).map(|level| &level.frame)
    }

    /// The generation of a grid: two grids that had the same number differ in it.
    pub(crate) fn generation(&self, id: GridId) -> u64 {
        self.grids.get(&id).map_or(0, |level| level.generation)
    }

    /// How many grids have been put in so far.
    pub(crate) const fn insertions(&self) -> u64 {
        self.inserted
    }

    /// How many grids have been removed or replaced so far.
    pub(crate) const fn removals(&self) -> u64 {
        self.removed
    }

    /// Moves the grid in the world; critters that were ever on their way on it move along.
    pub fn set_frame(&mut self, id: GridId, frame: GridFrame) {
        if let Some(level) = self.grids.get_mut(&id) {
            level.frame = frame;
        }
    }

    /// The cell of grid `id` at a world position; `None` where there is none.
    #[must_use]
    pub fn cell_at(&self, id: GridId, position: Vec2) -> Option<Cell> {
        let level = self.grids.get(&id)?;
        level.frame.cell_at(position).filter(|&cell| level.grid.contains(cell))
    }

    /// The grids and their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (GridId, &NavGrid)> {
        self.grids.iter().map(|(&id, level)| (id, &level.grid))
    }

    /// The movement profiles that all grids know.
    #[must_use]
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Replaces the movement profiles of all grids; profile `i` gets `ProfileId(i)`.
    pub fn set_profiles(&mut self, profiles: Vec<Profile>) {
        for level in self.grids.values_mut() {
            level.grid.set_profiles(profiles.clone());
            level.grid.build_layers();
        }
        self.profiles = profiles;
    }

    /// Adds a movement profile to all grids and returns its number. At most 256 fit; more all
    /// get number 255, which only the 256th is known by.
    pub fn add_profile(&mut self, profile: Profile) -> ProfileId {
        let id = ProfileId(self.profiles.len().min(255) as u8);
        let mut profiles = self.profiles.clone();
        profiles.push(profile);
        self.set_profiles(profiles);
        id
    }
}

impl GridSource for NavGrids {
    fn grid(&self, id: GridId) -> Option<&NavGrid> {
        self.get(id)
    }
}
