//! String pulling: a path made as straight as it can be without costing more.
//!
//! Input: a [`Path`] and the grid it was found on. Output, as [`Pulled`]: the turning points of
//! straight lines that lead along it, in any direction, and a path that goes in steps along those
//! lines.
//!
//! The path is taken apart where the cost of its ground changes. Along ground of one cost a line
//! may take the place of a part of the path where it is [clear](NavGrid::clear_line) and every cell
//! that a unit touches on it costs the same. Any order of the same steps between two cells costs
//! the same there, so the steps are put in the order that stays nearest to the line. What has no
//! such line stays as it is: diagonal steps between impassable cells (where the corner rule allows
//! them), and steps from ground of one cost to that of another.
//!
//! What holds afterwards:
//! - Start, end and kind are the same. So is the cost, if the path was a cheapest one; else (a long
//!   way found over chunks) it may only become lower. The straight lines together are not longer
//!   than the path was.
//! - Every line either is clear and on ground of one cost, or goes in one direction of the
//!   profile's steps, just as the path did there. No line touches an impassable cell or a costlier
//!   one that the path did not.
//! - Every step along a line leads between cells that a unit on the line touches, and so do the
//!   corners it passes: it is legal under every corner rule.
//!
//! From each turning point the line goes to the farthest cell of the path that a search finds to be
//! clear: over the turns of the path, by doubling and halving; then some turns behind the first one
//! that is not clear; then over the cells of the leg behind the best, by doubling and halving
//! again. Nothing is tried that is much more than twice as far as the best so far. So a line that
//! comes out `n` steps long has taken `O(log n)` looks (mostly) at lines not much longer than
//! itself, and a path of `n` steps about `O(n log n)`; on random maps, open or strewn with walls,
//! four to ten cells are looked at for each step.
//!
//! Source: shortcuts along grid paths, by looks ahead: A. Botea, M. Müller & J. Schaeffer, "Near
//! Optimal Hierarchical Path-Finding" (Journal of Game Development 1(1), 2004); S. Rabin, "A*
//! Aesthetic Optimizations" (Game Programming Gems, 2000). Options considered, on random maps of 20
//! to 72 cells a side: turns of the path alone leave a detour of 0.8 % to 1.4 % against the
//! shortest clear lines there are, cells on legs as well 0.6 % to 0.9 %; the corners of obstacles
//! beside the path as turning points of their own would save another 0.1 % to 0.3 %, with a quarter
//! more lines.

mod lines;

pub use lines::{LinePlace, Lines};

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{
    grid::NavGrid,
    layer::Layer,
    path::{Path, PathCost},
    sight,
    terrain::{DIAGONAL, Neighborhood, ProfileId, STRAIGHT},
};

/// How many turns of the path are tried behind one that cannot be gone to straight (measured: more
/// find no more).
const MOST_TURNS: usize = 4;
/// Steps that are few enough to look ahead, however short the line is so far.
const NEAR: usize = 64;

/// A path pulled straight: see the [module](self).
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Pulled {
    /// The way in steps, along the lines.
    pub path: Path,
    /// The lines, which tell where a unit on the path is to be drawn.
    pub lines: Lines,
}

impl Path {
    /// This path pulled straight for a unit of `profile`, the one for which it was found on `grid`:
    /// see the [module](crate::nav::pull). Where the grid has changed since, or does not know the
    /// profile, what cannot be pulled stays as it is.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let grid = NavGrid::new(40, 20, TerrainId::GROUND)?;
    /// let everyone = ProfileId(0);
    /// let path = grid.find_path(everyone, Cell::new(1, 1), Cell::new(31, 11)).unwrap_or_default();
    /// let pulled = path.pulled(&grid, everyone);
    /// assert_eq!(pulled.path.cost(), path.cost());
    /// assert!(pulled.lines.turning_points().eq([path.start(), path.end()]));
    /// assert!(pulled.path.legs().len() > 10, "a stair beside the line");
    /// # Ok::<(), GridError>(())
    /// ```
    #[must_use]
    pub fn pulled(&self, grid: &NavGrid, profile: ProfileId) -> Pulled {
        match Pull::new(self, grid, profile) {
            Some(pull) => pull.run(self),
            None => Pulled { path: self.clone(), lines: Lines::along(self) },
        }
    }
}

/// A path under work.
struct Pull<'a> {
    grid: &'a NavGrid,
    layer: &'a Layer,
    neighborhood: Neighborhood,
    /// All cells of the path, from the origin of the grid.
    cells: Vec<(u32, u32)>,
    /// After how many steps its legs end.
    turns: Vec<usize>,
}

impl<'a> Pull<'a> {
    /// `None` where the profile or a cell is not of this grid.
    fn new(path: &Path, grid: &'a NavGrid, profile: ProfileId) -> Option<Self> {
        let layer = grid.layer(profile)?;
        let neighborhood = grid.profiles().get(usize::from(profile.0))?.neighborhood();
        let cells = path.cells().map(|cell| grid.local(cell)).collect::<Option<Vec<_>>>()?;
        let mut steps = 0;
        let legs = path.legs().iter().map(|leg| usize::from(leg.steps));
        let ends = legs.map(|leg| {
            steps += leg;
            steps
        });
        let turns = ends.collect();
        Some(Self { grid, layer, neighborhood, cells, turns })
    }

    fn run(&self, path: &Path) -> Pulled {
        let last = self.cells.len() - 1;
        let mut lines = Lines::standing(path.start());
        let (mut from, mut saved) = (0, 0);
        while from < last {
            let end = self.end_of_ground(from);
            while from < end {
                let to = self.farthest(from, end);
                saved += self.saved(from, to);
                self.add_line(&mut lines, from, to);
                from = to;
            }
            if from < last {
                self.add_line(&mut lines, from, from + 1);
                from += 1;
            }
        }
        let pulled = Path {
            start: path.start,
            end: path.end,
            legs: lines.legs(),
            cost: PathCost(path.cost.0.saturating_sub(saved)),
            kind: path.kind,
            revision: path.revision,
        };
        Pulled { path: pulled, lines }
    }

    /// Leads the lines from one cell of the path on to another.
    fn add_line(&self, lines: &mut Lines, from: usize, to: usize) {
        let (a, b) = (self.cells[from], self.cells[to]);
        let (dx, dy) = (a.0.abs_diff(b.0), a.1.abs_diff(b.1));
        let steps = match self.neighborhood {
            Neighborhood::Eight => dx.max(dy),
            Neighborhood::Four => dx + dy,
        };
        lines.add(self.grid.global(b.0, b.1), steps);
    }

    /// What the ground costs; 0 where it is impassable.
    #[inline]
    fn ground(&self, (x, y): (u32, u32)) -> u32 {
        match self.layer.is_passable(x, y) {
            // One cost, whatever it is.
            true if self.layer.is_uniform() => 1,
            true => self.layer.cost(x, y, self.grid.terrain_bytes()),
            false => 0,
        }
    }

    /// The last cell of the path up to which its ground costs the same as that of cell `from`.
    fn end_of_ground(&self, from: usize) -> usize {
        let ground = self.ground(self.cells[from]);
        let same = self.cells[from..].iter().take_while(|&&cell| self.ground(cell) == ground);
        from + same.count() - 1
    }

    /// Whether a unit can go straight from one cell of the path to another, on ground of one cost.
    fn is_clear(&self, from: usize, to: usize) -> bool {
        let (a, b) = (self.cells[from], self.cells[to]);
        let ground = self.ground(a);
        ground > 0 && sight::is_sweep_free(a, b, |x, y| self.ground((x, y)) == ground)
    }

    /// The farthest cell, up to `last`, that is found to be in a clear line from cell `from`; the
    /// next one, if there is none.
    fn farthest(&self, from: usize, last: usize) -> usize {
        let mut best = from + 1;
        while best < last {
            best = self.go_along_turns(from, best, last);
            best = self.look_past_a_turn(from, best, last);
            let leg_end = self.turns_after(best, last).first().map_or(last, |&turn| turn.min(last));
            best = gallop(best, |cell| cell <= leg_end && self.is_clear(from, cell));
            if best < leg_end {
                break;
            }
        }
        best
    }

    /// A far turn behind cell `best` in a clear line from cell `from`; else `best`.
    fn go_along_turns(&self, from: usize, best: usize, last: usize) -> usize {
        let (ahead, farthest) = (self.turns_after(best, last), from + look_ahead(best - from));
        let cell = |count: usize| ahead.get(count.wrapping_sub(1)).map(|&turn| turn.min(last));
        let is_good = |turn: usize| turn <= farthest && self.is_clear(from, turn);
        cell(gallop(0, |count| cell(count).is_some_and(is_good))).unwrap_or(best)
    }

    /// The farthest in a clear line from cell `from` of the turns that follow the next one after
    /// cell `best`; else `best`. (Behind what stands in the way a line may be clear again.)
    fn look_past_a_turn(&self, from: usize, mut best: usize, last: usize) -> usize {
        for &turn in self.turns_after(best, last).iter().skip(1).take(MOST_TURNS) {
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

    /// The turns of the path behind a cell, up to the first that is not before cell `last`.
    fn turns_after(&self, cell: usize, last: usize) -> &[usize] {
        let first = self.turns.partition_point(|&turn| turn <= cell);
        let end = self.turns.partition_point(|&turn| turn < last);
        self.turns.get(first..=end).unwrap_or_default()
    }

    /// By how much the way between two cells of the path on ground of one cost becomes cheaper when
    /// it follows the line between them.
    fn saved(&self, from: usize, to: usize) -> u64 {
        let weight = |pair: &[(u32, u32)]| {
            let is_diagonal = pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1;
            u64::from(if is_diagonal { DIAGONAL } else { STRAIGHT })
        };
        let path: u64 = self.cells[from..=to].windows(2).map(weight).sum();
        let (a, b) = (self.cells[from], self.cells[to]);
        let line = self.layer.distance(a.0.abs_diff(b.0), a.1.abs_diff(b.1));
        match path.saturating_sub(u64::from(line)) {
            0 => 0,
            weight => {
                let cost = self.layer.cost(a.0, a.1, self.grid.terrain_bytes());
                weight * 2 * u64::from(cost)
            }
        }
    }
}

/// How many steps ahead turns are tried where a line is known to be clear for so many.
const fn look_ahead(clear: usize) -> usize {
    2 * clear + NEAR
}

/// Goes on from `best` as long as what comes next is good: doubles its steps while they are, then
/// halves them. The number after the one returned is not good.
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
