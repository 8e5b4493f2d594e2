//! Runs an app under the outside checker: all colliding critters are checked in every tick.
//!
//! Input: an app in which each update is one tick, and the critters that were moved by hand. Output: a panic
//! in the first tick in which two critters hold one cell, swap cells, cross each other, jump or cut a corner.
//! The profile of a critter is that of its [`NavAgent`], so orders must use the same profile.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_tilepath::{nav::crowd::Crowd, prelude::*};

use crate::{
    common::{app::*, units::*},
    crowd_common::{Checker, Seen},
};

/// Ticks in which a critter that was moved by hand may jump: it is moved in the next tick or, if there was no
/// room, a little later.
const JUMP_GRACE: u32 = 20;

/// Checks an app tick by tick.
pub struct Watch {
    checker: Checker,
    /// By critter: its unit in the crowd in the last tick.
    units: BTreeMap<u64, u64>,
    /// By critter moved by hand: the last tick in which it may jump.
    may_jump: BTreeMap<u64, u32>,
    ticks: u32,
}

impl Watch {
    pub fn new() -> Self {
        let (units, may_jump) = (BTreeMap::new(), BTreeMap::new());
        Self { checker: Checker::new(), units, may_jump, ticks: 0 }
    }

    /// Announces that a critter is moved by hand in this tick.
    pub fn allow_jump(&mut self, unit: Entity) {
        self.may_jump.insert(unit.to_bits(), self.ticks + JUMP_GRACE);
    }

    /// Announces that several critters are moved by hand in this tick.
    pub fn allow_jumps(&mut self, units: &[Entity]) {
        units.iter().for_each(|&unit| self.allow_jump(unit));
    }

    /// Runs one tick and checks it.
    pub fn tick(&mut self, app: &mut App) {
        app.update();
        self.look(app);
    }

    pub fn run(&mut self, app: &mut App, ticks: u32) {
        (0..ticks).for_each(|_| self.tick(app));
    }

    /// Runs ticks until `done` and returns how many; panics after `most`.
    pub fn run_until(
        &mut self,
        app: &mut App,
        most: u32,
        mut done: impl FnMut(&App) -> bool,
    ) -> u32 {
        for tick in 0..most {
            if done(app) {
                return tick;
            }
            self.tick(app);
        }
        panic!("still not done after {most} ticks");
    }

    /// Runs until all have arrived.
    pub fn run_until_all_arrived(&mut self, app: &mut App, units: &[Entity], most: u32) {
        for _ in 0..most {
            if units.iter().all(|&unit| has_arrived(app, unit)) {
                return;
            }
            self.tick(app);
        }
        let late: Vec<(Cell, PathStatus)> = units
            .iter()
            .filter(|&&unit| !has_arrived(app, unit))
            .map(|&unit| (state(app, unit).cell(), status(app, unit)))
            .collect();
        panic!("after {most} ticks not arrived: {late:?}");
    }

    fn look(&mut self, app: &mut App) {
        self.ticks += 1;
        let mut critters = app.world_mut().query::<(Entity, &Critter, &NavAgent, &CritterState)>();
        let Some(grid) = app.world().resource::<NavGrids>().get(GridId::default()) else {
            return;
        };
        let Some(crowd) = app.world().resource::<Crowds>().get(GridId::default()) else {
            return;
        };
        let (mut units, mut seen) = (BTreeMap::new(), Vec::new());
        for (entity, critter, agent, state) in critters.iter(app.world()) {
            let Some(unit) = state.unit().filter(|_| critter.collides) else {
                continue; // a ghost, or not in the crowd
            };
            let (id, size) = (entity.to_bits(), crowd.size(unit).unwrap());
            units.insert(id, unit.bits());
            // As long as there is no room for its new size, a unit keeps its profile.
            let has_room = grid.unit_size(agent.profile) == size;
            let profile = if has_room { agent.profile } else { crowd.profile(unit).unwrap() };
            let position = (state.walk().tail(), state.walk().head());
            assert_eq!(Some(position), crowd.position(grid, unit), "of {unit:?}");
            seen.push(Seen::new((id, profile, size), position, crowd.progress(unit)));
        }
        let now = self.ticks;
        self.may_jump.retain(|_, until| *until >= now);
        // A unit that has just entered, or was moved by hand, may be anywhere, but not too close to others.
        let jumped = |id: &u64, unit: &u64| {
            self.units.get(id) != Some(unit) || self.may_jump.contains_key(id)
        };
        let moved = units.iter().filter(|&(id, unit)| jumped(id, unit));
        let moved: Vec<u64> = moved.map(|(&id, _)| id).collect();
        self.checker.look(grid, &seen, &moved);
        self.units = units;
        assert!(self.checker.faults.is_clean(), "tick {now}: {:?}", self.checker.first);
    }
}

/// Spawns a critter on a cell (the anchor of a large one), its transform exactly in the center.
pub fn spawn_at(app: &mut App, critter: Critter, cell: (i32, i32)) -> Entity {
    spawn_kind_at(app, (critter, NavAgent::default()), cell)
}

/// Spawns a critter with any profile on a cell, as [`spawn_at`] does.
pub fn spawn_kind_at(app: &mut App, unit: (Critter, NavAgent), cell: (i32, i32)) -> Entity {
    let position = block_center(app, unit.1.profile, Cell::from(cell));
    app.world_mut().spawn((unit, Transform::from_translation(position.extend(0.0)))).id()
}

/// Writes the center of a cell to the transform of a critter.
pub fn move_to(app: &mut App, unit: Entity, cell: (i32, i32)) {
    let profile = app.world().get::<NavAgent>(unit).unwrap().profile;
    let position = block_center(app, profile, Cell::from(cell)).extend(0.0);
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation = position;
}

/// Makes a critter a ghost, or a colliding critter again.
pub fn set_ghost(app: &mut App, unit: Entity, is_ghost: bool) {
    app.world_mut().get_mut::<Critter>(unit).unwrap().collides = !is_ghost;
}

/// Returns the cell that a critter stands on or leaves.
pub fn cell(app: &App, unit: Entity) -> Cell {
    state(app, unit).cell()
}

/// Returns whether a critter stands on exactly this cell.
pub fn stands_on(app: &App, unit: Entity, position: (i32, i32)) -> bool {
    cell(app, unit) == Cell::from(position) && !state(app, unit).walk().is_between_cells()
}

/// Returns whether a critter is in the crowd of its grid.
pub fn is_in_crowd(app: &App, critter: Entity) -> bool {
    state(app, critter).unit().is_some()
}

/// Returns whether the cell that a critter stands on or leaves is passable for it.
pub fn is_passable(app: &App, critter: Entity) -> bool {
    let profile = app.world().get::<NavAgent>(critter).unwrap().profile;
    level(app).cost(profile, cell(app, critter)) > 0
}

/// Returns the columns or the rows between two cells, whichever is more.
pub fn chebyshev_distance(a: Cell, b: Cell) -> u32 {
    a.x.abs_diff(b.x).max(a.y.abs_diff(b.y))
}

/// Draws a corridor one cell wide and 20 cells long, in row 1, with a bay of one cell above column `bay`.
pub fn corridor_with_bay(bay: usize) -> String {
    let wall = "#".repeat(20);
    let mut top = wall.clone();
    top.replace_range(bay..=bay, ".");
    format!("{top}\n{}\n{wall}", ".".repeat(20))
}

/// Draws a corridor one cell wide and 20 cells long, in row 1.
pub fn corridor() -> String {
    let wall = "#".repeat(20);
    format!("{wall}\n{}\n{wall}", ".".repeat(20))
}

/// Returns the counters of all crowds.
pub fn crowd_counters(app: &App) -> CrowdCounters {
    app.world().resource::<Crowds>().counters()
}

/// Returns the number of units in the crowd of the default grid.
pub fn crowd_len(app: &App) -> usize {
    let crowds: &Crowds = app.world().resource();
    crowds.get(GridId::default()).map_or(0, Crowd::len)
}
