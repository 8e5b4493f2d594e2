//! How the cells of a field are numbered, twice.
//!
//! Input: a grid's width. Output: of each cell the *index* of its cost in memory, and with a
//! direction of arrival its *node* number for the open list: row, column and direction, as bits.
//! So the open list carries the arrival, memory holds nothing but costs, and neither a cell nor
//! its neighbors take a division or a question about bounds: only legal steps are followed, and
//! those stay on the grid.
//!
//! A node is one arrival at one cell. A cell that is reached anew for less is another node, put
//! in by itself: each stands in the list at most once.

use crate::nav::{direction::Direction, grid::MAX_SIDE, open_list::NodeId};

/// Lowest bits of a node's number: the direction of arrival.
const ARRIVAL_BITS: u32 = 3;
/// Cells whose costs share a cache line.
const LINE: u32 = 16;

const _: () = assert!(MAX_SIDE.next_power_of_two().trailing_zeros() * 2 + ARRIVAL_BITS <= 32);

/// Numbers of cells and nodes; see the [module](self).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// From one row to the next: an odd number of cache lines, so that cells above each other do
    /// not compete for the same places in the cache.
    stride: u32,
    column_bits: u32,
    column_mask: u32,
    /// By direction.
    ways: [Way; 8],
}

/// What a step adds to numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    index: i32,
    /// With the direction itself, to be added to a number without one.
    node: i32,
}

impl Frame {
    pub(super) fn new(width: u32) -> Self {
        let stride = (width.div_ceil(LINE) | 1) * LINE;
        let column_bits = width.next_power_of_two().trailing_zeros();
        let ways = Direction::ALL.map(|direction| {
            let (dx, dy) = direction.offset();
            let (column, row) = (1 << ARRIVAL_BITS, 1 << (ARRIVAL_BITS + column_bits));
            Way { index: dx + dy * stride as i32, node: direction as i32 + dx * column + dy * row }
        });
        Self { stride, column_bits, column_mask: (1 << column_bits) - 1, ways }
    }

    /// Index of the cell's cost.
    #[inline(always)]
    pub(super) fn index(&self, x: u32, y: u32) -> usize {
        (y * self.stride + x) as usize
    }

    /// The node of the cell that was reached by direction 0.
    #[inline(always)]
    pub(super) fn node(&self, x: u32, y: u32) -> NodeId {
        (y << self.column_bits | x) << ARRIVAL_BITS
    }

    /// Column and row of the node's cell.
    #[inline(always)]
    pub(super) fn place(&self, node: NodeId) -> (u32, u32) {
        let cell = node >> ARRIVAL_BITS;
        (cell & self.column_mask, cell >> self.column_bits)
    }

    /// The direction by which the node's cell was reached.
    #[inline(always)]
    pub(super) fn arrival(node: NodeId) -> u8 {
        (node & 7) as u8
    }

    /// Index of the cost of the neighbor in a direction (0 to 7).
    #[inline(always)]
    pub(super) fn index_of_neighbor(&self, index: usize, direction: usize) -> usize {
        index.wrapping_add_signed(self.stride(direction))
    }

    /// From the index of a cell to that of its neighbor in a direction (0 to 7).
    #[inline(always)]
    pub(super) fn stride(&self, direction: usize) -> isize {
        self.ways[direction & 7].index as isize
    }

    /// The node of the neighbor in a direction (0 to 7), reached by it.
    #[inline(always)]
    pub(super) fn node_of_neighbor(&self, node: NodeId, direction: usize) -> NodeId {
        (node & !7).wrapping_add_signed(self.ways[direction & 7].node)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn steps_lead_to_the_numbers_of_the_neighbor() {
        for width in [1, 2, 3, 16, 37, 64, 512, MAX_SIDE] {
            let frame = Frame::new(width);
            for (x, y) in [(0, 1), (width / 2, 1), (width - 1, 1), (width - 1, MAX_SIDE - 2)] {
                assert_eq!(frame.place(frame.node(x, y)), (x, y));
                for direction in Direction::ALL {
                    let (dx, dy) = direction.offset();
                    let to = (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
                    if to.0 >= width {
                        continue;
                    }
                    let way = direction as usize;
                    let node = frame.node_of_neighbor(frame.node(x, y) | 5, way);
                    assert_eq!((frame.place(node), Frame::arrival(node)), (to, direction as u8));
                    let index = frame.index_of_neighbor(frame.index(x, y), way);
                    assert_eq!(index, frame.index(to.0, to.1));
                }
            }
        }
    }

    #[test]
    fn no_two_cells_share_a_number() {
        for width in [1, 5, 16, 33] {
            let frame = Frame::new(width);
            let cells = || (0..9).flat_map(move |y| (0..width).map(move |x| (x, y)));
            let indices: BTreeSet<usize> = cells().map(|(x, y)| frame.index(x, y)).collect();
            let nodes: BTreeSet<NodeId> = cells().map(|(x, y)| frame.node(x, y)).collect();
            assert_eq!((indices.len(), nodes.len()), (9 * width as usize, 9 * width as usize));
            assert!(indices.iter().all(|&index| index < frame.index(0, 9)));
        }
    }
}
