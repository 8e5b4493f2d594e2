//! Membership of critters in crowds: critters enter the crowd of their grid, leave it, and are relocated.
//!
//! Input: critters that are new, removed, moved by hand, of another profile, or on another grid than before.
//! Output: units of the crowds. If the cell of a critter is occupied, it gets the nearest free one; if there
//! is none nearby, it stays outside the crowd until there is. Critters are processed in the order of
//! creation. Disabled critters are included: they stay where they are.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::{
    CritterChanges, Crowds, GridCrowd, Requesters,
    changes::{Column, list_changed},
};
use crate::{
    coordinates::GridFrame,
    grids::NavGrids,
    nav::{
        Cell, GridId, Hindrance, NavGrid, ProfileId, UnitId, UnitSettings, Walk, crowd::retry_pause,
    },
    request::{Outcomes, fitting_anchor},
    unit::{
        Critter, CritterState, Drawing, Facing, NavAgent, PathSync, RequestState, TransformWrites,
    },
    whereabouts::Whereabouts,
};

/// Maximum distance, in cells, at which a critter is placed if its own cell is occupied.
const MAX_PLACEMENT_DISTANCE: u32 = 16;

/// The components of a critter that determine its crowd and position.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Newcomer {
    entity: Entity,
    pub(super) critter: &'static Critter,
    agent: Option<&'static NavAgent>,
    request: Option<&'static RequestState>,
    pub(super) transform: &'static Transform,
    pub(crate) state: &'static mut CritterState,
    pub(super) facing: &'static mut Facing,
}

/// A grid on which a critter is to be placed, and as what kind of unit.
pub(super) struct Place<'a> {
    pub(super) id: GridId,
    pub(super) profile: ProfileId,
    pub(super) grid: &'a NavGrid,
    pub(super) frame: &'a GridFrame,
}

/// What decides whether a critter without a place may get one: its grid and profile, its position, and whether it collides.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Wanted {
    place: Option<(GridId, ProfileId)>,
    position: Vec2,
    collides: bool,
}

/// Components whose change may require another position or crowd.
type Columns<'w, 's> = (
    Column<'w, 's, Critter>,
    Column<'w, 's, NavAgent>,
    Column<'w, 's, RequestState>,
    Column<'w, 's, CritterState>,
    Column<'w, 's, Transform>,
);

/// Updates the crowds from the positions of critters.
pub(crate) fn enter_crowds(
    grids: Res<NavGrids>,
    mut crowds: ResMut<Crowds>,
    mut critters: ParamSet<(Columns, Query<Newcomer, Allow<Disabled>>, Requesters)>,
    whereabouts: Whereabouts,
    mut changes: ResMut<CritterChanges>,
    mut writes: ResMut<TransformWrites>,
    mut outcomes: Outcomes,
    // Critters to check in this tick.
    mut entities: Local<Vec<Entity>>,
    // Those at a wrong position, in the order of creation.
    mut misplaced: Local<Vec<(u64, Entity)>>,
) {
    entities.append(&mut writes.moved);
    entities.extend(&changes.changed);
    let (kinds, agents, requests, states, transforms) = critters.p0();
    list_changed(&kinds, None, &mut entities);
    list_changed(&agents, None, &mut entities);
    list_changed(&requests, None, &mut entities);
    list_changed(&states, None, &mut entities);
    // A transform last written by the drawing stage is correct.
    list_changed(&transforms, writes.written, &mut entities);
    crowds.list_with_changed_profiles(&grids, &mut entities);
    let newcomers = critters.p1();
    crowds.list_outside(&grids, &newcomers, &mut entities);
    changes.crowd_ticks = crowds.ticks;
    for entity in entities.drain(..) {
        if let Ok(critter) = newcomers.get(entity)
            && critter.is_misplaced(&grids, &crowds)
            && crowds.outside.get(&entity) != Some(&critter.wanted(&grids))
        {
            misplaced.push((critter.state.member.number, entity));
        }
    }
    misplaced.sort_unstable();
    misplaced.dedup();
    for (_, entity) in misplaced.drain(..) {
        let mut newcomers = critters.p1();
        let Ok(mut critter) = newcomers.get_mut(entity) else {
            continue;
        };
        let leaves = !critter.critter.collides && critter.state.unit().is_some();
        let has_room = critter.update_placement(&grids, &mut crowds, &whereabouts);
        if let Ok(critter) = newcomers.get(entity)
            && critter.is_misplaced(&grids, &crowds)
        {
            crowds.outside.insert(entity, critter.wanted(&grids));
        } else {
            crowds.outside.remove(&entity);
        }
        if (leaves || !has_room)
            && let Ok(mut unit) = critters.p2().get_mut(entity)
            && unit.status.is_walking()
        {
            if leaves {
                outcomes.crowd_left(&mut unit);
            } else {
                unit.set_stuck(Hindrance::NoRoom);
            }
        }
    }
}

impl Crowds {
    /// Lists those of the critters outside for which a cell is to be looked for again in this tick: all where there is a new grid,
    /// else each after a [pause](retry_pause).
    fn list_outside(
        &mut self,
        grids: &NavGrids,
        newcomers: &Query<Newcomer, Allow<Disabled>>,
        entities: &mut Vec<Entity>,
    ) {
        self.ticks += 1;
        let (ticks, now) = (self.ticks, grids.insertions);
        let is_grid_inserted = core::mem::replace(&mut self.grids_seen, now) != now;
        let pause = retry_pause(self.outside.len());
        self.outside.retain(|&entity, _| {
            let number = newcomers.get(entity).map_or(0, |critter| critter.state.member.number);
            let is_due = is_grid_inserted || (ticks + number).is_multiple_of(pause);
            entities.extend(is_due.then_some(entity));
            !is_due
        });
    }
}

/// Removes the units of former critters, and the crowds of grids that were removed or replaced, or all where the resource
/// itself was replaced: their critters are no longer units of a crowd. Runs before paths are repaired and answers are handed out, and again
/// before they move.
pub(crate) fn drop_stale_crowds(
    grids: Res<NavGrids>,
    mut crowds: ResMut<Crowds>,
    mut changes: ResMut<CritterChanges>,
    mut states: Query<(&mut CritterState, Option<&Transform>), Allow<Disabled>>,
) {
    let leave = |(mut state, transform): (Mut<CritterState>, Option<&Transform>)| {
        if let Some(transform) = transform {
            let frame = grids.frame(state.member.grid);
            state.read_back(frame, transform);
        }
        state.member.unit = None;
        state.member.path = PathSync::Replaced;
        state.halt(); // the grid of the step is gone, or the crowd that knew of it
    };
    if core::mem::replace(&mut changes.crowd_ticks, crowds.ticks) != crowds.ticks {
        crowds.by_grid.clear();
        for mut critter in &mut states {
            // Those that are outside are looked at again.
            critter.0.set_changed();
            if critter.0.unit().is_some() {
                leave(critter);
            }
        }
    }
    // In the order of their numbers, not of their despawning: new units will reuse these numbers.
    changes.left.sort_unstable();
    for (grid, unit, entity) in changes.left.drain(..) {
        if crowds.entity(grid, unit) == Some(entity) {
            crowds.drop_unit((grid, unit));
        }
    }
    let Crowds { by_grid, .. } = &mut *crowds;
    let is_stale =
        |id: &GridId, grid_crowd: &mut GridCrowd| grids.generation(*id) != grid_crowd.generation;
    for (_, grid_crowd) in by_grid.extract_if(.., is_stale) {
        let mut states = states.iter_many_mut(grid_crowd.entities());
        while let Some(critter) = states.fetch_next() {
            leave(critter);
        }
    }
}

impl NewcomerReadOnlyItem<'_, '_> {
    fn wanted(&self, grids: &NavGrids) -> Wanted {
        Wanted {
            place: grid_and_profile(grids, self.agent, self.request, self.state),
            position: self.transform.translation.truncate(),
            collides: self.critter.collides,
        }
    }

    /// Returns whether the critter is not at the right position or in the right crowd.
    fn is_misplaced(&self, grids: &NavGrids, crowds: &Crowds) -> bool {
        let member = &self.state.member;
        if member.unit.is_none() {
            return self.critter.collides || member.is_newcomer; // no longer, as a ghost
        }
        let wanted = grid_and_profile(grids, self.agent, self.request, self.state);
        !self.critter.collides
            || wanted != Some((member.grid, member.profile))
            || !crowds.has_size(grids, member.profile, self.state)
            || self.state.was_moved(self.transform) && self.transform.translation.is_finite()
    }
}

/// Returns the grid and the profile of a critter: its own, or those that its request sets instead. A
/// combination that does not exist is ignored: the critter keeps its previous one, or falls back to its own.
fn grid_and_profile(
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
    /// Enters the crowd of its grid, moves within it, or leaves it. Returns false if there is no free cell for it,
    /// or none for its new size.
    fn update_placement(
        &mut self,
        grids: &NavGrids,
        crowds: &mut Crowds,
        whereabouts: &Whereabouts,
    ) -> bool {
        // Bypasses change detection: as long as no cell is found, nothing has changed for others.
        self.state.bypass_change_detection().member.is_newcomer = false;
        let wanted = grid_and_profile(grids, self.agent, self.request, &self.state);
        let wanted = wanted.filter(|_| self.critter.collides);
        match self.state.member.unit {
            Some(unit) if wanted.is_none_or(|(id, _)| id != self.state.member.grid) => {
                self.leave(grids, crowds, unit);
            }
            // It was a ghost until now. Whether it finds room or not, it no longer walks on its own.
            None if self.critter.collides && self.state.walk.is_between_cells() => {
                self.state.halt();
                self.state.set_drawn(self.transform.translation.truncate());
            }
            _ => {}
        }
        let place = wanted.and_then(|(id, profile)| {
            Some(Place { id, profile, grid: grids.get(id)?, frame: grids.frame(id)? })
        });
        let Some(to) = place else {
            return true;
        };
        self.place(crowds.crowd_on(grids, to.id, to.grid), &to, whereabouts)
    }

    /// Joins a crowd, on the nearest free cell. If it is in the crowd already, moves it or changes its profile;
    /// if there is no free cell for that, it stays as it is.
    fn place(&mut self, grid_crowd: &mut GridCrowd, to: &Place, whereabouts: &Whereabouts) -> bool {
        let &Place { id, profile, grid, frame } = to;
        let before = self.state.member.unit;
        let is_there = self.state.member.grid == id && grid.contains(self.state.walk.head());
        let stays = is_there && self.state.is_where_it_was_put(self.transform);
        let position = (!stays).then(|| whereabouts.position(self.entity).unwrap_or(Vec2::NAN));
        if stays && before.is_some() {
            self.state.read_back(Some(frame), self.transform);
        }
        let found = self.free_cell_near(grid_crowd, to, position);
        let drawn = position.map_or(self.state.now, |position| frame.to_cells(position));
        // Its profile may have changed, or the unit size of that.
        let size = before.and_then(|unit| grid_crowd.crowd.size(unit));
        let is_same_kind =
            self.state.member.profile == profile && size == Some(grid.unit_size(profile));
        if is_same_kind && found == Some(self.state.walk.head()) {
            // It is on its own cell: only its transform was moved, and it continues as before.
            self.draw_from(grid_crowd, drawn);
            return true;
        }
        let taken = found.filter(|&cell| match before {
            Some(unit) if is_same_kind => grid_crowd.crowd.teleport(grid, unit, cell).is_ok(),
            Some(unit) => {
                grid_crowd.crowd.remove(unit);
                self.join(grid_crowd, to, cell)
            }
            None => self.join(grid_crowd, to, cell),
        });
        let Some(cell) = taken else {
            let is_sent_back = before.is_some() && !stays;
            if is_sent_back {
                // The position written to its transform is rejected: it is drawn where it was.
                self.state.set_drawn(self.transform.translation.truncate());
                self.state.drawing = Drawing::Full;
            }
            return is_sent_back;
        };
        if before.is_some() {
            self.state.update_to(grid_crowd.crowd.now());
        }
        self.state.member.grid = id;
        self.stand(grid_crowd, grid, cell, drawn);
        true
    }

    /// Returns the free cell nearest to a world position, or to its current cell if `None`.
    fn free_cell_near(
        &self,
        grid_crowd: &GridCrowd,
        &Place { profile, grid, frame, .. }: &Place,
        position: Option<Vec2>,
    ) -> Option<Cell> {
        let anchor = match position {
            Some(position) => frame.anchor_at(position, grid.unit_size(profile))?,
            None => self.state.walk.head(),
        };
        let (cell, own) = (fitting_anchor(grid, profile, anchor), self.state.member.unit);
        grid_crowd.crowd.nearest_free_cell(grid, (cell, profile), own, MAX_PLACEMENT_DISTANCE)
    }

    /// Adds a unit on a cell; returns whether that succeeded.
    pub(super) fn join(&mut self, grid_crowd: &mut GridCrowd, to: &Place, cell: Cell) -> bool {
        let settings = UnitSettings { profile: to.profile, ..UnitSettings::default() };
        let unit = grid_crowd.crowd.add(to.grid, cell, settings).ok();
        (self.state.member.unit, self.state.member.profile) = (unit, to.profile);
        if let Some(slot) = unit.map(UnitId::index) {
            if grid_crowd.entities.len() <= slot {
                grid_crowd.entities.resize(slot + 1, Entity::PLACEHOLDER);
            }
            grid_crowd.entities[slot] = self.entity;
        }
        unit.is_some()
    }

    /// Places it on a cell, drawn at a position in cell space.
    pub(super) fn stand(
        &mut self,
        grid_crowd: &GridCrowd,
        grid: &NavGrid,
        cell: Cell,
        drawn: Vec2,
    ) {
        let size = grid.unit_size(self.state.member.profile);
        self.state.set_size(grid.topology(), size);
        self.state.walk = Walk::standing(cell);
        self.state.member.path = PathSync::Replaced;
        self.draw_from(grid_crowd, drawn);
    }

    /// Draws it from this position in cell space on, as a standing critter.
    fn draw_from(&mut self, grid_crowd: &GridCrowd, drawn: Vec2) {
        self.state.place_at(drawn);
        self.state.set_drawn(self.transform.translation.truncate());
        self.state.shrink = 0.0; // not yet
        self.state.start_motion(grid_crowd.crowd.now());
    }

    /// Leaves its crowd.
    pub(super) fn leave(&mut self, grids: &NavGrids, crowds: &mut Crowds, unit: UnitId) {
        let frame = grids.frame(self.state.member.grid);
        self.state.read_back(frame, self.transform);
        self.state.member.unit = None;
        if let Some(grid_crowd) = crowds.by_grid.get_mut(&self.state.member.grid) {
            self.state.update_to(grid_crowd.crowd.now());
            grid_crowd.crowd.remove(unit);
        }
        self.state.halt();
        self.state.member.path = PathSync::Replaced;
    }
}
