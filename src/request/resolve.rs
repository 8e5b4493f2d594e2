//! Turns a request into cells: where the unit stands, and where it may end.
//!
//! Input: a request, transforms, grids. Output: a [`Resolved`] query, or why there is none. The start
//! is the cell a walking critter is about to enter, or the one under the transform of one that
//! stands. All cells are anchors: the lowest, leftmost cells of the blocks that units cover.

use std::{ops::RangeInclusive, sync::Arc};

use bevy::prelude::*;

use super::{
    PathRequest, Resolved, Target,
    intake::RequestIntake,
    requester::{RequesterReadOnlyItem, grid_of, profile_of},
};
use crate::{
    blocker::PlacedBlockers,
    grids::NavGrids,
    nav::{Approach, Cell, CellRect, Goal, GridId, NavGrid, PathFailure, PathQuery, ProfileId},
    whereabouts::Whereabouts,
};

/// Where units and their targets are.
impl RequestIntake<'_, '_> {
    /// The query of a unit's request in its present attempt.
    pub(super) fn resolve(
        &self,
        unit: &RequesterReadOnlyItem,
        request: &PathRequest,
    ) -> Result<Resolved, PathFailure> {
        let (id, profile) = request.grid_and_profile(unit.agent);
        let grid = self.grids.get(id).ok_or(PathFailure::GridGone(id))?;
        let size = grid.unit_size(profile);
        let start = self.cell_of(unit.entity, id, size).ok_or(PathFailure::StartUnknown)?;
        // A unit of a crowd leaves terrain that was blocked under it; one that was put into a wall fails.
        let is_in_crowd = unit.critter.is_some_and(|(state, _)| state.unit().is_some());
        let start_for = if is_in_crowd { nearest_free_start } else { fitting_anchor };
        let (goal, goals) = match request.target_of(unit.state.attempt) {
            Target::Nearest(targets) => {
                let goals = targets.iter().filter_map(|one| self.goal(unit, request, one).ok());
                let goals: Arc<[Goal]> = goals.collect();
                let first = *goals.first().ok_or(PathFailure::TargetGone)?;
                (first, (goals.len() > 1).then_some(goals))
            }
            target => (self.goal(unit, request, target)?, None),
        };
        let query = PathQuery::new(start_for(grid, profile, start), goal)
            .profile(profile)
            .reach(request.reach_of(unit.state.attempt))
            .algorithm(request.algorithm);
        Ok(Resolved { grid: id, query, goals })
    }

    /// Where a request ends if it leads to `target`.
    pub(super) fn goal(
        &self,
        unit: &RequesterReadOnlyItem,
        request: &PathRequest,
        target: &Target,
    ) -> Result<Goal, PathFailure> {
        let (id, profile) = request.grid_and_profile(unit.agent);
        let footprint = match target {
            Target::Cell(cell) => CellRect::single(*cell),
            Target::Position(position) => {
                let frame = self.grids.frame(id).ok_or(PathFailure::GridGone(id))?;
                // A large unit comes to stand with its middle there.
                let grid = self.grids.get(id).filter(|_| request.approach == Approach::Onto);
                let size = grid.map_or(1, |grid| grid.unit_size(profile));
                CellRect::single(frame.anchor_at(*position, size).ok_or(PathFailure::GoalUnknown)?)
            }
            Target::Entity(target) => self.footprint(*target, id).ok_or(PathFailure::TargetGone)?,
            Target::Rect(rect) => *rect,
            Target::Nearest(_) => return Err(PathFailure::GoalUnknown), // not one inside another
        };
        let collides_with =
            |other| other != unit.entity && self.is_held(unit.entity) && self.is_held(other);
        Ok(match (request.approach, target) {
            // Units that collide do not stand on each other.
            (Approach::Onto, Target::Entity(other)) if collides_with(*other) => {
                Goal { area: footprint, approach: Approach::Beside }
            }
            // An entity that covers several cells is stood on at its anchor.
            (Approach::Onto, Target::Entity(_)) => footprint.min.into(),
            (approach, _) => Goal { area: footprint, approach },
        })
    }

    /// The cells an entity covers: of its blocker, of the unit it is, or the one under it.
    fn footprint(&self, entity: Entity, grid: GridId) -> Option<CellRect> {
        if let Some(rect) = self.blockers.footprint(entity, grid) {
            return Some(rect);
        }
        let size = match self.units.get(entity) {
            Ok(RequesterReadOnlyItem { critter: Some((critter, _)), state, .. })
                if grid_of(critter, state) == grid =>
            {
                self.grids.get(grid)?.unit_size(profile_of(critter, state))
            }
            _ => 1,
        };
        let anchor = self.cell_of(entity, grid, size)?;
        Some(CellRect::new(anchor, size, size))
    }

    /// The anchor a critter stands on or enters, or that of a block of `size` cells a side whose middle
    /// is the entity's transform; on the grid or not. A critter that was about to enter a cell which its grid,
    /// replaced in the meantime, does not have is where its transform is.
    fn cell_of(&self, entity: Entity, grid: GridId, size: u32) -> Option<Cell> {
        if let Ok(unit) = self.units.get(entity)
            && let Some((critter, transform)) = unit.critter
            && grid_of(critter, unit.state) == grid
            && critter.is_where_it_was_put(transform)
            && self.grids.get(grid)?.contains(critter.walk.head())
        {
            return Some(critter.walk.head());
        }
        self.grids.frame(grid)?.anchor_at(self.whereabouts.position(entity)?, size)
    }

    /// Whether an entity is a critter that holds its cells against others.
    fn is_held(&self, entity: Entity) -> bool {
        let critter = self.units.get(entity).ok().and_then(|unit| unit.critter);
        critter.is_some_and(|(state, _)| state.holds_its_cells())
    }
}

/// The cell that a target means for many units at once, whatever their size; `None` where it is unknown.
pub(crate) fn cell_of_target(
    target: &Target,
    id: GridId,
    (grids, blockers, whereabouts): (&NavGrids, &PlacedBlockers, &Whereabouts),
) -> Result<Cell, PathFailure> {
    let frame = grids.frame(id).ok_or(PathFailure::GridGone(id))?;
    let middle = |rect: CellRect| {
        let (columns, rows) = (rect.width.saturating_sub(1) / 2, rect.height.saturating_sub(1) / 2);
        rect.min.offset(columns as i32, rows as i32)
    };
    match target {
        Target::Cell(cell) => Ok(*cell),
        Target::Position(position) => frame.cell_at(*position).ok_or(PathFailure::GoalUnknown),
        Target::Rect(rect) => Ok(middle(*rect)),
        Target::Entity(entity) => {
            let covered = blockers.footprint(*entity, id).map(middle);
            let position = whereabouts.position(*entity);
            covered.or_else(|| frame.cell_at(position?)).ok_or(PathFailure::TargetGone)
        }
        Target::Nearest(targets) => targets
            .iter()
            .filter(|target| !matches!(target, Target::Nearest(_)))
            .find_map(|one| cell_of_target(one, id, (grids, blockers, whereabouts)).ok())
            .ok_or(PathFailure::TargetGone),
    }
}

/// Search radius for a free cell, in cells.
const START_SEARCH_RADIUS: i32 = 16;

/// Start cell for a unit in a crowd: the cell itself if it can stand there; else the nearest one
/// where it can. A unit whose cell was blocked, or that has grown, is on its way to that cell.
pub(crate) fn nearest_free_start(grid: &NavGrid, profile: ProfileId, cell: Cell) -> Cell {
    let cell = fitting_anchor(grid, profile, cell);
    if grid.cost(profile, cell) > 0 {
        return cell;
    }
    let found =
        (1..=START_SEARCH_RADIUS).find_map(|ring| nearest_fit(grid, profile, cell, ring..=ring));
    found.unwrap_or(cell)
}

/// The anchor itself if a unit of `profile` fits there; else the nearest one whose block overlaps the
/// one asked for and where it fits: used for units that are put close to a wall, or grow.
/// The anchor itself where there is none.
pub(crate) fn fitting_anchor(grid: &NavGrid, profile: ProfileId, anchor: Cell) -> Cell {
    let reach = grid.unit_size(profile) as i32 - 1;
    if reach == 0 || grid.cost(profile, anchor) > 0 {
        return anchor;
    }
    nearest_fit(grid, profile, anchor, 1..=reach).unwrap_or(anchor)
}

/// The nearest anchor where a unit of `profile` fits, so many cells away along the longer axis.
fn nearest_fit(
    grid: &NavGrid,
    profile: ProfileId,
    from: Cell,
    distances: RangeInclusive<i32>,
) -> Option<Cell> {
    let reach = *distances.end();
    let around = (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (dx, dy)));
    around
        .filter(|&(dx, dy)| distances.contains(&dx.abs().max(dy.abs())))
        .filter(|&(dx, dy)| grid.cost(profile, from.offset(dx, dy)) > 0)
        .min_by_key(|&(dx, dy)| (dx * dx + dy * dy, dy, dx))
        .map(|(dx, dy)| from.offset(dx, dy))
}
