//! The portals of all chunks and the terrain cost of each chunk, and [fords](Fords) where edges cost something.
//!
//! Input: passable cells, components and the mean cost of every chunk; later, the rectangles edited. Output: the
//! exits of a component of a chunk, and the cost of crossing the chunk in a straight line. After an edit, the
//! portals of the edited chunks and of those to their left and below are read again, and the fords of all chunks around them;
//! where portals lead past corners, also those of all chunks around that may own one. The result equals a rebuild.
//!
//! Two portals of a chunk are connected inside it exactly if their components there are the same: portals
//! carry both their components, so a search need not look into the regions.
//!
//! All portals are in one list, those of a chunk together. A chunk that outgrows its capacity in the list
//! moves to a range of twice the capacity at the end; the ranges it has left behind are together smaller than
//! its current one, so they stay unused. Memory: 8 bytes per chunk, 4 per portal (an open chunk has two), 2
//! per chunk where terrain is weighted: 0.02 bytes per cell on open terrain, about 0.05 where half the map is
//! rocks; at most 0.27, if edges make every cell of each border a separate crossing, and twice as many where slanted steps join
//! cells.

use std::collections::BTreeSet;

use super::{
    BORDER_HALF_CELL, CHUNK_HALF_CELLS, HalfCell,
    fords::{Ford, Fords},
    portals::{self, ChunkPortals, Portal},
};
use crate::nav::{
    Direction, OFFSETS, Rect, Regions, chunks_in,
    region::{Connections, chunks_at},
    topology::DistanceWeights,
};

/// Cost of the cheapest terrain; other costs are relative to it.
pub(super) const UNIT_COST: u32 = 256;
/// More expensive terrain counts as this, so that costs fit into 32 bits.
const MAX_COST: u32 = 64 * UNIT_COST;

/// How the layer counts distances and costs.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CoarseCosts {
    pub(crate) weights: DistanceWeights,
    /// Lowest sum of two terrain costs, in units: at least 1.
    pub(crate) lowest: u32,
    /// Whether all terrain costs the same.
    pub(crate) is_uniform: bool,
    /// Whether there may be edges that cost something.
    pub(crate) has_costly_edges: bool,
}

impl CoarseCosts {
    /// Converts the cost of the edges that a step crosses from units to half cells of the cheapest terrain.
    pub(super) fn of_crossing(self, direction: Direction, crossing: u32) -> u32 {
        let (dx, dy) = direction.offset();
        let cost = u64::from(self.weights.distance(2 * dx, 2 * dy)) * u64::from(crossing);
        u32::try_from(cost / u64::from(self.lowest)).unwrap_or(u32::MAX)
    }
}

/// Offsets to the other chunks whose portals depend on a chunk: those to the left and below; with portals past corners, also
/// those that have such a portal into the chunk (southeast, northeast) or a way around such a portal through it.
const OWNERS: [(i32, i32); 5] = [(-1, 0), (0, -1), (-1, 1), (0, 1), (-1, -1)];

/// Portals and terrain costs of all chunks; see the [module](self).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CoarseGraph {
    /// Rows of cells.
    height: u32,
    /// Size in chunks.
    pub(crate) chunks: (u32, u32),
    costs: CoarseCosts,
    ranges: Vec<PortalRange>,
    portals: Vec<Portal>,
    /// Mean cost of the passable cells of each chunk; empty on uniform terrain.
    chunk_costs: Vec<u16>,
    /// Whether there may be portals past corners.
    has_corners: bool,
    /// `None` as long as there are no edges, and where crossing one costs nothing.
    fords: Option<Box<Fords>>,
    /// Counts repairs.
    pub(super) revision: u64,
}

/// The range of a chunk's portals in the list: first those to the right, then those up, then those past corners.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct PortalRange {
    first: u32,
    capacity: u8,
    /// End of those to the right.
    right: u8,
    /// End of those to the right or up.
    beside: u8,
    count: u8,
}

/// A portal as seen from one of its two chunks, or a ford.
pub(super) struct Exit {
    /// The chunk that has the portal on its right or upper border or on a corner there.
    pub(super) owner: usize,
    /// Index of the portal among the owner's portals and fords, and their number.
    pub(super) index: u32,
    pub(super) count: u32,
    pub(super) position: HalfCell,
    /// Component on the other side.
    pub(super) label: u16,
    /// The step across.
    pub(super) direction: Direction,
    /// What crossing edges costs.
    pub(super) cost: u32,
}

impl CoarseGraph {
    /// Reads everything. `size` is in cells. `mean_excess` returns by how much the passable cells of the
    /// chunk in a column and row (of chunks) exceed the cheapest terrain on average, in sixteenths of the
    /// layer's unit; `None` if none is passable. It is not called on uniform terrain.
    pub(crate) fn build(
        size: (u32, u32),
        costs: CoarseCosts,
        (connections, regions): (Connections<'_>, &Regions),
        mean_excess: impl Fn(u32, u32) -> Option<u32>,
    ) -> Self {
        let chunks = regions.chunks;
        let count = chunks.0 * chunks.1;
        let weighted_chunks = if costs.is_uniform { 0 } else { count as usize };
        let mut graph = Self {
            height: size.1,
            chunks,
            costs,
            ranges: vec![PortalRange::default(); count as usize],
            portals: Vec::new(),
            chunk_costs: vec![0; weighted_chunks],
            has_corners: !regions.joints().are_straight(),
            fords: None,
            revision: 0,
        };
        let all = (0..count).collect();
        graph.repair_fords(&all, (connections, regions));
        for chunk in all {
            graph.read_chunk_cost(chunk, &mean_excess);
            graph.read_portals(chunk, (connections, regions));
        }
        graph.portals.shrink_to_fit();
        graph
    }

    /// Reads the chunks of edited rectangles (column, row, width, height) again; `connections` and
    /// `regions` are up to date. For `mean_excess` see [`build`](Self::build).
    pub(crate) fn repair(
        &mut self,
        edited: impl Iterator<Item = Rect>,
        (connections, regions): (Connections<'_>, &Regions),
        mean_excess: impl Fn(u32, u32) -> Option<u32>,
    ) {
        let per_row = self.chunks.0;
        let edited: BTreeSet<u32> = edited.flat_map(|rect| chunks_in(rect, per_row)).collect();
        self.revision += u64::from(!edited.is_empty());
        let edited = self.repair_fords(&edited, (connections, regions)).unwrap_or(edited);
        let mut around = edited.clone();
        let offsets: &[(i32, i32)] = if self.has_corners { &OWNERS } else { &OWNERS[..2] };
        for chunk in edited {
            self.read_chunk_cost(chunk, &mean_excess);
            around.extend(chunks_at(offsets, self.chunks, chunk));
        }
        for chunk in around {
            self.read_portals(chunk, (connections, regions));
        }
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.ranges.len() * size_of::<PortalRange>()
            + self.portals.capacity() * size_of::<Portal>()
            + 2 * self.chunk_costs.len()
            + self.fords.as_ref().map_or(0, |fords| fords.bytes())
    }

    /// Returns the index of a chunk.
    #[inline]
    pub(super) const fn chunk_index(&self, (x, y): (u32, u32)) -> usize {
        y as usize * self.chunks.0 as usize + x as usize
    }

    /// Returns the weight of the shortest path over open terrain, between positions in half cells.
    #[inline]
    pub(super) fn distance(&self, from: HalfCell, to: HalfCell) -> u32 {
        let difference = |from: u16, to: u16| i32::from(to) - i32::from(from);
        self.costs.weights.distance(difference(from.x, to.x), difference(from.y, to.y))
    }

    /// Returns the terrain cost of a chunk, in parts of which [`UNIT_COST`] is the cheapest terrain.
    #[inline]
    pub(super) fn chunk_cost(&self, chunk: (u32, u32)) -> u32 {
        self.chunk_costs.get(self.chunk_index(chunk)).map_or(UNIT_COST, |&cost| u32::from(cost))
    }

    /// Returns a lower bound on the terrain costs of all chunks.
    pub(super) fn lowest_chunk_cost(&self) -> u32 {
        self.chunk_costs.iter().copied().reduce(u16::min).map_or(UNIT_COST, u32::from)
    }

    /// Visits the portals and fords that lead out of a component of a chunk.
    #[inline]
    pub(super) fn for_each_exit(
        &self,
        (x, y): (u32, u32),
        label: u16,
        mut visit: impl FnMut(Exit),
    ) {
        self.exits_of::<true, true>((x, y), label, &mut visit);
        self.exits_of::<false, true>((x, y), label, &mut visit);
        if x > 0 {
            self.exits_of::<true, false>((x - 1, y), label, &mut visit);
        }
        if y > 0 {
            self.exits_of::<false, false>((x, y - 1), label, &mut visit);
        }
        if self.has_corners {
            self.exits_past_corners((x, y), label, &mut visit);
        }
        if let Some(fords) = &self.fords {
            self.exits_over_fords((x, y), (label, fords), &mut visit);
        }
    }

    /// Visits the fords that lead out of a component of a chunk.
    #[inline(never)]
    fn exits_over_fords(
        &self,
        chunk: (u32, u32),
        (label, fords): (u16, &Fords),
        visit: &mut impl FnMut(Exit),
    ) {
        let owner = self.chunk_index(chunk);
        let (portals, count) = (u32::from(self.ranges[owner].count), self.exit_count(owner));
        for (number, ford) in fords.leading_out(owner, label) {
            let (index, &Ford { position, far: label, direction, cost, .. }) =
                (portals + number, ford);
            visit(Exit { owner, index, count, position, label, direction, cost });
        }
    }

    /// Returns the number of portals and fords that a chunk owns.
    #[inline]
    fn exit_count(&self, owner: usize) -> u32 {
        let fords = self.fords.as_ref().map_or(0, |fords| fords.count(owner));
        u32::from(self.ranges[owner].count) + fords
    }

    /// Visits the portals on the right or upper border of `owner` that lead out of it (`AHEAD`), or back into
    /// it.
    #[inline]
    fn exits_of<const RIGHT: bool, const AHEAD: bool>(
        &self,
        owner: (u32, u32),
        label: u16,
        visit: &mut impl FnMut(Exit),
    ) {
        let owner_index = self.chunk_index(owner);
        let range = self.ranges[owner_index];
        let (from, to) = if RIGHT { (0, range.right) } else { (range.right, range.beside) };
        let first = range.first as usize;
        let portals = &self.portals[first + usize::from(from)..first + usize::from(to)];
        let (x, y) = (owner.0 as u16 * CHUNK_HALF_CELLS, owner.1 as u16 * CHUNK_HALF_CELLS);
        for (index, portal) in portals.iter().enumerate() {
            let Some((far, direction)) = portal.seen_from::<AHEAD>(label) else {
                continue;
            };
            let along = portal.along();
            let (dx, dy) =
                if RIGHT { (BORDER_HALF_CELL, along) } else { (along, BORDER_HALF_CELL) };
            visit(Exit {
                owner: owner_index,
                index: u32::from(from) + index as u32,
                count: self.exit_count(owner_index),
                position: HalfCell { x: x + dx, y: y + dy },
                label: far,
                direction,
                cost: 0,
            });
        }
    }

    /// Visits the portals past the corners of a chunk.
    #[inline(never)]
    fn exits_past_corners(&self, chunk: (u32, u32), label: u16, visit: &mut impl FnMut(Exit)) {
        use Direction::{NorthEast, SouthEast};
        for direction in [SouthEast, NorthEast] {
            self.exits_past_corner::<true>(chunk, (label, direction), visit);
            let (x, y) = direction.opposite().cell_at(chunk.0, chunk.1, 1);
            if x < self.chunks.0 && y < self.chunks.1 {
                self.exits_past_corner::<false>((x, y), (label, direction), visit);
            }
        }
    }

    /// Visits the portals of `owner` past one of its corners, out of it or back into it.
    fn exits_past_corner<const AHEAD: bool>(
        &self,
        owner: (u32, u32),
        (label, past): (u16, Direction),
        visit: &mut impl FnMut(Exit),
    ) {
        let owner_index = self.chunk_index(owner);
        let range = self.ranges[owner_index];
        for index in u32::from(range.beside)..u32::from(range.count) {
            let portal = self.portals[(range.first + index) as usize];
            let seen = portal.seen_from::<AHEAD>(label).filter(|_| portal.direction() == past);
            let Some((label, direction)) = seen else {
                continue;
            };
            // The chunk on whose upper right corner it lies.
            let row = owner.1 as u16 - u16::from(past == Direction::SouthEast);
            let at = |chunk: u16| chunk * CHUNK_HALF_CELLS + BORDER_HALF_CELL;
            let position = HalfCell { x: at(owner.0 as u16), y: at(row) };
            let count = self.exit_count(owner_index);
            visit(Exit { owner: owner_index, index, count, position, label, direction, cost: 0 });
        }
    }

    fn read_chunk_cost(&mut self, chunk: u32, mean_excess: &impl Fn(u32, u32) -> Option<u32>) {
        if self.costs.is_uniform {
            return;
        }
        let excess = mean_excess(chunk % self.chunks.0, chunk / self.chunks.0);
        // No path enters a chunk without passable cells.
        let cost = excess.map_or(MAX_COST, |excess| {
            // A step costs the lowest sum and twice the mean excess.
            let more = excess.saturating_mul(2 * UNIT_COST / 16) / self.costs.lowest;
            UNIT_COST + more.min(MAX_COST - UNIT_COST)
        });
        self.chunk_costs[chunk as usize] = cost as u16;
    }

    /// If fords are needed and missing, creates them and returns all chunks. Otherwise reads the fords in and around edited
    /// chunks again.
    fn repair_fords(
        &mut self,
        edited: &BTreeSet<u32>,
        (connections, regions): (Connections<'_>, &Regions),
    ) -> Option<BTreeSet<u32>> {
        if !self.costs.has_costly_edges || connections.crossings.is_none() {
            return None;
        }
        let created = self.fords.is_none().then(|| (0..self.ranges.len() as u32).collect());
        let edited = created.as_ref().unwrap_or(edited);
        let around = edited.iter().flat_map(|&chunk| chunks_at(&OFFSETS, self.chunks, chunk));
        let around: BTreeSet<u32> = around.chain(edited.iter().copied()).collect();
        let fords =
            self.fords.get_or_insert_with(|| Box::new(Fords::new(regions.size, regions.joints())));
        fords.repair(edited, around.into_iter(), (connections, self.costs));
        created
    }

    /// Returns the components between which there are portals: those of the regions, or those between fords.
    pub(super) fn components<'a>(&'a self, regions: &'a Regions) -> &'a Regions {
        self.fords.as_ref().map_or(regions, |fords| &fords.components)
    }

    fn read_portals(&mut self, chunk: u32, (connections, regions): (Connections<'_>, &Regions)) {
        let position = (chunk % self.chunks.0, chunk / self.chunks.0);
        let connections =
            if self.fords.is_some() { connections.without_costly() } else { connections };
        let regions = self.components(regions);
        let ChunkPortals { portals, right, beside } =
            portals::read_portals(position, self.height, connections, regions);
        let range = &mut self.ranges[chunk as usize];
        if portals.len() > usize::from(range.capacity) {
            let is_first = range.capacity == 0;
            let capacity = if is_first { portals.len() } else { portals.len().next_power_of_two() };
            (range.first, range.capacity) = (self.portals.len() as u32, capacity as u8);
            self.portals.resize(self.portals.len() + capacity, Portal::default());
        }
        (range.right, range.beside) = (right as u8, beside as u8);
        range.count = portals.len() as u8;
        self.portals[range.first as usize..][..portals.len()].copy_from_slice(&portals);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nav::coarse::worlds::{JOINTS, World, hash};

    /// Returns everything that a search can read.
    fn content(graph: &CoarseGraph) -> (Vec<((u8, u8), &[Portal])>, &[u16]) {
        let portals = graph.ranges.iter().map(|range| {
            let first = range.first as usize;
            let sections = (range.right, range.beside);
            (sections, &graph.portals[first..first + usize::from(range.count)])
        });
        (portals.collect(), graph.chunk_costs.as_slice())
    }

    proptest! {
        #[test]
        fn edits_lead_to_the_same_graph_as_a_rebuild(
            size in (1u32..150, 1u32..150),
            walls in 0u64..70,
            joints in 0usize..3,
            seed: u64,
            edits in prop::collection::vec(
                (any::<(u32, u32)>(), 1u32..40, 1u32..9, any::<u64>()),
                1..12,
            ),
        ) {
            let mut world = World::random(size, walls, (JOINTS[joints], seed));
            let mut graph = world.graph(Some(64), |x, y| world.mean_excess(x, y));
            let mut edited = Vec::new();
            for (round, ((x, y), width, height, seed)) in edits.into_iter().enumerate() {
                let (x, y) = (x % size.0, y % size.1);
                let (width, height) = (width.min(size.0 - x), height.min(size.1 - y));
                for y in y..y + height {
                    let values = (x..x + width).map(|x| hash(x, y, seed).is_multiple_of(2));
                    world.bits.set_row(x, y, values);
                }
                edited.push((x, y, width, height));
                if round % 3 == 0 {
                    world.repair(&mut graph, std::mem::take(&mut edited));
                }
            }
            world.repair(&mut graph, edited);
            let rebuilt = world.graph(Some(64), |x, y| world.mean_excess(x, y));
            prop_assert_eq!(content(&graph), content(&rebuilt));
            // Abandoned ranges are smaller than those in use.
            let most = 2 * 32 * graph.ranges.len();
            prop_assert!(graph.portals.len() <= most);
        }
    }

    #[test]
    fn an_open_world_has_two_portals_a_chunk_and_takes_little_memory() {
        for joints in JOINTS {
            let world = World::with_joints((640, 320), joints, |_, _| true);
            let graph = world.uniform();
            assert_eq!(graph.portals.len(), 19 * 10 + 20 * 9);
            assert!(graph.bytes() * 50 < 640 * 320);
        }
    }
}
