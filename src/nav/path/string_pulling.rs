//! String pulling: makes a path as straight as possible without raising its cost.
//!
//! Input: a [`Path`] and the grid it was found on. Output, as [`PulledPath`]: the turning points of straight
//! lines along the path, in any direction, and a path of steps along those lines.
//!
//! The path is split where the cost of its terrain changes. Along terrain of one cost a line may replace a
//! part of the path if it is [clear](NavGrid::clear_line), every cell that a unit touches on it has the
//! same cost, and no edge between these cells costs anything. Any order of the same steps between two cells has the same cost there, so the steps are put in
//! the order that stays nearest to the line. Parts without such a line stay as they are: diagonal steps
//! between impassable cells (where the corner rule allows them), and steps from terrain of one cost to that
//! of another.
//!
//! Guarantees:
//! - Start, end and kind are unchanged. So is the cost, if the path was a cheapest one; otherwise (a long
//!   path found over chunks) it can only become lower. The straight lines together are not longer than the
//!   path was.
//! - Every line either is clear and on terrain of one cost, or goes in one direction of the profile's steps,
//!   just as the path did there. No line touches an impassable cell or a costlier one that the path did not.
//! - Every step along a line leads between cells that a unit on the line touches, and so do the corners it
//!   passes: it is legal under every corner rule.
//!
//! From each turning point the line goes to the farthest cell of the path that a search finds to be clear:
//! over the turns of the path, by doubling and halving; then over some turns after the first one that is not
//! clear; then over the cells of the leg after the best turn, by doubling and halving again. No attempt
//! reaches much more than twice as far as the best so far. So a line of `n` steps has taken `O(log n)` checks
//! (mostly) of lines not much longer than itself, and a path of `n` steps about `O(n log n)`; on random maps,
//! open or strewn with walls, four to ten cells are checked for each step.
//!
//! Source: shortcuts along grid paths, by look-ahead: A. Botea, M. Müller & J. Schaeffer, "Near Optimal
//! Hierarchical Path-Finding" (Journal of Game Development 1(1), 2004); S. Rabin, "A* Aesthetic
//! Optimizations" (Game Programming Gems, 2000). Options considered, on random maps of 20 to 72 cells a side:
//! turns of the path alone leave a detour of 0.8 % to 1.4 % against the shortest clear lines, cells on legs
//! as well 0.6 % to 0.9 %; the corners of obstacles beside the path as additional turning points would save
//! another 0.1 % to 0.3 %, with a quarter more lines.

mod path_lines;

pub use path_lines::{LinePosition, PathLines};

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use crate::nav::{
    Adjacency, DIAGONAL, Layer, NavGrid, Path, PathCost, ProfileId, STRAIGHT, line_of_sight,
};

/// Turns of the path that are tried after one that is not in a clear line (measured: more find no more).
const MAX_TURNS: usize = 4;
/// Number of steps to look ahead at least, however short the line is so far.
const MIN_LOOK_AHEAD: usize = 64;

/// A path after string pulling: see the [module](self).
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct PulledPath {
    /// The path in steps, along the lines.
    pub path: Path,
    /// The lines, which determine where a unit on the path is drawn.
    pub lines: PathLines,
}

impl Path {
    /// Returns this path after string pulling for a unit of `profile`, the one for which it was found on
    /// `grid`: see the [module](crate::nav::string_pulling). If the grid has changed since, or does not
    /// contain the profile, parts that cannot be pulled stay as they are.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let grid = NavGrid::new(40, 20, TerrainId::GROUND)?;
    /// let profile = ProfileId(0);
    /// let path = grid.find_path(profile, Cell::new(1, 1), Cell::new(31, 11)).unwrap_or_default();
    /// let pulled = path.string_pulled(&grid, profile);
    /// assert_eq!(pulled.path.cost(), path.cost());
    /// assert!(pulled.lines.turning_points().eq([path.start(), path.end()]));
    /// assert!(pulled.path.legs().len() > 10, "a staircase beside the line");
    /// # Ok::<(), GridError>(())
    /// ```
    #[must_use]
    pub fn string_pulled(&self, grid: &NavGrid, profile: ProfileId) -> PulledPath {
        match StringPuller::new(self, grid, profile) {
            Some(puller) => puller.run(self),
            None => PulledPath { path: self.clone(), lines: PathLines::from_legs(self) },
        }
    }
}

/// A path that is being pulled.
struct StringPuller<'a> {
    grid: &'a NavGrid,
    layer: &'a Layer,
    /// All cells of the path, counted from the origin of the grid.
    cells: Vec<(u32, u32)>,
    /// The number of steps up to the end of each leg.
    turns: Vec<usize>,
}

impl<'a> StringPuller<'a> {
    /// Returns `None` if the profile or a cell is not of this grid, or its cells are hexagons.
    fn new(path: &Path, grid: &'a NavGrid, profile: ProfileId) -> Option<Self> {
        let layer = grid.layer(profile).filter(|layer| layer.adjacency() != Adjacency::Six)?;
        let cells = path.cells().map(|cell| grid.local(cell)).collect::<Option<Vec<_>>>()?;
        let turns = path.legs().iter().scan(0, |steps, leg| {
            *steps += usize::from(leg.steps);
            Some(*steps)
        });
        Some(Self { grid, layer, cells, turns: turns.collect() })
    }

    fn run(&self, path: &Path) -> PulledPath {
        let last = self.cells.len() - 1;
        let mut lines = PathLines::at_cell(path.start());
        let (mut from, mut cost_saved) = (0, 0);
        while from < last {
            let end = self.end_of_uniform_cost(from);
            while from < end {
                let to = self.farthest(from, end);
                cost_saved += self.cost_saved(from, to);
                self.add_line(&mut lines, from, to);
                from = to;
            }
            if from < last {
                self.add_line(&mut lines, from, from + 1);
                from += 1;
            }
        }
        let Path { start, end, kind, revision, .. } = *path;
        let cost = PathCost(path.cost.0.saturating_sub(cost_saved));
        let path = Path { start, end, legs: lines.legs(), cost, kind, revision };
        PulledPath { path, lines }
    }

    /// Extends the lines from one cell of the path to another.
    fn add_line(&self, lines: &mut PathLines, from: usize, to: usize) {
        let (a, b) = (self.cells[from], self.cells[to]);
        let (dx, dy) = (a.0.abs_diff(b.0), a.1.abs_diff(b.1));
        let has_diagonals = self.layer.adjacency() == Adjacency::Eight;
        let steps = if has_diagonals { dx.max(dy) } else { dx + dy };
        lines.add(self.grid.global(b.0, b.1), steps);
    }

    /// Returns the terrain cost of a cell; 0 if it is impassable.
    #[inline]
    fn cost_at(&self, (x, y): (u32, u32)) -> u32 {
        match self.layer.is_passable(x, y) {
            // All costs are equal, so any value serves.
            true if self.layer.is_uniform() => 1,
            true => self.layer.cost(x, y, self.grid.terrain_bytes()),
            false => 0,
        }
    }

    /// Returns the last cell of the path up to which its terrain has the same cost as cell `from`.
    fn end_of_uniform_cost(&self, from: usize) -> usize {
        let cost = self.cost_at(self.cells[from]);
        let same = self.cells[from..].iter().take_while(|&&cell| self.cost_at(cell) == cost);
        from + same.count() - 1
    }

    /// Whether a unit can go straight from one cell of the path to another, on terrain of one cost.
    fn is_clear(&self, from: usize, to: usize) -> bool {
        let (a, b) = (self.cells[from], self.cells[to]);
        let cost = self.cost_at(a);
        let is_level = |x, y| self.cost_at((x, y)) == cost;
        let is_crossed =
            |(x, y): (u32, u32), direction| self.layer.crossing_cost(x, y, direction as usize) > 0;
        cost > 0 && line_of_sight::is_swept_line_free(a, b, is_level, is_crossed)
    }

    /// Returns the farthest cell, up to `last`, that is found to be in a clear line from cell `from`; the
    /// next one, if there is none.
    fn farthest(&self, from: usize, last: usize) -> usize {
        let mut best = from + 1;
        while best < last {
            best = self.gallop_turns(from, best, last);
            best = self.try_later_turns(from, best, last);
            let leg_end = self.turns_after(best, last).first().map_or(last, |&turn| turn.min(last));
            best = gallop(best, |cell| cell <= leg_end && self.is_clear(from, cell));
            if best < leg_end {
                break;
            }
        }
        best
    }

    /// Returns a far turn after cell `best` in a clear line from cell `from`; else `best`.
    fn gallop_turns(&self, from: usize, best: usize, last: usize) -> usize {
        let (turns, farthest) = (self.turns_after(best, last), from + look_ahead(best - from));
        let cell = |count: usize| turns.get(count.wrapping_sub(1)).map(|&turn| turn.min(last));
        let is_good = |turn: usize| turn <= farthest && self.is_clear(from, turn);
        cell(gallop(0, |count| cell(count).is_some_and(is_good))).unwrap_or(best)
    }

    /// Skips the next turn after cell `best` and returns the farthest of the following turns in a clear line
    /// from cell `from`; else `best`. (Past an obstacle a line may be clear again.)
    fn try_later_turns(&self, from: usize, mut best: usize, last: usize) -> usize {
        for &turn in self.turns_after(best, last).iter().skip(1).take(MAX_TURNS) {
            let turn = turn.min(last);
            if turn - from > look_ahead(best - from) {
                break;
            }
            if self.is_clear(from, turn) {
                best = turn;
            }
        }
        best
    }

    /// Returns the turns of the path after a cell, up to the first that is not before cell `last`.
    fn turns_after(&self, cell: usize, last: usize) -> &[usize] {
        let first = self.turns.partition_point(|&turn| turn <= cell);
        let end = self.turns.partition_point(|&turn| turn < last);
        self.turns.get(first..=end).unwrap_or_default()
    }

    /// Returns by how much the path between two of its cells on terrain of one cost becomes cheaper when it
    /// follows the line between them.
    fn cost_saved(&self, from: usize, to: usize) -> u64 {
        let weight = |pair: &[(u32, u32)]| {
            let is_diagonal = pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1;
            u64::from(if is_diagonal { DIAGONAL } else { STRAIGHT })
        };
        let path: u64 = self.cells[from..=to].windows(2).map(weight).sum();
        let (a, b) = (self.cells[from], self.cells[to]);
        let line = self.layer.distance_between(a, b);
        let cost = self.layer.cost(a.0, a.1, self.grid.terrain_bytes());
        path.saturating_sub(u64::from(line)) * 2 * u64::from(cost)
    }
}

/// Returns how many steps ahead turns are tried if a line is known to be clear for `clear` steps.
const fn look_ahead(clear: usize) -> usize {
    2 * clear + MIN_LOOK_AHEAD
}

/// Advances from `best` as long as the result is good: doubles its steps while it is, then halves them. The
/// number after the one returned is not good.
fn gallop(mut best: usize, is_good: impl Fn(usize) -> bool) -> usize {
    let mut step = 1;
    while is_good(best + step) {
        best += step;
        step *= 2;
    }
    while step > 1 {
        step /= 2;
        if is_good(best + step) {
            best += step;
        }
    }
    best
}
