//! What can be asked of a crowd between two ticks.
//!
//! Input: a crowd, and the number of a unit. Output: who is there and where, what happened in the last
//! tick, why somebody does not move, how much memory is held.

use super::{
    Crowd, CrowdCounters, CrowdEvent, Hindrance, UnitId,
    board::Place,
    circling::Progress,
    unit::{NONE, STAY, State, Unit},
};
use crate::nav::{cell::Cell, grid::NavGrid};

impl Crowd {
    /// Whether there is such a unit (still).
    #[must_use]
    pub fn contains(&self, id: UnitId) -> bool {
        self.get(id).is_some()
    }

    /// How many units there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there is nobody.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All units, in the order of their slots.
    pub fn units(&self) -> impl Iterator<Item = UnitId> + '_ {
        let there = self.units.iter().enumerate().filter(|(_, unit)| unit.is_there());
        there.map(|(index, unit)| UnitId { index: index as u32, generation: unit.generation })
    }

    /// Ticks gone by.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// What happened in the last tick.
    #[must_use]
    pub fn events(&self) -> &[CrowdEvent] {
        &self.events
    }

    /// Whose steps began or ended in the last tick; all others stand, or go on as evenly as before.
    pub fn moved(&self) -> impl Iterator<Item = UnitId> + '_ {
        let there = |&&index: &&u32| self.units[index as usize].is_there();
        self.moved.iter().filter(there).map(|&index| self.id(index))
    }

    /// What was done so far.
    #[must_use]
    pub const fn counters(&self) -> CrowdCounters {
        self.counters
    }

    /// The cell a unit stands on or leaves, and the one it enters (the same where it stands).
    #[must_use]
    pub fn place(&self, grid: &NavGrid, id: UnitId) -> Option<(Cell, Cell)> {
        self.get(id).map(|unit| (unit.tail.cell(grid), unit.head.cell(grid)))
    }

    /// Time since the step under way began, and how long it takes as a whole (never 0), in [`PARTS`](super::PARTS) of
    /// a tick: their ratio is the share of the step that is done.
    #[must_use]
    pub fn progress(&self, id: UnitId) -> (u64, u64) {
        self.get(id).map_or((0, 1), |unit| unit.progress(self.now))
    }

    /// Whether a unit has stood on its goal since its last order.
    #[must_use]
    pub fn has_arrived(&self, id: UnitId) -> bool {
        self.get(id).is_some_and(|unit| unit.has_arrived)
    }

    /// Why a unit does not move, and for how many ticks it has not.
    #[must_use]
    pub fn hindrance(&self, id: UnitId) -> (Hindrance, u64) {
        let waiting = self.get(id).filter(|unit| unit.state == State::Waiting);
        waiting.map_or((Hindrance::None, 0), |unit| (unit.hindrance, unit.stood(self.now)))
    }

    /// Cells along a side of a unit.
    #[must_use]
    pub fn size(&self, id: UnitId) -> Option<u32> {
        self.get(id).map(|unit| u32::from(unit.size))
    }

    /// Who holds a cell: stands on it, leaves it, or enters it where nobody else has yet to leave. Nobody on
    /// a grid of another size.
    #[must_use]
    pub fn holder(&self, grid: &NavGrid, cell: Cell) -> Option<UnitId> {
        self.check_size(grid).ok()?;
        let place = Place::of(grid, cell)?;
        let owner = self.board.hold(self.board.index(place)).owner;
        (owner != NONE).then(|| self.id(owner))
    }

    /// Whom a unit that waits would have to get past on its best way.
    #[must_use]
    pub fn waits_for(&self, id: UnitId) -> Option<UnitId> {
        let unit = self.get(id).filter(|unit| unit.state == State::Waiting && unit.wish != STAY)?;
        let entered = self.board.entered(unit.tail, unit.size, unit.wish);
        let owners = entered.as_slice().iter().map(|&cell| self.board.hold(cell).owner);
        let mut others = owners.filter(|&owner| owner != NONE && owner != id.index);
        others.next().map(|other| self.id(other))
    }

    /// On whose behalf a unit makes the step under way: whoever pushed it and comes in behind it.
    #[must_use]
    pub fn pushed_by(&self, id: UnitId) -> Option<UnitId> {
        let unit = self.get(id).filter(|unit| unit.state == State::Moving && unit.is_pushed)?;
        let left = self.board.left(unit.tail, unit.size, unit.direction);
        let heirs = left.as_slice().iter().map(|&cell| self.board.hold(cell).heir);
        heirs.filter(|&heir| heir != NONE && heir != id.index).map(|heir| self.id(heir)).next()
    }

    /// Memory held, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists = [&self.free, &self.ready, &self.due, &self.woken, &self.waiting_before];
        let lists: usize = lists.iter().map(|list| list.capacity() * 4).sum();
        let lists = lists + self.moved.capacity() * 4;
        let units = self.progress.capacity() * size_of::<Progress>()
            + self.units.capacity() * size_of::<Unit>()
            + self.turns.capacity() * 8;
        self.board.bytes()
            + self.wheel.bytes()
            + self.departures.bytes()
            + self.group_bytes()
            + lists
            + self.way_bytes()
            + self.passages.iter().map(super::passage::Passages::bytes).sum::<usize>()
            + self.walls.iter().map(super::walls::Walls::bytes).sum::<usize>()
            + units
    }
}
