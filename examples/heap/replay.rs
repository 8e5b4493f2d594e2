//! The replay: one call of the open list, divided into visible steps.
//!
//! Input: the array before the call, the call, and the heap's steps. Output: [`Frame`]s, each with
//! the array at that step. The library moves a hole through the array and fills it at the end; this
//! is shown as swaps of the moving entry with the ones it passes.

use bevy_tilepath::{
    nav::open_list::{Key, NodeId, Operation as HeapStep},
    prelude::Cell,
};

use crate::{event::Event, recorder::Call};

/// An entry of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub node: NodeId,
    pub cell: Cell,
    pub key: Key,
}

impl Entry {
    /// Returns the heap's sorting key, lowest first.
    pub const fn rank(&self) -> (u32, u32, NodeId) {
        (self.key.f, self.key.h, self.node)
    }
}

/// The array after an event.
#[derive(Clone, Debug)]
pub struct Frame {
    pub heap: Vec<Entry>,
    pub event: Event,
}

/// Returns the frames of a call. `entry` is the call's node, with its key after the call.
pub fn replay(heap: &[Entry], call: Call, entry: Entry, steps: &[HeapStep]) -> Vec<Frame> {
    let mut recorder = FrameRecorder { heap: heap.to_vec(), frames: Vec::new() };
    match call {
        Call::Insert(..) => {
            recorder.heap.push(entry);
            recorder.record(Event::Inserted(recorder.heap.len() - 1));
        }
        Call::Improve(node, _) => {
            if let Some(slot) = heap.iter().position(|entry| entry.node == node) {
                recorder.heap[slot] = entry;
                recorder.record(Event::Improved(slot, heap[slot].key));
            }
        }
        Call::Pop(_) => {
            recorder.record(Event::Top);
            recorder.heap.swap_remove(0);
            let is_empty = recorder.heap.is_empty();
            recorder.record(if is_empty { Event::Emptied } else { Event::LastToTop });
        }
    }
    recorder.apply_steps(steps, matches!(call, Call::Pop(_)));
    recorder.frames
}

/// Applies steps to an array and records its frames.
struct FrameRecorder {
    heap: Vec<Entry>,
    frames: Vec<Frame>,
}

impl FrameRecorder {
    fn record(&mut self, event: Event) {
        self.frames.push(Frame { heap: self.heap.clone(), event });
    }

    fn apply_steps(&mut self, steps: &[HeapStep], is_downward: bool) {
        // Slot of the entry that moves down.
        let mut moving = 0;
        for (index, &step) in steps.iter().enumerate() {
            let swaps = matches!(steps.get(index + 1), Some(HeapStep::Moved(..)));
            match step {
                HeapStep::Moved(from, to) => {
                    self.heap.swap(from, to);
                    moving = to;
                    self.record(Event::Swapped { from, to });
                }
                HeapStep::Compared(child, parent) if !is_downward => {
                    self.record(Event::Up { child, parent, swaps });
                }
                HeapStep::Compared(parent, child) if parent == moving => {
                    self.record(Event::Down { parent, child, swaps });
                }
                HeapStep::Compared(left, right) => self.record(Event::Children { left, right }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_tilepath::nav::open_list::OpenList;

    use super::*;
    use crate::recorder::Recorder;

    /// Makes the calls and returns the frames of the last one. Checks that every replay ends with
    /// the heap's own array.
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

    fn timeline(frames: &[Frame]) -> Vec<(Event, Vec<u32>)> {
        let values = |frame: &Frame| frame.heap.iter().map(|entry| entry.key.f).collect();
        frames.iter().map(|frame| (frame.event, values(frame))).collect()
    }

    #[test]
    fn the_insertion_of_the_article() {
        let frames = frames_of(&inserts(&[10, 30, 20, 34, 38, 30, 24, 17]));
        let up = |child, parent, swaps| Event::Up { child, parent, swaps };
        let swapped = |from, to| Event::Swapped { from, to };
        assert_eq!(
            timeline(&frames),
            [
                (Event::Inserted(7), vec![10, 30, 20, 34, 38, 30, 24, 17]),
                (up(7, 3, true), vec![10, 30, 20, 34, 38, 30, 24, 17]),
                (swapped(7, 3), vec![10, 30, 20, 17, 38, 30, 24, 34]),
                (up(3, 1, true), vec![10, 30, 20, 17, 38, 30, 24, 34]),
                (swapped(3, 1), vec![10, 17, 20, 30, 38, 30, 24, 34]),
                (up(1, 0, false), vec![10, 17, 20, 30, 38, 30, 24, 34]),
            ]
        );
    }

    #[test]
    fn the_removal_of_the_article() {
        let mut calls = inserts(&[10, 30, 20, 34]);
        calls.push(Call::Pop(0));
        let frames = frames_of(&calls);
        assert_eq!(
            timeline(&frames),
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
    fn an_improvement_and_the_last_removal() {
        let mut calls = inserts(&[10, 30]);
        calls.push(Call::Improve(1, Key { f: 5, h: 0 }));
        assert_eq!(frames_of(&calls)[0].event, Event::Improved(1, Key { f: 30, h: 0 }));
        calls.extend([Call::Pop(1), Call::Pop(0)]);
        let frames = frames_of(&calls);
        assert_eq!(timeline(&frames), [(Event::Top, vec![10]), (Event::Emptied, vec![])]);
    }
}
