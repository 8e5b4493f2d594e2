//! Describes the node under the pointer.
//!
//! Input: a moment and a cell. Output: two lines of text.

use bevy_tilepath::prelude::Cell;

use crate::{moment::Moment, timeline::Timeline};

/// Text shown while the pointer is elsewhere.
const HINT: &str = "Point at a cell, a node of the tree or a slot of the array:\n\
                    the same node is highlighted in all three.";

/// Returns the description of a cell.
pub fn describe(timeline: &Timeline, moment: &Moment, cell: Option<Cell>) -> String {
    let Some(cell) = cell else {
        return HINT.into();
    };
    let Some(state) = moment.cells.get(&cell) else {
        return format!("Cell {cell}: not reached by the search yet.");
    };
    let key = state.key;
    let [g, h, f] = timeline.scale.show_sum(key.f - key.h, key.h);
    let values = format!("Cell {cell}: f {f} = g {g} + h {h}");
    match moment.heap.iter().position(|entry| entry.cell == cell) {
        Some(slot) => format!("{values}\n{}", family(slot, moment.heap.len())),
        None => format!("{values}\nClosed: removed from the heap."),
    }
}

/// Describes the parent and the children of a slot.
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
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::level::{FIRST, Level};

    #[test]
    fn every_line_adds_up() {
        let level = Level::read(FIRST).unwrap();
        let timeline = Timeline::record(&level.grid().unwrap(), level.start, level.goal);
        let moment = timeline.moment(timeline.last());
        assert!(moment.cells.len() > 50);
        for &cell in moment.cells.keys() {
            let text = describe(&timeline, moment, Some(cell));
            let (_, values) = text.lines().next().unwrap().split_once(": ").unwrap();
            // The numbers have one decimal: without the point they are tenths.
            let tenths: Vec<u32> = values
                .split_whitespace()
                .filter_map(|word| word.replace('.', "").parse().ok())
                .collect();
            assert_eq!(tenths.len(), 3, "{text}");
            assert_eq!(tenths[0], tenths[1] + tenths[2], "{text}");
        }
    }

    #[test]
    fn children_are_limited_by_the_size_of_the_heap() {
        assert_eq!(family(0, 1), "Slot 0: the top, no children.");
        assert_eq!(family(0, 2), "Slot 0: the top, child in slot 1.");
        assert_eq!(family(3, 9), "Slot 3: parent in slot 1, children in slots 7 and 8.");
        assert_eq!(family(4, 9), "Slot 4: parent in slot 1, no children.");
    }
}
