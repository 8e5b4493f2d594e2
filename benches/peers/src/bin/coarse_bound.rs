//! Upper bound of the gain of a heuristic from chunk borders, for exact searches on weighted terrain.
//!
//! Input: names of maps (default: the six with really weighted terrain), `--data DIR`, `--sample N`,
//! `--rounds R`; queries and costs are those of `tilepath-peers --profile weighted`. Output: a line per
//! map. Purpose: a coarse graph with path costs could give searches a better heuristic than distance
//! over the cheapest terrain. This program measures the possible gain before such a graph is built. Each
//! query is answered by
//!
//! 1. **plain**: textbook A*, all eight neighbors; the heuristic is the octile distance to the goal over
//!    the cheapest terrain of the map. It finds the cost only, and no path.
//! 2. **oracle**: the same A*; in other chunks than the goal's the heuristic is the least sum of octile
//!    distance to a cell from which a step leads out of the chunk, and *exact* cost from there to the
//!    goal (or the plain heuristic, where that is higher). This is the best possible heuristic from
//!    border data, as long as octile distances lead to the borders. Its preparation is not timed.
//! 3. **real**: the same with a graph that could be maintained under edits. Portals are runs of
//!    crossings of a border, and diagonal steps across corners of chunks; each has two sides, which are
//!    sets of cells. Edges: the lowest cost between any cells of two sides inside their chunk, and the
//!    cheapest step across. A backward sweep from the goal gives a lower bound of the path cost from each
//!    side. The graph is built beforehand; the sweep is timed until all sides in the start's chunk are
//!    settled (no search could begin with a good heuristic before) and as a whole.
//! 4. **exact**: this crate's `Algorithm::Exact`. Mostly it uses jump points: its expansions are few and
//!    expensive.
//!
//! Heuristics 2 and 3 are admissible but not consistent (they may decrease by more than a step's cost):
//! cells to which a cheaper path is found later are expanded again; this is included, and printed
//! separately. Ratios of expansions are to plain: the geometric mean over queries, and that of sums in
//! brackets. A query's times are medians of its rounds, a map's are medians over its queries. All four
//! costs must be equal: otherwise it panics with the query. Exit status 1 on bad input.

use std::{cmp::Reverse, collections::BinaryHeap, process::ExitCode, time::Instant};

use bevy_tilepath::{
    nav::{
        cell, field::DistanceField, moving_ai::ScenarioRow, node_pool::NodePool, search::Search,
    },
    prelude::*,
};

#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../board.rs"]
mod board;
#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../course.rs"]
mod course;

use board::{Board, Rule, octile};
use course::Course;
use options::Options;

/// Cells along one side of a chunk.
const CHUNK: i32 = cell::CHUNK as i32;
/// Cost where there is no path.
const NEVER: u32 = u32::MAX;
const HEAD: &str = "\
| map | queries | plain | oracle | real | exact | oracle again % | real again % | plain µs | exact µs \
| sweep to start µs | sweep µs |\n|---|---|---|---|---|---|---|---|---|---|---|---|";

/// The command line, in the form that `course` reads: one map at a time.
mod options {
    use std::path::{Path, PathBuf};

    use lexopt::prelude::*;

    /// Maps on which expensive terrain is not in separate areas.
    const MIXED: [&str; 6] = ["arena", "brc202d", "den312d", "ht_chantry", "lak400d", "orz900d"];
    const FAMILIES: [&str; 4] = ["dao", "da2", "bg512", "sc1"];

    pub struct Options {
        data: PathBuf,
        /// Names of maps.
        pub maps: Vec<String>,
        /// Queries per map.
        pub sample: usize,
        /// Timed runs of each query.
        pub rounds: usize,
        /// The map to load next.
        map: PathBuf,
        scenario: PathBuf,
        /// Used by `course` if there is no single map.
        pub families: Vec<String>,
    }

    impl Options {
        pub fn from_args() -> Result<Self, lexopt::Error> {
            let (mut data, mut maps) = (PathBuf::from("../../../shared/data/movingai"), Vec::new());
            let (mut sample, mut rounds) = (100, 5_usize);
            let mut parser = lexopt::Parser::from_env();
            while let Some(argument) = parser.next()? {
                match argument {
                    Long("data") => data = parser.value()?.into(),
                    Long("sample") => sample = parser.value()?.parse()?,
                    Long("rounds") => rounds = parser.value()?.parse()?,
                    Value(map) => maps.push(map.string()?),
                    _ => return Err(argument.unexpected()),
                }
            }
            if maps.is_empty() {
                maps = MIXED.map(String::from).to_vec();
            }
            let (map, scenario, families) = (PathBuf::new(), PathBuf::new(), Vec::new());
            Ok(Self { data, maps, sample, rounds: rounds.max(1), map, scenario, families })
        }

        /// Searches all families for a map.
        pub fn choose(&mut self, name: &str) -> Result<(), String> {
            let place = |family| self.data.join(family).join(format!("{name}.map"));
            let map = FAMILIES.iter().map(place).find(|map| map.is_file());
            self.map = map.ok_or_else(|| format!("no {name}.map under {}", self.data.display()))?;
            self.scenario = self.map.with_extension("map.scen");
            Ok(())
        }

        pub fn single(&self) -> Option<(&Path, &Path)> {
            Some((&self.map, &self.scenario))
        }

        pub fn data(&self) -> Result<PathBuf, String> {
            Ok(self.data.clone())
        }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("coarse_bound: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut options = Options::from_args().map_err(|error| error.to_string())?;
    println!("{HEAD}");
    for map in options.maps.clone() {
        options.choose(&map)?;
        for files in course::list(&options)? {
            let course = files.load(Rule::Weighted, options.sample)?;
            let clock = Instant::now();
            let mut bench = Bench::new(&course);
            let query = |row| bench.query(row, options.rounds);
            print_line(&map, &course.rows.iter().map(query).collect::<Vec<_>>());
            let (sides, edges) = (bench.graph.sides.len(), bench.graph.edges.len());
            eprintln!(
                "{map}: {sides} sides, {edges} edges, {:.1} s",
                clock.elapsed().as_secs_f64()
            );
        }
    }
    Ok(())
}

fn print_line(map: &str, lines: &[Line]) {
    let count = lines.len();
    let expansions = |line: &Line, lane: usize| line.runs[lane].expansions.max(1) as f64;
    let sum = |lane: usize| lines.iter().map(|line| expansions(line, lane)).sum::<f64>();
    let ratio = |lane: usize| {
        let log = |line: &Line| (expansions(line, lane) / expansions(line, 0)).ln();
        let mean = (lines.iter().map(log).sum::<f64>() / count as f64).exp();
        format!("{mean:.3} ({:.3})", sum(lane) / sum(0))
    };
    let again = |lane: usize| {
        let again = lines.iter().map(|line| line.runs[lane].again as f64).sum::<f64>();
        format!("{:.1}", 100.0 * again / sum(lane))
    };
    let time = |lane: usize| {
        format!("{:.1}", median(lines.iter().map(|line| line.micros[lane]).collect()))
    };
    let ratios = [1, 2, 3].map(ratio).join(" | ");
    let repeats = [1, 2].map(again).join(" | ");
    let times = [0, 1, 2, 3].map(time).join(" | ");
    println!("| {map} | {count} | {:.0} | {ratios} | {repeats} | {times} |", sum(0) / count as f64);
}

/// Returns the median, the upper one of two; 0 for an empty list.
fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list.get(list.len() / 2).copied().unwrap_or_default()
}

fn micros_since(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e6
}

/// Result and work of a search.
#[derive(Clone, Copy, Default)]
struct Run {
    /// In the board's units; [`NEVER`] if no path was found.
    cost: u32,
    expansions: u64,
    /// Expansions of cells that had been expanded before.
    again: u64,
}

/// Work and times of a query.
struct Line {
    /// Plain, oracle, real, exact.
    runs: [Run; 4],
    /// Plain, exact, the sweep to the start's chunk, the whole sweep.
    micros: [f64; 4],
}

/// All searchers of a map.
struct Bench<'a> {
    map: &'a str,
    terrain: Terrain<'a>,
    astar: AStar,
    field: DistanceField,
    graph: Graph,
    pool: NodePool,
    search: Search,
}

impl<'a> Bench<'a> {
    fn new(course: &'a Course) -> Self {
        let terrain = Terrain::new(&course.board);
        course.board.grid.build_layers();
        let (astar, graph) = (AStar::new(course.board.costs.len()), Graph::build(terrain));
        let (field, pool, search) = (<_>::default(), <_>::default(), <_>::default());
        Self { map: &course.map, terrain, astar, field, graph, pool, search }
    }

    /// # Panics
    /// If the costs differ.
    fn query(&mut self, row: &ScenarioRow, rounds: usize) -> Line {
        let (mut plain, mut exact) = (Run::default(), Run::default());
        let mut micros: [Vec<f64>; 4] = Default::default();
        for _ in 0..rounds {
            let begin = Instant::now();
            plain = self.plain(row);
            micros[0].push(micros_since(begin));
            let begin = Instant::now();
            exact = self.exact(row);
            micros[1].push(micros_since(begin));
            let (to_start, whole) = self.graph.sweep(self.terrain, row.start, row.goal);
            micros[2].push(to_start);
            micros[3].push(whole);
        }
        let runs = [plain, self.oracle(row), self.real(row), exact];
        let costs = runs.map(|run| run.cost);
        assert!(
            plain.cost != NEVER && costs == [plain.cost; 4],
            "{}: plain, oracle, real and exact cost {costs:?} on {row:?}",
            self.map,
        );
        Line { runs, micros: micros.map(median) }
    }

    fn plain(&mut self, row: &ScenarioRow) -> Run {
        let terrain = self.terrain;
        self.astar.solve(terrain, row, |cell| terrain.bound(cell, row.goal))
    }

    fn oracle(&mut self, row: &ScenarioRow) -> Run {
        let (terrain, grid) = (self.terrain, &self.terrain.board.grid);
        // A field that does not start stays empty and reaches no cell.
        if self.field.start(grid, ProfileId::default(), row.goal).is_ok() {
            self.field.step(grid, u32::MAX);
        }
        let (graph, field) = (&self.graph, &self.field);
        let exit = |cell| (Gate::of(cell), field.cost(grid, cell).map_or(NEVER, units));
        self.astar.solve(terrain, row, |cell| {
            let sides = graph.of_chunk[terrain.chunk(cell)].iter().map(|&side| graph.sides[side]);
            terrain.estimate(cell, row.goal, sides.flat_map(Gate::cells).map(exit))
        })
    }

    /// After the sweep to the same goal.
    fn real(&mut self, row: &ScenarioRow) -> Run {
        let (terrain, graph) = (self.terrain, &self.graph);
        let gate = |&side: &usize| (graph.sides[side], graph.rests.costs[side]);
        self.astar.solve(terrain, row, |cell| {
            let sides = &graph.of_chunk[terrain.chunk(cell)];
            terrain.estimate(cell, row.goal, sides.iter().map(gate))
        })
    }

    fn exact(&mut self, row: &ScenarioRow) -> Run {
        let grid = &self.terrain.board.grid;
        let query = PathQuery::new(row.start, row.goal).algorithm(Algorithm::Exact);
        let started = self.search.start(grid, &self.pool, query);
        if started.is_ok() {
            self.search.step(grid, &self.pool, u32::MAX);
        }
        let expansions = self.search.counters().expansions;
        let found = started.and_then(|()| self.search.finish(grid, &self.pool));
        Run { cost: found.map_or(NEVER, |path| units(path.cost())), expansions, again: 0 }
    }
}

/// Converts a cost of the crate (in sixteenths) into the board's units.
fn units(cost: PathCost) -> u32 {
    (cost.0 / u64::from(Profile::PLAIN_COST)) as u32
}

/// The map data of the heuristics.
#[derive(Clone, Copy)]
struct Terrain<'a> {
    board: &'a Board,
    /// Lowest sum of the costs of a step's two cells.
    lowest: u32,
    /// Chunks in a row.
    columns: usize,
}

impl<'a> Terrain<'a> {
    fn new(board: &'a Board) -> Self {
        let columns = board.grid.width().div_ceil(cell::CHUNK) as usize;
        Self { board, lowest: board.lowest_sum(), columns }
    }

    fn index(&self, cell: Cell) -> usize {
        (cell.y * self.board.width + cell.x) as usize
    }

    /// Returns the number of a cell's chunk.
    fn chunk(&self, cell: Cell) -> usize {
        (cell.y / CHUNK) as usize * self.columns + (cell.x / CHUNK) as usize
    }

    /// Returns the octile lower bound of the path cost.
    fn bound(&self, from: Cell, to: Cell) -> u32 {
        octile(from, to) * self.lowest
    }

    /// Returns a lower bound of the path cost, from the gates by which paths leave the cell's chunk and
    /// a lower bound from each gate to the goal. In the goal's chunk a path need not leave.
    fn estimate(&self, cell: Cell, goal: Cell, gates: impl Iterator<Item = (Gate, u32)>) -> u32 {
        let bound = self.bound(cell, goal);
        if self.chunk(cell) == self.chunk(goal) {
            return bound;
        }
        let out =
            gates.map(|(gate, rest)| self.bound(cell, gate.nearest(cell)).saturating_add(rest));
        out.min().unwrap_or(NEVER).max(bound)
    }

    fn can_step(&self, from: Cell, to: Cell) -> bool {
        self.board.is_free(from.x, from.y) && self.board.steps(from).any(|(cell, _)| cell == to)
    }

    /// Returns the cost of the cheapest single step from one gate to another.
    fn cheapest_step(&self, from: Gate, to: Gate) -> u32 {
        let steps = from.cells().flat_map(|cell| self.board.steps(cell));
        let across = steps.filter(|&(cell, _)| to.nearest(cell) == cell);
        across.map(|(_, cost)| cost).min().unwrap_or(NEVER)
    }
}

/// Cells of one chunk in a row, a column or alone, all of them passable.
#[derive(Clone, Copy)]
struct Gate {
    low: Cell,
    high: Cell,
}

impl Gate {
    const fn of(cell: Cell) -> Self {
        Self { low: cell, high: cell }
    }

    /// Returns its cell that is nearest by octile distance.
    fn nearest(self, cell: Cell) -> Cell {
        let x = cell.x.clamp(self.low.x, self.high.x);
        Cell::new(x, cell.y.clamp(self.low.y, self.high.y))
    }

    fn cells(self) -> impl Iterator<Item = Cell> {
        let Self { low, high } = self;
        (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| Cell::new(x, y)))
    }
}

/// Textbook A*, for any admissible heuristic.
struct AStar {
    g: Vec<u32>,
    /// Number of the search that last reached each cell.
    reached: Vec<u32>,
    /// Number of the search that last expanded each cell.
    expanded: Vec<u32>,
    search: u32,
    /// Lowest f first, then largest g; then the cell.
    open: BinaryHeap<(Reverse<u32>, u32, u32)>,
}

impl AStar {
    fn new(cells: usize) -> Self {
        let [g, reached, expanded] = [(); 3].map(|()| vec![0; cells]);
        Self { g, reached, expanded, search: 0, open: BinaryHeap::new() }
    }

    fn solve(
        &mut self,
        terrain: Terrain,
        row: &ScenarioRow,
        mut h: impl FnMut(Cell) -> u32,
    ) -> Run {
        let (goal, width) = (terrain.index(row.goal), terrain.board.width);
        let mut run = Run::default();
        self.search += 1;
        self.open.clear();
        self.reach(terrain.index(row.start), 0, || h(row.start));
        while let Some((_, g, index)) = self.open.pop() {
            let at = index as usize;
            if self.g[at] < g {
                continue; // a cheaper path was found since
            }
            run.expansions += 1;
            run.again += u64::from(self.expanded[at] == self.search);
            self.expanded[at] = self.search;
            if at == goal {
                return Run { cost: g, ..run };
            }
            let from = Cell::new(index as i32 % width, index as i32 / width);
            for (to, cost) in terrain.board.steps(from) {
                self.reach(terrain.index(to), g + cost, || h(to));
            }
        }
        Run { cost: NEVER, ..run }
    }

    /// Pushes the cell onto the open list, unless it was reached at the same or a lower cost before.
    fn reach(&mut self, at: usize, g: u32, h: impl FnOnce() -> u32) {
        if self.reached[at] == self.search && self.g[at] <= g {
            return;
        }
        self.reached[at] = self.search;
        self.g[at] = g;
        self.open.push((Reverse(g.saturating_add(h())), g, at as u32));
    }
}

/// Portals and lower bounds of the path costs between them.
#[derive(Default)]
struct Graph {
    /// The two sides of a portal are adjacent elements.
    sides: Vec<Gate>,
    of_chunk: Vec<Vec<usize>>,
    /// Index of the first edge of each side, and the end of the last ones.
    first: Vec<usize>,
    /// Target and cost.
    edges: Vec<(usize, u32)>,
    /// Path costs to the cells of the last visited chunk, inside it.
    flood: Dijkstra,
    /// Lower bound of the path cost from each side to the goal.
    rests: Dijkstra,
}

impl Graph {
    fn build(terrain: Terrain) -> Self {
        let (width, height) = (terrain.board.width, terrain.board.height);
        let chunks = terrain.chunk(Cell::new(width - 1, height - 1)) + 1;
        let mut graph = Self { of_chunk: vec![Vec::new(); chunks], ..Self::default() };
        for bottom in (0..height).step_by(CHUNK as usize) {
            for left in (0..width).step_by(CHUNK as usize) {
                let (right, top) = (left + CHUNK - 1, bottom + CHUNK - 1);
                graph.cut(terrain, Cell::new(right, bottom), (0, 1), (1, 0));
                graph.cut(terrain, Cell::new(left, top), (1, 0), (0, 1));
                graph.cut(terrain, Cell::new(right, top), (0, 0), (1, 1));
                graph.cut(terrain, Cell::new(left, top), (0, 0), (-1, 1));
            }
        }
        for side in 0..graph.sides.len() {
            graph.join(terrain, side);
        }
        graph.first.push(graph.edges.len());
        graph
    }

    /// Divides a border into runs of cells from which steps lead across. It begins at `first`; a corner
    /// is a border of length one.
    fn cut(&mut self, terrain: Terrain, first: Cell, along: (i32, i32), across: (i32, i32)) {
        let length = if along == (0, 0) { 1 } else { CHUNK };
        let there = |cell: Cell| cell.offset(across.0, across.1);
        let mut run: Option<Gate> = None;
        for i in 0..=length {
            let cell = first.offset(along.0 * i, along.1 * i);
            if i < length && terrain.can_step(cell, there(cell)) {
                run = Some(Gate { low: run.map_or(cell, |run| run.low), high: cell });
            } else if let Some(Gate { low, high }) = run.take() {
                for side in [Gate { low, high }, Gate { low: there(low), high: there(high) }] {
                    self.of_chunk[terrain.chunk(side.low)].push(self.sides.len());
                    self.sides.push(side);
                }
            }
        }
    }

    /// Adds the edges of a side: across, and to the other sides in its chunk.
    fn join(&mut self, terrain: Terrain, side: usize) {
        self.first.push(self.edges.len());
        let (gate, twin) = (self.sides[side], side ^ 1);
        self.edges.push((twin, terrain.cheapest_step(gate, self.sides[twin])));
        let paths = self.paths_inside(terrain, gate);
        self.edges.extend(paths.into_iter().filter(|&(other, _)| other != side));
    }

    /// Finds the lowest costs from a gate to the sides in its chunk, along paths inside it.
    fn paths_inside(&mut self, terrain: Terrain, gate: Gate) -> Vec<(usize, u32)> {
        let (chunk, Cell { x, y }) = (terrain.chunk(gate.low), gate.low);
        let (left, bottom) = (x - x % CHUNK, y - y % CHUNK);
        let place = |cell: Cell| ((cell.y - bottom) * CHUNK + cell.x - left) as usize;
        let steps = |place_from: usize| {
            let (dx, dy) = (place_from as i32 % CHUNK, place_from as i32 / CHUNK);
            let steps = terrain.board.steps(Cell::new(left + dx, bottom + dy));
            let inside = steps.filter(move |&(to, _)| terrain.chunk(to) == chunk);
            inside.map(move |(to, cost)| (place(to), cost))
        };
        let sources = gate.cells().map(|cell| (place(cell), 0));
        self.flood.run((CHUNK * CHUNK) as usize, sources, steps);
        let cost = |cell: Cell| self.flood.costs[place(cell)];
        let nearest = |side: usize| self.sides[side].cells().map(cost).min().unwrap_or(NEVER);
        let paths = self.of_chunk[chunk].iter().map(|&side| (side, nearest(side)));
        paths.filter(|&(_, cost)| cost != NEVER).collect()
    }

    /// Finds the lower bounds of all sides; edges cost the same in both directions. Returns the
    /// microseconds until those in the start's chunk are settled, and until all are.
    fn sweep(&mut self, terrain: Terrain, start: Cell, goal: Cell) -> (f64, f64) {
        let begin = Instant::now();
        let paths = self.paths_inside(terrain, Gate::of(goal));
        let (start_chunk, mut start_known) = (terrain.chunk(start), micros_since(begin));
        let (sides, first, edges) = (&self.sides, &self.first, &self.edges);
        self.rests.run(sides.len(), paths.into_iter(), |side| {
            if terrain.chunk(sides[side].low) == start_chunk {
                start_known = micros_since(begin);
            }
            edges[first[side]..first[side + 1]].iter().copied()
        });
        (start_known, micros_since(begin))
    }
}

/// Dijkstra's algorithm over numbered nodes.
#[derive(Default)]
struct Dijkstra {
    /// [`NEVER`] for unreachable nodes.
    costs: Vec<u32>,
    open: BinaryHeap<Reverse<(u32, usize)>>,
}

impl Dijkstra {
    /// Searches from all sources. `steps` returns the targets and costs of a node's steps.
    fn run<Steps: Iterator<Item = (usize, u32)>>(
        &mut self,
        nodes: usize,
        sources: impl Iterator<Item = (usize, u32)>,
        mut steps: impl FnMut(usize) -> Steps,
    ) {
        self.costs.clear();
        self.costs.resize(nodes, NEVER);
        sources.for_each(|(node, cost)| self.reach(node, cost));
        while let Some(Reverse((cost, node))) = self.open.pop() {
            if self.costs[node] < cost {
                continue; // a cheaper path was found since
            }
            for (to, step) in steps(node) {
                self.reach(to, cost + step);
            }
        }
    }

    fn reach(&mut self, node: usize, cost: u32) {
        if cost < self.costs[node] {
            self.costs[node] = cost;
            self.open.push(Reverse((cost, node)));
        }
    }
}
