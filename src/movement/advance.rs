//! One tick of walking.

use bevy::{ecs::query::QueryData, prelude::*};

use super::{Critter, CritterState, Facing};
use crate::{
    coordinates::GridFrame,
    grids::NavGrids,
    nav::{
        cell::Cell,
        path::{Path, PathKind},
        query::PathFailure,
        walk::WalkEvent,
    },
    request::{ActiveOrder, Arrived, NavPath, PathFailed, PathStatus},
    scheduler::Pathfinder,
};

/// What walking reads and writes of a critter.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Walker {
    entity: Entity,
    critter: &'static Critter,
    transform: &'static Transform,
    path: &'static mut NavPath,
    order: &'static mut ActiveOrder,
    state: &'static mut CritterState,
    status: &'static mut PathStatus,
    facing: &'static mut Facing,
    is_child: Has<ChildOf>,
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
    mut walkers: Query<Walker>,
    transforms: TransformHelper,
    mut endings: Local<Endings>,
    mut commands: Commands,
) {
    for mut walker in &mut walkers {
        if let Some(ending) = walker.advance(time.delta_secs(), &grids, &transforms) {
            endings.0.push((walker.order.number, walker.entity, ending));
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
                let head = walker.state.walk.head();
                pathfinder.ask_again(entity, &mut walker.order, head);
                *walker.status = PathStatus::Repairing;
            }
            Ending::GridGone => {
                let reason = PathFailure::GridGone(walker.order.grid);
                *walker.status = PathStatus::Failed(reason);
                walker.path.0 = Path::standing(walker.state.walk.head());
                walker.state.walk.restart();
                // The rest of a long way may still be searched for.
                pathfinder.forget(entity);
                walker.order.ticket = None;
                pathfinder.counters.failed += 1;
                commands.trigger(PathFailed { entity, reason });
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
        transforms: &TransformHelper,
    ) -> Option<Ending> {
        self.state.bypass_change_detection().begin_tick();
        let has_order = matches!(*self.status, PathStatus::Walking(_));
        let is_under_way = self.state.walk.is_between_cells() || self.state.offset != Vec2::ZERO;
        if !has_order && !is_under_way {
            return None;
        }
        let (Some(grid), Some(frame)) = (grids.get(self.order.grid), grids.frame(self.order.grid))
        else {
            return has_order.then_some(Ending::GridGone);
        };
        if !self.state.placed {
            let place = self.place(frame, transforms);
            self.state.place_at(place);
            self.state.drawn = self.transform.translation.truncate();
        }
        let work = self.critter.work(seconds);
        let profile = self.order.query.profile;
        let event = self.state.walk.advance(&self.path.0, grid, profile, work);
        self.state.draw_in((self.critter.speed * seconds).max(0.0));
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

    /// Where the transform says it is, in cell space.
    fn place(&self, frame: &GridFrame, transforms: &TransformHelper) -> Vec2 {
        let world = if self.is_child {
            transforms.compute_global_transform(self.entity).map(|global| global.translation())
        } else {
            Ok(self.transform.translation)
        };
        frame.to_cells(world.unwrap_or(Vec3::NAN).truncate())
    }
}

/// Offsets below this many cells are rounding.
const NO_OFFSET: f32 = 1.0e-3;

impl CritterState {
    /// What was now is before.
    fn begin_tick(&mut self) {
        self.before = self.now;
    }

    /// Takes up its place on its cell, drawn at `place` in cell space.
    fn place_at(&mut self, place: Vec2) {
        let Cell { x, y } = self.walk.tail();
        let exact = Vec2::new(x as f32, y as f32);
        let is_off = place.is_finite() && place.distance(exact) > NO_OFFSET;
        let place = if is_off { place } else { exact };
        self.offset = place - exact;
        self.before = place;
        self.now = place;
        self.placed = true;
    }

    /// Updates the drawn place; an offset shrinks by `cells`.
    fn draw_in(&mut self, cells: f32) {
        let length = self.offset.length();
        self.offset =
            if length > cells { self.offset * ((length - cells) / length) } else { Vec2::ZERO };
        self.now = self.exact_place() + self.offset;
    }
}
