//! Who stands on which grid: critters come into its crowd, leave it, and are put elsewhere.
//!
//! Input: critters that are new, gone, moved by hand, of another kind, or on another grid than before.
//! Output: units of the crowds. Where a critter's place is taken, it is given the nearest free one; where
//! there is none near, it stays outside until there is. Done in the order in which critters were made.
//! Disabled critters count as well: they stand where they are.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

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
        crowd::{Hindrance, UnitId, UnitSettings},
        grid::NavGrid,
        path::Path,
        query::GridId,
        terrain::ProfileId,
        walk::Walk,
    },
    request::{ActiveOrder, NavPath, PathStatus, fitting_anchor},
    scheduler::Pathfinder,
    whereabouts::Whereabouts,
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
    /// Grids put in so far, as of the last tick.
    inserted: u64,
    /// To be looked at in this tick.
    entities: Vec<Entity>,
    /// Without room for what they are to be: to be looked at again and again.
    outside: Vec<Entity>,
    /// Who is out of place, in the order in which they were made.
    turns: Vec<(u64, Entity)>,
}

/// Brings the crowds up to date with who stands where.
pub(crate) fn enter_crowds(
    grids: Res<NavGrids>,
    mut crowds: ResMut<Crowds>,
    mut critters: ParamSet<(Columns, Query<Newcomer, Allow<Disabled>>)>,
    whereabouts: Whereabouts,
    mut drawing: ResMut<Drawing>,
    mut pathfinder: ResMut<Pathfinder>,
    mut suspects: Local<Suspects>,
) {
    let Suspects { ticks, inserted, entities, outside, turns } = &mut *suspects;
    *ticks += 1;
    drawing.take_moved(entities);
    let (kinds, orders, states, transforms) = critters.p0();
    list_changed(&kinds, entities);
    list_changed(&orders, entities);
    list_changed(&states, entities);
    // A transform last written by the drawing stage is where it should be.
    list_changed_but(&transforms, |changed| drawing.has_written(changed), entities);
    crowds.let_go();
    crowds.list_whose_kinds_changed(&grids, entities);
    let mut critters = critters.p1();
    let is_new_ground = core::mem::replace(inserted, grids.insertions()) != grids.insertions();
    outside.retain(|&entity| {
        let number = critters.get(entity).map_or(0, |critter| critter.state.member.number);
        let is_due = is_new_ground || (*ticks + number).is_multiple_of(RETRY);
        entities.extend(is_due.then_some(entity));
        !is_due
    });
    for entity in entities.drain(..) {
        if let Ok(critter) = critters.get(entity)
            && critter.is_out_of_place(&grids, &crowds)
        {
            turns.push((critter.state.member.number, entity));
        }
    }
    turns.sort_unstable();
    turns.dedup();
    for &(_, entity) in &*turns {
        if let Ok(mut critter) = critters.get_mut(entity) {
            critter.find_place(&grids, &mut crowds, &whereabouts);
            if !critter.critter.collides {
                critter.go_by_itself(&mut pathfinder);
            }
        }
    }
    let is_outside = |&(_, entity): &(u64, Entity)| {
        critters.get(entity).is_ok_and(|critter| critter.is_out_of_place(&grids, &crowds))
    };
    outside.extend(turns.drain(..).filter(is_outside).map(|(_, entity)| entity));
    outside.sort_unstable();
    outside.dedup();
}

/// Gives up the crowds of grids that are gone or are others than before: nobody is a unit of one any more.
/// Before anything else looks at critters, and again before they move.
pub(crate) fn drop_stale_crowds(
    grids: Res<NavGrids>,
    mut crowds: ResMut<Crowds>,
    mut states: Query<&mut CritterState, Allow<Disabled>>,
) {
    if !crowds.has_stale(&grids) {
        return;
    }
    crowds.let_go();
    for entity in crowds.take_stale(&grids) {
        if let Ok(mut state) = states.get_mut(entity) {
            state.member.unit = None;
            state.member.errand = Errand::Anew;
            state.walk = Walk::standing(state.walk.head()); // the step went with the grid
            state.freeze();
        }
    }
}

impl Host {
    /// Whether a unit is what one of this profile is: it may be another profile now, or mean something else.
    fn is_of_kind(
        &self,
        grid: &NavGrid,
        unit: UnitId,
        profile: ProfileId,
        state: &CritterState,
    ) -> bool {
        let size = self.crowd.size(unit);
        state.member.profile == profile && size == Some(grid.unit_size(profile))
    }
}

impl Crowds {
    /// Lists everybody on grids whose profiles have changed.
    fn list_whose_kinds_changed(&mut self, grids: &NavGrids, entities: &mut Vec<Entity>) {
        for (&id, host) in &mut self.hosts {
            let now = grids.get(id).map_or(0, NavGrid::profiles_revision);
            if core::mem::replace(&mut host.profiles_revision, now) != now {
                entities.extend(host.crowd.units().map(|unit| host.entities[unit.slot()]));
            }
        }
    }

    /// Takes those off their grids who are critters no more.
    fn let_go(&mut self) {
        for (grid, unit) in self.inbox.left.drain(..) {
            if let Some(host) = self.hosts.get_mut(&grid) {
                host.crowd.remove(unit);
            }
        }
    }
}

impl NewcomerReadOnlyItem<'_, '_> {
    /// Whether it is not where it should be.
    fn is_out_of_place(&self, grids: &NavGrids, crowds: &Crowds) -> bool {
        let member = &self.state.member;
        let Some(unit) = member.unit else {
            return self.critter.collides;
        };
        let footing = footing(grids, self.critter, self.order, self.state);
        let is_of_kind = |(id, profile)| {
            let host = crowds.hosts.get(&id).zip(grids.get(id));
            host.is_some_and(|(host, grid)| host.is_of_kind(grid, unit, profile, self.state))
        };
        !self.critter.collides
            || footing.is_none_or(|footing| footing.0 != member.grid || !is_of_kind(footing))
            || self.state.was_moved(self.transform) && self.transform.translation.is_finite()
    }
}

/// The grid and the profile of a critter: of its order, or before the first one its own. An order that names
/// what is not known does not count: the critter stays what it was.
fn footing(
    grids: &NavGrids,
    critter: &Critter,
    order: Option<&ActiveOrder>,
    state: &CritterState,
) -> Option<(GridId, ProfileId)> {
    let own = (critter.grid, critter.profile);
    let of_order = order.filter(|order| order.number > 0);
    let wanted = of_order.map_or(own, |order| (order.grid, order.query.profile));
    let before = if state.placed { (state.member.grid, state.member.profile) } else { own };
    let is_known = |&(id, profile): &(GridId, ProfileId)| {
        grids.get(id).is_some_and(|grid| usize::from(profile.0) < grid.profiles().len())
    };
    [wanted, before].into_iter().find(is_known)
}

impl NewcomerItem<'_, '_> {
    /// Takes up its place, another one, or none.
    fn find_place(&mut self, grids: &NavGrids, crowds: &mut Crowds, whereabouts: &Whereabouts) {
        // Nothing has changed for others as long as it finds no place.
        self.state.bypass_change_detection().member.is_newcomer = false;
        let footing = footing(grids, self.critter, self.order.as_deref(), &self.state);
        let footing = footing.filter(|_| self.critter.collides);
        if self.state.member.unit.is_some()
            && footing.is_none_or(|(id, _)| id != self.state.member.grid)
        {
            self.leave(crowds);
        }
        let Some((id, profile)) = footing else {
            return;
        };
        let (Some(grid), Some(frame)) = (grids.get(id), grids.frame(id)) else {
            return;
        };
        let host = crowds.host(grids, id, grid);
        match self.state.member.unit {
            Some(_) => self.adjust(host, (grid, frame), profile, whereabouts),
            None => self.come_in(host, id, (grid, frame), profile, whereabouts),
        }
    }

    /// Puts its unit elsewhere, or makes it one of another kind. Where there is no room for that, it stays
    /// what it is where it is.
    fn adjust(
        &mut self,
        host: &mut Host,
        (grid, frame): (&NavGrid, &GridFrame),
        profile: ProfileId,
        whereabouts: &Whereabouts,
    ) {
        let Some(unit) = self.state.member.unit else {
            return;
        };
        let was_moved = self.state.was_moved(self.transform);
        let is_of_kind = host.is_of_kind(grid, unit, profile, &self.state);
        let place = was_moved.then(|| self.place(whereabouts));
        let found = self.room_at(host, (grid, frame), profile, place);
        let done = match (found, is_of_kind) {
            (Some(cell), true) => host.crowd.teleport(grid, unit, cell).is_ok(),
            (Some(cell), false) => {
                host.crowd.remove(unit);
                self.join(host, grid, cell, profile)
            }
            (None, _) => false,
        };
        match found.filter(|_| done) {
            Some(cell) => {
                self.state.bring_to(host.crowd.now());
                let drawn = place.map_or(self.state.place(), |place| frame.to_cells(place));
                self.stand(host, grid, cell, drawn);
            }
            None if was_moved => self.state.stay(self.transform),
            None => self.show_no_room(),
        }
    }

    /// Becomes a unit of a crowd, on the nearest cell with room for it.
    fn come_in(
        &mut self,
        host: &mut Host,
        id: GridId,
        (grid, frame): (&NavGrid, &GridFrame),
        profile: ProfileId,
        whereabouts: &Whereabouts,
    ) {
        let stays = self.state.member.grid == id && self.state.is_where_it_was_put(self.transform);
        let place = (!stays).then(|| self.place(whereabouts));
        let found = self.room_at(host, (grid, frame), profile, place);
        match found.filter(|&cell| self.join(host, grid, cell, profile)) {
            Some(cell) => {
                self.state.member.grid = id;
                let drawn = place.map_or(self.state.place(), |place| frame.to_cells(place));
                self.stand(host, grid, cell, drawn);
            }
            None => self.show_no_room(),
        }
    }

    /// Where its transform says it is.
    fn place(&self, whereabouts: &Whereabouts) -> Vec2 {
        whereabouts.position(self.entity).unwrap_or(Vec2::NAN)
    }

    /// The cell nearest to a place in the world, or to where it stands, with room for it.
    fn room_at(
        &self,
        host: &Host,
        (grid, frame): (&NavGrid, &GridFrame),
        profile: ProfileId,
        place: Option<Vec2>,
    ) -> Option<Cell> {
        let anchor = match place {
            Some(place) => frame.anchor_at(place, grid.unit_size(profile))?,
            None => self.state.walk.head(),
        };
        let cell = fitting_anchor(grid, profile, anchor);
        host.crowd.nearest_room(grid, (cell, profile), self.state.member.unit, NEAR)
    }

    /// Becomes a unit on a cell; says whether it could.
    fn join(&mut self, host: &mut Host, grid: &NavGrid, cell: Cell, profile: ProfileId) -> bool {
        let settings = UnitSettings { profile, ..UnitSettings::default() };
        let unit = host.crowd.add(grid, cell, settings).ok();
        (self.state.member.unit, self.state.member.profile) = (unit, profile);
        if let Some(slot) = unit.map(UnitId::slot) {
            if host.entities.len() <= slot {
                host.entities.resize(slot + 1, Entity::PLACEHOLDER);
            }
            host.entities[slot] = self.entity;
        }
        unit.is_some()
    }

    /// Stands on a cell, drawn at a place in cell space.
    fn stand(&mut self, host: &Host, grid: &NavGrid, cell: Cell, drawn: Vec2) {
        let size = grid.unit_size(self.state.member.profile);
        self.state.set_size(size);
        self.state.walk = Walk::standing(cell);
        self.state.member.errand = Errand::Anew;
        self.state.place_at(drawn);
        self.state.drawn = self.transform.translation.truncate();
        self.state.be_led(host.crowd.now(), 0.0);
    }

    /// There is no room for it, or not for what it is to be.
    fn show_no_room(&mut self) {
        if let Some(status) = self.status.as_deref_mut()
            && status.is_walking()
        {
            *status = PathStatus::Stuck(Hindrance::NoRoom);
            self.state.bypass_change_detection().member.is_stuck = true;
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
        if let (Some(unit), Some(host)) = (unit, crowds.hosts.get_mut(&grid)) {
            host.crowd.remove(unit);
        }
        self.state.member.errand = Errand::Anew;
    }
}
