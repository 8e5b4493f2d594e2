//! Tells the crowds where critters want to go, how fast, and how they are to be treated.
//!
//! Input: paths, speeds, teams. Output: errands of units.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::{
    CrowdTeam, Crowds, Errand, Immovable,
    changes::{Column, list_changed},
};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    group::{GroupMates, GroupPace, GroupPlace, GroupState},
    movement::{Critter, CritterState, SpeedLimit, work},
    nav::{
        crowd::{CrowdError, Muster, UnitSettings},
        path::PathKind,
    },
    request::{ActiveOrder, NavPath, PathRequest, PathStatus},
};

/// What steering needs to know of a critter.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Steered {
    entity: Entity,
    critter: &'static Critter,
    limit: Option<&'static SpeedLimit>,
    mates: Option<(&'static GroupPlace, &'static GroupMates)>,
    pace: Option<&'static GroupPace>,
    team: Option<&'static CrowdTeam>,
    is_immovable: Has<Immovable>,
    is_disabled: Has<Disabled>,
    request: Option<&'static PathRequest>,
    status: Option<&'static PathStatus>,
    order: Option<&'static ActiveOrder>,
    path: Option<&'static NavPath>,
    state: &'static mut CritterState,
}

/// What the crowd is to be told of if it changes.
type Columns<'w, 's> = (
    Column<'w, 's, Critter>,
    Column<'w, 's, CritterState>,
    Column<'w, 's, SpeedLimit>,
    Column<'w, 's, GroupPace>,
    Column<'w, 's, CrowdTeam>,
    Column<'w, 's, Immovable>,
);

/// Passes on what has changed since the last tick.
pub(crate) fn steer_critters(
    time: Res<Time>,
    grids: Res<NavGrids>,
    mut crowds: ResMut<Crowds>,
    fields: Res<FlowFields>,
    groups: Query<&GroupState>,
    mut critters: ParamSet<(Columns, Query<Steered, Allow<Disabled>>)>,
    mut seconds: Local<f32>,
    mut entities: Local<Vec<Entity>>,
) {
    entities.append(&mut crowds.inbox.lost);
    let is_same_pace = core::mem::replace(&mut *seconds, time.delta_secs()).to_bits()
        == time.delta_secs().to_bits();
    if is_same_pace {
        let (kinds, states, limits, paces, teams, immovable) = critters.p0();
        list_changed(&kinds, &mut entities);
        list_changed(&states, &mut entities);
        list_changed(&limits, &mut entities);
        list_changed(&paces, &mut entities);
        list_changed(&teams, &mut entities);
        list_changed(&immovable, &mut entities);
    } else {
        entities.clear();
        entities.extend(critters.p1().iter().map(|critter| critter.entity));
    }
    let mut critters = critters.p1();
    for entity in entities.drain(..) {
        if let Ok(mut critter) = critters.get_mut(entity) {
            critter.steer((&grids, &fields), &mut crowds, &groups, *seconds);
        }
    }
}

impl SteeredItem<'_, '_> {
    /// Passes on how it is to be treated, and where it goes if that is news.
    fn steer(
        &mut self,
        (grids, fields): (&NavGrids, &FlowFields),
        crowds: &mut Crowds,
        groups: &Query<&GroupState>,
        seconds: f32,
    ) {
        let state = self.state.bypass_change_detection();
        let (unit, id, errand) = (state.member.unit, state.member.grid, state.member.errand);
        let (Some(unit), Some(grid), Some(host)) = (unit, grids.get(id), crowds.hosts.get_mut(&id))
        else {
            return;
        };
        let crowd = &mut host.crowd;
        state.shrink_by(crowd.now(), (self.critter.speed * seconds).max(0.0));
        let known = crowd.set(unit, self.settings(seconds));
        debug_assert!(known.is_ok(), "{known:?}");
        // Whoever's group is gone goes on alone.
        let has_left = self.mates.is_none() && crowd.is_among_mates(unit) && self.is_under_way();
        if errand == Errand::Known && !has_left {
            return;
        }
        let told = match self.path.filter(|_| self.is_under_way()) {
            Some(path) if errand == Errand::Longer => crowd.lengthen(grid, unit, &path.0),
            Some(path) => match self.muster(groups, fields, path) {
                Some(muster) => crowd.follow_among(grid, unit, &path.0, &muster),
                None => crowd.follow(grid, unit, &path.0),
            },
            None => crowd.stop(unit),
        };
        self.state.bypass_change_detection().member.errand = Errand::Known;
        debug_assert!(told != Err(CrowdError::NoSuchUnit), "{told:?}");
    }

    fn settings(&self, seconds: f32) -> UnitSettings {
        UnitSettings {
            profile: self.state.member.profile,
            speed: work(self.speed(), seconds),
            team: self.team.map_or(0, |team| team.0),
            is_pushable: !self.is_immovable,
            is_ghost: false,
        }
    }

    /// Cells per second over plain ground, under all limits. Disabled, it stands still.
    fn speed(&self) -> f32 {
        if self.is_disabled {
            return 0.0;
        }
        let limited = self.critter.limited(self.limit);
        self.pace.map_or(limited, |pace| limited.min(pace.0))
    }

    /// What it is told beside a path that leads it to its place in a group.
    fn muster(
        &self,
        groups: &Query<&GroupState>,
        fields: &FlowFields,
        path: &NavPath,
    ) -> Option<Muster> {
        let (place, mates) = self.mates.filter(|_| path.0.kind() != PathKind::Partial)?;
        let gathering = groups.get(place.group).ok()?.gathering(self.state.member.profile)?;
        let route = gathering.field.as_ref().and_then(|field| fields.route(field));
        Some(Muster { mates: mates.0, place: place.cell, goal: gathering.goal, route })
    }

    /// Whether it has a path to follow. One that was taken off or replaced ends here, though nobody has
    /// read of that yet.
    fn is_under_way(&self) -> bool {
        let is_latest = self.order.is_some_and(|order| order.asked == order.number);
        let is_walking = self.status.is_some_and(PathStatus::is_walking);
        self.request.is_some() && is_latest && is_walking
    }
}
