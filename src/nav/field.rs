//! What the cheapest way to one goal costs, from every cell that has one.
//!
//! Input: a [`NavGrid`], a profile and a goal. Output: a [`DistanceField`], which tells of every
//! settled cell what the way costs, the step to take, and the whole way. One field answers any
//! number of units that go to the same place.
//!
//! Invariants: the cost of a settled cell is final and the lowest there is. Cells are settled in
//! order of cost. Costs, steps and counters are the same however the work is sliced. Only what
//! stands in the grid at the start counts: after an edit the field is stale and steps no more. A
//! whole field can be [repaired](DistanceField::repair): then what stands in the grid now counts.
//!
//! Algorithm: Dijkstra's (1959) from the goal outward, which is right because a step costs the
//! same and is legal both ways. With buckets of equal cost (see
//! [`BucketHeap`]) and, wherever all cells around cost the same, in
//! canonical order (Sturtevant & Rabin, "Canonical Orderings on Grids", IJCAI 2016).
//! - Where searches jump, only jump points go through the open list, and the cells between them
//!   are filled by rays (see `spread`).
//! - Elsewhere all cells go through it (see `expand`, `ground`).
//! - After edits only what they touch is done anew (see `repair`, `mend`).
//!
//! Memory: 4 bytes a cell, and 16 a node on the open list; kept from one start to the next.

mod answers;
mod expand;
mod frame;
mod ground;
mod mend;
mod purse;
mod rays;
mod repair;
mod spread;

pub use repair::RepairCounters;

use self::{
    expand::{OPEN, UNREACHED},
    frame::Frame,
    ground::{Mixed, Uniform},
    repair::Repair,
    spread::RayNodes,
};
use super::{
    cell::{Cell, CellRect},
    grid::NavGrid,
    jump_ground::JumpGround,
    jump_map::JumpMap,
    layer::Layer,
    open_list::{BucketHeap, OpenList},
    query::PathFailure,
    search::SearchCounters,
    terrain::{DIAGONAL, Profile, ProfileId},
};

/// The cheapest ways from everywhere to one goal; see the [module](self). Reuse one for many
/// goals: it keeps its memory.
#[derive(Debug, Default)]
pub struct DistanceField<L: OpenList = BucketHeap> {
    /// What each cell's way costs, in the layer's units, at the index that `frame` gives it;
    /// `UNREACHED` where no way is known yet. Final up to the front: where cells are settled one by
    /// one, `OPEN` is set until they are. The last entry belongs to no cell.
    costs: Vec<u32>,
    /// Highest cost that is final.
    front: u32,
    frame: Frame,
    open: L,
    /// Whether rays fill the field.
    casts_rays: bool,
    /// The nodes they are cast from.
    rays: RayNodes,
    /// What edits have left to do.
    repair: Repair,
    profile: ProfileId,
    /// What that profile was at the start.
    rules: Profile,
    goal: Cell,
    /// Where the grid began at the start.
    origin: Cell,
    /// Of the grid at the start, or when edits were last taken in.
    revision: u64,
    /// Columns and rows; zero where nothing was started.
    size: (u32, u32),
    /// Sixteenths to the unit of the costs.
    unit: u32,
    /// Highest cost from which another step fits.
    limit: u32,
    overflow: bool,
    /// Cells that were named and not yet seen to be settled.
    awaited: Vec<u32>,
    /// The last of them; the entry that belongs to no cell where there are none.
    watched: usize,
    /// Highest cost of those that were seen to be settled.
    farthest: u32,
    /// What was taken since the start, repairs aside, in units of the budget.
    whole: u64,
    counters: SearchCounters,
    failure: Option<PathFailure>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Running,
    /// All named cells are settled; more may be named.
    Arrived,
    Exhausted,
    /// Cells may not agree with their neighbors, and those are listed in `repair`.
    Repairing,
}

impl<L: OpenList> DistanceField<L> {
    /// A field of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a field could be started: what [`start`](Self::start) would return, without work.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn check(grid: &NavGrid, profile: ProfileId, goal: Cell) -> Result<(), PathFailure> {
        find_goal(grid, profile, goal).map(|_| ())
    }

    /// Begins a field around `goal` for units of `profile`, and settles the goal itself; whatever
    /// was there before is dropped. Clears 4 bytes a cell (about 0.2 ns a cell).
    ///
    /// # Errors
    /// [`PathFailure::UnknownProfile`], [`PathFailure::GoalOutOfBounds`] or
    /// [`PathFailure::GoalImpassable`]. The field is empty then.
    pub fn start(
        &mut self,
        grid: &NavGrid,
        profile: ProfileId,
        goal: Cell,
    ) -> Result<(), PathFailure> {
        let (layer, place) = self.lay_out(grid, profile, goal)?;
        self.phase = Phase::Running;
        self.casts_rays = layer.jumps().is_some_and(JumpMap::pays);
        if self.casts_rays {
            self.open_goal(layer, place);
            return Ok(());
        }
        self.front = OPEN - 1;
        self.open.reset(0, longest_step(layer));
        if layer.is_uniform() {
            self.settle_goal(&Uniform::new(layer), place);
        } else {
            self.settle_goal(&Mixed::new(layer, grid), place);
        }
        Ok(())
    }

    /// Begins a field as [`start`](Self::start) does, but one that edits do not throw back: it is
    /// in [repair](Self::repair) from the beginning, so edits are taken in while it spreads. It
    /// takes several times as long, and no cells can be [awaited](Self::await_cells): for grids
    /// that are edited more often than a field takes to be filled.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn start_steady(
        &mut self,
        grid: &NavGrid,
        profile: ProfileId,
        goal: Cell,
    ) -> Result<(), PathFailure> {
        let (_, (x, y)) = self.lay_out(grid, profile, goal)?;
        self.casts_rays = false;
        self.phase = Phase::Repairing;
        let index = self.frame.index(x, y);
        self.costs[index] = 0;
        self.look_around(grid, CellRect::single(goal));
        Ok(())
    }

    /// Names cells to wait for: the field is finished as soon as all cells named since the start
    /// are settled, instead of when nothing is left. Cells off the grid and on other islands
    /// do not hold it up (a field that waits for nothing else is finished at once); repeats do no
    /// harm. Naming cells that are not settled lets a field that was finished go on. A field in
    /// [repair](Self::repair) waits for all cells, whatever is named.
    pub fn await_cells(&mut self, grid: &NavGrid, cells: impl IntoIterator<Item = Cell>) {
        let Some(layer) = self.layer(grid).filter(|_| self.phase != Phase::Repairing) else {
            return;
        };
        let goal_island = grid.local(self.goal).and_then(|(x, y)| layer.island(x, y));
        let mut is_any_named = false;
        for cell in cells {
            is_any_named = true;
            let Some((x, y)) = grid.local(cell) else {
                continue;
            };
            let at = self.frame.index(x, y);
            if layer.island(x, y) == goal_island && self.costs[at] > self.front {
                self.awaited.push(at as u32);
            }
        }
        if is_any_named && matches!(self.phase, Phase::Running | Phase::Arrived) {
            self.phase = Phase::Running;
            self.await_next();
        }
    }

    /// Works for up to `budget` units and returns how many it took. A unit is a settled cell where
    /// cells are settled one by one: an expansion each. Where rays fill the field, it is eight cells
    /// on a ray or half an expansion, which takes as long or less; a slice may run over by twenty
    /// units. 0 from an unfinished field that had a budget means that it is
    /// [stale](Self::is_stale) and must be started anew. A field in [repair](Self::repair) goes on
    /// with that.
    pub fn step(&mut self, grid: &NavGrid, budget: u32) -> u32 {
        if self.phase == Phase::Repairing {
            return self.repair(grid, budget);
        }
        let taken = self.fill(grid, budget);
        self.whole += u64::from(taken);
        taken
    }

    fn fill(&mut self, grid: &NavGrid, budget: u32) -> u32 {
        let layer = match (self.phase, self.layer(grid)) {
            (Phase::Running, Some(layer)) if !self.is_stale(grid) => layer,
            _ => return 0,
        };
        if self.casts_rays {
            // Without a map the profile has changed: the field is stale.
            return layer
                .jumps()
                .map_or(0, |map| self.spread(&JumpGround::new(layer, map, grid), budget));
        }
        if layer.is_uniform() {
            self.settle(&Uniform::new(layer), budget)
        } else {
            self.settle(&Mixed::new(layer, grid), budget)
        }
    }

    /// Whether there is nothing left to step: all named cells are settled, or, where none were
    /// named, all that have a way. So is a field that was never started.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        !matches!(self.phase, Phase::Running | Phase::Repairing)
    }

    /// Whether the grid was edited since the start (or since a [repair](Self::repair) last took
    /// edits in), anywhere, or is of another size. A stale field still answers, with what was true
    /// then. An empty field is stale.
    #[must_use]
    pub fn is_stale(&self, grid: &NavGrid) -> bool {
        grid.revision() != self.revision || (grid.width(), grid.height()) != self.size
    }

    /// Whether cells may have been left out because their cost does not fit into 31 bits of the
    /// profile's cost unit. What is settled is right all the same.
    #[must_use]
    pub const fn overflow(&self) -> bool {
        self.overflow
    }

    /// Why the field is empty: what the last start returned, or
    /// [`PathFailure::GoalImpassable`] where a [repair](Self::repair) found the goal built over.
    #[must_use]
    pub const fn failure(&self) -> Option<PathFailure> {
        self.failure
    }

    /// What was done since the start, [repairs](Self::repair_counters) aside. Where rays fill the
    /// field, only nodes count, which are fewer than cells; an improved one was dropped for a
    /// cheaper way to its cell.
    #[must_use]
    pub const fn counters(&self) -> SearchCounters {
        self.counters
    }

    /// Where all ways lead.
    #[must_use]
    pub const fn goal(&self) -> Cell {
        self.goal
    }

    /// Who goes there.
    #[must_use]
    pub const fn profile(&self) -> ProfileId {
        self.profile
    }

    /// Memory held, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let cells = 4 * (self.costs.capacity() + self.awaited.capacity());
        cells + self.open.bytes() + self.rays.bytes() + self.repair.bytes()
    }

    /// The layer of a grid of the right size.
    fn layer<'a>(&self, grid: &'a NavGrid) -> Option<&'a Layer> {
        grid.layer(self.profile).filter(|layer| layer.size() == self.size)
    }

    /// Empties the field.
    fn forget(&mut self) {
        self.phase = Phase::Idle;
        self.size = (0, 0);
        self.awaited.clear();
        self.rays.clear();
        self.repair.clear();
        (self.front, self.farthest, self.whole) = (0, 0, 0);
        self.overflow = false;
        self.counters = SearchCounters::default();
        self.failure = None;
    }

    /// Prepares an empty field for a goal; tells the layer and the goal's place.
    fn lay_out<'g>(
        &mut self,
        grid: &'g NavGrid,
        profile: ProfileId,
        goal: Cell,
    ) -> Result<(&'g Layer, (u32, u32)), PathFailure> {
        self.forget();
        (self.profile, self.goal) = (profile, goal);
        let found = find_goal(grid, profile, goal);
        self.failure = found.err();
        let (layer, place) = found?;
        if let Some(rules) = grid.profiles().get(usize::from(profile.0)) {
            self.rules.clone_from(rules);
        }
        self.revision = grid.revision();
        self.origin = grid.origin();
        self.unit = layer.unit();
        self.size = layer.size();
        // The sum of both stays below `UNREACHED`, even with `OPEN` set.
        self.limit = OPEN - 2 - longest_step(layer);
        self.unroll();
        Ok((layer, place))
    }

    /// Lays all cells out, none of them reached.
    fn unroll(&mut self) {
        let (width, height) = self.size;
        self.frame = Frame::new(width);
        let cells = self.frame.index(0, height);
        self.costs.clear();
        self.costs.resize(cells + 1, UNREACHED);
        self.watched = cells;
    }
}

/// The layer of a profile, and the place of a goal that a unit can stand on.
fn find_goal(
    grid: &NavGrid,
    profile: ProfileId,
    goal: Cell,
) -> Result<(&Layer, (u32, u32)), PathFailure> {
    let layer = grid.layer(profile).ok_or(PathFailure::UnknownProfile(profile))?;
    let place = grid.local(goal).ok_or(PathFailure::GoalOutOfBounds(goal))?;
    if !layer.is_passable(place.0, place.1) {
        return Err(PathFailure::GoalImpassable(goal));
    }
    Ok((layer, place))
}

/// Most that a step costs, in units.
fn longest_step(layer: &Layer) -> u32 {
    let (_, highest) = layer.cost_sum_range();
    DIAGONAL * highest
}
