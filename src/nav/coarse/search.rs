//! A* from portal to portal: started, advanced in slices of any size, traced back.
//!
//! Input: a graph, and two passable cells (of one island, or the search looks at all of the start's
//! before it fails). Output: a [`Route`]. Slices do not change it. Its cost is an estimate, and the
//! search is not meant to find the lowest one: the distance to the goal counts for a little more
//! than it is (see [`Greed`]), so that it runs on towards the goal where ways differ by little, as
//! among scattered rocks (weighted A*: I. Pohl, "Heuristic Search Viewed as Path Finding in a Graph",
//! Artificial Intelligence 1970). No way is dearer than the cheapest by more than that; no node is
//! expanded twice.
//!
//! With such an estimate f may fall along a way, which the bucket heap does not allow; so the open
//! list is the binary heap. It also lets the deepest of equals come first, and is short here.
//!
//! A portal is entered from one of its chunks and expanded into the other only: whatever it leads
//! to in the first one was reached as cheaply before.

use super::{
    Place,
    graph::{CoarseGraph, FLAT},
    nodes::{CoarseNode, CoarseNodes, GOAL, START},
};
use crate::nav::{
    open_list::{BinaryHeap, Key, NodeId, OpenList},
    region::Regions,
};

/// What the estimate counts for, in sixteenths: at least 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Greed(u32);

impl Greed {
    /// For a way to be followed to its end.
    pub(crate) const LITTLE: Self = Self(17);
    /// For a direction to set out in: two to three times as fast.
    pub(crate) const MUCH: Self = Self(20);
}

/// An open list that takes more bytes is given back when a search ends.
const MOST_IDLE: usize = 1 << 19;

/// A coarse search; see the [module](self). Reuse one for many: it keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct CoarseSearch {
    nodes: CoarseNodes,
    open: BinaryHeap,
    goal: Goal,
    /// Revision and size of the graph.
    graph: (u64, (u32, u32)),
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default)]
struct Goal {
    place: Place,
    chunk: (u32, u32),
    label: u16,
    /// What a unit of distance counts for, in the parts of [`WHOLE`].
    per_distance: u32,
}

/// Parts into which a unit of cost is divided in estimates.
const WHOLE: u64 = 16 * FLAT as u64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Running,
    Reached,
    Failed,
}

/// A way across chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Route {
    /// Columns and rows of chunks from that of the start to that of the goal, each beside the one
    /// before.
    pub(crate) chunks: Vec<(u32, u32)>,
    /// The first cell in every chunk but the first of these, and then the goal.
    pub(crate) waypoints: Vec<(u32, u32)>,
    /// Estimated cost: weight over the cheapest ground.
    pub(crate) cost: u32,
}

impl CoarseSearch {
    /// Begins to look for a route; whatever ran before is dropped. Both cells are passable.
    pub(crate) fn start(
        &mut self,
        graph: &CoarseGraph,
        regions: &Regions,
        (start, goal): ((u32, u32), (u32, u32)),
        Greed(greed): Greed,
    ) {
        self.stop();
        self.graph = (graph.revision(), graph.chunks());
        let place = Place::of_cell(goal.0, goal.1);
        self.goal = Goal {
            place,
            chunk: place.chunk(),
            label: regions.label(goal.0, goal.1),
            per_distance: greed * graph.lowest_ground(),
        };
        let start = CoarseNode {
            g: 0,
            parent: START,
            place: Place::of_cell(start.0, start.1),
            label: regions.label(start.0, start.1),
            leads_ahead: false,
            is_closed: false,
        };
        let (columns, rows) = graph.chunks();
        self.nodes.start(columns as usize * rows as usize, start);
        let h = self.goal.estimate(graph, start.place);
        self.open.insert(START, Key { f: h, h });
        self.phase = Phase::Running;
    }

    /// Expands up to `budget` portals and returns how many it took. 0 from an unfinished search
    /// that had a budget means that it is stale.
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

    /// Whether the graph was repaired since the start: the search must be started anew then.
    pub(crate) fn is_stale(&self, graph: &CoarseGraph) -> bool {
        (graph.revision(), graph.chunks()) != self.graph
    }

    /// Writes down the route; says whether there is one.
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
        while id != START {
            route.waypoints.push(node.place.cell_beside(node.leads_ahead));
            id = node.parent;
            node = self.nodes.get(id);
            route.chunks.push(node.place.chunk_beside(node.leads_ahead));
        }
        route.waypoints.reverse();
        route.chunks.reverse();
        true
    }

    /// Drops whatever is running.
    pub(crate) fn stop(&mut self) {
        self.nodes.clear();
        if self.open.bytes() > MOST_IDLE {
            self.open = BinaryHeap::default();
        }
        self.open.reset(0, 0);
        self.phase = Phase::Idle;
    }

    /// Memory held at the moment, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.bytes() + self.open.bytes()
    }

    fn expand(&mut self, graph: &CoarseGraph, id: NodeId) {
        let node = self.nodes.close(id);
        let chunk = node.place.chunk_beside(node.leads_ahead);
        let ground = graph.ground(chunk);
        // At most 128 half cells on the dearest ground: it fits.
        let g_at = |place| {
            let cost = graph.distance(node.place, place) * ground / FLAT;
            // Only `u32::MAX` is unknown; where costs do not fit, order is lost, but no way.
            node.g.saturating_add(cost).min(u32::MAX - 1)
        };
        if (chunk, node.label) == (self.goal.chunk, self.goal.label) {
            let (place, label) = (self.goal.place, self.goal.label);
            let g = g_at(place);
            let (parent, leads_ahead, is_closed) = (id, false, false);
            let way = CoarseNode { g, parent, place, label, leads_ahead, is_closed };
            self.reach(graph, GOAL, way);
        }
        graph.for_each_exit(chunk, node.label, |exit| {
            let way = CoarseNode {
                g: g_at(exit.place),
                parent: id,
                place: exit.place,
                label: exit.label,
                leads_ahead: exit.leads_ahead,
                is_closed: false,
            };
            let to = self.nodes.id(&exit);
            self.reach(graph, to, way);
        });
    }

    /// Takes note of a way to a node.
    #[inline]
    fn reach(&mut self, graph: &CoarseGraph, id: NodeId, way: CoarseNode) {
        let Some(known) = self.nodes.get_mut(id) else {
            return;
        };
        if known.is_closed || known.g <= way.g {
            return;
        }
        let is_new = known.g == u32::MAX;
        *known = way;
        let h = self.goal.estimate(graph, way.place);
        let key = Key { f: way.g.saturating_add(h), h };
        if is_new {
            self.open.insert(id, key);
        } else {
            self.open.improve(id, key);
        }
    }
}

impl Goal {
    /// Cost still to go from a place, and a little more.
    #[inline]
    fn estimate(&self, graph: &CoarseGraph, place: Place) -> u32 {
        let distance = u64::from(graph.distance(place, self.place));
        (distance * u64::from(self.per_distance) / WHOLE) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nav::{
        cell::CHUNK,
        coarse::worlds::{World, hash},
    };

    fn find(
        search: &mut CoarseSearch,
        (world, graph): (&World, &CoarseGraph),
        (start, goal): ((u32, u32), (u32, u32)),
        budget: u32,
    ) -> (Option<Route>, u32) {
        search.start(graph, &world.regions, (start, goal), Greed::LITTLE);
        let mut spent = 0;
        while !search.is_finished() {
            spent += search.step(graph, budget);
        }
        let mut route = Route::default();
        (search.trace(&mut route).then_some(route), spent)
    }

    /// Passable cells, spread over the grid.
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
            let ((x, y), (next_x, next_y)) = (pair[0], pair[1]);
            assert_eq!(x.abs_diff(next_x) + y.abs_diff(next_y), 1);
            assert_eq!(chunk_of(waypoint), pair[1]);
            // The cell before it, across the border, is passable, too.
            let (dx, dy) = (x as i32 - next_x as i32, y as i32 - next_y as i32);
            let before = (waypoint.0.wrapping_add_signed(dx), waypoint.1.wrapping_add_signed(dy));
            assert_eq!(chunk_of(before), pair[0]);
            for (x, y) in [waypoint, before] {
                let island = world.regions.island(x, y);
                assert!(island.is_some());
                assert_eq!(island, world.regions.island(start.0, start.1));
            }
        }
    }

    fn side() -> impl Strategy<Value = u32> {
        prop_oneof![1 => Just(1u32), 2 => 1u32..70, 4 => 70u32..260]
    }

    proptest! {
        #[test]
        fn there_is_a_route_exactly_where_there_is_a_way(
            size in (side(), side()),
            walls in 0u64..65,
            is_mixed: bool,
            seed: u64,
        ) {
            let world = World::random(size, walls, seed);
            let lowest = is_mixed.then_some(128);
            let graph = world.graph(lowest, |x, y| world.ground(x, y));
            let [mut search, mut sliced] = [(); 2].map(|()| CoarseSearch::default());
            let cells = cells(&world, seed);
            for (&start, &goal) in cells.iter().zip(cells.iter().rev()) {
                let (route, spent) = find(&mut search, (&world, &graph), (start, goal), u32::MAX);
                let island = |(x, y): (u32, u32)| world.regions.island(x, y);
                prop_assert_eq!(route.is_some(), island(start) == island(goal));
                if let Some(route) = &route {
                    check(route, &world, start, goal);
                }
                let again = find(&mut sliced, (&world, &graph), (start, goal), 1);
                prop_assert_eq!((route, spent), again);
            }
        }
    }

    #[test]
    fn open_ground_costs_what_it_does_and_little_is_looked_at() {
        let world = World::new((1024, 1024), |_, _| true);
        let graph = world.uniform();
        let mut search = CoarseSearch::default();
        for (start, goal) in [
            ((0, 0), (1023, 1023)),
            ((0, 0), (1023, 0)),
            ((31, 1000), (31, 0)),
            ((5, 17), (1000, 517)),
            ((1020, 3), (40, 900)),
            ((700, 1023), (100, 101)),
        ] {
            let (route, spent) = find(&mut search, (&world, &graph), (start, goal), u32::MAX);
            let route = route.unwrap();
            check(&route, &world, start, goal);
            let places = [start, goal].map(|(x, y)| Place::of_cell(x, y));
            let exact = graph.distance(places[0], places[1]) / 2;
            assert!(route.cost + 1 >= exact, "{start:?} {goal:?}");
            assert!(route.cost * 100 <= exact * 103, "{start:?} {goal:?}: {} {exact}", route.cost);
            let most = 4 * route.chunks.len() as u32 + 64;
            assert!(spent <= most, "{start:?} {goal:?}: {spent} portals expanded");
        }
    }

    #[test]
    fn a_route_goes_around_dear_ground() {
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
        search.start(&graph, &world.regions, ((0, 0), (199, 99)), Greed::LITTLE);
        assert_eq!(search.step(&graph, 2), 2);
        graph.mark(10, 10, 4, 4);
        graph.repair(&world.bits, &world.regions, |_, _| None);
        assert!(search.is_stale(&graph) && !search.is_finished());
        assert_eq!(search.step(&graph, 2), 0);
        let mut route = Route::default();
        assert!(!search.trace(&mut route));
    }
}
