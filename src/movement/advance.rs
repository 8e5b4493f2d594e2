//! One tick of walking, for ghosts: critters that walk through all others.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData, system::SystemParam},
    prelude::*,
};

use super::repair::GridsSeen;
use crate::{
    coordinates::GridFrame,
    crowds::Pace,
    grids::NavGrids,
    nav::{GridId, NavGrid, ProfileId, WalkEvent},
    request::{Outcomes, Requester, RequesterItem, clear_stuck, fitting_anchor},
    unit::{Critter, CritterState, Facing, work},
    whereabouts::Whereabouts,
};

/// What walking reads and writes of a critter.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Walker {
    unit: Requester,
    pace: Pace,
    facing: &'static mut Facing,
}

/// What walking and steering depend on beside units.
#[derive(SystemParam)]
pub(crate) struct Surroundings<'w, 's> {
    pub(super) time: Res<'w, Time>,
    pub(super) grids: Res<'w, NavGrids>,
    pub(super) whereabouts: Whereabouts<'w, 's>,
}

/// What ended in this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Arrived,
    /// It cannot follow its path any more.
    Lost,
    GridGone,
}

impl Ending {
    /// Decides what becomes of the unit's request.
    pub(super) fn apply(self, unit: &mut RequesterItem, outcomes: &mut Outcomes, grids: &NavGrids) {
        match self {
            Self::Arrived => outcomes.path_ended(unit, true, grids),
            Self::Lost => outcomes.path_lost(unit, grids),
            Self::GridGone => outcomes.grid_gone(unit),
        }
    }
}

/// Lets every ghost walk for a tick.
pub(crate) fn advance_critters(
    around: Surroundings,
    critters: Query<(Entity, &Critter), Allow<Disabled>>,
    mut walkers: Query<Walker, Allow<Disabled>>,
    mut endings: Local<Vec<(u64, Entity, Ending)>>,
    mut seen: ResMut<GridsSeen>,
    mut outcomes: Outcomes,
) {
    // Units of a crowd are checked only if their grid may be gone.
    let now = around.grids.removals;
    let is_any_gone = core::mem::replace(&mut seen.removals, now) != now;
    let listed = critters.iter().filter(|(_, critter)| !critter.collides || is_any_gone);
    for (entity, _) in listed {
        if let Ok(mut walker) = walkers.get_mut(entity)
            && let Some(ending) = walker.advance(&around)
        {
            endings.push((walker.unit.state.accepted, entity, ending));
        }
    }
    endings.sort_unstable_by_key(|&(number, ..)| number); // in the order of the requests
    for (_, entity, ending) in endings.drain(..) {
        if let Ok(mut walker) = walkers.get_mut(entity) {
            ending.apply(&mut walker.unit, &mut outcomes, &around.grids);
        }
    }
}

impl WalkerItem<'_, '_> {
    /// Walks for a tick; returns what has come to an end.
    fn advance(&mut self, around: &Surroundings) -> Option<Ending> {
        let is_walking = self.unit.is_walking();
        let (state, _) = self.unit.critter.as_mut()?;
        if !self.pace.critter.collides {
            let state = state.bypass_change_detection();
            state.before = state.now;
        }
        let is_under_way = state.walk.is_between_cells() || state.offset != Vec2::ZERO;
        if !is_walking && !is_under_way {
            return None;
        }
        let id = self.unit.state.grid;
        let (Some(grid), Some(frame)) = (around.grids.get(id), around.grids.frame(id)) else {
            return is_walking.then_some(Ending::GridGone);
        };
        if self.pace.critter.collides || self.pace.is_disabled {
            return None; // the crowd moves it, or it stands still
        }
        let event = self.walk((id, grid, frame), around)?;
        clear_stuck(&mut self.unit.status, &self.unit.path); // it has become a ghost
        match event {
            _ if !is_walking => None,
            WalkEvent::Walking => None,
            WalkEvent::Blocked => Some(Ending::Lost),
            WalkEvent::Arrived | WalkEvent::Standing => Some(Ending::Arrived),
        }
    }

    fn walk(
        &mut self,
        (id, grid, frame): (GridId, &NavGrid, &GridFrame),
        around: &Surroundings,
    ) -> Option<WalkEvent> {
        let seconds = around.time.delta_secs();
        let profile = self.unit.state.query.profile;
        let path = &self.unit.path.0;
        let lines = self.unit.any_angle.as_deref().and_then(|any_angle| any_angle.lines_of(path));
        let (state, transform) = self.unit.critter.as_mut()?;
        state.set_size(grid.topology(), grid.unit_size(profile));
        if !state.placed {
            let position = around.whereabouts.position(self.unit.entity).unwrap_or(Vec2::NAN);
            if !place(state, (grid, frame), profile, position) {
                return Some(WalkEvent::Blocked); // it gets another path, from where it is
            }
            state.set_drawn(transform.translation.truncate());
            state.member.grid = id;
        }
        // The game may have removed its lines.
        state.is_diverted |= lines.is_none() && state.heading != (0, 0);
        state.blend_from_previous(lines);
        let speed = self.pace.speed();
        let work = work(speed, seconds);
        if let Some(per_work) = state.member.crossing {
            state.draw_in(lines, per_work * work as f32);
            return None; // it stands on the cell where it will land
        }
        let before = state.walk;
        let event = state.walk.advance(path, grid, profile, work);
        state.draw_in(lines, (speed * seconds).max(0.0));
        let (is_on_step, has_moved) =
            (state.walk.is_between_cells(), state.walk.tail() != before.tail());
        if is_on_step || has_moved {
            let ahead = Some(state.heading).filter(|&heading| heading != (0, 0));
            let ahead = ahead.unwrap_or(state.walk.direction().offset());
            self.facing.set_if_neq(Facing::on(frame, ahead));
        }
        if !is_on_step && (has_moved || before.is_between_cells()) {
            // What the game has written on its way does not count. It also turns if a single tick took it all the way.
            state.set_drawn(transform.translation.truncate());
            state.is_turning = true;
        }
        Some(event)
    }
}

/// Places a ghost where its transform is, as the first tick of its path does; returns false if its path begins elsewhere.
fn place(
    state: &mut CritterState,
    (grid, frame): (&NavGrid, &GridFrame),
    profile: ProfileId,
    position: Vec2,
) -> bool {
    let here = frame.anchor_at(position, grid.unit_size(profile));
    let here = here.map(|here| fitting_anchor(grid, profile, here));
    if let Some(here) = here.filter(|here| here.chebyshev(state.walk.head()) > 1) {
        state.stand_on(here);
        return false;
    }
    state.place_at(frame.to_cells(position));
    true
}
