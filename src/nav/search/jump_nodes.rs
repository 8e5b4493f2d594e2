//! Search nodes by cell for jump point search: few and far apart, so hashed instead of paged.
//!
//! Input: cells (column and row from the grid's origin). Output: [`NodeId`]s, counted up from 0, and their
//! `JumpNode`s. Memory follows the number of nodes, whatever the size of the grid. The table uses open
//! addressing with linear probing and is at most half full; nodes store their slots, so that clearing takes
//! time only for the nodes used.

use crate::nav::{NO_DIRECTION, NodeId, grid::MAX_SIDE};

/// Parent of a node that has none: of the start, or of a goal cell.
pub(super) const NO_NODE: NodeId = NodeId::MAX;
/// Slots of the smallest table.
const MIN_SLOTS: usize = 256;
/// A larger table is freed when a search ends, together with its nodes: at most half a MiB stays allocated.
const MAX_IDLE_SLOTS: usize = 1 << 15;

/// The state of a cell in a jump point search.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct JumpNode {
    /// Column and row, from the grid's origin: no side is longer than 16 bits can count.
    column: u16,
    row: u16,
    /// Cost from the root of the search, in the layer's units.
    pub(super) g: u32,
    /// Lower bound on the cost of the rest of the path.
    pub(super) h: u32,
    pub(super) parent: NodeId,
    slot: u32,
    /// Direction of the last step from the parent.
    pub(super) arrival: u8,
    pub(super) is_closed: bool,
}

const _: () = assert!(size_of::<JumpNode>() == 24 && MAX_SIDE <= u16::MAX as u32);

impl JumpNode {
    #[inline(always)]
    pub(super) const fn cell(&self) -> (u32, u32) {
        (self.column as u32, self.row as u32)
    }
}

/// The nodes of one search.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct JumpNodes {
    nodes: Vec<JumpNode>,
    /// Number of the node in each slot, plus one; 0 where there is none.
    table: Vec<u32>,
}

impl JumpNodes {
    /// Removes all nodes.
    pub(super) fn clear(&mut self) {
        if self.table.len() > MAX_IDLE_SLOTS {
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

    /// Returns the node of the cell, and whether it is new.
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
            if node.cell() == (x, y) {
                return (entry - 1, false);
            }
            slot = (slot + 1) & mask;
        }
        let id = self.nodes.len() as NodeId;
        let (parent, slot) = (NO_NODE, slot as u32);
        let (arrival, is_closed) = (NO_DIRECTION, false);
        self.nodes.push(JumpNode {
            column: x as u16,
            row: y as u16,
            g: 0,
            h: 0,
            parent,
            slot,
            arrival,
            is_closed,
        });
        self.table[slot as usize] = id + 1;
        (id, true)
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (self.table.len() * 2).max(MIN_SLOTS);
        self.table.clear();
        self.table.resize(slots, 0);
        for (id, node) in self.nodes.iter_mut().enumerate() {
            let (x, y) = node.cell();
            let mut slot = hash(x, y) as usize & (slots - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.table[slot] = id as u32 + 1;
            node.slot = slot as u32;
        }
    }
}

/// Spreads cells over slots; neighbors in a row land far apart.
#[inline]
const fn hash(x: u32, y: u32) -> u32 {
    let mixed = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    mixed ^ mixed >> 15
}
