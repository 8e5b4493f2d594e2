//! What the ground is, and what each kind of unit makes of it: terrain and movement profiles.
//!
//! Costs are integers. A terrain's cost counts **sixteenths** of plain ground (16 = plain, 32 =
//! twice as slow, 0 = impassable). A step costs 408 (straight) or 577 (diagonal; 577/408 is √2
//! within 2·10⁻⁶) times the sum of the costs of the cell left and the cell entered: the time a
//! unit needs for two half cells, so planning and walking agree, and a way costs the same in
//! both directions.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

/// Cost of plain ground, in sixteenths.
pub const PLAIN: u16 = 16;
/// Weight of a straight step; see the [module](self).
pub const STRAIGHT: u32 = 408;
/// Weight of a diagonal step; see the [module](self).
pub const DIAGONAL: u32 = 577;
/// Most cells along one side of a unit; see [`Profile::size`].
pub const LARGEST_UNIT: u8 = 8;

/// Kind of ground of a cell: a byte whose meaning is the game's own. Maps read from Moving AI
/// text use the letter itself, so grass is `TerrainId(b'G')`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct TerrainId(pub u8);

impl TerrainId {
    /// Nothing at all: what a cell is that no tile and no map describes. Impassable in every
    /// profile that does not say otherwise.
    pub const VOID: Self = Self(0);
    /// Plain ground, for games that tell only free from blocked.
    pub const GROUND: Self = Self(1);
}

/// Number of a [`Profile`] in the list of profiles that a grid or an app knows; 0 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct ProfileId(pub u8);

/// When a diagonal step may pass between two orthogonal neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum CornerRule {
    /// Both must be passable. The rule of the Moving AI benchmarks, and the default, because
    /// units drawn with a body then never clip a wall.
    #[default]
    Forbid,
    /// At least one must be passable.
    NoSqueeze,
    /// Neither needs to be.
    Allow,
}

/// Which neighbors a step may go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Neighborhood {
    /// Along the axes only.
    Four,
    /// Along the axes and the diagonals (default).
    #[default]
    Eight,
}

/// How one kind of unit moves: what each terrain costs it, which steps it may take, and how much
/// room it needs.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let boat = Profile::new().with(TerrainId(b'W'), PLAIN);
/// let hovercraft = boat.clone().with(TerrainId(b'G'), 24).corners(CornerRule::NoSqueeze);
/// assert_eq!(boat.cost(TerrainId(b'G')), 0);
/// assert_eq!(hovercraft.cost(TerrainId(b'G')), 24);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Profile {
    costs: [u16; 256],
    corner_rule: CornerRule,
    neighborhood: Neighborhood,
    /// Cells along one side of the unit.
    size: u8,
}

impl Default for Profile {
    /// Plain ground is passable at cost 16, and so are the passable letters of Moving AI maps
    /// (`.`, `G`, `S`); everything else is impassable.
    fn default() -> Self {
        [TerrainId::GROUND, TerrainId(b'.'), TerrainId(b'G'), TerrainId(b'S')]
            .into_iter()
            .fold(Self::new(), |profile, terrain| profile.with(terrain, PLAIN))
    }
}

impl Profile {
    /// Every terrain impassable, eight neighbors, [`CornerRule::Forbid`], a unit of one cell.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            costs: [0; 256],
            corner_rule: CornerRule::Forbid,
            neighborhood: Neighborhood::Eight,
            size: 1,
        }
    }

    /// Sets what `terrain` costs, in sixteenths of plain ground; 0 makes it impassable.
    ///
    /// Few distinct costs with a large common divisor (multiples of 4 or 16) search fastest and
    /// leave the most room before a path's cost overflows.
    #[must_use]
    pub const fn with(mut self, terrain: TerrainId, sixteenths: u16) -> Self {
        self.costs[terrain.0 as usize] = sixteenths;
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

    /// Sets how many cells the unit is wide and high: 1 to [`LARGEST_UNIT`], which numbers beyond are
    /// counted as; 1 by default.
    ///
    /// Where such a unit is, is where its **anchor** is: the lowest, leftmost of the cells it covers.
    /// Starts, goals, paths and islands are all of anchors. A unit of size `n` at `(x, y)` covers the
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
    /// It can stand where all these cells are on the grid and passable, and pays for the costliest of
    /// them. It is drawn at the middle of its block: `(n - 1) / 2` cells to the right of and above the
    /// center of the anchor, half a cell each with size 2.
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

    /// Cost of `terrain` in sixteenths; 0 is impassable.
    #[must_use]
    pub const fn cost(&self, terrain: TerrainId) -> u16 {
        self.costs[terrain.0 as usize]
    }

    /// The corner rule.
    #[must_use]
    pub const fn corner_rule(&self) -> CornerRule {
        self.corner_rule
    }

    /// The neighborhood.
    #[must_use]
    pub const fn neighborhood(&self) -> Neighborhood {
        self.neighborhood
    }

    /// How many cells the unit is wide and high, 1 to [`LARGEST_UNIT`]; see [`size`](Self::size).
    #[must_use]
    pub const fn unit_size(&self) -> u8 {
        // Reflection may have set anything.
        clamped(self.size)
    }

    /// Whether everything passable costs the same.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.passable_costs().all(|cost| Some(cost) == self.min_cost())
    }

    /// Lowest cost of a passable terrain; `None` where nothing is passable.
    #[must_use]
    pub fn min_cost(&self) -> Option<u16> {
        self.passable_costs().min()
    }

    /// Highest cost of a passable terrain; `None` where nothing is passable.
    #[must_use]
    pub fn max_cost(&self) -> Option<u16> {
        self.passable_costs().max()
    }

    /// Largest number that divides the cost sum of every possible step: searches count in
    /// multiples of it. 1 where nothing is passable.
    pub(crate) fn cost_unit(&self) -> u32 {
        let Some(first) = self.min_cost().map(u32::from) else {
            return 1;
        };
        // gcd of all pair sums = gcd of twice one cost and all differences from it.
        self.passable_costs().fold(2 * first, |unit, cost| gcd(unit, u32::from(cost) - first))
    }

    fn passable_costs(&self) -> impl Iterator<Item = u16> {
        self.costs.iter().copied().filter(|&cost| cost > 0)
    }
}

/// The nearest size a unit can have.
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
