//! Connected regions: chunk-local components, the links between them, and the regions they form.
//!
//! Input: a layer's bit rows and the rectangles edited. Output: the region of any cell in constant time, so
//! that a hopeless request needs no search. An edit relabels only the chunks it touched and the links on
//! their borders; regions are examined (see `region_ids`) only if those changed shape. Cells share a region
//! exactly if they would after a full rebuild.
//!
//! Under [`CornerRule::Forbid`](crate::nav::terrain::CornerRule) and `NoSqueeze` a diagonal step implies a detour
//! of straight steps, so cells are connected by straight steps; only `Allow` joins diagonally. Hexagons are joined along
//! one of the two diagonals. So what joins two cells of different rows are the [`Joints`], unless an edge divides them.

mod chunk;
mod region_ids;

use std::collections::BTreeSet;

use self::{
    chunk::{Link, label_beside_edges, label_components},
    region_ids::RegionIds,
};
use crate::nav::{BitRows, CHUNK, Direction, OFFSETS, Rect, STRAIGHT, edges::crossings::Crossings};

const CELLS: usize = (CHUNK * CHUNK) as usize;
/// Offsets to the chunks from which links ahead may lead into a chunk.
const LINKING: [(i32, i32); 5] = [(-1, 0), (0, -1), (-1, -1), (1, -1), (-1, 1)];
/// Offsets to the chunks whose links ahead may change if a chunk changes: links that lead into it, or past its corner, where an
/// edge and an impassable cell together may divide two cells.
const RELINKED: [(i32, i32); 7] = [(-1, 0), (0, -1), (-1, -1), (1, -1), (-1, 1), (1, 0), (0, 1)];
/// Label of an impassable cell.
const UNLABELED: u16 = u16::MAX;

/// Which cells of the row above are joined to a cell besides the cell straight above: the cell to the left of
/// that, and the cell to the right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Joints {
    pub(crate) left: bool,
    pub(crate) right: bool,
}

impl Joints {
    /// Whether cells are joined by straight steps only.
    pub(crate) const fn are_straight(self) -> bool {
        !self.left && !self.right
    }
}

/// What regions are made of: passable cells, and the edges between them.
#[derive(Clone, Copy)]
pub(crate) struct Connections<'a> {
    pub(crate) bits: &'a BitRows,
    pub(crate) crossings: Option<&'a Crossings>,
    /// Whether edges with a cost divide cells, too, not only shut edges.
    pub(crate) divides_at_costs: bool,
}

impl<'a> Connections<'a> {
    /// Divided by shut edges only.
    pub(crate) const fn new(bits: &'a BitRows, crossings: Option<&'a Crossings>) -> Self {
        Self { bits, crossings, divides_at_costs: false }
    }

    /// The same, but also divided by edges that cost something.
    pub(crate) const fn without_costly(self) -> Self {
        Self { divides_at_costs: true, ..self }
    }

    /// Whether no edge divides a passable cell from the next one in a direction.
    #[inline]
    pub(crate) fn are_joined(&self, (x, y): (u32, u32), direction: Direction) -> bool {
        self.crossings.is_none_or(|crossings| {
            let legal = crossings.legal_steps(x, y);
            let is_legal = legal.is_none_or(|legal| legal >> direction as u8 & 1 == 1);
            let is_divided = || crossings.cost(x, y, direction as usize) > 0;
            is_legal && !(self.divides_at_costs && is_divided())
        })
    }

    /// Whether edges may lie between cells of a chunk.
    pub(crate) fn has_edges_in(&self, chunk: u32) -> bool {
        self.crossings.is_some_and(|crossings| crossings.is_chunk_beside(chunk))
    }
}

/// Components of every chunk and the connected regions they form.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Regions {
    /// Size in cells.
    pub(crate) size: (u32, u32),
    /// Size in chunks.
    pub(crate) chunks: (u32, u32),
    joints: Joints,
    /// Component of each cell within its chunk; chunk by chunk, row-major inside.
    labels: Vec<u16>,
    /// Components of each chunk and their links to the chunks ahead (right, up and diagonally up).
    shapes: Vec<ChunkShape>,
    region_ids: RegionIds,
}

/// What the regions depend on: while it is unchanged, so are the regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct ChunkShape {
    components: u16,
    links: Vec<Link>,
}

impl Regions {
    pub(crate) fn new(width: u32, height: u32, joints: Joints) -> Self {
        let chunks = (width.div_ceil(CHUNK), height.div_ceil(CHUNK));
        let count = chunks.0 as usize * chunks.1 as usize;
        Self {
            size: (width, height),
            chunks,
            joints,
            labels: vec![UNLABELED; count * CELLS],
            shapes: vec![ChunkShape::default(); count],
            region_ids: RegionIds::default(),
        }
    }

    /// Labels all chunks from scratch.
    pub(crate) fn rebuild(&mut self, connections: Connections<'_>) {
        self.relabel_all(&(0..self.shapes.len() as u32).collect(), connections);
        self.region_ids.rebuild(&self.shapes);
    }

    /// Relabels the chunks of edited rectangles and updates their links and the
    /// regions.
    pub(crate) fn repair(
        &mut self,
        edited: impl Iterator<Item = Rect>,
        connections: Connections<'_>,
    ) {
        let chunks = self.chunks;
        let edited: BTreeSet<u32> = edited.flat_map(|rect| chunks_in(rect, chunks.0)).collect();
        if !self.relabel_all(&edited, connections) {
            return;
        }
        let around = edited.iter().flat_map(|&chunk| chunks_at(&OFFSETS, chunks, chunk));
        let around: BTreeSet<u32> = around.filter(|chunk| !edited.contains(chunk)).collect();
        let shapes = &self.shapes;
        self.region_ids.update(shapes, &edited, &around, |(chunk, label)| {
            let ahead = shapes[chunk as usize].links.iter().filter(move |l| l.from == label);
            let back = chunks_at(&LINKING, chunks, chunk).flat_map(move |linking| {
                let links = shapes[linking as usize].links.iter();
                let here = links.filter(move |l| (l.chunk, l.to) == (chunk, label));
                here.map(move |l| (linking, l.from))
            });
            ahead.map(|l| (l.chunk, l.to)).chain(back)
        });
    }

    /// Only finds the components of a chunk again, not the regions; returns how many there are.
    pub(crate) fn relabel_chunk(&mut self, chunk: u32, connections: Connections<'_>) -> u16 {
        self.relabel(chunk, connections);
        self.shapes[chunk as usize].components
    }

    /// Relabels chunks and their links; returns whether a shape has changed.
    fn relabel_all(&mut self, edited: &BTreeSet<u32>, connections: Connections<'_>) -> bool {
        let mut changed = false;
        for &chunk in edited {
            changed |= self.relabel(chunk, connections);
        }
        let linking = edited.iter().flat_map(|&chunk| chunks_at(&RELINKED, self.chunks, chunk));
        let linked: BTreeSet<u32> = linking.chain(edited.iter().copied()).collect();
        for chunk in linked {
            changed |= self.relink(chunk, connections);
        }
        changed
    }

    /// Returns the connected region of a cell on the grid; `None` if it is impassable.
    #[inline]
    pub(crate) fn region(&self, x: u32, y: u32) -> Option<u32> {
        let chunk = self.chunk_of(x, y);
        let label = self.labels[chunk * CELLS + cell_of(x, y)];
        (label != UNLABELED).then(|| self.region_ids.get(chunk, label))
    }

    /// Returns the component of a cell within its chunk; `u16::MAX` if it is impassable.
    #[inline]
    pub(crate) fn label(&self, x: u32, y: u32) -> u16 {
        self.labels[self.chunk_of(x, y) * CELLS + cell_of(x, y)]
    }

    pub(crate) const fn joints(&self) -> Joints {
        self.joints
    }

    pub(crate) const fn region_count(&self) -> u32 {
        self.region_ids.count
    }

    /// Whether any cell of the chunk belongs to `region`.
    pub(crate) fn chunk_has_region(&self, chunk_x: u32, chunk_y: u32, region: u32) -> bool {
        self.region_ids.chunk_has_region((chunk_y * self.chunks.0 + chunk_x) as usize, region)
    }

    /// Iterates over the chunks at Chebyshev distance `ring` from the chunk of a cell, row by row: column and
    /// row of each.
    pub(crate) fn ring_around(
        &self,
        (x, y): (u32, u32),
        ring: u32,
    ) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (center, chunks, ring) = ((x / CHUNK, y / CHUNK), self.chunks, ring as i32);
        (-ring..=ring)
            .flat_map(move |dy| {
                let step = if dy.abs() == ring { 1 } else { (2 * ring).max(1) };
                (-ring..=ring).step_by(step as usize).map(move |dx| (dx, dy))
            })
            .filter_map(move |offset| at_offset(center, offset, chunks))
    }

    /// Returns how many rings around a chunk, itself included, may contain chunks.
    pub(crate) fn max_rings(&self) -> u32 {
        self.chunks.0.max(self.chunks.1)
    }

    pub(crate) fn bytes(&self) -> usize {
        let links: usize = self.shapes.iter().map(|shape| shape.links.len()).sum();
        2 * self.labels.len()
            + self.shapes.len() * size_of::<ChunkShape>()
            + links * size_of::<Link>()
            + self.region_ids.bytes()
    }

    fn chunk_of(&self, x: u32, y: u32) -> usize {
        ((y / CHUNK) * self.chunks.0 + x / CHUNK) as usize
    }

    /// Finds the components of one chunk; returns whether their number changed.
    fn relabel(&mut self, chunk: u32, connections: Connections<'_>) -> bool {
        let (x, y) = ((chunk % self.chunks.0) * CHUNK, (chunk / self.chunks.0) * CHUNK);
        let mut rows = [0; CHUNK as usize];
        for (row, dy) in rows.iter_mut().zip(0..CHUNK.min(self.size.1 - y)) {
            // Beyond the right edge of the grid the bits are zero already.
            *row = connections.bits.cells_32(x, y + dy);
        }
        let start = chunk as usize * CELLS;
        let labels = &mut self.labels[start..start + CELLS];
        let components = if connections.has_edges_in(chunk) {
            label_beside_edges(&rows, ((x, y), connections), self.joints, labels)
        } else {
            label_components(&rows, self.joints, labels)
        };
        let before = std::mem::replace(&mut self.shapes[chunk as usize].components, components);
        before != components
    }

    /// Finds the links from one chunk to those ahead of it; returns whether they changed.
    fn relink(&mut self, chunk: u32, connections: Connections<'_>) -> bool {
        let (x, y) = ((chunk % self.chunks.0) * CHUNK, (chunk / self.chunks.0) * CHUNK);
        let mut links = Vec::new();
        let (right, top) = (x + CHUNK - 1, y + CHUNK - 1);
        let Joints { left: falling, right: rising } = self.joints;
        // Steps to the right and upwards, and whether joints allow them.
        use Direction::{East, North, NorthEast, NorthWest, SouthEast};
        let ahead =
            [(East, North, true), (NorthEast, NorthEast, rising), (SouthEast, NorthWest, falling)];
        for (rightward, upward, _) in ahead.into_iter().filter(|&(.., is_joined)| is_joined) {
            for along in 0..CHUNK {
                self.link(connections, &mut links, (right, y + along), rightward);
            }
            for along in 0..CHUNK {
                self.link(connections, &mut links, (x + along, top), upward);
            }
        }
        links.sort_unstable();
        links.dedup();
        let changed = links != self.shapes[chunk as usize].links;
        self.shapes[chunk as usize].links = links;
        changed
    }

    /// Adds the link from the cell `from` to its neighbor, if both are passable and in different chunks.
    fn link(
        &self,
        connections: Connections<'_>,
        links: &mut Vec<Link>,
        from: (u32, u32),
        direction: Direction,
    ) {
        let bits = connections.bits;
        let passable = |offset| at_offset(from, offset, self.size).filter(|&(x, y)| bits.get(x, y));
        let (Some(_), Some((x, y))) = (passable((0, 0)), passable(direction.offset())) else {
            return;
        };
        let (here, there) = (self.chunk_of(from.0, from.1), self.chunk_of(x, y));
        if here != there && connections.are_joined(from, direction) {
            let link = Link {
                from: self.labels[here * CELLS + cell_of(from.0, from.1)],
                to: self.labels[there * CELLS + cell_of(x, y)],
                chunk: there as u32,
            };
            // Adjacent cells mostly have the same link.
            if links.last() != Some(&link) {
                links.push(link);
            }
        }
    }
}

/// Returns a lower bound on the distance (weight over open terrain) from any cell of a chunk to a ring of
/// chunks around it.
pub(crate) const fn ring_distance(ring: u32) -> u32 {
    STRAIGHT * (ring.saturating_sub(1) * CHUNK + (ring > 0) as u32)
}

/// Returns the chunks of a rectangle of cells.
pub(crate) fn chunks_in((x, y, width, height): Rect, per_row: u32) -> impl Iterator<Item = u32> {
    let columns = x / CHUNK..=(x + width - 1) / CHUNK;
    let rows = y / CHUNK..=(y + height - 1) / CHUNK;
    rows.flat_map(move |row| columns.clone().map(move |column| row * per_row + column))
}

/// Returns the chunks at `offsets` from a chunk, where there are any.
pub(crate) fn chunks_at(
    offsets: &[(i32, i32)],
    chunks: (u32, u32),
    chunk: u32,
) -> impl Iterator<Item = u32> {
    let from = (chunk % chunks.0, chunk / chunks.0);
    let found = offsets.iter().filter_map(move |&offset| at_offset(from, offset, chunks));
    found.map(move |(x, y)| y * chunks.0 + x)
}

/// Returns the column and row at an offset, if they lie within `size`.
#[inline]
fn at_offset((x, y): (u32, u32), (dx, dy): (i32, i32), size: (u32, u32)) -> Option<(u32, u32)> {
    let (x, y) = (x.checked_add_signed(dx)?, y.checked_add_signed(dy)?);
    (x < size.0 && y < size.1).then_some((x, y))
}

fn cell_of(x: u32, y: u32) -> usize {
    ((y % CHUNK) * CHUNK + x % CHUNK) as usize
}

/// Returns the root of `item`, halving the path to it.
fn find_root(parents: &mut [u32], mut item: u32) -> u32 {
    while parents[item as usize] != item {
        let above = parents[parents[item as usize] as usize];
        parents[item as usize] = above;
        item = above;
    }
    item
}

/// Joins the sets of `a` and `b`; the lower root becomes the root of both.
fn union_sets(parents: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find_root(parents, a), find_root(parents, b));
    parents[a.max(b) as usize] = a.min(b);
}
