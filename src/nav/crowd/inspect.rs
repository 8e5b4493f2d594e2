//! Queries about a crowd between two ticks.
//!
//! Input: a crowd and a unit's id. Output: the units and their positions, the events of the last tick, the
//! reason a unit does not move, the memory held.

use super::board::{GridPos, NONE, STAY, State, Task};
use super::{Crowd, CrowdCounters, CrowdEvent, Hindrance, UnitId};
use crate::nav::{Cell, NavGrid, ProfileId, Walk, direction::OFFSETS};

impl Crowd {
    /// Returns whether the unit exists and has not been removed.
    #[must_use]
    pub fn contains(&self, id: UnitId) -> bool {
        self.board.get(id).is_some()
    }

    /// Returns the number of units.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.board.units.0.len() - self.board.free.len()
    }

    /// Returns whether there are no units.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over all units, ordered by index.
    pub fn units(&self) -> impl Iterator<Item = UnitId> + '_ {
        let present = self.board.units.0.iter().enumerate().filter(|(_, unit)| unit.is_present());
        present.map(|(index, unit)| UnitId { index: index as u32, generation: unit.generation })
    }

    /// Returns the number of ticks run so far.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.board.now
    }

    /// Returns the events of the last tick.
    #[must_use]
    pub fn events(&self) -> &[CrowdEvent] {
        &self.board.events
    }

    /// Iterates over the units whose step began or ended in the last tick. All others stand, or continue
    /// their step at an unchanged speed.
    pub fn moved(&self) -> impl Iterator<Item = UnitId> + '_ {
        let present = |&&index: &&u32| self.board.units[index].is_present();
        self.board.moved.iter().filter(present).map(|&index| self.board.id(index))
    }

    /// Returns the totals since the crowd was made.
    #[must_use]
    pub const fn counters(&self) -> CrowdCounters {
        self.board.counters
    }

    /// Returns the cell a unit stands on or leaves, and the cell it enters (the same while it stands).
    #[must_use]
    pub fn position(&self, grid: &NavGrid, id: UnitId) -> Option<(Cell, Cell)> {
        self.board.get(id).map(|unit| (unit.tail.cell(grid), unit.head.cell(grid)))
    }

    /// Returns the direction of travel of a unit that walks straight across the grid, as columns and rows; of all
    /// others that move, the direction of the step under way. `None` while it stands.
    #[must_use]
    pub fn heading(&self, id: UnitId) -> Option<(i32, i32)> {
        let unit = self.board.get(id).filter(|unit| unit.state == State::Moving)?;
        let follower = self.sources.follower(id.index).filter(|_| unit.task == Task::Path);
        let walker = follower.filter(|follower| follower.line_direction == unit.direction);
        let step = OFFSETS[usize::from(unit.direction & 7)];
        Some(walker.map_or(step, |walker| walker.line.vector()))
    }

    /// Returns, for a unit on a straight walk across the grid, how far it is off the centers of the cell it leaves and
    /// the cell it enters: in hundredths of a cell, as columns and rows, at most 55. Between these two points it goes straight
    /// and at an even speed; it leaves the centers, and returns to them, within a step. `None` for units exactly on the grid,
    /// and where another unit holds a cell beside the step: without such a unit, discs of radius 0.35 stay apart whether they
    /// are on the grid or not.
    #[must_use]
    pub fn line_offsets(&self, id: UnitId) -> Option<[(i8, i8); 2]> {
        let unit = self.board.get(id).filter(|unit| unit.state == State::Moving)?;
        let follower = self.sources.follower(id.index).filter(|_| unit.is_on_line)?;
        let has_room = |pos| self.board.reservations.is_only_owner_around(pos, id.index);
        (has_room(unit.tail) && has_room(unit.head)).then_some(follower.line_offsets)
    }

    /// Returns the time since the step under way began and the duration of the whole step (never 0), in
    /// [`SUBTICKS_PER_TICK`](super::SUBTICKS_PER_TICK) of a tick. Their ratio is the share of the step that
    /// is done.
    #[must_use]
    pub fn progress(&self, id: UnitId) -> (u64, u64) {
        self.board.get(id).map_or((0, 1), |unit| unit.progress(self.board.now))
    }

    /// Returns whether a unit has stood on its goal since its last order.
    #[must_use]
    pub fn has_arrived(&self, id: UnitId) -> bool {
        self.board.get(id).is_some_and(|unit| unit.has_arrived)
    }

    /// Returns whether a unit has somewhere to go, or makes way.
    #[must_use]
    pub fn is_under_way(&self, id: UnitId) -> bool {
        self.board.get(id).is_some_and(super::board::Unit::is_under_way)
    }

    /// Returns why a unit does not move, and for how many ticks it has not moved.
    #[must_use]
    pub fn hindrance(&self, id: UnitId) -> (Hindrance, u64) {
        let waiting = self.board.get(id).filter(|unit| unit.state == State::Waiting);
        waiting
            .map_or((Hindrance::None, 0), |unit| (unit.hindrance, unit.ticks_stood(self.board.now)))
    }

    /// Returns the number of cells along one side of a unit.
    #[must_use]
    pub fn size(&self, id: UnitId) -> Option<u32> {
        self.board.get(id).map(|unit| u32::from(unit.size))
    }

    /// Returns the profile of a unit.
    #[must_use]
    pub fn profile(&self, id: UnitId) -> Option<ProfileId> {
        self.board.get(id).map(|unit| unit.profile)
    }

    /// Returns whether a unit goes to a slot that it may exchange with others.
    #[must_use]
    pub fn is_in_group(&self, id: UnitId) -> bool {
        self.board.get(id).is_some_and(|unit| matches!(unit.task, Task::Group(_)))
    }

    /// Returns how far a unit has come along its path, standing on the last cell of the path that it reached.
    /// `None` if it follows no path: it has none, or a field or slot of its group guides it.
    #[must_use]
    pub fn path_progress(&self, grid: &NavGrid, id: UnitId) -> Option<Walk> {
        let unit = self.board.get(id)?;
        let has_path = matches!(unit.task, Task::Path | Task::Group(_));
        self.sources.walk(grid, id.index).filter(|_| has_path)
    }

    /// Returns the cell nearest to `cell`, at most `radius` steps over open terrain away, where a unit of `profile`
    /// could be put: `unit` itself, or a new one. If `cell` is passable, only cells of its connected region
    /// count. `None` if there is no room.
    #[must_use]
    pub fn nearest_free_cell(
        &self,
        grid: &NavGrid,
        (cell, profile): (Cell, ProfileId),
        unit: Option<UnitId>,
        radius: u32,
    ) -> Option<Cell> {
        self.board.nearest_free_cell(grid, (cell, profile), unit, radius)
    }

    /// Returns the unit that holds a cell: it stands on the cell, leaves it, or enters it after the previous
    /// owner has left. `None` on a grid of another size or shape of cells.
    #[must_use]
    pub fn holder(&self, grid: &NavGrid, cell: Cell) -> Option<UnitId> {
        self.board.check_size(grid).ok()?;
        let pos = GridPos::of(grid, cell)?;
        let owner = self.board.reservations.at(pos).owner;
        (owner != NONE).then(|| self.board.id(owner))
    }

    /// Returns a unit that blocks the preferred direction of a waiting unit.
    #[must_use]
    pub fn waits_for(&self, id: UnitId) -> Option<UnitId> {
        let unit = self
            .board
            .get(id)
            .filter(|unit| unit.state == State::Waiting && unit.preferred_direction != STAY)?;
        let reservations = &self.board.reservations;
        let entered = reservations.entered(unit.tail, unit.size, unit.preferred_direction);
        let mut owners = entered.iter().map(|cell| reservations.get(cell).owner);
        let other = owners.find(|&owner| owner != NONE && owner != id.index);
        other.map(|other| self.board.id(other))
    }

    /// Returns the unit that pushed this unit: the one for which it makes the step under way, and which enters its
    /// cell next.
    #[must_use]
    pub fn pushed_by(&self, id: UnitId) -> Option<UnitId> {
        let unit =
            self.board.get(id).filter(|unit| unit.state == State::Moving && unit.is_pushed())?;
        let reservations = &self.board.reservations;
        let left = reservations.vacated(unit.tail, unit.size, unit.direction);
        let mut owners = left.iter().map(|cell| reservations.get(cell).next_owner);
        let other = owners.find(|&owner| owner != NONE && owner != id.index);
        other.map(|other| self.board.id(other))
    }

    /// Returns the memory held, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.board.bytes()
            + self.sources.bytes()
            + self.groups.bytes()
            + self.shape.bytes()
            + self.planner.bytes()
    }
}
