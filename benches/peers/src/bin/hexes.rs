//! Hexagons: this crate against `hexx`, `pathfinding` and a textbook A*, on the maps of squares with every other row shifted by
//! half a cell.
//!
//! Input: the options of `tilepath-peers` (`--data`, `--family`, `--map` with `--scen`, `--sample`, `--rounds`, `--profile`).
//! Output: a table by family: the speed-up over the textbook's A* of this crate's A*, exact search and `Auto`, of
//! `hexx::algorithms::a_star` and of `pathfinding::astar` (both on uniform cost only); and the speed-up of this crate's
//! movement range of 30 steps over a bounded textbook Dijkstra and over `hexx::algorithms::field_of_movement`. Geometric means
//! over maps of ratios of summed times.
//!
//! All run in one process, in turn, a query at a time. Each query's time is the median of its rounds. All costs are compared
//! with the textbook's. Exit status 1 on bad input and if one differs.

use std::{collections::BTreeMap, process::ExitCode, time::Instant};

use bevy_tilepath::{
    nav::{node_pool::NodePool, search::Search},
    prelude::*,
};
use hexx::{Hex, algorithms};

#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../board.rs"]
mod board;
#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../course.rs"]
mod course;
#[path = "../../../../examples/runner/hexagons.rs"]
mod hexagons;
#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../options.rs"]
mod options;
#[path = "../textbook_hexes.rs"]
mod textbook_hexes;

use board::Rule;
use course::Course;
use options::Options;
use textbook_hexes::{Textbook, WAYS, steps_between};

/// Steps in range.
const STEPS: u32 = 30;
const LANES: usize = 9;
/// Names of the lanes; the first and the seventh are what the others are compared with.
const NAMES: [&str; LANES] = [
    "textbook A*",
    "A*",
    "exact",
    "auto",
    "hexx A*",
    "pathfinding A*",
    "bounded Dijkstra",
    "range",
    "hexx field_of_movement",
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("hexes: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let Some(options) = Options::from_args()? else {
        print!("{}", options::HELP);
        return Ok(());
    };
    let mut families: BTreeMap<String, Vec<[f64; LANES]>> = BTreeMap::new();
    for files in course::list(&options)? {
        let course = files.load(options.rule, options.sample)?;
        let sums = Race::new(&course, options.rule)
            .and_then(|mut race| race.run(&course, options.rounds))
            .map_err(|error| format!("{}/{}: {error}", course.family, course.map))?;
        let times = NAMES.iter().zip(sums).map(|(name, sum)| format!("{name} {sum:.0}"));
        eprintln!("{}/{}: µs: {}", course.family, course.map, times.collect::<Vec<_>>().join(", "));
        families.entry(course.family.clone()).or_default().push(sums);
        families.entry("~ all".into()).or_default().push(sums);
    }
    print_table(&families);
    Ok(())
}

fn print_table(families: &BTreeMap<String, Vec<[f64; LANES]>>) {
    println!(
        "| maps | number | A* | exact | Auto | hexx A* | pathfinding A* | range / Dijkstra | range / hexx |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (family, maps) in families {
        let mean = |base: usize, lane: usize| {
            let logs = maps.iter().map(|sums| (sums[base] / sums[lane]).ln());
            (logs.sum::<f64>() / maps.len() as f64).exp()
        };
        let ratios = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (6, 7), (8, 7)];
        let ratios = ratios.map(|(base, lane)| format!("{:.2}", mean(base, lane)));
        println!("| {family} | {} | {} |", maps.len(), ratios.join(" | "));
    }
}

/// All searchers on one map.
struct Race {
    grid: NavGrid,
    rule: Rule,
    textbook: Textbook,
    pool: NodePool,
    search: Search,
    range: MovementRange,
}

impl Race {
    fn new(course: &Course, rule: Rule) -> Result<Self, String> {
        let grid = hexagons::shifted_rows(&course.board.grid).map_err(|error| error.to_string())?;
        grid.build_layers();
        let (textbook, range) = (Textbook::new(&grid), MovementRange::new());
        Ok(Self { grid, rule, textbook, pool: NodePool::default(), search: Search::new(), range })
    }

    /// Returns the summed times of all lanes in microseconds; of lanes that do not run, not a number.
    fn run(&mut self, course: &Course, rounds: usize) -> Result<[f64; LANES], String> {
        let mut sums = [0.0; LANES];
        for row in &course.rows {
            let [start, goal] = [row.start, row.goal].map(hexagons::shifted);
            let mut times: [Vec<f64>; LANES] = Default::default();
            let mut answers = [None; LANES];
            for number in 0..LANES * rounds {
                // Every other round goes backwards, so that no lane always finds what the same other one left in the cache.
                let lane = match (number / LANES).is_multiple_of(2) {
                    true => number % LANES,
                    false => LANES - 1 - number % LANES,
                };
                let begin = Instant::now();
                let answer = self.solve(lane, start, goal);
                times[lane].push(begin.elapsed().as_secs_f64() * 1e6);
                answers[lane] = answer;
            }
            for (lane, answer) in answers.iter().enumerate() {
                let base = if lane < 6 { 0 } else { 6 };
                if self.runs(lane) && *answer != answers[base] {
                    let (name, expected) = (NAMES[lane], answers[base]);
                    return Err(format!("{name}: {start} to {goal}: {answer:?}, not {expected:?}"));
                }
                times[lane].sort_by(f64::total_cmp);
                let median = times[lane][times[lane].len() / 2];
                sums[lane] += if self.runs(lane) { median } else { f64::NAN };
            }
        }
        Ok(sums)
    }

    /// Whether a lane knows the rule.
    fn runs(&self, lane: usize) -> bool {
        self.rule == Rule::Plain || ![4, 5, 8].contains(&lane)
    }

    /// Returns the cost of the path in sixteenths of a step's weight, or the number of cells in range.
    fn solve(&mut self, lane: usize, start: Cell, goal: Cell) -> Option<u64> {
        let most = STEPS * 32;
        match lane {
            _ if !self.runs(lane) => None,
            0 => self.textbook.solve(start, goal).map(u64::from),
            1 => self.ours(Algorithm::AStar, start, goal),
            2 => self.ours(Algorithm::Exact, start, goal),
            3 => self.ours(Algorithm::Auto, start, goal),
            4 => self.hexx(start, goal),
            5 => self.pathfinding(start, goal),
            6 => Some(self.textbook.spread(start, most) as u64),
            7 => {
                let cost = Movement::Cost(PathCost(408 * u64::from(most)));
                self.range.fill(&self.grid, RangeQuery::new(start, cost)).ok()?;
                Some(self.range.cells().count() as u64)
            }
            _ => {
                let cost = |hex: Hex| self.textbook.free_index(Cell::new(hex.x, hex.y)).map(|_| 0);
                let start = Hex::new(start.x, start.y);
                Some(algorithms::field_of_movement(start, STEPS, cost).len() as u64)
            }
        }
    }

    fn ours(&mut self, algorithm: Algorithm, start: Cell, goal: Cell) -> Option<u64> {
        let query = PathQuery::new(start, goal).algorithm(algorithm);
        self.search.start(&self.grid, &self.pool, query).ok()?;
        self.search.step(&self.grid, &self.pool, u32::MAX);
        let path = self.search.finish(&self.grid, &self.pool).ok()?;
        Some(path.cost().0 / 408)
    }

    fn hexx(&self, start: Cell, goal: Cell) -> Option<u64> {
        let hex = |cell: Cell| Hex::new(cell.x, cell.y);
        let cost = |_, to: Hex| self.textbook.free_index(Cell::new(to.x, to.y)).map(|_| 1);
        let path = algorithms::a_star(hex(start), hex(goal), cost)?;
        Some(32 * (path.len() as u64 - 1))
    }

    fn pathfinding(&self, start: Cell, goal: Cell) -> Option<u64> {
        let steps = |&cell: &Cell| {
            let near = WAYS.map(|(dx, dy)| cell.offset(dx, dy)).into_iter();
            near.filter(|&to| self.textbook.free_index(to).is_some()).map(|to| (to, 1_u32))
        };
        let answer = pathfinding::prelude::astar(
            &start,
            steps,
            |&cell| steps_between(cell, goal),
            |&cell| cell == goal,
        );
        answer.map(|(_, steps)| 32 * u64::from(steps))
    }
}
