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

/// The cells left in a tick. A sparse set: `numbers` is never cleared, an entry counts where the list agrees.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    list: Vec<Departure>,
    /// By cell of the board, where in the list it may be.
    numbers: Vec<u32>,
}

impl Departures {
    /// For a board of so many cells.
    pub(super) fn new(cells: usize) -> Self {
        Self { list: Vec::new(), numbers: vec![0; cells] }
    }

    /// A new tick begins.
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// A unit has left a cell.
    #[inline]
    pub(super) fn note(&mut self, cell: u32, direction: u8, end: u64) {
        self.numbers[cell as usize] = self.list.len() as u32;
        self.list.push(Departure { cell, direction, end });
    }

    #[inline]
    fn of(&self, cell: u32) -> Option<&Departure> {
        let departure = self.list.get(self.numbers[cell as usize] as usize)?;
        (departure.cell == cell).then_some(departure)
    }

    /// When a cell was free for a step in this direction; 0 where it was for the whole tick.
    #[inline]
    pub(super) fn free_since(&self, cell: u32, direction: u8) -> u64 {
        let in_the_way = |last: &&Departure| turn(last.direction, direction) > 2;
        self.of(cell).filter(in_the_way).map_or(0, |last| last.end)
    }

    /// When the last step from a cell in this direction was over; 0 if none ended in this tick.
    #[inline]
    pub(super) fn left_along(&self, cell: u32, direction: u8) -> u64 {
        let is_same = |last: &&Departure| last.direction == direction & 7;
        self.of(cell).filter(is_same).map_or(0, |last| last.end)
    }

    pub(super) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Departure>() + self.numbers.capacity() * 4
    }
}
