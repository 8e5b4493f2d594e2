//! Reachability and path costs, without the path itself.
//!
//! Input: two cells. Output: whether a unit can get from one to the other (constant time), also if other buildings stood, a lower
//! bound of the cost (constant time), and the exact cost (a search).

use std::collections::BTreeSet;

use super::NavGrid;
use crate::nav::{
    Algorithm, Cell, CellRect, PathCost, PathFailure, PathQuery, ProfileId, layer::Source,
};

impl NavGrid {
    /// Returns whether there is a path from one cell to the other for a unit of `profile`: constant time, no
    /// search. Also false if the unit cannot stand on one of them.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let mut grid = NavGrid::new(20, 10, TerrainId::GROUND)?;
    /// let (everyone, west, east) = (ProfileId(0), Cell::new(2, 2), Cell::new(12, 2));
    /// let steps = |steps| PathCost(steps * PathCost::PLAIN_STEP.0);
    /// grid.block(CellRect::new(Cell::new(10, 0), 1, 9))?;
    /// assert!(grid.can_reach(everyone, west, east));
    /// assert_eq!(grid.least_cost(everyone, west, east), Some(steps(10)));
    /// assert!(grid.path_cost(everyone, west, east).is_ok_and(|cost| cost > steps(15)));
    /// grid.block(CellRect::single(Cell::new(10, 9)))?;
    /// assert!(!grid.can_reach(everyone, west, east));
    /// # Ok::<(), GridError>(())
    /// ```
    #[must_use]
    pub fn can_reach(&self, profile: ProfileId, from: Cell, to: Cell) -> bool {
        let region = self.region(profile, from);
        region.is_some() && region == self.region(profile, to)
    }

    /// Answers "may I build here?": returns the first of the cells `from` from which a unit of `profile` could not reach any cell of
    /// `goal` if these buildings stood as well; `None` if there is no such cell. A cell under a building counts as cut off. Parts of
    /// buildings off the grid do not count.
    ///
    /// The grid is not changed. The call copies what the grid knows of one profile (on 512 × 512 cells it takes a tenth of a
    /// millisecond), so on large maps call it when the cell under the mouse has changed, not in every frame.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let grid = NavGrid::new(20, 10, TerrainId::GROUND)?;
    /// let (creeps, entrance, exit) = (ProfileId(0), Cell::new(0, 4), Cell::new(19, 4));
    /// let wall = |height| CellRect::new(Cell::new(9, 0), 1, height);
    /// assert_eq!(grid.cut_off_by([wall(9)], creeps, [entrance], exit), None);
    /// assert_eq!(grid.cut_off_by([wall(10)], creeps, [entrance], exit), Some(entrance));
    /// # Ok::<(), GridError>(())
    /// ```
    #[must_use]
    pub fn cut_off_by(
        &self,
        buildings: impl IntoIterator<Item = CellRect>,
        profile: ProfileId,
        from: impl IntoIterator<Item = Cell>,
        goal: impl Into<CellRect>,
    ) -> Option<Cell> {
        let mut from = from.into_iter();
        let Some(layer) = self.layer(profile) else {
            return from.next();
        };
        let on_grid = buildings.into_iter().map(|building| building.intersection(self.rect()));
        let buildings: Vec<CellRect> = on_grid.filter(|building| !building.is_empty()).collect();
        let local = buildings.iter().filter_map(|&CellRect { min, width, height }| {
            self.local(min).map(|(x, y)| (x, y, width, height))
        });
        let is_built = |cell| buildings.iter().any(|building| building.contains(cell));
        let is_blocked = |x, y| self.blockers.get(x, y) > 0 || is_built(self.global(x, y));
        let mut layer = layer.clone();
        layer.update(local, Source { terrain: &self.terrain, edges: &self.edges, is_blocked });
        let region = |cell| self.local(cell).and_then(|(x, y)| layer.region(x, y));
        let goal = goal.into().intersection(self.rect());
        let ends: BTreeSet<_> = goal.cells().filter_map(region).collect();
        from.find(|&cell| region(cell).is_none_or(|region| !ends.contains(&region)))
    }

    /// Returns a lower bound of the cost from one cell to the other: the cost over open terrain of the
    /// kind that is cheapest for `profile`. Constant time, no search; the actual path may cost any amount more, see
    /// [`path_cost`](Self::path_cost). `None` if there is no path.
    #[must_use]
    pub fn least_cost(&self, profile: ProfileId, from: Cell, to: Cell) -> Option<PathCost> {
        if !self.can_reach(profile, from, to) {
            return None;
        }
        let layer = self.layer(profile)?;
        let distance = layer.distance(to.x.wrapping_sub(from.x), to.y.wrapping_sub(from.y));
        let (lowest, _) = layer.cost_sum_range();
        Some(PathCost(u64::from(distance) * u64::from(lowest) * u64::from(layer.unit())))
    }

    /// Returns the exact cost of the cheapest path from one cell to the other, at any distance: this runs a
    /// whole search immediately and allocates its memory. For an estimate in constant time see
    /// [`least_cost`](Self::least_cost), for many cells and one goal a
    /// [`DistanceField`](crate::nav::field::DistanceField).
    ///
    /// # Errors
    /// The reason why there is no path.
    pub fn path_cost(
        &self,
        profile: ProfileId,
        from: Cell,
        to: Cell,
    ) -> Result<PathCost, PathFailure> {
        let query = PathQuery::new(from, to).profile(profile).algorithm(Algorithm::Exact);
        self.answer(query).map(|path| path.cost())
    }
}
