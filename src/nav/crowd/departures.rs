//! Which cells were left in the tick under way, when, and in which direction.
//!
//! Input: steps that end. Output: the moment before which nobody may begin a step into a cell, or across a
//! diagonal. Steps end between ticks and the next ones begin there too: a unit that stood has had the whole
//! tick, but a cell that somebody was still leaving for a part of it was not free for the whole tick.
//! Within a right angle a unit may come in behind the one that leaves, at any time; else it waits until the
//! cell is empty.

use super::board::turn;

/// A cell that was left.
#[derive(Clone, Copy, Debug)]
struct Departure {
    cell: u32,
    direction: u8,
    /// When the step was over, in parts of a tick.
    end: u64,
}

/// The cells left in a tick. Few steps lead into one of them, so one bit a cell answers nearly all questions;
/// the list is sorted when the first one needs more.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    list: Vec<Departure>,
    is_sorted: bool,
    marks: Vec<u64>,
}

impl Departures {
    /// For a board of so many cells.
    pub(super) fn new(cells: usize) -> Self {
        Self { marks: vec![0; cells.div_ceil(64)], ..Self::default() }
    }

    /// A new tick begins.
    pub(super) fn clear(&mut self) {
        for departure in self.list.drain(..) {
            self.marks[departure.cell as usize / 64] = 0;
        }
    }

    /// A unit has left a cell.
    #[inline]
    pub(super) fn note(&mut self, cell: u32, direction: u8, end: u64) {
        self.marks[cell as usize / 64] |= 1 << (cell % 64);
        self.list.push(Departure { cell, direction, end });
        self.is_sorted = false;
    }

    #[inline]
    fn of(&mut self, cell: u32) -> Option<Departure> {
        let is_marked = self.marks[cell as usize / 64] >> (cell % 64) & 1 == 1;
        if is_marked { self.find(cell) } else { None }
    }

    fn find(&mut self, cell: u32) -> Option<Departure> {
        if !self.is_sorted {
            self.list.sort_unstable_by_key(|departure| departure.cell);
            self.is_sorted = true;
        }
        let at = self.list.binary_search_by_key(&cell, |departure| departure.cell).ok()?;
        Some(self.list[at])
    }

    /// When a cell was free for a step in this direction; 0 where it was for the whole tick.
    #[inline]
    pub(super) fn free_since(&mut self, cell: u32, direction: u8) -> u64 {
        let in_the_way = |last: &Departure| turn(last.direction, direction) > 2;
        self.of(cell).filter(in_the_way).map_or(0, |last| last.end)
    }

    /// When the last step from a cell in this direction was over; 0 if none ended in this tick.
    #[inline]
    pub(super) fn left_along(&mut self, cell: u32, direction: u8) -> u64 {
        let is_same = |last: &Departure| last.direction == direction & 7;
        self.of(cell).filter(is_same).map_or(0, |last| last.end)
    }

    pub(super) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Departure>() + self.marks.capacity() * 8
    }
}
