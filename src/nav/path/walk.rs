//! Moving along a path in integer steps: the current step, and how much of it is done.
//!
//! Input: a [`Path`] and, tick by tick, the cost that a unit can work off. Output: its position: the cell it
//! leaves, the cell it enters, and the share of the step done. A step takes as much work as the search
//! charged for it, so a unit is slower on costly terrain exactly as its path was planned. Every step is checked
//! against the grid when it begins: a unit never enters a cell that has become impassable.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use crate::nav::{
    Cell, CellRect, Direction, Leg, NavGrid, Path, ProfileId,
    path::{cells_along, ends_along},
};

/// Parts into which a unit of [`PathCost`](crate::nav::path::PathCost) is divided while walking, so that slow
/// units and short ticks lose nothing to rounding.
pub const PROGRESS_PER_COST: u64 = 256;

/// What a unit did in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEvent {
    /// It has nowhere to go.
    Standing,
    /// It is walking.
    Walking,
    /// It has just come to the end of its path.
    Arrived,
    /// The next step is no longer possible; it stands on the cell before it.
    Blocked,
}

/// A unit's progress along a path: the current leg and step, and how much of the step is done. The path
/// itself is kept by the owner of the unit and passed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Walk {
    leg: u32,
    /// Steps of the leg begun so far.
    step: u16,
    tail: Cell,
    /// Steps of the path begun so far. A step under way that was begun before the path does not count.
    steps_begun: u32,
    /// The step under way: direction, work done, work needed (0: no step under way).
    direction: Direction,
    done: u64,
    needed: u64,
}

impl Walk {
    /// Returns a walk that stands on `cell`, at the start of the next path.
    #[must_use]
    pub fn standing(cell: Cell) -> Self {
        Self { tail: cell, ..Self::default() }
    }

    /// Returns a walk that stands on `tail`, a cell of a path. Of the path, `leg` whole legs, `step` steps of
    /// the next one and `steps_begun` steps in all are done.
    pub(crate) fn on_path(tail: Cell, (leg, step): (u32, u16), steps_begun: u32) -> Self {
        Self { leg, step, steps_begun, ..Self::standing(tail) }
    }

    /// Returns a walk on a step that was planned elsewhere. It stands on `tail` if `tail` equals `head`.
    pub(crate) fn between_cells(
        (tail, head): (Cell, Cell),
        direction: Direction,
        (done, needed): (u64, u64),
    ) -> Self {
        let needed = if tail == head { 0 } else { needed.max(1) };
        Self { direction, done: done.min(needed), needed, ..Self::standing(tail) }
    }

    /// Returns the cell it stands on or leaves.
    #[must_use]
    pub const fn tail(&self) -> Cell {
        self.tail
    }

    /// Returns the cell it enters; the tail while it stands.
    #[must_use]
    pub const fn head(&self) -> Cell {
        if self.needed == 0 {
            return self.tail;
        }
        self.tail.step(self.direction)
    }

    /// Returns the direction of the step under way, or of the last step.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the share of the step under way that is done: numerator and denominator (never 0).
    #[must_use]
    pub const fn progress(&self) -> (u64, u64) {
        if self.needed == 0 { (0, 1) } else { (self.done, self.needed) }
    }

    /// Does `work` on the step under way, up to the end of the step.
    pub(crate) const fn work_on(&mut self, work: u64) {
        let done = self.done.saturating_add(work);
        self.done = if done < self.needed { done } else { self.needed };
    }

    /// Returns whether a step is under way.
    #[must_use]
    pub const fn is_between_cells(&self) -> bool {
        self.needed > 0
    }

    /// Returns whether any part of `path` is left.
    #[must_use]
    pub fn has_path_left(&self, path: &Path) -> bool {
        self.needed > 0 || (self.leg as usize) < path.legs().len()
    }

    /// Iterates over the cells of `path` still ahead, beginning with the head.
    pub fn cells_ahead<'a>(&self, path: &'a Path) -> impl Iterator<Item = Cell> + use<'a> {
        cells_along(self.head(), self.legs_ahead(path))
    }

    /// Iterates over the turning points of `path` still ahead, beginning with the head.
    pub fn waypoints_ahead<'a>(&self, path: &'a Path) -> impl Iterator<Item = Cell> + use<'a> {
        ends_along(self.head(), self.legs_ahead(path))
    }

    /// Returns the number of steps of the path that are done; `None` during a step that was begun before the
    /// path.
    #[must_use]
    pub const fn steps_done(&self) -> Option<u32> {
        if self.needed == 0 { Some(self.steps_begun) } else { self.steps_begun.checked_sub(1) }
    }

    /// Begins a path that starts on the head; a step under way is finished first.
    pub const fn restart(&mut self) {
        (self.leg, self.step, self.steps_begun) = (0, 0, 0);
    }

    /// Reverses a step under way because its head can no longer be entered. The next path begins at the cell
    /// the unit came from.
    pub const fn turn_back(&mut self) {
        if self.needed > 0 {
            self.tail = self.head();
            self.direction = self.direction.opposite();
            self.done = self.needed - self.done;
        }
        self.restart();
    }

    /// Returns whether every step of `path` still ahead is legal for `profile`, given that only cells of the rectangles
    /// `edited` have changed. Cheap where the path ahead stays clear of them.
    #[must_use]
    pub fn survives(
        &self,
        path: &Path,
        grid: &NavGrid,
        profile: ProfileId,
        edited: &[CellRect],
    ) -> bool {
        // Most edits are nowhere near: that shows at the corners around the whole path.
        let (low, high) =
            self.waypoints_ahead(path).fold((self.head(), self.head()), |(low, high), at| {
                (
                    Cell::new(low.x.min(at.x), low.y.min(at.y)),
                    Cell::new(high.x.max(at.x), high.y.max(at.y)),
                )
            });
        let is_near = |&edited: &CellRect| {
            // Legs that lead past the corners of the edit count as well.
            let edited = grid.anchors_over(profile, edited).grown();
            let mut ends = self.waypoints_ahead(path).skip(1);
            let mut at = self.head();
            edited.meets_span(low, high)
                && ends.any(|end| edited.meets_span(core::mem::replace(&mut at, end), end))
        };
        if !edited.iter().any(is_near) {
            return true;
        }
        let (Some(layer), mut at) = (grid.layer(profile), self.head()) else {
            return false;
        };
        self.legs_ahead(path).all(|leg| {
            (0..leg.steps).all(|_| {
                let from = grid.local(at);
                at = at.step(leg.direction);
                from.is_some_and(|(x, y)| layer.can_step(x, y, leg.direction))
            })
        })
    }

    /// Advances along the path with `work` to spend (cost × [`PROGRESS_PER_COST`]). Work left at the end of
    /// the path is dropped.
    pub fn advance(
        &mut self,
        path: &Path,
        grid: &NavGrid,
        profile: ProfileId,
        mut work: u64,
    ) -> WalkEvent {
        if !self.has_path_left(path) {
            return WalkEvent::Standing;
        }
        loop {
            if self.needed == 0 {
                match self.begin_step(path, grid, profile) {
                    Some(true) => {}
                    Some(false) => return WalkEvent::Blocked,
                    None => return WalkEvent::Arrived,
                }
            }
            if work < self.needed - self.done {
                self.done += work;
                return WalkEvent::Walking;
            }
            work -= self.needed - self.done;
            self.tail = self.head();
            (self.done, self.needed) = (0, 0);
        }
    }

    /// Begins the next step. `None` at the end of the path, `false` where the step is not legal.
    fn begin_step(&mut self, path: &Path, grid: &NavGrid, profile: ProfileId) -> Option<bool> {
        let leg = *path.legs().get(self.leg as usize)?;
        let here = grid.local(self.tail).zip(grid.layer(profile));
        let legal = here.filter(|((x, y), layer)| layer.can_step(*x, *y, leg.direction));
        let Some(((x, y), layer)) = legal else {
            return Some(false);
        };
        let cost = |(x, y)| u64::from(layer.cost(x, y, grid.terrain_bytes()));
        let crossing = layer.crossing_cost(x, y, leg.direction as usize) * layer.unit();
        let sum = cost((x, y)) + cost(leg.direction.cell_at(x, y, 1)) + u64::from(crossing);
        self.direction = leg.direction;
        self.needed = u64::from(layer.adjacency().weight(leg.direction)) * sum * PROGRESS_PER_COST;
        self.step += 1;
        self.steps_begun += 1;
        if self.step == leg.steps {
            self.leg += 1;
            self.step = 0;
        }
        Some(true)
    }

    /// Iterates over the legs ahead. The current one is shortened by the steps already begun.
    fn legs_ahead<'a>(&self, path: &'a Path) -> impl Iterator<Item = Leg> + use<'a> {
        let legs = path.legs().get(self.leg as usize..).unwrap_or_default();
        let done = self.step;
        legs.iter().enumerate().map(move |(index, &leg)| {
            let steps = if index == 0 { leg.steps.saturating_sub(done) } else { leg.steps };
            Leg { steps, ..leg }
        })
    }
}
