//! Stage 4 for critters that collide: one crowd per grid.
//!
//! Input: critters with their positions, paths, speeds and settings. Output: steps by which no two critters
//! ever come too close (for the method see `nav::crowd`), arrivals, and the reason why a unit cannot move on.
//! No cell is ever held by two critters, no critter swaps cells with another or cuts a corner, and discs of
//! radius 0.35 cells never overlap, whatever the speeds. For what is guaranteed and what is not see
//! [`guide::crowds`](crate::guide::crowds).
//!
//! Critters yield: an idle critter is pushed aside by critters that need to pass, and a critter that is
//! pushed off its path returns to it. [`Unpushable`] critters and those of another [`CrowdTeam`] are
//! obstacles: units wait for a while and then walk around them.

mod changes;
mod enter;
mod report;
mod steer;
mod transfer;

pub(crate) use self::{
    enter::{Newcomer, drop_stale_crowds, enter_crowds},
    report::advance_crowds,
    steer::{Pace, PaceItem, steer_critters},
};

use std::collections::BTreeMap;

use bevy::{
    ecs::{
        entity::{EntityHashMap, MapEntities},
        entity_disabling::Disabled,
    },
    prelude::*,
};

use self::enter::Wanted;
use crate::{
    entity_keys::map_keys,
    grids::NavGrids,
    group::GroupSlot,
    nav::{Cell, Crowd, CrowdCounters, GridId, NavGrid, UnitId, Walk},
    request::Requester,
    unit::{
        Critter, CritterState, CrowdTeam, GroupSpeedLimit, NavAgent, PathSync, SpeedFactor,
        SpeedLimit, Unpushable,
    },
};

/// All units with requests, including disabled ones, so that no arrival is lost.
type Requesters<'w, 's> = Query<'w, 's, Requester, Allow<Disabled>>;

/// The crowds of all grids. Read-only: gives access to the cells that each unit holds, what it waits for, and
/// the counters.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Crowds {
    by_grid: BTreeMap<GridId, GridCrowd>,
    /// Critters without a free cell for their size, and what they were when one was last looked for.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    outside: EntityHashMap<Wanted>,
    /// Number of ticks so far, and of grids that had been inserted, and moved, in the last one.
    ticks: u64,
    grids_seen: u64,
    frames_seen: u64,
}

/// What observers have noted since the last tick. Not in [`Crowds`], which a game may have taken out of the world for a while.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CritterChanges {
    /// Number of times that a [`Critter`] was inserted so far.
    numbers: u64,
    /// Former critters and their units.
    left: Vec<(GridId, UnitId, Entity)>,
    /// Critters to which a component that affects their steering was added or removed.
    changed: Vec<Entity>,
    /// How many ticks the crowds had counted after the last one: others after the game has replaced the resource.
    crowd_ticks: u64,
}

impl MapEntities for CritterChanges {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.left.iter_mut().for_each(|(.., entity)| entity.map_entities(mapper));
        self.changed.map_entities(mapper);
    }
}

/// The crowd of a grid and the entities of its units.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct GridCrowd {
    crowd: Crowd,
    /// Indexed by the slot of the unit.
    entities: Vec<Entity>,
    /// Generation of the grid that the crowd was created for.
    generation: u64,
    /// Revision of the grid's profiles as of the last tick.
    profiles_revision: u64,
}

impl Crowds {
    /// Returns the crowd of a grid; `None` before the first critter stands on it.
    #[must_use]
    pub fn get(&self, id: GridId) -> Option<&Crowd> {
        self.by_grid.get(&id).map(|grid_crowd| &grid_crowd.crowd)
    }

    /// Returns the entity of a unit of a grid's crowd.
    #[must_use]
    pub fn entity(&self, id: GridId, unit: UnitId) -> Option<Entity> {
        let grid_crowd = self.by_grid.get(&id)?;
        grid_crowd.entities.get(unit.index()).copied().filter(|_| grid_crowd.crowd.contains(unit))
    }

    /// Returns the critter that holds a cell of a grid: one that stands on it, leaves it or enters it. Ghosts hold none.
    #[must_use]
    pub fn entity_at(&self, grids: &NavGrids, id: GridId, cell: Cell) -> Option<Entity> {
        self.entity(id, self.get(id)?.holder(grids.get(id)?, cell)?)
    }

    /// Returns how many units there are in all crowds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_grid.values().map(|grid_crowd| grid_crowd.crowd.len()).sum()
    }

    /// Returns whether there are no units.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the counters of all crowds.
    #[must_use]
    pub fn counters(&self) -> CrowdCounters {
        self.by_grid.values().map(|grid_crowd| grid_crowd.crowd.counters()).sum()
    }

    /// Returns the crowd of a grid, a new one if there is none yet.
    fn crowd_on(&mut self, grids: &NavGrids, id: GridId, grid: &NavGrid) -> &mut GridCrowd {
        self.by_grid.entry(id).or_insert_with(|| GridCrowd {
            crowd: Crowd::new(grid),
            entities: Vec::new(),
            generation: grids.generation(id),
            profiles_revision: grid.profiles_revision(),
        })
    }

    /// Returns the position of a critter on its path; `None` if the crowd of this grid does not move it along that path.
    pub(crate) fn walk_of(&self, grid: &NavGrid, id: GridId, state: &CritterState) -> Option<Walk> {
        let member = &state.member;
        let follows = member.grid == id && member.path != PathSync::Replaced;
        self.get(id)?.path_progress(grid, member.unit.filter(|_| follows)?)
    }

    /// Lists all critters on grids whose profiles have changed.
    fn list_with_changed_profiles(&mut self, grids: &NavGrids, entities: &mut Vec<Entity>) {
        for (&id, grid_crowd) in &mut self.by_grid {
            let now = grids.get(id).map_or(0, NavGrid::profiles_revision);
            if core::mem::replace(&mut grid_crowd.profiles_revision, now) != now {
                entities.extend(grid_crowd.entities());
            }
        }
    }

    /// Takes out a unit whose critter is not in the world any more: its cells are free.
    pub(crate) fn drop_unit(&mut self, (grid, unit): (GridId, UnitId)) {
        if let Some(grid_crowd) = self.by_grid.get_mut(&grid) {
            grid_crowd.crowd.remove(unit);
        }
    }
}

impl MapEntities for Crowds {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for grid_crowd in self.by_grid.values_mut() {
            grid_crowd.entities.map_entities(mapper);
        }
        map_keys(&mut self.outside, mapper);
    }
}

impl GridCrowd {
    /// Returns the entities of its units.
    fn entities(&self) -> impl Iterator<Item = Entity> {
        self.crowd.units().map(|unit| self.entities[unit.index()])
    }
}

/// Numbers critters in the order of creation.
fn number_critter(
    inserted: On<Insert, Critter>,
    mut changes: ResMut<CritterChanges>,
    mut critters: Query<(&Critter, &mut CritterState), Allow<Disabled>>,
) {
    changes.numbers += 1;
    let Ok((critter, mut state)) = critters.get_mut(inserted.entity) else {
        return;
    };
    if state.member.number == 0 {
        state.member.number = changes.numbers;
        state.member.is_newcomer = true;
    }
    // It may have become a ghost before its first tick.
    if state.member.is_newcomer && !critter.collides {
        state.member.is_newcomer = false;
    }
}

/// A former critter keeps nothing of its movement: from now on the game moves the unit.
fn end_critter(removed: On<Remove, Critter>, mut commands: Commands) {
    commands.entity(removed.entity).try_remove::<CritterState>();
}

/// Removes a former critter from its crowd: its cells are free from the next tick on.
fn leave_crowd(
    discarded: On<Discard, CritterState>,
    mut changes: ResMut<CritterChanges>,
    states: Query<&CritterState, Allow<Disabled>>,
) {
    let entity = discarded.entity;
    let member = states.get(entity).map(|state| state.member).unwrap_or_default();
    changes.left.extend(member.unit.map(|unit| (member.grid, unit, entity)));
}

/// Registers the observers that inform the crowds immediately.
pub(crate) fn build(app: &mut App) {
    app.init_resource::<CritterChanges>()
        .add_observer(number_critter)
        .add_observer(end_critter)
        .add_observer(leave_crowd)
        .add_observer(record_change::<Remove, (SpeedFactor, SpeedLimit, GroupSpeedLimit)>)
        .add_observer(record_change::<Remove, (CrowdTeam, Unpushable, GroupSlot, NavAgent)>)
        // While it is disabled, a critter stands still and holds its cells.
        .add_observer(record_change::<Add, Disabled>)
        .add_observer(record_change::<Remove, Disabled>);
}

/// Records that a component that affects the steering of a critter was added or removed.
fn record_change<E: EntityEvent, B: Bundle>(
    event: On<E, B>,
    mut changes: ResMut<CritterChanges>,
    critters: Query<(), (With<CritterState>, Allow<Disabled>)>,
) {
    let entity = event.event_target();
    if critters.contains(entity) && changes.changed.last() != Some(&entity) {
        changes.changed.push(entity);
    }
}
