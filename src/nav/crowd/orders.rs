//! Adding, removing and ordering units.

use super::board::{
    CLEARING_PRIORITY, GridPos, Mode, NONE, STAY, State, Task, Unit, check_profile,
};
use super::cost_to_go::EXIT_UNDECIDED;
use super::{Crowd, CrowdError, Hindrance, Membership, RouteId, UnitId, UnitSettings};
use crate::nav::{Cell, NavGrid, Path};

impl Crowd {
    /// Adds a unit on `cell` (its anchor), standing and without orders.
    ///
    /// # Errors
    /// [`CrowdError`] where it cannot stand there or another unit holds a cell.
    pub fn add(
        &mut self,
        grid: &NavGrid,
        cell: Cell,
        settings: UnitSettings,
    ) -> Result<UnitId, CrowdError> {
        let profile = settings.profile;
        check_profile(grid, profile)?;
        let pos = self.board.check_free(grid, profile, NONE, cell)?;
        let size = grid.unit_size(profile) as u8;
        let index = self.board.free.pop().unwrap_or_else(|| {
            self.board.units.0.push(Unit::vacant(0));
            self.board.units.0.len() as u32 - 1
        });
        self.board.timers.resize(self.board.units.0.len());
        let generation = self.board.units[index].generation;
        let state = State::Standing;
        self.board.units[index] =
            Unit { tail: pos, head: pos, state, size, profile, ..Unit::vacant(generation) };
        let now = self.board.now;
        let unit = &mut self.board.units[index];
        unit.begin_priority(now);
        (unit.waiting_since, unit.standing_since) = (now as u32, now as u32);
        self.groups.reset_progress(index);
        self.board.occupy(index);
        let id = self.board.id(index);
        self.set(id, settings)?;
        Ok(id)
    }

    /// Changes a unit's speed, team and whether it may be pushed. Its profile
    /// stays as it is.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn set(&mut self, id: UnitId, settings: UnitSettings) -> Result<(), CrowdError> {
        let index = self.board.find(id)?;
        let unit = &mut self.board.units[index];
        let known = |unit: &Unit| (unit.speed > 0, unit.team, unit.is_unpushable, unit.keeps_goal);
        let old = known(unit);
        (unit.speed, unit.team) = (settings.speed, settings.team);
        unit.is_unpushable = !settings.is_pushable;
        unit.keeps_goal = settings.is_pushable && settings.keeps_goal;
        if known(unit) != old {
            self.board.mark_ready(index);
            self.board.wake_around_tail(index);
        }
        Ok(())
    }

    /// Removes a unit from the grid. Returns whether it existed.
    pub fn remove(&mut self, id: UnitId) -> bool {
        let Ok(index) = self.board.find(id) else {
            return false;
        };
        self.groups.leave(&mut self.board, index);
        self.board.vacate(index);
        self.sources.release_field(index);
        let unit = &mut self.board.units[index];
        *unit = Unit::vacant(unit.generation.wrapping_add(1));
        self.board.free.push(index);
        true
    }

    /// Moves a unit to another cell immediately; it keeps its orders.
    ///
    /// # Errors
    /// [`CrowdError`] where it cannot stand there or another unit holds a cell. It then stays where it is.
    pub fn teleport(&mut self, grid: &NavGrid, id: UnitId, cell: Cell) -> Result<(), CrowdError> {
        let index = self.board.find(id)?;
        let unit = &self.board.units[index];
        let profile = unit.profile;
        let pos = self.board.check_free(grid, profile, index, cell)?;
        self.board.put_at(index, pos, grid.unit_size(profile) as u8);
        Ok(())
    }

    /// Sends a unit along a shared field.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn follow_route(&mut self, id: UnitId, route: RouteId) -> Result<(), CrowdError> {
        self.set_task(id, Task::Route(route))
    }

    /// Takes a unit's orders away; a step under way is finished.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn stop(&mut self, id: UnitId) -> Result<(), CrowdError> {
        self.set_task(id, Task::Idle)
    }

    /// Sends a unit along a path, which may start near the unit instead of under it. This is a new order.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`], [`CrowdError::OtherGrid`], or [`CrowdError::Impassable`] where the path
    /// leaves the grid.
    pub fn follow(&mut self, grid: &NavGrid, id: UnitId, path: &Path) -> Result<(), CrowdError> {
        let ends = self.ends_of(grid, path)?;
        self.set_task(id, Task::Path)?;
        self.set_path(grid, id, ends, path);
        Ok(())
    }

    /// Gives a unit another path for its current order, for example to a target that has moved. The unit keeps its
    /// priority and the time that it has waited, and goes on around the units that it was going around. If it follows no path of
    /// its own, or has lost it, this is a new order.
    ///
    /// # Errors
    /// As [`follow`](Self::follow).
    pub fn replace_path(
        &mut self,
        grid: &NavGrid,
        id: UnitId,
        path: &Path,
    ) -> Result<(), CrowdError> {
        let ends = self.ends_of(grid, path)?;
        let unit = self.board.get(id).ok_or(CrowdError::NoSuchUnit)?;
        let is_lost = unit.hindrance == Hindrance::NoPath;
        if unit.task != Task::Path || unit.has_arrived || is_lost {
            return self.follow(grid, id, path);
        }
        self.continue_task(id.index);
        self.set_path(grid, id, ends, path);
        Ok(())
    }

    /// Extends the path of a unit: `path` begins with the path it follows already. If the unit follows none,
    /// sends it along the whole path.
    ///
    /// # Errors
    /// As [`follow`](Self::follow).
    pub fn extend_path(
        &mut self,
        grid: &NavGrid,
        id: UnitId,
        path: &Path,
    ) -> Result<(), CrowdError> {
        let ends = self.ends_of(grid, path)?;
        let unit = self.board.get(id).ok_or(CrowdError::NoSuchUnit)?;
        let (index, order, profile) = (id.index, unit.task, unit.profile);
        let has_path = matches!(order, Task::Path | Task::Group(_));
        if !has_path || !self.sources.extend_path((index, profile), grid, ends, path) {
            return self.follow(grid, id, path);
        }
        if matches!(order, Task::Path) {
            self.board.units[index].goal = ends.1;
        }
        self.continue_task(index);
        Ok(())
    }

    /// Sends a unit along a path, as [`follow`](Self::follow) does, as a member of a group. The unit goes to
    /// its slot, or to that of another member with which it exchanges slots
    /// ([`CrowdEvent::SlotChanged`](super::CrowdEvent::SlotChanged)).
    ///
    /// # Errors
    /// As `follow`; and [`CrowdError::Impassable`] where the slot or the goal is not on the grid.
    pub fn follow_among(
        &mut self,
        grid: &NavGrid,
        id: UnitId,
        path: &Path,
        membership: &Membership,
    ) -> Result<(), CrowdError> {
        self.board.check_size(grid)?;
        let (goal, slot) = (pos_of(grid, membership.goal)?, pos_of(grid, membership.slot)?);
        self.follow(grid, id, path)?;
        let unit = &self.board.units[id.index];
        let group = self.groups.join(grid, unit, membership, (goal, slot));
        self.set_task(id, Task::Group(group))?;
        self.board.units[id.index].goal = slot;
        Ok(())
    }

    /// Lets a unit go before all others until its next order, because it has to get out of their way: off the landing cells
    /// of a link where they queue, for example.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn give_precedence(&mut self, id: UnitId) -> Result<(), CrowdError> {
        let index = self.board.find(id)?;
        let unit = &mut self.board.units[index];
        unit.priority_since = unit.priority_since.min(CLEARING_PRIORITY);
        self.board.mark_ready(index);
        Ok(())
    }

    /// Returns the first and last position of a path that stays on the grid. Legs are straight, so checking
    /// their ends is enough.
    fn ends_of(&self, grid: &NavGrid, path: &Path) -> Result<(GridPos, GridPos), CrowdError> {
        self.board.check_size(grid)?;
        for cell in path.waypoints() {
            pos_of(grid, cell)?;
        }
        Ok((pos_of(grid, path.start())?, pos_of(grid, path.end())?))
    }

    fn set_path(&mut self, grid: &NavGrid, id: UnitId, ends: (GridPos, GridPos), path: &Path) {
        let unit = &mut self.board.units[id.index];
        unit.goal = ends.1;
        self.sources.set_path((id.index, unit), grid, ends, path);
    }

    /// Lets a unit go on with its order along another path.
    fn continue_task(&mut self, index: u32) {
        let unit = &mut self.board.units[index];
        let has_waited = unit.state == State::Waiting && !unit.has_arrived;
        let waiting_since = unit.waiting_since;
        (unit.has_arrived, unit.is_reported_stuck) = (false, false);
        self.groups.reset_progress(index);
        self.board.schedule_next_tick(index);
        if has_waited {
            self.board.units[index].waiting_since = waiting_since;
        }
    }

    fn set_task(&mut self, id: UnitId, task: Task) -> Result<(), CrowdError> {
        let index = self.board.find(id)?;
        let now = self.board.now;
        self.groups.leave(&mut self.board, index);
        let unit = &mut self.board.units[index];
        unit.task = task;
        unit.mode = if unit.is_trapped() { Mode::Escaping(EXIT_UNDECIDED) } else { Mode::Normal };
        unit.preferred_direction = STAY;
        unit.has_arrived = false;
        (unit.accepts_any_push, unit.stands_back) = (false, false);
        (unit.stand_backs, unit.wasted_steps) = (0, 0);
        unit.begin_priority(now);
        unit.standing_since = now as u32;
        unit.is_reported_stuck = false;
        unit.hindrance = Hindrance::None;
        self.groups.reset_progress(index);
        self.sources.release_field(index);
        self.board.schedule_next_tick(index);
        self.board.wake_around_tail(index);
        Ok(())
    }
}

fn pos_of(grid: &NavGrid, cell: Cell) -> Result<GridPos, CrowdError> {
    GridPos::of(grid, cell).ok_or(CrowdError::Impassable(cell))
}
