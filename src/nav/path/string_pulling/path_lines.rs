//! Straight lines along a path, and the position on them of a unit that moves in steps.
//!
//! Input: the turning points of a pulled path, then the number of steps a unit has done and its progress on
//! the next. Output: the position on the lines, as two cells and a fraction in integers, so that the caller
//! decides how to round.
//!
//! Invariant: a line that goes `length` cells along its longer axis and `rise` across stands for `length`
//! steps of the path (eight neighbors, `rise` of them diagonal), or for the sum of `length` and `rise` (four
//! neighbors), in the order that stays nearest to the line (Bresenham 1965). The line is distributed over the
//! steps by their weights, so that a unit drawn on it moves evenly, although diagonal steps take longer than
//! straight ones. The drawn position is never farther than half a column and half a row from the unit's
//! position between its two cells.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use crate::nav::{
    Cell, CellRect, DIAGONAL, Direction, Leg, NavGrid, Path, ProfileId, STRAIGHT, legs_from_back,
    line_of_sight::Slope,
};

/// Bits of the progress of a step, so that its product with the weight of a line fits into 64.
const FRACTION_BITS: u32 = 40;

/// A position on a straight line: `fraction.0 / fraction.1` of the distance from the center of `from` to that
/// of `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePosition {
    /// The previous turning point.
    pub from: Cell,
    /// The next turning point; `from` if the path has no steps.
    pub to: Cell,
    /// Numerator, and denominator: never 0, never less than the numerator.
    pub fraction: (u64, u64),
}

/// Consecutive straight lines, and the number of path steps on each; made by [`Path::string_pulled`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct PathLines {
    start: Cell,
    lines: Vec<LineEnd>,
}

/// The end of a line, and the number of path steps up to there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
struct LineEnd {
    end: Cell,
    steps: u32,
}

impl PathLines {
    /// Creates an empty list of lines at `cell`.
    #[must_use]
    pub const fn at_cell(cell: Cell) -> Self {
        Self { start: cell, lines: Vec::new() }
    }

    /// Creates lines from the legs of a path, one for each change of direction.
    #[must_use]
    pub fn from_legs(path: &Path) -> Self {
        let mut lines = Self::at_cell(path.start());
        // The first turning point is the start.
        for (leg, end) in path.legs().iter().zip(path.waypoints().skip(1)) {
            lines.add(end, u32::from(leg.steps));
        }
        lines
    }

    /// Returns the first turning point.
    #[must_use]
    pub const fn start(&self) -> Cell {
        self.start
    }

    /// Returns the last turning point.
    #[must_use]
    pub fn end(&self) -> Cell {
        self.lines.last().map_or(self.start, |line| line.end)
    }

    /// Returns the number of steps of the path.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.lines.last().map_or(0, |line| line.steps)
    }

    /// Iterates over the ends of the lines, including the start and the end of the path: one more than lines.
    pub fn turning_points(&self) -> impl Iterator<Item = Cell> + '_ {
        std::iter::once(self.start).chain(self.lines.iter().map(|line| line.end))
    }

    /// Returns the position on the lines of a unit that has finished `steps` steps of the path and `progress`
    /// of the next (numerator and denominator, as returned by
    /// [`Walk::progress`](crate::nav::walk::Walk::progress)). Past the end of the path, returns its end.
    /// Time: logarithmic in the number of lines.
    ///
    /// On terrain of one cost, units of constant speed move evenly along each line.
    #[must_use]
    pub fn position(&self, steps: u32, progress: (u64, u64)) -> LinePosition {
        let line = self.line_at(steps);
        if let Some(segment) = self.segment(line) {
            return segment.position(steps - segment.before, progress);
        }
        let last = line.checked_sub(1).and_then(|last| self.segment(last));
        let (from, to) = last.map_or((self.start, self.start), |last| (last.from, last.end));
        LinePosition { from, to, fraction: (1, 1) }
    }

    /// Iterates over the [positions](Self::position) after `steps` steps, after one more, and so on to the end of the path.
    pub(crate) fn positions_from(&self, steps: u32) -> impl Iterator<Item = LinePosition> + '_ {
        let mut line = self.line_at(steps);
        let mut segment = self.segment(line);
        (steps..=self.steps()).map(move |steps| {
            if segment.is_some_and(|segment| segment.before + segment.steps <= steps) {
                line += 1;
                segment = self.segment(line);
            }
            let place = segment.map(|segment| segment.position(steps - segment.before, (0, 1)));
            place.unwrap_or_else(|| self.position(steps, (0, 1)))
        })
    }

    /// Whether a unit that has finished `steps` steps of the path can still be drawn on the lines, given that
    /// every step ahead is legal for `profile` and only cells of `edited` have changed: each line that is not
    /// itself a row of steps, from the current one on, is [clear](NavGrid::clear_line). Cheap if the lines
    /// stay away from the edit. If not, pull the path again or continue with [`from_legs`](Self::from_legs).
    #[must_use]
    pub fn is_clear_after_edit(
        &self,
        grid: &NavGrid,
        profile: ProfileId,
        steps: u32,
        edited: CellRect,
    ) -> bool {
        let edited = grid.anchors_over(profile, edited);
        let ahead = (self.line_at(steps)..self.lines.len()).filter_map(|line| self.segment(line));
        let mut slanted = ahead.filter(|segment| segment.direction().is_none());
        slanted.all(|LineSegment { from, end, .. }| {
            !edited.meets_span(from, end) || grid.clear_line(profile, from, end)
        })
    }

    /// Appends the lines of a path that begins where this one ends.
    pub fn append(&mut self, rest: &Self) {
        let before = self.steps();
        let rest = rest.lines.iter();
        self.lines.extend(rest.map(|line| LineEnd { steps: before + line.steps, ..*line }));
    }

    /// Adds a line of so many steps, at least one; see the [module](self) for their number. Two lines in the
    /// same direction of steps become one.
    pub(super) fn add(&mut self, end: Cell, steps: u32) {
        let line = LineEnd { end, steps: self.steps() + steps };
        let direction = LineSegment::new(self.end(), self.steps(), line).direction();
        let last = self.lines.len().checked_sub(1).and_then(|last| self.segment(last));
        if direction.is_some() && last.and_then(|last| last.direction()) == direction {
            self.lines.pop();
        }
        self.lines.push(line);
    }

    /// Returns the steps along all lines.
    pub(super) fn legs(&self) -> Vec<Leg> {
        let segments = (0..self.lines.len()).rev().filter_map(|line| self.segment(line));
        legs_from_back(segments.flat_map(LineSegment::steps_backward))
    }

    /// Returns the index of the line that contains the step after the first `steps`; the number of lines, if
    /// there is none.
    fn line_at(&self, steps: u32) -> usize {
        self.lines.partition_point(|line| line.steps <= steps)
    }

    fn segment(&self, line: usize) -> Option<LineSegment> {
        let before = line.checked_sub(1).and_then(|before| self.lines.get(before));
        let (from, steps) = before.map_or((self.start, 0), |before| (before.end, before.steps));
        self.lines.get(line).map(|&line| LineSegment::new(from, steps, line))
    }
}

/// A line with both ends, its steps and its slope.
#[derive(Clone, Copy)]
struct LineSegment {
    from: Cell,
    end: Cell,
    /// Steps of the path before it, and its own.
    before: u32,
    steps: u32,
    slope: Slope,
}

impl LineSegment {
    fn new(from: Cell, before: u32, line: LineEnd) -> Self {
        let dx = i64::from(line.end.x) - i64::from(from.x);
        let dy = i64::from(line.end.y) - i64::from(from.y);
        let steps = line.steps - before;
        Self { from, end: line.end, before, steps, slope: Slope::of(dx, dy) }
    }

    /// Whether a step across is also a step along: a diagonal one.
    const fn has_diagonals(&self) -> bool {
        self.steps == self.slope.length
    }

    /// Returns how many of the first `steps` go across.
    fn across(&self, steps: u32) -> u32 {
        if self.slope.rise == 0 || self.slope.rise == self.steps {
            return steps * u32::from(self.slope.rise > 0); // most lines, without a division
        }
        let (rise, all) = (u64::from(self.slope.rise), u64::from(self.steps));
        ((2 * u64::from(steps) * rise + all) / (2 * all).max(1)) as u32
    }

    /// Returns the weight of the first `steps`.
    fn weight(&self, steps: u32) -> u64 {
        let across = if self.has_diagonals() { self.across(steps) } else { 0 };
        u64::from(STRAIGHT) * u64::from(steps) + u64::from(DIAGONAL - STRAIGHT) * u64::from(across)
    }

    /// Returns the direction of a step that goes along only, and of one that goes across.
    fn directions(&self) -> (Direction, Direction) {
        let Slope { along, across, .. } = self.slope;
        let slanted = match self.has_diagonals() {
            true => (along.0 + across.0, along.1 + across.1),
            false => across,
        };
        (Direction::from_offset(along.0, along.1), Direction::from_offset(slanted.0, slanted.1))
    }

    /// Returns the direction of all its steps, if they have the same one.
    fn direction(&self) -> Option<Direction> {
        let (along, slanted) = self.directions();
        if self.slope.rise == 0 {
            return Some(along);
        }
        (self.slope.rise == self.steps).then_some(slanted)
    }

    /// Iterates over its steps from the last to the first, as runs of one direction.
    fn steps_backward(self) -> impl Iterator<Item = (Direction, u32)> {
        let (along, slanted) = self.directions();
        let whole = self.direction().map(|direction| (direction, self.steps));
        let single_steps = if whole.is_some() { 0 } else { self.steps };
        let mut above = self.slope.rise;
        let steps = (0..single_steps).rev().map(move |step| {
            let across = self.across(step);
            let goes_across = across < above;
            above = across;
            (if goes_across { slanted } else { along }, 1)
        });
        whole.into_iter().chain(steps)
    }

    /// Returns the position after so many of its steps (less than all) and a part of the next.
    fn position(&self, steps: u32, (done, needed): (u64, u64)) -> LinePosition {
        let excess_bits = (u64::BITS - needed.leading_zeros()).saturating_sub(FRACTION_BITS);
        let needed = (needed >> excess_bits).max(1);
        let done = (done >> excess_bits).min(needed);
        let (here, next) = (self.weight(steps), self.weight(steps + 1));
        let covered = here * needed + (next - here) * done;
        let whole = self.weight(self.steps) * needed;
        LinePosition { from: self.from, to: self.end, fraction: (covered, whole) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::{Neighborhood, Profile, TerrainId};

    #[test]
    fn positions_one_after_another_are_those_asked_for_one_by_one() {
        for neighborhood in [Neighborhood::Four, Neighborhood::Eight] {
            let profile = Profile::default().neighbors(neighborhood);
            let grid = NavGrid::new(40, 30, TerrainId::GROUND).unwrap();
            let mut grid = grid.with_profiles(vec![profile]);
            for x in [9, 10, 22] {
                grid.block(CellRect::new(Cell::new(x, 3 + x % 3), 1, 20)).unwrap();
            }
            let lines = |from: (i32, i32), to: (i32, i32)| {
                let path = grid.find_path(ProfileId(0), from.into(), to.into()).unwrap();
                path.string_pulled(&grid, ProfileId(0)).lines
            };
            let mut both = lines((1, 12), (38, 20));
            both.append(&lines((38, 20), (3, 2)));
            assert!(both.turning_points().count() > 4);
            for first in 0..both.steps() + 2 {
                let positions: Vec<LinePosition> = both.positions_from(first).collect();
                let asked = (first..=both.steps()).map(|steps| both.position(steps, (0, 1)));
                assert_eq!(positions, asked.collect::<Vec<_>>(), "from {first}");
            }
        }
    }
}
