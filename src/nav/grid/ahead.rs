//! Looking ahead: whether there is a way, and what it costs, without asking for the way itself.
//!
//! Input: two cells. Output: whether a unit gets from one to the other (constant time), what that
//! costs at least (constant time), and what it costs (a search).

use super::NavGrid;
use crate::nav::{
    cell::Cell,
    node_pool::NodePool,
    path::PathCost,
    query::{Algorithm, PathFailure, PathQuery},
    search::Search,
    terrain::ProfileId,
};

impl NavGrid {
    /// Whether there is a way from one cell to the other for a unit of `profile`: constant time, no
    /// search. False where the unit cannot stand on one of them, too.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let mut grid = NavGrid::new(20, 10, TerrainId::GROUND)?;
    /// let (everyone, west, east) = (ProfileId(0), Cell::new(2, 2), Cell::new(12, 2));
    /// let steps = |steps| PathCost(steps * PathCost::PLAIN_STEP.0);
    /// grid.block(CellRect::new(Cell::new(10, 0), 1, 9))?;
    /// assert!(grid.can_reach(everyone, west, east));
    /// assert_eq!(grid.distance_to(everyone, west, east), Some(steps(10)));
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

    /// How far it is from one cell to the other at the least: what the way would cost over open
    /// ground of the cheapest kind that `profile` knows. Constant time, no search; the way itself
    /// may cost any amount more, see [`path_cost`](Self::path_cost). `None` where there is no way.
    #[must_use]
    pub fn distance_to(&self, profile: ProfileId, from: Cell, to: Cell) -> Option<PathCost> {
        if !self.can_reach(profile, from, to) {
            return None;
        }
        let layer = self.layer(profile)?;
        let distance = layer.distance(from.x.abs_diff(to.x), from.y.abs_diff(to.y));
        let (lowest, _) = layer.cost_sum_range();
        Some(PathCost(u64::from(distance) * u64::from(lowest) * u64::from(layer.unit())))
    }

    /// What the cheapest way from one cell to the other costs, exactly, however far: a whole search
    /// at once, with the memory of one. For a guess in constant time see
    /// [`distance_to`](Self::distance_to), for many cells and one goal a
    /// [`DistanceField`](crate::nav::field::DistanceField).
    ///
    /// # Errors
    /// Why there is no way.
    pub fn path_cost(
        &self,
        profile: ProfileId,
        from: Cell,
        to: Cell,
    ) -> Result<PathCost, PathFailure> {
        let query = PathQuery::new(from, to).profile(profile).algorithm(Algorithm::Exact);
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        search.start(self, &pool, query)?;
        search.step(self, &pool, u32::MAX);
        search.finish(self, &pool).map(|path| path.cost())
    }
}
