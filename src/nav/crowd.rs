//! Many units on one grid that never overlap and never jam.
//!
//! Input: a [`NavGrid`], units with their orders, and the fields that lead to shared goals
//! ([`Guidance`]). Output, tick by tick: which cells each unit holds, how far it is on its step, and what
//! happened ([`CrowdEvent`]).

mod ahead;
mod answers;
mod board;
mod chain;
mod circling;
mod claim;
mod clock;
mod departures;
mod escape;
mod events;
mod gate;
mod group;
mod guide;
mod hindrance;
mod keep_off;
mod let_out;
mod lock;
mod muster;
mod narrow;
mod near;
mod orders;
mod passage;
mod place;
mod plan;
mod rank;
mod refit;
mod room;
mod scores;
mod settle;
mod sight;
mod slots;
mod step;
mod stride;
mod unit;
mod walls;
mod way;

pub use events::{CrowdCounters, CrowdEvent};
pub use group::GroupId;
pub use guide::{Guidance, NO_COST, RouteId};
pub use hindrance::Hindrance;
pub use muster::Muster;
pub use orders::CrowdError;
pub use unit::{UnitId, UnitSettings};

pub use clock::PARTS;

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use self::{
    board::{Board, Hold},
    chain::Push,
    circling::Progress,
    claim::Claim,
    clock::Wheel,
    departures::Departures,
    escape::Footprint,
    group::Group,
    guide::{View, World},
    passage::Passages,
    plan::Frame,
    slots::GroupScratch,
    unit::{Errand, NONE, STAY, State, Unit},
    walls::Walls,
    way::Way,
};
use super::{grid::NavGrid, terrain::Profile};

/// Turn of the first orders; earlier ones are given to units that others have shut in.
const FIRST_TURN: u64 = 1 << 28;
/// Ticks after which a unit that waits tries again, if nothing has changed nearby.
const RETRY: u64 = 16;
/// Ticks of waiting after which a unit is reported to be stuck.
const STUCK: u64 = 512;
/// Ticks without a way after which a unit is reported to be lost, and again with every try.
const LOST: u64 = 24;

/// The units of one grid; see the [module](self).
#[derive(Debug, Default)]
pub struct Crowd {
    now: u64,
    size: (u32, u32),
    units: Vec<Unit>,
    free: Vec<u32>,
    count: usize,
    board: Board,
    wheel: Wheel,
    departures: Departures,
    /// Who is to be decided in this tick, and the order of the first of them.
    ready: Vec<u32>,
    turns: Vec<u64>,
    /// Where the fields of those lead, looked up for all of them at once.
    views: Vec<View>,
    /// By unit.
    progress: Vec<Progress>,
    /// By unit, those that follow paths of their own.
    ways: Vec<Way>,
    way_open: BinaryHeap<Reverse<(u64, u16, u16)>>,
    /// Memory for their fields that nobody needs at present, and how many were spread in this tick.
    way_fields: Vec<Vec<u64>>,
    fields_spread: u32,
    due: Vec<u32>,
    /// Whose steps are over, and who held the cells that they left.
    ended: Vec<(u32, Hold)>,
    woken: Vec<u32>,
    stack: Vec<Frame>,
    log: Vec<Claim>,
    /// The pushes of the search for a chain under way, and its number.
    pushes: Vec<Push>,
    search: u32,
    /// Turns from here on were given to units that others had shut in.
    foremost: u64,
    /// Part of a log that is carried out alone.
    kept: Vec<Claim>,
    /// Units of the plan that were in the wheel before it.
    waiting_before: Vec<u32>,
    /// Of the grid, at the last tick.
    revision: u64,
    /// Of units of each profile, at the last tick, in cells along a side.
    sizes: Vec<u8>,
    /// Units that need other room than they have.
    misfits: Vec<u32>,
    footprints: Vec<Footprint>,
    /// By profile.
    passages: Vec<Passages>,
    /// By profile, as the passages.
    walls: Vec<Walls>,
    groups: Vec<Group>,
    group_scratch: GroupScratch,
    events: Vec<CrowdEvent>,
    /// Whose steps began or ended in this tick.
    moved: Vec<u32>,
    counters: CrowdCounters,
}

impl Crowd {
    /// A crowd of nobody on a grid of this size.
    #[must_use]
    pub fn new(grid: &NavGrid) -> Self {
        let size = (grid.width(), grid.height());
        let board = Board::new(size.0, size.1);
        let departures = Departures::new(board.len());
        let (revision, foremost) = (grid.revision(), FIRST_TURN);
        let sizes = grid.profiles().iter().map(Profile::unit_size).collect();
        Self { size, board, departures, revision, sizes, foremost, ..Self::default() }
    }

    /// Lets a tick go by. What happened stands in [`events`](Self::events) until the next one. Does
    /// nothing on a grid of another size.
    pub fn tick<G: Guidance + ?Sized>(&mut self, grid: &NavGrid, guide: &G) {
        self.events.clear();
        self.moved.clear();
        if self.check_size(grid).is_err() {
            return;
        }
        let world = World { grid, guide };
        self.now += 1;
        self.fields_spread = 0;
        self.refit_units(grid);
        self.take_in_edits(grid);
        self.call_due(grid);
        self.refresh_groups(&world);
        self.sort_ready();
        self.look_ahead(&world);
        let mut at = 0;
        while let Some(&index) = self.ready.get(at) {
            self.decide(&world, index);
            at += 1;
        }
        self.ready.clear();
    }

    /// Ends the steps that are over and lists everybody who is to be decided.
    fn call_due(&mut self, grid: &NavGrid) {
        self.departures.clear();
        let mut due = core::mem::take(&mut self.due);
        self.wheel.take_due(self.now, &mut due);
        // First a look at all of them, so that the processor waits for many at the same time.
        let mut ended = core::mem::take(&mut self.ended);
        for index in due.drain(..) {
            let unit = &self.units[index as usize];
            match unit.state {
                State::Moving if unit.end > self.now * PARTS => {
                    self.wheel.put(index, self.now, unit.end.div_ceil(PARTS));
                }
                State::Moving => {
                    ended.push((index, self.board.hold(self.board.index(unit.tail))));
                }
                _ => self.list(index),
            }
        }
        for (index, hold) in ended.drain(..) {
            self.end_step(index, hold);
            if self.units[index as usize].is_trapped {
                self.is_out(grid, index);
            }
            self.units[index as usize].listed_in = self.stamp();
            self.ready.push(index);
            self.moved.push(index);
        }
        (self.due, self.ended) = (due, ended);
    }

    /// Sorts those to be decided: who was ordered first comes first.
    fn sort_ready(&mut self) {
        let mut turns = core::mem::take(&mut self.turns);
        turns.extend(self.ready.iter().map(|&index| self.units[index as usize].turn(index)));
        turns.sort_unstable();
        turns.dedup(); // listed between two ticks, and in this one
        self.ready.clear();
        self.ready.extend(turns.drain(..).map(|turn| turn as u32));
        self.turns = turns;
    }

    /// The tick as units note it: to be compared with the one under way only.
    const fn stamp(&self) -> u32 {
        self.now as u32
    }

    /// Lets a unit move, or wait.
    fn decide<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let unit = &self.units[index as usize];
        if unit.is_moving() || unit.is_idle() {
            return;
        }
        if unit.is_misfit {
            self.units[index as usize].hindrance = Hindrance::NoRoom;
            self.wait(index);
            return;
        }
        if unit.is_trapped {
            if self.is_out(world.grid, index) {
                return;
            }
            self.choose_exit(world, index);
        }
        let unit = &self.units[index as usize];
        if unit.flees != NONE && self.is_past(world, index) {
            self.stop_fleeing(index);
            return;
        }
        self.look_for_slot(world, index);
        self.settle_here(world.grid, index);
        self.look_at_way(world, index);
        let unit = &self.units[index as usize];
        if self.is_at_goal(world, index) {
            self.arrive(world, index);
        } else if self.keeps_off(index) {
            self.units[index as usize].waits_since = self.stamp();
            self.wait(index);
        } else if unit.settled_in != self.stamp() && unit.speed > 0 && self.plan(world, index) {
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

    /// Whether a unit has come to the end of its way.
    fn is_at_goal<G: Guidance + ?Sized>(&self, world: &World<'_, G>, index: u32) -> bool {
        let unit = &self.units[index as usize];
        match unit.errand {
            _ if unit.flees != NONE || unit.is_trapped => false,
            Errand::Route(route) => match self.view(index) {
                Some(view) => view.rest[usize::from(STAY)] == 0,
                None => guide::field_cost(world, route, unit.tail) == 0,
            },
            Errand::Group(group) => self.is_home(group, index),
            Errand::Way | Errand::Place(_) => self.is_at_end(index),
            Errand::Idle => true,
        }
    }

    fn arrive<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        self.forget_waiting(index);
        let unit = &mut self.units[index as usize];
        unit.state = State::Standing;
        unit.hindrance = Hindrance::None;
        self.note_arrival(world, index);
    }

    /// A unit stands on its goal.
    fn note_arrival<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let id = self.id(index);
        let unit = &mut self.units[index as usize];
        if !unit.has_arrived {
            (unit.has_arrived, unit.led_astray) = (true, 0);
            let cell = unit.tail.cell(world.grid);
            self.events.push(CrowdEvent::Arrived { unit: id, cell });
        }
    }

    /// The same for a unit that is pushed on in the tick in which it came there. Not for those who push nobody
    /// on their way back: members of groups, and units on ways of their own.
    fn note_passing<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let unit = &self.units[index as usize];
        let is_led = matches!(unit.errand, Errand::Route(_));
        if is_led && !unit.has_arrived && self.is_at_goal(world, index) {
            self.note_arrival(world, index);
        }
    }

    /// Whether a unit waits for a passage, or behind somebody who does.
    fn is_in_line_for_passage(&self, index: u32) -> bool {
        let unit = &self.units[index as usize];
        unit.hindrance == Hindrance::Oncoming || {
            let wish = unit.wish;
            let owner = (wish != STAY).then(|| {
                let cell = self.board.beside(self.board.index(unit.tail), wish);
                self.board.hold(cell).owner
            });
            let ahead = owner.and_then(|owner| self.units.get(owner as usize));
            ahead.is_some_and(|other| other.lines_up && !other.is_moving())
        }
    }

    /// Puts a unit to sleep until something happens nearby, or for a while.
    fn wait(&mut self, index: u32) {
        let now = self.now;
        let id = self.id(index);
        let lines_up = self.is_in_line_for_passage(index);
        let is_circling = self.is_circling(index);
        let unit = &mut self.units[index as usize];
        unit.state = State::Waiting;
        unit.lines_up = lines_up;
        self.counters.waits += 1;
        let waited = unit.stood(now);
        if !unit.has_arrived {
            self.counters.longest_wait = self.counters.longest_wait.max(waited);
        }
        if is_circling {
            unit.hindrance = Hindrance::Circling;
        }
        let is_stuck = waited >= STUCK || unit.is_misfit || is_circling;
        if is_stuck && !unit.is_reported_stuck {
            unit.is_reported_stuck = true;
            self.events.push(CrowdEvent::Stuck { unit: id, why: unit.hindrance });
        }
        let is_lost = unit.hindrance == Hindrance::NoWay;
        if is_lost && waited >= LOST {
            self.events.push(CrowdEvent::Lost { unit: id });
        }
        let retry = if is_lost && waited < LOST { RETRY.min(LOST - waited) } else { RETRY };
        self.wheel.put(index, now, now + retry);
        self.listen(index);
    }
}
