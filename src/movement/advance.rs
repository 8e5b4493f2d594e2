//! One tick of walking.

use bevy::prelude::*;

use super::{Critter, CritterState, Facing};
use crate::{
    grids::NavGrids,
    nav::{cell::Cell, path::PathKind, walk::WalkEvent},
    request::{ActiveOrder, Arrived, NavPath, PathStatus},
    scheduler::Pathfinder,
};

type Walker = (
    Entity,
    &'static Critter,
    &'static Transform,
    &'static NavPath,
    &'static mut ActiveOrder,
    &'static mut CritterState,
    &'static mut PathStatus,
    &'static mut Facing,
    Has<ChildOf>,
);

/// Arrivals of this tick, sorted by the sequence number of the order.
#[derive(Default)]
pub(crate) struct Arrivals(Vec<(u64, Entity, PathKind)>);

/// Lets every critter walk for a tick.
pub(crate) fn advance_critters(
    time: Res<Time>,
    grids: Res<NavGrids>,
    mut pathfinder: ResMut<Pathfinder>,
    mut walkers: Query<Walker>,
    transforms: TransformHelper,
    mut arrivals: Local<Arrivals>,
    mut blocked: Local<Vec<(u64, Entity)>>,
    mut commands: Commands,
) {
    let seconds = time.delta_secs();
    for (entity, critter, transform, path, order, mut state, mut status, mut facing, is_child) in
        &mut walkers
    {
        state.bypass_change_detection().begin_tick();
        let (Some(grid), Some(frame)) = (grids.get(order.grid), grids.frame(order.grid)) else {
            continue;
        };
        let under_way = matches!(*status, PathStatus::Walking(_));
        if !under_way && !state.walk.is_between_cells() && state.offset == Vec2::ZERO {
            continue;
        }
        if !state.placed {
            let position = if is_child {
                transforms.compute_global_transform(entity).map(|global| global.translation())
            } else {
                Ok(transform.translation)
            };
            let cell = state.walk.tail();
            state.place_at(cell, frame.to_cells(position.unwrap_or_default().truncate()));
        }
        let work = critter.work(seconds);
        let event = state.walk.advance(&path.0, grid, order.query.profile, work);
        state.draw_in(critter.speed * seconds);
        if state.walk.is_between_cells() {
            facing.set_if_neq(Facing(state.walk.direction()));
        }
        match event {
            WalkEvent::Arrived | WalkEvent::Standing if under_way => {
                let kind = path.0.kind();
                *status = PathStatus::Arrived(kind);
                arrivals.0.push((order.number, entity, kind));
            }
            WalkEvent::Blocked if under_way => blocked.push((order.number, entity)),
            _ => {}
        }
    }
    blocked.sort_unstable();
    for (_, entity) in blocked.drain(..) {
        if let Ok((.., mut order, state, mut status, _, _)) = walkers.get_mut(entity) {
            super::repair::ask_again(entity, &mut order, state.walk.head(), &mut pathfinder);
            *status = PathStatus::Repairing;
        }
    }
    arrivals.0.sort_unstable_by_key(|&(number, ..)| number);
    for (_, entity, kind) in arrivals.0.drain(..) {
        commands.trigger(Arrived { entity, kind });
    }
}

/// Offsets below this many cells are rounding.
const NO_OFFSET: f32 = 1.0e-3;

impl CritterState {
    /// What was now is before.
    fn begin_tick(&mut self) {
        self.moved = self.before != self.now;
        self.before = self.now;
    }

    /// Takes up its place on `cell`, drawn at `place` in cell space.
    fn place_at(&mut self, cell: Cell, place: Vec2) {
        let exact = Vec2::new(cell.x as f32, cell.y as f32);
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
        self.offset = if length > cells { self.offset * ((length - cells) / length) } else { Vec2::ZERO };
        self.now = self.exact_place() + self.offset;
    }
}
