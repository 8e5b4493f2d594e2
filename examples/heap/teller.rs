//! The teller: keeps count while the calls of a search become moments.
//!
//! Input: calls of the open list with the heap's steps, in their order, and how the search ended.
//! Output: [`Moment`]s.

use std::{collections::BTreeMap, sync::Arc};

use bevy_tilepath::{
    nav::open_list::{Key, NodeId, Operation as HeapStep},
    prelude::*,
};

use crate::{
    caption::caption,
    event::Event,
    moment::{Known, Moment, Work},
    recorder::{Call, Operation},
    replay::{Entry, Frame, replay},
    scale::Scale,
};

/// What holds from one call to the next.
pub struct Teller {
    scale: Scale,
    heap: Vec<Entry>,
    cells: Arc<BTreeMap<Cell, Known>>,
    /// The cell last taken from the top: the parent of whatever is put in.
    expanded: Option<Cell>,
    expansions: u32,
    total: Work,
    moments: Vec<Moment>,
}

impl Teller {
    /// Begins with an empty heap.
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

    /// Tells one call.
    pub fn tell(
        &mut self,
        operation: &Operation,
        steps: &[HeapStep],
        cell_of: impl Fn(NodeId) -> Cell,
    ) {
        let call = operation.call;
        let entry = match call {
            Call::Insert(node, key) | Call::Improve(node, key) => {
                let entry = Entry { node, cell: cell_of(node), key };
                self.learn(entry.cell, key);
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

    /// Ends the story.
    pub fn end(mut self, path: Result<&Path, &PathFailure>) -> Vec<Moment> {
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

    fn learn(&mut self, cell: Cell, key: Key) {
        let parent = self.expanded.and_then(|from| Direction::between(cell, from));
        let known = Known { key, parent, is_closed: false };
        Arc::make_mut(&mut self.cells).insert(cell, known);
    }

    fn expand(&mut self, cell: Cell) {
        if let Some(known) = Arc::make_mut(&mut self.cells).get_mut(&cell) {
            known.is_closed = true;
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
            Event::Put(_)
            | Event::Improved(..)
            | Event::Top
            | Event::LastToTop
            | Event::Emptied => {}
        }
    }
}
