//! Turns a request into cells: where the unit stands, and where it may end.
//!
//! Input: a request, transforms, grids. Output: a [`Resolved`] query, or why there is none. The start
//! is the cell a walking critter is about to enter, or the one under the transform of one that
//! stands. All cells are anchors: the lowest, leftmost cells of the blocks that units cover.

use std::sync::Arc;

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{ActiveOrder, NavPath, Near, PathRequest, PathStatus, Target};
use crate::{
    blocker::PlacedBlockers,
    grids::NavGrids,
    movement::CritterState,
    nav::{
        cell::{Cell, CellRect},
        goal::Goal,
        grid::NavGrid,
        query::{GridId, PathFailure, PathQuery},
        terrain::ProfileId,
    },
    whereabouts::Whereabouts,
};

/// A request in cells.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) query: PathQuery,
    /// All goals, where there are several.
    pub(super) goals: Option<Arc<[Goal]>>,
}

/// A unit with all that belongs to its order.
pub(super) type Unit = (
    Option<&'static PathRequest>,
    &'static mut PathStatus,
    &'static mut ActiveOrder,
    &'static mut NavPath,
    Option<(&'static mut CritterState, &'static Transform)>,
);

/// All units, disabled ones too.
type Units<'w, 's> = Query<'w, 's, Unit, Allow<Disabled>>;

/// The same, taken from a query.
pub(super) type UnitItem<'a> = (
    Option<&'a PathRequest>,
    Mut<'a, PathStatus>,
    Mut<'a, ActiveOrder>,
    Mut<'a, NavPath>,
    Option<(Mut<'a, CritterState>, &'a Transform)>,
);

/// Where units and their targets are.
pub(super) struct Places<'a, 'w, 's> {
    pub(super) grids: &'a NavGrids,
    pub(super) blockers: &'a PlacedBlockers,
    pub(super) whereabouts: &'a Whereabouts<'w, 's>,
}

impl Places<'_, '_, '_> {
    /// The query that a request amounts to, in attempt number `attempt`.
    pub(super) fn resolve(
        &self,
        entity: Entity,
        request: &PathRequest,
        attempt: u16,
        units: &Units,
    ) -> Result<Resolved, PathFailure> {
        let grid = self.grids.get(request.grid).ok_or(PathFailure::GridGone(request.grid))?;
        let start = self
            .anchor_of(entity, request.grid, request.profile, units)
            .ok_or(PathFailure::StartUnknown)?;
        // Who was built over gets off by itself; who is put into a wall is told so.
        let is_on_its_way =
            matches!(units.get(entity), Ok((.., Some((state, _)))) if state.unit().is_some());
        let start = if is_on_its_way {
            way_out(grid, request.profile, start)
        } else {
            fitting_anchor(grid, request.profile, start)
        };
        let (goal, goals) = self.goals(entity, request, attempt, units)?;
        let query = PathQuery::new(start, goal.cell)
            .approach(goal.approach)
            .profile(request.profile)
            .reach(request.reach_of(attempt))
            .algorithm(request.algorithm);
        Ok(Resolved { query, goals })
    }

    /// The first goal of an attempt, and all of them where there are several.
    fn goals(
        &self,
        entity: Entity,
        request: &PathRequest,
        attempt: u16,
        units: &Units,
    ) -> Result<(Goal, Option<Arc<[Goal]>>), PathFailure> {
        match request.target_of(attempt) {
            Target::Nearest(targets) => {
                let goals: Arc<[Goal]> = targets
                    .iter()
                    .filter_map(|target| self.goal(entity, request, target, units).ok())
                    .collect();
                let first = *goals.first().ok_or(PathFailure::TargetGone)?;
                Ok((first, (goals.len() > 1).then_some(goals)))
            }
            target => Ok((self.goal(entity, request, target, units)?, None)),
        }
    }

    /// Where a request of `entity` ends if it leads to `target`.
    pub(super) fn goal(
        &self,
        entity: Entity,
        request: &PathRequest,
        target: &Target,
        units: &Units,
    ) -> Result<Goal, PathFailure> {
        let footprint = match target {
            Target::Cell(cell) => CellRect::single(*cell),
            Target::Position(position) => {
                let frame = self.grids.frame(request.grid);
                let frame = frame.ok_or(PathFailure::GridGone(request.grid))?;
                // A large unit comes to stand with its middle there.
                let grid = self.grids.get(request.grid).filter(|_| request.near == Near::Onto);
                let size = grid.map_or(1, |grid| grid.unit_size(request.profile));
                CellRect::single(frame.anchor_at(*position, size).ok_or(PathFailure::GoalUnknown)?)
            }
            Target::Entity(target) => {
                self.footprint(*target, request.grid, units).ok_or(PathFailure::TargetGone)?
            }
            Target::Rect(rect) => *rect,
            Target::Nearest(_) => return Err(PathFailure::GoalUnknown), // not one inside another
        };
        let near = match target {
            // Nobody comes to stand on somebody else.
            Target::Entity(target)
                if request.near == Near::Onto
                    && *target != entity
                    && is_held(entity, units)
                    && is_held(*target, units) =>
            {
                Near::Beside
            }
            _ => request.near,
        };
        Ok(near.goal(footprint, matches!(target, Target::Rect(_))))
    }

    /// The cells an entity covers: of its blocker, of the unit it is, or the one under it.
    fn footprint(&self, entity: Entity, grid: GridId, units: &Units) -> Option<CellRect> {
        if let Some(rect) = self.blockers.footprint(entity, grid) {
            return Some(rect);
        }
        let size = match units.get(entity) {
            Ok((_, _, order, _, Some((state, _)))) if state.grid(order) == grid => {
                self.grids.get(grid)?.unit_size(state.profile(order))
            }
            _ => 1,
        };
        let anchor = self.cell_of(entity, grid, size, units)?;
        Some(CellRect::new(anchor, size, size))
    }

    /// The anchor of a unit of `profile`.
    pub(super) fn anchor_of(
        &self,
        entity: Entity,
        grid: GridId,
        profile: ProfileId,
        units: &Units,
    ) -> Option<Cell> {
        let size = self.grids.get(grid)?.unit_size(profile);
        self.cell_of(entity, grid, size, units)
    }

    /// The anchor a critter stands on or enters, or that of a block of `size` cells a side whose middle
    /// is the entity's transform; on the grid or not. A critter that was on the way to a cell which its grid,
    /// replaced meanwhile, does not have is where its transform is.
    fn cell_of(&self, entity: Entity, grid: GridId, size: u32, units: &Units) -> Option<Cell> {
        if let Ok((_, _, order, _, Some((state, transform)))) = units.get(entity)
            && state.grid(order) == grid
            && state.is_where_it_was_put(transform)
            && self.grids.get(grid)?.contains(state.walk.head())
        {
            return Some(state.walk.head());
        }
        self.grids.frame(grid)?.anchor_at(self.whereabouts.position(entity)?, size)
    }
}

/// Whether an entity is a critter that holds its cells against others.
fn is_held(entity: Entity, units: &Units) -> bool {
    matches!(units.get(entity), Ok((.., Some((state, _)))) if state.holds_its_cells())
}

/// Farthest way off ground that was built over, in cells.
const WAY_OUT: i32 = 16;

/// Where the way begins of a unit of a crowd: the cell itself if it can stand there; else the nearest one
/// where it can, to which it is on its way: it was built over, or has grown.
pub(crate) fn way_out(grid: &NavGrid, profile: ProfileId, cell: Cell) -> Cell {
    let cell = fitting_anchor(grid, profile, cell);
    if grid.cost(profile, cell) > 0 {
        return cell;
    }
    let rings = (1..=WAY_OUT).map(|reach| {
        let side = (-reach..=reach).flat_map(move |dy| (-reach..=reach).map(move |dx| (dx, dy)));
        side.filter(move |(dx, dy)| dx.abs().max(dy.abs()) == reach)
    });
    let nearest = |ring: &mut dyn Iterator<Item = (i32, i32)>| {
        ring.filter(|&(dx, dy)| grid.cost(profile, cell.offset(dx, dy)) > 0)
            .min_by_key(|&(dx, dy)| (dx * dx + dy * dy, dy, dx))
    };
    let found = rings.into_iter().find_map(|mut ring| nearest(&mut ring));
    found.map_or(cell, |(dx, dy)| cell.offset(dx, dy))
}

/// The anchor itself if a unit of `profile` fits there; else the nearest one whose block overlaps the
/// one asked for and where it fits: units that are put close to a wall, or grow, make room that way.
/// The anchor itself where there is none.
pub(crate) fn fitting_anchor(grid: &NavGrid, profile: ProfileId, anchor: Cell) -> Cell {
    let reach = grid.unit_size(profile) as i32 - 1;
    if reach == 0 || grid.cost(profile, anchor) > 0 {
        return anchor;
    }
    let around = (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (dx, dy)));
    around
        .filter(|&(dx, dy)| grid.cost(profile, anchor.offset(dx, dy)) > 0)
        .min_by_key(|&(dx, dy)| (dx * dx + dy * dy, dy, dx))
        .map_or(anchor, |(dx, dy)| anchor.offset(dx, dy))
}
