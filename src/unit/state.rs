//! Where a critter is, as the plugin keeps it: its step in whole numbers, and how it is drawn.

use bevy::prelude::*;

use crate::nav::{Cell, GridId, ProfileId, UnitId, Walk};

/// Where a critter is. Read-only: the plugin writes it.
///
/// For critters that are not ghosts, a step does not mark this component as changed. `Changed<Transform>` finds critters drawn
/// in a new place, and [`Crowd::moved`](crate::nav::crowd::Crowd::moved) those whose step began or ended.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
#[repr(C, align(64))] // what is read in every frame comes first, in as few cache lines as possible
pub struct CritterState {
    pub(crate) drawing: Drawing,
    /// Its rotation is in progress.
    pub(crate) is_turning: bool,
    /// It was given a position on the grid.
    pub(crate) placed: bool,
    /// Its path was replaced since the last tick: its drawing blends from the previous path.
    pub(crate) is_diverted: bool,
    /// Of a unit of a crowd: for how many ticks it goes on from where it was in the tick `since`.
    pub(super) ticks: f32,
    /// Of a unit of a crowd: the tick of its crowd in which `walk` and `offset` were so; where it was then
    /// without the offset, and how far it goes in a tick.
    pub(crate) since: u64,
    pub(super) origin: Vec2,
    pub(super) velocity: Vec2,
    /// Drawn position in cell space: of a ghost now, of others when they were last drawn. Not kept up to date
    /// while it goes on along its step ([`read_back`](Self::read_back)), nor is the next one.
    pub(crate) now: Vec2,
    /// Translation last written to the transform, or found there when it was given its position.
    pub(crate) drawn: Vec2,
    /// Its unit in the crowd of its grid, if it has one.
    #[reflect(ignore)]
    pub(crate) member: CrowdLink,
    /// How far off its exact position it is drawn, in cells: critters spawned beside a cell's center, or
    /// stopped for a new request, move smoothly to the center of the cell.
    pub(crate) offset: Vec2,
    /// By how many cells its offset shrinks in a tick.
    pub(crate) shrink: f32,
    /// From the center of its anchor to the middle of the block it covers, in cells and along both
    /// axes: (size − 1) / 2.
    pub(super) half: f32,
    pub(crate) walk: Walk,
    /// Direction of the straight line on which it is drawn, in cells; (0, 0) where there is none.
    pub(crate) heading: (i32, i32),
    /// The direction to which its transform turns, or was turned while it walks; (0, 0) where that does not
    /// matter any more.
    pub(crate) turned: (i32, i32),
    /// Drawn position in cell space one tick ago; of a unit of a crowd, in the tick before its last change.
    pub(crate) before: Vec2,
    /// Shares of the tick of the last change: when the step before was over, and when this one began.
    pub(super) arrival: f32,
    pub(super) departure: f32,
    /// How far off the centers of the cells at both ends of its step it is drawn, in hundredths of a cell.
    pub(super) line_offsets: [(i8, i8); 2],
    /// It walks along a straight line across the grid: `line_offsets` count.
    pub(crate) is_on_line: bool,
    /// It went on along a step that has ended since it was last drawn: only its transform has where that was.
    pub(super) is_drawn_ahead: bool,
}

/// What the next frame has to do to draw a critter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Drawing {
    /// Everything: something has changed.
    #[default]
    Full,
    /// It goes on along its step, and is turned to its direction.
    Continue,
    /// It moves along its step, and also turns or is drawn off the step.
    Moves,
    /// Nothing: it stands, and is drawn where it stands.
    AtRest,
}

/// State shared with the crowd of its grid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)] // drawing reads the first two
pub(crate) struct CrowdLink {
    pub(crate) grid: GridId,
    pub(crate) unit: Option<UnitId>,
    pub(crate) profile: ProfileId,
    pub(crate) path: PathSync,
    /// Its crowd has its path: if it is pushed off the end of that, it comes back.
    pub(crate) has_goal: bool,
    /// Counts critters in the order in which they are made.
    pub(crate) number: u64,
    /// It is about to come into the crowd for the first time.
    pub(crate) is_newcomer: bool,
    /// Cached: its status is `Stuck`.
    pub(crate) is_stuck: bool,
    /// Its path leads to a link, on whose cells it waits until it can cross: others do not push it off.
    pub(crate) keeps_goal: bool,
    /// It queues for a link: it stands until it is called.
    pub(crate) is_held: bool,
    /// It is crossing a link, drawn so many cells nearer to where it lands for each unit of work.
    pub(crate) crossing: Option<f32>,
}

/// How much of a critter's path was passed to the crowd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum PathSync {
    /// Nothing: it is another path, or there is none any more.
    #[default]
    Replaced,
    /// Only its first part.
    Extended,
    /// All of it.
    Current,
}

impl CritterState {
    /// The cell the critter stands on or leaves (for a unit of several cells, its anchor); (0, 0) until the critter has been
    /// placed on the grid. A standing ghost that the game has put elsewhere keeps its previous cell here until its next path.
    #[must_use]
    pub const fn cell(&self) -> Cell {
        self.walk.tail()
    }

    /// The cell the critter stands on or enters: the same as [`cell`](Self::cell) unless it [`is_moving`](Self::is_moving).
    #[must_use]
    pub const fn next_cell(&self) -> Cell {
        self.walk.head()
    }

    /// Whether it has been placed on the grid, in its first tick there (a ghost: with its first path); before that, [`cell`](Self::cell) means nothing.
    #[must_use]
    pub const fn is_placed(&self) -> bool {
        self.placed
    }

    /// Whether it is between two cells right now. False while it waits, queues for a passage, or stands; use
    /// this, not [`PathStatus`](crate::prelude::PathStatus), to choose between a walking and a standing picture.
    #[must_use]
    pub const fn is_moving(&self) -> bool {
        self.walk.is_between_cells()
    }

    /// Cells moved in a tick, along columns and rows; zero while it stands or waits. Multiply it by the
    /// ticks per second (64 by default) to get cells per second. (On hexagons columns and rows are at 60°: its length is not the
    /// speed.) For the velocity in the world, use `frame.to_world(velocity) - frame.to_world(Vec2::ZERO)` with the
    /// [`GridFrame`](crate::prelude::GridFrame) of its grid.
    #[must_use]
    pub fn velocity(&self) -> Vec2 {
        match (self.is_moving(), self.member.unit) {
            (false, _) => Vec2::ZERO,
            (true, Some(_)) => self.velocity + self.line_velocity(),
            (true, None) => self.now - self.before,
        }
    }

    /// Its unit in the crowd of its grid ([`Crowds`](crate::prelude::Crowds)); `None` for ghosts and for
    /// those that have found no room yet.
    #[must_use]
    pub const fn unit(&self) -> Option<UnitId> {
        self.member.unit
    }

    /// Whether it and others collide with each other: from the next tick on, if it is new.
    pub(crate) const fn holds_its_cells(&self) -> bool {
        self.member.unit.is_some() || self.member.is_newcomer
    }

    /// Where it is on its step. For ghosts this is also where they are on their path, and how far they
    /// have come on the step. For others it holds the step, and the progress in the tick in which it began: see
    /// [`Crowd::path_progress`](crate::nav::crowd::Crowd::path_progress) and
    /// [`Crowd::progress`](crate::nav::crowd::Crowd::progress).
    #[must_use]
    pub const fn walk(&self) -> &Walk {
        &self.walk
    }

    /// Whether the transform is as the plugin last wrote it: then this state is true, and more exact. A
    /// critter between two cells is always where its state says.
    pub(crate) fn is_where_it_was_put(&self, transform: &Transform) -> bool {
        self.placed
            && (self.walk.is_between_cells()
                || self.member.crossing.is_some()
                || self.drawn == transform.translation.truncate())
    }

    /// Whether the game has put it elsewhere since its transform was last written.
    pub(crate) fn was_moved(&self, transform: &Transform) -> bool {
        self.placed && !self.is_where_it_was_put(transform)
    }

    /// Begins the next path on the cell it stands on or enters.
    pub(crate) const fn restart(&mut self) {
        self.walk.restart();
        self.is_diverted = true;
        self.member.path = PathSync::Replaced;
    }

    /// Turns a step under way around.
    pub(crate) const fn turn_back(&mut self) {
        self.walk.turn_back();
        self.restart();
    }

    /// Stands on `cell`; the transform says where on it exactly.
    pub(crate) fn stand_on(&mut self, cell: Cell) {
        self.walk = Walk::standing(cell);
        self.placed = false;
        self.member.path = PathSync::Replaced;
    }

    /// Begins a path that starts on `start`.
    pub(crate) fn begin(&mut self, start: Cell) {
        if self.walk.head() == start || self.member.unit.is_some() {
            self.restart();
        } else {
            self.stand_on(start);
        }
    }

    /// It does not wait any more where it was held.
    pub(crate) fn let_go(&mut self) {
        (self.member.is_held, self.member.path) = (false, PathSync::Replaced);
    }

    /// Its path has become longer.
    pub(crate) fn extend(&mut self) {
        if self.member.path == PathSync::Current {
            self.member.path = PathSync::Extended;
        }
    }
}
