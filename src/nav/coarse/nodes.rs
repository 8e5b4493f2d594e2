//! What a coarse search knows of portals: one node each, found by chunk.
//!
//! Input: exits. Output: [`NodeId`]s, dense and counted up, and the nodes behind them. The nodes of
//! a chunk's portals stand together and are made when the first of them is met, so that finding
//! one takes a single look-up by chunk. What a search has touched is noted; the next one clears no
//! more than that. Memory: 4 bytes a chunk of the grid, and 16 for each portal of the chunks met.

use super::{Place, graph::Exit};
use crate::nav::open_list::NodeId;

/// The cell from which the search starts.
pub(super) const START: NodeId = 0;
/// The cell to which it goes.
pub(super) const GOAL: NodeId = 1;
/// With room for more nodes than this (half a MiB), memory is given back when a search ends.
const MOST_IDLE: usize = 1 << 15;

/// A place, and the cheapest way to it so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoarseNode {
    /// Cost from the start; `u32::MAX` where no way is known.
    pub(super) g: u32,
    pub(super) parent: NodeId,
    pub(super) place: Place,
    /// Component into which the way leads.
    pub(super) label: u16,
    /// Whether the way leads to the right or up across a border.
    pub(super) leads_ahead: bool,
    pub(super) is_closed: bool,
}

const UNSEEN: CoarseNode = CoarseNode {
    g: u32::MAX,
    parent: START,
    place: Place { x: 0, y: 0 },
    label: 0,
    leads_ahead: false,
    is_closed: false,
};

/// The nodes of one search.
#[derive(Clone, Debug, Default)]
pub(super) struct CoarseNodes {
    /// First node of each chunk's portals; 0 where none has been met.
    pages: Vec<u32>,
    nodes: Vec<CoarseNode>,
    /// Chunks that have nodes.
    touched: Vec<u32>,
}

impl CoarseNodes {
    /// Begins a search on a grid of so many chunks, with the nodes of start and goal.
    pub(super) fn start(&mut self, chunks: usize, start: CoarseNode) {
        self.clear();
        if self.pages.len() != chunks {
            self.pages.clear();
            self.pages.resize(chunks, 0);
        }
        self.nodes.extend([start, UNSEEN]);
    }

    /// Forgets all nodes.
    pub(super) fn clear(&mut self) {
        if self.nodes.capacity() > MOST_IDLE {
            *self = Self::default();
        }
        for chunk in self.touched.drain(..) {
            self.pages[chunk as usize] = 0;
        }
        self.nodes.clear();
    }

    /// Node of a portal.
    #[inline]
    pub(super) fn id(&mut self, exit: &Exit) -> NodeId {
        let first = self.pages[exit.owner];
        exit.index + if first == 0 { self.add_page(exit) } else { first }
    }

    #[inline]
    pub(super) fn get(&self, id: NodeId) -> CoarseNode {
        self.nodes[id as usize]
    }

    /// The node to write to. `None` only for exits of another graph than that of the first ones.
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
            + 4 * (self.pages.capacity() + self.touched.capacity())
    }

    #[inline(never)]
    fn add_page(&mut self, exit: &Exit) -> NodeId {
        let first = self.nodes.len();
        self.nodes.resize(first + usize::from(exit.count), UNSEEN);
        self.pages[exit.owner] = first as NodeId;
        self.touched.push(exit.owner as u32);
        first as NodeId
    }
}
