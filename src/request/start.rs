//! Where paths begin.
//!
//! Input: the cell a unit stands on or enters. Output: the nearest cell on which it fits.

use std::ops::RangeInclusive;

use bevy::math::Vec2;

use crate::{
    coordinates::center,
    nav::{Cell, NavGrid, ProfileId},
};

/// Search radius for a free cell, in cells.
const START_SEARCH_RADIUS: i32 = 16;

/// Where the path of a unit on `cell` begins: on the cell itself if it can stand there. A unit of a crowd leaves terrain that
/// was blocked under it, also if it has grown: its path begins on the nearest cell where it can stand. So does the path of a
/// steered unit, on the side of its cell on which it is (`offset` from the middle, in cells). All other units that were put
/// into a wall stay there.
pub(crate) fn start_near(
    grid: &NavGrid,
    profile: ProfileId,
    (cell, offset): (Cell, Vec2),
    leaves_walls: bool,
) -> Cell {
    let cell = fitting_anchor(grid, profile, cell);
    if !leaves_walls || grid.cost(profile, cell) > 0 {
        return cell;
    }
    let fit = |ring| nearest_fit(grid, profile, (cell, offset), ring..=ring);
    (1..=START_SEARCH_RADIUS).find_map(fit).unwrap_or(cell)
}

/// The anchor itself if a unit of `profile` fits there; else the nearest one where it fits and covers a cell
/// that it would cover there: used for units that are put close to a wall, or grow. The anchor itself if
/// there is no such anchor.
pub(crate) fn fitting_anchor(grid: &NavGrid, profile: ProfileId, anchor: Cell) -> Cell {
    let reach = grid.footprint(profile).span() - 1;
    if reach == 0 || grid.cost(profile, anchor) > 0 {
        return anchor;
    }
    nearest_fit(grid, profile, (anchor, Vec2::ZERO), 1..=reach).unwrap_or(anchor)
}

/// The nearest anchor where a unit of `profile` fits, so many steps over open terrain away; of several, the nearest to the unit
/// itself, which stands `offset` from the middle of its cell.
fn nearest_fit(
    grid: &NavGrid,
    profile: ProfileId,
    (from, offset): (Cell, Vec2),
    distances: RangeInclusive<i32>,
) -> Option<Cell> {
    // In hundredths of a cell, so that nearly equal distances are equal.
    let off = |at: Cell| ((center(at) - center(from) - offset).length() * 100.0) as i32;
    let around = grid.topology().cells_around(from, distances);
    around
        .filter(|&(_, at)| grid.cost(profile, at) > 0)
        .min_by_key(|&(square, at)| (square, off(at), at.y, at.x))
        .map(|(_, at)| at)
}
