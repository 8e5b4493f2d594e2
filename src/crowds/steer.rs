//! Passes the paths, speeds and interaction settings of critters to the crowds.
//!
//! Input: paths, speeds, teams. Output: tasks of units.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData, system::SystemParam},
    prelude::*,
};

use super::{
    CritterChanges, Crowds,
    changes::{Column, list_changed},
};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    group::{GroupSlot, GroupState, SwapClass},
    nav::{Crowd, CrowdError, NavGrid, Path, PathKind, UnitId, UnitSettings, crowd::Membership},
    request::{PathRequest, is_latest},
    unit::{
        Critter, CritterState, CrowdTeam, GroupSpeedLimit, NavPath, PathStatus, PathSync,
        RequestState, SpeedChanges, SpeedFactor, SpeedLimit, Unpushable, work,
    },
};

/// How fast a critter is, and who may push it.
#[derive(QueryData)]
pub(crate) struct Pace {
    pub(crate) critter: &'static Critter,
    changes: SpeedChanges,
    team: Option<&'static CrowdTeam>,
    pub(crate) is_unpushable: Has<Unpushable>,
    pub(crate) is_disabled: Has<Disabled>,
}

impl PaceItem<'_, '_> {
    /// Returns its speed with all factors and limits, in cells per second.
    pub(crate) fn speed(&self) -> f32 {
        self.changes.in_group(self.critter.speed)
    }

    /// Returns what it can do in a tick. A disabled critter stands still.
    pub(crate) fn work(&self, seconds: f32) -> u64 {
        work(if self.is_disabled { 0.0 } else { self.speed() }, seconds)
    }

    /// Returns the number of its team.
    pub(crate) fn team(&self) -> u8 {
        self.team.map_or(0, |team| team.0)
    }
}

/// The components of a critter that steering reads and writes.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Steered {
    entity: Entity,
    pace: Pace,
    slot: Option<(&'static GroupSlot, &'static SwapClass)>,
    request: Option<&'static PathRequest>,
    status: Option<&'static PathStatus>,
    state_of_request: Option<&'static RequestState>,
    path: Option<&'static NavPath>,
    state: &'static mut CritterState,
}

/// What steering reads beside critters.
#[derive(SystemParam)]
pub(crate) struct Surroundings<'w, 's> {
    grids: Res<'w, NavGrids>,
    fields: Res<'w, FlowFields>,
    groups: Query<'w, 's, &'static GroupState, Allow<Disabled>>,
}

/// Components whose change affects the crowd.
type Columns<'w, 's> = (
    Column<'w, 's, Critter>,
    Column<'w, 's, CritterState>,
    Column<'w, 's, SpeedFactor>,
    Column<'w, 's, SpeedLimit>,
    Column<'w, 's, GroupSpeedLimit>,
    Column<'w, 's, CrowdTeam>,
    Column<'w, 's, Unpushable>,
);

/// Passes changes since the last tick to the crowds.
pub(crate) fn steer_critters(
    time: Res<Time>,
    mut crowds: ResMut<Crowds>,
    mut changes: ResMut<CritterChanges>,
    around: Surroundings,
    mut critters: ParamSet<(Columns, Query<Steered, Allow<Disabled>>)>,
    mut seconds: Local<f32>,
    mut entities: Local<Vec<Entity>>,
    mut turns: Local<Vec<(u64, Entity)>>,
) {
    entities.append(&mut changes.changed);
    let is_same_timestep = core::mem::replace(&mut *seconds, time.delta_secs()).to_bits()
        == time.delta_secs().to_bits();
    if is_same_timestep {
        let (kinds, states, factors, limits, paces, teams, unpushable) = critters.p0();
        list_changed(&kinds, None, &mut entities);
        list_changed(&states, None, &mut entities);
        list_changed(&factors, None, &mut entities);
        list_changed(&limits, None, &mut entities);
        list_changed(&paces, None, &mut entities);
        list_changed(&teams, None, &mut entities);
        list_changed(&unpushable, None, &mut entities);
    } else {
        entities.clear();
        entities.extend(critters.p1().iter().map(|critter| critter.entity));
    }
    let mut critters = critters.p1();
    for entity in entities.drain(..) {
        if let Ok(mut critter) = critters.get_mut(entity)
            && critter.pass_settings(&around, &mut crowds, *seconds)
        {
            turns.push((critter.state.member.number, entity));
        }
    }
    // In the order in which critters were made: in a loaded world, the order of their tables differs.
    turns.sort_unstable();
    turns.dedup();
    for (_, entity) in turns.drain(..) {
        if let Ok(mut critter) = critters.get_mut(entity) {
            critter.pass_path(&around, &mut crowds);
        }
    }
}

/// At least so many cells per second slides a critter that is drawn off its cell: one that cannot walk would stay there.
const MIN_SLIDE_SPEED: f32 = 4.0;

impl SteeredItem<'_, '_> {
    /// Passes its settings. Returns whether its path has changed.
    fn pass_settings(&mut self, around: &Surroundings, crowds: &mut Crowds, seconds: f32) -> bool {
        let Some((_, crowd, unit)) = self.unit_in(around, crowds) else {
            return false;
        };
        let offset_per_tick = match self.state.member.crossing {
            Some(per_work) => per_work * self.pace.work(seconds) as f32,
            None => self.pace.critter.speed.max(MIN_SLIDE_SPEED) * seconds,
        };
        let state = self.state.bypass_change_detection();
        state.shrink_by(crowd.now(), offset_per_tick);
        let known = crowd.set(unit, self.settings(seconds));
        debug_assert!(known.is_ok(), "{known:?}");
        // A unit whose group is gone continues alone.
        let has_left = self.slot.is_none() && crowd.is_in_group(unit) && self.is_under_way();
        self.state.member.path != PathSync::Current || has_left
    }

    /// Passes its path.
    fn pass_path(&mut self, around: &Surroundings, crowds: &mut Crowds) {
        let Some((grid, crowd, unit)) = self.unit_in(around, crowds) else {
            return;
        };
        let sync = self.state.member.path;
        let rest = self.rest();
        let path = self.path.filter(|_| self.is_under_way()).or(rest.as_ref());
        let followed = match path {
            Some(path) if sync == PathSync::Extended => crowd.extend_path(grid, unit, &path.0),
            Some(path) => match self.membership(around, path) {
                Some(membership) => crowd.follow_among(grid, unit, &path.0, &membership),
                None if self.has_followed() => crowd.replace_path(grid, unit, &path.0),
                None => crowd.follow(grid, unit, &path.0),
            },
            None => crowd.stop(unit),
        };
        // It comes from a link: others may queue where it landed, so it goes first.
        if self.state_of_request.is_some_and(|state| state.journey.grid.is_some()) {
            let known = crowd.give_precedence(unit);
            debug_assert!(known.is_ok(), "{known:?}");
        }
        let has_goal = path.is_some();
        let member = &mut self.state.bypass_change_detection().member;
        (member.path, member.has_goal) = (PathSync::Current, has_goal);
        debug_assert!(followed != Err(CrowdError::NoSuchUnit), "{followed:?}");
    }

    /// Returns its grid, crowd and unit.
    fn unit_in<'a>(
        &self,
        around: &'a Surroundings,
        crowds: &'a mut Crowds,
    ) -> Option<(&'a NavGrid, &'a mut Crowd, UnitId)> {
        let id = self.state.member.grid;
        let crowd = &mut crowds.by_grid.get_mut(&id)?.crowd;
        Some((around.grids.get(id)?, crowd, self.state.member.unit?))
    }

    /// Returns its settings. A critter that crosses a link stands on the cell where it will land.
    fn settings(&self, seconds: f32) -> UnitSettings {
        let member = &self.state.member;
        let is_crossing = member.crossing.is_some();
        UnitSettings {
            profile: member.profile,
            speed: if is_crossing { 0 } else { self.pace.work(seconds) },
            team: self.pace.team(),
            is_pushable: !self.pace.is_unpushable,
            keeps_goal: member.keeps_goal,
        }
    }

    /// Returns the group membership for a path that leads to a slot of a group.
    fn membership(&self, around: &Surroundings, path: &NavPath) -> Option<Membership> {
        // A unit that has got another order leaves its group in the next tick.
        let goal = self.state_of_request?.query.goal.cell();
        let leads_there = !matches!(path.0.kind(), PathKind::Partial | PathKind::ToLink);
        let is_member = |slot: &GroupSlot| slot.cell == goal && leads_there;
        let (slot, class) = self.slot.filter(|(slot, _)| is_member(slot))?;
        let point = around.groups.get(slot.group).ok()?.rally_point(self.state.member.profile)?;
        let route = point.field.as_ref().and_then(|field| around.fields.route(field));
        Some(Membership { swap_class: class.0, slot: slot.cell, goal: point.goal, route })
    }

    /// Returns whether its request follows a target that has moved since.
    fn has_followed(&self) -> bool {
        self.state_of_request.is_some_and(|state| state.has_followed)
    }

    /// Returns whether it has a path to follow.
    fn is_under_way(&self) -> bool {
        let is_walking = self.status.is_some_and(PathStatus::is_walking);
        self.is_latest() && is_walking && !self.state.member.is_held
    }

    /// Returns a path without steps if it stands where its request has led it: its crowd, which may not have moved it there, brings
    /// it back if it is pushed away.
    fn rest(&self) -> Option<NavPath> {
        let &PathStatus::Arrived(kind) = self.status? else {
            return None;
        };
        let mut path = Path::standing(self.state.walk.head());
        let is_there = self.is_latest() && self.path?.0.end() == path.end();
        path.set_kind(kind);
        is_there.then_some(NavPath(path))
    }

    /// Returns whether its request still counts. One that was removed or replaced ends immediately, even before the inbox has
    /// been read.
    fn is_latest(&self) -> bool {
        self.state_of_request.is_some_and(|state| is_latest(self.request, state))
    }
}
