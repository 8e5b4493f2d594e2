//! Turns a request into cells: where the unit stands, and where it may end.
//!
//! Input: a request, transforms, grids. Output: a [`Resolved`] query, or why there is none. The start
//! is the cell a walking critter is about to enter, or the one under the transform of one that
//! stands. All cells are anchors: the lowest, leftmost cells of the blocks that units cover.

use std::sync::Arc;

use bevy::prelude::*;

use super::{
    PathRequest, Resolved, Target,
    intake::RequestIntake,
    requester::{RequesterReadOnlyItem, grid_of, profile_of},
    start::start_near,
};
use crate::{
    blocker::PlacedBlockers,
    grids::NavGrids,
    nav::{Approach, Cell, CellRect, Goal, GridId, PathFailure, PathQuery},
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
        let is_in_crowd = unit.critter.is_some_and(|(state, _)| state.unit().is_some());
        let (goal, goals) = match request.target_of(unit.state.attempt) {
            Target::Nearest(targets) => {
                let goals = targets.iter().filter_map(|one| self.goal(unit, request, one).ok());
                let goals: Arc<[Goal]> = goals.collect();
                let first = *goals.first().ok_or(PathFailure::TargetGone)?;
                (first, (goals.len() > 1).then_some(goals))
            }
            target => (self.goal(unit, request, target)?, None),
        };
        let query = PathQuery::new(start_near(grid, profile, start, is_in_crowd), goal)
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
