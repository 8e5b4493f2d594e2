//! The corners of a path: cells such that the part between two of them is as short as on open terrain.
//!
//! Input: the legs of a path. Output: its corners with the cost to go from each. A path between two corners
//! is one of many that are equally short; a unit may take any of them. Where the terrain changes its cost, the
//! cells before and behind the border are corners, too.

use super::{
    local_field::StepCosts,
    reservations::{GridPos, is_diagonal},
    unit::NONE,
};
use crate::nav::{
    path::Leg,
    terrain::{DIAGONAL, STRAIGHT},
};

/// Most columns and rows between two corners. Half the reach of a [view](super::corner_view), so that a unit
/// usually sees the corner after the next one, and does not have to pass exactly over the next.
const MAX_SPAN: u16 = super::corner_view::REACH / 2;

/// A corner of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    pub(super) pos: GridPos,
    /// Steps to it from the beginning of the path.
    pub(super) steps: u32,
    /// The cost from it to the end of the path.
    pub(super) cost_to_go: u64,
    /// The cost of a unit of distance where it is visible.
    pub(super) scale: u64,
    /// The index of its [view](super::corner_view), once that is known.
    pub(super) view: u32,
}

/// Finds the corners of a path; the end of the path is the last one.
pub(super) fn find_corners(
    corners: &mut Vec<Corner>,
    start: GridPos,
    legs: &[Leg],
    costs: &StepCosts,
) {
    corners.clear();
    let mut span = Span { from: start, weight: 0 };
    let (mut at, mut steps, mut done) = (start, 0, 0);
    let corner = |pos: GridPos, steps: u32, done: u64| Corner {
        pos,
        steps,
        cost_to_go: done, // from the beginning, for now
        scale: costs.scale(pos),
        view: NONE,
    };
    for leg in legs {
        let direction = leg.direction as u8;
        for step in 0..leg.steps {
            let next = at.step(direction);
            let crosses_border = costs.scale(at) != costs.scale(next);
            let turns_at_wall = step == 0 && costs.is_beside_wall(at);
            if crosses_border || turns_at_wall || !span.reaches(next, direction, costs) {
                if corners.last().is_none_or(|last: &Corner| last.pos != at) {
                    corners.push(corner(at, steps, done));
                }
                span = Span { from: at, weight: 0 };
            }
            done += costs.step(at, direction);
            steps += 1;
            span.weight += weight(direction);
            at = next;
            if crosses_border {
                corners.push(corner(at, steps, done));
                span = Span { from: at, weight: 0 };
            }
        }
    }
    corners.push(corner(at, steps, done));
    corners.iter_mut().for_each(|corner| corner.cost_to_go = done - corner.cost_to_go);
    corners.shrink_to_fit();
}

/// A part of a path that is as short as on open terrain.
struct Span {
    from: GridPos,
    weight: u64,
}

impl Span {
    /// Returns whether it still is with one more step, and short enough to be seen from end to end.
    fn reaches(&self, next: GridPos, direction: u8, costs: &StepCosts) -> bool {
        self.weight + weight(direction) == costs.distance(self.from, next)
            && self.from.chebyshev(next) <= MAX_SPAN
    }
}

fn weight(direction: u8) -> u64 {
    u64::from(if is_diagonal(direction) { DIAGONAL } else { STRAIGHT })
}
