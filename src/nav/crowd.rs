//! Many units on one grid that never overlap and never jam.
//!
//! Input: a [`NavGrid`], units with their orders, and the fields that lead to shared goals
//! ([`Guidance`]). Output per tick: which cells each unit holds, how far it has come on its step, and what
//! happened ([`CrowdEvent`]).

mod cost_to_go;
mod density;
mod departures;
mod edits;
mod events;
mod groups;
mod hindrance;
mod inspect;
mod orders;
mod passages;
mod patience;
mod placement;
mod planner;
mod refit;
mod reservations;
mod step;
mod timer_wheel;
mod unit;

pub use cost_to_go::guidance::{Guidance, NO_COST, RouteId};
pub use events::{CrowdCounters, CrowdEvent};
pub use groups::membership::Membership;
pub use hindrance::Hindrance;
pub use orders::CrowdError;
pub use unit::{UnitId, UnitSettings};

pub use timer_wheel::SUBTICKS_PER_TICK;

use core::hint::black_box;

// The rooms below use each other's modules by these names.
use self::{
    cost_to_go::{
        corner_sight, escape, flood, guidance, local_field, path_corners, path_follower,
        step_costs, straight_walk,
    },
    groups::{group, membership, slots},
    passages::{direction_lock, passage, passage_trace},
    planner::{chain, claim, leader, make_way, rank, scores},
};

use self::{
    cost_to_go::Sources,
    density::Density,
    departures::Departures,
    groups::Groups,
    guidance::World,
    passages::TerrainShape,
    planner::Planner,
    reservations::{Reservation, Reservations},
    timer_wheel::TimerWheel,
    unit::{NONE, Order, STAY, State, Unit},
};
use super::{grid::NavGrid, terrain::Profile};

/// Priority of an order given in tick 0; lower numbers go to units that others have shut in.
const FIRST_PRIORITY: u64 = 1 << 28;
/// Ticks after which a waiting unit tries again if nothing has changed nearby.
const RETRY_AFTER: u64 = 16;
/// Ticks of waiting after which a unit is reported as stuck.
const STUCK_AFTER: u64 = 512;
/// Ticks without a path after which a unit is reported as lost, and again with every retry.
const LOST_AFTER: u64 = 24;

/// The units of one grid; see the [module](self).
#[derive(Debug, Default)]
pub struct Crowd {
    now: u64,
    size: (u32, u32),
    units: Vec<Unit>,
    free: Vec<u32>,
    count: usize,
    reservations: Reservations,
    timers: TimerWheel,
    departures: Departures,
    density: Density,
    /// The units to decide in this tick, and the priorities by which the first of them are sorted.
    ready: Vec<u32>,
    priorities: Vec<u64>,
    sources: Sources,
    due: Vec<u32>,
    /// Units whose steps are over, and the reservations of the cells they left.
    ended: Vec<(u32, Reservation)>,
    woken: Vec<u32>,
    planner: Planner,
    /// The grid's revision at the last tick.
    revision: u64,
    /// Unit size of each profile at the last tick, in cells along a side.
    unit_sizes: Vec<u8>,
    /// Units whose size has changed and which have no room for it yet.
    pending_refits: Vec<u32>,
    shape: TerrainShape,
    groups: Groups,
    events: Vec<CrowdEvent>,
    /// Units whose steps began or ended in this tick.
    moved: Vec<u32>,
    counters: CrowdCounters,
}

impl Crowd {
    /// Creates an empty crowd for a grid of this size.
    #[must_use]
    pub fn new(grid: &NavGrid) -> Self {
        let size = (grid.width(), grid.height());
        let reservations = Reservations::new(size.0, size.1);
        let unit_sizes = grid.profiles().iter().map(Profile::unit_size).collect();
        Self {
            size,
            reservations,
            density: Density::new(size.0, size.1),
            revision: grid.revision(),
            unit_sizes,
            ..Self::default()
        }
    }

    /// Advances the crowd by one tick. What happened can be read from [`events`](Self::events) until the
    /// next tick. Does nothing on a grid of another size.
    pub fn tick<G: Guidance + ?Sized>(&mut self, grid: &NavGrid, guidance: &G) {
        self.events.clear();
        self.moved.clear();
        if self.check_size(grid).is_err() {
            return;
        }
        let world = World { grid, guidance };
        self.now += 1;
        self.sources.begin_tick();
        self.refit_units(grid);
        self.apply_edits(grid);
        self.collect_ready(grid);
        self.refresh_groups(&world);
        self.sort_ready();
        self.look_up_neighbor_costs(&world);
        let mut at = 0;
        while let Some(&index) = self.ready.get(at) {
            self.decide(&world, index);
            at += 1;
        }
        self.ready.clear();
    }

    /// Ends the steps that are over and lists all units to be decided in this tick.
    fn collect_ready(&mut self, grid: &NavGrid) {
        self.departures.clear();
        let mut due = core::mem::take(&mut self.due);
        self.timers.take_due(self.now, &mut due);
        // First read what is needed of all units, then their reservations, so that the cache misses overlap.
        for &index in &due {
            black_box(self.units[index as usize].end);
        }
        let mut ended = core::mem::take(&mut self.ended);
        for index in due.drain(..) {
            let unit = &self.units[index as usize];
            match unit.state {
                State::Moving if unit.end > self.now * SUBTICKS_PER_TICK => {
                    self.timers.put(index, self.now, unit.end.div_ceil(SUBTICKS_PER_TICK));
                }
                State::Moving => {
                    ended.push((index, self.reservations.get(self.reservations.index(unit.tail))));
                }
                _ => self.mark_ready(index),
            }
        }
        for (index, reservation) in ended.drain(..) {
            self.end_step(index, reservation);
            if self.units[index as usize].is_trapped {
                self.free_if_outside(grid, index);
            }
            self.units[index as usize].ready_tick = self.tick_stamp();
            self.ready.push(index);
            self.moved.push(index);
        }
        (self.due, self.ended) = (due, ended);
    }

    /// Sorts the units to be decided by priority: the oldest order comes first.
    fn sort_ready(&mut self) {
        let mut priorities = core::mem::take(&mut self.priorities);
        let ready = self.ready.iter();
        priorities.extend(ready.map(|&index| self.units[index as usize].priority(index)));
        priorities.sort_unstable();
        priorities.dedup(); // a unit may have been listed both between two ticks and in this one
        self.ready.clear();
        self.ready.extend(priorities.drain(..).map(|priority| priority as u32));
        self.priorities = priorities;
    }

    /// The current tick as units store it. Compare it only with the current tick: it wraps around.
    const fn tick_stamp(&self) -> u32 {
        self.now as u32
    }

    /// Decides whether a unit moves or waits in this tick.
    fn decide<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let unit = &self.units[index as usize];
        if unit.is_moving() || unit.is_idle() {
            return;
        }
        if unit.needs_refit {
            self.units[index as usize].hindrance = Hindrance::NoRoom;
            self.wait(index);
            return;
        }
        if unit.is_trapped {
            if self.free_if_outside(world.grid, index) {
                return;
            }
            self.choose_exit(world, index);
        }
        let unit = &self.units[index as usize];
        if unit.yields_to != NONE && !self.still_yields(world, index) {
            self.stop_yielding(index);
            return;
        }
        self.assign_slot(world, index);
        self.settle_in_place(world.grid, index);
        self.update_path_following(world, index);
        let unit = &self.units[index as usize];
        if self.is_at_goal(world, index) {
            self.arrive(world, index);
        } else if self.delays_return(index) {
            self.units[index as usize].waiting_since = self.tick_stamp();
            self.wait(index);
        } else if self.may_plan(unit) && self.plan(world, index) {
            self.commit(world, index);
            if !self.units[index as usize].is_moving() {
                self.wait(index);
            }
        } else {
            if self.units[index as usize].speed == 0 {
                self.units[index as usize].hindrance = Hindrance::NoSpeed;
            }
            self.wait(index);
        }
    }

    /// Returns whether a unit may move in this tick. One that cannot make room for another has nowhere to go,
    /// either, unless it is large: then it may be unable only to make room with one step.
    fn may_plan(&self, unit: &Unit) -> bool {
        unit.speed > 0 && (unit.size > 1 || unit.stay_tick != self.tick_stamp())
    }

    /// Returns whether a unit stands on the goal of its order.
    fn is_at_goal<G: Guidance + ?Sized>(&self, world: &World<'_, G>, index: u32) -> bool {
        let unit = &self.units[index as usize];
        match unit.order {
            _ if unit.yields_to != NONE || unit.is_trapped => false,
            Order::Route(route) => match self.neighbor_costs(index) {
                Some(costs) => costs.cost_to_go[usize::from(STAY)] == 0,
                None => guidance::route_cost(world, route, unit.tail) == 0,
            },
            Order::Path(_) | Order::Group(_) => self.is_at_path_goal(index),
            Order::Idle => true,
        }
    }

    fn arrive<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        self.stop_waiting(index);
        let unit = &mut self.units[index as usize];
        unit.state = State::Standing;
        unit.hindrance = Hindrance::None;
        self.note_arrival(world, index);
    }

    /// Records that a unit stands on its goal.
    fn note_arrival<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let id = self.id(index);
        let unit = &mut self.units[index as usize];
        if !unit.has_arrived {
            (unit.has_arrived, unit.wasted_steps) = (true, 0);
            let cell = unit.tail.cell(world.grid);
            self.events.push(CrowdEvent::Arrived { unit: id, cell });
        }
    }

    /// Records the arrival of a unit that is pushed off its goal in the tick in which it came there. Not for
    /// units that push no others on their way back: members of groups, and units that follow their own paths.
    fn note_arrival_in_passing<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let unit = &self.units[index as usize];
        let follows_route = matches!(unit.order, Order::Route(_));
        if follows_route && !unit.has_arrived && self.is_at_goal(world, index) {
            self.note_arrival(world, index);
        }
    }

    /// Lets a unit wait until something changes nearby, or until its next retry.
    fn wait(&mut self, index: u32) {
        let now = self.now;
        let id = self.id(index);
        let is_circling = self.is_circling(index);
        let unit = &mut self.units[index as usize];
        unit.state = State::Waiting;
        self.counters.waits += 1;
        let stood = unit.ticks_stood(now);
        if !unit.has_arrived {
            self.counters.longest_wait = self.counters.longest_wait.max(stood);
        }
        if is_circling {
            unit.hindrance = Hindrance::Circling;
        }
        let is_stuck = stood >= STUCK_AFTER || unit.needs_refit || is_circling;
        if is_stuck && !unit.is_reported_stuck {
            unit.is_reported_stuck = true;
            self.events.push(CrowdEvent::Stuck { unit: id, why: unit.hindrance });
        }
        let is_lost = unit.hindrance == Hindrance::NoPath;
        if is_lost && stood >= LOST_AFTER {
            self.events.push(CrowdEvent::Lost { unit: id });
        }
        let will_be_lost = is_lost && stood < LOST_AFTER;
        let retry = if will_be_lost { RETRY_AFTER.min(LOST_AFTER - stood) } else { RETRY_AFTER };
        self.timers.put(index, now, now + retry);
        self.update_listening(index);
    }
}
