//! Walks that look straight: a unit that is alone spreads its diagonal steps evenly.
//!
//! Input: a unit with no other unit near, and the corners of its path. Output: the next step along the line to
//! the farthest corner to which such a line is open (Bresenham, "Algorithm for computer control of a digital
//! plotter", 1965). The line has as many diagonal and straight steps as any other shortest path, so the unit loses
//! nothing, but it is never more than half a cell off the straight line. Paths found by searches begin with
//! all diagonal steps: halfway they are up to a fifth of the distance off the line.
//!
//! Only units that are [alone](crate::nav::crowd::board::density) walk like this: the lines of units that meet run into
//! each other halfway, where paths with all diagonal steps first would pass each other.

use super::{Corner, PathFollower};
use crate::nav::crowd::board::{GridPos, STAY, StepCosts, legal_directions};
use crate::nav::{Adjacency, DIAGONAL, Layer, STRAIGHT};

/// Columns and rows that a line covers at most, and corners among which its end is looked for.
const MAX_LENGTH: u16 = 240;
const MAX_CORNERS: usize = 24;

/// Columns and rows, in hundredths of a cell.
pub type Offset = (i8, i8);

/// Steps that are spread evenly between two positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Line {
    start: GridPos,
    end: GridPos,
    /// Steps of the path from its beginning to the end of the line.
    steps: u32,
}

impl Line {
    /// Returns columns and rows from its start to its end.
    pub fn vector(&self) -> (i32, i32) {
        self.start.offset_to(self.end)
    }

    /// Returns the position after so many steps.
    fn at(&self, step: i32) -> GridPos {
        let (dx, dy) = self.vector();
        let count = dx.abs().max(dy.abs()).max(1);
        // Rounded to the nearest cell, away from the start.
        let along = |side: i32| side.signum() * ((2 * step * side.abs() + count) / (2 * count));
        GridPos {
            x: self.start.x.wrapping_add_signed(along(dx) as i16),
            y: self.start.y.wrapping_add_signed(along(dy) as i16),
        }
    }

    /// Returns how far the unit is off the position after so many steps if it walks straight and at an even speed. A
    /// diagonal step takes longer, so it is also ahead or behind.
    fn offset_at(&self, step: i32) -> Offset {
        let ((dx, dy), (x, y)) = (self.vector(), self.start.offset_to(self.at(step)));
        let work = |x: i32, y: i32| {
            let (long, short) = (i64::from(x.abs().max(y.abs())), i64::from(x.abs().min(y.abs())));
            i64::from(STRAIGHT) * (long - short) + i64::from(DIAGONAL) * short
        };
        let (done, whole) = (work(x, y), work(dx, dy).max(1));
        let off =
            |side: i32, at: i32| 100 * (i64::from(side) * done - i64::from(at) * whole) / whole;
        (off(dx, x) as i8, off(dy, y) as i8)
    }

    /// Returns the steps from a position on the line to its end; `None` beside it.
    fn steps_left(&self, pos: GridPos) -> Option<u16> {
        let (done, count) = (self.start.chebyshev(pos), self.start.chebyshev(self.end));
        (done <= count && self.at(i32::from(done)) == pos).then(|| count - done)
    }

    /// Returns the direction of the step from a position on the line; `None` at its end, and beside it.
    fn direction_from(&self, pos: GridPos) -> Option<u8> {
        self.steps_left(pos).filter(|&left| left > 0)?;
        let next = self.at(i32::from(self.start.chebyshev(pos)) + 1);
        Some(pos.direction_to(next))
    }

    /// Returns whether all steps are legal, over terrain that costs the same everywhere and no edges that cost something.
    fn is_open(&self, costs: &StepCosts) -> bool {
        let scale = costs.scale(self.start);
        (0..i32::from(self.start.chebyshev(self.end))).all(|step| {
            let (from, to) = (self.at(step), self.at(step + 1));
            let legal = legal_directions(costs.layer, from);
            let direction = from.direction_to(to);
            let is_level = costs.scale(to) == scale && costs.crossing(from, direction) == 0;
            legal >> direction & 1 == 1 && is_level
        })
    }
}

impl PathFollower {
    /// Lets a unit that is alone at a position walk straight; returns whether it does.
    pub fn walk_straight(&mut self, costs: &StepCosts, pos: GridPos) -> bool {
        if let Some(left) = self.line.steps_left(pos) {
            let done = self.line.steps.saturating_sub(u32::from(left));
            self.advance(done.saturating_sub(self.steps_done()) as usize);
        }
        let direction = self.line.direction_from(pos).or_else(|| {
            self.line = self.find_line(costs, pos).unwrap_or_default();
            self.line.direction_from(pos)
        });
        self.line_direction = direction.unwrap_or(STAY);
        direction.is_some()
    }

    /// Returns how far the unit is off the center of a cell when it comes there on its line; 0 beside a wall or an edge.
    pub fn line_offset(&self, layer: &Layer, pos: GridPos) -> Offset {
        let is_on_line = self.line_direction != STAY && self.line.steps_left(pos).is_some();
        if is_on_line && layer.is_open_around(u32::from(pos.x), u32::from(pos.y)) {
            self.line.offset_at(i32::from(self.line.start.chebyshev(pos)))
        } else {
            (0, 0)
        }
    }

    /// Returns an open line to a corner far ahead, but to none before the corner to which the unit goes: that line
    /// would lead back to a corner that the unit has bypassed.
    fn find_line(&mut self, costs: &StepCosts, pos: GridPos) -> Option<Line> {
        // Where no line was found, none is looked for before the next corner.
        if self.no_line_at == self.corner || costs.layer.adjacency() != Adjacency::Eight {
            return None;
        }
        let ahead = &self.corners[self.corner.max(self.aim) as usize..];
        let is_near = |corner: &&Corner| corner.pos.chebyshev(pos) <= MAX_LENGTH;
        let mut count = ahead.iter().take(MAX_CORNERS).take_while(is_near).count();
        // What it costs to return to the path and follow it, if nothing is in the way.
        let to_path = costs.distance(pos, self.reached) * costs.scale(pos);
        let (back, done) = (self.cost_ahead(costs)? + to_path, self.steps_done());
        let mut found = None;
        while count > 0 && found.is_none() {
            let corner = &ahead[count - 1];
            let line = Line { start: pos, end: corner.pos, steps: corner.steps };
            let cost = costs.distance(pos, corner.pos) * corner.scale + corner.cost_to_go;
            let is_useful = corner.steps > done && corner.pos != pos && cost <= back;
            found = Some(line).filter(|line| is_useful && line.is_open(costs));
            count = count * 3 / 4; // not one by one: every attempt takes time
        }
        self.no_line_at = if found.is_none() { self.corner } else { u32::MAX };
        found
    }

    /// Forgets the line after an edit of the terrain.
    pub fn forget_line(&mut self) {
        (self.line, self.line_direction, self.no_line_at) = (Line::default(), STAY, u32::MAX);
        self.aim = self.corner;
    }
}

#[cfg(test)]
mod tests {
    use super::{GridPos, Line};

    #[test]
    fn lines_stay_within_half_a_cell_of_the_straight_line_and_make_no_step_too_many() {
        let start = GridPos { x: 40, y: 40 };
        for (x, y) in (0..81).flat_map(|x| (0..81).map(move |y| (x, y))) {
            let end = GridPos { x, y };
            let line = Line { start, end, steps: 0 };
            let (dx, dy) = line.vector();
            let (mut at, mut steps) = (start, 0);
            while let Some(direction) = line.direction_from(at) {
                let next = at.step(direction);
                assert_eq!(at.direction_to(next), direction);
                (at, steps) = (next, steps + 1);
                let (px, py) = (i32::from(at.x) - 40, i32::from(at.y) - 40);
                let across = (px * dy - py * dx).abs();
                assert!(2 * across <= dx.abs().max(dy.abs()), "{end:?}: {at:?}");
                let (x, y) = line.offset_at(steps);
                let (x, y) = (i32::from(x), i32::from(y));
                assert!(x * x + y * y <= 55 * 55, "{end:?}: {at:?} is {x}, {y} off");
                let across = ((100 * px + x) * dy - (100 * py + y) * dx).abs();
                assert!(across <= 2 * (dx.abs() + dy.abs()), "{end:?}: {at:?} is beside the line");
            }
            assert_eq!((at, steps), (end, dx.abs().max(dy.abs())), "{end:?}");
        }
    }
}
