//! Edges: what stands between two neighboring cells, such as walls, fences, doors and rivers.
//!
//! Input: a kind of edge for a cell and the direction of a step out of it. Output: an [`EdgeMap`] with the kinds of a grid. Edges
//! of the map and edges that entities place (as blockers on terrain) are stored apart; of both, the higher number counts. Each
//! edge belongs to the cell from which the step over it leads to the east, to the north or, on hexagons, to the northwest: its
//! [`Side`]. The [`Crossings`](crossings::Crossings) say what edges mean for the steps of one profile.
//!
//! Memory: 6 bytes per cell in chunks of 32 × 32 cells that have edges.

pub(crate) mod crossings;

use crate::nav::{Adjacency, CHUNK, Direction, EdgeId, Rect};

const CELLS: usize = (CHUNK * CHUNK) as usize;

/// The sides of a cell whose edges are stored with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Side {
    East,
    North,
    /// Hexagons only.
    NorthWest,
}

impl Side {
    pub(crate) const ALL: [Self; 3] = [Self::East, Self::North, Self::NorthWest];

    /// The side that a step in a direction crosses, and whether it is a side of the cell entered rather than of the cell left;
    /// `None` where steps cross none (the diagonals of squares).
    pub(crate) const fn of(direction: Direction, adjacency: Adjacency) -> Option<(Self, bool)> {
        match direction {
            Direction::East => Some((Self::East, false)),
            Direction::North => Some((Self::North, false)),
            Direction::West => Some((Self::East, true)),
            Direction::South => Some((Self::North, true)),
            Direction::NorthWest if matches!(adjacency, Adjacency::Six) => {
                Some((Self::NorthWest, false))
            }
            Direction::SouthEast if matches!(adjacency, Adjacency::Six) => {
                Some((Self::NorthWest, true))
            }
            _ => None,
        }
    }

    /// The direction of the step out of the cell over this side.
    pub(crate) const fn direction(self) -> Direction {
        match self {
            Self::East => Direction::East,
            Self::North => Direction::North,
            Self::NorthWest => Direction::NorthWest,
        }
    }
}

/// What sets an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeSource {
    /// The map: tiles, or the game by hand.
    Map,
    /// Entities.
    Placed,
}

/// The kinds of a chunk's edges.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct ChunkEdges {
    /// By cell, source and side.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::array"))]
    kinds: [[[u8; 3]; 2]; CELLS],
    /// Edges that are not [`EdgeId::NONE`].
    count: u32,
}

/// The kind of each edge of a grid; see the [module](self).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EdgeMap {
    /// Columns and rows of chunks.
    size: (u32, u32),
    /// Allocated for chunks that have edges; empty as long as there never were any.
    chunks: Vec<Option<Box<ChunkEdges>>>,
    /// Number of chunks that have edges.
    occupied: usize,
}

impl EdgeMap {
    pub(crate) const fn new(width: u32, height: u32) -> Self {
        let size = (width.div_ceil(CHUNK), height.div_ceil(CHUNK));
        Self { size, chunks: Vec::new(), occupied: 0 }
    }

    /// Whether there are no edges.
    pub(crate) const fn is_empty(&self) -> bool {
        self.occupied == 0
    }

    /// The edges at the three sides of a cell.
    #[inline]
    pub(crate) fn get(&self, x: u32, y: u32) -> [EdgeId; 3] {
        let (chunk, cell) = self.location(x, y);
        let chunk = self.chunks.get(chunk).and_then(Option::as_ref);
        chunk.map_or([EdgeId::NONE; 3], |chunk| sides(&chunk.kinds[cell]))
    }

    /// Sets an edge for one of its sources; returns the edge before and the edge now.
    pub(crate) fn set(
        &mut self,
        (x, y): (u32, u32),
        side: Side,
        (source, edge): (EdgeSource, EdgeId),
    ) -> (EdgeId, EdgeId) {
        let (index, cell) = self.location(x, y);
        if edge == EdgeId::NONE && self.get(x, y) == [EdgeId::NONE; 3] {
            return (EdgeId::NONE, EdgeId::NONE);
        }
        self.chunks.resize(self.size.0 as usize * self.size.1 as usize, None);
        let chunk = &mut self.chunks[index];
        self.occupied += usize::from(chunk.is_none());
        let edges = chunk
            .get_or_insert_with(|| Box::new(ChunkEdges { kinds: [[[0; 3]; 2]; CELLS], count: 0 }));
        let kinds = &mut edges.kinds[cell];
        let before = sides(kinds)[side as usize];
        let replaced = core::mem::replace(&mut kinds[source as usize][side as usize], edge.0);
        let after = sides(kinds)[side as usize];
        edges.count += u32::from(edge != EdgeId::NONE);
        edges.count -= u32::from(replaced != EdgeId::NONE.0);
        if edges.count == 0 {
            *chunk = None;
            self.occupied -= 1;
        }
        (before, after)
    }

    /// Removes all edges to the northwest.
    pub(crate) fn remove_northwest(&mut self) {
        for chunk in &mut self.chunks {
            let Some(edges) = chunk else { continue };
            for kinds in edges.kinds.as_flattened_mut() {
                let removed = core::mem::take(&mut kinds[Side::NorthWest as usize]);
                edges.count -= u32::from(removed != EdgeId::NONE.0);
            }
            if edges.count == 0 {
                *chunk = None;
                self.occupied -= 1;
            }
        }
    }

    /// Whether a chunk that meets a rectangle on the grid has edges.
    pub(crate) fn has_any_in(&self, rect: Rect) -> bool {
        !self.is_empty()
            && crate::nav::chunks_in(rect, self.size.0)
                .any(|chunk| self.chunks[chunk as usize].is_some())
    }

    /// All edges, chunk by chunk: cell, side and kind.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ((u32, u32), Side, EdgeId)> + '_ {
        self.cells().flat_map(|(position, kinds)| {
            let all = Side::ALL.into_iter().zip(sides(kinds));
            let set = all.filter(|&(_, edge)| edge != EdgeId::NONE);
            set.map(move |(side, edge)| (position, side, edge))
        })
    }

    /// All edges that entities have placed: cell and side.
    pub(crate) fn placed(&self) -> impl Iterator<Item = ((u32, u32), Side)> + '_ {
        self.cells().flat_map(|(position, kinds)| {
            let all = Side::ALL.into_iter().zip(kinds[EdgeSource::Placed as usize]);
            all.filter(|&(_, edge)| edge != EdgeId::NONE.0).map(move |(side, _)| (position, side))
        })
    }

    /// All cells of the chunks that have edges, with the kinds that each source has set on their sides.
    fn cells(&self) -> impl Iterator<Item = ((u32, u32), &[[u8; 3]; 2])> + '_ {
        let held = (0..).zip(&self.chunks).filter_map(|(at, chunk)| Some((at, chunk.as_ref()?)));
        held.flat_map(|(at, chunk): (u32, _)| {
            let (left, low) = (at % self.size.0 * CHUNK, at / self.size.0 * CHUNK);
            let cells = (0..).zip(&chunk.kinds);
            cells.map(move |(cell, kinds): (u32, _)| {
                ((left + cell % CHUNK, low + cell / CHUNK), kinds)
            })
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.chunks.len() * size_of::<usize>() + self.occupied * size_of::<ChunkEdges>()
    }

    fn location(&self, x: u32, y: u32) -> (usize, usize) {
        let chunk = (y / CHUNK) * self.size.0 + x / CHUNK;
        (chunk as usize, ((y % CHUNK) * CHUNK + x % CHUNK) as usize)
    }
}

/// The edges at the sides of a cell, from what its sources say.
fn sides(&[map, placed]: &[[u8; 3]; 2]) -> [EdgeId; 3] {
    [0, 1, 2].map(|side| EdgeId(map[side].max(placed[side])))
}

/// How serde writes the first few of all [sides](Side::ALL): as their number.
#[cfg(feature = "serialize")]
pub(crate) mod first_sides {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::Side;

    pub(crate) fn serialize<S: Serializer>(
        sides: &&'static [Side],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        sides.len().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<&'static [Side], D::Error> {
        let count = usize::deserialize(deserializer)?;
        Side::ALL.get(..count).ok_or_else(|| D::Error::invalid_length(count, &"at most three"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_freed_with_their_last_edge() {
        let mut edges = EdgeMap::new(70, 40);
        let (none, fence) = (EdgeId::NONE, EdgeId(7));
        let map = |edge| (EdgeSource::Map, edge);
        assert_eq!(edges.set((69, 39), Side::North, map(none)), (none, none));
        assert!(edges.is_empty());
        assert_eq!(edges.set((69, 39), Side::North, map(fence)), (none, fence));
        assert_eq!(edges.set((3, 2), Side::East, map(EdgeId::WALL)), (none, EdgeId::WALL));
        assert_eq!(edges.set((3, 2), Side::East, map(fence)), (EdgeId::WALL, fence));
        assert_eq!(edges.get(3, 2), [fence, EdgeId::NONE, EdgeId::NONE]);
        assert!(edges.has_any_in((0, 0, 4, 4)) && !edges.has_any_in((0, 32, 64, 8)));
        let all: Vec<_> = edges.iter().collect();
        assert_eq!(all, [((3, 2), Side::East, fence), ((69, 39), Side::North, fence)]);
        let bytes = edges.bytes();
        assert_eq!(edges.set((3, 2), Side::East, map(none)), (fence, none));
        assert_eq!(edges.set((69, 39), Side::North, map(none)), (fence, none));
        assert!(edges.is_empty() && edges.bytes() < bytes);
    }

    #[test]
    fn of_map_and_placed_edges_the_higher_number_counts() {
        let mut edges = EdgeMap::new(8, 8);
        let mut set = |source, edge| edges.set((1, 1), Side::North, (source, EdgeId(edge))).1.0;
        assert_eq!(set(EdgeSource::Map, 3), 3);
        assert_eq!(set(EdgeSource::Placed, 2), 3);
        assert_eq!(set(EdgeSource::Placed, 5), 5);
        assert_eq!(set(EdgeSource::Map, 0), 5);
        assert_eq!(set(EdgeSource::Placed, 0), 0);
        assert!(edges.is_empty());
    }
}
