//! The grid as one movement profile sees it: passability, step costs and connectivity.
//!
//! Passability is stored as bit rows, as are the borders between terrains of different cost; connected
//! regions come from `Regions`, jump points from `JumpMap`. For units larger than a cell, a cell stands for
//! the whole block that they cover from there on (see `Clearance`): it is passable where they fit, and costs
//! as much as the costliest cell of the block. No other code depends on the size of units. Where edges are shut or cost
//! something, steps are also subject to `Crossings`; a layer without such edges has none.

use core::ops::Range;

use crate::nav::{
    Adjacency, BitRows, CornerRule, Direction, JumpMap, MoveTable, NO_DIRECTION, Pattern, Regions,
    Topology,
    bit_rows::Columns64,
    clearance::Clearance,
    coarse::CoarseGraph,
    edges::{
        EdgeMap,
        crossings::{Crossings, EdgeCosts},
    },
    topology::DistanceWeights,
};

mod build;

/// The data that a layer is built from.
pub(crate) struct Source<'a, F> {
    /// Row-major.
    pub(crate) terrain: &'a [u8],
    pub(crate) edges: &'a EdgeMap,
    /// Whether something stands on a cell.
    pub(crate) is_blocked: F,
}

/// A [`NavGrid`](crate::nav::grid::NavGrid) as seen by one profile.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Layer {
    width: u32,
    height: u32,
    bits: BitRows,
    /// Passability of single cells and costliest terrain for large units; `None` for units of one cell.
    clearance: Option<Box<Clearance>>,
    /// The steps that edges forbid or make dearer; `None` as long as there are no edges that matter.
    crossings: Option<Box<Crossings>>,
    regions: Regions,
    /// Cells next to terrain of another cost and cells beside edges, if searches may jump and there are any.
    cost_borders: Option<BitRows>,
    /// Jump map, if the rules do not allow cutting corners.
    jumps: Option<Box<JumpMap>>,
    /// Coarse graph; copies for distance fields have none.
    coarse: Option<Box<CoarseGraph>>,
    corner_rule: CornerRule,
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::moves::by_rules"))]
    moves: &'static MoveTable,
    /// Cost of each terrain in sixteenths, 0 = impassable.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::boxed_array"))]
    costs: Box<[u32; 256]>,
    /// By how many units each terrain exceeds the cheapest one.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::boxed_array"))]
    excess: Box<[u32; 256]>,
    unit: u32,
    uniform: bool,
    edge_costs: EdgeCosts,
    min_cost: u32,
    max_cost: u32,
    adjacency: Adjacency,
    distance_weights: DistanceWeights,
}

impl Layer {
    /// Returns whether a unit of this profile can stand on the cell `(x, y)`, counted from the origin; a
    /// large unit with its [anchor](crate::nav::terrain::Profile::size) there.
    #[inline]
    #[must_use]
    pub fn is_passable(&self, x: u32, y: u32) -> bool {
        x < self.width && y < self.height && self.bits.get(x, y)
    }

    /// Returns whether a step from the passable cell `(x, y)` in `direction` is legal.
    #[must_use]
    pub fn can_step(&self, x: u32, y: u32, direction: Direction) -> bool {
        self.is_passable(x, y) && self.legal_steps(x, y) & 1 << direction as u8 != 0
    }

    /// Returns the directions of all legal steps out of a cell on the grid.
    #[inline(always)]
    pub(crate) fn legal_steps(&self, x: u32, y: u32) -> u8 {
        self.steps_after(NO_DIRECTION, x, y)
    }

    /// Returns the directions worth trying from a cell after arriving in direction `arrival`, where all cells around cost the
    /// same: canonical order, or every legal step beside an edge.
    #[inline(always)]
    pub(crate) fn steps_after(&self, arrival: u8, x: u32, y: u32) -> u8 {
        let beside_edge = self.crossings.as_ref().and_then(|it| it.legal_steps(x, y));
        beside_edge.unwrap_or_else(|| self.moves.get(arrival, self.pattern(x, y)))
    }

    /// Returns whether all cells around a cell are passable and no edge lies between them.
    #[inline]
    pub(crate) fn is_open_around(&self, x: u32, y: u32) -> bool {
        self.pattern(x, y) == 0x1ff && !self.is_beside_edge(x, y)
    }

    /// Returns whether an edge that is shut or costs something lies between cells around a cell.
    #[inline]
    pub(crate) fn is_beside_edge(&self, x: u32, y: u32) -> bool {
        self.crossings.as_ref().is_some_and(|crossings| crossings.is_beside(x, y))
    }

    /// Returns what crossing edges adds to the cost sum of a step out of a cell, in units.
    #[inline]
    pub(crate) fn crossing_cost(&self, x: u32, y: u32, direction: usize) -> u32 {
        self.crossings.as_ref().map_or(0, |crossings| crossings.cost(x, y, direction))
    }

    /// Returns the edges as this profile sees them; `None` if there are none that matter.
    pub(crate) fn crossings(&self) -> Option<&Crossings> {
        self.crossings.as_deref()
    }

    /// Returns the number of the connected region of the cell; `None` if it is impassable or off the grid.
    /// There is a path between two cells exactly if their region numbers are equal. The numbers depend on the
    /// edits made and may exceed [`region_count`](Self::region_count): use them for comparison only.
    #[must_use]
    pub fn region(&self, x: u32, y: u32) -> Option<u32> {
        (x < self.width && y < self.height).then(|| self.regions.region(x, y))?
    }

    /// Returns the number of connected regions.
    #[must_use]
    pub fn region_count(&self) -> u32 {
        self.regions.region_count()
    }

    /// Returns the memory in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let jumps = self.jumps.as_ref().map_or(0, |jumps| jumps.bytes());
        let cost_borders = self.cost_borders.as_ref().map_or(0, BitRows::bytes);
        let coarse = self.coarse.as_ref().map_or(0, |coarse| coarse.bytes());
        let clearance = self.clearance.as_deref().map_or(0, Clearance::bytes);
        let crossings = self.crossings.as_deref().map_or(0, Crossings::bytes);
        let shape = self.bits.bytes() + clearance + crossings + self.regions.bytes();
        shape + cost_borders + coarse + jumps + 2_560
    }

    /// Returns the terrain that determines costs, row-major, for a grid with `terrain`: for large units the
    /// costliest terrain of the block (valid only where they can stand), otherwise each cell's own.
    #[inline]
    pub(crate) fn ground<'a>(&'a self, terrain: &'a [u8]) -> &'a [u8] {
        self.clearance.as_deref().and_then(Clearance::costliest_terrain).unwrap_or(terrain)
    }

    /// Returns the cost of the passable cell `(x, y)`, in sixteenths, for a grid with `terrain`.
    pub(crate) fn cost(&self, x: u32, y: u32, terrain: &[u8]) -> u32 {
        let ground = self.ground(terrain)[y as usize * self.width as usize + x as usize];
        self.costs[usize::from(ground)]
    }

    /// Returns the cost of each terrain in sixteenths; 0 is impassable.
    pub(crate) const fn costs(&self) -> &[u32; 256] {
        &self.costs
    }

    /// Returns the lowest cost of a passable terrain in sixteenths; 0 if nothing is passable.
    pub(crate) const fn lowest_cost(&self) -> u32 {
        self.min_cost
    }

    pub(crate) const fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Returns a reader of the passable cells in 64 columns. The first one must be -64 or more, and not to the right
    /// of the grid. Cells off the grid are impassable.
    #[inline]
    pub(crate) const fn passable_columns(&self, x: i32) -> Columns64<'_> {
        self.bits.columns_from(x)
    }

    pub(crate) const fn topology(&self) -> Topology {
        match self.adjacency {
            Adjacency::Six => Topology::Hexagonal,
            Adjacency::Four | Adjacency::Eight => Topology::Square,
        }
    }

    pub(crate) const fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// Returns whether any cell is impassable or beside an edge in a rectangle on the grid, fewer than 64 columns wide.
    pub(crate) fn has_wall(&self, columns: Range<u32>, rows: Range<u32>) -> bool {
        let cells = self.bits.columns_from(columns.start as i32);
        let all = (1 << columns.len()) - 1;
        rows.clone().any(|y| cells.read(y as i32) & all != all) || self.has_edge(columns, rows)
    }

    /// Returns whether a gate begins in a rectangle on the grid, fewer than 62 columns wide: two to `most` passable cells in a
    /// row or column with impassable cells at both ends. Cells around the rectangle count, too; off the grid all are impassable.
    pub(crate) fn has_gate(&self, columns: Range<u32>, rows: Range<u32>, most: u32) -> bool {
        let cells = self.bits.columns_from(columns.start as i32 - 1);
        let inside = ((1u64 << columns.len()) - 1) << 1;
        rows.clone().any(|y| {
            let row = |y: u32| cells.read(y as i32);
            let (open, below) = (row(y), cells.read(y as i32 - 1));
            // Cells from which the next `len` cells are open.
            let (mut along, mut across) = (open, open);
            (2..=most).any(|len| {
                along &= open >> (len - 1);
                across &= row(y + len - 1);
                let ends_along = !open << 1 & !open >> len;
                let ends_across = !below & !row(y + len);
                inside & (along & ends_along | across & ends_across) != 0
            })
        })
    }

    /// Returns whether any cell is beside an edge in a rectangle on the grid, fewer than 64 columns wide.
    pub(crate) fn has_edge(&self, columns: Range<u32>, mut rows: Range<u32>) -> bool {
        self.crossings.as_ref().is_some_and(|crossings| {
            let cells = crossings.beside().columns_from(columns.start as i32);
            let all = (1 << columns.len()) - 1;
            rows.any(|y| cells.read(y as i32) & all != 0)
        })
    }

    #[inline(always)]
    pub(crate) fn pattern(&self, x: u32, y: u32) -> Pattern {
        self.bits.pattern(x, y)
    }

    /// Returns the steps that terrain allows; edges may forbid some of them.
    #[inline]
    pub(crate) const fn moves(&self) -> &'static MoveTable {
        self.moves
    }

    /// Returns the cells where scans stop, if searches may jump.
    #[inline]
    pub(crate) fn jumps(&self) -> Option<&JumpMap> {
        self.jumps.as_deref()
    }

    /// Returns the cells beside cells of another cost or beside edges; `None` where searches may not jump or all costs are the
    /// same and there are no edges.
    #[inline]
    pub(crate) const fn cost_borders(&self) -> Option<&BitRows> {
        self.cost_borders.as_ref()
    }

    /// Returns the coarse graph; `None` for [fields](Self::without_coarse).
    pub(crate) fn coarse(&self) -> Option<&CoarseGraph> {
        self.coarse.as_deref()
    }

    pub(crate) fn regions(&self) -> &Regions {
        &self.regions
    }

    /// Returns by how many units a passable terrain exceeds the cheapest one. A step costs the lowest [cost
    /// sum](Self::cost_sum_range) plus the excess of its two cells, without a division.
    #[inline]
    pub(crate) fn excess(&self, terrain: u8) -> u32 {
        self.excess[usize::from(terrain)]
    }

    /// Returns the cost unit of searches, in sixteenths.
    pub(crate) const fn unit(&self) -> u32 {
        self.unit
    }

    /// Returns whether all passable cells cost the same.
    pub(crate) const fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// Returns whether crossing some edges costs something.
    pub(crate) fn has_costly_edges(&self) -> bool {
        self.crossings.is_some() && self.edge_costs.highest() > 0
    }

    /// Returns whether all passable cells cost the same, and edges that are not shut cost nothing, now and after any edit.
    pub(crate) const fn has_uniform_step_costs(&self) -> bool {
        self.uniform && self.edge_costs.highest() == 0
    }

    /// Returns whether all passable cells cost the same, and no edges matter.
    pub(crate) const fn has_uniform_steps(&self) -> bool {
        self.uniform && self.crossings.is_none()
    }

    /// Returns the lowest and highest sum of two passable terrain costs, in units.
    pub(crate) const fn cost_sum_range(&self) -> (u32, u32) {
        (2 * self.min_cost / self.unit, 2 * self.max_cost / self.unit)
    }

    /// Returns the highest possible cost sum of a step, with the edges that it crosses, in units.
    pub(crate) const fn highest_step_sum(&self) -> u32 {
        // A diagonal step may cross two edges.
        self.cost_sum_range().1 + 2 * self.edge_costs.highest()
    }

    /// Returns the weight of the shortest path over open terrain to the cell `dx` columns to the right and `dy` rows up: octile
    /// distance with eight neighbors, Manhattan with four; on hexagons as many steps as the greatest of `dx`, `dy` and
    /// `dx + dy` is far from zero.
    #[inline]
    pub(crate) const fn distance(&self, dx: i32, dy: i32) -> u32 {
        self.distance_weights.distance(dx, dy)
    }

    /// Returns the distance between two cells, counted from the origin.
    #[inline]
    pub(crate) const fn distance_between(&self, a: (u32, u32), b: (u32, u32)) -> u32 {
        self.distance(b.0.wrapping_sub(a.0) as i32, b.1.wrapping_sub(a.1) as i32)
    }
}
