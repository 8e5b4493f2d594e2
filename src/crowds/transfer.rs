//! Critters that cross links: they change from one cell to another, which may be on another grid.
//!
//! Input: a critter, and the cell where it lands. Output: the critter as a unit of the crowd there, at first drawn where it was.
//! Units that stand idle on landing cells step aside.

use core::cmp::Reverse;

use bevy::prelude::*;

use super::{
    Crowds,
    enter::{NewcomerItem, Place},
};
use crate::{
    grids::NavGrids,
    nav::{
        Cell, CellRect, GridId, Hindrance, PathCost, Profile, ProfileId, Walk,
        range::{InRange, Movement, MovementRange, RangeQuery},
    },
    unit::{CritterState, Facing, PathSync},
};

/// Farthest that idle units step aside, in steps over ground as costly as that under them.
const MAX_STEP_ASIDE: u64 = 12;

impl Crowds {
    /// Returns whether a critter of a profile could stand on a cell of a grid.
    pub(crate) fn has_room(
        &self,
        grids: &NavGrids,
        (id, cell): (GridId, Cell),
        (profile, state): (ProfileId, &CritterState),
    ) -> bool {
        let own = state.unit().filter(|_| state.member.grid == id);
        let Some(grid) = grids.get(id) else {
            return false;
        };
        match self.get(id) {
            Some(crowd) => crowd.nearest_free_cell(grid, (cell, profile), own, 0).is_some(),
            None => grid.cost(profile, cell) > 0,
        }
    }

    /// Returns whether a critter holds as many cells as units of a profile do on its grid.
    pub(crate) fn has_size(
        &self,
        grids: &NavGrids,
        profile: ProfileId,
        state: &CritterState,
    ) -> bool {
        let size = self.get(state.member.grid).zip(state.unit());
        let size = size.and_then(|(crowd, unit)| crowd.size(unit));
        size.is_some() && size == grids.get(state.member.grid).map(|grid| grid.unit_size(profile))
    }

    /// Returns the critters that hold cells of an area.
    pub(crate) fn holders(&self, grids: &NavGrids, (id, area): (GridId, CellRect)) -> Vec<Entity> {
        let cells = grids.get(id).map(|grid| area.intersection(grid.rect()).cells());
        let held = cells.into_iter().flatten().filter_map(|cell| self.entity_at(grids, id, cell));
        let mut entities: Vec<Entity> = held.collect();
        entities.dedup();
        entities
    }

    /// Sends a critter that has nothing to do, or has arrived, off an area, to the nearest free cell outside; its request and
    /// its status stay as they are.
    pub(crate) fn step_aside(
        &mut self,
        grids: &NavGrids,
        critter: &mut NewcomerItem,
        (id, area): (GridId, CellRect),
    ) {
        let member = &critter.state.member;
        let (Some(unit), Some(grid)) = (member.unit, grids.get(id)) else {
            return;
        };
        let Some(grid_crowd) = self.by_grid.get_mut(&id).filter(|_| member.grid == id) else {
            return;
        };
        let (crowd, from, profile) =
            (&mut grid_crowd.crowd, critter.state.walk.head(), member.profile);
        let has_no_way = crowd.hindrance(unit).0 == Hindrance::NoPath;
        if crowd.is_under_way(unit) && !has_no_way || critter.state.is_moving() {
            return;
        }
        let blocked = grid.anchors_over(profile, area.intersection(grid.rect()));
        let is_free = |to: &InRange| {
            !blocked.contains(to.cell)
                && crowd.nearest_free_cell(grid, (to.cell, profile), Some(unit), 0).is_some()
        };
        // Along paths, since a near cell behind a wall is far; with a limit, since this must not take long.
        let mut range = MovementRange::new();
        let step = PathCost::PLAIN_STEP.0 * u64::from(grid.cost(profile, from));
        let most = PathCost(MAX_STEP_ASIDE * step / u64::from(Profile::PLAIN_COST));
        let query = RangeQuery::new(from, Movement::Cost(most)).profile(profile);
        let is_filled = range.fill(grid, query).is_ok();
        let free = range.cells().filter(is_free).filter(|_| is_filled);
        let to = free.max_by_key(|to| (to.left, Reverse((to.cell.y, to.cell.x))));
        if let Some(path) = to.and_then(|to| range.path_to(grid, to.cell)) {
            let sent = crowd.follow(grid, unit, &path);
            debug_assert!(sent.is_ok(), "{sent:?}");
            critter.state.member.has_goal = false; // its crowd has another path
        }
    }
}

impl NewcomerItem<'_, '_> {
    /// Leaves its cells on a grid; returns where it is drawn, in the world.
    pub(crate) fn take_off(
        &mut self,
        grids: &NavGrids,
        crowds: &mut Crowds,
        from: GridId,
    ) -> Option<Vec2> {
        if let Some(unit) = self.state.member.unit {
            self.leave(grids, crowds, unit);
        }
        grids.frame(from).map(|frame| frame.to_world(self.state.now))
    }

    /// Stands on a free cell of a grid. It is drawn from a position in the world on, and comes to the cell while it does
    /// `work`.
    pub(crate) fn land(
        &mut self,
        grids: &NavGrids,
        crowds: &mut Crowds,
        (id, cell): (GridId, Cell),
        (profile, drawn, work): (ProfileId, Option<Vec2>, u64),
    ) {
        let (Some(grid), Some(frame)) = (grids.get(id), grids.frame(id)) else {
            return;
        };
        let drawn = drawn.map_or(Vec2::NAN, |drawn| frame.to_cells(drawn));
        self.state.member.grid = id;
        if self.critter.collides {
            let grid_crowd = crowds.crowd_on(grids, id, grid);
            let has_joined = self.join(grid_crowd, &Place { id, profile, grid, frame }, cell);
            debug_assert!(has_joined, "{cell} is held");
            self.stand(grid_crowd, grid, cell, drawn);
        } else {
            self.state.set_size(grid.topology(), grid.unit_size(profile));
            self.state.walk = Walk::standing(cell);
            self.state.member.path = PathSync::Replaced;
            self.state.place_at(drawn);
            self.state.set_drawn(self.transform.translation.truncate());
        }
        self.state.member.keeps_goal = false;
        let offset = self.state.offset;
        self.state.member.crossing = (work > 0).then(|| offset.length() / work as f32);
        if offset != Vec2::ZERO {
            let heading = (-offset / offset.abs().max_element() * 8.0).round().as_ivec2();
            *self.facing = Facing::on(frame, (heading.x, heading.y));
            (self.state.heading, self.state.is_turning) = ((heading.x, heading.y), true);
        }
    }
}
