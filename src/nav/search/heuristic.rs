//! Lower bounds on the cost of the rest of a path: the h of A*.
//!
//! Input: the target of a search, and the [landmarks](crate::nav::map::landmarks) of the grid, if they are ready. Output: the
//! greater one of two bounds: the distance over open terrain of the lowest cost, and what the landmarks tell. Both are
//! consistent, so the greater one is, too. A search keeps the landmarks with which it started.

use super::{Search, SearchTarget, target::LANDMARKS_MIN_DISTANCE};
use crate::nav::{Layer, NavGrid, OpenList, map::landmarks::Estimate};

impl<L: OpenList> Search<L> {
    /// Looks up the landmarks for the target, if they help: on short ways the distance over open terrain does as well.
    pub(super) fn look_up_landmarks(&mut self, layer: &Layer) {
        let SearchTarget { x, y, tolerance, h_per_weight, is_backward, .. } = self.target;
        let distance = self.target.distance(layer, self.origin.0, self.origin.1);
        let is_useful = (tolerance, is_backward) == (0, false)
            && h_per_weight > 0
            && distance >= LANDMARKS_MIN_DISTANCE;
        let table = self.landmarks.as_ref().filter(|_| is_useful);
        self.estimate = table.and_then(|table| Estimate::to(table, (x, y)));
    }

    /// The lower bound on the cost of the path from a cell to the target, in units: the h of A*. `distance` is that over
    /// open terrain.
    #[inline(always)]
    pub(super) fn heuristic(&self, (x, y): (u32, u32), distance: u32) -> u64 {
        let h = u64::from(distance) * u64::from(self.target.h_per_weight);
        self.estimate.as_ref().map_or(h, |estimate| h.max(estimate.units(x, y)))
    }

    /// Whether the landmarks with which it started may be wrong by now: terrain has become cheaper, and paths may cost less
    /// than they tell.
    pub(super) fn has_lost_landmarks(&self, grid: &NavGrid) -> bool {
        self.landmarks.is_some() && grid.relief_number(self.query.profile) != self.relief
    }
}
