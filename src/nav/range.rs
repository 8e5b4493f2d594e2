//! Movement ranges: all cells that a unit can reach with what it may spend, and what is left on each.
//!
//! ```
//! use bevy_tilepath::prelude::*;
//! let mut grid = NavGrid::new(20, 20, TerrainId::GROUND)?;
//! grid.block(CellRect::new(Cell::new(6, 0), 1, 15))?;
//! let unit = Cell::new(4, 4);
//! // Five points a turn, two turns; an enemy stands on (4, 7), and next to it every move ends.
//! let query = RangeQuery::new(unit, Movement::Turns(TurnRules::new(5, 2)));
//! let enemy = Cell::new(4, 7);
//! let mut range = MovementRange::new();
//! range.fill_with(&grid, query, |cell| match cell.chebyshev(enemy) {
//!     0 => MayEnter::No,
//!     1 => MayEnter::Stop,
//!     _ => MayEnter::Cost,
//! })?;
//! let beside = range.get(Cell::new(4, 6)).unwrap();
//! assert_eq!((beside.turn, beside.left), (0, 0), "two points, and the rest is lost");
//! assert!(range.get(enemy).is_none());
//! assert!(range.get(Cell::new(7, 4)).is_none(), "the path around the wall is too long");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Input: a [`NavGrid`], a [`RangeQuery`], and for each cell whether the unit may [`MayEnter`] it. Output: a [`MovementRange`] with
//! the cheapest path to every cell in range. A plugin user gets the grid from [`NavGrids`](crate::grids::NavGrids) and needs
//! neither a request nor a component. Large ranges can be filled in slices.
//!
//! Invariants: what is left on a cell is the most that any path there leaves; with turns, fewer turns come first. Of paths that
//! leave as much, usually the shortest is taken. Neither depends on how the work is sliced.
//!
//! Algorithm: Dijkstra's (1959), with buckets as wide as the cheapest step: what is taken from the first bucket
//! that is not empty is final, in any order (E. Denardo & B. Fox, "Shortest-Route Methods: 1. Reaching, Pruning, and Buckets",
//! Operations Research 1979). It works with turns as well: a unit that arrives earlier at a cell is never later at the next
//! one. Only a window as large as the range can be is looked at, so the size of the grid does not matter.
//!
//! Memory: 5 bytes per cell of that window, 9 with turns, and 16 per cell at its front; 4 per bucket, of which there are up to
//! 65,536 where costs spread widely. Kept from one query to the next.

mod bucket_queue;
mod lookup;
mod movement;
mod window;

pub use lookup::InRange;
pub use movement::{Diagonals, MayEnter, Movement, TurnRules};

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use self::{
    bucket_queue::{BucketQueue, Entered},
    movement::{ByCost, ByTurns, Counting, MOST_PER_TURN},
    window::Window,
};
use super::{
    Cell, EnteredSteps, Layer, NO_DIRECTION, NavGrid, OFFSETS, PathFailure, ProfileId, StepModel,
    UniformSteps, WeightedSteps, directions,
};

/// Stands for the sum of a cell that is not reached.
const UNREACHED: u32 = u32::MAX;

/// What a movement range is asked for: where can this unit go?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct RangeQuery {
    /// The profile of the unit that moves.
    pub profile: ProfileId,
    /// Where it stands; a large unit with its [anchor](super::terrain::Profile::size).
    pub start: Cell,
    /// What it may spend.
    pub movement: Movement,
}

impl RangeQuery {
    /// Returns a query for profile 0.
    #[must_use]
    pub const fn new(start: Cell, movement: Movement) -> Self {
        Self { profile: ProfileId(0), start, movement }
    }

    /// Returns the query for another profile.
    #[must_use]
    pub const fn profile(mut self, profile: ProfileId) -> Self {
        self.profile = profile;
        self
    }
}

/// The cells in range of a unit; see the [module](self). Reuse one for many queries: it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct MovementRange {
    query: RangeQuery,
    /// The cells that could be in range.
    window: Window,
    /// What is spent where a cell is entered, at the index given by the window; [`UNREACHED`] if it is not.
    sums: Vec<u32>,
    /// The direction of the last step to each cell that is reached; [`NO_DIRECTION`] at the start.
    arrivals: Vec<u8>,
    /// With turns, the weight of the path to each cell that is reached: of paths that take as many points, the shortest one
    /// looks best.
    weights: Vec<u32>,
    /// Weights of steps with an even and an odd number of direction.
    step_weights: [u32; 2],
    queue: BucketQueue,
    /// The highest sum in range.
    limit: u32,
    /// Sixteenths per unit of the sums.
    unit: u32,
    /// Column and row 0 of the grid at the start.
    origin: Cell,
    /// Whether sums for the whole query cannot be counted.
    overflow: bool,
    expansions: u64,
    /// Revision of the grid at the start, and the number of its relief, which no other grid has; 0 if nothing was started.
    revision: u64,
    relief: u64,
    is_running: bool,
}

impl MovementRange {
    /// Creates an empty range.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds all cells in range in one call; drops whatever the range contained before.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn fill(&mut self, grid: &NavGrid, query: RangeQuery) -> Result<(), PathFailure> {
        self.start(grid, query)?;
        self.step(grid, u32::MAX);
        Ok(())
    }

    /// As [`fill`](Self::fill), with other units and their zones of control: `enter` says for each cell whether the unit may
    /// enter it. It is called for cells in range, one to three times each as better paths are found, and never for the start.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn fill_with(
        &mut self,
        grid: &NavGrid,
        query: RangeQuery,
        enter: impl Fn(Cell) -> MayEnter,
    ) -> Result<(), PathFailure> {
        self.start(grid, query)?;
        self.step_with(grid, enter, u32::MAX);
        Ok(())
    }

    /// Begins to answer a query in slices; drops whatever the range contained before. Clears 4 bytes for each cell that could
    /// be in range.
    ///
    /// # Errors
    /// [`PathFailure::UnknownProfile`], [`PathFailure::StartOutOfBounds`] or [`PathFailure::StartImpassable`]. The range is
    /// empty then.
    pub fn start(&mut self, grid: &NavGrid, query: RangeQuery) -> Result<(), PathFailure> {
        self.clear();
        self.query = query;
        let (layer, (x, y)) = locate_start(grid, &query)?;
        self.origin = grid.origin();
        (self.revision, self.relief) = (grid.revision(), grid.relief_number(query.profile));
        let sum = match query.movement {
            Movement::Cost(_) => self.prepare(&ByCost::new(layer, query.movement), layer, (x, y)),
            Movement::Turns(rules) => self.prepare(&ByTurns::new(layer, rules), layer, (x, y)),
        };
        let index = self.window.index(x, y);
        (self.sums[index], self.arrivals[index]) = (sum, NO_DIRECTION);
        if let Some(weight) = self.weights.get_mut(index) {
            *weight = 0;
        }
        self.queue.push(Entered { x: x as u16, y: y as u16, index: index as u32, sum });
        self.is_running = true;
        Ok(())
    }

    /// Expands up to `budget` cells and returns how many. 0 from a range that is not [finished](Self::is_finished), with a budget
    /// above 0, means that it is [stale](Self::is_stale) and must be started again.
    pub fn step(&mut self, grid: &NavGrid, budget: u32) -> u32 {
        self.step_by(grid, &Everywhere, budget)
    }

    /// As [`step`](Self::step), for a range with other units; see [`fill_with`](Self::fill_with). `enter` must give the same
    /// answers in all steps.
    pub fn step_with(
        &mut self,
        grid: &NavGrid,
        enter: impl Fn(Cell) -> MayEnter,
        budget: u32,
    ) -> u32 {
        self.step_by(grid, &enter, budget)
    }

    fn step_by<E: EnterRule>(&mut self, grid: &NavGrid, enter: &E, budget: u32) -> u32 {
        let Some(layer) = grid.layer(self.query.profile).filter(|_| !self.is_stale(grid)) else {
            return 0;
        };
        let movement = self.query.movement;
        match movement {
            Movement::Cost(_) if layer.has_uniform_steps() => {
                let rules = (&UniformSteps::new(layer), &ByCost::new(layer, movement), enter);
                self.expand(rules, grid, budget)
            }
            Movement::Cost(_) => {
                let steps = WeightedSteps::<true>::new(layer, grid);
                self.expand((&steps, &ByCost::new(layer, movement), enter), grid, budget)
            }
            Movement::Turns(turns) if turns.diagonals == Diagonals::AsStraight => {
                let steps = EnteredSteps::<true>::new(layer, grid, turns.diagonals.factor());
                self.expand((&steps, &ByTurns::new(layer, turns), enter), grid, budget)
            }
            Movement::Turns(turns) => {
                let steps = EnteredSteps::<false>::new(layer, grid, turns.diagonals.factor());
                self.expand((&steps, &ByTurns::new(layer, turns), enter), grid, budget)
            }
        }
    }

    /// Whether all cells in range are known. Also true of a range that was never started.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        !self.is_running
    }

    /// Whether the grid was edited since the start, or is another one (a copy counts as another). A stale range still answers,
    /// with the state at the start. An empty range is stale.
    #[must_use]
    pub fn is_stale(&self, grid: &NavGrid) -> bool {
        let relief = grid.relief_number(self.query.profile);
        let is_empty = self.relief == 0;
        is_empty
            || (grid.revision(), grid.origin(), relief) != (self.revision, self.origin, self.relief)
    }

    /// Whether the unit may spend more than can be counted; cells may be missing then. The limits are 32 bits for costs, in the
    /// profile's cost unit, 1,048,576 sixteenths for the points of a turn, and 2,147,483,647 for all turns together.
    #[must_use]
    pub const fn overflow(&self) -> bool {
        self.overflow
    }

    /// The query answered.
    #[must_use]
    pub const fn query(&self) -> RangeQuery {
        self.query
    }

    /// Cells expanded since the start.
    #[must_use]
    pub const fn expansions(&self) -> u64 {
        self.expansions
    }

    /// Returns the memory held, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * (self.sums.capacity() + self.weights.capacity())
            + self.arrivals.capacity()
            + self.queue.bytes()
    }

    /// The points of a turn that count.
    fn per_turn(&self) -> u32 {
        match self.query.movement {
            Movement::Cost(_) => 0,
            Movement::Turns(rules) => rules.per_turn.min(MOST_PER_TURN),
        }
    }

    /// Empties the range.
    pub fn clear(&mut self) {
        self.window = Window::default();
        self.sums.clear();
        (self.relief, self.expansions) = (0, 0);
        (self.is_running, self.overflow) = (false, false);
    }

    /// Prepares the window and the queue; returns the sum at the start.
    fn prepare<C: Counting>(&mut self, counting: &C, layer: &Layer, start: (u32, u32)) -> u32 {
        (self.limit, self.overflow) = counting.limit();
        self.unit = counting.unit();
        self.step_weights = layer.adjacency().weights();
        self.window = Window::around(start, counting.most_steps(), layer.size());
        self.sums.resize(self.window.cells(), UNREACHED);
        self.arrivals.resize(self.window.cells(), NO_DIRECTION);
        self.weights.resize(if C::BREAKS_TIES { self.window.cells() } else { 0 }, 0);
        let first = counting.first();
        self.queue.reset(first, counting.increments());
        first
    }

    fn expand<M: StepModel, C: Counting, E: EnterRule>(
        &mut self,
        (model, counting, enter): (&M, &C, &E),
        grid: &NavGrid,
        budget: u32,
    ) -> u32 {
        let offsets = self.window.index_offsets();
        let mut expanded = 0;
        while expanded < budget {
            let Some(Entered { x, y, index, sum }) = self.queue.pop() else {
                break;
            };
            if self.sums[index as usize] != sum {
                continue; // reached at a lower sum since
            }
            expanded += 1;
            let from = counting.leave(sum);
            let arrival = if E::IS_FREE { self.arrivals[index as usize] } else { NO_DIRECTION };
            let steps = model.steps_from(x.into(), y.into(), arrival);
            let weight = if C::BREAKS_TIES { self.weights[index as usize] } else { 0 };
            for direction in directions(steps.directions) {
                let Some(sum) = counting.enter(from, model.step_cost(&steps, direction)) else {
                    continue;
                };
                let index = index.wrapping_add_signed(offsets[direction]);
                // A step beyond the limit may lead out of the window.
                let weight = weight.saturating_add(self.step_weights[direction & 1]);
                if sum > self.limit || !self.improves::<C>(index, (sum, weight)) {
                    continue;
                }
                let (dx, dy) = OFFSETS[direction];
                let (x, y) = (x.wrapping_add_signed(dx as i16), y.wrapping_add_signed(dy as i16));
                let (sum, goes_on) = match enter.enter(grid, (x, y)) {
                    MayEnter::No => continue,
                    MayEnter::Cost => (sum, true),
                    MayEnter::Stop => counting.stop(from, sum),
                };
                self.reach::<C>(Entered { x, y, index, sum }, (direction, weight), goes_on);
            }
        }
        self.is_running = !self.queue.is_empty();
        self.expansions += u64::from(expanded);
        expanded
    }

    /// Whether a path with this sum and weight is the best to a cell so far.
    #[inline(always)]
    fn improves<C: Counting>(&self, index: u32, (sum, weight): (u32, u32)) -> bool {
        let known = self.sums[index as usize];
        sum < known || (C::BREAKS_TIES && sum == known && weight < self.weights[index as usize])
    }

    /// Records a path to a cell, if it is the best so far.
    #[inline(always)]
    fn reach<C: Counting>(
        &mut self,
        entered: Entered,
        (direction, weight): (usize, u32),
        goes_on: bool,
    ) {
        // A stop may have raised the sum.
        if !self.improves::<C>(entered.index, (entered.sum, weight)) {
            return;
        }
        let index = entered.index as usize;
        let known = self.sums[index];
        (self.sums[index], self.arrivals[index]) = (entered.sum, direction as u8);
        if C::BREAKS_TIES {
            self.weights[index] = weight;
        }
        // At an equal sum it waits in the queue already: all cells before it come before its bucket.
        if goes_on && known > entered.sum {
            self.queue.push(entered);
        }
    }
}

/// Whether the unit may enter a cell; the loop is compiled once for each implementation.
trait EnterRule {
    /// Whether the answer is always [`MayEnter::Cost`]. Then steps are tried in canonical order (see `steps`).
    const IS_FREE: bool;

    fn enter(&self, grid: &NavGrid, cell: (u16, u16)) -> MayEnter;
}

/// Every cell may be entered.
struct Everywhere;

impl EnterRule for Everywhere {
    const IS_FREE: bool = true;

    #[inline(always)]
    fn enter(&self, _grid: &NavGrid, _cell: (u16, u16)) -> MayEnter {
        MayEnter::Cost
    }
}

impl<F: Fn(Cell) -> MayEnter> EnterRule for F {
    const IS_FREE: bool = false;

    #[inline(always)]
    fn enter(&self, grid: &NavGrid, (x, y): (u16, u16)) -> MayEnter {
        self(grid.global(x.into(), y.into()))
    }
}

/// Returns the layer of the profile, and column and row of the start.
fn locate_start<'g>(
    grid: &'g NavGrid,
    query: &RangeQuery,
) -> Result<(&'g Layer, (u32, u32)), PathFailure> {
    let layer = grid.layer(query.profile).ok_or(PathFailure::UnknownProfile(query.profile))?;
    let (x, y) = grid.local(query.start).ok_or(PathFailure::StartOutOfBounds(query.start))?;
    match layer.is_passable(x, y) {
        true => Ok((layer, (x, y))),
        false => Err(PathFailure::StartImpassable(query.start)),
    }
}
