//! The nodes of a coarse search: one for each portal or ford, found by chunk.
//!
//! Input: exits. Output: [`NodeId`]s, dense and ascending, and their nodes. The nodes of a chunk's portals
//! and fords are contiguous and are created when the first of them is reached, so that finding one takes a single
//! look-up by chunk. The chunks that a search has touched are recorded; the next search clears no more than
//! those. Memory: 4 bytes per chunk of the grid, and 16 for each portal of the chunks reached.

use super::{HalfCell, graph::Exit};
use crate::nav::{Direction, NodeId};

/// The cell from which the search starts.
pub(super) const START: NodeId = 0;
/// The goal cell.
pub(super) const GOAL: NodeId = 1;
/// With capacity for more nodes than this (half a MiB), memory is released when a search ends.
const MAX_IDLE_NODES: usize = 1 << 15;

/// A position, and the cheapest path to it so far.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct CoarseNode {
    /// Cost from the start; `u32::MAX` if no path is known.
    pub(super) g: u32,
    pub(super) parent: NodeId,
    pub(super) position: HalfCell,
    /// Component into which the path leads.
    pub(super) label: u16,
    /// The step with which the path leads there; `None` for the start and the goal.
    pub(super) entered_by: Option<Direction>,
    pub(super) is_closed: bool,
}

/// A node to which no path is known.
pub(super) const UNREACHED: CoarseNode = CoarseNode {
    g: u32::MAX,
    parent: START,
    position: HalfCell { x: 0, y: 0 },
    label: 0,
    entered_by: None,
    is_closed: false,
};

/// The nodes of one search.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct CoarseNodes {
    /// First node of each chunk's portals; 0 if none has been reached.
    first_nodes: Vec<u32>,
    nodes: Vec<CoarseNode>,
    /// Chunks that have nodes.
    touched: Vec<u32>,
}

impl CoarseNodes {
    /// Begins a search on a grid of so many chunks, with the nodes of start and goal.
    pub(super) fn start(&mut self, chunks: usize, start: CoarseNode) {
        self.clear();
        if self.first_nodes.len() != chunks {
            self.first_nodes.clear();
            self.first_nodes.resize(chunks, 0);
        }
        self.nodes.extend([start, UNREACHED]);
    }

    /// Drops all nodes.
    pub(super) fn clear(&mut self) {
        if self.nodes.capacity() > MAX_IDLE_NODES {
            *self = Self::default();
        }
        for chunk in self.touched.drain(..) {
            self.first_nodes[chunk as usize] = 0;
        }
        self.nodes.clear();
    }

    /// Returns the node of a portal.
    #[inline]
    pub(super) fn id(&mut self, exit: &Exit) -> NodeId {
        let first = self.first_nodes[exit.owner];
        exit.index + if first == 0 { self.add_chunk(exit) } else { first }
    }

    #[inline]
    pub(super) fn get(&self, id: NodeId) -> CoarseNode {
        self.nodes[id as usize]
    }

    /// Returns the node for writing. `None` only if the exit is of another graph than earlier ones.
    #[inline]
    pub(super) fn get_mut(&mut self, id: NodeId) -> Option<&mut CoarseNode> {
        self.nodes.get_mut(id as usize)
    }

    /// Closes a node that was returned by the open list.
    #[inline]
    pub(super) fn close(&mut self, id: NodeId) -> CoarseNode {
        let node = &mut self.nodes[id as usize];
        node.is_closed = true;
        *node
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<CoarseNode>()
            + 4 * (self.first_nodes.capacity() + self.touched.capacity())
    }

    #[inline(never)]
    fn add_chunk(&mut self, exit: &Exit) -> NodeId {
        let first = self.nodes.len();
        self.nodes.resize(first + exit.count as usize, UNREACHED);
        self.first_nodes[exit.owner] = first as NodeId;
        self.touched.push(exit.owner as u32);
        first as NodeId
    }
}
