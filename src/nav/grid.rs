//! The grid: one byte of terrain a cell, counted blockers, and a layer per movement profile.
//!
//! Input: terrain bytes (row-major, `width × height`, lowest row first) and edits. Output: a
//! [`NavGrid`] whose layers (what one profile sees) always agree with its terrain: edits go
//! through a [`GridEdit`] that brings layers and islands up to date when it is dropped, redoing
//! only the 32 × 32 chunks it touched and the lines of sight through them.
//!
//! Memory: 1 byte a cell, plus 2 bytes a cell in chunks that hold blockers, plus about 2.2 bytes
//! a cell for each layer in use, and 1.75 more where searches jump (see
//! [`Algorithm::JumpPoint`](super::query::Algorithm::JumpPoint)), 0.4 more of that where cost is mixed.
//! A layer for units larger than a cell takes 0.13 more, and another 1 where cost is mixed.

mod ahead;
mod blockers;
mod edit;

pub use edit::GridEdit;

use std::sync::OnceLock;

use bevy::reflect::Reflect;

use self::blockers::Blockers;
use super::{
    cell::{CHUNK, Cell, CellRect},
    layer::Layer,
    terrain::{Profile, ProfileId, TerrainId},
};

/// Longest side of a grid, in cells.
pub const MAX_SIDE: u32 = 16_384;
/// How many past edits a grid remembers one by one.
const LOG_LENGTH: usize = 64;

/// Why a grid could not be made or changed. Nothing has changed when it is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, PartialEq, Hash, Clone)]
pub enum GridError {
    /// A side is zero or longer than [`MAX_SIDE`].
    BadSize {
        /// Columns asked for.
        width: u32,
        /// Rows asked for.
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
    /// The rectangle is empty or does not lie on the grid as a whole.
    RectOutOfBounds(CellRect),
    /// 65,535 blockers stand on the cell already.
    TooManyBlockers(Cell),
    /// There is no blocker on the cell to take away.
    NotBlocked(Cell),
    /// The grid knows no profile with this number.
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
            Self::UnknownProfile(id) => write!(f, "profile {} is not known", id.0),
        }
    }
}

impl core::error::Error for GridError {}

/// One level's map: terrain, blockers and what each movement profile makes of them.
///
/// Cells reach from [`origin`](Self::origin) (lowest, leftmost) to the right and up.
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
pub struct NavGrid {
    origin: Cell,
    width: u32,
    height: u32,
    terrain: Vec<u8>,
    blockers: Blockers,
    profiles: Vec<Profile>,
    /// One per profile, built when first asked for.
    layers: Vec<OnceLock<Layer>>,
    revision: u64,
    /// Revision at which the profiles were last replaced.
    profiles_revision: u64,
    /// Revision of the last edit that units with their anchor in or next to each chunk may notice,
    /// row-major.
    chunk_revisions: Vec<u64>,
    /// Latest edits, oldest first, at most [`LOG_LENGTH`].
    log: Vec<(u64, CellRect)>,
}

impl NavGrid {
    /// A grid of `width × height` cells with the same terrain everywhere, its origin at (0, 0),
    /// with [`Profile::default`] as profile 0.
    ///
    /// # Errors
    /// [`GridError::BadSize`] where a side is 0 or above [`MAX_SIDE`].
    pub fn new(width: u32, height: u32, terrain: TerrainId) -> Result<Self, GridError> {
        check_size(width, height)?;
        let cells = width as usize * height as usize;
        Self::from_terrain(width, height, vec![terrain.0; cells])
    }

    /// A grid over `terrain`: `width × height` bytes, row-major, lowest row first.
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
            origin: Cell::default(),
            width,
            height,
            terrain,
            blockers: Blockers::new(width, height),
            profiles: Vec::new(),
            layers: Vec::new(),
            revision: 0,
            profiles_revision: 0,
            chunk_revisions: vec![0; chunks],
            log: Vec::new(),
        };
        grid.set_profiles(vec![Profile::default()]);
        Ok(grid)
    }

    /// The same grid with its lowest, leftmost cell at `origin`.
    #[must_use]
    pub fn with_origin(mut self, origin: Cell) -> Self {
        self.origin = origin;
        self
    }

    /// The same grid for these profiles; profile `i` gets `ProfileId(i)`.
    #[must_use]
    pub fn with_profiles(mut self, profiles: Vec<Profile>) -> Self {
        self.set_profiles(profiles);
        self
    }

    /// Replaces all profiles; layers are built anew when they are next needed.
    pub fn set_profiles(&mut self, profiles: Vec<Profile>) {
        self.layers.clear();
        self.layers.resize_with(profiles.len(), OnceLock::new);
        self.profiles = profiles;
        self.touch(self.rect());
        self.profiles_revision = self.revision;
    }

    /// The profiles, by number.
    #[must_use]
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Columns.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    #[must_use]
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Lowest, leftmost cell.
    #[must_use]
    pub const fn origin(&self) -> Cell {
        self.origin
    }

    /// All cells of the grid.
    #[must_use]
    pub const fn rect(&self) -> CellRect {
        CellRect::new(self.origin, self.width, self.height)
    }

    /// Whether `cell` is on the grid.
    #[must_use]
    pub const fn contains(&self, cell: Cell) -> bool {
        self.rect().contains(cell)
    }

    /// Terrain of `cell`, blockers left aside; `None` off the grid.
    #[must_use]
    pub fn terrain(&self, cell: Cell) -> Option<TerrainId> {
        let (x, y) = self.local(cell)?;
        Some(TerrainId(self.terrain[self.index(x, y)]))
    }

    /// How many blockers stand on `cell`; 0 off the grid.
    #[must_use]
    pub fn blockers(&self, cell: Cell) -> u16 {
        self.local(cell).map_or(0, |(x, y)| self.blockers.get(x, y))
    }

    /// How many cells a unit of `profile` is wide and high; 1 for a profile that is not known. What it
    /// covers from a cell on, see [`Profile::size`].
    #[must_use]
    pub fn unit_size(&self, profile: ProfileId) -> u32 {
        self.profiles
            .get(usize::from(profile.0))
            .map_or(1, |profile| u32::from(profile.unit_size()))
    }

    /// What a unit of `profile` pays for `cell`, in sixteenths: for the costliest of the cells that it
    /// covers with its [anchor](Profile::size) on `cell`. 0 where it cannot stand: where any of them is
    /// off the grid, on impassable terrain or under a blocker, or with a profile that is not known.
    #[must_use]
    pub fn cost(&self, profile: ProfileId, cell: Cell) -> u16 {
        let known = self.profiles.get(usize::from(profile.0));
        let (Some(profile), Some((x, y))) = (known, self.local(cell)) else {
            return 0;
        };
        let side = u32::from(profile.unit_size());
        if x + side > self.width || y + side > self.height {
            return 0;
        }
        let mut costliest = 0;
        for y in y..y + side {
            for x in x..x + side {
                let cost = profile.cost(TerrainId(self.terrain[self.index(x, y)]));
                if cost == 0 || self.blockers.get(x, y) > 0 {
                    return 0;
                }
                costliest = costliest.max(cost);
            }
        }
        costliest
    }

    /// The cells from which a unit of `profile` covers a cell of `rect`: for a large one
    /// `unit_size - 1` more columns to the left and rows below. After an edit of `rect` these are the
    /// cells on which it may stand now where it could not before, or the other way round; some may lie
    /// off the grid.
    #[must_use]
    pub fn anchors_over(&self, profile: ProfileId, rect: CellRect) -> CellRect {
        if rect.is_empty() {
            return rect;
        }
        let more = self.unit_size(profile) - 1;
        let min = rect.min.offset(-(more as i32), -(more as i32));
        CellRect::new(min, rect.width.saturating_add(more), rect.height.saturating_add(more))
    }

    /// Number of the island that `cell` belongs to for a unit of `profile`; `None` where it cannot
    /// stand. There is a way between two cells exactly if their islands are equal: constant time,
    /// no search. Numbers depend on the edits made and may exceed the count: only compare them.
    #[must_use]
    pub fn region(&self, profile: ProfileId, cell: Cell) -> Option<u32> {
        let (x, y) = self.local(cell)?;
        self.layer(profile)?.region(x, y)
    }

    /// Counts edits: it changes whenever anything a unit could notice changes.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// What was edited after `revision`, oldest first: rectangles that hold every changed cell. Large
    /// units notice from [farther away](Self::anchors_over). `None` where that is too long ago to
    /// tell (more than 64 edits).
    #[must_use]
    pub fn edits_since(&self, revision: u64) -> Option<impl Iterator<Item = CellRect>> {
        let known = self.log.first().is_none_or(|&(oldest, _)| oldest <= revision + 1);
        known.then(|| {
            let first = self.log.partition_point(|&(at, _)| at <= revision);
            self.log[first..].iter().map(|&(_, rect)| rect)
        })
    }

    /// Starts a batch of edits; layers and islands follow when it is dropped.
    #[must_use]
    pub fn edit(&mut self) -> GridEdit<'_> {
        GridEdit::new(self)
    }

    /// Sets the terrain of one cell. For many, [`edit`](Self::edit) does the follow-up once.
    ///
    /// # Errors
    /// [`GridError::OutOfBounds`].
    pub fn set_terrain(&mut self, cell: Cell, terrain: TerrainId) -> Result<(), GridError> {
        self.edit().set_terrain(cell, terrain)
    }

    /// Puts one more blocker on every cell of `rect`.
    ///
    /// # Errors
    /// [`GridError::RectOutOfBounds`] or [`GridError::TooManyBlockers`].
    pub fn block(&mut self, rect: CellRect) -> Result<(), GridError> {
        self.edit().block(rect)
    }

    /// Takes one blocker from every cell of `rect`.
    ///
    /// # Errors
    /// [`GridError::RectOutOfBounds`] or [`GridError::NotBlocked`].
    pub fn unblock(&mut self, rect: CellRect) -> Result<(), GridError> {
        self.edit().unblock(rect)
    }

    /// The grid as `profile` sees it, built on first use (up to 10 ns a cell); `None` for a
    /// profile the grid does not know.
    #[must_use]
    pub fn layer(&self, profile: ProfileId) -> Option<&Layer> {
        let index = usize::from(profile.0);
        let profile = self.profiles.get(index)?;
        Some(self.layers[index].get_or_init(|| {
            let source = (self.terrain.as_slice(), |x, y| self.blockers.get(x, y) > 0);
            Layer::build(self.width, self.height, profile, source)
        }))
    }

    /// Builds the layers of all profiles now, so that no request has to wait for one.
    pub fn build_layers(&self) {
        for index in 0..self.profiles.len().min(256) {
            let _built = self.layer(ProfileId(index as u8));
        }
    }

    /// Memory of the grid with all layers built so far, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let layers: usize = self.layers.iter().filter_map(OnceLock::get).map(Layer::bytes).sum();
        self.terrain.len() + self.blockers.bytes() + 8 * self.chunk_revisions.len() + layers
    }

    /// Column and row from the origin; `None` off the grid.
    #[inline]
    pub(crate) fn local(&self, cell: Cell) -> Option<(u32, u32)> {
        let x = i64::from(cell.x) - i64::from(self.origin.x);
        let y = i64::from(cell.y) - i64::from(self.origin.y);
        let inside = x >= 0 && y >= 0 && x < i64::from(self.width) && y < i64::from(self.height);
        inside.then_some((x as u32, y as u32))
    }

    /// The cell `x` columns and `y` rows from the origin.
    #[inline]
    pub(crate) fn global(&self, x: u32, y: u32) -> Cell {
        self.origin.offset(x as i32, y as i32)
    }

    /// Terrain bytes, row-major.
    #[inline]
    pub(crate) fn terrain_bytes(&self) -> &[u8] {
        &self.terrain
    }

    /// Revision of the last edit that a unit may notice with its anchor in the chunk (column and row
    /// of chunks) or on a cell next to it.
    pub(crate) fn chunk_revision(&self, (x, y): (u32, u32)) -> u64 {
        self.chunk_revisions[(y * self.width.div_ceil(CHUNK) + x) as usize]
    }

    /// The revision at which the profiles were last replaced.
    pub(crate) const fn profiles_revision(&self) -> u64 {
        self.profiles_revision
    }

    /// Lets revisions go on from above `revision`, with everything changed: whoever remembers a
    /// grid whose place this one takes notices.
    pub(crate) fn continue_from(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
        self.log.clear();
        self.touch(self.rect());
    }

    fn index(&self, x: u32, y: u32) -> usize {
        y as usize * self.width as usize + x as usize
    }

    /// Notes that something in `rect` (which lies on the grid) has changed.
    fn touch(&mut self, rect: CellRect) {
        self.revision += 1;
        let Some((x, y)) = self.local(rect.min) else {
            return;
        };
        let per_row = self.width.div_ceil(CHUNK);
        let right = (x + rect.width).min(self.width - 1) / CHUNK;
        let top = (y + rect.height).min(self.height - 1) / CHUNK;
        // To the left and below, as far as the largest units reach to their right and up.
        let reach = self.profiles.iter().map(Profile::unit_size).max().map_or(1, u32::from);
        for chunk_y in y.saturating_sub(reach) / CHUNK..=top {
            for chunk_x in x.saturating_sub(reach) / CHUNK..=right {
                self.chunk_revisions[(chunk_y * per_row + chunk_x) as usize] = self.revision;
            }
        }
        if self.log.len() == LOG_LENGTH {
            self.log.remove(0);
        }
        self.log.push((self.revision, rect));
    }
}

/// Whether a grid can have this size.
pub(crate) fn check_size(width: u32, height: u32) -> Result<(), GridError> {
    let fits = |side| (1..=MAX_SIDE).contains(&side);
    if fits(width) && fits(height) { Ok(()) } else { Err(GridError::BadSize { width, height }) }
}
