//! What a field is filled around.
//!
//! Input: a rectangle, or a goal of any shape. Output: the cells on which its paths end.

use crate::nav::{CellRect, Goal, Layer, NavGrid, PathFailure, ProfileId, goal::GoalZone};

/// Where the paths of a field end; see the [module](self).
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct FieldGoal {
    /// Equally good cells.
    pub(super) area: CellRect,
    /// The cells on which paths end, if these are others than those of `area`.
    pub(super) zone: Option<GoalZone>,
}

impl From<CellRect> for FieldGoal {
    fn from(area: CellRect) -> Self {
        Self { area, zone: None }
    }
}

impl FieldGoal {
    /// Returns all cells on which a unit may end its path to a goal; whether the goal is seen from there is not looked at.
    pub(super) fn around(grid: &NavGrid, profile: ProfileId, goal: &Goal) -> Self {
        let zone = if goal.is_single_cell() { None } else { GoalZone::of(grid, profile, goal) };
        Self { area: goal.area, zone }
    }

    /// Returns the layer of a profile, if a unit can stand on a cell of the goal.
    pub(super) fn layer(self, grid: &NavGrid, profile: ProfileId) -> Result<&Layer, PathFailure> {
        let layer = grid.layer(profile).ok_or(PathFailure::UnknownProfile(profile))?;
        let CellRect { min, .. } = self.area;
        if self.zone.is_none() && self.area.intersection(grid.rect()).is_empty() {
            return Err(PathFailure::GoalOutOfBounds(min));
        }
        let is_passable = self.cells(grid, layer).next().is_some();
        is_passable.then_some(layer).ok_or(PathFailure::GoalImpassable(min))
    }

    /// Iterates over the columns and rows on which a unit can stand.
    pub(super) fn cells(
        self,
        grid: &NavGrid,
        layer: &Layer,
    ) -> impl Iterator<Item = (u32, u32)> + Clone {
        let Self { area, zone } = self;
        let area =
            if zone.is_none() { area.intersection(grid.rect()) } else { CellRect::default() };
        let cells = area.cells().filter_map(|cell| grid.local(cell));
        let cells = cells.chain(zone.into_iter().flat_map(|zone| zone.cells(layer.size())));
        cells.filter(|&(x, y)| layer.is_passable(x, y))
    }
}
