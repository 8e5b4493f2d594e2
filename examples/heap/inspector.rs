//! The inspector: what is known of the node that is pointed at.
//!
//! Input: a moment and a cell. Output: two lines of text.

use bevy_tilepath::prelude::Cell;

use crate::{moment::Moment, story::Story};

/// What to say while the pointer is elsewhere.
const HINT: &str = "Point at a cell, a node of the tree or a slot of the array:\n\
                    the same node lights up in all three.";

/// Says what is known.
pub fn about(story: &Story, moment: &Moment, cell: Option<Cell>) -> String {
    let Some(cell) = cell else {
        return HINT.into();
    };
    let Some(known) = moment.cells.get(&cell) else {
        return format!("Cell {cell}: the search has not seen it yet.");
    };
    let key = known.key;
    let [f, g, h] = [key.f, key.f - key.h, key.h].map(|units| story.scale.show_finely(units));
    let values = format!("Cell {cell}: f {f} = g {g} + h {h}");
    match moment.heap.iter().position(|entry| entry.cell == cell) {
        Some(slot) => format!("{values}\n{}", family(slot, moment.heap.len())),
        None => format!("{values}\nClosed: it has been taken from the heap."),
    }
}

/// Where parent and children of a slot are.
fn family(slot: usize, count: usize) -> String {
    let parent = match slot {
        0 => "the top".into(),
        slot => format!("parent in slot {}", (slot - 1) / 2),
    };
    let left = 2 * slot + 1;
    let children = match count.saturating_sub(left) {
        0 => "no children".into(),
        1 => format!("child in slot {left}"),
        _ => format!("children in slots {left} and {}", left + 1),
    };
    format!("Slot {slot}: {parent}, {children}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_end_where_the_heap_does() {
        assert_eq!(family(0, 1), "Slot 0: the top, no children.");
        assert_eq!(family(0, 2), "Slot 0: the top, child in slot 1.");
        assert_eq!(family(3, 9), "Slot 3: parent in slot 1, children in slots 7 and 8.");
        assert_eq!(family(4, 9), "Slot 4: parent in slot 1, no children.");
    }
}
