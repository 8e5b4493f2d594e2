//! One tick of walking, for critters that walk through everybody.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::{Critter, CritterState, Facing, SpeedLimit, StraightWay, work};
use crate::{
    grids::NavGrids,
    group::GroupPace,
    nav::{
        path::{Path, PathKind},
        query::PathFailure,
        walk::WalkEvent,
    },
    request::{ActiveOrder, Arrived, NavPath, PathFailed, PathRequest, PathStatus, fitting_anchor},
    scheduler::Pathfinder,
    whereabouts::Whereabouts,
};

/// What walking reads and writes of a critter.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Walker {
    entity: Entity,
    critter: &'static Critter,
    limit: Option<&'static SpeedLimit>,
    pace: Option<&'static GroupPace>,
    transform: &'static Transform,
    request: Option<&'static PathRequest>,
    path: &'static mut NavPath,
    order: &'static mut ActiveOrder,
    state: &'static mut CritterState,
    straight: Option<&'static StraightWay>,
    status: &'static mut PathStatus,
    facing: &'static mut Facing,
    is_disabled: Has<Disabled>,
}

/// What ended in this tick, to be told in the order of the requests.
#[derive(Default)]
pub(crate) struct Endings(Vec<(u64, Entity, Ending)>);

#[derive(Clone, Copy)]
enum Ending {
    Arrived(PathKind),
    /// The next step has become impossible.
    Blocked,
    GridGone,
}

/// Lets every critter walk for a tick.
pub(crate) fn advance_critters(
    time: Res<Time>,
    grids: Res<NavGrids>,
    mut pathfinder: ResMut<Pathfinder>,
    critters: Query<(Entity, &Critter), Allow<Disabled>>,
    mut walkers: Query<Walker, Allow<Disabled>>,
    mut alone: Local<Vec<Entity>>,
    whereabouts: Whereabouts,
    mut endings: Local<Endings>,
    mut removals: Local<u64>,
    mut commands: Commands,
) {
    // Those whom a crowd leads are none of ours, unless their grid has gone.
    let is_any_gone = core::mem::replace(&mut *removals, grids.removals()) != grids.removals();
    let ghosts = critters.iter().filter(|(_, critter)| !critter.collides || is_any_gone);
    alone.extend(ghosts.map(|(entity, _)| entity));
    for entity in alone.drain(..) {
        if let Ok(mut walker) = walkers.get_mut(entity)
            && let Some(ending) = walker.advance(time.delta_secs(), &grids, &whereabouts)
        {
            endings.0.push((walker.order.number, entity, ending));
        }
    }
    endings.0.sort_unstable_by_key(|&(number, ..)| number);
    for (_, entity, ending) in endings.0.drain(..) {
        let Ok(mut walker) = walkers.get_mut(entity) else {
            continue;
        };
        match ending {
            Ending::Arrived(kind) => {
                *walker.status = PathStatus::Arrived(kind);
                let cell = walker.state.cell();
                commands.trigger(Arrived { entity, kind, cell });
            }
            Ending::Blocked => {
                let (head, order) = (walker.state.walk.head(), &mut walker.order);
                let grid = grids.get(order.grid);
                let start =
                    grid.map_or(head, |grid| fitting_anchor(grid, order.query.profile, head));
                pathfinder.ask_again(entity, order, start);
                *walker.status = PathStatus::Repairing;
            }
            Ending::GridGone => {
                let reason = PathFailure::GridGone(walker.order.grid);
                walker.path.0 = Path::standing(walker.state.walk.head());
                walker.state.restart();
                // The rest of a long way may still be searched for.
                pathfinder.forget(entity);
                let WalkerItem { request, order, status, .. } = &mut walker;
                let mut fallback = pathfinder.fallback();
                if !fallback.goes_on(entity, *request, order, status, reason) {
                    pathfinder.counters.failed += 1;
                    commands.trigger(PathFailed { entity, reason });
                }
            }
        }
    }
}

impl WalkerItem<'_, '_> {
    /// Walks for `seconds`; says what has come to an end.
    fn advance(
        &mut self,
        seconds: f32,
        grids: &NavGrids,
        whereabouts: &Whereabouts,
    ) -> Option<Ending> {
        if !self.critter.collides {
            self.state.bypass_change_detection().begin_tick();
        }
        // One that was taken off or replaced ends here, though nobody has read of that yet.
        let is_latest = self.request.is_some() && self.order.asked == self.order.number;
        let has_order = is_latest && self.status.is_walking();
        let is_under_way = self.state.walk.is_between_cells() || self.state.offset != Vec2::ZERO;
        if !has_order && !is_under_way {
            return None;
        }
        let (Some(grid), Some(frame)) = (grids.get(self.order.grid), grids.frame(self.order.grid))
        else {
            return has_order.then_some(Ending::GridGone);
        };
        if self.critter.collides || self.is_disabled {
            return None; // the crowd leads it, or it stands still
        }
        let profile = self.order.query.profile;
        self.state.set_size(grid.unit_size(profile));
        if !self.state.placed {
            let place = whereabouts.position(self.entity).unwrap_or(Vec2::NAN);
            let place = frame.to_cells(place);
            self.state.place_at(place);
            self.state.drawn = self.transform.translation.truncate();
        }
        let lines = self.straight.and_then(|straight| straight.lines_of(&self.path.0));
        self.state.lead_over(lines);
        let limited = self.critter.limited(self.limit);
        let speed = self.pace.map_or(limited, |pace| limited.min(pace.0));
        let work = work(speed, seconds);
        let event = self.state.walk.advance(&self.path.0, grid, profile, work);
        self.state.draw_in(lines, (speed * seconds).max(0.0));
        if let PathStatus::Stuck(_) = *self.status {
            *self.status = PathStatus::Walking(self.path.0.kind()); // it has become a ghost
        }
        if self.state.walk.is_between_cells() {
            self.facing.set_if_neq(Facing(self.state.walk.direction()));
        }
        match event {
            WalkEvent::Arrived | WalkEvent::Standing => match self.path.0.kind() {
                PathKind::Beginning => None, // the rest is on its way
                kind => Some(Ending::Arrived(kind)),
            },
            WalkEvent::Blocked => Some(Ending::Blocked),
            WalkEvent::Walking => None,
        }
        .filter(|_| has_order)
    }
}
