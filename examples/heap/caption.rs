//! The captions of frames.
//!
//! Input: a [`Frame`] and the [`Scale`]. Output: one sentence.

use crate::{
    event::Event,
    replay::{Entry, Frame},
    scale::Scale,
};

/// Returns the caption of a frame.
pub fn caption(frame: &Frame, scale: Scale) -> String {
    let heap = &frame.heap;
    let f = |slot: usize| scale.show(heap[slot].key.f);
    match frame.event {
        Event::Inserted(0) => {
            format!("{} for cell {} goes into the empty heap", f(0), heap[0].cell)
        }
        Event::Inserted(slot) => {
            format!("{} for cell {} goes to the end, slot {slot}", f(slot), heap[slot].cell)
        }
        Event::Improved(slot, before) => {
            let (now, before) = scale.show_both(heap[slot].key.f, before.f);
            format!("A cheaper way to {}: {before} becomes {now}", heap[slot].cell)
        }
        Event::Top => {
            format!("{} at the top is the lowest: cell {} is taken", f(0), heap[0].cell)
        }
        Event::LastToTop if heap.len() == 1 => format!("Only {} is left: it is the top", f(0)),
        Event::LastToTop => format!("The last entry, {}, moves to the top", f(0)),
        Event::Emptied => "The heap is empty".into(),
        Event::Up { child, parent, swaps } => {
            let text = verdict(heap[child], "its parent", heap[parent], scale);
            format!("{text}: {}", if swaps { "they swap" } else { "it stays" })
        }
        Event::Down { parent, child, swaps } => {
            let text = verdict(heap[parent], "its child", heap[child], scale);
            format!("{text}: {}", if swaps { "they swap" } else { "it stays" })
        }
        Event::Children { left, right } => {
            let text = verdict(heap[left], "right child", heap[right], scale);
            let is_left = heap[left].rank() <= heap[right].rank();
            let side = if is_left { "left" } else { "right" };
            format!("Left child {text}: on with the {side}")
        }
        Event::Swapped { from, to } => {
            let (there, back) = if to < from { ("up", "down") } else { ("down", "up") };
            format!("{} moves {there} to slot {to}, {} {back} to slot {from}", f(to), f(from))
        }
    }
}

/// Describes how an entry compares with another one: by f, then by h, then by cell.
fn verdict(one: Entry, name: &str, other: Entry, scale: Scale) -> String {
    let word = |is_lower: bool| if is_lower { "lower" } else { "higher" };
    let (one_f, other_f) = scale.show_both(one.key.f, other.key.f);
    if one.key.f != other.key.f {
        let word = word(one.key.f < other.key.f);
        return format!("{one_f} is {word} than {name} {other_f}");
    }
    let (one_h, other_h) = scale.show_both(one.key.h, other.key.h);
    if one.key.h != other.key.h {
        let word = word(one.key.h < other.key.h);
        return format!("{one_f} equals {name}, its h {one_h} is {word} than {other_h}");
    }
    let order = if one.node < other.node { "first" } else { "later" };
    format!("{one_f} equals {name} in f and h, and its cell counts {order}")
}

#[cfg(test)]
mod tests {
    use bevy_tilepath::{nav::open_list::Key, prelude::Cell};

    use super::*;

    fn says(event: Event, keys: &[(u32, u32)]) -> String {
        let entry = |(node, &(f, h)): (usize, &(u32, u32))| Entry {
            node: node as u32,
            cell: Cell::new(3, 4),
            key: Key { f, h },
        };
        let frame = Frame { heap: keys.iter().enumerate().map(entry).collect(), event };
        caption(&frame, Scale(0.1))
    }

    #[test]
    fn ties_are_explained() {
        let up = |swaps| Event::Up { child: 1, parent: 0, swaps };
        assert_eq!(
            says(up(true), &[(310, 0), (230, 0)]),
            "23 is lower than its parent 31: they swap"
        );
        assert_eq!(
            says(up(false), &[(228, 0), (231, 0)]),
            "23.1 is higher than its parent 22.8: it stays"
        );
        assert_eq!(
            says(up(true), &[(230, 90), (230, 70)]),
            "23 equals its parent, its h 7 is lower than 9: they swap"
        );
        assert_eq!(
            says(up(false), &[(230, 70), (230, 70)]),
            "23 equals its parent in f and h, and its cell counts later: it stays"
        );
        assert_eq!(
            says(Event::Children { left: 1, right: 2 }, &[(500, 0), (300, 0), (240, 0)]),
            "Left child 30 is higher than right child 24: on with the right"
        );
    }

    #[test]
    fn a_decrease_smaller_than_the_rounding_is_shown() {
        let event = Event::Improved(0, Key { f: 232, h: 0 });
        assert_eq!(says(event, &[(229, 0)]), "A cheaper way to (3, 4): 23.2 becomes 22.9");
    }
}
