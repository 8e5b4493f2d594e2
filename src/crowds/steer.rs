//! Tells the crowds where critters want to go, how fast, and how they are to be treated.
//!
//! Input: paths, speeds, teams. Output: errands of units.

use bevy::{ecs::query::QueryData, prelude::*};

use super::{CrowdTeam, Crowds, Errand, Immovable};
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
    critter: &'static Critter,
    limit: Option<&'static SpeedLimit>,
    mates: Option<(&'static GroupPlace, &'static GroupMates)>,
    pace: Option<&'static GroupPace>,
    team: Option<&'static CrowdTeam>,
    is_immovable: Has<Immovable>,
    request: Option<&'static PathRequest>,
    status: Option<&'static PathStatus>,
    order: Option<&'static ActiveOrder>,
    path: Option<&'static NavPath>,
    state: &'static mut CritterState,
}

/// Passes on what has changed since the last tick.
pub(crate) fn steer_critters(
    time: Res<Time>,
    grids: Res<NavGrids>,
    mut crowds: ResMut<Crowds>,
    fields: Res<FlowFields>,
    groups: Query<&GroupState>,
    mut critters: Query<Steered>,
) {
    let seconds = time.delta_secs();
    for mut critter in &mut critters {
        let Some(unit) = critter.state.member.unit else {
            continue;
        };
        let (id, profile) = (critter.state.member.grid, critter.state.member.profile);
        let (Some(grid), Some(host)) = (grids.get(id), crowds.hosts.get_mut(&id)) else {
            continue;
        };
        let settings = UnitSettings {
            profile,
            speed: work(critter.speed(), seconds),
            team: critter.team.map_or(0, |team| team.0),
            is_pushable: !critter.is_immovable,
            is_ghost: false,
        };
        let crowd = &mut host.crowd;
        let known = crowd.set(unit, settings);
        debug_assert!(known.is_ok(), "{known:?}");
        let errand = critter.state.member.errand;
        // Whoever's group is gone goes on alone.
        let has_left =
            critter.mates.is_none() && crowd.is_among_mates(unit) && critter.is_under_way();
        if errand == Errand::Known && !has_left {
            continue;
        }
        let told = match critter.path.filter(|_| critter.is_under_way()) {
            Some(path) if errand == Errand::Longer => crowd.lengthen(grid, unit, &path.0),
            Some(path) => match critter.muster(&groups, &fields, path) {
                Some(muster) => crowd.follow_among(grid, unit, &path.0, &muster),
                None => crowd.follow(grid, unit, &path.0),
            },
            None => crowd.stop(unit),
        };
        critter.state.member.errand = Errand::Known;
        debug_assert!(told != Err(CrowdError::NoSuchUnit), "{told:?}");
    }
}

impl SteeredItem<'_, '_> {
    /// Cells per second over plain ground, under all limits.
    fn speed(&self) -> f32 {
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
