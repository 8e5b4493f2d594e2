//! The map for all searchers: passable cells and their costs.
//!
//! Input: the text of a Moving AI map and a [`Rule`]. Output: a [`Board`]: this crate's own grid for
//! its searchers, and a flat array of costs, from which the other searchers load their data and by
//! which paths are checked. That array is built from the letters alone, not from the grid's layers.

use bevy_tilepath::{
    nav::moving_ai::{FileError, read_map},
    prelude::*,
};

/// Weight of a straight step.
pub const STRAIGHT: u32 = 408;
/// Weight of a diagonal step: 577/408 is √2 within 2·10⁻⁶.
pub const DIAGONAL: u32 = 577;
/// The eight directions.
pub const WAYS: [(i32, i32); 8] =
    [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

/// Costs of the terrain letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `.`, `G` and `S` cost 1, nothing else is passable.
    Plain,
    /// `.` and `G` cost 1, swamp 2, water 3, trees 5.
    Weighted,
}

impl Rule {
    /// Returns the rule with this name on the command line.
    pub fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "plain" => Ok(Self::Plain),
            "weighted" => Ok(Self::Weighted),
            _ => Err("expected plain or weighted".into()),
        }
    }

    /// Returns the cost of a letter; 0 is impassable.
    pub const fn cost(self, letter: u8) -> u8 {
        match (self, letter) {
            (_, b'.' | b'G') | (Self::Plain, b'S') => 1,
            (Self::Weighted, b'S') => 2,
            (Self::Weighted, b'W') => 3,
            (Self::Weighted, b'T') => 5,
            _ => 0,
        }
    }

    /// Returns the same costs as a profile of this crate.
    fn profile(self) -> Profile {
        match self {
            Self::Plain => Profile::default(),
            Self::Weighted => b".GSWT".iter().fold(Profile::new(), |profile, &letter| {
                profile.with(TerrainId(letter), Profile::PLAIN_COST * u16::from(self.cost(letter)))
            }),
        }
    }
}

/// A map under a rule. Cells count from (0, 0), lowest row first.
#[derive(Clone)]
pub struct Board {
    /// The map as this crate holds it, its layer not yet built.
    pub grid: NavGrid,
    /// The costs of terrain.
    pub rule: Rule,
    /// Columns.
    pub width: i32,
    /// Rows.
    pub height: i32,
    /// Cost of each cell, row-major; 0 is impassable.
    pub costs: Vec<u8>,
}

impl Board {
    /// Reads the text of a `.map` file.
    pub fn read(text: &str, rule: Rule) -> Result<Self, FileError> {
        let grid = read_map(text)?.with_profiles(vec![rule.profile()]);
        let letters = grid.rect().cells().map(|cell| grid.terrain(cell).map_or(0, |id| id.0));
        let costs = letters.map(|letter| rule.cost(letter)).collect();
        // A side is at most 16,384.
        let (width, height) = (grid.width() as i32, grid.height() as i32);
        Ok(Self { grid, rule, width, height, costs })
    }

    /// Returns the cost of the cell; 0 on impassable terrain and off the map.
    pub fn cost(&self, x: i32, y: i32) -> u8 {
        if x < 0 || y < 0 || x >= self.width || y >= self.height {
            return 0;
        }
        self.costs[(y * self.width + x) as usize]
    }

    /// Returns whether the cell is passable.
    pub fn is_free(&self, x: i32, y: i32) -> bool {
        self.cost(x, y) > 0
    }

    /// Returns each cell with its cost, row by row.
    pub fn cells(&self) -> impl Iterator<Item = (Cell, u8)> + '_ {
        let width = self.width;
        (0..).zip(&self.costs).map(move |(i, &cost)| (Cell::new(i % width, i / width), cost))
    }

    /// Returns the cells that one step leads to, with the cost of the step.
    pub fn steps(&self, from: Cell) -> impl Iterator<Item = (Cell, u32)> {
        WAYS.map(|way| self.step(from, way)).into_iter().flatten()
    }

    /// Returns the share of the passable cells that lie beside cells of another cost.
    pub fn mixed_share(&self) -> f64 {
        let is_mixed = |&(cell, cost): &(Cell, u8)| {
            let beside = WAYS.map(|(dx, dy)| self.cost(cell.x + dx, cell.y + dy));
            beside.iter().any(|&other| other > 0 && other != cost)
        };
        let passable = || self.cells().filter(|&(_, cost)| cost > 0);
        passable().filter(is_mixed).count() as f64 / passable().count().max(1) as f64
    }

    /// Returns the lowest possible sum of the costs of a step's two cells.
    pub fn lowest_sum(&self) -> u32 {
        let lowest = self.costs.iter().copied().filter(|&cost| cost > 0).min();
        2 * u32::from(lowest.unwrap_or(1))
    }

    /// Diagonal steps require both adjacent cells to be passable.
    fn step(&self, from: Cell, (dx, dy): (i32, i32)) -> Option<(Cell, u32)> {
        let (x, y) = (from.x + dx, from.y + dy);
        let diagonal = dx != 0 && dy != 0;
        let beside = !diagonal || (self.is_free(x, from.y) && self.is_free(from.x, y));
        let weight = if diagonal { DIAGONAL } else { STRAIGHT };
        let sum = u32::from(self.cost(from.x, from.y)) + u32::from(self.cost(x, y));
        (beside && self.is_free(x, y)).then_some((Cell::new(x, y), weight * sum))
    }
}

/// Returns the weight of the shortest path on an open map.
pub fn octile(a: Cell, b: Cell) -> u32 {
    let (dx, dy) = (a.x.abs_diff(b.x), a.y.abs_diff(b.y));
    STRAIGHT * dx.max(dy) + (DIAGONAL - STRAIGHT) * dx.min(dy)
}
