//! The two numberings of the cells of a field.
//!
//! Input: a grid's width. Output: for each cell the *index* of its cost in memory and, together with a
//! direction of arrival, its *node* number for the open list: row, column and direction, as bits. The open
//! list carries the arrival this way and memory holds only costs. Neither a cell nor its neighbors need a
//! division or a bounds check: only legal steps are followed, and those stay on the grid.
//!
//! A node is one arrival at one cell. A cell that is reached again at a lower cost is inserted as another
//! node, so each node is in the open list at most once.

use crate::nav::{Direction, NodeId, OFFSETS, grid::MAX_SIDE};

/// Lowest bits of a node's number: the direction of arrival.
const ARRIVAL_BITS: u32 = 3;
/// Cells whose costs share a cache line.
const CELLS_PER_LINE: u32 = 16;

const _: () = assert!(MAX_SIDE.next_power_of_two().trailing_zeros() * 2 + ARRIVAL_BITS <= 32);

/// Numbers of cells and nodes; see the [module](self).
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct CellLayout {
    /// Offset from one row to the next: an odd number of cache lines, so that cells above each other do not
    /// compete for the same cache sets.
    row_stride: u32,
    column_bits: u32,
    column_mask: u32,
    /// What a step adds to an index, by direction.
    index_offsets: [i32; 8],
    /// What it adds to a node number whose direction bits are 0; includes the direction itself.
    node_offsets: [i32; 8],
}

impl CellLayout {
    pub(super) fn new(width: u32) -> Self {
        let row_stride = (width.div_ceil(CELLS_PER_LINE) | 1) * CELLS_PER_LINE;
        let column_bits = width.next_power_of_two().trailing_zeros();
        let (column, row) = (1 << ARRIVAL_BITS, 1 << (ARRIVAL_BITS + column_bits));
        let node_offset = |direction: Direction| {
            let (dx, dy) = direction.offset();
            direction as i32 + dx * column + dy * row
        };
        Self {
            row_stride,
            column_bits,
            column_mask: (1 << column_bits) - 1,
            index_offsets: OFFSETS.map(|(dx, dy)| dx + dy * row_stride as i32),
            node_offsets: Direction::ALL.map(node_offset),
        }
    }

    /// Returns the index of the cell's cost.
    #[inline(always)]
    pub(super) fn index(&self, x: u32, y: u32) -> usize {
        (y * self.row_stride + x) as usize
    }

    /// Returns the node of the cell as reached in direction 0.
    #[inline(always)]
    pub(super) fn node(&self, x: u32, y: u32) -> NodeId {
        (y << self.column_bits | x) << ARRIVAL_BITS
    }

    /// Returns the column and row of the node's cell.
    #[inline(always)]
    pub(super) fn cell_of(&self, node: NodeId) -> (u32, u32) {
        let cell = node >> ARRIVAL_BITS;
        (cell & self.column_mask, cell >> self.column_bits)
    }

    /// Returns the direction in which the node's cell was reached.
    #[inline(always)]
    pub(super) fn arrival(node: NodeId) -> u8 {
        (node & 7) as u8
    }

    /// Returns the index of the neighbor's cost in a direction (0 to 7).
    #[inline(always)]
    pub(super) fn index_of_neighbor(&self, index: usize, direction: usize) -> usize {
        index.wrapping_add_signed(self.index_offset(direction))
    }

    /// Returns the offset from the index of a cell to that of its neighbor in a direction (0 to 7).
    #[inline(always)]
    pub(super) fn index_offset(&self, direction: usize) -> isize {
        self.index_offsets[direction & 7] as isize
    }

    /// Returns the node of the neighbor in a direction (0 to 7), reached in that direction.
    #[inline(always)]
    pub(super) fn node_of_neighbor(&self, node: NodeId, direction: usize) -> NodeId {
        (node & !7).wrapping_add_signed(self.node_offsets[direction & 7])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn steps_lead_to_the_numbers_of_the_neighbor() {
        for width in [1, 2, 3, 16, 37, 64, 512, MAX_SIDE] {
            let layout = CellLayout::new(width);
            for (x, y) in [(0, 1), (width / 2, 1), (width - 1, 1), (width - 1, MAX_SIDE - 2)] {
                assert_eq!(layout.cell_of(layout.node(x, y)), (x, y));
                for direction in Direction::ALL {
                    let (dx, dy) = direction.offset();
                    let to = (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
                    if to.0 >= width {
                        continue;
                    }
                    let number = direction as usize;
                    let node = layout.node_of_neighbor(layout.node(x, y) | 5, number);
                    assert_eq!(
                        (layout.cell_of(node), CellLayout::arrival(node)),
                        (to, direction as u8)
                    );
                    let index = layout.index_of_neighbor(layout.index(x, y), number);
                    assert_eq!(index, layout.index(to.0, to.1));
                }
            }
        }
    }

    #[test]
    fn no_two_cells_share_a_number() {
        for width in [1, 5, 16, 33] {
            let layout = CellLayout::new(width);
            let cells = || (0..9).flat_map(move |y| (0..width).map(move |x| (x, y)));
            let indices: BTreeSet<usize> = cells().map(|(x, y)| layout.index(x, y)).collect();
            let nodes: BTreeSet<NodeId> = cells().map(|(x, y)| layout.node(x, y)).collect();
            assert_eq!((indices.len(), nodes.len()), (9 * width as usize, 9 * width as usize));
            assert!(indices.iter().all(|&index| index < layout.index(0, 9)));
        }
    }
}
