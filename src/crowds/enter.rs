//! Which critters stand on which grid: they enter its crowd, leave it, and are put elsewhere.
//!
//! Input: critters that are new, gone, moved by hand, of another kind, or on another grid than before.
//! Output: units of the crowds. Where a critter's cell is taken, it gets the nearest free one; where
//! there is none near, it stays outside until there is. Done in the order in which critters were made.
//! Disabled critters count as well: they stand where they are.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::{
    Crowds, GridCrowd,
    changes::{Column, list_changed, list_changed_but},
};
use crate::{
    coordinates::GridFrame,
    grids::NavGrids,
    nav::{
        cell::Cell,
        crowd::{Hindrance, UnitId, UnitSettings},
        grid::NavGrid,
        query::GridId,
        terrain::ProfileId,
        walk::Walk,
    },
    request::{Outcomes, Requester, RequesterItem, fitting_anchor},
    unit::{Critter, CritterState, NavAgent, PathSync, RequestState, TransformWrites},
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
    agent: Option<&'static NavAgent>,
    request: Option<&'static RequestState>,
    transform: &'static Transform,
    state: &'static mut CritterState,
}

/// What may put a critter elsewhere, if it changes.
type Columns<'w, 's> = (
    Column<'w, 's, Critter>,
    Column<'w, 's, NavAgent>,
    Column<'w, 's, RequestState>,
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
    /// Out of place, in the order in which they were made.
    turns: Vec<(u64, Entity)>,
    news: Vec<(Entity, Found)>,
}

/// Brings the crowds up to date with who stands where.
pub(crate) fn enter_crowds(
    grids: Res<NavGrids>,
    mut crowds: ResMut<Crowds>,
    mut critters: ParamSet<(
        Columns,
        Query<Newcomer, Allow<Disabled>>,
        Query<Requester, Allow<Disabled>>,
    )>,
    whereabouts: Whereabouts,
    mut writes: ResMut<TransformWrites>,
    mut outcomes: Outcomes,
    mut suspects: Local<Suspects>,
) {
    let Suspects { ticks, inserted, entities, outside, turns, news } = &mut *suspects;
    *ticks += 1;
    writes.take_moved(entities);
    let (kinds, agents, requests, states, transforms) = critters.p0();
    list_changed(&kinds, entities);
    list_changed(&agents, entities);
    list_changed(&requests, entities);
    list_changed(&states, entities);
    // A transform last written by the drawing stage is where it should be.
    list_changed_but(&transforms, |changed| writes.has_written(changed), entities);
    crowds.let_go();
    crowds.list_whose_kinds_changed(&grids, entities);
    let mut newcomers = critters.p1();
    let is_new_ground = core::mem::replace(inserted, grids.insertions()) != grids.insertions();
    outside.retain(|&entity| {
        let number = newcomers.get(entity).map_or(0, |critter| critter.state.member.number);
        let is_due = is_new_ground || (*ticks + number).is_multiple_of(RETRY);
        entities.extend(is_due.then_some(entity));
        !is_due
    });
    for entity in entities.drain(..) {
        if let Ok(critter) = newcomers.get(entity)
            && critter.is_out_of_place(&grids, &crowds)
        {
            turns.push((critter.state.member.number, entity));
        }
    }
    turns.sort_unstable();
    turns.dedup();
    for &(_, entity) in &*turns {
        if let Ok(mut critter) = newcomers.get_mut(entity) {
            let found = critter.find_place(&grids, &mut crowds, &whereabouts);
            news.extend(found.map(|found| (entity, found)));
        }
    }
    let is_outside = |&(_, entity): &(u64, Entity)| {
        newcomers.get(entity).is_ok_and(|critter| critter.is_out_of_place(&grids, &crowds))
    };
    outside.extend(turns.drain(..).filter(is_outside).map(|(_, entity)| entity));
    outside.sort_unstable();
    outside.dedup();
    let mut units = critters.p2();
    for (entity, found) in news.drain(..) {
        if let Ok(mut unit) = units.get_mut(entity) {
            react(&mut unit, found, &mut outcomes);
        }
    }
}

/// What the request of a critter has to know of its new standing.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// There is no room for it, or not for what it is to be.
    NoRoom,
    /// It has become a ghost.
    Ghost,
}

/// A critter without room is stuck; one that has become a ghost on its way gets a path from where it is.
fn react(unit: &mut RequesterItem, found: Found, outcomes: &mut Outcomes) {
    match found {
        Found::NoRoom if unit.status.is_walking() => unit.be_stuck(Hindrance::NoRoom),
        Found::Ghost if unit.status.is_walking() && unit.state.ticket.is_none() => {
            let head = unit.head();
            outcomes.stop_and_repair(unit, head);
        }
        Found::NoRoom | Found::Ghost => {}
    }
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
            state.member.path = PathSync::Replaced;
            state.walk = Walk::standing(state.walk.head()); // the step went with the grid
            state.freeze();
        }
    }
}

impl GridCrowd {
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
        for (&id, grid_crowd) in &mut self.by_grid {
            let now = grids.get(id).map_or(0, NavGrid::profiles_revision);
            if core::mem::replace(&mut grid_crowd.profiles_revision, now) != now {
                entities
                    .extend(grid_crowd.crowd.units().map(|unit| grid_crowd.entities[unit.slot()]));
            }
        }
    }

    /// Takes those off their grids who are critters no more.
    fn let_go(&mut self) {
        for (grid, unit) in self.inbox.left.drain(..) {
            if let Some(grid_crowd) = self.by_grid.get_mut(&grid) {
                grid_crowd.crowd.remove(unit);
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
        let footing = footing(grids, self.agent, self.request, self.state);
        let is_of_kind = |(id, profile)| {
            let grid_crowd = crowds.by_grid.get(&id).zip(grids.get(id));
            grid_crowd.is_some_and(|(grid_crowd, grid)| {
                grid_crowd.is_of_kind(grid, unit, profile, self.state)
            })
        };
        !self.critter.collides
            || footing.is_none_or(|footing| footing.0 != member.grid || !is_of_kind(footing))
            || self.state.was_moved(self.transform) && self.transform.translation.is_finite()
    }
}

/// The grid and the profile of a critter: its own, or those that its request names instead. A kind that names
/// what does not exist does not count: the critter stays what it was, or is what it is by itself.
fn footing(
    grids: &NavGrids,
    agent: Option<&NavAgent>,
    request: Option<&RequestState>,
    state: &CritterState,
) -> Option<(GridId, ProfileId)> {
    let agent = agent.copied().unwrap_or_default();
    let own = (agent.grid, agent.profile);
    let named = request.filter(|request| request.accepted > 0 && request.overrides_agent);
    let wanted = named.map_or(own, |request| (request.grid, request.query.profile));
    let before = if state.placed { (state.member.grid, state.member.profile) } else { own };
    let is_known = |&(id, profile): &(GridId, ProfileId)| {
        grids.get(id).is_some_and(|grid| usize::from(profile.0) < grid.profiles().len())
    };
    [wanted, before, own].into_iter().find(is_known)
}

impl NewcomerItem<'_, '_> {
    /// Enters the crowd of its grid, moves within it, or leaves it.
    fn find_place(
        &mut self,
        grids: &NavGrids,
        crowds: &mut Crowds,
        whereabouts: &Whereabouts,
    ) -> Option<Found> {
        // Nothing has changed for others as long as it finds no place.
        self.state.bypass_change_detection().member.is_newcomer = false;
        let footing = footing(grids, self.agent, self.request, &self.state);
        let footing = footing.filter(|_| self.critter.collides);
        if self.state.member.unit.is_some()
            && footing.is_none_or(|(id, _)| id != self.state.member.grid)
        {
            self.leave(crowds);
        }
        if !self.critter.collides {
            return Some(Found::Ghost);
        }
        let (id, profile) = footing?;
        let (grid, frame) = (grids.get(id)?, grids.frame(id)?);
        let grid_crowd = crowds.of_grid(grids, id, grid);
        match self.state.member.unit {
            Some(_) => self.adjust(grid_crowd, (grid, frame), profile, whereabouts),
            None => self.come_in(grid_crowd, id, (grid, frame), profile, whereabouts),
        }
    }

    /// Puts its unit elsewhere, or makes it one of another kind. Where there is no room for that, it stays
    /// what it is where it is.
    fn adjust(
        &mut self,
        grid_crowd: &mut GridCrowd,
        (grid, frame): (&NavGrid, &GridFrame),
        profile: ProfileId,
        whereabouts: &Whereabouts,
    ) -> Option<Found> {
        let unit = self.state.member.unit?;
        let was_moved = self.state.was_moved(self.transform);
        let is_of_kind = grid_crowd.is_of_kind(grid, unit, profile, &self.state);
        let place = was_moved.then(|| self.place(whereabouts));
        let found = self.room_at(grid_crowd, (grid, frame), profile, place);
        let done = match (found, is_of_kind) {
            (Some(cell), true) => grid_crowd.crowd.teleport(grid, unit, cell).is_ok(),
            (Some(cell), false) => {
                grid_crowd.crowd.remove(unit);
                self.join(grid_crowd, grid, cell, profile)
            }
            (None, _) => false,
        };
        match found.filter(|_| done) {
            Some(cell) => {
                self.state.bring_to(grid_crowd.crowd.now());
                let drawn = place.map_or(self.state.place(), |place| frame.to_cells(place));
                self.stand(grid_crowd, grid, cell, drawn);
            }
            None if was_moved => self.state.stay(self.transform),
            None => return Some(Found::NoRoom),
        }
        None
    }

    /// Becomes a unit of a crowd, on the nearest cell with room for it.
    fn come_in(
        &mut self,
        grid_crowd: &mut GridCrowd,
        id: GridId,
        (grid, frame): (&NavGrid, &GridFrame),
        profile: ProfileId,
        whereabouts: &Whereabouts,
    ) -> Option<Found> {
        let stays = self.state.member.grid == id && self.state.is_where_it_was_put(self.transform);
        let place = (!stays).then(|| self.place(whereabouts));
        let found = self.room_at(grid_crowd, (grid, frame), profile, place);
        match found.filter(|&cell| self.join(grid_crowd, grid, cell, profile)) {
            Some(cell) => {
                self.state.member.grid = id;
                let drawn = place.map_or(self.state.place(), |place| frame.to_cells(place));
                self.stand(grid_crowd, grid, cell, drawn);
                None
            }
            None => Some(Found::NoRoom),
        }
    }

    /// Where its transform says it is.
    fn place(&self, whereabouts: &Whereabouts) -> Vec2 {
        whereabouts.position(self.entity).unwrap_or(Vec2::NAN)
    }

    /// The cell nearest to a place in the world, or to where it stands, with room for it.
    fn room_at(
        &self,
        grid_crowd: &GridCrowd,
        (grid, frame): (&NavGrid, &GridFrame),
        profile: ProfileId,
        place: Option<Vec2>,
    ) -> Option<Cell> {
        let anchor = match place {
            Some(place) => frame.anchor_at(place, grid.unit_size(profile))?,
            None => self.state.walk.head(),
        };
        let cell = fitting_anchor(grid, profile, anchor);
        grid_crowd.crowd.nearest_free_cell(grid, (cell, profile), self.state.member.unit, NEAR)
    }

    /// Becomes a unit on a cell; says whether it could.
    fn join(
        &mut self,
        grid_crowd: &mut GridCrowd,
        grid: &NavGrid,
        cell: Cell,
        profile: ProfileId,
    ) -> bool {
        let settings = UnitSettings { profile, ..UnitSettings::default() };
        let unit = grid_crowd.crowd.add(grid, cell, settings).ok();
        (self.state.member.unit, self.state.member.profile) = (unit, profile);
        if let Some(slot) = unit.map(UnitId::slot) {
            if grid_crowd.entities.len() <= slot {
                grid_crowd.entities.resize(slot + 1, Entity::PLACEHOLDER);
            }
            grid_crowd.entities[slot] = self.entity;
        }
        unit.is_some()
    }

    /// Stands on a cell, drawn at a place in cell space.
    fn stand(&mut self, grid_crowd: &GridCrowd, grid: &NavGrid, cell: Cell, drawn: Vec2) {
        let size = grid.unit_size(self.state.member.profile);
        self.state.set_size(size);
        self.state.walk = Walk::standing(cell);
        self.state.member.path = PathSync::Replaced;
        self.state.place_at(drawn);
        self.state.drawn = self.transform.translation.truncate();
        self.state.be_led(grid_crowd.crowd.now(), 0.0);
    }

    /// Leaves its crowd.
    fn leave(&mut self, crowds: &mut Crowds) {
        let member = &mut self.state.member;
        let (unit, grid) = (member.unit.take(), member.grid);
        if unit.is_some() {
            if let Some(grid_crowd) = crowds.by_grid.get(&grid) {
                self.state.bring_to(grid_crowd.crowd.now());
            }
            self.state.freeze();
        }
        if unit.is_some() && !self.critter.collides {
            let (head, drawn) = (self.state.walk.head(), self.state.place());
            self.state.walk = Walk::standing(head);
            self.state.place_at(drawn);
        }
        if let (Some(unit), Some(grid_crowd)) = (unit, crowds.by_grid.get_mut(&grid)) {
            grid_crowd.crowd.remove(unit);
        }
        self.state.member.path = PathSync::Replaced;
    }
}
