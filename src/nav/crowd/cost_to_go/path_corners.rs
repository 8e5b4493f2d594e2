//! The corners of a path: cells such that the part between two of them is as short as on open terrain.
//!
//! Input: the legs of a path. Output: its corners with the cost to go from each. A path between two corners
//! is one of many that are equally short; a unit may take any of them. Where the terrain changes its cost, the
//! cells before and behind the border are corners, too.

use super::REACH;
use crate::nav::crowd::board::{GridPos, StepCosts};
use crate::nav::{Adjacency, Layer, path::Leg};

/// Most columns and rows between two corners. Half the distance at which [corners are
/// visible](super::corner_sight), so that a unit usually sees the corner after the next one, and does not have to
/// pass exactly over the next.
const MAX_SPAN: u16 = REACH / 2;

/// A corner of a path.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Corner {
    pub pos: GridPos,
    /// Steps to it from the beginning of the path.
    pub steps: u32,
    /// The cost from it to the end of the path.
    pub cost_to_go: u64,
    /// The cost of a unit of distance where it is visible.
    pub scale: u64,
}

/// Finds the corners of a path; the end of the path is the last one.
pub fn find_corners(corners: &mut Vec<Corner>, start: GridPos, legs: &[Leg], costs: &StepCosts) {
    corners.clear();
    let mut trace = Trace { corners, costs, at: start, steps: 0, done: 0, span: Span::default() };
    for leg in legs {
        trace.follow(leg.direction as u8, leg.steps);
    }
    trace.add_corner();
    let done = trace.done;
    corners.iter_mut().for_each(|corner| corner.cost_to_go = done - corner.cost_to_go);
    corners.shrink_to_fit();
}

/// A part of a path that is as short as on open terrain, and short enough to be seen from end to end.
#[derive(Default)]
struct Span {
    steps: u16,
    /// The directions of its steps, as a bit mask.
    directions: u8,
}

impl Span {
    /// Returns whether it remains as short as on open terrain with steps in this direction: such a path has steps
    /// in one direction, or in two neighboring directions.
    fn takes(&self, direction: u8, layer: &Layer) -> bool {
        let most = if layer.adjacency() == Adjacency::Eight { 1 } else { 2 };
        let is_beside = |known: u8| layer.topology().turn_angle(known, direction) <= most;
        let known = self.directions & !(1 << direction);
        known.count_ones() <= 1 && (0..8).all(|other| known >> other & 1 == 0 || is_beside(other))
    }
}

/// A path, followed step by step.
struct Trace<'a> {
    corners: &'a mut Vec<Corner>,
    costs: &'a StepCosts<'a>,
    at: GridPos,
    /// Steps made, and their cost.
    steps: u32,
    done: u64,
    span: Span,
}

impl Trace<'_> {
    fn follow(&mut self, direction: u8, mut steps: u16) {
        let layer = self.costs.layer;
        let (x, y) = (u32::from(self.at.x), u32::from(self.at.y));
        if !layer.is_open_around(x, y) || !self.span.takes(direction, layer) {
            self.add_corner();
        }
        while steps > 0 {
            self.span.directions |= 1 << direction;
            let room = steps.min(MAX_SPAN - self.span.steps);
            let level = self.level_steps(direction, room);
            self.advance(direction, level);
            self.span.steps += level;
            steps -= level;
            if steps == 0 {
                return;
            }
            self.add_corner();
            if level < room {
                self.advance(direction, 1);
                self.add_corner();
                steps -= 1;
            }
        }
    }

    /// Returns how many of the next steps in a direction, at most `most`, neither change the cost of terrain nor
    /// cross an edge that costs something.
    fn level_steps(&self, direction: u8, most: u16) -> u16 {
        if self.costs.uniform() > 0 {
            return most;
        }
        let own = self.costs.scale(self.at);
        let is_level = |&step: &u16| {
            let from = self.at.along(direction, step - 1);
            self.costs.scale(from.step(direction)) == own
                && self.costs.crossing(from, direction) == 0
        };
        (1..=most).take_while(is_level).count() as u16
    }

    /// Makes steps that all cost as much as the first one.
    fn advance(&mut self, direction: u8, steps: u16) {
        if steps > 0 {
            self.done += self.costs.step(self.at, direction) * u64::from(steps);
            self.steps += u32::from(steps);
            self.at = self.at.along(direction, steps);
        }
    }

    /// Adds a corner, and begins another span.
    fn add_corner(&mut self) {
        self.span = Span::default();
        // The cost from the beginning, for now.
        let Self { at: pos, steps, done: cost_to_go, .. } = *self;
        if self.corners.last().is_none_or(|last| last.pos != pos) {
            let scale = self.costs.scale(pos);
            self.corners.push(Corner { pos, steps, cost_to_go, scale });
        }
    }
}
