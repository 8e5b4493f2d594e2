//! Who stands on which grid: critters come into its crowd, leave it, and are put elsewhere.
//!
//! Input: critters that are new, gone, moved by hand, of another kind, or on another grid than before.
//! Output: units of the crowds. Where a critter's place is taken, it is given the nearest free one; where
//! there is none near, it stays outside until there is. Done in the order in which critters were made.

use bevy::{ecs::query::QueryData, prelude::*};

use super::{
    Crowds, Errand, Host,
    changes::{Column, list_changed, list_changed_but},
};
use crate::{
    coordinates::GridFrame,
    grids::NavGrids,
    movement::{Critter, CritterState, Drawing},
    nav::{
        cell::Cell,
        crowd::{Hindrance, UnitSettings},
        grid::NavGrid,
        path::Path,
        query::GridId,
        terrain::ProfileId,
        walk::Walk,
    },
    request::{ActiveOrder, NavPath, PathStatus, fitting_anchor},
    scheduler::Pathfinder,
};

/// Farthest from its place that a critter is put if that is taken, in cells.
const NEAR: u32 = 16;
/// Ticks between two attempts to find room.
const RETRY: u64 = 16;

/// What standing on a grid needs to know.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Newcomer {
    entity: Entity,
    critter: &'static Critter,
    order: Option<&'static mut ActiveOrder>,
    path: Option<&'static mut NavPath>,
    status: Option<&'static mut PathStatus>,
    transform: &'static Transform,
    state: &'static mut CritterState,
}

/// What may put a critter elsewhere, if it changes.
type Columns<'w, 's> = (
    Column<'w, 's, Critter>,
    Column<'w, 's, ActiveOrder>,
    Column<'w, 's, CritterState>,
    Column<'w, 's, Transform>,
);

/// Those who may not be where they should be.
#[derive(Default)]
pub(crate) struct Suspects {
    ticks: u64,
    /// To be looked at in this tick.
    entities: Vec<Entity>,
    /// Without room: to be looked at again.
    waiting: Vec<Entity>,
    /// Who is out of place, in the order in which they were made.
    turns: Vec<(u64, Entity)>,
}

/// Brings the crowds up to date with who stands where.
pub(crate) fn enter_crowds(
    grids: Res<NavGrids>,
    mut crowds: ResMut<Crowds>,
    mut critters: ParamSet<(Columns, Query<Newcomer>)>,
    transforms: TransformHelper,
    mut drawing: ResMut<Drawing>,
    mut pathfinder: ResMut<Pathfinder>,
    mut suspects: Local<Suspects>,
) {
    let Suspects { ticks, entities, waiting, turns } = &mut *suspects;
    *ticks += 1;
    entities.append(waiting);
    drawing.take_moved(entities);
    if crowds.drop_stale(&grids) {
        entities.extend(critters.p1().iter().map(|critter| critter.entity));
    } else {
        let (kinds, orders, states, transforms) = critters.p0();
        list_changed(&kinds, entities);
        list_changed(&orders, entities);
        list_changed(&states, entities);
        // Transforms that were last written by whoever draws are where they should be.
        list_changed_but(&transforms, |changed| drawing.has_written(changed), entities);
    }
    crowds.let_go();
    let mut critters = critters.p1();
    for &entity in &*entities {
        if let Ok(critter) = critters.get(entity)
            && critter.is_out_of_place(&crowds, *ticks)
        {
            turns.push((critter.state.member.number, entity));
        }
    }
    turns.sort_unstable();
    turns.dedup();
    for (_, entity) in turns.drain(..) {
        if let Ok(mut critter) = critters.get_mut(entity) {
            critter.find_place(&grids, &mut crowds, &transforms);
            if !critter.critter.collides {
                critter.go_by_itself(&mut pathfinder);
            }
        }
    }
    let is_waiting = |entity: &Entity| critters.get(*entity).is_ok_and(|critter| critter.waits());
    waiting.extend(entities.drain(..).filter(is_waiting));
    waiting.sort_unstable();
    waiting.dedup();
}

impl Crowds {
    /// Takes those off their grids who are critters no more.
    fn let_go(&mut self) {
        for (grid, unit) in self.inbox.left.drain(..) {
            if let Some(host) = self.hosts.get_mut(&grid) {
                host.crowd.remove(unit);
            }
        }
    }
}

/// The grid and the profile of a critter: of its order, or before the first one its own.
fn footing(critter: &Critter, order: Option<&ActiveOrder>) -> (GridId, ProfileId) {
    match order.filter(|order| order.number > 0) {
        Some(order) => (order.grid, order.query.profile),
        None => (critter.grid, critter.profile),
    }
}

impl NewcomerReadOnlyItem<'_, '_> {
    /// Whether it is to be in a crowd and is not, or not as what it is.
    fn waits(&self) -> bool {
        let member = &self.state.member;
        self.critter.collides && (member.unit.is_none() || member.is_outside)
    }

    /// Whether it is not where it should be.
    fn is_out_of_place(&self, crowds: &Crowds, tick: u64) -> bool {
        let member = &self.state.member;
        if member.is_outside && !(tick + member.number).is_multiple_of(RETRY) {
            return false;
        }
        let Some(unit) = member.unit else {
            return self.critter.collides;
        };
        let footing = footing(self.critter, self.order);
        !self.critter.collides
            || !self.state.placed
            || (member.grid, member.profile) != footing
            || self.state.was_moved(self.transform) && self.transform.translation.is_finite()
            || crowds.hosts.get(&footing.0).is_none_or(|host| !host.is_unit_of(unit, self.entity))
    }
}

impl NewcomerItem<'_, '_> {
    /// Takes up its place, another one, or none.
    fn find_place(&mut self, grids: &NavGrids, crowds: &mut Crowds, transforms: &TransformHelper) {
        let (id, profile) = footing(self.critter, self.order.as_deref());
        self.state.member.is_newcomer = false;
        let is_elsewhere = self.state.member.grid != id;
        let (Some(grid), Some(frame), true) =
            (grids.get(id), grids.frame(id), self.critter.collides)
        else {
            self.leave(crowds);
            return;
        };
        if is_elsewhere {
            self.leave(crowds);
        }
        let host = crowds.host(grids, id, grid);
        if self.state.member.unit.is_some_and(|unit| !host.is_unit_of(unit, self.entity)) {
            self.state.member.unit = None; // of a crowd that is no more
            self.state.freeze();
        }
        if self.state.member.unit.is_some() {
            self.state.bring_to(host.crowd.now());
        }
        let place = transforms.compute_global_transform(self.entity);
        let place = place.map_or(Vec2::NAN, |global| global.translation().truncate());
        let is_put = is_elsewhere || !self.state.is_where_it_was_put(self.transform);
        let anchor = if is_put {
            frame.anchor_at(place, grid.unit_size(profile))
        } else {
            Some(self.state.walk.head())
        };
        let cell = anchor.map(|anchor| fitting_anchor(grid, profile, anchor));
        let found = cell.and_then(|cell| self.settle(host, grid, cell, profile));
        let now = host.crowd.now();
        let found = found.map(|cell| {
            self.state.set_size(grid.unit_size(profile));
            self.stand(frame, cell, place, is_put);
            self.state.be_led(now, 0.0);
        });
        self.note_room(id, profile, found.is_some());
    }

    /// Puts it on the cell nearest to `cell` that is free; `None` where it stays where it was.
    fn settle(
        &mut self,
        host: &mut Host,
        grid: &NavGrid,
        cell: Cell,
        profile: ProfileId,
    ) -> Option<Cell> {
        let old = self.state.member.unit;
        if let Some(unit) = old
            && self.state.member.profile == profile
        {
            let found = host.crowd.nearest_room(grid, (cell, profile), old, NEAR)?;
            host.crowd.teleport(grid, unit, found).ok()?;
            return Some(found);
        }
        // One of another kind than before stays as it was until there is room.
        let near = if old.is_some() { grid.unit_size(profile) } else { NEAR };
        let room = host.crowd.nearest_room(grid, (cell, profile), old, near)?;
        if let Some(unit) = old {
            host.crowd.remove(unit);
        }
        let settings = UnitSettings { profile, ..UnitSettings::default() };
        let unit = host.crowd.add(grid, room, settings);
        self.state.member.unit = unit.ok();
        let slot = unit.ok()?.slot();
        if host.entities.len() <= slot {
            host.entities.resize(slot + 1, Entity::PLACEHOLDER);
        }
        host.entities[slot] = self.entity;
        Some(room)
    }

    /// Notes where it stands; `place` is where its transform says.
    fn stand(&mut self, frame: &GridFrame, cell: Cell, place: Vec2, is_put: bool) {
        let drawn = if is_put { frame.to_cells(place) } else { self.state.place() };
        self.state.walk = Walk::standing(cell);
        self.state.member.errand = Errand::Anew;
        self.state.place_at(drawn);
        self.state.drawn = self.transform.translation.truncate();
    }

    /// Notes whether it found room.
    fn note_room(&mut self, grid: GridId, profile: ProfileId, has_room: bool) {
        let member = &mut self.state.member;
        member.grid = grid;
        if has_room {
            (member.profile, member.is_outside) = (profile, false);
        } else {
            // One that could only not be put elsewhere stays where it is.
            member.is_outside = member.unit.is_none() || member.profile != profile;
            member.errand = Errand::Anew;
            self.state.drawn = Vec2::NAN; // it is shown where it is, not where it was put
            if let Some(status) = self.status.as_deref_mut()
                && status.is_walking()
            {
                *status = PathStatus::Stuck(Hindrance::NoRoom);
                self.state.member.is_stuck = true;
            }
        }
    }

    /// It has become a ghost: where it is on its way, it gets a path from where it is.
    fn go_by_itself(&mut self, pathfinder: &mut Pathfinder) {
        let NewcomerItem { entity, order, path, status, state, .. } = self;
        let (Some(order), Some(path), Some(status)) = (order, path, status) else {
            return;
        };
        if status.is_walking() && order.ticket.is_none() {
            let head = state.walk.head();
            path.0 = Path::standing(head);
            state.restart();
            pathfinder.ask_again(*entity, order, head);
            **status = PathStatus::Repairing;
        }
    }

    /// Leaves its crowd.
    fn leave(&mut self, crowds: &mut Crowds) {
        let member = &mut self.state.member;
        let (unit, grid) = (member.unit.take(), member.grid);
        if unit.is_some() {
            if let Some(host) = crowds.hosts.get(&grid) {
                self.state.bring_to(host.crowd.now());
            }
            self.state.freeze();
        }
        if unit.is_some() && !self.critter.collides {
            let (head, drawn) = (self.state.walk.head(), self.state.place());
            self.state.walk = Walk::standing(head);
            self.state.place_at(drawn);
        }
        let member = &mut self.state.member;
        if let (Some(unit), Some(host)) = (unit, crowds.hosts.get_mut(&member.grid))
            && host.is_unit_of(unit, self.entity)
        {
            host.crowd.remove(unit);
        }
        member.errand = Errand::Anew;
    }
}
