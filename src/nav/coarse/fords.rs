//! Fords: where routes cross edges that cost something.
//!
//! Input: passable cells and edges; later, the chunks edited. Output: the components into which such
//! edges divide each chunk, and the fords that lead out of them: for each two components that meet, the cheapest crossing, and of
//! several the nearest to the middle of the chunk. A ford may lead to another component of the same chunk. So a route over a
//! river costs what crossing the river costs, and leads over a bridge where that is cheaper.
//!
//! Only graphs of layers where crossing an edge may cost something have fords. Their portals lead between these components, not
//! between those of the regions. A chunk that such edges divide into more than [`MAX_COMPONENTS`] is left undivided by them:
//! otherwise edges all around each cell would make thousands of fords in a chunk. Memory: 2 bytes per cell, some 60 per chunk and
//! 16 per ford; along a river two in each chunk.

use std::collections::{BTreeMap, BTreeSet};

use super::{HalfCell, graph::CoarseCosts};
use crate::nav::{
    CHUNK, Direction, Regions,
    region::{Connections, Joints},
};

/// The most components into which edges with a cost divide a chunk. Large units have many: each of their steps beside a river
/// crosses a part of it, so that for units of size 2 one river makes some 100 components.
const MAX_COMPONENTS: u16 = 512;

/// The cheapest crossing from one component to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Ford {
    pub(super) position: HalfCell,
    /// The components from which and to which it leads.
    pub(super) near: u16,
    pub(super) far: u16,
    pub(super) direction: Direction,
    /// What crossing costs, counted as the cost of routes.
    pub(super) cost: u32,
}

/// The fords of all chunks; see the [module](self).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Fords {
    /// Cells of a chunk share a label if no edge with a cost has to be crossed between them. Only labels are kept up to date,
    /// not regions.
    pub(super) components: Regions,
    /// Per chunk, sorted by component `near`.
    by_chunk: Vec<Vec<Ford>>,
}

impl Fords {
    /// Creates them without any; [`repair`](Self::repair) reads chunks.
    pub(super) fn new(size: (u32, u32), joints: Joints) -> Self {
        let components = Regions::new(size.0, size.1, joints);
        let chunks = components.chunks.0 as usize * components.chunks.1 as usize;
        Self { components, by_chunk: vec![Vec::new(); chunks] }
    }

    /// Reads the components of the edited chunks again, and the fords of these and all chunks around them.
    pub(super) fn repair(
        &mut self,
        edited: &BTreeSet<u32>,
        around: impl Iterator<Item = u32>,
        (connections, costs): (Connections<'_>, CoarseCosts),
    ) {
        let free = connections.without_costly();
        for &chunk in edited {
            if self.components.relabel_chunk(chunk, free) > MAX_COMPONENTS {
                self.components.relabel_chunk(chunk, connections);
            }
        }
        for chunk in around {
            self.by_chunk[chunk as usize] = self.read(chunk, (connections, costs));
        }
    }

    /// The number of fords that lead out of a chunk's components.
    pub(super) fn count(&self, chunk: usize) -> u32 {
        self.by_chunk[chunk].len() as u32
    }

    /// The fords that lead out of a component of a chunk, with their numbers among those of the chunk.
    pub(super) fn leading_out(
        &self,
        chunk: usize,
        label: u16,
    ) -> impl Iterator<Item = (u32, &Ford)> {
        let fords = &self.by_chunk[chunk];
        let first = fords.partition_point(|ford| ford.near < label);
        (first as u32..).zip(&fords[first..]).take_while(move |(_, ford)| ford.near == label)
    }

    pub(super) fn bytes(&self) -> usize {
        let fords: usize = self.by_chunk.iter().map(Vec::len).sum();
        self.components.bytes()
            + self.by_chunk.len() * size_of::<Vec<Ford>>()
            + fords * size_of::<Ford>()
    }

    fn read(&self, chunk: u32, (connections, costs): (Connections<'_>, CoarseCosts)) -> Vec<Ford> {
        let mut cheapest = BTreeMap::new();
        let chunks_per_row = self.components.chunks.0;
        let corner = (chunk % chunks_per_row * CHUNK, chunk / chunks_per_row * CHUNK);
        let middle = HalfCell::from_cell(corner.0 + CHUNK / 2, corner.1 + CHUNK / 2);
        self.for_each_crossing(corner, connections, |(x, y), direction, crossing| {
            let to = direction.cell_at(x, y, 1);
            let label = |(x, y)| self.components.label(x, y);
            let (near, far) = (label((x, y)), label(to));
            let position = HalfCell::from_cell(x, y).next(direction);
            let next = (to.0 / CHUNK, to.1 / CHUNK);
            if near == far && next == (x / CHUNK, y / CHUNK) {
                return;
            }
            let (dx, dy) = position.offset_to(middle);
            let rank = (crossing, dx.abs() + dy.abs());
            let cost = costs.of_crossing(direction, crossing);
            let ford = Ford { position, near, far, direction, cost };
            let known = cheapest.entry((near, next, far)).or_insert((rank, ford));
            if rank < known.0 {
                *known = (rank, ford);
            }
        });
        cheapest.into_values().map(|(_, ford)| ford).collect()
    }

    /// Visits the steps from the cells of a chunk that join cells and cross an edge with a cost, together with that cost.
    fn for_each_crossing(
        &self,
        corner: (u32, u32),
        connections: Connections<'_>,
        mut visit: impl FnMut((u32, u32), Direction, u32),
    ) {
        let Some(crossings) = connections.crossings else {
            return;
        };
        let joining = self.components.joints().directions();
        let both_ways: Vec<_> = joining.flat_map(|way| [way, way.opposite()]).collect();
        let rows = corner.1..(corner.1 + CHUNK).min(self.components.size.1);
        for y in rows {
            let mut beside =
                connections.bits.cells_32(corner.0, y) & crossings.beside().cells_32(corner.0, y);
            while beside != 0 {
                let x = corner.0 + beside.trailing_zeros();
                beside &= beside - 1;
                for &direction in &both_ways {
                    let cost = crossings.cost(x, y, direction as usize);
                    if cost > 0 && connections.are_joined((x, y), direction) {
                        visit((x, y), direction, cost);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nav::{
        EdgeId,
        coarse::worlds::{JOINTS, World, random_edge},
    };

    const COSTS: CoarseCosts = CoarseCosts {
        weights: crate::nav::topology::Adjacency::Eight.distance_weights(),
        lowest: 1,
        is_uniform: true,
        has_costly_edges: true,
    };

    fn fords(world: &World) -> Fords {
        let mut fords = Fords::new(world.size, world.regions.joints());
        let all: BTreeSet<u32> = (0..fords.by_chunk.len() as u32).collect();
        fords.repair(&all, all.iter().copied(), (world.connections(), COSTS));
        fords
    }

    proptest! {
        #[test]
        fn components_that_meet_at_a_cost_have_one_ford_where_it_is_lowest(
            size in (1u32..80, 1u32..80),
            (walls, edges) in (0u64..50, 0u64..60),
            joints in 0usize..3,
            seed: u64,
        ) {
            let world = World::random(size, walls, (JOINTS[joints], seed)).with_edges(edges, seed);
            let fords = fords(&world);
            let (connections, components) = (world.connections(), &fords.components);
            let mut lowest = BTreeMap::new();
            for (x, y) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))) {
                for direction in world.steps() {
                    let to = direction.cell_at(x, y, 1);
                    let is_open = world.is_passable((x, y)) && world.is_passable(to);
                    if !is_open || !connections.are_joined((x, y), direction) {
                        continue;
                    }
                    let [here, there] = [(x, y), to].map(|(x, y)| (x / CHUNK, y / CHUNK));
                    let [near, far] = [(x, y), to].map(|(x, y)| components.label(x, y));
                    let crossings = connections.crossings.expect("it has edges");
                    match crossings.cost(x, y, direction as usize) {
                        0 => prop_assert!(here != there || near == far, "joined without a cost"),
                        _ if (here, near) == (there, far) => {}
                        cost => {
                            let middle = HalfCell::from_cell(
                                here.0 * CHUNK + CHUNK / 2,
                                here.1 * CHUNK + CHUNK / 2,
                            );
                            let at = HalfCell::from_cell(x, y).next(direction);
                            let rank = (cost, from_middle(at, middle));
                            let known = lowest.entry((here, near, there, far)).or_insert(rank);
                            *known = rank.min(*known);
                        }
                    }
                }
            }
            let per_row = components.chunks.0;
            for (chunk, found) in (0..).zip(&fords.by_chunk) {
                let here = (chunk % per_row, chunk / per_row);
                for ford in found {
                    let back = ford.position.cell_entered(Some(ford.direction.opposite()));
                    prop_assert_eq!(components.label(back.0, back.1), ford.near);
                    prop_assert_eq!((back.0 / CHUNK, back.1 / CHUNK), here);
                    let to = ford.position.cell_entered(Some(ford.direction));
                    prop_assert_eq!(components.label(to.0, to.1), ford.far);
                    let there = ford.position.chunk_entered(Some(ford.direction));
                    let rank = lowest.remove(&(here, ford.near, there, ford.far));
                    let middle =
                        HalfCell::from_cell(here.0 * CHUNK + CHUNK / 2, here.1 * CHUNK + CHUNK / 2);
                    let rank = rank.map(|(cost, away)| (COSTS.of_crossing(ford.direction, cost), away));
                    prop_assert_eq!(rank, Some((ford.cost, from_middle(ford.position, middle))));
                }
            }
            prop_assert!(lowest.is_empty(), "no fords for {lowest:?}");
        }

        #[test]
        fn after_a_repair_fords_are_those_of_a_new_map(
            size in (1u32..100, 1u32..100),
            (walls, edges) in (0u64..40, 0u64..60),
            joints in 0usize..3,
            (x, y, side) in (0u32..100, 0u32..100, 1u32..30),
            seed: u64,
        ) {
            let (x, y) = (x % size.0, y % size.1);
            let rect = (x, y, side.min(size.0 - x), side.min(size.1 - y));
            let is_edited = |cx: u32, cy: u32| {
                (x..x + rect.2).contains(&cx) && (y..y + rect.3).contains(&cy)
            };
            let world = || World::random(size, walls, (JOINTS[joints], seed));
            let before = world().with_edges(edges, seed);
            let after = world().with_edges_by(|x, y, side| {
                random_edge(edges, (x, y, side), seed ^ u64::from(is_edited(x, y)))
            });
            let mut repaired = fords(&before);
            let chunks = repaired.components.chunks;
            // An edge belongs to the cell beyond it as well.
            let (right, high) = ((x + rect.2).min(size.0 - 1), (y + rect.3).min(size.1 - 1));
            let left = x.saturating_sub(1);
            let touched = (left, y, right - left + 1, high - y + 1);
            let edited: BTreeSet<u32> = crate::nav::chunks_in(touched, chunks.0).collect();
            let around = edited.iter().flat_map(|&chunk| {
                crate::nav::region::chunks_at(&crate::nav::OFFSETS, chunks, chunk).chain([chunk])
            });
            repaired.repair(&edited, around, (after.connections(), COSTS));
            prop_assert_eq!(&repaired.by_chunk, &fords(&after).by_chunk);
        }
    }

    fn from_middle(at: HalfCell, middle: HalfCell) -> i64 {
        let (dx, dy) = at.offset_to(middle);
        dx.abs() + dy.abs()
    }

    #[test]
    fn edges_around_every_cell_do_not_divide_a_chunk() {
        let world = World::random((96, 96), 0, (JOINTS[0], 1));
        let fords = fords(&world.with_edges_by(|_, _, _| Some(EdgeId(4))));
        // One on each border.
        assert_eq!([0, 1, 4].map(|chunk| fords.count(chunk)), [2, 3, 4]);
    }
}
