//! Hierarchical search: chunks, the portals between them, and the chunks that a long path passes through.
//!
//! Input: a layer's bit rows, components and terrain costs; start and goal. Output: a [`Route`] over chunk
//! borders, found in slices, and the [`Corridor`] of chunks around it, which an exact search need not leave.
//! There is a route exactly if start and goal are in the same connected region, on squares and on hexagons.
//!
//! - `portals`: the components that meet on a border, and the crossing nearest to its middle.
//! - `fords`: the components between which edges have to be paid for, and the cheapest crossing.
//! - `graph`: the portals of all chunks and the chunks' terrain costs, kept up to date under edits.
//! - `search`: A* from portal to portal; `nodes` is its memory.
//! - `corridor`: a set of chunks.
//!
//! Positions are counted in half cells, so that a crossing lies between its two cells. On open terrain
//! portals are then in the middle of borders, 32 half cells apart in x and in y: paths from portal to portal
//! have the cost of straight lines and diagonals.
//!
//! Source: A. Botea, M. Müller & J. Schaeffer, "Near Optimal Hierarchical Path-Finding" (HPA*, Journal of
//! Game Development 2004). There, paths inside chunks are searched in advance and stored; here they are
//! estimated: the route only determines where the exact search looks.

mod corridor;
mod fords;
mod graph;
mod nodes;
mod portals;
mod search;

pub(crate) use self::{
    corridor::Corridor,
    graph::{CoarseCosts, CoarseGraph},
    search::{CoarseSearch, HIGH_HEURISTIC_WEIGHT, LOW_HEURISTIC_WEIGHT, Route},
};
use super::{CHUNK, Direction};

/// Half cells along one side of a chunk.
const CHUNK_HALF_CELLS: u16 = 2 * CHUNK as u16;
/// The half cell on the border to the next chunk.
const BORDER_HALF_CELL: u16 = CHUNK_HALF_CELLS - 1;

/// A position in half cells from the grid's origin: cells have even numbers, borders between them odd ones.
/// Sides of up to 16,384 cells fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct HalfCell {
    x: u16,
    y: u16,
}

impl HalfCell {
    const fn from_cell(x: u32, y: u32) -> Self {
        Self { x: (2 * x) as u16, y: (2 * y) as u16 }
    }

    /// Returns the middle of a step out of the cell here.
    const fn next(self, direction: Direction) -> Self {
        let (dx, dy) = direction.offset();
        Self { x: self.x.wrapping_add_signed(dx as i16), y: self.y.wrapping_add_signed(dy as i16) }
    }

    /// Returns the half cells to another position.
    #[inline]
    const fn offset_to(self, to: Self) -> (i64, i64) {
        (to.x as i64 - self.x as i64, to.y as i64 - self.y as i64)
    }

    /// Returns the cell that a step enters whose middle this is; without a step, the cell here.
    #[inline]
    fn cell_entered(self, by: Option<Direction>) -> (u32, u32) {
        let (dx, dy) = by.map_or((0, 0), Direction::offset);
        let half = |at: u16, offset: i32| u32::from(at).wrapping_add_signed(offset) / 2;
        (half(self.x, dx), half(self.y, dy))
    }

    /// Returns the column and row of the chunk of that cell.
    #[inline]
    fn chunk_entered(self, by: Option<Direction>) -> (u32, u32) {
        let (x, y) = self.cell_entered(by);
        (x / CHUNK, y / CHUNK)
    }
}

/// Grids for the tests of these files.
#[cfg(test)]
mod worlds {
    use super::graph::{CoarseCosts, CoarseGraph};
    use crate::nav::{
        CornerRule, Direction, EdgeId, Footprint, Profile, Topology,
        bit_rows::BitRows,
        cell::CHUNK,
        edges::{
            EdgeMap, EdgeSource, Side,
            crossings::{Crossings, EdgeCosts},
        },
        region::{Connections, Joints, Regions},
        topology::Adjacency,
    };

    /// How cells are joined on squares, on hexagons, and on squares where units may pass between two corners.
    pub(super) const JOINTS: [Joints; 3] = [
        Joints { left: false, right: false },
        Joints { left: true, right: false },
        Joints { left: true, right: true },
    ];

    pub(super) struct World {
        pub(super) size: (u32, u32),
        pub(super) bits: BitRows,
        pub(super) regions: Regions,
        crossings: Option<Crossings>,
    }

    impl World {
        pub(super) fn new(size: (u32, u32), passable: impl Fn(u32, u32) -> bool) -> Self {
            Self::with_joints(size, Joints::default(), passable)
        }

        pub(super) fn with_joints(
            size: (u32, u32),
            joints: Joints,
            passable: impl Fn(u32, u32) -> bool,
        ) -> Self {
            let mut bits = BitRows::new(size.0, size.1);
            for y in 0..size.1 {
                bits.set_row(0, y, (0..size.0).map(|x| passable(x, y)));
            }
            let mut regions = Regions::new(size.0, size.1, joints);
            regions.rebuild(Connections::new(&bits, None));
            Self { size, bits, regions, crossings: None }
        }

        /// Makes `walls` of a hundred cells impassable.
        pub(super) fn random(size: (u32, u32), walls: u64, (joints, seed): (Joints, u64)) -> Self {
            Self::with_joints(size, joints, |x, y| hash(x, y, seed) % 100 >= walls)
        }

        /// Adds edges to `share` of a hundred sides: shut, free, cheap and dear ones.
        pub(super) fn with_edges(self, share: u64, seed: u64) -> Self {
            self.with_edges_by(|x, y, side| random_edge(share, (x, y, side), seed))
        }

        /// Adds edges at the sides of cells; those of kind 4 are the dear ones.
        pub(super) fn with_edges_by(
            mut self,
            kind: impl Fn(u32, u32, Side) -> Option<EdgeId>,
        ) -> Self {
            let mut edges = EdgeMap::new(self.size.0, self.size.1);
            for (x, y) in (0..self.size.1).flat_map(|y| (0..self.size.0).map(move |x| (x, y))) {
                for side in Side::ALL {
                    let kind = kind(x, y, side);
                    let kind = kind.filter(|_| side != Side::NorthWest || self.is_hexagonal());
                    edges.set((x, y), side, (EdgeSource::Map, kind.unwrap_or(EdgeId::NONE)));
                }
            }
            let profile = Profile::new().with_edge(EdgeId(2), 0).with_edge(EdgeId(3), 16);
            let costs = EdgeCosts::of(&profile.with_edge(EdgeId(4), 1_600));
            let squares =
                (self.adjacency(), self.corner_rule(), Footprint::new(Topology::Square, 1));
            let mut crossings = Crossings::new(self.size, squares);
            crossings.refresh((0, 0, self.size.0, self.size.1), (&edges, &costs), &self.bits);
            self.crossings = Some(crossings);
            let connections = Connections::new(&self.bits, self.crossings.as_ref());
            self.regions.rebuild(connections);
            self
        }

        fn is_hexagonal(&self) -> bool {
            self.regions.joints() == JOINTS[1]
        }

        fn adjacency(&self) -> Adjacency {
            if self.is_hexagonal() { Adjacency::Six } else { Adjacency::Eight }
        }

        fn corner_rule(&self) -> CornerRule {
            match self.regions.joints() == JOINTS[2] {
                true => CornerRule::Allow,
                false => CornerRule::Forbid,
            }
        }

        /// Whether a cell is passable; cells off the grid are not.
        pub(super) fn is_passable(&self, (x, y): (u32, u32)) -> bool {
            x < self.size.0 && y < self.size.1 && self.bits.get(x, y)
        }

        /// Returns the steps that join cells.
        pub(super) fn steps(&self) -> impl Iterator<Item = Direction> {
            let Joints { left, right } = self.regions.joints();
            Direction::ALL.into_iter().filter(move |direction| match direction {
                Direction::NorthEast | Direction::SouthWest => right,
                Direction::NorthWest | Direction::SouthEast => left,
                _ => true,
            })
        }

        pub(super) fn uniform(&self) -> CoarseGraph {
            self.graph(None, |_, _| None)
        }

        pub(super) fn graph(
            &self,
            lowest: Option<u32>,
            mean_excess: impl Fn(u32, u32) -> Option<u32>,
        ) -> CoarseGraph {
            let costs = CoarseCosts {
                weights: self.adjacency().distance_weights(),
                lowest: lowest.unwrap_or(1),
                is_uniform: lowest.is_none(),
                has_costly_edges: self.crossings.is_some(),
            };
            CoarseGraph::build(self.size, costs, (self.connections(), &self.regions), mean_excess)
        }

        pub(super) const fn connections(&self) -> Connections<'_> {
            Connections::new(&self.bits, self.crossings.as_ref())
        }

        /// Repairs the regions and a weighted graph after edits.
        pub(super) fn repair(
            &mut self,
            graph: &mut CoarseGraph,
            edited: Vec<(u32, u32, u32, u32)>,
        ) {
            let connections = Connections::new(&self.bits, self.crossings.as_ref());
            self.regions.repair(edited.iter().copied(), connections);
            graph.repair(edited.into_iter(), (self.connections(), &self.regions), |x, y| {
                self.mean_excess(x, y)
            });
        }

        /// Returns the number of passable cells: any number serves that changes with the chunk.
        pub(super) fn mean_excess(&self, chunk_x: u32, chunk_y: u32) -> Option<u32> {
            let rows = chunk_y * CHUNK..((chunk_y + 1) * CHUNK).min(self.size.1);
            let count =
                rows.map(|y| self.bits.cells_32(chunk_x * CHUNK, y).count_ones()).sum::<u32>();
            (count > 0).then_some(count)
        }
    }

    /// Returns an edge of any kind at `share` of a hundred sides.
    pub(super) fn random_edge(
        share: u64,
        (x, y, side): (u32, u32, Side),
        seed: u64,
    ) -> Option<EdgeId> {
        let roll = hash(x, y, seed.wrapping_add(1 + side as u64));
        (roll % 100 < share).then_some(EdgeId(1 + (roll / 100 % 4) as u8))
    }

    pub(super) fn hash(x: u32, y: u32, seed: u64) -> u64 {
        let mut mixed = seed ^ (u64::from(x) << 32 | u64::from(y));
        for _ in 0..2 {
            mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        mixed >> 33
    }
}
