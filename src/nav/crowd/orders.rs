//! Units come and go, and are told where to go.

use super::{
    Crowd, Hindrance, RouteId, UnitId, UnitSettings,
    escape::UNDECIDED,
    refit::check_profile,
    unit::{Errand, NONE, STAY, State, Unit},
};
use crate::nav::{cell::Cell, grid::NavGrid, terrain::ProfileId};

/// Most cells along a side of a unit of a crowd.
pub const LARGEST_IN_CROWD: u32 = 8;

/// Why a unit cannot be where it is to be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrowdError {
    /// There is no such unit (any more).
    NoSuchUnit,
    /// There is no such group (any more).
    NoSuchGroup,
    /// The unit's profile is not known to the grid, or its units are too large.
    Profile,
    /// The crowd was made for a grid of another size.
    OtherGrid,
    /// It cannot stand there: off the grid, or impassable to it.
    Impassable(Cell),
    /// Somebody else holds this cell.
    Held(Cell),
}

impl core::fmt::Display for CrowdError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchUnit => write!(f, "no such unit"),
            Self::NoSuchGroup => write!(f, "no such group"),
            Self::Profile => write!(f, "the profile is not known, or its units are too large"),
            Self::OtherGrid => write!(f, "the grid has another size than the crowd"),
            Self::Impassable(cell) => write!(f, "nobody can stand on {cell}"),
            Self::Held(cell) => write!(f, "{cell} is held by somebody else"),
        }
    }
}

impl core::error::Error for CrowdError {}

impl Crowd {
    /// Puts a unit on `cell` (with its anchor), standing and without orders.
    ///
    /// # Errors
    /// Where it cannot stand there, or somebody else does. A ghost may stand where others do.
    pub fn add(
        &mut self,
        grid: &NavGrid,
        cell: Cell,
        settings: UnitSettings,
    ) -> Result<UnitId, CrowdError> {
        let UnitSettings { profile, is_ghost, .. } = settings;
        check_profile(grid, profile)?;
        let place = match is_ghost {
            true => self.ground(grid, profile, cell)?,
            false => self.room(grid, profile, NONE, cell)?,
        };
        let size = grid.unit_size(profile) as u8;
        let unit = Unit { size, profile: profile.0, is_ghost, ..Unit::vacant(0) };
        let index = self.free.pop().unwrap_or_else(|| {
            self.units.push(Unit::vacant(0));
            self.units.len() as u32 - 1
        });
        self.wheel.resize(self.units.len());
        let generation = self.units[index as usize].generation;
        let state = State::Standing;
        self.units[index as usize] = Unit { tail: place, head: place, state, generation, ..unit };
        self.count += 1;
        self.take_place(index);
        let id = self.id(index);
        self.set(id, settings)?;
        Ok(id)
    }

    /// Changes a unit's speed, team and manners; its profile and whether it is a ghost stay as they are.
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

    /// Takes a unit off the grid; says whether it was there.
    pub fn remove(&mut self, id: UnitId) -> bool {
        let Ok(index) = self.find(id) else {
            return false;
        };
        self.give_up_slot(index);
        self.give_up_place(index);
        let Unit { errand, tail, .. } = self.units[index as usize];
        self.count_member(errand, tail, false);
        self.leave_place(index);
        self.drop_field(index);
        let unit = &mut self.units[index as usize];
        *unit = Unit::vacant(unit.generation.wrapping_add(1));
        self.free.push(index);
        self.count -= 1;
        true
    }

    /// Puts a unit elsewhere at once; it keeps its orders.
    ///
    /// # Errors
    /// Where it cannot stand there, or somebody else does. It stays where it is then.
    pub fn teleport(&mut self, grid: &NavGrid, id: UnitId, cell: Cell) -> Result<(), CrowdError> {
        let index = self.find(id)?;
        let unit = &self.units[index as usize];
        let profile = ProfileId(unit.profile);
        let place = match unit.is_ghost {
            true => self.ground(grid, profile, cell)?,
            false => self.room(grid, profile, index, cell)?,
        };
        self.put_on(index, place, grid.unit_size(profile) as u8);
        Ok(())
    }

    /// Sends a unit where a field leads.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn go_along(&mut self, id: UnitId, route: RouteId) -> Result<(), CrowdError> {
        self.give(id, Errand::Route(route))
    }

    /// Takes a unit's orders away; a step under way is finished.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`].
    pub fn stop(&mut self, id: UnitId) -> Result<(), CrowdError> {
        self.give(id, Errand::Idle)
    }

    pub(super) fn give(&mut self, id: UnitId, errand: Errand) -> Result<(), CrowdError> {
        let index = self.find(id)?;
        let now = self.now;
        self.give_up_slot(index);
        self.give_up_place(index);
        let Unit { errand: before, tail, .. } = self.units[index as usize];
        self.count_member(before, tail, false);
        self.count_member(errand, tail, true);
        let unit = &mut self.units[index as usize];
        unit.errand = errand;
        unit.viewed_in = 0;
        (unit.flees, unit.wish) = (NONE, STAY);
        unit.has_arrived = false;
        unit.exit = UNDECIDED;
        (unit.tries, unit.led_astray) = (0, 0);
        unit.since = super::FIRST_TURN + now;
        unit.stands_since = now as u32;
        unit.is_reported_stuck = false;
        unit.hindrance = Hindrance::None;
        self.forget_steps(index);
        self.drop_field(index);
        self.call_soon(index);
        Ok(())
    }

    /// Lets a unit that stands be decided in the next tick.
    pub(super) fn call_soon(&mut self, index: u32) {
        let now = self.now;
        let unit = &mut self.units[index as usize];
        if unit.state == State::Moving {
            return;
        }
        unit.waits_since = now as u32;
        if unit.is_idle() {
            unit.state = State::Standing;
            self.wheel.take_out(index);
        } else {
            unit.state = State::Waiting;
            self.wheel.put(index, now, now + 1);
        }
        self.listen(index);
    }

    pub(super) fn id(&self, index: u32) -> UnitId {
        UnitId { index, generation: self.units[index as usize].generation }
    }

    fn find(&self, id: UnitId) -> Result<u32, CrowdError> {
        self.get(id).map(|_| id.index).ok_or(CrowdError::NoSuchUnit)
    }

    pub(super) fn get(&self, id: UnitId) -> Option<&Unit> {
        let unit = self.units.get(id.index as usize)?;
        (unit.is_there() && unit.generation == id.generation).then_some(unit)
    }
}
