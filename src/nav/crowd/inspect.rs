//! Queries about a crowd between two ticks.
//!
//! Input: a crowd and a unit's id. Output: the units and their positions, the events of the last tick, the
//! reason a unit does not move, the memory held.

use super::{
    Crowd, CrowdCounters, CrowdEvent, Hindrance, UnitId,
    reservations::GridPos,
    straight_walk::Line,
    unit::{NONE, Order, STAY, State, Unit},
};
use crate::nav::{cell::Cell, direction::OFFSETS, grid::NavGrid};

impl Crowd {
    /// Returns whether the unit exists and has not been removed.
    #[must_use]
    pub fn contains(&self, id: UnitId) -> bool {
        self.get(id).is_some()
    }

    /// Returns the number of units.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no units.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Iterates over all units, ordered by index.
    pub fn units(&self) -> impl Iterator<Item = UnitId> + '_ {
        let present = self.units.iter().enumerate().filter(|(_, unit)| unit.is_present());
        present.map(|(index, unit)| UnitId { index: index as u32, generation: unit.generation })
    }

    /// Returns the number of ticks run so far.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Returns the events of the last tick.
    #[must_use]
    pub fn events(&self) -> &[CrowdEvent] {
        &self.events
    }

    /// Iterates over the units whose step began or ended in the last tick. All others stand, or continue
    /// their step at an unchanged speed.
    pub fn moved(&self) -> impl Iterator<Item = UnitId> + '_ {
        let present = |&&index: &&u32| self.units[index as usize].is_present();
        self.moved.iter().filter(present).map(|&index| self.id(index))
    }

    /// Returns the totals since the crowd was made.
    #[must_use]
    pub const fn counters(&self) -> CrowdCounters {
        self.counters
    }

    /// Returns the cell a unit stands on or leaves, and the cell it enters (the same while it stands).
    #[must_use]
    pub fn position(&self, grid: &NavGrid, id: UnitId) -> Option<(Cell, Cell)> {
        self.get(id).map(|unit| (unit.tail.cell(grid), unit.head.cell(grid)))
    }

    /// Returns the direction of travel of a unit that walks straight across the grid, as columns and rows; of all
    /// others that move, the direction of the step under way. `None` while it stands.
    #[must_use]
    pub fn heading(&self, id: UnitId) -> Option<(i32, i32)> {
        let unit = self.get(id).filter(|unit| unit.state == State::Moving)?;
        let line = self.sources.line(id.index, unit.direction);
        let line = line.filter(|_| matches!(unit.order, Order::Path(_)));
        Some(line.map_or(OFFSETS[usize::from(unit.direction & 7)], Line::vector))
    }

    /// Returns the time since the step under way began and the duration of the whole step (never 0), in
    /// [`SUBTICKS_PER_TICK`](super::SUBTICKS_PER_TICK) of a tick. Their ratio is the share of the step that
    /// is done.
    #[must_use]
    pub fn progress(&self, id: UnitId) -> (u64, u64) {
        self.get(id).map_or((0, 1), |unit| unit.progress(self.now))
    }

    /// Returns whether a unit has stood on its goal since its last order.
    #[must_use]
    pub fn has_arrived(&self, id: UnitId) -> bool {
        self.get(id).is_some_and(|unit| unit.has_arrived)
    }

    /// Returns why a unit does not move, and for how many ticks it has not moved.
    #[must_use]
    pub fn hindrance(&self, id: UnitId) -> (Hindrance, u64) {
        let waiting = self.get(id).filter(|unit| unit.state == State::Waiting);
        waiting.map_or((Hindrance::None, 0), |unit| (unit.hindrance, unit.ticks_stood(self.now)))
    }

    /// Returns the number of cells along one side of a unit.
    #[must_use]
    pub fn size(&self, id: UnitId) -> Option<u32> {
        self.get(id).map(|unit| u32::from(unit.size))
    }

    /// Returns the unit that holds a cell: it stands on the cell, leaves it, or enters it after the previous
    /// owner has left. `None` on a grid of another size.
    #[must_use]
    pub fn holder(&self, grid: &NavGrid, cell: Cell) -> Option<UnitId> {
        self.check_size(grid).ok()?;
        let pos = GridPos::of(grid, cell)?;
        let owner = self.reservations.get(self.reservations.index(pos)).owner;
        (owner != NONE).then(|| self.id(owner))
    }

    /// Returns a unit that blocks the preferred direction of a waiting unit.
    #[must_use]
    pub fn waits_for(&self, id: UnitId) -> Option<UnitId> {
        let unit = self
            .get(id)
            .filter(|unit| unit.state == State::Waiting && unit.preferred_direction != STAY)?;
        let entered = self.reservations.entered(unit.tail, unit.size, unit.preferred_direction);
        let owners = entered.as_slice().iter().map(|&cell| self.reservations.get(cell).owner);
        let mut others = owners.filter(|&owner| owner != NONE && owner != id.index);
        others.next().map(|other| self.id(other))
    }

    /// Returns the unit for which another unit makes the step under way: the unit that pushed it and enters
    /// its cell next.
    #[must_use]
    pub fn pushed_by(&self, id: UnitId) -> Option<UnitId> {
        let unit = self.get(id).filter(|unit| unit.state == State::Moving && unit.is_pushed())?;
        let left = self.reservations.vacated(unit.tail, unit.size, unit.direction);
        let next_owners =
            left.as_slice().iter().map(|&cell| self.reservations.get(cell).next_owner);
        next_owners
            .filter(|&next_owner| next_owner != NONE && next_owner != id.index)
            .map(|next_owner| self.id(next_owner))
            .next()
    }

    /// Returns the memory held, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists = [&self.free, &self.ready, &self.due, &self.woken];
        let lists: usize = lists.iter().map(|list| list.capacity() * 4).sum();
        let lists = lists + self.moved.capacity() * 4;
        let units = self.units.capacity() * size_of::<Unit>() + self.priorities.capacity() * 8;
        self.reservations.bytes()
            + self.timers.bytes()
            + self.departures.bytes()
            + self.density.bytes()
            + self.planner.bytes()
            + self.groups.bytes()
            + lists
            + self.sources.bytes()
            + self.shape.bytes()
            + units
    }
}
