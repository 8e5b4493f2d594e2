//! Distance fields: the cost of the cheapest path to one goal from every cell that can reach it.
//!
//! Input: a [`NavGrid`], a profile and a goal: a cell, or a rectangle whose cells are equally good. Output: a [`DistanceField`], which returns the path cost, the
//! next step and the whole path for every settled cell. One field serves any number of units with the same
//! goal.
//!
//! Invariants: the cost of a settled cell is final and minimal. Cells are settled in order of cost. Costs,
//! steps and counters do not depend on how the work is sliced. Only the state of the grid at the start
//! counts: after an edit the field is stale and makes no more progress. A complete field can be
//! [repaired](DistanceField::repair); from then on the current state of the grid counts.
//!
//! Algorithm: Dijkstra's (1959) from the goal outward, which is correct because a step has the same cost and
//! is legal in both directions. It uses buckets of equal cost (see [`BucketHeap`]) and canonical order
//! wherever all cells around have the same cost (Sturtevant & Rabin, "Canonical Orderings on Grids", IJCAI
//! 2016).
//! - Where searches jump, only jump points go through the open list, and the cells between them are filled by
//!   rays (see `ray_fill`).
//! - Elsewhere all cells go through the open list (see `expand`).
//! - After edits only the cells that the edits affect are computed again (see `repair`, `repair_loop`).
//!
//! Memory: 4 bytes per cell, and 16 per node on the open list; kept from one start to the next.

mod cell_layout;
mod cleared_rows;
mod expand;
mod field_goal;
mod lookup;
mod ray_fill;
mod rays;
mod repair;
mod repair_loop;
mod work_budget;

pub use repair::RepairCounters;

use self::{
    cell_layout::CellLayout, cleared_rows::ClearedRows, expand::OPEN, field_goal::FieldGoal,
    ray_fill::RayNodes, repair::Repair,
};
use super::{
    BucketHeap, Cell, CellRect, DIAGONAL, Goal, JumpMap, JumpTerrain, Layer, NavGrid, OpenList,
    PathFailure, Profile, ProfileId, SearchCounters, UniformSteps, WeightedSteps,
};

/// Cells of a grid that are cleared for one unit of a budget (0.3 ns each). All are paid for when a field starts.
pub(crate) const CELLS_CLEARED_PER_UNIT: u64 = 200;

/// The cheapest paths from all cells to one goal; see the [module](self). Reuse one field for many goals: it
/// keeps its memory.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct DistanceField {
    /// Path cost of each cell, in the layer's units, at the index given by `layout`; `UNREACHED` where no
    /// path is known yet. Final up to `front`: where cells are settled one by one, `OPEN` is set until they
    /// are settled. The last entry belongs to no cell.
    costs: Vec<u32>,
    cleared: ClearedRows,
    /// Highest cost that is final.
    front: u32,
    layout: CellLayout,
    open: BucketHeap,
    /// Whether rays fill the field.
    casts_rays: bool,
    /// The nodes from which rays are cast.
    rays: RayNodes,
    /// Repair work that edits have left to do.
    repair: Repair,
    profile: ProfileId,
    /// The rules of that profile at the start.
    profile_rules: Profile,
    goal: FieldGoal,
    /// Origin of the grid at the start.
    origin: Cell,
    /// Revision of the grid at the start, or when edits were last collected.
    revision: u64,
    /// Columns and rows; zero if nothing was started.
    size: (u32, u32),
    /// Sixteenths per unit of the costs.
    cost_unit: u32,
    /// Highest cost at which a cell can still be expanded without overflow.
    expand_limit: u32,
    overflow: bool,
    /// Cells to wait for that have not been seen settled yet.
    awaited: Vec<u32>,
    /// Index of the last of them; the entry that belongs to no cell if there are none.
    watched: usize,
    /// Highest cost of the awaited cells that have been seen settled.
    farthest_awaited: u32,
    /// Budget units spent since the start, without repairs.
    fill_units: u64,
    counters: SearchCounters,
    failure: Option<PathFailure>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    #[default]
    Idle,
    Running,
    /// All awaited cells are settled; more may be named.
    Arrived,
    Exhausted,
    /// Cells may be inconsistent with their neighbors; those are queued in `repair`.
    Repairing,
}

impl DistanceField {
    /// Creates an empty field.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks whether a field could be started: returns what [`start`](Self::start) would return, without
    /// doing the work.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn check(
        grid: &NavGrid,
        profile: ProfileId,
        goal: impl Into<CellRect>,
    ) -> Result<(), PathFailure> {
        FieldGoal::from(goal.into()).layer(grid, profile).map(|_| ())
    }

    /// Begins a field around `goal`, a cell or all passable cells of a rectangle, for units of `profile`, and settles the
    /// goal itself; drops whatever the field contained before. Clears only rows
    /// near the goal; the others are cleared when the fill comes to them.
    ///
    /// # Errors
    /// [`PathFailure::UnknownProfile`], [`PathFailure::GoalOutOfBounds`] or [`PathFailure::GoalImpassable`], for a rectangle
    /// if that is so of all its cells. The field is empty then.
    pub fn start(
        &mut self,
        grid: &NavGrid,
        profile: ProfileId,
        goal: impl Into<CellRect>,
    ) -> Result<(), PathFailure> {
        self.start_at(grid, profile, goal.into().into())
    }

    /// Begins a field as [`start`](Self::start) does, around all cells on which a unit may end its path to a goal; whether the goal
    /// is seen from there is not looked at. Such a field cannot be repaired.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub(in crate::nav) fn start_around(
        &mut self,
        grid: &NavGrid,
        profile: ProfileId,
        goal: &Goal,
    ) -> Result<(), PathFailure> {
        self.start_at(grid, profile, FieldGoal::around(grid, profile, goal))
    }

    fn start_at(
        &mut self,
        grid: &NavGrid,
        profile: ProfileId,
        goal: FieldGoal,
    ) -> Result<(), PathFailure> {
        let layer = self.prepare(grid, profile, goal)?;
        self.phase = Phase::Running;
        self.casts_rays = layer.jumps().is_some_and(JumpMap::is_worthwhile);
        let goal_cells = goal.cells(grid, layer);
        if self.casts_rays {
            self.open_goal(layer, goal_cells);
            return Ok(());
        }
        self.front = OPEN - 1;
        self.open.reset(0, longest_step(layer));
        if layer.has_uniform_steps() {
            self.settle_goal(&UniformSteps::new(layer), goal_cells);
        } else {
            self.settle_goal(&WeightedSteps::<true>::new(layer, grid), goal_cells);
        }
        Ok(())
    }

    /// Begins a field as [`start`](Self::start) does, but one that edits do not make stale: it is in
    /// [repair](Self::repair) from the beginning, so edits are taken into account while the field is still
    /// being filled. It takes several times as long, and no cells can be [awaited](Self::await_cells). For
    /// grids that are edited more often than it takes to fill a field.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn start_repairable(
        &mut self,
        grid: &NavGrid,
        profile: ProfileId,
        goal: impl Into<CellRect>,
    ) -> Result<(), PathFailure> {
        let goal = FieldGoal::from(goal.into());
        let layer = self.prepare(grid, profile, goal)?;
        self.casts_rays = false;
        self.phase = Phase::Repairing;
        self.clear_costs_of_goal(goal.cells(grid, layer));
        self.check_around(grid, goal.area.intersection(grid.rect()));
        Ok(())
    }

    /// Names cells to wait for: the field is finished as soon as all cells named since the start are settled,
    /// instead of when no open cells are left. Cells off the grid and in other connected regions do not delay
    /// it (a field that waits for nothing else is finished immediately); naming a cell again does no harm.
    /// Naming cells that are not settled resumes a finished field. A field in [repair](Self::repair) waits
    /// for all cells, whatever is named.
    pub fn await_cells(&mut self, grid: &NavGrid, cells: impl IntoIterator<Item = Cell>) {
        let Some(layer) = self.layer(grid).filter(|_| self.phase != Phase::Repairing) else {
            return;
        };
        let can_reach_goal =
            |region| self.goal.cells(grid, layer).any(|(x, y)| layer.region(x, y) == region);
        let mut is_any_named = false;
        for cell in cells {
            is_any_named = true;
            let Some((x, y)) = grid.local(cell) else {
                continue;
            };
            let (index, region) = (self.layout.index(x, y), layer.region(x, y));
            if self.recorded(index) > self.front && region.is_some() && can_reach_goal(region) {
                self.costs[index] = self.recorded(index); // it may not be cleared yet
                self.awaited.push(index as u32);
            }
        }
        if is_any_named && matches!(self.phase, Phase::Running | Phase::Arrived) {
            self.phase = Phase::Running;
            self.await_next();
        }
    }

    /// As [`await_cells`](Self::await_cells), but cells named before delay it no more.
    pub(in crate::nav) fn await_only(
        &mut self,
        grid: &NavGrid,
        cells: impl IntoIterator<Item = Cell>,
    ) {
        self.awaited.clear();
        self.await_cells(grid, cells);
        if self.phase == Phase::Running {
            self.await_next();
        }
    }

    /// Works for up to `budget` units and returns how many it spent. Where cells are settled one by one, a
    /// unit is one settled cell: one expansion. Where rays fill the field, a unit is eight cells on a ray or
    /// half an expansion, which takes as long or less; a slice may exceed its budget by twenty units. 0 from
    /// an unfinished field that had a budget means that it is [stale](Self::is_stale) and must be started
    /// again. A field in [repair](Self::repair) continues its repair.
    pub fn step(&mut self, grid: &NavGrid, budget: u32) -> u32 {
        if self.phase == Phase::Repairing {
            return self.repair(grid, budget);
        }
        let spent = self.fill(grid, budget);
        self.fill_units += u64::from(spent);
        spent
    }

    fn fill(&mut self, grid: &NavGrid, budget: u32) -> u32 {
        let layer = match (self.phase, self.layer(grid)) {
            (Phase::Running, Some(layer)) if !self.is_stale(grid) => layer,
            _ => return 0,
        };
        if self.casts_rays {
            // Without a jump map the profile has changed: the field is stale.
            let terrain = JumpTerrain::new(layer, grid);
            return terrain.map_or(0, |terrain| self.fill_by_rays(&terrain, budget));
        }
        if layer.has_uniform_steps() {
            self.settle(&UniformSteps::new(layer), budget)
        } else {
            self.settle(&WeightedSteps::<true>::new(layer, grid), budget)
        }
    }

    /// Whether there is nothing left to step: all named cells are settled, or, where none were named, all
    /// cells that can reach the goal. Also true of a field that was never started.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        !matches!(self.phase, Phase::Running | Phase::Repairing)
    }

    /// Whether the grid was edited anywhere since the start (or since a [repair](Self::repair) last collected
    /// edits), or has another size. A stale field still answers, with the state at that time. An empty field
    /// is stale.
    #[must_use]
    pub fn is_stale(&self, grid: &NavGrid) -> bool {
        (grid.revision(), grid.origin()) != (self.revision, self.origin)
            || (grid.width(), grid.height()) != self.size
    }

    /// Whether cells may have been left out because their cost does not fit into 31 bits of the profile's
    /// cost unit. Settled cells are correct all the same.
    #[must_use]
    pub const fn overflow(&self) -> bool {
        self.overflow
    }

    /// Returns why the field is empty: what the last start returned, or [`PathFailure::GoalImpassable`] if a
    /// [repair](Self::repair) found the goal blocked.
    #[must_use]
    pub const fn failure(&self) -> Option<PathFailure> {
        self.failure
    }

    /// Counts the work since the start, without [repairs](Self::repair_counters). Where rays fill the field,
    /// only nodes count, which are fewer than cells; an improved node is one that was dropped for a cheaper
    /// path to its cell.
    #[must_use]
    pub const fn counters(&self) -> SearchCounters {
        self.counters
    }

    /// The goal of all paths: one cell, or a rectangle with impassable cells that do not count.
    #[must_use]
    pub const fn goal(&self) -> CellRect {
        self.goal.area
    }

    /// The profile of the units that the field is for.
    #[must_use]
    pub const fn profile(&self) -> ProfileId {
        self.profile
    }

    /// Returns the memory held, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let cells = 4 * (self.costs.capacity() + self.awaited.capacity());
        cells + self.open.bytes() + self.rays.bytes() + self.repair.bytes()
    }

    /// Returns the profile's layer if the grid has the size of the field.
    fn layer<'a>(&self, grid: &'a NavGrid) -> Option<&'a Layer> {
        grid.layer(self.profile).filter(|layer| layer.size() == self.size)
    }

    /// Empties the field.
    fn clear(&mut self) {
        self.phase = Phase::Idle;
        self.size = (0, 0);
        self.awaited.clear();
        self.rays.clear();
        self.repair.clear();
        (self.front, self.farthest_awaited, self.fill_units) = (0, 0, 0);
        self.overflow = false;
        self.counters = SearchCounters::default();
        self.failure = None;
    }

    /// Prepares an empty field for a goal; returns the layer.
    fn prepare<'g>(
        &mut self,
        grid: &'g NavGrid,
        profile: ProfileId,
        goal: FieldGoal,
    ) -> Result<&'g Layer, PathFailure> {
        self.clear();
        (self.profile, self.goal) = (profile, goal);
        let found = goal.layer(grid, profile);
        self.failure = found.err();
        let layer = found?;
        if let Some(rules) = grid.profiles().get(usize::from(profile.0)) {
            self.profile_rules.clone_from(rules);
        }
        self.revision = grid.revision();
        self.origin = grid.origin();
        self.cost_unit = layer.unit();
        self.size = layer.size();
        // The sum of the limit and the longest step stays below `UNREACHED`, even with `OPEN` set.
        self.expand_limit = OPEN - 2 - longest_step(layer);
        self.layout = CellLayout::new(self.size.0);
        self.watched = self.layout.index(0, self.size.1);
        self.forget_costs();
        Ok(layer)
    }
}

/// Returns the highest cost of a step, in units.
fn longest_step(layer: &Layer) -> u32 {
    let highest = layer.highest_step_sum();
    DIAGONAL * highest
}
