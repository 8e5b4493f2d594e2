//! Search nodes by cell for jump point search: few and far apart, so hashed instead of paged.
//!
//! Input: cells (column and row from the grid's origin). Output: [`NodeId`]s, counted up from 0, and
//! the `JumpNode`s behind them. Memory follows the number of nodes, whatever the size of the grid.
//! The table is open addressing with linear probing, at most half full; nodes know their slots, so
//! that a search which touched little clears little.

use crate::nav::{moves::NO_DIRECTION, open_list::NodeId};

/// Parent of a node that has none: of the start, or of an end.
pub(super) const NO_NODE: NodeId = NodeId::MAX;
/// Slots of the smallest table.
const LEAST_SLOTS: usize = 256;
/// A table with more slots than this is given back when a search ends, and its nodes: half a MiB
/// stays at most.
const MOST_IDLE_SLOTS: usize = 1 << 15;

/// What a jump point search knows of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct JumpNode {
    pub(super) x: u32,
    pub(super) y: u32,
    /// Cost from where the search began, in the layer's units.
    pub(super) g: u32,
    pub(super) parent: NodeId,
    slot: u32,
    /// Direction of the last step from the parent.
    pub(super) arrival: u8,
    pub(super) is_closed: bool,
}

/// The nodes of one search.
#[derive(Clone, Debug, Default)]
pub(super) struct JumpNodes {
    nodes: Vec<JumpNode>,
    /// Number of the node in each slot and one; 0 where there is none.
    table: Vec<u32>,
}

impl JumpNodes {
    /// Forgets all nodes.
    pub(super) fn clear(&mut self) {
        if self.table.len() > MOST_IDLE_SLOTS {
            *self = Self::default();
        }
        for node in self.nodes.drain(..) {
            self.table[node.slot as usize] = 0;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<JumpNode>() + self.table.capacity() * 4
    }

    /// All nodes, in the order in which they were found.
    pub(super) fn iter(&self) -> impl Iterator<Item = &JumpNode> {
        self.nodes.iter()
    }

    #[inline]
    pub(super) fn get(&self, id: NodeId) -> JumpNode {
        self.nodes[id as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: NodeId) -> &mut JumpNode {
        &mut self.nodes[id as usize]
    }

    /// The node of the cell, and whether it was not known before.
    #[inline]
    pub(super) fn find_or_add(&mut self, x: u32, y: u32) -> (NodeId, bool) {
        if self.nodes.len() * 2 >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut slot = hash(x, y) as usize & mask;
        loop {
            let entry = self.table[slot];
            if entry == 0 {
                break;
            }
            let node = &self.nodes[entry as usize - 1];
            if (node.x, node.y) == (x, y) {
                return (entry - 1, false);
            }
            slot = (slot + 1) & mask;
        }
        let id = self.nodes.len() as NodeId;
        let (parent, slot) = (NO_NODE, slot as u32);
        let (arrival, is_closed) = (NO_DIRECTION, false);
        self.nodes.push(JumpNode { x, y, g: 0, parent, slot, arrival, is_closed });
        self.table[slot as usize] = id + 1;
        (id, true)
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (self.table.len() * 2).max(LEAST_SLOTS);
        self.table.clear();
        self.table.resize(slots, 0);
        for (id, node) in self.nodes.iter_mut().enumerate() {
            let mut slot = hash(node.x, node.y) as usize & (slots - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.table[slot] = id as u32 + 1;
            node.slot = slot as u32;
        }
    }
}

/// Spreads cells over slots; neighbors in a row land apart.
#[inline]
const fn hash(x: u32, y: u32) -> u32 {
    let mixed = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    mixed ^ mixed >> 15
}
