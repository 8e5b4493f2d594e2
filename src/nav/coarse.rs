//! The layer from afar: chunks, the places where one leads into the next, and the chunks that a
//! long way goes through.
//!
//! Input: a layer's bit rows, components and ground costs; start and goal. Output: a [`Route`]
//! over chunk borders, found in slices, and the [`Corridor`] of chunks around it, which an exact
//! search need not leave. There is a route exactly where the islands of start and goal are the
//! same. This holds for layers whose components are joined by straight steps: all but those with
//! [`CornerRule::Allow`](super::terrain::CornerRule) and eight neighbors.
//!
//! - `portals`: which components meet on a border, and where they do so nearest to its middle.
//! - `graph`: the portals of all chunks and what their ground costs, kept right under edits.
//! - `search`: A* from portal to portal; `nodes` is its memory.
//! - `corridor`: a set of chunks.
//!
//! Places are counted in half cells, so that a crossing lies between its two cells. On open ground
//! portals are in the middle of borders then, 32 half cells apart in x and in y: ways from portal
//! to portal cost what straight lines and diagonals do.
//!
//! Source: A. Botea, M. Müller & J. Schaeffer, "Near Optimal Hierarchical Path-Finding" (Journal
//! of Game Development 2004). There, ways inside chunks are searched in advance and stored; here
//! they are estimated: the route only tells where the exact search shall look.

mod corridor;
mod graph;
mod nodes;
mod portals;
mod search;

pub(crate) use self::{
    corridor::Corridor,
    graph::{CoarseCosts, CoarseGraph},
    search::{CoarseSearch, Greed, Route},
};
use super::cell::CHUNK;

/// Half cells along one side of a chunk.
const SIDE: u16 = 2 * CHUNK as u16;
/// The half cell on the border to the next chunk.
const BORDER: u16 = SIDE - 1;

/// A place in half cells from the grid's origin: cells have even numbers, what lies between them
/// odd ones. Sides of up to 16,384 cells fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    x: u16,
    y: u16,
}

impl Place {
    const fn of_cell(x: u32, y: u32) -> Self {
        Self { x: (2 * x) as u16, y: (2 * y) as u16 }
    }

    /// Column and row of the chunk; on a border, of the one to the left or below.
    #[inline]
    fn chunk(self) -> (u32, u32) {
        (u32::from(self.x / SIDE), u32::from(self.y / SIDE))
    }

    /// The chunk on one side of a border: ahead (right or up), or not.
    #[inline]
    fn chunk_beside(self, ahead: bool) -> (u32, u32) {
        beside(self.chunk(), self.x % SIDE == BORDER, ahead)
    }

    /// The cell on one side of a border.
    fn cell_beside(self, ahead: bool) -> (u32, u32) {
        let cell = (u32::from(self.x / 2), u32::from(self.y / 2));
        beside(cell, self.x % SIDE == BORDER, ahead)
    }
}

/// The same place, or the next one to the right or up.
#[inline]
fn beside((x, y): (u32, u32), is_right: bool, ahead: bool) -> (u32, u32) {
    (x + u32::from(ahead && is_right), y + u32::from(ahead && !is_right))
}

/// Grids for the tests of these files.
#[cfg(test)]
mod worlds {
    use super::graph::{CoarseCosts, CoarseGraph};
    use crate::nav::{bit_rows::BitRows, cell::CHUNK, region::Regions, terrain};

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
            let mut regions = Regions::new(size.0, size.1, false);
            regions.rebuild(&bits);
            Self { size, bits, regions }
        }

        /// So many of a hundred cells are walls.
        pub(super) fn random(size: (u32, u32), walls: u64, seed: u64) -> Self {
            Self::new(size, |x, y| hash(x, y, seed) % 100 >= walls)
        }

        pub(super) fn uniform(&self) -> CoarseGraph {
            self.graph(None, |_, _| None)
        }

        pub(super) fn graph(
            &self,
            lowest: Option<u32>,
            ground: impl Fn(u32, u32) -> Option<u32>,
        ) -> CoarseGraph {
            let short_weight = terrain::DIAGONAL - terrain::STRAIGHT;
            let costs = CoarseCosts { short_weight, lowest };
            CoarseGraph::build(self.size, costs, (&self.bits, &self.regions), ground)
        }

        /// As many passable cells as there are: any number will do that changes with the chunk.
        pub(super) fn ground(&self, chunk_x: u32, chunk_y: u32) -> Option<u32> {
            let rows = chunk_y * CHUNK..((chunk_y + 1) * CHUNK).min(self.size.1);
            let count =
                rows.map(|y| self.bits.thirty_two(chunk_x * CHUNK, y).count_ones()).sum::<u32>();
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
