//! The grids of an app, by number, each with its frame in the world.

use std::collections::BTreeMap;

use bevy::prelude::*;

use crate::{
    coordinates::GridFrame,
    nav::{Cell, Direction, GridId, GridSource, NavGrid, Profile, ProfileId, Topology},
};

/// All grids: one per level, keyed by a number that the game chooses. [`GridId::default`] is used wherever no
/// grid is specified.
///
/// A tilemap with a `NavSource` (feature `tilemap` or `tilemap_chunk`) fills its grid automatically. Grids can also be filled by
/// hand:
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
#[derive(Resource, Debug, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(opaque)]
#[reflect(Resource, Debug, Default, Clone)]
pub struct NavGrids {
    grids: BTreeMap<GridId, Level>,
    profiles: Vec<Profile>,
    /// Highest revision of any grid that was replaced or removed.
    last_revision: u64,
    /// How many grids were inserted, removed or replaced, and moved so far.
    pub(crate) insertions: u64,
    pub(crate) removals: u64,
    pub(crate) frame_changes: u64,
    /// Number of this resource among those that the app has had; 0 before its first tick, and of a copy.
    #[cfg_attr(feature = "serialize", serde(skip))]
    number: u64,
    /// The version of the tiles from which the grids fed by tilemaps are; 0 where that is not known.
    #[cfg_attr(feature = "serialize", serde(skip))]
    #[cfg_attr(
        not(any(feature = "tilemap", feature = "tilemap_chunk")),
        allow(dead_code, reason = "there are no tiles")
    )]
    pub(crate) tiles_version: u64,
}

/// The resources of grids that the app has had: a game may insert another one for each level.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct KnownGrids {
    count: u64,
    /// In a snapshot: whether its grids are those that were known last.
    are_current: bool,
}

impl KnownGrids {
    /// Notes for a snapshot whether these grids are known.
    pub(crate) const fn note(&mut self, grids: &NavGrids) {
        self.are_current = grids.number == self.count;
    }

    /// Makes the grids of a snapshot those that are known, if they were.
    pub(crate) const fn recognize(&self, grids: &mut NavGrids) {
        if self.are_current {
            grids.number = self.count;
        }
    }
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Level {
    grid: NavGrid,
    frame: GridFrame,
    /// Insertion count at the time the grid was inserted. Distinguishes grids that had the same number.
    generation: u64,
    /// Whether tilemaps write the terrain of the grid.
    is_fed_by_tiles: bool,
}

/// Why a grid cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum GridAccessError {
    /// There is no grid with this number.
    NoSuchGrid(GridId),
    /// Tilemaps write this grid and would overwrite the edit the next time they are read. Change their tiles,
    /// or block cells with a [`NavBlocker`](crate::prelude::NavBlocker).
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
    /// Contains no grid, and [`Profile::default`] as profile 0.
    fn default() -> Self {
        Self {
            grids: BTreeMap::new(),
            profiles: vec![Profile::default()],
            last_revision: 0,
            insertions: 0,
            removals: 0,
            frame_changes: 0,
            number: 0,
            tiles_version: 0,
        }
    }
}

impl Clone for NavGrids {
    /// A copy counts as another resource: if it replaces the original, everything that uses the grids treats them as new.
    fn clone(&self) -> Self {
        let (grids, profiles) = (self.grids.clone(), self.profiles.clone());
        Self { grids, profiles, number: 0, tiles_version: 0, ..*self }
    }
}

impl NavGrids {
    /// Returns the highest of all numbers that count something here.
    fn highest_count(&self) -> u64 {
        let levels = self.grids.values();
        let of_levels = levels.map(|level| level.generation.max(level.grid.revision())).max();
        let own = [self.last_revision, self.insertions, self.removals, self.frame_changes];
        own.into_iter().chain(of_levels).max().unwrap_or(0)
    }

    /// Returns a copy for which may go on what was begun for these grids. It must be copied with them.
    pub(crate) fn replica(&self) -> Self {
        let copy = |level: &Level| Level { grid: level.grid.replica(), ..*level };
        let grids = self.grids.iter().map(|(&id, level)| (id, copy(level))).collect();
        Self { grids, profiles: self.profiles.clone(), ..*self }
    }

    /// Adds a grid, or replaces the grid with this number: running searches on it restart, walking critters
    /// check their paths, and every `NavBlocker` blocks its cells on the new grid. The grid receives the
    /// profiles of this resource instead of its own; if it had others, a warning says so. (Swapping a grid through
    /// [`get_mut`](Self::get_mut) would do none of this.)
    ///
    /// If the grid was [removed](Self::remove) from here, or is a copy of one, what entities had placed on it is taken off first.
    pub fn insert(&mut self, id: GridId, grid: NavGrid, frame: GridFrame) {
        self.insert_level(id, grid, frame, false);
    }

    /// Like [`insert`](Self::insert), also for a grid whose terrain is written by tilemaps.
    pub(crate) fn insert_level(
        &mut self,
        id: GridId,
        mut grid: NavGrid,
        frame: GridFrame,
        is_fed_by_tiles: bool,
    ) {
        self.remove(id);
        let own = grid.profiles();
        if own != [Profile::default()] && !self.profiles.starts_with(own) {
            tracing::warn!(
                "grid {} has profiles of its own: `NavGrids::set_profiles` counts",
                id.0
            );
        }
        if (frame.topology(), grid.topology()) == (Topology::Hexagonal, Topology::Square) {
            tracing::warn!("grid {} has a frame of hexagons, but cells that are squares", id.0);
        }
        grid.set_profiles(self.profiles.clone());
        grid.forget_placed();
        grid.continue_from(self.last_revision);
        grid.build_layers(); // build during level loading, not in the first tick
        self.insertions += 1;
        let frame = frame.with_topology(grid.topology());
        self.grids.insert(id, Level { grid, frame, generation: self.insertions, is_fed_by_tiles });
    }

    /// Removes a grid and returns it. Requests on it fail with [`GridGone`](crate::prelude::PathFailure). A grid that tilemaps
    /// fill comes back when their extent changes: despawn the maps, or remove their `NavSource`, instead.
    pub fn remove(&mut self, id: GridId) -> Option<NavGrid> {
        let grid = self.grids.remove(&id)?.grid;
        self.last_revision = self.last_revision.max(grid.revision());
        self.removals += 1;
        Some(grid)
    }

    /// Returns the grid with this number.
    #[must_use]
    pub fn get(&self, id: GridId) -> Option<&NavGrid> {
        self.grids.get(&id).map(|level| &level.grid)
    }

    /// Returns the grid with this number for editing. The grid changes at once. In the next tick, searches that have visited the
    /// edited area restart, and units whose path is cut off plan a new one.
    ///
    /// # Errors
    /// [`NoSuchGrid`](GridAccessError::NoSuchGrid), and [`FedByTiles`](GridAccessError::FedByTiles) for a
    /// grid written by tilemaps with a `NavSource`, which would overwrite the edit.
    pub fn get_mut(&mut self, id: GridId) -> Result<&mut NavGrid, GridAccessError> {
        match self.grids.get_mut(&id) {
            None => Err(GridAccessError::NoSuchGrid(id)),
            Some(level) if level.is_fed_by_tiles => Err(GridAccessError::FedByTiles(id)),
            Some(level) => Ok(&mut level.grid),
        }
    }

    /// Returns whether there is a grid with this number that tilemaps write.
    #[cfg(any(feature = "tilemap", feature = "tilemap_chunk"))]
    pub(crate) fn is_fed_by_tiles(&self, id: GridId) -> bool {
        self.grids.get(&id).is_some_and(|level| level.is_fed_by_tiles)
    }

    /// Returns the grid with this number for edits of what entities place there.
    pub(crate) fn edit_mut(&mut self, id: GridId) -> Option<&mut NavGrid> {
        self.grids.get_mut(&id).map(|level| &mut level.grid)
    }

    /// Returns the frame that places the grid in the world.
    #[must_use]
    pub fn frame(&self, id: GridId) -> Option<&GridFrame> {
        self.grids.get(&id).map(|level| &level.frame)
    }

    /// Returns the generation of a grid, which distinguishes grids that had the same number.
    pub(crate) fn generation(&self, id: GridId) -> u64 {
        self.grids.get(&id).map_or(0, |level| level.generation)
    }

    /// Moves the grid in the world. Critters that have ever walked on it move along with it. The shape of cells is that of the
    /// grid, whatever the frame says.
    pub fn set_frame(&mut self, id: GridId, frame: GridFrame) {
        if let Some(level) = self.grids.get_mut(&id) {
            let frame = frame.with_topology(level.grid.topology());
            self.frame_changes += u64::from(level.frame != frame);
            level.frame = frame;
        }
    }

    /// Returns the cell of grid `id` at a world position; `None` if there is none.
    #[must_use]
    pub fn cell_at(&self, id: GridId, position: Vec2) -> Option<Cell> {
        let level = self.grids.get(&id)?;
        level.frame.cell_at(position).filter(|&cell| level.grid.contains(cell))
    }

    /// Returns the edge of grid `id` nearest to a world position: a cell, and the direction of its neighbor; `None` if there is
    /// none, as at the border of the grid.
    #[must_use]
    pub fn edge_at(&self, id: GridId, position: Vec2) -> Option<(Cell, Direction)> {
        let level = self.grids.get(&id)?;
        let (cell, direction) = level.frame.edge_at(position)?;
        level.grid.canonical_edge(cell, direction).map(|_| (cell, direction))
    }

    /// Iterates over the grids and their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (GridId, &NavGrid)> {
        self.grids.iter().map(|(&id, level)| (id, &level.grid))
    }

    /// Iterates over the grids and their numbers, in order. Not for edits: users of the grids would not notice.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (GridId, &mut NavGrid)> {
        self.grids.iter_mut().map(|(&id, level)| (id, &mut level.grid))
    }

    /// Returns the movement profiles, shared by all grids.
    #[must_use]
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Replaces the movement profiles of all grids; profile `i` gets `ProfileId(i)`. The layers of new and changed profiles are
    /// built immediately (512 × 512 cells: some milliseconds each). If a profile was changed or removed, all paths and searches
    /// are looked at again, as after an edit of the whole grid.
    pub fn set_profiles(&mut self, profiles: Vec<Profile>) {
        for level in self.grids.values_mut() {
            level.grid.set_profiles(profiles.clone());
            level.grid.build_layers();
        }
        self.profiles = profiles;
    }

    /// Adds a movement profile to all grids and returns its number. Nothing changes for units of other profiles, but searches
    /// under way begin again. There is room for 256 profiles: a call beyond that adds none and returns 255, the number of the
    /// 256th profile.
    pub fn add_profile(&mut self, profile: Profile) -> ProfileId {
        let id = ProfileId(self.profiles.len().min(255) as u8);
        if self.profiles.len() < 256 {
            let mut profiles = self.profiles.clone();
            profiles.push(profile);
            self.set_profiles(profiles);
        }
        id
    }
}

/// Where the game has inserted this resource anew, continues the counters of the one before, so that everything notices that its
/// grids are others.
pub(crate) fn adopt_grids(mut grids: ResMut<NavGrids>, mut known: ResMut<KnownGrids>) {
    if grids.number == known.count && known.count > 0 {
        return;
    }
    let grids = &mut *grids;
    // All numbers counted so far, here and in those from a file, are below that.
    let is_first = known.count == 0;
    let highest = grids.highest_count();
    let floor = known.count.max((highest >> 32) + 1);
    known.count = floor + 1;
    grids.number = known.count;
    // They may be a copy, or read from a file.
    grids.grids.values_mut().for_each(|level| level.grid.forget_placed());
    if !is_first {
        let start = floor << 32;
        (grids.last_revision, grids.insertions) = (start, start);
        (grids.removals, grids.frame_changes) = (start, start);
        for level in grids.grids.values_mut() {
            level.generation = start;
            level.grid.continue_from(start);
        }
    }
}

impl GridSource for NavGrids {
    fn grid(&self, id: GridId) -> Option<&NavGrid> {
        self.get(id)
    }
}
