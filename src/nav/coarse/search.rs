//! A* from portal to portal: started, advanced in slices of any size, traced back.
//!
//! Input: a graph, and two passable cells (of one connected region; otherwise the search examines the whole
//! region of the start before it fails). Output: a [`Route`], independent of the slices. Its cost is an
//! estimate, and the search is not meant to find the lowest one: the heuristic is weighted (see
//! [`LOW_HEURISTIC_WEIGHT`]), so that the search advances towards the goal where paths differ by little, as
//! among scattered rocks (weighted A*: I. Pohl, "Heuristic Search Viewed as Path Finding in a Graph",
//! Artificial Intelligence 1970). No node is expanded twice.
//!
//! **Routes keep to the straight line.** On open terrain all sequences of chunks that only approach the goal cost the same, but
//! among obstacles a path has the more choice the straighter it can go. So estimates grow with the distance from the line
//! between start and goal, by an eighth of it. Paths through scattered obstacles are then a fraction of a percent too long
//! instead of two percent, and found earlier.
//!
//! With such a heuristic f may fall along a path, which the bucket heap does not allow; so the open list is
//! the binary heap. It also prefers the deepest of equal nodes, and is short here.
//!
//! A portal is entered from one of its chunks and expanded only into the other: whatever it leads to in the
//! first one was reached as cheaply before.

use super::{
    HalfCell,
    graph::{CoarseGraph, Exit, UNIT_COST},
    nodes::{CoarseNode, CoarseNodes, GOAL, START, UNREACHED},
};
use crate::nav::{Key, NodeId, OpenList, Regions, STRAIGHT, open_list::BinaryHeap};

/// Weight of the heuristic for a route that is followed to its end, in sixteenths: at least 16.
pub(crate) const LOW_HEURISTIC_WEIGHT: u32 = 17;
/// The same for the first direction of a path: two to three times as fast.
pub(crate) const HIGH_HEURISTIC_WEIGHT: u32 = 20;

/// An open list that takes more bytes is released when a search ends.
const MAX_IDLE_BYTES: usize = 1 << 19;

/// A coarse search; see the [module](self). Reuse one for many routes: it keeps its memory.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CoarseSearch {
    nodes: CoarseNodes,
    open: BinaryHeap,
    goal: SearchGoal,
    /// Revision and size of the graph.
    graph_version: (u64, (u32, u32)),
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct SearchGoal {
    position: HalfCell,
    chunk: (u32, u32),
    label: u16,
    /// Estimate per unit of distance; [`ESTIMATE_PARTS`] make a unit of cost.
    per_distance: u32,
    /// Half cells from the start to the goal.
    line: (i64, i64),
    /// Distance added per square of half cells between a position and that line; [`AREA_PARTS`] make a unit.
    per_area: u64,
}

/// Parts into which a unit of cost is divided in estimates.
const ESTIMATE_PARTS: u64 = 16 * UNIT_COST as u64;
/// Parts into which a unit of distance is divided for each square of half cells.
const AREA_PARTS: u64 = 1 << 16;
/// This part of a position's distance from the straight line is added to its distance from the goal. With a half, routes get
/// longer on maps with large obstacles; with a sixteenth, among small obstacles.
const OFF_LINE_DIVISOR: u64 = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    #[default]
    Idle,
    Running,
    Reached,
    Failed,
}

/// A path across chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Route {
    /// The chunks from that of the start to that of the goal (column and row), each beside the one before or past its corner.
    pub(crate) chunks: Vec<(u32, u32)>,
    /// The first cell in every chunk after the first, and then the goal.
    pub(crate) waypoints: Vec<(u32, u32)>,
    /// Estimated cost, as weight on the cheapest terrain.
    pub(crate) cost: u32,
}

impl CoarseSearch {
    /// Begins to search for a route, with [`LOW_HEURISTIC_WEIGHT`] or [`HIGH_HEURISTIC_WEIGHT`]; drops any
    /// previous search. Both cells are passable.
    pub(crate) fn start(
        &mut self,
        graph: &CoarseGraph,
        regions: &Regions,
        (start, goal): ((u32, u32), (u32, u32)),
        weight: u32,
    ) {
        self.stop();
        self.graph_version = (graph.revision, graph.chunks);
        let components = graph.components(regions);
        let label = |(x, y): (u32, u32)| components.label(x, y);
        let [from, position] = [start, goal].map(|(x, y)| HalfCell::from_cell(x, y));
        let distance = u64::from(graph.distance(from, position).max(1));
        self.goal = SearchGoal {
            position,
            chunk: position.chunk_entered(None),
            label: label(goal),
            per_distance: weight * graph.lowest_chunk_cost(),
            line: from.offset_to(position),
            per_area: u64::from(STRAIGHT).pow(2) * AREA_PARTS / (OFF_LINE_DIVISOR * distance),
        };
        let start = CoarseNode { g: 0, position: from, label: label(start), ..UNREACHED };
        let (columns, rows) = graph.chunks;
        self.nodes.start(columns as usize * rows as usize, start);
        let h = self.goal.estimate(graph, start.position);
        self.open.insert(START, Key { f: h, h });
        self.phase = Phase::Running;
    }

    /// Expands up to `budget` portals and returns how many. 0 from an unfinished search that had a budget
    /// means that it is stale.
    pub(crate) fn step(&mut self, graph: &CoarseGraph, budget: u32) -> u32 {
        let mut spent = 0;
        if self.is_stale(graph) {
            return spent;
        }
        while spent < budget && self.phase == Phase::Running {
            spent += 1;
            match self.open.pop() {
                None => self.phase = Phase::Failed,
                Some(GOAL) => self.phase = Phase::Reached,
                Some(id) => self.expand(graph, id),
            }
        }
        spent
    }

    /// Whether there is nothing left to step.
    pub(crate) fn is_finished(&self) -> bool {
        self.phase != Phase::Running
    }

    /// Whether the graph was repaired since the start: the search must then be started again.
    pub(crate) fn is_stale(&self, graph: &CoarseGraph) -> bool {
        (graph.revision, graph.chunks) != self.graph_version
    }

    /// Writes the route; returns whether there is one.
    pub(crate) fn trace(&self, route: &mut Route) -> bool {
        route.chunks.clear();
        route.waypoints.clear();
        route.cost = 0;
        if self.phase != Phase::Reached {
            return false;
        }
        let mut node = self.nodes.get(GOAL);
        route.cost = node.g / 2;
        let mut id = GOAL;
        let chunk_of = |node: CoarseNode| node.position.chunk_entered(node.entered_by);
        while id != START {
            let before = self.nodes.get(node.parent);
            // A ford may lead to the same chunk.
            if id == GOAL || chunk_of(node) != chunk_of(before) {
                route.waypoints.push(node.position.cell_entered(node.entered_by));
                route.chunks.push(chunk_of(before));
            }
            (id, node) = (node.parent, before);
        }
        route.waypoints.reverse();
        route.chunks.reverse();
        true
    }

    /// Drops the current search.
    pub(crate) fn stop(&mut self) {
        self.nodes.clear();
        if self.open.bytes() > MAX_IDLE_BYTES {
            self.open = BinaryHeap::default();
        }
        self.open.reset(0, 0);
        self.phase = Phase::Idle;
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.bytes() + self.open.bytes()
    }

    fn expand(&mut self, graph: &CoarseGraph, id: NodeId) {
        let node = self.nodes.close(id);
        let chunk = node.position.chunk_entered(node.entered_by);
        let chunk_cost = graph.chunk_cost(chunk);
        // At most 128 half cells on the most expensive terrain: the product fits.
        let g_at = |position| {
            let cost = graph.distance(node.position, position) * chunk_cost / UNIT_COST;
            // `u32::MAX` means unknown. Saturated costs can no longer be compared, but no path is lost.
            node.g.saturating_add(cost).min(u32::MAX - 1)
        };
        if (chunk, node.label) == (self.goal.chunk, self.goal.label) {
            let SearchGoal { position, label, .. } = self.goal;
            let g = g_at(position);
            self.relax(graph, GOAL, CoarseNode { g, parent: id, position, label, ..UNREACHED });
        }
        graph.for_each_exit(chunk, node.label, |exit| {
            let Exit { position, label, direction, cost, .. } = exit;
            let g = g_at(position).saturating_add(cost).min(u32::MAX - 1);
            let to = self.nodes.id(&exit);
            let entered_by = Some(direction);
            let node = CoarseNode { g, parent: id, position, label, entered_by, ..UNREACHED };
            self.relax(graph, to, node);
        });
    }

    /// Records a path to a node if it is cheaper than the known one.
    #[inline]
    fn relax(&mut self, graph: &CoarseGraph, id: NodeId, node: CoarseNode) {
        let Some(known) = self.nodes.get_mut(id) else {
            return;
        };
        if known.is_closed || known.g <= node.g {
            return;
        }
        let is_new = known.g == u32::MAX;
        *known = node;
        let h = self.goal.estimate(graph, node.position);
        let key = Key { f: node.g.saturating_add(h), h };
        if is_new {
            self.open.insert(id, key);
        } else {
            self.open.improve(id, key);
        }
    }
}

impl SearchGoal {
    /// Returns the weighted estimate of the cost from a position to the goal.
    #[inline]
    fn estimate(&self, graph: &CoarseGraph, position: HalfCell) -> u32 {
        let (dx, dy) = position.offset_to(self.position);
        let area = (dx * self.line.1 - dy * self.line.0).unsigned_abs();
        let distance =
            u64::from(graph.distance(position, self.position)) + area * self.per_area / AREA_PARTS;
        (distance * u64::from(self.per_distance) / ESTIMATE_PARTS) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nav::{
        cell::CHUNK,
        coarse::worlds::{JOINTS, World, hash},
    };

    fn find(
        search: &mut CoarseSearch,
        (world, graph): (&World, &CoarseGraph),
        (start, goal): ((u32, u32), (u32, u32)),
        budget: u32,
    ) -> (Option<Route>, u32) {
        search.start(graph, &world.regions, (start, goal), LOW_HEURISTIC_WEIGHT);
        let mut spent = 0;
        while !search.is_finished() {
            spent += search.step(graph, budget);
        }
        let mut route = Route::default();
        (search.trace(&mut route).then_some(route), spent)
    }

    /// Returns passable cells, spread over the grid.
    fn cells(world: &World, seed: u64) -> Vec<(u32, u32)> {
        let picks = (0..40).map(|pick| {
            let at = |side: u32, salt: u32| (hash(pick, salt, seed) % u64::from(side)) as u32;
            (at(world.size.0, 0), at(world.size.1, 1))
        });
        picks.filter(|&(x, y)| world.bits.get(x, y)).take(8).collect()
    }

    fn chunk_of((x, y): (u32, u32)) -> (u32, u32) {
        (x / CHUNK, y / CHUNK)
    }

    fn check(route: &Route, world: &World, start: (u32, u32), goal: (u32, u32)) {
        assert_eq!(route.chunks.len(), route.waypoints.len());
        assert_eq!(route.chunks.first(), Some(&chunk_of(start)));
        assert_eq!(route.chunks.last(), Some(&chunk_of(goal)));
        assert_eq!(route.waypoints.last(), Some(&goal));
        for (pair, &waypoint) in route.chunks.windows(2).zip(&route.waypoints) {
            assert_eq!(chunk_of(waypoint), pair[1]);
            // A step from the chunk before leads there.
            let mut before = world.steps().map(|step| step.cell_at(waypoint.0, waypoint.1, 1));
            let region = |(x, y): (u32, u32)| world.regions.region(x, y);
            assert_eq!(region(waypoint), region(start));
            assert!(before.any(|cell| {
                chunk_of(cell) == pair[0]
                    && world.is_passable(cell)
                    && region(cell) == region(start)
            }));
        }
    }

    fn side() -> impl Strategy<Value = u32> {
        prop_oneof![1 => Just(1u32), 2 => 1u32..70, 4 => 70u32..260]
    }

    proptest! {
        #[test]
        fn there_is_a_route_exactly_within_a_connected_region(
            size in (side(), side()),
            walls in 0u64..65,
            is_weighted: bool,
            joints in 0usize..3,
            edges in prop_oneof![Just(None), (0u64..30).prop_map(Some)],
            seed: u64,
        ) {
            let world = World::random(size, walls, (JOINTS[joints], seed));
            let world = edges.into_iter().fold(world, |world, edges| world.with_edges(edges, seed));
            let lowest = is_weighted.then_some(128);
            let graph = world.graph(lowest, |x, y| world.mean_excess(x, y));
            let [mut search, mut sliced] = [(); 2].map(|()| CoarseSearch::default());
            let cells = cells(&world, seed);
            for (&start, &goal) in cells.iter().zip(cells.iter().rev()) {
                let (route, spent) = find(&mut search, (&world, &graph), (start, goal), u32::MAX);
                let region = |(x, y): (u32, u32)| world.regions.region(x, y);
                prop_assert_eq!(route.is_some(), region(start) == region(goal));
                if let Some(route) = &route {
                    check(route, &world, start, goal);
                }
                let again = find(&mut sliced, (&world, &graph), (start, goal), 1);
                prop_assert_eq!((route, spent), again);
            }
        }
    }

    #[test]
    fn open_terrain_is_estimated_well_with_few_expansions() {
        for joints in JOINTS {
            check_open_terrain(&World::with_joints((1024, 1024), joints, |_, _| true));
        }
    }

    fn check_open_terrain(world: &World) {
        let graph = world.uniform();
        let mut search = CoarseSearch::default();
        for (start, goal) in [
            ((0, 0), (1023, 1023)),
            ((0, 1023), (1023, 0)),
            ((0, 0), (1023, 0)),
            ((31, 1000), (31, 0)),
            ((5, 17), (1000, 517)),
            ((1020, 3), (40, 900)),
            ((700, 1023), (100, 101)),
        ] {
            let (route, spent) = find(&mut search, (world, &graph), (start, goal), u32::MAX);
            let route = route.unwrap();
            check(&route, world, start, goal);
            let positions = [start, goal].map(|(x, y)| HalfCell::from_cell(x, y));
            let exact = graph.distance(positions[0], positions[1]) / 2;
            assert!(route.cost + 1 >= exact, "{start:?} {goal:?}");
            assert!(route.cost * 100 <= exact * 103, "{start:?} {goal:?}: {} {exact}", route.cost);
            let most = 4 * route.chunks.len() as u32 + 64;
            assert!(spent <= most, "{start:?} {goal:?}: {spent} portals expanded");
        }
    }

    #[test]
    fn a_route_avoids_expensive_terrain() {
        let world = World::new((160, 160), |_, _| true);
        let swamp = |x: u32, y: u32| Some(if x == 2 && y != 4 { 100_000 } else { 0 });
        let graph = world.graph(Some(32), swamp);
        let mut search = CoarseSearch::default();
        let (route, _) = find(&mut search, (&world, &graph), ((3, 3), (150, 3)), u32::MAX);
        let route = route.unwrap();
        assert!(route.chunks.contains(&(2, 4)));
        assert!(!route.chunks.contains(&(2, 0)));
    }

    #[test]
    fn an_edit_makes_a_search_stale() {
        let world = World::new((200, 100), |_, _| true);
        let mut graph = world.uniform();
        let mut search = CoarseSearch::default();
        search.start(&graph, &world.regions, ((0, 0), (199, 99)), LOW_HEURISTIC_WEIGHT);
        assert_eq!(search.step(&graph, 2), 2);
        let edited = std::iter::once((10, 10, 4, 4));
        graph.repair(edited, (world.connections(), &world.regions), |_, _| None);
        assert!(search.is_stale(&graph) && !search.is_finished());
        assert_eq!(search.step(&graph, 2), 0);
        let mut route = Route::default();
        assert!(!search.trace(&mut route));
    }
}
