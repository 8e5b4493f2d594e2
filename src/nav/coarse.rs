//! Hierarchical search: chunks, the portals between them, and the chunks that a long path passes through.
//!
//! Input: a layer's bit rows, components and terrain costs; start and goal. Output: a [`Route`] over chunk
//! borders, found in slices, and the [`Corridor`] of chunks around it, which an exact search need not leave.
//! There is a route exactly if start and goal are in the same connected region. This holds for layers whose
//! components are joined by straight steps: all but those with
//! [`CornerRule::Allow`](super::terrain::CornerRule) and eight neighbors.
//!
//! - `portals`: the components that meet on a border, and the crossing nearest to its middle.
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
mod graph;
mod nodes;
mod portals;
mod search;

pub(crate) use self::{
    corridor::Corridor,
    graph::{CoarseCosts, CoarseGraph},
    search::{CoarseSearch, HIGH_HEURISTIC_WEIGHT, LOW_HEURISTIC_WEIGHT, Route},
};
use super::CHUNK;

/// Half cells along one side of a chunk.
const CHUNK_HALF_CELLS: u16 = 2 * CHUNK as u16;
/// The half cell on the border to the next chunk.
const BORDER_HALF_CELL: u16 = CHUNK_HALF_CELLS - 1;

/// A position in half cells from the grid's origin: cells have even numbers, borders between them odd ones.
/// Sides of up to 16,384 cells fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HalfCell {
    x: u16,
    y: u16,
}

impl HalfCell {
    const fn from_cell(x: u32, y: u32) -> Self {
        Self { x: (2 * x) as u16, y: (2 * y) as u16 }
    }

    /// Returns the column and row of the chunk; on a border, of the chunk to the left or below.
    #[inline]
    fn chunk(self) -> (u32, u32) {
        (u32::from(self.x / CHUNK_HALF_CELLS), u32::from(self.y / CHUNK_HALF_CELLS))
    }

    /// Returns the chunk on one side of a border: forward (right or up), or not.
    #[inline]
    fn chunk_at_side(self, is_forward: bool) -> (u32, u32) {
        step_across(self.chunk(), self.x % CHUNK_HALF_CELLS == BORDER_HALF_CELL, is_forward)
    }

    /// Returns the cell on one side of a border.
    fn cell_at_side(self, is_forward: bool) -> (u32, u32) {
        let cell = (u32::from(self.x / 2), u32::from(self.y / 2));
        step_across(cell, self.x % CHUNK_HALF_CELLS == BORDER_HALF_CELL, is_forward)
    }
}

/// Returns the same coordinates, or the next ones to the right or up.
#[inline]
fn step_across((x, y): (u32, u32), is_right: bool, is_forward: bool) -> (u32, u32) {
    (x + u32::from(is_forward && is_right), y + u32::from(is_forward && !is_right))
}

/// Grids for the tests of these files.
#[cfg(test)]
mod worlds {
    use super::graph::{CoarseCosts, CoarseGraph};
    use crate::nav::{
        bit_rows::BitRows,
        cell::CHUNK,
        region::{Connections, Joints, Regions},
        terrain,
    };

    pub(super) struct World {
        pub(super) size: (u32, u32),
        pub(super) bits: BitRows,
        pub(super) regions: Regions,
    }

    impl World {
        pub(super) fn new(size: (u32, u32), passable: impl Fn(u32, u32) -> bool) -> Self {
            let mut bits = BitRows::new(size.0, size.1);
            for y in 0..size.1 {
                bits.set_row(0, y, (0..size.0).map(|x| passable(x, y)));
            }
            let mut regions = Regions::new(size.0, size.1, Joints::default());
            regions.rebuild(Connections { bits: &bits, crossings: None });
            Self { size, bits, regions }
        }

        /// Makes `walls` of a hundred cells impassable.
        pub(super) fn random(size: (u32, u32), walls: u64, seed: u64) -> Self {
            Self::new(size, |x, y| hash(x, y, seed) % 100 >= walls)
        }

        pub(super) fn uniform(&self) -> CoarseGraph {
            self.graph(None, |_, _| None)
        }

        pub(super) fn graph(
            &self,
            lowest: Option<u32>,
            mean_excess: impl Fn(u32, u32) -> Option<u32>,
        ) -> CoarseGraph {
            let short_weight = terrain::DIAGONAL - terrain::STRAIGHT;
            let costs = CoarseCosts { short_weight, lowest };
            CoarseGraph::build(self.size, costs, (self.connections(), &self.regions), mean_excess)
        }

        pub(super) const fn connections(&self) -> Connections<'_> {
            Connections { bits: &self.bits, crossings: None }
        }

        /// Repairs the regions and a weighted graph after edits.
        pub(super) fn repair(
            &mut self,
            graph: &mut CoarseGraph,
            edited: Vec<(u32, u32, u32, u32)>,
        ) {
            let connections = Connections { bits: &self.bits, crossings: None };
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

    pub(super) fn hash(x: u32, y: u32, seed: u64) -> u64 {
        let mut mixed = seed ^ (u64::from(x) << 32 | u64::from(y));
        for _ in 0..2 {
            mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        mixed >> 33
    }
}
