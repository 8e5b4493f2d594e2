//! The grid as one movement profile sees it: passability, step costs and connectivity.
//!
//! Passability is stored as bit rows, as are the borders between terrains of different cost; connected
//! regions come from `Regions`, jump points from `JumpMap`. For units larger than a cell, a cell stands for
//! the whole block that they cover from there on (see `Clearance`): it is passable where they fit, and costs
//! as much as the costliest cell of the block. No other code depends on the size of units.

use core::ops::Range;

use crate::nav::{
    Adjacency, BitRows, CHUNK, CornerRule, DIAGONAL, Direction, JumpMap, MoveTable, Pattern,
    Profile, Rect, Regions, STRAIGHT, TerrainId, Topology,
    bit_rows::Columns64,
    clearance::Clearance,
    coarse::{CoarseCosts, CoarseGraph},
    cost_borders,
    jump_map::JumpMapSource,
    region::Joints,
    topology::DistanceWeights,
};

/// Terrain bytes (row-major) and a predicate for blocked cells: the data that a layer is built from.
pub(crate) type Source<'a, F> = (&'a [u8], F);

/// Fixed-point precision of terrain speeds, relative to the fastest, in bits.
const SPEED_BITS: u32 = 16;

/// A [`NavGrid`](crate::nav::grid::NavGrid) as seen by one profile.
#[derive(Clone, Debug)]
pub struct Layer {
    width: u32,
    height: u32,
    bits: BitRows,
    /// Passability of single cells and costliest terrain for large units; `None` for units of one cell.
    clearance: Option<Box<Clearance>>,
    regions: Regions,
    /// Cells next to terrain of another cost, if searches may jump and the terrain is weighted.
    cost_borders: Option<BitRows>,
    /// Jump map, if the rules do not allow cutting corners.
    jumps: Option<Box<JumpMap>>,
    /// Coarse graph, if connected regions are joined by straight steps only.
    coarse: Option<Box<CoarseGraph>>,
    moves: &'static MoveTable,
    /// Cost of each terrain in sixteenths, 0 = impassable.
    costs: Box<[u32; 256]>,
    /// By how many units each terrain exceeds the cheapest one.
    excess: Box<[u32; 256]>,
    unit: u32,
    uniform: bool,
    min_cost: u32,
    max_cost: u32,
    adjacency: Adjacency,
    distance_weights: DistanceWeights,
}

impl Layer {
    pub(crate) fn build(
        width: u32,
        height: u32,
        (topology, profile): (Topology, &Profile),
        source: Source<'_, impl Fn(u32, u32) -> bool>,
    ) -> Self {
        let adjacency = Adjacency::of(topology, profile.neighborhood());
        let mut costs = Box::new([0; 256]);
        for (terrain, cost) in costs.iter_mut().enumerate() {
            *cost = u32::from(profile.cost(TerrainId(terrain as u8)));
        }
        let unit = profile.cost_unit();
        let min_cost = u32::from(profile.min_cost().unwrap_or(0));
        let excess = Box::new(costs.map(|cost| cost.saturating_sub(min_cost) / unit));
        let joins_diagonally =
            adjacency == Adjacency::Eight && profile.corner_rule() == CornerRule::Allow;
        let joints = Joints {
            left: joins_diagonally || adjacency == Adjacency::Six,
            right: joins_diagonally,
        };
        let mut layer = Self {
            width,
            height,
            bits: BitRows::new(width, height),
            clearance: match topology {
                Topology::Square => Clearance::of(profile, width, height),
                Topology::Hexagonal => None,
            },
            regions: Regions::new(width, height, joints),
            cost_borders: None,
            jumps: None,
            coarse: None,
            moves: MoveTable::of(profile.corner_rule(), adjacency),
            costs,
            excess,
            unit,
            uniform: profile.is_uniform(),
            min_cost,
            max_cost: u32::from(profile.max_cost().unwrap_or(0)),
            adjacency,
            distance_weights: adjacency.distance_weights(),
        };
        layer.read((0, 0, width, height), &source);
        layer.regions.rebuild(&layer.bits);
        if joints.are_straight() {
            layer.build_coarse(source.0);
        }
        let keeps_corners =
            adjacency != Adjacency::Eight || profile.corner_rule() == CornerRule::Forbid;
        if keeps_corners && layer.longest_jump() <= u64::from(u32::MAX / 2) {
            layer.build_jumps(source.0);
        }
        layer
    }

    /// Returns the maximum growth of f along a single jump: its cost plus the decrease of the heuristic it
    /// may undo. Searches count in 32 bits.
    pub(crate) fn longest_jump(&self) -> u64 {
        let (_, highest) = self.cost_sum_range();
        let (width, height) = (u64::from(self.width), u64::from(self.height));
        let longest = match self.adjacency {
            Adjacency::Eight => u64::from(DIAGONAL) * (width.max(height) + 1),
            Adjacency::Four | Adjacency::Six => u64::from(STRAIGHT) * (width + height),
        };
        2 * u64::from(highest) * longest
    }

    fn build_coarse(&mut self, terrain: &[u8]) {
        let lowest = (!self.uniform).then_some(self.cost_sum_range().0);
        let costs = CoarseCosts { short_weight: self.distance_weights.short, lowest };
        let ground = self.ground(terrain);
        let excess = |x, y| self.typical_excess(x, y, ground);
        let seen = (&self.bits, &self.regions);
        let graph = CoarseGraph::build((self.width, self.height), costs, seen, excess);
        self.coarse = Some(Box::new(graph));
    }

    /// Returns by how much the passable cells of a chunk exceed the cheapest terrain, in sixteenths of a
    /// unit; `None` if none is passable. Uses the harmonic mean of their costs, because paths favor cheap
    /// terrain.
    fn typical_excess(&self, chunk_x: u32, chunk_y: u32, ground: &[u8]) -> Option<u32> {
        let (x, y) = (chunk_x * CHUNK, chunk_y * CHUNK);
        let lowest = u64::from(self.cost_sum_range().0);
        let (mut speeds, mut count) = (0, 0);
        for y in y..(y + CHUNK).min(self.height) {
            let row = y as usize * self.width as usize + x as usize;
            let mut bits = self.bits.cells_32(x, y);
            count += u64::from(bits.count_ones());
            while bits != 0 {
                let excess = self.excess(ground[row + bits.trailing_zeros() as usize]);
                speeds += (lowest << SPEED_BITS) / (lowest + 2 * u64::from(excess));
                bits &= bits - 1;
            }
        }
        let sum = ((count * lowest) << SPEED_BITS).checked_div(speeds)?;
        Some((8 * (sum - lowest)) as u32)
    }

    fn build_jumps(&mut self, terrain: &[u8]) {
        let (width, height) = (self.width, self.height);
        if !self.uniform {
            self.cost_borders = Some(BitRows::new(width, height));
            self.update_cost_borders((0, 0, width, height), terrain);
        }
        let source =
            JumpMapSource { passable: &self.bits, cost_borders: self.cost_borders.as_ref() };
        self.jumps = Some(Box::new(JumpMap::build(width, height, self.adjacency, source)));
    }

    /// Updates the layer after edits in `rects` (column, row, width, height from the origin; each on the
    /// grid).
    pub(crate) fn update(
        &mut self,
        rects: impl Iterator<Item = Rect>,
        source: Source<'_, impl Fn(u32, u32) -> bool>,
    ) {
        let read: Vec<(Rect, bool)> = rects.map(|rect| self.read(rect, &source)).collect();
        let changed = |is_uniform: bool| {
            let rects = read.iter().filter(move |&&(_, has_changed)| has_changed || !is_uniform);
            rects.map(|&(rect, _)| rect)
        };
        self.regions.repair(changed(true), &self.bits);
        if let Some(mut coarse) = self.coarse.take() {
            let (ground, seen) = (self.ground(source.0), (&self.bits, &self.regions));
            let excess = |x, y| self.typical_excess(x, y, ground);
            coarse.repair(changed(self.uniform), seen, excess);
            self.coarse = Some(coarse);
        }
        let mut rescanned = Vec::new();
        for &(rect, has_changed) in &read {
            // Cost borders depend on neighbors: all bits must be read before.
            let has_borders = self.cost_borders.is_some();
            let rect = if has_borders { self.with_border(rect) } else { rect };
            if self.update_cost_borders(rect, source.0) || has_changed {
                rescanned.push(rect);
            }
        }
        self.update_jumps(&rescanned);
    }

    /// Returns a copy for distance fields, which need no coarse graph, with no cell blocked in `freed`; no other cell may be
    /// blocked.
    pub(crate) fn without_coarse(&self, freed: &[Rect], terrain: &[u8]) -> Self {
        let mut layer = Self {
            bits: self.bits.clone(),
            clearance: self.clearance.clone(),
            regions: self.regions.clone(),
            cost_borders: self.cost_borders.clone(),
            jumps: self.jumps.clone(),
            coarse: None,
            costs: self.costs.clone(),
            excess: self.excess.clone(),
            ..*self
        };
        layer.update(freed.iter().copied(), (terrain, |_, _| false));
        layer
    }

    /// Returns the rectangle extended by one cell on each side, clipped to the grid.
    fn with_border(&self, (x, y, width, height): Rect) -> Rect {
        let (left, low) = (x.saturating_sub(1), y.saturating_sub(1));
        let (right, high) = ((x + width + 1).min(self.width), (y + height + 1).min(self.height));
        (left, low, right - left, high - low)
    }

    /// Recomputes the cost borders in a rectangle; returns whether any has changed.
    fn update_cost_borders(&mut self, rect: Rect, terrain: &[u8]) -> bool {
        let Some(mut cost_borders) = self.cost_borders.take() else {
            return false;
        };
        let ground = self.ground(terrain);
        let cost = |x, y| match self.bits.get(x, y) {
            true => self.costs[usize::from(ground[y as usize * self.width as usize + x as usize])],
            false => 0,
        };
        let changed = cost_borders::update(&mut cost_borders, self.size(), rect, cost);
        self.cost_borders = Some(cost_borders);
        changed
    }

    /// Repairs the jump map around the rectangles, or rebuilds it if that is cheaper.
    fn update_jumps(&mut self, changed: &[Rect]) {
        let Some(jumps) = &mut self.jumps else {
            return;
        };
        let source =
            JumpMapSource { passable: &self.bits, cost_borders: self.cost_borders.as_ref() };
        // A repair costs about as much as building a few hundred cells, plus a cost per cell of its area.
        let area = |&(_, _, width, height): &Rect| 300 + 30 * u64::from(width) * u64::from(height);
        if changed.iter().map(area).sum::<u64>() > u64::from(self.width) * u64::from(self.height) {
            **jumps = JumpMap::build(self.width, self.height, self.adjacency, source);
        } else {
            changed.iter().for_each(|&rect| jumps.update(rect, source));
        }
    }

    /// Returns whether a unit of this profile can stand on the cell `(x, y)`, counted from the origin; a
    /// large unit with its [anchor](Profile::size) there.
    #[inline]
    #[must_use]
    pub fn is_passable(&self, x: u32, y: u32) -> bool {
        x < self.width && y < self.height && self.bits.get(x, y)
    }

    /// Returns whether a step from the passable cell `(x, y)` in `direction` is legal.
    #[must_use]
    pub fn can_step(&self, x: u32, y: u32, direction: Direction) -> bool {
        self.is_passable(x, y) && self.moves.legal(self.pattern(x, y)) & 1 << direction as u8 != 0
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
        self.bits.bytes() + clearance + cost_borders + self.regions.bytes() + coarse + jumps + 2_048
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

    /// Returns whether any cell is impassable in a rectangle on the grid, fewer than 64 columns wide.
    pub(crate) fn has_wall(&self, columns: Range<u32>, mut rows: Range<u32>) -> bool {
        let cells = self.bits.columns_from(columns.start as i32);
        let all = (1 << columns.len()) - 1;
        rows.any(|y| cells.read(y as i32) & all != all)
    }

    #[inline(always)]
    pub(crate) fn pattern(&self, x: u32, y: u32) -> Pattern {
        self.bits.pattern(x, y)
    }

    #[inline]
    pub(crate) const fn moves(&self) -> &'static MoveTable {
        self.moves
    }

    /// Returns the cells where scans stop, if searches may jump.
    #[inline]
    pub(crate) fn jumps(&self) -> Option<&JumpMap> {
        self.jumps.as_deref()
    }

    /// Returns the cells beside cells of another cost; `None` where searches may not jump or all costs are the same.
    #[inline]
    pub(crate) const fn cost_borders(&self) -> Option<&BitRows> {
        self.cost_borders.as_ref()
    }

    /// Returns the coarse graph; `None` if regions are joined diagonally.
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

    pub(crate) const fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// Returns the lowest and highest sum of two passable terrain costs, in units.
    pub(crate) const fn cost_sum_range(&self) -> (u32, u32) {
        (2 * self.min_cost / self.unit, 2 * self.max_cost / self.unit)
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

    /// Reads a rectangle of cells from the source. Returns the rectangle whose cells may have changed for a
    /// unit, and whether any bit has changed.
    fn read(&mut self, rect: Rect, source: &Source<'_, impl Fn(u32, u32) -> bool>) -> (Rect, bool) {
        let Some(clearance) = &mut self.clearance else {
            return (rect, read_cells(&mut self.bits, rect, self.width, &self.costs, source));
        };
        let anchors = clearance.anchors(rect);
        clearance.read_costliest(anchors, source.0);
        let has_changed = read_cells(clearance.base_mut(), rect, self.width, &self.costs, source)
            && clearance.erode(anchors, &mut self.bits);
        (anchors, has_changed)
    }
}

/// Reads from the source which cells of a rectangle are passable; returns whether any bit has changed.
fn read_cells(
    bits: &mut BitRows,
    (x, y, width, height): Rect,
    per_row: u32,
    costs: &[u32; 256],
    (terrain, blocked): &Source<'_, impl Fn(u32, u32) -> bool>,
) -> bool {
    let mut changed = false;
    for y in y..y + height {
        let row = y as usize * per_row as usize;
        let passable = (x..x + width)
            .map(|x| costs[usize::from(terrain[row + x as usize])] > 0 && !blocked(x, y));
        changed |= bits.set_row(x, y, passable);
    }
    changed
}
