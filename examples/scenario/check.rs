//! Checks paths against the map's letters alone, independently of the search code.
//!
//! Input: a grid, a scenario row, a path. Output: the path's length and cost, and the number of
//! illegal steps.

use bevy_tilepath::{nav::moving_ai::ScenarioRow, prelude::*};

/// Returns the length in straight steps; a diagonal step counts √2.
fn length(path: &Path) -> f64 {
    let steps = path.legs().iter().map(|leg| {
        let step = if leg.direction.is_diagonal() { std::f64::consts::SQRT_2 } else { 1.0 };
        step * f64::from(leg.steps)
    });
    steps.sum()
}

/// Returns whether the path has the scenario's optimal length; some files round to two decimals.
pub fn has_length(path: &Path, optimal: f64) -> bool {
    (length(path) - optimal).abs() <= optimal * 1e-4 + 0.01
}

/// From this length on, `Auto` and `Hierarchical` may find longer paths.
const LONG: f64 = 2_048.0;

/// Returns whether the length is one that the algorithm may return.
pub fn is_promised(path: &Path, optimal: f64, algorithm: Algorithm) -> bool {
    let may_be_longer =
        optimal >= LONG && matches!(algorithm, Algorithm::Auto | Algorithm::Hierarchical);
    has_length(path, optimal) || may_be_longer && length(path) > optimal
}

/// Returns the cost in straight plain steps: diagonals count √2, each step has the mean cost of its
/// two cells.
pub fn cost(grid: &NavGrid, path: &Path) -> f64 {
    let cells: Vec<Cell> = path.cells().collect();
    let price =
        |cell| f64::from(grid.cost(ProfileId::default(), cell)) / f64::from(Profile::PLAIN_COST);
    let has_diagonals = grid.topology() == Topology::Square; // all steps of hexagons are as long
    let steps = cells.windows(2).map(|pair| {
        let diagonal = has_diagonals && pair[0].x != pair[1].x && pair[0].y != pair[1].y;
        let weight = if diagonal { std::f64::consts::SQRT_2 } else { 1.0 };
        weight * (price(pair[0]) + price(pair[1])) / 2.0
    });
    steps.sum()
}

/// Counts steps that the benchmark's rule forbids, and path ends that differ from the row's.
pub fn illegal_steps(grid: &NavGrid, row: &ScenarioRow, path: &Path) -> usize {
    let profile = &grid.profiles()[0];
    let free =
        |x, y| grid.terrain(Cell::new(x, y)).is_some_and(|terrain| profile.cost(terrain) > 0);
    let cells: Vec<Cell> = path.cells().collect();
    let wrong_ends = usize::from(cells.first() != Some(&row.start))
        + usize::from(cells.last() != Some(&row.goal));
    let steps = cells.windows(2).filter(|pair| {
        let (a, b) = (pair[0], pair[1]);
        let (dx, dy) = (a.x - b.x, a.y - b.y);
        let is_free = free(a.x, a.y) && free(b.x, b.y);
        let is_step = match grid.topology() {
            Topology::Square => dx.abs().max(dy.abs()) == 1 && free(a.x, b.y) && free(b.x, a.y),
            // Along a row, a column, or both in opposite directions.
            Topology::Hexagonal => dx.abs().max(dy.abs()).max((dx + dy).abs()) == 1,
        };
        !(is_step && is_free)
    });
    wrong_ends + steps.count()
}
