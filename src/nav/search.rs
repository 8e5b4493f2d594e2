//! One search: started, advanced in slices of any size, finished.
//!
//! Input: a [`NavGrid`] and a [`PathQuery`]. Output: a [`Path`] or a [`PathFailure`]. The path, its cost and
//! the counters are the same whether the search runs in one call or one node at a time: a whole search is
//! [`step`](Search::step) with an unlimited budget. The search owns its scratch memory and borrows the grid
//! only while it steps. Queries that cannot succeed fail without expanding a node: cells off the grid, impassable cells, goals in
//! another connected region. [`start`](Search::start) rejects them, unless thousands of cells have to be looked at first.
//!
//! Algorithms: jump point search (see `jump`) where corners may not be cut, and for four neighbors; a
//! hierarchy of chunks for long distances (see `hierarchy`); where the path may end on one of many cells, a
//! search from those cells to the start (see `goal_cells`). Elsewhere A* (Hart, Nilsson & Raphael 1968) with
//! a consistent heuristic, so that no node is expanded twice; on uniform cost in canonical order (steps that
//! another path makes at no higher cost are pruned: Sturtevant & Rabin, "Canonical Orderings on Grids", IJCAI
//! 2016). Where the grid's [landmarks](super::landmarks) are ready, they sharpen the heuristic: paths cost the same, and are
//! found sooner.

mod at_once;
mod counters;
mod expand;
mod goal_cells;
mod heuristic;
mod hierarchy;
mod initial_nodes;
mod jump;
mod jump_nodes;
mod nearest;
pub mod node_pool;
mod probe;
mod target;
mod trace;

pub use counters::SearchCounters;
pub use hierarchy::{HIERARCHY_MIN_DISTANCE, HIERARCHY_MIN_DISTANCE_WEIGHTED};

use std::sync::Arc;

use self::{
    goal_cells::GoalCells,
    hierarchy::{Attempt, Hierarchy, Stage},
    jump_nodes::JumpNodes,
    probe::Probe,
    target::SearchTarget,
};
use super::{
    Algorithm, BucketHeap, CHUNK, Cell, Goal, JumpTerrain, Key, Layer, NavGrid, NodeId, NodePool,
    OpenList, Path, PathCost, PathFailure, PathKind, PathQuery, UniformSteps, WeightedSteps,
    map::landmarks::{Estimate, LandmarkTable},
    node_pool::NodeStore,
};

/// A search that runs in slices; see the [module](self). Reuse one for many queries: it keeps its memory.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Search<L: OpenList = BucketHeap> {
    nodes: NodeStore,
    /// The nodes of a jump point search.
    jump_nodes: JumpNodes,
    open: L,
    /// An open node whose f equals that of the node just expanded: it is expanded next, without passing through the open list.
    immediate: Option<(NodeId, Key)>,
    query: PathQuery,
    /// Start cell of the current segment, and the target of that segment.
    origin: (u32, u32),
    target: SearchTarget,
    /// Where a backward search starts instead.
    goal_cells: GoalCells,
    /// The landmarks when the search started, and what they tell of the path to the target of the segment.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::map::landmarks::shared"))]
    landmarks: Option<Arc<LandmarkTable>>,
    estimate: Option<Estimate>,
    /// The number of the grid's relief when the search started: the landmarks are right as long as it has that.
    relief: u64,
    /// Whether the path may end on the goal cell only.
    has_single_goal_cell: bool,
    /// The target of the last segment, while `target` is the end of the first segment.
    final_target: SearchTarget,
    hierarchy: Hierarchy,
    probe: Probe,
    /// Whether the search is confined to the cells of the corridor.
    is_confined: bool,
    revision: u64,
    size: (u32, u32),
    counters: SearchCounters,
    phase: Phase,
}

/// What a search looks at while it runs, and where its nodes come from.
#[derive(Clone, Copy)]
struct World<'a> {
    grid: &'a NavGrid,
    layer: &'a Layer,
    pool: &'a NodePool,
}

#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    #[default]
    Idle,
    Running,
    Reached(NodeId),
    Failed(PathFailure),
}

impl<L: OpenList> Search<L> {
    /// Creates an idle search.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts to answer `query`; drops whatever ran before. Pages come from `pool`: use the same one until the search is
    /// [finished](Self::finish) or [stopped](Self::stop).
    ///
    /// # Errors
    /// The reason, where the query fails without a search.
    pub fn start(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
    ) -> Result<(), PathFailure> {
        self.start_query(grid, pool, query, &[], Attempt::First)
    }

    /// Starts to search for the cheapest path to any of several goals: the query's own and `goals`, in any
    /// order. The path ends at the first goal it reaches. With other goals than the query's, the hierarchy is not used.
    ///
    /// # Errors
    /// As [`start`](Self::start); the failure names the query's own goal.
    pub fn start_any(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
        goals: &[Goal],
    ) -> Result<(), PathFailure> {
        self.start_query(grid, pool, query, goals, Attempt::First)
    }

    /// Starts to answer a query, or what is left of it.
    fn start_query(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
        goals: &[Goal],
        attempt: Attempt,
    ) -> Result<(), PathFailure> {
        self.stop(pool);
        self.query = query;
        self.revision = grid.revision();
        self.counters = SearchCounters::default();
        self.target = SearchTarget::default(); // also where it fails: what the start took is noted there
        let layer = grid.layer(query.profile).ok_or(PathFailure::UnknownProfile(query.profile))?;
        let world = World { grid, layer, pool };
        self.size = layer.size();
        self.origin = nearest::start_cell(grid, layer, &query)?;
        self.landmarks = grid.landmarks(query.profile).filter(|table| !table.is_empty()).cloned();
        self.relief = grid.relief_number(query.profile);
        self.has_single_goal_cell = goals.is_empty() && query.goal.is_single_cell();
        self.target = match self.has_single_goal_cell {
            true => SearchTarget::find(grid, layer, &query, self.origin)?,
            false => self.target_any(world, goals)?,
        };
        if attempt == Attempt::Remainder && self.target.kind == PathKind::Complete {
            // As for the whole path: its length decided, not that of what is left.
            let goal = (self.target.x, self.target.y);
            self.target.uses_jumps = SearchTarget::at(layer, &query, goal).uses_jumps;
        }
        if self.target.is_backward {
            self.begin_segment(layer, pool);
            self.open_first_goal_cell(world);
            return Ok(());
        }
        let distance = self.target.distance(layer, self.origin.0, self.origin.1);
        let may_be_long =
            self.target.kind == PathKind::Complete && goals.is_empty() && distance > 0;
        let way = (distance, self.target.uses_jumps);
        match Hierarchy::first_stage(layer, &query, way, attempt) {
            Some(Stage::Probe) if may_be_long => self.start_probe(layer, pool, distance),
            Some(stage) if may_be_long => self.start_route(layer, stage),
            _ => self.open_origin(layer, pool),
        }
        Ok(())
    }

    /// Expands up to `budget` nodes and returns how much of the budget that took: one per node, and one more
    /// for each sixteen turning points a jump point search has passed, one per cell checked where the path may
    /// end on many. A long line of sight can exceed the budget by an eighth of its cells; where no cell near
    /// enough can be reached, the search for the nearest reachable cell exceeds it once, by about 40 for each chunk.
    /// `grid` must be the one the search was started on; after edits, check [`is_stale`](Self::is_stale) first. If an unfinished search
    /// with a budget above 0 returns 0, it must be started from scratch.
    pub fn step(&mut self, grid: &NavGrid, pool: &NodePool, budget: u32) -> u32 {
        let layer = match (&self.phase, grid.layer(self.query.profile)) {
            (Phase::Running, Some(layer)) if layer.size() == self.size => layer,
            _ => return 0,
        };
        let world = World { grid, layer, pool };
        let mut spent = 0;
        while spent < budget && !self.is_finished() {
            let (work, has_next_segment) = if self.hierarchy.is_routing() {
                (self.step_portals(layer, pool, budget - spent), false)
            } else {
                let work = self.step_cells(world, self.until_checkpoint(budget - spent));
                (work, self.end_segment(world) || self.check_probe(layer, pool))
            };
            spent = spent.saturating_add(work);
            if work == 0 && !has_next_segment {
                break;
            }
        }
        spent
    }

    /// Expands up to `budget` nodes; returns how much of the budget that took.
    fn step_cells(&mut self, world: World, budget: u32) -> u32 {
        let World { grid, layer, .. } = world;
        if self.target.uses_jumps {
            // Without a jump map the profile has changed: the search is stale.
            let terrain = JumpTerrain::new(layer, grid);
            return terrain.map_or(0, |terrain| self.expand_jumps(&terrain, world, budget));
        }
        if layer.has_uniform_steps() {
            self.expand(&UniformSteps::new(layer), world, budget)
        } else if layer.is_uniform() {
            self.expand(&WeightedSteps::<true>::new(layer, grid), world, budget)
        } else {
            self.expand(&WeightedSteps::<false>::new(layer, grid), world, budget)
        }
    }

    /// Whether nothing is left to step; [`finish`](Self::finish) returns the result.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        !matches!(self.phase, Phase::Running)
    }

    /// Whether the search must be started from scratch, because of an edit since the start or since the last
    /// call that returned `false`: the edit lies where the search has looked, or changes its target. Any edit
    /// counts for a jump point search or a hierarchical one, because these look far ahead; for one that has lost its
    /// landmarks; and for one that
    /// may end on other cells than the goal cell, because those cells may have changed. A change of the
    /// grid's size or profiles counts as such an edit.
    pub fn is_stale(&mut self, grid: &NavGrid) -> bool {
        if (grid.width(), grid.height()) != self.size {
            return true;
        }
        let since = self.revision;
        if grid.revision() == since {
            return false;
        }
        if grid.profiles_revision() > since {
            return true;
        }
        // Scans, routes and checks of goal cells may have looked anywhere.
        let looks_far = self.target.uses_jumps || self.hierarchy.is_on();
        if looks_far || !self.has_single_goal_cell || self.has_lost_landmarks(grid) {
            return true;
        }
        let is_edited = |&chunk| grid.chunk_revision(chunk) > since;
        if grid.revision() < since || self.nodes.page_chunks.iter().any(is_edited) {
            return true;
        }
        let has_same_target = self.has_same_target(grid);
        if has_same_target {
            self.revision = grid.revision();
        }
        !has_same_target
    }

    /// Whether a search started now would have the same target.
    fn has_same_target(&self, grid: &NavGrid) -> bool {
        let Some(layer) = grid.layer(self.query.profile) else {
            return false;
        };
        let target = nearest::start_cell(grid, layer, &self.query)
            .and_then(|start| SearchTarget::find(grid, layer, &self.query, start));
        let key = |target: &SearchTarget| (target.tolerance, target.kind, target.uses_jumps);
        target.is_ok_and(|target| key(&target) == key(&self.target))
    }

    /// Returns the result and leaves the search idle. Unfinished searches return [`PathFailure::Unfinished`].
    ///
    /// # Errors
    /// Why there is no path.
    pub fn finish(&mut self, grid: &NavGrid, pool: &NodePool) -> Result<Path, PathFailure> {
        let result = match self.phase {
            Phase::Reached(node) => {
                let path = self.trace(grid, node);
                // It may have been found and not taken.
                Ok(match self.take_first_segment() {
                    Some(segment) => segment.joined(path),
                    None => path,
                })
            }
            Phase::Failed(failure) => Err(failure),
            Phase::Idle | Phase::Running => Err(PathFailure::Unfinished),
        };
        self.stop(pool);
        result
    }

    /// Cancels whatever is running and returns its memory to the pool.
    pub fn stop(&mut self, pool: &NodePool) {
        self.clear_nodes(pool);
        self.goal_cells.clear();
        self.hierarchy.stop();
        self.is_confined = false;
        (self.landmarks, self.estimate) = (None, None);
        self.phase = Phase::Idle;
    }

    fn clear_nodes(&mut self, pool: &NodePool) {
        self.nodes.finish(pool);
        self.jump_nodes.clear();
        self.immediate = None;
    }

    /// The query started last.
    #[must_use]
    pub const fn query(&self) -> PathQuery {
        self.query
    }

    /// What the start took of a work budget, in expansions: about 40 per chunk to find the nearest reachable
    /// cell, one per goal of several cells and a quarter for each other, a quarter per row and one per cell to find the cells on
    /// which paths may end, and where these must see the goal an eighth for each cell of a line of sight.
    #[must_use]
    pub const fn setup_work(&self) -> u32 {
        self.target.work
    }

    /// What an expansion takes of a work budget, relative to one on uniform cost: 1; 3 on weighted terrain,
    /// where all eight neighbors must be looked at; 4 for jump point search, and 5 for jump point search on
    /// weighted terrain (measured: about 36, 110, 80 to 225 and 190 ns).
    #[must_use]
    pub fn work_per_expansion(&self, grid: &NavGrid) -> u32 {
        let is_uniform = grid.layer(self.query.profile).is_none_or(Layer::is_uniform);
        match (self.target.uses_jumps, is_uniform) {
            (false, true) => 1,
            (false, false) => 3,
            (true, true) => 4,
            (true, false) => 5,
        }
    }

    /// The algorithm that answers the query started last, whether chosen automatically or requested:
    /// [`Hierarchical`](Algorithm::Hierarchical), [`JumpPoint`](Algorithm::JumpPoint),
    /// [`AStar`](Algorithm::AStar) or [`Dijkstra`](Algorithm::Dijkstra).
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        if self.hierarchy.is_on() {
            Algorithm::Hierarchical
        } else if self.target.uses_jumps {
            Algorithm::JumpPoint
        } else if self.query.algorithm == Algorithm::Dijkstra {
            Algorithm::Dijkstra
        } else {
            Algorithm::AStar
        }
    }

    /// The work done since the start.
    #[must_use]
    pub const fn counters(&self) -> SearchCounters {
        self.counters
    }

    /// Memory held now, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let nodes = self.nodes.bytes() + self.jump_nodes.bytes();
        nodes + self.open.bytes() + self.goal_cells.bytes() + self.hierarchy.bytes()
    }

    /// The open list, for inspection.
    #[must_use]
    pub const fn open_list(&self) -> &L {
        &self.open
    }

    /// Returns the cell of a node of the running search.
    ///
    /// # Panics
    /// If this search has no such node.
    #[must_use]
    pub fn cell_of(&self, grid: &NavGrid, node: NodeId) -> Cell {
        let (x, y) = if self.target.uses_jumps {
            self.jump_nodes.get(node).cell()
        } else {
            self.nodes.cell_of(node)
        };
        grid.global(x, y)
    }

    /// Converts a key's f or h, or the difference of two, to the cost of a path.
    #[must_use]
    pub fn cost_of(&self, grid: &NavGrid, units: u32) -> PathCost {
        let unit = grid.layer(self.query.profile).map_or(1, Layer::unit);
        PathCost(u64::from(units) * u64::from(unit))
    }

    /// The cells seen so far and whether each was expanded, for drawing.
    pub fn explored<'a>(&'a self, grid: &'a NavGrid) -> impl Iterator<Item = (Cell, bool)> + 'a {
        let (width, height) = self.size;
        let cells = self.nodes.page_chunks.iter().flat_map(|&(x, y)| {
            (0..CHUNK * CHUNK).map(move |i| (x * CHUNK + i % CHUNK, y * CHUNK + i / CHUNK))
        });
        let paged =
            cells.filter(move |&(x, y)| x < width && y < height).filter_map(move |(x, y)| {
                let node = self.nodes.get(self.nodes.find(x, y)?);
                node.has_generation(self.nodes.generation)
                    .then(|| (grid.global(x, y), node.is_closed()))
            });
        let jump_nodes = self.jump_nodes.iter().map(|node| {
            let (x, y) = node.cell();
            (grid.global(x, y), node.is_closed)
        });
        paged.chain(jump_nodes)
    }
}
