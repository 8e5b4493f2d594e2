//! Builds moments from the calls of a search.
//!
//! Input: calls of the open list with the heap's steps, in order, and the result of the search.
//! Output: [`Moment`]s.

use std::{collections::BTreeMap, sync::Arc};

use bevy_tilepath::{
    nav::open_list::{Key, NodeId, Operation as HeapStep},
    prelude::*,
};

use crate::{
    caption::caption,
    event::Event,
    moment::{CellState, Moment, Work},
    recorder::{Call, Operation},
    replay::{Entry, Frame, replay},
    scale::Scale,
};

/// The state between calls, and the moments so far.
pub struct MomentBuilder {
    scale: Scale,
    heap: Vec<Entry>,
    cells: Arc<BTreeMap<Cell, CellState>>,
    /// The cell last removed from the heap: the parent of the cells inserted next.
    expanded: Option<Cell>,
    expansions: u32,
    total: Work,
    moments: Vec<Moment>,
}

impl MomentBuilder {
    /// Starts with an empty heap.
    pub fn new(scale: Scale) -> Self {
        let caption = "Nothing has happened yet: the open list is empty".into();
        Self {
            scale,
            heap: Vec::new(),
            cells: Arc::default(),
            expanded: None,
            expansions: 0,
            total: Work::default(),
            moments: vec![Moment { caption, is_settled: true, ..Moment::default() }],
        }
    }

    /// Adds the moments of one call.
    pub fn add_call(
        &mut self,
        operation: &Operation,
        steps: &[HeapStep],
        cell_of: impl Fn(NodeId) -> Cell,
    ) {
        let call = operation.call;
        let entry = match call {
            Call::Insert(node, key) | Call::Improve(node, key) => {
                let entry = Entry { node, cell: cell_of(node), key };
                self.open(entry.cell, key);
                entry
            }
            Call::Pop(_) => self.heap[0],
        };
        let mut work = Work::default();
        let frames = replay(&self.heap, call, entry, steps);
        if matches!(call, Call::Pop(_)) {
            self.expand(entry.cell);
        }
        let last = frames.len() - 1;
        for (index, frame) in frames.into_iter().enumerate() {
            for work in [&mut work, &mut self.total] {
                work.add(frame.event);
            }
            self.add(frame, work, index == last);
        }
        #[cfg(any(test, debug_assertions))]
        assert!(self.heap.iter().map(|entry| entry.node).eq(operation.after.iter().copied()));
    }

    /// Adds the last moment and returns all.
    pub fn finish(mut self, path: Result<&Path, &PathFailure>) -> Vec<Moment> {
        let caption = match path {
            Ok(path) => {
                let cost = path.cost().in_plain_steps() * 10.0;
                format!("Path found: it costs {cost:.0}")
            }
            Err(failure) => format!("No path: {failure}"),
        };
        self.moments.push(Moment {
            heap: self.heap,
            caption,
            expanded: self.expanded,
            cells: self.cells,
            total: self.total,
            expansions: self.expansions,
            is_settled: true,
            ..Moment::default()
        });
        self.moments
    }

    fn open(&mut self, cell: Cell, key: Key) {
        let parent = self.expanded.and_then(|from| Direction::between(cell, from));
        let state = CellState { key, parent, is_closed: false };
        Arc::make_mut(&mut self.cells).insert(cell, state);
    }

    fn expand(&mut self, cell: Cell) {
        if let Some(state) = Arc::make_mut(&mut self.cells).get_mut(&cell) {
            state.is_closed = true;
        }
        self.expanded = Some(cell);
        self.expansions += 1;
    }

    fn add(&mut self, frame: Frame, call: Work, is_settled: bool) {
        self.moments.push(Moment {
            caption: caption(&frame, self.scale),
            event: Some(frame.event),
            expanded: self.expanded,
            cells: Arc::clone(&self.cells),
            total: self.total,
            call,
            expansions: self.expansions,
            is_settled,
            heap: frame.heap.clone(),
        });
        self.heap = frame.heap;
    }
}

impl Work {
    fn add(&mut self, event: Event) {
        match event {
            Event::Up { .. } | Event::Down { .. } | Event::Children { .. } => self.comparisons += 1,
            Event::Swapped { .. } => self.swaps += 1,
            Event::Inserted(_)
            | Event::Improved(..)
            | Event::Top
            | Event::LastToTop
            | Event::Emptied => {}
        }
    }
}
