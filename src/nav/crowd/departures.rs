//! Which cells were left in the current tick, when, and in which direction.
//!
//! Input: steps that end. Output: the time before which no step into a cell, or across a diagonal, may
//! begin. Steps end between ticks, and the next steps begin there too: a unit that was standing could have
//! used the whole tick, but a cell that another unit was still leaving was not free for all of it. If the
//! directions differ by no more than a right angle, a unit may enter behind the unit that leaves at any time;
//! otherwise it waits until the cell is empty.

use super::reservations::turn_angle;

/// A cell that was left.
#[derive(Clone, Copy, Debug)]
struct Departure {
    cell: u32,
    direction: u8,
    /// When the step was over, in subticks.
    end: u64,
}

/// The cells left in a tick. Few steps lead into one of them, so one bit per cell answers nearly all
/// queries; the list is sorted when the first query needs more.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    list: Vec<Departure>,
    is_sorted: bool,
    bits: Vec<u64>,
}

impl Departures {
    /// Creates an empty list for a grid of `cells` cells, including the border.
    pub(super) fn new(cells: usize) -> Self {
        Self { bits: vec![0; cells.div_ceil(64)], ..Self::default() }
    }

    /// Forgets all departures when a new tick begins.
    pub(super) fn clear(&mut self) {
        for departure in self.list.drain(..) {
            self.bits[departure.cell as usize / 64] = 0;
        }
    }

    /// Records that a unit has left a cell.
    #[inline]
    pub(super) fn record(&mut self, cell: u32, direction: u8, end: u64) {
        self.bits[cell as usize / 64] |= 1 << (cell % 64);
        self.list.push(Departure { cell, direction, end });
        self.is_sorted = false;
    }

    #[inline]
    fn departure_from(&mut self, cell: u32) -> Option<Departure> {
        let is_set = self.bits[cell as usize / 64] >> (cell % 64) & 1 == 1;
        if is_set { self.find(cell) } else { None }
    }

    fn find(&mut self, cell: u32) -> Option<Departure> {
        if !self.is_sorted {
            self.list.sort_unstable_by_key(|departure| departure.cell);
            self.is_sorted = true;
        }
        let at = self.list.binary_search_by_key(&cell, |departure| departure.cell).ok()?;
        Some(self.list[at])
    }

    /// Returns since when a cell has been free for a step in this direction; 0 if it was for the whole tick.
    #[inline]
    pub(super) fn free_since(&mut self, cell: u32, direction: u8) -> u64 {
        let is_blocking = |last: &Departure| turn_angle(last.direction, direction) > 2;
        self.departure_from(cell).filter(is_blocking).map_or(0, |last| last.end)
    }

    /// Returns when the step from a cell in this direction was over; 0 if none ended in this tick.
    #[inline]
    pub(super) fn left_along(&mut self, cell: u32, direction: u8) -> u64 {
        let is_same = |last: &Departure| last.direction == direction & 7;
        self.departure_from(cell).filter(is_same).map_or(0, |last| last.end)
    }

    pub(super) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Departure>() + self.bits.capacity() * 8
    }
}
