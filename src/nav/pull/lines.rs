//! Straight lines along a path, and where on them a unit is that goes in steps.
//!
//! Input: the turning points of a pulled path, then how many steps a unit has done and how much of
//! the next. Output: the place on the lines, as two cells and a share in whole numbers, so that
//! whoever draws decides how to round.
//!
//! Invariant: a line that goes `length` cells along its longer axis and `rise` across stands for
//! `length` steps of the path (eight neighbors, `rise` of them diagonal), or for `length` and
//! `rise` taken together (four neighbors), in the order that stays nearest to the line (Bresenham
//! 1965). The line is shared out among the steps by their weights, so that a unit drawn on it moves
//! evenly, although diagonal steps take longer than straight ones. The drawn place is never farther
//! than half a column and half a row from where the unit is between its two cells.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use crate::nav::{
    cell::{Cell, CellRect},
    direction::Direction,
    grid::NavGrid,
    path::{Leg, Path, legs_from_back},
    sight::Slope,
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
};

/// Bits in which the share of a step is counted, so that times the weight of a line it fits into
/// 64.
const SHARE_BITS: u32 = 40;

/// A place on a straight line: `share.0 / share.1` of the way from the center of `from` to that of
/// `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePlace {
    /// The turning point before.
    pub from: Cell,
    /// The turning point ahead; `from` where the path has no steps.
    pub to: Cell,
    /// Numerator, and denominator: never 0, never less than the numerator.
    pub share: (u64, u64),
}

/// Straight lines that follow one another, and how many steps of a path belong to each; made by
/// [`Path::pulled`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Lines {
    start: Cell,
    lines: Vec<Line>,
}

/// Where a line ends, and how many steps the path has up to there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
struct Line {
    end: Cell,
    steps: u32,
}

impl Lines {
    /// No lines: everything happens on `cell`.
    #[must_use]
    pub const fn standing(cell: Cell) -> Self {
        Self { start: cell, lines: Vec::new() }
    }

    /// The legs of a path as they are, a line for each direction that it takes.
    #[must_use]
    pub fn along(path: &Path) -> Self {
        let mut lines = Self::standing(path.start());
        // The first turning point is the start.
        for (leg, end) in path.legs().iter().zip(path.waypoints().skip(1)) {
            lines.add(end, u32::from(leg.steps));
        }
        lines
    }

    /// First turning point.
    #[must_use]
    pub const fn start(&self) -> Cell {
        self.start
    }

    /// Last turning point.
    #[must_use]
    pub fn end(&self) -> Cell {
        self.lines.last().map_or(self.start, |line| line.end)
    }

    /// How many steps the path has.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.lines.last().map_or(0, |line| line.steps)
    }

    /// Where the lines begin and end, the start and the end of the path included: one more than
    /// lines.
    pub fn turning_points(&self) -> impl Iterator<Item = Cell> + '_ {
        std::iter::once(self.start).chain(self.lines.iter().map(|line| line.end))
    }

    /// The place on the lines of a unit that has finished so many steps of the path and `progress`
    /// of the next (numerator and denominator, as
    /// [`Walk::progress`](crate::nav::walk::Walk::progress) has it). Past the end of the path, its
    /// end. Time: logarithmic in the number of lines.
    ///
    /// On ground of one cost, units of even speed move evenly along each line.
    #[must_use]
    pub fn place(&self, steps: u32, progress: (u64, u64)) -> LinePlace {
        let line = self.line_at(steps);
        if let Some(stretch) = self.stretch(line) {
            return stretch.place(steps - stretch.before, progress);
        }
        let last = line.checked_sub(1).and_then(|last| self.stretch(last));
        let (from, to) = last.map_or((self.start, self.start), |last| (last.from, last.end));
        LinePlace { from, to, share: (1, 1) }
    }

    /// Whether a unit that has finished so many steps of the path can still be drawn on the lines,
    /// given that every step ahead is legal for `profile` and only cells of `edited` have changed:
    /// each line that is not itself a row of steps, from the one it is on, is
    /// [clear](NavGrid::clear_line). Cheap where the lines stay away from the edit. If not, pull
    /// the path anew or go on with [`along`](Self::along).
    #[must_use]
    pub fn survive(
        &self,
        grid: &NavGrid,
        profile: ProfileId,
        steps: u32,
        edited: CellRect,
    ) -> bool {
        let edited = grid.anchors_over(profile, edited);
        let ahead = (self.line_at(steps)..self.lines.len()).filter_map(|line| self.stretch(line));
        let mut aslant = ahead.filter(|stretch| stretch.direction().is_none());
        aslant.all(|Stretch { from, end, .. }| {
            !edited.meets_span(from, end) || grid.clear_line(profile, from, end)
        })
    }

    /// Adds the lines of a path that was added to the path of these, and begins where they end.
    pub fn append(&mut self, rest: &Self) {
        let before = self.steps();
        let rest = rest.lines.iter();
        self.lines.extend(rest.map(|line| Line { steps: before + line.steps, ..*line }));
    }

    /// Adds a line of so many steps, at least one; see the [module](self) for how many these are.
    /// Two in one direction of steps become one.
    pub(super) fn add(&mut self, end: Cell, steps: u32) {
        let line = Line { end, steps: self.steps() + steps };
        let direction = Stretch::new(self.end(), self.steps(), line).direction();
        let last = self.lines.len().checked_sub(1).and_then(|last| self.stretch(last));
        if direction.is_some() && last.and_then(|last| last.direction()) == direction {
            self.lines.pop();
        }
        self.lines.push(line);
    }

    /// The steps along all lines.
    pub(super) fn legs(&self) -> Vec<Leg> {
        let stretches = (0..self.lines.len()).rev().filter_map(|line| self.stretch(line));
        legs_from_back(stretches.flat_map(Stretch::steps_back))
    }

    /// The number of the line on which the step after so many lies; that of lines, if there is
    /// none.
    fn line_at(&self, steps: u32) -> usize {
        self.lines.partition_point(|line| line.steps <= steps)
    }

    fn stretch(&self, line: usize) -> Option<Stretch> {
        let before = line.checked_sub(1).and_then(|before| self.lines.get(before));
        let (from, steps) = before.map_or((self.start, 0), |before| (before.end, before.steps));
        self.lines.get(line).map(|&line| Stretch::new(from, steps, line))
    }
}

/// A line with all that is known of it.
#[derive(Clone, Copy)]
struct Stretch {
    from: Cell,
    end: Cell,
    /// Steps of the path before it, and its own.
    before: u32,
    steps: u32,
    slope: Slope,
}

impl Stretch {
    fn new(from: Cell, before: u32, line: Line) -> Self {
        let dx = i64::from(line.end.x) - i64::from(from.x);
        let dy = i64::from(line.end.y) - i64::from(from.y);
        let steps = line.steps - before;
        Self { from, end: line.end, before, steps, slope: Slope::of(dx, dy) }
    }

    /// Whether a step across is one along as well: a diagonal one.
    const fn has_diagonals(&self) -> bool {
        self.steps == self.slope.length
    }

    /// How many of the first `steps` go across.
    fn across(&self, steps: u32) -> u32 {
        let (rise, all) = (u64::from(self.slope.rise), u64::from(self.steps));
        ((2 * u64::from(steps) * rise + all) / (2 * all).max(1)) as u32
    }

    /// What the first `steps` weigh.
    fn weight(&self, steps: u32) -> u64 {
        let across = if self.has_diagonals() { self.across(steps) } else { 0 };
        u64::from(STRAIGHT) * u64::from(steps) + u64::from(DIAGONAL - STRAIGHT) * u64::from(across)
    }

    /// The direction of a step that goes along only, and of one that goes across.
    fn directions(&self) -> (Direction, Direction) {
        let Slope { along, across, .. } = self.slope;
        let aslant = match self.has_diagonals() {
            true => (along.0 + across.0, along.1 + across.1),
            false => across,
        };
        (Direction::from_offset(along.0, along.1), Direction::from_offset(aslant.0, aslant.1))
    }

    /// The direction of all its steps, if there is but one.
    fn direction(&self) -> Option<Direction> {
        let (along, aslant) = self.directions();
        if self.slope.rise == 0 {
            return Some(along);
        }
        (self.slope.rise == self.steps).then_some(aslant)
    }

    /// Its steps from the last to the first, as stretches of one direction.
    fn steps_back(self) -> impl Iterator<Item = (Direction, u32)> {
        let (along, aslant) = self.directions();
        let whole = self.direction().map(|direction| (direction, self.steps));
        let single_steps = if whole.is_some() { 0 } else { self.steps };
        let mut above = self.slope.rise;
        let steps = (0..single_steps).rev().map(move |step| {
            let across = self.across(step);
            let goes_across = across < above;
            above = across;
            (if goes_across { aslant } else { along }, 1)
        });
        whole.into_iter().chain(steps)
    }

    /// The place after so many of its steps (less than all) and a part of the next.
    fn place(&self, steps: u32, (done, needed): (u64, u64)) -> LinePlace {
        let spare = (u64::BITS - needed.leading_zeros()).saturating_sub(SHARE_BITS);
        let needed = (needed >> spare).max(1);
        let done = (done >> spare).min(needed);
        let (here, next) = (self.weight(steps), self.weight(steps + 1));
        let gone = here * needed + (next - here) * done;
        let whole = self.weight(self.steps) * needed;
        LinePlace { from: self.from, to: self.end, share: (gone, whole) }
    }
}
