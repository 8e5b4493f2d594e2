//! Any-angle paths: straight lines instead of the eight directions of the grid.
//!
//! Input: paths as searches find them. Output: paths of the same cost whose steps stay close to straight
//! lines (`nav::string_pulling`), and positions on those lines for drawing. Internally a ghost still moves
//! from cell to cell.

use bevy::prelude::*;

use crate::{
    coordinates::center,
    nav::{
        Cell, CellRect, NavGrid, Path, PathLines, ProfileId, Walk,
        string_pulling::{LinePosition, PulledPath},
    },
};

/// Lets a [`Critter`](super::Critter) walk in straight lines at any angle where the terrain is clear and of
/// uniform cost, by string pulling of its paths. Insert it on the critter's entity. It affects
/// [ghosts](super::Critter::ghost) only, and only on squares; critters that collide follow the steps of the grid. Units with
/// [`PathSteering`](super::PathSteering) have it, too.
///
/// The lines take as long to walk as the steps of the path. They never lead over impassable cells, for units of any size, nor
/// over cells that cost more than these steps, unless these cells became costlier since the path was found.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
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

    /// Its unit has stopped on a cell, without a path.
    pub(crate) fn clear(this: &mut Mut<Self>, cell: Cell) {
        if this.lines.steps() > 0 {
            this.lines = PathLines::at_cell(cell);
        }
    }

    /// Returns the lines if they match `path` and it has any steps: a unit that was stopped has none.
    pub(crate) fn lines_of(&self, path: &Path) -> Option<&PathLines> {
        let fits = self.lines.start() == path.start() && self.lines.end() == path.end();
        (fits && !path.legs().is_empty()).then_some(&self.lines)
    }

    /// After edits that leave the path itself valid, of which a unit has finished `steps` steps: falls back to its steps if the
    /// lines ahead are not clear any more. Returns whether it did; only then the component counts as changed.
    pub(crate) fn avoid(
        this: &mut Mut<Self>,
        grid: &NavGrid,
        profile: ProfileId,
        (path, steps): (&Path, u32),
        edits: &[CellRect],
    ) -> bool {
        let are_clear =
            edits.iter().all(|&rect| this.lines.is_clear_after_edit(grid, profile, steps, rect));
        if !are_clear {
            this.lines = PathLines::from_legs(path);
        }
        !are_clear
    }

    /// Returns the lines of a path for steering: its steps, if they are not known for it.
    pub(crate) fn lines_for(&mut self, path: &Path) -> &PathLines {
        if self.lines_of(path).is_none() {
            self.lines = PathLines::from_legs(path);
        }
        &self.lines
    }
}

/// Returns the position of a walker on the lines of its path, in cell space, and its heading; `None` while it
/// completes a step of the previous path.
pub(super) fn position_on(lines: &PathLines, walk: &Walk) -> Option<(Vec2, (i32, i32))> {
    let place = lines.position(walk.steps_done()?, walk.progress());
    let heading = (place.to.x - place.from.x, place.to.y - place.from.y);
    Some((point_at(place), heading))
}

/// Returns the point on the lines at the end of a step, in cell space.
pub(crate) fn point_on(lines: &PathLines, steps: u32) -> Vec2 {
    point_at(lines.position(steps, (0, 1)))
}

/// Iterates over these points from the end of a step to the end of the path.
pub(crate) fn points_from(lines: &PathLines, steps: u32) -> impl Iterator<Item = Vec2> + '_ {
    lines.positions_from(steps).map(point_at)
}

fn point_at(place: LinePosition) -> Vec2 {
    let fraction = (place.fraction.0 as f64 / place.fraction.1 as f64) as f32;
    center(place.from).lerp(center(place.to), fraction)
}
