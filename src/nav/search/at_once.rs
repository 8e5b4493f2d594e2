//! Whole searches in one call.
//!
//! Input: a grid and a query. Output: the path, or why there is none.

use super::Search;
use crate::nav::{Cell, NavGrid, NodePool, Path, PathFailure, PathQuery, ProfileId};

impl NavGrid {
    /// Finds a path for a unit of `profile` in one call: the cheapest, if the goal is at most 2,048 cells away (see
    /// [`Algorithm::Auto`](crate::nav::Algorithm::Auto)). For the cheapest at any distance use [`answer`](Self::answer) with
    /// [`Algorithm::Exact`](crate::nav::Algorithm::Exact). For many queries, keep a [`Search`] and a
    /// [`NodePool`] to avoid their setup cost.
    ///
    /// # Errors
    /// Why there is no path.
    pub fn find_path(
        &self,
        profile: ProfileId,
        start: Cell,
        goal: Cell,
    ) -> Result<Path, PathFailure> {
        self.answer(PathQuery::new(start, goal).profile(profile))
    }

    /// Answers any query in one call, as [`find_path`](Self::find_path) does.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let grid = NavGrid::new(16, 8, TerrainId::GROUND)?;
    /// let dragon = Goal::beside(CellRect::new(Cell::new(10, 3), 2, 2));
    /// let path = grid.answer(PathQuery::new(Cell::new(2, 3), dragon))?;
    /// assert_eq!(path.end(), Cell::new(9, 3));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Why there is no path.
    pub fn answer(&self, query: PathQuery) -> Result<Path, PathFailure> {
        let (pool, mut search) = (NodePool::default(), <Search>::new());
        search.start(self, &pool, query)?;
        search.step(self, &pool, u32::MAX);
        search.finish(self, &pool)
    }
}
