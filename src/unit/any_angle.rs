//! Any-angle paths: straight lines instead of the eight directions of the grid.
//!
//! Input: paths as searches find them. Output: paths of the same cost whose steps stay close to straight
//! lines (`nav::string_pulling`), and positions on those lines for drawing. Internally a ghost still moves
//! from cell to cell.

use bevy::prelude::*;

use super::CritterState;
use crate::{
    coordinates::center,
    nav::{CellRect, NavGrid, Path, PathLines, ProfileId, Walk, string_pulling::PulledPath},
};

/// Lets a [`Critter`](super::Critter) walk in straight lines at any angle where the terrain is clear and of
/// uniform cost, by string pulling of its paths. Insert it on the critter's entity. It affects
/// [ghosts](super::Critter::ghost) only; critters that collide follow the steps of the grid.
///
/// A path takes as long as along the grid. It never leads over costlier or impassable cells, for units of any
/// size.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct AnyAnglePath {
    lines: PathLines,
}

impl AnyAnglePath {
    /// Returns the lines of the current path, for drawing.
    #[must_use]
    pub const fn lines(&self) -> &PathLines {
        &self.lines
    }

    /// Sets a path, or appends the rest of the current one; returns it with its steps rearranged.
    pub(crate) fn set_path(
        &mut self,
        grid: &NavGrid,
        profile: ProfileId,
        path: &Path,
        is_rest: bool,
    ) -> Path {
        let PulledPath { path, lines } = path.string_pulled(grid, profile);
        // If the component was inserted after the first segment, the lines lack it and match no path.
        if is_rest && self.lines.end() == path.start() {
            self.lines.append(&lines);
        } else {
            self.lines = lines;
        }
        path
    }

    /// Returns the lines if they match `path` and it has any steps: a unit that was stopped has none.
    pub(crate) fn lines_of(&self, path: &Path) -> Option<&PathLines> {
        let fits = self.lines.start() == path.start() && self.lines.end() == path.end();
        (fits && !path.legs().is_empty()).then_some(&self.lines)
    }

    /// After edits that leave the path itself valid: falls back to its steps if the lines are not clear any
    /// more.
    pub(crate) fn avoid(
        &mut self,
        grid: &NavGrid,
        profile: ProfileId,
        path: &Path,
        state: &mut CritterState,
        edits: &[CellRect],
    ) {
        let steps = state.walk.steps_done().unwrap_or(0);
        let are_clear =
            edits.iter().all(|&rect| self.lines.is_clear_after_edit(grid, profile, steps, rect));
        if !are_clear {
            self.lines = PathLines::from_legs(path);
            state.is_diverted = true;
        }
    }
}

/// Returns the position of a walker on the lines of its path, in cell space, and its heading; `None` while it
/// completes a step of the previous path.
pub(super) fn position_on(lines: &PathLines, walk: &Walk) -> Option<(Vec2, (i32, i32))> {
    let place = lines.position(walk.steps_done()?, walk.progress());
    let fraction = (place.fraction.0 as f64 / place.fraction.1 as f64) as f32;
    let heading = (place.to.x - place.from.x, place.to.y - place.from.y);
    Some((center(place.from).lerp(center(place.to), fraction), heading))
}
