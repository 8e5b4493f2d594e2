//! Which cells were left in the current tick, when, and in which direction.
//!
//! Input: steps that end. Output: the time before which no step into a cell, or across a diagonal, may
//! begin. Steps end between ticks, and the next steps begin there too: a unit that was standing could have
//! used the whole tick, but a cell that another unit was still leaving was not free for all of it. If the
//! directions differ by no more than a right angle, a unit may enter behind the unit that leaves at any time;
//! otherwise it waits until the cell is empty.

use super::NONE;
use crate::nav::Topology;

/// A cell that was left.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Departure {
    cell: u32,
    direction: u8,
    /// When the step was over, in subticks.
    end: u64,
    /// The departure before it in its bucket, or [`NONE`].
    next: u32,
}

/// Number of buckets; two to the power of [`BUCKET_BITS`]. With ten thousand units some 600 steps end in a tick, and
/// the table fits into the first cache.
const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_BITS: u32 = 11;

/// The cells left in a tick, found by hash.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Departures {
    list: Vec<Departure>,
    /// The last departure of each bucket, or [`NONE`].
    buckets: Vec<u32>,
}

impl Default for Departures {
    fn default() -> Self {
        Self { list: Vec::new(), buckets: vec![NONE; BUCKETS] }
    }
}

/// Returns the bucket of a cell (multiplicative hashing: Knuth, "The Art of Computer Programming" 3, 6.4).
const fn bucket(cell: u32) -> usize {
    (cell.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BUCKET_BITS)) as usize
}

impl Departures {
    /// Forgets all departures when a new tick begins.
    pub fn clear(&mut self) {
        for departure in self.list.drain(..) {
            self.buckets[bucket(departure.cell)] = NONE;
        }
    }

    /// Records that a unit has left a cell.
    #[inline]
    pub fn record(&mut self, cell: u32, direction: u8, end: u64) {
        let last = &mut self.buckets[bucket(cell)];
        let next = core::mem::replace(last, self.list.len() as u32);
        self.list.push(Departure { cell, direction, end, next });
    }

    #[inline]
    fn departure_from(&self, cell: u32) -> Option<Departure> {
        let mut at = self.buckets[bucket(cell)];
        while let Some(departure) = self.list.get(at as usize) {
            if departure.cell == cell {
                return Some(*departure);
            }
            at = departure.next;
        }
        None
    }

    /// Returns since when a cell has been free for a step in this direction; 0 if it was free for the whole tick.
    #[inline]
    pub fn free_since(&self, topology: Topology, (cell, direction): (u32, u8)) -> u64 {
        let is_blocking = |last: &Departure| topology.turn_angle(last.direction, direction) > 2;
        self.departure_from(cell).filter(is_blocking).map_or(0, |last| last.end)
    }

    /// Returns when the step from a cell in this direction was over; 0 if none ended in this tick.
    #[inline]
    pub fn left_along(&self, cell: u32, direction: u8) -> u64 {
        let is_same = |last: &Departure| last.direction == direction & 7;
        self.departure_from(cell).filter(is_same).map_or(0, |last| last.end)
    }

    pub fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Departure>() + self.buckets.capacity() * 4
    }
}
