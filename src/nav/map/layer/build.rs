//! Building a layer, and updating it after edits.
//!
//! Input: terrain bytes, blocked cells, edges and the profile; the rectangles edited. Output: a layer that agrees with them. An
//! update reads the rectangles again and repairs what follows from them in the order of the data flow: passable cells, edges,
//! regions, coarse graph, cost borders, jump map.

use super::{Layer, Source};
use crate::nav::{
    Adjacency, BitRows, CHUNK, CornerRule, DIAGONAL, EdgeId, Footprint, JumpMap, MoveTable,
    Profile, Rect, Regions, STRAIGHT, TerrainId, Topology,
    clearance::Clearance,
    coarse::{CoarseCosts, CoarseGraph},
    cost_borders,
    edges::{
        EdgeMap,
        crossings::{Crossings, EdgeCosts},
    },
    jump_map::JumpMapSource,
    region::{Connections, Joints},
};

/// Fixed-point precision of terrain speeds, relative to the fastest, in bits.
const SPEED_BITS: u32 = 16;

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
            clearance: Clearance::of(topology, profile, (width, height)),
            crossings: None,
            regions: Regions::new(width, height, joints),
            cost_borders: None,
            jumps: None,
            coarse: None,
            corner_rule: profile.corner_rule(),
            moves: MoveTable::of(profile.corner_rule(), adjacency),
            costs,
            excess,
            unit,
            uniform: profile.is_uniform(),
            edge_costs: EdgeCosts::of(profile),
            min_cost,
            max_cost: u32::from(profile.max_cost().unwrap_or(0)),
            adjacency,
            distance_weights: adjacency.distance_weights(),
        };
        layer.notice_edges(source.edges, source.edges.iter().map(|(.., edge)| edge));
        layer.read((0, 0, width, height), &source);
        layer.repair_regions(None);
        layer.build_coarse(source.terrain);
        let keeps_corners =
            adjacency != Adjacency::Eight || profile.corner_rule() == CornerRule::Forbid;
        if keeps_corners && layer.longest_jump() <= u64::from(u32::MAX / 2) {
            layer.build_jumps(source.terrain);
        }
        layer
    }

    /// Returns the maximum growth of f along a single jump: the cost of the jump plus the rise of h, which
    /// is at most as much. Searches count in 32 bits.
    pub(crate) fn longest_jump(&self) -> u64 {
        let (_, highest) = self.cost_sum_range();
        let (width, height) = (u64::from(self.width), u64::from(self.height));
        let longest = match self.adjacency {
            Adjacency::Eight => u64::from(DIAGONAL) * (width.max(height) + 1),
            Adjacency::Four | Adjacency::Six => u64::from(STRAIGHT) * (width + height),
        };
        // One step of a jump may cross edges.
        let crossing = u64::from(DIAGONAL) * 2 * u64::from(self.edge_costs.highest());
        2 * (u64::from(highest) * longest + crossing)
    }

    fn build_coarse(&mut self, terrain: &[u8]) {
        let costs = CoarseCosts {
            weights: self.distance_weights,
            lowest: self.cost_sum_range().0.max(1),
            is_uniform: self.uniform,
            has_costly_edges: self.edge_costs.highest() > 0,
        };
        let ground = self.ground(terrain);
        let excess = |x, y| self.typical_excess(x, y, ground);
        let seen = (self.connections(), &self.regions);
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
        if !self.has_uniform_steps() {
            self.cost_borders = Some(BitRows::new(width, height));
            self.update_cost_borders((0, 0, width, height), terrain);
        }
        let map = JumpMap::build(width, height, self.adjacency, self.jump_source());
        self.jumps = Some(Box::new(map));
    }

    /// Updates the layer after edits in `rects` (column, row, width, height from the origin; each on the
    /// grid).
    pub(crate) fn update(
        &mut self,
        rects: impl Iterator<Item = Rect>,
        source: Source<'_, impl Fn(u32, u32) -> bool>,
    ) {
        let rects: Vec<Rect> = rects.collect();
        self.notice_edges_in(&rects, &source);
        let read: Vec<(Rect, bool)> = rects.iter().map(|&rect| self.read(rect, &source)).collect();
        let changed = |is_uniform: bool| {
            let rects = read.iter().filter(move |&&(_, has_changed)| has_changed || !is_uniform);
            rects.map(|&(rect, _)| rect)
        };
        self.repair_regions(Some(&changed(true).collect::<Vec<_>>()));
        if let Some(mut coarse) = self.coarse.take() {
            let (ground, seen) = (self.ground(source.terrain), (self.connections(), &self.regions));
            let excess = |x, y| self.typical_excess(x, y, ground);
            coarse.repair(changed(self.uniform), seen, excess);
            self.coarse = Some(coarse);
        }
        let mut rescanned = Vec::new();
        for &(rect, has_changed) in &read {
            // Cost borders depend on neighbors: all bits must be read before.
            let has_borders = self.cost_borders.is_some();
            let rect = if has_borders { self.with_border(rect) } else { rect };
            if self.update_cost_borders(rect, source.terrain) || has_changed {
                rescanned.push(rect);
            }
        }
        self.update_jumps(&rescanned);
    }

    /// Returns a copy for distance fields, without coarse graph and blockers: `freed` must contain all blocked cells.
    pub(crate) fn without_coarse(
        &self,
        freed: &[Rect],
        (terrain, edges): (&[u8], &EdgeMap),
    ) -> Self {
        let mut layer = Self {
            bits: self.bits.clone(),
            clearance: self.clearance.clone(),
            crossings: self.crossings.clone(),
            edge_costs: self.edge_costs.clone(),
            regions: self.regions.clone(),
            cost_borders: self.cost_borders.clone(),
            jumps: self.jumps.clone(),
            coarse: None,
            costs: self.costs.clone(),
            excess: self.excess.clone(),
            ..*self
        };
        let source = Source { terrain, edges, is_blocked: |_, _| false };
        layer.update(freed.iter().copied(), source);
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
        let is_beside_edge = |x, y| self.is_beside_edge(x, y);
        let changed =
            cost_borders::update(&mut cost_borders, self.size(), rect, (cost, is_beside_edge));
        self.cost_borders = Some(cost_borders);
        changed
    }

    /// Repairs the jump map around the rectangles, or rebuilds it if that is cheaper.
    fn update_jumps(&mut self, changed: &[Rect]) {
        let Some(mut jumps) = self.jumps.take() else {
            return;
        };
        let source = self.jump_source();
        let cells = u64::from(self.width) * u64::from(self.height);
        // A repair costs about as much as building a few hundred cells, plus a cost per cell of its area, and (measured) as much
        // as four for each cell along its lines that changes. How many these are shows only then.
        let area = |&(_, _, width, height): &Rect| 300 + 30 * u64::from(width) * u64::from(height);
        let mut work = changed.iter().map(area).sum::<u64>();
        for &rect in changed {
            if work > cells {
                *jumps = JumpMap::build(self.width, self.height, self.adjacency, source);
                break;
            }
            work += 4 * jumps.update(rect, source);
        }
        self.jumps = Some(jumps);
    }

    fn jump_source(&self) -> JumpMapSource<'_> {
        // Only on uniform cost: elsewhere, a cell beside a fence may also be on a border of terrain.
        let crossings = self.crossings.as_deref().filter(|_| self.uniform);
        JumpMapSource {
            passable: &self.bits,
            cost_borders: self.cost_borders.as_ref(),
            along: crossings.map(Crossings::along),
        }
    }

    /// Creates the crossings if there are none yet and any of these edges matters to the profile. They are filled by
    /// [`read`](Self::read).
    fn notice_edges(&mut self, edges: &EdgeMap, mut kinds: impl Iterator<Item = EdgeId>) {
        let has_none = self.crossings.is_none() && !edges.is_empty();
        if has_none && kinds.any(|edge| self.edge_costs.matters(edge)) {
            let single = Footprint::new(self.topology(), 1);
            let footprint = self.clearance.as_deref().map_or(single, Clearance::footprint);
            let shape = (self.adjacency, self.corner_rule, footprint);
            self.crossings = Some(Box::new(Crossings::new(self.size(), shape)));
        }
    }

    /// The same for the edges in rectangles. The first edge makes a jump map that has no cost borders useless.
    fn notice_edges_in(&mut self, rects: &[Rect], source: &Source<'_, impl Fn(u32, u32) -> bool>) {
        if self.crossings.is_some() || source.edges.is_empty() {
            return;
        }
        let cells = rects.iter().flat_map(|&(x, y, width, height)| {
            (y..y + height).flat_map(move |y| (x..x + width).map(move |x| (x, y)))
        });
        self.notice_edges(source.edges, cells.flat_map(|(x, y)| source.edges.get(x, y)));
        if self.crossings.is_some() && self.jumps.is_some() && self.cost_borders.is_none() {
            self.build_jumps(source.terrain);
        }
    }

    fn connections(&self) -> Connections<'_> {
        Connections::new(&self.bits, self.crossings.as_deref())
    }

    /// Updates the connected regions after changes in rectangles, or everywhere.
    fn repair_regions(&mut self, changed: Option<&[Rect]>) {
        let connections = Connections::new(&self.bits, self.crossings.as_deref());
        match changed {
            Some(rects) => self.regions.repair(rects.iter().copied(), connections),
            None => self.regions.rebuild(connections),
        }
    }

    /// Reads a rectangle of cells from the source. Returns the rectangle whose cells may have changed for a
    /// unit, and whether any bit or any edge has changed.
    fn read(&mut self, rect: Rect, source: &Source<'_, impl Fn(u32, u32) -> bool>) -> (Rect, bool) {
        let Some(clearance) = &mut self.clearance else {
            let changed = read_cells(&mut self.bits, rect, &self.costs, (self.width, source));
            return self.read_edges(rect, source.edges, changed);
        };
        let anchors = clearance.anchors(rect);
        clearance.read_costliest(anchors, source.terrain);
        let base = clearance.base_mut();
        let has_changed = read_cells(base, rect, &self.costs, (self.width, source))
            | clearance.read_edges(rect, source.edges, &self.edge_costs);
        let has_changed = has_changed && clearance.erode(anchors, &mut self.bits);
        self.read_edges(anchors, source.edges, has_changed)
    }

    /// Reads the edges of a rectangle of anchors; `has_changed` says whether bits have. Returns the rectangle in which
    /// something may have changed, and whether it has. Crossings are also refreshed in a border around the anchors. A change
    /// there must be reported here: another rectangle of the edit that reads it again would not notice it.
    fn read_edges(&mut self, anchors: Rect, edges: &EdgeMap, has_changed: bool) -> (Rect, bool) {
        let around = self.with_border(anchors);
        let (edges, bits) = ((edges, &self.edge_costs), &self.bits);
        let refreshed = self.crossings.as_mut().map(|known| known.refresh(around, edges, bits));
        if refreshed == Some(true) { (around, true) } else { (anchors, has_changed) }
    }
}

/// Reads from the source which cells of a rectangle are passable; returns whether any bit has changed.
fn read_cells(
    bits: &mut BitRows,
    (x, y, width, height): Rect,
    costs: &[u32; 256],
    (per_row, source): (u32, &Source<'_, impl Fn(u32, u32) -> bool>),
) -> bool {
    let mut changed = false;
    for y in y..y + height {
        let row = y as usize * per_row as usize;
        let passable = (x..x + width).map(|x| {
            costs[usize::from(source.terrain[row + x as usize])] > 0 && !(source.is_blocked)(x, y)
        });
        changed |= bits.set_row(x, y, passable);
    }
    changed
}
