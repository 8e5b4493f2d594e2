//! Stage 4: critters walk their paths.
//!
//! Input: paths in [`NavPath`], speeds, edits of the grids. Output: [`Transform`]s. Underneath,
//! a critter's place is whole numbers (cells, and work done on the step between two), advanced
//! once per tick; between ticks the transform runs smoothly from the place before to the place
//! now. A critter whose way an edit cuts off stops at the next cell and gets a new path, in the
//! same tick as a rule; critters whose ways stay clear of the edit are not bothered.

mod advance;
mod draw;
mod place;
mod repair;
mod straight;

pub use self::straight::StraightWay;
pub(crate) use self::{
    advance::advance_critters,
    draw::{Drawing, place_transforms},
    repair::repair_paths,
};

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use crate::crowds::{Crowds, Errand, Membership};
use crate::nav::{
    cell::Cell,
    checksum::Checksum,
    crowd::UnitId,
    direction::Direction,
    path::PathCost,
    query::GridId,
    terrain::ProfileId,
    walk::{PROGRESS_PER_COST, Walk},
};
use crate::request::{ActiveOrder, NavPath, PathStatus};

/// Walks wherever its [`PathRequest`](crate::prelude::PathRequest)s lead.
///
/// The plugin writes the entity's `Transform` while it walks (x and y; z stays as it is). To put
/// a critter elsewhere, write its `Transform` while it stands. The transform is the middle of the
/// critter: of a unit of 2 × 2 cells ([`Profile::size`](crate::prelude::Profile::size)) the corner where
/// its four cells meet.
///
/// Critters keep off each other: no cell is ever held by two, see [`crowds`](crate::crowds). A
/// [`ghost`](Self::ghost) walks through everybody.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_insert = crate::crowds::note_critter, on_remove = crate::crowds::note_leaving)]
#[require(CritterState, Facing, Transform, ActiveOrder, NavPath, PathStatus)]
pub struct Critter {
    /// Cells per second over plain ground; slower on costlier ground in proportion. 0 (and
    /// anything that is no positive number) stands still. Default 4.
    pub speed: f32,
    /// Whether the transform is turned the way the critter goes, its local +x ahead. Default
    /// true; switch it off for sprites drawn in several directions and read [`Facing`] instead.
    pub turns: bool,
    /// Whether it keeps off other critters, and they off it. Default true; see [`ghost`](Self::ghost).
    pub collides: bool,
    /// The grid on which it stands before its first order, which says from then on.
    pub grid: GridId,
    /// What kind of unit it is before its first order.
    pub profile: ProfileId,
}

impl Default for Critter {
    fn default() -> Self {
        Self {
            speed: 4.0,
            turns: true,
            collides: true,
            grid: GridId::default(),
            profile: ProfileId::default(),
        }
    }
}

impl Critter {
    /// A critter of `speed` cells per second on plain ground.
    #[must_use]
    pub fn new(speed: f32) -> Self {
        Self { speed, ..Self::default() }
    }

    /// The same, turning its transform or not.
    #[must_use]
    pub const fn turns(mut self, turns: bool) -> Self {
        self.turns = turns;
        self
    }

    /// The same, but walking through all other critters, and they through it.
    #[must_use]
    pub const fn ghost(mut self) -> Self {
        self.collides = false;
        self
    }

    /// The same, standing on another grid before its first order.
    #[must_use]
    pub const fn on(mut self, grid: GridId) -> Self {
        self.grid = grid;
        self
    }

    /// The same, of another kind before its first order.
    #[must_use]
    pub const fn profile(mut self, profile: ProfileId) -> Self {
        self.profile = profile;
        self
    }

    /// Its speed under a limit.
    pub(crate) fn limited(&self, limit: Option<&SpeedLimit>) -> f32 {
        limit.map_or(self.speed, |limit| self.speed.min(limit.0))
    }
}

/// Holds a critter back: it goes at most at this speed (cells per second over plain ground). For the game
/// to put on and take off.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_remove = crate::crowds::note_loss)]
pub struct SpeedLimit(pub f32);

/// Work of one tick of `seconds` at `speed`, in parts of path cost.
pub(crate) fn work(speed: f32, seconds: f32) -> u64 {
    let per_cell = (PathCost::PLAIN_STEP.0 * PROGRESS_PER_COST) as f64;
    // A negative or NaN product becomes 0.
    (f64::from(speed) * f64::from(seconds) * per_cell) as u64
}

/// The way a critter goes, or went last, in cells.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct Facing(pub Direction);

/// Where a critter is, as the plugin keeps it.
///
/// A step of one that is not a ghost does not count as a change: `Changed<Transform>` tells who was drawn
/// elsewhere than before, [`Crowd::moved`](crate::nav::crowd::Crowd::moved) whose step began or ended.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_discard = crate::crowds::note_leaving, clone_behavior = Ignore)]
pub struct CritterState {
    pub(crate) walk: Walk,
    /// Its place in the crowd of its grid, if it has one.
    #[reflect(ignore)]
    pub(crate) member: Membership,
    /// It was given a place on the grid.
    pub(crate) placed: bool,
    /// From the center of its anchor to the middle of the block it covers, in cells and along both
    /// axes: (size − 1) / 2.
    half: f32,
    /// How far off its place it is drawn, in cells: critters spawned beside a cell's center, or
    /// stopped for a new order, are led in gently.
    offset: Vec2,
    /// It has another way than a tick ago: its place is to be led over gently.
    is_diverted: bool,
    /// Direction of the straight line on which it is drawn, in cells; (0, 0) where there is none.
    heading: (i32, i32),
    /// Drawn place in cell space one tick ago and now; of one that is led, in the tick before its last
    /// change, and when it was last drawn.
    before: Vec2,
    now: Vec2,
    /// Of one that is led: the tick of its crowd in which `walk` and `offset` were so; where it was then
    /// without the offset, how far it goes in a tick, and for how many ticks.
    since: u64,
    origin: Vec2,
    velocity: Vec2,
    ticks: f32,
    /// Shares of that tick: when the step before was over, and when this one began.
    arrival: f32,
    departure: f32,
    /// By how many cells its offset shrinks in a tick.
    shrink: f32,
    /// It stands, and is drawn where it stands.
    is_at_rest: bool,
    /// The way its transform was last turned while it walks; (0, 0) where that does not matter any more.
    turned: (i32, i32),
    /// Translation last written to the transform, or found there when it was given its place.
    pub(crate) drawn: Vec2,
}

impl CritterState {
    /// The cell the critter stands on or leaves (of a unit of several cells, its anchor: the lowest,
    /// leftmost one); (0, 0) until its first request was read, because
    /// only a request says which grid it is on.
    #[must_use]
    pub const fn cell(&self) -> Cell {
        self.walk.tail()
    }

    /// Its unit in the crowd of its grid ([`Crowds`]); `None` for ghosts and for
    /// those that have found no room yet.
    #[must_use]
    pub const fn unit(&self) -> Option<UnitId> {
        self.member.unit
    }

    /// Whether it keeps off others, and they off it: from the next tick on, if it is new.
    pub(crate) const fn holds_its_cells(&self) -> bool {
        self.member.unit.is_some() || self.member.is_newcomer
    }

    /// The grid it is on, if `order` is what was last asked of it.
    pub(crate) fn grid(&self, order: &ActiveOrder) -> GridId {
        if self.member.unit.is_some() { self.member.grid } else { order.grid }
    }

    /// What kind of unit it is.
    pub(crate) fn profile(&self, order: &ActiveOrder) -> ProfileId {
        if self.member.unit.is_some() { self.member.profile } else { order.query.profile }
    }

    /// Where it is on its step. For ghosts this is also where they are on their path, and how far they
    /// have come on the step. Others are told only which steps they make, and how far each had come when it
    /// began: see [`Crowd::walk_along`](crate::nav::crowd::Crowd::walk_along) and
    /// [`Crowd::progress`](crate::nav::crowd::Crowd::progress).
    #[must_use]
    pub const fn walk(&self) -> &Walk {
        &self.walk
    }

    /// Place of its middle in cell space (whole numbers = centers of cells), as of the last tick (of one
    /// that is not a ghost, the last that was drawn); (0, 0) until it first walks.
    #[must_use]
    pub const fn place(&self) -> Vec2 {
        self.now
    }

    /// Whether the transform has not been moved by anyone else since it was written: what the
    /// state says of the place is true then, and more exact. A critter between two cells is
    /// always where its state says.
    pub(crate) fn is_where_it_was_put(&self, transform: &Transform) -> bool {
        self.placed
            && (self.walk.is_between_cells() || self.drawn == transform.translation.truncate())
    }

    /// Begins whatever path comes next on its head.
    pub(crate) const fn restart(&mut self) {
        self.walk.restart();
        self.is_diverted = true;
        self.member.errand = Errand::Anew;
    }

    /// Turns a step under way around.
    pub(crate) const fn turn_back(&mut self) {
        self.walk.turn_back();
        self.is_diverted = true;
        self.member.errand = Errand::Anew;
    }

    /// Whether somebody has put it elsewhere since its place was last written.
    pub(crate) fn was_moved(&self, transform: &Transform) -> bool {
        self.placed && !self.is_where_it_was_put(transform)
    }

    /// Stands on `cell`; the transform says where on it exactly.
    pub(crate) fn stand_on(&mut self, cell: Cell) {
        self.walk = Walk::standing(cell);
        self.placed = false;
        self.member.errand = Errand::Anew;
    }

    /// Begins a path that starts on `start`.
    pub(crate) fn begin(&mut self, start: Cell) {
        if self.walk.head() == start || self.member.unit.is_some() {
            self.restart();
        } else {
            self.stand_on(start);
        }
    }

    /// Its path has become longer.
    pub(crate) fn lengthen(&mut self) {
        if self.member.errand == Errand::Known {
            self.member.errand = Errand::Longer;
        }
    }

    /// Adds the exact state (not the drawn one) to a checksum.
    pub(crate) fn add_to(&self, crowds: Option<&Crowds>, sum: &mut Checksum) {
        sum.add(self.member.number());
        sum.add_cell(self.walk.tail());
        sum.add_cell(self.walk.head());
        let led = self.unit().zip(crowds.and_then(|crowds| crowds.get(self.member.grid)));
        let progress = led.map_or(self.walk.progress(), |(unit, crowd)| crowd.progress(unit));
        sum.add(progress.0);
    }
}
