//! The portals of all chunks and what the ground of each costs.
//!
//! Input: bit rows, components and the mean cost of every chunk; later, marks on edited chunks.
//! Output: the ways out of a component of a chunk, and what going straight through the chunk costs.
//! After an edit the portals of the marked chunks, and of those to their left and below, are read
//! anew: those on all borders of what was marked. It is the same then as if built anew.
//!
//! Two portals of a chunk are connected inside it exactly if their components there are the same:
//! portals carry both their components, so a search need not look into the regions.
//!
//! All portals stand in one list, those of a chunk together. A chunk that outgrows its room in the
//! list moves to a room twice as large at the end; the rooms it has left behind are smaller in all
//! than the one it has, so they stay unused. Memory: 8 bytes a chunk, 4 a portal (an open chunk has
//! two), 2 a chunk where costs are mixed: 0.02 bytes a cell on open ground, about 0.05 where half
//! the map is rocks; at most 0.14, if every other cell of each border is a crossing by itself.

use super::{
    BORDER, Place, SIDE,
    portals::{ChunkPortals, Portal},
};
use crate::nav::{
    bit_rows::BitRows,
    region::{Regions, chunks_in},
    terrain::STRAIGHT,
};

/// The cheapest ground, and the unit of what others cost.
pub(super) const FLAT: u32 = 256;
/// Dearer ground counts as this, so that costs fit into 32 bits.
const MOST: u32 = 64 * FLAT;

/// How the layer counts distances and costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoarseCosts {
    /// What a column or row of the shorter side adds to a distance.
    pub(crate) short_weight: u32,
    /// Lowest sum of two terrain costs, in units; `None` where cost is uniform.
    pub(crate) lowest: Option<u32>,
}

/// Portals and ground of all chunks; see the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct CoarseGraph {
    /// Rows of cells.
    height: u32,
    /// Size in chunks.
    chunks: (u32, u32),
    costs: CoarseCosts,
    spans: Vec<Span>,
    portals: Vec<Portal>,
    /// Mean cost of what is passable, per chunk; empty where cost is uniform.
    grounds: Vec<u16>,
    /// Chunks to read anew at the next repair.
    marked: Vec<u32>,
    revision: u64,
}

/// Where in the list the portals of a chunk stand: first those to the right, then those up.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    first: u32,
    room: u8,
    right: u8,
    count: u8,
}

/// A portal as seen from one of its two chunks.
pub(super) struct Exit {
    /// The chunk that has it to the right or above.
    pub(super) owner: usize,
    /// Which of the owner's portals it is, and how many there are.
    pub(super) index: u32,
    pub(super) count: u8,
    pub(super) place: Place,
    /// Component on the other side.
    pub(super) label: u16,
    /// Whether it leads out of its owner.
    pub(super) leads_ahead: bool,
}

impl CoarseGraph {
    /// Reads everything. `size` is in cells. `ground` tells by how much the passable cells of the
    /// chunk in a column and row (of chunks) exceed the cheapest terrain on average, in sixteenths
    /// of the layer's unit; `None` where none is passable. It is not asked where cost is uniform.
    pub(crate) fn build(
        size: (u32, u32),
        costs: CoarseCosts,
        (bits, regions): (&BitRows, &Regions),
        ground: impl Fn(u32, u32) -> Option<u32>,
    ) -> Self {
        let chunks = regions.chunks();
        let count = chunks.0 * chunks.1;
        let mixed = if costs.lowest.is_some() { count as usize } else { 0 };
        let mut graph = Self {
            height: size.1,
            chunks,
            costs,
            spans: vec![Span::default(); count as usize],
            portals: Vec::new(),
            grounds: vec![0; mixed],
            marked: Vec::new(),
            revision: 0,
        };
        for chunk in 0..count {
            graph.read_ground(chunk, &ground);
            graph.read_portals(chunk, bits, regions);
        }
        graph.portals.shrink_to_fit();
        graph
    }

    /// Marks the chunks of a rectangle for the next repair.
    pub(crate) fn mark(&mut self, x: u32, y: u32, width: u32, height: u32) {
        self.marked.extend(chunks_in((x, y, width, height), self.chunks.0));
    }

    /// Reads the marked chunks anew; `bits` and `regions` are up to date. For `ground` see
    /// [`build`](Self::build).
    pub(crate) fn repair(
        &mut self,
        bits: &BitRows,
        regions: &Regions,
        ground: impl Fn(u32, u32) -> Option<u32>,
    ) {
        if self.marked.is_empty() {
            return;
        }
        self.revision += 1;
        let mut chunks = std::mem::take(&mut self.marked);
        chunks.sort_unstable();
        chunks.dedup();
        for index in 0..chunks.len() {
            let chunk = chunks[index];
            self.read_ground(chunk, &ground);
            if !chunk.is_multiple_of(self.chunks.0) {
                chunks.push(chunk - 1);
            }
            if chunk >= self.chunks.0 {
                chunks.push(chunk - self.chunks.0);
            }
        }
        chunks.sort_unstable();
        chunks.dedup();
        for &chunk in &chunks {
            self.read_portals(chunk, bits, regions);
        }
        chunks.clear();
        self.marked = chunks;
    }

    /// Counts repairs.
    pub(crate) const fn revision(&self) -> u64 {
        self.revision
    }

    /// Size in chunks.
    pub(crate) const fn chunks(&self) -> (u32, u32) {
        self.chunks
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.spans.len() * size_of::<Span>()
            + self.portals.capacity() * size_of::<Portal>()
            + 2 * self.grounds.len()
            + 4 * self.marked.capacity()
    }

    /// Number of a chunk.
    #[inline]
    pub(super) const fn number(&self, (x, y): (u32, u32)) -> usize {
        y as usize * self.chunks.0 as usize + x as usize
    }

    /// Weight of the shortest way over open ground, between places in half cells.
    #[inline]
    pub(super) fn distance(&self, from: Place, to: Place) -> u32 {
        let dx = u32::from(from.x.abs_diff(to.x));
        let dy = u32::from(from.y.abs_diff(to.y));
        STRAIGHT * dx.max(dy) + self.costs.short_weight * dx.min(dy)
    }

    /// What the ground of a chunk costs, next to [`FLAT`].
    #[inline]
    pub(super) fn ground(&self, chunk: (u32, u32)) -> u32 {
        self.grounds.get(self.number(chunk)).map_or(FLAT, |&ground| u32::from(ground))
    }

    /// No chunk's ground costs less.
    pub(super) fn lowest_ground(&self) -> u32 {
        if self.grounds.is_empty() {
            return FLAT;
        }
        u32::from(self.grounds.iter().fold(MOST as u16, |lowest, &ground| lowest.min(ground)))
    }

    /// Visits the portals that lead out of a component of a chunk.
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
    }

    /// Visits the portals on the right or upper border of `owner` that lead ahead, or back into it.
    #[inline]
    fn exits_of<const RIGHT: bool, const AHEAD: bool>(
        &self,
        owner: (u32, u32),
        label: u16,
        visit: &mut impl FnMut(Exit),
    ) {
        let number = self.number(owner);
        let span = self.spans[number];
        let (from, to) = if RIGHT { (0, span.right) } else { (span.right, span.count) };
        let first = span.first as usize;
        let portals = &self.portals[first + usize::from(from)..first + usize::from(to)];
        let (x, y) = (owner.0 as u16 * SIDE, owner.1 as u16 * SIDE);
        for (index, portal) in portals.iter().enumerate() {
            let (near, far) = (portal.here(), portal.there());
            let (near, far) = if AHEAD { (near, far) } else { (far, near) };
            if near != label {
                continue;
            }
            let (dx, dy) = if RIGHT { (BORDER, portal.along()) } else { (portal.along(), BORDER) };
            visit(Exit {
                owner: number,
                index: u32::from(from) + index as u32,
                count: span.count,
                place: Place { x: x + dx, y: y + dy },
                label: far,
                leads_ahead: AHEAD,
            });
        }
    }

    fn read_ground(&mut self, chunk: u32, ground: &impl Fn(u32, u32) -> Option<u32>) {
        let Some(lowest) = self.costs.lowest else {
            return;
        };
        // Nobody goes where nothing is passable.
        let cost = match ground(chunk % self.chunks.0, chunk / self.chunks.0) {
            None => MOST,
            // A step costs the lowest sum and twice the mean excess.
            Some(excess) => {
                let more = excess.saturating_mul(2 * FLAT / 16) / lowest.max(1);
                FLAT + more.min(MOST - FLAT)
            }
        };
        self.grounds[chunk as usize] = cost as u16;
    }

    fn read_portals(&mut self, chunk: u32, bits: &BitRows, regions: &Regions) {
        let place = (chunk % self.chunks.0, chunk / self.chunks.0);
        let found = ChunkPortals::read(place, self.height, bits, regions);
        let portals = found.all();
        let span = &mut self.spans[chunk as usize];
        if portals.len() > usize::from(span.room) {
            let is_first = span.room == 0;
            let room = if is_first { portals.len() } else { portals.len().next_power_of_two() };
            (span.first, span.room) = (self.portals.len() as u32, room as u8);
            self.portals.resize(self.portals.len() + room, Portal::default());
        }
        (span.right, span.count) = (found.right, portals.len() as u8);
        self.portals[span.first as usize..][..portals.len()].copy_from_slice(portals);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nav::coarse::worlds::{World, hash};

    /// All that a search can see.
    fn content(graph: &CoarseGraph) -> (Vec<(usize, &[Portal])>, &[u16]) {
        let portals = graph.spans.iter().map(|span| {
            let first = span.first as usize;
            (usize::from(span.right), &graph.portals[first..first + usize::from(span.count)])
        });
        (portals.collect(), graph.grounds.as_slice())
    }

    proptest! {
        #[test]
        fn edits_lead_to_the_same_graph_as_building_it_anew(
            size in (1u32..150, 1u32..150),
            walls in 0u64..70,
            seed: u64,
            edits in prop::collection::vec(
                (any::<(u32, u32)>(), 1u32..40, 1u32..9, any::<u64>()),
                1..12,
            ),
        ) {
            let mut world = World::random(size, walls, seed);
            let mut graph = world.graph(Some(64), |x, y| world.ground(x, y));
            for (round, ((x, y), width, height, seed)) in edits.into_iter().enumerate() {
                let (x, y) = (x % size.0, y % size.1);
                let (width, height) = (width.min(size.0 - x), height.min(size.1 - y));
                for y in y..y + height {
                    let values = (x..x + width).map(|x| hash(x, y, seed).is_multiple_of(2));
                    world.bits.set_row(x, y, values);
                }
                world.regions.mark(x, y, width, height);
                graph.mark(x, y, width, height);
                if round % 3 == 0 {
                    world.regions.repair(&world.bits);
                    graph.repair(&world.bits, &world.regions, |x, y| world.ground(x, y));
                }
            }
            world.regions.repair(&world.bits);
            graph.repair(&world.bits, &world.regions, |x, y| world.ground(x, y));
            let anew = world.graph(Some(64), |x, y| world.ground(x, y));
            prop_assert_eq!(content(&graph), content(&anew));
            // Rooms left behind are smaller than those in use.
            let most = 2 * 32 * graph.spans.len();
            prop_assert!(graph.portals.len() <= most);
        }
    }

    #[test]
    fn an_open_world_has_two_portals_a_chunk_and_takes_little_memory() {
        let world = World::new((640, 320), |_, _| true);
        let graph = world.uniform();
        assert_eq!(graph.portals.len(), 19 * 10 + 20 * 9);
        assert!(graph.bytes() * 50 < 640 * 320);
    }
}
