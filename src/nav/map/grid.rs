//! The grid: one byte of terrain per cell, counted blockers, edges between cells, and a layer per movement profile.
//!
//! Input: terrain bytes (row-major, `width × height`, lowest row first) and edits. Output: a [`NavGrid`]
//! whose layers (the grid as seen by one profile) always agree with its terrain: edits go through a
//! [`GridEdit`] that updates layers and connected regions when it is dropped, recomputing only the 32 × 32
//! chunks it touched and the scan lines through them.
//!
//! Memory: 1 byte per cell, plus 2 bytes per cell in chunks that hold blockers and 6 in chunks that hold edges, plus about 2.2 bytes per cell
//! for each layer in use. Where searches jump (see
//! [`Algorithm::JumpPoint`](crate::nav::query::Algorithm::JumpPoint)), add 1.75 bytes per cell, and another 0.4 on
//! weighted terrain. A layer for units larger than a cell takes 0.13 more, and another 1 on weighted terrain.
//! [Landmarks](crate::nav::landmarks) take up to 23 bytes per cell.

mod ahead;
mod blockers;
mod edges;
mod edit;
mod error;
mod log;
mod placed;
mod profiles;
mod relief;

pub use edit::GridEdit;
pub use error::GridError;
pub(in crate::nav) use relief::TableGrade;

use std::sync::OnceLock;

use self::{blockers::Blockers, log::EditLog, relief::Relief};
use crate::nav::{
    CHUNK, Cell, CellRect, Footprint, Layer, Profile, ProfileId, TerrainId, Topology, chunks_in,
    edges::EdgeMap,
};

/// Longest side of a grid, in cells.
pub const MAX_SIDE: u32 = 16_384;

/// The map of one level: terrain, blockers and a layer per movement profile.
///
/// Cells extend from [`origin`](Self::origin) (lowest, leftmost) to the right and up.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let mut grid = NavGrid::new(64, 32, TerrainId::GROUND)?;
/// let wall = CellRect::new(Cell::new(10, 0), 1, 20);
/// grid.block(wall)?;
/// let path = grid.find_path(ProfileId::default(), Cell::new(2, 2), Cell::new(20, 2));
/// assert!(path.is_ok_and(|path| path.cells().all(|cell| !wall.contains(cell))));
/// # Ok::<(), GridError>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct NavGrid {
    topology: Topology,
    origin: Cell,
    width: u32,
    height: u32,
    terrain: Vec<u8>,
    blockers: Blockers,
    edges: EdgeMap,
    profiles: Vec<Profile>,
    /// One per profile, built on first use.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::all_once"))]
    layers: Vec<OnceLock<Layer>>,
    /// One per profile.
    reliefs: Vec<Relief>,
    revision: u64,
    /// Revision at which the profiles were last replaced.
    profiles_revision: u64,
    /// For each chunk, the revision of the last edit that may affect units with their anchor in or next to
    /// it; row-major.
    chunk_revisions: Vec<u64>,
    log: EditLog,
}

impl NavGrid {
    /// Creates a grid of `width × height` cells with the same terrain everywhere, its origin at (0, 0), with
    /// [`Profile::default`] as profile 0.
    ///
    /// # Errors
    /// [`GridError::BadSize`] if a side is 0 or above [`MAX_SIDE`].
    pub fn new(width: u32, height: u32, terrain: TerrainId) -> Result<Self, GridError> {
        check_size(width, height)?;
        let cells = width as usize * height as usize;
        Self::from_terrain(width, height, vec![terrain.0; cells])
    }

    /// Creates a grid from `terrain`: `width × height` bytes, row-major, lowest row first.
    ///
    /// # Errors
    /// [`GridError::BadSize`] or [`GridError::WrongLength`].
    pub fn from_terrain(width: u32, height: u32, terrain: Vec<u8>) -> Result<Self, GridError> {
        check_size(width, height)?;
        let expected = u64::from(width) * u64::from(height);
        if terrain.len() as u64 != expected {
            return Err(GridError::WrongLength { expected, found: terrain.len() as u64 });
        }
        let chunks = width.div_ceil(CHUNK) as usize * height.div_ceil(CHUNK) as usize;
        let mut grid = Self {
            topology: Topology::Square,
            origin: Cell::default(),
            width,
            height,
            terrain,
            blockers: Blockers::new(width, height),
            edges: EdgeMap::new(width, height),
            profiles: Vec::new(),
            layers: Vec::new(),
            reliefs: Vec::new(),
            revision: 0,
            profiles_revision: 0,
            chunk_revisions: vec![0; chunks],
            log: EditLog::default(),
        };
        grid.set_profiles(vec![Profile::default()]);
        Ok(grid)
    }

    /// Sets the lowest, leftmost cell of the grid to `origin`. The origin is moved nearer to (0, 0) if coordinates of cells on or
    /// beside the grid would not fit into 32 bits.
    #[must_use]
    pub fn with_origin(mut self, origin: Cell) -> Self {
        let within = |at: i32, side: u32| at.clamp(i32::MIN + 1, i32::MAX - side as i32);
        self.origin = Cell::new(within(origin.x, self.width), within(origin.y, self.height));
        self.touch(self.rect());
        self.log.push_everything(self.revision, self.rect());
        self
    }

    /// Sets the shape of the cells; squares are the default. Edges to the northwest exist on hexagons only: a change to squares
    /// removes them.
    #[must_use]
    pub fn with_topology(mut self, topology: Topology) -> Self {
        self.topology = topology;
        if topology == Topology::Square {
            self.edges.remove_northwest();
        }
        let profiles = core::mem::take(&mut self.profiles);
        (self.layers, self.reliefs) = (Vec::new(), Vec::new());
        self.set_profiles(profiles);
        self
    }

    /// Returns the shape of the cells.
    #[must_use]
    pub const fn topology(&self) -> Topology {
        self.topology
    }

    /// Returns the number of columns.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Returns the lowest, leftmost cell.
    #[must_use]
    pub const fn origin(&self) -> Cell {
        self.origin
    }

    /// Returns the rectangle of all cells of the grid.
    #[must_use]
    pub const fn rect(&self) -> CellRect {
        CellRect::new(self.origin, self.width, self.height)
    }

    /// Returns whether `cell` is on the grid.
    #[must_use]
    pub const fn contains(&self, cell: Cell) -> bool {
        self.rect().contains(cell)
    }

    /// Returns the terrain of `cell`, regardless of blockers; `None` off the grid.
    #[must_use]
    pub fn terrain(&self, cell: Cell) -> Option<TerrainId> {
        let (x, y) = self.local(cell)?;
        Some(TerrainId(self.terrain[self.index(x, y)]))
    }

    /// Returns the number of blockers on `cell`; 0 off the grid.
    #[must_use]
    pub fn blockers(&self, cell: Cell) -> u16 {
        self.local(cell).map_or(0, |(x, y)| self.blockers.get(x, y))
    }

    /// Iterates over the cells that a unit of `profile` covers with its [anchor](Profile::size) on a cell, on the grid or not,
    /// row by row: squares of cells on square grids, hexagons of cells on hexagonal ones.
    pub fn cells_of(
        &self,
        profile: ProfileId,
        anchor: Cell,
    ) -> impl Iterator<Item = Cell> + Clone + use<> {
        let offsets = self.footprint(profile).offsets();
        offsets.map(move |(columns, rows)| anchor.offset(columns, rows))
    }

    /// Returns the cost of `cell` for a unit of `profile`, in sixteenths: the cost of the costliest cell that
    /// the unit covers with its [anchor](Profile::size) on `cell`. 0 if the unit cannot stand there: one of
    /// these cells is off the grid, impassable or blocked, a shut edge divides them, or the profile is unknown.
    #[must_use]
    pub fn cost(&self, profile: ProfileId, cell: Cell) -> u16 {
        let known = self.profiles.get(usize::from(profile.0));
        let (Some(profile), Some((x, y))) = (known, self.local(cell)) else {
            return 0;
        };
        let footprint = Footprint::new(self.topology, profile.unit_size().into());
        if footprint.is_single() {
            let is_free = self.blockers.get(x, y) == 0;
            return if is_free {
                profile.cost(TerrainId(self.terrain[self.index(x, y)]))
            } else {
                0
            };
        }
        if !footprint.fits((x, y), (self.width, self.height)) {
            return 0;
        }
        let mut costliest = 0;
        for (columns, rows) in footprint.offsets() {
            let (x, y) = (x.wrapping_add_signed(columns), y.wrapping_add_signed(rows));
            let cost = profile.cost(TerrainId(self.terrain[self.index(x, y)]));
            if cost == 0 || self.blockers.get(x, y) > 0 {
                return 0;
            }
            costliest = costliest.max(cost);
        }
        if self.divides(profile, (x, y), footprint) { 0 } else { costliest }
    }

    /// Returns the anchors at which a unit of `profile` covers a cell of `rect`, and on hexagons some more at the corners. For a
    /// large unit the result has `unit_size - 1` more columns to the left and rows below than `rect`, and on hexagons as many to
    /// the right and above. An edit of `rect` can change only at these anchors whether the unit can stand; some may lie off the
    /// grid.
    #[must_use]
    pub fn anchors_over(&self, profile: ProfileId, rect: CellRect) -> CellRect {
        if rect.is_empty() {
            return rect;
        }
        self.footprint(profile).anchors_over(rect)
    }

    /// Returns the number of the connected region that `cell` belongs to for a unit of `profile`; `None` if
    /// the unit cannot stand there. There is a path between two cells exactly if their region numbers are
    /// equal: constant time, no search. The numbers depend on the edits made and may exceed the number of
    /// regions: use them for comparison only.
    #[must_use]
    pub fn region(&self, profile: ProfileId, cell: Cell) -> Option<u32> {
        let (x, y) = self.local(cell)?;
        self.layer(profile)?.region(x, y)
    }

    /// Returns the edit counter: it changes whenever anything that affects a unit changes.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns what was edited after `revision`, oldest first, as rectangles that contain every changed cell. Of more
    /// than 64 rectangles, the oldest are joined into one. Large units are affected from [farther
    /// away](Self::anchors_over). `None` if this grid has replaced another one since, or has not come to that revision yet.
    #[must_use]
    pub fn edits_since(&self, revision: u64) -> Option<impl Iterator<Item = CellRect>> {
        self.log.since(revision).filter(|_| revision <= self.revision)
    }

    /// Starts a batch of edits; layers and connected regions are updated when it is dropped.
    #[must_use]
    pub fn edit(&mut self) -> GridEdit<'_> {
        GridEdit::new(self)
    }

    /// Sets the terrain of one cell. For many cells use [`edit`](Self::edit), which updates the derived data
    /// once.
    ///
    /// # Errors
    /// [`GridError::OutOfBounds`].
    pub fn set_terrain(&mut self, cell: Cell, terrain: TerrainId) -> Result<(), GridError> {
        self.edit().set_terrain(cell, terrain)
    }

    /// Adds a blocker to every cell of `rect`.
    ///
    /// # Errors
    /// [`GridError::RectOutOfBounds`] or [`GridError::TooManyBlockers`].
    pub fn block(&mut self, rect: CellRect) -> Result<(), GridError> {
        self.edit().block(rect)
    }

    /// Removes a blocker from every cell of `rect`.
    ///
    /// # Errors
    /// [`GridError::RectOutOfBounds`] or [`GridError::NotBlocked`].
    pub fn unblock(&mut self, rect: CellRect) -> Result<(), GridError> {
        self.edit().unblock(rect)
    }

    /// Returns the memory of the grid with all layers built so far, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let layers: usize = self.layers.iter().filter_map(OnceLock::get).map(Layer::bytes).sum();
        self.terrain.len()
            + self.blockers.bytes()
            + self.edges.bytes()
            + 8 * self.chunk_revisions.len()
            + layers
            + self.landmark_bytes()
    }

    /// Returns the column and row from the origin; `None` off the grid.
    #[inline]
    pub(crate) fn local(&self, cell: Cell) -> Option<(u32, u32)> {
        let x = i64::from(cell.x) - i64::from(self.origin.x);
        let y = i64::from(cell.y) - i64::from(self.origin.y);
        let inside = x >= 0 && y >= 0 && x < i64::from(self.width) && y < i64::from(self.height);
        inside.then_some((x as u32, y as u32))
    }

    /// Returns the cell `x` columns and `y` rows from the origin.
    #[inline]
    pub(crate) fn global(&self, x: u32, y: u32) -> Cell {
        self.origin.offset(x as i32, y as i32)
    }

    /// Returns the terrain bytes, row-major.
    #[inline]
    pub(crate) fn terrain_bytes(&self) -> &[u8] {
        &self.terrain
    }

    /// Returns the revision of the last edit that may affect a unit with its anchor in the chunk (column and
    /// row of chunks) or on a cell next to it.
    pub(crate) fn chunk_revision(&self, (x, y): (u32, u32)) -> u64 {
        self.chunk_revisions[(y * self.width.div_ceil(CHUNK) + x) as usize]
    }

    /// Continues the revision counter from above `revision` and marks everything as changed, so that users of
    /// the grid that this one replaces notice the change.
    pub(crate) fn continue_from(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
        self.touch(self.rect());
        self.log = EditLog::after(self.revision);
        self.reset_reliefs();
    }

    fn index(&self, x: u32, y: u32) -> usize {
        y as usize * self.width as usize + x as usize
    }

    /// Records that something in `rect` (which lies on the grid) has changed.
    fn touch(&mut self, rect: CellRect) {
        self.revision += 1;
        let Some((x, y)) = self.local(rect.min) else {
            return;
        };
        // Includes the cells beside the anchors of the largest units.
        let largest = self.profiles.iter().map(Profile::unit_size).max().unwrap_or(1);
        let footprint = Footprint::new(self.topology, u32::from(largest) + 1);
        let size = (self.width, self.height);
        let (left, low, width, height) =
            footprint.anchors_on(size, (x, y, rect.width, rect.height));
        let (right, top) = ((left + width + 1).min(size.0), (low + height + 1).min(size.1));
        let around = (left, low, right - left, top - low);
        for chunk in chunks_in(around, self.width.div_ceil(CHUNK)) {
            self.chunk_revisions[chunk as usize] = self.revision;
        }
        self.log.push(self.revision, rect);
    }
}

/// Checks whether a grid can have this size.
pub(crate) fn check_size(width: u32, height: u32) -> Result<(), GridError> {
    let fits = |side| (1..=MAX_SIDE).contains(&side);
    if fits(width) && fits(height) { Ok(()) } else { Err(GridError::BadSize { width, height }) }
}
