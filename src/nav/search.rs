//! One search: started, advanced in slices of any size, finished.
//!
//! Input: a [`NavGrid`] and a [`PathQuery`]. Output: a [`Path`] or a [`PathFailure`]. Whether it runs
//! at once or a node at a time, the path, its cost and the counters are the same: a whole search
//! is [`step`](Search::step) with an unlimited budget. The search owns its scratch memory and
//! borrows the grid only while it steps. What cannot succeed is answered by
//! [`start`](Search::start) without expanding anything: cells off the grid, impassable ones,
//! goals on another island.
//!
//! Algorithms: jump point search (see `jump`) where corners may not be cut, and for four neighbors;
//! a hierarchy of chunks for long ways (see `long_way`); where the way may end on one of many cells, a
//! search from those to the start (see `goals`). Elsewhere A* (Hart, Nilsson & Raphael 1968)
//! with a consistent estimate, so that no node is expanded twice; canonical ordering on uniform cost (steps that
//! something before does as cheaply are left out: Sturtevant & Rabin, "Canonical Orderings on
//! Grids", IJCAI 2016).

mod aim;
mod begin;
mod expand;
mod goals;
mod jump;
mod jump_nodes;
mod long_way;
mod nearest;
mod probe;
mod trace;

pub use long_way::{LONG_MIXED_WAY, LONG_WAY};

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use self::{
    aim::Aim,
    expand::{Uniform, Weighted},
    goals::Ends,
    jump_nodes::JumpNodes,
    long_way::{LongWay, Stage},
    probe::Probe,
};
use super::{
    cell::{CHUNK, Cell},
    goal::{Approach, Goal},
    grid::NavGrid,
    jump_ground::JumpGround,
    layer::Layer,
    node_pool::{NodePool, NodeStore},
    open_list::{BucketHeap, Key, NodeId, OpenList},
    path::{Path, PathCost, PathKind},
    query::{Algorithm, PathFailure, PathQuery},
};

/// What a search has done so far. The same for the same grid and query, however it was sliced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct SearchCounters {
    /// Nodes taken from the open list and followed up.
    pub expansions: u64,
    /// Nodes put on the open list.
    pub generated: u64,
    /// Open nodes to which a cheaper way was found.
    pub improved: u64,
    /// Most entries the open list held.
    pub peak_open: usize,
    /// Portals between chunks followed up; 0 unless the search was hierarchical.
    pub portals: u64,
}

/// A search in slices; see the [module](self). Reuse one for many queries: it keeps its memory.
#[derive(Debug, Default)]
pub struct Search<L: OpenList = BucketHeap> {
    nodes: NodeStore,
    /// The nodes where the search jumps.
    jumps: JumpNodes,
    open: L,
    /// An open node whose f equals that of the node just expanded: the next in turn.
    held: Option<(NodeId, Key)>,
    query: PathQuery,
    /// Where the part under way starts, and what it runs towards.
    origin: (u32, u32),
    aim: Aim,
    /// Where it begins instead, if it runs backwards.
    ends: Ends,
    /// Whether the way may end on the goal cell only.
    is_plain: bool,
    /// What the last part runs towards, while that is another.
    goal: Aim,
    long: LongWay,
    probe: Probe,
    /// Whether it may only look at cells in the corridor.
    is_confined: bool,
    revision: u64,
    size: (u32, u32),
    counters: SearchCounters,
    phase: Phase,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Idle,
    Running,
    Reached(NodeId),
    Failed(PathFailure),
}

impl<L: OpenList> Search<L> {
    /// A search at rest.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins to answer `query`; whatever ran before is dropped.
    ///
    /// # Errors
    /// The reason where the answer is no without searching.
    pub fn start(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
    ) -> Result<(), PathFailure> {
        self.start_part(grid, pool, query, &[], false)
    }

    /// Begins to look for the cheapest way to any of several goals: the query's own and `goals`, in
    /// whatever order. The path ends where it meets one. The hierarchy answers none of these searches.
    ///
    /// # Errors
    /// As [`start`](Self::start), and named after the query's own goal.
    pub fn start_any(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
        goals: &[Goal],
    ) -> Result<(), PathFailure> {
        self.start_part(grid, pool, query, goals, false)
    }

    /// Begins to answer a query, or only the rest of one whose beginning was answered already.
    fn start_part(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
        goals: &[Goal],
        is_rest: bool,
    ) -> Result<(), PathFailure> {
        self.stop(pool);
        self.query = query;
        self.revision = grid.revision();
        self.counters = SearchCounters::default();
        let layer = grid.layer(query.profile).ok_or(PathFailure::UnknownProfile(query.profile))?;
        self.size = layer.size();
        self.origin = nearest::start_cell(grid, layer, &query)?;
        self.aim = Aim::default();
        self.is_plain = goals.is_empty() && query.approach == Approach::Onto;
        self.aim = match self.is_plain {
            true => Aim::find(grid, layer, &query, self.origin)?,
            false => self.aim_at_any(grid, layer, goals)?,
        };
        if self.aim.is_backward {
            self.open_ends(grid, layer, pool);
            return Ok(());
        }
        let distance = self.aim.distance(layer, self.origin.0, self.origin.1);
        let may_be_long = self.aim.kind == PathKind::Complete && goals.is_empty() && distance > 0;
        match LongWay::first_stage(layer, &query, (distance, self.aim.jumps), is_rest) {
            Some(Stage::Probe) if may_be_long => self.start_probe(layer, pool, distance),
            Some(stage) if may_be_long => self.start_route(layer, stage),
            _ => self.open_origin(layer, pool),
        }
        self.phase = Phase::Running;
        Ok(())
    }

    /// Expands up to `budget` nodes and returns how much of the budget it took: one a node, and one
    /// more for each sixteen cells at which a jumping search has looked to both sides. Where many end
    /// cells had to be looked at (in sight of a goal, say) that may be more than there was. `grid` must
    /// be the one the search was started on; after edits ask [`is_stale`](Self::is_stale) first: 0
    /// from an unfinished search that had a budget means that it must be started anew.
    pub fn step(&mut self, grid: &NavGrid, pool: &NodePool, budget: u32) -> u32 {
        let layer = match (&self.phase, grid.layer(self.query.profile)) {
            (Phase::Running, Some(layer)) if layer.size() == self.size => layer,
            _ => return 0,
        };
        let mut spent = 0;
        while spent < budget && !self.is_finished() {
            let (took, goes_on) = if self.long.is_routing() {
                (self.step_route(layer, pool, budget - spent), false)
            } else {
                let took = self.step_cells(grid, layer, pool, self.until_look(budget - spent));
                (took, self.end_part(grid, layer, pool) || self.look_at_probe(layer, pool))
            };
            spent = spent.saturating_add(took);
            if took == 0 && !goes_on {
                break;
            }
        }
        spent
    }

    /// Expands up to `budget` nodes; returns how much of the budget it took.
    fn step_cells(&mut self, grid: &NavGrid, layer: &Layer, pool: &NodePool, budget: u32) -> u32 {
        if self.aim.jumps {
            // Without a map the profile has changed: the search is stale.
            return layer.jumps().map_or(0, |map| {
                self.expand_jumps(&JumpGround::new(layer, map, grid), grid, pool, budget)
            });
        }
        if layer.is_uniform() {
            self.expand(&Uniform::new(layer), grid, layer, pool, budget)
        } else {
            self.expand(&Weighted::new(layer, grid), grid, layer, pool, budget)
        }
    }

    /// Whether there is nothing left to step: [`finish`](Self::finish) has the answer.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        !matches!(self.phase, Phase::Running)
    }

    /// Whether an edit since the start (or since the last call that said no) lies where the
    /// search has looked (for a jumping or hierarchical one, anywhere: it looks far; and for one that
    /// may end on more than the goal cell, as that may be others now), or changes what it runs
    /// towards: it must be started anew then. A change of the grid's size or profiles counts
    /// as such an edit.
    pub fn is_stale(&mut self, grid: &NavGrid) -> bool {
        if (grid.width(), grid.height()) != self.size {
            return true;
        }
        let since = self.revision;
        if grid.revision() == since {
            return false;
        }
        // Scans have looked anywhere, and so have routes and whoever has looked for ends.
        if self.aim.jumps || self.long.is_on() || !self.is_plain {
            return true;
        }
        let is_edited = |&chunk| grid.chunk_revision(chunk) > since;
        if grid.revision() < since || self.nodes.chunks().iter().any(is_edited) {
            return true;
        }
        self.revision = grid.revision();
        !self.aims_as_before(grid)
    }

    /// Whether a start now would run towards the same cells.
    fn aims_as_before(&self, grid: &NavGrid) -> bool {
        let Some(layer) = grid.layer(self.query.profile) else {
            return false;
        };
        let aim = nearest::start_cell(grid, layer, &self.query)
            .and_then(|start| Aim::find(grid, layer, &self.query, start));
        let what = |aim: &Aim| (aim.slack, aim.kind, aim.jumps);
        aim.is_ok_and(|aim| what(&aim) == what(&self.aim))
    }

    /// The answer, and the search at rest again. Unfinished searches answer
    /// [`PathFailure::Canceled`].
    ///
    /// # Errors
    /// Why there is no path.
    pub fn finish(&mut self, grid: &NavGrid, pool: &NodePool) -> Result<Path, PathFailure> {
        let result = match self.phase {
            Phase::Reached(node) => {
                let rest = self.trace(grid, node);
                Ok(self.joined(rest))
            }
            Phase::Failed(failure) => Err(failure),
            Phase::Idle | Phase::Running => Err(PathFailure::Canceled),
        };
        self.stop(pool);
        result
    }

    /// Drops whatever is running and gives its memory back.
    pub fn stop(&mut self, pool: &NodePool) {
        self.clear_nodes(pool);
        self.ends.clear();
        self.long.stop();
        self.is_confined = false;
        self.phase = Phase::Idle;
    }

    fn clear_nodes(&mut self, pool: &NodePool) {
        self.nodes.finish(pool);
        self.jumps.clear();
        self.held = None;
    }

    /// The query last started.
    #[must_use]
    pub const fn query(&self) -> PathQuery {
        self.query
    }

    /// What the start took of a time budget, in expansions: looking for the nearest reachable
    /// cell takes about 40 a chunk, and one a goal, a quarter a row and one a cell looking for where
    /// ways may end.
    #[must_use]
    pub const fn start_price(&self) -> u32 {
        self.aim.price
    }

    /// What an expansion takes of a time budget, next to one on uniform cost: 1; 3 on mixed
    /// terrain, where all eight neighbors must be looked at; where it jumps 4, and 5 on mixed terrain
    /// (measured: about 36, 110, 80 to 225 and 190 ns).
    #[must_use]
    pub fn price(&self, grid: &NavGrid) -> u32 {
        let is_uniform = grid.layer(self.query.profile).is_none_or(Layer::is_uniform);
        match (self.aim.jumps, is_uniform) {
            (false, true) => 1,
            (false, false) => 3,
            (true, true) => 4,
            (true, false) => 5,
        }
    }

    /// The algorithm that answers the query last started, chosen or asked for:
    /// [`Hierarchical`](Algorithm::Hierarchical), [`JumpPoint`](Algorithm::JumpPoint),
    /// [`AStar`](Algorithm::AStar) or [`Dijkstra`](Algorithm::Dijkstra).
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        if self.long.is_on() {
            Algorithm::Hierarchical
        } else if self.aim.jumps {
            Algorithm::JumpPoint
        } else if self.query.algorithm == Algorithm::Dijkstra {
            Algorithm::Dijkstra
        } else {
            Algorithm::AStar
        }
    }

    /// What was done since the start.
    #[must_use]
    pub const fn counters(&self) -> SearchCounters {
        self.counters
    }

    /// Memory held at the moment, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let nodes = self.nodes.bytes() + self.jumps.bytes();
        nodes + self.open.bytes() + self.ends.bytes() + self.long.bytes()
    }

    /// The open list, to look into.
    #[must_use]
    pub const fn open_list(&self) -> &L {
        &self.open
    }

    /// The cell of a node of the running search.
    ///
    /// # Panics
    /// If this search has no such node.
    #[must_use]
    pub fn cell_of(&self, grid: &NavGrid, node: NodeId) -> Cell {
        let (x, y) = self.place(node);
        grid.global(x, y)
    }

    /// A key's f or h, or the difference of two, as the cost of a path.
    #[must_use]
    pub fn cost_of(&self, grid: &NavGrid, units: u32) -> PathCost {
        let unit = grid.layer(self.query.profile).map_or(1, Layer::unit);
        PathCost(u64::from(units) * u64::from(unit))
    }

    /// The cells looked at so far and whether each was expanded, for drawing.
    pub fn explored<'a>(&'a self, grid: &'a NavGrid) -> impl Iterator<Item = (Cell, bool)> + 'a {
        let (width, height) = self.size;
        let cells = self.nodes.chunks().iter().flat_map(|&(chunk_x, chunk_y)| {
            let side = CHUNK;
            (0..side * side).map(move |i| (chunk_x * side + i % side, chunk_y * side + i / side))
        });
        let paged =
            cells.filter(move |&(x, y)| x < width && y < height).filter_map(move |(x, y)| {
                let node = self.nodes.get(self.nodes.find(x, y)?);
                node.is_of(self.nodes.generation()).then(|| (grid.global(x, y), node.is_closed()))
            });
        let jumps = self.jumps.iter().map(|node| (grid.global(node.x, node.y), node.is_closed));
        paged.chain(jumps)
    }

    fn place(&self, node: NodeId) -> (u32, u32) {
        if self.aim.jumps {
            let node = self.jumps.get(node);
            (node.x, node.y)
        } else {
            self.nodes.place(node)
        }
    }
}

impl NavGrid {
    /// The cheapest path for a unit of `profile`, searched at once. For many queries keep a
    /// [`Search`] and a [`NodePool`], which spares their set-up.
    ///
    /// # Errors
    /// Why there is no path.
    pub fn find_path(
        &self,
        profile: super::terrain::ProfileId,
        start: Cell,
        goal: Cell,
    ) -> Result<Path, PathFailure> {
        let pool = NodePool::default();
        let mut search = <Search>::new();
        search.start(self, &pool, PathQuery::new(start, goal).profile(profile))?;
        search.step(self, &pool, u32::MAX);
        search.finish(self, &pool)
    }
}
