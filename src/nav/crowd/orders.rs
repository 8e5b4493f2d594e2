//! Units come and go, and are told where to go.

use super::{
    Crowd, CrowdCounters, CrowdEvent, Hindrance, RouteId, UnitId, UnitSettings,
    board::Place,
    unit::{Errand, NONE, State, Unit},
};
use crate::nav::{cell::Cell, grid::NavGrid};

/// Most cells along a side of a unit of a crowd.
pub const LARGEST_IN_CROWD: u32 = 4;

/// Why a unit cannot be where it is to be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CrowdError {
    /// There is no such unit (any more).
    NoSuchUnit,
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
        let size = grid.unit_size(settings.profile);
        if usize::from(settings.profile.0) >= grid.profiles().len() || size > LARGEST_IN_CROWD {
            return Err(CrowdError::Profile);
        }
        let mut unit = Unit { size: size as u8, profile: settings.profile.0, ..Unit::default() };
        unit.is_ghost = settings.is_ghost;
        let place = self.room(grid, &unit, NONE, cell)?;
        let index = self.free.pop().unwrap_or_else(|| {
            self.units.push(Unit::default());
            self.units.len() as u32 - 1
        });
        self.wheel.resize(self.units.len());
        unit.generation = self.units[index as usize].generation;
        (unit.tail, unit.head, unit.state) = (place, place, State::Standing);
        unit.wakes = NONE;
        unit.reserves = NONE;
        unit.flees = NONE;
        self.units[index as usize] = unit;
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
        self.count_member(self.units[index as usize].errand, false);
        self.leave_place(index);
        let unit = &mut self.units[index as usize];
        let generation = unit.generation.wrapping_add(1);
        *unit = Unit { generation, ..Unit::default() };
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
        let place = self.room(grid, &self.units[index as usize], index, cell)?;
        self.leave_place(index);
        let unit = &mut self.units[index as usize];
        (unit.tail, unit.head, unit.state) = (place, place, State::Standing);
        self.take_place(index);
        self.call_soon(index);
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
        self.count_member(self.units[index as usize].errand, false);
        self.count_member(errand, true);
        let unit = &mut self.units[index as usize];
        unit.errand = errand;
        unit.flees = NONE;
        (unit.has_arrived, unit.is_inside) = (false, false);
        unit.since = super::FIRST_TURN + now;
        unit.hindrance = Hindrance::None;
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
        unit.waits_since = now;
        if unit.is_idle() {
            unit.state = State::Standing;
            self.wheel.take_out(index);
        } else {
            unit.state = State::Waiting;
            self.wheel.put(index, now, now + 1);
        }
        self.listen(index);
    }

    /// The place of a cell where a unit can stand among the others.
    fn room(
        &self,
        grid: &NavGrid,
        unit: &Unit,
        index: u32,
        cell: Cell,
    ) -> Result<Place, CrowdError> {
        if (grid.width(), grid.height()) != self.size {
            return Err(CrowdError::OtherGrid);
        }
        let profile = crate::nav::terrain::ProfileId(unit.profile);
        let place = Place::of(grid, cell).filter(|_| grid.cost(profile, cell) > 0);
        let place = place.ok_or(CrowdError::Impassable(cell))?;
        let is_held = |&at: &u32| {
            let hold = self.board.hold(at);
            hold.owner != NONE && (hold.owner != index || hold.heir != NONE)
        };
        let held = self.board.block(place, unit.size).position(|at| is_held(&at));
        match held {
            Some(at) if !unit.is_ghost => {
                let (size, at) = (usize::from(unit.size), at);
                Err(CrowdError::Held(cell.offset((at % size) as i32, (at / size) as i32)))
            }
            _ => Ok(place),
        }
    }

    fn take_place(&mut self, index: u32) {
        let unit = self.units[index as usize];
        if !unit.is_ghost {
            for cell in self.board.block(unit.tail, unit.size) {
                self.board.hold_mut(cell).owner = index;
            }
        }
    }

    /// Gives up every cell that a unit holds or is to have.
    fn leave_place(&mut self, index: u32) {
        let unit = self.units[index as usize];
        self.wheel.take_out(index);
        self.board.listen(unit.tail, unit.size, false);
        if unit.reserves != NONE {
            self.board.hold_mut(unit.reserves).heir = NONE;
            self.units[index as usize].reserves = NONE;
        }
        if unit.is_ghost {
            return;
        }
        for place in [unit.tail, unit.head] {
            for cell in self.board.block(place, unit.size) {
                let hold = self.board.hold_mut(cell);
                if hold.owner == index {
                    self.release(cell);
                } else if hold.heir == index {
                    hold.heir = NONE;
                }
            }
        }
        self.wake_around_tail(index);
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

    /// Share of the step under way that is done: numerator and denominator (never 0).
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
        waiting.map_or((Hindrance::None, 0), |unit| (unit.hindrance, self.now - unit.waits_since))
    }

    /// Memory held, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists = [&self.free, &self.ready, &self.due, &self.woken, &self.waiting_before];
        let lists: usize = lists.iter().map(|list| list.capacity() * 4).sum();
        let units = self.units.capacity() * size_of::<Unit>() + self.turns.capacity() * 8;
        self.board.bytes()
            + self.wheel.bytes()
            + self.group_bytes()
            + lists
            + self.way_bytes()
            + units
    }
}
