//! Adding, removing and ordering units.

use super::{
    Crowd, Hindrance, RouteId, UnitId, UnitSettings,
    escape::EXIT_UNDECIDED,
    make_way::MakesWay,
    refit::check_profile,
    unit::{NONE, Order, STAY, State, Unit},
};
use crate::nav::{cell::Cell, grid::NavGrid, terrain::ProfileId};

/// Most cells along a side of a unit in a crowd.
pub(super) const MAX_UNIT_SIZE: u32 = 8;

/// Why a call on a crowd failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrowdError {
    /// The unit does not exist, or was removed.
    NoSuchUnit,
    /// The grid does not know the unit's profile, or its units are too large.
    Profile,
    /// The crowd was made for a grid of another size.
    OtherGrid,
    /// The unit cannot stand there: the cell is off the grid or impassable to it.
    Impassable(Cell),
    /// Another unit holds this cell.
    Held(Cell),
}

impl core::fmt::Display for CrowdError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchUnit => write!(f, "no such unit"),
            Self::Profile => write!(f, "the profile is not known, or its units are too large"),
            Self::OtherGrid => write!(f, "the grid and the crowd differ in size"),
            Self::Impassable(cell) => write!(f, "a unit cannot stand on {cell}"),
            Self::Held(cell) => write!(f, "{cell} is held by another unit"),
        }
    }
}

impl core::error::Error for CrowdError {}

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
        let pos = self.check_free(grid, profile, NONE, cell)?;
        let size = grid.unit_size(profile) as u8;
        let unit = Unit { size, profile: profile.0, ..Unit::vacant(0) };
        let index = self.free.pop().unwrap_or_else(|| {
            self.units.push(Unit::vacant(0));
            self.units.len() as u32 - 1
        });
        self.timers.resize(self.units.len());
        let generation = self.units[index as usize].generation;
        let state = State::Standing;
        self.units[index as usize] = Unit { tail: pos, head: pos, state, generation, ..unit };
        self.count += 1;
        self.occupy(index);
        let id = self.id(index);
        self.set(id, settings)?;
        Ok(id)
    }

    /// Changes a unit's speed, team and whether it may be pushed. Its profile
    /// stays as it is.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn set(&mut self, id: UnitId, settings: UnitSettings) -> Result<(), CrowdError> {
        let index = self.find(id)?;
        let unit = &mut self.units[index as usize];
        (unit.speed, unit.team) = (settings.speed, settings.team);
        unit.is_pushable = settings.is_pushable;
        Ok(())
    }

    /// Removes a unit from the grid. Returns whether it existed.
    pub fn remove(&mut self, id: UnitId) -> bool {
        let Ok(index) = self.find(id) else {
            return false;
        };
        self.release_slot(index);
        self.release_own_slot(index);
        self.update_member_count(self.units[index as usize].order, false);
        self.vacate(index);
        self.sources.release_field(index);
        let unit = &mut self.units[index as usize];
        *unit = Unit::vacant(unit.generation.wrapping_add(1));
        self.free.push(index);
        self.count -= 1;
        true
    }

    /// Moves a unit to another cell immediately; it keeps its orders.
    ///
    /// # Errors
    /// [`CrowdError`] where it cannot stand there or another unit holds a cell. It then stays where it is.
    pub fn teleport(&mut self, grid: &NavGrid, id: UnitId, cell: Cell) -> Result<(), CrowdError> {
        let index = self.find(id)?;
        let unit = &self.units[index as usize];
        let profile = ProfileId(unit.profile);
        let pos = self.check_free(grid, profile, index, cell)?;
        self.put_at(index, pos, grid.unit_size(profile) as u8);
        Ok(())
    }

    /// Sends a unit along a shared field.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn follow_route(&mut self, id: UnitId, route: RouteId) -> Result<(), CrowdError> {
        self.set_order(id, Order::Route(route))
    }

    /// Takes a unit's orders away; a step under way is finished.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn stop(&mut self, id: UnitId) -> Result<(), CrowdError> {
        self.set_order(id, Order::Idle)
    }

    pub(super) fn set_order(&mut self, id: UnitId, order: Order) -> Result<(), CrowdError> {
        let index = self.find(id)?;
        let now = self.now;
        self.release_slot(index);
        self.release_own_slot(index);
        self.update_member_count(self.units[index as usize].order, false);
        self.update_member_count(order, true);
        let unit = &mut self.units[index as usize];
        unit.order = order;
        unit.costs_tick = 0;
        (unit.yields_to, unit.makes_way) = (NONE, MakesWay::No);
        unit.preferred_direction = STAY;
        unit.has_arrived = false;
        unit.escape_side = EXIT_UNDECIDED;
        (unit.stand_backs, unit.wasted_steps) = (0, 0);
        unit.priority_since = super::FIRST_PRIORITY + now;
        unit.standing_since = now as u32;
        unit.is_reported_stuck = false;
        unit.hindrance = Hindrance::None;
        self.reset_progress(index);
        self.sources.release_field(index);
        self.schedule_next_tick(index);
        Ok(())
    }

    /// Schedules a standing unit to be decided in the next tick.
    pub(super) fn schedule_next_tick(&mut self, index: u32) {
        let now = self.now;
        let unit = &mut self.units[index as usize];
        if unit.state == State::Moving {
            return;
        }
        unit.waiting_since = now as u32;
        if unit.is_idle() {
            unit.state = State::Standing;
            self.timers.remove(index);
        } else {
            unit.state = State::Waiting;
            self.timers.put(index, now, now + 1);
        }
        self.update_listening(index);
    }

    pub(super) fn id(&self, index: u32) -> UnitId {
        UnitId { index, generation: self.units[index as usize].generation }
    }

    fn find(&self, id: UnitId) -> Result<u32, CrowdError> {
        self.get(id).map(|_| id.index).ok_or(CrowdError::NoSuchUnit)
    }

    pub(super) fn get(&self, id: UnitId) -> Option<&Unit> {
        let unit = self.units.get(id.index as usize)?;
        (unit.is_present() && unit.generation == id.generation).then_some(unit)
    }
}
