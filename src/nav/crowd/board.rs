//! The units on a grid and the cells they hold.
//!
//! Input: units that are put on the grid, and steps that are planned. Output: who stands where, who is between two
//! cells and until when, and which units are decided in a tick. All other rooms read this one.

mod density;
mod departures;
mod events;
mod patience;
mod placement;
mod priority;
mod reservations;
mod step;
mod step_costs;
mod timer_wheel;
mod unit;
mod waiting;

use core::hint::black_box;

use self::{density::Density, departures::Departures};
pub use self::{
    events::{CrowdCounters, CrowdError, CrowdEvent, Hindrance},
    patience::{LOST_AFTER, RETRY_AFTER, Rung, STUCK_AFTER},
    placement::{check_profile, nearest_cell, retry_pause},
    priority::{CLEARING_PRIORITY, FIRST_PRIORITY, MAX_WAY_LEFT},
    reservations::{CellList, GridPos, Reservation, Reservations},
    step_costs::{
        MAX_CLEAR_DISTANCE, StepCosts, is_barrier, legal_directions, rect_around,
        uniform_step_costs,
    },
    timer_wheel::{LONGEST_STEP, SUBTICKS_PER_TICK, TimerWheel},
    unit::{
        GroupIndex, MAX_UNIT_SIZE, Mode, NONE, RouteId, STAY, State, Task, Unit, UnitId,
        UnitSettings, Units,
    },
};
use crate::nav::{NavGrid, ProfileId, Topology};

/// The units of a grid; see the [module](self).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Board {
    pub now: u64,
    pub topology: Topology,
    pub size: (u32, u32),
    pub units: Units,
    /// Indices without a unit.
    pub free: Vec<u32>,
    pub reservations: Reservations,
    pub timers: TimerWheel,
    pub departures: Departures,
    pub density: Density,
    /// The units to decide in this tick, and the priorities by which the first of them are sorted.
    pub ready: Vec<u32>,
    /// The number of the current list. It changes twice a tick: units woken between two ticks go on the list of the next tick.
    list: u32,
    priorities: Vec<u64>,
    due: Vec<u32>,
    /// Units whose steps are over, and the reservations of the cells they left.
    ended: Vec<(u32, Reservation)>,
    woken: Vec<u32>,
    /// Unit size of each profile at the last tick, in cells along a side.
    unit_sizes: Vec<u8>,
    /// Units that have left blocked terrain since their groups were refreshed.
    pub freed: Vec<u32>,
    /// Units whose size has changed and which have no room for it yet.
    pending_refits: Vec<u32>,
    pub events: Vec<CrowdEvent>,
    /// Units whose steps began or ended in this tick.
    pub moved: Vec<u32>,
    pub counters: CrowdCounters,
}

impl Board {
    pub fn new(grid: &NavGrid) -> Self {
        let (width, height) = (grid.width(), grid.height());
        Self {
            topology: grid.topology(),
            size: (width, height),
            reservations: Reservations::new(grid.topology(), (width, height)),
            density: Density::new(width, height),
            unit_sizes: unit_sizes(grid).collect(),
            ..Self::default()
        }
    }

    /// The current tick as units store it. Compare it only with the current tick: it wraps around.
    pub const fn tick_stamp(&self) -> u32 {
        self.now as u32
    }

    /// Returns whether all cells that a unit would cover are on the grid. They may not be if its profile has changed its size.
    pub fn is_on_grid(&self, at: GridPos, size: u8) -> bool {
        self.reservations.footprint(size).fits((at.x.into(), at.y.into()), self.size)
    }

    /// Returns whether a unit for which `counts` holds has a cell within some columns and rows of a position, or enters one.
    pub fn is_any_near(&self, at: GridPos, reach: u16, counts: impl Fn(&Unit) -> bool) -> bool {
        let span = |at: u16, size: u32| {
            at.saturating_sub(reach)..=at.saturating_add(reach).min(size as u16 - 1)
        };
        span(at.y, self.size.1)
            .any(|y| span(at.x, self.size.0).any(|x| self.is_held_by(GridPos { x, y }, &counts)))
    }

    /// Returns whether a unit for which `counts` holds has the cell at a position, or enters it.
    pub fn is_held_by(&self, pos: GridPos, counts: impl Fn(&Unit) -> bool) -> bool {
        let Reservation { owner, next_owner } = self.reservations.at(pos);
        [owner, next_owner].into_iter().any(|index| self.units.get(index).is_some_and(&counts))
    }

    /// Iterates over the other units that hold cells of a unit's goal. `None` if the unit has grown and its goal now reaches
    /// off the grid.
    pub fn goal_holders(&self, index: u32) -> Option<impl Iterator<Item = &Unit>> {
        let Unit { goal, size, .. } = self.units[index];
        let holder = move |cell: u32| {
            let owner = self.reservations.get(cell).owner;
            self.units.get(owner).filter(|_| owner != index)
        };
        let cells = || self.reservations.block(goal, size).filter_map(holder);
        self.is_on_grid(goal, size).then(cells)
    }

    /// Returns whether the goal of a unit is held by another one that rests on its own goal, or has none.
    pub fn is_goal_taken(&self, index: u32) -> bool {
        let stays = |other: &Unit| other.rests_on_goal() || other.is_idle();
        self.goal_holders(index).is_some_and(|mut holders| holders.any(stays))
    }

    /// Returns whether a step would take a unit onto a cell that a unit of a size covers at a position.
    pub fn enters(&self, index: u32, direction: u8, (at, size): (GridPos, u8)) -> bool {
        let unit = &self.units[index];
        let mut entered = self.reservations.entered(unit.tail, unit.size, direction).iter();
        entered.any(|cell| self.reservations.covers(at, size, cell))
    }

    pub fn id(&self, index: u32) -> UnitId {
        UnitId { index, generation: self.units[index].generation }
    }

    pub fn get(&self, id: UnitId) -> Option<&Unit> {
        let unit = self.units.get(id.index)?;
        (unit.is_present() && unit.generation == id.generation).then_some(unit)
    }

    pub fn find(&self, id: UnitId) -> Result<u32, CrowdError> {
        self.get(id).map(|_| id.index).ok_or(CrowdError::NoSuchUnit)
    }

    /// Returns the unit that holds a cell.
    #[inline]
    pub fn owner(&self, cell: u32) -> Option<&Unit> {
        self.units.get(self.reservations.get(cell).owner)
    }

    /// Returns whether a unit that rests on a block keeps `unit` out of it for good: it has another order, and `unit` cannot push
    /// it.
    pub fn is_barred(&self, unit: &Unit, (at, size): (GridPos, u8)) -> bool {
        let bars = |other: &Unit| {
            let stays = other.speed == 0 || !other.is_under_way();
            stays
                && !other.is_moving()
                && other.task != unit.task
                && !other.is_pushable_by(unit.team)
        };
        self.reservations.block(at, size).filter_map(|cell| self.owner(cell)).any(bars)
    }

    /// Begins a tick.
    pub fn begin_tick(&mut self) {
        self.now += 1;
        self.list = self.list.wrapping_add(1);
    }

    /// Ends a tick: all units have been decided.
    pub fn end_tick(&mut self) {
        self.ready.clear();
        self.list = self.list.wrapping_add(1);
    }

    /// Ends the steps that are over and lists all units to be decided in this tick.
    pub fn collect_ready(&mut self, grid: &NavGrid) {
        self.departures.clear();
        let mut due = core::mem::take(&mut self.due);
        self.timers.take_due(self.now, &mut due);
        // First read what is needed of all units, then their reservations, so that the cache misses overlap.
        for &index in &due {
            black_box(self.units[index].end);
        }
        let mut ended = core::mem::take(&mut self.ended);
        for index in due.drain(..) {
            let unit = &self.units[index];
            match unit.state {
                State::Moving if unit.end > self.now * SUBTICKS_PER_TICK => {
                    self.timers.put(index, self.now, unit.end.div_ceil(SUBTICKS_PER_TICK));
                }
                State::Moving => ended.push((index, self.reservations.at(unit.tail))),
                _ => self.mark_ready(index),
            }
        }
        for (index, reservation) in ended.drain(..) {
            self.end_step(index, reservation);
            if self.units[index].is_trapped() {
                self.free_if_outside(grid, index);
            }
            self.units[index].list = self.list;
            self.ready.push(index);
            self.moved.push(index);
        }
        (self.due, self.ended) = (due, ended);
    }

    /// Sorts the units to be decided by priority: the oldest order comes first.
    pub fn sort_ready(&mut self) {
        let mut priorities = core::mem::take(&mut self.priorities);
        let ready = self.ready.iter();
        priorities.extend(ready.map(|&index| self.units[index].priority(index)));
        priorities.sort_unstable();
        priorities.dedup(); // a unit may have been listed both between two ticks and in this one
        self.ready.clear();
        self.ready.extend(priorities.drain(..).map(|priority| priority as u32));
        self.priorities = priorities;
    }

    /// Returns the memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let lists = [&self.free, &self.ready, &self.due, &self.woken, &self.moved];
        let lists: usize = lists.iter().map(|list| list.capacity() * 4).sum();
        let units = self.units.0.capacity() * size_of::<Unit>() + self.priorities.capacity() * 8;
        self.reservations.bytes()
            + self.timers.bytes()
            + self.departures.bytes()
            + self.density.bytes()
            + lists
            + units
    }
}

/// Returns the entry at an index; the list grows to hold it.
pub fn entry_at<T: Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize_with(at + 1, T::default);
    }
    &mut list[at]
}

/// Returns the size of the units of each profile, in cells along a side.
fn unit_sizes(grid: &NavGrid) -> impl Iterator<Item = u8> + Clone {
    let profiles = 0..grid.profiles().len().min(256);
    profiles.map(|profile| grid.unit_size(ProfileId(profile as u8)) as u8)
}
