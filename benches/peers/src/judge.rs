//! Checks whether a path is legal, and computes its cost.
//!
//! Input: the cells of a path, from start to goal. Output: a [`Verdict`] based on the board's costs
//! alone, and its comparison with a [`Reference`].

use bevy_tilepath::prelude::Cell;

use crate::board::{Board, STRAIGHT, octile};

/// The result of checking one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it leads from the start to the goal.
    pub arrives: bool,
    /// Sum over its steps: weight times the cost of both cells.
    cost: u64,
    /// Illegal steps: cut corners, jumps, steps into walls.
    pub illegal: u32,
    /// Diagonal steps past a blocked cell among them.
    pub corner_cuts: u32,
}

impl Verdict {
    /// Checks `cells` on the board.
    pub fn of(board: &Board, start: Cell, goal: Cell, cells: &[Cell]) -> Self {
        let arrives = cells.first() == Some(&start) && cells.last() == Some(&goal);
        let mut verdict = Self { arrives, ..Self::default() };
        for step in cells.windows(2) {
            verdict.walk(board, step[0], step[1]);
        }
        verdict
    }

    /// Returns the cost in straight steps at cost 1; √2 is 577/408.
    pub fn length(&self) -> f64 {
        self.cost as f64 / f64::from(2 * STRAIGHT)
    }

    /// Adds a step. A step to the same cell is legal and costs nothing.
    fn walk(&mut self, board: &Board, from: Cell, to: Cell) {
        let sum = u64::from(board.cost(from.x, from.y)) + u64::from(board.cost(to.x, to.y));
        self.cost += u64::from(octile(from, to)) * sum;
        let (dx, dy) = (from.x.abs_diff(to.x), from.y.abs_diff(to.y));
        if dx.max(dy) > 1 || !board.is_free(to.x, to.y) {
            self.illegal += 1;
            return;
        }
        let beside = board.is_free(to.x, from.y) && board.is_free(from.x, to.y);
        if dx + dy == 2 && !beside {
            self.illegal += 1;
            self.corner_cuts += 1;
        }
    }
}

/// The length of an optimal path.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// In straight steps at cost 1.
    pub length: f64,
    /// Tolerance.
    slack: f64,
}

impl Reference {
    /// Creates the reference from a scenario, which may round to two decimals.
    pub fn rounded(length: f64) -> Self {
        Self { length, slack: length * 1e-4 + 0.01 }
    }

    /// Creates the reference from another path's verdict.
    pub fn exact(length: f64) -> Self {
        Self { length, slack: 1e-6 }
    }

    /// Returns whether a path of this length is optimal.
    pub fn agrees_with(&self, length: f64) -> bool {
        (length - self.length).abs() <= self.slack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Rule;

    /// Walls at (1, 1) and nowhere else.
    const MAP: &str = "type octile\nheight 3\nwidth 3\nmap\n...\n.@.\n...\n";

    fn verdict(path: &[(i32, i32)]) -> Result<Verdict, String> {
        let board = Board::read(MAP, Rule::Plain).map_err(|error| error.to_string())?;
        let cells: Vec<Cell> = path.iter().map(|&cell| cell.into()).collect();
        Ok(Verdict::of(&board, Cell::new(1, 0), Cell::new(2, 1), &cells))
    }

    #[test]
    fn a_way_around_is_legal() -> Result<(), String> {
        let around = verdict(&[(1, 0), (2, 0), (2, 1)])?;
        assert_eq!((around.arrives, around.illegal, around.length()), (true, 0, 2.0));
        assert!(Reference::rounded(2.0).agrees_with(around.length()));
        Ok(())
    }

    #[test]
    fn cut_corners_walls_and_jumps_are_illegal() -> Result<(), String> {
        let cut = verdict(&[(1, 0), (2, 1)])?;
        assert_eq!((cut.illegal, cut.corner_cuts), (1, 1));
        assert!(!Reference::rounded(2.0).agrees_with(cut.length()));
        let wall = verdict(&[(1, 0), (1, 1), (2, 1)])?;
        assert_eq!((wall.illegal, wall.corner_cuts), (1, 0));
        let jump = verdict(&[(1, 0), (1, 2), (2, 1)])?;
        assert_eq!((jump.illegal, jump.corner_cuts), (2, 1));
        assert!(!verdict(&[])?.arrives);
        Ok(())
    }
}
