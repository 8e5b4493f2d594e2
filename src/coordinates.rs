//! Conversion between world positions and cells.
//!
//! Input: the position of a grid in the world. Output: cell → world position and back. A [`GridFrame`] is
//! affine: it consists of the world position of the center of cell (0, 0) and the world vectors of one cell
//! to the right and one cell up, which covers square, isometric and hexagonal maps under any translation,
//! rotation and scale. On hexagons a position belongs to the cell whose hexagon contains it. The tilemap stage derives the frame
//! from the tilemap's own helpers and transform; for a grid without a tilemap, the game specifies it by hand.

use bevy::{
    math::{Affine2, Mat2, Vec2},
    reflect::{Reflect, std_traits::ReflectDefault},
};

use crate::nav::{Cell, CellRect, Direction, Topology};

/// Placement of a grid in the world; see the [module](self).
///
/// ```
/// use bevy::math::Vec2;
/// use bevy_tilepath::prelude::*;
/// let frame = GridFrame::square(Vec2::new(100.0, 0.0), Vec2::splat(16.0));
/// assert_eq!(frame.cell_center(Cell::new(2, 1)), Vec2::new(132.0, 16.0));
/// assert_eq!(frame.cell_at(Vec2::new(139.0, 9.0)), Some(Cell::new(2, 1)));
/// assert_eq!(frame.cell_at(Vec2::new(f32::NAN, 0.0)), None);
/// ```
#[derive(Clone, Copy, Debug, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct GridFrame {
    /// From cell space (whole numbers = centers of cells) to the world.
    to_world: Affine2,
    to_cells: Affine2,
    topology: Topology,
}

impl PartialEq for GridFrame {
    /// Frames that place cells alike are equal, also if they are not finite.
    fn eq(&self, other: &Self) -> bool {
        let bits = |frame: &Self| frame.to_world.to_cols_array().map(|x| (x + 0.0).to_bits());
        self.topology == other.topology && bits(self) == bits(other)
    }
}

impl Default for GridFrame {
    /// Cells of one world unit, with cell (0, 0) centered on the origin.
    fn default() -> Self {
        Self::square(Vec2::ZERO, Vec2::ONE)
    }
}

impl GridFrame {
    /// Creates a frame of axis-aligned cells of `cell_size` world units, with the center of cell (0, 0) at
    /// `center`.
    #[must_use]
    pub fn square(center: Vec2, cell_size: Vec2) -> Self {
        Self::from_axes(center, Vec2::new(cell_size.x, 0.0), Vec2::new(0.0, cell_size.y))
    }

    /// Creates a frame with the center of cell (0, 0) at `center`, the next cell to the right at `center +
    /// right` and the next cell up at `center + up`.
    #[must_use]
    pub fn from_axes(center: Vec2, right: Vec2, up: Vec2) -> Self {
        let to_world = Affine2::from_mat2_translation(Mat2::from_cols(right, up), center);
        let is_flat = to_world.matrix2.determinant() == 0.0; // not invertible
        let no_cells = Affine2 { translation: Vec2::NAN, ..Affine2::IDENTITY };
        let to_cells = if is_flat { no_cells } else { to_world.inverse() };
        Self { to_world, to_cells, topology: Topology::Square }
    }

    /// Creates a frame of hexagons with a corner at the top (*pointy-top*: cells lie in rows), with the center of cell (0, 0) at
    /// `center` and the centers of neighbors `spacing` world units apart.
    ///
    /// ```
    /// use bevy::math::Vec2;
    /// use bevy_tilepath::prelude::*;
    /// let frame = GridFrame::pointy_hexagons(Vec2::ZERO, 10.0);
    /// assert_eq!(frame.cell_center(Cell::new(2, 0)), Vec2::new(20.0, 0.0));
    /// assert_eq!(frame.cell_at(Vec2::new(5.0, 8.0)), Some(Cell::new(0, 1)));
    /// ```
    #[must_use]
    pub fn pointy_hexagons(center: Vec2, spacing: f32) -> Self {
        let (right, up) = (Vec2::X, Vec2::new(0.5, HALF_SQRT_3));
        Self::from_axes(center, spacing * right, spacing * up).with_topology(Topology::Hexagonal)
    }

    /// Creates a frame of hexagons with a side at the top (*flat-top*: cells lie in columns), with the center of cell (0, 0) at
    /// `center` and the centers of neighbors `spacing` world units apart.
    #[must_use]
    pub fn flat_hexagons(center: Vec2, spacing: f32) -> Self {
        let (right, up) = (Vec2::new(HALF_SQRT_3, 0.5), Vec2::Y);
        Self::from_axes(center, spacing * right, spacing * up).with_topology(Topology::Hexagonal)
    }

    /// Sets the shape of the cells. [`NavGrids`](crate::grids::NavGrids) does so for the frames of its grids.
    #[must_use]
    pub const fn with_topology(self, topology: Topology) -> Self {
        Self { topology, ..self }
    }

    /// Returns the shape of the cells.
    #[must_use]
    pub const fn topology(&self) -> Topology {
        self.topology
    }

    /// Returns the world positions of the corners of `cell`, in order: four, or six of a hexagon.
    pub fn cell_corners(&self, cell: Cell) -> impl Iterator<Item = Vec2> + use<> {
        let (frame, center) = (*self, center(cell));
        let corners: &[(f32, f32)] = match self.topology {
            Topology::Square => &SQUARE_CORNERS,
            Topology::Hexagonal => &HEXAGON_CORNERS,
        };
        corners.iter().map(move |&(x, y)| frame.to_world(center + Vec2::new(x, y)))
    }

    /// Returns the world position of the center of `cell`.
    #[must_use]
    pub fn cell_center(&self, cell: Cell) -> Vec2 {
        self.to_world(center(cell))
    }

    /// Converts a point in cell space, where whole numbers are centers of cells, to a world position.
    #[must_use]
    pub fn to_world(&self, point: Vec2) -> Vec2 {
        self.to_world.transform_point2(point)
    }

    /// Converts a world position to cell space, where whole numbers are centers of cells.
    #[must_use]
    pub fn to_cells(&self, position: Vec2) -> Vec2 {
        self.to_cells.transform_point2(position)
    }

    /// Returns the cell that contains a world position, on the grid or not; `None` if the position or the
    /// frame is not finite, or the cell is too far away to be represented.
    #[must_use]
    pub fn cell_at(&self, position: Vec2) -> Option<Cell> {
        cell_around(self.to_cells(position), self.topology)
    }

    /// Returns the edge nearest to a world position, on the grid or not: the cell that contains the position, and the direction
    /// of the neighbor across its nearest side, measured in columns and rows. `None` where [`cell_at`](Self::cell_at) returns it.
    ///
    /// ```
    /// use bevy::math::Vec2;
    /// use bevy_tilepath::prelude::*;
    /// let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(16.0));
    /// let (cell, direction) = frame.edge_at(Vec2::new(39.0, 17.0)).unwrap();
    /// assert_eq!((cell, direction), (Cell::new(2, 1), Direction::East));
    /// ```
    #[must_use]
    pub fn edge_at(&self, position: Vec2) -> Option<(Cell, Direction)> {
        let point = self.to_cells(position);
        let cell = cell_around(point, self.topology)?;
        let off = point - center(cell);
        let towards = |direction: Direction| {
            let (x, y) = direction.offset();
            let (x, y) = (x as f32, y as f32);
            let along = x * off.x + y * off.y;
            match self.topology {
                Topology::Square => along,
                Topology::Hexagonal => 2.0 * along + x * off.y + y * off.x,
            }
        };
        let sides = self.topology.widest().straight_steps().map(Direction::from_bits);
        let nearest = sides.max_by(|&a, &b| towards(a).total_cmp(&towards(b)))?;
        Some((cell, nearest))
    }

    /// Returns the anchor at which a unit with `size` cells along a side has its middle nearest to a world position (see
    /// [`Profile::size`](crate::nav::terrain::Profile::size)); the same as [`cell_at`](Self::cell_at) for size 1 and on hexagons.
    #[must_use]
    pub fn anchor_at(&self, position: Vec2, size: u32) -> Option<Cell> {
        cell_around(self.to_cells(position) - half_block(self.topology, size), self.topology)
    }

    /// Returns the block of so many columns and rows whose center is nearest to a world position; where two are equally near,
    /// the one farther right and up, however the position was rounded.
    pub(crate) fn block_at(&self, position: Vec2, (width, height): (u32, u32)) -> Option<CellRect> {
        let point = self.to_cells(position);
        let min = if (width, height) == (1, 1) {
            cell_around(point, self.topology)?
        } else {
            let lowest = |center: f32, side: u32| {
                let tie = if side.is_multiple_of(2) { TIE } else { 0.0 };
                center - side.saturating_sub(1) as f32 / 2.0 + tie
            };
            let min = Vec2::new(lowest(point.x, width), lowest(point.y, height));
            cell_around(min, Topology::Square)?
        };
        Some(CellRect::new(min, width, height))
    }

    /// Returns an offset in cell space as one in the world.
    pub(crate) fn vector(&self, offset: Vec2) -> Vec2 {
        self.to_world.transform_vector2(offset)
    }

    /// Returns the world position of the middle of a unit with `size` cells along a side and this anchor.
    #[must_use]
    pub fn block_center(&self, anchor: Cell, size: u32) -> Vec2 {
        self.to_world(center(anchor) + half_block(self.topology, size))
    }

    /// Returns the world vector of a step of `(dx, dy)` cells.
    #[must_use]
    pub fn step(&self, dx: i32, dy: i32) -> Vec2 {
        self.to_world.transform_vector2(Vec2::new(dx as f32, dy as f32))
    }
}

/// Returns a cell's center in cell space.
pub(crate) fn center(cell: Cell) -> Vec2 {
    Vec2::new(cell.x as f32, cell.y as f32)
}

/// Returns the offset from the center of a unit's anchor to the middle of the unit, in cells.
pub(crate) fn half_block(topology: Topology, size: u32) -> Vec2 {
    match topology {
        Topology::Square => Vec2::splat(size.saturating_sub(1) as f32 / 2.0),
        Topology::Hexagonal => Vec2::ZERO,
    }
}

/// Corners of a cell around its center, in cell space. Those of a hexagon are the centers of three cells that meet there.
const SQUARE_CORNERS: [(f32, f32); 4] = [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)];
const HEXAGON_CORNERS: [(f32, f32); 6] = [
    (2.0 / 3.0, -1.0 / 3.0),
    (1.0 / 3.0, 1.0 / 3.0),
    (-1.0 / 3.0, 2.0 / 3.0),
    (-2.0 / 3.0, 1.0 / 3.0),
    (-1.0 / 3.0, -1.0 / 3.0),
    (1.0 / 3.0, -2.0 / 3.0),
];
/// By how many cells a block is moved right and up that lies in the middle between two.
const TIE: f32 = 1.0 / 64.0;
/// Half the square root of 3.
const HALF_SQRT_3: f32 = 0.866_025_4;

/// Returns the center of the hexagon that contains a point of cell space: of column, row and the sum of both, the one that is
/// rounded most follows from the other two (A. Patel, "Hexagonal Grids", Red Blob Games, 2013).
fn nearest_hexagon(point: Vec2) -> Vec2 {
    let sum = -point.x - point.y;
    let (rounded, rounded_sum) = ((point + 0.5).floor(), (sum + 0.5).floor());
    let (off, off_sum) = ((rounded - point).abs(), (rounded_sum - sum).abs());
    if off.x > off.y && off.x > off_sum {
        Vec2::new(-rounded.y - rounded_sum, rounded.y)
    } else if off.y > off_sum {
        Vec2::new(rounded.x, -rounded.x - rounded_sum)
    } else {
        rounded
    }
}

/// Returns the cell that contains a point of cell space.
pub(crate) fn cell_around(point: Vec2, topology: Topology) -> Option<Cell> {
    const FARTHEST: f32 = 1.0e9;
    let point = match topology {
        Topology::Square => (point + 0.5).floor(),
        Topology::Hexagonal => nearest_hexagon(point),
    };
    let countable = point.is_finite() && point.abs().max_element() < FARTHEST;
    countable.then(|| Cell::new(point.x as i32, point.y as i32))
}

/// The length of an offset in cell space, in cells.
pub(crate) fn length(topology: Topology, offset: Vec2) -> f32 {
    match topology {
        Topology::Square => offset.length(),
        // Columns and rows are at 60°.
        Topology::Hexagonal => (offset.length_squared() + offset.x * offset.y).sqrt(),
    }
}
