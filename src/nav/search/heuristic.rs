//! Lower bounds on the cost of the rest of a path: the h of A*.
//!
//! Input: the target of a search, and the [landmarks](crate::nav::map::landmarks) of the grid, if they are ready. Output: the
//! greater one of two bounds: the distance over open terrain of the lowest cost, and what the landmarks tell. Both are
//! consistent, so the greater one is, too. A search keeps the landmarks with which it started.

use super::{Search, SearchTarget, target::LANDMARKS_MIN_DISTANCE};
use crate::nav::{Layer, NavGrid, OpenList, map::landmarks::Estimate};

impl<L: OpenList> Search<L> {
    /// Looks up the landmarks for the target if they help: over short distances they tell no more than the distance
    /// over open terrain.
    pub(super) fn look_up_landmarks(&mut self, layer: &Layer) {
        let distance = self.target.distance(layer, self.origin.0, self.origin.1);
        self.estimate = self.estimate_to(&self.target, u64::from(distance));
    }

    /// The same for a backward search, where `start` is the target, and its goal cells are known.
    pub(super) fn look_up_landmarks_backwards(&mut self, start: &SearchTarget) {
        let distance = self.goal_cells.lowest_h().checked_div(u64::from(start.h_per_weight));
        self.estimate = self.estimate_to(start, distance.unwrap_or(0));
    }

    /// The bound from landmarks for a target at least this far away; `None` if it is of no use.
    fn estimate_to(&self, target: &SearchTarget, distance: u64) -> Option<Estimate> {
        let SearchTarget { x, y, tolerance, h_per_weight, .. } = *target;
        let is_useful =
            tolerance == 0 && h_per_weight > 0 && distance >= u64::from(LANDMARKS_MIN_DISTANCE);
        let table = self.landmarks.as_ref().filter(|_| is_useful)?;
        Estimate::to(table, (x, y))
    }

    /// The lower bound on the cost of the path from a cell to the target, in units: the h of A*. `distance` is that over
    /// open terrain.
    #[inline(always)]
    pub(super) fn heuristic(&self, (x, y): (u32, u32), distance: u32) -> u64 {
        let h = u64::from(distance) * u64::from(self.target.h_per_weight);
        self.estimate.as_ref().map_or(h, |estimate| h.max(estimate.units(x, y)))
    }

    /// Whether the landmarks with which the search started may be wrong by now: terrain has become cheaper, and paths may
    /// cost less than the bound.
    pub(super) fn has_lost_landmarks(&self, grid: &NavGrid) -> bool {
        self.landmarks.is_some() && grid.relief_number(self.query.profile) != self.relief
    }
}
