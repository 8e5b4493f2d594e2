//! Jump points on hexagons.
//!
//! Input: which cells are passable. Output: where scans along the three axes of hexagons stop: rows, columns and slanted lines
//! (columns plus rows are the same all along).
//!
//! The six directions take turns: north, west and southeast *branch*, the other three go *straight*. A path takes a branching
//! step before a straight one wherever both orders are possible. So after a branching step it goes on in the same direction or
//! turns by 60° (to a straight direction), and after a straight step it goes on, or turns by 60° at a *forced neighbor*: where
//! the cell at 120° is impassable. (That cell is where the path would have turned before.) Turns by more never pay: the cell
//! at 120° is a neighbor of the cell before.
//!
//! - A straight scan stops at impassable cells, at cells with a forced neighbor and on cost borders.
//! - A branching scan stops at impassable cells, and at *turning points*: where a straight scan to one of its two sides finds a
//!   jump point; and on cost borders. It has no forced neighbors.
//!
//! **Why nothing is missed.** Take a cheapest path, over terrain of one cost. If it turns by 120° or more it is not the
//! shortest, as the cells before and after the turn are neighbors or the same. Where it takes a straight step and then a
//! branching one, at 60°, the two can be exchanged if the cell between is passable then; it is the one at 120° of the straight
//! step. Every exchange moves a branching step forward, so they come to an end. On the path that is left, every branching step
//! after a straight one is a forced neighbor, and searches try it: the cell before is a jump point. Between jump points the path
//! consists of branching steps in one direction (a turn from one to another would be 120°) and then of straight steps in one
//! direction, and that is what a branching scan with its side scans finds. The table of moves is computed by trying all paths in
//! a 3 × 3 block, and a test of `moves` compares all of it with the rule above. On cost borders, steps are compared by their costs.
//!
//! Source: none was found for hexagons; the directions that branch take the role of diagonals in D. Harabor & A. Grastien,
//! "Online Graph Pruning for Pathfinding on Grid Maps" (AAAI 2011).

use core::ops::Range;

use super::{
    JumpMap, JumpMapSource,
    diagonals::column_at,
    scan_lines::{ScanDirection, ScanLines, Stop, StopRule},
    scan_visibility::{ScanVisibility, Sight},
};
use crate::nav::Rect;

/// The rules of rows (east is straight) and columns (south is).
pub(super) const RULES: [StopRule; 2] = [
    StopRule::Hexagons { straight: ScanDirection::Forward, is_ahead: [true, false] },
    StopRule::Hexagons { straight: ScanDirection::Backward, is_ahead: [false, true] },
];
/// The rule of slanted lines: northwest is straight.
const SLANTED_RULE: StopRule =
    StopRule::Hexagons { straight: ScanDirection::Forward, is_ahead: [false, true] };

/// Lines from southeast to northwest, with cells in the order of rows. They are numbered by column plus row, modulo the width
/// plus one: so two of them share a line of bits, and between them lies the column beyond the right edge, where nothing is
/// passable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SlantedLines {
    pub(super) lines: ScanLines,
    /// Number of lines: the width plus one.
    pub(super) ring: u32,
    pub(super) height: u32,
}

impl SlantedLines {
    /// Creates the lines of a grid of `size` with nothing passable; without memory if the size is 0.
    pub(super) fn new((width, height): (u32, u32), has_cost_borders: bool) -> Self {
        let ring = width + 1;
        let count = if height == 0 { 0 } else { ring };
        let lines = ScanLines::new(height, count, has_cost_borders && height > 0, SLANTED_RULE);
        Self { lines: lines.closed_to_ring(), ring, height }
    }

    const fn line_of(&self, x: u32, y: u32) -> u32 {
        (x + y) % self.ring
    }

    /// The next stop to the northwest (forward) or southeast.
    #[inline(always)]
    pub(super) fn scan<const FORWARD: bool>(&self, x: u32, y: u32) -> Stop {
        self.lines.scan::<FORWARD>(self.line_of(x, y), y)
    }

    pub(super) fn set_passable(&mut self, x: u32, y: u32, is_passable: bool) {
        if self.height > 0 {
            self.lines.set_passable(self.line_of(x, y), y, is_passable);
        }
    }

    pub(super) fn set_extra_stop(&mut self, x: u32, y: u32, is_stop: bool) {
        if self.height > 0 {
            self.lines.set_extra_stop(self.line_of(x, y), y, is_stop);
        }
    }

    fn set_turning_point(&mut self, x: u32, y: u32, is_turning_point: bool) {
        let line = self.line_of(x, y);
        self.lines.set_turning_point(line, y, is_turning_point);
    }

    /// The lines through a rectangle, and those beside them.
    fn lines_around(&self, (x, y, width, height): Rect) -> impl Iterator<Item = u32> + use<> {
        let (ring, first) = (self.ring, x + y + self.ring - 1);
        let count = if self.height == 0 { 0 } else { (width + height + 1).min(ring) };
        (first..first + count).map(move |line| line % ring)
    }

    const fn rows_of((_, y, _, height): Rect) -> Range<u32> {
        y..y + height
    }

    pub(super) fn visibility_around(&self, rect: Rect) -> ScanVisibility {
        ScanVisibility::around(&self.lines, self.lines_around(rect), &Self::rows_of(rect))
    }

    pub(super) fn refresh_around(&mut self, rect: Rect) {
        self.lines_around(rect).for_each(|line| self.lines.refresh(line, &Self::rows_of(rect)));
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.bytes()
    }
}

/// A cell whose visibility along an axis has changed, by a straight scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct StraightSight {
    axis: usize,
    x: u32,
    y: u32,
    is_new: bool,
}

/// The axes: their straight scans lead east, south and northwest. Branching scans along an axis turn where one along another
/// axis finds a jump point.
const AXES: [usize; 3] = [0, 1, 2];

impl JumpMap {
    /// Updates what branching scans find where what straight ones find has changed, and returns the number of these cells.
    pub(super) fn update_branches(
        &mut self,
        [rows, columns, slanted]: [ScanVisibility; 3],
        source: JumpMapSource,
    ) -> u64 {
        let mut changed = Vec::new();
        let (width, height, ring) = (self.width, self.height, self.slanted.ring);
        let mut note = |axis, cell: &dyn Fn(u32) -> (u32, u32), (sight, length): (Sight, u32)| {
            let straight = usize::from(axis == 1); // south is backward
            for (is_new, bits) in [(false, sight.lost(straight)), (true, sight.gained(straight))] {
                let cells = sight.cells(bits, length).map(|(_, index)| cell(index));
                let on_grid = cells.filter(|&(x, y)| x < width && y < height);
                changed.extend(on_grid.map(|(x, y)| StraightSight { axis, x, y, is_new }));
            }
        };
        rows.update(&self.rows, |y, sight| note(0, &|x| (x, y), (sight, width)));
        columns.update(&self.columns, |x, sight| note(1, &|y| (x, y), (sight, height)));
        slanted.update(&self.slanted.lines, |line, sight| {
            note(2, &|y| (column_at((ring, false), line, y), y), (sight, height));
        });
        // A cell may be listed for several axes. What is lost comes first: then a turning point that is taken away because of
        // something old is set again because of something new.
        for &StraightSight { axis, x, y, .. } in changed.iter().filter(|it| !it.is_new) {
            if source.is_on_cost_border(x, y) {
                continue;
            }
            // Where no branching scan along this axis turns, nothing is seen along both of the others.
            let may_see = self.turns_at(axis, x, y);
            for turning in AXES.into_iter().filter(|&turning| turning != axis) {
                let other = 3 - axis - turning;
                if self.turns_at(turning, x, y) && !(may_see && self.sees_along(other, x, y)) {
                    self.set_turn(turning, (x, y), false);
                }
            }
        }
        for &StraightSight { axis, x, y, .. } in changed.iter().filter(|it| it.is_new) {
            if self.is_passable(x, y) {
                let turning = AXES.into_iter().filter(|&turning| turning != axis);
                turning.for_each(|turning| self.set_turn(turning, (x, y), true));
            }
        }
        changed.len() as u64
    }

    /// Whether a straight scan along an axis finds a jump point.
    fn sees_along(&self, axis: usize, x: u32, y: u32) -> bool {
        match axis {
            0 => self.rows.scan::<true>(y, x).is_jump_point,
            1 => self.columns.scan::<false>(x, y).is_jump_point,
            _ => self.slanted.scan::<true>(x, y).is_jump_point,
        }
    }

    /// Whether branching scans along an axis turn at a cell.
    fn turns_at(&self, axis: usize, x: u32, y: u32) -> bool {
        match axis {
            0 => self.rows.is_turning_point(y, x),
            1 => self.columns.is_turning_point(x, y),
            _ => self.slanted.lines.is_turning_point(self.slanted.line_of(x, y), y),
        }
    }

    fn set_turn(&mut self, axis: usize, (x, y): (u32, u32), turns: bool) {
        match axis {
            0 => self.rows.set_turning_point(y, x, turns),
            1 => self.columns.set_turning_point(x, y, turns),
            _ => self.slanted.set_turning_point(x, y, turns),
        }
    }

    /// Updates what branching scans find at the cell.
    pub(super) fn update_turns_on_hexagons(&mut self, x: u32, y: u32, is_on_cost_border: bool) {
        let is_passable = self.rows.is_passable(y, x);
        let sees = AXES.map(|axis| self.sees_along(axis, x, y));
        for axis in AXES {
            let is_seen = AXES.into_iter().any(|other| other != axis && sees[other]);
            self.set_turn(axis, (x, y), is_passable && (is_seen || is_on_cost_border));
        }
    }
}
