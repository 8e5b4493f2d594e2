//! Going along a path in whole numbers: which step, and how far into it.
//!
//! Input: a [`Path`] and, tick by tick, how much cost a unit can work off. Output: where it is:
//! the cell it leaves, the cell it enters, and the share of the step done. A step takes as much
//! as the search charged for it, so a unit is slower on costly ground by exactly what its path
//! was planned with. Every step is checked against the grid when it begins: a unit never enters
//! a cell that has become impassable.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{
    cell::{Cell, CellRect},
    direction::Direction,
    grid::NavGrid,
    path::{Leg, Path},
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
};

/// Parts into which a unit of [`PathCost`](super::path::PathCost) is divided while walking, so
/// that slow units and short ticks lose nothing to rounding.
pub const PROGRESS_PER_COST: u64 = 256;

/// What a unit did in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEvent {
    /// Nothing: it has nowhere to go.
    Standing,
    /// It is on its way.
    Walking,
    /// It has just come to the end of its path.
    Arrived,
    /// The next step is not possible any more; it stands on the cell before it.
    Blocked,
}

/// Where a unit is on its path: which leg and step of it, and how much of the step is done. The
/// path itself is kept by whoever owns the unit and passed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Walk {
    leg: u32,
    /// Steps of the leg already begun.
    step: u16,
    tail: Cell,
    /// Steps of the path begun so far; a step under way that was begun before it does not count.
    begun: u32,
    /// Of the step under way: direction, work done, work needed (0 = none under way).
    direction: Direction,
    done: u64,
    needed: u64,
}

impl Walk {
    /// Standing on `cell`, at the beginning of whatever path comes.
    #[must_use]
    pub fn standing(cell: Cell) -> Self {
        Self { tail: cell, ..Self::default() }
    }

    /// Standing on `tail`, a cell of a path of which so many legs, and steps of the next one, are done;
    /// `begun` steps in all.
    pub(crate) fn at(tail: Cell, (leg, step): (u32, u16), begun: u32) -> Self {
        Self { leg, step, begun, ..Self::standing(tail) }
    }

    /// On a step that somebody else has planned; standing on `tail` where that is its `head`.
    pub(crate) fn between(
        (tail, head): (Cell, Cell),
        direction: Direction,
        (done, needed): (u64, u64),
    ) -> Self {
        let needed = if tail == head { 0 } else { needed.max(1) };
        Self { direction, done: done.min(needed), needed, ..Self::standing(tail) }
    }

    /// The cell it stands on or leaves.
    #[must_use]
    pub const fn tail(&self) -> Cell {
        self.tail
    }

    /// The cell it enters; the tail where it stands.
    #[must_use]
    pub const fn head(&self) -> Cell {
        if self.needed == 0 {
            return self.tail;
        }
        let (dx, dy) = self.direction.offset();
        self.tail.offset(dx, dy)
    }

    /// Direction of the step under way, or of the last one.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Share of the step under way that is done: numerator and denominator (never 0).
    #[must_use]
    pub const fn progress(&self) -> (u64, u64) {
        if self.needed == 0 { (0, 1) } else { (self.done, self.needed) }
    }

    /// Does `work` on the step under way, which goes on to its end.
    pub(crate) const fn work_on(&mut self, work: u64) {
        let done = self.done.saturating_add(work);
        self.done = if done < self.needed { done } else { self.needed };
    }

    /// Whether a step is under way.
    #[must_use]
    pub const fn is_between_cells(&self) -> bool {
        self.needed > 0
    }

    /// Whether any of `path` is left to go.
    #[must_use]
    pub fn has_way_left(&self, path: &Path) -> bool {
        self.needed > 0 || (self.leg as usize) < path.legs().len()
    }

    /// The cells of `path` still ahead, beginning with the head.
    pub fn cells_ahead<'a>(&self, path: &'a Path) -> impl Iterator<Item = Cell> + use<'a> {
        let mut at = self.head();
        let steps = self
            .legs_ahead(path)
            .flat_map(|leg| std::iter::repeat_n(leg.direction.offset(), usize::from(leg.steps)));
        std::iter::once(at).chain(steps.map(move |(dx, dy)| {
            at = at.offset(dx, dy);
            at
        }))
    }

    /// The turning points of `path` still ahead, beginning with the head.
    pub fn waypoints_ahead<'a>(&self, path: &'a Path) -> impl Iterator<Item = Cell> + use<'a> {
        let mut at = self.head();
        std::iter::once(at).chain(self.legs_ahead(path).map(move |leg| {
            at = super::path::end_of(at, leg);
            at
        }))
    }

    /// How many steps of the path are done; `None` during a step that was begun before it.
    #[must_use]
    pub const fn steps_done(&self) -> Option<u32> {
        if self.needed == 0 { Some(self.begun) } else { self.begun.checked_sub(1) }
    }

    /// Begins a path that starts on the head; a step under way is finished first.
    pub const fn restart(&mut self) {
        self.leg = 0;
        self.step = 0;
        self.begun = 0;
    }

    /// Turns a step under way around, because its head cannot be entered any more, and begins
    /// whatever path comes next at the cell it came from.
    pub const fn turn_back(&mut self) {
        if self.needed > 0 {
            self.tail = self.head();
            self.direction = self.direction.opposite();
            self.done = self.needed - self.done;
        }
        self.restart();
    }

    /// Whether every step of `path` still ahead is legal for `profile`, given that only cells of
    /// `edited` have changed: cheap where the unit stays clear of them.
    #[must_use]
    pub fn survives(
        &self,
        path: &Path,
        grid: &NavGrid,
        profile: ProfileId,
        edited: CellRect,
    ) -> bool {
        let (edited, mut at) = (grid.anchors_over(profile, edited), self.head());
        if !self.legs_ahead(path).any(|leg| leg_comes_near(&mut at, leg, edited)) {
            return true;
        }
        let (Some(layer), mut at) = (grid.layer(profile), self.head()) else {
            return false;
        };
        self.legs_ahead(path).all(|leg| {
            (0..leg.steps).all(|_| {
                let from = grid.local(at);
                let (dx, dy) = leg.direction.offset();
                at = at.offset(dx, dy);
                from.is_some_and(|(x, y)| layer.can_step(x, y, leg.direction))
            })
        })
    }

    /// Walks on with `work` (cost × [`PROGRESS_PER_COST`]) to spend; what is left at the end of
    /// the path is dropped.
    pub fn advance(
        &mut self,
        path: &Path,
        grid: &NavGrid,
        profile: ProfileId,
        mut work: u64,
    ) -> WalkEvent {
        if !self.has_way_left(path) {
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
            self.needed = 0;
            self.done = 0;
        }
    }

    /// Begins the next step. `None` at the end of the path, false where it is not legal.
    fn begin_step(&mut self, path: &Path, grid: &NavGrid, profile: ProfileId) -> Option<bool> {
        let leg = *path.legs().get(self.leg as usize)?;
        let here = grid.local(self.tail).zip(grid.layer(profile));
        let legal = here.filter(|((x, y), layer)| layer.can_step(*x, *y, leg.direction));
        let Some(((x, y), layer)) = legal else {
            return Some(false);
        };
        let (dx, dy) = leg.direction.offset();
        let cost = |x, y| u64::from(layer.cost(x, y, grid.terrain_bytes()));
        let sum = cost(x, y) + cost(x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
        let weight = if leg.direction.is_diagonal() { DIAGONAL } else { STRAIGHT };
        self.direction = leg.direction;
        self.needed = u64::from(weight) * sum * PROGRESS_PER_COST;
        self.step += 1;
        self.begun += 1;
        if self.step == leg.steps {
            self.leg += 1;
            self.step = 0;
        }
        Some(true)
    }

    /// The legs not yet begun, the current one shortened by what is done of it.
    fn legs_ahead<'a>(&self, path: &'a Path) -> impl Iterator<Item = Leg> + use<'a> {
        let legs = path.legs().get(self.leg as usize..).unwrap_or_default();
        let done = self.step;
        legs.iter().enumerate().map(move |(index, &leg)| {
            let steps = if index == 0 { leg.steps - done } else { leg.steps };
            Leg { steps, ..leg }
        })
    }
}

/// Whether a leg that begins at `at` may lead through `rect` or past its corners; moves `at` to
/// the end of the leg.
fn leg_comes_near(at: &mut Cell, leg: Leg, rect: CellRect) -> bool {
    let around = CellRect::new(
        rect.min.offset(-1, -1),
        rect.width.saturating_add(2),
        rect.height.saturating_add(2),
    );
    let begin = *at;
    *at = super::path::end_of(begin, leg);
    around.meets_span(begin, *at)
}
