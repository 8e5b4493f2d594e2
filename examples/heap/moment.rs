//! A moment: the state of the search after one step.
//!
//! Input: the moment builder's data. Output: [`Moment`]s for the views. All moments of a call share
//! the states of the cells, because only calls change them.

use std::{collections::BTreeMap, sync::Arc};

use bevy_tilepath::{nav::open_list::Key, prelude::*};

use crate::{
    event::{Event, Highlight},
    replay::Entry,
};

/// The state of the search after one step.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// The heap in array order.
    pub heap: Vec<Entry>,
    pub event: Option<Event>,
    pub caption: String,
    /// The cell last removed from the heap: its neighbors are being expanded.
    pub expanded: Option<Cell>,
    /// The state of each cell reached.
    pub cells: Arc<BTreeMap<Cell, CellState>>,
    pub total: Work,
    /// Work of the current call so far.
    pub call: Work,
    pub expansions: u32,
    /// Whether no call is in progress.
    pub is_settled: bool,
}

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellState {
    pub key: Key,
    /// Direction to the cell from which it was reached.
    pub parent: Option<Direction>,
    pub is_closed: bool,
}

/// Counts of the heap's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub comparisons: u32,
    pub swaps: u32,
}

impl Moment {
    /// Returns the highlight of a slot.
    pub fn light(&self, slot: usize) -> Option<Highlight> {
        self.event.filter(|event| event.slots().any(|lit| lit == slot)).map(Highlight::of)
    }

    /// Returns the highlight of a cell's node.
    pub fn light_of(&self, cell: Cell) -> Option<Highlight> {
        let is_lit = |event: &Event| event.slots().any(|slot| self.heap[slot].cell == cell);
        self.event.filter(is_lit).map(Highlight::of)
    }
}
