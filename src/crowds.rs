//! Stage 4 for critters that collide: a crowd for each grid.
//!
//! Input: critters, where they stand, their paths, speeds and settings. Output: steps by which no two ever
//! come too near (`nav::crowd` has the method), arrivals, and the reason why a unit cannot move on. No cell is
//! ever held by two critters, none swaps cells with another or cuts a corner, and discs of radius 0.35
//! cells never overlap, whatever the speeds. What is promised, and what is not: [`guide::crowds`](crate::guide::crowds).
//!
//! Critters make way: an idle one is pushed aside by those that want to pass, and one that
//! is pushed off its path finds back to it. [`Unpushable`] critters and those of another [`CrowdTeam`] are
//! obstacles: waited for a while, then walked around.

mod changes;
mod enter;
mod report;
mod steer;

pub(crate) use self::{
    enter::{drop_stale_crowds, enter_crowds},
    report::advance_crowds,
    steer::steer_critters,
};

use std::collections::BTreeMap;

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use crate::{
    grids::NavGrids,
    group::{GroupSlot, GroupSpeedLimit},
    nav::{
        crowd::{Crowd, CrowdCounters, UnitId},
        grid::NavGrid,
        query::GridId,
        walk::Walk,
    },
    unit::{Critter, CritterState, CrowdTeam, SpeedLimit, Unpushable},
};

/// The crowds of all grids. Read-only: which unit holds which cell, what it waits for, and what that cost.
#[derive(Resource, Debug, Default)]
pub struct Crowds {
    by_grid: BTreeMap<GridId, GridCrowd>,
    inbox: CrowdInbox,
}

/// Critters that came and went since the last tick.
#[derive(Debug, Default)]
struct CrowdInbox {
    numbers: u64,
    left: Vec<(GridId, UnitId)>,
    /// Critters that have lost or gained something that says how they are steered.
    changed: Vec<Entity>,
}

/// The crowd of a grid, and the entities of its units.
#[derive(Debug)]
struct GridCrowd {
    crowd: Crowd,
    /// By slot of the unit.
    entities: Vec<Entity>,
    /// Generation of the grid it was made for.
    generation: u64,
    /// Since when the profiles of the grid are what they were in the last tick.
    profiles_revision: u64,
}

impl Crowds {
    /// The crowd of a grid; `None` before the first critter stands on it.
    #[must_use]
    pub fn get(&self, id: GridId) -> Option<&Crowd> {
        self.by_grid.get(&id).map(|grid_crowd| &grid_crowd.crowd)
    }

    /// The entity of a unit of a grid's crowd.
    #[must_use]
    pub fn entity(&self, id: GridId, unit: UnitId) -> Option<Entity> {
        let grid_crowd = self.by_grid.get(&id)?;
        grid_crowd.entities.get(unit.slot()).copied().filter(|_| grid_crowd.crowd.contains(unit))
    }

    /// What all crowds have done so far.
    #[must_use]
    pub fn counters(&self) -> CrowdCounters {
        self.by_grid.values().map(|grid_crowd| grid_crowd.crowd.counters()).sum()
    }

    /// Where a critter is on its path; `None` where the crowd does not lead it along one.
    #[must_use]
    pub(crate) fn walk_along(
        &self,
        grid: &NavGrid,
        id: GridId,
        state: &CritterState,
    ) -> Option<Walk> {
        self.get(id)?.path_progress(grid, state.unit()?)
    }

    /// Whether there are crowds of grids that are gone or are others than before.
    fn has_stale(&self, grids: &NavGrids) -> bool {
        self.by_grid.iter().any(|(&id, grid_crowd)| grid_crowd.is_stale(grids, id))
    }

    /// Gives up such crowds; returns who was in them.
    fn take_stale(&mut self, grids: &NavGrids) -> Vec<Entity> {
        let mut entities = Vec::new();
        self.by_grid.retain(|&id, grid_crowd| {
            let is_stale = grid_crowd.is_stale(grids, id);
            if is_stale {
                entities
                    .extend(grid_crowd.crowd.units().map(|unit| grid_crowd.entities[unit.slot()]));
            }
            !is_stale
        });
        entities
    }

    fn of_grid(&mut self, grids: &NavGrids, id: GridId, grid: &NavGrid) -> &mut GridCrowd {
        self.by_grid.entry(id).or_insert_with(|| GridCrowd {
            crowd: Crowd::new(grid),
            entities: Vec::new(),
            generation: grids.generation(id),
            profiles_revision: grid.profiles_revision(),
        })
    }
}

impl GridCrowd {
    /// Whether it was made for another grid than there is now under this number.
    fn is_stale(&self, grids: &NavGrids, id: GridId) -> bool {
        grids.generation(id) != self.generation
    }

    /// Whether this is still the unit of `entity`.
    fn is_unit_of(&self, unit: UnitId, entity: Entity) -> bool {
        self.entities.get(unit.slot()) == Some(&entity)
    }
}

/// Numbers critters in the order in which they are made.
fn note_critter(
    inserted: On<Insert, Critter>,
    mut crowds: ResMut<Crowds>,
    mut critters: Query<(&Critter, &mut CritterState), Allow<Disabled>>,
) {
    crowds.inbox.numbers += 1;
    if let Ok((critter, mut state)) = critters.get_mut(inserted.entity)
        && state.member.number == 0
    {
        state.member.number = crowds.inbox.numbers;
        state.member.is_newcomer = critter.collides;
    }
}

/// A critter is one no more: its cells are free from the next tick on.
fn leave_crowd(
    entity: Entity,
    crowds: &mut Crowds,
    states: &mut Query<&mut CritterState, Allow<Disabled>>,
) {
    let Ok(mut state) = states.get_mut(entity) else {
        return;
    };
    let (grid, unit) = (state.member.grid, state.member.unit.take());
    state.freeze();
    if let Some(unit) = unit
        && crowds.by_grid.get(&grid).is_some_and(|grid_crowd| grid_crowd.is_unit_of(unit, entity))
    {
        crowds.inbox.left.push((grid, unit));
    }
}

/// Registers what the crowds have to hear of at the moment it happens.
pub(crate) fn build(app: &mut App) {
    app.add_observer(note_critter)
        .add_observer(
            |removed: On<Remove, Critter>,
             mut crowds: ResMut<Crowds>,
             mut states: Query<&mut CritterState, Allow<Disabled>>| {
                leave_crowd(removed.entity, &mut crowds, &mut states);
            },
        )
        .add_observer(
            |removed: On<Discard, CritterState>,
             mut crowds: ResMut<Crowds>,
             mut states: Query<&mut CritterState, Allow<Disabled>>| {
                leave_crowd(removed.entity, &mut crowds, &mut states);
            },
        )
        .add_observer(note_change::<Remove, (SpeedLimit, GroupSpeedLimit)>)
        .add_observer(note_change::<Remove, (CrowdTeam, Unpushable, GroupSlot)>)
        // A critter stands still while it is disabled, and holds its cells.
        .add_observer(note_change::<Add, Disabled>)
        .add_observer(note_change::<Remove, Disabled>);
}

/// Something that says how a critter is steered was added or removed.
fn note_change<E: EntityEvent, B: Bundle>(event: On<E, B>, mut crowds: ResMut<Crowds>) {
    crowds.inbox.changed.push(event.event_target());
}
