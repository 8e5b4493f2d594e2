//! Stage 4 for critters that keep off each other: a crowd for each grid.
//!
//! Input: critters, where they stand, their paths, speeds and manners. Output: steps by which no two ever
//! come too near (`nav::crowd` has the method), arrivals, and why somebody does not get on. No cell is
//! ever held by two critters, none swaps places with another or cuts a corner, and discs of radius 0.35
//! cells never overlap, whatever the speeds. What is promised, and what is not: [`guide::crowds`](crate::guide::crowds).
//!
//! Everyone here gives way: whoever stands idle is pushed aside by those who want to pass, and whoever
//! is pushed off its path finds back to it. [`Immovable`] critters and those of another [`CrowdTeam`] are
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

use bevy::{
    ecs::{entity_disabling::Disabled, lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
    reflect::std_traits::ReflectDefault,
};

use crate::{
    grids::NavGrids,
    movement::{Critter, CritterState},
    nav::{
        crowd::{Crowd, CrowdCounters, UnitId},
        grid::NavGrid,
        query::GridId,
        terrain::ProfileId,
        walk::Walk,
    },
};

/// The side a critter is on; 0 for those that have none of these. Critters push only their own side out
/// of the way.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Hash, Clone)]
#[component(on_remove = note_loss)]
pub struct CrowdTeam(pub u8);

/// Nobody may push this critter aside: others walk around it. For units that guard a place or are at
/// work.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Hash, Clone)]
#[component(on_remove = note_loss)]
pub struct Immovable;

/// What a critter and the crowd of its grid know of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Membership {
    pub(crate) unit: Option<UnitId>,
    pub(crate) grid: GridId,
    pub(crate) profile: ProfileId,
    pub(crate) errand: Errand,
    /// Counts critters as they are made: those made first come first.
    number: u64,
    /// It had arrived, and was sent on to another place of its group: it has nothing new to tell.
    has_told: bool,
    /// It is about to come into the crowd for the first time.
    pub(crate) is_newcomer: bool,
    /// Its status says that it is stuck, as far as is known.
    is_stuck: bool,
}

/// What the crowd knows of a critter's path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Errand {
    /// Nothing yet: it is another one, or there is none any more.
    #[default]
    Anew,
    /// Only the beginning.
    Longer,
    /// All there is.
    Known,
}

/// The crowds of all grids. For reading: who stands where, what they wait for, what it took.
#[derive(Resource, Debug, Default)]
pub struct Crowds {
    hosts: BTreeMap<GridId, Host>,
    inbox: CrowdInbox,
}

/// Who came and went since the last tick.
#[derive(Debug, Default)]
struct CrowdInbox {
    numbers: u64,
    left: Vec<(GridId, UnitId)>,
    /// Who has lost something that says how it is steered.
    lost: Vec<Entity>,
}

/// A crowd, and who its units are.
#[derive(Debug)]
struct Host {
    crowd: Crowd,
    /// By slot of the unit.
    entities: Vec<Entity>,
    /// Of the grid it was made for.
    incarnation: u64,
    /// Since when the profiles of the grid are what they were in the last tick.
    profiles_revision: u64,
}

impl Membership {
    /// Its place among all critters ever made.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }
}

impl Crowds {
    /// The crowd of a grid; `None` before anybody has come to stand on it.
    #[must_use]
    pub fn get(&self, id: GridId) -> Option<&Crowd> {
        self.hosts.get(&id).map(|host| &host.crowd)
    }

    /// The critter that is this unit of a grid's crowd.
    #[must_use]
    pub fn entity(&self, id: GridId, unit: UnitId) -> Option<Entity> {
        let host = self.hosts.get(&id)?;
        host.entities.get(unit.slot()).copied().filter(|_| host.crowd.contains(unit))
    }

    /// What all crowds have done so far.
    #[must_use]
    pub fn counters(&self) -> CrowdCounters {
        self.hosts.values().map(|host| host.crowd.counters()).sum()
    }

    /// Where a critter is on its path; `None` where the crowd does not lead it along one.
    #[must_use]
    pub(crate) fn walk_along(
        &self,
        grid: &NavGrid,
        id: GridId,
        state: &CritterState,
    ) -> Option<Walk> {
        self.get(id)?.walk_along(grid, state.unit()?)
    }

    /// Whether there are crowds of grids that are gone or are others than before.
    fn has_stale(&self, grids: &NavGrids) -> bool {
        self.hosts.iter().any(|(&id, host)| host.is_stale(grids, id))
    }

    /// Gives up such crowds; returns who was in them.
    fn take_stale(&mut self, grids: &NavGrids) -> Vec<Entity> {
        let mut entities = Vec::new();
        self.hosts.retain(|&id, host| {
            let is_stale = host.is_stale(grids, id);
            if is_stale {
                entities.extend(host.crowd.units().map(|unit| host.entities[unit.slot()]));
            }
            !is_stale
        });
        entities
    }

    fn host(&mut self, grids: &NavGrids, id: GridId, grid: &NavGrid) -> &mut Host {
        self.hosts.entry(id).or_insert_with(|| Host {
            crowd: Crowd::new(grid),
            entities: Vec::new(),
            incarnation: grids.incarnation(id),
            profiles_revision: grid.profiles_revision(),
        })
    }
}

impl Host {
    /// Whether it was made for another grid than there is now under this number.
    fn is_stale(&self, grids: &NavGrids, id: GridId) -> bool {
        grids.incarnation(id) != self.incarnation
    }

    /// Whether this is still the unit of `entity`.
    fn is_unit_of(&self, unit: UnitId, entity: Entity) -> bool {
        self.entities.get(unit.slot()) == Some(&entity)
    }
}

/// Numbers critters in the order in which they are made.
pub(crate) fn note_critter(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let collides = world.get(entity).is_some_and(|critter: &Critter| critter.collides);
    let Some(mut crowds) = world.get_resource_mut::<Crowds>() else {
        return;
    };
    crowds.inbox.numbers += 1;
    let number = crowds.inbox.numbers;
    if let Some(mut state) = world.get_mut::<CritterState>(entity)
        && state.member.number == 0
    {
        state.member.number = number;
        state.member.is_newcomer = collides;
    }
}

/// A critter is one no more: its cells are free from the next tick on.
pub(crate) fn note_leaving(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let Some(mut state) = world.get_mut::<CritterState>(entity) else {
        return;
    };
    let (grid, unit) = (state.member.grid, state.member.unit.take());
    state.freeze();
    if let (Some(unit), Some(mut crowds)) = (unit, world.get_resource_mut::<Crowds>())
        && crowds.hosts.get(&grid).is_some_and(|host| host.is_unit_of(unit, entity))
    {
        crowds.inbox.left.push((grid, unit));
    }
}

/// A critter has lost something that says how it is steered.
pub(crate) fn note_loss(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut crowds) = world.get_resource_mut::<Crowds>() {
        crowds.inbox.lost.push(entity);
    }
}

/// A critter stands still while it is disabled, and holds its cells.
pub(crate) fn note_disabled(disabled: On<Add, Disabled>, mut crowds: ResMut<Crowds>) {
    crowds.inbox.lost.push(disabled.entity);
}

/// It goes on.
pub(crate) fn note_enabled(enabled: On<Remove, Disabled>, mut crowds: ResMut<Crowds>) {
    crowds.inbox.lost.push(enabled.entity);
}
