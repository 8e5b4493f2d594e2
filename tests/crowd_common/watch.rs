//! Lets an app run under the outside checker: all critters that keep off each other are looked at in every
//! tick.
//!
//! Input: an app whose every update is one tick, and who was put elsewhere by hand. Output: a panic in the
//! first tick in which two critters hold one cell, change places, cross each other, jump or cut a corner.
//! Critters are taken to be of the kind that their [`Critter`] says, so orders must name the same profile.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_tilepath::{nav::crowd::Crowd, prelude::*};

use crate::{
    common::{app::*, units::*},
    crowd_common::{Checker, Seen},
};

/// Ticks in which a critter that was put elsewhere may be found somewhere else: it is put there at the
/// next tick, or, where there was no room at first, a little later.
const EXCUSED: u32 = 20;

/// Looks at an app tick by tick.
pub struct Watch {
    checker: Checker,
    /// By critter: which unit of the crowd it was when it was last seen.
    units: BTreeMap<u64, u64>,
    /// Who was put elsewhere, and until when that is an excuse.
    excused: BTreeMap<u64, u32>,
    ticks: u32,
}

impl Watch {
    pub fn new() -> Self {
        let (units, excused) = (BTreeMap::new(), BTreeMap::new());
        Self { checker: Checker::new(), units, excused, ticks: 0 }
    }

    /// Says that a critter is put elsewhere by hand now.
    pub fn excuse(&mut self, unit: Entity) {
        self.excused.insert(unit.to_bits(), self.ticks + EXCUSED);
    }

    /// Says so of several.
    pub fn excuse_all(&mut self, units: &[Entity]) {
        units.iter().for_each(|&unit| self.excuse(unit));
    }

    /// Lets a tick go by and looks at what came of it.
    pub fn tick(&mut self, app: &mut App) {
        app.update();
        self.look(app);
    }

    pub fn run(&mut self, app: &mut App, ticks: u32) {
        (0..ticks).for_each(|_| self.tick(app));
    }

    /// Runs ticks until `done`, tells how many; fails after `most`.
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
        panic!("after {most} ticks still on their way: {late:?}");
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
                continue; // a ghost, or outside
            };
            let (id, profile) = (entity.to_bits(), agent.profile);
            units.insert(id, unit.bits());
            let size = crowd.size(unit).unwrap();
            let place = (state.walk().tail(), state.walk().head());
            assert_eq!(Some(place), crowd.position(grid, unit), "of {unit:?}");
            seen.push(Seen::new((id, profile, size), place, crowd.progress(unit)));
        }
        let now = self.ticks;
        self.excused.retain(|_, until| *until >= now);
        // Who has come in anew, or is excused, may be anywhere; but nobody may be too near to others.
        let is_elsewhere = |id: &u64, unit: &u64| {
            self.units.get(id) != Some(unit) || self.excused.contains_key(id)
        };
        let moved = units.iter().filter(|&(id, unit)| is_elsewhere(id, unit));
        let moved: Vec<u64> = moved.map(|(&id, _)| id).collect();
        self.checker.look(grid, &seen, &moved);
        self.units = units;
        assert!(self.checker.faults.is_clean(), "tick {now}: {:?}", self.checker.first);
    }
}

/// Puts a critter on a cell (of a large one, its anchor), its transform exactly in the middle.
pub fn put(app: &mut App, critter: Critter, cell: (i32, i32)) -> Entity {
    put_kind(app, (critter, NavAgent::default()), cell)
}

/// The same for a critter of any kind.
pub fn put_kind(app: &mut App, unit: (Critter, NavAgent), cell: (i32, i32)) -> Entity {
    let place = middle_of(app, unit.1.profile, Cell::from(cell));
    app.world_mut().spawn((unit, Transform::from_translation(place.extend(0.0)))).id()
}

/// Writes the transform of a critter: to the middle of a cell.
pub fn move_to(app: &mut App, unit: Entity, cell: (i32, i32)) {
    let profile = app.world().get::<NavAgent>(unit).unwrap().profile;
    let place = middle_of(app, profile, Cell::from(cell)).extend(0.0);
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation = place;
}

/// Makes a critter a ghost, or lets it keep off others again.
pub fn set_ghost(app: &mut App, unit: Entity, is_ghost: bool) {
    app.world_mut().get_mut::<Critter>(unit).unwrap().collides = !is_ghost;
}

/// Where a critter stands or what it leaves.
pub fn cell(app: &App, unit: Entity) -> Cell {
    state(app, unit).cell()
}

/// Whether a critter stands on exactly this cell.
pub fn stands_on(app: &App, unit: Entity, place: (i32, i32)) -> bool {
    cell(app, unit) == Cell::from(place) && !state(app, unit).walk().is_between_cells()
}

/// Whether a critter is in the crowd of its grid.
pub fn is_in_crowd(app: &App, critter: Entity) -> bool {
    state(app, critter).unit().is_some()
}

/// Whether the cell that a critter stands on or leaves is passable for it.
pub fn is_passable(app: &App, critter: Entity) -> bool {
    let profile = app.world().get::<NavAgent>(critter).unwrap().profile;
    level(app).cost(profile, cell(app, critter)) > 0
}

/// Columns or rows between two cells, whichever is more.
pub fn apart(a: Cell, b: Cell) -> u32 {
    a.x.abs_diff(b.x).max(a.y.abs_diff(b.y))
}

/// A corridor one cell wide and 20 cells long, in row 1, with a bay of one cell above this column.
pub fn corridor_with_bay(bay: usize) -> String {
    let wall = "#".repeat(20);
    let mut top = wall.clone();
    top.replace_range(bay..=bay, ".");
    format!("{top}\n{}\n{wall}", ".".repeat(20))
}

/// The same without a bay.
pub fn corridor() -> String {
    let wall = "#".repeat(20);
    format!("{wall}\n{}\n{wall}", ".".repeat(20))
}

/// What all crowds have done so far.
pub fn crowd_counters(app: &App) -> CrowdCounters {
    app.world().resource::<Crowds>().counters()
}

/// How many units there are in the crowd of the default grid.
pub fn crowd_len(app: &App) -> usize {
    let crowds: &Crowds = app.world().resource();
    crowds.get(GridId::default()).map_or(0, Crowd::len)
}
