//! The replay: one call of the open list taken apart into what can be seen of it.
//!
//! Input: the array before the call, the call, and the steps the heap took. Output: [`Frame`]s,
//! each with the array as it is then. The library moves a hole through the array and fills it at
//! the end; seen from outside the entry on its way changes places with the one it passes.

use bevy_tilepath::{
    nav::open_list::{Key, NodeId, Operation as HeapStep},
    prelude::Cell,
};

use crate::{event::Event, recorder::Call};

/// What stands in one slot of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub node: NodeId,
    pub cell: Cell,
    pub key: Key,
}

impl Entry {
    /// What the heap sorts by, lowest first.
    pub const fn rank(&self) -> (u32, u32, NodeId) {
        (self.key.f, self.key.h, self.node)
    }
}

/// The array after something has happened.
#[derive(Clone, Debug)]
pub struct Frame {
    pub heap: Vec<Entry>,
    pub event: Event,
}

/// Takes a call apart. `entry` is the node it is about, as the call leaves it.
pub fn replay(heap: &[Entry], call: Call, entry: Entry, steps: &[HeapStep]) -> Vec<Frame> {
    let mut film = Film { heap: heap.to_vec(), frames: Vec::new() };
    match call {
        Call::Insert(..) => {
            film.heap.push(entry);
            film.shoot(Event::Put(film.heap.len() - 1));
        }
        Call::Improve(node, _) => {
            if let Some(slot) = heap.iter().position(|entry| entry.node == node) {
                film.heap[slot] = entry;
                film.shoot(Event::Improved(slot, heap[slot].key));
            }
        }
        Call::Pop(_) => {
            film.shoot(Event::Top);
            film.heap.swap_remove(0);
            let is_empty = film.heap.is_empty();
            film.shoot(if is_empty { Event::Emptied } else { Event::LastToTop });
        }
    }
    film.follow(steps, matches!(call, Call::Pop(_)));
    film.frames
}

/// An array as it changes.
struct Film {
    heap: Vec<Entry>,
    frames: Vec<Frame>,
}

impl Film {
    fn shoot(&mut self, event: Event) {
        self.frames.push(Frame { heap: self.heap.clone(), event });
    }

    fn follow(&mut self, steps: &[HeapStep], is_downward: bool) {
        // Where the entry on its way down stands.
        let mut way = 0;
        for (index, &step) in steps.iter().enumerate() {
            let swaps = matches!(steps.get(index + 1), Some(HeapStep::Moved(..)));
            match step {
                HeapStep::Moved(from, to) => {
                    self.heap.swap(from, to);
                    way = to;
                    self.shoot(Event::Swapped { from, to });
                }
                HeapStep::Compared(child, parent) if !is_downward => {
                    self.shoot(Event::Up { child, parent, swaps });
                }
                HeapStep::Compared(parent, child) if parent == way => {
                    self.shoot(Event::Down { parent, child, swaps });
                }
                HeapStep::Compared(left, right) => self.shoot(Event::Children { left, right }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_tilepath::nav::open_list::OpenList;

    use super::*;
    use crate::recorder::Recorder;

    /// Makes the calls and returns the frames of the last one; every replay must end with the
    /// heap's own array.
    fn frames_of(calls: &[Call]) -> Vec<Frame> {
        let mut recorder = Recorder::default();
        for call in calls {
            match *call {
                Call::Insert(node, key) => recorder.insert(node, key),
                Call::Improve(node, key) => recorder.improve(node, key),
                Call::Pop(node) => assert_eq!(recorder.pop(), Some(node)),
            }
        }
        let (mut heap, mut frames) = (Vec::new(), Vec::new());
        for operation in recorder.operations() {
            let entry = match operation.call {
                Call::Insert(node, key) | Call::Improve(node, key) => {
                    Entry { node, cell: Cell::default(), key }
                }
                Call::Pop(_) => heap[0],
            };
            frames = replay(&heap, operation.call, entry, recorder.steps(operation));
            heap.clone_from(&frames[frames.len() - 1].heap);
            assert!(
                heap.iter().map(|entry: &Entry| entry.node).eq(operation.after.iter().copied())
            );
        }
        frames
    }

    fn inserts(values: &[u32]) -> Vec<Call> {
        let call = |(node, &f)| Call::Insert(node as NodeId, Key { f, h: 0 });
        values.iter().enumerate().map(call).collect()
    }

    fn story(frames: &[Frame]) -> Vec<(Event, Vec<u32>)> {
        let values = |frame: &Frame| frame.heap.iter().map(|entry| entry.key.f).collect();
        frames.iter().map(|frame| (frame.event, values(frame))).collect()
    }

    #[test]
    fn the_article_s_insert() {
        let frames = frames_of(&inserts(&[10, 30, 20, 34, 38, 30, 24, 17]));
        let up = |child, parent, swaps| Event::Up { child, parent, swaps };
        let swapped = |from, to| Event::Swapped { from, to };
        assert_eq!(
            story(&frames),
            [
                (Event::Put(7), vec![10, 30, 20, 34, 38, 30, 24, 17]),
                (up(7, 3, true), vec![10, 30, 20, 34, 38, 30, 24, 17]),
                (swapped(7, 3), vec![10, 30, 20, 17, 38, 30, 24, 34]),
                (up(3, 1, true), vec![10, 30, 20, 17, 38, 30, 24, 34]),
                (swapped(3, 1), vec![10, 17, 20, 30, 38, 30, 24, 34]),
                (up(1, 0, false), vec![10, 17, 20, 30, 38, 30, 24, 34]),
            ]
        );
    }

    #[test]
    fn the_article_s_removal() {
        let mut calls = inserts(&[10, 30, 20, 34]);
        calls.push(Call::Pop(0));
        let frames = frames_of(&calls);
        assert_eq!(
            story(&frames),
            [
                (Event::Top, vec![10, 30, 20, 34]),
                (Event::LastToTop, vec![34, 30, 20]),
                (Event::Children { left: 1, right: 2 }, vec![34, 30, 20]),
                (Event::Down { parent: 0, child: 2, swaps: true }, vec![34, 30, 20]),
                (Event::Swapped { from: 0, to: 2 }, vec![20, 30, 34]),
            ]
        );
    }

    #[test]
    fn a_cheaper_way_and_the_last_one() {
        let mut calls = inserts(&[10, 30]);
        calls.push(Call::Improve(1, Key { f: 5, h: 0 }));
        assert_eq!(frames_of(&calls)[0].event, Event::Improved(1, Key { f: 30, h: 0 }));
        calls.extend([Call::Pop(1), Call::Pop(0)]);
        let frames = frames_of(&calls);
        assert_eq!(story(&frames), [(Event::Top, vec![10]), (Event::Emptied, vec![])]);
    }
}
