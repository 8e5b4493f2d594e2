//! Terrain and movement profiles: what each terrain costs each kind of unit.
//!
//! Costs are integers. A terrain's cost counts **sixteenths** of the cost of plain terrain (16 = plain, 32 =
//! twice as slow, 0 = impassable). A step costs 408 (straight) or 577 (diagonal; 577/408 is √2 within 2·10⁻⁶)
//! times the sum of the costs of the cell left and the cell entered: the time a unit needs for two half
//! cells. Planning and walking therefore agree, and a path costs the same in both directions.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

/// Weight of a straight step; see the [module](self).
pub const STRAIGHT: u32 = 408;
/// Weight of a diagonal step; see the [module](self).
pub const DIAGONAL: u32 = 577;
/// Maximum number of cells along one side of a unit; see [`Profile::size`].
pub const LARGEST_UNIT: u8 = 8;

/// Terrain of a cell: a byte whose meaning the game defines. Maps read from Moving AI text use the letter
/// itself, so grass is `TerrainId(b'G')`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct TerrainId(pub u8);

impl TerrainId {
    /// No terrain: the terrain of a cell that no tile and no map defines. Impassable in every profile unless
    /// the profile sets a cost for it.
    pub const VOID: Self = Self(0);
    /// Plain terrain, for games that distinguish only free from blocked cells.
    pub const GROUND: Self = Self(1);
}

/// What stands or runs between two neighboring cells: a wall, a fence, a door, a river. A byte whose meaning the game
/// defines, set by [`NavGrid::set_edge`](crate::nav::grid::NavGrid::set_edge); each [`Profile`] says what crossing it costs.
/// If tiles or entities put several edges in one place, the highest number counts: give higher numbers to kinds that shut more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct EdgeId(pub u8);

impl EdgeId {
    /// Nothing: the edge between two cells unless another one is set. Every unit may cross it for free.
    pub const NONE: Self = Self(0);
    /// A wall. Shut unless a profile says otherwise, like all kinds but [`NONE`](Self::NONE). It has the highest number, so that
    /// nothing in the same place opens it.
    pub const WALL: Self = Self(u8::MAX);
}

/// The cost of an edge that cannot be crossed, in [`Profile::edges`].
const SHUT: u16 = u16::MAX;

/// Index of a [`Profile`] in the list of profiles of a grid or an app; 0 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct ProfileId(pub u8);

/// When a diagonal step between two orthogonal neighbors is allowed. Does not matter on hexagons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum CornerRule {
    /// Both must be passable. This is the rule of the Moving AI benchmarks, and the default, because units
    /// drawn with a body then never clip a wall.
    #[default]
    Forbid,
    /// At least one must be passable.
    NoSqueeze,
    /// Neither needs to be passable.
    Allow,
}

/// Neighbors that a step may lead to on squares. Hexagons have six.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Neighborhood {
    /// Along the axes only.
    Four,
    /// Along the axes and the diagonals (default).
    #[default]
    Eight,
}

/// How one kind of unit moves: what each terrain costs, which steps are allowed, and how many cells it
/// covers.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let boat = Profile::new().with(TerrainId(b'W'), Profile::PLAIN_COST);
/// let hovercraft = boat.clone().with(TerrainId(b'G'), 24).corners(CornerRule::NoSqueeze);
/// assert_eq!(boat.cost(TerrainId(b'G')), 0);
/// assert_eq!(hovercraft.cost(TerrainId(b'G')), 24);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Profile {
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::array"))]
    costs: [u16; 256],
    /// Costs of crossing edges in addition to those of the step, in sixteenths.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::array"))]
    edges: [u16; 256],
    corner_rule: CornerRule,
    neighborhood: Neighborhood,
    /// Cells along one side of the unit.
    size: u8,
}

impl Default for Profile {
    /// [`TerrainId::GROUND`] is passable at cost 16, as are the passable letters of Moving AI maps (`.`, `G`,
    /// `S`); everything else is impassable.
    fn default() -> Self {
        [TerrainId::GROUND, TerrainId(b'.'), TerrainId(b'G'), TerrainId(b'S')]
            .into_iter()
            .fold(Self::new(), |profile, terrain| profile.with(terrain, Self::PLAIN_COST))
    }
}

impl Profile {
    /// Cost of plain terrain, in sixteenths.
    pub const PLAIN_COST: u16 = 16;
    /// The highest cost of crossing an edge: as much as walking 511 cells of plain terrain.
    pub const MAX_EDGE_COST: u16 = 8_191;

    /// Creates a profile with every terrain impassable, every edge shut, eight neighbors, [`CornerRule::Forbid`] and a unit of
    /// one cell.
    #[must_use]
    pub const fn new() -> Self {
        let (corner_rule, neighborhood) = (CornerRule::Forbid, Neighborhood::Eight);
        let mut edges = [SHUT; 256];
        edges[EdgeId::NONE.0 as usize] = 0;
        Self { costs: [0; 256], edges, corner_rule, neighborhood, size: 1 }
    }

    /// Sets the cost of `terrain`, in sixteenths of plain terrain; 0 makes it impassable.
    ///
    /// A few distinct costs with a large common divisor (multiples of 4 or 16) search fastest and leave the
    /// largest range before a path's cost overflows.
    #[must_use]
    pub const fn with(mut self, terrain: TerrainId, sixteenths: u16) -> Self {
        self.costs[terrain.0 as usize] = sixteenths;
        self
    }

    /// Opens the edges of a kind to units of this profile: crossing one costs `sixteenths` of plain terrain more, at most
    /// [`MAX_EDGE_COST`](Self::MAX_EDGE_COST) (higher values are clamped). 0 is free, and 16 costs as much as a step on
    /// plain terrain. [`EdgeId::NONE`] is always free.
    ///
    /// A unit larger than a cell pays for every step in which a part of it crosses: a unit of size 2 needs two
    /// steps to cross a river, and each of them costs that much more.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let (fence, river) = (EdgeId(2), EdgeId(3));
    /// let deer = Profile::default().with_edge(fence, 0).with_edge(river, 64);
    /// assert_eq!(deer.edge_cost(fence), Some(0));
    /// assert_eq!(deer.edge_cost(EdgeId::WALL), None);
    /// ```
    #[must_use]
    pub const fn with_edge(mut self, edge: EdgeId, sixteenths: u16) -> Self {
        let is_too_much = sixteenths > Self::MAX_EDGE_COST;
        if edge.0 != EdgeId::NONE.0 {
            let cost = if is_too_much { Self::MAX_EDGE_COST } else { sixteenths };
            self.edges[edge.0 as usize] = cost;
        }
        self
    }

    /// Shuts the edges of a kind, as all are at first. [`EdgeId::NONE`] is always free.
    #[must_use]
    pub const fn without_edge(mut self, edge: EdgeId) -> Self {
        if edge.0 != EdgeId::NONE.0 {
            self.edges[edge.0 as usize] = SHUT;
        }
        self
    }

    /// Sets the corner rule.
    #[must_use]
    pub const fn corners(mut self, rule: CornerRule) -> Self {
        self.corner_rule = rule;
        self
    }

    /// Sets the neighborhood.
    #[must_use]
    pub const fn neighbors(mut self, neighborhood: Neighborhood) -> Self {
        self.neighborhood = neighborhood;
        self
    }

    /// Sets the number of cells along a side of the unit: 1 to [`LARGEST_UNIT`], larger numbers are clamped; 1
    /// by default. On hexagons the unit is a hexagon of cells: size 2 covers 7, size 3 covers 19, size 4 covers 37.
    ///
    /// The position of a unit is that of its **anchor**: the lowest, leftmost of the cells it covers, and on hexagons the one in
    /// the middle. Starts,
    /// goals, paths and connected regions all refer to anchors. On squares a unit of size `n` at `(x, y)` covers the
    /// columns `x..x + n` and the rows `y..y + n`. With size 2 and the anchor `A` on (4, 1) these are:
    ///
    /// ```text
    ///  y
    ///  3   .  .  .  .  .
    ///  2   .  .  #  #  .
    ///  1   .  .  A  #  .
    ///  0   .  .  .  .  .
    ///      2  3  4  5  6   x
    /// ```
    ///
    /// The unit can stand where all these cells are on the grid and passable, and pays the cost of the
    /// costliest of them. It is drawn in the middle of them: `(n - 1) / 2` cells to the right of and
    /// above the center of the anchor, half a cell each with size 2; on hexagons at the center of the anchor.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let tank = Profile::default().size(2);
    /// let mut grid = NavGrid::new(8, 4, TerrainId::GROUND)?.with_profiles(vec![tank]);
    /// grid.block(CellRect::single(Cell::new(4, 2)))?;
    /// let stands = |x, y| grid.cost(ProfileId(0), Cell::new(x, y)) > 0;
    /// assert!(stands(4, 0) && !stands(4, 1) && !stands(3, 1) && stands(2, 1));
    /// assert!(!stands(7, 0), "half of it would be off the grid");
    /// # Ok::<(), GridError>(())
    /// ```
    #[must_use]
    pub const fn size(mut self, cells: u8) -> Self {
        self.size = clamped(cells);
        self
    }

    /// Returns the cost of `terrain` in sixteenths; 0 is impassable.
    #[must_use]
    pub const fn cost(&self, terrain: TerrainId) -> u16 {
        self.costs[terrain.0 as usize]
    }

    /// Returns the cost of crossing an edge in sixteenths, in addition to the step; `None` if it is shut.
    #[must_use]
    pub const fn edge_cost(&self, edge: EdgeId) -> Option<u16> {
        // Reflection may have set any value.
        match self.edges[edge.0 as usize] {
            _ if edge.0 == EdgeId::NONE.0 => Some(0),
            SHUT => None,
            cost if cost > Self::MAX_EDGE_COST => Some(Self::MAX_EDGE_COST),
            cost => Some(cost),
        }
    }

    /// Returns the corner rule.
    #[must_use]
    pub const fn corner_rule(&self) -> CornerRule {
        self.corner_rule
    }

    /// Returns the neighborhood.
    #[must_use]
    pub const fn neighborhood(&self) -> Neighborhood {
        self.neighborhood
    }

    /// Returns the cells along a side of the unit, 1 to [`LARGEST_UNIT`]; see [`size`](Self::size).
    #[must_use]
    pub const fn unit_size(&self) -> u8 {
        // Reflection may have set any value.
        clamped(self.size)
    }

    /// Returns whether all passable terrains cost the same.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.passable_costs().all(|cost| Some(cost) == self.min_cost())
    }

    /// Returns the lowest cost of a passable terrain; `None` if nothing is passable.
    #[must_use]
    pub fn min_cost(&self) -> Option<u16> {
        self.passable_costs().min()
    }

    /// Returns the highest cost of a passable terrain; `None` if nothing is passable.
    #[must_use]
    pub fn max_cost(&self) -> Option<u16> {
        self.passable_costs().max()
    }

    /// Returns the largest number that divides the cost sum of every possible step: searches count in
    /// multiples of it. 1 if nothing is passable.
    pub(crate) fn cost_unit(&self) -> u32 {
        let Some(first) = self.min_cost().map(u32::from) else {
            return 1;
        };
        // gcd of all pair sums = gcd of twice one cost and all differences from it.
        let sums =
            self.passable_costs().fold(2 * first, |unit, cost| gcd(unit, u32::from(cost) - first));
        let edges = (0..=u8::MAX).filter_map(|edge| self.edge_cost(EdgeId(edge)));
        edges.fold(sums, |unit, cost| gcd(unit, 2 * u32::from(cost)))
    }

    fn passable_costs(&self) -> impl Iterator<Item = u16> {
        self.costs.iter().copied().filter(|&cost| cost > 0)
    }
}

/// Clamps to a valid unit size.
const fn clamped(cells: u8) -> u8 {
    match cells {
        0 => 1,
        1..=LARGEST_UNIT => cells,
        _ => LARGEST_UNIT,
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
