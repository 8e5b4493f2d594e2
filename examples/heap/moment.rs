//! A moment: what can be seen at one time.
//!
//! Made by the teller, shown by the views. What is known of the cells is shared by all moments of
//! a call, because only calls change it.

use std::{collections::BTreeMap, sync::Arc};

use bevy_tilepath::{nav::open_list::Key, prelude::*};

use crate::{
    event::{Event, Light},
    replay::Entry,
};

/// What can be seen at one time.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// The heap in array order.
    pub heap: Vec<Entry>,
    pub event: Option<Event>,
    pub caption: String,
    /// The cell last taken from the heap: its neighbors are being looked at.
    pub expanded: Option<Cell>,
    /// What is known of each cell that was seen.
    pub cells: Arc<BTreeMap<Cell, Known>>,
    pub total: Work,
    /// What the call under way has taken so far.
    pub call: Work,
    pub expansions: u32,
    /// Whether no call is under way.
    pub is_settled: bool,
}

/// What is known of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    pub key: Key,
    /// The way to the cell it was reached from.
    pub parent: Option<Direction>,
    pub is_closed: bool,
}

/// What a heap does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub comparisons: u32,
    pub swaps: u32,
}

impl Moment {
    /// Why a slot is lit, if it is.
    pub fn light(&self, slot: usize) -> Option<Light> {
        self.event.filter(|event| event.slots().any(|lit| lit == slot)).map(Light::of)
    }

    /// Why the node of a cell is lit, if it is.
    pub fn light_of(&self, cell: Cell) -> Option<Light> {
        let is_lit = |event: &Event| event.slots().any(|slot| self.heap[slot].cell == cell);
        self.event.filter(is_lit).map(Light::of)
    }
}
